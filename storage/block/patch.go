package block

import (
	"bytes"
	"encoding/binary"
)

// Patch is new values of some rows of a leaf, each as long as the one it replaces, so that the leaf's offsets stay right:
// an update of a small row copies a patch instead of the leaf. It exists in memory only.
//
//	count u16, then by ascending row: row u16 each, end of the value u16 each; the values
//
// An empty Patch replaces nothing. A Patch never changes.
type Patch []byte

const (
	patchHeader = 2
	patchRow    = 4
)

func (p Patch) u16(o int) int { return int(binary.LittleEndian.Uint16(p[o:])) }

// Len returns the number of rows that have a new value.
func (p Patch) Len() int {
	if len(p) == 0 {
		return 0
	}
	return p.u16(0)
}

// Size returns the bytes p has with a further row whose value has n bytes.
func (p Patch) Size(n int) int { return max(len(p), patchHeader) + patchRow + n }

// find returns the place of row i among n rows.
func (p Patch) find(i, n int) (k int, found bool) {
	for k < n {
		if r := p.u16(patchHeader + 2*k); r >= i {
			return k, r == i
		}
		k++
	}
	return k, false
}

// span returns where value k of n lies.
func (p Patch) span(k, n int) (from, to int) {
	ends := patchHeader + 2*n
	from = patchHeader + patchRow*n
	if k > 0 {
		from = p.u16(ends + 2*k - 2)
	}
	return from, p.u16(ends + 2*k)
}

// Value returns the new value of row i; ok is false when it has none.
func (p Patch) Value(i int) (v []byte, ok bool) {
	n := p.Len()
	k, found := p.find(i, n)
	if !found {
		return nil, false
	}
	from, to := p.span(k, n)
	return p[from:to:to], true
}

// With returns p with val as the value of row i. If i has one already, it has the same length.
func (p Patch) With(i int, val []byte) Patch {
	n := p.Len()
	k, found := p.find(i, n)
	if found {
		out := bytes.Clone(p)
		from, _ := p.span(k, n)
		copy(out[from:], val)
		return out[:len(p):len(p)]
	}
	out := make([]byte, p.Size(len(val)))
	le := binary.LittleEndian
	le.PutUint16(out, uint16(n+1))
	at := patchHeader + patchRow*(n+1)
	for j, o := 0, 0; j <= n; j++ {
		row, v := i, val
		if j != k {
			row = p.u16(patchHeader + 2*o)
			from, to := p.span(o, n)
			v = p[from:to]
			o++
		}
		at += copy(out[at:], v)
		le.PutUint16(out[patchHeader+2*j:], uint16(row))
		le.PutUint16(out[patchHeader+2*(n+1)+2*j:], uint16(at))
	}
	return out
}

// Patched returns l with p's values.
func (l Leaf) Patched(p Patch) Leaf {
	if len(p) == 0 {
		return l
	}
	out := Leaf(bytes.Clone(l))[:len(l):len(l)]
	out.Fill(p, l.Len(), 0)
	return out
}

// Fill writes p's values into l, which nobody else sees yet and which has the rows that p is for, except that rows from
// at on lie by rows further back; a value for row at itself is left out when by is 0.
func (l Leaf) Fill(p Patch, at, by int) {
	n := p.Len()
	for k := range n {
		row := p.u16(patchHeader + 2*k)
		if row == at && by == 0 {
			continue
		}
		if row >= at {
			row += by
		}
		from, to := p.span(k, n)
		v, _ := l.Value(row)
		copy(v, p[from:to])
	}
}

// CheckPatch verifies that p fits l.
func CheckPatch(l Leaf, p Patch) bool {
	n := p.Len()
	if len(p) > 0 && (n == 0 || len(p) < patchHeader+patchRow*n) {
		return false
	}
	last := -1
	for k := range n {
		row := p.u16(patchHeader + 2*k)
		if row <= last || row >= l.Len() {
			return false
		}
		last = row
		from, to := p.span(k, n)
		if old, big := l.Value(row); big || from > to || to > len(p) || len(old) != to-from {
			return false
		}
	}
	return true
}
