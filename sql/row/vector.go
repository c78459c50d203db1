package row

import (
	"encoding/binary"
	"math"

	"herd/sql/types"
	"herd/sql/vec"
)

// DecodeVector decodes one column of the selected rows (sel nil = all) into out, which it resets to len(rows) rows.
// Variable values are views over rows: out is valid as long as they are.
func (l *Layout) DecodeVector(rows [][]byte, sel []uint16, col int, out *vec.Vector, large LargeReader) error {
	p := &l.cols[col]
	if p.numeric && l.decimals(p, rows, sel, col, out) {
		return nil
	}
	out.Reset(p.kind, len(rows))
	if p.width == 0 {
		return l.decodeVar(rows, sel, col, out, large)
	}
	if sel == nil && l.fastFixed(p, rows, col, out) {
		return nil
	}
	if sel == nil {
		for i, r := range rows {
			l.decodeFixed(p, r, i, col, out)
		}
		return nil
	}
	for _, i := range sel {
		l.decodeFixed(p, rows[i], int(i), col, out)
	}
	return nil
}

// fastFixed decodes the common fixed columns in a tight loop over rows that all have the layout's column count; false when
// it does not apply (out may be partly written then).
func (l *Layout) fastFixed(p *place, rows [][]byte, col int, out *vec.Vector) bool {
	n := uint16(len(l.cols))
	at := headerSize + (len(l.cols)+7)>>3 + p.at
	nullByte, nullBit := headerSize+col>>3, byte(1)<<(col&7)
	switch {
	case p.kind == types.KindInt && p.width == 8:
		o := out.Int[:len(rows)]
		for i, r := range rows {
			if binary.LittleEndian.Uint16(r[1:]) != n {
				return false
			}
			if r[nullByte]&nullBit != 0 {
				out.SetNull(i)
				continue
			}
			o[i] = int64(binary.LittleEndian.Uint64(r[at:]))
		}
	case p.kind == types.KindInt && p.width == 4 && (p.typ == types.Int4OID || p.typ == types.DateOID):
		o := out.Int[:len(rows)]
		for i, r := range rows {
			if binary.LittleEndian.Uint16(r[1:]) != n {
				return false
			}
			if r[nullByte]&nullBit != 0 {
				out.SetNull(i)
				continue
			}
			o[i] = int64(int32(binary.LittleEndian.Uint32(r[at:])))
		}
	case p.kind == types.KindFloat && p.width == 8:
		o := out.Float[:len(rows)]
		for i, r := range rows {
			if binary.LittleEndian.Uint16(r[1:]) != n {
				return false
			}
			if r[nullByte]&nullBit != 0 {
				out.SetNull(i)
				continue
			}
			o[i] = math.Float64frombits(binary.LittleEndian.Uint64(r[at:]))
		}
	default:
		return false
	}
	return true
}

// decimals decodes a numeric stored as an integer into coefficients; false when a row lacks the column or has NaN.
func (l *Layout) decimals(p *place, rows [][]byte, sel []uint16, col int, out *vec.Vector) bool {
	n := uint16(len(l.cols))
	at := headerSize + (len(l.cols)+7)>>3 + p.at
	nullByte, nullBit := headerSize+col>>3, byte(1)<<(col&7)
	o := out.ResetDecimal(len(rows), p.scale)
	if sel != nil {
		for _, i := range sel {
			r := rows[i]
			if binary.LittleEndian.Uint16(r[1:]) != n {
				return false
			}
			if r[nullByte]&nullBit != 0 {
				out.SetNull(int(i))
				continue
			}
			if o[i] = int64(binary.LittleEndian.Uint64(r[at:])); o[i] == numericNaN {
				return false
			}
		}
		return true
	}
	for i, r := range rows {
		if binary.LittleEndian.Uint16(r[1:]) != n {
			return false
		}
		if r[nullByte]&nullBit != 0 {
			out.SetNull(i)
			continue
		}
		if o[i] = int64(binary.LittleEndian.Uint64(r[at:])); o[i] == numericNaN {
			return false
		}
	}
	return true
}

// decodeFixed is one row of a fixed column. The common widths come first.
func (l *Layout) decodeFixed(p *place, r []byte, i, col int, out *vec.Vector) {
	n := int(binary.LittleEndian.Uint16(r[1:]))
	if col >= n {
		setMissing(p, i, out)
		return
	}
	if r[headerSize+col>>3]&(1<<(col&7)) != 0 {
		out.SetNull(i)
		return
	}
	f := r[headerSize+(n+7)>>3+p.at:]
	switch p.kind {
	case types.KindInt:
		switch {
		case p.width == 8:
			out.Int[i] = int64(binary.LittleEndian.Uint64(f))
		case p.width == 4 && (p.typ == types.Int4OID || p.typ == types.DateOID):
			out.Int[i] = int64(int32(binary.LittleEndian.Uint32(f)))
		case p.width == 4:
			out.Int[i] = int64(binary.LittleEndian.Uint32(f))
		default:
			out.Int[i] = int64(int16(binary.LittleEndian.Uint16(f)))
		}
	case types.KindFloat:
		if p.width == 8 {
			out.Float[i] = math.Float64frombits(binary.LittleEndian.Uint64(f))
		} else {
			out.Float[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(f)))
		}
	case types.KindBool:
		out.Bool[i] = f[0] != 0
	default:
		if p.numeric {
			out.Finish(i, p.numericBytes(out.Start(), f))
		} else {
			out.SetVar(i, f[:p.width])
		}
	}
}

func setMissing(p *place, i int, out *vec.Vector) {
	if p.missing == nil {
		out.SetNull(i)
		return
	}
	out.SetDatum(i, *p.missing)
}

// decodeVar makes views over the rows; large and missing values go to the vector's arena.
func (l *Layout) decodeVar(rows [][]byte, sel []uint16, col int, out *vec.Vector, large LargeReader) error {
	p := &l.cols[col]
	out.SetBufs(rows)
	one := func(i int) error {
		r := rows[i]
		n := int(binary.LittleEndian.Uint16(r[1:]))
		if col >= n {
			setMissing(p, i, out)
			return nil
		}
		if r[headerSize+col>>3]&(1<<(col&7)) != 0 {
			out.SetNull(i)
			return nil
		}
		from, to, ref := l.varRange(r, n, p.at)
		if ref {
			b, err := readLarge(r[from:to], large)
			if err != nil {
				return err
			}
			out.Ref(i, b)
			return nil
		}
		out.SetView(i, uint32(i), from, to-from)
		return nil
	}
	if sel == nil {
		for i := range rows {
			if err := one(i); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range sel {
		if err := one(int(i)); err != nil {
			return err
		}
	}
	return nil
}
