package ddl

import (
	"bytes"

	"herd/planner"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// indexBuild makes the entries of one index.
type indexBuild struct {
	x     *executor
	rel   *catalog.Relation
	ix    *catalog.Index
	exprs *rowExprs // expressions of keys in order, then the predicate; nil without any
	at    []int     // for each key its place among the expressions, -1 for a column
	pred  bool
	needs []int16 // attributes that entries are made of; nil with expressions: any
	vals  []types.Datum
	key   []byte
	val   []byte // row key, distinct
	enc   *exec.EntryEncoder
	sort  *exec.EntrySort // gathered entries; nil: none yet
}

func (x *executor) indexBuild(rel *catalog.Relation, ix *catalog.Index) (*indexBuild, error) {
	b := &indexBuild{x: x, rel: rel, ix: ix, vals: make([]types.Datum, len(ix.Keys)), at: make([]int, len(ix.Keys)), enc: exec.NewEntryEncoder(rel, ix)}
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
		for _, k := range ix.Keys {
			b.needs = append(b.needs, k.Attno)
		}
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
	b.key, enforced = b.enc.Append(b.key[:0], b.vals, rowKey)
	return b.key, enforced, true, nil
}

// gather keeps the entry of one row, if the index has one, for finish.
func (b *indexBuild) gather(rowKey []byte, vals []types.Datum) error {
	key, enforced, ok, err := b.entry(rowKey, vals)
	if err != nil || !ok {
		return err
	}
	if b.sort == nil {
		b.sort = exec.NewEntrySort(b.x.Exec)
	}
	b.val = append(append(b.val[:0], rowKey...), b.distinct(enforced))
	return b.sort.Add(key, b.val)
}

// distinct says in a byte whether another entry with the same values is an error.
func (b *indexBuild) distinct(enforced bool) byte {
	if enforced || b.ix.Unique && (b.ix.NullsNotDistinct || !hasNull(b.vals)) {
		return 1
	}
	return 0
}

// finish writes what was gathered, in the order of the index. The table's rows are in the newest state.
func (b *indexBuild) finish() error {
	if b.sort == nil {
		return nil
	}
	if err := b.sort.Start(); err != nil {
		return err
	}
	var last []byte // values of the last entry that is to be distinct
	for n := 0; ; n++ {
		key, val, err := b.sort.Next()
		if key == nil || err != nil {
			return err
		}
		if err := b.x.interrupted(n); err != nil {
			return err
		}
		rowKey := val[:len(val)-1]
		if val[len(val)-1] == 1 {
			values := key
			if b.ix.Deferrable { // the row key is behind them
				values = key[:len(key)-len(rowKey)]
			}
			if last != nil && bytes.Equal(values, last) {
				return b.duplicate(rowKey)
			}
			last = append(last[:0], values...)
		}
		if err := b.x.Tx.Put(b.ix.Tree, key, rowKey); err != nil {
			return err
		}
	}
}

// duplicate is the error about the row with a key, whose values another one has.
func (b *indexBuild) duplicate(rowKey []byte) error {
	view := b.x.Tx.Newest()
	r, found, err := view.Get(b.rel.TreeID, rowKey)
	if err != nil {
		return err
	}
	if !found {
		return sqlerr.Internal("the row of an entry of index \"%s\" is gone", b.ix.Name)
	}
	d := newRowDecoder(view, b.rel)
	if err := d.all(r); err != nil {
		return err
	}
	if _, _, _, err := b.entry(rowKey, d.vals); err != nil {
		return err
	}
	return b.x.duplicated(b.rel, b.ix, b.vals)
}

// close gives back what the gathered entries take.
func (b *indexBuild) close() {
	if b.sort != nil {
		b.sort.Close()
	}
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
	defer b.close()
	view := x.Tx.Newest()
	defer x.hold(view)()
	d := newRowDecoder(view, rel)
	rows := int64(0)
	err = x.scanRaw(view, rel, func(key, row []byte) error {
		if x.Progress != nil && rows%progressStep == 0 {
			x.Progress(rel.OID, ix.OID, rows)
		}
		rows++
		if err := b.decode(d, row); err != nil {
			return err
		}
		return b.gather(key, d.vals)
	})
	if err != nil {
		return err
	}
	return b.finish()
}

// decode makes d have what an entry needs of a row.
func (b *indexBuild) decode(d *rowDecoder, row []byte) error {
	if b.exprs != nil {
		return d.all(row)
	}
	return d.some(row, b.needs)
}

// progressStep is how many rows go by between two reports.
const progressStep = 1000
