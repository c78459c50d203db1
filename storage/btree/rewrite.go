package btree

import (
	"slices"

	"herd/storage/block"
)

// Find calls f for each handle on the way to the block at address a of tree t, that block included, and reports whether
// the way leads there. key and level are those of its frame; a value's kind is KindValue. Absent inner nodes are loaded,
// the block itself too.
func Find(ld Loader, t block.TreeID, root *Handle, kind block.Kind, level uint8, key []byte, a block.Address, f func(h *Handle)) (bool, error) {
	for h := root; h != nil; {
		if h.Addr() == a {
			f(h)
			_, err := fetch(ld, t, h)
			return err == nil, err
		}
		b, err := fetch(ld, t, h)
		if err != nil {
			return false, err
		}
		f(h)
		if b.Kind == block.KindLeaf {
			if kind != block.KindValue {
				return false, nil
			}
			h = bigOf(b, key)
			if h == nil || h.Addr() != a {
				return false, nil
			}
			continue
		}
		if b.Kind != block.KindInner || kind != block.KindValue && b.Level <= level {
			return false, nil
		}
		n := b.Inner()
		h = n.Kid(n.child(key))
	}
	return false, nil
}

// bigOf returns the handle of key's long value in leaf b, or nil.
func bigOf(b *Block, key []byte) *Handle {
	l := b.Leaf()
	i, found := l.Search(key)
	if !found {
		return nil
	}
	v, big := b.Value(i)
	if !big {
		return nil
	}
	kid, _, _ := block.Stub(v)
	return b.Kids[kid]
}

// Rewrite gives the block at address a a handle of its own without an address, and likewise every block above it, so
// that the next checkpoint writes them elsewhere. The contents stay. It reports false when the way does not lead there
// any more or something on it is not in memory.
func (e *Editor) Rewrite(t block.TreeID, r Root, kind block.Kind, key []byte, a block.Address) (Root, bool) {
	e.tree = t
	h := e.rewrite(r.H, kind, key, a)
	if h == nil {
		return r, false
	}
	return Root{h, r.Stat}, true
}

// rewrite returns h's successor, or nil.
func (e *Editor) rewrite(h *Handle, kind block.Kind, key []byte, a block.Address) *Handle {
	if h == nil {
		return nil
	}
	b := h.blk.Load()
	if b == nil {
		return nil
	}
	if h.Addr() == a {
		e.drop(h)
		return e.create(shallow(b))
	}
	switch b.Kind {
	case block.KindInner:
		n := b.Inner()
		i := n.child(key)
		kid := e.rewrite(n.Kid(i), kind, key, a)
		if kid == nil {
			return nil
		}
		return e.replaceKid(h, b, i, kid)
	case block.KindLeaf:
		v := bigOf(b, key)
		if kind != block.KindValue || v == nil || v.Addr() != a {
			return nil
		}
		kid := e.rewrite(v, kind, key, a)
		if kid == nil {
			return nil
		}
		return e.replaceKid(h, b, slices.Index(b.Kids, v), kid)
	}
	return nil
}

// replaceKid returns a handle for b with child i replaced. A node made by this edit is changed in place.
func (e *Editor) replaceKid(h *Handle, b *Block, i int, kid *Handle) *Handle {
	c := b
	if h.Born != e.Ver {
		c = shallow(b)
	}
	if c.Kind == block.KindInner {
		n := c.Inner()
		p := *n.parts[i/partKids]
		p.kids[i%partKids] = kid
		n.parts[i/partKids] = &p
	} else {
		c.Kids[i] = kid
	}
	if c == b {
		return h
	}
	e.drop(h)
	return e.create(c)
}

// shallow copies a block with its list of children; rows, separators and parts are shared.
func shallow(b *Block) *Block {
	if b.Kind == block.KindInner {
		c := *b.Inner()
		return &c.Block
	}
	c := *b
	c.Kids = slices.Clone(b.Kids)
	return &c
}
