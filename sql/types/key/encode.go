package key

import (
	"encoding/binary"
	"math"
	"math/big"

	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/types/json"
	"herd/sql/types/numeric"
)

func signed64(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(v)^1<<63)
}

func signed32(dst []byte, v int32) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(v)^1<<31)
}

// appendValue appends the ascending key of a non-NULL value.
func appendValue(dst []byte, t, collation types.OID, d types.Datum) []byte {
	switch t {
	case types.Int8OID, types.TimestampOID, types.TimestampTZOID, types.TimeOID, types.MoneyOID:
		return signed64(dst, d.I)
	case types.Int4OID, types.DateOID:
		return signed32(dst, int32(d.I))
	case types.Int2OID:
		return binary.BigEndian.AppendUint16(dst, uint16(d.I)^1<<15)
	case types.TextOID, types.VarcharOID, types.NameOID, types.JSONOID:
		return text(dst, d.B)
	case types.BPCharOID:
		return text(dst, types.TrimPad(d.B))
	case types.UUIDOID:
		return append(dst, d.B...)
	case types.NumericOID:
		return num(dst, d.B)
	case types.BoolOID:
		return append(dst, byte(d.I))
	case types.Float8OID, types.Float4OID:
		return float(dst, d.Float())
	case types.ByteaOID, types.QCharOID:
		return escaped(dst, d.B)
	case types.XID8OID:
		return binary.BigEndian.AppendUint64(dst, uint64(d.I))
	case types.IntervalOID:
		hi, lo := types.DecodeInterval(d.B).Span()
		return binary.BigEndian.AppendUint64(signed64(dst, hi), lo)
	case types.TimeTZOID:
		v, z := types.DecodeTimeTZ(d.B)
		return signed32(signed64(dst, v+int64(z)*datetime.Second), z)
	case types.JSONBOID:
		return jsonb(dst, d.B)
	case types.RecordOID:
		return record(dst, collation, d.B)
	case types.OIDVectorOID:
		dst = signed32(dst, int32(types.ReadArray(d.B).Len()))
		return array(dst, collation, d.B)
	case types.TIDOID:
		dst = binary.BigEndian.AppendUint32(dst, binary.LittleEndian.Uint32(d.B))
		return binary.BigEndian.AppendUint16(dst, binary.LittleEndian.Uint16(d.B[4:]))
	case types.BitOID, types.VarbitOID:
		return binary.BigEndian.AppendUint32(escaped(dst, d.B[4:]), uint32(types.BitLen(d.B)))
	}
	if types.KindOf(t) == types.KindInt {
		return binary.BigEndian.AppendUint32(dst, uint32(d.I)) // oid and its aliases
	}
	if types.ElemOf(t) != 0 {
		return array(dst, collation, d.B)
	}
	if b := types.BuiltinByOID(t); b == nil || b.Type == 'p' {
		return user(dst, collation, d.B)
	}
	return escaped(dst, d.B)
}

// user encodes a value of a user-defined type by its form: composite, enum or array.
func user(dst []byte, collation types.OID, b []byte) []byte {
	if types.LooksRecord(b) {
		return record(dst, collation, b)
	}
	if len(b) == 12 {
		return append(dst, b...)
	}
	return array(dst, collation, b)
}

// text ends with a zero byte, which no text contains.
func text(dst, b []byte) []byte { return append(append(dst, b...), 0) }

// escaped doubles zero bytes as 00 FF and ends with 00 00.
func escaped(dst, b []byte) []byte {
	for _, c := range b {
		dst = append(dst, c)
		if c == 0 {
			dst = append(dst, 0xff)
		}
	}
	return append(dst, 0, 0)
}

func float(dst []byte, f float64) []byte {
	u := math.Float64bits(f)
	switch {
	case math.IsNaN(f):
		u = math.MaxUint64
	case f == 0:
		u = 1 << 63
	case u>>63 == 0:
		u |= 1 << 63
	default:
		u = ^u
	}
	return binary.BigEndian.AppendUint64(dst, u)
}

