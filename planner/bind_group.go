package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

const maxGroupingSets = 4096

// bindGroupBy is transformGroupClause: q.GroupBy gets the distinct expressions, q.GroupingSets the expanded sets.
func (s *scope) bindGroupBy(c *ast.SelectCore) error {
	sets := [][][]int{}
	var written []plan.GroupingItem
	plain := true
	for i := range c.GroupBy {
		g := &c.GroupBy[i]
		if g.Kind != ast.GroupExpr {
			plain = false
		}
		one, as, err := s.groupItem(g, 0)
		if err != nil {
			return err
		}
		sets, written = append(sets, one), append(written, as)
	}
	for _, g := range s.q.GroupBy {
		if err := s.b.checkEquality(c.Equality, g, "GROUP BY"); err != nil {
			return err
		}
	}
	if plain {
		return nil
	}
	all := [][]int{{}}
	for _, one := range sets {
		var next [][]int
		for _, a := range all {
			for _, x := range one {
				next = append(next, union(a, x))
			}
			if len(next) > maxGroupingSets {
				return s.b.errorAt(int(c.Off), sqlerr.StatementTooComplex, "too many grouping sets present (maximum %d)", maxGroupingSets)
			}
		}
		all = next
	}
	if c.GroupDistinct {
		all = distinctSets(all)
	}
	s.q.GroupingSets, s.q.GroupingAs, s.q.GroupDistinct = all, written, c.GroupDistinct
	return nil
}

func union(a, b []int) []int {
	out := append([]int(nil), a...)
next:
	for _, x := range b {
		for _, y := range a {
			if x == y {
				continue next
			}
		}
		out = append(out, x)
	}
	return out
}

func distinctSets(sets [][]int) [][]int {
	var out [][]int
next:
	for _, a := range sets {
		for _, o := range out {
			if len(o) == len(a) && len(union(o, a)) == len(o) {
				continue next
			}
		}
		out = append(out, a)
	}
	return out
}

// groupItem returns the grouping sets one item stands for, and the item.
func (s *scope) groupItem(g *ast.GroupItem, depth int) ([][]int, plan.GroupingItem, error) {
	if depth > maxWalkDepth {
		return nil, plan.GroupingItem{}, tooDeep()
	}
	switch g.Kind {
	case ast.GroupEmpty:
		return [][]int{{}}, plan.GroupingItem{Kind: plan.GroupingEmpty}, nil
	case ast.GroupExpr:
		set, err := s.groupColumns(g.Expr)
		return [][]int{set}, plan.GroupingItem{Columns: set}, err
	case ast.GroupSets:
		var out [][]int
		as := plan.GroupingItem{Kind: plan.GroupingList}
		for i := range g.Items {
			one, item, err := s.groupItem(&g.Items[i], depth+1)
			if err != nil {
				return nil, as, err
			}
			out, as.Items = append(out, one...), append(as.Items, item)
		}
		return out, as, nil
	}
	as := plan.GroupingItem{Kind: plan.GroupingRollup}
	items := make([][]int, len(g.Items))
	for i := range g.Items {
		set, err := s.groupColumns(g.Items[i].Expr)
		if err != nil {
			return nil, as, err
		}
		items[i] = set
		as.Items = append(as.Items, plan.GroupingItem{Columns: set})
	}
	if g.Kind == ast.GroupRollup {
		return rollup(items), as, nil
	}
	as.Kind = plan.GroupingCube
	if len(items) > 12 {
		return nil, as, s.b.errorAt(int(g.Off), sqlerr.TooManyColumns, "CUBE is limited to 12 elements")
	}
	return cube(items), as, nil
}

// rollup are the sets of ROLLUP (items).
func rollup(items [][]int) (out [][]int) {
	for n := len(items); n >= 0; n-- {
		set := []int{}
		for _, x := range items[:n] {
			set = union(set, x)
		}
		out = append(out, set)
	}
	return out
}

// cube are the sets of CUBE (items).
func cube(items [][]int) (out [][]int) {
	for mask := 1<<len(items) - 1; mask >= 0; mask-- {
		set := []int{}
		for i, x := range items {
			if mask&(1<<(len(items)-1-i)) != 0 {
				set = union(set, x)
			}
		}
		out = append(out, set)
	}
	return out
}

