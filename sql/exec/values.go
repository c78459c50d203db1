package exec

import (
	"herd/planner/plan"
	"herd/sql/types"
	"herd/sql/vec"
)

// resultOp is plan.Result: one row, or none when its filter is not true.
type resultOp struct {
	st     *State
	exprs  []program
	filter *filterProg
	done   bool
	out    vec.Batch
}

func (s *State) buildResult(n *plan.Result) (Operator, error) {
	c := s.compiler()
	exprs, err := c.compileAll(n.Exprs)
	if err != nil {
		return nil, err
	}
	f, err := c.filter(n.Filter)
	return &resultOp{st: s, exprs: exprs, filter: f, out: vec.Batch{Cols: make([]*vec.Vector, len(exprs))}}, err
}

func (o *resultOp) Open(*Env) error { o.done = false; return nil }
func (o *resultOp) Rescan() error   { o.done = false; return nil }
func (o *resultOp) Close() error    { return nil }

func (o *resultOp) Next(int) (*vec.Batch, error) {
	if o.done {
		return nil, nil
	}
	o.done = true
	f := frame{st: o.st, n: 1}
	if o.filter != nil {
		sel, err := o.filter.run(&f, nil)
		if err != nil || sel != nil && len(sel) == 0 {
			return nil, err
		}
	}
	for i, e := range o.exprs {
		v, err := e.eval(&f, nil)
		if err != nil {
			return nil, err
		}
		o.out.Cols[i] = v
	}
	o.out.N, o.out.Sel = 1, nil
	return &o.out, nil
}

// valuesOp is plan.Values: one row a list.
type valuesOp struct {
	st    *State
	lists [][]program
	kinds []types.Kind
	pos   int
	cols  []vec.Vector
	out   vec.Batch
}

func (s *State) buildValues(n *plan.Values) (Operator, error) {
	o := &valuesOp{st: s, kinds: kindsOf(n)}
	for _, l := range n.Lists {
		ps, err := s.compiler().compileAll(l)
		if err != nil {
			return nil, err
		}
		o.lists = append(o.lists, ps)
	}
	o.cols = make([]vec.Vector, len(o.kinds))
	o.out.Cols = make([]*vec.Vector, len(o.kinds))
	for i := range o.cols {
		o.out.Cols[i] = &o.cols[i]
	}
	return o, nil
}

func (o *valuesOp) Open(*Env) error { o.pos = 0; return nil }
func (o *valuesOp) Rescan() error   { o.pos = 0; return nil }
func (o *valuesOp) Close() error    { return nil }

func (o *valuesOp) Next(want int) (*vec.Batch, error) {
	n := min(want, vec.MaxRows, len(o.lists)-o.pos)
	if n == 0 {
		return nil, nil
	}
	for i := range o.cols {
		o.cols[i].Reset(o.kinds[i], n)
	}
	f := frame{st: o.st, n: 1}
	for r := range n {
		for i, e := range o.lists[o.pos+r] {
			v, err := e.eval(&f, nil)
			if err != nil {
				return nil, err
			}
			o.cols[i].Copy(r, v, 0)
		}
	}
	o.pos += n
	o.out.N, o.out.Sel = n, nil
	return &o.out, nil
}
