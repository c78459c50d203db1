package exec

import (
	"herd/planner/plan"
	"herd/sql/types"
	"herd/sql/vec"
)

// materializeOp is plan.Materialize: it keeps what it has read from its input and gives it again after Rescan.
type materializeOp struct {
	in    Operator
	kept  *tape
	read  tapeReader
	batch *tupleBatch
	rows  [][]byte
	ended bool // the input is drained
	fixed bool // the input does not depend on exec params: Rescan may keep its rows
	// chunks are the kept rows as batches of vec.MaxRows, unpacked once: a nested loop reads them again and again.
	chunks []*tupleBatch
	chunkM account
}

func (s *State) buildMaterialize(n *plan.Materialize) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	return newMaterialize(in, n.Input), nil
}

func newMaterialize(in Operator, n plan.Node) *materializeOp {
	t := newTape(kindsOf(n))
	return &materializeOp{in: in, kept: t, batch: newTupleBatch(t.codec), fixed: !dependent(n)}
}

func (o *materializeOp) Open(env *Env) error {
	o.kept.open(env)
	o.chunkM.acct = env.Acct
	o.dropChunks()
	o.rewind()
	o.ended = false
	return o.in.Open(env)
}

// Rescan starts again, from what is kept unless that may be out of date.
func (o *materializeOp) Rescan() error {
	if o.fixed {
		o.rewind()
		return nil
	}
	o.kept.open(o.kept.env)
	o.dropChunks()
	o.ended = false
	o.rewind()
	return o.in.Rescan()
}

// rewind starts again from what is kept.
func (o *materializeOp) rewind() { o.read = tapeReader{t: o.kept} }

func (o *materializeOp) dropChunks() {
	o.chunkM.release()
	o.chunks = nil
}

// complete says whether all rows are in memory.
func (o *materializeOp) complete() bool { return o.ended && o.kept.spill == nil }

// chunk returns the batch that begins at the reader's position, nil when it cannot be kept unpacked.
func (o *materializeOp) chunk() *vec.Batch {
	i := int(o.read.pos) / vec.MaxRows
	if i == len(o.chunks) {
		rows := o.kept.rows[o.read.pos:min(int(o.read.pos)+vec.MaxRows, len(o.kept.rows))]
		if o.chunkM.grow(int64(24*len(rows)*len(o.kept.codec.kinds))) != nil {
			return nil
		}
		c := newTupleBatch(o.kept.codec)
		c.set(rows)
		o.chunks = append(o.chunks, c)
	}
	if i >= len(o.chunks) {
		return nil
	}
	c := o.chunks[i]
	c.Sel = nil
	o.read.pos += int64(c.N)
	return &c.Batch
}

func (o *materializeOp) Close() error {
	o.dropChunks()
	o.kept.close()
	return o.in.Close()
}

func (o *materializeOp) Next(want int) (*vec.Batch, error) {
	if want >= vec.MaxRows && o.complete() && o.read.pos < int64(len(o.kept.rows)) && o.read.pos%int64(vec.MaxRows) == 0 {
		if b := o.chunk(); b != nil {
			return b, nil
		}
	}
	if len(o.rows) < vec.MaxRows {
		o.rows = make([][]byte, vec.MaxRows)
	}
	n, err := o.read.next(o.rows[:min(want, vec.MaxRows)])
	if err != nil {
		return nil, err
	}
	if n > 0 {
		return o.batch.set(o.rows[:n]), nil
	}
	if o.ended {
		return nil, nil
	}
	b, err := o.in.Next(want)
	if err != nil {
		return nil, err
	}
	if b == nil {
		o.ended = true
		return nil, nil
	}
	if err := o.kept.addBatch(b); err != nil {
		return nil, err
	}
	o.read.seek(o.kept.len()) // the rows of b go up directly
	return b, nil
}

// cteState is a WITH query whose rows several scans share: computed as far as the foremost reader needs.
type cteState struct {
	st       *State
	op       Operator
	kept     *tape
	modifies bool
	opened   bool
	ended    bool
}

func (c *cteState) init(st *State, op Operator, p *plan.CTEPlan) {
	c.st, c.op, c.modifies, c.kept = st, op, p.Modifies, newTape(kindsOf(p.Plan))
}

