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
	out.Reset(p.kind, len(rows))
	if p.width == 0 {
		return l.decodeVar(rows, sel, col, out, large)
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
