package exec

import (
	"bytes"

	"herd/engine/lock"
	"herd/internal/mem"
	"herd/planner/plan"
	"herd/sql/row"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// modifyOp is plan.ModifyTable. With RETURNING it gives a batch for every input batch, else it runs to the end at the first
// Next.
type modifyOp struct {
	st      *State
	node    *plan.ModifyTable
	in      Operator
	w       *tableWriter
	natts   int
	nIn     int
	recheck *recheck
	onConf  *conflictProg
	merges  []mergeProg
	count   int64

	deleting bool // the change at hand is a DELETE
	set      []bool
	vals     []types.Datum
	setCol   []int // INSERT: input column of each attribute, -1 none
	keyB     []byte
	oldB     []byte

	returning []program
	retRows   [][]byte
	retMem    arena
	retIn     *outRows
	retSrc    *rowBatch
	retB      vec.Batch
	out       vec.Batch
}

func (s *State) buildModify(n *plan.ModifyTable) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	w, err := s.writer(n)
	if err != nil {
		return nil, err
	}
	o := &modifyOp{st: s, node: n, in: in, w: w, natts: len(n.Rel.Columns), nIn: len(n.Input.Base().Cols), deleting: n.Command == plan.CmdDelete}
	o.set, o.vals, o.setCol = make([]bool, o.natts), make([]types.Datum, o.natts), make([]int, o.natts)
	for i := range o.setCol {
		o.setCol[i] = -1
	}
	if n.Command == plan.CmdInsert {
		for i, a := range n.SetAttnos {
			o.setCol[a-1] = i
		}
	}
	o.recheck = s.recheck(n.Recheck)
	c := s.compiler()
	if n.OnConflict != nil {
		if o.onConf, err = c.conflict(w, n.OnConflict); err != nil {
			return nil, err
		}
	}
	if o.merges, err = c.merges(n.Merge); err != nil {
		return nil, err
	}
	if n.Returning == nil {
		return o, nil
	}
	if o.returning, err = c.compileAll(n.Returning); err != nil {
		return nil, err
	}
	o.retIn = newOutRows(kindsOf(n.Input))
	o.retSrc = newRowBatch(s, n.Rel, w.allAtt, false).fromNewest()
	o.retB.Cols = make([]*vec.Vector, o.natts+o.nIn)
	o.retB.Src = o
	o.out.Cols = make([]*vec.Vector, len(o.returning))
	return o, nil
}

func (o *modifyOp) Open(env *Env) error {
	o.count = 0
	o.retMem.mem.open(env, mem.UseRows)
	return o.in.Open(env)
}

func (o *modifyOp) Rescan() error {
	return sqlerr.Internal("a data modification cannot be scanned twice")
}

func (o *modifyOp) Close() error {
	o.recheck.close()
	o.retMem.reset()
	o.retRows = nil
	return o.in.Close()
}

// Next changes rows for at most want input rows when there is RETURNING, for all of them otherwise.
func (o *modifyOp) Next(want int) (*vec.Batch, error) {
	if o.returning == nil {
		want = o.st.most()
	}
	for {
		b, err := o.in.Next(want)
		if err != nil || b == nil {
			return nil, err
		}
		if err := o.st.interrupt(); err != nil {
			return nil, err
		}
		cols, err := allCols(b)
		if err != nil {
			return nil, err
		}
		o.retRows = o.retRows[:0]
		if o.returning != nil {
			o.retMem.reset()
			o.retIn.start(b.Rows())
		}
		each(b.N, b.Sel, func(i int) {
			if err == nil {
				err = o.row(b, cols, i)
			}
		})
		if err != nil {
			return nil, err
		}
		if len(o.retRows) > 0 {
			return o.project()
		}
	}
}

func (o *modifyOp) row(b *vec.Batch, cols []*vec.Vector, i int) error {
	switch o.node.Command {
	case plan.CmdInsert:
		return o.insert(cols, i)
	case plan.CmdUpdate:
		return o.update(b, i)
	case plan.CmdDelete:
		return o.delete(b, i)
	case plan.CmdMerge:
		return o.merge(b, i)
	}
	return sqlerr.Unsupported("this data modification")
}

// insert writes input row i.
func (o *modifyOp) insert(cols []*vec.Vector, i int) error {
	for a, c := range o.setCol {
		if c < 0 {
			o.vals[a] = types.NullDatum
		} else {
			o.vals[a] = cols[c].Datum(i)
		}
	}
	w := o.w
	r, err := w.newRow(w.rowBuf[:0], o.vals)
	w.rowBuf = r
	if err != nil {
		return err
	}
	if o.onConf != nil {
		done, err := o.onConf.resolve(o, r, cols, i)
		if err != nil || done {
			return err
		}
	}
	if err := w.insert(r); err != nil {
		return err
	}
	return o.changed(r, cols, i)
}