// Classes of numerics in order.
const (
	numNegInf = iota + 1
	numNeg
	numZero
	numPos
	numPosInf
	numNaN
)

// num appends class, decimal exponent and pairs of digits; digits of a negative number are inverted.
func num(dst, b []byte) []byte {
	c, s, ok := numeric.SmallOf(b)
	if !ok {
		return numWide(dst, numeric.Decode(b))
	}
	if c == 0 {
		return append(dst, numZero)
	}
	u, class := uint64(c), byte(numPos)
	if c < 0 {
		u, class = -u, numNeg
	}
	var tmp [20]byte
	i := len(tmp)
	for u > 0 {
		i--
		tmp[i] = byte(u % 10)
		u /= 10
	}
	return digits(append(dst, class), tmp[i:], len(tmp)-i-s, class == numNeg)
}

func numWide(dst []byte, n numeric.Num) []byte {
	switch n.Kind() {
	case numeric.NaN:
		return append(dst, numNaN)
	case numeric.PosInf:
		return append(dst, numPosInf)
	case numeric.NegInf:
		return append(dst, numNegInf)
	}
	if n.Sign() == 0 {
		return append(dst, numZero)
	}
	d := new(big.Int).Abs(n.Coef()).Append(nil, 10)
	for i := range d {
		d[i] -= '0'
	}
	class := byte(numPos)
	if n.Sign() < 0 {
		class = numNeg
	}
	return digits(append(dst, class), d, len(d)-n.Scale(), class == numNeg)
}

// digits appends the exponent (the value is 0.d1d2d3... * 10**exp) and the digits in pairs, each plus one, ended by zero.
func digits(dst, d []byte, exp int, neg bool) []byte {
	for len(d) > 0 && d[len(d)-1] == 0 {
		d = d[:len(d)-1]
	}
	at := len(dst)
	e := uint32(exp + 1<<23)
	dst = append(dst, byte(e>>16), byte(e>>8), byte(e))
	for i := 0; i < len(d); i += 2 {
		p := d[i] * 10
		if i+1 < len(d) {
			p += d[i+1]
		}
		dst = append(dst, p+1)
	}
	dst = append(dst, 0)
	if neg {
		invert(dst[at:])
	}
	return dst
}

// array appends the elements, NULLs above values, then dimensions, lengths and lower bounds.
func array(dst []byte, collation types.OID, b []byte) []byte {
	a := types.ReadArray(b)
	for it := a.Iter(); it.Next(); {
		if it.Null {
			dst = append(dst, nullLast)
			continue
		}
		dst = appendValue(append(dst, value), a.Elem(), collation, types.DecodeValue(a.Elem(), it.Val))
	}
	dst = append(dst, listEnd, byte(a.NDim()))
	for i := range a.NDim() {
		dst = signed32(dst, int32(a.Dim(i)))
	}
	for i := range a.NDim() {
		dst = signed32(dst, int32(a.Lower(i)))
	}
	return dst
}

func record(dst []byte, collation types.OID, b []byte) []byte {
	for it := types.ReadRecord(b); it.Next(); {
		if it.Null {
			dst = append(dst, nullLast)
			continue
		}
		dst = appendValue(append(dst, value), it.Type, collation, it.Datum())
	}
	return append(dst, listEnd)
}

func jsonb(dst, b []byte) []byte {
	v, err := json.Parse(b)
	if err != nil {
		return escaped(dst, b)
	}
	if v.Kind == json.Array && len(v.Elems) == 0 {
		return append(dst, 0) // below everything at the top
	}
	return jsonValue(dst, v)
}

func jsonValue(dst []byte, v *json.Value) []byte {
	dst = append(dst, byte(v.Kind)+1)
	switch v.Kind {
	case json.String:
		return escaped(dst, v.Text)
	case json.Number:
		return num(dst, v.Num.Encode(nil))
	case json.Array, json.Object:
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(v.Elems)))
		for i, e := range v.Elems {
			if v.Kind == json.Object {
				dst = escaped(dst, v.Keys[i])
			}
			dst = jsonValue(dst, e)
		}
	}
	return dst
}
