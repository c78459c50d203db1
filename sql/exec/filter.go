package exec

import (
	"herd/planner/plan"
	"herd/sql/vec"
)

// readAhead turns filtered batches into batches of at most want rows: what a filter found beyond want is kept for the
// next call. It is embedded by operators with a filter.
type readAhead struct {
	b       *vec.Batch
	rest    []uint16
	decoded []bool // columns of b that were there for all of rest
	lazy    vec.Source
}

func (r *readAhead) reset() { r.b, r.rest = nil, nil }

// pending returns the next part of what was kept, nil when nothing is left.
func (r *readAhead) pending(want int) *vec.Batch {
	if len(r.rest) == 0 {
		return nil
	}
	for i, ok := range r.decoded {
		if !ok { // decoded for an earlier part only
			r.b.Cols[i] = nil
		}
	}
	n := min(want, len(r.rest))
	r.b.Sel, r.rest = r.rest[:n:n], r.rest[n:]
	return r.b
}

// filtered gives those of b's rows, all of them live, that filter keeps, cut to want; nil when it keeps none. A nil filter
// keeps all of what is at most want rows.
func (r *readAhead) filtered(st *State, filter *filterProg, b *vec.Batch, want int) (*vec.Batch, error) {
	if filter == nil {
		return b, nil
	}
	sel, err := filter.run(&frame{st: st, b: b, n: b.N}, nil)
	if err != nil || sel != nil && len(sel) == 0 {
		return nil, err
	}
	b.Sel = sel
	return r.offer(b, want), nil
}

// offer gives b, with its rows in b.Sel already filtered, cut to want rows.
func (r *readAhead) offer(b *vec.Batch, want int) *vec.Batch {
	if b.Rows() <= want {
		return b
	}
	r.b = b
	r.rest = b.Sel
	if r.rest == nil {
		r.rest = fullSel(nil, b.N, nil)
	}
	r.decoded = r.decoded[:0]
	for _, c := range b.Cols {
		r.decoded = append(r.decoded, c != nil)
	}
	return r.pending(want)
}

// filterOp is plan.Filter.
type filterOp struct {
	st   *State
	in   Operator
	cond *filterProg
	id   int
	pure bool // reading ahead is harmless
	ramp ramp
	readAhead
}

func (s *State) buildFilter(n *plan.Filter) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	c, err := s.compiler().filter(n.Cond)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return in, nil
	}
	return &filterOp{st: s, in: in, id: n.ID, cond: c, pure: !c.volatile && pureNode(n.Input)}, nil
}

func (o *filterOp) Open(env *Env) error {
	o.reset()
	o.ramp.reset()
	return o.in.Open(env)
}

func (o *filterOp) Rescan() error {
	o.reset()
	o.ramp.reset()
	return o.in.Rescan()
}

func (o *filterOp) Close() error { o.reset(); return o.in.Close() }

func (o *filterOp) Next(want int) (*vec.Batch, error) {
	if b := o.pending(want); b != nil {
		return b, nil
	}
	for {
		ask := want
		if o.pure {
			ask = o.ramp.next(vec.MaxRows)
		}
		b, err := o.in.Next(ask)
		if err != nil || b == nil {
			return nil, err
		}
		sel, err := o.cond.run(&frame{st: o.st, b: b, n: b.N}, b.Sel)
		if err != nil {
			return nil, err
		}
		o.st.removed(o.id, b.Rows(), count(b.N, sel))
		if sel != nil && len(sel) == 0 {
			if err := o.st.interrupt(); err != nil {
				return nil, err
			}
			continue
		}
		b.Sel = sel
		return o.offer(b, want), nil
	}
}
