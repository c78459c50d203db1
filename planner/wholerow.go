package planner

import "herd/planner/plan"

// Whole rows of relations on the nullable side of an outer join. A row that the join made up is NULL, not a row of NULLs, and
// nothing above the join can tell the two apart. So such a relation yields its row as one more column, made below the join.

// noteWholeRows finds the relations that have to yield their row as a column.
func (r *root) noteWholeRows() error {
	var nullable relset
	nullableRels(r.jt, &nullable)
	if nullable.empty() {
		return nil
	}
	note := func(e plan.Expr, level int) bool {
		if v, ok := e.(*plan.Var); ok && v.LevelsUp == level && v.Attno == 0 && nullable.has(v.RTE) {
			if r.wholeRows == nil {
				r.wholeRows = map[int]plan.Typed{}
			}
			r.wholeRows[v.RTE] = v.Typed
		}
		return false
	}
	r.eachExpr(note)
	return nil
}

// nullableRels adds the relations whose row may be missing in a row of the join tree.
func nullableRels(n jnode, set *relset) {
	switch x := n.(type) {
	case *jfrom:
		for _, i := range x.items {
			nullableRels(i, set)
		}
	case *jjoin:
		nullableRels(x.left, set)
		nullableRels(x.right, set)
		switch x.typ {
		case plan.JoinFull:
			*set = set.union(x.rels())
		case plan.JoinLeft:
			*set = set.union(x.right.rels())
		}
	}
}

// eachExpr calls f for the expressions of this level and of the queries below it until it returns true.
func (r *root) eachExpr(f func(e plan.Expr, level int) bool) bool {
	q := *r.q
	q.Where, q.From, q.CTEs = nil, nil, nil // WITH queries cannot refer to this level
	stop := deepExprs(&q, 0, f)
	mapTree(r.jt, func(e plan.Expr) plan.Expr {
		stop = stop || deepExpr(e, 0, f)
		return e
	})
	return stop
}

// wholeRowUsed says whether the row of a relation is referred to as one value.
func (r *root) wholeRowUsed(rte int) bool {
	return r.eachExpr(func(e plan.Expr, level int) bool {
		v, ok := e.(*plan.Var)
		return ok && v.LevelsUp == level && v.RTE == rte && v.Attno == 0
	})
}

// withWholeRow adds the row of a relation to its columns where noteWholeRows asks for it.
func (b *builder) withWholeRow(n plan.Node, lay *layout, p *path) (plan.Node, *layout, error) {
	rte := p.rel.rte
	t, ok := b.r.wholeRows[rte]
	if !ok {
		return n, lay, nil
	}
	row, err := b.r.wholeRow(&plan.Var{Typed: t, RTE: rte})
	if err != nil {
		return nil, nil, err
	}
	if row, err = b.r.conv(row, lay); err != nil {
		return nil, nil, err
	}
	in := n.Base()
	out := &plan.Project{}
	out.Input = n
	out.Cols = append(in.Cols[:len(in.Cols):len(in.Cols)], plan.Column{Typed: t})
	for i := range in.Cols {
		out.Exprs = append(out.Exprs, &plan.Slot{Typed: in.Cols[i].Typed, Index: i})
	}
	out.Exprs = append(out.Exprs, row)
	setCost(&out.NodeBase, p)
	return out, &layout{cols: append(lay.cols[:len(lay.cols):len(lay.cols)], layoutCol{rte: rte})}, nil
}
