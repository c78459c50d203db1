package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// funcRef is transformRangeFunction: functions in FROM.
func (s *scope) funcRef(x *ast.FuncRef) (*nsItem, error) {
	b := s.b
	r := &plan.RTE{Kind: plan.RTEFunction, Lateral: true, Ordinality: x.Ordinality, InFromCl: true}
	saved := s.lateral
	s.lateral = true
	defer func() { s.lateral = saved }()
	names := []string{}
	for _, f := range x.Funcs {
		calls := []ast.Expr{f.Call}
		if fc, ok := f.Call.(*ast.FuncCall); ok && fc.Name.Name == "unnest" && fc.Name.Schema == "" && len(fc.Args) > 1 && !fc.Variadic && len(f.Columns) == 0 {
			calls = calls[:0]
			for _, a := range fc.Args {
				calls = append(calls, &ast.FuncCall{Loc: fc.Loc, Name: ast.Name{Loc: fc.Name.Loc, Schema: "pg_catalog", Name: "unnest"}, Args: []ast.Expr{a}})
			}
		}
		for _, call := range calls {
			e, err := s.fromCall(call)
			if err != nil {
				return nil, err
			}
			defs := f.Columns
			if len(x.Columns) > 0 {
				if x.RowsFrom || len(x.Funcs) > 1 {
					return nil, b.errorAt(int(x.Off), sqlerr.SyntaxError, "ROWS FROM() with multiple functions cannot have a column definition list").
						WithHint("Put a separate column definition list for each function inside ROWS FROM().")
				}
				defs = x.Columns
			}
			if len(defs) > 0 && x.Ordinality && len(x.Columns) > 0 {
				return nil, b.errorAt(int(x.Off), sqlerr.SyntaxError, "WITH ORDINALITY cannot be used with a column definition list").
					WithHint("Put the column definition list inside ROWS FROM().")
			}
			name := figureName(call)
			names = append(names, name)
			aliasName := ""
			if len(x.Funcs) == 1 && x.Alias != nil {
				aliasName = x.Alias.Name
			}
			cols, err := b.funcColumns(e, name, aliasName, defs, int(call.Pos()))
			if err != nil {
				return nil, err
			}
			r.Funcs = append(r.Funcs, e)
			r.FuncCols = append(r.FuncCols, len(cols))
			r.Cols = append(r.Cols, cols...)
		}
	}
	if x.Ordinality {
		r.Cols = append(r.Cols, plan.Column{Name: "ordinality", Typed: plan.Typed{Type: types.Int8OID, Typmod: -1, Loc: -1}})
	}
	r.Alias = names[0]
	if err := s.applyAlias(r, x.Alias); err != nil {
		return nil, err
	}
	return s.newItem(s.addRTE(r)), nil
}

// fromCall binds one call in FROM; only its top may return a set.
func (s *scope) fromCall(call ast.Expr) (plan.Expr, error) {
	s.srfOK = true
	e, err := s.expr(call, kindFromFunction)
	s.srfOK = false
	if err != nil {
		return nil, err
	}
	if children(e, func(c plan.Expr) bool { return returnsSet(c) }) {
		return nil, s.b.errorAt(int(call.Pos()), sqlerr.FeatureNotSupported, "set-returning functions must appear at top level of FROM")
	}
	return e, nil
}

// funcColumns finds the columns a call in FROM yields.
func (b *binder) funcColumns(e plan.Expr, name, alias string, defs []*ast.ColumnDef, loc int) ([]plan.Column, error) {
	t := e.T().Type
	out, isRecord := b.outColumns(e)
	if len(defs) > 0 {
		loc = int(defs[0].Off)
	}
	switch {
	case out != nil:
		if len(defs) > 0 {
			return nil, b.errorAt(loc, sqlerr.SyntaxError, "a column definition list is redundant for a function with OUT parameters")
		}
		return out, nil
	case t == types.RecordOID || isRecord:
		if len(defs) == 0 {
			return nil, b.errorAt(loc, sqlerr.SyntaxError, "a column definition list is required for functions returning \"record\"")
		}
		return b.columnDefs(defs)
	}
	if len(defs) > 0 {
		if b.isComplex(t) {
			return nil, b.errorAt(loc, sqlerr.SyntaxError, "a column definition list is redundant for a function returning a named composite type")
		}
		return nil, b.errorAt(loc, sqlerr.SyntaxError, "a column definition list is only allowed for functions returning \"record\"")
	}
	if b.isComplex(t) {
		return b.compositeCols(b.baseType(t))
	}
	if td := b.typ(t); td != nil && td.Type == 'p' && t != types.VoidOID && t != types.CStringOID {
		return nil, b.errorAt(loc, sqlerr.DatatypeMismatch, "function \"%s\" in FROM has unsupported return type %s", name, b.typeName(t))
	}
	col := name
	if n := b.scalarOutName(e); n != "" {
		col = n
	} else if alias != "" {
		col = alias
	}
	ty := *e.T()
	ty.Loc = -1
	return []plan.Column{{Name: col, Typed: ty}}, nil
}

