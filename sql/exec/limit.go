package exec

import (
	"bytes"

	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/vec"
)

// limitOp is plan.Limit.
type limitOp struct {
	st            *State
	in            Operator
	count, offset program
	started       bool
	limit         int64 // rows still to give, -1 no limit
	skip          int64
	ties          bool
	tieP          []program
	tieCols       []sortCol
	tieV          []*vec.Vector
	tieKey        []byte
	inTies        bool
	sel           []uint16
}

func (s *State) buildLimit(n *plan.Limit) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	o := &limitOp{st: s, in: in, ties: n.WithTies}
	c := s.compiler()
	if o.count, err = c.optional(n.Count); err != nil {
		return nil, err
	}
	if o.offset, err = c.optional(n.Offset); err != nil {
		return nil, err
	}
	if n.WithTies {
		o.tieCols = sortCols(n.TieKeys)
		for _, k := range n.TieKeys {
			p, err := c.compile(k.Expr)
			if err != nil {
				return nil, err
			}
			o.tieP = append(o.tieP, p)
		}
		o.tieV = make([]*vec.Vector, len(o.tieP))
	}
	return o, nil
}

func (o *limitOp) Open(env *Env) error {
	o.started, o.inTies = false, false
	return o.in.Open(env)
}

func (o *limitOp) Rescan() error {
	o.started, o.inTies = false, false
	return o.in.Rescan()
}

func (o *limitOp) Close() error { return o.in.Close() }

// start evaluates LIMIT and OFFSET and tells a sort below how many rows are enough.
func (o *limitOp) start() error {
	o.started = true
	o.limit, o.skip = -1, 0
	f := &frame{st: o.st, n: 1}
	if o.offset != nil {
		d, err := evalOne(f, o.offset)
		if err != nil {
			return err
		}
		if !d.Null {
			if d.I < 0 {
				return sqlerr.New(sqlerr.InvalidRowCountInResultOffsetClause, "OFFSET must not be negative")
			}
			o.skip = d.I
		}
	}
	if o.count != nil {
		d, err := evalOne(f, o.count)
		if err != nil {
			return err
		}
		if !d.Null {
			if d.I < 0 {
				return sqlerr.New(sqlerr.InvalidRowCountInLimitClause, "LIMIT must not be negative")
			}
			o.limit = d.I
		}
	}
	o.boundSort()
	return nil
}

// boundSort finds a top-N sort below, possibly under projections.
func (o *limitOp) boundSort() {
	op := unwrap(o.in)
	for {
		p, ok := op.(*projectOp)
		if !ok {
			break
		}
		op = unwrap(p.in)
	}
	s, ok := op.(*sortOp)
	if !ok {
		return
	}
	s.top = -1
	if s.topN && o.limit >= 0 && !o.ties && o.limit < 1<<20 && o.skip < 1<<20 {
		s.top = int(o.limit + o.skip)
	}
}

func (o *limitOp) Next(want int) (*vec.Batch, error) {
	if !o.started {
		if err := o.start(); err != nil {
			return nil, err
		}
	}
	for o.skip > 0 && o.limit != 0 {
		b, err := o.in.Next(int(min(o.skip, int64(vec.MaxRows))))
		if err != nil || b == nil {
			return nil, err
		}
		o.skip -= int64(b.Rows())
	}
	if o.inTies {
		return o.nextTies(want)
	}
	if o.limit == 0 {
		return nil, nil
	}
	if o.limit > 0 {
		want = int(min(int64(want), o.limit))
	}
	b, err := o.in.Next(want)
	if err != nil || b == nil {
		return nil, err
	}
	if o.limit > 0 {
		o.limit -= int64(b.Rows())
		if o.limit == 0 && o.ties {
			o.inTies = true
			last := b.N - 1
			if b.Sel != nil {
				last = int(b.Sel[len(b.Sel)-1])
			}
			if err := o.evalTies(b); err != nil {
				return nil, err
			}
			o.tieKey = appendSortKey(o.tieKey[:0], o.tieCols, o.tieV, last)
		}
	}
	return b, nil
}

func (o *limitOp) evalTies(b *vec.Batch) error {
	f := frame{st: o.st, b: b, n: b.N}
	var err error
	for i, p := range o.tieP {
		if o.tieV[i], err = p.eval(&f, b.Sel); err != nil {
			return err
		}
	}
	return nil
}

// nextTies gives further rows as long as they equal the last row of the limit.
func (o *limitOp) nextTies(want int) (*vec.Batch, error) {
	b, err := o.in.Next(want)
	if err != nil || b == nil {
		return nil, err
	}
	if err := o.evalTies(b); err != nil {
		return nil, err
	}
	keep := reuse(o.sel, b.N)
	done := false
	var k []byte
	each(b.N, b.Sel, func(i int) {
		if done {
			return
		}
		k = appendSortKey(k[:0], o.tieCols, o.tieV, i)
		if done = !bytes.Equal(k, o.tieKey); !done {
			keep = append(keep, uint16(i))
		}
	})
	o.sel = keep
	if done {
		o.inTies, o.limit = false, 0
	}
	if len(keep) == 0 {
		return nil, nil
	}
	b.Sel = keep
	return b, nil
}
