package btree

import (
	"bytes"
	"errors"
	"fmt"

	"herd/storage/block"
)

// ErrAbsent is returned by an Editor without a Loader that meets a block which is not in memory. Editor.AbsentAt says
// for which change.
var ErrAbsent = errors.New("block is not in memory")

// chunk is the most changes that descend together: it bounds the scratch space of a leaf's rebuilding.
const chunk = 4096

// handlesAtOnce is how many handles are allocated together. One that lives keeps the memory of its seven neighbours, so
// dead ones must have no block: see drop, Discard and the store's bury.
const handlesAtOnce = 8

// Editor makes new versions of trees. Set the exported fields, call Apply for each tree, then take Created and Retired.
type Editor struct {
	Page   int    // target bytes of a leaf
	Ver    uint64 // version being made: the owner stamp of its nodes
	Loader Loader // nil: absent blocks are ErrAbsent
	// Created are the handles of the new version that no older one has; some may have died again (FlagDead).
	Created []*Handle
	// Retired are the handles that the new version does not have and the old one had.
	Retired []*Handle
	// Dead, when KeepDead is set, are the handles that a former Apply of the same version created and a later one dropped.
	Dead     []*Handle
	KeepDead bool
	// AbsentAt is the index of the change that met ErrAbsent.
	AbsentAt int

	tree  block.TreeID
	all   []Change // what Apply was called with, to compute AbsentAt
	rows  []block.Row
	most  int       // the most that rows had since Reset
	kids  []*Handle // values of rows with Kid >= 0
	stubs []byte    // backing of new stubs
	edits []edit    // stack, see inner
	fresh []Handle  // to take the next handles from
	buf   []byte
}

// entry is a child on its way into a node: sep is its lower bound.
type entry struct {
	sep  []byte
	h    *Handle
	stat block.Stat
}

// edit is what became of child i.
type edit struct {
	i    int
	h    *Handle // nil: nothing left
	stat block.Stat
	more []entry // new siblings to the right
}

// Reset makes the editor ready for the next version. The slices of the last one are the caller's from here on.
func (e *Editor) Reset(ver uint64) {
	e.Ver = ver
	e.Created, e.Retired = nil, nil
	e.startRows()
	if cap(e.rows) > 2*chunk {
		e.rows, e.kids, e.stubs = nil, nil, nil
	}
	clear(e.rows[:min(e.most, cap(e.rows))])
	e.most, e.all = 0, nil
}

// startRows empties the scratch space of a leaf's rebuilding.
func (e *Editor) startRows() {
	e.most = max(e.most, len(e.rows))
	e.rows, e.kids, e.stubs = e.rows[:0], e.kids[:0], e.stubs[:0]
}

// Inline returns the bytes of the longest value kept in a leaf of the given page size.
func Inline(page int) int { return min(block.MaxInline, page/4) }

// Apply returns r with the changes applied: only OpPut and OpDelete, ascending by key, no key twice. On error the
// editor's Created and Retired are not meaningful.
func (e *Editor) Apply(t block.TreeID, r Root, changes []Change) (Root, error) {
	e.tree, e.all = t, changes
	for len(changes) > 0 {
		n := min(chunk, len(changes))
		var err error
		if r, err = e.pass(r, changes[:n]); err != nil {
			return r, err
		}
		changes = changes[n:]
	}
	return r, nil
}

// pass applies one chunk.
func (e *Editor) pass(r Root, cs []Change) (Root, error) {
	var ed edit
	var err error
	if r.H == nil {
		ed, err = e.leaf(nil, nil, r.Stat, cs, true)
	} else {
		ed, err = e.node(r.H, r.Stat, cs, true)
	}
	if err != nil {
		return r, err
	}
	level := uint8(1)
	for len(ed.more) > 0 {
		ents := append([]entry{{nil, ed.h, ed.stat}}, ed.more...)
		level = ed.h.blk.Load().Level + 1
		ed = e.build(level, ents, true)
	}
	for ed.h != nil {
		b := ed.h.blk.Load()
		if b == nil || b.Kind != block.KindInner || b.Inner().Len() > 1 {
			break
		}
		e.drop(ed.h)
		ed.h = b.Inner().Kid(0)
	}
	return Root{ed.h, ed.stat}, nil
}

// get returns h's block for editing below the changes cs.
func (e *Editor) get(h *Handle, cs []Change) (*Block, error) {
	if b := h.blk.Load(); b != nil {
		return b, nil
	}
	if e.Loader == nil {
		e.AbsentAt = cap(e.all) - cap(cs) // cs is a part of all
		return nil, ErrAbsent
	}
	return e.Loader.LoadBlock(e.tree, h)
}

// create makes the handle of a new block.
func (e *Editor) create(b *Block) *Handle {
	if len(e.fresh) == 0 {
		e.fresh = make([]Handle, handlesAtOnce)
	}
	h := &e.fresh[0]
	e.fresh = e.fresh[1:]
	h.Born = e.Ver
	h.heat.Store(heatLeaf)
	if b.Kind == block.KindLeaf && len(b.Kids) > 0 {
		h.flags.Store(FlagBig)
	}
	h.SetBlock(b)
	e.Created = append(e.Created, h)
	return h
}

// Discard takes the blocks of Created off their handles after an error.
func (e *Editor) Discard() {
	for _, h := range e.Created {
		h.forget()
	}
}

