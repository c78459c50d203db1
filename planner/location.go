package planner

import "herd/planner/plan"

// exprLoc is where an expression begins, which errors about its type point to: exprLocation. An operator's own location is behind
// its left argument.
func exprLoc(e plan.Expr) int {
	loc := e.T().Loc
	var args []plan.Expr
	switch x := e.(type) {
	case *plan.FuncCall:
		args = x.Args
	case *plan.DistinctExpr:
		args = x.Args
	case *plan.NullIf:
		args = x.Args
	case *plan.ScalarArrayOp:
		args = x.Args
	case *plan.BoolExpr:
		args = x.Args
	case *plan.RowCompare:
		args = x.Left
	case *plan.Relabel:
		args = []plan.Expr{x.Arg}
	case *plan.CoerceViaIO:
		args = []plan.Expr{x.Arg}
	case *plan.ArrayCoerce:
		args = []plan.Expr{x.Arg}
	case *plan.CoerceToDomain:
		args = []plan.Expr{x.Arg}
	case *plan.NullTest:
		args = []plan.Expr{x.Arg}
	case *plan.BooleanTest:
		args = []plan.Expr{x.Arg}
	case *plan.FieldSelect:
		args = []plan.Expr{x.Arg}
	case *plan.Subscript:
		args = []plan.Expr{x.Container}
	}
	for _, a := range args {
		if a == nil {
			continue
		}
		if l := exprLoc(a); l >= 0 && (loc < 0 || l < loc) {
			loc = l
		}
	}
	return loc
}
