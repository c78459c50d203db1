package mysql

import (
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"herd/sql/ast"
)

// createTable converts CREATE TABLE; secondary indexes and comments are statements after it.
func (c *converter) createTable(s *tidb.CreateTableStmt) []ast.Stmt {
	name := c.tableName(s.Table, "CREATE TABLE")
	out := &ast.CreateTable{Loc: ast.At(c.start), Table: name, IfNotExists: s.IfNotExists}
	if s.TemporaryKeyword == tidb.TemporaryLocal {
		out.Persistence = ast.Temporary
	}
	c.refuse(s.TemporaryKeyword == tidb.TemporaryGlobal, c.start, "GLOBAL TEMPORARY")
	c.refuse(s.Partition != nil, c.start, "PARTITION BY")
	if s.Select != nil {
		return c.createTableAs(s, name)
	}
	if s.ReferTable != nil {
		out.Elements = []ast.TableElement{&ast.LikeClause{Loc: ast.At(c.start), Table: c.tableName(s.ReferTable, "LIKE"),
			Options: ast.LikeComments | ast.LikeDefaults | ast.LikeGenerated | ast.LikeIdentity | ast.LikeIndexes | ast.LikeConstraints}}
		return []ast.Stmt{out}
	}
	list := []ast.Stmt{out}
	for _, d := range s.Cols {
		el, comment := c.columnDef(d, name)
		out.Elements = append(out.Elements, el)
		if comment != nil {
			list = append(list, comment)
		}
	}
	for _, k := range s.Constraints {
		con, index := c.tableConstraint(k, name)
		switch {
		case con != nil:
			out.Elements = append(out.Elements, con)
		case index != nil:
			index.IfNotExists = s.IfNotExists
			list = append(list, index)
		}
		if c.err != nil {
			return nil
		}
	}
	return append(list, c.tableOptions(out, s.Options)...)
}

func (c *converter) createTableAs(s *tidb.CreateTableStmt, name ast.Name) []ast.Stmt {
	c.refuse(len(s.Cols) > 0 || len(s.Constraints) > 0, c.start, "CREATE TABLE with columns and SELECT")
	c.refuse(s.OnDuplicate != tidb.OnDuplicateKeyHandlingError, c.start, "IGNORE and REPLACE in CREATE TABLE")
	c.inner++
	defer func() { c.inner-- }()
	out := &ast.CreateTableAs{Loc: ast.At(c.start), Table: name, IfNotExists: s.IfNotExists, Query: c.query(s.Select)}
	if s.TemporaryKeyword == tidb.TemporaryLocal {
		out.Persistence = ast.Temporary
	}
	return []ast.Stmt{out}
}

// tableOptions converts a table's options. Those about storage, statistics and character sets have no counterpart and none of
// them changes an answer; what would is refused.
func (c *converter) tableOptions(t *ast.CreateTable, list []*tidb.TableOption) []ast.Stmt {
	var out []ast.Stmt
	for _, o := range list {
		switch o.Tp {
		case tidb.TableOptionAutoIncrement:
			setStart(t, int64(o.UintValue))
		case tidb.TableOptionComment:
			out = append(out, &ast.Comment{Loc: ast.At(c.start), Kind: ast.ObjTable, Object: ast.ObjectName{Loc: t.Table.Loc, Name: t.Table}, Text: o.StrValue})
		case tidb.TableOptionUnion, tidb.TableOptionTTL, tidb.TableOptionEncryption, tidb.TableOptionConnection:
			c.unsupported(c.start, "table option UNION, TTL, ENCRYPTION or CONNECTION")
		}
	}
	return out
}

// setStart sets where a table's AUTO_INCREMENT begins.
func setStart(t *ast.CreateTable, start int64) {
	for _, e := range t.Elements {
		d, ok := e.(*ast.ColumnDef)
		if !ok {
			continue
		}
		for _, k := range d.Constraints {
			if k.Kind == ast.ConIdentity && start > 1 {
				k.Sequence = &ast.SequenceOptions{Start: &start}
			}
		}
	}
}

