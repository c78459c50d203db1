package mysql

import (
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"herd/sql/ast"
)

// equality is the operator by which GROUP BY, DISTINCT and set operations of this dialect compare.
func (c *converter) equality() ast.Name { return mysqlName(c.start, "=") }

// query converts SELECT, a set operation, or one in brackets.
func (c *converter) query(n tidb.Node) *ast.Select {
	if c.err != nil || !c.enter() {
		return nil
	}
	defer c.leave()
	switch x := n.(type) {
	case *tidb.SelectStmt:
		return c.selectStmt(x)
	case *tidb.SetOprStmt:
		return c.wholeSetOp(x.SelectList, x.With, x.OrderBy, x.Limit)
	case *tidb.SetOprSelectList:
		return c.wholeSetOp(x, x.With, x.OrderBy, x.Limit)
	}
	c.unknown(n, "query")
	return nil
}

// subquery converts a query in an expression or FROM.
func (c *converter) subquery(s *tidb.SubqueryExpr) *ast.Select {
	labels, target := c.labels, c.target
	c.labels, c.target = nil, ""
	c.inner++
	defer func() { c.labels, c.target = labels, target; c.inner-- }()
	return c.query(s.Query)
}

// around adds WITH, ORDER BY and LIMIT.
func (c *converter) around(out *ast.Select, w *tidb.WithClause, o *tidb.OrderByClause, l *tidb.Limit) {
	if w != nil {
		out.With = c.with(w)
	}
	if o != nil {
		out.OrderBy = c.sortItems(o.Items)
	}
	if l != nil {
		out.Limit, out.Offset = c.exprOrNil(l.Count), c.exprOrNil(l.Offset)
	}
}

func (c *converter) with(w *tidb.WithClause) *ast.With {
	out := &ast.With{Loc: ast.At(c.start), Recursive: w.IsRecursive}
	for _, q := range w.CTEs {
		out.CTEs = append(out.CTEs, &ast.CTE{Loc: ast.At(c.start), Name: ident(q.Name), Columns: idents(q.ColNameList), Query: c.subquery(q.Query)})
	}
	return out
}

// wholeSetOp converts a set operation with what goes around it. An ordered one becomes a subquery: its rows are ordered by weights,
// and a set operation is ordered by nothing but its columns.
func (c *converter) wholeSetOp(l *tidb.SetOprSelectList, w *tidb.WithClause, o *tidb.OrderByClause, limit *tidb.Limit) *ast.Select {
	out := c.setOp(l)
	if out == nil {
		return nil
	}
	if o == nil {
		c.around(out, w, nil, limit)
		return out
	}
	star := &ast.ColumnRef{Loc: ast.At(c.start), Star: true}
	whole := &ast.Select{Loc: ast.At(c.start), Body: &ast.SelectCore{Loc: ast.At(c.start), Equality: c.equality(), Targets: []ast.Target{{Loc: star.Loc, Expr: star}},
		From: []ast.FromItem{&ast.SubqueryRef{Loc: ast.At(c.start), Query: out, Alias: &ast.Alias{Name: "set_operation"}}}}}
	labels, fields, distinct := c.labels, c.fields, c.distinct
	c.labels, c.fields, c.distinct = setLabels(leftmost(l), c.inner == 0), nil, false
	c.around(whole, w, o, limit)
	c.labels, c.fields, c.distinct = labels, fields, distinct
	return whole
}

// leftmost is the select list that names a set operation's columns.
func leftmost(n tidb.Node) []*tidb.SelectField {
	switch x := n.(type) {
	case *tidb.SetOprSelectList:
		if len(x.Selects) > 0 {
			return leftmost(x.Selects[0])
		}
	case *tidb.SetOprStmt:
		return leftmost(x.SelectList)
	case *tidb.SelectStmt:
		if x.Fields != nil {
			return x.Fields.Fields
		}
	}
	return nil
}

// setLabels are the aliases of a set operation as columns of the subquery that it is.
func setLabels(list []*tidb.SelectField, outermost bool) map[string]label {
	out := labelsOf(list, outermost)
	for k, l := range out {
		out[k] = label{name: l.name, column: true}
	}
	return out
}

func (c *converter) setOp(l *tidb.SetOprSelectList) *ast.Select {
	op := &ast.SetOp{Loc: ast.At(c.start), Equality: c.equality()}
	for i, n := range l.Selects {
		q := c.query(n)
		if c.err != nil {
			return nil
		}
		if i == 0 {
			op.First = q
			continue
		}
		t := ast.SetOpTerm{Right: q}
		switch kind := afterOp(n); kind {
		case tidb.Union, tidb.UnionAll:
			t.All = kind == tidb.UnionAll
		case tidb.Intersect, tidb.IntersectAll:
			t.Kind, t.All = ast.Intersect, kind == tidb.IntersectAll
		case tidb.Except, tidb.ExceptAll:
			t.Kind, t.All = ast.Except, kind == tidb.ExceptAll
		}
		op.Terms = append(op.Terms, t)
	}
	if len(op.Terms) == 0 {
		return op.First
	}
	return &ast.Select{Loc: ast.At(c.start), Body: op}
}

