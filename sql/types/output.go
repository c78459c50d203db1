package types

import (
	"encoding/hex"
	"strconv"

	"herd/sql/types/datetime"
	"herd/sql/types/numeric"
)

// Output appends the text form of d, a non-NULL value of type t, as PostgreSQL prints it under the context's settings.
func Output(c *IOContext, dst []byte, t OID, d Datum) []byte {
	switch t {
	case Int4OID, Int8OID, Int2OID:
		return strconv.AppendInt(dst, d.I, 10)
	case TextOID, VarcharOID, BPCharOID, NameOID, JSONOID, JSONBOID, UnknownOID, CStringOID, RefcursorOID, XMLOID,
		PgNodeTreeOID, ACLItemOID, QCharOID, JSONPathOID, 3361, 3402, 5017:
		if t == QCharOID {
			return qcharOut(dst, d.B)
		}
		return append(dst, d.B...)
	case BoolOID:
		if d.I != 0 {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case Float8OID:
		return AppendFloat(dst, d.Float(), 64, c.ExtraFloatDigits)
	case Float4OID:
		return AppendFloat(dst, d.Float(), 32, c.ExtraFloatDigits)
	case NumericOID:
		return numeric.Decode(d.B).Append(dst)
	case DateOID:
		return datetime.AppendDate(dst, d.I, &c.Config)
	case TimeOID:
		return datetime.AppendTime(dst, d.I)
	case TimestampOID:
		return datetime.AppendTimestamp(dst, d.I, &c.Config)
	case TimestampTZOID:
		return datetime.AppendTimestampTZ(dst, d.I, &c.Config)
	case TimeTZOID:
		v, z := DecodeTimeTZ(d.B)
		return datetime.AppendTimeTZ(dst, v, z)
	case IntervalOID:
		return datetime.AppendInterval(dst, DecodeInterval(d.B), &c.Config)
	case ByteaOID:
		return byteaOut(dst, d.B, c.ByteaEscape)
	case UUIDOID:
		return AppendUUID(dst, d.B)
	}
	return outputMore(c, dst, t, d)
}

func outputMore(c *IOContext, dst []byte, t OID, d Datum) []byte {
	switch t {
	case OIDOID, XIDOID, CIDOID:
		return strconv.AppendUint(dst, uint64(uint32(d.I)), 10)
	case XID8OID:
		return strconv.AppendUint(dst, uint64(d.I), 10)
	case TIDOID:
		return tidOut(dst, d.B)
	case MoneyOID:
		return moneyOut(dst, d.I)
	case BitOID, VarbitOID:
		return bitOut(dst, d.B)
	case VoidOID:
		return dst
	case InetOID: // only made by functions about connections: the address as text
		return append(dst, d.B...)
	case RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID, RegclassOID, RegtypeOID, RegnamespaceOID, RegroleOID,
		RegcollationOID, 3734, 3769:
		return regOut(c, dst, t, OID(d.I))
	case RecordOID:
		return recordOut(c, dst, d.B)
	case Int2VectorOID, OIDVectorOID:
		return vectorOut(c, dst, d.B)
	}
	if ElemOf(t) != 0 {
		return arrayOut(c, dst, d.B)
	}
	if i, ok := c.info(t); ok {
		switch i.Kind {
		case 'b':
			return arrayOut(c, dst, d.B)
		case 'd':
			return Output(c, dst, i.Base, d)
		case 'e':
			return enumOut(c, dst, t, d.B)
		case 'c':
			return recordOut(c, dst, d.B)
		}
	}
	if KindOf(t) == KindInt {
		return strconv.AppendInt(dst, d.I, 10)
	}
	if b := BuiltinByOID(t); b != nil && b.Type == 'p' && len(d.B) > 6 {
		return arrayOut(c, dst, d.B) // anyarray and its kin in catalogs
	}
	return append(dst, d.B...)
}

// AppendUUID appends the usual text form of 16 bytes.
func AppendUUID(dst, b []byte) []byte {
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		const h = "0123456789abcdef"
		dst = append(dst, h[c>>4], h[c&15])
	}
	return dst
}

func byteaOut(dst, b []byte, escape bool) []byte {
	if !escape {
		dst = append(dst, '\\', 'x')
		return hex.AppendEncode(dst, b)
	}
	for _, c := range b {
		switch {
		case c == '\\':
			dst = append(dst, '\\', '\\')
		case c < 0x20 || c > 0x7e:
			dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
