package exec

import (
	"container/heap"

	"herd/planner/plan"
	"herd/sql/vec"
)

// sortOp is plan.Sort: order-preserving keys and tuples in a sorter, a heap of the smallest rows under a Limit.
type sortOp struct {
	st    *State
	in    Operator
	progs []program
	cols  []sortCol
	vs    []*vec.Vector
	codec *tupleCodec
	top   int // rows to keep, set by the parent Limit; -1 all
	topN  bool

	sorter
	tmp   []byte
	done  bool
	batch *tupleBatch
	rows  [][]byte
}

func (s *State) buildSort(n *plan.Sort) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	o := &sortOp{st: s, in: in, cols: sortCols(n.Keys), codec: newTupleCodec(kindsOf(n.Input)), top: -1, topN: n.TopN}
	c := s.compiler()
	for _, k := range n.Keys {
		p, err := c.compile(k.Expr)
		if err != nil {
			return nil, err
		}
		o.progs = append(o.progs, p)
	}
	o.vs = make([]*vec.Vector, len(o.progs))
	o.batch = newTupleBatch(o.codec)
	return o, nil
}

func (o *sortOp) Open(env *Env) error {
	o.start(env)
	o.done = false
	return o.in.Open(env)
}

func (o *sortOp) Rescan() error {
	o.reset()
	o.done = false
	return o.in.Rescan()
}

func (o *sortOp) Close() error {
	o.close()
	o.done = false
	clear(o.rows)
	return o.in.Close()
}

func (o *sortOp) Next(want int) (*vec.Batch, error) {
	if !o.done {
		if err := o.load(); err != nil {
			return nil, errMemory(err)
		}
		o.done = true
	}
	want = min(want, vec.MaxRows)
	if len(o.rows) < want {
		o.rows = make([][]byte, vec.MaxRows)
	}
	n := 0
	for n < want {
		it := o.peek()
		if it == nil {
			break
		}
		o.rows[n] = it.tuple()
		n++
		if err := o.advance(); err != nil {
			return nil, err
		}
	}
	if n == 0 {
		return nil, nil
	}
	return o.batch.set(o.rows[:n]), nil
}

// load reads the whole input and sorts it.
func (o *sortOp) load() error {
	for {
		b, err := o.in.Next(vec.MaxRows)
		if err != nil {
			return err
		}
		if b == nil {
			return o.begin()
		}
		if err := o.st.interrupt(); err != nil {
			return err
		}
		cols, err := allCols(b)
		if err != nil {
			return err
		}
		f := frame{st: o.st, b: b, n: b.N}
		for i, p := range o.progs {
			if o.vs[i], err = p.eval(&f, b.Sel); err != nil {
				return err
			}
		}
		each(b.N, b.Sel, func(i int) {
			if err == nil {
				err = o.addRow(cols, i)
			}
		})
		if err != nil {
			return err
		}
	}
}

// addRow takes one row. Under a Limit a row beyond the worst of the rows kept is dropped at once.
func (o *sortOp) addRow(cols []*vec.Vector, i int) error {
	rec := appendSortKey(append(o.tmp[:0], 0, 0, 0, 0), o.cols, o.vs, i)
	it := o.item(rec, len(rec)-4)
	full := o.top >= 0 && !o.spilled() && len(o.items) >= o.top
	if full && (o.top == 0 || compareItems(&it, &o.items[0]) > 0) {
		o.tmp = rec
		return nil
	}
	it.rec = o.codec.encode(rec, cols, i)
	o.tmp = it.rec
	if full {
		it.rec = append(o.items[0].rec[:0], it.rec...) // the dropped row's memory is reused
		o.items[0] = it
		heap.Fix((*maxHeap)(o), 0)
		return nil
	}
	if err := o.add(it); err != nil {
		return err
	}
	if o.top >= 0 && !o.spilled() && len(o.items) == o.top {
		heap.Init((*maxHeap)(o))
	}
	return nil
}

// maxHeap keeps the worst row of a top-N sort at index 0.
type maxHeap sortOp

func (h *maxHeap) Len() int           { return len(h.items) }
func (h *maxHeap) Less(i, j int) bool { return compareItems(&h.items[i], &h.items[j]) > 0 }
func (h *maxHeap) Swap(i, j int)      { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *maxHeap) Push(any)           {}
func (h *maxHeap) Pop() any           { return nil }
