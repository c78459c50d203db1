package planner

import (
	"math"
	"slices"

	"herd/planner/plan"
	"herd/sql/sqlerr"
)

// planSetQuery plans UNION, INTERSECT and EXCEPT with what is around them.
func (r *root) planSetQuery() (plan.Node, error) {
	q := r.q
	f := &folder{ps: r.ps}
	q.Limit, q.Offset = f.expr(q.Limit), f.expr(q.Offset)
	if f.err != nil {
		return nil, f.err
	}
	r.setLimit()
	n, err := r.setNode(q.SetOp, 0)
	if err != nil {
		return nil, err
	}
	lay := &layout{}
	cols := make([]plan.Column, 0, len(q.Targets))
	for _, t := range q.Targets {
		lay.cols = append(lay.cols, layoutCol{rte: -1, expr: t.Expr})
		cols = append(cols, plan.Column{Name: t.Name, Typed: *t.Expr.T()})
	}
	n.Base().Cols = cols
	if len(q.OrderBy) > 0 {
		if n, err = r.sort(n, lay, q.OrderBy, q.Limit != nil && !q.WithTies); err != nil {
			return nil, err
		}
	}
	return r.top(n, lay)
}

// setNode plans one node of the tree of set operations.
func (r *root) setNode(s *plan.SetOp, depth int) (plan.Node, error) {
	if depth > maxWalkDepth {
		return nil, tooDeep()
	}
	if len(s.Args) == 0 {
		return r.setLeaf(s)
	}
	inputs := make([]plan.Node, len(s.Args))
	for i, a := range s.Args {
		n, err := r.setNode(a, depth+1)
		if err != nil {
			return nil, err
		}
		inputs[i] = n
	}
	if s.Kind == plan.Union {
		return r.unionNode(s, inputs), nil
	}
	n := &plan.SetOperation{Kind: s.Kind, All: s.All, Left: inputs[0], Right: inputs[1], Keys: r.ps.b.slotKeys(s.Cols)}
	l, rt := inputs[0].Base(), inputs[1].Base()
	n.Cols = typedColumns(s.Cols, l.Cols)
	n.Rows, n.Width = math.Max(1, l.Rows/2), l.Width
	n.Startup = l.Total + rt.Total + (l.Rows+rt.Rows)*costHashBuild
	n.Total = n.Startup + n.Rows*costTuple
	return n, nil
}

func (b *binder) slotKeys(cols []plan.Typed) []plan.HashKey {
	keys := make([]plan.HashKey, len(cols))
	for i, t := range cols {
		keys[i] = b.hashKeyOf(&plan.Slot{Typed: t, Index: i})
	}
	return keys
}

func typedColumns(cols []plan.Typed, names []plan.Column) []plan.Column {
	out := make([]plan.Column, len(cols))
	for i, t := range cols {
		out[i].Typed = t
		if i < len(names) {
			out[i].Name = names[i].Name
		}
	}
	return out
}

func (r *root) unionNode(s *plan.SetOp, inputs []plan.Node) plan.Node {
	a := &plan.Append{Inputs: inputs}
	a.Cols = typedColumns(s.Cols, inputs[0].Base().Cols)
	for _, n := range inputs {
		b := n.Base()
		a.Rows += b.Rows
		a.Total += b.Total
		a.Width = max(a.Width, b.Width)
	}
	if s.All {
		return a
	}
	d := &plan.Distinct{Keys: r.ps.b.slotKeys(s.Cols)}
	d.Input, d.Cols, d.Rows, d.Width = a, a.Cols, a.Rows, a.Width
	d.Startup = a.Total + a.Rows*costHashBuild
	d.Total = d.Startup + d.Rows*costTuple
	return d
}

// setLeaf plans a member and casts its columns to the types of the whole.
func (r *root) setLeaf(s *plan.SetOp) (plan.Node, error) {
	rte := r.q.RTable[s.RTE]
	saved := r.refs
	r.refs = nil
	child := r.ps.newRoot(r, rte.Sub)
	n, err := child.planSelect()
	stray := len(r.refs) > 0
	r.refs = saved
	if err != nil {
		return nil, err
	}
	if stray {
		return nil, sqlerr.Internal("set operation member refers to its own level")
	}
	if s.Exprs == nil {
		return n, nil
	}
	lay := &layout{}
	for i := range rte.Cols {
		lay.cols = append(lay.cols, layoutCol{rte: s.RTE, attno: i + 1})
	}
	f := &folder{ps: r.ps}
	exprs := make([]plan.Expr, len(s.Exprs))
	p := &plan.Project{}
	for i, e := range s.Exprs {
		x, err := r.conv(f.expr(e), lay)
		if err != nil {
			return nil, err
		}
		exprs[i] = x
		p.Cols = append(p.Cols, plan.Column{Name: n.Base().Cols[i].Name, Typed: *e.T()})
	}
	if f.err != nil {
		return nil, f.err
	}
	b := n.Base()
	p.Exprs, p.Input = exprs, n
	p.Rows, p.Startup, p.Total, p.Width = b.Rows, b.Startup, b.Total+b.Rows*costOperator, b.Width
	return p, nil
}

