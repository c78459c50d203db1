package exec

import (
	"encoding/binary"

	"herd/planner/plan"
	"herd/sql/funcs"
	"herd/sql/types"
	"herd/sql/vec"
)

// aggCall is one aggregate.
type aggCall struct {
	ref     *plan.Aggref
	make    func() funcs.Agg
	agg     funcs.Agg
	args    []program
	argv    []*vec.Vector
	filter  *filterProg
	direct  []program
	directV []types.Datum
	seen    *keyTable // DISTINCT by hashing
	seenInt *pairSet  // instead of seen, for one integer
	argKey  eqKey
	sel     []uint16
	// rows are collected and fed when their group is given: always with an ORDER BY or a DISTINCT that needs one, else (late)
	// from the moment on when memory was refused to seen or to the aggregate.
	rows *aggSort
	late bool // rows is for what memory refused
	full bool // a late call collects now
	out  vec.Vector
	size int64 // bytes of agg that are accounted for
}

// aggregate compiles one aggregate call.
func (c *compiler) aggregate(a *plan.Aggref, sorted bool) (*aggCall, error) {
	ci := funcs.CallInfo{Func: a.Agg, ArgTypes: argTypes(a.Args), Result: a.Type, Typmod: a.Typmod, Collation: a.InputColl, Variadic: a.Variadic, ArgFields: argFields(a.Args)}
	mk, ok := funcs.LookupAgg(ci)
	if a.Kind == 'h' {
		mk, ok = hypothetical(ci)
	}
	if !ok {
		return nil, errNoAggregate(ci)
	}
	call := &aggCall{ref: a, make: mk, agg: mk()}
	var err error
	if call.args, err = c.compileAll(a.Args); err != nil {
		return nil, err
	}
	call.argv = make([]*vec.Vector, len(call.args))
	if call.filter, err = c.filter(a.Filter); err != nil {
		return nil, err
	}
	if call.direct, err = c.compileAll(a.Direct); err != nil {
		return nil, err
	}
	if a.Distinct && !sorted && !orderMatters(a) {
		for _, x := range a.Args {
			call.argKey.cols = append(call.argKey.cols, newEqCol(x.T().Type, x.T().Collation))
		}
		if len(call.argKey.cols) == 1 && call.argKey.cols[0].mode == eqInt {
			call.seenInt = &pairSet{}
		} else {
			call.seen = &keyTable{}
		}
	}
	_, collects := call.agg.(funcs.Collector)
	needsOrder := a.Kind == 'o' || a.Kind == 'h' || len(a.OrderBy) > 0 && funcs.OrderSensitive(a.Agg) || a.Distinct && !call.distinct()
	if needsOrder || collects || call.distinct() {
		call.late = !needsOrder
		call.rows, err = c.aggSort(a)
	}
	return call, err
}

// distinct says whether the call drops the values it has seen.
func (c *aggCall) distinct() bool { return c.seen != nil || c.seenInt != nil }

// orderMatters says whether an aggregate of distinct values depends on their order: floating-point sums do too.
func orderMatters(a *plan.Aggref) bool {
	if funcs.OrderSensitive(a.Agg) {
		return true
	}
	for _, x := range a.Args {
		if types.KindOf(x.T().Type) == types.KindFloat {
			return true
		}
	}
	return false
}

func (c *aggCall) begin(env *Env) {
	if c.seen != nil {
		c.seen.open(env)
	}
	if c.seenInt != nil {
		c.seenInt.open(env)
	}
	if c.rows != nil {
		c.rows.begin(env)
	}
}

// forget drops all groups.
func (c *aggCall) forget() {
	c.agg.Reset()
	c.full, c.size = false, 0
	if c.rows != nil {
		c.rows.forget()
	}
	if c.seen != nil {
		c.seen.reset()
	}
	if c.seenInt != nil {
		c.seenInt.reset()
	}
}

func (c *aggCall) end() {
	c.forget()
	if c.seen != nil {
		c.seen.close()
	}
	if c.rows != nil {
		c.rows.end()
	}
}

// collecting says whether rows wait to be fed.
func (c *aggCall) collecting() bool { return c.rows != nil && (!c.late || c.full) }

func (c *aggCall) update(f *frame, groups []uint32, sel []uint16) error {
	if c.filter != nil {
		s, err := c.filter.run(f, sel)
		if err != nil {
			return err
		}
		if sel = s; sel != nil && len(sel) == 0 {
			return nil
		}
	}
	var err error
	for i, a := range c.args {
		if c.argv[i], err = a.eval(f, sel); err != nil {
			return err
		}
	}
	if c.collecting() && !c.distinct() {
		return c.rows.collect(f, groups, sel, c)
	}
	if c.distinct() {
		find := c.unseen
		if c.seenInt != nil {
			find = c.unseenInts
		}
		if sel, err = find(f, groups, sel); err != nil || len(sel) == 0 {
			return err
		}
	}
	return c.agg.Update(&f.st.env.Funcs, groups, f.n, sel, c.argv)
}

// unseen returns the rows whose arguments are new in their group. When memory for more of them is refused, rows that are not
// among those seen are collected: they become distinct when they are fed.
func (c *aggCall) unseen(f *frame, groups []uint32, sel []uint16) ([]uint16, error) {
	keep := reuse(c.sel, f.n)
	var rest []uint16
	var err error
	each(f.n, sel, func(i int) {
		if err != nil {
			return
		}
		b := binary.LittleEndian.AppendUint32(c.argKey.buf[:0], groups[i])
		for k := range c.argKey.cols {
			b = c.argKey.cols[k].append(b, c.argv[k], i)
		}
		c.argKey.buf = b
		h := hashKey(b)
		if !c.full {
			var added bool
			if _, added, err = c.seen.insert(h, b); added {
				keep = append(keep, uint16(i))
			}
			if !f.st.env.canSpill(err) {
				return
			}
			c.full, err = true, nil
		}
		if c.seen.find(h, b) < 0 {
			rest = append(rest, uint16(i))
		}
	})
	c.sel = keep
	if err == nil && len(rest) > 0 {
		err = c.rows.collect(f, groups, rest, c)
	}
	return keep, err
}

// unseenInts is unseen for one integer. NULLs are left out: no aggregate whose values may come in any order takes them.
func (c *aggCall) unseenInts(f *frame, groups []uint32, sel []uint16) ([]uint16, error) {
	keep := reuse(c.sel, f.n)
	var rest []uint16
	var err error
	v := c.argv[0]
	each(f.n, sel, func(i int) {
		if err != nil || v.HasNulls && v.IsNull(i) {
			return
		}
		k := v.Int[v.At(i)]
		if !c.full {
			var added bool
			if added, err = c.seenInt.insert(groups[i], k); added {
				keep = append(keep, uint16(i))
			}
			if !f.st.env.canSpill(err) {
				return
			}
			c.full, err = true, nil
		}
		if !c.seenInt.has(groups[i], k) {
			rest = append(rest, uint16(i))
		}
	})
	c.sel = keep
	if err == nil && len(rest) > 0 {
		err = c.rows.collect(f, groups, rest, c)
	}
	return keep, err
}
