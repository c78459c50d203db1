package planner

import (
	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

const maxProofDepth = 50

// implies says whether the truth of all premises proves goal true: PostgreSQL's predicate_implied_by, for partial indexes.
func implies(premises []plan.Expr, goal plan.Expr, depth int) bool {
	if depth > maxProofDepth {
		return false
	}
	if b, ok := goal.(*plan.BoolExpr); ok {
		switch b.Kind {
		case plan.And:
			for _, a := range b.Args {
				if !implies(premises, a, depth+1) {
					return false
				}
			}
			return true
		case plan.Or:
			for _, a := range b.Args {
				if implies(premises, a, depth+1) {
					return true
				}
			}
		}
	}
	for _, p := range premises {
		if impliesOne(p, goal, depth) {
			return true
		}
	}
	return false
}

func impliesOne(p, goal plan.Expr, depth int) bool {
	if equalExpr(p, goal) {
		return true
	}
	if b, ok := p.(*plan.BoolExpr); ok {
		switch b.Kind {
		case plan.And:
			return implies(b.Args, goal, depth+1)
		case plan.Or:
			for _, a := range b.Args {
				if !implies([]plan.Expr{a}, goal, depth+1) {
					return false
				}
			}
			return true
		}
	}
	if n, ok := goal.(*plan.NullTest); ok && n.Not && !n.ArgIsRow {
		return strictIn(p, n.Arg)
	}
	if b, ok := goal.(*plan.BooleanTest); ok && b.Kind == plan.IsTrue {
		return equalExpr(p, b.Arg)
	}
	return impliesCompare(p, goal)
}

// strictIn says whether p being true means that x is not NULL.
func strictIn(p, x plan.Expr) bool {
	switch f := p.(type) {
	case *plan.FuncCall:
		if !f.Strict {
			return false
		}
		for _, a := range f.Args {
			if equalExpr(a, x) || strictIn(a, x) {
				return true
			}
		}
	case *plan.ScalarArrayOp:
		return f.Strict && f.UseOr && equalExpr(f.Args[0], x)
	case *plan.Relabel:
		return equalExpr(f.Arg, x)
	case *plan.NullTest:
		return f.Not && !f.ArgIsRow && (equalExpr(f.Arg, x) || strictIn(f.Arg, x))
	}
	return false
}

// constSide takes "x op constant" apart, turning it around when the constant is on the left.
func constSide(e plan.Expr) (x plan.Expr, op types.OID, c *plan.Const) {
	f, ok := e.(*plan.FuncCall)
	if !ok || f.Op == 0 || len(f.Args) != 2 {
		return nil, 0, nil
	}
	if c, ok := f.Args[1].(*plan.Const); ok {
		return f.Args[0], f.Op, c
	}
	if c, ok := f.Args[0].(*plan.Const); ok {
		if o := pgdata.OperatorByOID(f.Op); o != nil && o.Com != 0 {
			return f.Args[1], o.Com, c
		}
	}
	return nil, 0, nil
}

// btreeStrategy finds a btree family that has both operators, and their strategies in it (rowNotEqual for a <>).
func btreeStrategies(a, b types.OID) (sa, sb int, ok bool) {
	find := func(op types.OID) (list []*pgdata.Amop, negated bool) {
		if list = pgdata.AmopsOf(op); len(list) > 0 {
			return list, false
		}
		if o := pgdata.OperatorByOID(op); o != nil && o.Negate != 0 {
			return pgdata.AmopsOf(o.Negate), true
		}
		return nil, false
	}
	la, na := find(a)
	lb, nb := find(b)
	for _, x := range la {
		for _, y := range lb {
			if x.Family != y.Family || x.Method != pgdata.BTree || x.Purpose != 's' || y.Purpose != 's' {
				continue
			}
			sa, sb = x.Strategy, y.Strategy
			if na {
				if sa != pgdata.BTEqual {
					continue
				}
				sa = rowNotEqual
			}
			if nb {
				if sb != pgdata.BTEqual {
					continue
				}
				sb = rowNotEqual
			}
			return sa, sb, true
		}
	}
	return 0, 0, false
}

// impliesCompare proves x op1 c1 => x op2 c2 for constants of one type.
func impliesCompare(p, goal plan.Expr) bool {
	px, pop, pc := constSide(p)
	gx, gop, gc := constSide(goal)
	if px == nil || gx == nil || !equalExpr(px, gx) || pc.Type != gc.Type || pc.Value.Null || gc.Value.Null {
		if s, ok := p.(*plan.ScalarArrayOp); ok && gx != nil && s.UseOr && equalExpr(s.Args[0], gx) {
			return arrayImplies(s, goal)
		}
		return false
	}
	ps, gs, ok := btreeStrategies(pop, gop)
	if !ok {
		return false
	}
	c := types.Compare(pc.Type, pc.Collation, pc.Value, gc.Value)
	switch gs {
	case pgdata.BTLess:
		return ps == pgdata.BTLess && c <= 0 || (ps == pgdata.BTLessEqual || ps == pgdata.BTEqual) && c < 0
	case pgdata.BTLessEqual:
		return (ps == pgdata.BTLess || ps == pgdata.BTLessEqual || ps == pgdata.BTEqual) && c <= 0
	case pgdata.BTEqual:
		return ps == pgdata.BTEqual && c == 0
	case pgdata.BTGreaterEqual:
		return (ps == pgdata.BTGreater || ps == pgdata.BTGreaterEqual || ps == pgdata.BTEqual) && c >= 0
	case pgdata.BTGreater:
		return ps == pgdata.BTGreater && c >= 0 || (ps == pgdata.BTGreaterEqual || ps == pgdata.BTEqual) && c > 0
	case rowNotEqual:
		return ps == rowNotEqual && c == 0 || ps == pgdata.BTEqual && c != 0 || ps == pgdata.BTLess && c <= 0 || ps == pgdata.BTGreater && c >= 0 ||
			ps == pgdata.BTLessEqual && c < 0 || ps == pgdata.BTGreaterEqual && c > 0
	}
	return false
}

// arrayImplies: x IN (c1, c2, ...) proves goal when every x = ci does.
func arrayImplies(s *plan.ScalarArrayOp, goal plan.Expr) bool {
	arr, ok := s.Args[1].(*plan.ArrayExpr)
	if !ok || len(arr.Args) > 100 {
		return false
	}
	for _, a := range arr.Args {
		one := &plan.FuncCall{Typed: s.Typed, Func: s.Func, Op: s.Op, Args: []plan.Expr{s.Args[0], a}, Strict: s.Strict, InputColl: s.InputColl}
		if !impliesOne(one, goal, 0) {
			return false
		}
	}
	return true
}
