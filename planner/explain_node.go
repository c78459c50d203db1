package planner

import (
	"strconv"
	"strings"

	"herd/planner/plan"
	"herd/sql/catalog"
)

// node describes a node; filters are conditions of Filter nodes above it. The second result names its output columns.
func (x *explainer) node(n plan.Node, filters []string) (*xnode, []string) {
	x.depth++
	defer func() { x.depth-- }()
	if x.depth > maxWalkDepth {
		return &xnode{label: "...", kind: "...", base: n.Base()}, nil
	}
	switch p := n.(type) {
	case *plan.Filter:
		names := x.names(p.Input)
		f := x.cond(p.Cond, names)
		sub, out := x.node(p.Input, append([]string{f}, filters...))
		sub.base = n.Base()
		x.subplans(sub, n)
		return sub, out
	case *plan.Project:
		sub, in := x.node(p.Input, filters)
		out := x.exprs(p.Exprs, in)
		x.subplans(sub, n)
		return sub, out
	}
	d := &xnode{base: n.Base()}
	var out []string
	switch p := n.(type) {
	case *plan.NestLoop:
		out = x.join(d, "Nested Loop", n, &p.Join, filters)
	case *plan.HashJoin:
		out = x.join(d, "Hash", n, &p.Join, filters)
	case *plan.MergeJoin:
		out = x.join(d, "Merge", n, &p.Join, filters)
	case *plan.Sort, *plan.Limit, *plan.Distinct, *plan.Agg, *plan.WindowAgg, *plan.ProjectSet, *plan.LockRows, *plan.Materialize:
		out = x.unary(d, n)
	case *plan.Append:
		d.kind = "Append"
		for _, c := range p.Inputs {
			k, names := x.node(c, nil)
			d.children = append(d.children, xchild{"", k})
			if out == nil {
				out = names
			}
		}
	case *plan.SetOperation:
		d.kind = "HashSetOp " + [...]string{"Union", "Intersect", "Except"}[p.Kind]
		if p.All {
			d.kind += " All"
		}
		l, names := x.node(p.Left, nil)
		r, _ := x.node(p.Right, nil)
		d.children = append(d.children, xchild{"", l}, xchild{"", r})
		out = names
	case *plan.RecursiveUnion:
		d.kind = "Recursive Union"
		l, names := x.node(p.Init, nil)
		r, _ := x.node(p.Step, nil)
		d.children = append(d.children, xchild{"", l}, xchild{"", r})
		out = names
	case *plan.ModifyTable:
		out = x.modify(d, p)
	default:
		out = x.leaf(d, n)
	}
	if d.label == "" {
		d.label = d.kind
	}
	x.filterProp(d, n, filters)
	x.subplans(d, n)
	if x.o.Verbose && len(out) > 0 {
		d.props = append([]xprop{{"Output", out}}, d.props...)
	}
	return d, out
}

// filterProp shows conditions that are checked on the node's output.
func (x *explainer) filterProp(d *xnode, n plan.Node, above []string) {
	if len(above) == 0 {
		return
	}
	for i := range d.props {
		if d.props[i].key == "Filter" {
			all := append([]string{d.props[i].val[0]}, above...)
			d.props[i].val = []string{"(" + strings.Join(all, " AND ") + ")"}
			return
		}
	}
	f := above[0]
	if len(above) > 1 {
		f = "(" + strings.Join(above, " AND ") + ")"
	}
	d.props = append(d.props, xprop{"Filter", []string{f}})
}

// subplans shows the SubPlans of a node's expressions below it.
func (x *explainer) subplans(d *xnode, n plan.Node) {
	nodeExprs(n, func(root plan.Expr) {
		find(root, func(e plan.Expr) bool {
			s, ok := e.(*plan.SubPlan)
			if !ok {
				return false
			}
			num := x.subNumber(s)
			c, _ := x.node(s.Plan, nil)
			d.children = append(d.children, xchild{"SubPlan " + strconv.Itoa(num), c})
			return false
		})
	})
}

func (x *explainer) rel(d *xnode, kind, verb string, rel *catalog.Relation, alias string) {
	d.kind, d.relation, d.alias = kind, rel.Name, alias
	d.label = kind + verb + quoteIdent(rel.Name)
	if alias != "" && alias != rel.Name {
		d.label += " " + quoteIdent(alias)
	}
}

