package storage

import (
	"runtime"
	"slices"
	"sort"
	"sync"

	"herd/storage/btree"
)

// mark ends the handles that version ver retired: they lie in retired.q up to place end.
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
	q       queue
	marks   []mark
	bytes   int64
	groups  []group     // dropped trees after their expansion
	drops   []drop      // dropped trees before it
	dead    []deadBytes // released, but younger than the manifest
	settled int         // dead[:settled] are younger than the manifest of version have
	have    uint64
	due     int // length of q at which Apply releases
	// counted are the bytes by segment of what is still in the queue up to place countedTo, and of the groups up to group.counted. All was retired up to the version of a manifest: nobody writes it any more and its
	// place is final.
	counted   map[uint32]int64
	countedTo int
	branches  int // how often takeBack has made retired blocks live again, or handles have moved in the queue
	// held are the versions below Store.released that may still be pinned, ascending: see sieve.go. sieved is the place up to which the queue was looked through for what they do not need; holes counts the handles that
	// were taken out of its middle and are nil.
	held, spare []uint64
	sieved      int
	holes       int
}

// group is the blocks of one dropped tree.
type group struct {
	ver     uint64
	handles []*btree.Handle
	counted int // handles that are in retired.counted
}

// drop is a dropped tree whose blocks have not been listed yet: that needs reads and is done by Maintain.
type drop struct {
	ver uint64
	tr  *tree
}

const (
	// releaseStep is how many blocks are released while commits wait.
	releaseStep = 512
	// releaseShare is how many blocks a commit releases at most, besides as many as it has replaced: the end of a long
	// reader, or a dropped table, leaves more than one commit can take away without delay.
	releaseShare = 128
	// countStep is how many retired blocks are looked at while commits wait.
	countStep = 8192
)

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
	r.q.add(old...)
	r.mark(ver, len(old), bytes, drops)
	due := r.q.len() >= r.due
	st.newest.Store(ver)
	r.mu.Unlock()
	if due {
		st.releaseSome(releaseShare + 2*min(len(old), releaseStep))
	}
}

// mark notes that the last n handles of the queue, and the trees, were retired by version ver. mu is held.
func (r *retired) mark(ver uint64, n int, bytes int64, drops []*tree) {
	if n > 0 {
		r.marks = append(r.marks, mark{ver, r.q.end, bytes})
		r.bytes += bytes
	}
	for _, tr := range drops {
		if tr.root.H != nil {
			r.drops = append(r.drops, drop{ver, tr})
		}
	}
}

// Release drops the replaced blocks that no pin needs any more from memory. Commits do so too, when they have replaced as
// many as were left the last time; the engine calls it when memory is short.
func (st *Store) Release() { st.release() }

// release drops the retired blocks that no pin needs any more from the ring and the books. Commits go on between its
// steps.
func (st *Store) release() {
	for st.releaseSome(releaseStep) {
		runtime.Gosched()
	}
}

// releaseSome is release for about so many blocks. It tells whether there may be more to release.
func (st *Store) releaseSome(most int) (more bool) {
	r := &st.retired
	r.mu.Lock()
	defer r.mu.Unlock()
	if st.closed.Load() {
		return false
	}
	left := most
	// What a former call has left lies below the bound that it found; a new one costs a look at every slot.
	freed := st.releaseOpen(&left)
	if left > 0 {
		st.raiseBound()
		freed += st.releaseOpen(&left)
	}
	more = left <= 0
	fresh := max(256, r.q.len()-r.holes) // as many more as are left
	if slots := st.slots.list.Load(); slots != nil {
		fresh = max(fresh, len(*slots)/4)
	}
	r.due = r.q.len() + fresh
	if more {
		r.due = 0 // the next commit goes on
	}
	st.settle()
	st.account(-freed)
	return more
}

// releaseOpen buries what the versions that are open do not need. retired.mu is held.
func (st *Store) releaseOpen(left *int) (freed int64) {
	low := st.lowest()
	return st.releaseFront(low, left) + st.releaseGroups(low, left) + st.sieve(left)
}

// releaseFront buries blocks from the front of the queue. retired.mu is held.
func (st *Store) releaseFront(bound uint64, left *int) (freed int64) {
	r := &st.retired
	n := 0
	for ; n < len(r.marks) && r.marks[n].ver <= bound && *left > 0; n++ {
		m := &r.marks[n]
		take := min(m.end-r.q.base, *left)
		bytes := st.buryFront(m.ver, take)
		freed += bytes
		if r.q.base == m.end {
			bytes = m.bytes // what was booked when it was retired, blocks that were evicted since included
		}
		bytes = min(bytes, m.bytes)
		m.bytes -= bytes
		r.bytes -= bytes
		*left -= take
		if r.q.base < m.end {
			break
		}
	}
	r.marks = r.marks[n:]
	if r.q.len() == 0 { // lets the array behind go
		r.marks = nil
	}
	r.countedTo = max(r.countedTo, r.q.base)
	return freed
}

// buryFront buries the first n handles of the queue, retired by version ver. retired.mu is held.
func (st *Store) buryFront(ver uint64, n int) (freed int64) {
	r := &st.retired
	for at, hs := range r.q.pieces(r.q.base, r.q.base+n) {
		r.uncount(hs[:max(0, min(len(hs), r.countedTo-at))])
		freed += st.bury(ver, r.noHoles(hs))
	}
	r.q.drop(n)
	return freed
}

// noHoles returns the handles that are not nil, in hs itself. mu is held.
func (r *retired) noHoles(hs []*btree.Handle) []*btree.Handle {
	if r.holes == 0 {
		return hs
	}
	n := len(hs)
	hs = slices.DeleteFunc(hs, func(h *btree.Handle) bool { return h == nil })
	r.holes -= n - len(hs)
	return hs
}

