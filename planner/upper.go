package planner

import (
	"math"

	"herd/planner/plan"
	"herd/sql/sqlerr"
)

// planTop plans the statement's own query.
func (r *root) planTop() (plan.Node, error) {
	r.limit = 0
	switch r.q.Command {
	case plan.CmdSelect:
		return r.planSelect()
	case plan.CmdInsert, plan.CmdUpdate, plan.CmdDelete, plan.CmdMerge:
		return r.planModify()
	}
	return nil, sqlerr.Unsupported("this command")
}

// planSelect plans a query level; the output has exactly its visible targets.
func (r *root) planSelect() (plan.Node, error) {
	if err := r.ps.enter(); err != nil {
		return nil, err
	}
	defer r.ps.leave()
	if r.q.Command != plan.CmdSelect {
		return r.planModify()
	}
	if err := r.prepareCTEs(); err != nil {
		return nil, err
	}
	if r.q.SetOp != nil {
		return r.planSetQuery()
	}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	if n, err := r.minMax(); n != nil || err != nil {
		return n, err
	}
	r.setLimit()
	for _, l := range r.q.Locks {
		if rte := r.q.RTable[l.RTE]; rte.Kind == plan.RTERelation && r.subqueryOf(rte) == nil && r.virtual(rte.Rel) == nil {
			r.needRowID(l.RTE)
		} else if r.subqueryOf(rte) != nil {
			return nil, sqlerr.Unsupported("row locking of the rows of subquery or view \"%s\"", rte.Alias)
		}
	}
	for _, rte := range r.q.RowIDs {
		r.needRowID(rte)
	}
	grouped := r.grouped()
	if grouped {
		r.moveHaving()
	}
	g, err := r.buildRegion(r.jt)
	if err != nil {
		return nil, err
	}
	r.collectAttrs(g)
	paths, err := r.planRegion(g)
	if err != nil {
		return nil, err
	}
	return r.finish(g, paths, grouped)
}

func (r *root) needRowID(rte int) {
	if r.rowIDs == nil {
		r.rowIDs = map[int]bool{}
	}
	r.rowIDs[rte] = true
}

// setLimit notes how many rows will be fetched.
func (r *root) setLimit() {
	if c, ok := r.q.Limit.(*plan.Const); ok && !c.Value.Null && !r.q.WithTies {
		n := math.Max(1, float64(c.Value.I))
		if o, ok := r.q.Offset.(*plan.Const); ok && !o.Value.Null {
			n += float64(o.Value.I)
		}
		if r.limit == 0 || n < r.limit {
			r.limit = n
		}
	} else if r.q.Limit != nil && r.limit == 0 {
		r.limit = 100
	}
}

func (r *root) grouped() bool {
	q := r.q
	return q.HasAggs || len(q.GroupBy) > 0 || q.GroupingSets != nil || q.Having != nil
}

// moveHaving turns HAVING conditions without aggregates into WHERE ones.
func (r *root) moveHaving() {
	q := r.q
	if q.Having == nil || q.GroupingSets != nil || len(q.GroupBy) == 0 {
		return
	}
	var keep []plan.Expr
	for _, h := range splitAnd(nil, q.Having) {
		if volatilityOf(h) == 'v' || find(h, func(e plan.Expr) bool {
			switch e.(type) {
			case *plan.Aggref, *plan.SubLink:
				return true
			}
			return false
		}) {
			keep = append(keep, h)
			continue
		}
		r.jt.quals = append(r.jt.quals[:len(r.jt.quals):len(r.jt.quals)], h)
	}
	q.Having = andExprs(keep)
}

// collectAttrs finds the columns each relation must yield; columns used only by conditions on the relation alone are added by its path.
func (r *root) collectAttrs(g *region) {
	r.attrs = make([][]int16, len(r.q.RTable))
	q := *r.q
	q.From, q.Where, q.CTEs = nil, nil, nil
	deepExprs(&q, 0, r.noteAttr)
	r.regionAttrs(g, 0)
}

