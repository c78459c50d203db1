package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// setClause binds SET: transformUpdateTargetList.
func (s *scope) setClause(set []ast.Assignment, rel *catalog.Relation) ([]*plan.Target, error) {
	var out []*plan.Target
	for i := range set {
		a := &set[i]
		exprs, err := s.setValues(a)
		if err != nil {
			return nil, err
		}
		for k := range a.Targets {
			t := &a.Targets[k]
			at, err := s.columnNumber(rel, t.Name, int(t.Off))
			if err != nil {
				return nil, err
			}
			if out, err = s.setColumn(out, rel, at, t, exprs[k]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// setValues binds the right side of one assignment, one expression a column.
func (s *scope) setValues(a *ast.Assignment) ([]plan.Expr, error) {
	one := func(e ast.Expr) (plan.Expr, error) {
		if _, ok := e.(*ast.Default); ok {
			return &plan.SetToDefault{Typed: plan.Typed{Typmod: -1, Loc: int(e.Pos())}}, nil
		}
		return s.expr(e, kindUpdateSource)
	}
	if !a.Multi {
		e, err := one(a.Value)
		return []plan.Expr{e}, err
	}
	n := len(a.Targets)
	mismatch := func() error {
		return s.b.errorAt(int(a.Value.Pos()), sqlerr.SyntaxError, "number of columns does not match number of values")
	}
	switch v := a.Value.(type) {
	case *ast.Row:
		if len(v.Args) != n {
			return nil, mismatch()
		}
		out := make([]plan.Expr, n)
		for i, e := range v.Args {
			x, err := one(e)
			if err != nil {
				return nil, err
			}
			out[i] = x
		}
		return out, nil
	case *ast.SubLink:
		if v.Kind == ast.SubScalar {
			return s.setSubquery(v, n, mismatch)
		}
	}
	return nil, s.b.errorAt(int(a.Value.Pos()), sqlerr.FeatureNotSupported, "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
}

// setSubquery is SET (a, b) = (SELECT ...): the subquery yields one row value whose fields are taken apart.
func (s *scope) setSubquery(v *ast.SubLink, n int, mismatch func() error) ([]plan.Expr, error) {
	q, err := s.subQuery(v.Query, true)
	if err != nil {
		return nil, err
	}
	cols := outputColumns(q)
	if len(cols) != n {
		return nil, mismatch()
	}
	inner := &plan.Query{Command: plan.CmdSelect, Result: -1, RTable: []*plan.RTE{{Kind: plan.RTESubquery, Sub: shiftQuery(q, 1), Alias: "s", Cols: cols, InFromCl: true}}, From: []plan.FromItem{plan.RangeRef{RTE: 0}}}
	row := &plan.RowExpr{Typed: plan.Typed{Type: types.RecordOID, Typmod: -1, Loc: -1}}
	for i, c := range cols {
		row.Args = append(row.Args, &plan.Var{Typed: c.Typed, RTE: 0, Attno: i + 1})
		row.Names = append(row.Names, c.Name)
	}
	inner.Targets = []*plan.Target{{Expr: row, Name: "row"}}
	link := &plan.SubLink{Typed: row.Typed, Kind: plan.SubScalar, Query: inner}
	out := make([]plan.Expr, n)
	for i, c := range cols {
		out[i] = &plan.FieldSelect{Typed: c.Typed, Arg: link, Field: i + 1, Name: c.Name}
	}
	return out, nil
}

// shiftQuery moves a query delta levels further in.
func shiftQuery(q *plan.Query, delta int) *plan.Query {
	return mapQuery(q, 0, func(e plan.Expr, level int) plan.Expr { return shiftNode(e, level+1, delta) })
}

// setColumn adds one assignment.
func (s *scope) setColumn(out []*plan.Target, rel *catalog.Relation, at int, t *ast.ColumnTarget, e plan.Expr) ([]*plan.Target, error) {
	c := &rel.Columns[at]
	_, isDefault := e.(*plan.SetToDefault)
	if !isDefault && (c.Identity == 'a' || c.Generated != "") {
		err := sqlerr.New(sqlerr.GeneratedAlways, "column \"%s\" can only be updated to DEFAULT", c.Name)
		if c.Generated != "" {
			return nil, err.WithDetail("Column \"%s\" is a generated column.", c.Name)
		}
		return nil, err.WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", c.Name)
	}
	s.q.RTable[s.q.Result].Updated = append(s.q.RTable[s.q.Result].Updated, int16(at+1))
	var prev *plan.Target
	for _, o := range out {
		if o.Attno == at+1 {
			prev = o
		}
	}
	if len(t.Steps) > 0 {
		return s.setPart(out, prev, c, at, t, e)
	}
	if prev != nil {
		return nil, sqlerr.New(sqlerr.SyntaxError, "multiple assignments to same column \"%s\"", c.Name)
	}
	if isDefault {
		if c.Generated != "" {
			return out, nil
		}
		d, err := s.defaultValue(rel, c)
		if err != nil {
			return nil, err
		}
		e = d
	} else {
		v, err := s.assign(e, c, int(t.Off))
		if err != nil {
			return nil, err
		}
		e = v
	}
	return append(out, &plan.Target{Expr: e, Name: c.Name, Attno: at + 1}), nil
}

// setPart assigns to an array element or slice, to a field of a row or to a jsonb member.
func (s *scope) setPart(out []*plan.Target, prev *plan.Target, c *catalog.Column, at int, t *ast.ColumnTarget, e plan.Expr) ([]*plan.Target, error) {
	var base plan.Expr = &plan.Var{Typed: plan.Typed{Type: c.Type, Typmod: c.Typmod, Collation: c.Collation, Loc: int(t.Off)}, RTE: s.targetRel, Attno: at + 1}
	if prev != nil {
		if !prev.Parts {
			return nil, sqlerr.New(sqlerr.SyntaxError, "multiple assignments to same column \"%s\"", c.Name)
		}
		base = prev.Expr
	}
	saved := s.kind
	s.kind = kindUpdateTarget
	p := &partAssignment{s: s, loc: int(t.Off), name: c.Name}
	n, err := p.assign(base, t.Steps, e)
	s.kind = saved
	if err != nil {
		return nil, err
	}
	if prev != nil {
		prev.Expr = n
		return out, nil
	}
	return append(out, &plan.Target{Expr: n, Name: c.Name, Attno: at + 1, Parts: true}), nil
}

// partAssignment is an assignment to a part of a column: transformAssignmentIndirection.
type partAssignment struct {
	s          *scope
	name       string // of the column or field at hand
	loc        int
	subscripts bool      // the step before was a subscript
	value      plan.Expr // what is assigned, of the part's type
}

// assign returns base with the part that steps lead to replaced by e.
func (p *partAssignment) assign(base plan.Expr, steps []ast.Step, e plan.Expr) (plan.Expr, error) {
	b := p.s.b
	if len(steps) == 0 {
		return p.leaf(base.T(), e)
	}
	if _, ok := e.(*plan.SetToDefault); ok {
		what := "an array element"
		if steps[0].Kind == ast.StepField {
			what = "a subfield"
		}
		return nil, b.errorAt(p.loc, sqlerr.FeatureNotSupported, "cannot set %s to DEFAULT", what)
	}
	switch steps[0].Kind {
	case ast.StepStar:
		return nil, b.errorAt(p.loc, sqlerr.FeatureNotSupported, "row expansion via \"*\" is not supported here")
	case ast.StepField:
		return p.field(base, steps, e)
	}
	k := 0
	for k < len(steps) && (steps[k].Kind == ast.StepSubscript || steps[k].Kind == ast.StepSlice) {
		k++
	}
	f, err := p.s.subscript(base, steps[:k], p.loc)
	if err != nil {
		return nil, err
	}
	n := f.(*plan.Subscript)
	part := *n
	p.subscripts = true
	if n.Assign, err = p.assign(&part, steps[k:], e); err != nil {
		return nil, err
	}
	t := *base.T()
	mod := types.Typmod(0)
	n.Type, mod = b.baseTypeMod(t.Type, t.Typmod)
	n.Typmod, n.Collation = mod, t.Collation
	return b.coerceDomain(n, t.Type, n.Type, mod, coerceImplicit, plan.FormImplicitCast, p.loc)
}

// leaf casts the value to the type of the part.
func (p *partAssignment) leaf(t *plan.Typed, e plan.Expr) (plan.Expr, error) {
	b := p.s.b
	v, err := b.coerceTo(e, t.Type, t.Typmod, coerceAssignment, plan.FormImplicitCast, -1)
	if err != nil {
		return nil, err
	}
	if v == nil {
		format := "subfield \"%s\" is of type %s but expression is of type %s"
		if p.subscripts {
			format = "subscripted assignment to \"%s\" requires type %s but expression is of type %s"
		}
		return nil, b.errorAt(p.loc, sqlerr.DatatypeMismatch, format, p.name, b.typeName(t.Type), b.typeName(e.T().Type)).
			WithHint("You will need to rewrite or cast the expression.")
	}
	p.value = v
	return v, nil
}

// field makes the row that base is anew, with one field changed.
func (p *partAssignment) field(base plan.Expr, steps []ast.Step, e plan.Expr) (plan.Expr, error) {
	b, name := p.s.b, steps[0].Field
	t := *base.T()
	rowType, mod := b.baseTypeMod(t.Type, t.Typmod)
	if !b.isComplex(rowType) {
		return nil, b.errorAt(p.loc, sqlerr.DatatypeMismatch, "cannot assign to field \"%s\" of column \"%s\" because its type %s is not a composite type", name, p.name, b.typeName(t.Type))
	}
	cols, err := b.compositeCols(rowType)
	if err != nil {
		return nil, err
	}
	row := &plan.RowExpr{Typed: plan.Typed{Type: rowType, Typmod: -1, Loc: p.loc}}
	found := false
	for i := range cols {
		var x plan.Expr = &plan.FieldSelect{Typed: cols[i].Typed, Arg: base, Field: i + 1, Name: cols[i].Name}
		switch cols[i].Name {
		case "": // dropped
			x = &plan.Const{Typed: cols[i].Typed, Value: types.NullDatum}
		case name:
			found = true
			p.name, p.subscripts = name, false
			if x, err = p.assign(x, steps[1:], e); err != nil {
				return nil, err
			}
		}
		row.Args, row.Names = append(row.Args, x), append(row.Names, cols[i].Name)
	}
	if !found {
		return nil, b.errorAt(p.loc, sqlerr.UndefinedColumn, "cannot assign to field \"%s\" of column \"%s\" because there is no such column in data type %s", name, p.name, b.typeName(t.Type))
	}
	return b.coerceDomain(row, t.Type, rowType, mod, coerceImplicit, plan.FormImplicitCast, p.loc)
}

// insertPart gives a part of a new row's column a value; part is that value. have is what other parts were given.
func (s *scope) insertPart(c *catalog.Column, ic *insertColumn, e, have plan.Expr) (whole, part plan.Expr, err error) {
	if have == nil {
		have = &plan.Const{Typed: plan.Typed{Type: c.Type, Typmod: c.Typmod, Collation: c.Collation, Loc: -1}, Value: types.NullDatum}
	}
	p := &partAssignment{s: s, loc: ic.loc, name: c.Name}
	whole, err = p.assign(have, ic.steps, e)
	return whole, p.value, err
}
