package vec

import (
	"encoding/binary"

	"herd/sql/types"
)

// arenaMax is the size in bytes at which a vector starts a new arena: offsets in a View are 32 bits.
const arenaMax = 1 << 30

// New returns an empty vector of the kind with room for n rows.
func New(kind types.Kind, n int) *Vector {
	v := &Vector{}
	v.Reset(kind, n)
	return v
}

// NewConst returns a constant vector with the value d of type t.
func NewConst(t types.OID, d types.Datum) *Vector {
	v := New(types.KindOf(t), 1)
	v.SetDatum(0, d)
	v.Const = true
	if t == types.NumericOID && !d.Null {
		v.constDecimal()
	}
	return v
}

// Reset makes v a vector of n rows of the kind, none of them NULL and none of them constant. The values are undefined
// (variable ones empty); memory is kept.
func (v *Vector) Reset(kind types.Kind, n int) {
	if v.borrowed {
		v.Drop()
	}
	v.Kind, v.Const, v.HasNulls, v.Dec, v.lazy = kind, false, false, false, false
	switch kind {
	case types.KindInt:
		v.Int = grow(v.Int, n)
	case types.KindFloat:
		v.Float = grow(v.Float, n)
	case types.KindBool:
		v.Bool = grow(v.Bool, n)
	case types.KindBytes:
		v.Var = grow(v.Var, n)
		clear(v.Var)
		v.resetBufs()
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, max(n, FirstRows))
}

// resetBufs drops foreign buffers and empties the arena, which becomes buffer 0 again.
func (v *Vector) resetBufs() {
	var own []byte
	if v.arena >= 0 && v.arena < len(v.Bufs) && v.hasArena {
		own = v.Bufs[v.arena][:0]
	}
	if v.shared {
		v.Bufs, v.shared = nil, false
	}
	clear(v.Bufs)
	v.Bufs, v.arena, v.hasArena = v.Bufs[:0], -1, false
	if own != nil {
		v.Bufs = append(v.Bufs, own)
		v.arena, v.hasArena = 0, true
	}
}

// Len returns the number of rows of v; a constant vector has at least one.
func (v *Vector) Len() int {
	if v.Dec {
		return len(v.Int)
	}
	switch v.Kind {
	case types.KindInt:
		return len(v.Int)
	case types.KindFloat:
		return len(v.Float)
	case types.KindBool:
		return len(v.Bool)
	}
	return len(v.Var)
}

// At returns the index that holds row i: 0 for a constant vector.
func (v *Vector) At(i int) int {
	if v.Const {
		return 0
	}
	return i
}

// IsNull says whether row i is NULL.
func (v *Vector) IsNull(i int) bool {
	if !v.HasNulls {
		return false
	}
	if v.Const {
		i = 0
	}
	w := i >> 6
	return w < len(v.Nulls) && v.Nulls[w]&(1<<(i&63)) != 0
}

// SetNull makes row i NULL.
func (v *Vector) SetNull(i int) {
	if !v.HasNulls {
		v.startNulls(i + 1)
	}
	w := i >> 6
	for w >= len(v.Nulls) {
		v.Nulls = append(v.Nulls, 0)
	}
	v.Nulls[w] |= 1 << (i & 63)
}

// ClearNull makes row i not NULL; its value is whatever was set.
func (v *Vector) ClearNull(i int) {
	if v.HasNulls && i>>6 < len(v.Nulls) {
		v.Nulls[i>>6] &^= 1 << (i & 63)
	}
}

// SetAllNull makes the first n rows NULL.
func (v *Vector) SetAllNull(n int) {
	v.startNulls(n)
	for i := range v.Nulls {
		v.Nulls[i] = ^uint64(0)
	}
}

func (v *Vector) startNulls(n int) {
	words := (max(n, v.Len()) + 63) >> 6
	if cap(v.Nulls) < words {
		v.Nulls = make([]uint64, words)
	} else {
		v.Nulls = v.Nulls[:words]
		clear(v.Nulls)
	}
	v.HasNulls = true
}

// Bytes returns the value of row i of a KindBytes vector. It aliases the vector's buffers: never modify it.
func (v *Vector) Bytes(i int) []byte {
	if v.lazy {
		v.encode()
	}
	if v.Const {
		i = 0
	}
	w := v.Var[i]
	if w.Len == 0 {
		return nil
	}
	return v.Bufs[w.Buf][w.Off : w.Off+w.Len : w.Off+w.Len]
}

func prefixOf(b []byte) uint32 {
	if len(b) >= 4 {
		return binary.BigEndian.Uint32(b)
	}
	var p uint32
	for i, c := range b {
		p |= uint32(c) << (24 - 8*i)
	}
	return p
}

// own returns the arena with room for n more bytes, starting one when needed.
func (v *Vector) own(n int) []byte {
	if v.hasArena && len(v.Bufs[v.arena])+n <= arenaMax {
		return v.Bufs[v.arena]
	}
	if v.shared { // the slice of buffers belongs to someone else
		v.Bufs, v.shared = append(make([][]byte, 0, len(v.Bufs)+1), v.Bufs...), false
	}
	v.Bufs = append(v.Bufs, make([]byte, 0, max(1024, n)))
	v.arena, v.hasArena = len(v.Bufs)-1, true
	return v.Bufs[v.arena]
}

// SetVar sets row i of a KindBytes vector to a copy of b.
func (v *Vector) SetVar(i int, b []byte) {
	a := v.own(len(b))
	off := len(a)
	a = append(a, b...)
	v.Bufs[v.arena] = a
	v.Var[i] = View{Buf: uint32(v.arena), Off: uint32(off), Len: uint32(len(b)), Prefix: prefixOf(b)}
}

