package storage

import (
	"slices"
	"sync"
	"sync/atomic"

	"herd/storage/block"
	"herd/storage/btree"
)

// books knows every block in memory: the ring that the eviction's clock runs over, and the sums. A block is in the ring
// from the moment it is adopted or loaded until it is evicted or buried.
type books struct {
	mu       sync.Mutex
	ring     []*btree.Handle // guarded by mu, as is Handle.Slot
	hand     int             // guarded by mu
	resident atomic.Int64    // bytes of blocks in the ring
	dirty    atomic.Int64    // bytes of those without a disk copy
	inner    atomic.Int64    // number of inner nodes in the ring
}

// add puts h, whose block is b, into the ring. mu is held.
func (k *books) add(h *btree.Handle, b *btree.Block) {
	k.ring = append(k.ring, h)
	h.Slot = int32(len(k.ring))
	k.resident.Add(b.Cost())
	if b.Kind == block.KindInner {
		k.inner.Add(1)
	}
}

// remove takes h out of the ring; the last one moves into its place. mu is held.
func (k *books) remove(h *btree.Handle, b *btree.Block) {
	i, n := int(h.Slot)-1, len(k.ring)-1
	last := k.ring[n]
	k.ring[i] = last
	last.Slot = int32(i + 1)
	k.ring[n] = nil
	k.ring = k.ring[:n]
	h.Slot = 0
	k.resident.Add(-b.Cost())
	if b.Kind == block.KindInner {
		k.inner.Add(-1)
	}
}

// adopt books the new blocks of a version and returns their bytes.
func (k *books) adopt(hs []*btree.Handle) (bytes int64) {
	for part := range slices.Chunk(hs, booksStep) {
		k.mu.Lock()
		for _, h := range part {
			if h.Slot != 0 || h.Flag(btree.FlagDead) {
				continue
			}
			b := h.Block()
			k.add(h, b)
			bytes += b.Cost()
		}
		k.mu.Unlock()
	}
	k.dirty.Add(bytes)
	return bytes
}

// booksStep is how many blocks are booked while others wait for the books.
const booksStep = 512

// bury takes dead blocks out and returns the bytes that were booked for them. The blocks are also cut off their handles:
// old roots stay reachable for a while (the last checkpoint's, a snapshot somebody forgot) and must not keep what was
// replaced since in memory. Nobody can be reading them: that is what dead means.
func (k *books) bury(hs []*btree.Handle) (bytes int64) {
	for part := range slices.Chunk(hs, booksStep) {
		bytes += k.buryPart(part)
	}
	return bytes
}

func (k *books) buryPart(hs []*btree.Handle) (bytes int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range hs {
		h.SetFlag(btree.FlagDead)
		b := h.Block()
		if h.Slot == 0 { // made and replaced by one edit, or loaded by a straggler: booked never or no more
			if b != nil {
				h.DropBlock(b)
			}
			continue
		}
		k.remove(h, b)
		h.DropBlock(b)
		bytes += b.Cost()
		if h.Addr() == 0 {
			k.dirty.Add(-b.Cost())
		}
	}
	return bytes
}

// publish puts a loaded block into its handle and the ring and returns the bytes booked.
func (k *books) publish(h *btree.Handle, b *btree.Block) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	h.SetBlock(b)
	if h.Flag(btree.FlagDead) || h.Slot != 0 {
		return 0
	}
	k.add(h, b)
	return b.Cost()
}

// evict runs the clock until target bytes were freed or every block was looked at often enough to have become cold.
// Leaves lose one access level a look, inner nodes start with three, and an inner node stays while a child is in memory.
func (k *books) evict(target int64) (freed int64, blocks int) {
	k.mu.Lock()
	round := len(k.ring)
	k.mu.Unlock()
	steps := 5 * round
	idle := 0 // steps since something was freed or cooled: after a whole round nothing more can come
	target = min(target, k.resident.Load()-k.dirty.Load())
	for steps > 0 && freed < target {
		k.mu.Lock()
		if len(k.ring) == 0 {
			steps = 0
		}
		for n := 0; n < 128 && steps > 0 && freed < target && len(k.ring) > 0; n++ {
			steps--
			if idle++; idle > round {
				steps = 0
				break
			}
			if k.hand >= len(k.ring) {
				k.hand = 0
			}
			h := k.ring[k.hand]
			b := h.Block()
			if !h.Flag(btree.FlagDisk) || h.Pinned() {
				k.hand++
				continue
			}
			if !h.Cool() {
				k.hand++
				idle = 0
				continue
			}
			if kidInMemory(b) || !h.DropBlock(b) {
				k.hand++
				continue
			}
			idle = 0
			if h.Pinned() { // pinned between the look and the drop
				h.SetBlock(b)
				k.hand++
				continue
			}
			k.remove(h, b)
			freed += b.Cost()
			blocks++
		}
		k.mu.Unlock()
	}
	return freed, blocks
}

// kidInMemory reports whether a child of b is in memory: children go before parents.
func kidInMemory(b *btree.Block) bool {
	for _, c := range b.Children() {
		if c.Block() != nil {
			return true
		}
	}
	return false
}
