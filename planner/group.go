package planner

import (
	"math"
	"slices"

	"herd/planner/plan"
	"herd/sql/types"
)

// groupInfo is what grouping does to a level.
type groupInfo struct {
	sets [][]int
	aggs []*plan.Aggref
}

// collectAggs finds the aggregates of this level, those inside sublinks included.
func (r *root) collectAggs() []*plan.Aggref {
	var out []*plan.Aggref
	visit := func(e plan.Expr, level int) bool {
		a, ok := e.(*plan.Aggref)
		if !ok || a.LevelsUp != level {
			return false
		}
		if level > 0 {
			a = rewriteLevels(a, -level).(*plan.Aggref)
		}
		for _, o := range out {
			// Two calls over volatile arguments are two aggregates.
			if o == a || equalExpr(o, a) && volatilityOf(a) != 'v' {
				return false
			}
		}
		out = append(out, a)
		return false
	}
	q := *r.q
	q.Where, q.From, q.GroupBy, q.CTEs = nil, nil, nil, nil
	deepExprs(&q, 0, visit)
	return out
}

// collectGroupings finds the GROUPING calls of this level.
func (r *root) collectGroupings() []*plan.GroupingFunc {
	var out []*plan.GroupingFunc
	deepExprs(r.q, 0, func(e plan.Expr, level int) bool {
		g, ok := e.(*plan.GroupingFunc)
		if !ok || g.LevelsUp != level {
			return false
		}
		if level > 0 {
			g = shiftGrouping(g, -level)
		}
		for _, o := range out {
			if equalExpr(o, g) {
				return false
			}
		}
		out = append(out, g)
		return false
	})
	return out
}

// groupKeys are the grouping expressions, then columns determined by them that the query uses.
func (r *root) groupKeys() []plan.Expr {
	q := r.q
	keys := append([]plan.Expr(nil), q.GroupBy...)
	add := func(e plan.Expr, level int) bool {
		switch v := e.(type) {
		case *plan.Aggref:
			return false
		case *plan.Var:
			if v.LevelsUp != level || v.Attno <= 0 {
				return false
			}
			n := *v
			n.LevelsUp = 0
			for _, k := range keys {
				if equalExpr(k, &n) {
					return false
				}
			}
			keys = append(keys, &n)
		}
		return false
	}
	var walk func(e plan.Expr, level int) bool
	walk = func(e plan.Expr, level int) bool {
		if a, ok := e.(*plan.Aggref); ok && a.LevelsUp == level {
			for _, d := range a.Direct {
				walk(d, level)
			}
			return false
		}
		if level == 0 {
			for _, k := range q.GroupBy {
				if equalExpr(k, e) {
					return false
				}
			}
		}
		add(e, level)
		children(e, func(c plan.Expr) bool { return walk(c, level) })
		if s, ok := e.(*plan.SubLink); ok {
			walkQuery(s.Query, level+1, walk)
		}
		return false
	}
	for _, t := range q.Targets {
		walk(t.Expr, 0)
	}
	if q.Having != nil {
		walk(q.Having, 0)
	}
	for _, w := range q.Windows {
		for i := range w.PartitionBy {
			walk(w.PartitionBy[i].Expr, 0)
		}
		for i := range w.OrderBy {
			walk(w.OrderBy[i].Expr, 0)
		}
	}
	return keys
}

// walkQuery calls walk for the expressions of a query and those below it.
func walkQuery(q *plan.Query, level int, walk func(e plan.Expr, level int) bool) {
	if level > maxWalkDepth {
		return
	}
	queryExprs(q, func(e plan.Expr) { walk(e, level) })
	for _, rte := range q.RTable {
		if rte.Sub != nil {
			walkQuery(rte.Sub, level+1, walk)
		}
	}
}

