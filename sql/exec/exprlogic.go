package exec

import (
	"herd/planner/plan"
	"herd/sql/types"
	"herd/sql/vec"
)

// boolProg is n-ary AND (stop false) or OR (stop true).
type boolProg struct {
	args []program
	stop bool
	out  vec.Vector
	sel  []uint16
}

func (c *compiler) boolExpr(e *plan.BoolExpr) (program, error) {
	args, err := c.compileAll(e.Args)
	if err != nil {
		return nil, err
	}
	if e.Kind == plan.Not {
		return &notProg{arg: args[0]}, nil
	}
	return &boolProg{args: args, stop: e.Kind == plan.Or}, nil
}

// eval evaluates each argument for the rows that are not decided yet.
func (p *boolProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	p.out.Reset(types.KindBool, f.n)
	each(f.n, sel, func(i int) { p.out.Bool[i] = !p.stop })
	cur := sel
	for _, a := range p.args {
		if cur != nil && len(cur) == 0 {
			break
		}
		v, err := a.eval(f, cur)
		if err != nil {
			return nil, err
		}
		if v.Const {
			switch {
			case v.IsNull(0):
				each(f.n, cur, func(i int) { p.out.SetNull(i) })
			case v.Bool[0] == p.stop:
				each(f.n, cur, func(i int) {
					p.out.Bool[i] = p.stop
					p.out.ClearNull(i)
				})
				return &p.out, nil
			}
			continue
		}
		keep := reuse(p.sel, f.n) // may be cur itself: written behind where it is read
		each(f.n, cur, func(i int) {
			switch {
			case v.IsNull(i):
				p.out.SetNull(i)
			case v.Bool[i] == p.stop:
				p.out.Bool[i] = p.stop
				p.out.ClearNull(i)
				return
			}
			keep = append(keep, uint16(i))
		})
		p.sel, cur = keep, keep
	}
	return &p.out, nil
}

type notProg struct {
	arg program
	out vec.Vector
}

func (p *notProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	v, err := p.arg.eval(f, sel)
	if err != nil {
		return nil, err
	}
	if v.Const {
		if v.IsNull(0) {
			return nullConst(&p.out, types.KindBool), nil
		}
		setConst(&p.out, types.KindBool, types.Bool(!v.Bool[0]))
		return &p.out, nil
	}
	p.out.Reset(types.KindBool, f.n)
	each(f.n, sel, func(i int) {
		p.out.Bool[i] = !v.Bool[i]
		if v.IsNull(i) {
			p.out.SetNull(i)
		}
	})
	return &p.out, nil
}

// nullTestProg is IS [NOT] NULL; row applies SQL's rule for composite values.
type nullTestProg struct {
	arg      program
	not, row bool
	out      vec.Vector
}

func (c *compiler) nullTest(e *plan.NullTest) (program, error) {
	if r, ok := e.Arg.(*plan.RowExpr); ok && e.ArgIsRow {
		// Each field is tested by itself: no composite value is built.
		var args []program
		for _, a := range r.Args {
			p, err := c.compile(a)
			if err != nil {
				return nil, err
			}
			args = append(args, &nullTestProg{arg: p, not: e.Not})
		}
		if len(args) == 0 {
			return &constProg{v: vec.NewConst(types.BoolOID, types.Bool(true))}, nil
		}
		return &boolProg{args: args}, nil
	}
	arg, err := c.compile(e.Arg)
	return &nullTestProg{arg: arg, not: e.Not, row: e.ArgIsRow}, err
}

func (p *nullTestProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	v, err := p.arg.eval(f, sel)
	if err != nil {
		return nil, err
	}
	test := func(i int) bool {
		if v.IsNull(i) {
			return !p.not
		}
		if p.row {
			return recordNullTest(v.Bytes(i), p.not)
		}
		return p.not
	}
	if v.Const {
		setConst(&p.out, types.KindBool, types.Bool(test(0)))
		return &p.out, nil
	}
	p.out.Reset(types.KindBool, f.n)
	each(f.n, sel, func(i int) { p.out.Bool[i] = test(i) })
	return &p.out, nil
}

// boolTestProg is IS [NOT] TRUE, FALSE, UNKNOWN.
type boolTestProg struct {
	arg  program
	kind plan.BoolTestKind
	out  vec.Vector
}

func (p *boolTestProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	v, err := p.arg.eval(f, sel)
	if err != nil {
		return nil, err
	}
	test := func(i int) bool {
		null := v.IsNull(i)
		b := !null && v.Bool[v.At(i)]
		switch p.kind {
		case plan.IsTrue:
			return b
		case plan.IsNotTrue:
			return !b
		case plan.IsFalse:
			return !null && !b
		case plan.IsNotFalse:
			return null || b
		case plan.IsUnknown:
			return null
		}
		return !null
	}
	if v.Const {
		setConst(&p.out, types.KindBool, types.Bool(test(0)))
		return &p.out, nil
	}
	p.out.Reset(types.KindBool, f.n)
	each(f.n, sel, func(i int) { p.out.Bool[i] = test(i) })
	return &p.out, nil
}

