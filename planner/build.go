package planner

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// builder turns a path into nodes. With recheck each relation becomes a RecheckScan: the plan over one row per relation.
type builder struct {
	r       *root
	recheck bool
	cols    map[int]int // recheck: first column of each relation in the original row
	depth   int
}

// build makes the nodes of a path and the layout of their output.
func (b *builder) build(p *path) (plan.Node, *layout, error) {
	b.depth++
	defer func() { b.depth-- }()
	if b.depth > maxWalkDepth {
		return nil, nil, tooDeep()
	}
	switch p.shape {
	case shapeNest:
		return b.nest(p)
	case shapeHash:
		return b.hashJoin(p)
	case shapeUnique:
		return b.unique(p)
	case shapeFilter:
		n, lay, err := b.build(p.left)
		if err != nil {
			return nil, nil, err
		}
		f, err := b.filterNode(n, lay, p.filter, p)
		return f, lay, err
	case shapeResult:
		return b.result(p)
	}
	// A relation whose columns are not in the original row (the right side of a semi join) is read anew.
	if _, inRow := b.cols[p.rel.rte]; b.recheck && inRow {
		return b.recheckScan(p)
	}
	n, lay, err := b.relation(p)
	if err != nil {
		return nil, nil, err
	}
	return b.withWholeRow(n, lay, p)
}

// relation builds the scan of a relation.
func (b *builder) relation(p *path) (plan.Node, *layout, error) {
	switch p.shape {
	case shapeScan, shapeIndex, shapeCurrent:
		return b.tableScan(p)
	case shapeVirtual:
		return b.virtualScan(p)
	case shapeFunction:
		return b.functionScan(p)
	case shapeValues:
		return b.valuesScan(p)
	case shapeSub:
		return b.subqueryScan(p)
	case shapeCTE:
		return b.cteScan(p)
	}
	return nil, nil, sqlerr.Internal("path of unknown shape %d", p.shape)
}

func setCost(n *plan.NodeBase, p *path) {
	n.Rows, n.Startup, n.Total = p.rows, p.start, p.total
	for i := range n.Cols {
		n.Width += typeWidth(n.Cols[i].Type)
	}
}

// relLayout is the output of a relation: its needed columns, then its row identity.
func (r *root) relLayout(b *baseRel, filter []plan.Expr) (*layout, []plan.Column, []int16) {
	attrs := r.filterAttrs(b.rte, filter)
	lay := &layout{cols: make([]layoutCol, 0, len(attrs)+1)}
	cols := make([]plan.Column, 0, len(attrs)+1)
	for _, a := range attrs {
		lay.cols = append(lay.cols, layoutCol{rte: b.rte, attno: int(a)})
		if a < 0 {
			s := &systemColumns[-a-1]
			cols = append(cols, plan.Column{Name: s.name, Typed: plan.Typed{Type: s.typ, Typmod: -1, Loc: -1}})
			continue
		}
		cols = append(cols, b.entry.Cols[a-1])
	}
	if r.rowIDs[b.rte] {
		lay.cols = append(lay.cols, layoutCol{rte: b.rte, attno: rowIDAttno, rowID: true})
		cols = append(cols, plan.Column{Name: "ctid", Typed: plan.Typed{Type: types.ByteaOID, Typmod: -1, Loc: -1}})
	}
	return lay, cols, attrs
}

// condition converts a conjunction.
func (b *builder) condition(list []plan.Expr, lay *layout) (plan.Expr, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out, err := b.r.convList(list, lay)
	if err != nil {
		return nil, err
	}
	return andExprs(out), nil
}

