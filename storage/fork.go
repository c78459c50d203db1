package storage

import (
	"errors"
	"fmt"
	"sync"

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

	created []*btree.Handle
	retired []*btree.Handle
	drops   []*tree
	booked  int64 // bytes booked for created

	mu  sync.Mutex
	tip []*btree.Handle // guarded by mu: blocks that commits on the tip made since base; dead after Finish
}

// Fork starts a big commit at s, the newest snapshot. It must not run beside Apply.
func (st *Store) Fork(s *Snapshot) (*Fork, error) {
	f := &Fork{st: st, base: s, rt: s.roots, ver: st.ver.Add(1), slot: st.NewSlot()}
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
	f.tip = append(f.tip, created...)
	f.mu.Unlock()
}

// Merge applies a part of the big commit: sorted as a ChangeSet, at most one change per key within the part. It reads
// blocks that are not in memory.
func (f *Fork) Merge(cs ChangeSet) error {
	cat, err := f.apply([]ChangeSet{cs})
	f.cat = f.cat || cat
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
	var made int64
	for _, h := range f.ap.ed.Created {
		if !h.Flag(btree.FlagDead) {
			f.created = append(f.created, h)
			made += h.Block().Cost()
		}
	}
	f.retired = append(f.retired, f.ap.ed.Retired...)
	f.drops = append(f.drops, f.ap.drops...)
	f.ap.forget()
	f.booked += made
	f.st.account(made)
	f.compact()
	return cat, nil
}

// compact forgets created blocks that died again, when they are many.
func (f *Fork) compact() {
	if len(f.created) < 1024 || len(f.created) < 2*cap(f.ap.ed.Created) {
		return
	}
	dead := 0
	for _, h := range f.created {
		if h.Flag(btree.FlagDead) {
			dead++
		}
	}
	if dead < len(f.created)/2 {
		return
	}
	keep, bytes := f.created[:0], int64(0)
	for _, h := range f.created {
		if !h.Flag(btree.FlagDead) {
			keep = append(keep, h)
			bytes += h.Block().Cost()
		}
	}
	clear(f.created[len(keep):])
	f.created = keep
	f.st.account(bytes - f.booked)
	f.booked = bytes
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
	st.forkActive.Store(nil)
	st.account(-f.booked)
	st.retired.mu.Lock()
	st.takeBack(f.base.ver)
	st.retired.mu.Unlock()
	f.mu.Lock()
	old := append(f.retired, f.tip...)
	f.mu.Unlock()
	st.install(next.ver, f.created, old, f.drops)
	f.slot.Close()
	return next, nil
}

// Abandon drops the fork.
func (f *Fork) Abandon() {
	f.st.forkActive.Store(nil)
	f.st.account(-f.booked)
	f.slot.Close()
	f.created, f.retired, f.tip, f.drops = nil, nil, nil, nil
}
