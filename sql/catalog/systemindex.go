package catalog

import (
	"strings"
	"sync"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// systemParts are the indexes and constraints of system catalogs. They exist for introspection
// only and are not in Relation.Indexes: access paths to catalogs are those of VirtualTable.
type systemParts struct {
	indexes     map[types.OID]*Index
	constraints map[types.OID]*Constraint
}

var loadSystemParts = sync.OnceValue(func() systemParts {
	p := systemParts{map[types.OID]*Index{}, map[types.OID]*Constraint{}}
	rows := pgdata.CatalogRows("pg_index")
	at := columnIndex(rows.Columns)
	for i := range rows.Len() {
		x := &Index{OID: fieldOID(rows, i, at["indexrelid"]), Rel: fieldOID(rows, i, at["indrelid"]), Method: "btree"}
		rel, table := pgdata.RelationByOID(x.OID), pgdata.RelationByOID(x.Rel)
		if rel == nil || table == nil {
			continue
		}
		x.Name = rel.Name
		x.Unique = fieldText(rows, i, at["indisunique"]) == "t"
		x.Primary = fieldText(rows, i, at["indisprimary"]) == "t"
		collations := strings.Fields(fieldText(rows, i, at["indcollation"]))
		classes := strings.Fields(fieldText(rows, i, at["indclass"]))
		for j, f := range strings.Fields(fieldText(rows, i, at["indkey"])) {
			k := IndexKey{Attno: int16(parseOID(f)), Collation: parseOID(collations[j]), OpClass: parseOID(classes[j])}
			if n := int(k.Attno); n >= 1 && n <= len(table.Columns) {
				k.Type = table.Columns[n-1].Type
			}
			x.Keys = append(x.Keys, k)
		}
		p.indexes[x.OID] = x
	}
	p.loadConstraints()
	return p
})

func (p systemParts) loadConstraints() {
	rows := pgdata.CatalogRows("pg_constraint")
	at := columnIndex(rows.Columns)
	for i := range rows.Len() {
		k := &Constraint{
			OID: fieldOID(rows, i, at["oid"]), Name: fieldText(rows, i, at["conname"]), Type: fieldText(rows, i, at["contype"])[0],
			Rel: fieldOID(rows, i, at["conrelid"]), Index: fieldOID(rows, i, at["conindid"]), Validated: true,
			Expr: fieldText(rows, i, at["conbin"]),
		}
		if k.Rel == 0 {
			continue
		}
		for _, f := range strings.Split(strings.Trim(fieldText(rows, i, at["conkey"]), "{}"), ",") {
			k.Cols = append(k.Cols, int16(parseOID(f)))
		}
		p.constraints[k.OID] = k
		if x := p.indexes[k.Index]; x != nil {
			x.Constraint = k.OID
		}
	}
}

// fieldText reads a field of a catalog's rows, "" for NULL.
func fieldText(rows *pgdata.Rows, i, col int) string {
	s, _ := rows.Field(i, col)
	return s
}
