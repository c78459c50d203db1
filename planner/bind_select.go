package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// bindStmt binds any statement that has a bound form.
func (s *scope) bindStmt(stmt ast.Stmt) (*plan.Query, error) {
	switch x := stmt.(type) {
	case *ast.Select:
		s.resolveUnk = true
		return s.bindSelect(x)
	case *ast.Insert:
		return s.bindInsert(x)
	case *ast.Update:
		return s.bindUpdate(x)
	case *ast.Delete:
		return s.bindDelete(x)
	case *ast.Merge:
		return s.bindMerge(x)
	}
	return nil, sqlerr.Unsupported("planning this statement")
}

func (s *scope) newQuery(c plan.Command) {
	s.q = &plan.Query{Command: c, Result: -1}
	s.targetRel = -1
}

// bindSelect is transformStmt of a query.
func (s *scope) bindSelect(x *ast.Select) (*plan.Query, error) {
	if err := s.b.enter(); err != nil {
		return nil, err
	}
	defer s.b.leave()
	s.newQuery(plan.CmdSelect)
	if x.With != nil {
		if err := s.bindWith(x.With); err != nil {
			return nil, err
		}
	}
	switch body := x.Body.(type) {
	case *ast.SelectCore:
		return s.bindCore(x, body)
	case *ast.Values:
		return s.bindValues(x, body)
	case *ast.SetOp:
		return s.bindSetOp(x, body)
	}
	return nil, sqlerr.Unsupported("this query")
}

// bindCore is transformSelectStmt.
func (s *scope) bindCore(x *ast.Select, c *ast.SelectCore) (*plan.Query, error) {
	q, b := s.q, s.b
	for _, w := range c.Windows {
		s.windows = append(s.windows, &winDef{def: w, named: true})
	}
	if err := s.bindFrom(c.From); err != nil {
		return nil, err
	}
	if err := s.bindTargets(c.Targets, kindTarget); err != nil {
		return nil, err
	}
	if c.Where != nil {
		w, err := s.condition(c.Where, kindWhere, "WHERE")
		if err != nil {
			return nil, err
		}
		q.Where = w
	}
	if c.Having != nil {
		h, err := s.condition(c.Having, kindHaving, "HAVING")
		if err != nil {
			return nil, err
		}
		q.Having = h
	}
	if err := s.bindOrderBy(x.OrderBy); err != nil {
		return nil, err
	}
	if len(c.GroupBy) > 0 {
		if err := s.bindGroupBy(c); err != nil {
			return nil, err
		}
	}
	if c.Distinct {
		if err := s.bindDistinct(c); err != nil {
			return nil, err
		}
	}
	if err := s.bindLimit(x); err != nil {
		return nil, err
	}
	if err := s.bindWindows(); err != nil {
		return nil, err
	}
	if s.resolveUnk {
		if err := s.resolveUnknowns(); err != nil {
			return nil, err
		}
	}
	if err := s.finishGroupings(); err != nil {
		return nil, err
	}
	if q.HasAggs || len(q.GroupBy) > 0 || q.GroupingSets != nil || q.Having != nil {
		if err := s.checkGrouping(); err != nil {
			return nil, err
		}
	}
	for i := range x.Locking {
		if err := s.bindLocking(&x.Locking[i], c); err != nil {
			return nil, err
		}
	}
	_ = b
	return q, nil
}

// condition binds WHERE and its like.
func (s *scope) condition(e ast.Expr, kind exprKind, what string) (plan.Expr, error) {
	x, err := s.expr(e, kind)
	if err != nil {
		return nil, err
	}
	return s.b.toBoolean(x, what)
}

// bindLimit binds LIMIT and OFFSET.
func (s *scope) bindLimit(x *ast.Select) error {
	var err error
	if x.Offset != nil {
		if s.q.Offset, err = s.limitExpr(x.Offset, kindOffset, "OFFSET", false); err != nil {
			return err
		}
	}
	if x.Limit != nil {
		what := "LIMIT"
		if s.q.Limit, err = s.limitExpr(x.Limit, kindLimit, what, x.WithTies); err != nil {
			return err
		}
	}
	if x.WithTies {
		if len(x.OrderBy) == 0 {
			return sqlerr.New(sqlerr.SyntaxError, "WITH TIES cannot be specified without ORDER BY clause")
		}
		s.q.WithTies = true
	}
	return nil
}

func (s *scope) limitExpr(e ast.Expr, kind exprKind, what string, ties bool) (plan.Expr, error) {
	x, err := s.expr(e, kind)
	if err != nil {
		return nil, err
	}
	if x, err = s.b.toType(x, types.Int8OID, what); err != nil {
		return nil, err
	}
	if v := varAtLevel(x, 0); v != nil {
		return nil, s.b.errorAt(v.Loc, sqlerr.InvalidColumnReference, "argument of %s must not contain variables", what)
	}
	if c, ok := x.(*plan.Const); ok && c.Value.Null && ties {
		return nil, sqlerr.New(sqlerr.InvalidRowCountInLimitClause, "row count cannot be null in FETCH FIRST ... WITH TIES clause")
	} else if ok && c.Value.Null {
		return nil, nil
	}
	return x, nil
}

