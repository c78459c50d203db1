package storage

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"herd/storage/btree"
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
// (both sequentially consistent), so one of the two sees the other.
func (r *ReaderSlot) Pin(s *Snapshot) bool {
	r.ver.Store(s.ver)
	if r.st.released.Load()>>1 <= s.ver {
		return true
	}
	return r.pinSlow(s)
}

func (r *ReaderSlot) pinSlow(s *Snapshot) bool {
	for {
		w := r.st.released.Load()
		if w>>1 <= s.ver {
			return true
		}
		if w&1 == 0 {
			r.ver.Store(0)
			return false
		}
		runtime.Gosched() // release is between its two looks at the slots
	}
}

// Unpin ends Pin. Harmless when nothing is pinned.
func (r *ReaderSlot) Unpin() { r.ver.Store(0) }

// Pinned reports whether the slot pins a version.
func (r *ReaderSlot) Pinned() bool { return r.ver.Load() != 0 }

// lowest returns the lowest pinned version, or top when it is lower.
func (s *slots) lowest(top uint64) (low uint64, pins int) {
	low = top
	if l := s.list.Load(); l != nil {
		for _, r := range *l {
			if v := r.ver.Load(); v != 0 {
				low = min(low, v)
				pins++
			}
		}
	}
	return low, pins
}

// mark ends the handles that version ver retired: they lie in retired.handles up to index end, counted from the
// beginning of time.
type mark struct {
	ver   uint64
	end   int
	bytes int64
}

// deadBytes are bytes of a segment that no version from ver on needs; the manifest may still.
type deadBytes struct {
	ver   uint64
	seg   uint32
	bytes int64
}

// retired is what was replaced and may still be read: a queue by version.
type retired struct {
	mu      sync.Mutex
	base    int // how many handles were taken from the front
	handles []*btree.Handle
	marks   []mark
	bytes   int64
	groups  []group     // dropped trees after their expansion
	drops   []drop      // dropped trees before it
	dead    []deadBytes // released, but younger than the manifest
	settled int         // dead[:settled] are younger than the manifest of version have
	have    uint64
	due     int // number of handles at which Apply releases
}

// group is the blocks of one dropped tree.
type group struct {
	ver     uint64
	handles []*btree.Handle
}

// drop is a dropped tree whose blocks have not been listed yet: that needs reads and is done by Maintain.
type drop struct {
	ver uint64
	tr  *tree
}

// install puts a new version into the books: its new blocks into the ring, the replaced ones on its retire list.
func (st *Store) install(ver uint64, created, old []*btree.Handle, drops []*tree) {
	made := st.books.adopt(created)
	if f := st.forkActive.Load(); f != nil {
		f.noteTip(created)
	}
	var bytes int64
	for _, h := range old {
		if b := h.Block(); b != nil {
			bytes += b.Cost()
		}
	}
	st.account(made)
	st.retire(ver, old, bytes, drops)
}

// retire puts the blocks that version ver does not have any more on its list, and makes ver the newest version.
func (st *Store) retire(ver uint64, old []*btree.Handle, bytes int64, drops []*tree) {
	r := &st.retired
	r.mu.Lock()
	if len(old) > 0 {
		r.handles = append(r.handles, old...)
		r.marks = append(r.marks, mark{ver, r.base + len(r.handles), bytes})
		r.bytes += bytes
	}
	for _, tr := range drops {
		if tr.root.H != nil {
			r.drops = append(r.drops, drop{ver, tr})
		}
	}
	due := len(r.handles) >= max(r.due, 256)
	st.newest.Store(ver)
	r.mu.Unlock()
	if due {
		st.release()
	}
}

// release drops the retired blocks that no pin needs any more from the ring and the books.
func (st *Store) release() {
	r := &st.retired
	r.mu.Lock()
	defer r.mu.Unlock()
	before := st.released.Load() >> 1
	bound, _ := st.slots.lowest(st.newest.Load())
	if bound > before {
		st.released.Store(bound<<1 | 1)
		again, _ := st.slots.lowest(bound)
		bound = max(again, before)
		st.released.Store(bound << 1)
	}
	bound = max(bound, before)
	n := 0
	for len(r.marks) > n && r.marks[n].ver <= bound {
		n++
	}
	var freed int64
	if n > 0 {
		take := r.marks[n-1].end - r.base
		from := r.base
		for _, m := range r.marks[:n] {
			freed += st.bury(m.ver, r.handles[from-r.base:m.end-r.base])
			from = m.end
			r.bytes -= m.bytes
		}
		rest := copy(r.handles, r.handles[take:])
		clear(r.handles[rest:])
		r.handles = r.handles[:rest]
		r.base += take
		r.marks = append(r.marks[:0], r.marks[n:]...)
	}
	keep := r.groups[:0]
	for _, g := range r.groups {
		if g.ver <= bound {
			freed += st.bury(g.ver, g.handles)
		} else {
			keep = append(keep, g)
		}
	}
	clear(r.groups[len(keep):])
	r.groups = keep
	r.due = 2 * len(r.handles)
	if slots := st.slots.list.Load(); slots != nil {
		r.due = max(r.due, len(*slots)/4)
	}
	st.settle()
	st.account(-freed)
}

