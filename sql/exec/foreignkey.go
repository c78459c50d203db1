package exec

import (
	"bytes"
	"strings"

	"herd/engine/lock"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/row"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

// Deferred collects the constraint checks that a transaction postpones to its end (DEFERRABLE INITIALLY DEFERRED, SET
// CONSTRAINTS). The session owns it and calls Run before COMMIT.
type Deferred struct {
	checks []func(*Env) error
	// All and Named say what SET CONSTRAINTS asked for: 0 as declared, 'd' deferred, 'i' immediate.
	All   byte
	Named map[types.OID]byte
}

// deferrable says whether the checks of a constraint wait for COMMIT now.
func (d *Deferred) deferrable(c *catalog.Constraint) bool {
	if d == nil || c == nil || !c.Deferrable {
		return false
	}
	mode := d.Named[c.OID]
	if mode == 0 {
		mode = d.All
	}
	if mode == 0 {
		return c.InitiallyDeferred
	}
	return mode == 'd'
}

// Run makes all postponed checks with a fresh environment; called inside COMMIT and by SET CONSTRAINTS IMMEDIATE.
func (d *Deferred) Run(e *Env) error {
	for i := 0; i < len(d.checks); i++ {
		if err := d.checks[i](e); err != nil {
			return err
		}
	}
	d.checks = d.checks[:0]
	return nil
}

// Pending says whether Run has anything to do; Reset forgets it (ROLLBACK).
func (d *Deferred) Pending() bool { return len(d.checks) > 0 }

// Reset forgets postponed checks and SET CONSTRAINTS at the end of a transaction.
func (d *Deferred) Reset() { *d = Deferred{checks: d.checks[:0]} }

// Len and Truncate let a savepoint forget the checks that were added after it.
func (d *Deferred) Len() int { return len(d.checks) }

// Truncate drops the checks after the first n.
func (d *Deferred) Truncate(n int) { d.checks = d.checks[:min(n, len(d.checks))] }

// atEnd runs a check at the end of the statement, or of the transaction when its constraint is deferred. The check gets the
// environment that is current then.
func (s *State) atEnd(c *catalog.Constraint, check func(*Env) error) {
	if d := s.env.Deferred; d.deferrable(c) {
		d.checks = append(d.checks, check)
		return
	}
	s.checks = append(s.checks, func() error { return check(s.env) })
}

// fkChild checks that the rows a table refers to exist.
type fkChild struct {
	w       *tableWriter
	fk      *plan.ForeignKey
	parent  []keyCol // key columns of the referenced index
	order   []int    // for each of them: position in Constraint.Cols
	tree    storage.TreeID
	viaRow  bool // the referenced index is the parent's primary key
	key     []byte
	last    []byte // key found last: rows in a row with one parent are checked once
	lastCmd uint32
	lastSet bool
}

func newFKChild(w *tableWriter, fk *plan.ForeignKey) *fkChild {
	c := &fkChild{w: w, fk: fk}
	c.parent, c.order, c.tree, c.viaRow = parentKey(fk)
	return c
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

// checkParents checks all foreign keys of the row in nb; those whose columns equal the old row's are skipped.
func (w *tableWriter) checkParents(nb, ob *vec.Batch) error {
	for _, c := range w.fks {
		if err := c.check(nb, ob); err != nil {
			return err
		}
	}
	return nil
}

func (c *fkChild) check(nb, ob *vec.Batch) error {
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
	key := c.key[:0]
	for i := range c.parent {
		v := vals[c.order[i]]
		if fitInt(c.parent[i].typ, v.I) != 0 && types.KindOf(c.parent[i].typ) == types.KindInt {
			return c.missing(vals)
		}
		key = c.parent[i].append(key, v)
	}
	c.key = key
	tx := c.w.tx()
	if c.lastSet && c.lastCmd == tx.Command() && bytes.Equal(key, c.last) {
		return nil
	}
	ok, err := c.lookup(c.w.st.env, key)
	if err != nil {
		return err
	}
	if ok {
		c.last, c.lastCmd, c.lastSet = append(c.last[:0], key...), tx.Command(), true
		return nil
	}
	// The parent may come later in this statement (or, deferred, in this transaction).
	saved := append([]byte(nil), key...)
	kept := make([]types.Datum, len(vals))
	for i := range vals {
		kept[i] = cloneDatum(vals[i])
	}
	childKey := c.w.currentKey(nb)
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

// currentKey returns the row key of the row just written from nb; nil for tables with hidden row ids, whose rows are taken to
// be still there.
func (w *tableWriter) currentKey(nb *vec.Batch) []byte {
	if w.pk == nil {
		return nil
	}
	k, err := w.rowKey(nil, nb, 0)
	if err != nil {
		return nil
	}
	return k
}

// still says whether the child row still refers to the missing parent when the check runs.
func (c *fkChild) still(e *Env, key []byte, vals []types.Datum) (bool, error) {
	if key == nil {
		return true, nil
	}
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

// fkParent carries out what a foreign key demands when a row that others may refer to goes away or changes its key.
type fkParent struct {
	w      *tableWriter
	fk     *plan.ForeignKey
	find   *childFinder
	parent []keyCol
	order  []int
	tree   storage.TreeID
	viaRow bool
	defs   []program // SET DEFAULT
}

func newFKParent(w *tableWriter, fk *plan.ForeignKey) (*fkParent, error) {
	p := &fkParent{w: w, fk: fk, find: newChildFinder(fk)}
	p.parent, p.order, p.tree, p.viaRow = parentKey(fk)
	c := w.st.compiler()
	for _, d := range fk.Defaults {
		x, err := c.optional(d)
		if err != nil {
			return nil, err
		}
		p.defs = append(p.defs, x)
	}
	return p, nil
}

// parentChanged handles the referencing tables after the row in ob was deleted (nb nil) or updated to nb.
func (w *tableWriter) parentChanged(ob, nb *vec.Batch, set []bool) error {
	for _, p := range w.refs {
		if nb != nil && !p.touched(set) {
			continue
		}
		if err := p.changed(ob, nb); err != nil {
			return err
		}
	}
	return nil
}

func (p *fkParent) touched(set []bool) bool {
	for _, a := range p.fk.Constraint.RefCols {
		if set[a-1] {
			return true
		}
	}
	return false
}

// changed looks for children at once; only when there are some is anything left to do at the end of the statement.
func (p *fkParent) changed(ob, nb *vec.Batch) error {
	con := p.fk.Constraint
	old := make([]types.Datum, len(con.RefCols))
	var now []types.Datum
	same := nb != nil
	for i, a := range con.RefCols {
		v, err := ob.Col(int(a) - 1)
		if err != nil {
			return err
		}
		if old[i] = cloneDatum(v.Datum(0)); old[i].Null {
			return nil
		}
		if nb == nil {
			continue
		}
		n, err := nb.Col(int(a) - 1)
		if err != nil {
			return err
		}
		now = append(now, cloneDatum(n.Datum(0)))
		coll := p.w.rel.Columns[a-1].Collation
		same = same && !now[i].Null && types.Compare(colType(p.w.rel, a), coll, old[i], now[i]) == 0
	}
	if same {
		return nil
	}
	any, err := p.find.any(p.w.st.env, old)
	if err != nil || !any {
		return err
	}
	action := con.OnDelete
	if nb != nil {
		action = con.OnUpdate
	}
	if action == 'r' {
		return p.violation(p.w.st.env, old)
	}
	check := func(e *Env) error { return p.act(e, action, nb == nil, old, now) }
	if action == 'a' || action == 0 {
		p.w.st.atEnd(con, check)
	} else {
		p.w.st.atEnd(nil, check)
	}
	return nil
}

// act runs at the end of the statement.
func (p *fkParent) act(e *Env, action byte, deleted bool, old, now []types.Datum) error {
	if action == 'a' || action == 0 {
		return p.noAction(e, old)
	}
	cw, err := p.w.st.writer(p.fk.ChildTable)
	if err != nil {
		return err
	}
	return p.find.each(e, old, func(key, r []byte) error {
		if err := p.visible(e, key, r); err != nil {
			return err
		}
		if action == 'c' && deleted {
			return cw.cascadeDelete(key)
		}
		cols := p.fk.Constraint.Cols
		if deleted && action != 'c' && len(p.fk.Constraint.OnDeleteCols) > 0 {
			cols = p.fk.Constraint.OnDeleteCols
		}
		vals := make([]types.Datum, len(cols))
		for i := range vals {
			switch {
			case action == 'c':
				vals[i] = now[i]
			case action == 'n':
				vals[i] = types.NullDatum
			default:
				if vals[i], err = p.defaultOf(cols[i]); err != nil {
					return err
				}
			}
		}
		return cw.cascadeUpdate(key, cols, vals)
	})
}

// defaultOf evaluates the default of a child column.
func (p *fkParent) defaultOf(attno int16) (types.Datum, error) {
	for i, a := range p.fk.Constraint.Cols {
		if a == attno && i < len(p.defs) && p.defs[i] != nil {
			d, err := evalOne(&frame{st: p.w.st, n: 1}, p.defs[i])
			return cloneDatum(d), err
		}
	}
	return types.NullDatum, nil
}

// visible refuses, above READ COMMITTED, to act on a child row that the transaction's snapshot does not have as it is now.
func (p *fkParent) visible(e *Env, key, r []byte) error {
	if e.Tx.IsolationLevel() == ReadCommitted {
		return nil
	}
	if _, _, own, _ := e.Tx.Newest().GetOwn(p.fk.Child.TreeID, key); own {
		return nil
	}
	seen, ok, err := e.View.Get(p.fk.Child.TreeID, key)
	if err != nil {
		return err
	}
	if !ok || row.Stamp(seen) != row.Stamp(r) {
		return errConcurrent("update")
	}
	return nil
}

// noAction raises 23503 when children are still there and no row has taken over the key.
func (p *fkParent) noAction(e *Env, old []types.Datum) error {
	any, err := p.find.any(e, old)
	if err != nil || !any {
		return err
	}
	var key []byte
	for i := range p.parent {
		key = p.parent[i].append(key, old[p.order[i]])
	}
	_, back, err := e.Tx.NewestGet(p.tree, key)
	if err != nil || back {
		return err
	}
	return p.violation(e, old)
}

func (p *fkParent) violation(e *Env, old []types.Datum) error {
	names, texts := fkText(e, p.w.rel, p.fk.Constraint.RefCols, old)
	st := &State{env: e}
	return sqlerr.New(sqlerr.ForeignKeyViolation, "update or delete on table \"%s\" violates foreign key constraint \"%s\" on table \"%s\"", p.w.rel.Name, p.fk.Constraint.Name, p.fk.Child.Name).
		WithDetail("Key (%s)=(%s) is still referenced from table \"%s\".", names, texts, p.fk.Child.Name).
		WithTable(st.schemaName(p.fk.Child), p.fk.Child.Name).WithConstraint(p.fk.Constraint.Name)
}

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

// cascadeDelete deletes a child row, if it is still there.
func (w *tableWriter) cascadeDelete(key []byte) error {
	if err := w.claim(w.tree(), key); err != nil {
		return err
	}
	old, ok, err := w.tx().NewestGet(w.tree(), key)
	if err != nil || !ok {
		return err
	}
	return w.delete(key, old)
}

// cascadeUpdate sets columns of a child row, if it is still there.
func (w *tableWriter) cascadeUpdate(key []byte, cols []int16, vals []types.Datum) error {
	if err := w.claim(w.tree(), key); err != nil {
		return err
	}
	old, ok, err := w.tx().NewestGet(w.tree(), key)
	if err != nil || !ok {
		return err
	}
	set, row := make([]bool, len(w.rel.Columns)), make([]types.Datum, len(w.rel.Columns))
	for i, a := range cols {
		set[a-1], row[a-1] = true, vals[i]
	}
	return w.change(key, old, set, row)
}

// change writes a new version of old with the given columns set: generated columns, constraints, indexes, references.
func (w *tableWriter) change(key, old []byte, set []bool, vals []types.Datum) error {
	r, err := w.layout.Update(w.rowBuf[:0], w.tx().ID(), old, set, vals, w.large())
	w.rowBuf = r
	if err != nil {
		return err
	}
	if len(w.gens) > 0 {
		if r, err = w.generate(r); err != nil {
			return err
		}
		w.rowBuf = r
		for _, g := range w.node.Generated {
			set[g.Attno-1] = true
		}
	}
	if err := w.check(r); err != nil {
		return err
	}
	return w.update(key, old, r, set)
}

// deferUnique checks a deferrable unique index at the end: two entries with the columns prefix violate it.
func (s *State) deferUnique(w *tableWriter, ix *indexWriter, prefix []byte) {
	con := &catalog.Constraint{OID: ix.def.Constraint, Deferrable: true, InitiallyDeferred: ix.def.InitiallyDeferred}
	lo := append([]byte(nil), prefix...)
	vals := make([]types.Datum, len(ix.vals))
	for i, v := range ix.vals {
		if v.Null && !ix.def.NullsNotDistinct {
			return
		}
		vals[i] = cloneDatum(v)
	}
	s.atEnd(con, func(e *Env) error {
		if _, _, err := e.Tx.LockRow(ix.def.Tree, lo, lock.Update, lock.Wait); err != nil {
			return err
		}
		var c storage.Cursor
		c.Init(e.Tx.Newest(), ix.def.Tree, lo, successor(lo), false)
		defer c.Close()
		n := 0
		for n < 2 && c.Next() {
			n++
		}
		if err := c.Err(); err != nil || n < 2 {
			return err
		}
		st := w.st.env
		w.st.env = e
		defer func() { w.st.env = st }()
		copy(ix.vals, vals)
		return w.errUnique(ix)
	})
}
