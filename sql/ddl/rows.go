package ddl

import (
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/row"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// scan calls f for every row of a table in the newest state. vals is reused by the next call; what it holds is not.
func (x *executor) scan(rel *catalog.Relation, f func(key []byte, vals []types.Datum) error) error {
	view := x.Tx.Newest()
	defer x.hold(view)()
	return x.scanView(view, rel, f)
}

// hold keeps a view's version until the returned function is called.
func (x *executor) hold(view storage.View) func() {
	if x.Hold == nil {
		return func() {}
	}
	return x.Hold(view)
}

// scanView is scan over a view that was taken, and is held, by the caller.
func (x *executor) scanView(view storage.View, rel *catalog.Relation, f func(key []byte, vals []types.Datum) error) error {
	d := newRowDecoder(view, rel)
	return x.scanRaw(view, rel, func(key, row []byte) error {
		if err := d.all(row); err != nil {
			return err
		}
		return f(key, d.vals)
	})
}

// scanRaw calls f for every stored row of a table.
func (x *executor) scanRaw(view storage.View, rel *catalog.Relation, f func(key, row []byte) error) error {
	var c storage.Cursor
	c.Init(view, rel.TreeID, nil, nil, false)
	defer c.Close()
	for n := 0; c.Next(); n++ {
		if err := x.interrupted(n); err != nil {
			return err
		}
		if err := f(c.Key(), c.Value()); err != nil {
			return err
		}
	}
	return c.Err()
}

// interrupted asks every 1,000th time whether the statement is to end.
func (x *executor) interrupted(n int) error {
	if n%1000 != 0 || x.Exec.Interrupt == nil {
		return nil
	}
	return x.Exec.Interrupt()
}

// rowDecoder decodes rows of a table, one at a time.
type rowDecoder struct {
	layout *row.Layout
	large  row.LargeReader
	vals   []types.Datum
}

func newRowDecoder(view storage.View, rel *catalog.Relation) *rowDecoder {
	return &rowDecoder{rel.Layout(), exec.NewLargeReader(view, rel), make([]types.Datum, len(rel.Columns))}
}

func (d *rowDecoder) all(r []byte) error {
	d.vals = d.vals[:d.layout.NumColumns()]
	return d.layout.DecodeAll(d.vals, r, d.large)
}

// some decodes only the columns with these attribute numbers.
func (d *rowDecoder) some(r []byte, attnos []int16) (err error) {
	for _, n := range attnos {
		if d.vals[n-1], err = d.layout.Decode(r, int(n-1), d.large); err != nil {
			return err
		}
	}
	return nil
}

// rowExprs evaluates bound expressions over a relation's rows.
type rowExprs struct {
	x  *executor
	ev *exec.Evaluator
}

func (x *executor) rowExprs(list []plan.Expr) (*rowExprs, error) {
	slots := make([]plan.Expr, len(list))
	for i, e := range list {
		e, err := planner.Evaluable(x.reader(), x.Bind, e)
		if err != nil {
			return nil, err
		}
		slots[i] = toSlots(e)
	}
	ev, err := exec.NewEvaluator(slots)
	return &rowExprs{x, ev}, err
}

func (r *rowExprs) row(vals []types.Datum) ([]types.Datum, error) { return r.ev.Row(r.x.Exec, vals) }

// newTrees makes a changed clone use new trees throughout, so that its rows can be written again.
func newTrees(rel *catalog.Relation) {
	rel.TreeID, rel.LargeTree = 0, 0
	for _, ix := range rel.AllIndexes() {
		ix.Tree = 0
	}
}

// checkRows verifies what an ALTER TABLE asks of existing rows: columns without nulls and checks.
func (x *executor) checkRows(rel *catalog.Relation, notNull []int16, checks []*catalog.Constraint) error {
	if len(notNull) == 0 && len(checks) == 0 {
		return nil
	}
	list := make([]plan.Expr, len(checks))
	for i, k := range checks {
		var err error
		if list[i], err = x.bindStored(rel, k.Expr, planner.UseCheck); err != nil {
			return err
		}
	}
	ev, err := x.rowExprs(list)
	if err != nil {
		return err
	}
	return x.scan(rel, func(_ []byte, vals []types.Datum) error {
		if err := x.nulls(rel, notNull, vals); err != nil {
			return err
		}
		if len(list) == 0 {
			return nil
		}
		out, err := ev.row(vals)
		if err != nil {
			return err
		}
		for i, v := range out {
			if !v.Null && !v.Bool() {
				return sqlerr.New(sqlerr.CheckViolation, "check constraint \"%s\" of relation \"%s\" is violated by some row", checks[i].Name, rel.Name).
					WithTable(x.schemaName(rel.Schema), rel.Name).WithConstraint(checks[i].Name)
			}
		}
		return nil
	})
}

// nulls fails when one of the columns is null.
func (x *executor) nulls(rel *catalog.Relation, attnos []int16, vals []types.Datum) error {
	for _, n := range attnos {
		if vals[n-1].Null {
			name := rel.Columns[n-1].Name
			return sqlerr.New(sqlerr.NotNullViolation, "column \"%s\" of relation \"%s\" contains null values", name, rel.Name).
				WithTable(x.schemaName(rel.Schema), rel.Name).WithColumn(name)
		}
	}
	return nil
}

// checkKey verifies that every row of a table has its parent.
func (x *executor) checkKey(rel *catalog.Relation, con *catalog.Constraint) error {
	ref, err := x.reader().RelationByOID(con.Ref)
	if err != nil {
		return err
	}
	var ix *catalog.Index
	for _, i := range ref.AllIndexes() {
		if i.OID == con.Index {
			ix = i
		}
	}
	if ix == nil {
		return sqlerr.Internal("index %d of foreign key \"%s\" does not exist", con.Index, con.Name)
	}
	tree := ix.Tree
	if ix.Primary {
		tree = ref.TreeID
	}
	casts, err := planner.ForeignKeyCasts(x.reader(), x.Bind, con, rel, ref)
	if err != nil {
		return err
	}
	conv, err := exec.NewKeyConverter(casts)
	if err != nil {
		return err
	}
	view := x.Tx.Newest()
	parent, child := make([]types.Datum, len(ix.Keys)), make([]types.Datum, len(con.Cols))
	entries := exec.NewEntryEncoder(ref, ix)
	var buf []byte
	return x.scan(rel, func(_ []byte, vals []types.Datum) error {
		nulls := 0
		for i, n := range con.Cols {
			child[i] = vals[n-1]
			if child[i].Null {
				nulls++
			}
		}
		if nulls == len(con.Cols) || nulls > 0 && con.Match != 'f' {
			return nil
		}
		if nulls > 0 {
			return x.keyError(rel, con).WithDetail("MATCH FULL does not allow mixing of null and nonnull key values.")
		}
		keys, known, err := conv.Convert(x.Exec, child)
		if err != nil {
			return err
		}
		for i := range keys {
			for k := range ix.Keys {
				if ix.Keys[k].Attno == con.RefCols[i] {
					parent[k] = keys[i]
				}
			}
		}
		if known {
			buf, _ = entries.Append(buf[:0], parent, nil)
			if _, found, err := view.Get(tree, buf); err != nil || found {
				return err
			}
		}
		names, values := "", ""
		for i, n := range con.Cols {
			if i > 0 {
				names, values = names+", ", values+", "
			}
			names += catalog.QuoteIdent(rel.Columns[n-1].Name)
			values += x.valueText(rel.Columns[n-1].Type, vals[n-1])
		}
		return x.keyError(rel, con).WithDetail("Key (%s)=(%s) is not present in table \"%s\".", names, values, ref.Name)
	})
}

func (x *executor) keyError(rel *catalog.Relation, con *catalog.Constraint) *sqlerr.Error {
	return sqlerr.New(sqlerr.ForeignKeyViolation, "insert or update on table \"%s\" violates foreign key constraint \"%s\"", rel.Name, con.Name).
		WithTable(x.schemaName(rel.Schema), rel.Name).WithConstraint(con.Name)
}
