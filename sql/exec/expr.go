package exec

import (
	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// frame is what an expression is evaluated over: the rows of one batch.
type frame struct {
	st     *State
	b      *vec.Batch // input columns; nil when the expression has no Slots
	n      int        // physical rows
	caseV  *vec.Vector
	subOut []*vec.Vector // columns of the subquery inside SubPlan.Test
}

// program is a compiled expression. eval computes the rows in sel (nil = 0..n-1) and returns a vector that is defined
// at those rows or constant, valid until the next eval. A program owns its vectors: it is not reentrant.
type program interface {
	eval(f *frame, sel []uint16) (*vec.Vector, error)
}

// compiler turns plan expressions into programs for one State.
type compiler struct {
	st        *State
	depth     int
	paramCols bool                  // $n is input column n-1 (COPY)
	slots     []program             // replaces Slots, when not nil
	replace   map[plan.Expr]program // expressions whose values are columns already
}

// maxExprDepth bounds the recursion of compilation and evaluation.
const maxExprDepth = 10000

func (c *compiler) compileAll(es []plan.Expr) ([]program, error) {
	ps := make([]program, len(es))
	for i, e := range es {
		p, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		ps[i] = p
	}
	return ps, nil
}

// optional compiles e unless it is nil.
func (c *compiler) optional(e plan.Expr) (program, error) {
	if isNil(e) {
		return nil, nil
	}
	return c.compile(e)
}

func isNil(e plan.Expr) bool { return e == nil }

func (c *compiler) compile(e plan.Expr) (program, error) {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxExprDepth {
		return nil, sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
	}
	if p := c.replace[e]; p != nil {
		return p, nil
	}
	switch e := e.(type) {
	case *plan.Const:
		return &constProg{v: vec.NewConst(e.Type, e.Value)}, nil
	case *plan.Param:
		if c.paramCols {
			return &slotProg{col: e.Index}, nil
		}
		return &paramProg{typ: e.Type, index: e.Index}, nil
	case *plan.Slot:
		if c.slots != nil {
			return c.slots[e.Index], nil
		}
		return &slotProg{col: e.Index}, nil
	case *plan.ExecParam:
		return &execParamProg{kind: types.KindOf(e.Type), id: e.ID}, nil
	case *plan.CaseTest:
		return caseTestProg{}, nil
	case *plan.SubOut:
		return &subOutProg{col: e.Col}, nil
	case *plan.FuncCall:
		return c.call(e)
	case *plan.Relabel:
		return c.relabel(e)
	case *plan.BoolExpr:
		return c.boolExpr(e)
	case *plan.NullTest:
		return c.nullTest(e)
	case *plan.BooleanTest:
		arg, err := c.compile(e.Arg)
		return &boolTestProg{arg: arg, kind: e.Kind}, err
	case *plan.Case:
		return c.caseExpr(e)
	case *plan.Coalesce:
		args, err := c.compileAll(e.Args)
		return &coalesceProg{args: args, kind: types.KindOf(e.Type)}, err
	}
	return c.compileMore(e)
}

func (c *compiler) compileMore(e plan.Expr) (program, error) {
	switch e := e.(type) {
	case *plan.DistinctExpr:
		return c.distinct(e)
	case *plan.NullIf:
		return c.nullIf(e)
	case *plan.ScalarArrayOp:
		return c.scalarArray(e)
	case *plan.MinMax:
		return c.minMax(e)
	case *plan.RowCompare:
		return c.rowCompare(e)
	case *plan.CoerceViaIO:
		return c.coerceIO(e)
	case *plan.ArrayCoerce:
		return c.arrayCoerce(e)
	case *plan.CoerceToDomain:
		return c.domain(e)
	case *plan.ArrayExpr:
		return c.array(e)
	case *plan.RowExpr:
		return c.row(e)
	case *plan.Subscript:
		return c.subscript(e)
	case *plan.FieldSelect:
		return c.field(e)
	case *plan.SQLValue:
		return c.sqlValue(e)
	case *plan.NextValue:
		return &nextValProg{seq: e.Sequence}, nil
	case *plan.SubPlan:
		return c.subPlan(e)
	}
	return nil, sqlerr.Internal("expression node %T reached the executor", e)
}

// constProg is a literal.
type constProg struct{ v *vec.Vector }

func (p *constProg) eval(*frame, []uint16) (*vec.Vector, error) { return p.v, nil }

// paramProg is $n.
type paramProg struct {
	typ   types.OID
	index int
	out   vec.Vector
}

func (p *paramProg) eval(f *frame, _ []uint16) (*vec.Vector, error) {
	params := f.st.env.Params
	if p.index >= len(params) {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d", p.index+1)
	}
	setConst(&p.out, types.KindOf(p.typ), params[p.index])
	return &p.out, nil
}

// setConst makes v a constant vector; bytes are referred to, not copied.
func setConst(v *vec.Vector, k types.Kind, d types.Datum) {
	v.Reset(k, 1)
	v.Const = true
	switch {
	case d.Null:
		v.SetNull(0)
	case k == types.KindBytes:
		v.Ref(0, d.B)
	default:
		v.SetDatum(0, d)
	}
}

// slotProg is an input column.
type slotProg struct{ col int }

func (p *slotProg) eval(f *frame, _ []uint16) (*vec.Vector, error) {
	if v := f.b.Cols[p.col]; v != nil {
		return v, nil
	}
	return f.b.Col(p.col)
}

// execParamProg is a value that an enclosing operator or an init plan computed.
type execParamProg struct {
	kind types.Kind
	id   int
	out  vec.Vector
}

func (p *execParamProg) eval(f *frame, _ []uint16) (*vec.Vector, error) {
	d, err := f.st.execParam(p.id)
	if err != nil {
		return nil, err
	}
	setConst(&p.out, p.kind, d)
	return &p.out, nil
}

type caseTestProg struct{}

func (caseTestProg) eval(f *frame, _ []uint16) (*vec.Vector, error) { return f.caseV, nil }

type subOutProg struct{ col int }

func (p *subOutProg) eval(f *frame, _ []uint16) (*vec.Vector, error) { return f.subOut[p.col], nil }

// callProg calls a function's kernel.
type callProg struct {
	kernel   funcs.Kernel
	args     []program
	argv     []*vec.Vector
	kind     types.Kind
	strict   bool
	volatile bool
	out      vec.Vector
	sel      []uint16
}

func (c *compiler) call(e *plan.FuncCall) (program, error) {
	if e.RetSet {
		return nil, sqlerr.Unsupported("set-returning function %s in this context", funcs.Signature(e.Func, argTypes(e.Args)))
	}
	return c.kernelCall(e.Func, e.Args, e.Typed, e.InputColl, e.Variadic, e.Strict, e.Volatile == 'v')
}

func argTypes(args []plan.Expr) []types.OID {
	ts := make([]types.OID, len(args))
	for i, a := range args {
		ts[i] = a.T().Type
		// A composite passed as a record keeps its type, which knows the names of its fields.
		if r, ok := a.(*plan.Relabel); ok && ts[i] == types.RecordOID && r.Form == plan.FormImplicitCast {
			ts[i] = r.Arg.T().Type
		}
	}
	return ts
}

// argFields returns the field names of arguments that are rows, nil when none is.
func argFields(args []plan.Expr) [][]string {
	var out [][]string
	for i, a := range args {
		for {
			r, ok := a.(*plan.Relabel)
			if !ok {
				break
			}
			a = r.Arg
		}
		var names []string
		switch r := a.(type) {
		case *plan.RowExpr:
			if len(r.Names) == len(r.Args) {
				names = r.Names
			}
		case *plan.FuncCall:
			names = r.OutNames
		}
		if len(names) > 0 {
			if out == nil {
				out = make([][]string, len(args))
			}
			out[i] = names
		}
	}
	return out
}

func (c *compiler) kernelCall(fn types.OID, args []plan.Expr, t plan.Typed, coll types.OID, variadic, strict, volatile bool) (program, error) {
	k, err := lookupKernel(funcs.CallInfo{Func: fn, ArgTypes: argTypes(args), Result: t.Type, Typmod: t.Typmod, Collation: coll, Variadic: variadic, ArgFields: argFields(args)})
	if err != nil {
		return nil, err
	}
	ps, err := c.compileAll(args)
	if err != nil {
		return nil, err
	}
	return &callProg{kernel: k, args: ps, argv: make([]*vec.Vector, len(ps)), kind: types.KindOf(t.Type), strict: strict, volatile: volatile}, nil
}

// lookupKernel finds the implementation of a function: 0A000 with its signature when there is none.
func lookupKernel(ci funcs.CallInfo) (funcs.Kernel, error) {
	k, ok := funcs.Lookup(ci)
	if !ok && ci.Func >= pgdata.FirstUserOID {
		return funcs.SQLKernel(ci), nil
	}
	if !ok {
		return nil, sqlerr.Unsupported("function %s", funcs.Signature(ci.Func, ci.ArgTypes))
	}
	return k, nil
}

func (p *callProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	constant := !p.volatile
	for i, a := range p.args {
		v, err := a.eval(f, sel)
		if err != nil {
			return nil, err
		}
		p.argv[i] = v
		constant = constant && v.Const
	}
	return p.run(f, sel, constant)
}

// run calls the kernel on argv.
func (p *callProg) run(f *frame, sel []uint16, constant bool) (*vec.Vector, error) {
	ctx := &f.st.env.Funcs
	if constant {
		if p.strict && anyConstNull(p.argv) {
			return nullConst(&p.out, p.kind), nil
		}
		p.out.Reset(p.kind, 1)
		if err := p.kernel(ctx, 1, nil, p.argv, &p.out); err != nil {
			return nil, err
		}
		p.out.Const = true
		return &p.out, nil
	}
	if p.strict {
		if anyConstNull(p.argv) {
			return nullConst(&p.out, p.kind), nil
		}
		p.out.Reset(p.kind, f.n)
		sel = p.notNull(f.n, sel)
		if sel != nil && len(sel) == 0 {
			return &p.out, nil
		}
	} else {
		p.out.Reset(p.kind, f.n)
		if sel != nil && len(sel) == 0 {
			return &p.out, nil
		}
	}
	if err := p.kernel(ctx, f.n, sel, p.argv, &p.out); err != nil {
		return nil, err
	}
	return &p.out, nil
}

// notNull narrows sel to rows without a NULL argument and makes the others NULL in out.
func (p *callProg) notNull(n int, sel []uint16) []uint16 {
	nulls := false
	for _, a := range p.argv {
		nulls = nulls || a.HasNulls && !a.Const
	}
	if !nulls {
		return sel
	}
	keep := reuse(p.sel, n)
	each(n, sel, func(i int) {
		for _, a := range p.argv {
			if a.IsNull(i) {
				p.out.SetNull(i)
				return
			}
		}
		keep = append(keep, uint16(i))
	})
	p.sel = keep
	return keep
}

func anyConstNull(vs []*vec.Vector) bool {
	for _, v := range vs {
		if v.Const && v.IsNull(0) {
			return true
		}
	}
	return false
}

func nullConst(v *vec.Vector, k types.Kind) *vec.Vector {
	v.Reset(k, 1)
	v.SetNull(0)
	v.Const = true
	return v
}

// each calls fn for the selected rows.
func each(n int, sel []uint16, fn func(i int)) {
	if sel == nil {
		for i := range n {
			fn(i)
		}
		return
	}
	for _, i := range sel {
		fn(int(i))
	}
}

// count returns the number of selected rows.
func count(n int, sel []uint16) int {
	if sel == nil {
		return n
	}
	return len(sel)
}

// reuse returns buf empty, never nil (nil means all rows), with room for n rows.
func reuse(buf []uint16, n int) []uint16 {
	if buf == nil || cap(buf) < n {
		return make([]uint16, 0, max(n, 8))
	}
	return buf[:0]
}

// fullSel returns sel, or rows 0..n-1 in buf when sel is nil.
func fullSel(buf []uint16, n int, sel []uint16) []uint16 {
	buf = reuse(buf, n)
	if sel != nil {
		return append(buf, sel...)
	}
	for i := range n {
		buf = append(buf, uint16(i))
	}
	return buf
}

// relabelProg is a binary-coercible cast: the vector as it is.
func (c *compiler) relabel(e *plan.Relabel) (program, error) {
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	if types.KindOf(e.Type) != types.KindOf(e.Arg.T().Type) {
		return nil, sqlerr.Internal("relabel from type %d to type %d changes the representation", e.Arg.T().Type, e.Type)
	}
	return arg, nil
}

// nextValProg is an implicit nextval of an identity column or serial.
type nextValProg struct {
	seq types.OID
	out vec.Vector
}

func (p *nextValProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	p.out.Reset(types.KindInt, f.n)
	var err error
	each(f.n, sel, func(i int) {
		if err == nil {
			p.out.Int[i], err = f.st.env.Funcs.Env.NextIdentity(p.seq)
		}
	})
	return &p.out, err
}
