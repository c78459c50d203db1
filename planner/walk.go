package planner

import "herd/planner/plan"

// children calls f for each direct subexpression until f returns true; it does not enter SubLink.Query.
func children(e plan.Expr, f func(plan.Expr) bool) bool {
	switch x := e.(type) {
	case *plan.FuncCall:
		return any1(x.Args, f)
	case *plan.Relabel:
		return f(x.Arg)
	case *plan.CoerceViaIO:
		return f(x.Arg)
	case *plan.ArrayCoerce:
		return f(x.Arg)
	case *plan.CoerceToDomain:
		return f(x.Arg)
	case *plan.BoolExpr:
		return any1(x.Args, f)
	case *plan.NullTest:
		return f(x.Arg)
	case *plan.BooleanTest:
		return f(x.Arg)
	case *plan.DistinctExpr:
		return any1(x.Args, f)
	case *plan.NullIf:
		return any1(x.Args, f)
	case *plan.ScalarArrayOp:
		return any1(x.Args, f)
	case *plan.Case:
		if x.Arg != nil && f(x.Arg) {
			return true
		}
		for _, w := range x.Whens {
			if f(w.Cond) || f(w.Result) {
				return true
			}
		}
		return x.Default != nil && f(x.Default)
	case *plan.Coalesce:
		return any1(x.Args, f)
	case *plan.MinMax:
		return any1(x.Args, f)
	case *plan.ArrayExpr:
		return any1(x.Args, f)
	case *plan.RowExpr:
		return any1(x.Args, f)
	case *plan.RowCompare:
		return any1(x.Left, f) || any1(x.Right, f)
	case *plan.Subscript:
		return f(x.Container) || any1(x.Upper, f) || any1(x.Lower, f) || x.Assign != nil && f(x.Assign)
	case *plan.FieldSelect:
		return f(x.Arg)
	case *plan.Aggref:
		if any1(x.Args, f) || any1(x.Direct, f) || x.Filter != nil && f(x.Filter) {
			return true
		}
		return anyKey(x.OrderBy, f)
	case *plan.WindowFunc:
		return any1(x.Args, f) || x.Filter != nil && f(x.Filter)
	case *plan.SubLink:
		return x.Test != nil && f(x.Test)
	case *plan.SubPlan:
		return x.Test != nil && f(x.Test) || any1(x.Args, f)
	}
	return false
}

func any1(list []plan.Expr, f func(plan.Expr) bool) bool {
	for _, e := range list {
		if e != nil && f(e) {
			return true
		}
	}
	return false
}

func anyKey(list []plan.SortKey, f func(plan.Expr) bool) bool {
	for i := range list {
		if f(list[i].Expr) {
			return true
		}
	}
	return false
}

// find says whether f holds for e or any subexpression.
func find(e plan.Expr, f func(plan.Expr) bool) bool {
	if e == nil {
		return false
	}
	if f(e) {
		return true
	}
	return children(e, func(c plan.Expr) bool { return find(c, f) })
}

// mapChildren applies f to each direct subexpression; the result is e itself when nothing changed, else a shallow copy.
func mapChildren(e plan.Expr, f func(plan.Expr) plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.FuncCall:
		if a, ch := mapList(x.Args, f); ch {
			n := *x
			n.Args = a
			return &n
		}
	case *plan.Relabel:
		if a := f(x.Arg); a != x.Arg {
			n := *x
			n.Arg = a
			return &n
		}
	case *plan.CoerceViaIO:
		if a := f(x.Arg); a != x.Arg {
			n := *x
			n.Arg = a
			return &n
		}
	case *plan.ArrayCoerce:
		if a := f(x.Arg); a != x.Arg {
			n := *x
			n.Arg = a
			return &n
		}
	case *plan.CoerceToDomain:
		if a := f(x.Arg); a != x.Arg {
			n := *x
			n.Arg = a
			return &n
		}
	case *plan.BoolExpr:
		if a, ch := mapList(x.Args, f); ch {
			n := *x
			n.Args = a
			return &n
		}
	case *plan.NullTest:
		if a := f(x.Arg); a != x.Arg {
			n := *x
			n.Arg = a
			return &n
		}
	case *plan.BooleanTest:
		if a := f(x.Arg); a != x.Arg {
			n := *x
			n.Arg = a
			return &n
		}
	case *plan.DistinctExpr:
		if a, ch := mapList(x.Args, f); ch {
			n := *x
			n.Args = a
			return &n
		}
	case *plan.NullIf:
		if a, ch := mapList(x.Args, f); ch {
			n := *x
			n.Args = a
			return &n
		}
	case *plan.ScalarArrayOp:
		if a, ch := mapList(x.Args, f); ch {
			n := *x
			n.Args = a
			return &n
		}
	case *plan.Case:
		return mapCase(x, f)
	case *plan.Coalesce:
		if a, ch := mapList(x.Args, f); ch {
			n := *x
			n.Args = a
			return &n
		}
	default:
		return mapChildrenRare(e, f)
	}
	return e
}

