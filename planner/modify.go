package planner

import (
	"sync"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// planModify plans INSERT, UPDATE, DELETE or MERGE; the output is RETURNING's columns.
func (r *root) planModify() (plan.Node, error) {
	if err := r.prepareCTEs(); err != nil {
		return nil, err
	}
	q := r.q
	rel := q.RTable[q.Result].Rel
	m, err := r.ps.tableNode(rel)
	if err != nil {
		return nil, err
	}
	c := *m
	m = &c
	m.Command, m.RTE, m.Alias, m.RowIDCol = q.Command, q.Result, q.RTable[q.Result].Alias, -1
	if q.Command == plan.CmdInsert {
		return r.planInsert(m)
	}
	return r.planWrite(m)
}

// tableParts are the bound checks, generated columns and index expressions of a table, shared by all plans.
type tableParts struct {
	checks    []plan.CheckExpr
	notNull   []int16
	generated []plan.GeneratedExpr
	indexes   []plan.IndexExprs
}

type partsCache struct {
	mu sync.RWMutex
	m  map[storedID]*tableParts
}

var tablePartsCache partsCache

const maxTableParts = 10000

// parts binds a table's stored expressions, once for a version of the catalog.
func (b *binder) parts(rel *catalog.Relation) (*tableParts, error) {
	key, cacheable := b.storedKey(rel)
	c := &tablePartsCache
	if cacheable {
		c.mu.RLock()
		p := c.m[key]
		c.mu.RUnlock()
		if p != nil {
			return p, nil
		}
	}
	p, err := b.bindParts(rel)
	if err != nil || !cacheable {
		return p, err
	}
	c.mu.Lock()
	if c.m == nil || len(c.m) >= maxTableParts {
		c.m = map[storedID]*tableParts{}
	}
	c.m[key] = p
	c.mu.Unlock()
	return p, nil
}

func (b *binder) bindParts(rel *catalog.Relation) (*tableParts, error) {
	p := &tableParts{}
	for i := range rel.Columns {
		c := &rel.Columns[i]
		if c.Dropped {
			continue
		}
		if c.NotNull {
			p.notNull = append(p.notNull, c.Num)
		}
		if c.Generated == "" {
			continue
		}
		e, err := b.relExpr(rel, c.Generated, kindGenerated)
		if err != nil {
			return nil, err
		}
		if e, err = b.columnValue(e, c, UseGenerated); err != nil {
			return nil, err
		}
		p.generated = append(p.generated, plan.GeneratedExpr{Attno: c.Num, Expr: b.rowSlots(e, rel)})
	}
	for _, c := range rel.Constraints {
		if c.Type != 'c' {
			continue
		}
		e, err := b.relExpr(rel, c.Expr, kindCheck)
		if err != nil {
			return nil, err
		}
		if e, err = b.toBoolean(e, "CHECK"); err != nil {
			return nil, err
		}
		p.checks = append(p.checks, plan.CheckExpr{Name: c.Name, OID: c.OID, Expr: b.rowSlots(e, rel)})
	}
	for _, ix := range rel.Indexes {
		x := plan.IndexExprs{Index: ix}
		for i := range ix.Keys {
			k := &ix.Keys[i]
			var e plan.Expr
			if k.Attno == 0 {
				var err error
				if e, err = b.relExpr(rel, k.Expr, kindIndexExpr); err != nil {
					return nil, err
				}
				e = b.rowSlots(e, rel)
			}
			x.Exprs = append(x.Exprs, e)
		}
		if ix.Pred != "" {
			e, err := b.relExpr(rel, ix.Pred, kindIndexPred)
			if err != nil {
				return nil, err
			}
			x.Pred = b.rowSlots(e, rel)
		}
		p.indexes = append(p.indexes, x)
	}
	return p, nil
}

// rowSlots turns Vars of a stored expression into slots of a whole row: column attno is slot attno-1.
// The table's OID is known, a whole row is made of its columns.
func (b *binder) rowSlots(e plan.Expr, rel *catalog.Relation) plan.Expr {
	return rewrite(e, func(x plan.Expr) plan.Expr {
		v, ok := x.(*plan.Var)
		switch {
		case ok && v.Attno > 0:
			return b.plain(&plan.Slot{Typed: v.Typed, Index: v.Attno - 1})
		case ok && v.Attno == tableOIDAttno:
			return &plan.Const{Typed: v.Typed, Value: types.Int(int64(rel.OID))}
		case ok && v.Attno == 0:
			row := &plan.RowExpr{Typed: v.Typed, Implicit: true}
			for i, c := range relColumns(rel) {
				var f plan.Expr = &plan.Slot{Typed: c.Typed, Index: i}
				if c.Name == "" {
					f = &plan.Const{Typed: c.Typed, Value: types.NullDatum}
				}
				row.Args, row.Names = append(row.Args, b.plain(f)), append(row.Names, c.Name)
			}
			return b.plain(row)
		}
		return b.plain(x)
	})
}

// tableNode has what every write to a table must check; one a relation and plan.
func (ps *planState) tableNode(rel *catalog.Relation) (*plan.ModifyTable, error) {
	if m := ps.tables[rel.OID]; m != nil {
		return m, nil
	}
	p, err := ps.b.parts(rel)
	if err != nil {
		return nil, err
	}
	m := &plan.ModifyTable{Rel: rel, Checks: p.checks, NotNull: p.notNull, Generated: p.generated, Indexes: p.indexes, RowIDCol: -1}
	if len(rel.ReferencedBy) == 0 && !hasForeignKey(rel) {
		return m, nil
	}
	if ps.tables == nil {
		ps.tables = map[types.OID]*plan.ModifyTable{}
	}
	ps.tables[rel.OID] = m
	for _, c := range rel.Constraints {
		if c.Type != 'f' {
			continue
		}
		parent := rel
		if c.Ref != rel.OID {
			if parent, err = ps.b.cat.RelationByOID(c.Ref); err != nil {
				return nil, err
			}
		}
		if parent == nil {
			return nil, sqlerr.Internal("relation %d referenced by constraint \"%s\" is absent", c.Ref, c.Name)
		}
		ps.useTable(parent, plan.LockRowShare)
		fk, err := ps.foreignKey(c, rel, parent)
		if err != nil {
			return nil, err
		}
		m.ForeignKeys = append(m.ForeignKeys, fk)
	}
	for i, id := range rel.ReferencedBy {
		if err := ps.referencedBy(m, rel, id, rel.ReferencedByRel[i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func hasForeignKey(rel *catalog.Relation) bool {
	for _, c := range rel.Constraints {
		if c.Type == 'f' {
			return true
		}
	}
	return false
}

// useTable has the plan lock another table.
func (ps *planState) useTable(rel *catalog.Relation, lock uint8) {
	for i := range ps.out.Tables {
		if ps.out.Tables[i].OID == rel.OID {
			ps.out.Tables[i].Lock = max(ps.out.Tables[i].Lock, lock)
			return
		}
	}
	ps.out.Tables = append(ps.out.Tables, plan.TableLock{OID: rel.OID, Lock: lock})
}

// referencedBy adds a foreign key of another table that refers to this one.
func (ps *planState) referencedBy(m *plan.ModifyTable, rel *catalog.Relation, con, childOID types.OID) error {
	child := rel
	if childOID != rel.OID {
		var err error
		if child, err = ps.b.cat.RelationByOID(childOID); err != nil {
			return err
		}
	}
	if child == nil {
		return sqlerr.Internal("relation %d that references \"%s\" is absent", childOID, rel.Name)
	}
	for _, c := range child.Constraints {
		if c.OID != con {
			continue
		}
		fk, err := ps.foreignKey(c, child, rel)
		if err != nil {
			return err
		}
		lock := plan.LockRowShare
		if acts(c.OnDelete) || acts(c.OnUpdate) {
			lock = plan.LockRowExclusive
			t, err := ps.tableNode(child)
			if err != nil {
				return err
			}
			fk.ChildTable = t
			if c.OnDelete == 'd' || c.OnUpdate == 'd' {
				if fk.Defaults, err = ps.defaults(child, c); err != nil {
					return err
				}
			}
		}
		ps.useTable(child, lock)
		m.ReferencedBy = append(m.ReferencedBy, fk)
	}
	return nil
}

func acts(action byte) bool { return action == 'c' || action == 'n' || action == 'd' }

// defaults binds the defaults of a foreign key's columns.
func (ps *planState) defaults(child *catalog.Relation, c *catalog.Constraint) ([]plan.Expr, error) {
	out := make([]plan.Expr, len(c.Cols))
	s := &scope{b: ps.b, q: &plan.Query{}, targetRel: -1}
	for i, attno := range c.Cols {
		e, err := s.defaultValue(child, &child.Columns[attno-1])
		if err != nil {
			return nil, err
		}
		if k, ok := e.(*plan.Const); !ok || !k.Value.Null {
			out[i] = e
		}
	}
	return out, nil
}

// planInsert plans the source of an INSERT and what it feeds.
func (r *root) planInsert(m *plan.ModifyTable) (plan.Node, error) {
	q := r.q
	for _, a := range q.InsertCols {
		m.SetAttnos = append(m.SetAttnos, int16(a))
	}
	in, err := r.insertSource()
	if err != nil {
		return nil, err
	}
	m.Input = in
	if q.OnConflict != nil {
		if m.OnConflict, err = r.conflict(m.Rel); err != nil {
			return nil, err
		}
	}
	return r.finishModify(m, &layout{})
}

// insertSource plans the rows of an INSERT as a query whose targets are all columns.
func (r *root) insertSource() (plan.Node, error) {
	q := r.q
	if n, err := r.insertValues(); n != nil || err != nil {
		return n, err
	}
	src := *q
	src.Command, src.Result, src.OnConflict, src.Returning, src.CTEs = plan.CmdSelect, -1, nil, nil, nil
	src.HasAggs = false
	child := &root{ps: r.ps, parent: r.parent, q: &src, level: r.level}
	n, err := child.planSelect()
	r.needs = append(r.needs, child.needs...)
	return n, err
}

// insertValues makes VALUES rows whole at plan time: one Values node without a projection.
func (r *root) insertValues() (plan.Node, error) {
	q := r.q
	rte := -1
	rows := [][]plan.Expr{nil}
	switch {
	case len(q.From) == 0:
	case len(q.From) == 1:
		ref, ok := q.From[0].(plan.RangeRef)
		if !ok || q.RTable[ref.RTE].Kind != plan.RTEValues {
			return nil, nil
		}
		rte = ref.RTE
		rows = q.RTable[rte].Values
	default:
		return nil, nil
	}
	if q.HasSRF {
		return nil, nil
	}
	f := &folder{ps: r.ps}
	n := &plan.Values{Lists: make([][]plan.Expr, len(rows))}
	empty := &layout{}
	for i, row := range rows {
		list := make([]plan.Expr, len(q.Targets))
		for k, t := range q.Targets {
			e := t.Expr
			if rte >= 0 {
				e = rewrite(e, func(x plan.Expr) plan.Expr {
					if v, ok := x.(*plan.Var); ok && v.RTE == rte && v.LevelsUp == 0 {
						return row[v.Attno-1]
					}
					return x
				})
			}
			x, err := r.conv(f.expr(e), empty)
			if err != nil {
				return nil, err
			}
			list[k] = x
		}
		n.Lists[i] = list
	}
	if f.err != nil {
		return nil, f.err
	}
	n.Cols = make([]plan.Column, len(q.Targets))
	for k, t := range q.Targets {
		n.Cols[k] = plan.Column{Name: t.Name, Typed: *t.Expr.T()}
	}
	n.Rows = float64(len(rows))
	n.Total = n.Rows * costTuple
	return n, nil
}

// targetLayout is a row of the target table at slots from..: attno-1 onwards.
func targetLayout(lay *layout, rte int, rel *catalog.Relation) {
	for i := range rel.Columns {
		lay.cols = append(lay.cols, layoutCol{rte: rte, attno: i + 1})
	}
}

// conflict plans ON CONFLICT.
func (r *root) conflict(rel *catalog.Relation) (*plan.ConflictAction, error) {
	oc := r.q.OnConflict
	a := &plan.ConflictAction{Update: oc.Update}
	for _, id := range oc.Arbiters {
		if rel.PrimaryKey != nil && rel.PrimaryKey.OID == id {
			a.ArbiterPK = true
			continue
		}
		for _, ix := range rel.Indexes {
			if ix.OID == id {
				a.Arbiters = append(a.Arbiters, ix)
			}
		}
	}
	lay := &layout{}
	targetLayout(lay, r.q.Result, rel)
	targetLayout(lay, oc.ExcludedRTE, rel)
	f := &folder{ps: r.ps}
	for _, t := range oc.Set {
		e, err := r.conv(f.expr(t.Expr), lay)
		if err != nil {
			return nil, err
		}
		a.SetAttnos, a.Set = append(a.SetAttnos, int16(t.Attno)), append(a.Set, e)
	}
	w, err := r.conv(f.expr(oc.Where), lay)
	if err != nil {
		return nil, err
	}
	a.Where = w
	return a, f.err
}

// planWrite plans UPDATE, DELETE and MERGE.
func (r *root) planWrite(m *plan.ModifyTable) (plan.Node, error) {
	q := r.q
	r.needRowID(q.Result)
	if err := r.prepare(); err != nil {
		return nil, err
	}
	q = r.q
	g, err := r.buildRegion(r.jt)
	if err != nil {
		return nil, err
	}
	r.collectAttrs(g)
	paths, err := r.planRegion(g)
	if err != nil {
		return nil, err
	}
	p := cheapest(paths, 0)
	if p == nil {
		return nil, sqlerr.Internal("no path without outer parameters")
	}
	b := &builder{r: r}
	r.refs = nil
	n, lay, err := b.build(p)
	if err != nil {
		return nil, err
	}
	if q.Command == plan.CmdMerge {
		return r.planMerge(m, p, n, lay)
	}
	out := r.writeLayout(lay)
	if n, err = r.writeProject(n, lay, out); err != nil {
		return nil, err
	}
	if q.Command == plan.CmdUpdate {
		for _, t := range q.Targets {
			m.SetAttnos = append(m.SetAttnos, int16(t.Attno))
		}
	}
	m.Input = n
	m.RowIDCol = out.find(q.Result, rowIDAttno)
	m.RecheckCols = len(out.cols)
	if m.RowIDCol >= 0 {
		m.Recheck, err = r.recheckPlan(p, out, func(n plan.Node, lay *layout) (plan.Node, error) { return r.writeProject(n, lay, out) })
		if err != nil {
			return nil, err
		}
	}
	return r.finishModify(m, out)
}

// writeLayout is ModifyTable's input: new values, columns of the other relations, the row's identity.
func (r *root) writeLayout(lay *layout) *layout {
	out := &layout{}
	if r.q.Command == plan.CmdUpdate {
		for _, t := range r.q.Targets {
			out.cols = append(out.cols, layoutCol{rte: -1, expr: t.Expr})
		}
	}
	for _, c := range lay.cols {
		if c.expr == nil && c.rte != r.q.Result {
			out.cols = append(out.cols, c)
		}
	}
	for _, c := range lay.cols {
		if c.rowID && c.rte == r.q.Result {
			out.cols = append(out.cols, c)
		}
	}
	return out
}

// writeProject computes the columns of writeLayout.
func (r *root) writeProject(n plan.Node, lay, out *layout) (plan.Node, error) {
	p := &plan.Project{}
	in := n.Base()
	for _, c := range out.cols {
		if c.expr != nil {
			e, err := r.conv(c.expr, lay)
			if err != nil {
				return nil, err
			}
			p.Exprs = append(p.Exprs, e)
			p.Cols = append(p.Cols, plan.Column{Typed: *c.expr.T()})
			continue
		}
		i := lay.find(c.rte, c.attno)
		if i < 0 {
			return nil, sqlerr.Internal("column %d of relation %d is not in the input", c.attno, c.rte)
		}
		p.Exprs = append(p.Exprs, &plan.Slot{Typed: in.Cols[i].Typed, Index: i})
		p.Cols = append(p.Cols, in.Cols[i])
	}
	if sameColumns(p.Exprs, len(in.Cols)) {
		return n, nil
	}
	p.Input = n
	p.Rows, p.Startup, p.Total, p.Width = in.Rows, in.Startup, in.Total+in.Rows*costOperator, in.Width
	return p, nil
}

// finishModify adds RETURNING; in is the layout of the input.
func (r *root) finishModify(m *plan.ModifyTable, in *layout) (plan.Node, error) {
	q := r.q
	base := m.Input.Base()
	m.Rows, m.Startup, m.Total = 0, base.Startup, base.Total+base.Rows*costFetch
	if len(q.Returning) == 0 {
		return m, nil
	}
	m.Rows, m.Width = base.Rows, base.Width
	lay := &layout{}
	targetLayout(lay, q.Result, m.Rel)
	for _, c := range in.cols {
		c.expr = nil
		if c.rte == q.Result || c.rte < 0 {
			c.rte = -3 // new values and the row identity are not readable by name
		}
		lay.cols = append(lay.cols, c)
	}
	f := &folder{ps: r.ps}
	for _, t := range q.Returning {
		e := f.expr(t.Expr)
		x, err := r.conv(r.returningSystem(e, m), lay)
		if err != nil {
			return nil, err
		}
		m.Returning = append(m.Returning, x)
		m.Cols = append(m.Cols, plan.Column{Name: t.Name, Typed: *t.Expr.T()})
	}
	if m.ReturningSystem {
		return nil, sqlerr.Unsupported("a system column of the target table in RETURNING")
	}
	return m, f.err
}

// returningSystem replaces tableoid of the target by its value and notes other system columns.
func (r *root) returningSystem(e plan.Expr, m *plan.ModifyTable) plan.Expr {
	return rewrite(e, func(x plan.Expr) plan.Expr {
		v, ok := x.(*plan.Var)
		if !ok || v.LevelsUp != 0 || v.RTE != r.q.Result || v.Attno >= 0 {
			return x
		}
		if v.Attno == -6 {
			return &plan.Const{Typed: v.Typed, Value: types.Int(int64(m.Rel.OID))}
		}
		m.ReturningSystem = true
		return x
	})
}
