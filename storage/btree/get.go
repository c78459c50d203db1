package btree

import (
	"bytes"
	"fmt"

	"herd/storage/block"
)

// Loader brings an absent block into memory and publishes it in its handle.
type Loader interface {
	LoadBlock(t block.TreeID, h *Handle) (*Block, error)
}

// Root is one version of one tree.
type Root struct {
	H    *Handle // nil for an empty tree
	Stat block.Stat
}

// fetch returns h's block, loading it when it is absent, and checks that a child is what its parent says.
func fetch(ld Loader, t block.TreeID, h *Handle) (*Block, error) {
	if b := h.blk.Load(); b != nil {
		return b, nil
	}
	return ld.LoadBlock(t, h)
}

func wrongKind(t block.TreeID, h *Handle, k block.Kind) error {
	a := h.Addr()
	return fmt.Errorf("tree %d: block at %d:%d is unexpectedly of kind %s: %w", t, a.Segment(), a.Offset(), k, block.ErrCorrupt)
}

// descend returns the leaf whose range holds key, its rows and its patch.
func descend(ld Loader, t block.TreeID, h *Handle, key []byte) (*Handle, block.Leaf, block.Patch, error) {
	for {
		if l := h.leaf(); l != nil {
			h.touch(heatAgain)
			return h, l, nil, nil
		}
		b, heat := h.blk.Load(), uint32(heatAgain)
		if b == nil {
			var err error
			if b, err = ld.LoadBlock(t, h); err != nil {
				return nil, nil, nil, err
			}
			heat = heatLeaf
		}
		if b.Kind == block.KindLeaf {
			h.touch(heat)
			return h, b.Leaf(), b.patch, nil
		}
		if b.Kind != block.KindInner {
			return nil, nil, nil, wrongKind(t, h, b.Kind)
		}
		h.touch(heatInner)
		n := b.Inner()
		h = n.Kid(n.child(key))
	}
}

// Get returns the value of key. It aliases the block.
func Get(ld Loader, t block.TreeID, root *Handle, key []byte) (val []byte, ok bool, err error) {
	if root == nil {
		return nil, false, nil
	}
	h, l, patch, err := descend(ld, t, root, key)
	if err != nil {
		return nil, false, err
	}
	i, found := l.Search(key)
	if !found {
		return nil, false, nil
	}
	if v, ok := patch.Value(i); ok {
		return v, true, nil
	}
	v, big := l.Value(i)
	if big {
		b, err := fetch(ld, t, h)
		if err != nil {
			return nil, false, err
		}
		v, err = BigValue(ld, t, b, v)
		return v, err == nil, err
	}
	return v, true, nil
}

// GetBoth is Get in the tree below root, and says whether an older version of the tree, below old, has the key as well.
// Where the versions share the way to the key it is walked once.
func GetBoth(ld Loader, t block.TreeID, root, old *Handle, key []byte) (val []byte, ok, had bool, err error) {
	for root != old && root != nil && old != nil {
		b, o := root.blk.Load(), old.blk.Load()
		if b == nil || o == nil || b.Kind != block.KindInner || o.Kind != block.KindInner || b.Level != o.Level {
			break
		}
		root.touch(heatInner)
		n, m := b.Inner(), o.Inner()
		root, old = n.Kid(n.child(key)), m.Kid(m.child(key))
	}
	if val, ok, err = Get(ld, t, root, key); err != nil || root == old {
		return val, ok, ok, err
	}
	_, had, err = Get(ld, t, old, key)
	return val, ok, had, err
}

// BigValue returns the long value that stub stands for in leaf b.
func BigValue(ld Loader, t block.TreeID, b *Block, stub []byte) ([]byte, error) {
	kid, length, _ := block.Stub(stub)
	h := b.Kids[kid]
	heat := uint32(heatLeaf)
	if h.Block() != nil {
		heat = heatAgain
	}
	vb, err := fetch(ld, t, h)
	if err != nil {
		return nil, err
	}
	h.touch(heat)
	if vb.Kind != block.KindValue || len(vb.Data) != length {
		return nil, wrongKind(t, h, vb.Kind)
	}
	return vb.Data, nil
}

// Path calls f for each handle on the way to key, the root first, and for the long value of key's row. Blocks are
// loaded when absent; f is called before a handle's block is looked at, so it may pin it.
func Path(ld Loader, t block.TreeID, root *Handle, key []byte, f func(h *Handle)) error {
	for h := root; h != nil; {
		f(h)
		b, err := fetch(ld, t, h)
		if err != nil {
			return err
		}
		if b.Kind != block.KindInner {
			h.touch(heatLeaf)
			return nil
		}
		h.touch(heatInner)
		n := b.Inner()
		h = n.Kid(n.child(key))
	}
	return nil
}

