package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// subLink is transformSubLink.
func (s *scope) subLink(x *ast.SubLink) (plan.Expr, error) {
	loc := int(x.Off)
	if what := noSubquery(s.kind); what != "" {
		return nil, s.b.errorAt(loc, sqlerr.FeatureNotSupported, "cannot use subquery in %s", what)
	}
	var left plan.Expr
	var err error
	if x.Test != nil && (x.Kind == ast.SubAny || x.Kind == ast.SubAll) {
		if left, err = s.ex(x.Test); err != nil {
			return nil, err
		}
	}
	q, err := s.subQuery(x.Query, x.Kind != ast.SubExists)
	if err != nil {
		return nil, err
	}
	n := &plan.SubLink{Typed: boolAt(x.Off), Query: q}
	cols := outputColumns(q)
	switch x.Kind {
	case ast.SubExists:
		n.Kind = plan.SubExists
		return n, nil
	case ast.SubScalar, ast.SubArray:
		if len(cols) != 1 {
			return nil, s.b.errorAt(loc, sqlerr.SyntaxError, "subquery must return only one column")
		}
		n.Typed = cols[0].Typed
		n.Loc = loc
		n.Kind = plan.SubScalar
		if x.Kind == ast.SubArray {
			n.Kind, n.Typmod = plan.SubArray, -1
			t := s.b.arrayType(cols[0].Type)
			if s.b.elemType(cols[0].Type) != 0 {
				t = cols[0].Type
			}
			if t == 0 {
				return nil, s.b.errorAt(loc, sqlerr.UndefinedObject, "could not find array type for data type %s", s.b.typeName(cols[0].Type))
			}
			n.Type = t
		}
		return n, nil
	}
	n.Kind = plan.SubAny
	if x.Kind == ast.SubAll {
		n.Kind = plan.SubAll
	}
	n.OpName = x.Op.Name
	op := x.Op
	if n.OpName == "" {
		n.OpName = "="
		op = ast.Name{Loc: x.Loc, Name: "="}
	}
	if x.InSyntax {
		n.OpName = ""
	}
	return n, s.subTest(n, op, left, cols, loc)
}

// subQuery binds the query of a sublink.
func (s *scope) subQuery(q *ast.Select, resolve bool) (*plan.Query, error) {
	child := s.newChild()
	child.resolveUnk, child.inSubLink = resolve, true
	r, err := child.bindSelect(q)
	if err != nil {
		return nil, err
	}
	s.q.HasSubLinks = true
	return r, nil
}

// subTest builds the comparison of the left side with the subquery's columns.
func (s *scope) subTest(n *plan.SubLink, op ast.Name, left plan.Expr, cols []plan.Column, loc int) error {
	l := []plan.Expr{left}
	if r, ok := left.(*plan.RowExpr); ok {
		l = r.Args
	}
	if len(l) < len(cols) {
		return s.b.errorAt(loc, sqlerr.SyntaxError, "subquery has too many columns")
	}
	if len(l) > len(cols) {
		return s.b.errorAt(loc, sqlerr.SyntaxError, "subquery has too few columns")
	}
	r := make([]plan.Expr, len(cols))
	for i, c := range cols {
		r[i] = &plan.SubOut{Typed: c.Typed, Col: i}
	}
	t, err := s.rowCompare(op, l, r, loc)
	if err != nil {
		return err
	}
	n.Test = t
	return nil
}

// rowSubLink is ROW(...) op (SELECT ...).
func (s *scope) rowSubLink(op ast.Name, l *ast.Row, sub *ast.SubLink, loc int) (plan.Expr, error) {
	left, err := s.ex(l)
	if err != nil {
		return nil, err
	}
	if what := noSubquery(s.kind); what != "" {
		return nil, s.b.errorAt(int(sub.Off), sqlerr.FeatureNotSupported, "cannot use subquery in %s", what)
	}
	q, err := s.subQuery(sub.Query, true)
	if err != nil {
		return nil, err
	}
	n := &plan.SubLink{Typed: boolAt(int32(loc)), Kind: plan.SubRowCompare, Query: q, OpName: op.Name}
	return n, s.subTest(n, op, left, outputColumns(q), loc)
}

func noSubquery(k exprKind) string {
	switch k {
	case kindCheck:
		return "check constraint"
	case kindDefault:
		return "DEFAULT expression"
	case kindIndexExpr:
		return "index expression"
	case kindIndexPred:
		return "index predicate"
	case kindGenerated:
		return "column generation expression"
	case kindCallArg:
		return "CALL argument"
	case kindAlterUsing:
		return "transform expression"
	case kindUtility:
		return "EXECUTE parameter"
	case kindCopyWhere:
		return "COPY FROM WHERE condition"
	}
	return ""
}

// indirection is transformIndirection.
func (s *scope) indirection(x *ast.Indirection) (plan.Expr, error) {
	e, err := s.ex(x.Arg)
	if err != nil {
		return nil, err
	}
	loc := int(x.Off)
	for i := 0; i < len(x.Steps); {
		st := x.Steps[i]
		switch st.Kind {
		case ast.StepStar:
			return nil, s.b.errorAt(loc, sqlerr.FeatureNotSupported, "row expansion via \"*\" is not supported here")
		case ast.StepField:
			f, err := s.fieldOrFunc(e, st.Field, loc)
			if err != nil {
				return nil, err
			}
			if f == nil {
				return nil, s.unknownField(e, st.Field, loc)
			}
			e = f
			i++
		default:
			k := i
			for k < len(x.Steps) && (x.Steps[k].Kind == ast.StepSubscript || x.Steps[k].Kind == ast.StepSlice) {
				k++
			}
			if e, err = s.subscript(e, x.Steps[i:k], loc); err != nil {
				return nil, err
			}
			i = k
		}
	}
	return e, nil
}

