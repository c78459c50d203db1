package planner

import "herd/planner/plan"

// pushDown moves conditions over a subquery's output into it: subquery_push_qual.
func (r *root) pushDown() error {
	r.pushIn(r.jt, 0)
	return nil
}

func (r *root) pushIn(n jnode, depth int) {
	if depth > maxWalkDepth {
		return
	}
	x, ok := n.(*jfrom)
	if !ok {
		if j, ok := n.(*jjoin); ok {
			r.pushIn(j.left, depth+1)
			r.pushIn(j.right, depth+1)
		}
		return
	}
	var rest []plan.Expr
	for _, q := range x.quals {
		if !r.pushQual(x, q) {
			rest = append(rest, q)
		}
	}
	x.quals = rest
	for _, i := range x.items {
		r.pushIn(i, depth+1)
	}
}

// pushQual moves one condition into the single subquery it is about.
func (r *root) pushQual(x *jfrom, q plan.Expr) bool {
	for _, it := range x.items {
		rel, ok := it.(*jrel)
		if !ok {
			continue
		}
		rte := r.q.RTable[rel.rte]
		sub := r.subqueryOf(rte)
		if sub == nil {
			continue
		}
		set := r.relsOf(q)
		if !set.has(rel.rte) || !set.within(rset(rel.rte)) {
			continue
		}
		n := r.pushedQuery(sub, rel.rte, q)
		if n == nil {
			return false
		}
		c := *rte
		c.Kind, c.Sub, c.Rel, c.CTE = plan.RTESubquery, n, nil, nil
		r.q.RTable = append([]*plan.RTE(nil), r.q.RTable...)
		r.q.RTable[rel.rte] = &c
		return true
	}
	return false
}

// pushedQuery is sub with a condition added; nil when it cannot be pushed.
func (r *root) pushedQuery(sub *plan.Query, rte int, q plan.Expr) *plan.Query {
	if sub.Command != plan.CmdSelect || sub.Limit != nil || sub.Offset != nil || len(sub.CTEs) > 0 {
		return nil
	}
	if volatilityOf(q) == 'v' || find(q, func(e plan.Expr) bool { _, ok := e.(*plan.SubLink); return ok }) {
		return nil
	}
	if sub.SetOp != nil {
		return r.pushSetOp(sub, rte, q)
	}
	if len(sub.DistinctOn) > 0 || sub.HasWindow || sub.GroupingSets != nil {
		return nil
	}
	bad := false
	e := rewrite(q, func(x plan.Expr) plan.Expr {
		v, ok := x.(*plan.Var)
		if !ok {
			return x
		}
		if v.LevelsUp > 0 {
			n := *v
			n.LevelsUp++
			return &n
		}
		if v.RTE != rte || v.Attno <= 0 {
			bad = true
			return x
		}
		t := targetAt(sub.Targets, v.Attno)
		if t == nil || volatilityOf(t.Expr) == 'v' || t.Expr.T().Type != v.Type || find(t.Expr, staysAbove) {
			bad = true
			return x
		}
		return t.Expr
	})
	if bad {
		return nil
	}
	n := *sub
	if sub.HasAggs || len(sub.GroupBy) > 0 || sub.Having != nil {
		n.Having = andExprs(append(splitAnd(nil, sub.Having), e))
		return &n
	}
	n.Where = andExprs(append(splitAnd(nil, sub.Where), e))
	return &n
}

// staysAbove tells that a column made by e cannot be looked at below its query: subqueries would run twice, a set has no rows yet.
func staysAbove(e plan.Expr) bool {
	switch x := e.(type) {
	case *plan.SubLink:
		return true
	case *plan.FuncCall:
		return x.RetSet
	}
	return false
}

// pushSetOp pushes a condition into every member of a set operation.
func (r *root) pushSetOp(sub *plan.Query, rte int, q plan.Expr) *plan.Query {
	leaves, ok := setLeaves(sub.SetOp, nil, 0)
	if !ok {
		return nil
	}
	n := *sub
	n.RTable = append([]*plan.RTE(nil), sub.RTable...)
	for _, l := range leaves {
		inner, ok := memberCondition(sub.SetOp, l, rte, q)
		if !ok {
			return nil
		}
		c := *n.RTable[l.RTE]
		p := r.pushedQuery(c.Sub, l.RTE, inner)
		if p == nil {
			return nil
		}
		c.Sub = p
		n.RTable[l.RTE] = &c
	}
	return &n
}

// memberCondition is a condition over the columns of a set operation, said over those of a member with their casts.
func memberCondition(whole, l *plan.SetOp, rte int, q plan.Expr) (e plan.Expr, ok bool) {
	ok = true
	e = rewrite(q, func(x plan.Expr) plan.Expr {
		v, is := x.(*plan.Var)
		if !is {
			return x
		}
		m := *v
		if v.LevelsUp > 0 { // the member is one level further in than the set operation's query
			m.LevelsUp++
			return &m
		}
		i := int(v.Attno) - 1
		if v.RTE != rte || i < 0 || i >= len(whole.Cols) {
			ok = false
			return x
		}
		if l.Exprs != nil {
			ok = ok && l.Exprs[i].T().Type == whole.Cols[i].Type
			return l.Exprs[i]
		}
		ok = ok && l.Cols[i].Type == whole.Cols[i].Type
		m.RTE = l.RTE
		return &m
	})
	return e, ok
}

func setLeaves(s *plan.SetOp, out []*plan.SetOp, depth int) ([]*plan.SetOp, bool) {
	if depth > maxWalkDepth {
		return nil, false
	}
	if len(s.Args) == 0 {
		return append(out, s), true
	}
	ok := true
	for _, a := range s.Args {
		if out, ok = setLeaves(a, out, depth+1); !ok {
			return nil, false
		}
	}
	return out, true
}

// targetAt returns the n-th visible target.
func targetAt(list []*plan.Target, n int) *plan.Target {
	for _, t := range list {
		if t.Junk {
			continue
		}
		if n--; n == 0 {
			return t
		}
	}
	return nil
}
