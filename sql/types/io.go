package types

import (
	"herd/sql/sqlerr"
	"herd/sql/types/datetime"
)

// IOContext is what text input and output depend on: a session's settings and its view of the catalog.
type IOContext struct {
	// Config has DateStyle, IntervalStyle, the time zone and the clock.
	datetime.Config
	// ExtraFloatDigits is the setting extra_float_digits; positive means shortest exact form.
	ExtraFloatDigits int
	// ByteaEscape selects bytea_output = escape; false is hex.
	ByteaEscape bool
	// Catalog resolves names of reg* types and user-defined types. Nil: only built-in types and numeric reg* input.
	Catalog NameResolver
	// NewLabels are enum labels that the transaction has added to existing types.
	NewLabels map[OID]bool
}

// NewIOContext returns PostgreSQL's defaults: ISO, MDY, UTC, extra_float_digits 1.
func NewIOContext() *IOContext {
	return &IOContext{Config: datetime.Default(), ExtraFloatDigits: 1}
}

// FieldInfo is a column of a composite type.
type FieldInfo struct {
	Name   string
	Type   OID
	Typmod Typmod
}

// TypeInfo describes a type that is not built in.
type TypeInfo struct {
	Name   string
	Kind   byte // 'b' array over a user type, 'c' composite, 'd' domain, 'e' enum
	Elem   OID  // of an array
	Array  OID  // over this type
	Base   OID  // of a domain
	Typmod Typmod
	Fields []FieldInfo // of a composite; dropped columns left out
}

// NameResolver is the catalog as text input and output see it; session implements it over its snapshot.
type NameResolver interface {
	// TypeInfo describes a user-defined type.
	TypeInfo(t OID) (TypeInfo, bool)
	// RegIn resolves the text of a reg* type (kind is RegclassOID and so on) that is not a number.
	RegIn(kind OID, text string) (OID, error)
	// RegOut returns the name to show for an object, schema-qualified when the search path needs it; ok false when
	// there is no such object.
	RegOut(kind OID, object OID) (name string, ok bool)
	// EnumValue returns the sort position and OID of a label.
	EnumValue(enum OID, label string) (order float64, oid OID, ok bool)
	// EnumLabel returns the label with the OID.
	EnumLabel(enum OID, label OID) (string, bool)
}

// DomainChecker is implemented by a NameResolver that knows the constraints of domains. A value of a domain inside of a composite
// value or an array has to keep to them when it is read, since no cast comes after.
type DomainChecker interface {
	CheckDomain(domain OID, value Datum) error
}

// CheckDomain checks a value that becomes one of a domain.
func (c *IOContext) CheckDomain(domain OID, value Datum) error {
	if k, ok := c.Catalog.(DomainChecker); ok {
		return k.CheckDomain(domain, value)
	}
	return nil
}

// BaseType returns the type below t, which may be a domain over a domain, and the modifier of its values; t and mod when t is no domain.
// The constraints of all domains are checked together, see CheckDomain.
func (c *IOContext) BaseType(t OID, mod Typmod) (OID, Typmod) {
	for {
		if b := BuiltinByOID(t); b != nil && b.Type == 'b' {
			return t, mod
		}
		i, ok := c.info(t)
		if !ok || i.Kind != 'd' {
			return t, mod
		}
		if t = i.Base; i.Typmod >= 0 {
			mod = i.Typmod
		}
	}
}

// Stored returns the type that values of type t are kept as: below domains their base type.
func (c *IOContext) Stored(t OID) OID {
	t, _ = c.BaseType(t, -1)
	return t
}

// checkNull checks a null of type t, which a domain may refuse.
func (c *IOContext) checkNull(t OID) error {
	if b := BuiltinByOID(t); b != nil && b.Type == 'b' {
		return nil
	}
	if i, ok := c.info(t); ok && i.Kind == 'd' {
		return c.CheckDomain(t, NullDatum)
	}
	return nil
}

func (c *IOContext) info(t OID) (TypeInfo, bool) {
	if c == nil || c.Catalog == nil {
		return TypeInfo{}, false
	}
	return c.Catalog.TypeInfo(t)
}

// ElemType returns the element type of an array type, built in or not; 0 when t is no array.
func (c *IOContext) ElemType(t OID) OID {
	if e := ElemOf(t); e != 0 || BuiltinByOID(t) != nil {
		return e // point and its kin have elements but are no arrays
	}
	if i, ok := c.info(t); ok && i.Kind == 'b' {
		return i.Elem
	}
	return 0
}

// NameOf returns the type's name as PostgreSQL shows it in messages.
func (c *IOContext) NameOf(t OID) string {
	if b := BuiltinByOID(t); b != nil {
		return b.SQL
	}
	if i, ok := c.info(t); ok {
		return i.Name
	}
	return "???"
}

// unsupportedType is the error for a type without input and output here.
func (c *IOContext) unsupportedType(t OID) error {
	return sqlerr.Unsupported("type %s", c.NameOf(t))
}

func badSyntax(typ string, s []byte) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", typ, s)
}

func outOfRange(typ string, s []byte) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value \"%s\" is out of range for type %s", s, typ)
}
