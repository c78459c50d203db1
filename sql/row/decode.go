package row

import (
	"encoding/binary"
	"math"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/numeric"
)

// Decode returns the value of a column. Bytes alias the row, except for a numeric stored as an integer and a large value.
func (l *Layout) Decode(row []byte, col int, large LargeReader) (types.Datum, error) {
	p := &l.cols[col]
	n := Columns(row)
	if col >= n {
		if p.missing == nil {
			return types.NullDatum, nil
		}
		return *p.missing, nil
	}
	if isNull(row, col) {
		return types.NullDatum, nil
	}
	if p.width > 0 {
		at := headerSize + (n+7)>>3 + p.at
		return p.getFixed(row[at : at+p.width : at+p.width]), nil
	}
	from, to, ref := l.varRange(row, n, p.at)
	if ref {
		b, err := readLarge(row[from:to], large)
		return types.Datum{B: b}, err
	}
	return types.Datum{B: row[from:to:to]}, nil
}

// DecodeAll fills dst with the values of all columns.
func (l *Layout) DecodeAll(dst []types.Datum, row []byte, large LargeReader) error {
	for i := range l.cols {
		d, err := l.Decode(row, i, large)
		if err != nil {
			return err
		}
		dst[i] = d
	}
	return nil
}

func readLarge(ref []byte, large LargeReader) ([]byte, error) {
	if large == nil || len(ref) != 16 {
		return nil, sqlerr.Internal("read of a value stored out of line without a reader")
	}
	return large.ReadLarge(binary.LittleEndian.Uint64(ref), binary.LittleEndian.Uint64(ref[8:]))
}

func (p *place) getFixed(f []byte) types.Datum {
	switch p.kind {
	case types.KindBytes:
		if p.numeric {
			return types.Datum{B: p.numericBytes(make([]byte, 0, numeric.SmallSize), f)}
		}
		return types.Datum{B: f}
	case types.KindBool:
		return types.Datum{I: int64(f[0])}
	case types.KindFloat:
		if p.width == 4 {
			return types.Float(float64(math.Float32frombits(binary.LittleEndian.Uint32(f))))
		}
		return types.Datum{I: int64(binary.LittleEndian.Uint64(f))}
	}
	return types.Datum{I: p.getInt(f)}
}

func (p *place) getInt(f []byte) int64 {
	switch p.width {
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(f)))
	case 4:
		v := binary.LittleEndian.Uint32(f)
		if p.typ == types.Int4OID || p.typ == types.DateOID {
			return int64(int32(v))
		}
		return int64(v)
	}
	return int64(binary.LittleEndian.Uint64(f))
}

// numericBytes appends the value form of a numeric stored as an integer.
func (p *place) numericBytes(dst, f []byte) []byte {
	v := int64(binary.LittleEndian.Uint64(f))
	if v == numericNaN {
		return numeric.NotANumber.Encode(dst)
	}
	return numeric.AppendSmall(dst, v, p.scale)
}
