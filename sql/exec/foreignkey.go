package exec

import (
	"bytes"
	"strings"

	"herd/engine/lock"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

// fkChild checks that the rows a table refers to exist.
type fkChild struct {
	w       *tableWriter
	fk      *plan.ForeignKey
	parent  []keyCol // key columns of the referenced index
	order   []int    // for each of them: position in Constraint.Cols
	tree    storage.TreeID
	viaRow  bool // the referenced index is the parent's primary key
	conv    *KeyConverter
	key     []byte
	last    []byte // key found last: rows in a row with one parent are checked once in a command
	lastTx  uint64
	lastCmd uint32
}

func newFKChild(w *tableWriter, fk *plan.ForeignKey) (*fkChild, error) {
	c := &fkChild{w: w, fk: fk}
	c.parent, c.order, c.tree, c.viaRow = parentKey(fk)
	var err error
	c.conv, err = NewKeyConverter(fk.ToParent)
	return c, err
}

// parentKey returns how the referenced key is encoded, and for each of its columns its position in the constraint.
func parentKey(fk *plan.ForeignKey) (cols []keyCol, order []int, tree storage.TreeID, viaRow bool) {
	ix := fk.ParentIndex
	if ix == nil || ix.Primary && !fk.Parent.HiddenRowID {
		ix, viaRow = fk.Parent.PrimaryKey, true
	}
	cols = indexCols(fk.Parent, ix)
	for _, k := range cols {
		for p, a := range fk.Constraint.RefCols {
			if a == k.attno {
				order = append(order, p)
			}
		}
	}
	if viaRow {
		return cols, order, fk.Parent.TreeID, true
	}
	return cols, order, ix.Tree, false
}

// checkParents checks all foreign keys of the row in nb, which was just written under key. Those whose columns equal the old
// row's are skipped, except that a row that moved takes a postponed check along: the check knows the row by its old key only.
func (w *tableWriter) checkParents(nb, ob *vec.Batch, key []byte, moved bool) error {
	for _, c := range w.fks {
		old := ob
		if moved && c.fk.Constraint.Deferrable {
			old = nil
		}
		if err := c.check(nb, old, key); err != nil {
			return err
		}
	}
	return nil
}

func (c *fkChild) check(nb, ob *vec.Batch, childKey []byte) error {
	con := c.fk.Constraint
	nulls, same := 0, ob != nil
	vals := make([]types.Datum, len(con.Cols))
	for i, a := range con.Cols {
		v, err := nb.Col(int(a) - 1)
		if err != nil {
			return err
		}
		vals[i] = v.Datum(0)
		if vals[i].Null {
			nulls++
		}
		if same {
			o, err := ob.Col(int(a) - 1)
			if err != nil {
				return err
			}
			same = equalDatum(types.KindOf(colType(c.w.rel, a)), vals[i], o.Datum(0))
		}
	}
	switch {
	case same:
		return nil
	case nulls == len(vals), nulls > 0 && con.Match != 'f':
		return nil
	case nulls > 0:
		return c.violation("MATCH FULL does not allow mixing of null and nonnull key values.")
	}
	keys, known, err := c.conv.Convert(c.w.st.env, vals)
	if err != nil {
		return err
	}
	if !known {
		return c.missing(vals)
	}
	key := c.key[:0]
	for i := range c.parent {
		v := keys[c.order[i]]
		if fitInt(c.parent[i].typ, v.I) != 0 && types.KindOf(c.parent[i].typ) == types.KindInt {
			return c.missing(vals)
		}
		key = c.parent[i].append(key, v)
	}
	c.key = key
	tx := c.w.tx()
	// A writer serves many executions of its statement, and commands count from the beginning of each transaction.
	if c.lastTx == tx.ID() && c.lastCmd == tx.Command() && bytes.Equal(key, c.last) {
		return nil
	}
	ok, err := c.lookup(c.w.st.env, key)
	if err != nil {
		return err
	}
	if ok {
		c.last, c.lastTx, c.lastCmd = append(c.last[:0], key...), tx.ID(), tx.Command()
		return nil
	}
	// The parent may come later in this statement (or, deferred, in this transaction).
	saved := append([]byte(nil), key...)
	kept := make([]types.Datum, len(vals))
	for i := range vals {
		kept[i] = cloneDatum(vals[i])
	}
	childKey = bytes.Clone(childKey)
	c.w.st.atEnd(con, func(e *Env) error {
		if still, err := c.still(e, childKey, kept); err != nil || !still {
			return err
		}
		ok, err := c.lookup(e, saved)
		if err != nil || ok {
			return err
		}
		return c.missingIn(e, kept)
	})
	return nil
}

// still says whether the child row still refers to the missing parent when the check runs.
func (c *fkChild) still(e *Env, key []byte, vals []types.Datum) (bool, error) {
	r, ok, err := e.Tx.NewestGet(c.w.tree(), key)
	if err != nil || !ok {
		return false, err
	}
	for i, a := range c.fk.Constraint.Cols {
		d, err := c.w.layout.Decode(r, int(a)-1, nil)
		if err != nil {
			return false, err
		}
		if !equalDatum(types.KindOf(colType(c.w.rel, a)), d, vals[i]) {
			return false, nil
		}
	}
	return true, nil
}

// equalDatum compares two values of a kind byte by byte.
func equalDatum(k types.Kind, a, b types.Datum) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	if k == types.KindBytes {
		return bytes.Equal(a.B, b.B)
	}
	return a.I == b.I
}

