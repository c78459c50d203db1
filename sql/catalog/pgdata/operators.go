package pgdata

import (
	"sync"

	"herd/sql/types"
)

// Operator is one row of pg_operator.
type Operator struct {
	OID       types.OID
	Name      string
	Namespace types.OID
	Owner     types.OID
	Kind      byte // b infix, l prefix
	CanMerge  bool
	CanHash   bool
	Left      types.OID // 0 for prefix operators
	Right     types.OID
	Result    types.OID
	Com       types.OID // commutator
	Negate    types.OID // negator
	Code      types.OID // function
	Restrict  types.OID // selectivity functions, such as eqsel (101)
	Join      types.OID
}

type operKey struct {
	name        string
	left, right types.OID
}

type operIndex struct {
	list    []Operator
	byOID   map[types.OID]*Operator
	byName  map[string][]*Operator
	byTypes map[operKey]*Operator
}

var loadOperators = sync.OnceValue(func() *operIndex {
	x := &operIndex{list: make([]Operator, 0, 800)}
	lines("pg_operator", func(f []string) {
		x.list = append(x.list, Operator{
			OID: oid(f[0]), Name: str(f[1]), Namespace: oid(f[2]), Owner: oid(f[3]), Kind: char(f[4]),
			CanMerge: yes(f[5]), CanHash: yes(f[6]), Left: oid(f[7]), Right: oid(f[8]), Result: oid(f[9]),
			Com: oid(f[10]), Negate: oid(f[11]), Code: oid(f[12]), Restrict: oid(f[13]), Join: oid(f[14]),
		})
	})
	x.byOID = make(map[types.OID]*Operator, len(x.list))
	x.byName = make(map[string][]*Operator, 128)
	x.byTypes = make(map[operKey]*Operator, len(x.list))
	for i := range x.list {
		o := &x.list[i]
		x.byOID[o.OID] = o
		x.byName[o.Name] = append(x.byName[o.Name], o)
		x.byTypes[operKey{o.Name, o.Left, o.Right}] = o
	}
	return x
})

// OperatorsByName returns all operators of a name, infix and prefix; all are in pg_catalog.
func OperatorsByName(name string) []*Operator { return loadOperators().byName[name] }

// OperatorByOID returns an operator, nil when there is none.
func OperatorByOID(id types.OID) *Operator {
	if o := loadOperators().byOID[id]; o != nil {
		return o
	}
	return loadMySQL().opOID[id]
}

// OperatorByTypes returns the operator with exactly these argument types (left 0 = prefix),
// nil when there is none.
func OperatorByTypes(name string, left, right types.OID) *Operator {
	return loadOperators().byTypes[operKey{name, left, right}]
}

// Operators returns all operators in order of object identifier.
func Operators() []Operator { return loadOperators().list }