// releaseGroups buries blocks of dropped trees. retired.mu is held.
func (st *Store) releaseGroups(bound uint64, left *int) (freed int64) {
	r := &st.retired
	keep := r.groups[:0]
	for _, g := range r.groups {
		if g.ver <= bound && *left > 0 {
			take := min(len(g.handles), *left)
			freed += st.bury(g.ver, g.handles[:take])
			r.uncount(g.handles[:min(take, g.counted)])
			clear(g.handles[:take])
			g.handles, g.counted = g.handles[take:], max(0, g.counted-take)
			*left -= take
		}
		if len(g.handles) > 0 {
			keep = append(keep, g)
		}
	}
	clear(r.groups[len(keep):])
	r.groups = keep
	return freed
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

// count brings counted up to what version ver has retired, step by step: commits go on in between. ver is the version of
// a manifest that is being made: what was retired before has got the place it will ever have.
func (st *Store) count(ver uint64) {
	for st.countSome(ver, countStep) {
		runtime.Gosched()
	}
}

func (st *Store) countSome(ver uint64, most int) (more bool) {
	r := &st.retired
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := st.forkActive.Load(); f != nil { // what was retired since is live again when the fork is done, and that must not take long
		ver = min(ver, f.base.ver)
	}
	left := most
	at := max(r.countedTo, r.q.base)
	if end := min(r.retiredBy(ver), at+left); end > at {
		for _, hs := range r.q.pieces(at, end) {
			r.addCounted(hs, 1)
		}
		r.countedTo = end
		left -= end - at
	}
	for i := range r.groups {
		if g := &r.groups[i]; g.ver <= ver {
			end := min(len(g.handles), g.counted+left)
			r.addCounted(g.handles[g.counted:end], 1)
			left -= end - g.counted
			g.counted = end
		}
	}
	return left <= 0
}

// addCounted adds the bytes of blocks to counted, or with sign -1 takes them off. mu is held.
func (r *retired) addCounted(hs []*btree.Handle, sign int64) {
	if r.counted == nil {
		r.counted = map[uint32]int64{}
	}
	for _, h := range hs {
		if h == nil {
			continue
		}
		if ref := h.Ref(); ref.Addr != 0 && !ref.Addr.Scratch() {
			r.counted[ref.Addr.Segment()] += sign * int64(ref.Size)
		}
	}
}

// uncount takes blocks off counted that leave the queue or a group. mu is held.
func (r *retired) uncount(hs []*btree.Handle) { r.addCounted(hs, -1) }

// retiredBy returns the place behind the handles retired up to version ver. mu is held.
func (r *retired) retiredBy(ver uint64) int {
	n := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].ver > ver })
	if n == 0 {
		return r.q.base
	}
	return r.marks[n-1].end
}

// liveAt returns, per segment, the dead bytes that are still booked although version ver, for which count was called,
// does not reach them. mu is held.
func (r *retired) liveAt(ver uint64) map[uint32]int64 {
	out := map[uint32]int64{}
	for seg, bytes := range r.counted {
		if bytes == 0 {
			delete(r.counted, seg)
			continue
		}
		out[seg] = bytes
	}
	for _, d := range r.dead {
		if d.ver <= ver {
			out[d.seg] += d.bytes
		}
	}
	return out
}

// heldIn returns the bytes of a segment that are booked only for what was retired; what is retired or buried while it
// counts may be in it twice or not at all. ok is false when retired blocks came to life again meanwhile. Commits go on
// between its steps.
func (st *Store) heldIn(seg uint32) (bytes int64, ok bool) {
	r := &st.retired
	add := func(h *btree.Handle) {
		if h == nil {
			return
		}
		if ref := h.Ref(); ref.Addr != 0 && !ref.Addr.Scratch() && ref.Addr.Segment() == seg {
			bytes += int64(ref.Size)
		}
	}
	r.mu.Lock()
	branches, at, end := r.branches, r.q.base, r.q.end
	for at < end && r.branches == branches {
		at = max(at, r.q.base) // what was taken from the front meanwhile is in dead, or off the books
		to := min(end, at+countStep)
		for _, hs := range r.q.pieces(at, to) {
			for _, h := range hs {
				add(h)
			}
		}
		at = max(at, to)
		r.mu.Unlock()
		runtime.Gosched()
		r.mu.Lock()
	}
	defer r.mu.Unlock()
	for _, g := range r.groups {
		for _, h := range g.handles {
			add(h)
		}
	}
	for _, d := range r.dead {
		if d.seg == seg {
			bytes += d.bytes
		}
	}
	return bytes, r.branches == branches
}

// takeBack removes everything retired after version ver from the queue: those blocks are live again (or the caller's
// to retire anew). Used when a branch of versions is left: Rewind and Fork.Finish. retired.mu is held.
func (st *Store) takeBack(ver uint64) {
	r := &st.retired
	r.branches++
	from := r.retiredBy(ver)
	n := len(r.marks)
	for ; n > 0 && r.marks[n-1].ver > ver; n-- {
		r.bytes -= r.marks[n-1].bytes
	}
	r.marks = r.marks[:n]
	for _, hs := range r.q.pieces(from, r.countedTo) {
		r.uncount(hs)
	}
	if r.holes > 0 {
		for _, hs := range r.q.pieces(from, r.q.end) {
			r.noHoles(hs)
		}
	}
	r.q.cut(from)
	r.countedTo, r.sieved = min(r.countedTo, from), min(r.sieved, from)
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
			continue
		}
		r.uncount(g.handles[:g.counted])
	}
	clear(r.groups[len(groups):])
	r.groups = groups
}