// varAtLevel finds a Var of the given level in e, also inside its sublinks.
func varAtLevel(e plan.Expr, level int) *plan.Var {
	var found *plan.Var
	deepExpr(e, level, func(x plan.Expr, l int) bool {
		if v, ok := x.(*plan.Var); ok && v.LevelsUp == l {
			found = v
			return true
		}
		return false
	})
	return found
}

// resolveUnknowns makes untyped output columns text.
func (s *scope) resolveUnknowns() error {
	for _, t := range s.q.Targets {
		if t.Expr.T().Type == types.UnknownOID {
			e, err := s.b.coerce(t.Expr, types.TextOID, -1, coerceImplicit, plan.FormImplicitCast, -1)
			if err != nil {
				return err
			}
			s.setTarget(t, e)
		}
	}
	return nil
}

// setTarget replaces a target's expression everywhere it is referred to.
func (s *scope) setTarget(t *plan.Target, e plan.Expr) {
	for i := range s.q.OrderBy {
		if s.q.OrderBy[i].Expr == t.Expr {
			s.q.OrderBy[i].Expr = e
		}
	}
	t.Expr = e
}

// bindValues is transformValuesClause.
func (s *scope) bindValues(x *ast.Select, v *ast.Values) (*plan.Query, error) {
	rows, err := s.valuesRows(v, kindValues)
	if err != nil {
		return nil, err
	}
	if err := s.unifyValues(rows); err != nil {
		return nil, err
	}
	s.valuesRTE(rows, "*VALUES*")
	s.q.From = []plan.FromItem{plan.RangeRef{RTE: 0 + len(s.q.RTable) - 1}}
	it := s.ns[len(s.ns)-1]
	for i := range it.ncols(s.q) {
		c := it.col(s.q, i)
		s.q.Targets = append(s.q.Targets, &plan.Target{Expr: c.toVar(0, -1), Name: c.name})
	}
	if err := s.bindOrderBy(x.OrderBy); err != nil {
		return nil, err
	}
	if err := s.bindLimit(x); err != nil {
		return nil, err
	}
	if len(x.Locking) > 0 {
		return nil, s.b.errorAt(int(x.Locking[0].Off), sqlerr.FeatureNotSupported, "%s cannot be applied to VALUES", lockName(x.Locking[0].Strength))
	}
	return s.q, nil
}

// valuesRows binds the lists of VALUES; DEFAULT is an error here.
func (s *scope) valuesRows(v *ast.Values, kind exprKind) ([][]plan.Expr, error) {
	rows := make([][]plan.Expr, len(v.Rows))
	for i, r := range v.Rows {
		if len(r) != len(v.Rows[0]) {
			loc := int(v.Off)
			if len(r) > 0 {
				loc = int(r[0].Pos())
			}
			return nil, s.b.errorAt(loc, sqlerr.SyntaxError, "VALUES lists must all be the same length")
		}
		rows[i] = make([]plan.Expr, len(r))
		for k, e := range r {
			if d, ok := e.(*ast.Default); ok {
				return nil, s.b.errorAt(int(d.Off), sqlerr.SyntaxError, "DEFAULT is not allowed in this context")
			}
			x, err := s.expr(e, kind)
			if err != nil {
				return nil, err
			}
			rows[i][k] = x
		}
	}
	return rows, nil
}

// unifyValues gives each column its common type.
func (s *scope) unifyValues(rows [][]plan.Expr) error {
	col := make([]plan.Expr, len(rows))
	for k := range rows[0] {
		for i := range rows {
			col[i] = rows[i][k]
		}
		if _, err := s.b.allToCommon(col, "VALUES"); err != nil {
			return err
		}
		for i := range rows {
			rows[i][k] = col[i]
		}
	}
	return nil
}

// valuesRTE adds a VALUES range table entry with columns column1, ...
func (s *scope) valuesRTE(rows [][]plan.Expr, alias string) *nsItem {
	r := &plan.RTE{Kind: plan.RTEValues, Alias: alias, Values: rows, InFromCl: true}
	col := make([]plan.Expr, len(rows))
	for k := range rows[0] {
		for i := range rows {
			col[i] = rows[i][k]
		}
		t := rows[0][k].T().Type
		r.Cols = append(r.Cols, plan.Column{Name: "column" + itoa(k+1), Typed: plan.Typed{
			Type: t, Typmod: commonTypmod(col, t), Collation: s.b.commonCollation(col...), Loc: -1}})
	}
	it := s.newItem(s.addRTE(r))
	s.ns = append(s.ns, it)
	return it
}

