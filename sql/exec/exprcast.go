package exec

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// ioCastProg casts through text: the output of one type is the input of the other.
type ioCastProg struct {
	arg      program
	from, to types.OID
	typmod   types.Typmod
	out      vec.Vector
	buf      []byte
}

func (c *compiler) coerceIO(e *plan.CoerceViaIO) (program, error) {
	arg, err := c.compile(e.Arg)
	return &ioCastProg{arg: arg, from: e.Arg.T().Type, to: e.Type, typmod: e.Typmod}, err
}

func (p *ioCastProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	v, err := p.arg.eval(f, sel)
	if err != nil {
		return nil, err
	}
	io := f.st.env.Funcs.IO
	kind := types.KindOf(p.to)
	n := f.n
	if v.Const {
		n, sel = 1, nil
	}
	p.out.Reset(kind, n)
	each(n, sel, func(i int) {
		if err != nil {
			return
		}
		if v.IsNull(i) {
			p.out.SetNull(i)
			return
		}
		p.buf = types.Output(io, p.buf[:0], p.from, v.Datum(i))
		if textLike(p.to) {
			p.out.SetVar(i, p.buf)
			return
		}
		var d types.Datum
		if d, err = types.Input(io, p.to, p.typmod, p.buf); err == nil {
			p.out.SetDatum(i, d)
		}
	})
	p.out.Const = v.Const
	return &p.out, err
}

// textLike says whether the type's value is its text, without limits.
func textLike(t types.OID) bool { return t == types.TextOID || t == types.CStringOID }

// arrayCoerceProg casts an array element by element.
type arrayCoerceProg struct {
	arg   program
	elem  program // over the element as CaseTest
	from  types.OID
	to    types.OID
	out   vec.Vector
	elems vec.Vector
}

func (c *compiler) arrayCoerce(e *plan.ArrayCoerce) (program, error) {
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	elem, err := c.compile(e.Elem)
	to := e.Elem // elements of a domain are kept as its base type
	for d, ok := to.(*plan.CoerceToDomain); ok; d, ok = to.(*plan.CoerceToDomain) {
		to = d.Arg
	}
	return &arrayCoerceProg{arg: arg, elem: elem, from: arrayElem(e.Arg.T().Type, 0), to: to.T().Type}, err
}

func (p *arrayCoerceProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	v, err := p.arg.eval(f, sel)
	if err != nil {
		return nil, err
	}
	n := f.n
	if v.Const {
		n, sel = 1, nil
	}
	p.out.Reset(types.KindBytes, n)
	each(n, sel, func(i int) {
		if err != nil {
			return
		}
		if v.IsNull(i) {
			p.out.SetNull(i)
			return
		}
		var b []byte
		if b, err = p.cast(f, types.ReadArray(v.Bytes(i))); err == nil {
			p.out.SetVar(i, b)
		}
	})
	p.out.Const = v.Const
	return &p.out, err
}

// cast converts all elements of an array, in batches.
func (p *arrayCoerceProg) cast(f *frame, a types.Array) ([]byte, error) {
	if a.NDim() == 0 {
		return types.EmptyArray(p.to), nil
	}
	lens, lowers := a.Dims()
	b := types.BuildArray(nil, p.to, lens, lowers)
	ds := a.Datums()
	for len(ds) > 0 {
		n := min(len(ds), vec.MaxRows)
		p.elems.Reset(types.KindOf(a.Elem()), n)
		for k, d := range ds[:n] {
			p.elems.SetDatum(k, d)
		}
		v, err := p.elem.eval(&frame{st: f.st, n: n, caseV: &p.elems}, nil)
		if err != nil {
			return nil, err
		}
		for k := range n {
			b.Add(v.Datum(k))
		}
		ds = ds[n:]
	}
	return b.Buf, nil
}

// domainProg checks a domain's constraints.
type domainProg struct {
	arg     program
	schema  string
	name    string
	text    string
	notNull bool
	checks  []program
	names   []string
}

