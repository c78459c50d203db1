package exec

import (
	"herd/planner/plan"
	"herd/sql/vec"
)

// recursiveOp is plan.RecursiveUnion: WITH RECURSIVE.
type recursiveOp struct {
	st         *State
	init, step Operator
	distinct   bool
	key        eqKey
	keyV       []*vec.Vector
	keyP       []program
	seen       keyTable
	block      *seenBlock // instead of seen, when memory was refused
	work, next *tape      // rows of the last iteration, rows of this one
	batch      *tupleBatch
	stage      int // 0 init term, 1 recursive term, 2 end
	stepOpen   bool
	sel        []uint16
}

func (s *State) buildRecursive(n *plan.RecursiveUnion) (Operator, error) {
	kinds := kindsOf(n)
	o := &recursiveOp{st: s, distinct: n.Distinct, work: newTape(kinds), next: newTape(kinds)}
	o.block = newSeenBlock(kinds)
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
	o.block.close()
	o.stage = 0
	return o.init.Open(env)
}

func (o *recursiveOp) Rescan() error {
	o.work.open(o.st.env)
	o.next.open(o.st.env)
	o.seen.reset()
	o.block.close()
	o.stage = 0
	return o.init.Rescan()
}

func (o *recursiveOp) Close() error {
	o.work.close()
	o.next.close()
	o.seen.close()
	o.block.close()
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
		if o.block.ready() {
			b, err := o.block.give(want)
			if err != nil {
				return nil, err
			}
			return b, o.next.addBatch(b)
		}
		in := o.init
		if o.stage == 1 {
			in = o.step
		}
		b, err := in.Next(want)
		if err != nil {
			return nil, err
		}
		if b == nil {
			if err := o.endInput(); err != nil {
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

// endInput decides on rows that wait for it, and goes to the next iteration when there are none.
func (o *recursiveOp) endInput() error {
	if o.block.pending() {
		return errMemory(o.block.decide(o.st))
	}
	return o.turn()
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
		if !o.block.open {
			var added bool
			if _, added, err = o.seen.insert(hashKey(k), k); added {
				keep = append(keep, uint16(i))
			}
			if !o.st.env.canSpill(err) {
				return
			}
			if err = o.block.start(o.st.env, &o.seen); err != nil {
				return
			}
		}
		err = o.block.add(o.st, k, b, i)
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
		if b, err := o.filtered(o.st, o.filter, b, want); b != nil || err != nil {
			return b, err
		}
	}
}
