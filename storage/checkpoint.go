package storage

import (
	"errors"
	"fmt"
	"time"

	"herd/internal/vfs"
	"herd/storage/block"
	"herd/storage/btree"
)

// CheckpointOptions steer one checkpoint.
type CheckpointOptions struct {
	// Duration is the time to spread the writing over; 0 = as fast as the disk goes.
	Duration time.Duration
	// Progress is called after each write with bytes of blocks written and to write (an estimate). May be nil.
	Progress func(written, total int64)
	// Written is called when all blocks of the snapshot are on disk though not yet synced: the caller's pin of it is not
	// needed any more, and would only keep what is replaced meanwhile. May be nil.
	Written func()
	// Stop is asked after each write; true ends the checkpoint with ErrStopped and without a new manifest. What was
	// written stays usable by the next one. May be nil.
	Stop func() bool
}

// ErrStopped is returned by a checkpoint that CheckpointOptions.Stop ended.
var ErrStopped = errors.New("checkpoint stopped")

// ErrStale is returned by a checkpoint of a snapshot older than one that was checkpointed, or than one that Spill was
// called with: take a newer snapshot.
var ErrStale = errors.New("a newer version is on disk")

// checkpoint is one run.
type checkpoint struct {
	st    *Store
	w     *segmentWriter
	o     CheckpointOptions
	begin time.Time
	total int64
	from  int64 // w.written at the beginning
	seen  int64 // w.written at the last pause
	key   []byte
}

