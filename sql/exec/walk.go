package exec

import "herd/planner/plan"

// children calls fn for the direct subexpressions of e. Subplans count with their arguments and test only.
func children(e plan.Expr, fn func(plan.Expr)) {
	list := func(es []plan.Expr) {
		for _, x := range es {
			if x != nil {
				fn(x)
			}
		}
	}
	one := func(es ...plan.Expr) { list(es) }
	switch e := e.(type) {
	case *plan.FuncCall:
		list(e.Args)
	case *plan.Relabel:
		one(e.Arg)
	case *plan.CoerceViaIO:
		one(e.Arg)
	case *plan.ArrayCoerce:
		one(e.Arg, e.Elem)
	case *plan.CoerceToDomain:
		one(e.Arg)
		for _, c := range e.Checks {
			one(c.Expr)
		}
	case *plan.BoolExpr:
		list(e.Args)
	case *plan.NullTest:
		one(e.Arg)
	case *plan.BooleanTest:
		one(e.Arg)
	case *plan.DistinctExpr:
		list(e.Args)
	case *plan.NullIf:
		list(e.Args)
	case *plan.ScalarArrayOp:
		list(e.Args)
	case *plan.Case:
		one(e.Arg)
		for _, w := range e.Whens {
			one(w.Cond, w.Result)
		}
		one(e.Default)
	case *plan.Coalesce:
		list(e.Args)
	case *plan.MinMax:
		list(e.Args)
	case *plan.ArrayExpr:
		list(e.Args)
	case *plan.RowExpr:
		list(e.Args)
	case *plan.RowCompare:
		list(e.Left)
		list(e.Right)
	case *plan.Subscript:
		one(e.Container)
		list(e.Upper)
		list(e.Lower)
		one(e.Assign)
	case *plan.FieldSelect:
		one(e.Arg)
	case *plan.Aggref:
		list(e.Args)
		list(e.Direct)
		one(e.Filter)
	case *plan.WindowFunc:
		list(e.Args)
		one(e.Filter)
	case *plan.SubPlan:
		one(e.Test)
		list(e.Args)
	}
}

// walk calls fn for e and everything below it.
func walk(e plan.Expr, fn func(plan.Expr)) {
	if e == nil {
		return
	}
	fn(e)
	children(e, func(x plan.Expr) { walk(x, fn) })
}

// slotsOf returns the input columns that e reads, each once.
func slotsOf(e plan.Expr) []int {
	var out []int
	seen := map[int]bool{}
	walk(e, func(x plan.Expr) {
		if s, ok := x.(*plan.Slot); ok && !seen[s.Index] {
			seen[s.Index] = true
			out = append(out, s.Index)
		}
	})
	return out
}

// hasVolatile says whether evaluating e more or less often makes a difference.
func hasVolatile(e plan.Expr) bool {
	found := false
	walk(e, func(x plan.Expr) {
		switch x := x.(type) {
		case *plan.FuncCall:
			found = found || x.Volatile == 'v'
		case *plan.NextValue:
			found = true
		case *plan.SubPlan:
			found = found || !pureNode(x.Plan)
		}
	})
	return found
}

// pureNode says whether running n further than needed has no effect: no volatile function, no lock, no modification.
func pureNode(n plan.Node) bool {
	switch x := n.(type) {
	case *plan.ModifyTable, *plan.LockRows, *plan.CTEScan, *plan.FunctionScan:
		return false
	case *plan.Project:
		if anyVolatile(x.Exprs) {
			return false
		}
	case *plan.ProjectSet:
		if anyVolatile(x.Exprs) {
			return false
		}
	case *plan.Result:
		if anyVolatile(x.Exprs) || hasVolatile(x.Filter) {
			return false
		}
	case *plan.Values:
		for _, l := range x.Lists {
			if anyVolatile(l) {
				return false
			}
		}
	case *plan.Filter:
		if hasVolatile(x.Cond) {
			return false
		}
	case *plan.Scan:
		if hasVolatile(x.Filter) {
			return false
		}
	case *plan.IndexScan:
		if hasVolatile(x.Filter) {
			return false
		}
	}
	if j := joinOf(n); j != nil && hasVolatile(j.Cond) {
		return false
	}
	for _, c := range n.Children() {
		if !pureNode(c) {
			return false
		}
	}
	return true
}

func anyVolatile(es []plan.Expr) bool {
	for _, e := range es {
		if hasVolatile(e) {
			return true
		}
	}
	return false
}

func joinOf(n plan.Node) *plan.Join {
	switch x := n.(type) {
	case *plan.NestLoop:
		return &x.Join
	case *plan.HashJoin:
		return &x.Join
	case *plan.MergeJoin:
		return &x.Join
	}
	return nil
}
