package types

import (
	"encoding/binary"
	"math"

	"herd/sql/sqlerr"
)

// EncodeEnum appends an enum value: its sort position in order-preserving form and the OID of its label, so that enum
// values compare as bytes. A label keeps its position for life: ALTER TYPE ... ADD VALUE takes one between two others.
func EncodeEnum(dst []byte, order float64, label OID) []byte {
	u := math.Float64bits(order)
	if u>>63 == 0 {
		u |= 1 << 63
	} else {
		u = ^u
	}
	dst = binary.BigEndian.AppendUint64(dst, u)
	return binary.BigEndian.AppendUint32(dst, uint32(label))
}

// EnumLabelOf returns the OID of the label of an enum value.
func EnumLabelOf(b []byte) OID {
	if len(b) != 12 {
		return 0
	}
	return OID(binary.BigEndian.Uint32(b[8:]))
}

func enumIn(c *IOContext, t OID, i TypeInfo, text []byte) (Datum, error) {
	order, label, ok := c.Catalog.EnumValue(t, string(text))
	if !ok {
		return Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input value for enum %s: \"%s\"", i.Name, text)
	}
	if err := c.CheckLabel(t, label, string(text)); err != nil {
		return Datum{}, err
	}
	return Datum{B: EncodeEnum(nil, order, label)}, nil
}

// CheckLabel refuses a label that the transaction has added to an enum type: other transactions do not know it, and it may not stay.
func (c *IOContext) CheckLabel(enum, label OID, text string) error {
	if !c.NewLabels[label] {
		return nil
	}
	return sqlerr.New(sqlerr.UnsafeNewEnumValueUsage, "unsafe use of new value \"%s\" of enum type %s", text, c.NameOf(enum)).
		WithHint("New enum values must be committed before they can be used.")
}

func enumOut(c *IOContext, dst []byte, t OID, b []byte) []byte {
	if s, ok := c.Catalog.EnumLabel(t, EnumLabelOf(b)); ok {
		return append(dst, s...)
	}
	return dst
}