// bury takes blocks that nobody reads any more out of ring and books. retired.mu is held.
func (st *Store) bury(ver uint64, hs []*btree.Handle) (freed int64) {
	freed = st.books.bury(hs)
	for _, h := range hs {
		ref := h.Ref()
		if ref.Addr == 0 || ref.Addr.Scratch() {
			if ref.Addr != 0 {
				st.spill.dead(ref)
			}
			continue
		}
		if n := len(st.retired.dead); n > 0 {
			if d := &st.retired.dead[n-1]; d.ver == ver && d.seg == ref.Addr.Segment() {
				d.bytes += int64(ref.Size)
				continue
			}
		}
		st.retired.dead = append(st.retired.dead, deadBytes{ver, ref.Addr.Segment(), int64(ref.Size)})
	}
	return freed
}

// settle takes dead bytes that the manifest does not need either off their segments. retired.mu is held.
func (st *Store) settle() {
	r := &st.retired
	have := st.manifestVer.Load()
	if have != r.have { // between two manifests only what is new needs a look
		r.have, r.settled = have, 0
	}
	keep := r.dead[:r.settled]
	for _, d := range r.dead[r.settled:] {
		if d.ver <= have {
			st.segments.addLive(d.seg, -d.bytes)
		} else {
			keep = append(keep, d)
		}
	}
	r.dead, r.settled = keep, len(keep)
}

// liveAt returns, per segment, the dead bytes that are still booked although version ver does not reach them.
func (st *Store) liveAt(ver uint64) map[uint32]int64 {
	st.retired.mu.Lock()
	defer st.retired.mu.Unlock()
	return st.retired.liveAt(ver)
}

// liveAt is Store.liveAt. mu is held.
func (r *retired) liveAt(ver uint64) map[uint32]int64 {
	out := map[uint32]int64{}
	add := func(h *btree.Handle) {
		if ref := h.Ref(); ref.Addr != 0 && !ref.Addr.Scratch() {
			out[ref.Addr.Segment()] += int64(ref.Size)
		}
	}
	from := r.base
	for _, m := range r.marks {
		if m.ver > ver {
			break
		}
		for _, h := range r.handles[from-r.base : m.end-r.base] {
			add(h)
		}
		from = m.end
	}
	for _, g := range r.groups {
		if g.ver <= ver {
			for _, h := range g.handles {
				add(h)
			}
		}
	}
	for _, d := range r.dead {
		if d.ver <= ver {
			out[d.seg] += d.bytes
		}
	}
	return out
}

// takeBack removes everything retired after version ver from the queue: those blocks are live again (or the caller's
// to retire anew). Used when a branch of versions is left: Rewind and Fork.Finish.
func (st *Store) takeBack(ver uint64) {
	r := &st.retired
	for len(r.marks) > 0 && r.marks[len(r.marks)-1].ver > ver {
		m := r.marks[len(r.marks)-1]
		r.marks = r.marks[:len(r.marks)-1]
		from := r.base
		if n := len(r.marks); n > 0 {
			from = r.marks[n-1].end
		}
		clear(r.handles[from-r.base:])
		r.handles = r.handles[:from-r.base]
		r.bytes -= m.bytes
	}
	drops := r.drops[:0]
	for _, d := range r.drops {
		if d.ver <= ver {
			drops = append(drops, d)
		}
	}
	clear(r.drops[len(drops):])
	r.drops = drops
	groups := r.groups[:0]
	for _, g := range r.groups {
		if g.ver <= ver {
			groups = append(groups, g)
		}
	}
	clear(r.groups[len(groups):])
	r.groups = groups
}

const noVersion = math.MaxUint64
