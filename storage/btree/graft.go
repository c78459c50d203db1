package btree

import (
	"bytes"

	"herd/storage/block"
)

// Graft returns r with the leaves of run, a tree of its own whose first key is lo, behind all that r has. The leaves are
// taken as they are: nothing is read of them and they may be absent from memory; run's inner nodes are in memory and are
// left behind. taken are the handles, long values included, that now belong to the result. ok is false when r has keys at
// or behind lo: then nothing has changed.
func (e *Editor) Graft(t block.TreeID, r, run Root, lo []byte) (out Root, taken []*Handle, ok bool, err error) {
	e.tree, e.all = t, nil
	path, before, err := e.rightEdge(r.H, lo)
	if err != nil || !before {
		return r, nil, false, err
	}
	ents := leafEntries(nil, entry{bytes.Clone(lo), run.H, run.Stat})
	for i := range ents {
		h := ents[i].h
		taken = append(taken, h)
		if h.Flag(FlagBig) {
			taken = append(taken, h.blk.Load().Kids...)
		}
	}
	level := uint8(0)
	ed := edit{more: ents}
	if r.H == nil {
		ed = edit{h: ents[0].h, stat: ents[0].stat, more: ents[1:]}
	} else {
		ed = e.hang(path, r, ents)
		level = uint8(len(path))
	}
	for len(ed.more) > 0 {
		level++
		ed = e.build(level, append([]entry{{nil, ed.h, ed.stat}}, ed.more...), true)
	}
	return Root{ed.h, ed.stat}, taken, true, nil
}

// rightEdge returns the inner nodes on the way to the last leaf below h, and whether all keys are < lo.
func (e *Editor) rightEdge(h *Handle, lo []byte) (path []*Inner, before bool, err error) {
	for h != nil {
		b, err := fetch(e.Loader, e.tree, h)
		if err != nil {
			return nil, false, err
		}
		if b.Kind == block.KindLeaf {
			l := b.Leaf()
			return path, !aboveOrAt(l, l.Len()-1, lo), nil
		}
		if b.Kind != block.KindInner {
			return nil, false, wrongKind(e.tree, h, b.Kind)
		}
		n := b.Inner()
		path = append(path, n)
		h = n.Kid(n.Len() - 1)
	}
	return nil, true, nil
}

// leafEntries appends the leaves below x, with the lower bounds that x and the nodes below it say.
func leafEntries(dst []entry, x entry) []entry {
	b := x.h.blk.Load()
	if b == nil || b.Kind != block.KindInner {
		return append(dst, x)
	}
	n := b.Inner()
	for i, k := range n.Children() {
		kid := entry{x.sep, k, n.Stat(i)}
		if i > 0 {
			kid.sep = n.AppendSep(nil, i)
		}
		dst = leafEntries(dst, kid)
	}
	return dst
}

// hang puts ents behind the last child of each node of path, the way to the last leaf of r.
func (e *Editor) hang(path []*Inner, r Root, ents []entry) edit {
	if len(path) == 0 {
		return edit{h: r.H, stat: r.Stat, more: ents}
	}
	n := path[0]
	last := n.Len() - 1
	ed := e.hang(path[1:], Root{n.Kid(last), n.Stat(last)}, ents)
	ed.i = last
	e.drop(r.H)
	return e.restructure(n, []edit{ed}, true)
}
