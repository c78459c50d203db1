package exec

import (
	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/funcs"
	"herd/sql/types"
	"herd/sql/vec"
)

// scalarArrayProg is scalar op ANY/ALL (array).
type scalarArrayProg struct {
	scalar, array program
	kernel        funcs.Kernel
	useOr         bool
	elem          types.OID
	hashable      bool
	eq            eqCol

	constant bool // the array is a literal: elems and table are made once
	prepared bool
	elems    []types.Datum
	table    *keyTable
	hasNull  bool

	out, tmp, one, sv vec.Vector
	argv              [2]*vec.Vector
	s                 splitter
	key               []byte
}

func (c *compiler) scalarArray(e *plan.ScalarArrayOp) (program, error) {
	st := e.Args[0].T().Type
	elem := arrayElem(e.Args[1].T().Type, st)
	if a, ok := e.Args[1].(*plan.ArrayExpr); ok {
		elem = a.Elem
	}
	k, err := lookupKernel(funcs.CallInfo{Func: e.Func, ArgTypes: []types.OID{st, elem}, Result: types.BoolOID, Typmod: -1, Collation: e.InputColl})
	if err != nil {
		return nil, err
	}
	p := &scalarArrayProg{kernel: k, useOr: e.UseOr, elem: elem, eq: newEqCol(elem, e.InputColl)}
	if p.scalar, err = c.compile(e.Args[0]); err != nil {
		return nil, err
	}
	if p.array, err = c.compile(e.Args[1]); err != nil {
		return nil, err
	}
	_, p.constant = e.Args[1].(*plan.Const)
	if o := pgdata.OperatorByOID(e.Op); o != nil && e.UseOr && o.CanHash {
		p.hashable = newEqCol(st, e.InputColl).mode == p.eq.mode
	}
	return p, nil
}

func (p *scalarArrayProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	s, err := p.scalar.eval(f, sel)
	if err != nil {
		return nil, err
	}
	a, err := p.array.eval(f, sel)
	if err != nil {
		return nil, err
	}
	if a.Const {
		if a.IsNull(0) {
			return nullConst(&p.out, types.KindBool), nil
		}
		if !p.constant || !p.prepared {
			p.prepare(a.Bytes(0))
		}
		if p.table != nil {
			return p.probe(f, sel, s), nil
		}
		return p.list(f, sel, s)
	}
	p.out.Reset(types.KindBool, f.n)
	each(f.n, sel, func(i int) {
		if err == nil {
			err = p.row(f, s, a, i)
		}
	})
	return &p.out, err
}

// prepare decodes a constant array, into a hash table when it is long.
func (p *scalarArrayProg) prepare(b []byte) {
	p.prepared = true
	p.elems = types.ReadArray(append([]byte(nil), b...)).Datums()
	p.hasNull, p.table = false, nil
	for _, d := range p.elems {
		p.hasNull = p.hasNull || d.Null
	}
	if !p.hashable || len(p.elems) < hashedList {
		return
	}
	p.table = &keyTable{}
	for _, d := range p.elems {
		if d.Null {
			continue
		}
		setConst(&p.one, types.KindOf(p.elem), d)
		p.key = p.eq.append(p.key[:0], &p.one, 0)
		p.table.insert(hashKey(p.key), p.key) // without an account this cannot fail
	}
}

func (p *scalarArrayProg) probe(f *frame, sel []uint16, s *vec.Vector) *vec.Vector {
	p.out.Reset(types.KindBool, f.n)
	each(f.n, sel, func(i int) {
		if s.IsNull(i) {
			p.out.SetNull(i)
			return
		}
		p.key = p.eq.append(p.key[:0], s, i)
		hit := p.table.find(hashKey(p.key), p.key) >= 0
		p.out.Bool[i] = hit
		if !hit && p.hasNull {
			p.out.SetNull(i)
		}
	})
	return &p.out
}

// list compares all rows with one element after the other; rows that are decided drop out.
func (p *scalarArrayProg) list(f *frame, sel []uint16, s *vec.Vector) (*vec.Vector, error) {
	p.out.Reset(types.KindBool, f.n)
	rest := reuse(p.s.rest, f.n)
	each(f.n, sel, func(i int) {
		p.out.Bool[i] = !p.useOr
		if len(p.elems) > 0 && s.IsNull(i) {
			p.out.SetNull(i)
			return
		}
		rest = append(rest, uint16(i))
	})
	for _, d := range p.elems {
		if len(rest) == 0 {
			break
		}
		if d.Null {
			for _, i := range rest {
				p.out.SetNull(int(i))
			}
			continue
		}
		setConst(&p.one, types.KindOf(p.elem), d)
		p.argv[0], p.argv[1] = s, &p.one
		n, ksel := f.n, rest
		if s.Const {
			n, ksel = 1, nil
		}
		p.tmp.Reset(types.KindBool, n)
		if err := p.kernel(&f.st.env.Funcs, n, ksel, p.argv[:], &p.tmp); err != nil {
			return nil, err
		}
		p.tmp.Const = s.Const
		keep := reuse(p.s.spare, f.n)
		for _, i := range rest {
			if p.tmp.IsNull(int(i)) {
				p.out.SetNull(int(i))
			} else if p.tmp.Bool[p.tmp.At(int(i))] == p.useOr {
				p.out.Bool[i] = p.useOr
				p.out.ClearNull(int(i))
				continue
			}
			keep = append(keep, i)
		}
		p.s.spare, rest = rest, keep
	}
	p.s.rest = rest
	return &p.out, nil
}

// row evaluates one row whose array is its own.
func (p *scalarArrayProg) row(f *frame, s, a *vec.Vector, i int) error {
	if a.IsNull(i) {
		p.out.SetNull(i)
		return nil
	}
	ds := types.ReadArray(a.Bytes(i)).Datums()
	p.out.Bool[i] = !p.useOr
	if len(ds) == 0 {
		return nil
	}
	if s.IsNull(i) {
		p.out.SetNull(i)
		return nil
	}
	setConst(&p.sv, s.Kind, s.Datum(i))
	for _, d := range ds {
		if d.Null {
			p.out.SetNull(i)
			continue
		}
		setConst(&p.one, types.KindOf(p.elem), d)
		p.argv[0], p.argv[1] = &p.sv, &p.one
		p.tmp.Reset(types.KindBool, 1)
		if err := p.kernel(&f.st.env.Funcs, 1, nil, p.argv[:], &p.tmp); err != nil {
			return err
		}
		if p.tmp.IsNull(0) {
			p.out.SetNull(i)
		} else if p.tmp.Bool[0] == p.useOr {
			p.out.Bool[i] = p.useOr
			p.out.ClearNull(i)
			return nil
		}
	}
	return nil
}