func (b *binder) columnDefs(defs []*ast.ColumnDef) ([]plan.Column, error) {
	cols := make([]plan.Column, 0, len(defs))
	for _, d := range defs {
		if d.Type.SetOf {
			return nil, b.errorAt(int(d.Off), sqlerr.InvalidTableDefinition, "column \"%s\" cannot be declared SETOF", d.Name)
		}
		t, mod, err := b.typeByName(d.Type)
		if err != nil {
			return nil, err
		}
		coll := b.typeCollation(t)
		if !d.Collation.IsZero() {
			if coll, err = b.collationByName(d.Collation); err != nil {
				return nil, err
			}
		}
		cols = append(cols, plan.Column{Name: d.Name, Typed: plan.Typed{Type: t, Typmod: mod, Collation: coll, Loc: -1}})
	}
	return cols, nil
}

func (b *binder) calledProc(e plan.Expr) *pgdata.Proc {
	f, ok := e.(*plan.FuncCall)
	if !ok {
		return nil
	}
	p, err := b.proc(f.Func)
	if err != nil {
		return nil
	}
	return p
}

// outColumns are the columns of a function with several OUT parameters (or RETURNS TABLE); nil otherwise.
func (b *binder) outColumns(e plan.Expr) (cols []plan.Column, record bool) {
	p := b.calledProc(e)
	if p == nil || p.RetType != types.RecordOID {
		return nil, false
	}
	if p.AllArgTypes == nil || p.ArgModes == nil {
		return nil, true
	}
	f := e.(*plan.FuncCall)
	res := b.resolveOuts(p, f)
	for i, m := range p.ArgModes {
		if m != 'o' && m != 'b' && m != 't' {
			continue
		}
		name := ""
		if p.ArgNames != nil {
			name = p.ArgNames[i]
		}
		if name == "" {
			name = "column" + itoa(len(cols)+1)
		}
		t := res(p.AllArgTypes[i])
		cols = append(cols, plan.Column{Name: name, Typed: plan.Typed{Type: t, Typmod: -1, Collation: b.typeCollation(t), Loc: -1}})
	}
	return cols, len(cols) == 0
}

// resolveOuts maps polymorphic OUT types by the call's actual arguments.
func (b *binder) resolveOuts(p *pgdata.Proc, f *plan.FuncCall) func(types.OID) types.OID {
	return func(t types.OID) types.OID {
		if !isPolymorphic(t) {
			return t
		}
		actual := make([]types.OID, 0, len(f.Args))
		declared := make([]types.OID, 0, len(f.Args))
		for i, a := range f.Args {
			if i < len(p.ArgTypes) {
				actual, declared = append(actual, a.T().Type), append(declared, p.ArgTypes[i])
			}
		}
		if r, err := b.enforceGeneric(actual, declared, t); err == nil {
			return r
		}
		return t
	}
}

// scalarOutName is the name of a scalar function's single OUT parameter, "" when it has none.
func (b *binder) scalarOutName(e plan.Expr) string {
	p := b.calledProc(e)
	if p == nil || p.ArgModes == nil || p.ArgNames == nil {
		return ""
	}
	name := ""
	for i, m := range p.ArgModes {
		if m == 'o' || m == 'b' || m == 't' {
			if name != "" {
				return ""
			}
			name = p.ArgNames[i]
		}
	}
	return name
}

func itoa(n int) string {
	if n == 0 {
		return "0"
	}
	var buf [20]byte
	i := len(buf)
	for ; n > 0; n /= 10 {
		i--
		buf[i] = byte('0' + n%10)
	}
	return string(buf[i:])
}