// Present reports whether the blocks on the way to key are in memory.
func Present(root *Handle, key []byte) bool {
	for h := root; h != nil; {
		b := h.blk.Load()
		if b == nil || b.Kind != block.KindInner {
			return b != nil
		}
		n := b.Inner()
		h = n.Kid(n.child(key))
	}
	return true
}

// Rank returns the number of rows with keys < key. It reads one path.
func Rank(ld Loader, t block.TreeID, root *Handle, key []byte) (rows int64, err error) {
	for h := root; h != nil; {
		b, err := fetch(ld, t, h)
		if err != nil {
			return 0, err
		}
		if b.Kind == block.KindLeaf {
			h.touch(heatLeaf)
			i, _ := b.Leaf().Search(key)
			return rows + int64(i), nil
		}
		if b.Kind != block.KindInner {
			return 0, wrongKind(t, h, b.Kind)
		}
		h.touch(heatInner)
		n := b.Inner()
		c := n.child(key)
		for i := range c {
			rows += n.Stat(i).Rows
		}
		if n.sepIs(c, key) {
			return rows, nil
		}
		h = n.Kid(c)
	}
	return rows, nil
}

// Below returns the figures of the rows with keys < key. It reads one path; at a separator it touches no leaf.
func Below(ld Loader, t block.TreeID, root *Handle, key []byte) (st block.Stat, err error) {
	for h := root; h != nil; {
		b, err := fetch(ld, t, h)
		if err != nil {
			return st, err
		}
		if b.Kind == block.KindLeaf {
			return st.Add(b.figuresBelow(key)), nil
		}
		if b.Kind != block.KindInner {
			return st, wrongKind(t, h, b.Kind)
		}
		h.touch(heatInner)
		n := b.Inner()
		c := n.child(key)
		for i := range c {
			st = st.Add(n.Stat(i))
		}
		if n.sepIs(c, key) {
			return st, nil
		}
		h = n.Kid(c)
	}
	return st, nil
}

// figuresBelow returns the figures of the leaf's rows with keys < key.
func (b *Block) figuresBelow(key []byte) (st block.Stat) {
	l := b.Leaf()
	end, _ := l.Search(key)
	var k []byte
	for i := range end {
		v, big := b.Value(i)
		if st.Rows++; big {
			_, _, hash := block.Stub(v)
			st.Sum += hash
			continue
		}
		k = l.AppendKey(k[:0], i)
		st.Sum += block.RowHash(k, v)
	}
	return st
}

// SepAt returns a separator near the row of the given rank, without touching leaves; nil when there is none before it.
func SepAt(ld Loader, t block.TreeID, root *Handle, rank int64) ([]byte, error) {
	var sep []byte
	for h := root; h != nil; {
		b, err := fetch(ld, t, h)
		if err != nil {
			return nil, err
		}
		if b.Kind != block.KindInner {
			return sep, nil
		}
		h.touch(heatInner)
		n := b.Inner()
		i := 0
		for i < n.Len()-1 && rank >= n.Stat(i).Rows {
			rank -= n.Stat(i).Rows
			i++
		}
		if i > 0 {
			sep = n.AppendSep(nil, i)
		}
		if n.Level == 1 {
			return sep, nil
		}
		h = n.Kid(i)
	}
	return sep, nil
}

// Split returns at most parts-1 keys in (lo, hi), ascending, that cut [lo, hi) into about equal numbers of rows. A nil
// bound is open.
func Split(ld Loader, t block.TreeID, r Root, lo, hi []byte, parts int) ([][]byte, error) {
	from, to := int64(0), r.Stat.Rows
	var err error
	if lo != nil {
		if from, err = Rank(ld, t, r.H, lo); err != nil {
			return nil, err
		}
	}
	if hi != nil {
		if to, err = Rank(ld, t, r.H, hi); err != nil {
			return nil, err
		}
	}
	var out [][]byte
	last := lo
	for j := 1; j < parts; j++ {
		sep, err := SepAt(ld, t, r.H, from+(to-from)*int64(j)/int64(parts))
		if err != nil {
			return nil, err
		}
		if sep == nil || last != nil && bytes.Compare(sep, last) <= 0 || hi != nil && bytes.Compare(sep, hi) >= 0 {
			continue
		}
		out = append(out, sep)
		last = sep
	}
	return out, nil
}

// LeafAt returns the leaf that holds the row of the given rank.
func LeafAt(ld Loader, t block.TreeID, root *Handle, rank int64) (*Block, error) {
	for h := root; ; {
		b, err := fetch(ld, t, h)
		if err != nil {
			return nil, err
		}
		if b.Kind != block.KindInner {
			return b, nil
		}
		n := b.Inner()
		i := 0
		for i < n.Len()-1 && rank >= n.Stat(i).Rows {
			rank -= n.Stat(i).Rows
			i++
		}
		h = n.Kid(i)
	}
}
