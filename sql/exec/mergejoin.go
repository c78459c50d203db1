package exec

import (
	"bytes"

	"herd/planner/plan"
	"herd/sql/types"
	"herd/sql/vec"
)

// mergeJoinOp joins two inputs sorted on the join keys: for every left row the group of right rows with its key.
type mergeJoinOp struct {
	st            *State
	typ           plan.JoinType
	left, right   mergeSide
	cond          *filterProg
	nLeft, nRight int

	group    *rowStore // right rows of one key
	groupKey []byte
	groupOK  bool // group is loaded
	groupHit []bool
	groupB   *tupleBatch

	row     bool // a left row is in work
	matched bool
	at      int // next row of group to join with it
	rest    []uint16
	base    int // group row of pair row 0
	tailAt  int // unmatched rows of a finished group still to emit
	tail    bool
	leftC   []vec.Vector
	pair    vec.Batch
	sel     []uint16
	outB    *outRows
}

// mergeSide reads one sorted input row by row with its key.
type mergeSide struct {
	op    Operator
	progs []program
	cols  []sortCol
	vs    []*vec.Vector
	b     *vec.Batch
	sel   []uint16
	selB  []uint16
	row   int
	key   []byte
	null  bool // a key column is NULL: no partner
	ended bool
}

func (m *mergeSide) reset() { m.b, m.sel, m.ended = nil, nil, false }

// next moves to the next row; false at the end.
func (m *mergeSide) next(st *State, want int) (bool, error) {
	for len(m.sel) == 0 {
		if m.ended {
			return false, nil
		}
		if err := st.interrupt(); err != nil {
			return false, err
		}
		b, err := m.op.Next(want)
		if err != nil {
			return false, err
		}
		if b == nil {
			m.ended = true
			return false, nil
		}
		if _, err := allCols(b); err != nil {
			return false, err
		}
		f := frame{st: st, b: b, n: b.N}
		for i, p := range m.progs {
			if m.vs[i], err = p.eval(&f, b.Sel); err != nil {
				return false, err
			}
		}
		m.b = b
		m.selB = fullSel(m.selB, b.N, b.Sel)
		m.sel = m.selB
	}
	m.row, m.sel = int(m.sel[0]), m.sel[1:]
	m.key = appendSortKey(m.key[:0], m.cols, m.vs, m.row)
	m.null = false
	for _, v := range m.vs {
		m.null = m.null || v.IsNull(m.row)
	}
	return true, nil
}

func (s *State) buildMergeJoin(n *plan.MergeJoin) (Operator, error) {
	o := &mergeJoinOp{st: s, typ: n.Type, nLeft: len(n.Left.Base().Cols), nRight: len(n.Right.Base().Cols)}
	c := s.compiler()
	for i, in := range []plan.Node{n.Left, n.Right} {
		side := &o.left
		if i == 1 {
			side = &o.right
		}
		op, err := s.build(in)
		if err != nil {
			return nil, err
		}
		side.op = op
		for k, h := range n.Keys {
			e := h.Left
			if i == 1 {
				e = h.Right
			}
			p, err := c.compile(e)
			if err != nil {
				return nil, err
			}
			col := sortCol{typ: h.Type, coll: h.Collation}
			if k < len(n.Desc) {
				col.desc = n.Desc[k]
			}
			if k < len(n.NullsFirst) {
				col.nullsFirst = n.NullsFirst[k]
			}
			side.progs, side.cols = append(side.progs, p), append(side.cols, col)
		}
		side.vs = make([]*vec.Vector, len(side.progs))
	}
	var err error
	if o.cond, err = c.filter(n.Cond); err != nil {
		return nil, err
	}
	lk, rk := kindsOf(n.Left), kindsOf(n.Right)
	o.group = newRowStore(rk)
	o.groupB = newTupleBatch(o.group.codec)
	kinds := append(append([]types.Kind{}, lk...), rk...)
	if n.Type == plan.JoinSemi || n.Type == plan.JoinAnti {
		kinds = lk
	}
	o.outB = newOutRows(kinds)
	o.leftC = make([]vec.Vector, o.nLeft)
	o.pair.Cols = make([]*vec.Vector, o.nLeft+o.nRight)
	return o, nil
}

func (o *mergeJoinOp) clear() {
	o.left.reset()
	o.right.reset()
	o.groupOK, o.row, o.tail, o.rest, o.at, o.tailAt = false, false, false, nil, 0, 0
	o.right.row = -1
}

func (o *mergeJoinOp) Open(env *Env) error {
	o.clear()
	o.group.open(env)
	if err := o.left.op.Open(env); err != nil {
		return err
	}
	return o.right.op.Open(env)
}

func (o *mergeJoinOp) Rescan() error {
	o.clear()
	o.group.reset()
	if err := o.left.op.Rescan(); err != nil {
		return err
	}
	return o.right.op.Rescan()
}

func (o *mergeJoinOp) Close() error {
	o.clear()
	o.group.close()
	err := o.left.op.Close()
	if e := o.right.op.Close(); err == nil {
		err = e
	}
	return err
}

// Next collects joined rows.
func (o *mergeJoinOp) Next(want int) (*vec.Batch, error) {
	o.outB.start(min(want, vec.MaxRows))
	for !o.outB.full() {
		more, err := o.step()
		if err != nil {
			return nil, errMemory(err)
		}
		if !more {
			break
		}
	}
	return o.outB.batch(), nil
}

