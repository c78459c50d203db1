package exec

import (
	"herd/planner/plan"
	"herd/sql/types"
	"herd/sql/vec"
)

// nestLoopOp runs its right input for every left row. With params the right input is rescanned with values of the left
// row; without it is read once and kept.
type nestLoopOp struct {
	st          *State
	typ         plan.JoinType
	left, right Operator
	kept        *materializeOp // right, when it is the same for all left rows
	params      []int
	args        []program
	argv        []*vec.Vector
	cond        *filterProg
	nLeft       int
	nRight      int

	lb        *vec.Batch
	lrows     []uint16 // live rows of lb still to do
	row       int      // current left row
	active    bool     // right is being read for row
	matched   bool
	cur       *vec.Batch // right batch of the pairs
	rb        *vec.Batch // right batch in work, with its rows in rest
	rest      []uint16
	rightOpen bool
	ended     bool

	leftC []vec.Vector // constants of the current left row
	nullC []vec.Vector
	pair  vec.Batch // left constants and right columns
	lbuf  []uint16
	rbuf  []uint16

	rightSeen []bool // full and right joins: right rows (by number) that matched
	rightPos  int
	tail      int // 0 joining, 1 unmatched right rows

	outB *outRows
}

func (s *State) buildNestLoop(n *plan.NestLoop) (Operator, error) {
	o := &nestLoopOp{st: s, typ: n.Type, params: n.ParamIDs, nLeft: len(n.Left.Base().Cols), nRight: len(n.Right.Base().Cols)}
	var err error
	if o.left, err = s.build(n.Left); err != nil {
		return nil, err
	}
	if o.right, err = s.build(n.Right); err != nil {
		return nil, err
	}
	if len(n.ParamIDs) == 0 {
		if m, ok := unwrap(o.right).(*materializeOp); ok {
			o.kept = m
		} else {
			o.kept = o.st.newMaterialize(o.right, n.Right)
			o.right = o.kept
		}
	}
	c := s.compiler()
	if o.args, err = c.compileAll(n.Args); err != nil {
		return nil, err
	}
	o.argv = make([]*vec.Vector, len(o.args))
	if o.cond, err = c.filter(n.Cond); err != nil {
		return nil, err
	}
	o.leftC, o.nullC = make([]vec.Vector, o.nLeft), make([]vec.Vector, o.nRight)
	o.pair.Cols = make([]*vec.Vector, o.nLeft+o.nRight)
	o.pair.Src = o
	kinds := append(kindsOf(n.Left), kindsOf(n.Right)...)
	for i := range o.nullC {
		nullConst(&o.nullC[i], kinds[o.nLeft+i])
	}
	if n.Type == plan.JoinSemi || n.Type == plan.JoinAnti {
		kinds = kinds[:o.nLeft]
	}
	o.outB = newOutRows(kinds)
	return o, nil
}

func (o *nestLoopOp) clear() {
	o.lb, o.lrows, o.active, o.rb, o.ended, o.tail, o.rightPos = nil, nil, false, nil, false, 0, 0
	o.rightSeen = o.rightSeen[:0]
}

func (o *nestLoopOp) Open(env *Env) error {
	o.clear()
	o.rightOpen = false
	return o.left.Open(env)
}

func (o *nestLoopOp) Rescan() error {
	o.clear()
	if o.rightOpen && o.kept != nil {
		if err := o.kept.Rescan(); err != nil {
			return err
		}
	}
	return o.left.Rescan()
}

func (o *nestLoopOp) Close() error {
	o.clear()
	o.rightOpen = false
	err := o.left.Close()
	if e := o.right.Close(); err == nil {
		err = e
	}
	return err
}

