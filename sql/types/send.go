package types

import (
	"encoding/binary"
	"math"

	"herd/sql/types/numeric"
)

// Send appends PostgreSQL's binary form of d, a non-NULL value of type t. The catalog of c knows user-defined types; a nil c
// is for built-in ones.
func Send(c *IOContext, dst []byte, t OID, d Datum) []byte {
	be := binary.BigEndian
	switch t {
	case Int4OID, DateOID, OIDOID, XIDOID, CIDOID, RegclassOID, RegtypeOID, RegprocOID, RegprocedureOID, RegoperOID,
		RegoperatorOID, RegnamespaceOID, RegroleOID, RegcollationOID, 3734, 3769:
		return be.AppendUint32(dst, uint32(d.I))
	case Int8OID, TimeOID, TimestampOID, TimestampTZOID, MoneyOID, XID8OID:
		return be.AppendUint64(dst, uint64(d.I))
	case Float8OID:
		if f := d.Float(); f != f {
			return be.AppendUint64(dst, 0x7ff8<<48) // PostgreSQL's NaN
		}
		return be.AppendUint64(dst, uint64(d.I))
	case Int2OID:
		return be.AppendUint16(dst, uint16(d.I))
	case BoolOID:
		return append(dst, byte(d.I))
	case Float4OID:
		return be.AppendUint32(dst, math.Float32bits(float32(d.Float())))
	case NumericOID:
		return numeric.Decode(d.B).AppendBinary(dst)
	case JSONBOID, JSONPathOID:
		return append(append(dst, 1), d.B...)
	case QCharOID:
		if len(d.B) == 0 {
			return append(dst, 0)
		}
		return append(dst, d.B[0])
	case IntervalOID:
		v := DecodeInterval(d.B)
		dst = be.AppendUint64(dst, uint64(v.Micros))
		dst = be.AppendUint32(dst, uint32(v.Days))
		return be.AppendUint32(dst, uint32(v.Months))
	case TimeTZOID:
		v, z := DecodeTimeTZ(d.B)
		return be.AppendUint32(be.AppendUint64(dst, uint64(v)), uint32(z))
	case TIDOID:
		dst = be.AppendUint32(dst, binary.LittleEndian.Uint32(d.B))
		return be.AppendUint16(dst, binary.LittleEndian.Uint16(d.B[4:]))
	case BitOID, VarbitOID:
		dst = be.AppendUint32(dst, uint32(BitLen(d.B)))
		return append(dst, d.B[4:]...)
	case RecordOID:
		return sendRecord(c, dst, d.B)
	case VoidOID:
		return dst
	}
	if ElemOf(t) != 0 {
		return sendArray(c, dst, d.B)
	}
	if BuiltinByOID(t) != nil {
		return append(dst, d.B...)
	}
	if i, ok := c.info(t); ok {
		switch i.Kind {
		case 'b':
			return sendArray(c, dst, d.B)
		case 'c':
			return sendRecord(c, dst, d.B)
		case 'd':
			return Send(c, dst, i.Base, d)
		case 'e':
			return enumOut(c, dst, t, d.B)
		}
	}
	return append(dst, d.B...)
}

func sendArray(c *IOContext, dst, b []byte) []byte {
	be := binary.BigEndian
	a := ReadArray(b)
	flags := uint32(0)
	if a.HasNulls() {
		flags = 1
	}
	dst = be.AppendUint32(dst, uint32(a.ndim))
	dst = be.AppendUint32(dst, flags)
	dst = be.AppendUint32(dst, uint32(a.elem))
	for i := range a.ndim {
		dst = be.AppendUint32(dst, uint32(a.Dim(i)))
		dst = be.AppendUint32(dst, uint32(a.Lower(i)))
	}
	for it := a.Iter(); it.Next(); {
		if it.Null {
			dst = be.AppendUint32(dst, 0xffffffff)
			continue
		}
		dst = sendField(c, dst, a.elem, DecodeValue(a.elem, it.Val))
	}
	return dst
}

func sendField(c *IOContext, dst []byte, t OID, d Datum) []byte {
	at := len(dst)
	dst = Send(c, append(dst, 0, 0, 0, 0), t, d)
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

func sendRecord(c *IOContext, dst, b []byte) []byte {
	it := ReadRecord(b)
	dst = binary.BigEndian.AppendUint32(dst, uint32(it.N))
	for it.Next() {
		dst = binary.BigEndian.AppendUint32(dst, uint32(it.Type))
		if it.Null {
			dst = binary.BigEndian.AppendUint32(dst, 0xffffffff)
			continue
		}
		dst = sendField(c, dst, it.Type, it.Datum())
	}
	return dst
}