func lockName(l ast.LockStrength) string {
	return [...]string{"FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE"}[l]
}

// bindLocking is transformLockingClause with CheckSelectLocking.
func (s *scope) bindLocking(l *ast.Locking, c *ast.SelectCore) error {
	q, name := s.q, lockName(l.Strength)
	if err := s.lockable(q, name); err != nil {
		return err
	}
	if len(l.Of) == 0 {
		for i, r := range q.RTable {
			if r.InFromCl {
				if err := s.lockRTE(q, i, r, l, 0); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, n := range l.Of {
		if n.Schema != "" {
			return s.b.errorAt(int(n.Off), sqlerr.SyntaxError, "%s must specify unqualified relation names", name)
		}
		found := false
		for i, r := range q.RTable {
			if !r.InFromCl || r.Alias != n.Name || r.Kind == plan.RTEJoin && !r.HasAlias {
				continue
			}
			found = true
			switch r.Kind {
			case plan.RTERelation, plan.RTESubquery:
				if err := s.lockRTE(q, i, r, l, 0); err != nil {
					return err
				}
			default:
				what := map[plan.RTEKind]string{plan.RTEJoin: "a join", plan.RTEFunction: "a function", plan.RTEValues: "VALUES", plan.RTECTE: "a WITH query"}[r.Kind]
				return s.b.errorAt(int(n.Off), sqlerr.FeatureNotSupported, "%s cannot be applied to %s", name, what)
			}
			break
		}
		if !found {
			return s.b.errorAt(int(n.Off), sqlerr.UndefinedTable, "relation \"%s\" in %s clause not found in FROM clause", n.Name, name)
		}
	}
	return nil
}

// lockModes and lockPolicies are engine/lock's numbers, which planner may not import; a test compares them.
var (
	lockModes    = [...]uint8{ast.ForKeyShare: 1, ast.ForShare: 2, ast.ForNoKeyUpdate: 3, ast.ForUpdate: 4}
	lockPolicies = [...]uint8{ast.LockBlock: 0, ast.LockNoWait: 1, ast.LockSkip: 2}
)

// lockStrength is the strength that has a mode.
func lockStrength(mode uint8) ast.LockStrength {
	for s, m := range lockModes {
		if m == mode {
			return ast.LockStrength(s)
		}
	}
	return ast.ForUpdate
}

// lockable is CheckSelectLocking: rows of a query can be locked only when they are rows of tables.
func (s *scope) lockable(q *plan.Query, name string) error {
	no := func(what string) error {
		return s.b.errorAt(-1, sqlerr.FeatureNotSupported, "%s is not allowed with %s", name, what)
	}
	switch {
	case q.SetOp != nil:
		return no("UNION/INTERSECT/EXCEPT")
	case q.Distinct || len(q.DistinctOn) > 0:
		return no("DISTINCT clause")
	case len(q.GroupBy) > 0 || q.GroupingSets != nil:
		return no("GROUP BY clause")
	case q.Having != nil:
		return no("HAVING clause")
	case q.HasAggs:
		return no("aggregate functions")
	case q.HasWindow:
		return no("window functions")
	case q.HasSRF:
		return no("set-returning functions in the target list")
	}
	return nil
}

// lockRTE locks one entry of FROM: a table's rows, or those of all tables of a subquery or view.
func (s *scope) lockRTE(q *plan.Query, i int, r *plan.RTE, l *ast.Locking, depth int) error {
	if depth > maxWalkDepth {
		return tooDeep()
	}
	if r.Kind == plan.RTESubquery || r.Kind == plan.RTERelation && r.Rel.Kind == catalog.KindView {
		if r.Kind == plan.RTERelation {
			r.Need |= plan.RightUpdate
			r.Sub = mapQuery(r.Sub, 0, func(e plan.Expr, _ int) plan.Expr { return e }) // the view's own query is shared
		}
		if err := s.lockable(r.Sub, lockName(l.Strength)); err != nil {
			return err
		}
		r.Locked = max(r.Locked, lockModes[l.Strength])
		for k, in := range r.Sub.RTable {
			if in.InFromCl {
				if err := s.lockRTE(r.Sub, k, in, l, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if r.Kind != plan.RTERelation {
		return nil
	}
	strength, policy := lockModes[l.Strength], lockPolicies[l.Wait]
	r.Need |= plan.RightUpdate
	for k := range q.Locks {
		if o := &q.Locks[k]; o.RTE == i {
			o.Strength, o.Policy = max(o.Strength, strength), max(o.Policy, policy)
			return nil
		}
	}
	q.Locks = append(q.Locks, plan.RowLock{RTE: i, Strength: strength, Policy: policy})
	return nil
}