func mapChildrenRare(e plan.Expr, f func(plan.Expr) plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.MinMax:
		if a, ch := mapList(x.Args, f); ch {
			n := *x
			n.Args = a
			return &n
		}
	case *plan.ArrayExpr:
		if a, ch := mapList(x.Args, f); ch {
			n := *x
			n.Args = a
			return &n
		}
	case *plan.RowExpr:
		if a, ch := mapList(x.Args, f); ch {
			n := *x
			n.Args = a
			return &n
		}
	case *plan.RowCompare:
		l, c1 := mapList(x.Left, f)
		r, c2 := mapList(x.Right, f)
		if c1 || c2 {
			n := *x
			n.Left, n.Right = l, r
			return &n
		}
	case *plan.Subscript:
		c := f(x.Container)
		u, c1 := mapList(x.Upper, f)
		l, c2 := mapList(x.Lower, f)
		a := x.Assign
		if a != nil {
			a = f(a)
		}
		if c != x.Container || c1 || c2 || a != x.Assign {
			n := *x
			n.Container, n.Upper, n.Lower, n.Assign = c, u, l, a
			return &n
		}
	case *plan.FieldSelect:
		if a := f(x.Arg); a != x.Arg {
			n := *x
			n.Arg = a
			return &n
		}
	case *plan.Aggref:
		return mapAgg(x, f)
	case *plan.WindowFunc:
		a, c1 := mapList(x.Args, f)
		fl := x.Filter
		if fl != nil {
			fl = f(fl)
		}
		if c1 || fl != x.Filter {
			n := *x
			n.Args, n.Filter = a, fl
			return &n
		}
	case *plan.SubLink:
		if x.Test != nil {
			if t := f(x.Test); t != x.Test {
				n := *x
				n.Test = t
				return &n
			}
		}
	case *plan.SubPlan:
		t := x.Test
		if t != nil {
			t = f(t)
		}
		a, ch := mapList(x.Args, f)
		if t != x.Test || ch {
			n := *x
			n.Test, n.Args = t, a
			return &n
		}
	}
	return e
}

func mapCase(x *plan.Case, f func(plan.Expr) plan.Expr) plan.Expr {
	n := *x
	ch := false
	if x.Arg != nil {
		n.Arg = f(x.Arg)
		ch = n.Arg != x.Arg
	}
	n.Whens = make([]plan.CaseWhen, len(x.Whens))
	for i, w := range x.Whens {
		n.Whens[i] = plan.CaseWhen{Cond: f(w.Cond), Result: f(w.Result)}
		ch = ch || n.Whens[i] != w
	}
	if x.Default != nil {
		n.Default = f(x.Default)
		ch = ch || n.Default != x.Default
	}
	if !ch {
		return x
	}
	return &n
}

func mapAgg(x *plan.Aggref, f func(plan.Expr) plan.Expr) plan.Expr {
	n := *x
	a, c1 := mapList(x.Args, f)
	d, c2 := mapList(x.Direct, f)
	n.Args, n.Direct = a, d
	if x.Filter != nil {
		n.Filter = f(x.Filter)
	}
	k, c3 := mapKeys(x.OrderBy, f)
	n.OrderBy = k
	if !c1 && !c2 && !c3 && n.Filter == x.Filter {
		return x
	}
	return &n
}

