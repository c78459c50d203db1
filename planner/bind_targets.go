package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// bindTargets is transformTargetList.
func (s *scope) bindTargets(list []ast.Target, kind exprKind) error {
	out, err := s.targets(list, kind)
	s.q.Targets = out
	if err == nil && len(out) > maxTargets {
		return sqlerr.New(sqlerr.TooManyColumns, "target lists can have at most %d entries", maxTargets)
	}
	return err
}

// maxTargets is PostgreSQL's MaxTupleAttributeNumber: a row may not have more values.
const maxTargets = 1664

func (s *scope) targets(list []ast.Target, kind exprKind) ([]*plan.Target, error) {
	out := make([]*plan.Target, 0, len(list))
	for i := range list {
		t := &list[i]
		if c, ok := t.Expr.(*ast.ColumnRef); ok && c.Star {
			var err error
			if out, err = s.expandStar(out, c); err != nil {
				return nil, err
			}
			continue
		}
		if ind, ok := t.Expr.(*ast.Indirection); ok && ind.Steps[len(ind.Steps)-1].Kind == ast.StepStar {
			var err error
			if out, err = s.expandRowStar(out, ind, kind); err != nil {
				return nil, err
			}
			continue
		}
		e, err := s.expr(t.Expr, kind)
		if err != nil {
			return nil, err
		}
		name := t.Alias
		if name == "" {
			name = figureName(t.Expr)
		}
		nt := &plan.Target{Expr: e, Name: name}
		s.origin(nt)
		out = append(out, nt)
	}
	return out, nil
}

// origin notes the table column an output column is: markTargetListOrigin.
func (s *scope) origin(t *plan.Target) {
	v, ok := t.Expr.(*plan.Var)
	if !ok || v.Attno <= 0 {
		return
	}
	p := s
	for range v.LevelsUp {
		if p = p.parent; p == nil {
			return
		}
	}
	r := p.q.RTable[v.RTE]
	switch r.Kind {
	case plan.RTERelation:
		t.OrigRel, t.OrigCol = r.Rel.OID, int16(v.Attno)
	case plan.RTESubquery:
		setOrigin(t, r.Sub, v.Attno)
	case plan.RTECTE:
		if r.CTE.Query != nil && !r.CTE.Recursive {
			setOrigin(t, r.CTE.Query, v.Attno)
		}
	}
}

func setOrigin(t *plan.Target, q *plan.Query, attno int) {
	list := q.Targets
	if q.Command != plan.CmdSelect {
		list = q.Returning
	}
	n := 0
	for _, o := range list {
		if o.Junk {
			continue
		}
		if n++; n == attno {
			t.OrigRel, t.OrigCol = o.OrigRel, o.OrigCol
			return
		}
	}
}

// expandStar is ExpandColumnRefStar.
func (s *scope) expandStar(out []*plan.Target, c *ast.ColumnRef) ([]*plan.Target, error) {
	loc := int(c.Off)
	if len(c.Parts) == 0 {
		found := false
		for _, it := range s.ns {
			if !it.colVis || it.latOnly {
				continue
			}
			found = true
			out = s.expandItem(out, s, it, 0, loc)
		}
		if !found {
			return nil, s.b.errorAt(loc, sqlerr.SyntaxError, "SELECT * with no tables specified is not valid")
		}
		return out, nil
	}
	schema, table := "", c.Parts[len(c.Parts)-1]
	if len(c.Parts) == 3 {
		if c.Parts[0] != s.b.env.DatabaseName {
			return nil, s.b.errorAt(loc, sqlerr.FeatureNotSupported, "cross-database references are not implemented: %s", joinDots(append(append([]string(nil), c.Parts...), "*")))
		}
	}
	if len(c.Parts) >= 2 {
		schema = c.Parts[len(c.Parts)-2]
	}
	p, it, levels, err := s.tableByName(schema, table, loc)
	if err != nil {
		return nil, err
	}
	if it == nil {
		if schema != "" || len(c.Parts) > 1 {
			if e := s.compositeStar(c); e != nil {
				return s.expandRow(out, e, loc)
			}
		}
		return nil, s.missingTable(schema, table, loc)
	}
	return s.expandItem(out, p, it, levels, loc), nil
}

// compositeStar reads a.b.* as column b of table a.
func (s *scope) compositeStar(c *ast.ColumnRef) plan.Expr {
	e, err := s.columnRef(&ast.ColumnRef{Loc: c.Loc, Parts: c.Parts})
	if err != nil {
		return nil
	}
	return e
}