// fetch asks the query for up to want more rows; false at the end.
func (c *cteState) fetch(want int) (bool, error) {
	if c.ended {
		return false, nil
	}
	if !c.opened {
		c.opened = true
		c.kept.open(c.st.env)
		if err := c.op.Open(c.st.env); err != nil {
			return false, err
		}
	}
	b, err := c.op.Next(want)
	if err != nil {
		return false, err
	}
	if b == nil {
		c.ended = true
		return false, nil
	}
	return true, c.kept.addBatch(b)
}

// drain runs a modifying query to its end, whether anybody reads it or not.
func (c *cteState) drain() error {
	for {
		more, err := c.fetch(vec.MaxRows)
		if err != nil || !more {
			return err
		}
	}
}

func (c *cteState) close() error {
	if !c.opened {
		return nil
	}
	c.opened, c.ended = false, false
	c.kept.close()
	return c.op.Close()
}

// cteScanOp is plan.CTEScan.
type cteScanOp struct {
	st     *State
	cte    *cteState
	read   tapeReader
	filter *filterProg
	batch  *tupleBatch
	rows   [][]byte
	kinds  []types.Kind
	readAhead
}

func (s *State) buildCTEScan(n *plan.CTEScan) (Operator, error) {
	f, err := s.compiler().filter(n.Filter)
	return &cteScanOp{st: s, cte: s.ctes[n.CTE], filter: f, kinds: kindsOf(n)}, err
}

func (o *cteScanOp) Open(*Env) error {
	o.reset()
	o.read = tapeReader{t: o.cte.kept}
	if o.batch == nil {
		o.batch = newTupleBatch(newTupleCodec(o.kinds))
	}
	return nil
}
func (o *cteScanOp) Rescan() error { return o.Open(nil) }
func (o *cteScanOp) Close() error  { o.reset(); return nil }

func (o *cteScanOp) Next(want int) (*vec.Batch, error) {
	if b := o.pending(want); b != nil {
		return b, nil
	}
	if len(o.rows) < vec.MaxRows {
		o.rows = make([][]byte, vec.MaxRows)
	}
	o.read.t = o.cte.kept
	for {
		n := 0
		var err error
		if o.cte.opened {
			if n, err = o.read.next(o.rows[:min(want, vec.MaxRows)]); err != nil {
				return nil, err
			}
		}
		if n == 0 {
			ask := want
			if o.cte.modifies {
				ask = vec.MaxRows
			}
			if more, err := o.cte.fetch(ask); err != nil || !more {
				return nil, err
			}
			continue
		}
		b := o.batch.set(o.rows[:n])
		if o.filter == nil {
			return b, nil
		}
		sel, err := o.filter.run(&frame{st: o.st, b: b, n: n}, nil)
		if err != nil {
			return nil, err
		}
		if sel != nil && len(sel) == 0 {
			continue
		}
		b.Sel = sel
		return o.offer(b, want), nil
	}
}

// recursiveOp is plan.RecursiveUnion: WITH RECURSIVE.
type recursiveOp struct {
	st         *State
	init, step Operator
	distinct   bool
	key        eqKey
	keyV       []*vec.Vector
	keyP       []program
	seen       keyTable
	work, next *tape // rows of the last iteration, rows of this one
	batch      *tupleBatch
	stage      int // 0 init term, 1 recursive term, 2 end
	stepOpen   bool
	sel        []uint16
}

func (s *State) buildRecursive(n *plan.RecursiveUnion) (Operator, error) {
	kinds := kindsOf(n)
	o := &recursiveOp{st: s, distinct: n.Distinct, work: newTape(kinds), next: newTape(kinds)}
	s.works[n] = o
	var err error
	if o.init, err = s.build(n.Init); err != nil {
		return nil, err
	}
	if o.step, err = s.build(n.Step); err != nil {
		return nil, err
	}
	if n.Distinct {
		o.key.cols = eqCols(n.Keys)
		for _, k := range n.Keys {
			p, err := s.compiler().compile(k.Left)
			if err != nil {
				return nil, err
			}
			o.keyP = append(o.keyP, p)
		}
		o.keyV = make([]*vec.Vector, len(o.keyP))
	}
	return o, nil
}

