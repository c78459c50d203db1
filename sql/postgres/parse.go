package postgres

import (
	"errors"
	"strings"
	"unicode/utf8"

	pg "github.com/sqlc-dev/oliphant/ast"
	"github.com/sqlc-dev/oliphant/parser"

	"herd/sql/ast"
	"herd/sql/scan"
	"herd/sql/sqlerr"
)

// Statement is one statement of a text.
type Statement struct {
	Stmt ast.Stmt
	// Start and End are the statement's byte span in the text given to Parse, without the semicolon and surrounding blanks.
	Start, End int
}

// Parse turns a text into its statements, none for one of blanks and comments. Offsets in the trees and positions in errors
// refer to the whole text. The error is a *sqlerr.Error. The text must have passed scan.CheckNesting. Called by
// sql/session for each text that no cache knows, and by sql/deparse's and the catalog's users for stored text.
func Parse(text string) ([]Statement, error) {
	if !utf8.ValidString(text) {
		return nil, invalidEncoding(text)
	}
	tree, err := parser.ParseToTree(text)
	if err != nil {
		if plain, ok := scan.PlainDatabase(text); ok {
			tree, err = parser.ParseToTree(plain)
		}
	}
	if err != nil {
		if named, ok := scan.NameExclude(text); ok {
			t, e := parser.ParseToTree(named)
			if e == nil || !strings.Contains(e.Error(), scan.ExcludeColumn) {
				tree, err = t, e
			}
		}
	}
	if err != nil {
		return nil, translate(text, err)
	}
	return convert(text, tree)
}

// convert turns the parser's tree of text into ast.
func convert(text string, tree *pg.ParseResult) ([]Statement, error) {
	out := make([]Statement, 0, len(tree.Stmts))
	for _, raw := range tree.Stmts {
		start, end := span(text, int(raw.StmtLocation), int(raw.StmtLen))
		c := converter{text: text, start: int32(start)}
		s := c.stmt(raw.Stmt)
		if c.err != nil {
			return nil, c.err
		}
		out = append(out, Statement{Stmt: s, Start: start, End: end})
	}
	return out, nil
}

// ParseExpr parses one expression, such as a stored default; text is the expression alone and positions refer to it.
func ParseExpr(text string) (ast.Expr, error) {
	const prefix = "SELECT "
	list, err := Parse(prefix + text)
	if err != nil {
		e := sqlerr.From(err)
		if e.Position > len(prefix) {
			e.Position -= len(prefix)
		}
		return nil, e
	}
	if len(list) == 1 {
		if q, ok := list[0].Stmt.(*ast.Select); ok && q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil && q.Locking == nil {
			if core, ok := q.Body.(*ast.SelectCore); ok && len(core.Targets) == 1 && core.From == nil && core.Where == nil &&
				core.GroupBy == nil && core.Having == nil && core.Windows == nil && core.Targets[0].Alias == "" && !core.Distinct {
				return core.Targets[0].Expr, nil
			}
		}
	}
	return nil, sqlerr.New(sqlerr.SyntaxError, "invalid expression: %s", text)
}

// ParseTypeName parses a type name such as "numeric(10,2)[]"; the error is 42601 or, for what is no type name, 42601 as well.
func ParseTypeName(text string) (*ast.TypeName, error) {
	list, err := Parse("SELECT NULL::" + text)
	if err == nil && len(list) == 1 {
		if q, ok := list[0].Stmt.(*ast.Select); ok {
			if core, ok := q.Body.(*ast.SelectCore); ok && len(core.Targets) == 1 && core.Targets[0].Alias == "" && core.From == nil {
				if cast, ok := core.Targets[0].Expr.(*ast.Cast); ok {
					return cast.Type, nil
				}
			}
		}
	}
	return nil, sqlerr.New(sqlerr.SyntaxError, "invalid type name \"%s\"", text)
}

// span trims the parser's span of a statement: it may begin with blanks and comments.
func span(text string, at, length int) (start, end int) {
	if at < 0 {
		at = 0
	}
	end = len(text)
	if length > 0 && at+length <= len(text) {
		end = at + length
	}
	start = skipBlank(text[:end], at)
	for end > start && isSpace(text[end-1]) {
		end--
	}
	return start, end
}

func isSpace(b byte) bool {
	return b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == '\f' || b == '\v'
}

