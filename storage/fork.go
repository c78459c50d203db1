package storage

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"herd/storage/block"
	"herd/storage/btree"
)

// Fork is a big commit on its way: its changes are merged onto a version forked from the newest snapshot while other
// commits go on. The engine drives it:
//
//	f := store.Fork(tip)            under the commit mutex; from here each commit also goes to a catch-up list
//	f.Merge(part) ...               without the mutex, as often as needed
//	f.CatchUp(list...) ...          without the mutex, until few are left
//	f.CatchUp(rest...); f.Finish    under the mutex: the result is the next tip
//
// The big commit's keys and those of the commits it catches up with are disjoint: row and key locks make them so. One
// fork at a time.
type Fork struct {
	st   *Store
	base *Snapshot
	slot *ReaderSlot
	ap   applier
	rt   roots
	ver  uint64
	cat  bool // the big commit touched a system tree

	created []*btree.Handle // in the books already, so that Finish has little to do
	retired queue
	bytes   int64 // of retired
	drops   []*tree
	limit   int // length of created at which the dead are sorted out
	w       *segmentWriter
	took    []*segmentWriter // of grafted leaves
	fresh   int64            // bytes of blocks made since the last flush

	mu  sync.Mutex
	tip queue // guarded by mu: blocks that commits on the tip made since base; dead after Finish
}

// Fork starts a big commit at s, the newest snapshot. It must not run beside Apply.
func (st *Store) Fork(s *Snapshot) (*Fork, error) {
	f := &Fork{st: st, base: s, rt: s.roots, ver: st.ver.Add(1), slot: st.NewSlot(), limit: 4096}
	f.ap.ed.KeepDead = true
	if !f.slot.Pin(s) {
		f.slot.Close()
		return nil, fmt.Errorf("fork at version %d: it was released", s.ver)
	}
	if !st.forkActive.CompareAndSwap(nil, f) {
		f.slot.Close()
		return nil, errors.New("fork: another one is open")
	}
	return f, nil
}

// noteTip remembers the blocks of a commit that the fork will leave behind.
func (f *Fork) noteTip(created []*btree.Handle) {
	f.mu.Lock()
	f.tip.add(created...)
	f.mu.Unlock()
}

// Merge applies a part of the big commit: sorted as a ChangeSet, at most one change per key within the part. It reads
// blocks that are not in memory.
func (f *Fork) Merge(cs ChangeSet) error {
	cat, err := f.apply([]ChangeSet{cs})
	f.cat = f.cat || cat
	if err == nil && f.fresh >= f.st.forkFlush {
		err = f.flush()
	}
	return err
}

// CatchUp applies commits that went to the tip since Fork, in their order.
func (f *Fork) CatchUp(sets ...ChangeSet) error {
	_, err := f.apply(sets)
	return err
}

func (f *Fork) apply(sets []ChangeSet) (bool, error) {
	f.ap.gather(sets)
	f.ap.begin(f.st, f.ver, f.st)
	cat, err := f.ap.run(&f.rt)
	if err != nil {
		return false, fmt.Errorf("fork: %w", err)
	}
	f.settle()
	return cat, nil
}

// Trees calls f for each tree of the fork, in order of their numbers, with its figures.
func (f *Fork) Trees(fn func(t TreeID, rows int64, sum uint64) bool) {
	f.rt.walk(nil, func(tr *tree) bool { return fn(tr.id, tr.root.Stat.Rows, tr.root.Stat.Sum) })
}

// settle books what the applier has made and replaced.
func (f *Fork) settle() {
	// Blocks that died again before this call are in the books, those of this call are not yet.
	freed := f.st.books.bury(f.ap.ed.Dead)
	made := f.st.books.adopt(f.ap.ed.Created)
	clear(f.ap.ed.Dead)
	f.ap.ed.Dead = f.ap.ed.Dead[:0]
	f.st.account(made - freed)
	f.fresh += made
	f.created = appendAlive(f.created, f.ap.ed.Created)
	for _, h := range f.ap.ed.Retired {
		if b := h.Block(); b != nil {
			f.bytes += b.Cost()
		}
	}
	f.retired.add(f.ap.ed.Retired...)
	f.drops = append(f.drops, f.ap.drops...)
	f.ap.forget()
	if len(f.created) > f.limit {
		alive := appendAlive(f.created[:0], f.created)
		clear(f.created[len(alive):])
		f.created = alive
		f.limit = 2*len(alive) + 4096
	}
}

// appendAlive appends the handles of hs that did not die.
func appendAlive(dst, hs []*btree.Handle) []*btree.Handle {
	for _, h := range hs {
		if !h.Flag(btree.FlagDead) {
			dst = append(dst, h)
		}
	}
	return dst
}

