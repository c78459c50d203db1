package row

import (
	"encoding/binary"
	"math"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/numeric"
)

// LargeWriter stores a value out of line; exec implements it over the table's large-value tree.
type LargeWriter interface {
	// WriteLarge stores val and returns its id, which is not 0.
	WriteLarge(val []byte) (id uint64, err error)
}

// LargeReader reads what a LargeWriter stored.
type LargeReader interface {
	ReadLarge(id uint64, size uint64) ([]byte, error)
}

// LargeRef is a reference to a value stored out of line.
type LargeRef struct{ ID, Size uint64 }

// Encode appends a row of all columns of the layout. vals are in column order; those of dropped columns are ignored.
// large may be nil: then a value over LargeMin is an error 54000.
func (l *Layout) Encode(dst []byte, stamp uint64, vals []types.Datum, large LargeWriter) ([]byte, error) {
	return l.encode(dst, stamp, nil, nil, vals, large)
}

// Update appends the row old with other values in the columns for which set is true; the bytes of the others, references
// to large values included, are taken from old. vals is in column order, only the set ones count.
func (l *Layout) Update(dst []byte, stamp uint64, old []byte, set []bool, vals []types.Datum, large LargeWriter) ([]byte, error) {
	return l.encode(dst, stamp, old, set, vals, large)
}

func (l *Layout) encode(dst []byte, stamp uint64, old []byte, set []bool, vals []types.Datum, large LargeWriter) ([]byte, error) {
	n := len(l.cols)
	size, wide := l.variable(old, set, vals, nil)
	var out []bool // columns whose values go out of line though they are not over LargeMin
	if rest := headerSize + (n+7)>>3 + l.fixedEnd[n] + 4*l.vars[n]; rest+size > MaxRow && large != nil {
		out = make([]bool, n)
		for rest+size > MaxRow && l.moveOut(old, set, vals, out) {
			size, wide = l.variable(old, set, vals, out)
		}
	}
	if size > math.MaxInt32 {
		return dst, sqlerr.New(sqlerr.ProgramLimitExceeded, "row is too big: size %d, maximum size %d", size, math.MaxInt32)
	}
	format, offWidth := byte(formatVersion), 2
	if wide || size > math.MaxUint16 {
		format, offWidth = formatVersion|wideOffsets, 4
	}
	fixed := headerSize + (n+7)>>3
	ends := fixed + l.fixedEnd[n]
	base := ends + l.vars[n]*offWidth
	start := len(dst)
	dst = growZero(dst, base, size)
	r := dst[start:]
	r[0] = format
	binary.LittleEndian.PutUint16(r[1:], uint16(n))
	binary.LittleEndian.PutUint64(r[3:], stamp)
	off := 0
	for i := range l.cols {
		p := &l.cols[i]
		var null, ref bool
		var err error
		keep := old != nil && !set[i]
		if p.width > 0 {
			f := r[fixed+p.at : fixed+p.at+p.width]
			switch {
			case p.dropped:
				null = true
			case keep:
				null = l.copyFixed(f, old, i)
			case vals[i].Null:
				null = true
			default:
				p.putFixed(f, vals[i])
			}
			if null {
				r[headerSize+i>>3] |= 1 << (i & 7)
			}
			continue
		}
		switch {
		case p.dropped:
			null = true
		case keep:
			var b []byte
			if null = l.IsNull(old, i); null {
				break
			}
			if b, ref = l.rawVar(old, i); out != nil && out[i] {
				ref = true
				if dst, err = writeLarge(dst, b, large); err != nil {
					return dst[:start], err
				}
				break
			}
			dst = append(dst, b...)
		case vals[i].Null:
			null = true
		case len(vals[i].B) > LargeMin || out != nil && out[i]:
			ref = true
			if dst, err = writeLarge(dst, vals[i].B, large); err != nil {
				return dst[:start], err
			}
		default:
			dst = append(dst, vals[i].B...)
		}
		r = dst[start:]
		off = len(r) - base
		if null {
			r[headerSize+i>>3] |= 1 << (i & 7)
		}
		if offWidth == 2 {
			binary.LittleEndian.PutUint16(r[ends+2*p.at:], uint16(off))
		} else {
			w := uint32(off)
			if ref {
				w |= largeFlag
			}
			binary.LittleEndian.PutUint32(r[ends+4*p.at:], w)
		}
	}
	return dst, nil
}

// refBytes is the length of a reference to a large value.
const refBytes = 16

// variable returns the bytes of a row's variable part, and whether a value of it is out of line.
func (l *Layout) variable(old []byte, set []bool, vals []types.Datum, out []bool) (size int, wide bool) {
	for i := range l.cols {
		p := &l.cols[i]
		if p.width > 0 || p.dropped {
			continue
		}
		b, ref := l.inline(i, old, set, vals)
		if ref || len(b) > LargeMin || out != nil && out[i] {
			wide = true
			size += refBytes
		} else {
			size += len(b)
		}
	}
	return size, wide
}

