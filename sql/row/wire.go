package row

import (
	"encoding/binary"
	"strconv"

	"herd/sql/types"
	"herd/sql/types/numeric"
)

// AppendText appends column col as a DataRow field in text form: int32 length (-1 NULL) and the text. No allocation for
// the common types.
func (l *Layout) AppendText(dst, row []byte, col int, io *types.IOContext, large LargeReader) ([]byte, error) {
	p := &l.cols[col]
	n := Columns(row)
	if col >= n || isNull(row, col) {
		if col >= n && p.missing != nil && !p.missing.Null {
			return FieldText(dst, io, p.typ, *p.missing), nil
		}
		return append(dst, 0xff, 0xff, 0xff, 0xff), nil
	}
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if p.width == 0 {
		from, to, ref := l.varRange(row, n, p.at)
		b := row[from:to]
		if ref {
			var err error
			if b, err = readLarge(b, large); err != nil {
				return dst[:at], err
			}
		}
		switch p.typ {
		case types.TextOID, types.VarcharOID, types.BPCharOID, types.JSONOID, types.JSONBOID, types.NameOID:
			dst = append(dst, b...)
		default:
			dst = types.Output(io, dst, p.typ, types.Datum{B: b})
		}
		return finishField(dst, at), nil
	}
	f := row[headerSize+(n+7)>>3+p.at:]
	f = f[:p.width:p.width]
	switch {
	case p.numeric:
		if v := int64(binary.LittleEndian.Uint64(f)); v == numericNaN {
			dst = append(dst, "NaN"...)
		} else {
			dst = numeric.New(v, p.scale).Append(dst)
		}
	case p.kind == types.KindInt && (p.typ == types.Int4OID || p.typ == types.Int8OID || p.typ == types.Int2OID):
		dst = strconv.AppendInt(dst, p.getInt(f), 10)
	default:
		dst = types.Output(io, dst, p.typ, p.getFixed(f))
	}
	return finishField(dst, at), nil
}

// AppendBinary is AppendText in binary form.
func (l *Layout) AppendBinary(dst, row []byte, col int, io *types.IOContext, large LargeReader) ([]byte, error) {
	p := &l.cols[col]
	n := Columns(row)
	if col >= n || isNull(row, col) {
		if col >= n && p.missing != nil && !p.missing.Null {
			return FieldBinary(dst, io, p.typ, *p.missing), nil
		}
		return append(dst, 0xff, 0xff, 0xff, 0xff), nil
	}
	if p.numeric {
		at := len(dst)
		v := int64(binary.LittleEndian.Uint64(row[headerSize+(n+7)>>3+p.at:]))
		m := numeric.New(v, p.scale)
		if v == numericNaN {
			m = numeric.NotANumber
		}
		return finishField(m.AppendBinary(append(dst, 0, 0, 0, 0)), at), nil
	}
	d, err := l.Decode(row, col, large)
	if err != nil {
		return dst, err
	}
	return FieldBinary(dst, io, p.typ, d), nil
}

// FieldText appends d as a DataRow field in text form, NULL included.
func FieldText(dst []byte, io *types.IOContext, t types.OID, d types.Datum) []byte {
	if d.Null {
		return append(dst, 0xff, 0xff, 0xff, 0xff)
	}
	at := len(dst)
	return finishField(types.Output(io, append(dst, 0, 0, 0, 0), t, d), at)
}

// FieldBinary appends d as a DataRow field in binary form, NULL included.
func FieldBinary(dst []byte, io *types.IOContext, t types.OID, d types.Datum) []byte {
	if d.Null {
		return append(dst, 0xff, 0xff, 0xff, 0xff)
	}
	at := len(dst)
	return finishField(types.Send(io, append(dst, 0, 0, 0, 0), t, d), at)
}

func finishField(dst []byte, at int) []byte {
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
