package key

import (
	"encoding/binary"

	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Reversible says whether DecodeKey gives back exactly what AppendKey was given for the type. The planner reads columns
// from a key only then.
func Reversible(t, collation types.OID) bool {
	switch t {
	case types.Int2OID, types.Int4OID, types.Int8OID, types.BoolOID, types.UUIDOID, types.DateOID, types.TimeOID, types.TimestampOID,
		types.TimestampTZOID, types.ByteaOID, types.OIDOID, types.MoneyOID, types.XID8OID, types.TIDOID, types.QCharOID,
		types.TextOID, types.VarcharOID, types.NameOID:
		return true
	}
	return t != types.JSONOID && types.KindOf(t) == types.KindInt
}

// Skippable says whether Skip finds the end of a key of the type: a column behind it can be read back.
func Skippable(t types.OID) bool {
	switch t {
	case types.TextOID, types.VarcharOID, types.NameOID, types.JSONOID, types.BPCharOID, types.ByteaOID, types.QCharOID, types.NumericOID:
		return true
	}
	return types.FixedWidth(t) != 0
}

func damaged() error { return sqlerr.New(sqlerr.IndexCorrupted, "index key is damaged") }

// DecodeKey reads the first column of b, of a reversible type, and returns the rest of b. The value does not alias b when
// the column is DESC or has escapes.
func DecodeKey(b []byte, t, collation types.OID, desc, nullsFirst bool) (d types.Datum, rest []byte, err error) {
	if len(b) == 0 {
		return d, nil, damaged()
	}
	if b[0] != value {
		return types.NullDatum, b[1:], nil
	}
	if !Reversible(t, collation) {
		return d, nil, sqlerr.Internal("column of type %d read back from a key", t)
	}
	b = b[1:]
	n, err := length(b, t, desc)
	if err != nil {
		return d, nil, err
	}
	v, rest := b[:n], b[n:]
	if desc {
		v = append([]byte(nil), v...)
		invert(v)
	}
	return decodeValue(v, t), rest, nil
}

// Skip returns what follows the first column of b, of a skippable type.
func Skip(b []byte, t types.OID, desc bool) (rest []byte, err error) {
	if len(b) == 0 {
		return nil, damaged()
	}
	if b[0] != value {
		return b[1:], nil
	}
	n, err := length(b[1:], t, desc)
	if err != nil {
		return nil, err
	}
	return b[1+n:], nil
}

// length returns the bytes of the value at the start of b.
func length(b []byte, t types.OID, desc bool) (int, error) {
	x := byte(0)
	if desc {
		x = 0xff
	}
	n := 0
	switch t {
	case types.TextOID, types.VarcharOID, types.NameOID, types.JSONOID, types.BPCharOID:
		for n < len(b) && b[n] != x {
			n++
		}
		n++
	case types.ByteaOID, types.QCharOID:
		for n+1 < len(b) && !(b[n] == x && b[n+1] == x) {
			if b[n] == x {
				n++
			}
			n++
		}
		n += 2
	case types.NumericOID:
		if len(b) == 0 {
			return 0, damaged()
		}
		c := b[0] ^ x
		n = 1
		if c == numPos || c == numNeg {
			end := x
			if c == numNeg {
				end = ^x
			}
			n = 4
			for n < len(b) && b[n] != end {
				n++
			}
			n++
		}
	case types.Float4OID:
		n = 8
	default:
		if n = types.FixedWidth(t); n == 0 {
			return 0, sqlerr.Internal("key column of type %d has no known length", t)
		}
	}
	if n > len(b) {
		return 0, damaged()
	}
	return n, nil
}

func decodeValue(v []byte, t types.OID) types.Datum {
	be := binary.BigEndian
	switch t {
	case types.Int8OID, types.TimestampOID, types.TimestampTZOID, types.TimeOID, types.MoneyOID:
		return types.Datum{I: int64(be.Uint64(v) ^ 1<<63)}
	case types.Int4OID, types.DateOID:
		return types.Datum{I: int64(int32(be.Uint32(v) ^ 1<<31))}
	case types.Int2OID:
		return types.Datum{I: int64(int16(be.Uint16(v) ^ 1<<15))}
	case types.BoolOID:
		return types.Datum{I: int64(v[0])}
	case types.UUIDOID:
		return types.Datum{B: v}
	case types.TextOID, types.VarcharOID, types.NameOID:
		return types.Datum{B: v[: len(v)-1 : len(v)-1]}
	case types.XID8OID:
		return types.Datum{I: int64(be.Uint64(v))}
	case types.TIDOID:
		return types.Datum{B: types.MakeTID(be.Uint32(v), be.Uint16(v[4:]))}
	case types.ByteaOID, types.QCharOID:
		out := make([]byte, 0, len(v)-2)
		for i := 0; i < len(v)-2; i++ {
			out = append(out, v[i])
			if v[i] == 0 {
				i++
			}
		}
		return types.Datum{B: out}
	}
	return types.Datum{I: int64(be.Uint32(v))}
}
