package planner

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// layout says which expression each column of a node's output is.
type layout struct {
	cols []layoutCol
}

// layoutCol is a column of a relation (expr nil), or the value of an expression.
type layoutCol struct {
	rte, attno int
	expr       plan.Expr
	rowID      bool
}

const rowIDAttno = 1 << 20

func (l *layout) find(rte, attno int) int {
	for i := range l.cols {
		if c := &l.cols[i]; c.expr == nil && c.rte == rte && c.attno == attno {
			return i
		}
	}
	return -1
}

func (l *layout) findExpr(e plan.Expr) int {
	if v, ok := e.(*plan.Var); ok && v.LevelsUp == 0 {
		if i := l.find(v.RTE, v.Attno); i >= 0 {
			return i
		}
	}
	for i := range l.cols {
		// The very same node first: equal volatile ones are different values.
		if l.cols[i].expr == e {
			return i
		}
	}
	for i := range l.cols {
		if x := l.cols[i].expr; x != nil && equalExpr(x, e) {
			return i
		}
	}
	return -1
}

func (l *layout) hasExprs() bool {
	for i := range l.cols {
		if l.cols[i].expr != nil {
			return true
		}
	}
	return false
}

// concat is the layout of a join.
func concat(a, b *layout) *layout {
	n := &layout{cols: make([]layoutCol, 0, len(a.cols)+len(b.cols))}
	n.cols = append(append(n.cols, a.cols...), b.cols...)
	return n
}

// conv turns a bound expression into one over the columns of lay: Vars become Slots, references to enclosing queries and to
// relations that lay does not have become ExecParams, sublinks become SubPlans.
func (r *root) conv(e plan.Expr, lay *layout) (plan.Expr, error) {
	if e == nil {
		return nil, nil
	}
	c := &converter{r: r, lay: lay, exprs: lay.hasExprs()}
	x := c.conv(e)
	return x, c.err
}

func (r *root) convList(list []plan.Expr, lay *layout) ([]plan.Expr, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := make([]plan.Expr, len(list))
	c := &converter{r: r, lay: lay, exprs: lay.hasExprs()}
	for i, e := range list {
		if e == nil {
			continue
		}
		out[i] = c.conv(e)
	}
	return out, c.err
}

type converter struct {
	r     *root
	lay   *layout
	exprs bool
	err   error
	depth int
}

func (c *converter) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *converter) conv(e plan.Expr) plan.Expr {
	if c.err != nil {
		return e
	}
	return c.r.ps.b.plain(c.convert(e))
}

func (c *converter) convert(e plan.Expr) plan.Expr {
	switch v := e.(type) {
	case *plan.Const, *plan.Param, *plan.ExecParam, *plan.CaseTest, *plan.SQLValue, *plan.SubOut, *plan.Slot:
		if !c.exprs {
			return e
		}
	case *plan.Var:
		return c.variable(v)
	}
	if c.exprs {
		if i := c.lay.findExpr(e); i >= 0 {
			t := *e.T()
			return &plan.Slot{Typed: t, Index: i}
		}
	}
	switch v := e.(type) {
	case *plan.Aggref:
		if v.LevelsUp > 0 {
			return c.outer(v, v.LevelsUp)
		}
		c.fail(sqlerr.Internal("aggregate outside of a grouped query"))
		return e
	case *plan.SubLink:
		x, err := c.r.planSubLink(v, c)
		if err != nil {
			c.fail(err)
			return e
		}
		return x
	case *plan.SetToDefault:
		c.fail(sqlerr.Internal("DEFAULT in a plan"))
		return e
	case *plan.GroupingFunc:
		if v.LevelsUp > 0 {
			return c.outer(v, v.LevelsUp)
		}
		if g := c.r.groups; g == nil || g.sets == nil {
			return c.r.ps.b.intConst(0, types.Int4OID)
		}
		c.fail(sqlerr.Internal("GROUPING outside of a grouped query"))
		return e
	}
	c.depth++
	if c.depth > maxWalkDepth {
		c.fail(tooDeep())
		return e
	}
	n := mapChildren(e, c.conv)
	c.depth--
	return n
}

// outer is what e, which belongs to a query levels further out, is here: a parameter.
func (c *converter) outer(e plan.Expr, levels int) plan.Expr {
	x, err := c.r.outer(e, levels)
	if err != nil {
		c.fail(err)
		return e
	}
	return x
}

// variable resolves a Var.
func (c *converter) variable(v *plan.Var) plan.Expr {
	t := v.Typed
	if v.LevelsUp > 0 {
		return c.outer(v, v.LevelsUp)
	}
	if i := c.lay.findExpr(v); i >= 0 {
		return &plan.Slot{Typed: t, Index: i}
	}
	if v.Attno == 0 {
		x, err := c.r.wholeRow(v)
		if err != nil {
			c.fail(err)
			return v
		}
		return c.conv(x)
	}
	rte := c.r.q.RTable[v.RTE]
	if rte.Kind == plan.RTEJoin {
		return c.conv(rte.JoinVars[v.Attno-1])
	}
	// A relation outside of this node: a dependent join sets the parameter.
	id := c.r.paramFor(v)
	return &plan.ExecParam{Typed: t, ID: id}
}

