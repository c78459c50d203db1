package btree

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"unsafe"

	"herd/storage/block"
)

// MaxKids is the most children of an inner node.
const MaxKids = 128

// partKids is how many children lie in one part of an inner node: what an update copies on each level is one part of 24
// bytes a child, and the node with its list of parts. With undivided nodes it was 3 KiB a level.
const partKids = 16

// Block is the memory form of a block. A leaf's Data is a block.Leaf and Kids are the handles of its long values; a
// value's Data is the value; an inner node is the first part of an Inner.
type Block struct {
	Kind  block.Kind
	Level uint8
	cost  int32
	Data  []byte
	Kids  []*Handle
	patch block.Patch // of a leaf: values newer than those in Data
}

// Inner is an inner node: separators and the parts without a change are shared between versions when only children
// changed.
type Inner struct {
	Block
	heads []uint64 // first eight bytes of each separator's suffix, big-endian, for a search without misses; one a child
	plen  int      // length of the separators' common prefix
	pfx   uint64   // head of the prefix
	keys  *block.Keys
	parts [MaxKids / partKids]*part
}

// part is some consecutive children of an inner node and their figures.
type part struct {
	kids  [partKids]*Handle
	stats [partKids]block.Stat
}

// Len returns the number of children.
func (n *Inner) Len() int { return len(n.heads) }

// Kid returns child i.
func (n *Inner) Kid(i int) *Handle { return n.parts[uint(i)/partKids].kids[uint(i)%partKids] }

// setKid makes h with the figures st child i of a node that nobody else sees, all of whose parts are its own.
func (n *Inner) setKid(i int, h *Handle, st block.Stat) {
	p := n.parts[i/partKids]
	if p == nil {
		p = new(part)
		n.parts[i/partKids] = p
	}
	p.kids[i%partKids], p.stats[i%partKids] = h, st
}

// Children runs over the handles that b refers to: children of an inner node, long values of a leaf.
func (b *Block) Children() iter.Seq2[int, *Handle] {
	return func(yield func(int, *Handle) bool) {
		if b.Kind != block.KindInner {
			for i, h := range b.Kids {
				if !yield(i, h) {
					return
				}
			}
			return
		}
		n := b.Inner()
		for i := range n.heads {
			if !yield(i, n.Kid(i)) {
				return
			}
		}
	}
}

// ChildCount returns the number of handles that b refers to.
func (b *Block) ChildCount() int {
	if b.Kind == block.KindInner {
		return b.Inner().Len()
	}
	return len(b.Kids)
}

// Cost returns the bytes of memory the block is booked with.
func (b *Block) Cost() int64 { return int64(b.cost) }

// Leaf returns the rows of a leaf: its keys. What may be patched, the values, is asked of the block.
func (b *Block) Leaf() block.Leaf { return block.Leaf(b.Data) }

// Value returns value i of a leaf; big tells that it is a stub.
func (b *Block) Value(i int) (v []byte, big bool) {
	if len(b.patch) > 0 {
		if v, ok := b.patch.Value(i); ok {
			return v, false
		}
	}
	return b.Leaf().Value(i)
}

// Patch returns the values of a leaf that are newer than those of Leaf, for callers that read many.
func (b *Block) Patch() block.Patch { return b.patch }

// Inner returns the inner node that b is the beginning of. b.Kind must be KindInner.
func (b *Block) Inner() *Inner { return (*Inner)(unsafe.Pointer(b)) }

// Stat returns the figures of child i.
func (n *Inner) Stat(i int) block.Stat { return n.parts[uint(i)/partKids].stats[uint(i)%partKids] }

// Total returns the figures of the whole node.
func (n *Inner) Total() (s block.Stat) {
	for i := range n.heads {
		s = s.Add(n.Stat(i))
	}
	return s
}

// AppendSep appends separator i, i >= 1, to dst.
func (n *Inner) AppendSep(dst []byte, i int) []byte {
	return append(append(dst, n.keys.Prefix...), n.keys.Suffix(i)...)
}

const blockBytes = int(unsafe.Sizeof(Block{}))

func (b *Block) setCost() {
	b.cost = int32(block.Class(blockBytes) + block.Class(len(b.Data)) + block.Class(len(b.patch)) + block.Class(8*len(b.Kids)) +
		HandleBytes*len(b.Kids))
}

// finish computes what follows from keys and children.
func (n *Inner) finish() {
	n.plen, n.pfx = len(n.keys.Prefix), head(n.keys.Prefix)
	for i := 1; i < len(n.heads); i++ {
		n.heads[i] = head(n.keys.Suffix(i))
	}

	k := len(n.heads)
	parts := (k + partKids - 1) / partKids
	n.cost = int32(block.Class(int(unsafe.Sizeof(Inner{}))) + parts*block.Class(int(unsafe.Sizeof(part{}))) + HandleBytes*k +
		block.Class(8*k) + block.Class(4*k) + block.Class(int(unsafe.Sizeof(block.Keys{}))) + block.Class(len(n.keys.Prefix)+len(n.keys.Bytes)))
}

func newLeaf(data block.Leaf, kids []*Handle) *Block {
	return newPatched(data, kids, nil)
}

// newPatched makes a leaf that shares its rows with an older one. It is booked with them nevertheless: it may be the last
// that has them.
func newPatched(data block.Leaf, kids []*Handle, p block.Patch) *Block {
	b := &Block{Kind: block.KindLeaf, Data: data, Kids: kids, patch: p}
	b.setCost()
	return b
}

