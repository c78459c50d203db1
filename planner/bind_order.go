package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// sortKey is addTargetToSortList for an expression.
func (s *scope) sortKey(e plan.Expr, it *ast.SortItem) (plan.SortKey, error) {
	b := s.b
	k := plan.SortKey{Expr: e, Collation: e.T().Collation}
	loc := exprLoc(e)
	switch it.Dir {
	case ast.SortUsing:
		o, err := b.lookupOp(it.Using, e.T().Type, e.T().Type, int(it.Off))
		if err != nil {
			return k, err
		}
		st := rowStrategy(o.OID)
		if st != pgdata.BTLess && st != pgdata.BTGreater {
			return k, b.errorAt(int(it.Off), sqlerr.WrongObjectType, "operator %s is not a valid ordering operator", it.Using.Name).
				WithHint("Ordering operators must be \"<\" or \">\" members of btree operator families.")
		}
		k.Desc = st == pgdata.BTGreater
		lt, eq, _, err := b.sortOps(e.T().Type, true, true, loc)
		if err != nil {
			return k, err
		}
		k.LtOp, k.EqOp = lt, eq
	default:
		lt, eq, _, err := b.sortOps(e.T().Type, true, true, loc)
		if err != nil {
			return k, err
		}
		k.LtOp, k.EqOp, k.Desc = lt, eq, it.Dir == ast.SortDesc
	}
	switch it.Nulls {
	case ast.NullsFirst:
		k.NullsFirst = true
	case ast.NullsDefault:
		k.NullsFirst = k.Desc
	}
	return k, nil
}

// bindOrderBy is transformSortClause.
func (s *scope) bindOrderBy(items []ast.SortItem) error {
	for i := range items {
		t, err := s.sortTarget(items[i].Expr, kindOrderBy, "ORDER BY")
		if err != nil {
			return err
		}
		if err := s.knownType(t); err != nil {
			return err
		}
		k, err := s.sortKey(s.q.Targets[t].Expr, &items[i])
		if err != nil {
			return err
		}
		dup := false
		for _, o := range s.q.OrderByTarget {
			dup = dup || o == t
		}
		if dup {
			continue
		}
		s.q.OrderBy = append(s.q.OrderBy, k)
		s.q.OrderByTarget = append(s.q.OrderByTarget, t)
	}
	return nil
}

// knownType makes a target of unknown type text.
func (s *scope) knownType(t int) error {
	tg := s.q.Targets[t]
	if tg.Expr.T().Type != types.UnknownOID {
		return nil
	}
	e, err := s.b.coerce(tg.Expr, types.TextOID, -1, coerceImplicit, plan.FormImplicitCast, -1)
	if err != nil {
		return err
	}
	s.setTarget(tg, e)
	return nil
}

// sortTarget is findTargetlistEntrySQL92: the index of the target an ORDER BY, GROUP BY or DISTINCT ON item means.
func (s *scope) sortTarget(e ast.Expr, kind exprKind, what string) (int, error) {
	b := s.b
	if c, ok := e.(*ast.ColumnRef); ok && len(c.Parts) == 1 && !c.Star {
		name := c.Parts[0]
		look := true
		if kind == kindGroupBy {
			if v, err := s.localColumn(name, int(c.Off)); err != nil {
				return 0, err
			} else if v {
				look = false
			}
		}
		if look {
			found := -1
			for i, t := range s.q.Targets {
				if t.Junk || t.Name != name {
					continue
				}
				if found >= 0 {
					if !equalExpr(s.q.Targets[found].Expr, t.Expr) {
						return 0, b.errorAt(int(c.Off), sqlerr.AmbiguousColumn, "%s \"%s\" is ambiguous", what, name)
					}
					continue
				}
				found = i
			}
			if found >= 0 {
				return found, s.checkTargetKind(found, kind, what, int(c.Off))
			}
		}
	}
	if c, ok := e.(*ast.Const); ok {
		if c.Kind != ast.ConstInt || int64(int32(c.Int)) != c.Int {
			return 0, b.errorAt(int(c.Off), sqlerr.SyntaxError, "non-integer constant in %s", what)
		}
		pos := 0
		for i, t := range s.q.Targets {
			if t.Junk {
				continue
			}
			if pos++; int64(pos) == c.Int {
				return i, s.checkTargetKind(i, kind, what, int(c.Off))
			}
		}
		return 0, b.errorAt(int(c.Off), sqlerr.InvalidColumnReference, "%s position %d is not in select list", what, c.Int)
	}
	return s.exprTarget(e, kind)
}

