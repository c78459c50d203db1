package types

import (
	"encoding/binary"

	"herd/sql/sqlerr"
)

// Limits of arrays.
const (
	MaxDim      = 6
	MaxElements = 134217727 // so that PostgreSQL's allocation limit holds
)

// Array reads the value form of an array without copying it.
type Array struct {
	b    []byte
	ndim int
	elem OID
}

// ReadArray views b as an array. A damaged or empty value reads as an empty array.
func ReadArray(b []byte) Array {
	if len(b) < 6 || len(b) < 6+8*int(b[0]) {
		return Array{}
	}
	return Array{b: b, ndim: int(b[0]), elem: OID(binary.LittleEndian.Uint32(b[2:]))}
}

// NDim returns the number of dimensions, 0 for an empty array.
func (a Array) NDim() int { return a.ndim }

// Elem returns the element type.
func (a Array) Elem() OID { return a.elem }

// HasNulls says whether some element may be NULL.
func (a Array) HasNulls() bool { return len(a.b) > 1 && a.b[1]&1 != 0 }

// Dim returns the length of dimension i, counted from 0.
func (a Array) Dim(i int) int { return int(int32(binary.LittleEndian.Uint32(a.b[6+8*i:]))) }

// Lower returns the lower bound of dimension i, counted from 0.
func (a Array) Lower(i int) int { return int(int32(binary.LittleEndian.Uint32(a.b[10+8*i:]))) }

// Len returns the number of elements.
func (a Array) Len() int {
	if a.ndim == 0 {
		return 0
	}
	n := 1
	for i := range a.ndim {
		n *= a.Dim(i)
	}
	return n
}

// Dims returns lengths and lower bounds.
func (a Array) Dims() (lens, lowers []int) {
	for i := range a.ndim {
		lens, lowers = append(lens, a.Dim(i)), append(lowers, a.Lower(i))
	}
	return lens, lowers
}

// ArrayIter walks the elements in storage order (the last subscript fastest).
type ArrayIter struct {
	b    []byte
	Null bool
	Val  []byte // see DecodeValue
}

// Iter starts a walk.
func (a Array) Iter() ArrayIter {
	if a.ndim == 0 {
		return ArrayIter{}
	}
	return ArrayIter{b: a.b[6+8*a.ndim:]}
}

// Next moves to the next element, false at the end.
func (it *ArrayIter) Next() bool {
	if len(it.b) < 4 {
		return false
	}
	n := int32(binary.LittleEndian.Uint32(it.b))
	it.b = it.b[4:]
	if n < 0 {
		it.Null, it.Val = true, nil
		return true
	}
	it.Null, it.Val = false, it.b[:n:n]
	it.b = it.b[n:]
	return true
}

// At returns element i in storage order, counted from 0.
func (a Array) At(i int) (val []byte, null bool) {
	if w := FixedWidth(a.elem); w != 0 && !a.HasNulls() {
		off := 6 + 8*a.ndim + i*(4+w) + 4
		return a.b[off : off+w : off+w], false
	}
	it := a.Iter()
	for range i + 1 {
		it.Next()
	}
	return it.Val, it.Null
}

// Datum returns element i in storage order.
func (a Array) Datum(i int) Datum {
	v, null := a.At(i)
	if null {
		return NullDatum
	}
	return DecodeValue(a.elem, v)
}

// Datums returns all elements; bytes alias the array.
func (a Array) Datums() []Datum {
	out := make([]Datum, 0, a.Len())
	for it := a.Iter(); it.Next(); {
		if it.Null {
			out = append(out, NullDatum)
		} else {
			out = append(out, DecodeValue(a.elem, it.Val))
		}
	}
	return out
}

// ArrayBuilder appends the value form of an array to a buffer.
type ArrayBuilder struct {
	Buf   []byte
	start int
	elem  OID
}

// BuildArray starts an array of the given lengths and lower bounds (nil: all 1) at the end of dst. The caller adds exactly as
// many elements as the lengths say; no dimensions means an empty array.
func BuildArray(dst []byte, elem OID, lens, lowers []int) ArrayBuilder {
	b := ArrayBuilder{Buf: dst, start: len(dst), elem: elem}
	b.Buf = append(b.Buf, byte(len(lens)), 0)
	b.Buf = binary.LittleEndian.AppendUint32(b.Buf, uint32(elem))
	for i, n := range lens {
		lo := 1
		if lowers != nil {
			lo = lowers[i]
		}
		b.Buf = binary.LittleEndian.AppendUint32(b.Buf, uint32(n))
		b.Buf = binary.LittleEndian.AppendUint32(b.Buf, uint32(lo))
	}
	return b
}

// BuildList starts a one-dimensional array whose length SetLen fixes at the end.
func BuildList(dst []byte, elem OID) ArrayBuilder { return BuildArray(dst, elem, []int{0}, nil) }

// FinishList sets the number of elements of an array that BuildList began and returns the buffer.
func (b *ArrayBuilder) FinishList(n int) []byte {
	if n == 0 {
		b.Buf = b.Buf[:b.start+6]
		b.Buf[b.start] = 0
		return b.Buf
	}
	binary.LittleEndian.PutUint32(b.Buf[b.start+6:], uint32(n))
	return b.Buf
}

// Null adds a NULL element.
func (b *ArrayBuilder) Null() {
	b.Buf[b.start+1] |= 1
	b.Buf = binary.LittleEndian.AppendUint32(b.Buf, 0xffffffff)
}

// Raw adds an element in the form that ArrayIter.Val has.
func (b *ArrayBuilder) Raw(v []byte) {
	b.Buf = binary.LittleEndian.AppendUint32(b.Buf, uint32(len(v)))
	b.Buf = append(b.Buf, v...)
}

// Add adds an element.
func (b *ArrayBuilder) Add(d Datum) {
	if d.Null {
		b.Null()
		return
	}
	at := len(b.Buf)
	b.Buf = EncodeValue(append(b.Buf, 0, 0, 0, 0), b.elem, d)
	binary.LittleEndian.PutUint32(b.Buf[at:], uint32(len(b.Buf)-at-4))
}

// MakeArray returns a one-dimensional array value; no elements make an empty array.
func MakeArray(elem OID, elems []Datum) []byte {
	if len(elems) == 0 {
		return EmptyArray(elem)
	}
	b := BuildArray(nil, elem, []int{len(elems)}, nil)
	for _, d := range elems {
		b.Add(d)
	}
	return b.Buf
}

// EmptyArray returns the array without elements and dimensions.
func EmptyArray(elem OID) []byte {
	b := BuildArray(nil, elem, nil, nil)
	return b.Buf
}

// CheckArraySize returns 54000 when the lengths ask for too many elements.
func CheckArraySize(lens []int) error {
	n := int64(1)
	for _, l := range lens {
		if n *= int64(l); n > MaxElements || l < 0 {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", MaxElements)
		}
	}
	return nil
}