// Next collects joined rows until it has as many as are wanted. A row is joined only when it is wanted.
func (o *nestLoopOp) Next(want int) (*vec.Batch, error) {
	o.outB.start(min(want, vec.MaxRows))
	for !o.outB.full() {
		more, err := o.step()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	return o.outB.batch(), nil
}

// step does one piece of work: fetch a left batch, start a left row, or join one right batch. False at the end.
func (o *nestLoopOp) step() (bool, error) {
	switch {
	case o.tail == 1:
		return o.unmatchedRight()
	case o.rb != nil:
		return true, o.emit()
	case o.active:
		return true, o.nextRight()
	case len(o.lrows) > 0:
		o.row, o.lrows = int(o.lrows[0]), o.lrows[1:]
		return true, o.startRow()
	case o.ended:
		if o.typ == plan.JoinFull || o.typ == plan.JoinRight {
			o.tail = 1
			if err := o.openRight(); err != nil {
				return false, err
			}
			return true, nil
		}
		return false, nil
	}
	if err := o.st.interrupt(); err != nil {
		return false, err
	}
	b, err := o.left.Next(o.outB.room())
	if err != nil {
		return false, err
	}
	if b == nil {
		o.ended = true
		return true, nil
	}
	if _, err := allCols(b); err != nil {
		return false, err
	}
	o.lb = b
	o.lbuf = fullSel(o.lbuf, b.N, b.Sel)
	o.lrows = o.lbuf
	f := frame{st: o.st, b: b, n: b.N}
	for i, a := range o.args {
		if o.argv[i], err = a.eval(&f, b.Sel); err != nil {
			return false, err
		}
	}
	return true, nil
}

// startRow makes the left row's columns constants and starts the right input for it.
func (o *nestLoopOp) startRow() error {
	for i, v := range o.lb.Cols {
		setConst(&o.leftC[i], v.Kind, v.Datum(o.row))
		o.pair.Cols[i] = &o.leftC[i]
	}
	for i, id := range o.params {
		o.st.setExecParam(id, o.argv[i].Datum(o.row))
	}
	o.active, o.matched, o.rightPos = true, false, 0
	return o.openRight()
}

func (o *nestLoopOp) openRight() error {
	o.rightPos = 0
	switch {
	case !o.rightOpen:
		o.rightOpen = true
		return o.right.Open(o.st.env)
	case o.kept != nil:
		o.kept.rewind()
		return nil
	}
	return o.right.Rescan()
}

// nextRight reads the next right batch and finds the rows that join.
func (o *nestLoopOp) nextRight() error {
	ask := vec.MaxRows
	if o.kept != nil && o.kept.complete() {
		// all in memory: whole chunks
	} else if o.typ == plan.JoinSemi || o.typ == plan.JoinAnti {
		ask = min(ask, vec.FirstRows)
	} else if o.cond == nil || o.cond.volatile {
		ask = o.outB.room()
	}
	b, err := o.right.Next(ask)
	if err != nil {
		return err
	}
	if b == nil {
		o.active = false
		if !o.matched && (o.typ == plan.JoinLeft || o.typ == plan.JoinFull || o.typ == plan.JoinAnti) {
			o.outB.addRow(o.leftConst, o.nullCols())
		}
		return nil
	}
	if err := o.st.interrupt(); err != nil {
		return err
	}
	base := o.rightPos
	o.rightPos += b.Rows()
	o.cur = b
	copy(o.pair.Cols[o.nLeft:], b.Cols) // columns that nobody needed yet stay packed
	o.pair.N, o.pair.Sel = b.N, b.Sel
	sel := b.Sel
	if o.cond != nil {
		if sel, err = o.cond.run(&frame{st: o.st, b: &o.pair, n: b.N}, b.Sel); err != nil {
			return err
		}
	}
	if count(b.N, sel) == 0 {
		return nil
	}
	o.matched = true
	switch o.typ {
	case plan.JoinAnti:
		o.active = false
		return nil
	case plan.JoinSemi:
		o.active = false
		o.outB.addRow(o.leftConst, nil)
		return nil
	case plan.JoinFull, plan.JoinRight:
		o.noteRight(base, b, sel)
	}
	o.rb = b
	o.rbuf = fullSel(o.rbuf, b.N, sel)
	o.rest = o.rbuf
	return o.emit()
}

// noteRight marks the right rows that found a left row; rows are numbered in the order of the kept input.
func (o *nestLoopOp) noteRight(base int, b *vec.Batch, sel []uint16) {
	for len(o.rightSeen) < o.rightPos {
		o.rightSeen = append(o.rightSeen, false)
	}
	if b.Sel == nil {
		each(b.N, sel, func(i int) { o.rightSeen[base+i] = true })
		return
	}
	k := 0
	for pos, i := range b.Sel {
		if sel == nil || k < len(sel) && sel[k] == i {
			o.rightSeen[base+pos] = true
			k++
		}
	}
}

// DecodeColumn implements vec.Source for the pairs: columns of the right batch.
func (o *nestLoopOp) DecodeColumn(_ *vec.Batch, col int) (*vec.Vector, error) {
	return o.cur.Col(col - o.nLeft)
}

// emit moves joined rows to the output while there is room.
func (o *nestLoopOp) emit() error {
	if _, err := allCols(&o.pair); err != nil {
		return err
	}
	n := min(o.outB.room(), len(o.rest))
	for _, i := range o.rest[:n] {
		o.outB.addPair(o.pair.Cols[:o.nLeft], 0, o.pair.Cols[o.nLeft:], int(i))
	}
	o.rest = o.rest[n:]
	if len(o.rest) == 0 {
		o.rb = nil
	}
	return nil
}

// unmatchedRight gives right rows that found no left row, with NULLs on the left.
func (o *nestLoopOp) unmatchedRight() (bool, error) {
	b, err := o.right.Next(o.outB.room())
	if err != nil || b == nil {
		return false, err
	}
	cols, err := allCols(b)
	if err != nil {
		return false, err
	}
	each(b.N, b.Sel, func(i int) {
		p := o.rightPos
		o.rightPos++
		if p >= len(o.rightSeen) || !o.rightSeen[p] {
			o.outB.addRightOnly(o.nLeft, cols, i)
		}
	})
	return true, nil
}

func (o *nestLoopOp) leftConst() ([]*vec.Vector, int) { return o.pair.Cols[:o.nLeft], 0 }

func (o *nestLoopOp) nullCols() []vec.Vector {
	if o.typ == plan.JoinAnti {
		return nil
	}
	return o.nullC
}

// outRows collects an operator's output rows one by one.
type outRows struct {
	kinds []types.Kind
	cols  []vec.Vector
	out   vec.Batch
	n     int
	want  int
}

func newOutRows(kinds []types.Kind) *outRows {
	o := &outRows{kinds: kinds, cols: make([]vec.Vector, len(kinds))}
	o.out.Cols = make([]*vec.Vector, len(kinds))
	for i := range o.cols {
		o.out.Cols[i] = &o.cols[i]
	}
	return o
}

// start begins a batch of at most want rows.
func (o *outRows) start(want int) {
	o.n, o.want = 0, want
	for i := range o.cols {
		o.cols[i].Reset(o.kinds[i], 0)
	}
}

func (o *outRows) room() int  { return o.want - o.n }
func (o *outRows) full() bool { return o.n >= o.want }

// grow adds a row and returns its number.
func (o *outRows) grow() int {
	if o.n == 0 || o.n >= o.cols0Len() {
		size := min(o.want, max(vec.FirstRows, 4*o.n))
		for i := range o.cols {
			o.cols[i].Extend(size)
		}
	}
	o.n++
	return o.n - 1
}

func (o *outRows) cols0Len() int {
	if len(o.cols) == 0 {
		return o.want
	}
	return o.cols[0].Len()
}

// addPair adds row i of left and row j of right.
func (o *outRows) addPair(left []*vec.Vector, i int, right []*vec.Vector, j int) {
	r := o.grow()
	for k, v := range left {
		o.cols[k].Copy(r, v, i)
	}
	for k, v := range right {
		o.cols[len(left)+k].Copy(r, v, j)
	}
}

// addRow adds a left row with constant right columns (none for semi and anti joins).
func (o *outRows) addRow(left func() ([]*vec.Vector, int), right []vec.Vector) {
	l, i := left()
	r := o.grow()
	for k, v := range l {
		o.cols[k].Copy(r, v, i)
	}
	for k := range right {
		o.cols[len(l)+k].Copy(r, &right[k], 0)
	}
}

// addRightOnly adds a right row behind n NULLs.
func (o *outRows) addRightOnly(n int, right []*vec.Vector, j int) {
	r := o.grow()
	for k := range n {
		o.cols[k].SetNull(r)
	}
	for k, v := range right {
		o.cols[n+k].Copy(r, v, j)
	}
}

// addTuple adds a tuple, its columns starting at output column at.
func (o *outRows) addTuple(c *tupleCodec, t []byte, at int) int {
	r := o.grow()
	for k := range c.kinds {
		o.cols[at+k].SetDatum(r, c.datum(t, k))
	}
	return r
}

// batch returns the collected rows, nil when there are none.
func (o *outRows) batch() *vec.Batch {
	if o.n == 0 {
		return nil
	}
	o.out.N, o.out.Sel = o.n, nil
	return &o.out
}
