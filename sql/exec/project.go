package exec

import (
	"herd/planner/plan"
	"herd/sql/vec"
)

// projectOp is plan.Project. Plain columns pass through and stay lazy; everything else is computed for the live rows.
type projectOp struct {
	st    *State
	in    Operator
	exprs []program
	from  []int // input column that an expression passes through, -1 computed
	b     *vec.Batch
	out   vec.Batch
}

func (s *State) buildProject(n *plan.Project) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	o := &projectOp{st: s, in: in, out: vec.Batch{Cols: make([]*vec.Vector, len(n.Exprs))}}
	o.out.Src = o
	c := s.compiler()
	for _, e := range n.Exprs {
		p, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		from := -1
		if sl, ok := p.(*slotProg); ok {
			from = sl.col
		}
		o.exprs, o.from = append(o.exprs, p), append(o.from, from)
	}
	return o, nil
}

func (o *projectOp) Open(env *Env) error { return o.in.Open(env) }
func (o *projectOp) Rescan() error       { return o.in.Rescan() }
func (o *projectOp) Close() error        { o.b = nil; return o.in.Close() }

func (o *projectOp) Next(want int) (*vec.Batch, error) {
	b, err := o.in.Next(want)
	if err != nil || b == nil {
		return nil, err
	}
	o.b = b
	f := frame{st: o.st, b: b, n: b.N}
	for i, e := range o.exprs {
		if o.from[i] >= 0 {
			o.out.Cols[i] = b.Cols[o.from[i]]
			continue
		}
		if o.out.Cols[i], err = e.eval(&f, b.Sel); err != nil {
			return nil, err
		}
	}
	o.out.N, o.out.Sel = b.N, b.Sel
	return &o.out, nil
}

// DecodeColumn implements vec.Source: a passed-through column is decoded for the rows that are live now.
func (o *projectOp) DecodeColumn(b *vec.Batch, col int) (*vec.Vector, error) {
	if b.Rows() < o.b.Rows() {
		sel := o.b.Sel
		o.b.Sel = b.Sel
		v, err := o.b.Col(o.from[col])
		o.b.Cols[o.from[col]] = nil // for the narrower selection only
		o.b.Sel = sel
		return v, err
	}
	return o.b.Col(o.from[col])
}