func newValue(data []byte) *Block {
	b := &Block{Kind: block.KindValue, Data: data}
	b.setCost()
	return b
}

// head returns the first eight bytes of s as a number that orders like s; equal heads need the full comparison.
func head(s []byte) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64(s)
	}
	var h uint64
	for i, c := range s {
		h |= uint64(c) << (56 - 8*i)
	}
	return h
}

// child returns the index of the child whose range holds key.
func (n *Inner) child(key []byte) int {
	if n.plen > 0 {
		if !n.hasPrefix(key) {
			if bytes.Compare(key, n.keys.Prefix) < 0 {
				return 0
			}
			return len(n.heads) - 1
		}
		key = key[n.plen:]
	}
	kh := head(key)
	lo, hi := 1, len(n.heads)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		h := n.heads[m]
		if h < kh || h == kh && bytes.Compare(n.keys.Suffix(m), key) <= 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo - 1
}

// hasPrefix reports whether key begins with the separators' prefix. Up to eight bytes it looks at the node alone.
func (n *Inner) hasPrefix(key []byte) bool {
	if len(key) < n.plen {
		return false
	}
	if n.plen <= 8 {
		return (head(key)^n.pfx)>>(64-8*n.plen) == 0
	}
	return bytes.Equal(key[:n.plen], n.keys.Prefix)
}

// sepAbove reports whether separator i is > key.
func (n *Inner) sepAbove(i int, key []byte) bool {
	p := n.keys.Prefix
	if len(key) < len(p) || !bytes.Equal(key[:len(p)], p) {
		return bytes.Compare(p, key) > 0
	}
	return bytes.Compare(n.keys.Suffix(i), key[len(p):]) > 0
}

// sepIs reports whether separator i is key; there is none before the first child.
func (n *Inner) sepIs(i int, key []byte) bool {
	p := n.keys.Prefix
	return i > 0 && len(key) >= len(p) && bytes.Equal(key[:len(p)], p) && bytes.Equal(n.keys.Suffix(i), key[len(p):])
}

// newInner makes a node from entries; entries[0].sep is not stored.
func newInner(level uint8, ents []entry) *Inner {
	k := len(ents)
	n := &Inner{Block: Block{Kind: block.KindInner, Level: level}, heads: make([]uint64, k)}
	keys := &block.Keys{Offs: make([]uint32, k)}
	p, total := 0, 0
	if k > 1 {
		a, b := ents[1].sep, ents[k-1].sep
		for p < len(a) && p < len(b) && a[p] == b[p] {
			p++
		}
		for i := 1; i < k; i++ {
			total += len(ents[i].sep) - p
		}
		buf := make([]byte, 0, p+total)
		buf = append(buf, a[:p]...)
		for i := 1; i < k; i++ {
			buf = append(buf, ents[i].sep[p:]...)
			keys.Offs[i] = uint32(len(buf) - p)
		}
		keys.Prefix, keys.Bytes = buf[:p:p], buf[p:]
	}
	for i := range ents {
		n.setKid(i, ents[i].h, ents[i].stat)
	}
	n.keys = keys
	n.finish()
	return n
}

// AppendPayload appends the disk form of b, all of whose children have addresses.
func AppendPayload(dst []byte, b *Block) []byte {
	if b.Kind == block.KindValue {
		return append(dst, b.Data...)
	}
	refs := make([]block.Ref, b.ChildCount())
	for i, h := range b.Children() {
		refs[i] = h.StoredRef()
	}
	if b.Kind == block.KindLeaf {
		from := len(dst)
		dst = append(dst, b.Data...)
		l := block.Leaf(dst[from:])
		l.Fill(b.patch, l.Len(), 0)
		return block.AppendRefs(dst, refs)
	}
	n := b.Inner()
	stats := make([]block.Stat, n.Len())
	for i := range stats {
		stats[i] = n.Stat(i)
	}
	return block.AppendInner(dst, n.keys, refs, stats)
}

// Decode makes the memory form of a frame. The result does not alias f.
func Decode(f *block.Frame) (*Block, error) {
	switch f.Kind {
	case block.KindValue:
		return newValue(bytes.Clone(f.Payload)), nil
	case block.KindLeaf:
		l, refs, err := block.DecodeLeaf(f.Payload)
		if err != nil {
			return nil, err
		}
		return newLeaf(bytes.Clone(l), handles(refs)), nil
	case block.KindInner:
		keys, refs, stats, err := block.DecodeInner(f.Payload)
		if err != nil {
			return nil, err
		}
		if len(refs) > MaxKids {
			return nil, fmt.Errorf("inner node: %d children: %w", len(refs), block.ErrCorrupt)
		}
		n := &Inner{Block: Block{Kind: block.KindInner, Level: f.Level}, heads: make([]uint64, len(refs)), keys: keys}
		for i, h := range handles(refs) {
			n.setKid(i, h, stats[i])
		}
		n.finish()
		return &n.Block, nil
	}
	return nil, fmt.Errorf("block of kind %d: %w", f.Kind, block.ErrCorrupt)
}

func handles(refs []block.Ref) []*Handle {
	if len(refs) == 0 {
		return nil
	}
	hs := make([]*Handle, len(refs))
	for i, r := range refs {
		hs[i] = NewDiskHandle(r)
	}
	return hs
}
