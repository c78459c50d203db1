package exec

import (
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/types"
	"herd/sql/vec"
)

// virtualOp is plan.VirtualScan: a catalog table computed row by row.
type virtualOp struct {
	st     *State
	node   *plan.VirtualScan
	keys   []program
	filter *filterProg
	need   []bool
	iter   catalog.RowIter
	ended  bool
	row    []types.Datum
	kinds  []types.Kind
	cols   []vec.Vector
	out    vec.Batch
	ramp   ramp
	readAhead
}

func (s *State) buildVirtual(n *plan.VirtualScan) (Operator, error) {
	c := s.compiler()
	keys, err := c.compileAll(n.Keys)
	if err != nil {
		return nil, err
	}
	f, err := c.filter(n.Filter)
	if err != nil {
		return nil, err
	}
	o := &virtualOp{st: s, node: n, keys: keys, filter: f, kinds: kindsOf(n), cols: make([]vec.Vector, len(n.Attnos))}
	o.out.Cols = make([]*vec.Vector, len(n.Attnos))
	width := 0
	for _, a := range n.Attnos {
		width = max(width, int(a))
	}
	o.need, o.row = make([]bool, width), make([]types.Datum, width)
	for _, a := range n.Attnos {
		if a > 0 {
			o.need[a-1] = true
		}
	}
	return o, nil
}

func (o *virtualOp) Open(*Env) error {
	o.reset()
	o.ramp.reset()
	o.iter, o.ended = nil, false
	return nil
}
func (o *virtualOp) Rescan() error { return o.Open(o.st.env) }
func (o *virtualOp) Close() error  { o.reset(); o.iter = nil; return nil }

// start evaluates the pinned columns; a NULL among them leaves no rows.
func (o *virtualOp) start() error {
	f := &frame{st: o.st, n: 1}
	keys := make([]types.Datum, len(o.keys))
	for i, p := range o.keys {
		d, err := evalOne(f, p)
		if err != nil {
			return err
		}
		if d.Null {
			o.ended = true
			return nil
		}
		keys[i] = cloneDatum(d)
	}
	it, err := o.node.Table.Scan(o.st.env.Virtual, o.node.Path, keys, o.need)
	o.iter = it
	return err
}

func (o *virtualOp) Next(want int) (*vec.Batch, error) {
	if b := o.pending(want); b != nil {
		return b, nil
	}
	if o.iter == nil && !o.ended {
		if err := o.start(); err != nil {
			return nil, err
		}
	}
	for !o.ended {
		n, err := o.fill(o.ramp.next(vec.MaxRows))
		if err != nil || n == 0 {
			return nil, err
		}
		o.out.N, o.out.Sel = n, nil
		if o.filter != nil {
			sel, err := o.filter.run(&frame{st: o.st, b: &o.out, n: n}, nil)
			if err != nil {
				return nil, err
			}
			o.st.removed(o.node.ID, n, count(n, sel))
			if sel != nil && len(sel) == 0 {
				continue
			}
			o.out.Sel = sel
		}
		return o.offer(&o.out, want), nil
	}
	return nil, nil
}

func (o *virtualOp) fill(n int) (int, error) {
	if err := o.st.interrupt(); err != nil {
		return 0, err
	}
	for i := range o.cols {
		o.cols[i].Reset(o.kinds[i], n)
		o.out.Cols[i] = &o.cols[i]
	}
	got := 0
	for got < n {
		clear(o.row)
		ok, err := o.iter.Next(o.row)
		if err != nil {
			return 0, err
		}
		if !ok {
			o.ended = got == 0
			break
		}
		for i, a := range o.node.Attnos {
			switch {
			case a > 0:
				o.cols[i].SetDatum(got, o.row[a-1])
			case a == attTableOID:
				o.cols[i].SetDatum(got, types.Int(int64(o.node.Rel.OID)))
			case o.kinds[i] == types.KindInt:
				o.cols[i].SetDatum(got, types.Int(0))
			default:
				o.cols[i].SetDatum(got, types.Bytes(appendTID(nil, []byte{byte(got)})))
			}
		}
		got++
	}
	return got, nil
}