func (s *scope) unknownField(e plan.Expr, name string, loc int) error {
	b := s.b
	t := e.T().Type
	if v, ok := e.(*plan.Var); ok && v.Attno == 0 {
		if p := s.up(v.LevelsUp); p != nil {
			return b.errorAt(loc, sqlerr.UndefinedColumn, "column %s.%s does not exist", p.q.RTable[v.RTE].Alias, name)
		}
	}
	switch {
	case b.isComplex(t):
		return b.errorAt(loc, sqlerr.UndefinedColumn, "column \"%s\" not found in data type %s", name, b.typeName(t))
	case t == types.RecordOID:
		return b.errorAt(loc, sqlerr.UndefinedColumn, "could not identify column \"%s\" in record data type", name)
	}
	return b.errorAt(loc, sqlerr.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type", name, b.typeName(t))
}

// subscript is transformContainerSubscripts for a fetch.
func (s *scope) subscript(e plan.Expr, steps []ast.Step, loc int) (plan.Expr, error) {
	b := s.b
	t, mod := b.baseTypeMod(e.T().Type, e.T().Typmod)
	if t == types.JSONBOID {
		return s.jsonSubscript(e, steps, loc)
	}
	et := b.elemType(t)
	if t == types.NameOID {
		et = types.QCharOID // a name is an array of 64 characters, numbered from 0
	}
	if et == 0 {
		return nil, b.errorAt(exprLoc(e), sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", b.typeName(e.T().Type))
	}
	n := &plan.Subscript{Typed: plan.Typed{Type: et, Typmod: mod, Loc: loc}, Container: e, Elem: b.baseType(et)}
	for i := range steps {
		n.Slice = n.Slice || steps[i].Kind == ast.StepSlice
	}
	if len(steps) > 6 {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(steps), 6)
	}
	for i := range steps {
		if err := s.arrayIndex(n, &steps[i]); err != nil {
			return nil, err
		}
	}
	if n.Slice {
		n.Type = t
	}
	n.Collation = b.resultCollation(n.Type, e.T().Collation)
	return n, nil
}

func (s *scope) arrayIndex(n *plan.Subscript, st *ast.Step) error {
	index := func(a ast.Expr) (plan.Expr, error) {
		if a == nil {
			return nil, nil
		}
		x, err := s.ex(a)
		if err != nil {
			return nil, err
		}
		r, err := s.b.coerceTo(x, types.Int4OID, -1, coerceAssignment, plan.FormImplicitCast, -1)
		if err != nil {
			return nil, err
		}
		if r == nil {
			return nil, s.b.errorAt(exprLoc(x), sqlerr.DatatypeMismatch, "array subscript must have type integer")
		}
		return r, nil
	}
	up, err := index(st.Upper)
	if err != nil {
		return err
	}
	n.Upper = append(n.Upper, up)
	if !n.Slice {
		return nil
	}
	lo, err := index(st.Lower)
	if err != nil {
		return err
	}
	if st.Kind == ast.StepSubscript {
		lo = s.b.intConst(1, types.Int4OID)
	}
	n.Lower = append(n.Lower, lo)
	return nil
}

func (s *scope) jsonSubscript(e plan.Expr, steps []ast.Step, loc int) (plan.Expr, error) {
	b := s.b
	n := &plan.Subscript{Typed: plan.Typed{Type: types.JSONBOID, Typmod: -1, Loc: loc}, Container: e, Elem: types.JSONBOID}
	for i := range steps {
		if steps[i].Kind == ast.StepSlice {
			at := steps[i].Upper
			if at == nil {
				at = steps[i].Lower
			}
			if loc = -1; at != nil {
				loc = int(at.Pos())
			}
			return nil, b.errorAt(loc, sqlerr.DatatypeMismatch, "jsonb subscript does not support slices")
		}
		x, err := s.ex(steps[i].Upper)
		if err != nil {
			return nil, err
		}
		t := x.T().Type
		target := types.TextOID
		if t != types.UnknownOID && b.canCoerce1(t, types.Int4OID, coerceImplicit) {
			target = types.Int4OID
		} else if t != types.UnknownOID && !b.canCoerce1(t, types.TextOID, coerceImplicit) {
			return nil, b.errorAt(exprLoc(x), sqlerr.DatatypeMismatch, "subscript type %s is not supported", b.typeName(t)).
				WithHint("jsonb subscript must be coercible to either integer or text.")
		}
		r, err := b.coerceTo(x, target, -1, coerceImplicit, plan.FormImplicitCast, -1)
		if err != nil {
			return nil, err
		}
		n.Upper = append(n.Upper, r)
	}
	return n, nil
}

// up is the scope n levels out.
func (s *scope) up(n int) *scope {
	for range n {
		if s = s.parent; s == nil {
			return nil
		}
	}
	return s
}
