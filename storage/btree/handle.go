package btree

import (
	"sync/atomic"
	"unsafe"

	"herd/storage/block"
)

// HandleBytes is what a handle costs in memory; inner nodes are booked with their children's handles.
const HandleBytes = 64

// Access levels for Handle.Heat. The clock of the eviction lowers them by one a round.
//
// A leaf that a scan comes across stays cold, so that a scan of everything takes the room of what scans have read, not of
// what is read by key. A leaf read by key is warm, one that is found in memory again hot.
const (
	heatLeaf  = 1
	heatAgain = 2
	heatInner = 3
)

// Handle stands for one block in all versions that share it. It fills one cache line.
type Handle struct {
	blk atomic.Pointer[Block]
	// rows points to the bytes of a leaf in memory that has no patch: a look-up then misses the cache for the handle and for
	// the rows, not for the Block between them. Set and cleared together with blk; rowsLen never changes once it is set,
	// since a leaf has the same length with its patch and each time it is loaded.
	rows    atomic.Pointer[byte]
	rowsLen atomic.Uint32
	addr    atomic.Uint64
	size    uint32 // frame bytes; written before addr, read after it
	// Slot is the handle's place in the store's ring plus one, 0 when it is not there. Guarded by the ring's mutex.
	Slot int32
	// Born is the version whose edit made the handle, 0 for one made from disk.
	Born  uint64
	heat  atomic.Uint32
	flags atomic.Uint32
	pins  atomic.Int32
}

// Flags of a handle.
const (
	// FlagDisk says that the frame at Addr can be read: only then may the block be evicted.
	FlagDisk uint32 = 1 << iota
	// FlagDead says that no version needs the block: a straggler that loads it must not book it.
	FlagDead
	// FlagPrivate says that the block belongs to a transaction's overlay and to no version.
	FlagPrivate
	// FlagBig says that the block is a leaf with long values, so that a dropped tree's reaping knows what to load.
	FlagBig
)

// bigRef is the bit of a stored frame length that carries FlagBig.
const bigRef = 1 << 31

// StoredRef returns what a parent on disk keeps of h.
func (h *Handle) StoredRef() block.Ref {
	r := h.Ref()
	if h.Flag(FlagBig) {
		r.Size |= bigRef
	}
	return r
}

// NewDiskHandle returns the handle of a block that is on disk and not in memory. r is a StoredRef.
func NewDiskHandle(r block.Ref) *Handle {
	h := &Handle{size: r.Size &^ bigRef}
	h.addr.Store(uint64(r.Addr))
	h.flags.Store(FlagDisk)
	if r.Size&bigRef != 0 {
		h.flags.Store(FlagDisk | FlagBig)
	}
	return h
}

// Block returns the block, or nil when it is not in memory.
func (h *Handle) Block() *Block { return h.blk.Load() }

// SetBlock publishes the block. Calls for one handle do not overlap (the store's books lock).
func (h *Handle) SetBlock(b *Block) {
	h.blk.Store(b)
	if b.Kind == block.KindLeaf && len(b.patch) == 0 {
		h.rowsLen.Store(uint32(len(b.Data)))
		h.rows.Store(unsafe.SliceData(b.Data))
	}
}

// DropBlock forgets the block b; false when it is not the current one. Calls do not overlap with SetBlock.
func (h *Handle) DropBlock(b *Block) bool {
	if !h.blk.CompareAndSwap(b, nil) {
		return false
	}
	h.rows.Store(nil)
	return true
}

// forget drops the block of a handle that no version has had.
func (h *Handle) forget() {
	if b := h.blk.Load(); b != nil {
		h.DropBlock(b)
	}
}

// leaf returns the rows of a leaf in memory that has no patch, nil for anything else.
func (h *Handle) leaf() block.Leaf {
	p := h.rows.Load()
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, h.rowsLen.Load())
}

// Addr returns the disk address, 0 when there is none.
func (h *Handle) Addr() block.Address { return block.Address(h.addr.Load()) }

// Ref returns address and frame length; both 0 when the block has no disk copy.
func (h *Handle) Ref() block.Ref {
	a := block.Address(h.addr.Load())
	if a == 0 {
		return block.Ref{}
	}
	return block.Ref{Addr: a, Size: h.size}
}

// SetRef gives the block its disk address. Only the running checkpoint or spill calls it, for handles without one.
func (h *Handle) SetRef(r block.Ref) {
	h.size = r.Size
	h.addr.Store(uint64(r.Addr))
}

// ClearRef takes back an address whose frame was never written (failed checkpoint, dropped scratch segment).
func (h *Handle) ClearRef() { h.addr.Store(0) }

// Flag reports whether all of f are set.
func (h *Handle) Flag(f uint32) bool { return h.flags.Load()&f == f }

// SetFlag sets f.
func (h *Handle) SetFlag(f uint32) { h.flags.Or(f) }

// ClearFlag clears f.
func (h *Handle) ClearFlag(f uint32) { h.flags.And(^f) }

// touch notes an access. The load keeps the line shared between cores when the level is there already.
func (h *Handle) touch(level uint32) {
	if h.heat.Load() < level {
		h.heat.Store(level)
	}
}

// Cool lowers the access level and reports whether the block was cold already.
func (h *Handle) Cool() bool {
	v := h.heat.Load()
	if v == 0 {
		return true
	}
	h.heat.Store(v - 1)
	return false
}

// Pin keeps the block from being evicted until Unpin.
func (h *Handle) Pin() { h.pins.Add(1) }

// Unpin ends Pin.
func (h *Handle) Unpin() { h.pins.Add(-1) }

// Pinned reports whether Pin holds the block.
func (h *Handle) Pinned() bool { return h.pins.Load() > 0 }