// columnNames names the columns of a scan.
func (x *explainer) columnNames(rel *catalog.Relation, alias string, attnos []int16, cols []plan.Column) []string {
	out := make([]string, len(cols))
	for i := range cols {
		name := cols[i].Name
		if i < len(attnos) && attnos[i] > 0 && rel != nil && int(attnos[i]) <= len(rel.Columns) {
			name = rel.Columns[attnos[i]-1].Name
		}
		out[i] = x.qualify(alias, name)
	}
	return out
}

func (x *explainer) qualify(alias, name string) string {
	if x.many && alias != "" {
		return quoteIdent(alias) + "." + quoteIdent(name)
	}
	return quoteIdent(name)
}

func (x *explainer) leaf(d *xnode, n plan.Node) []string {
	switch p := n.(type) {
	case *plan.Scan:
		names := x.columnNames(p.Rel, p.Alias, p.Attnos, p.Cols)
		if p.Ranges != nil || p.Ordered && p.Rel.PrimaryKey != nil {
			x.indexLabel(d, "Index Scan", p.Rel.PrimaryKey, p.Rel, p.Alias, p.Reverse)
			x.ranges(d, p.Rel, p.Alias, p.Rel.PrimaryKey, p.Ranges)
		} else {
			x.rel(d, "Seq Scan", " on ", p.Rel, p.Alias)
		}
		x.filter(d, p.Filter, names)
		return names
	case *plan.IndexScan:
		names := x.columnNames(p.Rel, p.Alias, p.Attnos, p.Cols)
		kind := "Index Scan"
		if p.IndexOnly {
			kind = "Index Only Scan"
		}
		x.indexLabel(d, kind, p.Index, p.Rel, p.Alias, p.Reverse)
		x.ranges(d, p.Rel, p.Alias, p.Index, p.Ranges)
		x.filter(d, p.Filter, names)
		return names
	case *plan.VirtualScan:
		names := x.columnNames(p.Rel, p.Alias, p.Attnos, p.Cols)
		if p.Path >= 0 {
			x.rel(d, "Index Scan", " on ", p.Rel, p.Alias)
			cols := p.Table.Paths()[p.Path].Cols
			var conds []string
			for i, c := range cols {
				conds = append(conds, "("+x.qualify(p.Alias, p.Rel.Columns[c-1].Name)+" = "+x.expr(p.Keys[i], names)+")")
			}
			d.props = append(d.props, xprop{"Index Cond", []string{joinAnd(conds)}})
		} else {
			x.rel(d, "Seq Scan", " on ", p.Rel, p.Alias)
		}
		x.filter(d, p.Filter, names)
		return names
	case *plan.FunctionScan:
		return x.named(d, "Function Scan", p.Alias, p.Cols, p.Filter)
	case *plan.CTEScan:
		names := x.named(d, "CTE Scan", p.Alias, p.Cols, p.Filter)
		if p.CTE < len(x.p.CTEs) && x.p.CTEs[p.CTE].Name != p.Alias {
			d.label = "CTE Scan on " + quoteIdent(x.p.CTEs[p.CTE].Name) + " " + quoteIdent(p.Alias)
		}
		return names
	case *plan.WorkTableScan:
		return x.named(d, "WorkTable Scan", p.Alias, p.Cols, p.Filter)
	case *plan.Values:
		if len(p.Lists) == 1 {
			d.kind = "Result"
			return x.exprs(p.Lists[0], nil)
		}
		return x.named(d, "Values Scan", "*VALUES*", p.Cols, nil)
	case *plan.Result:
		d.kind = "Result"
		if p.Filter != nil {
			d.props = append(d.props, xprop{"One-Time Filter", []string{x.cond(p.Filter, nil)}})
		}
		return x.exprs(p.Exprs, nil)
	case *plan.CurrentRow:
		d.props = append(d.props, xprop{"TID Cond", []string{"CURRENT OF " + quoteIdent(p.Cursor)}})
		return x.named(d, "Tid Scan", p.Alias, p.Cols, p.Filter)
	case *plan.RecheckScan:
		d.kind = "Recheck Scan"
		return x.columnNames(p.Rel, "", p.Attnos, p.Cols)
	}
	d.kind = "Unknown"
	return nil
}