func (c *compiler) domain(e *plan.CoerceToDomain) (program, error) {
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	p := &domainProg{arg: arg, schema: e.Schema, name: e.Name, text: e.Text, notNull: e.NotNull}
	for _, ch := range e.Checks {
		x, err := c.compile(ch.Expr)
		if err != nil {
			return nil, err
		}
		p.checks, p.names = append(p.checks, x), append(p.names, ch.Name)
	}
	return p, nil
}

func (p *domainProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	v, err := p.arg.eval(f, sel)
	if err != nil {
		return nil, err
	}
	if p.notNull && v.HasNulls {
		each(f.n, sel, func(i int) {
			if err == nil && v.IsNull(i) {
				err = sqlerr.New(sqlerr.NotNullViolation, "domain %s does not allow null values", p.text).WithType(p.schema, p.name)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	outer := f.caseV
	f.caseV = v
	defer func() { f.caseV = outer }()
	for k, c := range p.checks {
		b, err := c.eval(f, sel)
		if err != nil {
			return nil, err
		}
		each(f.n, sel, func(i int) {
			if err == nil && !b.IsNull(i) && !b.Bool[b.At(i)] {
				err = sqlerr.New(sqlerr.CheckViolation, "value for domain %s violates check constraint \"%s\"", p.text, p.names[k]).
					WithType(p.schema, p.name).WithConstraint(p.names[k])
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// rowProg is ROW(...).
type rowProg struct {
	args  []program
	types []types.OID
	vs    []*vec.Vector
	out   vec.Vector
}

func (c *compiler) row(e *plan.RowExpr) (program, error) {
	args, err := c.compileAll(e.Args)
	return &rowProg{args: args, types: argTypes(e.Args), vs: make([]*vec.Vector, len(args))}, err
}

func (p *rowProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	var err error
	for i, a := range p.args {
		if p.vs[i], err = a.eval(f, sel); err != nil {
			return nil, err
		}
	}
	p.out.Reset(types.KindBytes, f.n)
	each(f.n, sel, func(i int) {
		b := types.BuildRecord(p.out.Start(), len(p.vs))
		for k, v := range p.vs {
			b.Add(p.types[k], v.Datum(i))
		}
		p.out.Finish(i, b.Buf)
	})
	return &p.out, nil
}

// fieldProg is (row).field.
type fieldProg struct {
	arg   program
	field int
	kind  types.Kind
	out   vec.Vector
}

func (c *compiler) field(e *plan.FieldSelect) (program, error) {
	arg, err := c.compile(e.Arg)
	return &fieldProg{arg: arg, field: e.Field, kind: types.KindOf(e.Type)}, err
}

func (p *fieldProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	v, err := p.arg.eval(f, sel)
	if err != nil {
		return nil, err
	}
	p.out.Reset(p.kind, f.n)
	each(f.n, sel, func(i int) {
		if v.IsNull(i) {
			p.out.SetNull(i)
			return
		}
		_, d := types.RecordField(v.Bytes(i), p.field)
		p.out.SetDatum(i, d)
	})
	return &p.out, nil
}

// recordFields takes a composite value apart; NULL gives NULL fields.
func recordFields(d types.Datum, n int) ([]types.Datum, error) {
	out := make([]types.Datum, 0, n)
	if !d.Null {
		for it := types.ReadRecord(d.B); it.Next() && len(out) < n; {
			out = append(out, it.Datum())
		}
	}
	for len(out) < n {
		out = append(out, types.NullDatum)
	}
	return out, nil
}

// recordNullTest is IS NULL (all fields NULL) or, with not, IS NOT NULL (no field NULL) of a composite value.
func recordNullTest(b []byte, not bool) bool {
	for it := types.ReadRecord(b); it.Next(); {
		if it.Null == not {
			return false
		}
	}
	return true
}