// groupColumns binds one expression, or a list of columns in brackets, and returns indexes into q.GroupBy.
func (s *scope) groupColumns(e ast.Expr) ([]int, error) {
	if r, ok := e.(*ast.Row); ok && !r.Explicit {
		var out []int
		for _, a := range r.Args {
			one, err := s.groupColumns(a)
			if err != nil {
				return nil, err
			}
			out = union(out, one)
		}
		return out, nil
	}
	t, err := s.sortTarget(e, kindGroupBy, "GROUP BY")
	if err != nil {
		return nil, err
	}
	if err := s.knownType(t); err != nil {
		return nil, err
	}
	x := s.q.Targets[t].Expr
	if _, _, _, err := s.b.sortOps(x.T().Type, false, true, exprLoc(x)); err != nil {
		return nil, err
	}
	for i, g := range s.q.GroupBy {
		if g == x || equalExpr(g, x) {
			return []int{i}, nil
		}
	}
	s.q.GroupBy = append(s.q.GroupBy, x)
	return []int{len(s.q.GroupBy) - 1}, nil
}

// groupCheck walks targets and HAVING after grouping: check_ungrouped_columns.
type groupCheck struct {
	s       *scope
	q       *plan.Query
	common  []int // indexes grouped in every set
	funcDep map[int]bool
	err     error
}

// checkGrouping is parseCheckAggregates.
func (s *scope) checkGrouping() error {
	q := s.q
	g := &groupCheck{s: s, q: q, funcDep: map[int]bool{}}
	if q.GroupingSets == nil {
		for i := range q.GroupBy {
			g.common = append(g.common, i)
		}
	} else {
		for i := range q.GroupBy {
			in := true
			for _, set := range q.GroupingSets {
				has := false
				for _, x := range set {
					has = has || x == i
				}
				in = in && has
			}
			if in {
				g.common = append(g.common, i)
			}
		}
	}
	for _, t := range q.Targets {
		if g.check(t.Expr, 0); g.err != nil {
			return g.err
		}
	}
	if q.Having != nil {
		g.check(q.Having, 0)
	}
	if g.err == nil && q.HasAggs && s.selfReference() {
		loc := -1
		queryExprs(q, func(e plan.Expr) {
			find(e, func(x plan.Expr) bool {
				if a, ok := x.(*plan.Aggref); ok && a.LevelsUp == 0 && loc < 0 {
					loc = a.Loc
				}
				return false
			})
		})
		return s.b.errorAt(loc, sqlerr.InvalidRecursion, "aggregate functions are not allowed in a recursive query's recursive term")
	}
	return g.err
}

// check reports the first column that is neither grouped nor inside an aggregate.
func (g *groupCheck) check(e plan.Expr, level int) bool {
	if g.err != nil {
		return true
	}
	switch x := e.(type) {
	case *plan.Const, *plan.Param:
		return false
	case *plan.Aggref:
		if x.LevelsUp == level {
			for _, d := range x.Direct {
				if g.check(d, level) {
					g.err = sqlerr.From(g.err).WithDetail("Direct arguments of an ordered-set aggregate must use only grouped columns.")
				}
			}
			return false
		}
		if x.LevelsUp > level {
			return false
		}
	case *plan.GroupingFunc:
		return false
	}
	if level == 0 {
		for _, k := range g.q.GroupBy {
			if equalExpr(k, e) {
				return false
			}
		}
	} else {
		for _, k := range g.q.GroupBy {
			if _, ok := k.(*plan.Var); !ok && equalExpr(shiftLevels(k, level, 0), e) {
				return false
			}
		}
	}
	if v, ok := e.(*plan.Var); ok {
		if v.LevelsUp == level {
			g.checkVar(v, level)
		}
		return g.err != nil
	}
	children(e, func(c plan.Expr) bool { return g.check(c, level) })
	if sl, ok := e.(*plan.SubLink); ok {
		g.checkQuery(sl.Query, level+1)
	}
	return g.err != nil
}

func (g *groupCheck) checkQuery(q *plan.Query, level int) {
	queryExprs(q, func(e plan.Expr) { g.check(e, level) })
	for _, r := range q.RTable {
		if r.Sub != nil {
			g.checkQuery(r.Sub, level+1)
		}
	}
	for _, c := range q.CTEs {
		if c.Query != nil {
			g.checkQuery(c.Query, level+1)
		}
	}
}

