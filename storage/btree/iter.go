package btree

import (
	"bytes"

	"herd/internal/invariant"
	"herd/storage/block"
)

// maxDepth bounds the levels of a tree: with at least four children a node it is beyond any size.
const maxDepth = 24

type step struct {
	n *Inner
	i int
}

// Iter visits the leaves of a key range. The zero value is at the end. It holds no resources.
type Iter struct {
	Err error
	// Block is the current leaf, and [From, To) are its rows in the range; never empty after NextLeaf returned true.
	Block    *Block
	From, To int

	ld      Loader
	tree    block.TreeID
	root    *Handle
	lo, hi  []byte
	reverse bool
	started bool
	depth   int
	path    [maxDepth]step
}

// Init makes the iterator ready for the rows with lo <= key < hi (nil = open). It keeps lo and hi.
func (it *Iter) Init(ld Loader, t block.TreeID, root *Handle, lo, hi []byte, reverse bool) {
	it.Err, it.Block = nil, nil
	it.ld, it.tree, it.root, it.lo, it.hi, it.reverse = ld, t, root, lo, hi, reverse
	it.started, it.depth = false, 0
}

// Close forgets the blocks of the way, so that an idle iterator keeps none alive.
func (it *Iter) Close() {
	clear(it.path[:])
	it.Block, it.root, it.depth, it.started = nil, nil, 0, true
}

// NextLeaf goes to the next leaf with rows in the range.
func (it *Iter) NextLeaf() bool {
	for it.Err == nil {
		if !it.started {
			it.started = true
			if it.root == nil || !it.down(it.root, true) {
				break
			}
		} else if !it.advance() {
			break
		}
		if it.bounds() {
			return true
		}
		if it.past() {
			break
		}
	}
	it.Block, it.depth = nil, 0
	return false
}

// down goes to the leaf below h where the range begins (seek) or to the first leaf in iteration order.
func (it *Iter) down(h *Handle, seek bool) bool {
	for {
		b, err := fetch(it.ld, it.tree, h)
		if err != nil {
			it.Err = err
			return false
		}
		if b.Kind == block.KindLeaf {
			if seek { // as one that is read by key; those behind it are a scan's
				h.touch(heatLeaf)
			}
			it.Block = b
			return true
		}
		if b.Kind != block.KindInner {
			it.Err = wrongKind(it.tree, h, b.Kind)
			return false
		}
		h.touch(heatInner)
		n := b.Inner()
		i := 0
		if it.reverse {
			i = n.Len() - 1
			if seek && it.hi != nil {
				i = n.child(it.hi)
			}
		} else if seek && it.lo != nil {
			i = n.child(it.lo)
		}
		invariant.Assert(it.depth < maxDepth, "a tree has at most maxDepth levels")
		it.path[it.depth] = step{n, i}
		it.depth++
		h = n.Kid(i)
	}
}

// advance goes to the neighbouring leaf.
func (it *Iter) advance() bool {
	for it.depth > 0 {
		s := &it.path[it.depth-1]
		if it.reverse {
			s.i--
		} else {
			s.i++
		}
		if s.i < 0 || s.i >= s.n.Len() || it.outside(s) {
			it.path[it.depth-1] = step{}
			it.depth--
			continue
		}
		return it.down(s.n.Kid(s.i), false)
	}
	return false
}

// outside reports whether the child at s lies wholly outside the range, so that its leaf need not be loaded to see it.
func (it *Iter) outside(s *step) bool {
	if it.reverse {
		return it.lo != nil && s.i+1 < s.n.Len() && !s.n.sepAbove(s.i+1, it.lo)
	}
	if it.hi == nil || s.i == 0 {
		return false
	}
	// the separator is the lower bound: at hi or above nothing of the child is wanted
	p := s.n.keys.Prefix
	if len(it.hi) < len(p) || !bytes.Equal(it.hi[:len(p)], p) {
		return bytes.Compare(p, it.hi) >= 0
	}
	return bytes.Compare(s.n.keys.Suffix(s.i), it.hi[len(p):]) >= 0
}

// bounds sets From and To for the current leaf and reports whether a row is left.
func (it *Iter) bounds() bool {
	l := it.Block.Leaf()
	it.From, it.To = 0, l.Len()
	if it.lo != nil && !aboveOrAt(l, 0, it.lo) {
		it.From, _ = l.Search(it.lo)
	}
	if it.hi != nil && aboveOrAt(l, l.Len()-1, it.hi) {
		it.To, _ = l.Search(it.hi)
	}
	return it.From < it.To
}

// past reports whether the leaf, which has no row in the range, shows that no later one has.
func (it *Iter) past() bool {
	l := it.Block.Leaf()
	if it.reverse {
		return it.lo != nil && !aboveOrAt(l, l.Len()-1, it.lo)
	}
	return it.hi != nil && aboveOrAt(l, 0, it.hi)
}

// aboveOrAt reports whether key i of l is >= key.
func aboveOrAt(l block.Leaf, i int, key []byte) bool {
	p := l.Prefix()
	if len(key) < len(p) || !bytes.Equal(key[:len(p)], p) {
		return bytes.Compare(p, key) >= 0
	}
	return bytes.Compare(l.Suffix(i), key[len(p):]) >= 0
}
