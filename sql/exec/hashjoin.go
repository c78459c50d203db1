package exec

import (
	"herd/planner/plan"
	"herd/sql/vec"
)

// hashJoinOp builds a hash table of its right input and probes it with its left input. When memory is refused both inputs
// are divided by hash into partition files, which are then joined one after the other.
type hashJoinOp struct {
	st          *State
	typ         plan.JoinType
	left, right Operator
	lkeys       keySide
	rkeys       keySide
	cond        *filterProg
	nLeft       int
	nRight      int
	lcodec      *tupleCodec

	table hashRows
	built bool
	fixed bool // the right input does not depend on exec params: Rescan keeps the table
	parts *joinParts

	lb     *vec.Batch
	lfirst bool // nothing of lb was given yet
	lrows  []uint16
	lbuf   []uint16
	match  []int32 // by row of lb: the first build row with its key, -1 none
	ended  bool    // no more left rows (of this partition)
	over   bool    // everything is given
	cands  candidates
	pair   vec.Batch
	pairV  []vec.Vector
	tail   bool
	tailAt int
	// A left row whose chain was cut carries over whether it has matched: row number, -1 none.
	carryRow int
	carryHit bool
	out      joinOut
	probe    *tupleBatch // left rows read back from a partition
	probeR   [][]byte
	read     *spillReader
}

func (s *State) buildHashJoin(n *plan.HashJoin) (Operator, error) {
	o := &hashJoinOp{st: s, typ: n.Type, fixed: !s.dependent(n.Right), nLeft: len(n.Left.Base().Cols), nRight: len(n.Right.Base().Cols)}
	var err error
	if o.left, err = s.build(n.Left); err != nil {
		return nil, err
	}
	if s.worker {
		o.right = noRows{} // its table is the session's: see borrow
	} else if o.right, err = s.build(n.Right); err != nil {
		return nil, err
	}
	c := s.compiler()
	if o.lkeys, err = c.keySide(n.Keys, false); err != nil {
		return nil, err
	}
	if o.rkeys, err = c.keySide(n.Keys, true); err != nil {
		return nil, err
	}
	if o.cond, err = c.filter(n.Cond); err != nil {
		return nil, err
	}
	lk, rk := kindsOf(n.Left), kindsOf(n.Right)
	o.lcodec = newTupleCodec(lk)
	o.table.rows = newRowStore(rk)
	o.pairV = make([]vec.Vector, o.nLeft+o.nRight)
	o.pair.Cols = make([]*vec.Vector, o.nLeft+o.nRight)
	o.table.single = len(n.Keys) == 1 && !n.Keys[0].NullsEqual && o.lkeys.key.cols[0].mode == eqInt
	o.out.init(o, len(n.Base().Cols))
	o.probe = newTupleBatch(o.lcodec)
	o.pair.Src = (*pairSource)(o)
	return o, nil
}

func (o *hashJoinOp) clear() {
	o.out.reset(0)
	o.lb, o.lrows, o.ended, o.over, o.tail, o.tailAt, o.read = nil, nil, false, false, false, 0, nil
	o.carry(-1, false)
	o.cands = candidates{left: o.cands.left[:0], right: o.cands.right[:0], start: o.cands.start[:0], rows: o.cands.rows[:0], chain: -1}
	o.built = false
	o.parts.close()
	o.parts = nil
}

func (o *hashJoinOp) Open(env *Env) error {
	o.clear()
	if err := o.right.Open(env); err != nil {
		return err
	}
	return o.left.Open(env)
}

func (o *hashJoinOp) Rescan() error {
	if keep := o.fixed && o.built && o.parts == nil; keep {
		o.clear()
		o.built = true
		clear(o.table.seen)
		return o.left.Rescan()
	}
	o.clear()
	if err := o.right.Rescan(); err != nil {
		return err
	}
	return o.left.Rescan()
}

func (o *hashJoinOp) Close() error {
	o.clear()
	o.table.close()
	err := o.left.Close()
	if e := o.right.Close(); err == nil {
		err = e
	}
	return err
}

// build reads the right input into the table.
func (o *hashJoinOp) build() error {
	o.built = true
	o.table.open(o.st.env)
	for {
		b, err := o.right.Next(vec.MaxRows)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := o.st.interrupt(); err != nil {
			return err
		}
		cols, err := allCols(b)
		if err != nil {
			return err
		}
		if err := o.rkeys.eval(o.st, b); err != nil {
			return err
		}
		each(b.N, b.Sel, func(i int) {
			if err == nil {
				err = o.addRight(cols, i)
			}
		})
		if err != nil {
			return errMemory(err)
		}
	}
	if o.parts != nil {
		return o.partitionLeft()
	}
	return nil
}

func (o *hashJoinOp) addRight(cols []*vec.Vector, i int) error {
	t := o.table.rows
	if o.parts == nil {
		t.buf = t.codec.encode(t.buf[:0], cols, i)
		var err error
		if o.table.single {
			v := o.rkeys.vs[0]
			if null := v.IsNull(i); !null {
				err = o.table.addInt(v.Int[v.At(i)], t.buf)
			} else if o.keepsRight() {
				err = o.table.addTuple(t.buf)
			}
		} else if k, ok := o.rkeys.row(i); ok || o.keepsRight() {
			err = o.table.add(k, ok, t.buf)
		}
		if err == nil || !o.st.env.canSpill(err) {
			return err
		}
		if o.parts, err = newJoinParts(o.st.env, 0); err != nil {
			return err
		}
		if err := o.spillTable(); err != nil {
			return err
		}
	}
	k, ok := o.rkeys.row(i)
	if !ok && !o.keepsRight() {
		return nil
	}
	t.buf = t.codec.encode(t.buf[:0], cols, i)
	return o.parts.right.write(hashKey(k), k, ok, t.buf)
}

// keepsRight says whether right rows without a partner are wanted.
func (o *hashJoinOp) keepsRight() bool { return o.typ == plan.JoinRight || o.typ == plan.JoinFull }

// spillTable moves the rows that are in memory to partitions.
func (o *hashJoinOp) spillTable() error {
	t := &o.table
	owner := t.owners()
	var buf []byte
	for r, tuple := range t.rows.rows {
		var k []byte
		if owner[r] >= 0 {
			k = t.key(buf[:0], int(owner[r]))
		}
		if err := o.parts.right.write(hashKey(k), k, owner[r] >= 0, tuple); err != nil {
			return err
		}
	}
	t.open(o.st.env)
	return nil
}

// borrow makes the join of a worker probe the table of the session's join, which is built and fits in memory.
func (o *hashJoinOp) borrow(from *hashJoinOp) {
	o.built = true
	o.table.borrow(&from.table)
}

// noRows is an input without rows.
type noRows struct{}

func (noRows) Open(*Env) error              { return nil }
func (noRows) Next(int) (*vec.Batch, error) { return nil, nil }
func (noRows) Rescan() error                { return nil }
func (noRows) Close() error                 { return nil }
