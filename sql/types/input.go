package types

import (
	"herd/sql/sqlerr"
	"herd/sql/types/datetime"
	"herd/sql/types/numeric"
)

// Input converts text to a value of type t and applies the type modifier (-1 none) as an implicit cast does. The result
// may alias text. Errors are 22P02, 22003, 22007, 22008, 22001, 0A000 and the like.
func Input(c *IOContext, t OID, mod Typmod, text []byte) (Datum, error) {
	switch t {
	case Int4OID:
		v, err := ParseInt(text, 32)
		return Datum{I: v}, err
	case Int8OID:
		v, err := ParseInt(text, 64)
		return Datum{I: v}, err
	case Int2OID:
		v, err := ParseInt(text, 16)
		return Datum{I: v}, err
	case TextOID, RefcursorOID, PgNodeTreeOID, CStringOID, UnknownOID, ACLItemOID, 3361, 3402, 5017:
		return Datum{B: text}, ValidText(text)
	case VarcharOID, BPCharOID:
		if err := ValidText(text); err != nil {
			return Datum{}, err
		}
		return ApplyTypmod(t, mod, false, Datum{B: text})
	case NameOID:
		return Datum{B: ClipName(text)}, ValidText(text)
	case QCharOID:
		return Datum{B: qcharIn(text)}, nil
	case BoolOID:
		v, err := ParseBool(text)
		return Bool(v), err
	case Float8OID:
		f, err := ParseFloat(text, 64)
		return Float(f), err
	case Float4OID:
		f, err := ParseFloat(text, 32)
		return Float(f), err
	case NumericOID:
		n, err := numeric.Parse(text)
		if err == nil && mod >= 0 {
			n, err = numericTypmod(n, mod)
		}
		if err != nil {
			return Datum{}, err
		}
		return Datum{B: n.Encode(make([]byte, 0, numeric.SmallSize))}, nil
	case ByteaOID:
		b, err := byteaIn(text)
		return Datum{B: b}, err
	case UUIDOID:
		b, err := uuidIn(text)
		return Datum{B: b}, err
	case JSONOID:
		if err := ValidText(text); err != nil {
			return Datum{}, err
		}
		return Datum{B: text}, ValidJSON(text)
	case JSONBOID:
		if err := ValidText(text); err != nil {
			return Datum{}, err
		}
		b, err := CanonicalJSONB(nil, text)
		return Datum{B: b}, err
	}
	return inputMore(c, t, mod, text)
}

func inputMore(c *IOContext, t OID, mod Typmod, text []byte) (Datum, error) {
	switch t {
	case DateOID, TimeOID, TimestampOID, TimestampTZOID, TimeTZOID, IntervalOID:
		return inputTime(c, t, mod, text)
	case OIDOID, XIDOID, CIDOID:
		v, err := parseUint32(text, BuiltinByOID(t).SQL)
		return Datum{I: v}, err
	case XID8OID:
		v, err := parseXID8(text)
		return Datum{I: v}, err
	case TIDOID:
		return tidIn(text)
	case MoneyOID:
		v, err := moneyIn(text)
		return Datum{I: v}, err
	case BitOID, VarbitOID:
		return bitIn(t, mod, text)
	case JSONPathOID:
		if err := ValidText(text); err != nil {
			return Datum{}, err
		}
		b, err := jsonpathIn(text)
		return Datum{B: b}, err
	case VoidOID:
		return Datum{}, nil
	case RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID, RegclassOID, RegtypeOID, RegnamespaceOID, RegroleOID,
		RegcollationOID, 3734, 3769:
		v, err := regIn(c, t, text)
		return Datum{I: v}, err
	case RecordOID:
		return Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "input of anonymous composite types is not implemented")
	case Int2VectorOID, OIDVectorOID:
		return vectorIn(c, t, text)
	}
	if e := c.ElemType(t); e != 0 {
		return arrayIn(c, t, e, mod, text)
	}
	if i, ok := c.info(t); ok {
		switch i.Kind {
		case 'd':
			base, low := c.BaseType(t, -1)
			d, err := Input(c, base, low, text)
			if err == nil {
				err = c.CheckDomain(t, d)
			}
			return d, err
		case 'e':
			return enumIn(c, t, i, text)
		case 'c':
			return recordIn(c, i, text)
		}
	}
	if b := BuiltinByOID(t); b != nil && b.Type == 'p' {
		return Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "cannot accept a value of type %s", b.Name)
	}
	return Datum{}, c.unsupportedType(t)
}

func inputTime(c *IOContext, t OID, mod Typmod, text []byte) (Datum, error) {
	var v int64
	var err error
	switch t {
	case DateOID:
		v, err = datetime.ParseDate(text, &c.Config)
		return Datum{I: v}, err
	case TimeOID:
		v, err = datetime.ParseTime(text, &c.Config)
	case TimestampOID:
		v, err = datetime.ParseTimestamp(text, &c.Config)
	case TimestampTZOID:
		v, err = datetime.ParseTimestampTZ(text, &c.Config)
	case TimeTZOID:
		var z int32
		if v, z, err = datetime.ParseTimeTZ(text, &c.Config); err != nil {
			return Datum{}, err
		}
		return ApplyTypmod(t, mod, false, Datum{B: EncodeTimeTZ(nil, v, z)})
	case IntervalOID:
		iv, err := datetime.ParseInterval(text, &c.Config, int32(mod))
		if err != nil {
			return Datum{}, err
		}
		return ApplyTypmod(t, mod, false, Datum{B: EncodeInterval(nil, iv)})
	}
	if err != nil || mod < 0 {
		return Datum{I: v}, err
	}
	return ApplyTypmod(t, mod, false, Datum{I: v})
}
