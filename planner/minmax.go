package planner

import (
	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
)

// minMax answers "SELECT min(a), max(b) FROM t" by the ends of indexes: each aggregate becomes a subquery with ORDER BY and LIMIT 1.
// Nil when the query is not of that form or no index serves it.
func (r *root) minMax() (plan.Node, error) {
	q := r.q
	if !q.HasAggs || len(q.GroupBy) > 0 || q.GroupingSets != nil || q.HasWindow || q.HasSRF || len(q.Locks) > 0 || len(r.jt.items) != 1 {
		return nil, nil
	}
	rel, ok := r.jt.items[0].(*jrel)
	if !ok {
		return nil, nil
	}
	rte := q.RTable[rel.rte]
	if rte.Kind != plan.RTERelation || r.subqueryOf(rte) != nil || r.virtual(rte.Rel) != nil {
		return nil, nil
	}
	aggs := r.collectAggs()
	for _, a := range aggs {
		if !r.minMaxable(a, rte, rel.rte) {
			return nil, nil
		}
	}
	if r.tableRows(rte.Rel) < 100 {
		return nil, nil
	}
	lay := &layout{}
	for _, a := range aggs {
		sub := r.minMaxQuery(a)
		x, err := r.planSubLink(&plan.SubLink{Typed: a.Typed, Kind: plan.SubScalar, Query: sub}, &converter{r: r, lay: &layout{}})
		if err != nil {
			return nil, err
		}
		lay.cols = append(lay.cols, layoutCol{rte: -2, expr: a})
		r.finals = append(r.finals, x)
	}
	n := &plan.Result{}
	n.Rows = 1
	// The aggregates are columns of a row of parameters.
	for i, x := range r.finals {
		n.Exprs = append(n.Exprs, x)
		n.Cols = append(n.Cols, plan.Column{Typed: *aggs[i].T()})
	}
	var node plan.Node = n
	if q.Having != nil {
		h, err := r.conv(q.Having, lay)
		if err != nil {
			return nil, err
		}
		f := &plan.Filter{Cond: h}
		f.Input, f.Cols, f.Rows = node, n.Cols, 1
		node = f
	}
	return r.upper(node, lay, nil, true)
}

// minMaxable says whether an aggregate is the first value of an order that an index of the table has.
func (r *root) minMaxable(a *plan.Aggref, rte *plan.RTE, at int) bool {
	if len(a.Args) != 1 || a.Distinct || a.Filter != nil || len(a.OrderBy) > 0 {
		return false
	}
	g := pgdata.AggregateByOID(a.Agg)
	if g == nil || g.SortOp == 0 {
		return false
	}
	v, ok := stripText(a.Args[0]).(*plan.Var)
	if !ok || v.LevelsUp != 0 || v.RTE != at || v.Attno <= 0 {
		return false
	}
	lead := func(attno int16) bool { return int(attno) == v.Attno }
	if pk := rte.Rel.PrimaryKey; pk != nil && !rte.Rel.HiddenRowID && lead(pk.Keys[0].Attno) {
		return true
	}
	for _, ix := range rte.Rel.Indexes {
		if ix.State == 0 && ix.Pred == "" && lead(ix.Keys[0].Attno) {
			return true
		}
	}
	return false
}

// minMaxQuery is SELECT arg FROM t WHERE quals AND arg IS NOT NULL ORDER BY arg LIMIT 1.
func (r *root) minMaxQuery(a *plan.Aggref) *plan.Query {
	q := *r.q
	desc := rowStrategy(pgdata.AggregateByOID(a.Agg).SortOp) == pgdata.BTGreater
	e := a.Args[0]
	q.HasAggs, q.Having, q.CTEs = false, nil, nil
	q.Targets = []*plan.Target{{Expr: e}}
	lt, eq, _, _ := r.ps.b.sortOps(e.T().Type, false, false, -1)
	q.OrderBy = []plan.SortKey{{Expr: e, Desc: desc, LtOp: lt, EqOp: eq, Collation: e.T().Collation}}
	q.OrderByTarget = []int{0}
	notNull := &plan.NullTest{Typed: plan.Typed{Type: 16, Typmod: -1, Loc: -1}, Arg: e, Not: true}
	q.Where = andExprs(append(append([]plan.Expr(nil), r.jt.quals...), notNull))
	if v, ok := e.(*plan.Var); ok && r.notNull(v) {
		q.Where = andExprs(r.jt.quals)
	}
	q.From = []plan.FromItem{plan.RangeRef{RTE: r.jt.items[0].(*jrel).rte}}
	q.Limit, q.Offset = r.ps.b.intConst(1, 20), nil
	q.Distinct, q.DistinctOn = false, nil
	// The query is one level further in: references to enclosing levels move.
	return shiftQuery(&q, 1)
}
