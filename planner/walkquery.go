package planner

import "herd/planner/plan"

// queryExprs calls f for the root of every expression of q itself (not of subqueries in FROM, not of sublinks' queries).
func queryExprs(q *plan.Query, f func(plan.Expr)) {
	one := func(e plan.Expr) {
		if e != nil {
			f(e)
		}
	}
	for _, t := range q.Targets {
		one(t.Expr)
	}
	for _, t := range q.Returning {
		one(t.Expr)
	}
	one(q.Where)
	one(q.Having)
	one(q.Limit)
	one(q.Offset)
	for _, e := range q.GroupBy {
		one(e)
	}
	for _, e := range q.DistinctOn {
		one(e)
	}
	for i := range q.OrderBy {
		one(q.OrderBy[i].Expr)
	}
	for _, w := range q.Windows {
		for i := range w.PartitionBy {
			one(w.PartitionBy[i].Expr)
		}
		for i := range w.OrderBy {
			one(w.OrderBy[i].Expr)
		}
		one(w.Frame.StartOffset)
		one(w.Frame.EndOffset)
	}
	for _, row := range q.Values {
		for _, e := range row {
			one(e)
		}
	}
	for _, r := range q.RTable {
		for _, e := range r.Funcs {
			one(e)
		}
		for _, row := range r.Values {
			for _, e := range row {
				one(e)
			}
		}
		for _, e := range r.JoinVars {
			one(e)
		}
	}
	for _, it := range q.From {
		joinQuals(it, one)
	}
	if c := q.OnConflict; c != nil {
		for _, t := range c.Set {
			one(t.Expr)
		}
		one(c.Where)
	}
}

func joinQuals(it plan.FromItem, f func(plan.Expr)) {
	if j, ok := it.(*plan.JoinExpr); ok {
		if j.On != nil {
			f(j.On)
		}
		joinQuals(j.Left, f)
		joinQuals(j.Right, f)
	}
}

// deepExprs calls f for every node of every expression of q and of all queries below it, with the number of levels below q.
// It stops early when f returns true.
func deepExprs(q *plan.Query, level int, f func(e plan.Expr, level int) bool) bool {
	stop := false
	queryExprs(q, func(root plan.Expr) {
		if !stop {
			stop = deepExpr(root, level, f)
		}
	})
	if stop {
		return true
	}
	for _, r := range q.RTable {
		if r.Sub != nil && deepExprs(r.Sub, level+1, f) {
			return true
		}
	}
	for _, c := range q.CTEs {
		if c.Query != nil && deepExprs(c.Query, level+1, f) {
			return true
		}
	}
	return false
}

// deepExpr is deepExprs for one expression.
func deepExpr(root plan.Expr, level int, f func(e plan.Expr, level int) bool) bool {
	return find(root, func(e plan.Expr) bool {
		if f(e, level) {
			return true
		}
		if s, ok := e.(*plan.SubLink); ok {
			return deepExprs(s.Query, level+1, f)
		}
		return false
	})
}

// mapQuery copies q with f applied bottom-up to every expression node of it and of the queries below; level counts the
// queries between the node and q's own level.
func mapQuery(q *plan.Query, level int, f func(e plan.Expr, level int) plan.Expr) *plan.Query {
	n := *q
	m := func(e plan.Expr) plan.Expr {
		if e == nil {
			return nil
		}
		return mapDeep(e, level, f)
	}
	ml := func(list []plan.Expr) []plan.Expr {
		if list == nil {
			return nil
		}
		out := make([]plan.Expr, len(list))
		for i, e := range list {
			out[i] = m(e)
		}
		return out
	}
	mt := func(list []*plan.Target) []*plan.Target {
		if list == nil {
			return nil
		}
		out := make([]*plan.Target, len(list))
		for i, t := range list {
			c := *t
			c.Expr = m(t.Expr)
			out[i] = &c
		}
		return out
	}
	mk := func(list []plan.SortKey) []plan.SortKey {
		if list == nil {
			return nil
		}
		out := append([]plan.SortKey(nil), list...)
		for i := range out {
			out[i].Expr = m(out[i].Expr)
		}
		return out
	}
	n.Targets, n.Returning = mt(q.Targets), mt(q.Returning)
	n.Where, n.Having, n.Limit, n.Offset = m(q.Where), m(q.Having), m(q.Limit), m(q.Offset)
	n.GroupBy, n.DistinctOn = ml(q.GroupBy), ml(q.DistinctOn)
	n.OrderBy = mk(q.OrderBy)
	for i, t := range q.OrderByTarget {
		n.OrderBy[i].Expr = n.Targets[t].Expr
	}
	n.Windows = nil
	for _, w := range q.Windows {
		c := *w
		c.PartitionBy, c.OrderBy = mk(w.PartitionBy), mk(w.OrderBy)
		c.Frame.StartOffset, c.Frame.EndOffset = m(w.Frame.StartOffset), m(w.Frame.EndOffset)
		n.Windows = append(n.Windows, &c)
	}
	n.Values = nil
	for _, row := range q.Values {
		n.Values = append(n.Values, ml(row))
	}
	n.From = nil
	for _, it := range q.From {
		n.From = append(n.From, mapFrom(it, m))
	}
	if c := q.OnConflict; c != nil {
		oc := *c
		oc.Set, oc.Where = mt(c.Set), m(c.Where)
		n.OnConflict = &oc
	}
	ctes := map[*plan.CTE]*plan.CTE{}
	n.CTEs = nil
	for _, c := range q.CTEs {
		cc := *c
		ctes[c] = &cc
		n.CTEs = append(n.CTEs, &cc)
	}
	n.RTable = make([]*plan.RTE, len(q.RTable))
	for i, r := range q.RTable {
		c := *r
		c.Funcs, c.JoinVars = ml(r.Funcs), ml(r.JoinVars)
		c.Values = nil
		for _, row := range r.Values {
			c.Values = append(c.Values, ml(row))
		}
		if r.Sub != nil {
			c.Sub = mapQuery(r.Sub, level+1, f)
		}
		if r.CTE != nil && ctes[r.CTE] != nil {
			c.CTE = ctes[r.CTE]
		}
		n.RTable[i] = &c
	}
	for _, c := range n.CTEs {
		if c.Query != nil {
			c.Query = mapQuery(c.Query, level+1, f)
			replaceCTEs(c.Query, ctes, 0)
		}
	}
	if len(ctes) > 0 {
		for _, r := range n.RTable {
			if r.Sub != nil {
				replaceCTEs(r.Sub, ctes, 0)
			}
		}
		queryExprs(&n, func(e plan.Expr) { replaceSubLinkCTEs(e, ctes) })
	}
	return &n
}