func (o *recursiveOp) Open(env *Env) error {
	o.work.open(env)
	o.next.open(env)
	o.seen.open(env)
	o.stage = 0
	return o.init.Open(env)
}

func (o *recursiveOp) Rescan() error {
	o.work.open(o.st.env)
	o.next.open(o.st.env)
	o.seen.reset()
	o.stage = 0
	return o.init.Rescan()
}

func (o *recursiveOp) Close() error {
	o.work.close()
	o.next.close()
	o.seen.close()
	err := o.init.Close()
	if o.stepOpen {
		o.stepOpen = false
		if e := o.step.Close(); err == nil {
			err = e
		}
	}
	return err
}

func (o *recursiveOp) Next(want int) (*vec.Batch, error) {
	for o.stage < 2 {
		in := o.init
		if o.stage == 1 {
			in = o.step
		}
		b, err := in.Next(want)
		if err != nil {
			return nil, err
		}
		if b == nil {
			if err := o.turn(); err != nil {
				return nil, err
			}
			continue
		}
		if o.distinct {
			if err := o.unseen(b); err != nil {
				return nil, err
			}
			if b.Rows() == 0 {
				continue
			}
		}
		return b, o.next.addBatch(b)
	}
	return nil, nil
}

// turn makes the rows of this iteration the working table of the next.
func (o *recursiveOp) turn() error {
	if err := o.st.interrupt(); err != nil {
		return err
	}
	if o.next.len() == 0 {
		o.stage = 2
		return nil
	}
	o.work, o.next = o.next, o.work
	o.next.open(o.st.env)
	o.stage = 1
	if !o.stepOpen {
		o.stepOpen = true
		return o.step.Open(o.st.env)
	}
	return o.step.Rescan()
}

// unseen narrows b to rows that did not appear before.
func (o *recursiveOp) unseen(b *vec.Batch) error {
	f := frame{st: o.st, b: b, n: b.N}
	var err error
	for i, p := range o.keyP {
		if o.keyV[i], err = p.eval(&f, b.Sel); err != nil {
			return err
		}
	}
	keep := reuse(o.sel, b.N)
	each(b.N, b.Sel, func(i int) {
		if err != nil {
			return
		}
		k, _ := o.key.row(o.keyV, i)
		var added bool
		if _, added, err = o.seen.insert(hashKey(k), k); added {
			keep = append(keep, uint16(i))
		}
	})
	o.sel, b.Sel = keep, keep
	return errMemory(err)
}

// workTableOp is plan.WorkTableScan: the rows of the last iteration.
type workTableOp struct {
	st     *State
	union  *plan.RecursiveUnion
	read   tapeReader
	filter *filterProg
	batch  *tupleBatch
	rows   [][]byte
	readAhead
}

func (s *State) buildWorkTable(n *plan.WorkTableScan) (Operator, error) {
	f, err := s.compiler().filter(n.Filter)
	return &workTableOp{st: s, union: n.Union, filter: f, batch: newTupleBatch(newTupleCodec(kindsOf(n)))}, err
}

func (o *workTableOp) Open(*Env) error {
	o.reset()
	o.read = tapeReader{}
	return nil
}
func (o *workTableOp) Rescan() error { return o.Open(nil) }
func (o *workTableOp) Close() error  { return o.Open(nil) }

func (o *workTableOp) Next(want int) (*vec.Batch, error) {
	if b := o.pending(want); b != nil {
		return b, nil
	}
	if len(o.rows) < vec.MaxRows {
		o.rows = make([][]byte, vec.MaxRows)
	}
	if o.read.t == nil {
		o.read.t = o.st.works[o.union].work
	}
	for {
		n, err := o.read.next(o.rows[:min(want, vec.MaxRows)])
		if err != nil || n == 0 {
			return nil, err
		}
		b := o.batch.set(o.rows[:n])
		if o.filter == nil {
			return b, nil
		}
		sel, err := o.filter.run(&frame{st: o.st, b: b, n: n}, nil)
		if err != nil {
			return nil, err
		}
		if sel != nil && len(sel) == 0 {
			continue
		}
		b.Sel = sel
		return o.offer(b, want), nil
	}
}
