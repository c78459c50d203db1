package pgdata

import (
	"sync"

	"herd/sql/types"
)

// Access methods.
const (
	BTree  types.OID = 403
	Hash   types.OID = 405
	GiST   types.OID = 783
	GIN    types.OID = 2742
	BRIN   types.OID = 3580
	SPGiST types.OID = 4000
	Heap   types.OID = 2
)

// Strategies of btree operator families, and of hash families (HashEqual).
const (
	BTLess         = 1
	BTLessEqual    = 2
	BTEqual        = 3
	BTGreaterEqual = 4
	BTGreater      = 5
	HashEqual      = 1
)

// Opclass is one row of pg_opclass.
type Opclass struct {
	OID       types.OID
	Method    types.OID
	Name      string
	Namespace types.OID
	Family    types.OID
	InType    types.OID
	Default   bool
	KeyType   types.OID
}

// Opfamily is one row of pg_opfamily.
type Opfamily struct {
	OID, Method types.OID
	Name        string
	Namespace   types.OID
}

// Amop is one row of pg_amop: an operator with its strategy in a family.
type Amop struct {
	Family, Left, Right types.OID
	Strategy            int
	Purpose             byte // s search, o ordering
	Operator, Method    types.OID
}

// AccessMethod is one row of pg_am.
type AccessMethod struct {
	OID     types.OID
	Name    string
	Handler types.OID
	Type    byte // i index, t table
}

type amKey struct {
	family, left, right types.OID
	num                 int
}

type opclassIndex struct {
	classes  []Opclass
	byOID    map[types.OID]*Opclass
	families map[types.OID]*Opfamily
	ops      map[types.OID][]*Amop
	members  map[amKey]types.OID
	procs    map[amKey]types.OID
	methods  []AccessMethod
}

var loadOpclasses = sync.OnceValue(func() *opclassIndex {
	x := &opclassIndex{
		byOID: make(map[types.OID]*Opclass), families: make(map[types.OID]*Opfamily),
		ops: make(map[types.OID][]*Amop), members: make(map[amKey]types.OID), procs: make(map[amKey]types.OID),
	}
	lines("pg_opclass", func(f []string) {
		x.classes = append(x.classes, Opclass{oid(f[0]), oid(f[1]), f[2], oid(f[3]), oid(f[5]), oid(f[6]), yes(f[7]), oid(f[8])})
	})
	for i := range x.classes {
		x.byOID[x.classes[i].OID] = &x.classes[i]
	}
	lines("pg_opfamily", func(f []string) {
		x.families[oid(f[0])] = &Opfamily{oid(f[0]), oid(f[1]), f[2], oid(f[3])}
	})
	lines("pg_amop", func(f []string) {
		a := &Amop{oid(f[1]), oid(f[2]), oid(f[3]), number(f[4]), char(f[5]), oid(f[6]), oid(f[7])}
		x.ops[a.Operator] = append(x.ops[a.Operator], a)
		x.members[amKey{a.Family, a.Left, a.Right, a.Strategy}] = a.Operator
	})
	lines("pg_amproc", func(f []string) {
		x.procs[amKey{oid(f[1]), oid(f[2]), oid(f[3]), number(f[4])}] = oid(f[5])
	})
	lines("pg_am", func(f []string) {
		x.methods = append(x.methods, AccessMethod{oid(f[0]), f[1], oid(f[2]), char(f[3])})
	})
	return x
})

// OpclassByOID returns an operator class, nil when there is none.
func OpclassByOID(id types.OID) *Opclass { return loadOpclasses().byOID[id] }

// OpclassByName returns the operator class of a name for an access method, nil when there is none.
func OpclassByName(method types.OID, name string) *Opclass {
	x := loadOpclasses()
	for i := range x.classes {
		if c := &x.classes[i]; c.Method == method && c.Name == name {
			return c
		}
	}
	return nil
}

// Opclasses returns all operator classes.
func Opclasses() []Opclass { return loadOpclasses().classes }

// OpfamilyByOID returns an operator family, nil when there is none.
func OpfamilyByOID(id types.OID) *Opfamily { return loadOpclasses().families[id] }

// DefaultOpclass returns the default operator class of a type for an access method, nil when
// there is none: the class of the type itself, else of a type it is binary coercible to, a
// preferred one first. The caller has replaced domains by their base type; lookup resolves
// user-defined types and may be nil.
func DefaultOpclass(typ, method types.OID, lookup func(types.OID) *Type) *Opclass {
	var compatible, preferred *Opclass
	compatibles, preferreds := 0, 0
	x := loadOpclasses()
	t := TypeByOID(typ)
	if t == nil && lookup != nil {
		t = lookup(typ)
		for n := 0; t != nil && t.Type == 'd' && n < 64; n++ { // a domain has its base type's
			if typ, t = t.BaseType, TypeByOID(t.BaseType); t == nil {
				t = lookup(typ)
			}
		}
	}
	for i := range x.classes {
		c := &x.classes[i]
		if c.Method != method || !c.Default {
			continue
		}
		if c.InType == typ {
			return c
		}
		if !IsBinaryCoercible(typ, c.InType, lookup) {
			continue
		}
		if in := TypeByOID(c.InType); t != nil && in != nil && in.Preferred && in.Category == t.Category {
			preferred = c
			preferreds++
		} else {
			compatible = c
			compatibles++
		}
	}
	if preferreds == 1 {
		return preferred
	}
	if preferreds == 0 && compatibles == 1 {
		return compatible
	}
	return nil
}

// AmopsOf returns the operator family memberships of an operator.
func AmopsOf(operator types.OID) []*Amop { return loadOpclasses().ops[operator] }

// AmopMember returns the operator of a family for two types and a strategy, 0 when there is none.
func AmopMember(family, left, right types.OID, strategy int) types.OID {
	return loadOpclasses().members[amKey{family, left, right, strategy}]
}

// Strategy returns an operator's search strategy in a family and its declared types.
func Strategy(operator, family types.OID) (strategy int, left, right types.OID, ok bool) {
	for _, a := range loadOpclasses().ops[operator] {
		if a.Family == family && a.Purpose == 's' {
			return a.Strategy, a.Left, a.Right, true
		}
	}
	return 0, 0, 0, false
}

// AmprocMember returns the support function of a family for two types, 0 when there is none.
func AmprocMember(family, left, right types.OID, num int) types.OID {
	return loadOpclasses().procs[amKey{family, left, right, num}]
}

// SortOperators returns the operators of the default btree class of a type: less, equal and
// greater; all 0 when the type cannot be sorted. lookup as in DefaultOpclass.
func SortOperators(typ types.OID, lookup func(types.OID) *Type) (less, equal, greater types.OID) {
	c := DefaultOpclass(typ, BTree, lookup)
	if c == nil {
		return 0, 0, 0
	}
	return AmopMember(c.Family, c.InType, c.InType, BTLess), AmopMember(c.Family, c.InType, c.InType, BTEqual),
		AmopMember(c.Family, c.InType, c.InType, BTGreater)
}

// AccessMethods returns the rows of pg_am.
func AccessMethods() []AccessMethod { return loadOpclasses().methods }

// AccessMethodByName returns an access method, nil when there is none.
func AccessMethodByName(name string) *AccessMethod {
	x := loadOpclasses()
	for i := range x.methods {
		if x.methods[i].Name == name {
			return &x.methods[i]
		}
	}
	return nil
}