// SetString is SetVar for a string.
func (v *Vector) SetString(i int, s string) {
	a := v.own(len(s))
	off := len(a)
	a = append(a, s...)
	v.Bufs[v.arena] = a
	v.Var[i] = View{Buf: uint32(v.arena), Off: uint32(off), Len: uint32(len(s)), Prefix: prefixOf(a[off:])}
}

// Start returns the arena to append the next value to; Finish(i, b) with what append returned makes it row i's value.
// Nothing else may be set in v between the two.
func (v *Vector) Start() []byte { return v.own(256) }

// Finish ends what Start began: everything appended to b since becomes row i's value.
func (v *Vector) Finish(i int, b []byte) {
	off := len(v.Bufs[v.arena])
	v.Bufs[v.arena] = b
	v.Var[i] = View{Buf: uint32(v.arena), Off: uint32(off), Len: uint32(len(b) - off), Prefix: prefixOf(b[off:])}
}

// AddBuf adds a buffer that views may point into, without a copy, and returns its number.
func (v *Vector) AddBuf(b []byte) uint32 {
	if v.shared {
		v.Bufs, v.shared = append(make([][]byte, 0, len(v.Bufs)+1), v.Bufs...), false
	}
	v.Bufs = append(v.Bufs, b)
	return uint32(len(v.Bufs) - 1)
}

// SetBufs makes bufs the buffers of v (the slice is used as it is and not changed) and forgets all views.
func (v *Vector) SetBufs(bufs [][]byte) {
	v.Bufs, v.shared, v.hasArena, v.arena = bufs, true, false, -1
}

// SetView sets row i to bytes [off, off+n) of buffer buf.
func (v *Vector) SetView(i int, buf uint32, off, n int) {
	v.Var[i] = View{Buf: buf, Off: uint32(off), Len: uint32(n), Prefix: prefixOf(v.Bufs[buf][off : off+n])}
}

// Ref sets row i to b without a copy: b must stay unchanged until Reset.
func (v *Vector) Ref(i int, b []byte) {
	v.Var[i] = View{Buf: v.AddBuf(b), Len: uint32(len(b)), Prefix: prefixOf(b)}
}

// Datum returns the value of row i. Bytes alias the vector.
func (v *Vector) Datum(i int) types.Datum {
	if v.IsNull(i) {
		return types.NullDatum
	}
	if v.Const {
		i = 0
	}
	switch v.Kind {
	case types.KindInt:
		return types.Datum{I: v.Int[i]}
	case types.KindFloat:
		return types.Float(v.Float[i])
	case types.KindBool:
		return types.Bool(v.Bool[i])
	}
	return types.Datum{B: v.Bytes(i)}
}

// SetDatum sets row i to d, which must be of v's kind; bytes are copied.
func (v *Vector) SetDatum(i int, d types.Datum) {
	if d.Null {
		v.SetNull(i)
		return
	}
	if v.HasNulls {
		v.ClearNull(i)
	}
	switch v.Kind {
	case types.KindInt:
		v.Int[i] = d.I
	case types.KindFloat:
		v.Float[i] = d.Float()
	case types.KindBool:
		v.Bool[i] = d.I != 0
	default:
		v.SetVar(i, d.B)
	}
}

// Size returns the bytes that v holds, for memory accounts.
func (v *Vector) Size() int64 {
	n := int64(cap(v.Int)*8+cap(v.Float)*8+cap(v.Bool)+cap(v.Var)*16+cap(v.Nulls)*8) + 160
	if v.hasArena {
		n += int64(cap(v.Bufs[v.arena]))
	}
	return n
}

// Fixed gives rows 0..n-1 values of width bytes each, side by side at the end of the arena, and returns that space for the
// caller to fill; afterwards the caller calls FixPrefix for every row it filled.
func (v *Vector) Fixed(n, width int) []byte {
	a := v.own(n * width)
	off := len(a)
	if cap(a)-off < n*width {
		grown := make([]byte, off, max(2*cap(a), off+n*width))
		copy(grown, a)
		a = grown
	}
	a = a[:off+n*width]
	v.Bufs[v.arena] = a
	for i := range n {
		v.Var[i] = View{Buf: uint32(v.arena), Off: uint32(off + i*width), Len: uint32(width)}
	}
	return a[off:]
}

// FixPrefix recomputes the prefix of row i's view after its bytes were written in place.
func (v *Vector) FixPrefix(i int) {
	w := &v.Var[i]
	w.Prefix = prefixOf(v.Bufs[w.Buf][w.Off : w.Off+w.Len])
}

// Arena returns the arena with room for n more bytes and its number, for loops that append many values themselves: they set
// the views through SetSpan and give the arena back with SetArena.
func (v *Vector) Arena(n int) (buf []byte, index uint32) {
	a := v.own(n)
	if cap(a)-len(a) < n {
		grown := make([]byte, len(a), max(2*cap(a), len(a)+n))
		copy(grown, a)
		a = grown
	}
	return a, uint32(v.arena)
}

// SetArena puts back what Arena returned, with values appended.
func (v *Vector) SetArena(buf []byte) { v.Bufs[v.arena] = buf }

// SetSpan makes buf[off:] of buffer index, which Arena gave, row i's value.
func (v *Vector) SetSpan(i int, index uint32, buf []byte, off int) {
	v.Var[i] = View{Buf: index, Off: uint32(off), Len: uint32(len(buf) - off), Prefix: prefixOf(buf[off:])}
}
