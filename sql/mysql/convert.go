package mysql

import (
	"fmt"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// maxDepth bounds the conversion's own recursion; checkNesting refuses such texts earlier, this is the second line.
const maxDepth = 20000

// Schema is the schema of the functions and operators that mean what MySQL means by them.
const Schema = "mysql"

// converter turns one statement of the parser into ast. The first failure sticks; functions then return what they have.
type converter struct {
	text   string
	start  int32 // offset of the statement's first token; the parser's offsets count from here
	depth  int
	upsert bool   // the statement is HerdDB's UPSERT
	word   string // name of the function whose arguments are converted
	inner  int    // depth of subqueries
	// target is the table of an INSERT whose ON DUPLICATE KEY UPDATE is converted: bare columns are its.
	target string
	// labels are the aliases of the select list whose clauses are converted, by folded name.
	labels map[string]label
	// fields is that select list; distinct says that it is one of SELECT DISTINCT.
	fields   []*tidb.SelectField
	distinct bool
	err      *sqlerr.Error
}

// label is an alias of a select list.
type label struct {
	name   string // as written
	expr   tidb.ExprNode
	column bool // of a subquery; expr is nil
}

func (c *converter) fail(e *sqlerr.Error) {
	if c.err == nil {
		c.err = e
	}
}

func (c *converter) failAt(loc int32, code sqlerr.Code, form string, args ...any) {
	c.fail(sqlerr.At(ast.CharPosition(c.text, loc), code, form, args...))
}

// unsupported is the answer to a construct without counterpart.
func (c *converter) unsupported(loc int32, what string) {
	c.failAt(loc, sqlerr.FeatureNotSupported, "%s is not supported", what)
}

// refuse fails with 0A000 about what when set.
func (c *converter) refuse(set bool, loc int32, what string) {
	if set && c.err == nil {
		c.unsupported(loc, what)
	}
}

// unknown fails about a node in a place where its type is not expected.
func (c *converter) unknown(n tidb.Node, where string) {
	c.unsupported(c.at(n), nodeName(n)+" in "+where)
}

// nodeName names a node's type for a 0A000 message.
func nodeName(n tidb.Node) string {
	return strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", n), "*"), "ast.")
}

// enter counts a level of recursion; callers that get true call leave.
func (c *converter) enter() bool {
	if c.depth >= maxDepth {
		c.fail(sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded"))
		return false
	}
	c.depth++
	return true
}

func (c *converter) leave() { c.depth-- }

// at is the offset of a node in the text. The parser knows it of expressions; other nodes are where the statement is.
func (c *converter) at(n tidb.Node) int32 { return c.start + int32(n.OriginTextPosition()) }

// ident folds a name.
func ident(s tidb.CIStr) string { return s.L }

// catalogName is a name of pg_catalog.
func catalogName(name string) ast.Name {
	return ast.Name{Loc: ast.At(ast.NoPos), Schema: "pg_catalog", Name: name}
}

// mysqlName is a name of schema mysql.
func mysqlName(loc int32, name string) ast.Name {
	return ast.Name{Loc: ast.At(loc), Schema: Schema, Name: name}
}

// tableName makes the Name of a table that may have nothing but a name.
func (c *converter) tableName(t *tidb.TableName, where string) ast.Name {
	if t == nil {
		c.unsupported(c.start, where+" without a table")
		return ast.Name{}
	}
	loc := c.at(t)
	c.refuse(len(t.PartitionNames) > 0, loc, "PARTITION")
	c.refuse(t.TableSample != nil, loc, "TABLESAMPLE")
	c.refuse(t.AsOf != nil, loc, "AS OF")
	// Index hints (t.IndexHints) are advice, which the planner does not take.
	return ast.Name{Loc: ast.At(loc), Schema: ident(t.Schema), Name: ident(t.Name)}
}

func (c *converter) tableRef(t *tidb.TableName, where string) *ast.TableRef {
	n := c.tableName(t, where)
	return &ast.TableRef{Loc: n.Loc, Name: n}
}

// onlyTable returns the single plain table of a FROM-like clause, with its alias.
func (c *converter) onlyTable(r *tidb.TableRefsClause, where string) *ast.TableRef {
	if r != nil && r.TableRefs != nil && r.TableRefs.Right == nil {
		if s, ok := r.TableRefs.Left.(*tidb.TableSource); ok {
			if t, ok := s.Source.(*tidb.TableName); ok {
				out := c.tableRef(t, where)
				if s.AsName.L != "" {
					out.Alias = &ast.Alias{Name: ident(s.AsName)}
				}
				return out
			}
		}
	}
	c.unsupported(c.start, where+" of several tables")
	return &ast.TableRef{}
}

// idents folds a list of names.
func idents(list []tidb.CIStr) []string {
	var out []string
	for _, n := range list {
		out = append(out, ident(n))
	}
	return out
}