// group adds the Agg node and HAVING. sorted: rows of a group are neighbours.
func (r *root) group(n plan.Node, lay *layout, sorted bool) (plan.Node, *layout, error) {
	q := r.q
	a := &plan.Agg{}
	out := &layout{}
	r.groups = &groupInfo{sets: q.GroupingSets, aggs: r.collectAggs()}
	groups := 1.0
	keys := r.groupKeys()
	for _, set := range q.GroupingSets {
		set = slices.Clone(set)
		for i := len(q.GroupBy); i < len(keys); i++ {
			set = append(set, i) // determined by columns that all sets have
		}
		a.Sets = append(a.Sets, set)
	}
	for _, k := range keys {
		e, err := r.conv(k, lay)
		if err != nil {
			return nil, nil, err
		}
		a.Keys = append(a.Keys, r.ps.b.hashKeyOf(e))
		out.cols = append(out.cols, layoutCol{rte: -1, expr: k})
		a.Cols = append(a.Cols, plan.Column{Typed: *k.T()})
		groups *= r.distinctOf(k)
	}
	for _, ag := range r.groups.aggs {
		c, err := r.convAgg(ag, lay, out)
		if err != nil {
			return nil, nil, err
		}
		a.Aggs = append(a.Aggs, c)
		out.cols = append(out.cols, layoutCol{rte: -1, expr: ag})
		a.Cols = append(a.Cols, plan.Column{Typed: ag.Typed})
	}
	for _, g := range r.collectGroupings() {
		c := *g
		c.Args = nil
		if q.GroupingSets != nil {
			a.Groupings = append(a.Groupings, &c)
			out.cols = append(out.cols, layoutCol{rte: -1, expr: g})
			a.Cols = append(a.Cols, plan.Column{Typed: plan.Typed{Type: types.Int4OID, Typmod: -1}})
		}
	}
	in := n.Base()
	a.Input = n
	switch {
	case len(q.GroupBy) == 0 && q.GroupingSets == nil:
		a.Strategy, a.Keys = plan.AggPlain, nil
		groups = 1
	case sorted && q.GroupingSets == nil:
		a.Strategy = plan.AggSorted
	default:
		a.Strategy = plan.AggHash
	}
	a.Rows = clampRows(math.Min(groups, in.Rows))
	a.Startup = in.Total + in.Rows*(costOperator*float64(len(a.Aggs))+costHashBuild)
	if a.Strategy == plan.AggSorted {
		a.Startup = in.Startup
	}
	a.Total = in.Total + in.Rows*(costOperator*float64(len(a.Aggs))+costHashBuild) + a.Rows*costTuple
	for i := range a.Cols {
		a.Width += typeWidth(a.Cols[i].Type)
	}
	if q.Having == nil {
		return a, out, nil
	}
	h, err := r.conv(q.Having, out)
	if err != nil {
		return nil, nil, err
	}
	f := &plan.Filter{Cond: h}
	f.NodeBase, f.Input = a.NodeBase, a
	f.Rows = clampRows(a.Rows / 3)
	return f, out, nil
}

// convAgg converts an aggregate's arguments to its input, and its direct arguments to the group's keys: there is one value of
// them for a group.
func (r *root) convAgg(ag *plan.Aggref, lay, keys *layout) (*plan.Aggref, error) {
	c := *ag
	var err error
	if c.Args, err = r.convList(ag.Args, lay); err != nil {
		return nil, err
	}
	if c.Direct, err = r.convList(ag.Direct, keys); err != nil {
		return nil, err
	}
	if c.OrderBy, err = r.convKeys(ag.OrderBy, lay); err != nil {
		return nil, err
	}
	c.Filter, err = r.conv(ag.Filter, lay)
	return &c, err
}

// window adds sorts and WindowAgg nodes, windows of the same order together.
func (r *root) window(n plan.Node, lay *layout) (plan.Node, *layout, error) {
	var funcs []*plan.WindowFunc
	queryExprs(r.q, func(root plan.Expr) {
		find(root, func(e plan.Expr) bool {
			w, ok := e.(*plan.WindowFunc)
			if !ok {
				return false
			}
			for _, o := range funcs {
				if equalExpr(o, w) {
					return false
				}
			}
			funcs = append(funcs, w)
			return false
		})
	})
	done := make([]bool, len(r.q.Windows))
	for i, w := range r.q.Windows {
		if done[i] {
			continue
		}
		var mine []*plan.WindowFunc
		for k := i; k < len(r.q.Windows); k++ {
			if !sameWindow(w, r.q.Windows[k]) {
				continue
			}
			done[k] = true
			for _, f := range funcs {
				if f.Window == k {
					mine = append(mine, f)
				}
			}
		}
		if len(mine) == 0 {
			continue
		}
		var err error
		if n, lay, err = r.windowNode(n, lay, w, mine); err != nil {
			return nil, nil, err
		}
	}
	return n, lay, nil
}