// column follows a column of a join with an alias to the relation it comes from.
func (g *groupCheck) column(v *plan.Var) *plan.Var {
	for {
		r := g.q.RTable[v.RTE]
		if r.Kind != plan.RTEJoin || v.Attno <= 0 || v.Attno > len(r.JoinVars) {
			return v
		}
		inner, ok := r.JoinVars[v.Attno-1].(*plan.Var)
		if !ok || inner.LevelsUp != 0 {
			return v
		}
		v = &plan.Var{Typed: v.Typed, RTE: inner.RTE, Attno: inner.Attno, LevelsUp: v.LevelsUp}
	}
}

func (g *groupCheck) checkVar(seen *plan.Var, level int) {
	v := g.column(seen)
	for _, k := range g.q.GroupBy {
		if kv, ok := k.(*plan.Var); ok && kv.LevelsUp == 0 {
			if kv = g.column(kv); kv.RTE == v.RTE && kv.Attno == v.Attno {
				return
			}
		}
	}
	r := g.q.RTable[v.RTE]
	if g.dependent(v.RTE, r) {
		return
	}
	name := r.Alias
	col := "?"
	switch {
	case v.Attno > 0 && v.Attno <= len(r.Cols):
		col = r.Cols[v.Attno-1].Name
	case v.Attno == 0:
		col = "*"
	case v.Attno < 0:
		col = systemColumns[-v.Attno-1].name
	}
	if r.Kind == plan.RTEJoin && name == "" {
		name = "unnamed_join"
	}
	if level == 0 {
		g.err = g.s.b.errorAt(v.Loc, sqlerr.GroupingError, "column \"%s.%s\" must appear in the GROUP BY clause or be used in an aggregate function", name, col)
		return
	}
	g.err = g.s.b.errorAt(v.Loc, sqlerr.GroupingError, "subquery uses ungrouped column \"%s.%s\" from outer query", name, col)
}

// dependent says whether a relation's primary key is grouped, so that all its columns are determined.
func (g *groupCheck) dependent(rte int, r *plan.RTE) bool {
	if r.Kind != plan.RTERelation || r.Rel.PrimaryKey == nil || r.Rel.PrimaryKey.Deferrable {
		return false
	}
	if v, ok := g.funcDep[rte]; ok {
		return v
	}
	all := true
	for _, k := range r.Rel.PrimaryKey.Keys {
		has := false
		for _, i := range g.common {
			if v, ok := g.q.GroupBy[i].(*plan.Var); ok && v.LevelsUp == 0 {
				v = g.column(v)
				has = has || v.RTE == rte && v.Attno == int(k.Attno)
			}
		}
		all = all && has
	}
	g.funcDep[rte] = all
	return all
}

// grouping is GROUPING(...); its references are resolved once GROUP BY is known.
func (s *scope) grouping(x *ast.Grouping) (plan.Expr, error) {
	if len(x.Args) > 31 {
		return nil, s.b.errorAt(int(x.Off), sqlerr.TooManyArguments, "GROUPING must have fewer than 32 arguments")
	}
	n := &plan.GroupingFunc{Typed: plan.Typed{Type: types.Int4OID, Typmod: -1, Loc: int(x.Off)}}
	var args []plan.Expr
	for _, a := range x.Args {
		e, err := s.ex(a)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	n.Args = args
	level := -1
	for _, a := range args {
		find(a, func(e plan.Expr) bool {
			if v, ok := e.(*plan.Var); ok && (level < 0 || v.LevelsUp < level) {
				level = v.LevelsUp
			}
			return false
		})
	}
	n.LevelsUp = max(level, 0)
	p := s.up(n.LevelsUp)
	if err := p.placeCheck(int(x.Off), "grouping operations"); err != nil {
		return nil, err
	}
	p.q.HasAggs = true
	p.groupings = append(p.groupings, n)
	return n, nil
}

// finishGroupings resolves the arguments of GROUPING.
func (s *scope) finishGroupings() error {
	for _, p := range s.groupings {
		for _, a := range p.Args {
			at := -1
			for i, g := range s.q.GroupBy {
				if equalExpr(shiftLevels(g, p.LevelsUp, 0), a) {
					at = i
				}
			}
			if at < 0 {
				return s.b.errorAt(exprLoc(a), sqlerr.GroupingError, "arguments to GROUPING must be grouping expressions of the associated query level")
			}
			p.Refs = append(p.Refs, at)
		}
	}
	return nil
}