// target locks the row of input row i and reads it from the newest state. found is false when there is nothing to do: the row
// is gone, or this command has changed it already. moved says that it is not the version that the snapshot had.
func (o *modifyOp) target(rowID []byte, mode lock.Mode) (key, old []byte, moved, found bool, err error) {
	stamp, key := splitRowID(rowID)
	o.keyB = append(o.keyB[:0], key...)
	key = o.keyB
	tx, tree := o.w.tx(), o.w.tree()
	word := "updating"
	if o.deleting {
		word = "deleting"
	}
	if _, _, err = tx.LockRow(tree, key, mode, lock.Wait); err != nil {
		err = whileWaiting(err, word, key, o.w.rel.Name)
		return
	}
	for {
		newest := tx.Newest()
		_, cmd, own, deleted := newest.GetOwn(tree, key)
		if own {
			if mine, err := o.st.changed(cmd, word); mine || err != nil {
				return key, nil, false, false, err
			}
		}
		var ok bool
		if old, ok, err = newest.Get(tree, key); err != nil {
			return
		}
		if ok {
			moved = moved || row.Stamp(old) != stamp
			break
		}
		now, hasMoved := tx.MovedTo(tree, key)
		if tx.IsolationLevel() != ReadCommitted && !deleted {
			what := "delete"
			if hasMoved {
				what = "update"
			}
			return key, nil, false, false, errConcurrent(what)
		}
		if !hasMoved {
			return key, nil, false, false, nil
		}
		o.keyB = append(o.keyB[:0], now...)
		key, moved = o.keyB, true
		if _, _, err = tx.LockRow(tree, key, mode, lock.Wait); err != nil {
			err = whileWaiting(err, word, key, o.w.rel.Name)
			return
		}
	}
	if moved && tx.IsolationLevel() != ReadCommitted {
		return key, nil, false, false, errConcurrent("update")
	}
	return key, old, moved, true, nil
}

// again re-evaluates the query for a target row that changed; nil when it does not qualify any more.
func (o *modifyOp) again(b *vec.Batch, i int, key, val []byte) (*vec.Batch, error) {
	if o.recheck == nil {
		return nil, sqlerr.Internal("no recheck plan for table \"%s\"", o.w.rel.Name)
	}
	clear(o.recheck.state.rows)
	o.recheck.state.rows[o.node.RTE] = recheckRow{key: key, val: val}
	return o.recheck.run(b, i)
}

func (o *modifyOp) update(b *vec.Batch, i int) error {
	id := b.Cols[o.node.RowIDCol]
	if id.IsNull(i) {
		return nil
	}
	mode, err := o.updateMode(b, i, id.Bytes(i))
	if err != nil {
		return err
	}
	key, old, moved, found, err := o.target(id.Bytes(i), mode)
	if err != nil || !found {
		return err
	}
	from, at := b, i
	if moved {
		nb, err := o.again(b, i, key, old)
		if err != nil || nb == nil {
			return err
		}
		from, at = nb, firstRow(nb)
		if mode == lock.NoKeyUpdate && o.w.setsKey(o.node.SetAttnos) {
			if err := o.w.claim(o.w.tree(), key); err != nil {
				return err
			}
		}
	}
	clear(o.set)
	for c, a := range o.node.SetAttnos {
		o.set[a-1], o.vals[a-1] = true, from.Cols[c].Datum(at)
	}
	if err := o.w.change(key, old, o.set, o.vals); err != nil {
		return err
	}
	return o.changed(o.w.rowBuf, from.Cols, at)
}

// setsKey says whether one of the attributes is a column of the primary key or of a unique index.
func (w *tableWriter) setsKey(set []int16) bool {
	for _, a := range set {
		if w.keyAtt[a-1] {
			return true
		}
	}
	return false
}

// updateMode is modeFor of the UPDATE's input row i.
func (o *modifyOp) updateMode(b *vec.Batch, i int, rowID []byte) (lock.Mode, error) {
	return o.modeFor(o.node.SetAttnos, func(c int) types.Datum { return b.Cols[c].Datum(i) }, rowID)
}