// Checkpoint writes every block of s that has no disk copy, children before parents, syncs, and switches the manifest
// to s with the caller's meta. Readers, Apply and eviction go on beside it. s must be pinned by the caller or be the
// newest snapshot, must not be older than the snapshot of the last checkpoint, and on a replica must be decided.
// Afterwards the log below meta.LogPosition is not needed any more.
//
// Errors: ErrStale, see there; write errors leave the former manifest in force and may be retried; an error that is ErrBroken is final.
func (st *Store) Checkpoint(s *Snapshot, meta Meta, o CheckpointOptions) error {
	st.ckptMu.Lock()
	defer st.ckptMu.Unlock()
	if err := st.writable(); err != nil {
		return err
	}
	slot := st.NewSlot()
	defer slot.Close()
	if !slot.Pin(s) {
		return fmt.Errorf("checkpoint of version %d: it was released", s.ver)
	}
	if have := max(st.manifestVer.Load(), st.spill.newest()); s.ver < have {
		return fmt.Errorf("checkpoint of version %d: %w: version %d", s.ver, ErrStale, have)
	}
	st.expandDrops(s.ver)
	if st.writer == nil {
		st.writer = &segmentWriter{st: st}
	}
	c := &checkpoint{st: st, w: st.writer, o: o, begin: time.Now(), total: st.books.dirty.Load(), from: st.writer.written}
	c.seen = c.from
	st.written.Store(max(st.written.Load(), s.ver))
	if err := c.write(s); err != nil {
		if !errors.Is(err, ErrStopped) || c.w.flush() != nil {
			c.w.abandon()
		}
		return fmt.Errorf("checkpoint: %w", err)
	}
	slot.Unpin() // whatever s needs has its place: a sync may take long
	if o.Written != nil {
		o.Written()
	}
	if forked := st.takeUnsynced(); len(forked) > 0 {
		c.w.touched, c.w.fresh = append(c.w.touched, forked...), true
	}
	if err := c.w.sync(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	m := st.manifestOf(s, meta)
	if err := st.o.Manifests.SwitchManifest(m); err != nil {
		err = fmt.Errorf("checkpoint: switch manifest: %w", err)
		if vfs.SyncFailed(err) || errors.Is(err, ErrBroken) { // which of the two is durable is not known
			return st.fail(err)
		}
		return err
	}
	r := s.roots
	st.lastRoots = &r
	st.manifestVer.Store(s.ver)
	st.segments.switched(m.Segments)
	slot.Unpin()
	st.release()
	_, err := st.segments.removeDead()
	return err
}

// writable reports why nothing may be written.
func (st *Store) writable() error {
	if st.closed.Load() {
		return ErrClosed
	}
	if p := st.broken.Load(); p != nil {
		return *p
	}
	return nil
}

// write writes the unaddressed blocks of s and flushes.
func (c *checkpoint) write(s *Snapshot) error {
	var err error
	s.roots.walk(c.st.lastRoots, func(tr *tree) bool {
		if tr.root.H != nil {
			err = c.block(tr.id, tr.root.H, nil)
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	return c.w.flush()
}

// block writes h after what it needs. bound is the lower bound of h's range.
func (c *checkpoint) block(t TreeID, h *btree.Handle, bound []byte) error {
	if h.Addr() != 0 {
		return nil
	}
	b := h.Block()
	if b == nil {
		return fmt.Errorf("tree %d: a block without disk copy is not in memory: %w", t, ErrCorrupt)
	}
	key := bound
	switch b.Kind {
	case block.KindInner:
		n := b.Inner()
		for i, kid := range n.Children() {
			if kid.Addr() != 0 {
				continue
			}
			low := bound
			if i > 0 {
				low = n.AppendSep(nil, i)
			}
			if err := c.block(t, kid, low); err != nil {
				return err
			}
		}
	case block.KindLeaf:
		l := b.Leaf()
		c.key = l.AppendKey(c.key[:0], 0)
		key = c.key
		if err := c.values(t, b, l); err != nil {
			return err
		}
	}
	if err := c.w.append(t, h, b, key); err != nil {
		return err
	}
	return c.pause()
}

// values writes the long values of leaf b.
func (c *checkpoint) values(t TreeID, b *btree.Block, l block.Leaf) error {
	if len(b.Kids) == 0 {
		return nil
	}
	for i := range l.Len() {
		v, big := b.Value(i)
		if !big {
			continue
		}
		kid, _, _ := block.Stub(v)
		if b.Kids[kid].Addr() != 0 {
			continue
		}
		if err := c.block(t, b.Kids[kid], l.AppendKey(nil, i)); err != nil {
			return err
		}
	}
	return nil
}

// pause reports progress and keeps to the duration, once per write.
func (c *checkpoint) pause() error {
	if c.w.written == c.seen {
		return nil
	}
	c.seen = c.w.written
	done := c.w.written - c.from
	if c.o.Progress != nil {
		c.o.Progress(done, max(c.total, done))
	}
	if c.o.Stop != nil && c.o.Stop() {
		return ErrStopped
	}
	if c.o.Duration > 0 && c.total > 0 {
		due := time.Duration(float64(c.o.Duration) * min(float64(done)/float64(c.total), 1))
		for ahead := due - time.Since(c.begin); ahead > 0; ahead = due - time.Since(c.begin) {
			time.Sleep(min(ahead, 50*time.Millisecond))
			if c.o.Stop != nil && c.o.Stop() {
				return ErrStopped
			}
		}
	}
	return nil
}

// manifestOf describes s, all of whose blocks are on disk.
func (st *Store) manifestOf(s *Snapshot, meta Meta) Manifest {
	m := Manifest{Seq: s.seq, CatalogVersion: s.catalog, Meta: meta}
	s.roots.walk(nil, func(tr *tree) bool {
		e := RootEntry{Tree: tr.id, Rows: tr.root.Stat.Rows, Sum: tr.root.Stat.Sum}
		if tr.root.H != nil {
			ref := tr.root.H.StoredRef()
			e.Addr, e.Size = uint64(ref.Addr), ref.Size
		}
		m.Roots = append(m.Roots, e)
		return true
	})
	st.count(s.ver)
	// In one step: what is buried in between would be taken off twice, and a file with live bytes would look dead (I5).
	st.retired.mu.Lock()
	defer st.retired.mu.Unlock()
	m.Segments, m.NextSegment = st.segments.entries(st.retired.liveAt(s.ver))
	return m
}