func (s *scope) expandItem(out []*plan.Target, p *scope, it *nsItem, levels, loc int) []*plan.Target {
	n := it.ncols(p.q)
	if it.cols == nil {
		n -= p.q.RTable[it.rte].Unstarred
	}
	for i := range n {
		c := it.col(p.q, i)
		if c.name == "" && p.q.RTable[it.rte].Kind == plan.RTERelation {
			continue
		}
		t := &plan.Target{Expr: c.toVar(levels, loc), Name: c.name}
		s.origin(t)
		out = append(out, t)
	}
	return out
}

// expandRowStar is (expr).*.
func (s *scope) expandRowStar(out []*plan.Target, ind *ast.Indirection, kind exprKind) ([]*plan.Target, error) {
	var inner ast.Expr = ind.Arg
	if len(ind.Steps) > 1 {
		inner = &ast.Indirection{Loc: ind.Loc, Arg: ind.Arg, Steps: ind.Steps[:len(ind.Steps)-1]}
	}
	e, err := s.expr(inner, kind)
	if err != nil {
		return nil, err
	}
	return s.expandRow(out, e, int(ind.Off))
}

// expandRow lists the fields of a row value: ExpandRowReference.
func (s *scope) expandRow(out []*plan.Target, e plan.Expr, loc int) ([]*plan.Target, error) {
	if v, ok := e.(*plan.Var); ok && v.Attno == 0 {
		p := s
		for range v.LevelsUp {
			p = p.parent
		}
		it := &nsItem{rte: v.RTE}
		return s.expandItem(out, p, it, v.LevelsUp, loc), nil
	}
	cols, err := s.rowFields(e)
	if err != nil {
		return nil, err
	}
	if cols == nil {
		return nil, s.b.errorAt(loc, sqlerr.WrongObjectType, "type %s is not composite", s.b.typeName(e.T().Type))
	}
	for i := range cols {
		if cols[i].Name == "" {
			continue
		}
		out = append(out, &plan.Target{Expr: s.fieldSelect(e, cols, i, loc), Name: cols[i].Name})
	}
	return out, nil
}

func (s *scope) fieldSelect(e plan.Expr, cols []plan.Column, i, loc int) plan.Expr {
	if r, ok := e.(*plan.RowExpr); ok && i < len(r.Args) {
		return r.Args[i]
	}
	t := cols[i].Typed
	t.Loc = loc
	return &plan.FieldSelect{Typed: t, Arg: e, Field: i + 1, Name: cols[i].Name}
}

// rowFields returns the fields of a row-typed expression, nil when it is not one.
func (s *scope) rowFields(e plan.Expr) ([]plan.Column, error) {
	b := s.b
	if v, ok := e.(*plan.Var); ok && v.Attno == 0 {
		p := s
		for range v.LevelsUp {
			p = p.parent
		}
		return p.q.RTable[v.RTE].Cols, nil
	}
	t := e.T().Type
	if b.isComplex(t) {
		return b.compositeCols(b.baseType(t))
	}
	if t != types.RecordOID {
		return nil, nil
	}
	switch x := e.(type) {
	case *plan.RowExpr:
		cols := make([]plan.Column, len(x.Args))
		for i, a := range x.Args {
			name := "f" + itoa(i+1)
			if i < len(x.Names) && x.Names[i] != "" {
				name = x.Names[i]
			}
			cols[i] = plan.Column{Name: name, Typed: *a.T()}
		}
		return cols, nil
	case *plan.FuncCall:
		cols, _ := b.outColumns(x)
		if cols == nil {
			return nil, b.errorAt(x.Loc, sqlerr.WrongObjectType, "record type has not been registered")
		}
		return cols, nil
	case *plan.Var:
		p := s
		for range x.LevelsUp {
			p = p.parent
		}
		return p.varFields(x)
	case *plan.FieldSelect:
		return nil, nil
	case *plan.SubLink:
		if x.Kind == plan.SubScalar && len(x.Query.Targets) > 0 {
			child := &scope{b: b, parent: s, q: x.Query}
			return child.rowFields(x.Query.Targets[0].Expr)
		}
	}
	return nil, b.errorAt(exprLoc(e), sqlerr.WrongObjectType, "record type has not been registered")
}

