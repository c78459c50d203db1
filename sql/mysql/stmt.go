package mysql

import (
	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"herd/sql/ast"
)

// stmt converts a statement, most to one and some to several. A kind that is not in one of the switches is 0A000 with the
// parser's name for it.
func (c *converter) stmt(n tidb.StmtNode) []ast.Stmt {
	if list, ok := c.definition(n); ok || c.err != nil {
		return list
	}
	if s := c.queryStmt(n); s != nil || c.err != nil {
		return []ast.Stmt{s}
	}
	if list, ok := c.utility(n); ok || c.err != nil {
		return list
	}
	c.unsupported(c.start, nodeName(n))
	return nil
}

func (c *converter) queryStmt(n tidb.StmtNode) ast.Stmt {
	switch x := n.(type) {
	case *tidb.SelectStmt:
		return c.query(x)
	case *tidb.SetOprStmt:
		return c.query(x)
	case *tidb.InsertStmt:
		return c.insert(x)
	case *tidb.UpdateStmt:
		return c.update(x)
	case *tidb.DeleteStmt:
		return c.delete(x)
	}
	return nil
}

// definition converts what changes the catalog.
func (c *converter) definition(n tidb.StmtNode) ([]ast.Stmt, bool) {
	switch x := n.(type) {
	case *tidb.CreateTableStmt:
		return c.createTable(x), true
	case *tidb.DropTableStmt:
		return c.one(c.dropTable(x))
	case *tidb.CreateIndexStmt:
		return c.one(c.createIndex(x))
	case *tidb.DropIndexStmt:
		return c.one(c.dropIndex(x))
	case *tidb.AlterTableStmt:
		return c.alterTable(x), true
	case *tidb.RenameTableStmt:
		return c.renameTables(x), true
	case *tidb.TruncateTableStmt:
		return c.one(&ast.Truncate{Loc: ast.At(c.start), Tables: []*ast.TableRef{c.tableRef(x.Table, "TRUNCATE")}, RestartIdentity: true})
	case *tidb.CreateDatabaseStmt:
		// The options are the default character set and collation.
		return c.one(&ast.CreateSchema{Loc: ast.At(c.start), Name: ident(x.Name), IfNotExists: x.IfNotExists})
	case *tidb.DropDatabaseStmt:
		return c.one(&ast.Drop{Loc: ast.At(c.start), Kind: ast.ObjSchema, IfExists: x.IfExists, Cascade: true,
			Objects: []ast.ObjectName{{Loc: ast.At(c.start), Name: ast.Name{Loc: ast.At(c.start), Name: ident(x.Name)}}}})
	case *tidb.CreateViewStmt:
		return c.one(c.createView(x))
	}
	return nil, false
}

// one is a list of one statement, and true.
func (c *converter) one(s ast.Stmt) ([]ast.Stmt, bool) { return []ast.Stmt{s}, true }

func (c *converter) createView(v *tidb.CreateViewStmt) ast.Stmt {
	c.refuse(v.CheckOption == tidb.CheckOptionLocal, c.start, "WITH LOCAL CHECK OPTION")
	// DEFINER, ALGORITHM and SQL SECURITY DEFINER, which is how views of ours run, say nothing new.
	c.refuse(v.Security == tidb.SecurityInvoker, c.start, "SQL SECURITY INVOKER")
	q, ok := v.Select.(tidb.ResultSetNode)
	if !ok {
		c.unknown(v.Select, "CREATE VIEW")
		return nil
	}
	c.inner++
	defer func() { c.inner-- }()
	return &ast.CreateView{Loc: ast.At(c.start), View: c.tableName(v.ViewName, "CREATE VIEW"), Columns: idents(v.Cols), OrReplace: v.OrReplace, Query: c.query(q)}
}