// prepareCTEs decides how each WITH query is run; modifying ones are planned at once, since they must run.
func (r *root) prepareCTEs() error {
	if len(r.q.CTEs) == 0 {
		return nil
	}
	if r.ps.ctes == nil {
		r.ps.ctes = map[*plan.CTE]*cteInfo{}
	}
	for _, c := range r.q.CTEs {
		info := &cteInfo{index: -1, owner: r}
		r.ps.ctes[c] = info
		modifies := c.Query.Command != plan.CmdSelect
		switch {
		case modifies:
			if _, err := r.cte(c); err != nil {
				return err
			}
		case c.Recursive:
		case r.readsWork(c.Query, 0): // its rows are others in each iteration
			if info.inline = true; queryVolatility(c.Query) == 'v' {
				return sqlerr.Unsupported("the volatile WITH query \"%s\" over the rows of a recursive one", c.Name)
			}
		case c.Materialized == 'n', c.Materialized == 0 && c.Refs <= 1 && queryVolatility(c.Query) != 'v':
			info.inline = true
		}
	}
	return nil
}

// readsWork says whether a query reads the working table of a recursive query that is being planned.
func (r *root) readsWork(q *plan.Query, depth int) bool {
	if len(r.ps.work) == 0 || depth > maxWalkDepth {
		return false
	}
	for _, e := range q.RTable {
		if e.Kind == plan.RTECTE {
			if slices.ContainsFunc(r.ps.work, func(w workTable) bool { return w.cte == e.CTE }) {
				return true
			}
			if info := r.ps.ctes[e.CTE]; info != nil && info.inline && e.CTE.Query != nil && r.readsWork(e.CTE.Query, depth+1) {
				return true
			}
		}
		if e.Sub != nil && r.readsWork(e.Sub, depth+1) {
			return true
		}
	}
	for _, c := range q.CTEs {
		if c.Query != nil && r.readsWork(c.Query, depth+1) {
			return true
		}
	}
	return false
}

// queryVolatility is the worst volatility in a query; one that locks rows or modifies counts as volatile.
func queryVolatility(q *plan.Query) byte {
	if len(q.Locks) > 0 {
		return 'v'
	}
	worst := byte('i')
	deepExprs(q, 0, func(e plan.Expr, _ int) bool {
		if v := nodeVolatility(e); v == 'v' {
			worst = 'v'
			return true
		} else if v == 's' {
			worst = 's'
		}
		return false
	})
	for _, c := range q.CTEs {
		if c.Query != nil && c.Query.Command != plan.CmdSelect {
			return 'v'
		}
	}
	return worst
}

// cte returns how a WITH query is run, planning it at first use.
func (r *root) cte(c *plan.CTE) (*cteInfo, error) {
	info := r.ps.ctes[c]
	if info == nil {
		return nil, sqlerr.Internal("WITH query \"%s\" is not visible", c.Name)
	}
	if info.index >= 0 {
		r.needOf(info)
		return info, nil
	}
	cp := &plan.CTEPlan{Name: c.Name, Modifies: c.Query.Command != plan.CmdSelect}
	owner := info.owner
	child := r.ps.newRoot(owner, c.Query)
	saved := owner.refs
	owner.refs = nil
	var n plan.Node
	var err error
	if c.Recursive {
		n, err = child.recursive(c)
	} else {
		n, err = child.planSelect()
	}
	owner.refs = saved
	if err != nil {
		return nil, err
	}
	info.index, info.needs = len(r.ps.out.CTEs), child.needs
	for _, x := range child.needs {
		cp.Params = append(cp.Params, x.id)
	}
	r.needOf(info)
	cp.Plan = n
	r.ps.out.CTEs = append(r.ps.out.CTEs, cp)
	info.rows = n.Base().Rows
	return info, nil
}

// needOf records that the levels from r up to that of a WITH query depend on what the WITH query depends on.
func (r *root) needOf(info *cteInfo) {
	for _, x := range info.needs {
		for p := r; p != info.owner; p = p.parent {
			p.addNeed(x.at, x.id)
		}
	}
}

// recursive plans WITH RECURSIVE.
func (r *root) recursive(c *plan.CTE) (plan.Node, error) {
	q := r.q
	if err := r.prepareCTEs(); err != nil {
		return nil, err
	}
	s := q.SetOp
	if s == nil || s.Kind != plan.Union || len(s.Args) != 2 {
		return nil, sqlerr.New(sqlerr.InvalidRecursion, "recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] recursive-term", c.Name)
	}
	init, err := r.setNode(s.Args[0], 0)
	if err != nil {
		return nil, err
	}
	n := &plan.RecursiveUnion{Init: init, Distinct: !s.All}
	in := init.Base()
	n.Cols = typedColumns(s.Cols, in.Cols)
	for i, t := range q.Targets {
		n.Cols[i].Name = t.Name
	}
	if n.Distinct {
		n.Keys = r.ps.b.slotKeys(s.Cols)
	}
	r.ps.work = append(r.ps.work, workTable{c, n, in.Rows})
	step, err := r.setNode(s.Args[1], 0)
	r.ps.work = r.ps.work[:len(r.ps.work)-1]
	if err != nil {
		return nil, err
	}
	n.Step = step
	st := step.Base()
	n.Rows = in.Rows + 10*st.Rows
	n.Total = in.Total + 10*st.Total
	n.Startup, n.Width = in.Startup, in.Width
	return n, nil
}
