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

	volatile bool  // computing a row twice is not harmless
	failed   error // found in the batch whose rows before it were returned
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
		o.volatile = o.volatile || hasVolatile(e)
		from := -1
		if sl, ok := p.(*slotProg); ok {
			from = sl.col
		}
		o.exprs, o.from = append(o.exprs, p), append(o.from, from)
	}
	return o, nil
}

func (o *projectOp) Open(env *Env) error { o.failed = nil; return o.in.Open(env) }
func (o *projectOp) Rescan() error       { o.failed = nil; return o.in.Rescan() }
func (o *projectOp) Close() error        { o.b, o.failed = nil, nil; return o.in.Close() }

func (o *projectOp) Next(want int) (*vec.Batch, error) {
	if o.failed != nil {
		return nil, o.failed
	}
	b, err := o.in.Next(want)
	if err != nil || b == nil {
		return nil, err
	}
	o.b = b
	if err := o.compute(b, b.Sel); err != nil {
		if o.volatile || b.Rows() == 1 {
			return nil, err
		}
		return o.beforeError(b, err)
	}
	return &o.out, nil
}

// compute evaluates the expressions for the selected rows.
func (o *projectOp) compute(b *vec.Batch, sel []uint16) (err error) {
	f := frame{st: o.st, b: b, n: b.N}
	for i, e := range o.exprs {
		if o.from[i] >= 0 {
			o.out.Cols[i] = b.Cols[o.from[i]]
			continue
		}
		if o.out.Cols[i], err = e.eval(&f, sel); err != nil {
			return err
		}
	}
	o.out.N, o.out.Sel = b.N, sel
	return nil
}

// beforeError returns the rows before the one that cannot be computed, as a client sees them that gets rows one by one; the
// error comes with the next call.
func (o *projectOp) beforeError(b *vec.Batch, err error) (*vec.Batch, error) {
	sel := b.Sel
	if sel == nil {
		sel = fullSel(nil, b.N, nil)
	}
	good := 0
	for good < len(sel) {
		if e := o.compute(b, sel[good:good+1]); e != nil {
			err = e
			break
		}
		good++
	}
	if good == 0 {
		return nil, err
	}
	if e := o.compute(b, sel[:good]); e != nil {
		return nil, e
	}
	o.failed = err
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
