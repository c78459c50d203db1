package storage

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"herd/internal/mem"
	"herd/storage/block"
	"herd/storage/btree"
)

// Store is one database's blocks. The engine owns the pointers to the newest and the newest durable snapshot; the store
// makes snapshots, keeps the books of blocks, writes checkpoints and evicts.
type Store struct {
	o    Options
	page int
	base *Snapshot

	ver         atomic.Uint64 // newest version number handed out
	newest      atomic.Uint64 // newest version installed
	released    atomic.Uint64 // versions from this one on can be pinned, and those in retired.held. See Pin.
	pinLag      uint64        // see the constant
	manifestVer atomic.Uint64 // version of the durable manifest
	written     atomic.Uint64 // newest version of which blocks were written, manifest or not
	memLimit    atomic.Int64
	evictPause  atomic.Int64
	evictions   atomic.Uint64
	wrote       atomic.Int64  // bytes of frames written to segments
	evictVer    atomic.Uint64 // version at the last eviction

	applier  applier // used by Apply only
	slots    slots
	retired  retired
	books    books
	loads    loads
	segments segments
	spill    spill
	forks    forkVersions
	// forkFlush is how many bytes of new blocks make a fork write its leaves. Set before use only.
	forkFlush int64

	unsyncedMu sync.Mutex
	unsynced   []*segment // guarded by unsyncedMu: written by forks, for the next checkpoint to sync

	evictMu    sync.Mutex // one eviction at a time
	spillAt    int        // guarded by ckptMu: handles of the retire list, from the beginning of time, that Spill has looked at
	ckptMu     sync.Mutex // one checkpoint, cleaning or spill at a time; guards writer, lastRoots and cleaned
	writer     *segmentWriter
	lastRoots  *roots
	cleaned    map[uint32]uint64     // guarded by ckptMu: segments looked at by the cleaner, and when
	broken     atomic.Pointer[error] // a failed sync: nothing may be written any more
	forkActive atomic.Pointer[Fork]
	closed     atomic.Bool
}

// Open reads the manifest and the roots; blocks are read when they are needed, so the time does not grow with the data.
// The snapshot of the manifest is Base. Without a manifest the database is empty at sequence number 0.
func Open(o Options) (*Store, Manifest, error) {
	if o.Mem == nil {
		o.Mem = mem.NewRoot(0)
	}
	if o.CleanPercent == 0 {
		o.CleanPercent = cleanPercentUsual
	}
	if o.PageSize == 0 {
		o.PageSize = 8 << 10
	}
	if o.Segment == 0 {
		o.Segment = segmentSizeUsual
	}
	o.Segment = min(max(o.Segment, 4<<10), segmentSizeMax)
	st := &Store{o: o, forkFlush: forkFlush, pinLag: pinLag, page: min(max(o.PageSize, 256), block.MaxLeaf)}
	st.memLimit.Store(o.MemLimit)
	m, ok, err := o.Manifests.LoadManifest()
	if err != nil {
		return nil, Manifest{}, fmt.Errorf("open store %s: %w", o.Dir, err)
	}
	if !ok {
		m = Manifest{NextSegment: 1}
	}
	if err := st.segments.open(o.FS, o.Dir, m); err != nil {
		_ = st.segments.close()
		return nil, Manifest{}, fmt.Errorf("open store %s: %w", o.Dir, err)
	}
	if err := st.spill.open(o.FS, o.Dir); err != nil {
		_ = st.segments.close()
		return nil, Manifest{}, fmt.Errorf("open store %s: %w", o.Dir, err)
	}
	s := &Snapshot{st: st, seq: m.Seq, catalog: m.CatalogVersion, ver: 1}
	for _, r := range m.Roots {
		tr := &tree{id: r.Tree, root: btree.Root{Stat: block.Stat{Rows: r.Rows, Sum: r.Sum}}}
		if r.Addr != 0 {
			tr.root.H = btree.NewDiskHandle(block.Ref{Addr: block.Address(r.Addr), Size: r.Size})
		}
		s.roots.set(1, r.Tree, tr)
	}
	st.base = s
	st.ver.Store(1)
	st.newest.Store(1)
	st.manifestVer.Store(1)
	if ok {
		r := s.roots
		st.lastRoots = &r
	}
	return st, m, nil
}

