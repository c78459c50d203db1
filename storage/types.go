package storage

import (
	"errors"
	"fmt"

	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/storage/block"
	"herd/storage/btree"
)

// TreeID names a B+tree: one per table, one per index. 0 is invalid. Trees below SystemTrees belong to the catalog;
// up to ReservedTrees they belong to the engine. A number is never used again in a database's life.
type TreeID = block.TreeID

// Borders between the kinds of trees.
const (
	SystemTrees   TreeID = 512  // trees below: a commit touching one moves Snapshot.CatalogVersion
	ReservedTrees TreeID = 1024 // trees from SystemTrees up to here: the engine's own
)

// Seq is the number of a commit in its database, 1 = the first.
type Seq uint64

// Op says what a Change does.
type Op = btree.Op

// The operations of a change set.
const (
	OpPut        = btree.OpPut
	OpDelete     = btree.OpDelete
	OpCreateTree = btree.OpCreateTree
	OpDropTree   = btree.OpDropTree
)

// Change is one element of a change set. Key and Val belong to whoever made the set; Apply copies them.
type Change = btree.Change

// ChangeSet is the effect of one commit, sorted by (Tree, Key). OpCreateTree comes before the tree's rows; a tree that
// is dropped has no other change in the set.
type ChangeSet []Change

// Limits of what a change may carry.
const (
	MaxKey   = block.MaxKey // bytes of a key
	MaxValue = 256 << 10    // bytes of a value; longer ones are the caller's to cut into chunk rows
)

// Errors. Callers match them with errors.Is and errors.As.
var (
	// ErrNoTree is a change or a read of a tree that the snapshot does not have.
	ErrNoTree = errors.New("tree does not exist")
	// ErrTooLong is a key or a value beyond MaxKey or MaxValue.
	ErrTooLong = errors.New("key or value too long")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("store is closed")
	// ErrCorrupt marks data on disk that is not what was written. See block.ErrCorrupt.
	ErrCorrupt = block.ErrCorrupt
	// ErrNewerFormat marks data on disk of a format that this version does not know. It is an ErrCorrupt too.
	ErrNewerFormat = block.ErrNewerFormat
)

// AbsentError is returned by Apply when a block on the way of one of the change sets is not in memory. The engine sends
// the commits of all batches that miss one back to Touch and goes on with the others.
type AbsentError struct {
	Batch int   // index into Apply's batches of the one that was met
	All   []int // all that miss a block, ascending; Batch is one of them
	Tree  TreeID
}

// Error implements error.
func (e *AbsentError) Error() string {
	return fmt.Sprintf("apply: a block of tree %d that batch %d needs is not in memory", e.Tree, e.Batch)
}

// Options configure Open.
type Options struct {
	FS  vfs.FS
	Dir string // folder of the segment files; made when missing
	// KeepFreeBytes of the disk, besides what a checkpoint has to write, are left to it by all else.
	KeepFreeBytes uint64
	Manifests     ManifestStore // where the manifest is kept: NewFileManifests
	PageSize      int           // target bytes of a leaf; 0 = 8192; bounds are [256, 32 KiB]
	Segment       int64         // bytes after which a segment file is full; 0 = 64 MiB
	Mem           *mem.Account  // books for resident blocks; nil = a private account
	MemLimit      int64         // bytes of resident blocks beyond which loading evicts; 0 = none. See SetMemLimit.
	// CleanPercent is the share of live bytes below which a full segment file is rewritten; 0 = 35, negative = never.
	CleanPercent int
}
