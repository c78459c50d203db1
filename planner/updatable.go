package planner

import (
	"slices"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
)

// viewTarget is an automatically updatable view that a statement writes: its columns as columns of the base table.
type viewTarget struct {
	view   *catalog.Relation
	base   *catalog.Relation
	attnos []int // for each view column the attribute number in base, 0 = not a plain column
	quals  plan.Expr
	reads  []int16     // columns of base that the view's query reads
	under  *viewTarget // the view below, nil when this one is over a table
	rte    *plan.RTE   // that stands for the view's rights in the statement
}

// updatable resolves a simple view over one table, through views over views. It returns nil and a reason when the view is not one.
func (b *binder) updatable(view *catalog.Relation, depth int) (*viewTarget, string, error) {
	if depth > maxViewDepth {
		return nil, "", tooDeep()
	}
	q, err := b.viewQuery(view)
	if err != nil {
		return nil, "", err
	}
	if why := notUpdatable(q); why != "" {
		return nil, why, nil
	}
	ref := q.From[0].(plan.RangeRef)
	rte := q.RTable[ref.RTE]
	t := &viewTarget{view: view, base: rte.Rel, quals: onRTE(q.Where, ref.RTE, 0)}
	for _, tg := range q.Targets {
		n := 0
		if v, ok := tg.Expr.(*plan.Var); ok && v.Attno > 0 && v.LevelsUp == 0 {
			n = v.Attno
		}
		t.attnos = append(t.attnos, n)
	}
	t.reads = usedColumns(q, ref.RTE)
	if rte.Rel.Kind != catalog.KindView {
		return t, "", nil
	}
	inner, why, err := b.updatable(rte.Rel, depth+1)
	if inner == nil {
		return nil, why, err
	}
	bad := false
	if t.quals != nil {
		t.quals = rewrite(t.quals, func(e plan.Expr) plan.Expr {
			v, ok := e.(*plan.Var)
			if !ok || v.Attno <= 0 || v.LevelsUp > 0 {
				return e
			}
			n := *v
			if n.Attno = inner.attnos[v.Attno-1]; n.Attno == 0 {
				bad = true
			}
			return &n
		})
	}
	if bad {
		return nil, "Views that do not select from a single table or view are not automatically updatable.", nil
	}
	for i, a := range t.attnos {
		if a > 0 {
			t.attnos[i] = inner.attnos[a-1]
		}
	}
	t.base, t.under = inner.base, inner
	t.quals = andExprs(append(splitAnd(nil, inner.quals), splitAnd(nil, t.quals)...))
	return t, "", nil
}

// notUpdatable is view_query_is_auto_updatable: "" or PostgreSQL's reason.
func notUpdatable(q *plan.Query) string {
	const single = "Views that do not select from a single table or view are not automatically updatable."
	switch {
	case q.Distinct || len(q.DistinctOn) > 0:
		return "Views containing DISTINCT are not automatically updatable."
	case len(q.GroupBy) > 0 || q.GroupingSets != nil:
		return "Views containing GROUP BY are not automatically updatable."
	case q.Having != nil:
		return "Views containing HAVING are not automatically updatable."
	case q.SetOp != nil:
		return "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable."
	case len(q.CTEs) > 0:
		return "Views containing WITH are not automatically updatable."
	case q.Limit != nil || q.Offset != nil:
		return "Views containing LIMIT or OFFSET are not automatically updatable."
	case q.HasAggs:
		return "Views that return aggregate functions are not automatically updatable."
	case q.HasWindow:
		return "Views that return window functions are not automatically updatable."
	case q.HasSRF:
		return "Views that return set-returning functions are not automatically updatable."
	}
	if len(q.From) != 1 {
		return single
	}
	ref, ok := q.From[0].(plan.RangeRef)
	if !ok {
		return single
	}
	r := q.RTable[ref.RTE]
	if r.Kind != plan.RTERelation || r.Rel.Virtual != nil || r.Rel.Kind != catalog.KindTable && r.Rel.Kind != catalog.KindView {
		return single
	}
	for _, t := range q.Targets {
		if v, ok := t.Expr.(*plan.Var); ok && v.Attno > 0 {
			return ""
		}
	}
	return "Views that have no updatable columns are not automatically updatable."
}

// viewItem makes the names by which a statement sees the base table of a view it writes.
func (s *scope) viewItem(t *viewTarget, rte int) (*nsItem, error) {
	r := s.q.RTable[rte]
	it := s.newItem(rte)
	it.relOID = 0
	for i := range t.view.Columns {
		c := &t.view.Columns[i]
		if t.attnos[i] == 0 {
			return nil, sqlerr.Unsupported("writing to view \"%s\", whose column \"%s\" is not a column of its base relation,", t.view.Name, c.Name)
		}
		it.cols = append(it.cols, nsColumn{name: c.Name, rte: rte, attno: t.attnos[i], typ: r.Cols[t.attnos[i]-1].Typed})
	}
	return it, nil
}

// viewRights says which rights a statement through a view needs on the columns of the views and of their table; reads says that it
// reads columns otherwise than by an expression.
func (s *scope) viewRights(reads bool) {
	q := *s.q
	q.Where = s.asked
	base := s.q.RTable[q.Result]
	used := usedColumns(&q, q.Result)
	reads = reads || len(used) > 0
	for v := s.view; v != nil; v = v.under {
		v.rte.Written, v.rte.Updated = v.columns(base.Written), v.columns(base.Updated)
		if reads {
			v.rte.Need |= plan.RightSelect
			v.rte.Read = v.columns(used)
		}
		if below := v.under; below != nil {
			below.rte.Read = append(below.rte.Read, v.reads...)
		} else {
			base.Read = v.reads
		}
	}
	if reads {
		base.Need |= plan.RightSelect
	}
}

// columns are the numbers of the view's columns that are columns of the table.
func (t *viewTarget) columns(base []int16) []int16 {
	var out []int16
	for i, a := range t.attnos {
		if a > 0 && slices.Contains(base, int16(a)) {
			out = append(out, int16(i+1))
		}
	}
	return out
}

// viewDefault is the default that the view which a statement writes has for a column of its table, nil when it has none.
func (s *scope) viewDefault(rel *catalog.Relation, at int) (plan.Expr, error) {
	if s.view == nil {
		return nil, nil
	}
	i := slices.Index(s.view.attnos, at+1)
	if i < 0 || s.view.view.Columns[i].Default == "" {
		return nil, nil
	}
	c := &rel.Columns[at]
	if c.Generated != "" {
		return nil, sqlerr.New(sqlerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column \"%s\"", c.Name).WithDetail("Column \"%s\" is a generated column.", c.Name)
	}
	e, err := s.b.relExpr(s.view.view, s.view.view.Columns[i].Default, kindDefault)
	if err != nil {
		return nil, err
	}
	return s.assign(e, c, -1)
}

// viewDefaults gives columns without a value the defaults of the view that is written.
func (s *scope) viewDefaults(rel *catalog.Relation, values []plan.Expr) error {
	for at := range values {
		if s.view == nil || values[at] != nil {
			continue
		}
		v, err := s.viewDefault(rel, at)
		if err != nil {
			return err
		}
		values[at] = v
	}
	return nil
}
