package planner

import (
	"strconv"
	"strings"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// Type categories of pg_type.typcategory that rules name.
const (
	catString  = 'S'
	catNumeric = 'N'
	catUnknown = 'X'
)

// Range pseudo-types that sql/types does not name.
const (
	anyRangeOID           types.OID = 3831
	anyMultirangeOID      types.OID = 4537
	anyCompatRangeOID     types.OID = 5080
	anyCompatMultiRange   types.OID = 4538
	anyEnumOID            types.OID = types.AnyEnumOID
	intervalInTypmodNone            = -1
	maxWalkDepth                    = 5000
	int4Max                         = 1<<31 - 1
	int4Min                         = -1 << 31
	boolTypmod                      = types.Typmod(-1)
	noTypmod                        = types.Typmod(-1)
	quotedDefaultCollName           = "\"default\""
)

// typ returns the description of a type; nil when it does not exist.
func (b *binder) typ(id types.OID) *pgdata.Type {
	if t := pgdata.TypeByOID(id); t != nil {
		return t
	}
	t, err := b.cat.TypeByOID(id)
	if err != nil {
		return nil
	}
	return t
}

// lookupType adapts typ to pgdata's callbacks.
func (b *binder) lookupType(id types.OID) *pgdata.Type { return b.typ(id) }

// baseType looks through domains.
func (b *binder) baseType(id types.OID) types.OID {
	base, _ := b.baseTypeMod(id, -1)
	return base
}

func (b *binder) baseTypeMod(id types.OID, mod types.Typmod) (types.OID, types.Typmod) {
	for range 64 {
		if id < pgdata.FirstUserOID && !isInfoSchemaDomain(id) {
			return id, mod
		}
		t := b.typ(id)
		if t == nil || t.Type != 'd' {
			return id, mod
		}
		mod = t.Typmod
		id = t.BaseType
	}
	return id, mod
}

// isInfoSchemaDomain: information_schema's domains are the only built-in ones, with OIDs from 13000 on.
func isInfoSchemaDomain(id types.OID) bool { return id >= 13000 }

func (b *binder) isDomain(id types.OID) bool {
	if id < 13000 {
		return false
	}
	t := b.typ(id)
	return t != nil && t.Type == 'd'
}

func (b *binder) category(id types.OID) (cat byte, preferred bool) {
	t := b.typ(id)
	if t == nil {
		return 0, false
	}
	return t.Category, t.Preferred
}

// elemType returns the element type of a true array (domains are not looked through), 0 otherwise.
func (b *binder) elemType(id types.OID) types.OID {
	t := b.typ(id)
	if t == nil || !t.IsTrueArray() {
		return 0
	}
	return t.Elem
}

// baseElemType looks through domains over arrays.
func (b *binder) baseElemType(id types.OID) types.OID { return b.elemType(b.baseType(id)) }

func (b *binder) arrayType(elem types.OID) types.OID {
	if t := b.typ(elem); t != nil {
		return t.Array
	}
	return 0
}

// isComplex says whether values of the type are rows of a named composite type.
func (b *binder) isComplex(id types.OID) bool {
	t := b.typ(b.baseType(id))
	return t != nil && t.Type == 'c'
}

func (b *binder) isRowType(id types.OID) bool { return id == types.RecordOID || b.isComplex(id) }

// typeCollation is the collation a value of the type has by default, 0 when it is not collatable.
func (b *binder) typeCollation(id types.OID) types.OID {
	switch id {
	case types.Int4OID, types.Int8OID, types.BoolOID, types.NumericOID, types.Float8OID, types.DateOID, types.TimestampOID:
		return 0
	case types.TextOID, types.VarcharOID, types.BPCharOID:
		return types.DefaultCollationOID
	}
	if t := b.typ(id); t != nil {
		return t.Collation
	}
	return 0
}

func isPolymorphic(t types.OID) bool { return isPolyElem(t) || isPolyCompat(t) }

func isPolyElem(t types.OID) bool {
	switch t {
	case types.AnyElementOID, types.AnyArrayOID, types.AnyNonArrayOID, anyEnumOID, anyRangeOID, anyMultirangeOID:
		return true
	}
	return false
}

func isPolyCompat(t types.OID) bool {
	switch t {
	case types.AnyCompatibleOID, types.AnyCompatibleArrayOID, types.AnyCompatibleNonArrayOID, anyCompatRangeOID, anyCompatMultiRange:
		return true
	}
	return false
}

// sqlNames are the spellings of format_type for types whose SQL name differs from typname.
var sqlNames = map[types.OID]string{
	types.BoolOID: "boolean", types.Int2OID: "smallint", types.Int4OID: "integer", types.Int8OID: "bigint",
	types.Float4OID: "real", types.Float8OID: "double precision", types.NumericOID: "numeric",
	types.BPCharOID: "character", types.VarcharOID: "character varying", types.QCharOID: `"char"`,
	types.TimeOID: "time without time zone", types.TimeTZOID: "time with time zone",
	types.TimestampOID: "timestamp without time zone", types.TimestampTZOID: "timestamp with time zone",
	types.BitOID: "bit", types.VarbitOID: "bit varying", types.IntervalOID: "interval",
}

// typeName is PostgreSQL's format_type_be: the name of a type for messages.
func (b *binder) typeName(id types.OID) string {
	if n, ok := sqlNames[id]; ok {
		return n
	}
	t := b.typ(id)
	if t == nil {
		if id == 0 {
			return "-"
		}
		return "???"
	}
	if t.IsTrueArray() {
		return b.typeName(t.Elem) + "[]"
	}
	if t.Namespace == pgdata.CatalogSchema || b.typeVisible(t) {
		return quoteIdent(t.Name)
	}
	return quoteIdent(b.schemaName(t.Namespace)) + "." + quoteIdent(t.Name)
}

// typeNameMod is typeName with the modifier, as format_type_with_typemod prints it.
func (b *binder) typeNameMod(id types.OID, mod types.Typmod) string {
	if mod < 0 {
		return b.typeName(id)
	}
	t := b.typ(id)
	if t != nil && t.IsTrueArray() {
		return b.typeNameMod(t.Elem, mod) + "[]"
	}
	n := int(mod)
	switch id {
	case types.BPCharOID, types.VarcharOID:
		return b.typeName(id) + "(" + strconv.Itoa(n-4) + ")"
	case types.NumericOID:
		p, s := (n-4)>>16&0xffff, (n-4)&0x7ff
		if s >= 1024 {
			s -= 2048
		}
		return "numeric(" + strconv.Itoa(p) + "," + strconv.Itoa(s) + ")"
	case types.BitOID, types.VarbitOID:
		return b.typeName(id) + "(" + strconv.Itoa(n) + ")"
	case types.TimeOID, types.TimestampOID, types.TimeTZOID, types.TimestampTZOID:
		name := b.typeName(id)
		head, tail, _ := strings.Cut(name, " ")
		return head + "(" + strconv.Itoa(n) + ") " + tail
	}
	return b.typeName(id)
}

// quoteIdent quotes an identifier when it needs it.
func quoteIdent(s string) string {
	safe := s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] == '_')
	for i := 0; safe && i < len(s); i++ {
		c := s[i]
		safe = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
	}
	if safe {
		if k := pgdata.KeywordByName(s); k != nil && k.Category != 'U' {
			safe = false
		}
	}
	if safe {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
