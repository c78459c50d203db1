package exec

import (
	"herd/planner/plan"
	"herd/sql/vec"
)

// candidates are pairs of left rows and build rows with equal keys, before the residual condition.
type candidates struct {
	left  []uint16
	right []int32
	start []int // for each left row in work: where its pairs begin
	rows  []uint16
	chain int32 // rest of the last left row's chain when the pairs were full, -1 none
}

// Next gives the joined rows of one left batch.
func (o *hashJoinOp) Next(want int) (*vec.Batch, error) {
	if !o.built {
		if err := o.build(); err != nil {
			return nil, err
		}
	}
	o.out.reset(min(want, vec.MaxRows))
	for {
		more, err := o.step()
		if err != nil {
			return nil, err
		}
		// The output refers to the left batch and to the table: it goes up before either is replaced.
		if n := len(o.out.right); n > 0 && (len(o.lrows) == 0 || n >= o.out.limit) {
			return o.out.batch(), nil
		}
		if !more {
			return nil, nil
		}
	}
}

func (o *hashJoinOp) step() (bool, error) {
	switch {
	case o.over:
		return false, nil
	case o.tail:
		if o.unmatchedRight(); len(o.out.right) > 0 {
			return true, nil
		}
		o.tail = false
		return o.morePart()
	case len(o.lrows) > 0:
		return true, o.joinRows()
	case o.ended:
		if o.keepsRight() {
			o.tail, o.tailAt = true, 0
			return true, nil
		}
		return o.morePart()
	}
	if err := o.st.interrupt(); err != nil {
		return false, err
	}
	b, err := o.nextLeft()
	if err != nil {
		return false, err
	}
	if b == nil {
		o.ended = true
		return true, nil
	}
	o.lb, o.lfirst = b, true
	if err := o.lkeys.eval(o.st, b); err != nil {
		return false, err
	}
	o.findAll()
	o.lbuf = fullSel(o.lbuf, b.N, b.Sel)
	o.lrows = o.lbuf
	o.cands.chain = -1
	return true, nil
}

// nextLeft reads probe rows: from the left input, or from the partition in work.
func (o *hashJoinOp) nextLeft() (*vec.Batch, error) {
	if o.parts == nil {
		return o.left.Next(o.out.room())
	}
	o.probeR = o.probeR[:0]
	for len(o.probeR) < o.out.room() {
		r, err := o.read.next()
		if err != nil {
			return nil, err
		}
		if r == nil {
			break
		}
		_, _, _, tuple := splitPart(r)
		o.probeR = append(o.probeR, tuple)
	}
	if len(o.probeR) == 0 {
		return nil, nil
	}
	return o.probe.set(o.probeR), nil
}

// findAll looks up the keys of all left rows.
func (o *hashJoinOp) findAll() {
	b := o.lb
	if len(o.match) < b.N {
		o.match = make([]int32, max(b.N, vec.FirstRows))
	}
	if o.table.single {
		o.table.firstInts(o.match, o.lkeys.vs[0], b.N, b.Sel)
		return
	}
	each(b.N, b.Sel, func(i int) {
		o.match[i] = -1
		if k, ok := o.lkeys.row(i); ok {
			o.match[i] = o.table.first(k)
		}
	})
}

// joinRows takes left rows until the candidate pairs fill a batch, applies the condition and emits.
func (o *hashJoinOp) joinRows() error {
	if o.typ == plan.JoinInner && o.cond == nil {
		o.joinInner()
		return nil
	}
	limit := o.out.room()
	c := &o.cands
	resume := c.chain
	c.left, c.right, c.start, c.rows, c.chain = c.left[:0], c.right[:0], c.start[:0], c.rows[:0], -1
	single := o.cond == nil && (o.typ == plan.JoinSemi || o.typ == plan.JoinAnti)
	used := 0 // output rows that the rows taken so far may need: a left row without partner may need one
	for len(o.lrows) > 0 && used < limit {
		i := o.lrows[0]
		r := resume
		if r < 0 {
			r = o.match[i]
		}
		resume = -1
		c.rows, c.start = append(c.rows, i), append(c.start, len(c.left))
		if r < 0 {
			used++
		}
		for r >= 0 && used < limit {
			used++
			c.left, c.right = append(c.left, i), append(c.right, r)
			r = o.table.next[r] - 1
			if single {
				r = -1
			}
		}
		if r >= 0 { // more partners than fit: continue with this row next time
			c.chain = r
			break
		}
		o.lrows = o.lrows[1:]
	}
	return o.emit()
}

// joinInner is joinRows where every pair joins and nothing else is wanted.
func (o *hashJoinOp) joinInner() {
	out, limit := &o.out, o.out.limit
	r := o.cands.chain
	o.cands.chain = -1
	for len(o.lrows) > 0 && len(out.right) < limit {
		i := o.lrows[0]
		if r < 0 {
			r = o.match[i]
		}
		for r >= 0 && len(out.right) < limit {
			out.left, out.right = append(out.left, i), append(out.right, r)
			r = o.table.next[r] - 1
		}
		if r >= 0 {
			o.cands.chain = r
			return
		}
		o.lrows = o.lrows[1:]
	}
}