// varFields finds the fields of a record column by looking into the subquery it comes from: expandRecordVariable.
func (s *scope) varFields(v *plan.Var) ([]plan.Column, error) {
	r := s.q.RTable[v.RTE]
	var q *plan.Query
	switch r.Kind {
	case plan.RTESubquery:
		q = r.Sub
	case plan.RTECTE:
		q = r.CTE.Query
	case plan.RTEJoin:
		return s.rowFields(r.JoinVars[v.Attno-1])
	}
	if q == nil {
		return nil, s.b.errorAt(v.Loc, sqlerr.WrongObjectType, "record type has not been registered")
	}
	n := 0
	for _, t := range q.Targets {
		if t.Junk {
			continue
		}
		if n++; n == v.Attno {
			child := &scope{b: s.b, parent: s, q: q}
			return child.rowFields(t.Expr)
		}
	}
	return nil, nil
}

// fieldOrFunc is ParseFuncOrColumn for x.name: a field of x, or the function name(x).
func (s *scope) fieldOrFunc(e plan.Expr, name string, loc int) (plan.Expr, error) {
	if s.b.isRowType(e.T().Type) {
		cols, err := s.rowFields(e)
		if err == nil {
			for i := range cols {
				if cols[i].Name == name && name != "" {
					if v, ok := e.(*plan.Var); ok && v.Attno == 0 {
						p := s
						for range v.LevelsUp {
							p = p.parent
						}
						it := &nsItem{rte: v.RTE}
						return it.col(p.q, i).toVar(v.LevelsUp, loc), nil
					}
					return s.fieldSelect(e, cols, i, loc), nil
				}
			}
		}
	}
	n := ast.Name{Loc: ast.At(int32(loc)), Name: name}
	d, _, _, err := s.b.getFunc(n, []plan.Expr{e}, nil, []types.OID{e.T().Type}, false, false)
	if err != nil || d == funcNotFound || d == funcMultiple {
		return nil, nil
	}
	return s.callBound(n, []plan.Expr{e}, &ast.FuncCall{Loc: ast.At(int32(loc)), Name: n})
}

// figureName is FigureColname.
func figureName(e ast.Expr) string {
	if n, _ := figure(e); n != "" {
		return n
	}
	return "?column?"
}

func figure(e ast.Expr) (string, int) {
	switch x := e.(type) {
	case *ast.ColumnRef:
		if len(x.Parts) > 0 {
			return x.Parts[len(x.Parts)-1], 2
		}
	case *ast.Indirection:
		for i := len(x.Steps) - 1; i >= 0; i-- {
			if x.Steps[i].Kind == ast.StepField {
				return x.Steps[i].Field, 2
			}
		}
		return figure(x.Arg)
	case *ast.FuncCall:
		return x.Name.Name, 2
	case *ast.NullIf:
		return "nullif", 2
	case *ast.Cast:
		n, st := figure(x.Arg)
		if st <= 1 {
			return x.Type.Name.Name, 1
		}
		return n, st
	case *ast.Collate:
		return figure(x.Arg)
	case *ast.Grouping:
		return "grouping", 2
	case *ast.SubLink:
		return figureSubLink(x)
	case *ast.Case:
		if x.Else != nil {
			if n, st := figure(x.Else); st > 1 {
				return n, st
			}
		}
		return "case", 1
	case *ast.Array:
		return "array", 2
	case *ast.Row:
		return "row", 2
	case *ast.Coalesce:
		return "coalesce", 2
	case *ast.MinMax:
		if x.Greatest {
			return "greatest", 2
		}
		return "least", 2
	case *ast.SQLValue:
		return [...]string{"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "current_role", "current_user", "user",
			"session_user", "current_catalog", "current_schema"}[x.Func], 2
	}
	return "", 0
}

func figureSubLink(x *ast.SubLink) (string, int) {
	switch x.Kind {
	case ast.SubExists:
		return "exists", 2
	case ast.SubArray:
		return "array", 2
	case ast.SubScalar:
		if c, ok := firstCore(x.Query, 0).(*ast.SelectCore); ok && len(c.Targets) > 0 {
			if c.Targets[0].Alias != "" {
				return c.Targets[0].Alias, 2
			}
			return figureName(c.Targets[0].Expr), 2 // what it is called there
		}
		if _, ok := firstCore(x.Query, 0).(*ast.Values); ok {
			return "column1", 2
		}
	}
	return "", 0
}

// firstCore is the leftmost leaf of a query.
func firstCore(x *ast.Select, depth int) ast.QueryBody {
	if s, ok := x.Body.(*ast.SetOp); ok && depth < maxWalkDepth {
		return firstCore(s.First, depth+1)
	}
	return x.Body
}