func (b *builder) tableScan(p *path) (plan.Node, *layout, error) {
	lay, cols, attrs := b.r.relLayout(p.rel, p.filter)
	filter, err := b.condition(p.filter, lay)
	if err != nil {
		return nil, nil, err
	}
	ranges, err := b.ranges(p.ranges, lay)
	if err != nil {
		return nil, nil, err
	}
	rowID := b.r.rowIDs[p.rel.rte]
	if p.shape == shapeCurrent {
		n := &plan.CurrentRow{Rel: p.rel.table, Alias: p.rel.entry.Alias, Cursor: b.r.q.CurrentOf, Attnos: attrs, Filter: filter, RowID: rowID}
		n.Cols = cols
		setCost(&n.NodeBase, p)
		return n, lay, nil
	}
	if p.shape == shapeScan {
		n := &plan.Scan{Rel: p.rel.table, Alias: p.rel.entry.Alias, RTE: p.rel.rte, Attnos: attrs, Ranges: ranges, Reverse: p.reverse, Filter: filter, RowID: rowID}
		n.Cols = cols
		setCost(&n.NodeBase, p)
		return n, lay, nil
	}
	n := &plan.IndexScan{Rel: p.rel.table, Alias: p.rel.entry.Alias, Index: p.index, RTE: p.rel.rte, Attnos: attrs, Ranges: ranges, Reverse: p.reverse, Filter: filter, RowID: rowID, IndexOnly: p.indexOnly && !rowID}
	n.Cols = cols
	setCost(&n.NodeBase, p)
	return n, lay, nil
}