func mapList(list []plan.Expr, f func(plan.Expr) plan.Expr) ([]plan.Expr, bool) {
	var out []plan.Expr
	for i, e := range list {
		if e == nil {
			continue
		}
		if n := f(e); n != e {
			if out == nil {
				out = append([]plan.Expr(nil), list...)
			}
			out[i] = n
		}
	}
	if out == nil {
		return list, false
	}
	return out, true
}

func mapKeys(list []plan.SortKey, f func(plan.Expr) plan.Expr) ([]plan.SortKey, bool) {
	var out []plan.SortKey
	for i := range list {
		if n := f(list[i].Expr); n != list[i].Expr {
			if out == nil {
				out = append([]plan.SortKey(nil), list...)
			}
			out[i].Expr = n
		}
	}
	if out == nil {
		return list, false
	}
	return out, true
}

// rewrite applies f bottom-up; f gets each node after its children have been replaced.
func rewrite(e plan.Expr, f func(plan.Expr) plan.Expr) plan.Expr {
	if e == nil {
		return nil
	}
	var rec func(plan.Expr) plan.Expr
	rec = func(x plan.Expr) plan.Expr { return f(mapChildren(x, rec)) }
	return rec(e)
}

// returnsSet says whether e contains a set-returning function outside of subqueries.
func returnsSet(e plan.Expr) bool {
	return find(e, func(x plan.Expr) bool {
		c, ok := x.(*plan.FuncCall)
		return ok && c.RetSet
	})
}

// equalExpr compares structure and meaning; positions and deparse forms do not count.
func equalExpr(a, b plan.Expr) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	ta, tb := a.T(), b.T()
	if ta.Type != tb.Type || ta.Typmod != tb.Typmod || ta.Collation != tb.Collation {
		return false
	}
	switch x := a.(type) {
	case *plan.Const:
		y, ok := b.(*plan.Const)
		return ok && x.Value.Null == y.Value.Null && (x.Value.Null || x.Value.I == y.Value.I && string(x.Value.B) == string(y.Value.B))
	case *plan.Param:
		y, ok := b.(*plan.Param)
		return ok && x.Index == y.Index
	case *plan.Var:
		y, ok := b.(*plan.Var)
		return ok && x.RTE == y.RTE && x.Attno == y.Attno && x.LevelsUp == y.LevelsUp
	case *plan.Slot:
		y, ok := b.(*plan.Slot)
		return ok && x.Index == y.Index
	case *plan.ExecParam:
		y, ok := b.(*plan.ExecParam)
		return ok && x.ID == y.ID
	case *plan.SubOut:
		y, ok := b.(*plan.SubOut)
		return ok && x.Col == y.Col
	case *plan.SubLink:
		y, ok := b.(*plan.SubLink)
		return ok && x.Kind == y.Kind && equalExpr(x.Test, y.Test) && equalQuery(x.Query, y.Query)
	case *plan.FuncCall:
		y, ok := b.(*plan.FuncCall)
		return ok && x.Func == y.Func && x.InputColl == y.InputColl && equalList(x.Args, y.Args)
	case *plan.Relabel:
		y, ok := b.(*plan.Relabel)
		return ok && equalExpr(x.Arg, y.Arg)
	case *plan.CoerceViaIO:
		y, ok := b.(*plan.CoerceViaIO)
		return ok && equalExpr(x.Arg, y.Arg)
	case *plan.ArrayCoerce:
		y, ok := b.(*plan.ArrayCoerce)
		return ok && equalExpr(x.Arg, y.Arg) && equalExpr(x.Elem, y.Elem)
	case *plan.CoerceToDomain:
		y, ok := b.(*plan.CoerceToDomain)
		return ok && equalExpr(x.Arg, y.Arg)
	case *plan.BoolExpr:
		y, ok := b.(*plan.BoolExpr)
		return ok && x.Kind == y.Kind && equalList(x.Args, y.Args)
	case *plan.NullTest:
		y, ok := b.(*plan.NullTest)
		return ok && x.Not == y.Not && x.ArgIsRow == y.ArgIsRow && equalExpr(x.Arg, y.Arg)
	case *plan.BooleanTest:
		y, ok := b.(*plan.BooleanTest)
		return ok && x.Kind == y.Kind && equalExpr(x.Arg, y.Arg)
	case *plan.CaseTest:
		_, ok := b.(*plan.CaseTest)
		return ok
	}
	return equalRare(a, b)
}