// replaceCTEs redirects references to copied WITH items in a query that is already a private copy.
func replaceCTEs(q *plan.Query, ctes map[*plan.CTE]*plan.CTE, depth int) {
	if len(ctes) == 0 || depth > maxWalkDepth {
		return
	}
	for _, r := range q.RTable {
		if r.CTE != nil && ctes[r.CTE] != nil {
			r.CTE = ctes[r.CTE]
		}
		if r.Sub != nil {
			replaceCTEs(r.Sub, ctes, depth+1)
		}
	}
	for _, c := range q.CTEs {
		if c.Query != nil {
			replaceCTEs(c.Query, ctes, depth+1)
		}
	}
	queryExprs(q, func(e plan.Expr) { replaceSubLinkCTEs(e, ctes) })
}

func replaceSubLinkCTEs(e plan.Expr, ctes map[*plan.CTE]*plan.CTE) {
	find(e, func(x plan.Expr) bool {
		if s, ok := x.(*plan.SubLink); ok {
			replaceCTEs(s.Query, ctes, 0)
		}
		return false
	})
}

func mapFrom(it plan.FromItem, m func(plan.Expr) plan.Expr) plan.FromItem {
	j, ok := it.(*plan.JoinExpr)
	if !ok {
		return it
	}
	n := *j
	n.On = m(j.On)
	n.Left, n.Right = mapFrom(j.Left, m), mapFrom(j.Right, m)
	return &n
}

// mapDeep is rewrite that also enters the queries of sublinks.
func mapDeep(e plan.Expr, level int, f func(e plan.Expr, level int) plan.Expr) plan.Expr {
	var rec func(plan.Expr) plan.Expr
	rec = func(x plan.Expr) plan.Expr {
		x = mapChildren(x, rec)
		if s, ok := x.(*plan.SubLink); ok {
			n := *s
			n.Query = mapQuery(s.Query, level+1, f)
			x = &n
		}
		return f(x, level)
	}
	return rec(e)
}

// shiftLevels adds delta to LevelsUp of the references in e that point out of it by at least min levels.
func shiftLevels(e plan.Expr, delta, min int) plan.Expr {
	return mapDeep(e, 0, func(x plan.Expr, level int) plan.Expr { return shiftNode(x, level+min, delta) })
}

func shiftNode(x plan.Expr, min, delta int) plan.Expr {
	switch v := x.(type) {
	case *plan.Var:
		if v.LevelsUp >= min {
			n := *v
			n.LevelsUp += delta
			return &n
		}
	case *plan.Aggref:
		if v.LevelsUp >= min && v.LevelsUp > 0 {
			n := *v
			n.LevelsUp += delta
			return &n
		}
	case *plan.GroupingFunc:
		if v.LevelsUp >= min && v.LevelsUp > 0 {
			return shiftGrouping(v, delta)
		}
	}
	return x
}

// shiftGrouping moves a GROUPING call and its arguments, which other walks leave alone, delta levels.
func shiftGrouping(g *plan.GroupingFunc, delta int) *plan.GroupingFunc {
	n := *g
	n.LevelsUp += delta
	n.Args = make([]plan.Expr, len(g.Args))
	for i, a := range g.Args {
		n.Args[i] = shiftLevels(a, delta, g.LevelsUp)
	}
	return &n
}