// inline returns the bytes that variable column i would have in the row, or a reference that the old row has.
func (l *Layout) inline(i int, old []byte, set []bool, vals []types.Datum) (b []byte, ref bool) {
	if old != nil && !set[i] {
		return l.rawVar(old, i)
	}
	if vals[i].Null {
		return nil, false
	}
	return vals[i].B, false
}

// moveOut adds the longest value in the row to out; false when none is left that is worth it.
func (l *Layout) moveOut(old []byte, set []bool, vals []types.Datum, out []bool) bool {
	best, length := -1, 8*refBytes
	for i := range l.cols {
		p := &l.cols[i]
		if p.width > 0 || p.dropped || out[i] {
			continue
		}
		if b, ref := l.inline(i, old, set, vals); !ref && len(b) <= LargeMin && len(b) > length {
			best, length = i, len(b)
		}
	}
	if best < 0 {
		return false
	}
	out[best] = true
	return true
}

func writeLarge(dst, val []byte, large LargeWriter) ([]byte, error) {
	if large == nil {
		return dst, sqlerr.New(sqlerr.ProgramLimitExceeded, "value of %d bytes is too large for this place", len(val))
	}
	id, err := large.WriteLarge(val)
	if err != nil {
		return dst, err
	}
	dst = binary.LittleEndian.AppendUint64(dst, id)
	return binary.LittleEndian.AppendUint64(dst, uint64(len(val))), nil
}

// growZero extends dst by n zero bytes, with capacity for extra more.
func growZero(dst []byte, n, extra int) []byte {
	old := len(dst)
	if cap(dst)-old < n+extra {
		nd := make([]byte, old, old+n+extra)
		copy(nd, dst)
		dst = nd
	}
	dst = dst[:old+n]
	clear(dst[old:])
	return dst
}

// putFixed writes a non-NULL value into its zeroed place.
func (p *place) putFixed(f []byte, d types.Datum) {
	switch {
	case p.numeric:
		binary.LittleEndian.PutUint64(f, uint64(p.numericInt(d.B)))
	case p.kind == types.KindBytes:
		copy(f, d.B)
	case p.kind == types.KindBool:
		f[0] = byte(d.I)
	case p.typ == types.Float4OID:
		binary.LittleEndian.PutUint32(f, math.Float32bits(float32(d.Float())))
	case p.width == 8:
		binary.LittleEndian.PutUint64(f, uint64(d.I))
	case p.width == 4:
		binary.LittleEndian.PutUint32(f, uint32(d.I))
	default:
		binary.LittleEndian.PutUint16(f, uint16(d.I))
	}
}

// numericInt returns a numeric as an integer at the column's scale.
func (p *place) numericInt(b []byte) int64 {
	c, s, ok := numeric.SmallOf(b)
	if ok && s == p.scale {
		return c
	}
	n := numeric.Decode(b)
	if n.Kind() != numeric.Finite {
		return numericNaN
	}
	c, _, _ = n.Round(p.scale).Small()
	return c
}

// copyFixed copies a column's fixed bytes from old, true when it is NULL there.
func (l *Layout) copyFixed(f, old []byte, col int) (null bool) {
	p := &l.cols[col]
	n := Columns(old)
	if col >= n {
		if p.missing == nil || p.missing.Null {
			return true
		}
		p.putFixed(f, *p.missing)
		return false
	}
	if isNull(old, col) {
		return true
	}
	at := headerSize + (n+7)>>3 + p.at
	copy(f, old[at:at+p.width])
	return false
}

// IsNull says whether a column is null. It decodes nothing.
func (l *Layout) IsNull(row []byte, col int) bool {
	if col >= Columns(row) {
		m := l.cols[col].missing
		return m == nil || m.Null
	}
	return isNull(row, col)
}

// rawVar returns the bytes that a row holds for a variable column.
func (l *Layout) rawVar(row []byte, col int) (b []byte, ref bool) {
	n := Columns(row)
	if col >= n {
		if m := l.cols[col].missing; m != nil && !m.Null {
			return m.B, false
		}
		return nil, false
	}
	from, to, ref := l.varRange(row, n, l.cols[col].at)
	return row[from:to:to], ref
}

// Large returns the reference of a column whose value is stored out of line; ok is false for any other column. Exec
// deletes the chunks of replaced values with it.
func (l *Layout) Large(row []byte, col int) (ref LargeRef, ok bool) {
	if l.cols[col].width > 0 || row[0]&wideOffsets == 0 || col >= Columns(row) {
		return LargeRef{}, false
	}
	b, large := l.rawVar(row, col)
	if !large || len(b) != 16 {
		return LargeRef{}, false
	}
	return LargeRef{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}, true
}

// HasLarge says whether any column of the row may be stored out of line.
func HasLarge(row []byte) bool { return len(row) > 0 && row[0]&wideOffsets != 0 }
