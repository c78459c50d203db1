package exec

import (
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/types"
	"herd/sql/vec"
)

// indexEntry appends the key of an entry, see EntryEncoder.
func indexEntry(dst []byte, cols []keyCol, ix *catalog.Index, vals []types.Datum, rowKey []byte) ([]byte, bool) {
	null := false
	for i := range cols {
		null = null || vals[i].Null
		dst = cols[i].append(dst, vals[i])
	}
	if ix.Unique && !ix.Deferrable && (!null || ix.NullsNotDistinct) {
		return dst, true
	}
	return append(dst, rowKey...), false
}

// indexWriter maintains one secondary index of a table.
type indexWriter struct {
	def   *catalog.Index
	cols  []keyCol
	exprs []program // nil element: plain column
	pred  program
	needs map[int16]bool // attributes that the entry depends on
	vals  []types.Datum
	old   []byte
	key   []byte
}

func (c *compiler) indexWriter(rel *catalog.Relation, ix *catalog.Index, x *plan.IndexExprs) (*indexWriter, error) {
	w := &indexWriter{def: ix, cols: indexCols(rel, ix), needs: map[int16]bool{}, exprs: make([]program, len(ix.Keys)), vals: make([]types.Datum, len(ix.Keys))}
	for _, k := range ix.Keys {
		if k.Attno > 0 {
			w.needs[k.Attno] = true
		}
	}
	if x == nil {
		return w, nil
	}
	for i, e := range x.Exprs {
		if e == nil || ix.Keys[i].Attno > 0 {
			continue
		}
		p, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		w.exprs[i] = p
		w.cols[i].typ = e.T().Type
		if w.cols[i].coll == 0 {
			w.cols[i].coll = e.T().Collation
		}
		for _, s := range slotsOf(e) {
			w.needs[int16(s+1)] = true
		}
	}
	if x.Pred != nil {
		var err error
		if w.pred, err = c.compile(x.Pred); err != nil {
			return nil, err
		}
		for _, s := range slotsOf(x.Pred) {
			w.needs[int16(s+1)] = true
		}
	}
	return w, nil
}

// entry computes the key of row i of b (columns by attno-1); ok is false when a partial index does not have the row.
func (w *indexWriter) entry(dst []byte, st *State, b *vec.Batch, i int, rowKey []byte) (key []byte, enforced, ok bool, err error) {
	f := frame{st: st, b: b, n: b.N}
	sel := []uint16{uint16(i)}
	if w.pred != nil {
		v, err := w.pred.eval(&f, sel)
		if err != nil {
			return dst, false, false, err
		}
		if v.IsNull(i) || !v.Bool[v.At(i)] {
			return dst, false, false, nil
		}
	}
	for k := range w.cols {
		var v *vec.Vector
		if w.exprs[k] != nil {
			v, err = w.exprs[k].eval(&f, sel)
		} else {
			v, err = b.Col(int(w.cols[k].attno) - 1)
		}
		if err != nil {
			return dst, false, false, err
		}
		w.vals[k] = v.Datum(i)
	}
	key, enforced = indexEntry(dst, w.cols, w.def, w.vals, rowKey)
	return key, enforced, true, nil
}

// touches says whether changing the given attributes may change entries.
func (w *indexWriter) touches(set []bool) bool {
	for a := range w.needs {
		if set[a-1] {
			return true
		}
	}
	return false
}