// splitter keeps selections while CASE and COALESCE divide rows.
type splitter struct{ rest, hit, spare []uint16 }

// caseProg is CASE.
type caseProg struct {
	arg     program // nil for searched CASE
	conds   []program
	results []program
	def     program
	kind    types.Kind
	out     vec.Vector
	s       splitter
}

func (c *compiler) caseExpr(e *plan.Case) (program, error) {
	p := &caseProg{kind: types.KindOf(e.Type)}
	var err error
	if p.arg, err = c.optional(e.Arg); err != nil {
		return nil, err
	}
	for _, w := range e.Whens {
		cond, err := c.compile(w.Cond)
		if err != nil {
			return nil, err
		}
		res, err := c.compile(w.Result)
		if err != nil {
			return nil, err
		}
		p.conds, p.results = append(p.conds, cond), append(p.results, res)
	}
	p.def, err = c.optional(e.Default)
	return p, err
}

func (p *caseProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	if p.arg != nil {
		v, err := p.arg.eval(f, sel)
		if err != nil {
			return nil, err
		}
		outer := f.caseV
		f.caseV = v
		defer func() { f.caseV = outer }()
	}
	p.out.Reset(p.kind, f.n)
	rest := fullSel(p.s.rest, f.n, sel)
	for k, cond := range p.conds {
		if len(rest) == 0 {
			break
		}
		v, err := cond.eval(f, rest)
		if err != nil {
			return nil, err
		}
		hit, miss := p.s.hit[:0], p.s.spare[:0]
		for _, i := range rest {
			if !v.IsNull(int(i)) && v.Bool[v.At(int(i))] {
				hit = append(hit, i)
			} else {
				miss = append(miss, i)
			}
		}
		p.s.hit, p.s.spare, rest = hit, rest, miss
		if err := p.arm(f, p.results[k], hit); err != nil {
			return nil, err
		}
	}
	if p.def != nil {
		if err := p.arm(f, p.def, rest); err != nil {
			return nil, err
		}
	} else {
		for _, i := range rest {
			p.out.SetNull(int(i))
		}
	}
	p.s.rest = rest
	return &p.out, nil
}

// arm copies the result of one arm for its rows.
func (p *caseProg) arm(f *frame, result program, rows []uint16) error {
	if len(rows) == 0 {
		return nil
	}
	v, err := result.eval(f, rows)
	if err != nil {
		return err
	}
	p.out.CopyFrom(v, f.n, rows)
	return nil
}

type coalesceProg struct {
	args []program
	kind types.Kind
	out  vec.Vector
	s    splitter
}

func (p *coalesceProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	p.out.Reset(p.kind, f.n)
	rest := fullSel(p.s.rest, f.n, sel)
	for _, a := range p.args {
		if len(rest) == 0 {
			break
		}
		v, err := a.eval(f, rest)
		if err != nil {
			return nil, err
		}
		miss := p.s.spare[:0]
		for _, i := range rest {
			if v.IsNull(int(i)) {
				miss = append(miss, i)
				continue
			}
			p.out.Copy(int(i), v, int(i))
		}
		p.s.spare, rest = rest, miss
	}
	for _, i := range rest {
		p.out.SetNull(int(i))
	}
	p.s.rest = rest
	return &p.out, nil
}

// pairProg evaluates an equality function over two arguments for DISTINCT and NULLIF.
type pairProg struct {
	eq      *callProg
	not     bool // DISTINCT: IS NOT DISTINCT FROM
	nullIf  bool
	out     vec.Vector
	outKind types.Kind
}

func (c *compiler) pair(fn types.OID, args []plan.Expr, coll types.OID) (*callProg, error) {
	p, err := c.kernelCall(fn, args, plan.Typed{Type: types.BoolOID, Typmod: -1}, coll, false, true, false)
	if err != nil {
		return nil, err
	}
	return p.(*callProg), nil
}

func (c *compiler) distinct(e *plan.DistinctExpr) (program, error) {
	eq, err := c.pair(e.Func, e.Args, e.InputColl)
	return &pairProg{eq: eq, not: e.Not}, err
}

func (c *compiler) nullIf(e *plan.NullIf) (program, error) {
	eq, err := c.pair(e.Func, e.Args, e.InputColl)
	return &pairProg{eq: eq, nullIf: true, outKind: types.KindOf(e.Type)}, err
}

func (p *pairProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	v, err := p.eq.eval(f, sel)
	if err != nil {
		return nil, err
	}
	a, b := p.eq.argv[0], p.eq.argv[1]
	if p.nullIf {
		p.out.Reset(p.outKind, f.n)
		each(f.n, sel, func(i int) {
			if !v.IsNull(i) && v.Bool[v.At(i)] {
				p.out.SetNull(i)
				return
			}
			p.out.Copy(i, a, i)
		})
		return &p.out, nil
	}
	p.out.Reset(types.KindBool, f.n)
	each(f.n, sel, func(i int) {
		var same bool
		if a.IsNull(i) || b.IsNull(i) {
			same = a.IsNull(i) && b.IsNull(i)
		} else {
			same = v.Bool[v.At(i)]
		}
		p.out.Bool[i] = same == p.not
	})
	return &p.out, nil
}

