package exec

import (
	"herd/engine/lock"
	"herd/planner/plan"
	"herd/sql/row"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

// Point is a named fast path: one table, one full primary key (or a short range of it). It gives the same results and errors
// as the general plan, without operators. A Point belongs to one session, like a State.
type Point struct {
	fast   *plan.FastPath
	st     *State
	layout *row.Layout
	cols   []keyCol
	keys   []pointKey
	key    []byte
	w      *tableWriter
	set    []program
	row    []program
	setA   []bool
	vals   []types.Datum
	b      vec.Batch // without columns, for expressions over parameters
	frame  frame     // of the expression that is evaluated
	old    *rowBatch

	cur    storage.Cursor
	open   bool
	left   int64
	limit  program
	lo, hi *boundProg
	rs     *rangeSet
}

// pointKey is one key column's value: a parameter or a constant.
type pointKey struct {
	param int // -1: constant
	value types.Datum
}

// NewPoint makes the fast path of a plan; nil when it has none that can run here.
func NewPoint(p *plan.Plan) *Point {
	f := p.Fast
	if f == nil || f.Rel.PrimaryKey == nil {
		return nil
	}
	t := &Point{fast: f, layout: f.Rel.Layout(), cols: indexCols(f.Rel, f.Rel.PrimaryKey)}
	t.st = &State{plan: p, works: map[*plan.RecursiveUnion]*recursiveOp{}, exec: make([]types.Datum, p.ExecParams), execSet: make([]bool, p.ExecParams)}
	for _, e := range f.Key {
		k, ok := pointKeyOf(e)
		if !ok {
			return nil
		}
		t.keys = append(t.keys, k)
	}
	if err := t.compile(); err != nil {
		return nil // the general plan raises the error where it belongs
	}
	return t
}

func pointKeyOf(e plan.Expr) (pointKey, bool) {
	switch e := e.(type) {
	case *plan.Param:
		return pointKey{param: e.Index}, true
	case *plan.Const:
		return pointKey{param: -1, value: e.Value}, true
	case *plan.Relabel:
		return pointKeyOf(e.Arg)
	}
	return pointKey{}, false
}

func (t *Point) compile() error {
	f := t.fast
	c := t.st.compiler()
	var err error
	if f.Kind == plan.FastRange {
		if t.limit, err = c.optional(f.Limit); err != nil {
			return err
		}
		t.rs, err = c.ranges(t.cols, []plan.KeyRange{{Eq: f.Key, In: -1, Lo: f.Lo, Hi: f.Hi}})
		return err
	}
	if f.Kind == plan.FastGet {
		return nil
	}
	if t.w, err = t.st.writer(f.Modify); err != nil {
		return err
	}
	n := len(f.Rel.Columns)
	t.setA, t.vals = make([]bool, n), make([]types.Datum, n)
	t.old = newRowBatch(t.st, f.Rel, t.w.allAtt, false).fromNewest()
	if t.set, err = c.compileAll(f.Set); err != nil {
		return err
	}
	for _, e := range f.Row {
		p, err := c.optional(e)
		if err != nil {
			return err
		}
		t.row = append(t.row, p)
	}
	return nil
}

// Kind says which fast path it is.
func (t *Point) Kind() plan.FastKind { return t.fast.Kind }

// makeKey encodes the primary key; ok is false when no row can have it.
func (t *Point) makeKey(params []types.Datum) (key []byte, ok bool) {
	key = t.key[:0]
	for i := range t.keys {
		d := t.keys[i].value
		if p := t.keys[i].param; p >= 0 {
			d = params[p]
		}
		c := &t.cols[i]
		if d.Null || fitInt(c.typ, d.I) != 0 {
			return nil, false
		}
		key = c.append(key, d)
	}
	t.key = key
	return key, true
}

// Get reads the row with the key that params give: the row's bytes (nil when there is none) with its layout and the attributes
// to send. It allocates nothing. The row stays valid as long as e.View is pinned.
func (t *Point) Get(e *Env, params []types.Datum) (r []byte, layout *row.Layout, attnos []int16, err error) {
	key, ok := t.makeKey(params)
	if !ok {
		return nil, t.layout, t.fast.Attnos, nil
	}
	if err := t.notePoint(e, key); err != nil {
		return nil, t.layout, t.fast.Attnos, err
	}
	r, ok, err = e.View.Get(t.fast.Rel.TreeID, key)
	if !ok {
		r = nil
	}
	return r, t.layout, t.fast.Attnos, err
}

// notePoint records the read of one key at SERIALIZABLE. 40001 when the transaction cannot commit any more.
func (t *Point) notePoint(e *Env, key []byte) error {
	if e.Tx == nil || e.Tx.IsolationLevel() != Serializable {
		return nil
	}
	t.key = append(key, 0) // the first key after it
	return e.Tx.NoteRead(t.fast.Rel.TreeID, key, t.key)
}

// Write runs the insert, update or delete and returns the number of rows changed.
func (t *Point) Write(e *Env, params []types.Datum) (int64, error) {
	saved := e.Params
	e.Params = params
	t.st.env = e
	t.st.checks = t.st.checks[:0]
	n, err := t.write(params)
	for i := 0; err == nil && i < len(t.st.checks); i++ {
		err = t.st.checks[i]()
	}
	e.Params = saved
	t.st.env = nil
	if err != nil {
		return 0, errMemory(err)
	}
	return n, nil
}

func (t *Point) write(params []types.Datum) (int64, error) {
	switch t.fast.Kind {
	case plan.FastInsert:
		return t.insert()
	case plan.FastUpdate, plan.FastDelete:
		return t.change(params)
	}
	return 0, sqlerr.Internal("fast path %d does not write", t.fast.Kind)
}

// insert evaluates the row over the parameters and writes it.
func (t *Point) insert() (int64, error) {
	t.frame = frame{st: t.st, b: &t.b, n: 1}
	for i, p := range t.row {
		t.vals[i] = types.NullDatum
		if p == nil {
			continue
		}
		v, err := p.eval(&t.frame, nil)
		if err != nil {
			return 0, err
		}
		t.vals[i] = v.Datum(0)
	}
	w := t.w
	r, err := w.newRow(w.rowBuf[:0], t.vals)
	w.rowBuf = r
	if err != nil {
		return 0, err
	}
	return 1, w.insert(r)
}

// change updates or deletes the row with the key. At READ COMMITTED the newest version is the one to change: the condition is
// on the key alone, so that any version qualifies.
func (t *Point) change(params []types.Datum) (int64, error) {
	key, ok := t.makeKey(params)
	if !ok {
		return 0, nil
	}
	e, tx, tree := t.st.env, t.st.env.Tx, t.fast.Rel.TreeID
	mode := lock.Update
	if t.fast.Kind == plan.FastUpdate && !t.w.setsKey(t.fast.SetAttnos) {
		mode = lock.NoKeyUpdate
	}
	var old []byte
	var err error
	if tx.IsolationLevel() == ReadCommitted {
		// A row that the view does not have is not locked: one inserted since does not count, as in the general plan.
		old, ok, err = tx.LockNewest(e.View, tree, key, mode)
	} else {
		old, ok, err = t.lockSeen(key, mode)
	}
	if err != nil {
		word := "deleting"
		if t.fast.Kind == plan.FastUpdate {
			word = "updating"
		}
		return 0, whileWaiting(err, word, key, t.fast.Rel.Name)
	}
	if !ok {
		return 0, nil
	}
	if t.fast.Kind == plan.FastDelete {
		return 1, t.w.delete(key, old)
	}
	return 1, t.update(key, old)
}

// lockSeen locks the row that the transaction's snapshot has; another version in the newest state is an error.
func (t *Point) lockSeen(key []byte, mode lock.Mode) (old []byte, ok bool, err error) {
	e, tx, tree := t.st.env, t.st.env.Tx, t.fast.Rel.TreeID
	if err := t.notePoint(e, key); err != nil {
		return nil, false, err
	}
	seen, ok, err := e.View.Get(tree, key)
	if err != nil || !ok {
		return nil, false, err
	}
	if _, _, err := tx.LockRow(tree, key, mode, lock.Wait); err != nil {
		return nil, false, err
	}
	if old, ok, err = tx.NewestGet(tree, key); err != nil {
		return nil, false, err
	}
	if ok && row.Stamp(old) == row.Stamp(seen) {
		return old, true, nil
	}
	if _, moved := tx.MovedTo(tree, key); ok || moved {
		return nil, false, errConcurrent("update")
	}
	return nil, false, errConcurrent("delete")
}

// update evaluates the assignments over the old row.
func (t *Point) update(key, old []byte) error {
	b := t.w.single(t.old, old)
	t.frame = frame{st: t.st, b: b, n: 1}
	clear(t.setA)
	for k, a := range t.fast.SetAttnos {
		v, err := t.set[k].eval(&t.frame, nil)
		if err != nil {
			return err
		}
		t.setA[a-1], t.vals[a-1] = true, v.Datum(0)
	}
	return t.w.change(key, old, t.setA, t.vals)
}

// OpenRange starts a short range; NextRow gives its rows, CloseRange ends it.
func (t *Point) OpenRange(e *Env, params []types.Datum) error {
	t.CloseRange()
	e.Params = params
	t.st.env = e
	t.left = -1
	if t.limit != nil {
		d, err := evalOne(&frame{st: t.st, n: 1}, t.limit)
		if err != nil {
			return err
		}
		if !d.Null {
			if d.I < 0 {
				return sqlerr.New(sqlerr.InvalidRowCountInLimitClause, "LIMIT must not be negative")
			}
			t.left = d.I
		}
	}
	rs, err := t.rs.eval(t.st)
	if err != nil || len(rs) == 0 {
		t.left = 0
		return err
	}
	if err := t.st.noteRead(t.fast.Rel.TreeID, rs[0].lo, rs[0].hi); err != nil {
		return err
	}
	t.cur.Init(e.View, t.fast.Rel.TreeID, rs[0].lo, rs[0].hi, t.fast.Reverse)
	t.open = true
	return nil
}

// NextRow returns the next row of a range, nil at the end.
func (t *Point) NextRow() ([]byte, error) {
	if t.left == 0 || !t.open {
		return nil, nil
	}
	if !t.cur.Next() {
		return nil, t.cur.Err()
	}
	if t.left > 0 {
		t.left--
	}
	return t.cur.Value(), nil
}

// CloseRange ends a range.
func (t *Point) CloseRange() {
	if t.open {
		t.cur.Close()
		t.open = false
	}
	t.st.env = nil
}

// Columns returns the layout of the rows that Get and NextRow give, and the attributes to send.
func (t *Point) Columns() (*row.Layout, []int16) { return t.layout, t.fast.Attnos }