// columnDef converts a column and, when it has one, its comment.
func (c *converter) columnDef(d *tidb.ColumnDef, table ast.Name) (*ast.ColumnDef, *ast.Comment) {
	name, loc := ident(d.Name.Name), c.at(d.Name)
	out := &ast.ColumnDef{Loc: ast.At(loc), Name: name}
	var check ast.Expr
	out.Type, check = c.typeName(name, d.Tp, loc)
	var comment *ast.Comment
	for _, o := range d.Options {
		if o.Tp == tidb.ColumnOptionComment {
			comment = &ast.Comment{Loc: ast.At(c.start), Kind: ast.ObjColumn, Object: ast.ObjectName{Loc: table.Loc, Name: table, Sub: name}, Text: o.Expr.(*literal).GetString()}
			if comment.Text == "" {
				comment = nil
			}
			continue
		}
		c.columnOption(out, d, o)
	}
	if check != nil {
		out.Constraints = append(out.Constraints, &ast.Constraint{Loc: ast.At(loc), Kind: ast.ConCheck, Expr: check})
	}
	return out, comment
}

func (c *converter) columnOption(out *ast.ColumnDef, d *tidb.ColumnDef, o *tidb.ColumnOption) {
	k := &ast.Constraint{Loc: out.Loc}
	switch o.Tp {
	case tidb.ColumnOptionPrimaryKey:
		k.Kind = ast.ConPrimaryKey
	case tidb.ColumnOptionUniqKey:
		k.Kind = ast.ConUnique
	case tidb.ColumnOptionNotNull:
		k.Kind = ast.ConNotNull
	case tidb.ColumnOptionNull:
		return
	case tidb.ColumnOptionAutoIncrement:
		k.Kind, k.Sequence = ast.ConIdentity, &ast.SequenceOptions{}
	case tidb.ColumnOptionDefaultValue:
		if k.Kind, k.Expr = ast.ConDefault, c.defaultValue(d, o.Expr); k.Expr == nil {
			return
		}
	case tidb.ColumnOptionOnUpdate:
		c.refuse(!isCurrentTimestamp(o.Expr), out.Off, "ON UPDATE of other than CURRENT_TIMESTAMP")
		k.Kind, k.Expr = ast.ConOnUpdate, &ast.SQLValue{Loc: out.Loc, Func: ast.CurrentTimestamp, Precision: -1}
	case tidb.ColumnOptionGenerated:
		// A virtual column is stored here: its values are the same.
		k.Kind, k.Always, k.Expr = ast.ConGenerated, false, c.expr(o.Expr)
	case tidb.ColumnOptionReference:
		k.Kind, k.Ref = ast.ConForeignKey, c.foreignKey(o.Refer)
	case tidb.ColumnOptionCheck:
		c.refuse(!o.Enforced, out.Off, "NOT ENFORCED")
		k.Kind, k.Name, k.Expr = ast.ConCheck, strings.ToLower(o.ConstraintName), c.cond(o.Expr)
	case tidb.ColumnOptionCollate, tidb.ColumnOptionColumnFormat, tidb.ColumnOptionStorage:
		return
	default:
		c.unsupported(out.Off, "column option of "+out.Name)
		return
	}
	out.Constraints = append(out.Constraints, k)
}

func isCurrentTimestamp(n tidb.ExprNode) bool {
	f, ok := bare(n).(*tidb.FuncCallExpr)
	if !ok {
		return false
	}
	switch f.FnName.L {
	case "current_timestamp", "now", "localtime", "localtimestamp":
		return true
	}
	return false
}

// defaultValue converts a default; nil for NULL, which needs none.
func (c *converter) defaultValue(d *tidb.ColumnDef, n tidb.ExprNode) ast.Expr {
	if isCurrentTimestamp(n) {
		return &ast.SQLValue{Loc: ast.At(c.at(d.Name)), Func: ast.CurrentTimestamp, Precision: -1}
	}
	if l, ok := bare(n).(*literal); ok {
		if l.value == nil {
			return nil
		}
		if _, isBit := l.value.(bitText); !isBit && d.Tp.GetType() == mysql.TypeBit {
			c.unsupported(c.at(d.Name), "default of a BIT that is no bit string")
		}
		return c.constant(l)
	}
	return c.expr(n)
}

// indexName is what an index or unique constraint of a table is called here, where the names of indexes share a schema.
func indexName(table ast.Name, index string) string {
	if index == "" {
		return ""
	}
	return table.Name + "_" + strings.ToLower(index)
}

