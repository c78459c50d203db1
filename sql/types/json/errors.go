package json

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"herd/sql/sqlerr"
)

// MaxDepth is the deepest nesting of arrays and objects that input accepts (54001 beyond).
const MaxDepth = 5000

// fail makes the error for a bad token at [from, to) of the text.
func (p *parser) fail(from, to int, format string, args ...any) error {
	e := sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type json").WithDetail(format, args...)
	return e.WithWhere("%s", p.where(to))
}

// where is the context line: the line up to the bad token, at most 50 bytes of it.
func (p *parser) where(to int) string {
	to = min(to, len(p.s))
	line := 1 + bytes.Count(p.s[:to], []byte{'\n'})
	start := bytes.LastIndexByte(p.s[:to], '\n') + 1
	prefix := ""
	for to-start >= 50 {
		_, n := utf8.DecodeRune(p.s[start:])
		start += n
		prefix = "..."
	}
	suffix := ""
	if to < len(p.s) && p.s[to] != '\n' && p.s[to] != '\r' {
		suffix = "..."
	}
	return fmt.Sprintf("JSON data, line %d: %s%s%s", line, prefix, p.s[start:to], suffix)
}

func (p *parser) ended() error {
	return p.fail(p.i, len(p.s), "The input string ended unexpectedly.")
}

// expected reports the token at the current position.
func (p *parser) expected(what string) error {
	p.space()
	if p.i >= len(p.s) {
		return p.ended()
	}
	from, to, err := p.token()
	if err != nil {
		return err
	}
	return p.fail(from, to, "Expected %s, but found \"%s\".", what, p.s[from:to])
}

// token returns the extent of the token at the current position, an error when it is none.
func (p *parser) token() (from, to int, err error) {
	from = p.i
	switch c := p.s[from]; {
	case bytes.IndexByte([]byte("{}[],:"), c) >= 0:
		return from, from + 1, nil
	case c == '"':
		save := p.i
		_, err := p.str()
		to, p.i = p.i, save
		return from, to, err
	case c == '-' || c >= '0' && c <= '9':
		save := p.i
		err := p.number()
		to, p.i = p.i, save
		return from, to, err
	}
	to = p.wordEnd(from)
	switch string(p.s[from:to]) {
	case "true", "false", "null":
		return from, to, nil
	}
	return from, to, p.fail(from, to, "Token \"%s\" is invalid.", p.s[from:to])
}

// wordEnd returns the end of the run of letters, digits, underscores and high bytes at i, at least one character.
func (p *parser) wordEnd(i int) int {
	e := i
	for e < len(p.s) && wordChar(p.s[e]) {
		e++
	}
	if e == i {
		e++
	}
	return e
}

func wordChar(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}