// noteAttr records a column of this level.
func (r *root) noteAttr(e plan.Expr, level int) bool {
	v, ok := e.(*plan.Var)
	if !ok || v.LevelsUp != level || v.RTE >= len(r.attrs) || v.Attno == rowIDAttno {
		return false
	}
	if v.Attno == 0 {
		rte := r.q.RTable[v.RTE]
		for i := range rte.Cols {
			if rte.Cols[i].Name != "" || rte.Kind != plan.RTERelation {
				r.addAttr(v.RTE, i+1)
			}
		}
		return false
	}
	r.addAttr(v.RTE, v.Attno)
	return false
}

func (r *root) addAttr(rte, attno int) {
	r.attrs[rte] = appendAttr(r.attrs[rte], int16(attno))
}

func appendAttr(list []int16, a int16) []int16 {
	for _, o := range list {
		if o == a {
			return list
		}
	}
	return append(list, a)
}

func (r *root) regionAttrs(g *region, depth int) {
	if depth > maxWalkDepth {
		return
	}
	note := func(list []*clause) {
		for _, c := range list {
			deepExpr(c.expr, 0, r.noteAttr)
		}
	}
	note(g.quals)
	for _, u := range g.units {
		note(u.on)
		note(u.quals)
		if u.rel != nil && len(r.rowIDs) > 0 {
			note(u.rel.clauses)
		}
		if u.sub != nil {
			r.regionAttrs(u.sub, depth+1)
		}
		if u.full != nil {
			note(u.full.on)
			r.regionAttrs(u.full.left, depth+1)
			r.regionAttrs(u.full.right, depth+1)
		}
	}
}

// filterAttrs are the columns of a relation needed above it or by its filter.
func (r *root) filterAttrs(rte int, filter []plan.Expr) []int16 {
	attrs := r.attrs[rte]
	if len(filter) == 0 {
		return attrs
	}
	saved := attrs
	r.attrs[rte] = attrs[:len(attrs):len(attrs)]
	for _, f := range filter {
		deepExpr(f, 0, r.noteAttr)
	}
	attrs = r.attrs[rte]
	r.attrs[rte] = saved
	return attrs
}

// finish chooses among the region's paths and puts grouping, windows, DISTINCT, ordering and limits on top.
func (r *root) finish(g *region, paths []*path, grouped bool) (plan.Node, error) {
	var wanted []orderKey
	plainOrder := !grouped && !r.q.HasWindow && !r.q.Distinct && len(r.q.DistinctOn) == 0 && !r.q.HasSRF
	if plainOrder {
		wanted = r.orderKeys(r.q.OrderBy)
	} else if grouped && r.q.GroupingSets == nil {
		for _, k := range r.q.GroupBy {
			wanted = append(wanted, orderKey{expr: k})
		}
	}
	limit := r.limit
	if grouped || r.q.Distinct || r.q.HasWindow || len(r.q.DistinctOn) > 0 {
		limit = 0
	}
	p, sorted := r.choose(g, paths, wanted, limit, grouped)
	if p == nil {
		return nil, sqlerr.Internal("no path without outer parameters")
	}
	markOrdered := sorted && len(wanted) > 0
	b := &builder{r: r}
	r.refs = nil
	n, lay, err := b.build(p)
	if err != nil {
		return nil, err
	}
	for i := range r.refs {
		if len(r.refs) > 0 {
			return nil, sqlerr.Internal("column of relation outside of its join: parameter %d", r.refs[i].id)
		}
	}
	if markOrdered {
		setOrdered(n, 0)
	}
	if grouped {
		if n, lay, err = r.group(n, lay, sorted); err != nil {
			return nil, err
		}
	}
	return r.upper(n, lay, p, plainOrder && sorted)
}

// setOrdered marks the scan whose order is relied on.
func setOrdered(n plan.Node, depth int) {
	if depth > maxWalkDepth {
		return
	}
	switch x := n.(type) {
	case *plan.Scan:
		x.Ordered = true
	case *plan.Filter:
		setOrdered(x.Input, depth+1)
	case *plan.NestLoop:
		setOrdered(x.Left, depth+1)
	}
}

func (r *root) orderKeys(keys []plan.SortKey) []orderKey {
	out := make([]orderKey, len(keys))
	for i, k := range keys {
		out[i] = orderKey{k.Expr, k.Desc, k.NullsFirst}
	}
	return out
}

