package exec

import "herd/planner/plan"

// nodeExprs calls fn for the expressions of node n itself (nil ones are skipped), not for those of its inputs.
func nodeExprs(n plan.Node, fn func(plan.Expr)) {
	one := func(e plan.Expr) {
		if e != nil {
			fn(e)
		}
	}
	list := func(es []plan.Expr) {
		for _, e := range es {
			one(e)
		}
	}
	hash := func(ks []plan.HashKey) {
		for _, k := range ks {
			one(k.Left)
			one(k.Right)
		}
	}
	sorts := func(ks []plan.SortKey) {
		for _, k := range ks {
			one(k.Expr)
		}
	}
	bound := func(b *plan.Bound) {
		if b != nil {
			list(b.Exprs)
		}
	}
	ranges := func(rs []plan.KeyRange) {
		for _, r := range rs {
			list(r.Eq)
			bound(r.Lo)
			bound(r.Hi)
		}
	}
	switch n := n.(type) {
	case *plan.Result:
		list(n.Exprs)
		one(n.Filter)
	case *plan.Values:
		for _, l := range n.Lists {
			list(l)
		}
	case *plan.Scan:
		ranges(n.Ranges)
		one(n.Filter)
	case *plan.IndexScan:
		ranges(n.Ranges)
		one(n.Filter)
	case *plan.VirtualScan:
		list(n.Keys)
		one(n.Filter)
	case *plan.FunctionScan:
		list(n.Calls)
		one(n.Filter)
	case *plan.CTEScan:
		one(n.Filter)
	case *plan.WorkTableScan:
		one(n.Filter)
	case *plan.RecheckScan:
		one(n.Filter)
	case *plan.CurrentRow:
		one(n.Filter)
	case *plan.Filter:
		one(n.Cond)
	case *plan.Project:
		list(n.Exprs)
	case *plan.ProjectSet:
		list(n.Exprs)
	case *plan.NestLoop:
		one(n.Cond)
		list(n.Args)
	case *plan.HashJoin:
		one(n.Cond)
		hash(n.Keys)
	case *plan.MergeJoin:
		one(n.Cond)
		hash(n.Keys)
	case *plan.Sort:
		sorts(n.Keys)
	case *plan.Limit:
		one(n.Count)
		one(n.Offset)
	case *plan.Distinct:
		hash(n.Keys)
	case *plan.Agg:
		hash(n.Keys)
		for _, a := range n.Aggs {
			one(a)
			sorts(a.OrderBy)
		}
	case *plan.WindowAgg:
		for _, f := range n.Funcs {
			one(f)
		}
		if n.Window != nil {
			one(n.Window.Frame.StartOffset)
			one(n.Window.Frame.EndOffset)
		}
	}
}

// dependent says whether the rows below n may differ between two scans of one execution: it reads exec params that something
// above sets, a working table, or rows that are looked at again.
func (s *State) dependent(n plan.Node) bool {
	d := dependence{st: s, set: map[int]bool{}}
	d.node(n)
	return d.found
}

type dependence struct {
	st    *State
	set   map[int]bool // params set inside the tree
	found bool
}

func (d *dependence) node(n plan.Node) {
	if d.found {
		return
	}
	if nl, ok := n.(*plan.NestLoop); ok {
		for _, id := range nl.ParamIDs {
			d.set[id] = true
		}
	}
	switch n := n.(type) {
	case *plan.WorkTableScan, *plan.RecheckScan:
		d.found = true
	case *plan.CTEScan:
		for _, id := range d.st.plan.CTEs[n.CTE].Params {
			d.param(id)
		}
	}
	nodeExprs(n, func(e plan.Expr) { walk(e, d.expr) })
	for _, c := range n.Children() {
		d.node(c)
	}
}

func (d *dependence) expr(e plan.Expr) {
	switch e := e.(type) {
	case *plan.ExecParam:
		d.param(e.ID)
	case *plan.SubPlan:
		for _, id := range e.ParamIDs {
			d.set[id] = true
		}
		d.node(e.Plan)
	}
}

func (d *dependence) param(id int) { d.found = d.found || !d.set[id] }