// drop notes that the new version does not have h. Whoever needs its block still has taken it before.
func (e *Editor) drop(h *Handle) {
	if h.Born == e.Ver && h.Addr() == 0 { // one with an address (of a fork) has bytes on disk to give back
		h.SetFlag(FlagDead)
		if e.KeepDead {
			e.Dead = append(e.Dead, h)
		} else {
			h.forget()
		}
		return
	}
	e.Retired = append(e.Retired, h)
}

// node applies cs, all in the range of h.
func (e *Editor) node(h *Handle, st block.Stat, cs []Change, right bool) (edit, error) {
	b, err := e.get(h, cs)
	if err != nil {
		return edit{}, err
	}
	switch b.Kind {
	case block.KindLeaf:
		return e.leaf(h, b, st, cs, right)
	case block.KindInner:
		return e.inner(h, b.Inner(), st, cs, right)
	}
	return edit{}, wrongKind(e.tree, h, b.Kind)
}

// inner hands the changes to the children they belong to and makes the node anew. The edits of the children lie on a
// stack that all levels share.
func (e *Editor) inner(h *Handle, n *Inner, st block.Stat, cs []Change, right bool) (edit, error) {
	base := len(e.edits)
	defer func() { clear(e.edits[base:]); e.edits = e.edits[:base] }()
	simple := true
	for len(cs) > 0 {
		i := n.child(cs[0].Key)
		m := len(cs)
		last := i == n.Len()-1
		if !last {
			m = 1
			for m < len(cs) && n.sepAbove(i+1, cs[m].Key) {
				m++
			}
		}
		ed, err := e.node(n.Kid(i), n.Stat(i), cs[:m], right && last)
		if err != nil {
			return edit{}, err
		}
		cs = cs[m:]
		if ed.h == n.Kid(i) {
			continue
		}
		ed.i = i
		e.edits = append(e.edits, ed)
		if ed.h == nil || len(ed.more) > 0 || n.Len() > 1 && e.small(ed.h.blk.Load()) {
			simple = false
		}
	}
	edits := e.edits[base:]
	if len(edits) == 0 {
		return edit{h: h, stat: st}, nil
	}
	e.drop(h)
	if simple {
		return e.withKids(n, st, edits), nil
	}
	return e.restructure(n, edits, right), nil
}

// withKids is the common case: some children were replaced one for one. Separators and parts without a change stay
// shared.
func (e *Editor) withKids(n *Inner, st block.Stat, edits []edit) edit {
	c := &Inner{Block: n.Block, heads: n.heads, plen: n.plen, pfx: n.pfx, keys: n.keys}
	c.parts = n.parts
	for i := range edits {
		ed := &edits[i]
		k := ed.i / partKids
		p := c.parts[k]
		if p == n.parts[k] {
			own := *p
			p = &own
			c.parts[k] = p
		}
		k = ed.i % partKids
		st = st.Sub(p.stats[k]).Add(ed.stat)
		p.kids[k], p.stats[k] = ed.h, ed.stat
	}
	return edit{h: e.create(&c.Block), stat: st}
}

// restructure makes n anew with children added, removed or joined.
func (e *Editor) restructure(n *Inner, edits []edit, right bool) edit {
	ents := make([]entry, 0, n.Len()+len(edits)+4)
	changed := make([]bool, 0, cap(ents))
	arena := make([]byte, 0, len(n.keys.Bytes)+n.Len()*len(n.keys.Prefix))
	for i, h := range n.Children() {
		var sep []byte
		if i > 0 {
			from := len(arena)
			arena = n.AppendSep(arena, i)
			sep = arena[from:len(arena):len(arena)]
		}
		if len(edits) == 0 || edits[0].i != i {
			ents, changed = append(ents, entry{sep, h, n.Stat(i)}), append(changed, false)
			continue
		}
		ed := edits[0]
		edits = edits[1:]
		if ed.h != nil {
			ents, changed = append(ents, entry{sep, ed.h, ed.stat}), append(changed, true)
		}
		for _, m := range ed.more {
			ents, changed = append(ents, m), append(changed, true)
		}
	}
	ents = e.join(ents, changed)
	if len(ents) == 0 {
		return edit{}
	}
	return e.build(n.Level, ents, right)
}

// keysMax is the most bytes of separators in a node, whatever the page size: even with the longest keys a node then has
// eight children, so that trees stay low.
const keysMax = 8 * block.MaxKey

// build makes one or more nodes of ents, of which there is at least one.
func (e *Editor) build(level uint8, ents []entry, right bool) (out edit) {
	const limit = keysMax
	total := 0
	for i := range ents {
		total += len(ents[i].sep)
	}
	parts := max((len(ents)+MaxKids-1)/MaxKids, (total+limit-1)/limit)
	target := MaxKids
	if !right && parts > 1 {
		target = (len(ents) + parts - 1) / parts
	}
	first := true
	for len(ents) > 0 {
		k, size := 0, 0
		for k < len(ents) && k < target && (k < 2 || size+len(ents[k].sep) <= limit) {
			size += len(ents[k].sep)
			k++
		}
		n := newInner(level, ents[:k])
		ent := entry{bytes.Clone(ents[0].sep), e.create(&n.Block), n.Total()}
		if first {
			out, first = edit{h: ent.h, stat: ent.stat}, false
		} else {
			out.more = append(out.more, ent)
		}
		ents = ents[k:]
	}
	return out
}

// checkOp reports a change that cannot be part of Apply's input.
func checkOp(t block.TreeID, c *Change) error {
	if c.Op != OpPut && c.Op != OpDelete {
		return fmt.Errorf("tree %d: change with operation %d among rows", t, c.Op)
	}
	return nil
}
