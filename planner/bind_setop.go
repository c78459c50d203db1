package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// setTree is a node of a set operation while it is bound.
type setTree struct {
	op    *plan.SetOp
	rte   int // leaf
	query *plan.Query
	cols  []plan.Typed
	exprs []plan.Expr // leaf: the untyped targets, for literals
	args  []*setTree
}

// bindSetOp is transformSetOperationStmt.
func (s *scope) bindSetOp(x *ast.Select, so *ast.SetOp) (*plan.Query, error) {
	b := s.b
	if len(x.Locking) > 0 {
		return nil, b.errorAt(int(x.Locking[0].Off), sqlerr.FeatureNotSupported, "%s is not allowed with UNION/INTERSECT/EXCEPT", lockName(x.Locking[0].Strength))
	}
	s.q.CTEs = s.q.CTEs[:len(s.q.CTEs):len(s.q.CTEs)]
	tree, err := s.setChain(so, len(so.Terms), s.recursiveOf)
	if err != nil {
		return nil, err
	}
	left := tree
	for left.args != nil {
		left = left.args[0]
	}
	s.fillSetOp(tree)
	s.q.SetOp = tree.op
	names := outputColumns(left.query)
	it := &nsItem{rte: left.rte, colVis: true}
	for i, c := range tree.cols {
		t := c
		t.Loc = -1
		s.q.Targets = append(s.q.Targets, &plan.Target{Expr: &plan.Var{Typed: t, RTE: left.rte, Attno: i + 1}, Name: names[i].Name})
		it.cols = append(it.cols, nsColumn{name: names[i].Name, rte: left.rte, attno: i + 1, typ: t})
	}
	s.ns = []*nsItem{it}
	n := len(s.q.Targets)
	if err := s.bindOrderBy(x.OrderBy); err != nil {
		return nil, err
	}
	if len(s.q.Targets) > n {
		return nil, b.errorAt(exprLoc(s.q.Targets[n].Expr), sqlerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
			WithDetail("Only result column names can be used, not expressions or functions.").
			WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
	}
	return s.q, s.bindLimit(x)
}

// setChain binds First and the first n terms of a chain.
func (s *scope) setChain(so *ast.SetOp, n int, rec *withItem) (*setTree, error) {
	tree, err := s.setArg(so.First, rec != nil && n == 0)
	if err != nil {
		return nil, err
	}
	for i := range n {
		t := &so.Terms[i]
		if rec != nil && i == n-1 && t.Kind == ast.Union {
			if err := s.recursiveColumns(rec, tree); err != nil {
				return nil, err
			}
		}
		right, err := s.setArg(t.Right, false)
		if err != nil {
			return nil, err
		}
		if tree, err = s.combine(t, tree, right); err != nil {
			return nil, err
		}
		for k := range tree.cols {
			if t.Kind == ast.Union && t.All {
				break
			}
			if err := s.b.checkEquality(so.Equality, tree.colExpr(k), "a set operation"); err != nil {
				return nil, err
			}
		}
	}
	return tree, nil
}

// recursiveColumns fixes the columns of a recursive query when its non-recursive term is bound.
func (s *scope) recursiveColumns(rec *withItem, left *setTree) error {
	leaf := left
	for leaf.args != nil {
		leaf = leaf.args[0]
	}
	names := outputColumns(leaf.query)
	cols := make([]plan.Column, len(left.cols))
	for i, t := range left.cols {
		rec.locs = append(rec.locs, exprLoc(left.colExpr(i)))
		if t.Type == types.UnknownOID {
			t.Type, t.Typmod, t.Collation = types.TextOID, -1, types.DefaultCollationOID
		}
		cols[i] = plan.Column{Name: names[i].Name, Typed: t}
	}
	rec.known = true
	return s.parent.cteColumns(rec, cols)
}

// setArg binds an operand: a nested chain or a subquery.
func (s *scope) setArg(x *ast.Select, _ bool) (*setTree, error) {
	if err := s.b.enter(); err != nil {
		return nil, err
	}
	defer s.b.leave()
	if so, ok := x.Body.(*ast.SetOp); ok && x.With == nil && len(x.OrderBy) == 0 && x.Limit == nil && x.Offset == nil && len(x.Locking) == 0 {
		return s.setChain(so, len(so.Terms), nil)
	}
	child := s.newChild()
	q, err := child.bindSelect(x)
	if err != nil {
		return nil, err
	}
	if deepExprs(q, 0, func(e plan.Expr, l int) bool { v, ok := e.(*plan.Var); return ok && v.LevelsUp == l+1 }) {
		return nil, s.b.errorAt(int(x.Off), sqlerr.InvalidColumnReference, "UNION/INTERSECT/EXCEPT member statement cannot refer to other relations of same query level")
	}
	t := &setTree{query: q}
	r := &plan.RTE{Kind: plan.RTESubquery, Sub: q, Alias: "*SELECT* " + itoa(len(s.q.RTable)+1), Cols: outputColumns(q)}
	t.rte = s.addRTE(r)
	for _, tg := range q.Targets {
		if !tg.Junk {
			t.cols = append(t.cols, *tg.Expr.T())
			t.exprs = append(t.exprs, tg.Expr)
		}
	}
	return t, nil
}

// combine makes one operation over two bound operands and decides its column types.
func (s *scope) combine(term *ast.SetOpTerm, l, r *setTree) (*setTree, error) {
	b := s.b
	name := [...]string{"UNION", "INTERSECT", "EXCEPT"}[term.Kind]
	if len(l.cols) != len(r.cols) {
		loc := -1
		if len(r.cols) > 0 {
			loc = r.cols[0].Loc
		}
		return nil, b.errorAt(loc, sqlerr.SyntaxError, "each %s query must have the same number of columns", name)
	}
	n := &setTree{op: &plan.SetOp{Kind: plan.SetOpKind(term.Kind), All: term.All, RTE: -1}, args: []*setTree{l, r}}
	for i := range l.cols {
		le, re := l.colExpr(i), r.colExpr(i)
		pair := []plan.Expr{le, re}
		t, err := b.commonType(pair, name)
		if err != nil {
			return nil, err
		}
		if err := s.setLiteral(l, i, t, name); err != nil {
			return nil, err
		}
		if err := s.setLiteral(r, i, t, name); err != nil {
			return nil, err
		}
		for _, e := range pair {
			if e.T().Type != t && e.T().Type != types.UnknownOID && !b.canCoerce1(e.T().Type, t, coerceImplicit) {
				return nil, b.errorAt(exprLoc(e), sqlerr.CannotCoerce, "%s could not convert type %s to %s", name, b.typeName(e.T().Type), b.typeName(t))
			}
		}
		ty := plan.Typed{Type: t, Typmod: commonTypmod(pair, t), Loc: le.T().Loc}
		ty.Collation = b.collOf(t, pair)
		if ty.Collation == 0 {
			ty.Collation = b.typeCollation(t)
		}
		if !(term.Kind == ast.Union && term.All) {
			if _, _, _, err := b.sortOps(t, false, true, ty.Loc); err != nil {
				return nil, err
			}
		}
		n.cols = append(n.cols, ty)
	}
	return n, nil
}

// colExpr stands for column i of an operand in type resolution.
func (t *setTree) colExpr(i int) plan.Expr {
	if t.args == nil {
		return t.exprs[i]
	}
	return &plan.CaseTest{Typed: t.cols[i]}
}

// setLiteral gives an untyped literal in a leaf's output the type of the whole.
func (s *scope) setLiteral(t *setTree, i int, typ types.OID, name string) error {
	if t.args != nil || t.exprs[i].T().Type != types.UnknownOID {
		return nil
	}
	switch t.exprs[i].(type) {
	case *plan.Const, *plan.Param:
	default:
		return nil
	}
	e, err := s.b.toCommon(t.exprs[i], typ, name)
	if err != nil {
		return err
	}
	n := 0
	for _, tg := range t.query.Targets {
		if tg.Junk {
			continue
		}
		if n == i {
			child := &scope{b: s.b, q: t.query}
			child.setTarget(tg, e)
		}
		n++
	}
	t.exprs[i], t.cols[i] = e, *e.T()
	ty := *e.T()
	ty.Loc = -1
	s.q.RTable[t.rte].Cols[i].Typed = ty
	return nil
}

// fillSetOp turns the tree into plan.SetOp with casts at the leaves; chains of the same UNION become n-ary.
func (s *scope) fillSetOp(t *setTree) {
	s.fillSetNode(t, nil)
}

func (s *scope) fillSetNode(t *setTree, above [][]plan.Typed) {
	if t.args == nil {
		t.op = &plan.SetOp{RTE: t.rte, Cols: t.cols}
		casts := false
		exprs := make([]plan.Expr, len(t.cols))
		for i := range t.cols {
			ty := t.cols[i]
			ty.Loc = -1
			var e plan.Expr = &plan.Var{Typed: ty, RTE: t.rte, Attno: i + 1}
			for k := len(above) - 1; k >= 0; k-- {
				want := above[k][i]
				if e.T().Type != want.Type {
					if r, err := s.b.coerceTo(e, want.Type, -1, coerceImplicit, plan.FormImplicitCast, -1); err == nil && r != nil {
						e, casts = r, true
					}
				}
			}
			exprs[i] = e
		}
		if casts {
			t.op.Exprs = exprs
		}
		return
	}
	t.op.Cols = t.cols
	for _, a := range t.args {
		s.fillSetNode(a, append(above[:len(above):len(above)], t.cols))
		if a.args != nil && t.op.Kind == plan.Union && a.op.Kind == plan.Union && a.op.All == t.op.All && len(t.op.Args) == 0 && s.recursiveOf == nil {
			t.op.Args = append(t.op.Args, a.op.Args...)
			continue
		}
		t.op.Args = append(t.op.Args, a.op)
	}
}