// Finish returns the fork as the snapshot that follows tip, with sequence number seq. The fork has caught up with every
// commit up to tip. Call under the commit mutex. The tip's own versions since the base are left behind: what they made
// is retired, what they retired and the fork did not is live.
func (f *Fork) Finish(seq Seq, tip *Snapshot) (*Snapshot, error) {
	if tip.st != f.st {
		return nil, errors.New("fork: tip of another store")
	}
	st := f.st
	next := &Snapshot{st: st, seq: seq, catalog: tip.catalog, ver: st.ver.Add(1), roots: f.rt}
	if f.cat {
		next.catalog = seq
	}
	if f.leave() {
		st.written.Store(max(st.written.Load(), next.ver)) // before the cleaner may correct books again
	}
	st.forks.add(f.ver, next.ver)
	r := &st.retired
	r.mu.Lock()
	f.mu.Lock()
	st.forkActive.Store(nil)
	st.takeBack(f.base.ver)
	n := f.retired.len()
	r.q.take(&f.retired)
	r.mark(next.ver, n, f.bytes, nil)
	n = f.tip.len()
	r.q.take(&f.tip)
	r.mark(next.ver, n, 0, f.drops)
	st.newest.Store(next.ver)
	f.mu.Unlock()
	r.mu.Unlock()
	f.slot.Close()
	return next, nil
}

// Abandon drops the fork. Call under the commit mutex, and Discard afterwards without it.
func (f *Fork) Abandon() {
	f.leave()
	f.st.forkActive.Store(nil)
}

// Discard takes the blocks of an abandoned fork out of memory and off the books, while others commit, but before another fork or a
// Rewind.
func (f *Fork) Discard() {
	st := f.st
	memory, disk := f.created[:0], []*btree.Handle(nil)
	for _, h := range f.created {
		if h.Addr() == 0 {
			memory = append(memory, h)
		} else {
			disk = append(disk, h)
		}
	}
	if len(disk) > 0 { // the frames of blocks that are in f.retired too are in here: they were created by the fork
		st.retired.mu.Lock()
		st.retired.groups = append(st.retired.groups, group{ver: st.newest.Load(), handles: disk})
		st.retired.mu.Unlock()
	}
	st.account(-st.books.bury(memory))
	f.slot.Close()
	f.created, f.retired, f.tip, f.drops = nil, queue{}, queue{}, nil
}

// leave hands the files of the fork's blocks to the next checkpoint, and reports whether there are any.
func (f *Fork) leave() bool {
	if f.w != nil {
		f.took = append(f.took, f.w)
	}
	for _, w := range f.took {
		w.leave()
	}
	return len(f.took) > 0
}

// forkFlush is how many bytes of new blocks a fork gathers before it writes its leaves, so that they can be evicted: a
// big commit may be larger than memory.
const forkFlush = 16 << 20

// flush writes the fork's leaves and long values that have no disk copy to segment files of its own. It does so beside
// a checkpoint: nobody else can reach the fork's blocks. Inner nodes stay for the checkpoint, since those may have
// children that are the checkpoint's to write.
func (f *Fork) flush() error {
	if err := f.st.writable(); err != nil {
		return err
	}
	if f.w == nil {
		f.w = &segmentWriter{st: f.st, fork: true}
	}
	c := &checkpoint{st: f.st, w: f.w}
	var err error
	f.rt.walk(&f.base.roots, func(tr *tree) bool {
		err = f.flushBelow(c, tr.id, tr.root.H)
		return err == nil
	})
	if err == nil {
		err = f.w.flush()
	}
	if err != nil {
		f.w.abandon()
		limit := f.st.memLimit.Load()
		if !errors.Is(err, syscall.ENOSPC) || limit > 0 && f.st.books.resident.Load() > limit {
			return fmt.Errorf("write blocks of a big commit: %w", err)
		}
		// A full disk does not stop a large DELETE: the blocks stay in memory while there is room.
	}
	f.fresh = 0
	return nil
}

// flushBelow writes the leaves below h that the fork made.
func (f *Fork) flushBelow(c *checkpoint, t TreeID, h *btree.Handle) error {
	if h == nil || h.Born != f.ver || h.Addr() != 0 {
		return nil
	}
	b := h.Block()
	if b.Kind == block.KindInner {
		for _, k := range b.Children() {
			if err := f.flushBelow(c, t, k); err != nil {
				return err
			}
		}
		return nil
	}
	for _, k := range b.Kids {
		if k.Born != f.ver && !k.Flag(btree.FlagDisk) {
			return nil // a value that a running checkpoint may be writing, and may take its address back
		}
	}
	return c.block(t, h, nil)
}

// forkVersions maps the version that a fork's blocks were born in to the one that made them visible: Rewind needs to
// know which blocks a version has.
type forkVersions struct {
	mu   sync.Mutex
	seen map[uint64]uint64
}

// forkVersionsMax bounds the map: Rewind goes back a few commits, not hundreds of big ones.
const forkVersionsMax = 256

func (v *forkVersions) add(born, visible uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen == nil {
		v.seen = map[uint64]uint64{}
	}
	v.seen[born] = visible
	for len(v.seen) > forkVersionsMax {
		low := uint64(noVersion)
		for b := range v.seen {
			low = min(low, b)
		}
		delete(v.seen, low)
	}
}

// visible returns the version that made a block born in version born visible.
func (v *forkVersions) visible(born uint64) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w, ok := v.seen[born]; ok {
		return w
	}
	return born
}