// Base returns the snapshot of the manifest that Open read: what replay starts from.
func (st *Store) Base() *Snapshot { return st.base }

// PageSize returns the bytes of a leaf that edits aim at.
func (st *Store) PageSize() int { return st.page }

// Close closes the files. No other method may run or be called afterwards. What no checkpoint has written is only in
// the log.
func (st *Store) Close() error {
	if st.closed.Swap(true) {
		return ErrClosed
	}
	st.ckptMu.Lock()
	defer st.ckptMu.Unlock()
	err := errors.Join(st.segments.close(), st.spill.close())
	st.evictMu.Lock() // from here on nothing is evicted or released: it would be off the books twice
	defer st.evictMu.Unlock()
	st.retired.mu.Lock()
	defer st.retired.mu.Unlock()
	st.account(-st.books.resident.Load())
	return err
}

// Rewind returns the contents of s as the newest version: what was applied since is dropped. The engine calls it when
// leadership was lost, under the commit mutex; s must have been pinned by a slot since before the first dropped commit,
// and no fork may be open. Readers of dropped versions go on undisturbed.
func (st *Store) Rewind(s *Snapshot) (*Snapshot, error) {
	if st.forkActive.Load() != nil {
		return nil, errors.New("rewind: a fork is open")
	}
	if !st.open(s.ver) || st.spill.newest() > s.ver {
		return nil, fmt.Errorf("rewind to version %d: it was released", s.ver)
	}
	var dropped []*btree.Handle
	st.books.mu.Lock()
	for _, h := range st.books.ring {
		if !h.Flag(btree.FlagPrivate) && (h.Born > s.ver || st.forks.visible(h.Born) > s.ver) {
			dropped = append(dropped, h)
		}
	}
	st.books.mu.Unlock()
	st.retired.mu.Lock()
	st.takeBack(s.ver)
	st.retired.mu.Unlock()
	next := &Snapshot{st: st, seq: s.seq, catalog: s.catalog, ver: st.ver.Add(1), roots: s.roots}
	st.install(next.ver, nil, dropped, nil)
	return next, nil
}

// Stats are a store's figures for metrics and the system views.
type Stats struct {
	Resident  int64 // bytes of blocks in memory
	Dirty     int64 // bytes of those without a disk copy: what a checkpoint would write at most
	Blocks    int   // blocks in memory
	Inner     int64 // of these, inner nodes
	Retired   int64 // bytes of replaced blocks that pins still hold
	Segments  int   // segment files
	DiskBytes int64 // bytes of segment files
	LiveBytes int64 // of these, bytes that are still needed
	Spilled   int64 // bytes in the scratch segment
	Pins      int   // pinned slots
	// PinAge is how many versions lie between the oldest pin and the newest version.
	PinAge    uint64
	Loads     uint64 // blocks read from disk since Open
	Evictions uint64 // blocks evicted since Open
}

// Resident returns Stats.Resident, and Dirty Stats.Dirty, without the rest.
func (st *Store) Resident() int64 { return st.books.resident.Load() }

// Wrote returns the bytes of blocks that were written to segment files since Open.
func (st *Store) Wrote() int64 { return st.wrote.Load() }

// Dirty: see Resident.
func (st *Store) Dirty() int64 { return st.books.dirty.Load() }

// Stats returns the figures. They are read one by one while work goes on.
func (st *Store) Stats() Stats {
	s := Stats{
		Resident: st.books.resident.Load(), Dirty: st.books.dirty.Load(), Inner: st.books.inner.Load(),
		Loads: st.loads.count.Load(), Evictions: st.evictions.Load(), Spilled: st.spill.bytes(),
	}
	st.books.mu.Lock()
	s.Blocks = len(st.books.ring)
	st.books.mu.Unlock()
	st.retired.mu.Lock()
	s.Retired = st.retired.bytes
	st.retired.mu.Unlock()
	s.Segments, s.DiskBytes, s.LiveBytes = st.segments.totals()
	top := st.newest.Load()
	st.EachPin(func(_ *ReaderSlot, ver uint64) {
		s.Pins++
		if ver < top {
			s.PinAge = max(s.PinAge, top-ver)
		}
	})
	return s
}