func afterOp(n tidb.Node) tidb.SetOprType {
	var t *tidb.SetOprType
	switch x := n.(type) {
	case *tidb.SelectStmt:
		t = x.AfterSetOperator
	case *tidb.SetOprSelectList:
		t = x.AfterSetOperator
	}
	if t == nil {
		return tidb.Union
	}
	return *t
}

func (c *converter) selectStmt(s *tidb.SelectStmt) *ast.Select {
	c.refuse(s.SelectIntoOpt != nil, c.start, "SELECT ... INTO")
	if o := s.SelectStmtOpts; o != nil {
		c.refuse(o.CalcFoundRows, c.start, "SQL_CALC_FOUND_ROWS")
	}
	out := &ast.Select{Loc: ast.At(c.start)}
	labels, fields, distinct := c.labels, c.fields, c.distinct
	defer func() { c.labels, c.fields, c.distinct = labels, fields, distinct }()
	c.labels, c.fields, c.distinct = nil, nil, s.Distinct
	if s.Kind == tidb.SelectStmtKindValues {
		v := &ast.Values{Loc: ast.At(c.start)}
		for _, r := range s.Lists {
			v.Rows = append(v.Rows, c.exprs(r.Values))
		}
		out.Body = v
		c.around(out, s.With, s.OrderBy, s.Limit)
		return out
	}
	core := &ast.SelectCore{Loc: ast.At(c.start), Distinct: s.Distinct, Equality: c.equality()}
	if s.From != nil {
		core.From = c.from(s.From.TableRefs)
	}
	if s.Fields != nil {
		core.Targets = c.targets(s.Fields.Fields)
	}
	core.Where = c.condOrNil(s.Where)
	if s.Fields != nil {
		c.labels, c.fields = labelsOf(s.Fields.Fields, c.inner == 0), s.Fields.Fields
	}
	if s.GroupBy != nil {
		for _, i := range s.GroupBy.Items {
			core.GroupBy = append(core.GroupBy, ast.GroupItem{Loc: ast.At(c.at(i.Expr)), Expr: c.labelOr(i.Expr)})
		}
		if s.GroupBy.Rollup {
			core.GroupBy = []ast.GroupItem{{Loc: ast.At(c.start), Kind: ast.GroupRollup, Items: core.GroupBy}}
		}
	}
	if s.Having != nil {
		core.Having = c.cond(replaceLabels(s.Having.Expr, c.labels))
	}
	for i := range s.WindowSpecs {
		w := c.window(&s.WindowSpecs[i])
		w.Name = ident(s.WindowSpecs[i].Name)
		core.Windows = append(core.Windows, w)
	}
	out.Body = core
	c.around(out, s.With, s.OrderBy, s.Limit)
	c.locking(out, s.LockInfo)
	return out
}

// labelsOf gathers the aliases of a select list. Only the outermost query shows them as they were written.
func labelsOf(list []*tidb.SelectField, outermost bool) map[string]label {
	out := map[string]label{}
	for _, f := range list {
		if f.AsName.L != "" {
			name := f.AsName.L
			if outermost {
				name = f.AsName.O
			}
			out[f.AsName.L] = label{name: name, expr: f.Expr}
		}
	}
	return out
}

// labelOr converts an item of GROUP BY or ORDER BY, which may be an alias of the select list.
func (c *converter) labelOr(n tidb.ExprNode) ast.Expr {
	if x, ok := bare(n).(*tidb.ColumnNameExpr); ok && x.Name.Table.L == "" {
		if l, ok := c.labels[x.Name.Name.L]; ok {
			return &ast.ColumnRef{Loc: ast.At(c.at(n)), Parts: []string{l.name}}
		}
	}
	return c.expr(n)
}

// replaceLabels puts the expressions of a select list in place of their aliases in HAVING and in expressions of ORDER BY, where the
// tree has none.
func replaceLabels(n tidb.ExprNode, labels map[string]label) tidb.ExprNode {
	out, _ := n.Accept(&labelReplacer{labels})
	return out.(tidb.ExprNode)
}

type labelReplacer struct{ labels map[string]label }

// Enter implements tidb.Visitor.
func (r *labelReplacer) Enter(n tidb.Node) (tidb.Node, bool) {
	switch n.(type) {
	case *tidb.SubqueryExpr, *tidb.AggregateFuncExpr: // aliases are not seen in these
		return n, true
	}
	return n, false
}

