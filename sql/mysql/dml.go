package mysql

import (
	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"herd/sql/ast"
)

func (c *converter) insert(s *tidb.InsertStmt) ast.Stmt {
	out := &ast.Insert{Loc: ast.At(c.start), Table: c.onlyTable(s.Table, "INSERT")}
	c.refuse(len(s.PartitionNames) > 0, c.start, "PARTITION")
	for _, n := range s.Columns {
		out.Columns = append(out.Columns, ast.ColumnTarget{Loc: ast.At(c.at(n)), Name: ident(n.Name)})
	}
	switch {
	case s.Select != nil:
		c.inner++
		out.Source = c.query(s.Select)
		c.inner--
	case len(s.Lists) == 1 && len(s.Lists[0]) == 0:
		// INSERT INTO t () VALUES (): all defaults
	default:
		v := &ast.Values{Loc: ast.At(c.start), Rows: make([][]ast.Expr, 0, len(s.Lists))}
		for _, row := range s.Lists {
			v.Rows = append(v.Rows, c.exprs(row))
		}
		out.Source = &ast.Select{Loc: ast.At(c.start), Body: v}
	}
	conflict := &ast.OnConflict{Loc: ast.At(c.start), InferLoc: ast.At(ast.NoPos)}
	switch {
	case s.IsReplace:
		conflict.DoUpdate, conflict.AnyKey, conflict.Replace = true, true, true
		out.OnConflict = conflict
	case c.upsert:
		conflict.DoUpdate, conflict.PrimaryKey, conflict.Replace = true, true, true
		out.OnConflict = conflict
	case len(s.OnDuplicate) > 0:
		c.refuse(s.IgnoreErr, c.start, "INSERT IGNORE with ON DUPLICATE KEY UPDATE")
		conflict.DoUpdate, conflict.AnyKey = true, true
		c.target = out.Table.Name.Name
		conflict.Set = c.assignments(s.OnDuplicate)
		c.target = ""
		out.OnConflict = conflict
	case s.IgnoreErr:
		// Other errors than duplicate keys, which IGNORE makes warnings in MySQL, stay errors.
		out.OnConflict = conflict
	}
	return out
}

// assignments converts SET lists. MySQL assigns one after the other, the standard all at once: what would show the difference
// is refused.
func (c *converter) assignments(list []*tidb.Assignment) []ast.Assignment {
	out := make([]ast.Assignment, 0, len(list))
	done := map[string]bool{}
	for _, a := range list {
		name := a.Column.Name.L
		if readsAny(a.Expr, done) {
			c.unsupported(c.at(a.Expr), "SET of an expression over a column assigned before it")
			return nil
		}
		done[name] = true
		out = append(out, ast.Assignment{Loc: ast.At(c.at(a.Column)), Targets: []ast.ColumnTarget{{Loc: ast.At(c.at(a.Column)), Name: ident(a.Column.Name)}}, Value: c.expr(a.Expr)})
	}
	return out
}

// readsAny says whether an expression has one of the columns.
func readsAny(n tidb.ExprNode, columns map[string]bool) bool {
	if n == nil || len(columns) == 0 {
		return false
	}
	v := &columnFinder{columns: columns}
	n.Accept(v)
	return v.found
}

type columnFinder struct {
	columns map[string]bool
	found   bool
}

// Enter implements tidb.Visitor.
func (v *columnFinder) Enter(n tidb.Node) (tidb.Node, bool) {
	switch x := n.(type) {
	case *tidb.ValuesExpr: // of the new row
		return n, true
	case *tidb.ColumnNameExpr:
		v.found = v.found || v.columns[x.Name.Name.L]
	}
	return n, false
}

// Leave implements tidb.Visitor.
func (v *columnFinder) Leave(n tidb.Node) (tidb.Node, bool) { return n, true }

func (c *converter) update(s *tidb.UpdateStmt) ast.Stmt {
	c.refuse(s.MultipleTable, c.start, "UPDATE of several tables")
	c.refuse(s.IgnoreErr, c.start, "UPDATE IGNORE")
	c.refuse(s.Order != nil, c.start, "UPDATE ... ORDER BY")
	c.refuse(s.Limit != nil, c.start, "UPDATE ... LIMIT")
	out := &ast.Update{Loc: ast.At(c.start), Table: c.onlyTable(s.TableRefs, "UPDATE"), Set: c.assignments(s.List), Where: c.condOrNil(s.Where)}
	if s.With != nil {
		out.With = c.with(s.With)
	}
	return out
}

func (c *converter) delete(s *tidb.DeleteStmt) ast.Stmt {
	c.refuse(s.IsMultiTable, c.start, "DELETE of several tables")
	c.refuse(s.IgnoreErr, c.start, "DELETE IGNORE")
	c.refuse(s.Order != nil, c.start, "DELETE ... ORDER BY")
	c.refuse(s.Limit != nil, c.start, "DELETE ... LIMIT")
	out := &ast.Delete{Loc: ast.At(c.start), Table: c.onlyTable(s.TableRefs, "DELETE"), Where: c.condOrNil(s.Where)}
	if s.With != nil {
		out.With = c.with(s.With)
	}
	return out
}
