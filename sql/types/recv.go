package types

import (
	"encoding/binary"
	"math"

	"herd/sql/sqlerr"
	"herd/sql/types/datetime"
	"herd/sql/types/numeric"
)

func badBinary() error {
	return sqlerr.New(sqlerr.InvalidBinaryRepresentation, "incorrect binary data format")
}

func shortBinary() error {
	return sqlerr.New(sqlerr.ProtocolViolation, "insufficient data left in message")
}

// Recv converts PostgreSQL's binary form to a value of type t and applies the type modifier. The result may alias bin.
// 22P03 when bin has the wrong length, 08P01 when it is too short.
func Recv(c *IOContext, t OID, mod Typmod, bin []byte) (Datum, error) {
	be := binary.BigEndian
	if w := binaryWidth(t); w != 0 && len(bin) != w {
		if len(bin) < w {
			return Datum{}, shortBinary()
		}
		return Datum{}, badBinary()
	}
	switch t {
	case Int4OID:
		return Datum{I: int64(int32(be.Uint32(bin)))}, nil
	case Int8OID, MoneyOID, XID8OID, Float8OID:
		return Datum{I: int64(be.Uint64(bin))}, nil
	case Int2OID:
		return Datum{I: int64(int16(be.Uint16(bin)))}, nil
	case BoolOID:
		return Bool(bin[0] != 0), nil
	case Float4OID:
		return Float(float64(math.Float32frombits(be.Uint32(bin)))), nil
	case OIDOID, XIDOID, CIDOID, RegclassOID, RegtypeOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID,
		RegnamespaceOID, RegroleOID, RegcollationOID, 3734, 3769:
		return Datum{I: int64(be.Uint32(bin))}, nil
	case TextOID, VarcharOID, BPCharOID, NameOID, JSONOID, UnknownOID, CStringOID, RefcursorOID:
		return Input(c, t, mod, bin)
	case ByteaOID, UUIDOID:
		return Datum{B: bin}, nil
	case JSONBOID:
		if len(bin) == 0 {
			return Datum{}, shortBinary()
		}
		if bin[0] != 1 {
			return Datum{}, sqlerr.Unsupported("jsonb version number %d", bin[0])
		}
		return Input(c, t, mod, bin[1:])
	case JSONPathOID:
		if len(bin) == 0 {
			return Datum{}, shortBinary()
		}
		if bin[0] != 1 {
			return Datum{}, sqlerr.New(sqlerr.InternalError, "unsupported jsonpath version number: %d", bin[0])
		}
		return Input(c, t, mod, bin[1:])
	case NumericOID:
		n, err := numeric.ParseBinary(bin)
		if err == nil && mod >= 0 {
			n, err = numericTypmod(n, mod)
		}
		if err != nil {
			return Datum{}, err
		}
		return Datum{B: n.Encode(nil)}, nil
	case QCharOID:
		if bin[0] == 0 {
			return Datum{}, nil
		}
		return Datum{B: bin}, nil
	}
	return recvMore(c, t, mod, bin)
}

// binaryWidth is FixedWidth in the binary protocol.
func binaryWidth(t OID) int {
	if t == QCharOID {
		return 1
	}
	return FixedWidth(t)
}

