package session

import (
	"herd/sql/ast"
	"herd/sql/ddl"
	"herd/sql/types"
)

// tempTable is a temporary table with something to do at COMMIT.
type tempTable struct {
	rel    types.OID
	action ast.OnCommit
}

// tempAtCommit empties and drops the temporary tables that ask for it; those that are gone are forgotten.
func (s *Session) tempAtCommit() error {
	if len(s.tempTables) == 0 || !s.txUsed {
		return nil
	}
	kept := s.tempTables[:0]
	for _, t := range s.tempTables {
		there, err := ddl.AtCommit(s.catalogWriter(), t.rel, t.action == ast.OnCommitDrop)
		if err != nil {
			return err
		}
		if there {
			kept = append(kept, t)
		}
	}
	s.tempTables = kept
	return nil
}
