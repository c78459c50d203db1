package pgdata

import (
	"sync"

	"herd/sql/types"
)

// Schemas that initdb makes.
const (
	CatalogSchema     types.OID = 11    // pg_catalog
	ToastSchema       types.OID = 99    // pg_toast
	PublicSchema      types.OID = 2200  // public
	InformationSchema types.OID = 13207 // information_schema; checked by a test
)

// FirstUserOID is the lowest object identifier of user objects.
const FirstUserOID types.OID = 16384

// Type is one row of pg_type.
type Type struct {
	OID       types.OID
	Name      string
	Namespace types.OID
	Owner     types.OID
	Len       int16 // -1 variable, -2 null-terminated
	ByVal     bool
	Type      byte // b base, c composite, d domain, e enum, p pseudo, r range, m multirange
	Category  byte // typcategory
	Preferred bool
	Defined   bool
	Delim     byte
	Relid     types.OID // relation of a composite type
	Subscript types.OID // subscripting handler, 0 = cannot be subscripted
	Elem      types.OID // element type of arrays (and of name, point ... which are not true arrays)
	Array     types.OID // array type over this one
	Input     types.OID
	Output    types.OID
	Receive   types.OID
	Send      types.OID
	ModIn     types.OID
	ModOut    types.OID
	Analyze   types.OID
	Align     byte
	Storage   byte
	NotNull   bool         // domains
	BaseType  types.OID    // domains
	Typmod    types.Typmod // of BaseType for domains
	NDims     int
	Collation types.OID // 0 = not collatable
	Default   string    // text of the default; "" none
	ACL       string
	Labels    []EnumLabel // user enums, in sort order
	Checks    []TypeCheck // domains
	Version   uint64      // stamp of a user type's descriptor, 0 for built-in types
	Subtype   types.OID   // ranges and multiranges: the element type of the range
	Range     types.OID   // multiranges: their range; ranges: their multirange
}

// EnumLabel is one row of pg_enum.
type EnumLabel struct {
	OID  types.OID
	Name string
	Sort float64
}

// TypeCheck is a CHECK constraint of a domain; Expr is canonical SQL over VALUE.
type TypeCheck struct {
	OID       types.OID
	Name      string
	Expr      string
	Validated bool
}

// IsTrueArray tells a variable-length array type from fixed ones such as name and point.
func (t *Type) IsTrueArray() bool { return t.Elem != 0 && t.Len == -1 && t.Subscript == arraySubscript }

// arraySubscript is array_subscript_handler.
const arraySubscript types.OID = 6179

// Range is one row of pg_range.
type Range struct {
	Type, Subtype, Multirange, Collation, Opclass, Canonical, Subdiff types.OID
}

type typeIndex struct {
	list   []Type
	byOID  map[types.OID]*Type
	byName map[string][]*Type
	ranges []Range
}

var loadTypes = sync.OnceValue(func() *typeIndex {
	x := &typeIndex{list: make([]Type, 0, 640)}
	lines("pg_type", func(f []string) {
		x.list = append(x.list, Type{
			OID: oid(f[0]), Name: f[1], Namespace: oid(f[2]), Owner: oid(f[3]), Len: int16(number(f[4])),
			ByVal: yes(f[5]), Type: char(f[6]), Category: char(f[7]), Preferred: yes(f[8]), Defined: yes(f[9]),
			Delim: char(f[10]), Relid: oid(f[11]), Subscript: oid(f[12]), Elem: oid(f[13]), Array: oid(f[14]),
			Input: oid(f[15]), Output: oid(f[16]), Receive: oid(f[17]), Send: oid(f[18]), ModIn: oid(f[19]),
			ModOut: oid(f[20]), Analyze: oid(f[21]), Align: char(f[22]), Storage: char(f[23]), NotNull: yes(f[24]),
			BaseType: oid(f[25]), Typmod: types.Typmod(number(f[26])), NDims: number(f[27]), Collation: oid(f[28]),
			Default: str(f[30]), ACL: str(f[31]),
		})
	})
	x.byOID = make(map[types.OID]*Type, len(x.list))
	x.byName = make(map[string][]*Type, len(x.list))
	for i := range x.list {
		t := &x.list[i]
		x.byOID[t.OID] = t
		x.byName[t.Name] = append(x.byName[t.Name], t)
	}
	lines("pg_constraint", func(f []string) {
		if t := x.byOID[oid(f[8])]; t != nil {
			t.Checks = append(t.Checks, TypeCheck{OID: oid(f[0]), Name: f[1], Expr: str(f[25]), Validated: true})
		}
	})
	lines("pg_range", func(f []string) {
		r := Range{oid(f[0]), oid(f[1]), oid(f[2]), oid(f[3]), oid(f[4]), oid(f[5]), oid(f[6])}
		x.ranges = append(x.ranges, r)
		x.byOID[r.Type].Subtype, x.byOID[r.Type].Range = r.Subtype, r.Multirange
		x.byOID[r.Multirange].Subtype, x.byOID[r.Multirange].Range = r.Subtype, r.Type
	})
	return x
})

// TypeByOID returns a built-in type, nil when there is none. Row types of system catalogs
// are among them.
func TypeByOID(id types.OID) *Type { return loadTypes().byOID[id] }

// TypeByName returns the built-in type of a name in a schema, nil when there is none.
func TypeByName(schema types.OID, name string) *Type {
	for _, t := range loadTypes().byName[name] {
		if t.Namespace == schema {
			return t
		}
	}
	return nil
}

// Types returns all built-in types in order of object identifier.
func Types() []Type { return loadTypes().list }

// Ranges returns the rows of pg_range.
func Ranges() []Range { return loadTypes().ranges }
