package planner

import "herd/planner/plan"

// nodeExprs calls f for the expressions of a node.
func nodeExprs(n plan.Node, f func(plan.Expr)) {
	one := func(e plan.Expr) {
		if e != nil {
			f(e)
		}
	}
	list := func(l []plan.Expr) {
		for _, e := range l {
			one(e)
		}
	}
	keys := func(l []plan.SortKey) {
		for i := range l {
			one(l[i].Expr)
		}
	}
	hash := func(l []plan.HashKey) {
		for i := range l {
			one(l[i].Left)
			one(l[i].Right)
		}
	}
	ranges := func(l []plan.KeyRange) {
		for i := range l {
			list(l[i].Eq)
			for _, b := range [2]*plan.Bound{l[i].Lo, l[i].Hi} {
				if b != nil {
					list(b.Exprs)
				}
			}
		}
	}
	switch x := n.(type) {
	case *plan.Result:
		list(x.Exprs)
		one(x.Filter)
	case *plan.Values:
		for _, l := range x.Lists {
			list(l)
		}
	case *plan.Scan:
		ranges(x.Ranges)
		one(x.Filter)
	case *plan.IndexScan:
		ranges(x.Ranges)
		one(x.Filter)
	case *plan.VirtualScan:
		list(x.Keys)
		one(x.Filter)
	case *plan.FunctionScan:
		list(x.Calls)
		one(x.Filter)
	case *plan.CTEScan:
		one(x.Filter)
	case *plan.WorkTableScan:
		one(x.Filter)
	case *plan.Filter:
		one(x.Cond)
	case *plan.Project:
		list(x.Exprs)
	case *plan.ProjectSet:
		list(x.Exprs)
	case *plan.NestLoop:
		one(x.Cond)
		list(x.Args)
	case *plan.HashJoin:
		one(x.Cond)
		hash(x.Keys)
	case *plan.MergeJoin:
		one(x.Cond)
		hash(x.Keys)
	case *plan.Sort:
		keys(x.Keys)
	case *plan.Limit:
		one(x.Count)
		one(x.Offset)
	case *plan.Distinct:
		hash(x.Keys)
	case *plan.Agg:
		hash(x.Keys)
		for _, a := range x.Aggs {
			one(a)
		}
	case *plan.WindowAgg:
		keys(x.Window.PartitionBy)
		keys(x.Window.OrderBy)
		one(x.Window.Frame.StartOffset)
		one(x.Window.Frame.EndOffset)
		for _, w := range x.Funcs {
			one(w)
		}
	case *plan.ModifyTable:
		list(x.Returning)
		if c := x.OnConflict; c != nil {
			list(c.Set)
			one(c.Where)
		}
		for i := range x.Merge {
			one(x.Merge[i].Cond)
			list(x.Merge[i].Set)
		}
	}
}
