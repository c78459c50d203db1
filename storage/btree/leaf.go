package btree

import (
	"bytes"

	"herd/storage/block"
)

// leaf applies cs to leaf b of handle h; both are nil for an empty tree.
func (e *Editor) leaf(h *Handle, b *Block, st block.Stat, cs []Change, right bool) (edit, error) {
	if len(cs) == 1 && b != nil {
		if ed, ok := e.single(h, b, st, &cs[0]); ok {
			return ed, nil
		}
	}
	return e.mergeLeaf(h, b, st, cs, right)
}

// patchShare says what part of a leaf its patch may be as large as. An update of a row of 100 bytes in a leaf of 8 KiB then
// copies 1.4 KiB on average, one of 1 KiB half the leaf; an eighth of the bytes of much updated leaves are outdated.
const patchShare = 4

// single is the fast path: one change whose result is one leaf with the same key prefix.
func (e *Editor) single(h *Handle, b *Block, st block.Stat, c *Change) (edit, bool) {
	l := b.Leaf()
	i, found := l.Search(c.Key)
	if c.Op == OpDelete {
		return edit{h: h, stat: st}, !found
	}
	if c.Op != OpPut || len(c.Val) > Inline(e.Page) {
		return edit{}, false
	}
	out, by := block.Leaf(nil), 0
	if found {
		old, big := b.Value(i)
		if big {
			return edit{}, false
		}
		st.Sum += block.RowHash(c.Key, c.Val) - block.RowHash(c.Key, old)
		if len(old) == len(c.Val) && b.patch.Size(len(c.Val)) <= len(l)/patchShare {
			e.drop(h)
			return edit{h: e.create(newPatched(l, b.Kids, b.patch.With(i, c.Val))), stat: st}, true
		}
		out = l.ReplaceValue(i, c.Val, e.Page)
	} else {
		st.Rows++
		st.Sum += block.RowHash(c.Key, c.Val)
		out, by = l.Insert(i, c.Key, c.Val, e.Page), 1
	}
	if out == nil {
		return edit{}, false
	}
	out.Fill(b.patch, i, by)
	e.drop(h)
	return edit{h: e.create(newLeaf(out, b.Kids)), stat: st}, true
}

// mergeLeaf merges the leaf's rows with the changes and builds as many leaves as the result needs.
func (e *Editor) mergeLeaf(h *Handle, b *Block, st block.Stat, cs []Change, right bool) (edit, error) {
	e.startRows()
	var l block.Leaf
	n, i := 0, 0
	if b != nil {
		l = b.Leaf()
		n = l.Len()
	}
	e.stubs = grow(e.stubs, len(cs)*block.StubLen) // stubs must not move while rows point at them
	changed := false
	old := st
	for c := range cs {
		ch := &cs[c]
		if err := checkOp(e.tree, ch); err != nil {
			return edit{}, err
		}
		to, found := n, false
		if b != nil {
			to, found = l.Search(ch.Key)
		}
		for ; i < to; i++ {
			e.oldRow(b, l, i)
		}
		if found {
			v, big := b.Value(i)
			st.Rows--
			if big {
				kid, _, hash := block.Stub(v)
				st.Sum -= hash
				e.drop(b.Kids[kid])
			} else {
				st.Sum -= block.RowHash(ch.Key, v)
			}
			i++
			changed = true
		}
		if ch.Op == OpPut {
			st.Rows++
			st.Sum += e.newRow(ch)
			changed = true
		}
	}
	if !changed {
		return edit{h: h, stat: old}, nil
	}
	appended := i == n && right && cs[len(cs)-1].Op == OpPut
	for ; i < n; i++ {
		e.oldRow(b, l, i)
	}
	if h != nil {
		e.drop(h)
	}
	if len(e.rows) == 0 {
		return edit{}, nil
	}
	return e.leaves(st, appended), nil
}

func grow(p []byte, n int) []byte {
	if cap(p) < n {
		return make([]byte, 0, n)
	}
	return p
}

