package session

import (
	"errors"
	"fmt"

	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/storage"
)

// Translate makes the error that a client is told of one that a message ended with: sqlerr.From, and a block that cannot be read is
// named by what it belongs to.
func (s *Session) Translate(err error) *sqlerr.Error {
	var told *sqlerr.Error
	var block *storage.BlockError
	if errors.As(err, &told) || !errors.As(err, &block) {
		return sqlerr.From(err)
	}
	code, hint := sqlerr.IoError, "Check the disk and the system's log."
	if errors.Is(err, storage.ErrCorrupt) {
		code = sqlerr.DataCorrupted
		hint = "Run \"herd check\" on the stopped server's folder to see all that is damaged. Other tables are not affected."
	}
	what, isIndex := s.ownerOf(block.Tree)
	if isIndex && code == sqlerr.DataCorrupted {
		hint = "REINDEX builds the index anew from its table."
	}
	return sqlerr.New(code, "could not read a block of %s", what).WithDetail("%v", block.Err).WithHint("%s", hint)
}

// TreeOwner says what a tree belongs to by the catalog that v holds; empty when it does not tell.
func TreeOwner(v storage.View, tree storage.TreeID) string {
	what, _ := catalog.OwnerOf(catalog.NewReader(catalog.ReaderOptions{Source: catalog.FromView(v), Cache: catalog.NewCache()}), tree)
	return what
}

// ownerOf says what a tree belongs to.
func (s *Session) ownerOf(tree storage.TreeID) (what string, isIndex bool) {
	if cat, err := s.catalog(); err == nil {
		what, isIndex = catalog.OwnerOf(cat, tree)
	}
	if what == "" {
		what = fmt.Sprintf("tree %d", tree)
	}
	return what, isIndex
}
