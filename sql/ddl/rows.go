package ddl

import (
	"bytes"
	"encoding/binary"

	"herd/planner"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/exec"
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
	vals := make([]types.Datum, len(rel.Columns))
	large := exec.NewLargeReader(view, rel)
	var c storage.Cursor
	c.Init(view, rel.TreeID, nil, nil, false)
	defer c.Close()
	for n := 0; c.Next(); n++ {
		if n%1000 == 0 && x.Exec.Interrupt != nil {
			if err := x.Exec.Interrupt(); err != nil {
				return err
			}
		}
		if err := rel.Layout().DecodeAll(vals, c.Value(), large); err != nil {
			return err
		}
		if err := f(c.Key(), vals); err != nil {
			return err
		}
	}
	return c.Err()
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

// indexBuild makes the entries of one index.
type indexBuild struct {
	x     *executor
	rel   *catalog.Relation
	ix    *catalog.Index
	exprs *rowExprs // expressions of keys in order, then the predicate; nil without any
	at    []int     // for each key its place among the expressions, -1 for a column
	pred  bool
	vals  []types.Datum
	key   []byte
}

func (x *executor) indexBuild(rel *catalog.Relation, ix *catalog.Index) (*indexBuild, error) {
	b := &indexBuild{x: x, rel: rel, ix: ix, vals: make([]types.Datum, len(ix.Keys)), at: make([]int, len(ix.Keys))}
	var list []plan.Expr
	for i, k := range ix.Keys {
		b.at[i] = -1
		if k.Attno > 0 {
			continue
		}
		e, err := x.bindStored(rel, k.Expr, planner.UseIndexExpr)
		if err != nil {
			return nil, err
		}
		b.at[i] = len(list)
		list = append(list, e)
	}
	if ix.Pred != "" {
		e, err := x.bindStored(rel, ix.Pred, planner.UseIndexPred)
		if err != nil {
			return nil, err
		}
		b.pred = true
		list = append(list, e)
	}
	if len(list) == 0 {
		return b, nil
	}
	var err error
	b.exprs, err = x.rowExprs(list)
	return b, err
}

// entry computes the key of one row's entry; ok is false when the index has none for it. It is valid until the next call.
func (b *indexBuild) entry(rowKey []byte, vals []types.Datum) (key []byte, enforced, ok bool, err error) {
	var ex []types.Datum
	if b.exprs != nil {
		if ex, err = b.exprs.row(vals); err != nil {
			return nil, false, false, err
		}
		if p := ex[len(ex)-1]; b.pred && (p.Null || !p.Bool()) {
			return nil, false, false, nil
		}
	}
	for i, k := range b.ix.Keys {
		if b.at[i] >= 0 {
			b.vals[i] = ex[b.at[i]]
		} else {
			b.vals[i] = vals[k.Attno-1]
		}
	}
	b.key, enforced = exec.IndexEntry(b.key[:0], b.rel, b.ix, b.vals, rowKey)
	return b.key, enforced, true, nil
}

// add writes the entry of one row, if the index has one.
func (b *indexBuild) add(rowKey []byte, vals []types.Datum) error {
	key, enforced, ok, err := b.entry(rowKey, vals)
	if err != nil || !ok {
		return err
	}
	if b.ix.Unique {
		dup, err := b.taken(key, enforced, rowKey)
		if err != nil {
			return err
		}
		if dup {
			return b.x.duplicated(b.rel, b.ix, b.vals)
		}
	}
	return b.x.Tx.Put(b.ix.Tree, key, rowKey)
}

// taken says whether another row has the key. Entries of a deferrable index end in the row key.
func (b *indexBuild) taken(key []byte, enforced bool, rowKey []byte) (bool, error) {
	if enforced {
		_, found, err := b.x.Tx.NewestGet(b.ix.Tree, key)
		return found, err
	}
	if !b.ix.Deferrable || hasNull(b.vals) && !b.ix.NullsNotDistinct {
		return false, nil
	}
	view := b.x.Tx.Newest()
	prefix := key[:len(key)-len(rowKey)]
	var c storage.Cursor
	c.Init(view, b.ix.Tree, prefix, nil, false)
	defer c.Close()
	found := c.Next() && bytes.HasPrefix(c.Key(), prefix)
	return found, c.Err()
}

func hasNull(vals []types.Datum) bool {
	for _, v := range vals {
		if v.Null {
			return true
		}
	}
	return false
}

// duplicated is the error about two rows with one key.
func (x *executor) duplicated(rel *catalog.Relation, ix *catalog.Index, vals []types.Datum) error {
	e := sqlerr.New(sqlerr.UniqueViolation, "could not create unique index \"%s\"", ix.Name)
	e.Detail = "Key " + x.keyText(rel, ix, vals) + " is duplicated."
	return e.WithTable(x.schemaName(rel.Schema), rel.Name).WithConstraint(ix.Name)
}

// keyText shows the columns and values of an index key: (a, b)=(1, x).
func (x *executor) keyText(rel *catalog.Relation, ix *catalog.Index, vals []types.Datum) string {
	names, values := "", ""
	for i, k := range ix.Keys {
		if i > 0 {
			names, values = names+", ", values+", "
		}
		typ := k.Type
		if c := rel.Column(k.Attno); c != nil {
			names, typ = names+catalog.QuoteIdent(c.Name), c.Type
		} else {
			names += k.Expr
		}
		values += x.valueText(typ, vals[i])
	}
	return "(" + names + ")=(" + values + ")"
}

func (x *executor) valueText(typ types.OID, v types.Datum) string {
	if v.Null {
		return "null"
	}
	return string(types.Output(x.Bind.IO, nil, typ, v))
}

// backfill makes the entries of a new index.
func (x *executor) backfill(rel *catalog.Relation, ix *catalog.Index) error {
	b, err := x.indexBuild(rel, ix)
	if err != nil {
		return err
	}
	rows := int64(0)
	return x.scan(rel, func(key []byte, vals []types.Datum) error {
		if x.Progress != nil && rows%progressStep == 0 {
			x.Progress(rel.OID, ix.OID, rows)
		}
		rows++
		return b.add(key, vals)
	})
}

// progressStep is how many rows go by between two reports.
const progressStep = 1000

// rewriteRows copies the rows that old has in a view, taken before its trees were dropped, to the new and empty trees of now.
// change turns an old row's values into those of now's columns; nil is no change. It must not keep vals.
func (x *executor) rewriteRows(view storage.View, old, now *catalog.Relation, change func(vals []types.Datum) ([]types.Datum, error)) error {
	var builds []*indexBuild
	for _, ix := range now.Indexes {
		if ix.State == catalog.IndexInvalid {
			continue
		}
		b, err := x.indexBuild(now, ix)
		if err != nil {
			return err
		}
		builds = append(builds, b)
	}
	w := &rowWriter{x: x, rel: now, builds: builds}
	return x.scanView(view, old, func(_ []byte, vals []types.Datum) error {
		for len(vals) < len(now.Columns) {
			v := types.NullDatum
			if m := now.Columns[len(vals)].Missing; m != nil { // a column added with a default by the same statement
				v = *m
			}
			vals = append(vals, v)
		}
		out := vals
		if change != nil {
			var err error
			if out, err = change(vals); err != nil {
				return err
			}
		}
		return w.write(out)
	})
}

// rowWriter writes complete rows to a table nobody else can see.
type rowWriter struct {
	x      *executor
	rel    *catalog.Relation
	builds []*indexBuild
	row    []byte
	key    []byte
	top    []byte // the highest key so far
	pk     []types.Datum
}

func (w *rowWriter) write(vals []types.Datum) error {
	tx := w.x.Tx
	var err error
	if w.row, err = w.rel.Layout().Encode(w.row[:0], tx.ID(), vals, exec.NewLargeWriter(tx, w.rel)); err != nil {
		return err
	}
	if pk := w.rel.PrimaryKey; pk != nil {
		w.pk = w.pk[:0]
		for _, k := range pk.Keys {
			w.pk = append(w.pk, vals[k.Attno-1])
		}
		w.key, _ = exec.IndexEntry(w.key[:0], w.rel, pk, w.pk, nil)
		if err := w.unique(pk); err != nil {
			return err
		}
	} else {
		w.key = binary.BigEndian.AppendUint64(w.key[:0], tx.NextRowID(w.rel.TreeID))
	}
	for _, b := range w.builds {
		if err := b.add(w.key, vals); err != nil {
			return err
		}
	}
	return tx.Put(w.rel.TreeID, w.key, w.row)
}

// unique fails when the row at hand has another one's primary key. Rows often come in the order of their keys: what is behind all
// others needs no look.
func (w *rowWriter) unique(pk *catalog.Index) error {
	if w.top == nil || bytes.Compare(w.key, w.top) > 0 {
		w.top = append(w.top[:0], w.key...)
		return nil
	}
	_, dup, err := w.x.Tx.Newest().Get(w.rel.TreeID, w.key)
	if err == nil && dup {
		err = w.x.duplicated(w.rel, pk, w.pk)
	}
	return err
}

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
			buf, _ = exec.IndexEntry(buf[:0], ref, ix, parent, nil)
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