func (x *explainer) named(d *xnode, kind, alias string, cols []plan.Column, filter plan.Expr) []string {
	d.kind, d.alias = kind, alias
	d.label = kind + " on " + quoteIdent(alias)
	names := make([]string, len(cols))
	for i := range cols {
		names[i] = x.qualify(alias, cols[i].Name)
	}
	x.filter(d, filter, names)
	return names
}

func (x *explainer) indexLabel(d *xnode, kind string, ix *catalog.Index, rel *catalog.Relation, alias string, reverse bool) {
	x.rel(d, kind, " on ", rel, alias)
	d.index = ix.Name
	on := strings.TrimPrefix(d.label, kind)
	if reverse {
		kind += " Backward"
	}
	d.label = kind + " using " + quoteIdent(ix.Name) + on
}

// filter shows a scan's own condition and, with ANALYZE, what it removed.
func (x *explainer) filter(d *xnode, f plan.Expr, names []string) {
	if f == nil {
		return
	}
	d.props = append(d.props, xprop{"Filter", []string{x.cond(f, names)}})
	if x.o.Analyze && d.base.ID < len(x.o.Nodes) {
		c := &x.o.Nodes[d.base.ID]
		if c.Removed > 0 {
			d.props = append(d.props, xprop{"Rows Removed by Filter", []string{strconv.FormatInt(c.Removed/max(c.Loops, 1), 10)}})
		}
	}
}

func joinAnd(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return "(" + strings.Join(list, " AND ") + ")"
}

// ranges shows key ranges as the conditions they stand for.
func (x *explainer) ranges(d *xnode, rel *catalog.Relation, alias string, ix *catalog.Index, list []plan.KeyRange) {
	if len(list) == 0 {
		return
	}
	col := func(i int) string {
		k := &ix.Keys[i]
		if k.Attno != 0 {
			return x.qualify(alias, rel.Columns[k.Attno-1].Name)
		}
		return "(" + k.Expr + ")"
	}
	var alts []string
	for i := range list {
		r := &list[i]
		var conds []string
		for k, e := range r.Eq {
			switch {
			case e == nil:
				conds = append(conds, "("+col(k)+" IS NULL)")
			case k == r.In:
				conds = append(conds, "("+col(k)+" = ANY ("+x.expr(e, nil)+"))")
			default:
				conds = append(conds, "("+col(k)+" = "+x.expr(e, nil)+")")
			}
		}
		for side, b := range [2]*plan.Bound{r.Lo, r.Hi} {
			if b == nil {
				continue
			}
			op := [2]string{" > ", " < "}[side]
			if b.Inclusive {
				op = [2]string{" >= ", " <= "}[side]
			}
			var l []string
			for k := range b.Exprs {
				l = append(l, col(len(r.Eq)+k))
			}
			left, right := l[0], ""
			rs := x.exprs(b.Exprs, nil)
			right = rs[0]
			if len(l) > 1 {
				left, right = "ROW("+strings.Join(l, ", ")+")", "ROW("+strings.Join(rs, ", ")+")"
			}
			conds = append(conds, "("+left+op+right+")")
		}
		alts = append(alts, joinAnd(conds))
	}
	c := alts[0]
	if len(alts) > 1 {
		c = "(" + strings.Join(alts, " OR ") + ")"
	}
	d.props = append(d.props, xprop{"Index Cond", []string{c}})
}

// join shows a join; parameters of a nested loop are shown as the left side's columns.
func (x *explainer) join(d *xnode, kind string, n plan.Node, j *plan.Join, filters []string) []string {
	l, ln := x.node(j.Left, nil)
	if nl, ok := n.(*plan.NestLoop); ok {
		for i, id := range nl.ParamIDs {
			x.params[id] = x.expr(nl.Args[i], ln)
		}
	}
	r, rn := x.node(j.Right, nil)
	typ := [...]string{"", "Left", "Right", "Full", "Semi", "Anti"}[j.Type]
	d.join = typ
	if typ == "" {
		d.join = "Inner"
	}
	switch kind {
	case "Nested Loop":
		d.kind, d.label = kind, kind
		if typ != "" {
			d.label += " " + typ + " Join"
		}
	default:
		d.kind = kind + " Join"
		d.label = strings.TrimSpace(kind+" "+typ) + " Join"
	}
	both := append(append([]string(nil), ln...), rn...)
	var keys []plan.HashKey
	switch p := n.(type) {
	case *plan.HashJoin:
		keys = p.Keys
	case *plan.MergeJoin:
		keys = p.Keys
	}
	if len(keys) > 0 {
		conds := make([]string, len(keys))
		for i, k := range keys {
			conds[i] = "(" + x.expr(k.Left, ln) + " = " + x.expr(k.Right, rn) + ")"
		}
		d.props = append(d.props, xprop{kind + " Cond", []string{joinAnd(conds)}})
	}
	if j.Cond != nil {
		d.props = append(d.props, xprop{"Join Filter", []string{x.cond(j.Cond, both)}})
	}
	if kind == "Hash" {
		r = &xnode{label: "Hash", kind: "Hash", base: j.Right.Base(), children: []xchild{{"", r}}}
	}
	d.children = append(d.children, xchild{"", l}, xchild{"", r})
	if j.Type == plan.JoinSemi || j.Type == plan.JoinAnti {
		return ln
	}
	return both
}

