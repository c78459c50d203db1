package btree

import "herd/storage/block"

// small reports whether a block should be joined with a neighbour.
func (e *Editor) small(b *Block) bool {
	if b == nil {
		return false
	}
	if b.Kind == block.KindLeaf {
		return len(b.Data) < e.Page/4
	}
	return b.ChildCount() < MaxKids/8
}

// join joins changed small children with a neighbour where both fit into one block. A neighbour that is not in memory
// is left alone: applying does no reads that the changes do not need.
func (e *Editor) join(ents []entry, changed []bool) []entry {
	for i := 0; i < len(ents) && len(ents) > 1; {
		if !changed[i] || !e.small(ents[i].h.blk.Load()) {
			i++
			continue
		}
		at := -1
		var a, b *Block
		if i > 0 {
			if a, b = e.fits(ents[i-1].h, ents[i].h, ents[i].sep); a != nil {
				at = i - 1
			}
		}
		if at < 0 && i+1 < len(ents) {
			if a, b = e.fits(ents[i].h, ents[i+1].h, ents[i+1].sep); a != nil {
				at = i
			}
		}
		if at < 0 {
			i++
			continue
		}
		ents[at] = e.joined(ents[at], ents[at+1], a, b)
		changed[at] = true
		ents = append(ents[:at+1], ents[at+2:]...)
		changed = append(changed[:at+1], changed[at+2:]...)
		i = at
	}
	return ents
}

// fits returns the blocks of two neighbours when they can become one block, else nil: nobody has pinned the neighbour of
// what the changes need, so it may be evicted after this look. sep is the right one's lower bound.
func (e *Editor) fits(l, r *Handle, sep []byte) (a, b *Block) {
	a, b = l.blk.Load(), r.blk.Load()
	if a == nil || b == nil || a.Kind != b.Kind || a.Level != b.Level || !e.together(a, b, sep) {
		return nil, nil
	}
	return a, b
}

// together reports whether two blocks of one kind are small enough for one.
func (e *Editor) together(a, b *Block, sep []byte) bool {
	if a.Kind == block.KindInner {
		x, y := a.Inner(), b.Inner()
		keys := len(x.keys.Bytes) + len(y.keys.Bytes) + len(sep) +
			len(x.keys.Prefix)*x.Len() + len(y.keys.Prefix)*y.Len()
		return x.Len()+y.Len() <= MaxKids*3/4 && keys <= keysMax*3/4
	}
	p := len(a.Leaf().Prefix())*a.Leaf().Len() + len(b.Leaf().Prefix())*b.Leaf().Len()
	return len(a.Data)+len(b.Data)+p <= e.Page*3/4
}

// joined makes one block of two neighbours, whose blocks are a and b.
func (e *Editor) joined(l, r entry, a, b *Block) entry {
	e.drop(l.h)
	e.drop(r.h)
	out := entry{sep: l.sep, stat: l.stat.Add(r.stat)}
	if a.Kind == block.KindLeaf {
		e.startRows()
		for _, x := range []*Block{a, b} {
			for i := range x.Leaf().Len() {
				e.oldRow(x, x.Leaf(), i)
			}
		}
		out.h = e.create(e.buildLeaf(e.rows))
		return out
	}
	var ents []entry
	for _, x := range []*Inner{a.Inner(), b.Inner()} {
		for i, h := range x.Children() {
			ent := entry{h: h, stat: x.Stat(i)}
			if i > 0 {
				ent.sep = x.AppendSep(nil, i)
			} else if x == b.Inner() {
				ent.sep = r.sep
			}
			ents = append(ents, ent)
		}
	}
	n := newInner(a.Level, ents)
	out.h = e.create(&n.Block)
	return out
}
