package exec

import (
	"herd/planner/plan"
	"herd/sql/types"
	"herd/sql/vec"
)

// copyWhere is the WHERE of COPY FROM: which rows of a batch are inserted.
type copyWhere struct {
	filter *filterProg
	row    vec.Batch // the new rows' columns in attribute order
	col    []int     // input column of each, -1: NULL
	one    [1]uint16
	sel    []uint16
	at     int   // row of the batch that the condition failed for
	err    error // and how
	failed bool  // err was returned
}

func newCopyWhere(st *State, m *plan.ModifyTable, where plan.Expr) (*copyWhere, error) {
	c := st.compiler()
	filter, err := c.filter(where)
	if err != nil {
		return nil, err
	}
	w := &copyWhere{filter: filter}
	for i := range m.Rel.Columns {
		w.col = append(w.col, -1)
		w.row.Cols = append(w.row.Cols, vec.NewConst(m.Rel.Layout().Type(i), types.NullDatum))
	}
	for i, a := range m.SetAttnos {
		w.col[a-1] = i
	}
	return w, nil
}

// run returns the rows of the batch to insert. When the condition fails for a row, those in front of it go in first, where
// one may have an error of its own; then comes the condition's.
func (w *copyWhere) run(st *State, b *vec.Batch) ([]uint16, error) {
	for i, k := range w.col {
		if k >= 0 {
			w.row.Cols[i] = b.Cols[k]
		}
	}
	w.row.N, w.row.Sel = b.N, nil
	f := frame{st: st, b: &w.row, n: b.N}
	sel, err := w.filter.run(&f, nil)
	if err == nil {
		return sel, nil
	}
	w.sel = w.sel[:0]
	for i := range b.N {
		w.one[0] = uint16(i)
		if sel, err = w.filter.run(&f, w.one[:]); err != nil {
			w.at, w.err = i, err
			break
		}
		w.sel = append(w.sel, sel...)
	}
	return w.sel, nil
}

// pending returns the error of the condition once the rows in front of its row are in.
func (w *copyWhere) pending() error {
	if w == nil || w.err == nil {
		return nil
	}
	w.failed = true
	return w.err
}