func (x *explainer) unary(d *xnode, n plan.Node) []string {
	in := n.Children()[0]
	sub, names := x.node(in, nil)
	d.children = append(d.children, xchild{"", sub})
	out := names
	switch p := n.(type) {
	case *plan.Sort:
		d.kind = "Sort"
		d.props = append(d.props, xprop{"Sort Key", x.sortKeys(p.Keys, names)})
	case *plan.Limit:
		d.kind = "Limit"
	case *plan.Distinct:
		d.kind = "HashAggregate"
		key := "Group Key"
		if p.Sorted {
			d.kind, key = "Unique", ""
		}
		if key != "" {
			d.props = append(d.props, xprop{key, x.hashKeys(p.Keys, names)})
		}
	case *plan.Agg:
		d.kind = [...]string{"Aggregate", "HashAggregate", "GroupAggregate"}[p.Strategy]
		keys := x.hashKeys(p.Keys, names)
		if len(keys) > 0 {
			d.props = append(d.props, xprop{"Group Key", keys})
		}
		out = append([]string(nil), keys...)
		for _, a := range p.Aggs {
			out = append(out, x.aggregate(a, names, keys))
		}
		for range p.Groupings {
			out = append(out, "GROUPING")
		}
	case *plan.WindowAgg:
		d.kind = "WindowAgg"
		out = append([]string(nil), names...)
		for _, f := range p.Funcs {
			out = append(out, x.expr(f, names))
		}
	case *plan.ProjectSet:
		d.kind = "ProjectSet"
		out = x.exprs(p.Exprs, names)
	case *plan.LockRows:
		d.kind = "LockRows"
	case *plan.Materialize:
		d.kind = "Materialize"
	}
	return out
}

func (x *explainer) hashKeys(keys []plan.HashKey, names []string) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = x.expr(k.Left, names)
	}
	return out
}

func (x *explainer) sortKeys(keys []plan.SortKey, names []string) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		s := x.expr(k.Expr, names)
		if k.Desc {
			s += " DESC"
		}
		if k.NullsFirst != k.Desc {
			s += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.NullsFirst]
		}
		out[i] = s
	}
	return out
}

func (x *explainer) modify(d *xnode, p *plan.ModifyTable) []string {
	verb := map[plan.Command]string{plan.CmdInsert: "Insert", plan.CmdUpdate: "Update", plan.CmdDelete: "Delete", plan.CmdMerge: "Merge"}[p.Command]
	x.rel(d, verb, " on ", p.Rel, p.Alias)
	d.kind = "ModifyTable"
	if c := p.OnConflict; c != nil {
		res := "NOTHING"
		if c.Update {
			res = "UPDATE"
		}
		d.props = append(d.props, xprop{"Conflict Resolution", []string{res}})
		var names []string
		if c.ArbiterPK {
			names = append(names, p.Rel.PrimaryKey.Name)
		}
		for _, ix := range c.Arbiters {
			names = append(names, ix.Name)
		}
		if len(names) > 0 {
			d.props = append(d.props, xprop{"Conflict Arbiter Indexes", names})
		}
	}
	sub, _ := x.node(p.Input, nil)
	d.children = append(d.children, xchild{"", sub})
	out := make([]string, len(p.Cols))
	for i := range p.Cols {
		out[i] = p.Cols[i].Name
	}
	return out
}

// names names the output columns of a node without describing it.
func (x *explainer) names(n plan.Node) []string {
	saved := x.subs
	_, names := x.node(n, nil)
	x.subs = saved
	return names
}
