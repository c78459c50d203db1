package planner

import (
	"herd/planner/plan"
	"herd/sql/types"
)

// factorOrs takes conditions that every arm of an OR has out of it: (a AND b) OR (a AND c) is a AND (b OR c), in the logic
// of three values too. So a join condition that is repeated in each arm becomes one that can be hashed or found by index.
func (r *root) factorOrs() error {
	factorIn(r.jt, 0)
	return nil
}

func factorIn(n jnode, depth int) {
	if depth > maxWalkDepth {
		return
	}
	switch x := n.(type) {
	case *jjoin:
		factorIn(x.left, depth+1)
		factorIn(x.right, depth+1)
		x.quals = factored(x.quals)
	case *jfrom:
		for _, i := range x.items {
			factorIn(i, depth+1)
		}
		x.quals = factored(x.quals)
	}
}

func factored(quals []plan.Expr) []plan.Expr {
	var out []plan.Expr
	for i, q := range quals {
		parts := factorOr(q)
		if parts == nil {
			if out != nil {
				out = append(out, q)
			}
			continue
		}
		if out == nil {
			out = append(make([]plan.Expr, 0, len(quals)+len(parts)), quals[:i]...)
		}
		out = append(out, parts...)
	}
	if out == nil {
		return quals
	}
	return out
}

// orArms returns the arms of an OR, each as its conjuncts; nil for other expressions.
func orArms(e plan.Expr) [][]plan.Expr {
	b, ok := e.(*plan.BoolExpr)
	if !ok || b.Kind != plan.Or || len(b.Args) > maxOrArms {
		return nil
	}
	arms := make([][]plan.Expr, len(b.Args))
	for i, a := range b.Args {
		arms[i] = splitAnd(nil, a)
	}
	return arms
}

// maxOrArms bounds the comparisons of arms; longer ORs stay as they are.
const maxOrArms = 100

// factorOr returns the conjuncts that an OR with conditions common to its arms is; nil when there are none.
func factorOr(e plan.Expr) []plan.Expr {
	arms := orArms(e)
	if arms == nil {
		return nil
	}
	var common []plan.Expr
	for _, c := range arms[0] {
		if volatilityOf(c) == 'v' {
			continue
		}
		all := true
		for _, a := range arms[1:] {
			all = all && hasExpr(a, c)
		}
		if all {
			common = append(common, c)
		}
	}
	if common == nil {
		return nil
	}
	rest := make([]plan.Expr, len(arms))
	for i, a := range arms {
		var own []plan.Expr
		for _, c := range a {
			if !hasExpr(common, c) {
				own = append(own, c)
			}
		}
		if own == nil {
			return common // this arm is true whenever the common conditions are
		}
		rest[i] = andExprs(own)
	}
	or := *e.(*plan.BoolExpr)
	or.Args = rest
	return append(common, &or)
}

func hasExpr(list []plan.Expr, e plan.Expr) bool {
	for _, x := range list {
		if equalExpr(x, e) {
			return true
		}
	}
	return false
}

// restrictByOrs derives from an OR over several members what it says about one of them alone: of (a.x = 1 AND b.y = 2) OR
// (a.x = 3 AND b.y = 4) that a.x = 1 OR a.x = 3. The OR itself stays; its selectivity leaves out what the member has lost already.
func (g *region) restrictByOrs() {
	for _, q := range g.quals {
		if q.volatile || !q.rels.several() {
			continue
		}
		arms := orArms(q.expr)
		if arms == nil || find(q.expr, hasSubLink) {
			continue
		}
		for _, u := range g.units {
			if u.typ != plan.JoinInner || u.rel == nil || !u.rels.overlaps(q.rels) {
				continue
			}
			e := g.armsOn(arms, u.rels)
			if e == nil {
				continue
			}
			c := g.r.newClause(e)
			c.derived = true
			whole, part := g.r.clauseSel(q), g.r.clauseSel(c)
			if part > 0.9 {
				continue // not worth its evaluation
			}
			q.sel = min(1, whole/part)
			u.rel.clauses = append(u.rel.clauses, c)
		}
	}
}

// armsOn is the OR of the arms' conditions that use nothing but rels; nil when an arm has none.
func (g *region) armsOn(arms [][]plan.Expr, rels relset) plan.Expr {
	var parts []plan.Expr
	for _, a := range arms {
		var own []plan.Expr
		for _, c := range a {
			if set := g.r.relsOf(c); !set.empty() && set.within(rels) && volatilityOf(c) != 'v' {
				own = append(own, c)
			}
		}
		if own == nil {
			return nil
		}
		e := andExprs(own)
		if !hasExpr(parts, e) {
			parts = append(parts, e)
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &plan.BoolExpr{Typed: plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: -1}, Kind: plan.Or, Args: parts}
}
