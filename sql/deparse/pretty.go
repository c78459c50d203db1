package deparse

import (
	"strings"

	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
)

// open and close print the brackets around an operator and the like, which pretty text leaves to those who use it.
func (p *printer) open() {
	if !p.env.Pretty {
		p.put("(")
	}
}

func (p *printer) close() {
	if !p.env.Pretty {
		p.put(")")
	}
}

// operand prints an expression under parent, in brackets where pretty text needs some.
func (p *printer) operand(e plan.Expr, showImplicit bool, parent plan.Expr) {
	bracket := p.env.Pretty && !simple(e, parent)
	if bracket {
		p.put("(")
	}
	p.exprShow(e, showImplicit)
	if bracket {
		p.put(")")
	}
}

// simple says whether an expression under parent can do without brackets: ruleutils' isSimpleNode.
func simple(e, parent plan.Expr) bool {
	switch x := e.(type) {
	case *plan.Var, *plan.Const, *plan.Param, *plan.CaseTest, *plan.SubOut, *plan.SetToDefault, *plan.Subscript, *plan.ArrayExpr,
		*plan.RowExpr, *plan.Coalesce, *plan.MinMax, *plan.SQLValue, *plan.NextValue, *plan.NullIf, *plan.Aggref, *plan.GroupingFunc,
		*plan.WindowFunc, *plan.Case:
		return true
	case *plan.FieldSelect:
		_, again := parent.(*plan.FieldSelect)
		return !again
	case *plan.Relabel:
		if isCollate(x) {
			return false
		}
		return simple(x.Arg, x)
	case *plan.CoerceViaIO:
		return simple(x.Arg, x)
	case *plan.ArrayCoerce:
		return simple(x.Arg, x)
	case *plan.CoerceToDomain:
		return simple(x.Arg, x)
	case *plan.FuncCall:
		if x.Form != plan.FormOperator {
			return true
		}
		if up, ok := parent.(*plan.FuncCall); ok && up.Form == plan.FormOperator {
			return tighter(x, up)
		}
		return insideList(parent)
	case *plan.SubLink, *plan.NullTest, *plan.BooleanTest, *plan.DistinctExpr:
		if up, ok := parent.(*plan.FuncCall); ok && up.Form == plan.FormOperator {
			return false
		}
		return insideList(parent)
	case *plan.BoolExpr:
		if up, ok := parent.(*plan.BoolExpr); ok {
			if x.Kind == plan.Or {
				return up.Kind == plan.Or
			}
			return up.Kind != plan.Not
		}
		if up, ok := parent.(*plan.FuncCall); ok && up.Form == plan.FormOperator {
			return false
		}
		return insideList(parent)
	}
	return false
}

// insideList says whether a parent separates its operands by commas or words anyway.
func insideList(parent plan.Expr) bool {
	switch x := parent.(type) {
	case *plan.FuncCall:
		return x.Form == plan.FormFunc
	case *plan.BoolExpr, *plan.Subscript, *plan.ArrayExpr, *plan.RowExpr, *plan.Coalesce, *plan.MinMax, *plan.NullIf, *plan.Aggref,
		*plan.GroupingFunc, *plan.WindowFunc, *plan.Case:
		return true
	}
	return false
}

// tighter says whether an arithmetic operator binds tighter than its parent, or as tight on the left.
func tighter(x, up *plan.FuncCall) bool {
	own, other := binaryName(x), binaryName(up)
	low, high := strings.Contains("+-", own), strings.Contains("*/%", own)
	lowUp, highUp := strings.Contains("+-", other), strings.Contains("*/%", other)
	switch {
	case own == "" || other == "" || !low && !high || !lowUp && !highUp:
		return false
	case high && lowUp:
		return true
	case low && highUp:
		return false
	}
	return up.Args[0] == plan.Expr(x)
}

// binaryName is the name of a binary operator of one character, "" for any other.
func binaryName(x *plan.FuncCall) string {
	o := pgdata.OperatorByOID(x.Op)
	if len(x.Args) != 2 || o == nil || len(o.Name) != 1 {
		return ""
	}
	return o.Name
}

// isCollate recognises COLLATE, which is bound as a cast to the same type.
func isCollate(x *plan.Relabel) bool {
	a := x.Arg.T()
	return x.Form == plan.FormExplicitCast && a.Type == x.Type && a.Typmod == x.Typmod && x.Collation != 0
}
