package storage

import (
	"slices"
	"sort"

	"herd/storage/btree"
)

// A pin that stays, of a report or of a session that waits for its user, must not keep all that is replaced as long as it
// stays: it needs only what its own version has. So the versions that may be pinned are two sets. Those from released on are
// open: any reader may pin them. Of those below only the ones in retired.held may be, which were pinned when the bound was
// raised above them; another slot may join such a pin, and the last one that leaves closes the version for good. Then a block
// made by version b and replaced by version r is needed only while a pin p, b <= p < r, is held or r is above the bound:
// releaseFront buries the front of the queue, up to the lowest pin, and sieve what lies between the pins behind it.

const (
	// pinLag is how many versions a pin may be behind the newest and still hold the bound back: the durable snapshot, which is
	// some commits behind, should be above the bound, where Pin takes no lock. Tests lower Store.pinLag.
	pinLag = 1024
	// holesMin is how many handles were taken out of the queue's middle before it is made dense again.
	holesMin = 4096
)

// raiseBound closes versions that nobody pins now, and notes which of those below the bound stay open. retired.mu is held.
func (st *Store) raiseBound() {
	r := &st.retired
	before, newest := st.released.Load(), st.newest.Load()
	bound := newest
	st.EachPin(func(_ *ReaderSlot, ver uint64) {
		if ver+st.pinLag >= newest {
			bound = min(bound, ver)
		}
	})
	bound = max(bound, before)
	st.released.Store(bound)
	// From here on a pin below the bound has to ask r, whose lock is held. One that was made before is seen now, and so is one
	// that another slot hands on: the other slot stays until it is answered.
	held := r.spare[:0]
	st.EachPin(func(_ *ReaderSlot, ver uint64) {
		if ver < bound && (ver >= before || r.isHeld(ver)) {
			held = append(held, ver)
		}
	})
	slices.Sort(held)
	held = slices.Compact(held)
	for _, ver := range r.held {
		if _, still := slices.BinarySearch(held, ver); !still {
			r.sieved = r.q.base // what was kept for it may go
		}
	}
	r.held, r.spare = held, r.held
}

// isHeld tells whether a version below the bound is still open. mu is held.
func (r *retired) isHeld(ver uint64) bool {
	_, ok := slices.BinarySearch(r.held, ver)
	return ok
}

// open tells whether all blocks of a version are still there, and stay for one that has pinned it.
func (st *Store) open(ver uint64) bool {
	if st.released.Load() <= ver {
		return true
	}
	st.retired.mu.Lock()
	defer st.retired.mu.Unlock()
	return st.released.Load() <= ver || st.retired.isHeld(ver)
}

// lowest returns the lowest version that is open. retired.mu is held.
func (st *Store) lowest() uint64 {
	if held := st.retired.held; len(held) > 0 {
		return held[0]
	}
	return st.released.Load()
}

// sieve buries blocks behind the lowest pin that no pin needs. left counts the blocks it looks at. While a fork is open it
// does nothing: what the tip's versions made and replaced is the fork's to settle. retired.mu is held.
func (st *Store) sieve(left *int) (freed int64) {
	r := &st.retired
	if len(r.held) == 0 || st.forkActive.Load() != nil {
		return 0
	}
	at, end := max(r.sieved, r.q.base), r.retiredBy(st.released.Load())
	i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].end > at })
	var dead []*btree.Handle
	for at < end && *left > 0 {
		m := &r.marks[i]
		stop := min(m.end, at+*left)
		dead = r.pick(dead[:0], at, stop, m.ver)
		bytes := st.bury(m.ver, dead)
		freed += bytes
		bytes = min(bytes, m.bytes)
		m.bytes -= bytes
		r.bytes -= bytes
		*left -= stop - at
		if at = stop; at == m.end {
			i++
		}
	}
	r.sieved = at
	if r.holes > max(holesMin, r.q.len()/2) {
		r.dense()
	}
	return freed
}

// pick takes the handles out of a stretch of the queue, replaced by version ver, that no held pin needs. mu is held.
func (r *retired) pick(dead []*btree.Handle, from, to int, ver uint64) []*btree.Handle {
	counted := len(dead)
	for at, hs := range r.q.pieces(from, to) {
		for i, h := range hs {
			if h == nil || r.needed(h.Born, ver) {
				continue
			}
			hs[i] = nil
			r.holes++
			dead = append(dead, h)
			if at+i < r.countedTo {
				counted = len(dead)
			}
		}
	}
	r.uncount(dead[:counted])
	return dead
}

// needed tells whether a held pin sees what version born made and version ver replaced. mu is held.
func (r *retired) needed(born, ver uint64) bool {
	i, _ := slices.BinarySearch(r.held, born)
	return i < len(r.held) && r.held[i] < ver
}

// dense closes the holes in the queue. What is counted from the beginning of time counts anew. mu is held.
func (r *retired) dense() {
	kept := queue{base: r.q.base, end: r.q.base}
	counted, sieved := kept.end, kept.end
	at, marks := r.q.base, r.marks[:0]
	for _, m := range r.marks {
		first := kept.end
		for place, hs := range r.q.pieces(at, m.end) {
			for i, h := range hs {
				if h == nil {
					continue
				}
				kept.add(h)
				if place+i < r.countedTo {
					counted = kept.end
				}
				if place+i < r.sieved {
					sieved = kept.end
				}
			}
		}
		at = m.end
		if kept.end == first {
			r.bytes -= m.bytes // of blocks that were evicted before they were buried
			continue
		}
		marks = append(marks, mark{m.ver, kept.end, m.bytes})
	}
	r.q, r.marks = kept, marks
	r.countedTo, r.sieved = counted, sieved
	r.holes = 0
	r.branches++ // whoever walks the queue in steps has lost its place
}