// ordered says whether an order serves the wanted one; columns pinned to constants do not count. anyDir ignores direction.
func (r *root) ordered(g *region, have, want []orderKey, anyDir bool) bool {
	i := 0
	for _, w := range want {
		for i < len(have) && !sameKey(have[i], w, anyDir, r) && r.pinned(g, have[i].expr) {
			i++
		}
		if i < len(have) && sameKey(have[i], w, anyDir, r) {
			i++
			continue
		}
		if r.pinned(g, w.expr) {
			continue
		}
		return false
	}
	return true
}

func sameKey(a, b orderKey, anyDir bool, r *root) bool {
	if !equalExpr(stripText(a.expr), stripText(b.expr)) {
		return false
	}
	if anyDir {
		return true
	}
	if a.desc != b.desc {
		return false
	}
	if a.nullsFirst == b.nullsFirst {
		return true
	}
	v, ok := a.expr.(*plan.Var)
	return ok && r.notNull(v)
}

// pinned says whether a condition fixes the expression to one value.
func (r *root) pinned(g *region, e plan.Expr) bool {
	if _, ok := e.(*plan.Const); ok {
		return true
	}
	for _, u := range g.units {
		if u.rel == nil || u.typ != plan.JoinInner {
			continue
		}
		for _, c := range u.rel.clauses {
			if c.call == nil || rowStrategy(c.call.Op) != 3 {
				continue
			}
			if c.rightRels.empty() && equalExpr(c.call.Args[0], e) || c.leftRels.empty() && equalExpr(c.call.Args[1], e) {
				return true
			}
		}
	}
	return false
}

// groupOrdered says whether rows of one group are neighbours: the order's first keys are the group's, in any sequence.
func (r *root) groupOrdered(g *region, have []orderKey) bool {
	left := 0
	var open []plan.Expr
	for _, k := range r.q.GroupBy {
		if !r.pinned(g, k) {
			open = append(open, k)
		}
	}
	left = len(open)
	for _, h := range have {
		if left == 0 {
			break
		}
		hit := false
		for _, k := range open {
			hit = hit || equalExpr(k, h.expr)
		}
		if hit {
			left--
		} else if !r.pinned(g, h.expr) {
			return false
		}
	}
	return left == 0
}

// choose picks the path with the least cost including the sort that it saves.
func (r *root) choose(g *region, paths []*path, wanted []orderKey, limit float64, grouped bool) (best *path, sorted bool) {
	bestCost := math.Inf(1)
	for _, p := range paths {
		if !p.req.empty() {
			continue
		}
		ok := len(wanted) == 0 && !grouped
		if len(wanted) > 0 {
			if grouped {
				ok = r.groupOrdered(g, p.order)
			} else {
				ok = r.ordered(g, p.order, wanted, false)
			}
		}
		cost := p.fetchCost(limit)
		if !ok && len(wanted) > 0 {
			if grouped {
				cost = p.total + p.rows*costHashBuild
			} else {
				cost = p.total + sortCost(p.rows, limit)
			}
		}
		if cost < bestCost {
			best, bestCost, sorted = p, cost, ok
		}
	}
	return best, sorted
}

// upper adds everything above grouping.
func (r *root) upper(n plan.Node, lay *layout, p *path, sorted bool) (plan.Node, error) {
	q := r.q
	var err error
	if q.HasWindow {
		if n, lay, err = r.window(n, lay); err != nil {
			return nil, err
		}
	}
	if len(q.Locks) > 0 {
		return r.lockRows(n, lay, p, sorted)
	}
	projectFirst := q.Distinct || len(q.DistinctOn) > 0 || q.HasSRF || r.orderNeedsProject()
	if projectFirst {
		if n, lay, err = r.project(n, lay, true); err != nil {
			return nil, err
		}
	}
	if len(q.DistinctOn) > 0 {
		if n, err = r.distinctOn(n, lay); err != nil {
			return nil, err
		}
		sorted = true
	} else if q.Distinct {
		if n, err = r.distinct(n, lay); err != nil {
			return nil, err
		}
	}
	if len(q.OrderBy) > 0 && !sorted {
		if n, err = r.sort(n, lay, q.OrderBy, q.Limit != nil && !q.WithTies); err != nil {
			return nil, err
		}
	}
	return r.top(n, lay)
}