// oldRow appends row i of b to e.rows.
func (e *Editor) oldRow(b *Block, l block.Leaf, i int) {
	v, big := b.Value(i)
	r := block.Row{Pre: l.Prefix(), Suf: l.Suffix(i), Val: v, Kid: -1}
	if big {
		kid, _, _ := block.Stub(v)
		r.Kid = int32(len(e.kids))
		e.kids = append(e.kids, b.Kids[kid])
	}
	e.rows = append(e.rows, r)
}

// newRow appends the row of a put to e.rows, making a value block when it is long, and returns its hash.
func (e *Editor) newRow(c *Change) uint64 {
	hash := block.RowHash(c.Key, c.Val)
	r := block.Row{Suf: c.Key, Val: c.Val, Kid: -1}
	if len(c.Val) > Inline(e.Page) {
		r.Kid = int32(len(e.kids))
		e.kids = append(e.kids, e.create(newValue(bytes.Clone(c.Val))))
		from := len(e.stubs)
		e.stubs = block.AppendStub(e.stubs, len(c.Val), hash)
		r.Val = e.stubs[from:]
	}
	e.rows = append(e.rows, r)
	return hash
}

// leaves builds the leaves of e.rows, whose figures are st. appended: the newest row is the tree's last, so leaves are
// filled from the left instead of evenly.
func (e *Editor) leaves(st block.Stat, appended bool) (out edit) {
	rows := e.rows
	p := block.CommonPrefix(&rows[0], &rows[len(rows)-1])
	room := max(e.Page-block.LeafOverhead(p), 1)
	total := 0
	for i := range rows {
		total += block.RowSize(&rows[i], p)
	}
	if total <= room || len(rows) == 1 {
		return edit{h: e.create(e.buildLeaf(rows)), stat: st}
	}
	target := room
	if !appended {
		parts := (total + room - 1) / room
		target = (total + parts - 1) / parts
	}
	rest := st
	for at := 0; at < len(rows); {
		k, size := at, 0
		for k < len(rows) {
			s := block.RowSize(&rows[k], p)
			if k > at && (size+s > room || size+s/2 > target) {
				break
			}
			size += s
			k++
		}
		if appended && k < len(rows) {
			k = densest(rows[at:k], p, e.Page*5/8) + at
		}
		ent := entry{h: e.create(e.buildLeaf(rows[at:k]))}
		if k == len(rows) {
			ent.stat = rest
		} else {
			ent.stat = e.statOf(rows[at:k])
			rest = rest.Sub(ent.stat)
		}
		if at == 0 {
			out.h, out.stat = ent.h, ent.stat
		} else {
			ent.sep = separator(&rows[at-1], &rows[at])
			out.more = append(out.more, ent)
		}
		at = k
	}
	return out
}

// densest returns how many of rows, which fit into a leaf, make the leaf with the least memory per byte: the allocator's
// classes are up to an eighth apart. Leaves below atLeast bytes are not considered.
func densest(rows []block.Row, p, atLeast int) int {
	size := block.LeafOverhead(p)
	best, bestShare := len(rows), 0.0
	for i := range rows {
		size += block.RowSize(&rows[i], p)
		if size < atLeast && i < len(rows)-1 {
			continue
		}
		if share := float64(size) / float64(block.Class(size)+blockBytes+HandleBytes); share >= bestShare {
			best, bestShare = i+1, share
		}
	}
	return best
}

// statOf hashes rows.
func (e *Editor) statOf(rows []block.Row) (st block.Stat) {
	for i := range rows {
		r := &rows[i]
		st.Rows++
		if r.Kid >= 0 {
			_, _, h := block.Stub(r.Val)
			st.Sum += h
			continue
		}
		e.buf = r.AppendKey(e.buf[:0])
		st.Sum += block.RowHash(e.buf, r.Val)
	}
	return st
}

// buildLeaf makes a leaf block of some of e.rows.
func (e *Editor) buildLeaf(rows []block.Row) *Block {
	var kids []*Handle
	for i := range rows {
		if k := rows[i].Kid; k >= 0 {
			kids = append(kids, e.kids[k])
		}
	}
	return newLeaf(block.BuildLeaf(rows), kids)
}

// separator returns the shortest key > a and <= b.
func separator(a, b *block.Row) []byte {
	n := block.CommonPrefix(a, b) + 1
	return b.AppendKey(make([]byte, 0, b.KeyLen()))[:n:n]
}