// modeFor is lock.Update when the row's key columns change, else lock.NoKeyUpdate, which lets children refer to the row. value
// gives the new value of set[c].
func (o *modifyOp) modeFor(set []int16, value func(c int) types.Datum, rowID []byte) (lock.Mode, error) {
	if !o.w.setsKey(set) {
		return lock.NoKeyUpdate, nil
	}
	_, key := splitRowID(rowID)
	r, ok, err := o.st.env.View.Get(o.w.tree(), key)
	if err != nil || !ok {
		return lock.Update, err
	}
	for c, a := range set {
		if !o.w.keyAtt[a-1] {
			continue
		}
		d, err := o.w.layout.Decode(r, int(a)-1, o.w.reader())
		if err != nil {
			return lock.Update, err
		}
		if !equalDatum(types.KindOf(colType(o.w.rel, a)), d, value(c)) {
			return lock.Update, nil
		}
	}
	return lock.NoKeyUpdate, nil
}

func (o *modifyOp) delete(b *vec.Batch, i int) error {
	id := b.Cols[o.node.RowIDCol]
	if id.IsNull(i) {
		return nil
	}
	key, old, moved, found, err := o.target(id.Bytes(i), lock.Update)
	if err != nil || !found {
		return err
	}
	from, at := b, i
	if moved {
		nb, err := o.again(b, i, key, old)
		if err != nil || nb == nil {
			return err
		}
		from, at = nb, firstRow(nb)
	}
	if err := o.w.delete(key, old); err != nil {
		return err
	}
	return o.changed(old, from.Cols, at)
}

// changed counts a row and keeps it for RETURNING: r is the new version, or the deleted one.
func (o *modifyOp) changed(r []byte, cols []*vec.Vector, i int) error {
	o.count++
	o.st.noteCommand()
	if o.returning == nil {
		return nil
	}
	kept, err := o.retMem.save(r)
	if err != nil {
		return errMemory(err)
	}
	o.retRows = append(o.retRows, kept)
	k := o.retIn.grow()
	for c := range min(len(cols), o.nIn) {
		o.retIn.cols[c].Copy(k, cols[c], i)
	}
	return nil
}

// project evaluates RETURNING over the rows changed by this input batch.
func (o *modifyOp) project() (*vec.Batch, error) {
	n := len(o.retRows)
	o.retSrc.rows = o.retRows
	o.retSrc.set(n)
	clear(o.retB.Cols)
	for c := range o.nIn {
		o.retB.Cols[o.natts+c] = &o.retIn.cols[c]
	}
	o.retB.N, o.retB.Sel = n, nil
	f := frame{st: o.st, b: &o.retB, n: n}
	for i, p := range o.returning {
		v, err := p.eval(&f, nil)
		if err != nil {
			return nil, err
		}
		o.out.Cols[i] = v
	}
	o.out.N, o.out.Sel = n, nil
	return &o.out, nil
}

// DecodeColumn implements vec.Source for RETURNING: columns of the target row.
func (o *modifyOp) DecodeColumn(_ *vec.Batch, col int) (*vec.Vector, error) {
	return o.retSrc.Col(col)
}

// conflictProg is ON CONFLICT.
type conflictProg struct {
	w       *tableWriter
	action  *plan.ConflictAction
	pk      bool
	indexes []*indexWriter
	set     []program
	where   *filterProg
	b       vec.Batch // existing row, excluded row
	oldB    *rowBatch
	newB    *rowBatch
	key     []byte
	setA    []bool
	vals    []types.Datum
}

func (c *compiler) conflict(w *tableWriter, a *plan.ConflictAction) (*conflictProg, error) {
	p := &conflictProg{w: w, action: a, pk: a.ArbiterPK}
	for _, ix := range w.indexes {
		for _, ar := range a.Arbiters {
			if ar.OID == ix.def.OID {
				p.indexes = append(p.indexes, ix)
			}
		}
	}
	for _, ar := range a.Arbiters {
		if ar.Primary {
			p.pk = true
		}
	}
	if !a.Update && len(a.Arbiters) == 0 && !a.ArbiterPK {
		p.pk = w.pk != nil
		for _, ix := range w.indexes {
			if ix.def.Unique {
				p.indexes = append(p.indexes, ix)
			}
		}
	}
	var err error
	if p.set, err = c.compileAll(a.Set); err != nil {
		return nil, err
	}
	if p.where, err = c.filter(a.Where); err != nil {
		return nil, err
	}
	n := len(w.rel.Columns)
	p.oldB, p.newB = newRowBatch(w.st, w.rel, w.allAtt, false).fromNewest(), newRowBatch(w.st, w.rel, w.allAtt, false).fromNewest()
	p.b.Cols = make([]*vec.Vector, 2*n)
	p.b.Src = p
	p.setA, p.vals = make([]bool, n), make([]types.Datum, n)
	return p, nil
}