// ranges converts key ranges; their values use no column of the relation.
func (b *builder) ranges(list []plan.KeyRange, lay *layout) ([]plan.KeyRange, error) {
	if list == nil {
		return nil, nil
	}
	empty := &layout{}
	out := make([]plan.KeyRange, len(list))
	for i := range list {
		k := list[i]
		eq, err := b.r.convList(k.Eq, empty)
		if err != nil {
			return nil, err
		}
		n := plan.KeyRange{Eq: eq, In: k.In}
		if n.Lo, err = b.bound(k.Lo, empty); err != nil {
			return nil, err
		}
		if n.Hi, err = b.bound(k.Hi, empty); err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func (b *builder) bound(k *plan.Bound, lay *layout) (*plan.Bound, error) {
	if k == nil {
		return nil, nil
	}
	e, err := b.r.convList(k.Exprs, lay)
	return &plan.Bound{Exprs: e, Inclusive: k.Inclusive}, err
}

func (b *builder) virtualScan(p *path) (plan.Node, *layout, error) {
	lay, cols, attrs := b.r.relLayout(p.rel, p.filter)
	filter, err := b.condition(p.filter, lay)
	if err != nil {
		return nil, nil, err
	}
	keys, err := b.r.convList(p.vkeys, &layout{})
	if err != nil {
		return nil, nil, err
	}
	n := &plan.VirtualScan{Table: b.r.virtual(p.rel.table), Rel: p.rel.table, Alias: p.rel.entry.Alias, Attnos: attrs, Path: p.vpath, Keys: keys, Filter: filter}
	n.Cols = cols
	setCost(&n.NodeBase, p)
	return n, lay, nil
}

// wholeLayout is the output of a relation that yields all its columns.
func wholeLayout(b *baseRel) (*layout, []plan.Column) {
	lay := &layout{cols: make([]layoutCol, len(b.entry.Cols))}
	for i := range lay.cols {
		lay.cols[i] = layoutCol{rte: b.rte, attno: i + 1}
	}
	return lay, b.entry.Cols
}

func (b *builder) functionScan(p *path) (plan.Node, *layout, error) {
	lay, cols := wholeLayout(p.rel)
	calls, err := b.r.convList(p.rel.entry.Funcs, &layout{})
	if err != nil {
		return nil, nil, err
	}
	filter, err := b.condition(p.filter, lay)
	if err != nil {
		return nil, nil, err
	}
	n := &plan.FunctionScan{Calls: calls, CallCols: p.rel.entry.FuncCols, Ordinality: p.rel.entry.Ordinality, Filter: filter, Alias: p.rel.entry.Alias}
	n.Cols = cols
	setCost(&n.NodeBase, p)
	return n, lay, nil
}

func (b *builder) valuesScan(p *path) (plan.Node, *layout, error) {
	lay, cols := wholeLayout(p.rel)
	n := &plan.Values{Alias: p.rel.entry.Alias}
	n.Cols = cols
	for _, row := range p.rel.entry.Values {
		r, err := b.r.convList(row, &layout{})
		if err != nil {
			return nil, nil, err
		}
		n.Lists = append(n.Lists, r)
	}
	setCost(&n.NodeBase, p)
	f, err := b.filterNode(n, lay, p.filter, p)
	return f, lay, err
}

func (b *builder) subqueryScan(p *path) (plan.Node, *layout, error) {
	sub := p.rel.sub
	b.r.refs = append(b.r.refs, sub.refs...)
	lay, _ := wholeLayout(p.rel)
	f, err := b.filterNode(sub.node, lay, p.filter, p)
	return f, lay, err
}

func (b *builder) cteScan(p *path) (plan.Node, *layout, error) {
	lay, cols := wholeLayout(p.rel)
	filter, err := b.condition(p.filter, lay)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range b.r.ps.work {
		if w.cte == p.rel.entry.CTE {
			n := &plan.WorkTableScan{Union: w.node, Filter: filter, Alias: p.rel.entry.Alias}
			n.Cols = cols
			setCost(&n.NodeBase, p)
			return n, lay, nil
		}
	}
	n := &plan.CTEScan{CTE: b.r.ps.ctes[p.rel.entry.CTE].index, Filter: filter, Alias: p.rel.entry.Alias}
	n.Cols = cols
	setCost(&n.NodeBase, p)
	return n, lay, nil
}

func (b *builder) result(p *path) (plan.Node, *layout, error) {
	filter, err := b.condition(p.filter, &layout{})
	if err != nil {
		return nil, nil, err
	}
	n := &plan.Result{Filter: filter}
	lay := &layout{}
	// A region without rows still has its columns: they are NULL.
	p.rels.each(func(rte int) {
		e := b.r.q.RTable[rte]
		for _, a := range b.r.attrs[rte] {
			t := plan.Typed{Type: types.TextOID, Typmod: -1, Loc: -1}
			if a > 0 && int(a) <= len(e.Cols) {
				t = e.Cols[a-1].Typed
			} else if a < 0 {
				t.Type = systemColumns[-a-1].typ
			}
			n.Exprs = append(n.Exprs, nullOf(t))
			n.Cols = append(n.Cols, plan.Column{Typed: t})
			lay.cols = append(lay.cols, layoutCol{rte: rte, attno: int(a)})
		}
		if b.r.rowIDs[rte] {
			t := plan.Typed{Type: types.ByteaOID, Typmod: -1, Loc: -1}
			n.Exprs = append(n.Exprs, nullOf(t))
			n.Cols = append(n.Cols, plan.Column{Typed: t})
			lay.cols = append(lay.cols, layoutCol{rte: rte, attno: rowIDAttno, rowID: true})
		}
		if t, ok := b.r.wholeRows[rte]; ok {
			n.Exprs = append(n.Exprs, nullOf(t))
			n.Cols = append(n.Cols, plan.Column{Typed: t})
			lay.cols = append(lay.cols, layoutCol{rte: rte})
		}
	})
	setCost(&n.NodeBase, p)
	return n, lay, nil
}

// filterNode puts a Filter over a node when there is a condition.
func (b *builder) filterNode(n plan.Node, lay *layout, quals []plan.Expr, p *path) (plan.Node, error) {
	if len(quals) == 0 {
		return n, nil
	}
	cond, err := b.condition(quals, lay)
	if err != nil {
		return nil, err
	}
	f := &plan.Filter{Cond: cond}
	f.Input, f.Cols = n, n.Base().Cols
	setCost(&f.NodeBase, p)
	return f, nil
}

// nest builds a nested loop; parameters that the right side uses and the left side has are set by it.
func (b *builder) nest(p *path) (plan.Node, *layout, error) {
	left, ll, err := b.build(p.left)
	if err != nil {
		return nil, nil, err
	}
	outer := b.r.refs
	b.r.refs = nil
	right, rl, err := b.build(p.right)
	refs := b.r.refs
	b.r.refs = outer
	if err != nil {
		return nil, nil, err
	}
	n := &plan.NestLoop{}
	for i := range refs {
		if !refs[i].rels.within(p.left.rels) {
			b.r.refs = append(b.r.refs, refs[i])
			continue
		}
		arg, err := b.r.conv(refs[i].expr, ll)
		if err != nil {
			return nil, nil, err
		}
		n.ParamIDs, n.Args = append(n.ParamIDs, refs[i].id), append(n.Args, arg)
	}
	return b.finishJoin(n, &n.Join, p, left, right, ll, rl)
}

func (b *builder) hashJoin(p *path) (plan.Node, *layout, error) {
	left, ll, err := b.build(p.left)
	if err != nil {
		return nil, nil, err
	}
	right, rl, err := b.build(p.right)
	if err != nil {
		return nil, nil, err
	}
	n := &plan.HashJoin{Keys: make([]plan.HashKey, len(p.hash))}
	for i, k := range p.hash {
		if k.Left, err = b.r.conv(k.Left, ll); err != nil {
			return nil, nil, err
		}
		if k.Right, err = b.r.conv(k.Right, rl); err != nil {
			return nil, nil, err
		}
		n.Keys[i] = k
	}
	return b.finishJoin(n, &n.Join, p, left, right, ll, rl)
}

func (b *builder) finishJoin(node plan.Node, j *plan.Join, p *path, left, right plan.Node, ll, rl *layout) (plan.Node, *layout, error) {
	both := concat(ll, rl)
	cond, err := b.condition(p.quals, both)
	if err != nil {
		return nil, nil, err
	}
	j.Type, j.Left, j.Right, j.Cond = p.join, left, right, cond
	lay := both
	j.Cols = append(append([]plan.Column(nil), left.Base().Cols...), right.Base().Cols...)
	if p.join == plan.JoinSemi || p.join == plan.JoinAnti {
		lay, j.Cols = ll, left.Base().Cols
	}
	setCost(&j.NodeBase, p)
	out, err := b.filterNode(node, lay, p.above, p)
	return out, lay, err
}

// unique builds Distinct over the keys of a semi join's right side.
func (b *builder) unique(p *path) (plan.Node, *layout, error) {
	in, lay, err := b.build(p.left)
	if err != nil {
		return nil, nil, err
	}
	n := &plan.Distinct{}
	for _, k := range p.keys {
		e, err := b.r.conv(k, lay)
		if err != nil {
			return nil, nil, err
		}
		n.Keys = append(n.Keys, b.r.ps.b.hashKeyOf(e))
	}
	n.Input, n.Cols = in, in.Base().Cols
	setCost(&n.NodeBase, p)
	return n, lay, nil
}

// hashKeyOf groups by an expression. A domain's values are those of its base type.
func (b *binder) hashKeyOf(e plan.Expr) plan.HashKey {
	return plan.HashKey{Left: e, Type: b.baseType(e.T().Type), Collation: e.T().Collation, NullsEqual: true}
}

// recheckScan yields the row of a relation that the caller sets.
func (b *builder) recheckScan(p *path) (plan.Node, *layout, error) {
	lay, cols, attrs := b.r.relLayout(p.rel, nil)
	if p.shape == shapeFunction || p.shape == shapeValues || p.shape == shapeSub || p.shape == shapeCTE {
		lay, cols = wholeLayout(p.rel)
		attrs = make([]int16, len(cols))
		for i := range attrs {
			attrs[i] = int16(i + 1)
		}
	}
	if t, ok := b.r.wholeRows[p.rel.rte]; ok {
		// Such a relation is never the one that has changed: its columns come from the original row.
		lay = &layout{cols: append(lay.cols[:len(lay.cols):len(lay.cols)], layoutCol{rte: p.rel.rte})}
		cols = append(cols[:len(cols):len(cols)], plan.Column{Typed: t})
	}
	filter, err := b.condition(p.all, lay)
	if err != nil {
		return nil, nil, err
	}
	n := &plan.RecheckScan{Rel: p.rel.table, RTE: p.rel.rte, Attnos: attrs, Filter: filter, RowID: b.r.rowIDs[p.rel.rte], Col: b.cols[p.rel.rte]}
	n.Cols = cols
	n.Rows = 1
	return n, lay, nil
}