func recvMore(c *IOContext, t OID, mod Typmod, bin []byte) (Datum, error) {
	be := binary.BigEndian
	switch t {
	case DateOID:
		v := int64(int32(be.Uint32(bin)))
		if !datetime.ValidDate(v) {
			return Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range")
		}
		return Datum{I: v}, nil
	case TimestampOID, TimestampTZOID:
		v := int64(be.Uint64(bin))
		if !datetime.ValidTimestamp(v) {
			return Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
		}
		return ApplyTypmod(t, mod, false, Datum{I: v})
	case TimeOID:
		v := int64(be.Uint64(bin))
		if v < 0 || v > datetime.Day {
			return Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time out of range")
		}
		return ApplyTypmod(t, mod, false, Datum{I: v})
	case TimeTZOID:
		v, z := int64(be.Uint64(bin)), int32(be.Uint32(bin[8:]))
		if v < 0 || v > datetime.Day {
			return Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time out of range")
		}
		if z <= -16*3600 || z >= 16*3600 {
			return Datum{}, sqlerr.New(sqlerr.InvalidTimeZoneDisplacementValue, "time zone displacement out of range")
		}
		return ApplyTypmod(t, mod, false, Datum{B: EncodeTimeTZ(nil, v, z)})
	case IntervalOID:
		iv := datetime.Interval{Micros: int64(be.Uint64(bin)), Days: int32(be.Uint32(bin[8:])), Months: int32(be.Uint32(bin[12:]))}
		return ApplyTypmod(t, mod, false, Datum{B: EncodeInterval(nil, iv)})
	case TIDOID:
		return Datum{B: MakeTID(be.Uint32(bin), be.Uint16(bin[4:]))}, nil
	case BitOID, VarbitOID:
		if len(bin) < 4 {
			return Datum{}, shortBinary()
		}
		n := int(int32(be.Uint32(bin)))
		if n < 0 || (n+7)/8 != len(bin)-4 {
			return Datum{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid length in external bit string")
		}
		b := MakeBit(n)
		copy(b[4:], bin[4:])
		return ApplyTypmod(t, mod, false, Datum{B: ResizeBit(b, n)})
	case VoidOID:
		return Datum{}, nil
	case RecordOID:
		return recvRecord(c, nil, bin)
	}
	if e := c.ElemType(t); e != 0 {
		return recvArray(c, t, e, mod, bin)
	}
	if i, ok := c.info(t); ok {
		switch i.Kind {
		case 'd':
			base, low := c.BaseType(t, -1)
			d, err := Recv(c, base, low, bin)
			if err == nil {
				err = c.CheckDomain(t, d)
			}
			return d, err
		case 'e':
			return enumIn(c, t, i, bin)
		case 'c':
			return recvRecord(c, i.Fields, bin)
		}
	}
	return Datum{}, c.unsupportedType(t)
}

func recvArray(c *IOContext, t, elem OID, mod Typmod, bin []byte) (Datum, error) {
	be := binary.BigEndian
	if len(bin) < 12 {
		return Datum{}, shortBinary()
	}
	ndim, flags, got := int(int32(be.Uint32(bin))), be.Uint32(bin[4:]), OID(be.Uint32(bin[8:]))
	if ndim < 0 || ndim > MaxDim {
		return Datum{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid number of dimensions: %d", ndim)
	}
	if flags > 1 {
		return Datum{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid array flags")
	}
	if got != elem {
		return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			got, c.NameOf(got), elem, c.NameOf(elem))
	}
	bin = bin[12:]
	if len(bin) < 8*ndim {
		return Datum{}, shortBinary()
	}
	var lens, lowers []int
	n := 0
	for i := range ndim {
		l := int(int32(be.Uint32(bin[8*i:])))
		lens, lowers = append(lens, l), append(lowers, int(int32(be.Uint32(bin[8*i+4:]))))
		if n == 0 && i == 0 {
			n = 1
		}
		n *= l
	}
	bin = bin[8*ndim:]
	if err := CheckArraySize(lens); err != nil {
		return Datum{}, err
	}
	if n*4 > len(bin) {
		return Datum{}, shortBinary()
	}
	if n == 0 {
		if t == Int2VectorOID || t == OIDVectorOID {
			return Datum{B: MakeVector(elem, nil)}, nil
		}
		return Datum{B: EmptyArray(c.Stored(elem))}, nil
	}
	b := BuildArray(nil, c.Stored(elem), lens, lowers)
	for range n {
		d, rest, err := recvField(c, elem, mod, bin)
		if err != nil {
			return Datum{}, err
		}
		bin = rest
		b.Add(d)
	}
	if len(bin) != 0 {
		return Datum{}, badBinary()
	}
	return Datum{B: b.Buf}, nil
}

func recvField(c *IOContext, t OID, mod Typmod, bin []byte) (Datum, []byte, error) {
	if len(bin) < 4 {
		return Datum{}, nil, shortBinary()
	}
	l := int(int32(binary.BigEndian.Uint32(bin)))
	bin = bin[4:]
	if l < 0 {
		if err := c.checkNull(t); err != nil {
			return Datum{}, nil, err
		}
		return NullDatum, bin, nil
	}
	if l > len(bin) {
		return Datum{}, nil, shortBinary()
	}
	d, err := Recv(c, t, mod, bin[:l:l])
	return d, bin[l:], err
}

// recvRecord reads a record; fields nil accepts any column types.
func recvRecord(c *IOContext, fields []FieldInfo, bin []byte) (Datum, error) {
	if len(bin) < 4 {
		return Datum{}, shortBinary()
	}
	n := int(int32(binary.BigEndian.Uint32(bin)))
	bin = bin[4:]
	if n < 0 || n > 1664 || fields != nil && n != len(fields) {
		return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "wrong number of columns: %d, expected %d", n, len(fields))
	}
	rec := BuildRecord(nil, n)
	for i := range n {
		if len(bin) < 8 {
			return Datum{}, shortBinary()
		}
		t, mod := OID(binary.BigEndian.Uint32(bin)), Typmod(-1)
		if fields != nil {
			if t != fields[i].Type {
				return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "binary data has type %d (%s) instead of expected %d (%s) in record column %d",
					t, c.NameOf(t), fields[i].Type, c.NameOf(fields[i].Type), i+1)
			}
			mod = fields[i].Typmod
		}
		d, rest, err := recvField(c, t, mod, bin[4:])
		if err != nil {
			return Datum{}, err
		}
		bin = rest
		rec.Add(c.Stored(t), d)
	}
	return Datum{B: rec.Buf}, nil
}
