package planner

import "herd/planner/plan"

// pullUpSubLinks turns EXISTS, NOT EXISTS and IN (subquery) at the top of conditions into semi and anti joins.
func (r *root) pullUpSubLinks() error {
	if !r.q.HasSubLinks {
		return nil
	}
	return r.pullLinksIn(r.jt, 0)
}

func (r *root) pullLinksIn(n jnode, depth int) error {
	if depth > maxWalkDepth {
		return tooDeep()
	}
	switch x := n.(type) {
	case *jfrom:
		for i := range x.items {
			if err := r.pullLinksIn(x.items[i], depth+1); err != nil {
				return err
			}
		}
		return r.pullLinksFrom(x)
	case *jjoin:
		if err := r.pullLinksIn(x.left, depth+1); err != nil {
			return err
		}
		return r.pullLinksIn(x.right, depth+1)
	}
	return nil
}

// pullLinksFrom replaces conditions of one inner join by semi and anti joins around its items.
func (r *root) pullLinksFrom(x *jfrom) error {
	if len(x.items) == 0 {
		return nil
	}
	var rest []plan.Expr
	var wraps []*jjoin
	for _, q := range x.quals {
		j, err := r.linkJoin(q, x.rels())
		if err != nil {
			return err
		}
		if j == nil {
			rest = append(rest, q)
			continue
		}
		wraps = append(wraps, j)
	}
	if len(wraps) == 0 {
		return nil
	}
	var node jnode = &jfrom{items: x.items, quals: rest}
	for _, j := range wraps {
		j.left = node
		node = j
	}
	x.items, x.quals = []jnode{node}, nil
	return nil
}

// linkJoin makes the join a condition stands for; nil when it is to stay a condition.
func (r *root) linkJoin(q plan.Expr, avail relset) (*jjoin, error) {
	anti := false
	if b, ok := q.(*plan.BoolExpr); ok && b.Kind == plan.Not {
		anti = true
		q = b.Args[0]
	}
	s, ok := q.(*plan.SubLink)
	if !ok {
		return nil, nil
	}
	switch {
	case s.Kind == plan.SubExists:
		return r.existsJoin(s, anti, avail)
	case s.Kind == plan.SubAny && !anti:
		return r.anyJoin(s, avail)
	}
	return nil, nil
}

// anyJoin is convert_ANY_sublink_to_join.
func (r *root) anyJoin(s *plan.SubLink, avail relset) (*jjoin, error) {
	if s.Query.Command != plan.CmdSelect || subLateral(s.Query) {
		return nil, nil
	}
	left := r.relsOf(s.Test)
	if left.empty() || !left.within(avail) || volatilityOf(s.Test) == 'v' {
		return nil, nil
	}
	cols := outputColumns(s.Query)
	rte := len(r.q.RTable)
	table := append([]*plan.RTE(nil), r.q.RTable...)
	r.q.RTable = append(table, &plan.RTE{Kind: plan.RTESubquery, Sub: s.Query, Alias: "ANY_subquery", Cols: cols})
	test := rewrite(s.Test, func(e plan.Expr) plan.Expr {
		if o, ok := e.(*plan.SubOut); ok {
			return &plan.Var{Typed: o.Typed, RTE: rte, Attno: o.Col + 1}
		}
		return e
	})
	return &jjoin{typ: plan.JoinSemi, right: &jfrom{items: []jnode{&jrel{rte}}}, quals: splitAnd(nil, test)}, nil
}

// existsJoin is convert_EXISTS_sublink_to_join.
func (r *root) existsJoin(s *plan.SubLink, anti bool, avail relset) (*jjoin, error) {
	q := simplifyExists(s.Query)
	if !simpleSubquery(q) || len(q.From) == 0 || q.Where == nil && !subUsesOuter(q) {
		return nil, nil
	}
	if len(q.CTEs) > 0 || q.Where == nil || volatilityOf(q.Where) == 'v' {
		return nil, nil
	}
	// The subquery may refer to this level in WHERE only.
	noWhere := *q
	noWhere.Where = nil
	if subUsesOuter(&noWhere) {
		return nil, nil
	}
	refs := relset{}
	inner := false
	deepExpr(q.Where, 0, func(e plan.Expr, level int) bool {
		if v, ok := e.(*plan.Var); ok {
			if v.LevelsUp == level+1 {
				refs = refs.union(rset(v.RTE))
			}
			if v.LevelsUp == level {
				inner = true
			}
		}
		return false
	})
	if refs.empty() || !refs.within(avail) || !inner {
		return nil, nil
	}
	child := r.ps.newRoot(r, q)
	child.q.Targets = nil
	where := child.q.Where
	child.q.Where = nil
	child.jt = &jfrom{}
	for _, it := range q.From {
		child.jt.items = append(child.jt.items, child.fromNode(it))
	}
	child.jt.quals = splitAnd(nil, where)
	if err := child.flattenJoinVars(); err != nil {
		return nil, err
	}
	if err := child.pullUpSubLinks(); err != nil {
		return nil, err
	}
	quals := child.jt.quals
	child.jt.quals = nil
	if len(quals) == 0 { // all conditions became joins inside
		return nil, nil
	}
	return r.adopt(child, quals, anti), nil
}

// adopt moves a subquery's relations into this level as the right side of a semi or anti join.
func (r *root) adopt(child *root, quals []plan.Expr, anti bool) *jjoin {
	off := len(r.q.RTable)
	move := func(e plan.Expr, level int) plan.Expr {
		switch v := e.(type) {
		case *plan.Var:
			if v.LevelsUp == level {
				n := *v
				n.RTE += off
				return &n
			}
			if v.LevelsUp > level {
				n := *v
				n.LevelsUp--
				return &n
			}
		case *plan.Aggref:
			if v.LevelsUp > level {
				n := *v
				n.LevelsUp--
				return &n
			}
		case *plan.GroupingFunc:
			if v.LevelsUp > level {
				return shiftGrouping(v, -1)
			}
		}
		return e
	}
	child.jt.quals = quals
	child.mapLevel(move)
	shiftCTERefs(child.q, 0, -1)
	moveTree(child.jt, off)
	table := append([]*plan.RTE(nil), r.q.RTable...)
	r.q.RTable = append(table, child.q.RTable...)
	quals = child.jt.quals
	child.jt.quals = nil
	typ := plan.JoinSemi
	if anti {
		typ = plan.JoinAnti
	}
	return &jjoin{typ: typ, right: child.jt, quals: quals}
}

// subUsesOuter says whether a query refers to the level right above it.
func subUsesOuter(q *plan.Query) bool { return subLateral(q) }
