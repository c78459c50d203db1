package jsonpath

import (
	"strings"

	"herd/sql/sqlerr"
)

// token kinds: a byte stands for itself.
type tokenKind int

const (
	tEnd tokenKind = iota + 256
	tIdent
	tString
	tVariable
	tNumber
	tInt
	tAnd
	tOr
	tAny
	tLessEqual
	tEqual
	tNotEqual
	tGreaterEqual
)

type token struct {
	kind tokenKind
	text string // the content of a name, string, variable or number
	word string // a name's keyword, "" when it is none
	src  string // what an error calls it
}

// keywords of the language; those marked are keywords only in small letters.
var keywords = map[string]bool{
	"is": false, "to": false, "abs": false, "lax": false, "flag": false, "last": false, "null": true, "size": false,
	"true": true, "type": false, "with": false, "false": true, "floor": false, "double": false, "exists": false,
	"starts": false, "strict": false, "ceiling": false, "datetime": false, "keyvalue": false, "unknown": false,
	"like_regex": false,
}

const special = `?%$.[]{}()|&!=<>@#,*:-+/`

func isSpecial(c byte) bool { return strings.IndexByte(special, c) >= 0 }
func isBlank(c byte) bool   { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
func isDigit(c byte) bool   { return c >= '0' && c <= '9' }

// isOther says whether a byte can stand in a name without an escape.
func isOther(c byte) bool { return !isSpecial(c) && !isBlank(c) && c != '\\' && c != '"' }

// scanner makes tokens of a path's text.
type scanner struct {
	s string
	i int
}

func syntax(msg, near string) error {
	if near == "" {
		return sqlerr.New(sqlerr.SyntaxError, "%s at end of jsonpath input", msg)
	}
	return sqlerr.New(sqlerr.SyntaxError, "%s at or near \"%s\" of jsonpath input", msg, near)
}

// blanks passes over blanks and comments.
func (sc *scanner) blanks() error {
	for sc.i < len(sc.s) {
		switch {
		case isBlank(sc.s[sc.i]):
			sc.i++
		case strings.HasPrefix(sc.s[sc.i:], "/*"):
			end := strings.Index(sc.s[sc.i+2:], "*/")
			if end < 0 {
				sc.i = len(sc.s)
				return syntax("unexpected end of comment", "")
			}
			sc.i += end + 4
		default:
			return nil
		}
	}
	return nil
}

var pairs = map[string]tokenKind{
	"&&": tAnd, "||": tOr, "**": tAny, "<=": tLessEqual, "==": tEqual, "<>": tNotEqual, "!=": tNotEqual, ">=": tGreaterEqual,
}

func (sc *scanner) next() (token, error) {
	if err := sc.blanks(); err != nil {
		return token{}, err
	}
	if sc.i >= len(sc.s) {
		return token{kind: tEnd}, nil
	}
	rest := sc.s[sc.i:]
	c := rest[0]
	switch {
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return sc.number()
	case len(rest) > 1 && pairs[rest[:2]] != 0:
		sc.i += 2
		return token{kind: pairs[rest[:2]], src: rest[:2]}, nil
	case c == '$' && len(rest) > 1 && rest[1] == '"':
		sc.i++
		return sc.quoted(tVariable)
	case c == '$' && len(rest) > 1 && isOther(rest[1]):
		n := 1
		for n < len(rest) && isOther(rest[n]) {
			n++
		}
		sc.i += n
		return token{kind: tVariable, text: rest[1:n], src: rest[:n]}, nil
	case c == '"':
		return sc.quoted(tString)
	case isSpecial(c):
		sc.i++
		return token{kind: tokenKind(c), src: rest[:1]}, nil
	}
	return sc.name()
}

// name reads a name, which may have escapes; a comment or blank ends it.
func (sc *scanner) name() (token, error) {
	var b strings.Builder
	for sc.i < len(sc.s) {
		switch c := sc.s[sc.i]; {
		case c == '\\':
			if err := sc.escape(&b); err != nil {
				return token{}, err
			}
		case isOther(c):
			b.WriteByte(c)
			sc.i++
		default:
			return sc.named(b.String()), nil
		}
	}
	return sc.named(b.String()), nil
}

// named makes the token of a name. What PostgreSQL's errors call it is the blanks behind it: its scanner knows the end of a name
// only after them.
func (sc *scanner) named(text string) token {
	end := sc.i
	for end < len(sc.s) && isBlank(sc.s[end]) {
		end++
	}
	t := token{kind: tIdent, text: text, src: sc.s[sc.i:end]}
	low := strings.ToLower(text)
	if exact, ok := keywords[low]; ok && (!exact || text == low) {
		t.word = low
	}
	return t
}

// digits returns the end of the digits at i.
func (sc *scanner) digits(i int) int {
	for i < len(sc.s) && isDigit(sc.s[i]) {
		i++
	}
	return i
}

func (sc *scanner) number() (token, error) {
	from, i, kind := sc.i, sc.i, tInt
	switch {
	case sc.s[i] == '0':
		i++
	case isDigit(sc.s[i]):
		i = sc.digits(i)
	}
	if i < len(sc.s) && sc.s[i] == '.' {
		i, kind = sc.digits(i+1), tNumber
	}
	if i < len(sc.s) && sc.s[i]|0x20 == 'e' {
		e := i + 1
		if e < len(sc.s) && (sc.s[e] == '+' || sc.s[e] == '-') {
			e++
			if sc.digits(e) == e {
				return token{}, syntax("invalid numeric literal", sc.s[from:e])
			}
		}
		if end := sc.digits(e); end > e {
			i, kind = end, tNumber
		}
	}
	if i < len(sc.s) && isOther(sc.s[i]) {
		return token{}, syntax("trailing junk after numeric literal", sc.s[from:i+1])
	}
	sc.i = i
	return token{kind: kind, text: sc.s[from:i], src: sc.s[from:i]}, nil
}
