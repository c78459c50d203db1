package exec

import (
	"herd/planner/plan"
	"herd/sql/row"
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
}

func newChildFinder(fk *plan.ForeignKey) *childFinder {
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
		for i := range f.cols {
			v := vals[f.order[i]]
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
		if f.cols == nil {
			same, err := f.refers(layout, r, vals)
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

func (f *childFinder) refers(l *row.Layout, r []byte, vals []types.Datum) (bool, error) {
	for i, a := range f.fk.Constraint.Cols {
		d, err := l.Decode(r, int(a)-1, nil)
		if err != nil {
			return false, err
		}
		col := &f.fk.Child.Columns[a-1]
		if d.Null || types.Compare(colType(f.fk.Child, a), col.Collation, d, vals[i]) != 0 {
			return false, nil
		}
	}
	return true, nil
}