// wholeRow expands a reference to all columns of a relation.
func (r *root) wholeRow(v *plan.Var) (plan.Expr, error) {
	rte := r.q.RTable[v.RTE]
	row := &plan.RowExpr{Typed: v.Typed, Implicit: true}
	for i := range rte.Cols {
		c := &rte.Cols[i]
		if c.Name == "" && rte.Kind == plan.RTERelation {
			row.Args = append(row.Args, &plan.Const{Typed: plan.Typed{Type: types.Int4OID, Typmod: -1, Loc: -1}, Value: types.NullDatum})
		} else {
			row.Args = append(row.Args, &plan.Var{Typed: c.Typed, RTE: v.RTE, Attno: i + 1})
		}
		row.Names = append(row.Names, c.Name)
	}
	return row, nil
}

// planSubLink plans the subquery of an expression: an ExecParam computed once when it depends on nothing, else a SubPlan.
func (r *root) planSubLink(s *plan.SubLink, c *converter) (plan.Expr, error) {
	if err := r.ps.enter(); err != nil {
		return nil, err
	}
	defer r.ps.leave()
	q := s.Query
	if s.Kind == plan.SubExists {
		q = simplifyExists(q)
	}
	child := r.ps.newRoot(r, q)
	if s.Kind == plan.SubExists || s.Kind == plan.SubScalar && q.Limit == nil {
		child.limit = 1
	}
	saved := r.refs
	r.refs = nil
	node, err := child.planSelect()
	refs := r.refs
	r.refs = saved
	if err != nil {
		return nil, err
	}
	t := s.Typed
	if s.Test == nil && len(child.needs) == 0 {
		id := r.ps.newParam()
		r.ps.out.InitPlans = append(r.ps.out.InitPlans, plan.InitPlan{Plan: node, Kind: s.Kind, Params: []int{id}})
		return &plan.ExecParam{Typed: t, ID: id}, nil
	}
	sp := &plan.SubPlan{Typed: t, Kind: s.Kind, Plan: node}
	for _, n := range child.needs {
		if n.at != r {
			continue
		}
		arg := c.conv(refByID(refs, n.id).expr)
		sp.ParamIDs = append(sp.ParamIDs, n.id)
		sp.Args = append(sp.Args, arg)
	}
	if s.Test != nil {
		sp.Test = c.conv(s.Test)
		if s.Kind == plan.SubAny && len(child.needs) == 0 {
			r.hashSubPlan(sp)
		}
	}
	return sp, c.err
}

// hashSubPlan makes an uncorrelated ANY probe a hash table when its test is a conjunction of hashable equalities.
func (r *root) hashSubPlan(sp *plan.SubPlan) {
	tests := []plan.Expr{sp.Test}
	if b, ok := sp.Test.(*plan.BoolExpr); ok && b.Kind == plan.And {
		tests = b.Args
	}
	var keys []plan.HashKey
	for _, t := range tests {
		f, ok := t.(*plan.FuncCall)
		if !ok || len(f.Args) != 2 {
			return
		}
		k, ok := r.hashKey(f, f.Args[0], f.Args[1])
		if !ok || !onlySubOut(k.Right) || find(k.Left, isSubOut) {
			return
		}
		keys = append(keys, k)
	}
	sp.Hashed, sp.HashKeys = true, keys
}

func isSubOut(e plan.Expr) bool { _, ok := e.(*plan.SubOut); return ok }

func onlySubOut(e plan.Expr) bool {
	return find(e, isSubOut) && !find(e, func(x plan.Expr) bool {
		switch x.(type) {
		case *plan.Slot, *plan.ExecParam, *plan.SubPlan, *plan.Var:
			return true
		}
		return false
	})
}

// simplifyExists drops what cannot change whether a query yields a row: simplify_EXISTS_query.
func simplifyExists(q *plan.Query) *plan.Query {
	if q.Command != plan.CmdSelect || q.SetOp != nil || q.HasAggs || q.GroupingSets != nil || q.HasWindow || q.HasSRF || q.Having != nil || q.Offset != nil || len(q.Locks) > 0 {
		return q
	}
	if q.Limit != nil {
		c, ok := q.Limit.(*plan.Const)
		if !ok || !c.Value.Null && c.Value.I <= 0 {
			return q
		}
	}
	n := *q
	n.Limit = nil
	n.Targets, n.GroupBy, n.Windows, n.Distinct, n.DistinctOn, n.OrderBy, n.OrderByTarget = nil, nil, nil, false, nil, nil, nil
	return &n
}
