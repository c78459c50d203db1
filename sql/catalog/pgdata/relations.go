package pgdata

import (
	"sync"

	"herd/sql/types"
)

// Relation is a system table, view, index or toast table that initdb makes.
type Relation struct {
	OID       types.OID
	Name      string
	Namespace types.OID
	RowType   types.OID // 0 for indexes and toast tables
	Kind      byte      // r table, v view, i index, t toast table
	Columns   []Column  // in order of number, without system columns; nil for indexes and toast tables
	ViewDef   string    // canonical SQL of a view, to be bound with search_path = pg_catalog; "" otherwise
}

// Column is one column of a system table or view.
type Column struct {
	Num       int16
	Name      string
	Type      types.OID
	Typmod    types.Typmod
	NotNull   bool
	Collation types.OID
}

type relationIndex struct {
	list   []Relation
	byOID  map[types.OID]*Relation
	byName map[string]*Relation
}

var loadRelations = sync.OnceValue(func() *relationIndex {
	x := &relationIndex{list: make([]Relation, 0, 420)}
	lines("pg_class", func(f []string) {
		x.list = append(x.list, Relation{OID: oid(f[0]), Name: f[1], Namespace: oid(f[2]), RowType: oid(f[3]), Kind: char(f[16])})
	})
	x.byOID = make(map[types.OID]*Relation, len(x.list))
	x.byName = make(map[string]*Relation, len(x.list))
	for i := range x.list {
		r := &x.list[i]
		x.byOID[r.OID] = r
		x.byName[r.Name] = r
	}
	lines("pg_attribute", func(f []string) {
		num := int16(number(f[5]))
		r := x.byOID[oid(f[0])]
		if num < 1 || r.Kind != 'r' && r.Kind != 'v' {
			return
		}
		r.Columns = append(r.Columns, Column{
			Num: num, Name: f[1], Type: oid(f[2]), Typmod: types.Typmod(number(f[8])), NotNull: yes(f[13]),
			Collation: oid(f[21]),
		})
	})
	lines("pg_rewrite", func(f []string) {
		if r := x.byOID[oid(f[2])]; f[1] == "_RETURN" {
			r.ViewDef = str(f[7])
		}
	})
	return x
})

// RelationByName returns a system table or view; names are unique across pg_catalog,
// information_schema and pg_toast. Nil when there is none.
func RelationByName(name string) *Relation { return loadRelations().byName[name] }

// RelationByOID returns a system relation, nil when there is none.
func RelationByOID(id types.OID) *Relation { return loadRelations().byOID[id] }

// Relations returns all system relations in order of object identifier.
func Relations() []Relation { return loadRelations().list }
