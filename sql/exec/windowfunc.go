package exec

import (
	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// windowFunc is one function call with OVER.
type windowFunc struct {
	ref    *plan.WindowFunc
	name   string
	kind   types.Kind
	progs  []program
	filter *filterProg
	index  int // among the node's functions
	out    vec.Vector
	tmp    vec.Vector

	agg        funcs.Agg
	make       func() funcs.Agg
	done       int // rows [0, done) were added to agg (growing frames)
	lastFrom   int
	lastTo     int
	fresh      bool
	size       int64 // bytes of agg that are accounted for
	groups     []uint32
	sel        []uint16
	ntileRows  int
	exclusions byte
}

func (c *compiler) windowFunc(o *windowOp, f *plan.WindowFunc) (*windowFunc, error) {
	w := &windowFunc{ref: f, index: len(o.funcs), kind: types.KindOf(f.Type), exclusions: o.win.Frame.Exclude}
	var err error
	if w.progs, err = c.compileAll(f.Args); err != nil {
		return nil, err
	}
	if w.filter, err = c.filter(f.Filter); err != nil {
		return nil, err
	}
	ci := funcs.CallInfo{Func: f.Func, ArgTypes: argTypes(f.Args), Result: f.Type, Typmod: f.Typmod, Collation: f.InputColl, ArgFields: argFields(f.Args)}
	if f.IsAgg {
		mk, ok := funcs.LookupAgg(ci)
		if !ok {
			return nil, errNoAggregate(ci)
		}
		w.make, w.agg = mk, mk()
		return w, nil
	}
	if p := pgdata.FuncByOID(f.Func); p != nil {
		w.name = p.Name
	}
	switch w.name {
	case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value", "nth_value":
		return w, nil
	}
	return nil, sqlerr.Unsupported("window function %s", funcs.Signature(f.Func, ci.ArgTypes))
}

// begin prepares for a new partition.
func (w *windowFunc) begin() error {
	w.done, w.lastFrom, w.lastTo, w.fresh, w.size = 0, -1, -1, true, 0
	return w.restart()
}

// restart empties the aggregate's state.
func (w *windowFunc) restart() error {
	if w.agg == nil {
		return nil
	}
	w.agg.Reset()
	return w.agg.Grow(1)
}

// arg returns argument k of row i of the partition, valid until the next look at another chunk.
func (w *windowFunc) arg(o *windowOp, k, i int) (types.Datum, error) {
	c, err := o.chunks.get(i / vec.MaxRows)
	if err != nil {
		return types.NullDatum, err
	}
	return c.args[w.index][k].Datum(i % vec.MaxRows), nil
}

// results computes rows [from, from+n) of the partition.
func (w *windowFunc) results(o *windowOp, from, n int) (*vec.Vector, error) {
	w.out.Reset(w.kind, n)
	for i := range n {
		d, err := w.result(o, from+i)
		if err != nil {
			return nil, err
		}
		w.out.SetDatum(i, d)
	}
	return &w.out, nil
}

func (w *windowFunc) result(o *windowOp, i int) (types.Datum, error) {
	if w.agg != nil {
		return w.aggregate(o, i)
	}
	switch w.name {
	case "row_number":
		return types.Int(int64(i + 1)), nil
	case "ntile":
		return w.ntile(o, i)
	case "lag", "lead":
		return w.neighbour(o, i)
	case "first_value", "last_value", "nth_value":
		return w.frameValue(o, i)
	case "dense_rank":
		g, err := o.groupOf(i)
		return types.Int(int64(g + 1)), err
	}
	from, to, err := o.peers(i)
	switch w.name {
	case "rank":
		return types.Int(int64(from + 1)), err
	case "cume_dist":
		return types.Float(float64(to) / float64(o.n)), err
	}
	if o.n <= 1 { // percent_rank
		return types.Float(0), err
	}
	return types.Float(float64(from) / float64(o.n-1)), err
}

// ntile divides the partition into buckets whose sizes differ by one at most; the larger ones come first.
func (w *windowFunc) ntile(o *windowOp, i int) (types.Datum, error) {
	d, err := w.arg(o, 0, 0)
	if d.Null || err != nil {
		return d, err
	}
	if d.I <= 0 {
		return d, sqlerr.New(sqlerr.InvalidArgumentForNtile, "argument of ntile must be greater than zero")
	}
	n := int(min(d.I, int64(o.n)))
	size, extra := o.n/n, o.n%n
	if big := extra * (size + 1); i >= big {
		return types.Int(int64(extra + (i-big)/size + 1)), nil
	}
	return types.Int(int64(i/(size+1) + 1)), nil
}

// neighbour is lag and lead.
func (w *windowFunc) neighbour(o *windowOp, i int) (types.Datum, error) {
	off := int64(1)
	if len(w.progs) > 1 {
		d, err := w.arg(o, 1, i)
		if d.Null || err != nil {
			return d, err
		}
		off = d.I
	}
	if w.name == "lag" {
		off = -off
	}
	if k := int64(i) + off; k >= 0 && k < int64(o.n) {
		return w.arg(o, 0, int(k))
	}
	if len(w.progs) > 2 {
		return w.arg(o, 2, i)
	}
	return types.NullDatum, nil
}

// frameValue is first_value, last_value and nth_value over the row's frame.
func (w *windowFunc) frameValue(o *windowOp, i int) (types.Datum, error) {
	parts, err := w.frame(o, i)
	if err != nil {
		return types.NullDatum, err
	}
	k := 0
	switch w.name {
	case "last_value":
		for p := len(parts) - 1; p >= 0; p-- {
			if parts[p][1] > parts[p][0] {
				return w.arg(o, 0, parts[p][1]-1)
			}
		}
		return types.NullDatum, nil
	case "nth_value":
		d, err := w.arg(o, 1, i)
		if d.Null || err != nil {
			return d, err
		}
		if d.I <= 0 {
			return d, sqlerr.New(sqlerr.InvalidArgumentForNthValue, "argument of nth_value must be greater than zero")
		}
		k = int(min(d.I-1, int64(o.n)))
	}
	for _, p := range parts {
		if n := p[1] - p[0]; k < n {
			return w.arg(o, 0, p[0]+k)
		} else if n > 0 {
			k -= n
		}
	}
	return types.NullDatum, nil
}

// frame returns the frame of row i as up to three ranges of rows: exclusion cuts holes.
func (w *windowFunc) frame(o *windowOp, i int) ([][2]int, error) {
	from, to, err := o.frameOf(i)
	if err != nil {
		return nil, err
	}
	if w.exclusions == 0 {
		return [][2]int{{from, to}}, nil
	}
	lo, hi, err := o.peers(i)
	if err != nil {
		return nil, err
	}
	if w.exclusions == 'c' {
		lo, hi = i, i+1
	}
	parts := [][2]int{{from, min(to, lo)}}
	if w.exclusions == 't' && i >= from && i < to {
		parts = append(parts, [2]int{i, i + 1})
	}
	return append(parts, [2]int{max(from, hi), to}), nil
}

// aggregate computes an aggregate over the frame. A frame that starts at the partition's first row only grows: rows are added
// to the state as it does. Any other frame is computed anew when it differs from the row's before.
func (w *windowFunc) aggregate(o *windowOp, i int) (types.Datum, error) {
	parts, err := w.frame(o, i)
	if err != nil {
		return types.NullDatum, err
	}
	growing := w.exclusions == 0 && o.win.Frame.Start == 'u'
	if len(parts) == 1 && !w.fresh && parts[0][0] == w.lastFrom && parts[0][1] == w.lastTo {
		return w.tmp.Datum(0), nil
	}
	if growing {
		if err := w.add(o, w.done, parts[0][1]); err != nil {
			return types.NullDatum, err
		}
		w.done = max(w.done, parts[0][1])
	} else {
		if err := w.restart(); err != nil {
			return types.NullDatum, err
		}
		for _, p := range parts {
			if err := w.add(o, p[0], p[1]); err != nil {
				return types.NullDatum, err
			}
		}
	}
	w.fresh = len(parts) > 1
	w.lastFrom, w.lastTo = parts[0][0], parts[0][1]
	w.tmp.Reset(w.kind, 1)
	if err := w.agg.Final(&o.st.env.Funcs, 0, 1, &w.tmp); err != nil {
		return types.NullDatum, err
	}
	return w.tmp.Datum(0), nil
}

// add updates the state with rows [from, to) of the partition.
func (w *windowFunc) add(o *windowOp, from, to int) error {
	for from < to {
		no := from / vec.MaxRows
		c, err := o.chunks.get(no)
		if err != nil {
			return err
		}
		base, n := no*vec.MaxRows, c.batch.N
		end := min(to, base+n)
		w.sel = reuse(w.sel, vec.MaxRows)
		if pass := c.pass[w.index]; pass == nil {
			for r := from; r < end; r++ {
				w.sel = append(w.sel, uint16(r-base))
			}
		} else {
			for _, r := range pass {
				if int(r) >= from-base && int(r) < end-base {
					w.sel = append(w.sel, r)
				}
			}
		}
		from = end
		if len(w.sel) == 0 {
			continue
		}
		for len(w.groups) < n {
			w.groups = append(w.groups, 0)
		}
		if err := w.agg.Update(&o.st.env.Funcs, w.groups, n, w.sel, c.args[w.index]); err != nil {
			return err
		}
		if size := w.agg.Size(); size > w.size {
			if o.stateM.grow(size-w.size) != nil {
				return errLargeValue()
			}
			w.size = size
		}
	}
	return nil
}
