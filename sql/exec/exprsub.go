package exec

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// subPlanProg runs a subquery for every row, or once into a hash table for an uncorrelated ANY.
type subPlanProg struct {
	kind   plan.SubLinkKind
	op     Operator
	params []int
	args   []program
	argv   []*vec.Vector
	test   program
	slots  []int // input columns that test reads
	outer  vec.Batch
	consts []vec.Vector
	typ    types.OID
	out    vec.Vector
	isOpen bool

	elem   types.OID // SubArray: element type
	hashed *hashedSub
}

func (c *compiler) subPlan(e *plan.SubPlan) (program, error) {
	op, err := c.st.build(e.Plan)
	if err != nil {
		return nil, err
	}
	if len(e.ParamIDs) == 0 && !e.Hashed && !c.st.dependent(e.Plan) {
		op = c.st.newMaterialize(op, e.Plan) // run once, read for every row
	}
	p := &subPlanProg{kind: e.Kind, op: op, params: e.ParamIDs, typ: e.Type}
	if p.args, err = c.compileAll(e.Args); err != nil {
		return nil, err
	}
	p.argv = make([]*vec.Vector, len(p.args))
	if e.Kind == plan.SubArray {
		p.elem = e.Plan.Base().Cols[0].Type
	}
	c.st.subs = append(c.st.subs, p)
	if isNil(e.Test) {
		return p, nil
	}
	if e.Hashed && e.Kind == plan.SubAny {
		p.hashed, err = c.hashedSub(e)
		return p, err
	}
	if p.test, err = c.compile(e.Test); err != nil {
		return nil, err
	}
	width := 0
	for _, s := range slotsOf(e.Test) {
		p.slots = append(p.slots, s)
		width = max(width, s+1)
	}
	p.outer.Cols = make([]*vec.Vector, width)
	p.consts = make([]vec.Vector, width)
	return p, nil
}

// reset forgets the results of the last execution.
func (p *subPlanProg) reset() error {
	if p.hashed != nil {
		p.hashed.reset()
	}
	if !p.isOpen {
		return nil
	}
	p.isOpen = false
	return p.op.Close()
}

func (p *subPlanProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	for i, a := range p.args {
		v, err := a.eval(f, sel)
		if err != nil {
			return nil, err
		}
		p.argv[i] = v
	}
	if p.hashed != nil {
		return p.hashed.eval(f, sel, p)
	}
	p.out.Reset(types.KindOf(p.typ), f.n)
	var err error
	each(f.n, sel, func(i int) {
		if err == nil {
			err = p.evalRow(f, i)
		}
	})
	return &p.out, err
}

// start opens or rescans the subquery for row i.
func (p *subPlanProg) start(f *frame, i int) error {
	for k, id := range p.params {
		f.st.setExecParam(id, p.argv[k].Datum(i))
	}
	if !p.isOpen {
		p.isOpen = true
		return p.op.Open(f.st.env)
	}
	return p.op.Rescan()
}

func (p *subPlanProg) evalRow(f *frame, i int) error {
	if err := p.start(f, i); err != nil {
		return err
	}
	var d types.Datum
	var err error
	switch p.kind {
	case plan.SubExists:
		var b *vec.Batch
		b, err = p.op.Next(1)
		d = types.Bool(b != nil)
	case plan.SubScalar, plan.SubMulti:
		var row []types.Datum
		row, err = singleRow(p.op)
		d = types.NullDatum
		if row != nil {
			d = row[0]
		}
	case plan.SubArray:
		d, err = collectArray(p.op, p.elem)
	default:
		d, err = p.evalTest(f, i)
	}
	if err == nil {
		p.out.SetDatum(i, d)
	}
	return err
}

// evalTest computes test op ANY/ALL (subquery), or a row comparison, for outer row i.
func (p *subPlanProg) evalTest(f *frame, i int) (types.Datum, error) {
	for _, s := range p.slots {
		v, err := f.b.Col(s)
		if err != nil {
			return types.NullDatum, err
		}
		setConst(&p.consts[s], v.Kind, v.Datum(i))
		p.outer.Cols[s] = &p.consts[s]
	}
	all := p.kind == plan.SubAll
	result := types.Bool(all)
	if p.kind == plan.SubRowCompare {
		result = types.NullDatum
	}
	rows := 0
	for {
		b, err := p.op.Next(vec.MaxRows)
		if err != nil || b == nil {
			return result, err
		}
		cols, err := allCols(b)
		if err != nil {
			return result, err
		}
		rows += b.Rows()
		if p.kind == plan.SubRowCompare && rows > 1 {
			return result, errMoreThanOneRow()
		}
		p.outer.N, p.outer.Sel = b.N, b.Sel
		inner := frame{st: f.st, b: &p.outer, n: b.N, subOut: cols, caseV: f.caseV}
		v, err := p.test.eval(&inner, b.Sel)
		if err != nil {
			return result, err
		}
		done := false
		each(b.N, b.Sel, func(j int) {
			switch {
			case done:
			case p.kind == plan.SubRowCompare:
				result = v.Datum(j)
			case v.IsNull(j):
				result = types.NullDatum
			case v.Bool[v.At(j)] != all:
				result, done = types.Bool(!all), true
			}
		})
		if done {
			return result, nil
		}
	}
}

func errMoreThanOneRow() error {
	return sqlerr.New(sqlerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")
}

// singleRow returns the only row of op (copied), nil when it has none; 21000 when it has more.
func singleRow(op Operator) ([]types.Datum, error) {
	var row []types.Datum
	for {
		b, err := op.Next(2)
		if err != nil || b == nil {
			return row, err
		}
		if row != nil || b.Rows() > 1 {
			return nil, errMoreThanOneRow()
		}
		cols, err := allCols(b)
		if err != nil {
			return nil, err
		}
		row = make([]types.Datum, len(cols))
		for k, v := range cols {
			row[k] = cloneDatum(v.Datum(firstRow(b)))
		}
	}
}

func firstRow(b *vec.Batch) int {
	if b.Sel != nil {
		return int(b.Sel[0])
	}
	return 0
}

// cloneDatum copies a datum's bytes, so that it outlives its batch.
func cloneDatum(d types.Datum) types.Datum {
	if d.B != nil {
		d.B = append([]byte(nil), d.B...)
	}
	return d
}

// collectArray gathers the first column of op into an array.
func collectArray(op Operator, elem types.OID) (types.Datum, error) {
	var ds []types.Datum
	for {
		b, err := op.Next(vec.MaxRows)
		if err != nil {
			return types.NullDatum, err
		}
		if b == nil {
			break
		}
		v, err := b.Col(0)
		if err != nil {
			return types.NullDatum, err
		}
		each(b.N, b.Sel, func(i int) { ds = append(ds, cloneDatum(v.Datum(i))) })
	}
	return collectDatums(elem, ds)
}