// top adds the final projection and LIMIT.
func (r *root) top(n plan.Node, lay *layout) (plan.Node, error) {
	var ties []plan.SortKey
	var err error
	if r.q.WithTies {
		if ties, err = r.convKeys(r.q.OrderBy, lay); err != nil {
			return nil, err
		}
		if n, err = r.limitNode(n, ties); err != nil {
			return nil, err
		}
	}
	if n, _, err = r.project(n, lay, false); err != nil {
		return nil, err
	}
	if !r.q.WithTies && (r.q.Limit != nil || r.q.Offset != nil) && !(r.q.Offset == nil && atLeastOne(r.q.Limit) && uniqueScan(n)) {
		return r.limitNode(n, nil)
	}
	return n, nil
}

func (r *root) limitNode(n plan.Node, ties []plan.SortKey) (plan.Node, error) {
	l := &plan.Limit{WithTies: r.q.WithTies, TieKeys: ties}
	l.Input, l.Cols = n, n.Base().Cols
	var err error
	if l.Count, err = r.conv(r.q.Limit, &layout{}); err != nil {
		return nil, err
	}
	if l.Offset, err = r.conv(r.q.Offset, &layout{}); err != nil {
		return nil, err
	}
	in := n.Base()
	l.Rows, l.Startup, l.Total, l.Width = in.Rows, in.Startup, in.Total, in.Width
	if r.limit > 0 && r.limit < in.Rows {
		l.Rows = r.limit
		l.Total = in.Startup + (in.Total-in.Startup)*r.limit/math.Max(1, in.Rows)
	}
	return l, nil
}

// orderNeedsProject says whether ORDER BY has an expression that must be computed once, before the sort.
func (r *root) orderNeedsProject() bool {
	for i := range r.q.OrderBy {
		e := r.q.OrderBy[i].Expr
		if volatilityOf(e) == 'v' || find(e, hasSubLink) {
			return true
		}
	}
	return false
}

// project computes targets; all includes the invisible ones. It is left out when the input already has them.
func (r *root) project(n plan.Node, lay *layout, all bool) (plan.Node, *layout, error) {
	var exprs []plan.Expr
	out := &layout{}
	var cols []plan.Column
	srf := false
	for _, t := range r.q.Targets {
		if t.Junk && !all {
			continue
		}
		e, err := r.conv(t.Expr, lay)
		if err != nil {
			return nil, nil, err
		}
		srf = srf || returnsSet(e)
		exprs = append(exprs, e)
		out.cols = append(out.cols, layoutCol{rte: -1, expr: t.Expr})
		c := plan.Column{Name: t.Name, Typed: *t.Expr.T()}
		cols = append(cols, c)
	}
	in := n.Base()
	if sameColumns(exprs, len(in.Cols)) {
		if !all {
			renameColumns(n, cols)
		}
		return n, out, nil
	}
	if res, ok := n.(*plan.Result); ok && len(res.Exprs) == 0 && !srf && noSlots(exprs) {
		res.Exprs, res.Cols = exprs, cols
		return n, out, nil
	}
	base := plan.NodeBase{Cols: cols, Rows: in.Rows, Startup: in.Startup, Total: in.Total + in.Rows*costOperator}
	for i := range cols {
		base.Width += typeWidth(cols[i].Type)
	}
	if srf {
		s := &plan.ProjectSet{Exprs: sharedSets(exprs)}
		s.NodeBase, s.Input = base, n
		s.Rows *= 10
		return s, out, nil
	}
	p := &plan.Project{Exprs: exprs}
	p.NodeBase, p.Input = base, n
	return p, out, nil
}

func noSlots(list []plan.Expr) bool {
	for _, e := range list {
		if find(e, func(x plan.Expr) bool { _, ok := x.(*plan.Slot); return ok }) {
			return false
		}
	}
	return true
}

// sharedSets makes equal set-returning calls one and the same node: they are called once.
func sharedSets(exprs []plan.Expr) []plan.Expr {
	var calls []plan.Expr
	out := make([]plan.Expr, len(exprs))
	for i, e := range exprs {
		out[i] = rewrite(e, func(x plan.Expr) plan.Expr {
			f, ok := x.(*plan.FuncCall)
			if !ok || !f.RetSet {
				return x
			}
			for _, c := range calls {
				if equalExpr(c, x) {
					return c
				}
			}
			calls = append(calls, x)
			return x
		})
	}
	return out
}

