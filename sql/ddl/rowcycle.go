package ddl

import (
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// notItself fails when values of typ would hold rows of rel: a row type that contains itself, in whatever wrapping, has no
// layout. Everything that gives an existing relation a column of another type asks it.
func (x *executor) notItself(rel *catalog.Relation, typ types.OID) error {
	if typ < pgdata.FirstUserOID || rel.RowType == 0 {
		return nil
	}
	return x.holdsRow(rel, typ, map[types.OID]bool{})
}

// holdsRow looks for rel's row type in typ through arrays, domains, ranges and the columns of other row types.
func (x *executor) holdsRow(rel *catalog.Relation, typ types.OID, seen map[types.OID]bool) error {
	if typ == rel.RowType {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "composite type %s cannot be made a member of itself", x.typeText(typ))
	}
	if seen[typ] {
		return nil
	}
	seen[typ] = true
	t, err := x.typeInfo(typ)
	if err != nil {
		return err
	}
	for _, in := range []types.OID{t.BaseType, t.Elem} {
		if in != 0 {
			if err := x.holdsRow(rel, in, seen); err != nil {
				return err
			}
		}
	}
	if t.Relid == 0 {
		return nil
	}
	of, err := x.reader().RelationByOID(t.Relid)
	if of == nil || err != nil {
		return err
	}
	for i := range of.Columns {
		if c := &of.Columns[i]; !c.Dropped {
			if err := x.holdsRow(rel, c.Type, seen); err != nil {
				return err
			}
		}
	}
	return nil
}