// checkTargetKind is checkTargetlistEntrySQL92.
func (s *scope) checkTargetKind(t int, kind exprKind, what string, loc int) error {
	if kind != kindGroupBy {
		return nil
	}
	e := s.q.Targets[t].Expr
	var bad plan.Expr
	find(e, func(x plan.Expr) bool {
		switch v := x.(type) {
		case *plan.Aggref:
			if v.LevelsUp == 0 {
				bad = x
			}
		case *plan.WindowFunc:
			bad = x
		}
		return bad != nil
	})
	switch bad.(type) {
	case *plan.Aggref:
		return s.b.errorAt(exprLoc(bad), sqlerr.GroupingError, "aggregate functions are not allowed in %s", what)
	case *plan.WindowFunc:
		return s.b.errorAt(exprLoc(bad), sqlerr.WindowingError, "window functions are not allowed in %s", what)
	}
	return nil
}

// localColumn says whether a FROM column of this level has the name.
func (s *scope) localColumn(name string, loc int) (bool, error) {
	for _, it := range s.ns {
		if !it.colVis {
			continue
		}
		v, err := s.lookupInItem(s, it, 0, name, loc)
		if err != nil {
			return false, err
		}
		if v != nil {
			return true, nil
		}
	}
	return false, nil
}

// exprTarget is findTargetlistEntrySQL99.
func (s *scope) exprTarget(e ast.Expr, kind exprKind) (int, error) {
	x, err := s.expr(e, kind)
	if err != nil {
		return 0, err
	}
	for i, t := range s.q.Targets {
		if equalExpr(t.Expr, x) {
			return i, nil
		}
	}
	s.q.Targets = append(s.q.Targets, &plan.Target{Expr: x, Junk: true})
	return len(s.q.Targets) - 1, nil
}

// bindDistinct is transformDistinctClause and transformDistinctOnClause.
func (s *scope) bindDistinct(c *ast.SelectCore) error {
	q, b := s.q, s.b
	if len(c.DistinctOn) == 0 {
		q.Distinct = true
		for _, t := range q.OrderByTarget {
			if q.Targets[t].Junk {
				return b.errorAt(exprLoc(q.Targets[t].Expr), sqlerr.InvalidColumnReference, "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
			}
		}
		for i, t := range q.Targets {
			if err := s.knownType(i); err != nil {
				return err
			}
			if _, _, _, err := b.sortOps(t.Expr.T().Type, false, true, exprLoc(t.Expr)); err != nil {
				return err
			}
			if err := b.checkEquality(c.Equality, t.Expr, "DISTINCT"); err != nil {
				return err
			}
		}
		return nil
	}
	var on, locs []int
	for _, e := range c.DistinctOn {
		t, err := s.sortTarget(e, kindDistinctOn, "DISTINCT ON")
		if err != nil {
			return err
		}
		if err := s.knownType(t); err != nil {
			return err
		}
		dup := false
		for _, o := range on {
			dup = dup || o == t
		}
		if !dup {
			on, locs = append(on, t), append(locs, int(e.Pos()))
		}
	}
	matched := map[int]bool{}
	skipped := false
	for _, t := range q.OrderByTarget {
		in, loc := false, -1
		for i, o := range on {
			if o == t {
				in, loc = true, locs[i]
			}
		}
		if !in {
			skipped = true
			continue
		}
		if skipped {
			return b.errorAt(loc, sqlerr.InvalidColumnReference, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
		}
		matched[t] = true
		q.DistinctOn = append(q.DistinctOn, q.Targets[t].Expr)
	}
	for i, t := range on {
		if matched[t] {
			continue
		}
		if skipped {
			return b.errorAt(locs[i], sqlerr.InvalidColumnReference, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
		}
		if _, _, _, err := b.sortOps(q.Targets[t].Expr.T().Type, true, true, exprLoc(q.Targets[t].Expr)); err != nil {
			return err
		}
		q.DistinctOn = append(q.DistinctOn, q.Targets[t].Expr)
	}
	return nil
}