// lookup locks the parent row and says whether it exists in the newest state.
func (c *fkChild) lookup(e *Env, key []byte) (bool, error) {
	for range 100 { // a unique entry may move between its look-up and the lock
		rowKey := key
		if !c.viaRow {
			v, ok, err := e.Tx.NewestGet(c.tree, key)
			if err != nil || !ok {
				return false, err
			}
			rowKey = append([]byte(nil), v...)
		}
		if _, _, err := e.Tx.LockRow(c.fk.Parent.TreeID, rowKey, lock.KeyShare, lock.Wait); err != nil {
			return false, whileWaiting(err, "locking", rowKey, c.fk.Parent.Name)
		}
		_, ok, err := e.Tx.NewestGet(c.fk.Parent.TreeID, rowKey)
		if err != nil {
			return false, err
		}
		if c.viaRow {
			return ok, nil
		}
		v, same, err := e.Tx.NewestGet(c.tree, key)
		if err != nil {
			return false, err
		}
		if ok && same && bytes.Equal(v, rowKey) {
			return true, nil
		}
		if !same {
			return false, nil
		}
	}
	return false, errConcurrent("update")
}

func (c *fkChild) missing(vals []types.Datum) error { return c.missingIn(c.w.st.env, vals) }

func (c *fkChild) missingIn(e *Env, vals []types.Datum) error {
	names, texts := fkText(e, c.w.rel, c.fk.Constraint.Cols, vals)
	return c.violationIn(e, "Key ("+names+")=("+texts+") is not present in table \""+c.fk.Parent.Name+"\".")
}

func (c *fkChild) violation(detail string) error { return c.violationIn(c.w.st.env, detail) }

func (c *fkChild) violationIn(e *Env, detail string) error {
	st := &State{env: e}
	return sqlerr.New(sqlerr.ForeignKeyViolation, "insert or update on table \"%s\" violates foreign key constraint \"%s\"", c.w.rel.Name, c.fk.Constraint.Name).
		WithDetail("%s", detail).WithTable(st.schemaName(c.w.rel), c.w.rel.Name).WithConstraint(c.fk.Constraint.Name)
}

// fkText returns column names and values as messages show them.
func fkText(e *Env, rel *catalog.Relation, cols []int16, vals []types.Datum) (names, texts string) {
	st := &State{env: e}
	var n, t []string
	for i, a := range cols {
		n = append(n, rel.Columns[a-1].Name)
		t = append(t, st.text(colType(rel, a), vals[i]))
	}
	return strings.Join(n, ", "), strings.Join(t, ", ")
}