func sameColumns(exprs []plan.Expr, n int) bool {
	if len(exprs) != n {
		return false
	}
	for i, e := range exprs {
		if s, ok := e.(*plan.Slot); !ok || s.Index != i {
			return false
		}
	}
	return true
}

// renameColumns gives a node's output the targets' names; the node is private to this plan.
func renameColumns(n plan.Node, cols []plan.Column) { n.Base().Cols = cols }

func (r *root) convKeys(keys []plan.SortKey, lay *layout) ([]plan.SortKey, error) {
	out := append([]plan.SortKey(nil), keys...)
	for i := range out {
		e, err := r.conv(keys[i].Expr, lay)
		if err != nil {
			return nil, err
		}
		if base := r.ps.b.baseType(e.T().Type); base != e.T().Type {
			t := *e.T()
			t.Type = base
			e = &plan.Relabel{Typed: t, Arg: e, Form: plan.FormImplicitCast}
		}
		out[i].Expr = e
	}
	return out, nil
}

func (r *root) sort(n plan.Node, lay *layout, keys []plan.SortKey, topN bool) (plan.Node, error) {
	k, err := r.convKeys(keys, lay)
	if err != nil {
		return nil, err
	}
	kept := k[:0]
	for _, x := range k {
		if _, ok := x.Expr.(*plan.Const); !ok {
			kept = append(kept, x)
		}
	}
	if len(kept) == 0 {
		return n, nil
	}
	s := &plan.Sort{Keys: kept, TopN: topN}
	in := n.Base()
	s.Input, s.Cols, s.Rows, s.Width = n, in.Cols, in.Rows, in.Width
	limit := 0.0
	if topN {
		limit = r.limit
	}
	s.Startup = in.Total + sortCost(in.Rows, limit)
	s.Total = s.Startup + in.Rows*costOperator
	return s, nil
}

// distinct removes duplicate rows over all visible targets.
func (r *root) distinct(n plan.Node, lay *layout) (plan.Node, error) {
	d := &plan.Distinct{}
	i := 0
	for k, t := range r.q.Targets {
		ty := *t.Expr.T()
		if t.Junk {
			i++
			continue
		}
		d.Keys = append(d.Keys, r.ps.b.hashKeyOf(&plan.Slot{Typed: ty, Index: k}))
		i++
	}
	in := n.Base()
	d.Input, d.Cols, d.Width = n, in.Cols, in.Width
	d.Rows = math.Max(1, in.Rows/2)
	d.Startup = in.Total + in.Rows*costHashBuild
	d.Total = d.Startup + d.Rows*costTuple
	_ = lay
	return d, nil
}

// distinctOn sorts by the DISTINCT ON expressions (and the rest of ORDER BY) and keeps the first row of each group.
func (r *root) distinctOn(n plan.Node, lay *layout) (plan.Node, error) {
	q := r.q
	keys := append([]plan.SortKey(nil), q.OrderBy...)
	for _, e := range q.DistinctOn {
		found := false
		for i := range keys {
			found = found || equalExpr(keys[i].Expr, e)
		}
		if !found {
			lt, eq, _, err := r.ps.b.sortOps(e.T().Type, true, true, -1)
			if err != nil {
				return nil, err
			}
			keys = append(keys, plan.SortKey{Expr: e, LtOp: lt, EqOp: eq, Collation: e.T().Collation})
		}
	}
	n, err := r.sort(n, lay, keys, false)
	if err != nil {
		return nil, err
	}
	d := &plan.Distinct{Sorted: true}
	for _, e := range q.DistinctOn {
		x, err := r.conv(e, lay)
		if err != nil {
			return nil, err
		}
		d.Keys = append(d.Keys, r.ps.b.hashKeyOf(x))
	}
	in := n.Base()
	d.Input, d.Cols, d.Width, d.Startup, d.Total = n, in.Cols, in.Width, in.Startup, in.Total+in.Rows*costOperator
	d.Rows = math.Max(1, in.Rows/2)
	return d, nil
}

// atLeastOne says whether a LIMIT lets a single row pass.
func atLeastOne(e plan.Expr) bool {
	c, ok := e.(*plan.Const)
	return ok && (c.Value.Null || c.Value.I >= 1)
}