// emit applies the condition to the candidates and adds what joins to the output.
func (o *hashJoinOp) emit() error {
	c := &o.cands
	var sel []uint16
	n := len(c.left)
	if o.cond != nil && n > 0 {
		clear(o.pair.Cols)
		o.pair.N, o.pair.Sel = n, nil
		var err error
		if sel, err = o.cond.run(&frame{st: o.st, b: &o.pair, n: n}, nil); err != nil {
			return err
		}
	} else if n == 0 {
		sel = emptySel
	}
	at := 0 // position in sel
	for k, i := range c.rows {
		end := n
		if k+1 < len(c.start) {
			end = c.start[k+1]
		}
		hit := false
		for p := c.start[k]; p < end; p++ {
			if sel != nil {
				if at >= len(sel) || int(sel[at]) != p {
					continue
				}
				at++
			}
			hit = true
			o.joined(i, c.right[p])
			if o.typ == plan.JoinSemi || o.typ == plan.JoinAnti {
				for sel != nil && at < len(sel) && int(sel[at]) < end {
					at++
				}
				break
			}
		}
		o.finishRow(i, hit, k == len(c.rows)-1 && c.chain >= 0)
	}
	return nil
}

// joined adds one pair to the output.
func (o *hashJoinOp) joined(i uint16, r int32) {
	switch o.typ {
	case plan.JoinAnti, plan.JoinSemi:
		return
	case plan.JoinRight, plan.JoinFull:
		o.table.seen[r] = true
	}
	o.out.add(i, r)
}

// finishRow decides on a left row when all of its candidates were looked at (more false). A row whose chain goes on and that
// has matched carries this over.
func (o *hashJoinOp) finishRow(i uint16, hit, more bool) {
	hit = hit || o.carried(int(i))
	switch {
	case more && o.typ == plan.JoinSemi && hit, more && o.typ == plan.JoinAnti && hit:
		o.cands.chain = -1 // decided: the rest of the chain does not matter
		o.lrows = o.lrows[1:]
	case more:
		o.carry(int(i), hit)
		return
	}
	o.carry(-1, false)
	if o.typ == plan.JoinSemi && hit || o.typ == plan.JoinAnti && !hit || (o.typ == plan.JoinLeft || o.typ == plan.JoinFull) && !hit {
		o.out.add(i, -1)
	}
}

// carried says whether left row i matched in an earlier part of its chain.
func (o *hashJoinOp) carried(i int) bool { return o.carryRow == i && o.carryHit }

func (o *hashJoinOp) carry(i int, hit bool) { o.carryRow, o.carryHit = i, hit }

// unmatchedRight adds build rows that no left row matched.
func (o *hashJoinOp) unmatchedRight() {
	t := &o.table
	for ; o.tailAt < len(t.seen) && o.out.room() > 0; o.tailAt++ {
		if !t.seen[o.tailAt] {
			o.out.add(0, int32(o.tailAt))
		}
	}
}

// pairSource decodes columns of candidate pairs for the residual condition.
type pairSource hashJoinOp

// DecodeColumn implements vec.Source.
func (p *pairSource) DecodeColumn(_ *vec.Batch, col int) (*vec.Vector, error) {
	v := &p.pairV[col]
	if col < p.nLeft {
		src, err := p.lb.Col(col)
		if err != nil {
			return nil, err
		}
		v.GatherShared(src, p.cands.left)
		return v, nil
	}
	p.table.rows.gather(v, p.cands.right, col-p.nLeft)
	return v, nil
}

// joinOut is the output of a hash join: pairs of a row of the left batch and a build row (-1: NULLs). Columns are made when
// they are asked for.
type joinOut struct {
	op    *hashJoinOp
	limit int
	left  []uint16
	right []int32
	cols  []vec.Vector
	b     vec.Batch
}

func (j *joinOut) init(op *hashJoinOp, cols int) {
	j.op, j.cols = op, make([]vec.Vector, cols)
	j.b.Cols, j.b.Src = make([]*vec.Vector, cols), j
}

// reset begins a batch of at most limit rows.
func (j *joinOut) reset(limit int) { j.limit, j.left, j.right = limit, j.left[:0], j.right[:0] }

func (j *joinOut) room() int { return j.limit - len(j.right) }

func (j *joinOut) add(left uint16, right int32) {
	j.left, j.right = append(j.left, left), append(j.right, right)
}

// batch ends the batch. When all that is wanted of the left batch is in it, the left columns still to come are decoded for those rows
// only.
func (j *joinOut) batch() *vec.Batch {
	clear(j.b.Cols)
	j.b.N, j.b.Sel = len(j.right), nil
	o := j.op
	if !o.tail && o.lfirst && len(o.lrows) == 0 && len(j.left)*4 < o.lb.Rows()*3 {
		sel := o.lbuf[:0]
		for k, i := range j.left {
			if k == 0 || i != j.left[k-1] {
				sel = append(sel, i)
			}
		}
		o.lbuf, o.lb.Sel = sel, sel
	}
	o.lfirst = false
	return &j.b
}

// DecodeColumn implements vec.Source.
func (j *joinOut) DecodeColumn(_ *vec.Batch, col int) (*vec.Vector, error) {
	o, v := j.op, &j.cols[col]
	switch {
	case col >= o.nLeft:
		o.table.rows.gather(v, j.right, col-o.nLeft)
		return v, nil
	case o.tail:
		v.Reset(o.lcodec.kinds[col], len(j.right))
		v.SetAllNull(len(j.right))
		return v, nil
	}
	src, err := o.lb.Col(col)
	if err != nil {
		return nil, err
	}
	v.GatherShared(src, j.left)
	return v, nil
}
