package pgdata

import (
	"sync"

	"herd/sql/types"
)

// Cast is one row of pg_cast.
type Cast struct {
	OID     types.OID
	Source  types.OID
	Target  types.OID
	Func    types.OID // 0 unless Method is 'f'
	Context byte      // i implicit, a assignment, e explicit
	Method  byte      // f function, b binary coercible, i through input and output
}

type castKey struct{ src, dst types.OID }

type castIndex struct {
	list     []Cast
	byTypes  map[castKey]*Cast
	bySource map[types.OID][]*Cast
}

var loadCasts = sync.OnceValue(func() *castIndex {
	x := &castIndex{list: make([]Cast, 0, 230)}
	lines("pg_cast", func(f []string) {
		x.list = append(x.list, Cast{oid(f[0]), oid(f[1]), oid(f[2]), oid(f[3]), char(f[4]), char(f[5])})
	})
	x.byTypes = make(map[castKey]*Cast, len(x.list))
	x.bySource = make(map[types.OID][]*Cast)
	for i := range x.list {
		c := &x.list[i]
		x.byTypes[castKey{c.Source, c.Target}] = c
		x.bySource[c.Source] = append(x.bySource[c.Source], c)
	}
	return x
})

// CastByTypes returns the row of pg_cast for two types, nil when there is none.
func CastByTypes(src, dst types.OID) *Cast { return loadCasts().byTypes[castKey{src, dst}] }

// Casts returns all rows of pg_cast.
func Casts() []Cast { return loadCasts().list }

// Pseudo-types that accept classes of types.
const (
	anyRange      types.OID = 3831
	anyMultirange types.OID = 4537
)

// IsBinaryCoercible reports whether a value of type src can be used as dst without
// conversion, as PostgreSQL's function of that name. The caller has replaced domains by their
// base type. lookup resolves user-defined types and may be nil.
func IsBinaryCoercible(src, dst types.OID, lookup func(types.OID) *Type) bool {
	if src == dst || dst == types.AnyOID || dst == types.AnyElementOID || dst == types.AnyCompatibleOID {
		return true
	}
	st := TypeByOID(src)
	if st == nil && lookup != nil {
		st = lookup(src)
	}
	if st != nil {
		switch dst {
		case types.AnyArrayOID, types.AnyCompatibleArrayOID:
			return st.IsTrueArray()
		case types.AnyEnumOID:
			return st.Type == 'e'
		case anyRange:
			return st.Type == 'r'
		case anyMultirange:
			return st.Type == 'm'
		case types.AnyNonArrayOID, types.AnyCompatibleNonArrayOID:
			return !st.IsTrueArray()
		case types.RecordOID:
			if st.Type == 'c' {
				return true
			}
		case types.RecordArrayOID:
			et := TypeByOID(st.Elem)
			if et == nil && lookup != nil {
				et = lookup(st.Elem)
			}
			if st.IsTrueArray() && et != nil && et.Type == 'c' {
				return true
			}
		}
	}
	c := CastByTypes(src, dst)
	return c != nil && c.Method == 'b' && c.Context == 'i'
}