// minMaxProg is GREATEST and LEAST: NULL arguments are ignored.
type minMaxProg struct {
	args  []program
	least bool
	typ   types.OID
	coll  types.OID
	out   vec.Vector
}

func (c *compiler) minMax(e *plan.MinMax) (program, error) {
	args, err := c.compileAll(e.Args)
	return &minMaxProg{args: args, least: e.Least, typ: e.Type, coll: e.InputColl}, err
}

func (p *minMaxProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	p.out.Reset(types.KindOf(p.typ), f.n)
	each(f.n, sel, func(i int) { p.out.SetNull(i) })
	for _, a := range p.args {
		v, err := a.eval(f, sel)
		if err != nil {
			return nil, err
		}
		each(f.n, sel, func(i int) {
			if v.IsNull(i) {
				return
			}
			if !p.out.IsNull(i) {
				c := types.Compare(p.typ, p.coll, v.Datum(i), p.out.Datum(i))
				if c == 0 || (c < 0) != p.least {
					return
				}
			}
			p.out.Copy(i, v, i)
		})
	}
	return &p.out, nil
}

// rowCompareProg compares two rows column by column; later columns are looked at only while earlier ones are equal.
type rowCompareProg struct {
	kind        plan.RowCompareKind
	left, right []program
	types       []types.OID
	rtypes      []types.OID
	colls       []types.OID
	out         vec.Vector
	s           splitter
}

func (c *compiler) rowCompare(e *plan.RowCompare) (program, error) {
	l, err := c.compileAll(e.Left)
	if err != nil {
		return nil, err
	}
	r, err := c.compileAll(e.Right)
	return &rowCompareProg{kind: e.Kind, left: l, right: r, types: argTypes(e.Left), rtypes: argTypes(e.Right), colls: e.InputColl}, err
}

func (p *rowCompareProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	p.out.Reset(types.KindBool, f.n)
	rest := fullSel(p.s.rest, f.n, sel)
	for k := range p.left {
		if len(rest) == 0 {
			break
		}
		l, err := p.left[k].eval(f, rest)
		if err != nil {
			return nil, err
		}
		r, err := p.right[k].eval(f, rest)
		if err != nil {
			return nil, err
		}
		var coll types.OID
		if k < len(p.colls) {
			coll = p.colls[k]
		}
		same := p.s.spare[:0]
		for _, i := range rest {
			if l.IsNull(int(i)) || r.IsNull(int(i)) {
				p.out.SetNull(int(i))
				continue
			}
			switch c := types.Compare(p.types[k], coll, l.Datum(int(i)), r.Datum(int(i))); {
			case c == 0:
				same = append(same, i)
			case c < 0:
				p.out.Bool[i] = p.kind == plan.RowLT || p.kind == plan.RowLE
			default:
				p.out.Bool[i] = p.kind == plan.RowGT || p.kind == plan.RowGE
			}
		}
		p.s.spare, rest = rest, same
	}
	for _, i := range rest {
		p.out.Bool[i] = p.kind == plan.RowLE || p.kind == plan.RowGE
	}
	p.s.rest = rest
	return &p.out, nil
}

// filterProg is a list of conditions that must all be true; it narrows selections only and builds no vector.
type filterProg struct {
	conds    []program
	sels     [2][]uint16
	volatile bool
}

// filter compiles a condition; nil for none.
func (c *compiler) filter(e plan.Expr) (*filterProg, error) {
	if isNil(e) {
		return nil, nil
	}
	list := []plan.Expr{e}
	if b, ok := e.(*plan.BoolExpr); ok && b.Kind == plan.And {
		list = b.Args
	}
	conds, err := c.compileAll(list)
	return &filterProg{conds: conds, volatile: hasVolatile(e)}, err
}

// run returns the rows of sel for which all conditions are true; nil stands for all of sel when sel is nil. The result is
// valid until the next run.
func (p *filterProg) run(f *frame, sel []uint16) ([]uint16, error) {
	which := 0
	for _, c := range p.conds {
		if sel != nil && len(sel) == 0 {
			return sel, nil
		}
		v, err := c.eval(f, sel)
		if err != nil {
			return nil, err
		}
		if v.Const {
			if v.IsNull(0) || !v.Bool[0] {
				return emptySel, nil
			}
			continue
		}
		sel = trueRows(p.sels[which][:0], f.n, sel, v)
		p.sels[which] = sel
		which ^= 1
	}
	return sel, nil
}

var emptySel = []uint16{}

// trueRows appends to dst the selected rows where v is true.
func trueRows(dst []uint16, n int, sel []uint16, v *vec.Vector) []uint16 {
	dst = reuse(dst, n)
	if sel == nil {
		for i, b := range v.Bool[:n] {
			if b && !v.IsNull(i) {
				dst = append(dst, uint16(i))
			}
		}
		return dst
	}
	for _, i := range sel {
		if v.Bool[i] && !v.IsNull(int(i)) {
			dst = append(dst, i)
		}
	}
	return dst
}