// tableConstraint converts an entry of CREATE TABLE that is no column: to a constraint or to an index.
func (c *converter) tableConstraint(k *tidb.Constraint, table ast.Name) (*ast.Constraint, *ast.CreateIndex) {
	loc := ast.At(c.start)
	out := &ast.Constraint{Loc: loc}
	switch k.Tp {
	case tidb.ConstraintPrimaryKey:
		out.Kind, out.Keys = ast.ConPrimaryKey, c.keyColumns(k.Keys)
	case tidb.ConstraintUniq, tidb.ConstraintUniqKey, tidb.ConstraintUniqIndex:
		out.Kind, out.Name, out.Keys = ast.ConUnique, indexName(table, k.Name), c.keyColumns(k.Keys)
	case tidb.ConstraintKey, tidb.ConstraintIndex:
		return nil, &ast.CreateIndex{Loc: loc, Name: indexName(table, k.Name), Table: &ast.TableRef{Loc: table.Loc, Name: table}, Method: "btree", Elems: c.indexElems(k.Keys)}
	case tidb.ConstraintForeignKey:
		out.Kind, out.Name, out.Keys, out.Ref = ast.ConForeignKey, strings.ToLower(k.Name), c.keyColumns(k.Keys), c.foreignKey(k.Refer)
	case tidb.ConstraintCheck:
		c.refuse(!k.Enforced, c.start, "NOT ENFORCED")
		out.Kind, out.Name, out.Expr = ast.ConCheck, strings.ToLower(k.Name), c.cond(k.Expr)
	case tidb.ConstraintFulltext:
		c.unsupported(c.start, "FULLTEXT KEY "+k.Name)
	default:
		c.unsupported(c.start, "constraint "+k.Name)
	}
	return out, nil
}

// keyColumns are the columns of a key that has nothing but columns.
func (c *converter) keyColumns(list []*tidb.IndexPartSpecification) []string {
	var out []string
	for _, p := range list {
		if p.Column == nil {
			c.unsupported(c.start, "expression in a key")
			return nil
		}
		c.refuse(p.Length > 0, c.start, "key over the beginning of column "+p.Column.Name.O)
		out = append(out, ident(p.Column.Name))
	}
	return out
}

// indexElems are the parts of an index that is not unique: one over a column's beginning is one over the column.
func (c *converter) indexElems(list []*tidb.IndexPartSpecification) []ast.IndexElem {
	var out []ast.IndexElem
	for _, p := range list {
		e := ast.IndexElem{Loc: ast.At(ast.NoPos)}
		if p.Column != nil {
			e.Column = ident(p.Column.Name)
		} else {
			e.Expr = c.expr(p.Expr)
		}
		if p.Desc {
			e.Dir = ast.SortDesc
		}
		out = append(out, e)
	}
	return out
}

func (c *converter) foreignKey(r *tidb.ReferenceDef) *ast.ForeignKey {
	out := &ast.ForeignKey{Table: c.tableName(r.Table, "REFERENCES"), Columns: c.keyColumns(r.IndexPartSpecifications)}
	switch r.Match {
	case tidb.MatchFull:
		out.Match = ast.MatchFull
	case tidb.MatchPartial:
		out.Match = ast.MatchPartial
	}
	if r.OnDelete != nil {
		out.OnDelete = fkActions[r.OnDelete.ReferOpt]
	}
	if r.OnUpdate != nil {
		out.OnUpdate = fkActions[r.OnUpdate.ReferOpt]
	}
	return out
}

var fkActions = map[tidb.ReferOptionType]ast.FKAction{
	tidb.ReferOptionRestrict: ast.FKRestrict, tidb.ReferOptionCascade: ast.FKCascade, tidb.ReferOptionSetNull: ast.FKSetNull,
	tidb.ReferOptionNoAction: ast.FKNoAction, tidb.ReferOptionSetDefault: ast.FKSetDefault,
}

func (c *converter) createIndex(s *tidb.CreateIndexStmt) ast.Stmt {
	table := c.tableName(s.Table, "CREATE INDEX")
	unique := s.KeyType == tidb.IndexKeyTypeUnique
	c.refuse(s.KeyType != tidb.IndexKeyTypeNone && !unique, c.start, "FULLTEXT and SPATIAL indexes")
	if unique {
		c.keyColumns(s.IndexPartSpecifications) // refuses a unique key over a column's beginning
	}
	return &ast.CreateIndex{Loc: ast.At(c.start), Name: indexName(table, s.IndexName), Table: &ast.TableRef{Loc: table.Loc, Name: table}, Method: "btree",
		Elems: c.indexElems(s.IndexPartSpecifications), Unique: unique, IfNotExists: s.IfNotExists}
}
