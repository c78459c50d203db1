package types

import (
	"encoding/binary"
	"math"

	"herd/sql/types/datetime"
)

// FixedWidth returns the width in bytes of a type's values in rows and arrays, 0 for variable ones.
func FixedWidth(t OID) int {
	switch t {
	case BoolOID:
		return 1
	case Int2OID:
		return 2
	case Int4OID, DateOID, Float4OID, OIDOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID, RegclassOID,
		RegtypeOID, RegnamespaceOID, RegroleOID, RegcollationOID, 3734, 3769, XIDOID, CIDOID:
		return 4
	case Int8OID, Float8OID, TimeOID, TimestampOID, TimestampTZOID, XID8OID, MoneyOID:
		return 8
	case UUIDOID, IntervalOID:
		return 16
	case TimeTZOID:
		return 12
	case TIDOID:
		return 6
	}
	return 0
}

// unsigned32 says whether a 4-byte integer type is zero-extended.
func unsigned32(t OID) bool { return t != Int4OID && t != DateOID }

// EncodeValue appends d, a non-NULL value of type t, in the form that arrays and records hold.
func EncodeValue(dst []byte, t OID, d Datum) []byte {
	switch KindOf(t) {
	case KindBytes:
		return append(dst, d.B...)
	case KindBool:
		return append(dst, byte(d.I))
	case KindFloat:
		if t == Float4OID {
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(d.Float())))
		}
		return binary.LittleEndian.AppendUint64(dst, uint64(d.I))
	}
	switch FixedWidth(t) {
	case 2:
		return binary.LittleEndian.AppendUint16(dst, uint16(d.I))
	case 4:
		return binary.LittleEndian.AppendUint32(dst, uint32(d.I))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(d.I))
}

// DecodeValue reads what EncodeValue wrote; the result aliases b.
func DecodeValue(t OID, b []byte) Datum {
	switch KindOf(t) {
	case KindBytes:
		return Datum{B: b}
	case KindBool:
		if len(b) == 0 {
			return Datum{}
		}
		return Datum{I: int64(b[0])}
	case KindFloat:
		if t == Float4OID {
			return Float(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
		return Datum{I: int64(binary.LittleEndian.Uint64(b))}
	}
	switch FixedWidth(t) {
	case 2:
		return Datum{I: int64(int16(binary.LittleEndian.Uint16(b)))}
	case 4:
		v := binary.LittleEndian.Uint32(b)
		if unsigned32(t) {
			return Datum{I: int64(v)}
		}
		return Datum{I: int64(int32(v))}
	}
	return Datum{I: int64(binary.LittleEndian.Uint64(b))}
}

// EncodeInterval appends the value form of an interval.
func EncodeInterval(dst []byte, v datetime.Interval) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(v.Micros))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(v.Days))
	return binary.LittleEndian.AppendUint32(dst, uint32(v.Months))
}

// DecodeInterval reads the value form of an interval.
func DecodeInterval(b []byte) datetime.Interval {
	if len(b) < 16 {
		return datetime.Interval{}
	}
	return datetime.Interval{
		Micros: int64(binary.LittleEndian.Uint64(b)),
		Days:   int32(binary.LittleEndian.Uint32(b[8:])),
		Months: int32(binary.LittleEndian.Uint32(b[12:])),
	}
}

// EncodeTimeTZ appends the value form of a timetz: microseconds and seconds west of Greenwich.
func EncodeTimeTZ(dst []byte, micros int64, west int32) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(micros))
	return binary.LittleEndian.AppendUint32(dst, uint32(west))
}

// DecodeTimeTZ reads the value form of a timetz.
func DecodeTimeTZ(b []byte) (micros int64, west int32) {
	if len(b) < 12 {
		return 0, 0
	}
	return int64(binary.LittleEndian.Uint64(b)), int32(binary.LittleEndian.Uint32(b[8:]))
}