// Leave implements tidb.Visitor.
func (r *labelReplacer) Leave(n tidb.Node) (tidb.Node, bool) {
	if x, ok := n.(*tidb.ColumnNameExpr); ok && x.Name.Table.L == "" {
		if l, ok := r.labels[x.Name.Name.L]; ok && l.expr != nil {
			return l.expr, true
		}
	}
	return n, true
}

func (c *converter) targets(list []*tidb.SelectField) []ast.Target {
	out := make([]ast.Target, 0, len(list))
	for _, f := range list {
		if w := f.WildCard; w != nil {
			ref := &ast.ColumnRef{Loc: ast.At(c.start + int32(f.Offset)), Star: true}
			for _, p := range []string{ident(w.Schema), ident(w.Table)} {
				if p != "" {
					ref.Parts = append(ref.Parts, p)
				}
			}
			out = append(out, ast.Target{Loc: ref.Loc, Expr: ref})
			continue
		}
		if b, ok := bare(f.Expr).(*tidb.FuncCastExpr); ok && b.FunctionType == tidb.CastBinaryOperator {
			c.unsupported(c.at(f.Expr), "BINARY in a select list") // its bytes would show as bytea does
		}
		t := ast.Target{Loc: ast.At(c.at(f.Expr)), Expr: c.expr(f.Expr), Alias: f.AsName.O}
		if c.inner > 0 {
			t.Alias = f.AsName.L
		}
		if t.Alias == "" {
			t.Alias = c.title(f)
		}
		out = append(out, t)
	}
	return out
}

// maxTitle is the longest name of a result column that is made of an expression's text.
const maxTitle = 64

// title names the result of an expression without alias as MySQL does: by its text.
func (c *converter) title(f *tidb.SelectField) string {
	if _, ok := bare(f.Expr).(*tidb.ColumnNameExpr); ok {
		return ""
	}
	if l, ok := f.Expr.(*literal); ok {
		if s, ok := l.value.(string); ok && s != "" {
			return cut(s)
		}
	}
	text := strings.TrimSpace(f.OriginalText())
	if c.inner > 0 {
		text = strings.ToLower(text)
	}
	return cut(text)
}

func cut(s string) string {
	if r := []rune(s); len(r) > maxTitle {
		return string(r[:maxTitle])
	}
	return s
}

func (c *converter) sortItems(list []*tidb.ByItem) []ast.SortItem {
	var out []ast.SortItem
	for _, i := range list {
		e := c.sortKey(i.Expr)
		item := ast.SortItem{Loc: ast.At(c.at(i.Expr)), Expr: e, Dir: ast.SortAsc, Nulls: ast.NullsFirst}
		if i.Desc {
			item.Dir, item.Nulls = ast.SortDesc, ast.NullsLast
		}
		out = append(out, item)
	}
	return out
}

// sortKey is what a value is ordered by: of a string its weight, of everything else itself. Aliases and positions are put back
// to their expressions, because the weight is an expression.
func (c *converter) sortKey(n tidb.ExprNode) ast.Expr {
	if x, ok := bare(n).(*tidb.ColumnNameExpr); ok && x.Name.Table.L == "" {
		if l, ok := c.labels[x.Name.Name.L]; ok {
			if l.column {
				return own(c.at(n), "weight", &ast.ColumnRef{Loc: ast.At(c.at(n)), Parts: []string{l.name}})
			}
			return c.weight(l.expr)
		}
	}
	if p, ok := n.(*tidb.PositionExpr); ok {
		for i, f := range c.fields {
			if f.WildCard != nil {
				break
			}
			if i == p.N-1 {
				return c.weight(f.Expr)
			}
		}
		c.unsupported(c.at(n), "ORDER BY of a place that is not seen in the select list")
		return nil
	}
	return c.weight(replaceLabels(n, c.labels))
}

// weight is the weight of a value by which it is ordered. DISTINCT refuses strings, and orders by what it selects.
func (c *converter) weight(n tidb.ExprNode) ast.Expr {
	labels := c.labels
	c.labels = nil
	defer func() { c.labels = labels }()
	if c.distinct {
		return c.expr(n)
	}
	return &ast.FuncCall{Loc: ast.At(c.at(n)), Name: mysqlName(c.at(n), "weight"), Args: []ast.Expr{c.expr(n)}}
}

// from converts FROM, whose commas arrive as joins without condition.
func (c *converter) from(j *tidb.Join) []ast.FromItem {
	if j == nil {
		return nil
	}
	if j.Right == nil {
		if i := c.fromItem(j.Left); i != nil {
			return []ast.FromItem{i}
		}
		return nil
	}
	return []ast.FromItem{c.join(j)}
}

