package ddl

import (
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// typeClosure is a set of types and of those made of them.
type typeClosure struct {
	x   *executor
	set map[types.OID]bool
}

// grow adds the domains over types of the set, their array types and the row types that have columns of them; with columns false only the
// former two. It returns the first column of a table that holds such a value.
func (c *typeClosure) grow(columns bool) (rel *catalog.Relation, col *catalog.Column, err error) {
	for more := true; more; {
		more = false
		add := func(t types.OID) {
			if t != 0 && !c.set[t] {
				c.set[t], more = true, true
			}
		}
		err := c.x.reader().UserTypes(func(t *catalog.Type) bool {
			if c.set[t.OID] {
				add(t.Array)
			}
			if t.Type == 'd' && c.set[t.BaseType] || t.Elem != 0 && c.set[t.Elem] {
				add(t.OID)
			}
			return true
		})
		if err != nil || !columns {
			return nil, nil, err
		}
		err = c.x.reader().Relations(func(r *catalog.Relation) bool {
			for i := range r.Columns {
				f := &r.Columns[i]
				if f.Dropped || !c.set[f.Type] {
					continue
				}
				switch r.Kind {
				case catalog.KindTable, catalog.KindMatView:
					rel, col = r, f
					return false
				case catalog.KindComposite, catalog.KindView:
					add(r.RowType)
				}
			}
			return true
		})
		if err != nil || rel != nil {
			return rel, col, err
		}
	}
	return nil, nil, nil
}

// rowUnused demands that no table has values of a relation's row type: they would not change with it.
func (x *executor) rowUnused(rel *catalog.Relation) error {
	if rel.RowType == 0 {
		return nil
	}
	c := &typeClosure{x, map[types.OID]bool{rel.RowType: true}}
	user, col, err := c.grow(true)
	if err != nil || user == nil {
		return err
	}
	if rel.Kind == catalog.KindComposite {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type \"%s\" because column \"%s.%s\" uses it", rel.Name, user.Name, col.Name)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter table \"%s\" because column \"%s.%s\" uses its row type", rel.Name, user.Name, col.Name)
}

// domainUnnested demands that no table has values of a domain inside of rows or arrays of rows, which are not verified.
func (x *executor) domainUnnested(t *catalog.Type) error {
	d := &typeClosure{x, map[types.OID]bool{t.OID: true}}
	if _, _, err := d.grow(false); err != nil {
		return err
	}
	rows := &typeClosure{x, map[types.OID]bool{}}
	err := x.reader().Relations(func(r *catalog.Relation) bool {
		for i := range r.Columns {
			if r.Kind == catalog.KindComposite && !r.Columns[i].Dropped && d.set[r.Columns[i].Type] && r.RowType != 0 {
				rows.set[r.RowType] = true
			}
		}
		return true
	})
	if err != nil || len(rows.set) == 0 {
		return err
	}
	user, col, err := rows.grow(true)
	if err != nil || user == nil {
		return err
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type \"%s\" because column \"%s.%s\" uses it", t.Name, user.Name, col.Name)
}
