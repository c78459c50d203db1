package exec

import (
	"strconv"

	"herd/planner/plan"
	"herd/sql/funcs"
	"herd/sql/types"
	"herd/sql/types/json"
	"herd/sql/vec"
)

// Casts from timestamptz that CURRENT_DATE and its kin are made of.
const (
	fnTimestampTZDate      types.OID = 1178
	fnTimestampTZTimeTZ    types.OID = 1388
	fnTimestampTZTime      types.OID = 2019
	fnTimestampTZTimestamp types.OID = 2027
)

// sqlValueProg is CURRENT_DATE, CURRENT_USER and so on: the same value for all rows of a statement.
type sqlValueProg struct {
	kind   plan.SQLValueKind
	typ    types.OID
	typmod types.Typmod
	cast   funcs.Kernel // from timestamptz; nil for CURRENT_TIMESTAMP and names
	arg    vec.Vector
	out    vec.Vector
}

func (c *compiler) sqlValue(e *plan.SQLValue) (program, error) {
	p := &sqlValueProg{kind: e.Kind, typ: e.Type, typmod: e.Typmod}
	cast := map[plan.SQLValueKind]types.OID{
		plan.CurrentDate: fnTimestampTZDate, plan.CurrentTime: fnTimestampTZTimeTZ, plan.LocalTime: fnTimestampTZTime, plan.LocalTimestamp: fnTimestampTZTimestamp,
	}[e.Kind]
	if cast == 0 {
		return p, nil
	}
	var err error
	p.cast, err = lookupKernel(funcs.CallInfo{Func: cast, ArgTypes: []types.OID{types.TimestampTZOID}, Result: e.Type, Typmod: -1})
	return p, err
}

func (p *sqlValueProg) eval(f *frame, _ []uint16) (*vec.Vector, error) {
	ctx := &f.st.env.Funcs
	text := func(s string) (*vec.Vector, error) {
		setConst(&p.out, types.KindBytes, types.Text(s))
		return &p.out, nil
	}
	switch p.kind {
	case plan.CurrentRole, plan.CurrentUser:
		return text(ctx.Env.CurrentUser())
	case plan.SessionUser:
		return text(ctx.Env.SessionUser())
	case plan.CurrentCatalog:
		return text(ctx.Env.Database())
	case plan.CurrentSchema:
		path := ctx.Env.SearchPath(false)
		if len(path) == 0 {
			return nullConst(&p.out, types.KindBytes), nil
		}
		return text(path[0])
	}
	setConst(&p.arg, types.KindInt, types.Int(ctx.TxTime))
	v := &p.arg
	if p.cast != nil {
		p.out.Reset(types.KindOf(p.typ), 1)
		if err := p.cast(ctx, 1, nil, []*vec.Vector{&p.arg}, &p.out); err != nil {
			return nil, err
		}
		p.out.Const = true
		v = &p.out
	}
	if p.typmod >= 0 {
		d, err := types.ApplyTypmod(p.typ, p.typmod, false, cloneDatum(v.Datum(0)))
		if err != nil {
			return nil, err
		}
		setConst(&p.out, types.KindOf(p.typ), d)
		v = &p.out
	}
	return v, nil
}

// fetchJSON is jsonb[key][index]...: NULL when there is no such part.
func (p *subscriptProg) fetchJSON(d types.Datum, i int) types.Datum {
	if d.Null {
		return d
	}
	b := d.B
	for k, v := range p.uv {
		if v == nil || v.IsNull(i) {
			return types.NullDatum
		}
		var ok bool
		key := v.Datum(i)
		switch {
		case !p.textKey[k]:
			b, ok = json.Index(b, int(key.I))
		case len(b) > 0 && b[0] == '[':
			n, err := strconv.Atoi(string(key.B))
			if err != nil {
				return types.NullDatum
			}
			b, ok = json.Index(b, n)
		default:
			b, ok = json.Field(b, key.B)
		}
		if !ok {
			return types.NullDatum
		}
	}
	return types.Bytes(b)
}
