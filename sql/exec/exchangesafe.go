package exec

import (
	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/funcs"
	"herd/sql/types"
)

// shareCheck looks whether workers may share the input of an aggregation.
type shareCheck struct {
	st     *State
	ok     bool
	params []int // exec params of init plans that are read
}

// scanOf returns the scan under an aggregation whose rows workers may share in any order; nil when they may not.
func (c *shareCheck) scanOf(n *plan.Agg) *plan.Scan {
	if n.Strategy == plan.AggSorted || n.Sets != nil || len(n.Groupings) > 0 {
		return nil
	}
	for _, a := range n.Aggs {
		if a.Distinct || len(a.OrderBy) > 0 || a.Kind != 'n' || funcs.OrderSensitive(a.Agg) || floatSum(a) {
			return nil
		}
	}
	if !c.node(n) {
		return nil
	}
	for in := n.Input; c.node(in); {
		switch x := in.(type) {
		case *plan.Scan:
			if x.Reverse || x.RowID || x.Ordered || x.Rel.Virtual != nil {
				return nil
			}
			return x
		case *plan.Filter:
			in = x.Input
		case *plan.Project:
			in = x.Input
		case *plan.HashJoin:
			if x.Type == plan.JoinRight || x.Type == plan.JoinFull {
				return nil
			}
			in = x.Left
		default:
			return nil
		}
	}
	return nil
}

// floatSum says whether an aggregate adds floats, whose rounding depends on the order.
func floatSum(a *plan.Aggref) bool {
	p := pgdata.FuncByOID(a.Agg)
	if p == nil || p.Name != "sum" && p.Name != "avg" {
		return false
	}
	for _, x := range a.Args {
		if types.KindOf(x.T().Type) == types.KindFloat {
			return true
		}
	}
	return false
}

// node says whether the expressions of a node can be evaluated by several workers at once: they use nothing of the session.
func (c *shareCheck) node(n plan.Node) bool {
	nodeExprs(n, func(e plan.Expr) { walk(e, c.expr) })
	return c.ok
}

func (c *shareCheck) expr(e plan.Expr) {
	switch x := e.(type) {
	case *plan.Const, *plan.Param, *plan.Slot, *plan.Relabel, *plan.BoolExpr, *plan.NullTest, *plan.BooleanTest, *plan.Case, *plan.CaseTest,
		*plan.Coalesce, *plan.Aggref, *plan.DistinctExpr, *plan.NullIf:
	case *plan.FuncCall:
		c.ok = c.ok && x.Volatile == 'i' && !x.RetSet && x.Func < pgdata.FirstUserOID // those of users run statements
	case *plan.ScalarArrayOp:
		p := pgdata.FuncByOID(x.Func)
		c.ok = c.ok && p != nil && p.Volatile == 'i' && x.Func < pgdata.FirstUserOID
	case *plan.ExecParam:
		c.ok = c.ok && x.ID < len(c.st.initOf) && c.st.initOf[x.ID] >= 0
		c.params = append(c.params, x.ID)
	default:
		c.ok = false
	}
}