// keepsRight says whether unmatched right rows are part of the result.
func (o *mergeJoinOp) keepsRight() bool { return o.typ == plan.JoinRight || o.typ == plan.JoinFull }

func (o *mergeJoinOp) step() (bool, error) {
	switch {
	case len(o.rest) > 0:
		o.emit()
		return true, nil
	case o.tail:
		o.emitTail()
		return true, nil
	case o.row:
		return true, o.joinRow()
	}
	ok, err := o.left.next(o.st, o.outB.room())
	if err != nil {
		return false, err
	}
	if !ok {
		return o.drainRight()
	}
	o.row, o.matched, o.at = true, false, 0
	return true, nil
}

// drainRight gives the right rows behind the last left row.
func (o *mergeJoinOp) drainRight() (bool, error) {
	if !o.keepsRight() {
		return false, nil
	}
	if o.groupOK {
		o.dropGroup()
		return true, nil
	}
	return o.loadGroup()
}

// dropGroup ends work on the group; its unmatched rows are emitted first when the join keeps them.
func (o *mergeJoinOp) dropGroup() {
	o.groupOK = false
	if o.keepsRight() {
		o.tail, o.tailAt = true, 0
	}
}

// loadGroup reads the next rows with equal keys from the right input; false at its end.
func (o *mergeJoinOp) loadGroup() (bool, error) {
	r := &o.right
	if r.row < 0 { // nothing read ahead
		if ok, err := r.next(o.st, vec.MaxRows); err != nil || !ok {
			return false, err
		}
	}
	o.group.reset()
	o.groupHit = o.groupHit[:0]
	o.groupKey = append(o.groupKey[:0], r.key...)
	for {
		if err := o.group.add(r.b.Cols, r.row); err != nil {
			return false, err
		}
		o.groupHit = append(o.groupHit, false)
		ok, err := r.next(o.st, vec.MaxRows)
		if err != nil {
			return false, err
		}
		if !ok {
			r.row = -1
			break
		}
		if !bytes.Equal(r.key, o.groupKey) {
			break
		}
	}
	o.groupOK = true
	return true, nil
}

// joinRow joins the left row with the next part of its group, after moving the right input up to its key.
func (o *mergeJoinOp) joinRow() error {
	for {
		if o.groupOK {
			c := bytes.Compare(o.groupKey, o.left.key)
			if c > 0 || c == 0 && o.left.null {
				o.endRow()
				return nil
			}
			if c == 0 {
				break
			}
			o.dropGroup()
			if o.tail {
				return nil
			}
		}
		ok, err := o.loadGroup()
		if err != nil {
			return err
		}
		if !ok {
			o.endRow()
			return nil
		}
	}
	if o.at >= len(o.group.rows) {
		o.endRow()
		return nil
	}
	return o.joinPart()
}

// joinPart evaluates the condition for the left row and up to a batch of group rows.
func (o *mergeJoinOp) joinPart() error {
	if o.at == 0 {
		for i, v := range o.left.b.Cols {
			setConst(&o.leftC[i], v.Kind, v.Datum(o.left.row))
			o.pair.Cols[i] = &o.leftC[i]
		}
	}
	n := min(vec.MaxRows, len(o.group.rows)-o.at)
	gb := o.groupB.set(o.group.rows[o.at : o.at+n])
	cols, err := allCols(gb)
	if err != nil {
		return err
	}
	copy(o.pair.Cols[o.nLeft:], cols)
	o.pair.N, o.pair.Sel = n, nil
	o.base = o.at
	o.at += n
	var sel []uint16
	if o.cond != nil {
		if sel, err = o.cond.run(&frame{st: o.st, b: &o.pair, n: n}, nil); err != nil {
			return err
		}
	}
	o.sel = fullSel(o.sel, n, sel)
	if len(o.sel) == 0 {
		return nil
	}
	o.matched = true
	if o.typ == plan.JoinSemi || o.typ == plan.JoinAnti {
		o.endRow()
		return nil
	}
	o.rest = o.sel
	o.emit()
	return nil
}

func (o *mergeJoinOp) emit() {
	n := min(o.outB.room(), len(o.rest))
	for _, i := range o.rest[:n] {
		o.groupHit[o.base+int(i)] = true
		o.outB.addPair(o.pair.Cols[:o.nLeft], 0, o.pair.Cols[o.nLeft:], int(i))
	}
	o.rest = o.rest[n:]
}

// endRow decides on a left row that has met all its partners.
func (o *mergeJoinOp) endRow() {
	o.row = false
	semi := o.typ == plan.JoinSemi && o.matched || o.typ == plan.JoinAnti && !o.matched
	outer := (o.typ == plan.JoinLeft || o.typ == plan.JoinFull) && !o.matched
	if !semi && !outer {
		return
	}
	r := o.outB.grow()
	for c, v := range o.left.b.Cols {
		o.outB.cols[c].Copy(r, v, o.left.row)
	}
	if outer {
		for c := range o.nRight {
			o.outB.cols[o.nLeft+c].SetNull(r)
		}
	}
}

// emitTail gives the unmatched rows of the group just dropped.
func (o *mergeJoinOp) emitTail() {
	for ; o.tailAt < len(o.group.rows) && !o.outB.full(); o.tailAt++ {
		if o.groupHit[o.tailAt] {
			continue
		}
		r := o.outB.addTuple(o.group.codec, o.group.rows[o.tailAt], o.nLeft)
		for c := range o.nLeft {
			o.outB.cols[c].SetNull(r)
		}
	}
	o.tail = o.tailAt < len(o.group.rows)
}