func (c *converter) fromItem(n tidb.ResultSetNode) ast.FromItem {
	if c.err != nil || !c.enter() {
		return nil
	}
	defer c.leave()
	switch x := n.(type) {
	case *tidb.Join:
		if x.Right == nil {
			return c.fromItem(x.Left)
		}
		return c.join(x)
	case *tidb.TableSource:
		var alias *ast.Alias
		if x.AsName.L != "" {
			alias = &ast.Alias{Name: ident(x.AsName)}
		}
		switch s := x.Source.(type) {
		case *tidb.TableName:
			if s.Schema.L == "" && s.Name.L == "dual" {
				return nil
			}
			ref := c.tableRef(s, "FROM")
			ref.Alias = alias
			return ref
		case *tidb.Join:
			return c.fromItem(s)
		default:
			return &ast.SubqueryRef{Loc: ast.At(c.at(x)), Query: c.subquery(&tidb.SubqueryExpr{Query: s}), Alias: alias}
		}
	}
	c.unknown(n, "FROM")
	return nil
}

func (c *converter) join(j *tidb.Join) ast.FromItem {
	out := &ast.Join{Loc: ast.At(c.start), Left: c.fromItem(j.Left), Right: c.fromItem(j.Right), Natural: j.NaturalJoin, Schema: Schema}
	switch j.Tp {
	case tidb.LeftJoin:
		out.Type = ast.JoinLeft
	case tidb.RightJoin:
		out.Type = ast.JoinRight
	}
	for _, u := range j.Using {
		out.Using = append(out.Using, ident(u.Name))
	}
	if j.On != nil {
		out.On = c.cond(j.On.Expr)
	}
	return out
}

func (c *converter) locking(out *ast.Select, l *tidb.SelectLockInfo) {
	if l == nil || l.LockType == tidb.SelectLockNone {
		return
	}
	k := ast.Locking{Loc: ast.At(c.start), Strength: ast.ForUpdate}
	switch l.LockType {
	case tidb.SelectLockForUpdate:
	case tidb.SelectLockForShare:
		k.Strength = ast.ForShare
	case tidb.SelectLockForUpdateNoWait:
		k.Wait = ast.LockNoWait
	case tidb.SelectLockForShareNoWait:
		k.Strength, k.Wait = ast.ForShare, ast.LockNoWait
	case tidb.SelectLockForUpdateSkipLocked:
		k.Wait = ast.LockSkip
	case tidb.SelectLockForShareSkipLocked:
		k.Strength, k.Wait = ast.ForShare, ast.LockSkip
	default:
		c.unsupported(c.start, l.LockType.String())
	}
	for _, t := range l.Tables {
		k.Of = append(k.Of, c.tableName(t, "FOR UPDATE OF"))
	}
	out.Locking = []ast.Locking{k}
}

func (c *converter) window(w *tidb.WindowSpec) *ast.WindowDef {
	if w.OnlyAlias {
		return &ast.WindowDef{Loc: ast.At(c.start), Name: ident(w.Name)}
	}
	out := &ast.WindowDef{Loc: ast.At(c.start), Ref: ident(w.Ref), Equality: c.equality()}
	if w.PartitionBy != nil {
		for _, i := range w.PartitionBy.Items {
			out.PartitionBy = append(out.PartitionBy, c.expr(i.Expr))
		}
	}
	if w.OrderBy != nil {
		labels := c.labels
		c.labels = nil
		out.OrderBy = c.sortItems(w.OrderBy.Items)
		c.labels = labels
	}
	if f := w.Frame; f != nil {
		out.Frame = &ast.Frame{Start: c.bound(f.Extent.Start), End: c.bound(f.Extent.End), Between: true}
		switch f.Type {
		case tidb.Rows:
			out.Frame.Mode = ast.FrameRows
		case tidb.Groups:
			out.Frame.Mode = ast.FrameGroups
		}
	}
	return out
}

func (c *converter) bound(b tidb.FrameBound) ast.FrameBound {
	c.refuse(b.Unit != tidb.TimeUnitInvalid, c.start, "INTERVAL in a window frame")
	switch b.Type {
	case tidb.Preceding:
		if b.UnBounded {
			return ast.FrameBound{Kind: ast.UnboundedPreceding}
		}
		return ast.FrameBound{Kind: ast.OffsetPreceding, Offset: c.expr(b.Expr)}
	case tidb.Following:
		if b.UnBounded {
			return ast.FrameBound{Kind: ast.UnboundedFollowing}
		}
		return ast.FrameBound{Kind: ast.OffsetFollowing, Offset: c.expr(b.Expr)}
	}
	return ast.FrameBound{Kind: ast.CurrentRow}
}
