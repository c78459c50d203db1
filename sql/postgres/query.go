package postgres

import (
	"strings"

	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// subquery converts a query in an expression, FROM or WITH. SELECT INTO is refused there, as PostgreSQL does.
func (c *converter) subquery(n *pg.Node) *ast.Select {
	s, ok := n.GetNode().(*pg.Node_SelectStmt)
	if !ok {
		c.unknown(n, "subquery")
		return nil
	}
	return c.query(s.SelectStmt)
}

// query converts a SelectStmt without INTO.
func (c *converter) query(s *pg.SelectStmt) *ast.Select {
	if c.err != nil || !c.enter() {
		return nil
	}
	defer c.leave()
	if s == nil {
		c.unsupported(ast.NoPos, "missing query")
		return nil
	}
	if s.IntoClause != nil {
		loc := int32(ast.NoPos)
		if s.IntoClause.Rel != nil {
			loc = s.IntoClause.Rel.Location
		}
		c.failAt(loc, sqlerr.SyntaxError, "SELECT ... INTO is not allowed here")
		return nil
	}
	out := &ast.Select{Loc: ast.At(ast.NoPos), With: c.with(s.WithClause)}
	switch {
	case s.Op == pg.SetOperation_SETOP_UNION || s.Op == pg.SetOperation_SETOP_INTERSECT || s.Op == pg.SetOperation_SETOP_EXCEPT:
		out.Body = c.setOp(s)
	case s.Op != pg.SetOperation_SETOP_NONE && s.Op != pg.SetOperation_SET_OPERATION_UNDEFINED:
		c.unsupported(ast.NoPos, "set operation "+s.Op.String())
	case len(s.ValuesLists) > 0:
		out.Body = c.values(s)
	default:
		out.Body = c.core(s)
	}
	if c.err != nil {
		return nil
	}
	out.Loc = ast.At(out.Body.Pos())
	c.refuse(s.Op == pg.SetOperation_SETOP_NONE && (s.All || s.Larg != nil || s.Rarg != nil), ast.NoPos, "set operation operand")
	out.OrderBy = c.sortItems(s.SortClause)
	out.Limit, out.Offset = c.exprOrNil(s.LimitCount), c.exprOrNil(s.LimitOffset)
	switch s.LimitOption {
	case pg.LimitOption_LIMIT_OPTION_WITH_TIES:
		out.WithTies = true
	case pg.LimitOption_LIMIT_OPTION_COUNT, pg.LimitOption_LIMIT_OPTION_DEFAULT, pg.LimitOption_LIMIT_OPTION_UNDEFINED:
	default:
		c.unsupported(ast.NoPos, "limit option "+s.LimitOption.String())
	}
	out.Locking = c.locking(s.LockingClause)
	return out
}

func (c *converter) setOp(s *pg.SelectStmt) ast.QueryBody {
	c.refuse(len(s.TargetList) > 0 || len(s.FromClause) > 0 || s.WhereClause != nil || len(s.GroupClause) > 0 || s.GroupDistinct ||
		s.HavingClause != nil || len(s.WindowClause) > 0 || len(s.ValuesLists) > 0 || len(s.DistinctClause) > 0,
		ast.NoPos, "clause of a set operation")
	spine := []*pg.SelectStmt{s}
	for l := s.Larg; l != nil && bareSetOp(l); l = l.Larg {
		spine = append(spine, l)
	}
	last := len(spine) - 1
	out := &ast.SetOp{First: c.query(spine[last].Larg), Terms: make([]ast.SetOpTerm, 0, last+1)}
	for i := last; i >= 0; i-- {
		x := spine[i]
		t := ast.SetOpTerm{All: x.All, Right: c.query(x.Rarg)}
		switch x.Op {
		case pg.SetOperation_SETOP_INTERSECT:
			t.Kind = ast.Intersect
		case pg.SetOperation_SETOP_EXCEPT:
			t.Kind = ast.Except
		}
		out.Terms = append(out.Terms, t)
	}
	out.Loc = ast.At(ast.NoPos)
	if out.First != nil {
		out.Loc = out.First.Loc
	}
	return out
}

// bareSetOp says whether s is a set operation without clauses of its own, which joins the chain it is the left operand of.
func bareSetOp(s *pg.SelectStmt) bool {
	switch s.Op {
	case pg.SetOperation_SETOP_UNION, pg.SetOperation_SETOP_INTERSECT, pg.SetOperation_SETOP_EXCEPT:
		return s.WithClause == nil && len(s.SortClause) == 0 && s.LimitCount == nil && s.LimitOffset == nil &&
			len(s.LockingClause) == 0 && s.IntoClause == nil && len(s.TargetList) == 0 && len(s.FromClause) == 0 &&
			s.WhereClause == nil && len(s.GroupClause) == 0 && !s.GroupDistinct && s.HavingClause == nil &&
			len(s.WindowClause) == 0 && len(s.ValuesLists) == 0 && len(s.DistinctClause) == 0 &&
			s.LimitOption != pg.LimitOption_LIMIT_OPTION_WITH_TIES
	}
	return false
}

func (c *converter) values(s *pg.SelectStmt) ast.QueryBody {
	c.refuse(len(s.TargetList) > 0 || len(s.FromClause) > 0 || s.WhereClause != nil || len(s.GroupClause) > 0 || s.GroupDistinct ||
		s.HavingClause != nil || len(s.WindowClause) > 0 || len(s.DistinctClause) > 0, ast.NoPos, "clause of VALUES")
	out := &ast.Values{Loc: ast.At(ast.NoPos), Rows: make([][]ast.Expr, 0, len(s.ValuesLists))}
	for _, n := range s.ValuesLists {
		row := c.exprs(c.items(n, "VALUES"))
		if out.Off == ast.NoPos && len(row) > 0 && row[0] != nil {
			out.Off = row[0].Pos()
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func (c *converter) core(s *pg.SelectStmt) ast.QueryBody {
	out := &ast.SelectCore{Loc: ast.At(ast.NoPos)}
	if len(s.DistinctClause) > 0 {
		out.Distinct = true
		// Plain DISTINCT is a list of one empty node.
		if len(s.DistinctClause) != 1 || s.DistinctClause[0].GetNode() != nil {
			out.DistinctOn = c.exprs(s.DistinctClause)
		}
	}
	out.Targets = c.targets(s.TargetList)
	if len(out.Targets) > 0 {
		out.Off = out.Targets[0].Off
	}
	out.From = c.fromList(s.FromClause)
	out.Where = c.exprOrNil(s.WhereClause)
	out.GroupBy = c.groupItems(s.GroupClause)
	out.GroupDistinct = s.GroupDistinct
	out.Having = c.exprOrNil(s.HavingClause)
	for _, n := range s.WindowClause {
		w, ok := n.GetNode().(*pg.Node_WindowDef)
		if !ok {
			c.unknown(n, "WINDOW")
			return nil
		}
		out.Windows = append(out.Windows, c.window(w.WindowDef))
	}
	return out
}

func (c *converter) targets(list []*pg.Node) []ast.Target {
	if len(list) == 0 {
		return nil
	}
	out := make([]ast.Target, 0, len(list))
	for _, n := range list {
		t, ok := n.GetNode().(*pg.Node_ResTarget)
		if !ok {
			c.unknown(n, "select list")
			return nil
		}
		c.refuse(len(t.ResTarget.Indirection) > 0, t.ResTarget.Location, "indirection in a select list")
		out = append(out, ast.Target{Loc: ast.At(t.ResTarget.Location), Expr: c.expr(t.ResTarget.Val), Alias: t.ResTarget.Name})
	}
	return out
}

func (c *converter) sortItems(list []*pg.Node) []ast.SortItem {
	if len(list) == 0 {
		return nil
	}
	out := make([]ast.SortItem, 0, len(list))
	for _, n := range list {
		s, ok := n.GetNode().(*pg.Node_SortBy)
		if !ok {
			c.unknown(n, "ORDER BY")
			return nil
		}
		b := s.SortBy
		item := ast.SortItem{Expr: c.expr(b.Node), Dir: c.sortDir(b.SortbyDir, b.Location), Nulls: c.nulls(b.SortbyNulls, b.Location)}
		item.Loc = ast.At(b.Location)
		if b.Location < 0 && item.Expr != nil {
			item.Loc = ast.At(item.Expr.Pos())
		}
		if item.Dir == ast.SortUsing {
			item.Using = c.name(b.UseOp, b.Location, "ORDER BY USING")
		} else {
			c.refuse(len(b.UseOp) > 0, b.Location, "operator in ORDER BY")
		}
		out = append(out, item)
	}
	return out
}

func (c *converter) sortDir(d pg.SortByDir, loc int32) ast.SortDir {
	switch d {
	case pg.SortByDir_SORTBY_DEFAULT, pg.SortByDir_SORT_BY_DIR_UNDEFINED:
		return ast.SortDefault
	case pg.SortByDir_SORTBY_ASC:
		return ast.SortAsc
	case pg.SortByDir_SORTBY_DESC:
		return ast.SortDesc
	case pg.SortByDir_SORTBY_USING:
		return ast.SortUsing
	}
	c.unsupported(loc, "sort direction "+d.String())
	return 0
}

func (c *converter) nulls(o pg.SortByNulls, loc int32) ast.NullsOrder {
	switch o {
	case pg.SortByNulls_SORTBY_NULLS_DEFAULT, pg.SortByNulls_SORT_BY_NULLS_UNDEFINED:
		return ast.NullsDefault
	case pg.SortByNulls_SORTBY_NULLS_FIRST:
		return ast.NullsFirst
	case pg.SortByNulls_SORTBY_NULLS_LAST:
		return ast.NullsLast
	}
	c.unsupported(loc, "nulls order "+o.String())
	return 0
}

func (c *converter) groupItems(list []*pg.Node) []ast.GroupItem {
	if len(list) == 0 {
		return nil
	}
	out := make([]ast.GroupItem, 0, len(list))
	for _, n := range list {
		out = append(out, c.groupItem(n))
	}
	return out
}

func (c *converter) groupItem(n *pg.Node) ast.GroupItem {
	g, ok := n.GetNode().(*pg.Node_GroupingSet)
	if !ok {
		e := c.expr(n)
		item := ast.GroupItem{Loc: ast.At(ast.NoPos), Kind: ast.GroupExpr, Expr: e}
		if e != nil {
			item.Off = e.Pos()
		}
		return item
	}
	item := ast.GroupItem{Loc: ast.At(g.GroupingSet.Location)}
	switch g.GroupingSet.Kind {
	case pg.GroupingSetKind_GROUPING_SET_EMPTY:
		item.Kind = ast.GroupEmpty
	case pg.GroupingSetKind_GROUPING_SET_ROLLUP:
		item.Kind = ast.GroupRollup
	case pg.GroupingSetKind_GROUPING_SET_CUBE:
		item.Kind = ast.GroupCube
	case pg.GroupingSetKind_GROUPING_SET_SETS:
		item.Kind = ast.GroupSets
	default:
		c.unsupported(g.GroupingSet.Location, "grouping set "+g.GroupingSet.Kind.String())
	}
	if !c.enter() {
		return item
	}
	defer c.leave()
	item.Items = c.groupItems(g.GroupingSet.Content)
	return item
}

// The parser's bits of a window frame, as PostgreSQL's nodes have them.
const (
	frameNonDefault   = 0x1
	frameRange        = 0x2
	frameRows         = 0x4
	frameGroups       = 0x8
	frameBetween      = 0x10
	frameStartShift   = 5 // start bounds are every second bit from here, end bounds the bits after them
	frameExcludeRow   = 0x8000
	frameExcludeGroup = 0x10000
	frameExcludeTies  = 0x20000
	frameKnown        = 0x3ffff
)

// frameBounds are the bounds in the order of their bits: start at frameStartShift, end one bit above.
var frameBounds = [...]ast.BoundKind{
	ast.UnboundedPreceding, ast.UnboundedFollowing, ast.CurrentRow, ast.OffsetPreceding, ast.OffsetFollowing,
}

func (c *converter) window(w *pg.WindowDef) *ast.WindowDef {
	out := &ast.WindowDef{Loc: ast.At(w.Location), Name: w.Name, Ref: w.Refname, PartitionBy: c.exprs(w.PartitionClause), OrderBy: c.sortItems(w.OrderClause)}
	if w.FrameOptions&frameNonDefault == 0 {
		c.refuse(w.StartOffset != nil || w.EndOffset != nil, w.Location, "offset of a default window frame")
		return out
	}
	f := &ast.Frame{Between: w.FrameOptions&frameBetween != 0}
	c.refuse(w.FrameOptions&^frameKnown != 0, w.Location, "window frame option")
	switch w.FrameOptions & (frameRange | frameRows | frameGroups) {
	case frameRange:
		f.Mode = ast.FrameRange
	case frameRows:
		f.Mode = ast.FrameRows
	case frameGroups:
		f.Mode = ast.FrameGroups
	default:
		c.unsupported(w.Location, "window frame mode")
	}
	starts, ends := 0, 0
	for i, kind := range frameBounds {
		if w.FrameOptions>>(frameStartShift+2*i)&1 != 0 {
			f.Start.Kind = kind
			starts++
		}
		if w.FrameOptions>>(frameStartShift+2*i+1)&1 != 0 {
			f.End.Kind = kind
			ends++
		}
	}
	c.refuse(starts != 1 || ends != 1, w.Location, "window frame bounds")
	f.Start.Offset, f.End.Offset = c.exprOrNil(w.StartOffset), c.exprOrNil(w.EndOffset)
	switch w.FrameOptions & (frameExcludeRow | frameExcludeGroup | frameExcludeTies) {
	case 0:
	case frameExcludeRow:
		f.Exclude = ast.ExcludeCurrentRow
	case frameExcludeGroup:
		f.Exclude = ast.ExcludeGroup
	case frameExcludeTies:
		f.Exclude = ast.ExcludeTies
	default:
		c.unsupported(w.Location, "window frame exclusion")
	}
	out.Frame = f
	return out
}

func (c *converter) locking(list []*pg.Node) []ast.Locking {
	var out []ast.Locking
	for _, n := range list {
		l, ok := n.GetNode().(*pg.Node_LockingClause)
		if !ok {
			c.unknown(n, "locking clause")
			return nil
		}
		item := ast.Locking{Loc: ast.At(ast.NoPos), Of: c.relations(l.LockingClause.LockedRels, "FOR UPDATE OF")}
		switch l.LockingClause.Strength {
		case pg.LockClauseStrength_LCS_FORKEYSHARE:
			item.Strength = ast.ForKeyShare
		case pg.LockClauseStrength_LCS_FORSHARE:
			item.Strength = ast.ForShare
		case pg.LockClauseStrength_LCS_FORNOKEYUPDATE:
			item.Strength = ast.ForNoKeyUpdate
		case pg.LockClauseStrength_LCS_FORUPDATE:
			item.Strength = ast.ForUpdate
		default:
			c.unsupported(ast.NoPos, "lock strength "+l.LockingClause.Strength.String())
		}
		switch l.LockingClause.WaitPolicy {
		case pg.LockWaitPolicy_LockWaitBlock, pg.LockWaitPolicy_LOCK_WAIT_POLICY_UNDEFINED:
		case pg.LockWaitPolicy_LockWaitSkip:
			item.Wait = ast.LockSkip
		case pg.LockWaitPolicy_LockWaitError:
			item.Wait = ast.LockNoWait
		default:
			c.unsupported(ast.NoPos, "lock wait "+l.LockingClause.WaitPolicy.String())
		}
		out = append(out, item)
	}
	return out
}

func (c *converter) with(w *pg.WithClause) *ast.With {
	if w == nil {
		return nil
	}
	out := &ast.With{Loc: ast.At(w.Location), Recursive: w.Recursive}
	for _, n := range w.Ctes {
		t, ok := n.GetNode().(*pg.Node_CommonTableExpr)
		if !ok {
			c.unknown(n, "WITH")
			return nil
		}
		out.CTEs = append(out.CTEs, c.cte(t.CommonTableExpr))
	}
	return out
}

func (c *converter) cte(t *pg.CommonTableExpr) *ast.CTE {
	out := &ast.CTE{Loc: ast.At(t.Location), Name: t.Ctename, Columns: c.strs(t.Aliascolnames, "WITH")}
	switch t.Ctematerialized {
	case pg.CTEMaterialize_CTEMaterializeDefault, pg.CTEMaterialize_CTEMATERIALIZE_UNDEFINED:
	case pg.CTEMaterialize_CTEMaterializeAlways:
		out.Materialize = ast.MaterializeAlways
	case pg.CTEMaterialize_CTEMaterializeNever:
		out.Materialize = ast.MaterializeNever
	default:
		c.unsupported(t.Location, t.Ctematerialized.String())
	}
	switch q := t.Ctequery.GetNode().(type) {
	case *pg.Node_SelectStmt:
		out.Query = c.query(q.SelectStmt)
	case *pg.Node_InsertStmt:
		out.Query = c.insert(q.InsertStmt)
	case *pg.Node_UpdateStmt:
		out.Query = c.update(q.UpdateStmt)
	case *pg.Node_DeleteStmt:
		out.Query = c.delete(q.DeleteStmt)
	case *pg.Node_MergeStmt:
		c.failAt(t.Location, sqlerr.FeatureNotSupported, "MERGE not supported in WITH query")
	default:
		c.unknown(t.Ctequery, "WITH")
	}
	if s := t.SearchClause; s != nil {
		out.Search = &ast.Search{Loc: ast.At(s.Location), Columns: c.strs(s.SearchColList, "SEARCH"), Breadth: s.SearchBreadthFirst, Sequence: s.SearchSeqColumn}
	}
	if y := t.CycleClause; y != nil {
		out.Cycle = &ast.Cycle{
			Loc: ast.At(y.Location), Columns: c.strs(y.CycleColList, "CYCLE"), Mark: y.CycleMarkColumn,
			Value: c.exprOrNil(y.CycleMarkValue), Default: c.exprOrNil(y.CycleMarkDefault), Path: y.CyclePathColumn,
		}
	}
	return out
}

func (c *converter) fromList(list []*pg.Node) []ast.FromItem {
	if len(list) == 0 {
		return nil
	}
	out := make([]ast.FromItem, 0, len(list))
	for _, n := range list {
		out = append(out, c.fromItem(n))
	}
	return out
}

func (c *converter) fromItem(n *pg.Node) ast.FromItem {
	if c.err != nil || !c.enter() {
		return nil
	}
	defer c.leave()
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return c.tableRef(x.RangeVar, "FROM")
	case *pg.Node_RangeSubselect:
		return c.subqueryRef(x.RangeSubselect)
	case *pg.Node_RangeFunction:
		return c.funcRef(x.RangeFunction)
	case *pg.Node_JoinExpr:
		return c.join(x.JoinExpr)
	case *pg.Node_RangeTableSample:
		c.unsupported(x.RangeTableSample.Location, "TABLESAMPLE")
	case *pg.Node_RangeTableFunc:
		c.unsupported(x.RangeTableFunc.Location, "XMLTABLE")
	case *pg.Node_JsonTable:
		c.unsupported(x.JsonTable.Location, "JSON_TABLE")
	default:
		c.unknown(n, "FROM")
	}
	return nil
}

func (c *converter) subqueryRef(s *pg.RangeSubselect) ast.FromItem {
	q := c.subquery(s.Subquery)
	if c.err != nil {
		return nil
	}
	out := &ast.SubqueryRef{Loc: ast.At(c.openBracket(q.Pos())), Lateral: s.Lateral, Query: q, Alias: c.alias(s.Alias)}
	if out.Alias == nil {
		// PostgreSQL 16 dropped this demand; 15 has it.
		what, example := "subquery in FROM must have an alias", "For example, FROM (SELECT ...) [AS] foo."
		if _, ok := q.Body.(*ast.Values); ok {
			what, example = "VALUES in FROM must have an alias", "For example, FROM (VALUES ...) [AS] foo."
		}
		c.fail(sqlerr.At(ast.CharPosition(c.text, out.Off), sqlerr.SyntaxError, "%s", what).WithHint("%s", example))
	}
	return out
}

// openBracket returns the offset of the bracket that opens the subquery whose first located token is at off: the parser's
// tree does not have it.
func (c *converter) openBracket(off int32) int32 {
	if off < 0 {
		return ast.NoPos
	}
	head := strings.ToLower(c.text[:off])
	at := max(strings.LastIndex(head, "select"), strings.LastIndex(head, "values"), strings.LastIndex(head, "table"))
	if at < 0 {
		return off
	}
	if b := strings.LastIndexByte(head[:at], '('); b >= 0 {
		return int32(b)
	}
	return off
}

func (c *converter) funcRef(f *pg.RangeFunction) ast.FromItem {
	out := &ast.FuncRef{
		Loc: ast.At(ast.NoPos), Lateral: f.Lateral, Ordinality: f.Ordinality, RowsFrom: f.IsRowsfrom,
		Alias: c.alias(f.Alias), Columns: c.columnDefs(f.Coldeflist, "function's column list"),
	}
	for _, n := range f.Functions {
		pair := c.items(n, "function in FROM")
		if c.err == nil && len(pair) != 2 {
			c.unknown(n, "function in FROM")
		}
		if c.err != nil {
			return nil
		}
		item := ast.FuncRefItem{Call: c.expr(pair[0])}
		if pair[1].GetNode() != nil {
			item.Columns = c.columnDefs(c.items(pair[1], "function's column list"), "function's column list")
		}
		if out.Off == ast.NoPos && item.Call != nil {
			out.Off = item.Call.Pos()
		}
		out.Funcs = append(out.Funcs, item)
	}
	return out
}

func (c *converter) join(j *pg.JoinExpr) ast.FromItem {
	out := &ast.Join{
		Loc: ast.At(ast.NoPos), Natural: j.IsNatural, Left: c.fromItem(j.Larg), Right: c.fromItem(j.Rarg),
		Using: c.strs(j.UsingClause, "USING"), UsingAlias: c.alias(j.JoinUsingAlias), On: c.exprOrNil(j.Quals), Alias: c.alias(j.Alias),
	}
	switch j.Jointype {
	case pg.JoinType_JOIN_INNER:
	case pg.JoinType_JOIN_LEFT:
		out.Type = ast.JoinLeft
	case pg.JoinType_JOIN_RIGHT:
		out.Type = ast.JoinRight
	case pg.JoinType_JOIN_FULL:
		out.Type = ast.JoinFull
	default:
		c.unsupported(ast.NoPos, "join type "+j.Jointype.String())
	}
	if out.Left != nil {
		out.Off = out.Left.Pos()
	}
	return out
}
