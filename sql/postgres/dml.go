package postgres

import (
	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

func (c *converter) insert(s *pg.InsertStmt) *ast.Insert {
	out := &ast.Insert{
		Loc: ast.At(c.start), With: c.with(s.WithClause), Table: c.tableRef(s.Relation, "INSERT"),
		Columns: c.columnTargets(s.Cols), Overriding: c.overriding(s.Override), Returning: c.returning(s.ReturningClause),
	}
	if s.SelectStmt.GetNode() != nil {
		out.Source = c.subquery(s.SelectStmt)
	}
	if s.OnConflictClause != nil {
		out.OnConflict = c.onConflict(s.OnConflictClause)
	}
	return out
}

func (c *converter) overriding(o pg.OverridingKind) ast.Overriding {
	switch o {
	case pg.OverridingKind_OVERRIDING_NOT_SET, pg.OverridingKind_OVERRIDING_KIND_UNDEFINED:
		return ast.OverridingNone
	case pg.OverridingKind_OVERRIDING_USER_VALUE:
		return ast.OverridingUser
	case pg.OverridingKind_OVERRIDING_SYSTEM_VALUE:
		return ast.OverridingSystem
	}
	c.unsupported(ast.NoPos, o.String())
	return 0
}

func (c *converter) columnTargets(list []*pg.Node) []ast.ColumnTarget {
	if len(list) == 0 {
		return nil
	}
	out := make([]ast.ColumnTarget, 0, len(list))
	for _, n := range list {
		t, ok := n.GetNode().(*pg.Node_ResTarget)
		if !ok {
			c.unknown(n, "column list")
			return nil
		}
		c.refuse(t.ResTarget.Val != nil, t.ResTarget.Location, "value in a column list")
		out = append(out, c.columnTarget(t.ResTarget))
	}
	return out
}

func (c *converter) columnTarget(t *pg.ResTarget) ast.ColumnTarget {
	return ast.ColumnTarget{Loc: ast.At(t.Location), Name: t.Name, Steps: c.steps(t.Indirection)}
}

func (c *converter) returning(r *pg.ReturningClause) []ast.Target {
	if r == nil {
		return nil
	}
	c.refuse(len(r.Options) > 0, ast.NoPos, "RETURNING WITH")
	return c.targets(r.Exprs)
}

func (c *converter) onConflict(o *pg.OnConflictClause) *ast.OnConflict {
	out := &ast.OnConflict{Loc: ast.At(o.Location), Set: c.assignments(o.TargetList), Where: c.exprOrNil(o.WhereClause), InferLoc: ast.At(ast.NoPos)}
	switch o.Action {
	case pg.OnConflictAction_ONCONFLICT_NOTHING:
		c.refuse(out.Set != nil || out.Where != nil, o.Location, "SET of DO NOTHING")
	case pg.OnConflictAction_ONCONFLICT_UPDATE:
		out.DoUpdate = true
	default:
		c.unsupported(o.Location, o.Action.String())
	}
	if i := o.Infer; i != nil {
		out.InferLoc = ast.At(i.Location)
		out.Elems = c.indexElems(i.IndexElems, "ON CONFLICT")
		out.InferWhere = c.exprOrNil(i.WhereClause)
		out.Constraint = i.Conname
	}
	return out
}

// assignments converts SET lists; the parser spreads (a, b) = x over one target a column.
func (c *converter) assignments(list []*pg.Node) []ast.Assignment {
	if len(list) == 0 {
		return nil
	}
	out := make([]ast.Assignment, 0, len(list))
	for i := 0; i < len(list); {
		t, ok := list[i].GetNode().(*pg.Node_ResTarget)
		if !ok {
			c.unknown(list[i], "SET")
			return nil
		}
		m, multi := t.ResTarget.Val.GetNode().(*pg.Node_MultiAssignRef)
		if !multi {
			a := ast.Assignment{Loc: ast.At(t.ResTarget.Location), Targets: []ast.ColumnTarget{c.columnTarget(t.ResTarget)}}
			a.Value = c.expr(t.ResTarget.Val)
			out = append(out, a)
			i++
			continue
		}
		n := int(m.MultiAssignRef.Ncolumns)
		if n < 1 || i+n > len(list) {
			c.unsupported(t.ResTarget.Location, "MultiAssignRef columns")
			return nil
		}
		out = append(out, c.multiAssignment(list[i:i+n], m.MultiAssignRef))
		i += n
	}
	return out
}

func (c *converter) multiAssignment(list []*pg.Node, first *pg.MultiAssignRef) ast.Assignment {
	a := ast.Assignment{Multi: true, Loc: ast.At(list[0].GetResTarget().GetLocation())}
	for i, n := range list {
		t := n.GetResTarget()
		m := t.GetVal().GetMultiAssignRef()
		if t == nil || m == nil || int(m.Colno) != i+1 || m.Ncolumns != first.Ncolumns || m.Source != first.Source {
			c.unknown(n, "multiple assignment")
			return a
		}
		a.Targets = append(a.Targets, c.columnTarget(t))
	}
	a.Value = c.expr(first.Source)
	return a
}

func (c *converter) update(s *pg.UpdateStmt) *ast.Update {
	return &ast.Update{
		Loc: ast.At(c.start), With: c.with(s.WithClause), Table: c.tableRef(s.Relation, "UPDATE"), Set: c.assignments(s.TargetList),
		From: c.fromList(s.FromClause), Where: c.exprOrNil(s.WhereClause), Returning: c.returning(s.ReturningClause),
	}
}

func (c *converter) delete(s *pg.DeleteStmt) *ast.Delete {
	return &ast.Delete{
		Loc: ast.At(c.start), With: c.with(s.WithClause), Table: c.tableRef(s.Relation, "DELETE"), Using: c.fromList(s.UsingClause),
		Where: c.exprOrNil(s.WhereClause), Returning: c.returning(s.ReturningClause),
	}
}

func (c *converter) merge(s *pg.MergeStmt) *ast.Merge {
	out := &ast.Merge{
		Loc: ast.At(c.start), With: c.with(s.WithClause), Table: c.tableRef(s.Relation, "MERGE"),
		Source: c.fromItem(s.SourceRelation), On: c.expr(s.JoinCondition),
	}
	if s.ReturningClause != nil {
		c.unsupported(ast.NoPos, "MERGE ... RETURNING")
	}
	for _, n := range s.MergeWhenClauses {
		w, ok := n.GetNode().(*pg.Node_MergeWhenClause)
		if !ok {
			c.unknown(n, "MERGE")
			return nil
		}
		out.Whens = append(out.Whens, c.mergeWhen(w.MergeWhenClause))
	}
	return out
}

func (c *converter) mergeWhen(w *pg.MergeWhenClause) ast.MergeWhen {
	out := ast.MergeWhen{Loc: ast.At(ast.NoPos), Cond: c.exprOrNil(w.Condition), Overriding: c.overriding(w.Override)}
	switch w.MatchKind {
	case pg.MergeMatchKind_MERGE_WHEN_MATCHED:
		out.Matched = true
	case pg.MergeMatchKind_MERGE_WHEN_NOT_MATCHED_BY_TARGET:
	default:
		c.unsupported(ast.NoPos, "WHEN NOT MATCHED BY SOURCE")
	}
	switch w.CommandType {
	case pg.CmdType_CMD_INSERT:
		out.Action = ast.MergeInsert
		out.Columns, out.Values = c.columnTargets(w.TargetList), c.exprs(w.Values)
		return out
	case pg.CmdType_CMD_UPDATE:
		out.Action = ast.MergeUpdate
		out.Set = c.assignments(w.TargetList)
	case pg.CmdType_CMD_DELETE:
		out.Action = ast.MergeDelete
		c.refuse(len(w.TargetList) > 0, ast.NoPos, "targets of MERGE DELETE")
	case pg.CmdType_CMD_NOTHING:
		out.Action = ast.MergeNothing
		c.refuse(len(w.TargetList) > 0, ast.NoPos, "targets of DO NOTHING")
	default:
		c.unsupported(ast.NoPos, "MERGE action "+w.CommandType.String())
	}
	c.refuse(len(w.Values) > 0 || out.Overriding != ast.OverridingNone, ast.NoPos, "values of a MERGE action that does not insert")
	return out
}

func (c *converter) truncate(s *pg.TruncateStmt) *ast.Truncate {
	return &ast.Truncate{
		Loc: ast.At(c.start), Tables: c.tableRefs(s.Relations, "TRUNCATE"), RestartIdentity: s.RestartSeqs, Cascade: c.cascade(s.Behavior),
	}
}

// selectInto turns SELECT ... INTO, where it is allowed, into CREATE TABLE AS.
func (c *converter) selectStmt(s *pg.SelectStmt) ast.Stmt {
	// INTO belongs to the leftmost SELECT of a set operation.
	at := s
	for at.IntoClause == nil && at.Larg != nil {
		at = at.Larg
	}
	into := at.IntoClause
	if into == nil {
		return c.query(s)
	}
	at.IntoClause = nil
	out := &ast.CreateTableAs{Loc: ast.At(c.start), SelectInto: true, Query: c.query(s)}
	at.IntoClause = into
	c.into(out, into)
	if out.MatView {
		c.fail(sqlerr.Internal("SELECT INTO makes no view"))
	}
	return out
}
