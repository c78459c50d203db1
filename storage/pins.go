package storage

import (
	"math"
	"sync"
	"sync/atomic"
)

// ReaderSlot says which version its owner reads. One goroutine uses a slot at a time; whoever reads several versions at
// once has several slots. The padding keeps slots of different sessions in different cache lines.
type ReaderSlot struct {
	_   [64]byte
	ver atomic.Uint64 // 0 = nothing pinned
	st  *Store
	_   [48]byte
}

// slots is the list of all slots. The list is copied when it grows; closed slots are used again.
type slots struct {
	mu   sync.Mutex
	free []*ReaderSlot // guarded by mu
	list atomic.Pointer[[]*ReaderSlot]
}

// NewSlot returns a slot that pins nothing.
func (st *Store) NewSlot() *ReaderSlot {
	st.slots.mu.Lock()
	defer st.slots.mu.Unlock()
	if n := len(st.slots.free); n > 0 {
		r := st.slots.free[n-1]
		st.slots.free = st.slots.free[:n-1]
		return r
	}
	r := &ReaderSlot{st: st}
	var list []*ReaderSlot
	if old := st.slots.list.Load(); old != nil {
		list = append(make([]*ReaderSlot, 0, len(*old)+1), *old...)
	}
	list = append(list, r)
	st.slots.list.Store(&list)
	return r
}

// Close gives the slot back to the store. The owner must not use it again.
func (r *ReaderSlot) Close() {
	r.Unpin()
	r.st.slots.mu.Lock()
	r.st.slots.free = append(r.st.slots.free, r)
	r.st.slots.mu.Unlock()
}

// Pin keeps every block of s readable until Unpin, in place of what the slot pinned before. false: s was released
// between the moment its pointer was read and now; the slot is empty and the caller reads the pointer again. It is
// never false for the newest snapshot nor for one that another slot holds.
//
// The slot is written before the released bound is read, and release publishes its bound before it reads the slots
// (both sequentially consistent), so one of the two sees the other. Below the bound see sieve.go.
func (r *ReaderSlot) Pin(s *Snapshot) bool {
	r.ver.Store(s.ver)
	if r.st.released.Load() <= s.ver || r.st.open(s.ver) {
		return true
	}
	r.ver.Store(0)
	return false
}

// Unpin ends Pin. Harmless when nothing is pinned.
func (r *ReaderSlot) Unpin() { r.ver.Store(0) }

// Pinned reports whether the slot pins a version.
func (r *ReaderSlot) Pinned() bool { return r.ver.Load() != 0 }

const noVersion = math.MaxUint64
