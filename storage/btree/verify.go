package btree

import (
	"bytes"
	"fmt"

	"herd/storage/block"
)

// Verifier walks a whole tree and compares every node with what its parent says.
type Verifier struct {
	// Get returns h's block; the walk goes on with the block's siblings after an error.
	Get func(h *Handle) (*Block, error)
	// Report receives each finding: a handle and what is wrong with it.
	Report func(h *Handle, what string)
	// Visit is called for each block that could be read, with its range; may be nil.
	Visit func(h *Handle, b *Block, lo, hi []byte)
}

// Tree verifies the tree below r.
func (v *Verifier) Tree(r Root) {
	if r.H == nil {
		if r.Stat != (block.Stat{}) {
			v.Report(nil, "an empty tree has rows")
		}
		return
	}
	if st, ok := v.node(r.H, nil, nil, -1); ok && st != r.Stat {
		v.Report(r.H, fmt.Sprintf("the root entry says %d rows and sum %x, the tree has %d and %x", r.Stat.Rows, r.Stat.Sum, st.Rows, st.Sum))
	}
}

// node verifies h, whose keys lie in [lo, hi) and which is of the given level (-1 = any). ok is false when the figures
// are not known because something below could not be read.
func (v *Verifier) node(h *Handle, lo, hi []byte, level int) (st block.Stat, ok bool) {
	b, err := v.Get(h)
	if err != nil {
		v.Report(h, err.Error())
		return st, false
	}
	if v.Visit != nil {
		v.Visit(h, b, lo, hi)
	}
	if level >= 0 && int(b.Level) != level {
		v.Report(h, fmt.Sprintf("level %d, its parent says %d", b.Level, level))
	}
	switch b.Kind {
	case block.KindLeaf:
		return v.leaf(h, b, lo, hi)
	case block.KindInner:
		return v.inner(h, b.Inner(), lo, hi)
	}
	v.Report(h, "a "+b.Kind.String()+" block inside a tree")
	return st, false
}

func (v *Verifier) inner(h *Handle, n *Inner, lo, hi []byte) (st block.Stat, ok bool) {
	ok = true
	if n.Level == 0 {
		v.Report(h, "an inner node of level 0")
		return st, false
	}
	var seps [][]byte
	for i := 1; i < n.Len(); i++ {
		seps = append(seps, n.AppendSep(nil, i))
	}
	for i, k := range n.Children() {
		low, high := lo, hi
		if i > 0 {
			low = seps[i-1]
		}
		if i < len(seps) {
			high = seps[i]
		}
		if low != nil && high != nil && bytes.Compare(low, high) >= 0 {
			v.Report(h, fmt.Sprintf("separators %d and %d do not ascend", i, i+1))
		}
		s, known := v.node(k, low, high, int(n.Level)-1)
		ok = ok && known
		if known && s != n.Stat(i) {
			v.Report(h, fmt.Sprintf("entry %d says %d rows and sum %x, the child has %d and %x", i, n.Stat(i).Rows, n.Stat(i).Sum, s.Rows, s.Sum))
		}
		st = st.Add(s)
	}
	return st, ok
}

func (v *Verifier) leaf(h *Handle, b *Block, lo, hi []byte) (st block.Stat, ok bool) {
	l := b.Leaf()
	if err := block.CheckLeaf(l); err != nil {
		v.Report(h, err.Error())
		return st, false
	}
	if !block.CheckPatch(l, b.patch) {
		v.Report(h, "the leaf's patch does not fit it")
		return st, false
	}
	if l.Bigs() != len(b.Kids) {
		v.Report(h, fmt.Sprintf("%d long values and %d references", l.Bigs(), len(b.Kids)))
		return st, false
	}
	if lo != nil && bytes.Compare(l.AppendKey(nil, 0), lo) < 0 {
		v.Report(h, "the first key is below the leaf's range")
	}
	if hi != nil && bytes.Compare(l.AppendKey(nil, l.Len()-1), hi) >= 0 {
		v.Report(h, "the last key is above the leaf's range")
	}
	ok = true
	var key []byte
	for i := range l.Len() {
		st.Rows++
		key = l.AppendKey(key[:0], i)
		val, big := b.Value(i)
		if !big {
			st.Sum += block.RowHash(key, val)
			continue
		}
		kid, length, hash := block.Stub(val)
		st.Sum += hash
		vb, err := v.Get(b.Kids[kid])
		if err != nil {
			v.Report(b.Kids[kid], err.Error())
			ok = false
			continue
		}
		if v.Visit != nil {
			v.Visit(b.Kids[kid], vb, key, nil)
		}
		if vb.Kind != block.KindValue || len(vb.Data) != length || block.RowHash(key, vb.Data) != hash {
			v.Report(b.Kids[kid], "a long value is not what its row says")
		}
	}
	return st, ok
}
