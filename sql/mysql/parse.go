package mysql

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser"
	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"herd/sql/ast"
	"herd/sql/postgres"
	"herd/sql/sqlerr"
)

// Statement is one statement of a text; sessions run those of both front ends.
type Statement = postgres.Statement

var parsers = sync.Pool{New: func() any {
	p := parser.New()
	p.EnableWindowFunc(true)
	return p
}}

// Parse turns a text into its statements, none for one of blanks and comments. A CREATE TABLE with secondary indexes or comments
// gives several, of one span. Offsets in the trees and positions in errors refer to the whole text. The error is a *sqlerr.Error.
func Parse(text string) ([]Statement, error) {
	if !utf8.ValidString(text) {
		return nil, sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")
	}
	if err := checkNesting(text); err != nil {
		return nil, err
	}
	var out []Statement
	for from := 0; ; {
		start, end, next := Next(text, from)
		if start == end {
			if next >= len(text) {
				return out, nil
			}
			from = next
			continue
		}
		list, err := parseOne(text, start, end)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			out = append(out, Statement{Stmt: s, Start: start, End: end})
		}
		from = next
	}
}

// parseOne converts the statement at text[start:end].
func parseOne(text string, start, end int) ([]ast.Stmt, error) {
	c := &converter{text: text, start: int32(start)}
	if list, ok := c.own(text[start:end]); ok || c.err != nil {
		return list, c.fault()
	}
	source, upsert := herdWords(text[start:end])
	node, err := parseSource(source)
	if err != nil {
		return nil, translate(text, start, err)
	}
	c.upsert = upsert
	c.number(node)
	list := c.stmt(node)
	return list, c.fault()
}

// parseSource gives one statement's text to TiDB's parser.
func parseSource(source string) (tidb.StmtNode, error) {
	p := parsers.Get().(*parser.Parser)
	defer parsers.Put(p)
	list, _, err := p.ParseSQL(source)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("line 1 column 1: %d statements where one was expected", len(list))
	}
	return list[0], nil
}

// fault is the converter's failure as an error; a nil *sqlerr.Error would not be a nil error.
func (c *converter) fault() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

// translate gives the parser's error a place: it names line and column, counted in characters.
func translate(text string, start int, err error) error {
	var line, column int
	message := err.Error()
	if _, e := fmt.Sscanf(message, "line %d column %d", &line, &column); e != nil {
		return sqlerr.At(ast.CharPosition(text, int32(start)), sqlerr.SyntaxError, "%s", message)
	}
	at := start
	for ; line > 1; line-- {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	// The column is that of the token's end.
	at = min(at+max(column, 1)-1, len(text))
	for at > start && (!utf8.RuneStart(byteAt(text, at)) || isNamePart(text[at-1])) {
		at--
	}
	near := text[at:]
	if i := strings.IndexAny(near, " \t\n\r,();"); i > 0 {
		near = near[:i]
	}
	if near == "" {
		return sqlerr.At(ast.CharPosition(text, int32(at)), sqlerr.SyntaxError, "syntax error at end of input")
	}
	return sqlerr.At(ast.CharPosition(text, int32(at)), sqlerr.SyntaxError, "syntax error at or near \"%s\"", near)
}

func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// number gives the ? of a statement their numbers, in order of their places.
func (c *converter) number(n tidb.Node) {
	var v markerVisitor
	n.Accept(&v)
	sort.Slice(v.list, func(i, j int) bool { return v.list[i].value.(int) < v.list[j].value.(int) })
	for i, m := range v.list {
		m.SetOrder(i + 1)
	}
}

type markerVisitor struct{ list []*marker }

// Enter implements tidb.Visitor.
func (v *markerVisitor) Enter(n tidb.Node) (tidb.Node, bool) {
	if m, ok := n.(*marker); ok {
		v.list = append(v.list, m)
	}
	return n, false
}

// Leave implements tidb.Visitor.
func (v *markerVisitor) Leave(n tidb.Node) (tidb.Node, bool) { return n, true }