// DecodeColumn implements vec.Source: the existing row's columns, then the excluded row's.
func (p *conflictProg) DecodeColumn(_ *vec.Batch, col int) (*vec.Vector, error) {
	if n := len(p.w.rel.Columns); col >= n {
		return p.newB.Col(col - n)
	}
	return p.oldB.Col(col)
}

// resolve looks for a row that the proposed row r conflicts with. done means that r must not be inserted.
func (p *conflictProg) resolve(o *modifyOp, r []byte, cols []*vec.Vector, i int) (done bool, err error) {
	w, tx := p.w, p.w.tx()
	for {
		key, found, err := p.find(r)
		if err != nil || !found {
			return false, err
		}
		if !p.action.Update {
			return true, p.checkVisible(key)
		}
		if _, _, err := tx.LockRow(w.tree(), key, lock.Update, lock.Wait); err != nil {
			return false, whileWaiting(err, "locking", key, w.rel.Name)
		}
		newest := tx.Newest()
		old, ok, err := newest.Get(w.tree(), key)
		if err != nil {
			return false, err
		}
		if !ok {
			continue // deleted before the lock was granted: look again
		}
		if _, cmd, own, _ := newest.GetOwn(w.tree(), key); own && o.st.own(cmd) {
			return false, sqlerr.New(sqlerr.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time").
				WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
		}
		if err := p.checkVisible(key); err != nil {
			return false, err
		}
		return true, p.update(o, key, old, r, cols, i)
	}
}

// checkVisible raises 40001, above READ COMMITTED, when the conflicting row is not the one the snapshot has.
func (p *conflictProg) checkVisible(key []byte) error {
	tx := p.w.tx()
	if tx.IsolationLevel() == ReadCommitted {
		return nil
	}
	newest := tx.Newest()
	if _, _, own, _ := newest.GetOwn(p.w.tree(), key); own {
		return nil
	}
	now, ok, err := newest.Get(p.w.tree(), key)
	if err != nil || !ok {
		return err
	}
	seen, had, err := p.w.st.env.View.Get(p.w.tree(), key)
	if err != nil {
		return err
	}
	if !had || row.Stamp(seen) != row.Stamp(now) {
		return errConcurrent("update")
	}
	return nil
}

// find returns the row key of the first conflicting row, after locking the arbiter's key.
func (p *conflictProg) find(r []byte) (key []byte, found bool, err error) {
	w, tx := p.w, p.w.tx()
	b := w.single(w.newB, r)
	if p.pk && w.pk != nil {
		if p.key, err = w.rowKey(p.key[:0], b, 0); err != nil {
			return nil, false, err
		}
		if err := w.claim(w.tree(), p.key); err != nil {
			return nil, false, err
		}
		_, ok, err := tx.NewestGet(w.tree(), p.key)
		if err != nil || ok {
			return p.key, ok, err
		}
	}
	for _, ix := range p.indexes {
		k, enforced, ok, err := ix.entry(ix.key[:0], w.st, b, 0, nil)
		ix.key = k
		if err != nil {
			return nil, false, err
		}
		if !ok || !enforced {
			continue
		}
		if err := w.claim(ix.def.Tree, k); err != nil {
			return nil, false, err
		}
		v, ok, err := tx.NewestGet(ix.def.Tree, k)
		if err != nil {
			return nil, false, err
		}
		if ok {
			p.key = append(p.key[:0], v...)
			return p.key, true, nil
		}
	}
	return nil, false, nil
}

// update runs DO UPDATE on the existing row.
func (p *conflictProg) update(o *modifyOp, key, old, r []byte, cols []*vec.Vector, i int) error {
	key = bytes.Clone(key)
	p.w.single(p.oldB, old)
	p.w.single(p.newB, bytes.Clone(r))
	clear(p.b.Cols)
	p.b.N, p.b.Sel = 1, nil
	f := frame{st: p.w.st, b: &p.b, n: 1}
	if p.where != nil {
		sel, err := p.where.run(&f, nil)
		if err != nil || sel != nil && len(sel) == 0 {
			return err
		}
	}
	clear(p.setA)
	for k, a := range p.action.SetAttnos {
		v, err := p.set[k].eval(&f, nil)
		if err != nil {
			return err
		}
		p.setA[a-1], p.vals[a-1] = true, v.Datum(0)
	}
	if err := p.w.change(key, old, p.setA, p.vals); err != nil {
		return err
	}
	return o.changed(p.w.rowBuf, cols, i)
}
