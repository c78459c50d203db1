package exec

import (
	"herd/planner/plan"
	"herd/sql/row"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// childFinder finds the rows of a table that refer to a key: by an index whose leading columns are the foreign key's, by
// the primary key, or by reading the table.
type childFinder struct {
	fk     *plan.ForeignKey
	cols   []keyCol // leading columns of the index, nil: scan
	order  []int    // for each: position in Constraint.Cols
	tree   storage.TreeID
	viaRow bool
	// Types whose keys differ: up converts a child's values for the comparison, down the key looked up in the index.
	up, down *KeyConverter
}

func newChildFinder(fk *plan.ForeignKey) (*childFinder, error) {
	up, err := NewKeyConverter(fk.ToParent)
	if err != nil {
		return nil, err
	}
	f := childIndex(fk)
	f.up = up
	if f.cols != nil {
		f.down, err = NewKeyConverter(fk.ToChild)
	}
	return f, err
}

// childIndex finds the index of the foreign key's columns.
func childIndex(fk *plan.ForeignKey) *childFinder {
	f := &childFinder{fk: fk, tree: fk.Child.TreeID}
	ix := fk.ChildIndex
	if fk.ChildIsPK {
		ix, f.viaRow = fk.Child.PrimaryKey, true
	}
	if ix == nil {
		return f
	}
	if !f.viaRow {
		f.tree = ix.Tree
	}
	all := indexCols(fk.Child, ix)
	for i := range fk.Constraint.Cols {
		found := false
		if i < len(all) {
			for p, a := range fk.Constraint.Cols {
				if a == all[i].attno {
					f.order = append(f.order, p)
					found = true
				}
			}
		}
		if !found {
			return &childFinder{fk: fk, tree: fk.Child.TreeID}
		}
	}
	f.cols = all[:len(fk.Constraint.Cols)]
	return f
}

// any says whether a row refers to the key.
func (f *childFinder) any(e *Env, vals []types.Datum) (bool, error) {
	found := false
	err := f.walk(e, vals, func(_, _ []byte) bool {
		found = true
		return false
	})
	return found, err
}

// each calls fn for the rows that refer to the key; they are collected first, so that fn may change them.
func (f *childFinder) each(e *Env, vals []types.Datum, fn func(key, r []byte) error) error {
	var keys, rows [][]byte
	err := f.walk(e, vals, func(key, r []byte) bool {
		keys, rows = append(keys, append([]byte(nil), key...)), append(rows, r)
		return true
	})
	if err != nil {
		return err
	}
	for i := range keys {
		if err := fn(keys[i], rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// walk reads the newest state.
func (f *childFinder) walk(e *Env, vals []types.Datum, fn func(key, r []byte) bool) error {
	view := e.Tx.Newest()
	var lo, hi []byte
	if f.cols != nil {
		keys, known, err := f.down.Convert(e, vals)
		if err != nil && !outOfRange(err) {
			return err
		}
		if err != nil || !known {
			return nil // beyond the child's type: no row has it
		}
		for i := range f.cols {
			v := keys[f.order[i]]
			if types.KindOf(f.cols[i].typ) == types.KindInt && fitInt(f.cols[i].typ, v.I) != 0 {
				return nil
			}
			lo = f.cols[i].append(lo, v)
		}
		hi = successor(lo)
	}
	var c storage.Cursor
	c.Init(view, f.tree, lo, hi, false)
	defer c.Close()
	layout := f.fk.Child.Layout()
	for c.Next() {
		key, r := c.Key(), c.Value()
		if f.cols != nil && !f.viaRow {
			key = r
			var ok bool
			var err error
			if r, ok, err = view.Get(f.fk.Child.TreeID, key); err != nil {
				return err
			} else if !ok {
				continue
			}
		}
		if f.cols == nil || f.up != nil {
			same, err := f.refers(e, layout, r, vals)
			if err != nil {
				return err
			}
			if !same {
				continue
			}
		}
		if !fn(key, r) {
			return nil
		}
	}
	return c.Err()
}

// outOfRange says whether a key's cast failed since its value is outside of the child's type.
func outOfRange(err error) bool {
	switch sqlerr.From(err).Code {
	case sqlerr.NumericValueOutOfRange, sqlerr.DatetimeFieldOverflow:
		return true
	}
	return false
}

func (f *childFinder) refers(e *Env, l *row.Layout, r []byte, vals []types.Datum) (bool, error) {
	con := f.fk.Constraint
	own := make([]types.Datum, len(con.Cols))
	for i, a := range con.Cols {
		d, err := l.Decode(r, int(a)-1, nil)
		if err != nil || d.Null {
			return false, err
		}
		own[i] = d
	}
	keys, known, err := f.up.Convert(e, own)
	if err != nil || !known {
		return false, err
	}
	for i, a := range con.RefCols {
		rel, at := f.fk.Child, con.Cols[i]
		if f.up != nil {
			rel, at = f.fk.Parent, a
		}
		if types.Compare(colType(rel, at), rel.Columns[at-1].Collation, keys[i], vals[i]) != 0 {
			return false, nil
		}
	}
	return true, nil
}