func sameWindow(a, b *plan.Window) bool {
	fa, fb := a.Frame, b.Frame
	return equalKeys(a.PartitionBy, b.PartitionBy) && equalKeys(a.OrderBy, b.OrderBy) && fa.Mode == fb.Mode && fa.Start == fb.Start && fa.End == fb.End &&
		fa.Exclude == fb.Exclude && equalExpr(fa.StartOffset, fb.StartOffset) && equalExpr(fa.EndOffset, fb.EndOffset)
}

func (r *root) windowNode(n plan.Node, lay *layout, w *plan.Window, funcs []*plan.WindowFunc) (plan.Node, *layout, error) {
	keys := append(append([]plan.SortKey(nil), w.PartitionBy...), w.OrderBy...)
	var err error
	if len(keys) > 0 {
		if n, err = r.sort(n, lay, keys, false); err != nil {
			return nil, nil, err
		}
	}
	cw := *w
	if cw.PartitionBy, err = r.convKeys(w.PartitionBy, lay); err != nil {
		return nil, nil, err
	}
	if cw.OrderBy, err = r.convKeys(w.OrderBy, lay); err != nil {
		return nil, nil, err
	}
	if cw.Frame.StartOffset, err = r.conv(w.Frame.StartOffset, &layout{}); err != nil {
		return nil, nil, err
	}
	if cw.Frame.EndOffset, err = r.conv(w.Frame.EndOffset, &layout{}); err != nil {
		return nil, nil, err
	}
	node := &plan.WindowAgg{Window: &cw}
	in := n.Base()
	node.Input = n
	node.Cols = append([]plan.Column(nil), in.Cols...)
	out := &layout{cols: append([]layoutCol(nil), lay.cols...)}
	for _, f := range funcs {
		c := *f
		if c.Args, err = r.convList(f.Args, lay); err != nil {
			return nil, nil, err
		}
		if c.Filter, err = r.conv(f.Filter, lay); err != nil {
			return nil, nil, err
		}
		node.Funcs = append(node.Funcs, &c)
		node.Cols = append(node.Cols, plan.Column{Typed: f.Typed})
		out.cols = append(out.cols, layoutCol{rte: -1, expr: f})
	}
	node.Rows, node.Startup, node.Width = in.Rows, in.Startup, in.Width+8*len(funcs)
	node.Total = in.Total + in.Rows*costOperator*4
	return node, out, nil
}

// lockRows puts LockRows over the sorted rows, below the projection.
func (r *root) lockRows(n plan.Node, lay *layout, p *path, sorted bool) (plan.Node, error) {
	q := r.q
	var err error
	if len(q.OrderBy) > 0 && !sorted {
		if n, err = r.sort(n, lay, q.OrderBy, false); err != nil {
			return nil, err
		}
	}
	node := &plan.LockRows{}
	in := n.Base()
	node.NodeBase, node.Input = *in, n
	for _, l := range q.Locks {
		rte := r.q.RTable[l.RTE]
		col := lay.find(l.RTE, rowIDAttno)
		if col < 0 {
			continue
		}
		node.Locks = append(node.Locks, plan.LockTarget{Rel: rte.Rel, RTE: l.RTE, RowIDCol: col, Strength: l.Strength, Policy: l.Policy})
	}
	if node.Recheck, err = r.recheckPlan(p, lay, nil); err != nil {
		return nil, err
	}
	return r.top(node, lay)
}

// recheckPlan is the plan over one row per relation; lay gives the columns of the original row. exprs (nil: the whole row) is
// what it computes.
func (r *root) recheckPlan(p *path, lay *layout, finish func(n plan.Node, lay *layout) (plan.Node, error)) (*plan.Recheck, error) {
	b := &builder{r: r, recheck: true, cols: map[int]int{}}
	for i := len(lay.cols) - 1; i >= 0; i-- {
		if c := &lay.cols[i]; c.expr == nil && c.rte >= 0 {
			b.cols[c.rte] = i
		}
	}
	saved := r.refs
	r.refs = nil
	n, nl, err := b.build(p)
	r.refs = saved
	if err != nil {
		return nil, err
	}
	if finish != nil {
		if n, err = finish(n, nl); err != nil {
			return nil, err
		}
	}
	return &plan.Recheck{Root: n}, nil
}
