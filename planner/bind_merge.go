package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
)

// bindMerge is transformMergeStmt. The source is joined to the target, from the left when a WHEN NOT MATCHED inserts.
func (s *scope) bindMerge(x *ast.Merge) (*plan.Query, error) {
	s.newQuery(plan.CmdMerge)
	if x.With != nil {
		if x.With.Recursive {
			return nil, sqlerr.New(sqlerr.SyntaxError, "WITH RECURSIVE is not supported for MERGE statement")
		}
		if err := s.bindWith(x.With); err != nil {
			return nil, err
		}
	}
	if err := s.checkMergeWhens(x); err != nil {
		return nil, err
	}
	item, rel, err := s.mergeTarget(x)
	if err != nil {
		return nil, err
	}
	source, err := s.mergeJoin(x, item)
	if err != nil {
		return nil, err
	}
	for i := range x.Whens {
		if err := s.mergeWhen(&x.Whens[i], rel, item, source); err != nil {
			return nil, err
		}
	}
	s.selectRight(false)
	return s.q, nil
}

// checkMergeWhens refuses a WHEN behind one of its kind that has no condition.
func (s *scope) checkMergeWhens(x *ast.Merge) error {
	var always [2]bool
	for i := range x.Whens {
		w := &x.Whens[i]
		kind := &always[0]
		if w.Matched {
			kind = &always[1]
		}
		if *kind {
			return sqlerr.New(sqlerr.SyntaxError, "unreachable WHEN clause specified after unconditional WHEN clause")
		}
		*kind = w.Cond == nil
	}
	return nil
}

// mergeTarget opens the table that is written and says which rights the actions need.
func (s *scope) mergeTarget(x *ast.Merge) (*nsItem, *catalog.Relation, error) {
	rel, err := s.openRelation(x.Table.Name)
	if err != nil {
		return nil, nil, err
	}
	if what := map[catalog.RelKind]string{catalog.KindView: "views", catalog.KindMatView: "materialized views", catalog.KindSequence: "sequences"}[rel.Kind]; what != "" {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot execute MERGE on relation \"%s\"", rel.Name).
			WithDetail("This operation is not supported for %s.", what)
	}
	var need uint32
	for i := range x.Whens {
		switch x.Whens[i].Action {
		case ast.MergeInsert:
			need |= plan.RightInsert
		case ast.MergeUpdate:
			need |= plan.RightUpdate
		case ast.MergeDelete:
			need |= plan.RightDelete
		}
	}
	return s.targetTable(x.Table, need, "merge into")
}

// mergeJoin binds the source, which does not see the target, and joins both by ON.
func (s *scope) mergeJoin(x *ast.Merge, item *nsItem) ([]*nsItem, error) {
	if err := s.bindFrom([]ast.FromItem{x.Source}); err != nil {
		return nil, err
	}
	source := s.ns
	for _, it := range source {
		if it.relVis && it.alias == item.alias {
			return nil, sqlerr.New(sqlerr.DuplicateAlias, "name \"%s\" specified more than once", item.alias).
				WithDetail("The name is used both as MERGE target table and data source.")
		}
	}
	j := &plan.JoinExpr{Type: plan.JoinInner, Left: s.q.From[0], Right: plan.RangeRef{RTE: item.rte}}
	for i := range x.Whens {
		if x.Whens[i].Action == ast.MergeInsert {
			j.Type = plan.JoinLeft
		}
	}
	s.ns = append([]*nsItem{item}, source...)
	on, err := s.expr(x.On, kindJoinOn)
	if err != nil {
		return nil, err
	}
	if j.On, err = s.b.toBoolean(on, "JOIN/ON"); err != nil {
		return nil, err
	}
	m := &mergedJoin{}
	if _, _, _, err := s.finishJoin(&ast.Join{}, j, m, nil, 0); err != nil {
		return nil, err
	}
	s.q.From[0] = j
	return source, nil
}

// mergeWhen binds one WHEN: its condition, then its values. WHEN NOT MATCHED does not see the target.
func (s *scope) mergeWhen(w *ast.MergeWhen, rel *catalog.Relation, item *nsItem, source []*nsItem) error {
	s.ns = source
	if w.Matched {
		s.ns = append([]*nsItem{item}, source...)
	}
	a := plan.MergeWhen{Matched: w.Matched, Cond: -1}
	if w.Cond != nil {
		c, err := s.condition(w.Cond, kindMergeWhen, "WHEN")
		if err != nil {
			return err
		}
		a.Cond = len(s.q.Targets)
		s.q.Targets = append(s.q.Targets, &plan.Target{Expr: c})
	}
	var values []*plan.Target
	var err error
	switch w.Action {
	case ast.MergeInsert:
		a.Command = plan.CmdInsert
		values, err = s.mergeInsert(w, rel)
	case ast.MergeUpdate:
		a.Command = plan.CmdUpdate
		values, err = s.setClause(s.withOnUpdate(w.Set, rel), rel)
	case ast.MergeDelete:
		a.Command = plan.CmdDelete
	}
	if err != nil {
		return err
	}
	a.From = len(s.q.Targets)
	s.q.Targets = append(s.q.Targets, values...)
	a.To = len(s.q.Targets)
	s.q.Merge = append(s.q.Merge, a)
	return nil
}

// mergeInsert binds INSERT's columns and values; the result has a value for every column.
func (s *scope) mergeInsert(w *ast.MergeWhen, rel *catalog.Relation) ([]*plan.Target, error) {
	s.q.Overriding = [...]byte{0, 'u', 's'}[w.Overriding]
	x := &ast.Insert{Loc: w.Loc, Columns: w.Columns}
	cols, err := s.insertColumns(rel, x)
	if err != nil {
		return nil, err
	}
	values := make([]plan.Expr, len(rel.Columns))
	if len(w.Values) > 0 {
		if err := s.insertRow(x, rel, cols, w.Values, values); err != nil {
			return nil, err
		}
	}
	return s.insertTargets(rel, values)
}

// planMerge plans what MERGE does with the rows that n joins, by the layout lay; p is the path of n.
func (r *root) planMerge(m *plan.ModifyTable, p *path, n plan.Node, lay *layout) (plan.Node, error) {
	f := &folder{ps: r.ps}
	for _, w := range r.q.Merge {
		a := plan.MergeAction{Matched: w.Matched, Command: w.Command}
		var err error
		if w.Cond >= 0 {
			if a.Cond, err = r.conv(f.expr(r.q.Targets[w.Cond].Expr), lay); err != nil {
				return nil, err
			}
		}
		for _, t := range r.q.Targets[w.From:w.To] {
			e, err := r.conv(f.expr(t.Expr), lay)
			if err != nil {
				return nil, err
			}
			a.SetAttnos, a.Set = append(a.SetAttnos, int16(t.Attno)), append(a.Set, e)
		}
		m.Merge = append(m.Merge, a)
	}
	if f.err != nil {
		return nil, f.err
	}
	m.Input = n
	m.RowIDCol = lay.find(r.q.Result, rowIDAttno)
	m.RecheckCols = len(lay.cols)
	var err error
	m.Recheck, err = r.recheckPlan(p, lay, func(n plan.Node, now *layout) (plan.Node, error) { return r.writeProject(n, now, lay) })
	if err != nil {
		return nil, err
	}
	return r.finishModify(m, lay)
}
