package exec

import (
	"herd/planner/plan"
	"herd/sql/vec"
)

// appendOp is plan.Append: its inputs one after the other.
type appendOp struct {
	in  []Operator
	pos int
}

func (s *State) buildAppend(n *plan.Append) (Operator, error) {
	o := &appendOp{}
	for _, c := range n.Inputs {
		op, err := s.build(c)
		if err != nil {
			return nil, err
		}
		o.in = append(o.in, op)
	}
	return o, nil
}

func (o *appendOp) Open(env *Env) error {
	o.pos = 0
	for _, in := range o.in {
		if err := in.Open(env); err != nil {
			return err
		}
	}
	return nil
}

func (o *appendOp) Rescan() error {
	o.pos = 0
	for _, in := range o.in {
		if err := in.Rescan(); err != nil {
			return err
		}
	}
	return nil
}

func (o *appendOp) Close() error {
	var first error
	for _, in := range o.in {
		if err := in.Close(); first == nil {
			first = err
		}
	}
	return first
}

func (o *appendOp) Next(want int) (*vec.Batch, error) {
	for o.pos < len(o.in) {
		b, err := o.in[o.pos].Next(want)
		if err != nil || b != nil {
			return b, err
		}
		o.pos++
	}
	return nil, nil
}
