package postgres

import (
	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// maxDepth bounds the conversion's own recursion; sql/scan refuses such texts earlier, this is the second line.
const maxDepth = 20000

// converter turns one statement of the parser into ast. The first failure sticks; functions then return what they have.
type converter struct {
	text  string
	start int32 // offset of the statement's first token
	depth int
	err   error
}

func (c *converter) fail(e *sqlerr.Error) {
	if c.err == nil {
		c.err = e
	}
}

func (c *converter) failAt(loc int32, code sqlerr.Code, format string, args ...any) {
	c.fail(sqlerr.At(ast.CharPosition(c.text, loc), code, format, args...))
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

// nodeName names a node's type for a 0A000 message.
func nodeName(n *pg.Node) string {
	if n == nil || n.Node == nil {
		return "empty node"
	}
	f := n.ProtoReflect().WhichOneof(n.ProtoReflect().Descriptor().Oneofs().Get(0))
	if f == nil {
		return "empty node"
	}
	return string(f.Message().Name())
}

// nodeLoc returns the location field of a node, NoPos when it has none.
func nodeLoc(n *pg.Node) int32 {
	if n == nil || n.Node == nil {
		return ast.NoPos
	}
	r := n.ProtoReflect()
	f := r.WhichOneof(r.Descriptor().Oneofs().Get(0))
	if f == nil || f.Message() == nil {
		return ast.NoPos
	}
	m := r.Get(f).Message()
	if l := m.Descriptor().Fields().ByName("location"); l != nil {
		return int32(m.Get(l).Int())
	}
	return ast.NoPos
}

// unknown fails about a node in a place where its type is not expected.
func (c *converter) unknown(n *pg.Node, where string) {
	c.unsupported(nodeLoc(n), nodeName(n)+" in "+where)
}

// str returns a String node's value.
func (c *converter) str(n *pg.Node, where string) string {
	if s, ok := n.GetNode().(*pg.Node_String_); ok {
		return s.String_.GetSval()
	}
	c.unknown(n, where)
	return ""
}

// strs returns the values of a list of String nodes.
func (c *converter) strs(list []*pg.Node, where string) []string {
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = c.str(n, where)
	}
	return out
}

// items returns the elements of a List node.
func (c *converter) items(n *pg.Node, where string) []*pg.Node {
	if l, ok := n.GetNode().(*pg.Node_List); ok {
		return l.List.GetItems()
	}
	c.unknown(n, where)
	return nil
}

// name makes a Name of dotted parts.
func (c *converter) name(list []*pg.Node, loc int32, where string) ast.Name {
	return c.nameOf(c.strs(list, where), loc)
}

func (c *converter) nameOf(parts []string, loc int32) ast.Name {
	n := ast.Name{Loc: ast.At(loc)}
	switch len(parts) {
	case 0:
	case 1:
		n.Name = parts[0]
	case 2:
		n.Schema, n.Name = parts[0], parts[1]
	case 3:
		n.Catalog, n.Schema, n.Name = parts[0], parts[1], parts[2]
	default:
		c.failAt(loc, sqlerr.SyntaxError, "improper qualified name (too many dotted names): %s", dotted(parts))
	}
	return n
}

func dotted(parts []string) string {
	s := ""
	for i, p := range parts {
		if i > 0 {
			s += "."
		}
		s += p
	}
	return s
}

// relation makes the Name of a RangeVar that may have neither alias nor ONLY nor persistence.
func (c *converter) relation(r *pg.RangeVar, where string) ast.Name {
	if r == nil {
		c.unsupported(ast.NoPos, where+" without a relation")
		return ast.Name{}
	}
	c.refuse(r.Alias != nil, r.Location, "alias in "+where)
	return ast.Name{Loc: ast.At(r.Location), Catalog: r.Catalogname, Schema: r.Schemaname, Name: r.Relname}
}

// plainRelation is relation for places where ONLY and TEMPORARY would be lost as well.
func (c *converter) plainRelation(r *pg.RangeVar, where string) ast.Name {
	n := c.relation(r, where)
	if r != nil {
		c.refuse(!r.Inh, r.Location, "ONLY in "+where)
		c.refuse(r.Relpersistence != "p" && r.Relpersistence != "", r.Location, "persistence "+r.Relpersistence+" in "+where)
	}
	return n
}

// tableRef makes a relation reference that may have ONLY and an alias.
func (c *converter) tableRef(r *pg.RangeVar, where string) *ast.TableRef {
	if r == nil {
		c.unsupported(ast.NoPos, where+" without a relation")
		return nil
	}
	c.refuse(r.Relpersistence != "p" && r.Relpersistence != "", r.Location, "persistence "+r.Relpersistence+" in "+where)
	return &ast.TableRef{
		Loc:   ast.At(r.Location),
		Name:  ast.Name{Loc: ast.At(r.Location), Catalog: r.Catalogname, Schema: r.Schemaname, Name: r.Relname},
		Only:  !r.Inh,
		Alias: c.alias(r.Alias),
	}
}

func (c *converter) tableRefs(list []*pg.Node, where string) []*ast.TableRef {
	out := make([]*ast.TableRef, 0, len(list))
	for _, n := range list {
		r, ok := n.GetNode().(*pg.Node_RangeVar)
		if !ok {
			c.unknown(n, where)
			return nil
		}
		out = append(out, c.tableRef(r.RangeVar, where))
	}
	return out
}

func (c *converter) relations(list []*pg.Node, where string) []ast.Name {
	var out []ast.Name
	for _, n := range list {
		r, ok := n.GetNode().(*pg.Node_RangeVar)
		if !ok {
			c.unknown(n, where)
			return nil
		}
		out = append(out, c.plainRelation(r.RangeVar, where))
	}
	return out
}

func (c *converter) alias(a *pg.Alias) *ast.Alias {
	if a == nil {
		return nil
	}
	return &ast.Alias{Name: a.Aliasname, Columns: c.strs(a.Colnames, "alias")}
}

func persistence(s string) (p ast.Persistence, ok bool) {
	switch s {
	case "p", "":
		return ast.Permanent, true
	case "t":
		return ast.Temporary, true
	case "u":
		return ast.Unlogged, true
	}
	return 0, false
}

// cascade says whether b is CASCADE.
func (c *converter) cascade(b pg.DropBehavior) bool {
	switch b {
	case pg.DropBehavior_DROP_CASCADE:
		return true
	case pg.DropBehavior_DROP_RESTRICT, pg.DropBehavior_DROP_BEHAVIOR_UNDEFINED:
		return false
	}
	c.unsupported(ast.NoPos, "drop behavior "+b.String())
	return false
}
