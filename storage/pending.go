package storage

import (
	"errors"
	"io"
	"time"

	"herd/internal/mem"
)

// This file holds the shape of the package while it is being filled in; each function moves to its own file.
var errPending = errors.New("storage: being built")

// Store is one database's blocks.
type Store struct{}

// Open reads the manifest and the roots.
func Open(o Options) (*Store, Manifest, error) { return nil, Manifest{}, errPending }

// Base returns the snapshot of the manifest that Open read.
func (st *Store) Base() *Snapshot { return nil }

// Snapshot is an immutable database version.
type Snapshot struct{}

func (s *Snapshot) Seq() Seq            { return 0 }
func (s *Snapshot) CatalogVersion() Seq { return 0 }
func (s *Snapshot) Get(t TreeID, key []byte) (val []byte, ok bool, err error) {
	return nil, false, errPending
}
func (s *Snapshot) TreeExists(t TreeID) bool                                   { return false }
func (s *Snapshot) Trees(f func(t TreeID, rows int64) bool)                    {}
func (s *Snapshot) Count(t TreeID) (rows int64)                                { return 0 }
func (s *Snapshot) Checksum(t TreeID) uint64                                   { return 0 }
func (s *Snapshot) RangeCount(t TreeID, lo, hi []byte) (rows int64, err error) { return 0, errPending }
func (s *Snapshot) Split(t TreeID, lo, hi []byte, parts int) ([][]byte, error) {
	return nil, errPending
}

// Apply returns the snapshot after batches, in order.
func (st *Store) Apply(s *Snapshot, seq Seq, batches ...ChangeSet) (*Snapshot, error) {
	return nil, errPending
}

// ApplySorted applies one large sorted set tree by tree on several goroutines, loading what it needs (recovery).
func (st *Store) ApplySorted(s *Snapshot, seq Seq, cs ChangeSet, workers int) (*Snapshot, error) {
	return nil, errPending
}

// Pin keeps blocks in memory until Release.
type Pin struct{}

// Release lets the blocks go.
func (p Pin) Release() {}

// Touch loads and pins every path cs needs.
func (st *Store) Touch(s *Snapshot, cs ChangeSet) (Pin, error) { return Pin{}, errPending }

// Fork is a big commit on its way.
type Fork struct{}

// Fork starts one at s.
func (st *Store) Fork(s *Snapshot) (*Fork, error) { return nil, errPending }

// Merge adds the big commit's changes, sorted; may be called several times, in any key order.
func (f *Fork) Merge(cs ChangeSet) error { return errPending }

// CatchUp applies commits that went to tip since Fork, in order.
func (f *Fork) CatchUp(sets ...ChangeSet) error { return errPending }

// Finish returns the fork as the snapshot that follows tip. Under the commit mutex.
func (f *Fork) Finish(seq Seq, tip *Snapshot) (*Snapshot, error) { return nil, errPending }

// Abandon drops the fork.
func (f *Fork) Abandon() {}

// Rewind makes s the newest version again: everything applied since is dropped (loss of leadership).
func (st *Store) Rewind(s *Snapshot) error { return errPending }

// ReaderSlot pins one version.
type ReaderSlot struct{}

// NewSlot returns a slot; Close gives it back.
func (st *Store) NewSlot() *ReaderSlot { return nil }

// Pin pins s; false means that s is already gone and the caller must load the pointer to the newest snapshot again.
func (r *ReaderSlot) Pin(s *Snapshot) bool { return false }

// Unpin clears the slot.
func (r *ReaderSlot) Unpin() {}

// Close gives the slot back to the store.
func (r *ReaderSlot) Close() {}

// Overlay is a transaction's own changes.
type Overlay struct{}

// Root is an immutable captured root.
type Root struct{ p *int }

func (r Root) Empty() bool                                         { return true }
func NewOverlay(a *mem.Account) *Overlay                           { return nil }
func (o *Overlay) Put(t TreeID, key, val []byte, cmd uint32) error { return errPending }
func (o *Overlay) Delete(t TreeID, key []byte, cmd uint32) error   { return errPending }
func (o *Overlay) CreateTree(t TreeID) error                       { return errPending }
func (o *Overlay) DropTree(t TreeID) error                         { return errPending }
func (o *Overlay) Root() Root                                      { return Root{} }
func (o *Overlay) Rollback(to Root)                                {}
func (o *Overlay) Len() int                                        { return 0 }
func (o *Overlay) Bytes() int64                                    { return 0 }
func (o *Overlay) Changes() ChangeSet                              { return nil }
func (o *Overlay) Reset()                                          {}

// View is a snapshot and a transaction's own changes.
type View struct {
	Snap *Snapshot
	Own  Root
}

func (v View) Get(t TreeID, key []byte) (val []byte, ok bool, err error) {
	return nil, false, errPending
}
func (v View) GetOwn(t TreeID, key []byte) (val []byte, cmd uint32, found, deleted bool) { return }
func (v View) Count(t TreeID) int64                                                      { return 0 }

// Cursor runs over a view.
type Cursor struct{}

func (c *Cursor) Init(v View, t TreeID, lo, hi []byte, reverse bool) {}
func (c *Cursor) Next() bool                                         { return false }
func (c *Cursor) Key() []byte                                        { return nil }
func (c *Cursor) Value() []byte                                      { return nil }
func (c *Cursor) Err() error                                         { return errPending }
func (c *Cursor) Close()                                             {}

// KeyBuf receives the keys of NextRows.
type KeyBuf struct{}

func (k *KeyBuf) Len() int         { return 0 }
func (k *KeyBuf) Key(i int) []byte { return nil }
func (k *KeyBuf) Reset()           {}

func (c *Cursor) NextRows(vals [][]byte, keys *KeyBuf) (n int) { return 0 }

// CheckpointOptions steer one checkpoint.
type CheckpointOptions struct {
	Duration time.Duration              // spread the writing over this time; 0 = as fast as possible
	Progress func(written, total int64) // called now and then, in bytes; may be nil
	Stop     func() bool                // asked now and then; true ends the checkpoint without a new manifest
}

// Checkpoint writes what s has unwritten and switches the manifest.
func (st *Store) Checkpoint(s *Snapshot, meta Meta, o CheckpointOptions) error { return errPending }

// Stats are a store's figures.
type Stats struct {
	Resident, Dirty      int64 // bytes
	Blocks               int
	Retired              int64 // bytes of replaced blocks that pins still hold
	Segments             int
	DiskBytes, LiveBytes int64
	PinnedVersions       int
	Loads, Evictions     uint64
}

func (st *Store) Stats() Stats { return Stats{} }

// Evict frees at least target bytes of blocks that have a disk copy, if there are as many, and returns the bytes freed.
func (st *Store) Evict(target int64) int64 { return 0 }

// SetMemLimit changes Options.MemLimit.
func (st *Store) SetMemLimit(n int64) {}

// Maintain releases retired blocks, expands dropped trees and removes dead segments. Every few seconds from the engine.
func (st *Store) Maintain() error { return errPending }

// Problem is one finding of Check.
type Problem struct{ Where, What string }

func (st *Store) Check(report func(Problem)) error { return errPending }
func (st *Store) Close() error                     { return errPending }

var _ io.Closer = (*Store)(nil)