// skipBlank returns the offset of the first byte at or after i that is neither blank nor in a comment.
func skipBlank(s string, i int) int {
	for i < len(s) {
		switch {
		case isSpace(s[i]):
			i++
		case strings.HasPrefix(s[i:], "--"):
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case strings.HasPrefix(s[i:], "/*"):
			depth := 0
			for i < len(s) {
				if strings.HasPrefix(s[i:], "/*") {
					depth++
					i += 2
				} else if strings.HasPrefix(s[i:], "*/") {
					depth--
					i += 2
					if depth == 0 {
						break
					}
				} else {
					i++
				}
			}
		default:
			return i
		}
	}
	return i
}

// translate gives the parser's error its SQLSTATE.
func translate(text string, err error) error {
	var pe *parser.Error
	if !errors.As(err, &pe) {
		return sqlerr.Internal("parsing: %v", err)
	}
	e := sqlerr.New(codeOf(pe.Message), "%s", pe.Message)
	e.Position = pe.Cursorpos
	switch {
	case strings.HasPrefix(pe.Message, "LIMIT #,#"):
		e.Hint = "Use separate LIMIT and OFFSET clauses."
	case pe.Message == "invalid Unicode escape":
		// In an E string the escape is \u or \U; in a U& string, where it is another code, it begins with a digit or +.
		if i := byteOffset(text, pe.Cursorpos); i+1 < len(text) && text[i+1]|0x20 == 'u' {
			e.Code, e.Hint = sqlerr.InvalidEscapeSequence, "Unicode escapes must be \\uXXXX or \\UXXXXXXXX."
		} else {
			e.Hint = "Unicode escapes must be \\XXXX or \\+XXXXXX."
		}
	}
	return e
}

// byteOffset turns a 1-based character position into a byte offset.
func byteOffset(text string, position int) int {
	for i := range text {
		if position--; position <= 0 {
			return i
		}
	}
	return len(text)
}

// codeOf returns the SQLSTATE that PostgreSQL's parser gives with a message. Nearly all of them are syntax errors.
func codeOf(message string) sqlerr.Code {
	switch {
	case strings.HasPrefix(message, "LIMIT #,#"), strings.HasPrefix(message, "invalid Unicode"):
		return sqlerr.SyntaxError
	case strings.HasPrefix(message, "invalid byte sequence"):
		return sqlerr.CharacterNotInRepertoire
	case strings.HasPrefix(message, "unsafe use of \\'"):
		return sqlerr.NonstandardUseOfEscapeCharacter
	case strings.HasPrefix(message, "frame ") || strings.HasPrefix(message, "RANGE with"):
		return sqlerr.WindowingError
	case strings.Contains(message, "not implemented"), strings.Contains(message, "not supported"),
		strings.Contains(message, "not yet implemented"), strings.Contains(message, "cannot be marked"):
		return sqlerr.FeatureNotSupported
	case strings.HasPrefix(message, "CREATE SCHEMA IF NOT EXISTS cannot"), strings.HasPrefix(message, "a column list with SET "):
		return sqlerr.FeatureNotSupported
	case strings.HasPrefix(message, "precision for "), strings.HasPrefix(message, "column number must be in range"),
		strings.HasPrefix(message, "unrecognized partitioning strategy"):
		return sqlerr.InvalidParameterValue
	case strings.HasPrefix(message, "role name \""):
		return sqlerr.ReservedName
	}
	return sqlerr.SyntaxError
}

// invalidEncoding is the error about the first byte sequence of text that is not UTF-8.
func invalidEncoding(text string) error {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			n = sequenceLen(text[i])
			if i+n > len(text) {
				n = len(text) - i
			}
			var b strings.Builder
			const hex = "0123456789abcdef"
			for _, c := range []byte(text[i : i+n]) {
				if b.Len() > 0 {
					b.WriteByte(' ')
				}
				b.WriteString("0x")
				b.WriteByte(hex[c>>4])
				b.WriteByte(hex[c&15])
			}
			return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s", b.String())
		}
		i += n
	}
	return sqlerr.Internal("text is valid UTF-8")
}

// sequenceLen is the length that the first byte of a UTF-8 sequence announces, which is what PostgreSQL's message shows.
func sequenceLen(b byte) int {
	switch {
	case b&0xe0 == 0xc0:
		return 2
	case b&0xf0 == 0xe0:
		return 3
	case b&0xf8 == 0xf0:
		return 4
	}
	return 1
}