func equalRare(a, b plan.Expr) bool {
	switch x := a.(type) {
	case *plan.DistinctExpr:
		y, ok := b.(*plan.DistinctExpr)
		return ok && x.Func == y.Func && x.Not == y.Not && x.InputColl == y.InputColl && equalList(x.Args, y.Args)
	case *plan.NullIf:
		y, ok := b.(*plan.NullIf)
		return ok && x.Func == y.Func && x.InputColl == y.InputColl && equalList(x.Args, y.Args)
	case *plan.ScalarArrayOp:
		y, ok := b.(*plan.ScalarArrayOp)
		return ok && x.Func == y.Func && x.UseOr == y.UseOr && x.InputColl == y.InputColl && equalList(x.Args, y.Args)
	case *plan.Case:
		y, ok := b.(*plan.Case)
		if !ok || len(x.Whens) != len(y.Whens) || !equalExpr(x.Arg, y.Arg) || !equalExpr(x.Default, y.Default) {
			return false
		}
		for i := range x.Whens {
			if !equalExpr(x.Whens[i].Cond, y.Whens[i].Cond) || !equalExpr(x.Whens[i].Result, y.Whens[i].Result) {
				return false
			}
		}
		return true
	case *plan.Coalesce:
		y, ok := b.(*plan.Coalesce)
		return ok && equalList(x.Args, y.Args)
	case *plan.MinMax:
		y, ok := b.(*plan.MinMax)
		return ok && x.Least == y.Least && equalList(x.Args, y.Args)
	case *plan.ArrayExpr:
		y, ok := b.(*plan.ArrayExpr)
		return ok && x.Multi == y.Multi && equalList(x.Args, y.Args)
	case *plan.RowExpr:
		y, ok := b.(*plan.RowExpr)
		return ok && equalList(x.Args, y.Args)
	case *plan.RowCompare:
		y, ok := b.(*plan.RowCompare)
		return ok && x.Kind == y.Kind && equalList(x.Left, y.Left) && equalList(x.Right, y.Right)
	case *plan.Subscript:
		y, ok := b.(*plan.Subscript)
		return ok && x.Slice == y.Slice && equalExpr(x.Container, y.Container) && equalList(x.Upper, y.Upper) && equalList(x.Lower, y.Lower) && equalExpr(x.Assign, y.Assign)
	case *plan.FieldSelect:
		y, ok := b.(*plan.FieldSelect)
		return ok && x.Field == y.Field && equalExpr(x.Arg, y.Arg)
	case *plan.SQLValue:
		y, ok := b.(*plan.SQLValue)
		return ok && x.Kind == y.Kind
	case *plan.Aggref:
		y, ok := b.(*plan.Aggref)
		return ok && x.Agg == y.Agg && x.Distinct == y.Distinct && x.Star == y.Star && x.Variadic == y.Variadic && x.LevelsUp == y.LevelsUp && x.InputColl == y.InputColl &&
			equalList(x.Args, y.Args) && equalList(x.Direct, y.Direct) && equalExpr(x.Filter, y.Filter) && equalKeys(x.OrderBy, y.OrderBy)
	case *plan.GroupingFunc:
		y, ok := b.(*plan.GroupingFunc)
		return ok && x.LevelsUp == y.LevelsUp && equalList(x.Args, y.Args)
	case *plan.WindowFunc:
		y, ok := b.(*plan.WindowFunc)
		return ok && x.Func == y.Func && x.Window == y.Window && x.Star == y.Star && equalList(x.Args, y.Args) && equalExpr(x.Filter, y.Filter)
	case *plan.SubPlan, *plan.NextValue, *plan.SetToDefault:
		return false
	}
	return false
}

func equalList(a, b []plan.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] == nil || b[i] == nil {
			if a[i] != nil || b[i] != nil {
				return false
			}
			continue
		}
		if !equalExpr(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalKeys(a, b []plan.SortKey) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Desc != b[i].Desc || a[i].NullsFirst != b[i].NullsFirst || a[i].LtOp != b[i].LtOp || !equalExpr(a[i].Expr, b[i].Expr) {
			return false
		}
	}
	return true
}
