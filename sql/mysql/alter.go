package mysql

import (
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"herd/sql/ast"
)

// tableNamed is a table as an object to drop or rename.
func tableNamed(n ast.Name) ast.ObjectName { return ast.ObjectName{Loc: n.Loc, Name: n} }

func (c *converter) dropTable(s *tidb.DropTableStmt) ast.Stmt {
	out := &ast.Drop{Loc: ast.At(c.start), Kind: ast.ObjTable, IfExists: s.IfExists}
	if s.IsView {
		out.Kind = ast.ObjView
	}
	for _, t := range s.Tables {
		out.Objects = append(out.Objects, tableNamed(c.tableName(t, "DROP")))
	}
	return out
}

func (c *converter) dropIndex(s *tidb.DropIndexStmt) ast.Stmt {
	table := c.tableName(s.Table, "DROP INDEX")
	return c.dropKey(table, s.IndexName, s.IfExists)
}

// dropKey drops an index by its MySQL name.
func (c *converter) dropKey(table ast.Name, index string, ifExists bool) ast.Stmt {
	n := table
	n.Name = indexName(table, index)
	return &ast.Drop{Loc: ast.At(c.start), Kind: ast.ObjIndex, IfExists: ifExists, Objects: []ast.ObjectName{tableNamed(n)}}
}

func (c *converter) renameTables(s *tidb.RenameTableStmt) []ast.Stmt {
	var out []ast.Stmt
	for _, t := range s.TableToTables {
		out = append(out, c.rename(c.tableName(t.OldTable, "RENAME"), c.tableName(t.NewTable, "RENAME")))
	}
	return out
}

func (c *converter) rename(from, to ast.Name) ast.Stmt {
	c.refuse(to.Schema != "" && to.Schema != from.Schema, c.start, "RENAME to another database")
	return &ast.Rename{Loc: ast.At(c.start), Kind: ast.ObjTable, Table: &ast.TableRef{Loc: from.Loc, Name: from}, New: to.Name}
}

// alterTable converts ALTER TABLE: what PostgreSQL has as subcommands stays together, the rest are statements after it.
func (c *converter) alterTable(s *tidb.AlterTableStmt) []ast.Stmt {
	table := c.tableName(s.Table, "ALTER TABLE")
	out := &ast.AlterTable{Loc: ast.At(c.start), Kind: ast.ObjTable, Table: &ast.TableRef{Loc: table.Loc, Name: table}}
	var rest []ast.Stmt
	for _, x := range s.Specs {
		rest = append(rest, c.alterSpec(out, x, table)...)
		if c.err != nil {
			return nil
		}
	}
	if len(out.Cmds) == 0 {
		return rest
	}
	return append([]ast.Stmt{out}, rest...)
}

func (c *converter) alterSpec(out *ast.AlterTable, x *tidb.AlterTableSpec, table ast.Name) []ast.Stmt {
	cmd := ast.AlterCmd{Loc: ast.At(c.start), IfExists: x.IfExists, IfNotExists: x.IfNotExists}
	c.refuse(x.Position != nil && x.Position.Tp != tidb.ColumnPositionNone, c.start, "FIRST and AFTER in ALTER TABLE")
	switch x.Tp {
	case tidb.AlterTableAddColumns:
		var rest []ast.Stmt
		for _, d := range x.NewColumns {
			cmd.Kind = ast.AlterAddColumn
			var comment *ast.Comment
			if cmd.Column, comment = c.columnDef(d, table); comment != nil {
				rest = append(rest, comment)
			}
			out.Cmds = append(out.Cmds, cmd)
		}
		return rest
	case tidb.AlterTableAddConstraint:
		con, index := c.tableConstraint(x.Constraint, table)
		if index != nil {
			return []ast.Stmt{index}
		}
		cmd.Kind, cmd.Constraint = ast.AlterAddConstraint, con
	case tidb.AlterTableDropColumn:
		cmd.Kind, cmd.Name = ast.AlterDropColumn, ident(x.OldColumnName.Name)
	case tidb.AlterTableDropForeignKey, tidb.AlterTableDropCheck:
		cmd.Kind, cmd.Name = ast.AlterDropConstraint, strings.ToLower(x.Name)
		if x.Constraint != nil {
			cmd.Name = strings.ToLower(x.Constraint.Name)
		}
	case tidb.AlterTableDropPrimaryKey:
		cmd.Kind, cmd.Name = ast.AlterDropConstraint, table.Name+"_pkey"
	case tidb.AlterTableDropIndex:
		return []ast.Stmt{c.dropKey(table, x.Name, x.IfExists)}
	case tidb.AlterTableRenameTable:
		return []ast.Stmt{c.rename(table, c.tableName(x.NewTable, "RENAME"))}
	case tidb.AlterTableRenameColumn:
		return []ast.Stmt{&ast.Rename{Loc: ast.At(c.start), Kind: ast.ObjColumn, Relation: ast.ObjTable, Table: out.Table,
			Old: ident(x.OldColumnName.Name), New: ident(x.NewColumnName.Name)}}
	case tidb.AlterTableAlterColumn:
		return c.alterColumn(out, cmd, x)
	case tidb.AlterTableEnableKeys, tidb.AlterTableDisableKeys:
		return nil // indexes are always kept
	case tidb.AlterTableOption:
		for _, o := range x.Options {
			c.refuse(o.Tp != tidb.TableOptionEngine && o.Tp != tidb.TableOptionCharset && o.Tp != tidb.TableOptionCollate, c.start, "table option in ALTER TABLE")
		}
		return nil
	default:
		c.unsupported(c.start, "subcommand of ALTER TABLE")
		return nil
	}
	out.Cmds = append(out.Cmds, cmd)
	return nil
}

// alterColumn is ALTER COLUMN ... SET DEFAULT and DROP DEFAULT.
func (c *converter) alterColumn(out *ast.AlterTable, cmd ast.AlterCmd, x *tidb.AlterTableSpec) []ast.Stmt {
	d := x.NewColumns[0]
	cmd.Name = ident(d.Name.Name)
	cmd.Kind = ast.AlterDropDefault
	for _, o := range d.Options {
		if o.Tp == tidb.ColumnOptionDefaultValue {
			cmd.Kind, cmd.Expr = ast.AlterSetDefault, c.expr(o.Expr)
		}
	}
	out.Cmds = append(out.Cmds, cmd)
	return nil
}
