package jsonpath

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"herd/sql/sqlerr"
)

// quoted reads a string or variable name in double quotes.
func (sc *scanner) quoted(kind tokenKind) (token, error) {
	var b strings.Builder
	from := sc.i
	sc.i++
	for sc.i < len(sc.s) {
		switch c := sc.s[sc.i]; c {
		case '"':
			sc.i++
			return token{kind: kind, text: b.String(), src: sc.s[from:sc.i]}, nil
		case '\\':
			if err := sc.escape(&b); err != nil {
				return token{}, err
			}
		default:
			b.WriteByte(c)
			sc.i++
		}
	}
	return token{}, syntax("unexpected end of quoted string", "")
}

var plainEscapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// escape reads what a backslash starts.
func (sc *scanner) escape(b *strings.Builder) error {
	if sc.i+1 >= len(sc.s) {
		return syntax("unexpected end after backslash", `\`)
	}
	c := sc.s[sc.i+1]
	if e := plainEscapes[c]; e != 0 {
		b.WriteByte(e)
		sc.i += 2
		return nil
	}
	switch c {
	case 'x':
		n := sc.hex(sc.i+2, 2)
		if n < 2 {
			return syntax("invalid hex character sequence", sc.s[sc.i:sc.i+2+n])
		}
		v, _ := strconv.ParseUint(sc.s[sc.i+2:sc.i+4], 16, 32)
		sc.i += 4
		return addRune(b, rune(v))
	case 'u':
		return sc.unicode(b)
	}
	_, n := utf8.DecodeRuneInString(sc.s[sc.i+1:])
	b.WriteString(sc.s[sc.i+1 : sc.i+1+n])
	sc.i += 1 + n
	return nil
}

// hex counts the hexadecimal digits at i, at most n.
func (sc *scanner) hex(i, n int) int {
	k := 0
	for k < n && i+k < len(sc.s) && strings.IndexByte("0123456789abcdefABCDEF", sc.s[i+k]) >= 0 {
		k++
	}
	return k
}

// unicode reads a run of \uXXXX and \u{X...}: surrogates come in pairs.
func (sc *scanner) unicode(b *strings.Builder) error {
	var high rune
	start := sc.i
	for strings.HasPrefix(sc.s[sc.i:], `\u`) {
		v, n, ok := sc.codePoint()
		if !ok {
			return syntax("invalid unicode sequence", sc.s[start:sc.i+n])
		}
		sc.i += n
		switch isHigh, isLow := v >= 0xd800 && v < 0xdc00, v >= 0xdc00 && v < 0xe000; {
		case isHigh && high != 0:
			return surrogate("Unicode high surrogate must not follow a high surrogate.")
		case isHigh:
			high = v
			continue
		case isLow && high == 0, !isLow && high != 0:
			return surrogate("Unicode low surrogate must follow a high surrogate.")
		case isLow:
			v = 0x10000 + (high-0xd800)<<10 + (v - 0xdc00)
			high = 0
		}
		if err := addRune(b, v); err != nil {
			return err
		}
	}
	if high != 0 {
		return surrogate("Unicode low surrogate must follow a high surrogate.")
	}
	return nil
}

// codePoint reads one \u escape without moving, and returns its length, or how far it is well formed.
func (sc *scanner) codePoint() (v rune, n int, ok bool) {
	at, limit := sc.i+2, 4
	braces := at < len(sc.s) && sc.s[at] == '{'
	if braces {
		at, limit = at+1, 6
	}
	k := sc.hex(at, limit)
	x, _ := strconv.ParseUint("0"+sc.s[at:at+k], 16, 32)
	n = at + k - sc.i
	if !braces {
		return rune(x), n, k == 4
	}
	if k == 0 || at+k >= len(sc.s) || sc.s[at+k] != '}' {
		return 0, n, false
	}
	return rune(x), n + 1, true
}

func surrogate(detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type jsonpath").WithDetail("%s", detail)
}

func addRune(b *strings.Builder, v rune) error {
	switch {
	case v == 0:
		return sqlerr.New(sqlerr.UntranslatableCharacter, "unsupported Unicode escape sequence").
			WithDetail("%s", `\u0000 cannot be converted to text.`)
	case v > utf8.MaxRune:
		return sqlerr.New(sqlerr.SyntaxError, "invalid input syntax for type jsonpath").WithDetail("Unicode code point is out of range.")
	}
	b.WriteRune(v)
	return nil
}
