package deparse

import (
	"strings"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Env is what text depends on.
type Env struct {
	Cat catalog.Reader
	// Path decides which names need a schema; see StoredPath.
	Path []types.OID
	// Pretty leaves out brackets that precedence makes needless, as pg_get_viewdef(oid, true) does.
	Pretty bool
	// Store says that the text will be bound again: columns of sub-queries keep their names.
	Store bool
	// IO prints constants; nil is types.NewIOContext.
	IO *types.IOContext
	// Database is the current database's name, for reg* constants.
	Database string
}

// StoredPath is the search path of stored text: everything but pg_catalog is qualified.
var StoredPath = []types.OID{pgdata.CatalogSchema}

// maxDepth bounds the recursion of a walk.
const maxDepth = 6000

// Expr returns the text of an expression over the columns of rel (nil for none), which is entry 0 of its range table.
// Called by sql/ddl for what it stores, by sql/session for pg_get_expr.
func Expr(env *Env, rel *catalog.Relation, e plan.Expr) (string, error) {
	p := newPrinter(env)
	p.rel = rel
	p.expr(e)
	return p.finish()
}

// Query returns the text of a SELECT without a semicolon. names, when not nil, are the names of its output columns (a view's).
// Called by sql/ddl for what it stores, by sql/session for pg_get_viewdef.
func Query(env *Env, q *plan.Query, names []string) (string, error) {
	p := newPrinter(env)
	p.query(q, names, true)
	return p.finish()
}

// printer builds text. Its indentation follows ruleutils: indent is the level, keyword starts a line.
type printer struct {
	env    *Env
	buf    strings.Builder
	rel    *catalog.Relation // of the columns of an expression without query
	levels []*level          // enclosing queries, innermost last
	indent int
	depth  int
	// caseTest is the text of the value that CaseTest stands for, while printing what is over it.
	caseTest []string
	sawVar   bool       // a column of the innermost query was printed
	subOut   [][]string // texts of the subquery columns that SubOut stands for
	err      error
}

func newPrinter(env *Env) *printer {
	e := *env
	io := types.NewIOContext()
	if e.IO != nil {
		*io = *e.IO
	}
	// Names in constants (regclass, enum labels) follow the printer's path, not the session's.
	io.Catalog = catalog.Names{Reader: e.Cat, Path: e.Path, Database: e.Database}
	e.IO = io
	return &printer{env: &e}
}

func (p *printer) finish() (string, error) {
	if p.err != nil {
		return "", p.err
	}
	return p.buf.String(), nil
}

func (p *printer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *printer) unsupported(what string) { p.fail(sqlerr.Unsupported("text of %s", what)) }

func (p *printer) put(s string) { p.buf.WriteString(s) }

// part returns what f prints, without printing it.
func (p *printer) part(f func()) string {
	saved := p.buf
	p.buf = strings.Builder{}
	f()
	out := p.buf.String()
	p.buf = saved
	return out
}

// Indentation steps of ruleutils.
const (
	indentStd   = 8
	indentJoin  = 4
	indentVar   = 4
	indentLimit = 40
)

// keyword starts a new line with word: the level changes by before, the line is indented by the level and extra, the level
// changes by after.
func (p *printer) keyword(word string, before, after, extra int) {
	p.indent += before
	s := strings.TrimRight(p.buf.String(), " ")
	p.buf = strings.Builder{}
	p.buf.WriteString(s)
	p.buf.WriteByte('\n')
	n := max(p.indent, 0)
	if p.indent >= indentLimit {
		n = (indentLimit + (p.indent-indentLimit)/(indentStd/2)) % indentLimit
	}
	for range n + extra {
		p.buf.WriteByte(' ')
	}
	p.put(word)
	p.indent = max(p.indent+after, 0)
}

// enter counts recursion.
func (p *printer) enter() bool {
	if p.err != nil {
		return false
	}
	if p.depth >= maxDepth {
		p.fail(sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded"))
		return false
	}
	p.depth++
	return true
}

func (p *printer) leave() { p.depth-- }

// typeName returns a type with its modifier as format_type prints it.
func (p *printer) typeName(t types.OID, mod types.Typmod) string {
	s, err := catalog.FormatType(p.env.Cat, t, mod, true, p.env.Path)
	if err != nil {
		p.fail(err)
	}
	return s
}

// collation returns a collation's name.
func (p *printer) collation(id types.OID) string {
	c := pgdata.CollationByOID(id)
	if c == nil {
		p.fail(sqlerr.Internal("cache lookup failed for collation %d", id))
		return ""
	}
	return catalog.QuoteIdent(c.Name)
}

// typeCollation returns the collation a type has by default.
func (p *printer) typeCollation(t types.OID) types.OID {
	typ, err := p.env.Cat.TypeByOID(t)
	if err != nil {
		p.fail(err)
	}
	if typ == nil {
		return 0
	}
	return typ.Collation
}

// proc returns a function's description.
func (p *printer) proc(id types.OID) *catalog.Proc {
	f, err := p.env.Cat.FuncByOID(id)
	if err == nil && f == nil {
		err = sqlerr.Internal("cache lookup failed for function %d", id)
	}
	if err != nil {
		p.fail(err)
		return &catalog.Proc{}
	}
	return f
}

// procName returns a function's name, qualified where a call by name would not find it.
func (p *printer) procName(f *catalog.Proc) string {
	visible, err := catalog.FuncIsVisible(p.env.Cat, f, p.env.Path)
	if err != nil {
		p.fail(err)
	}
	if visible {
		return catalog.QuoteIdent(f.Name)
	}
	s, err := p.env.Cat.SchemaByOID(f.Namespace)
	if err != nil {
		p.fail(err)
	}
	if s == nil {
		return catalog.QuoteIdent(f.Name)
	}
	return catalog.QuoteQualified(s.Name, f.Name)
}

// operator returns an operator's symbol; all operators are pg_catalog's or those that the server itself has in schema mysql.
func (p *printer) operator(id types.OID) string {
	o := pgdata.OperatorByOID(id)
	if o == nil {
		p.fail(sqlerr.Internal("cache lookup failed for operator %d", id))
		return ""
	}
	if o.Namespace == pgdata.MySQLSchema {
		return "OPERATOR(" + pgdata.MySQLName + "." + o.Name + ")"
	}
	if catalog.BuiltinIsVisible(p.env.Path) {
		return o.Name
	}
	return "OPERATOR(pg_catalog." + o.Name + ")"
}

// current returns a relation as the catalog has it now: it may have been renamed since the tree was bound.
func (p *printer) current(rel *catalog.Relation) *catalog.Relation {
	now, err := p.env.Cat.RelationByOID(rel.OID)
	if err != nil {
		p.fail(err)
	}
	if now == nil {
		return rel
	}
	return now
}

// relation returns a relation's name, qualified if it is not visible.
func (p *printer) relation(rel *catalog.Relation) string {
	rel = p.current(rel)
	s, err := catalog.FormatRelation(p.env.Cat, rel, p.env.Path)
	if err != nil {
		p.fail(err)
	}
	return s
}

func quote(name string) string { return catalog.QuoteIdent(name) }

// Literal returns s as a string literal, as standard_conforming_strings reads it.
func Literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// DomainCheck returns the text of a condition of a domain, whose value is a CaseTest in it.
func DomainCheck(env *Env, e plan.Expr) (string, error) {
	p := newPrinter(env)
	p.caseTest = append(p.caseTest, DomainValue)
	p.expr(e)
	return p.finish()
}

// DomainValue is the name of a column that prints as VALUE: what a domain's CHECK refers to.
const DomainValue = "VALUE"
