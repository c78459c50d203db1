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
	args   [][]vec.Vector // by chunk, by argument
	pass   [][]uint16     // by chunk: rows that pass the filter; nil all
	out    vec.Vector
	tmp    vec.Vector

	agg        funcs.Agg
	make       func() funcs.Agg
	done       int // rows [0, done) were added to agg (growing frames)
	lastFrom   int
	lastTo     int
	fresh      bool
	groups     []uint32
	sel        []uint16
	ntileRows  int
	exclusions byte
}

func (c *compiler) windowFunc(o *windowOp, f *plan.WindowFunc) (*windowFunc, error) {
	w := &windowFunc{ref: f, kind: types.KindOf(f.Type), exclusions: o.win.Frame.Exclude}
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

// prepare evaluates the arguments for all chunks of the partition.
func (w *windowFunc) prepare(o *windowOp) error {
	w.args, w.pass = w.args[:0], w.pass[:0]
	w.done, w.lastFrom, w.lastTo, w.fresh = 0, -1, -1, true
	if w.agg != nil {
		w.agg.Reset()
		if err := w.agg.Grow(1); err != nil {
			return err
		}
	}
	for _, c := range o.chunks {
		f := frame{st: o.st, b: &c.Batch, n: c.N}
		var sel []uint16
		if w.filter != nil {
			s, err := w.filter.run(&f, nil)
			if err != nil {
				return err
			}
			if s != nil {
				sel = append(make([]uint16, 0, len(s)+1), s...)
			}
		}
		w.pass = append(w.pass, sel)
		kept := make([]vec.Vector, len(w.progs))
		for i, p := range w.progs {
			if sel != nil && len(sel) == 0 {
				kept[i].Reset(types.KindOf(w.ref.Args[i].T().Type), c.N)
				continue
			}
			v, err := p.eval(&f, sel)
			if err != nil {
				return err
			}
			kept[i].Reset(v.Kind, c.N)
			kept[i].CopyFrom(v, c.N, sel)
			if err := o.rows.bytes.mem.grow(kept[i].Size()); err != nil {
				return err
			}
		}
		w.args = append(w.args, kept)
	}
	return nil
}

// arg returns argument k of row i of the partition.
func (w *windowFunc) arg(k, i int) types.Datum {
	return w.args[i/vec.MaxRows][k].Datum(i % vec.MaxRows)
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
	g := int(o.groupOf[i])
	switch w.name {
	case "row_number":
		return types.Int(int64(i + 1)), nil
	case "rank":
		return types.Int(int64(o.groupAt[g] + 1)), nil
	case "dense_rank":
		return types.Int(int64(g + 1)), nil
	case "percent_rank":
		if o.n <= 1 {
			return types.Float(0), nil
		}
		return types.Float(float64(o.groupAt[g]) / float64(o.n-1)), nil
	case "cume_dist":
		return types.Float(float64(o.groupEnd(g)) / float64(o.n)), nil
	case "ntile":
		return w.ntile(o, i)
	case "lag", "lead":
		return w.neighbour(o, i), nil
	}
	return w.frameValue(o, i)
}

// ntile divides the partition into buckets whose sizes differ by one at most; the larger ones come first.
func (w *windowFunc) ntile(o *windowOp, i int) (types.Datum, error) {
	d := w.arg(0, 0)
	if d.Null {
		return d, nil
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
func (w *windowFunc) neighbour(o *windowOp, i int) types.Datum {
	off := int64(1)
	if len(w.progs) > 1 {
		d := w.arg(1, i)
		if d.Null {
			return d
		}
		off = d.I
	}
	if w.name == "lag" {
		off = -off
	}
	if k := int64(i) + off; k >= 0 && k < int64(o.n) {
		return w.arg(0, int(k))
	}
	if len(w.progs) > 2 {
		return w.arg(2, i)
	}
	return types.NullDatum
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
				return w.arg(0, parts[p][1]-1), nil
			}
		}
		return types.NullDatum, nil
	case "nth_value":
		d := w.arg(1, i)
		if d.Null {
			return d, nil
		}
		if d.I <= 0 {
			return d, sqlerr.New(sqlerr.InvalidArgumentForNthValue, "argument of nth_value must be greater than zero")
		}
		k = int(min(d.I-1, int64(o.n)))
	}
	for _, p := range parts {
		if n := p[1] - p[0]; k < n {
			return w.arg(0, p[0]+k), nil
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
	g := int(o.groupOf[i])
	lo, hi := o.groupAt[g], o.groupEnd(g)
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
		w.agg.Reset()
		if err := w.agg.Grow(1); err != nil {
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
		c := from / vec.MaxRows
		base := c * vec.MaxRows
		end := min(to, base+o.chunks[c].N)
		w.sel = reuse(w.sel, vec.MaxRows)
		if w.pass[c] == nil {
			for r := from; r < end; r++ {
				w.sel = append(w.sel, uint16(r-base))
			}
		} else {
			for _, r := range w.pass[c] {
				if int(r) >= from-base && int(r) < end-base {
					w.sel = append(w.sel, r)
				}
			}
		}
		from = end
		if len(w.sel) == 0 {
			continue
		}
		for len(w.groups) < o.chunks[c].N {
			w.groups = append(w.groups, 0)
		}
		argv := make([]*vec.Vector, len(w.progs))
		for k := range argv {
			argv[k] = &w.args[c][k]
		}
		if err := w.agg.Update(&o.st.env.Funcs, w.groups, o.chunks[c].N, w.sel, argv); err != nil {
			return err
		}
	}
	return nil
}
