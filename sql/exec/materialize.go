package exec

import (
	"herd/internal/mem"
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
	return s.newMaterialize(in, n.Input), nil
}

func (s *State) newMaterialize(in Operator, n plan.Node) *materializeOp {
	t := newTape(kindsOf(n))
	return &materializeOp{in: in, kept: t, batch: newTupleBatch(t.codec), fixed: !s.dependent(n)}
}

func (o *materializeOp) Open(env *Env) error {
	o.kept.open(env)
	o.chunkM.open(env, mem.UseRows)
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
	params   []int  // exec params of enclosing queries
	at       uint64 // State.setCount when it was opened
}

func (c *cteState) init(st *State, op Operator, p *plan.CTEPlan) {
	c.st, c.op, c.modifies, c.kept, c.params = st, op, p.Modifies, newTape(kindsOf(p.Plan)), p.Params
}

// fetch asks the query for up to want more rows; false at the end.
func (c *cteState) fetch(want int) (bool, error) {
	if c.ended {
		return false, nil
	}
	if !c.opened {
		c.opened, c.at = true, c.st.setCount
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

// refresh forgets the rows when the enclosing queries have gone on to another row since they were computed.
func (c *cteState) refresh() error {
	for _, id := range c.params {
		if c.st.setAt[id] > c.at {
			return c.close()
		}
	}
	return nil
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
	return o.cte.refresh()
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
		if b, err := o.filtered(o.st, o.filter, b, want); b != nil || err != nil {
			return b, err
		}
	}
}
