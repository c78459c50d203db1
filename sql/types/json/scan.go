package json

import (
	"unicode/utf8"

	"herd/sql/sqlerr"
)

// parser checks a JSON text. With build set it also makes a tree.
type parser struct {
	s     []byte
	i     int
	depth int
	build bool
	jsonb bool   // \u0000 is an error
	tmp   []byte // an unescaped string
}

// Validate checks that text is one JSON value. 22P02 with the detail of what is wrong.
func Validate(text []byte) error {
	p := parser{s: text}
	_, err := p.all()
	return err
}

func (p *parser) all() (*Value, error) {
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.i < len(p.s) {
		return nil, p.expected("end of input")
	}
	return v, nil
}

func (p *parser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *parser) value() (*Value, error) {
	p.space()
	if p.i >= len(p.s) {
		return nil, p.ended()
	}
	switch c := p.s[p.i]; {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		b, err := p.str()
		if err != nil || !p.build {
			return nil, err
		}
		return &Value{Kind: String, Text: append([]byte(nil), b...)}, nil
	case c == '-' || c >= '0' && c <= '9':
		from := p.i
		if err := p.number(); err != nil || !p.build {
			return nil, err
		}
		return p.makeNumber(p.s[from:p.i])
	case !wordChar(c):
		return nil, p.expected("JSON value")
	}
	from, to, err := p.token()
	if err != nil {
		return nil, err
	}
	p.i = to
	if !p.build {
		return nil, nil
	}
	switch p.s[from] {
	case 't':
		return &Value{Kind: True}, nil
	case 'f':
		return &Value{Kind: False}, nil
	}
	return &Value{Kind: Null}, nil
}

func (p *parser) enter() error {
	if p.depth++; p.depth > MaxDepth {
		return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").
			WithHint("Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's stack depth limit is adequate.")
	}
	return nil
}

func (p *parser) array() (*Value, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	var out *Value
	if p.build {
		out = &Value{Kind: Array}
	}
	p.i++
	p.space()
	if p.i < len(p.s) && p.s[p.i] == ']' {
		p.i++
		return out, nil
	}
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if out != nil {
			out.Elems = append(out.Elems, v)
		}
		p.space()
		if p.i >= len(p.s) {
			return nil, p.ended()
		}
		switch p.s[p.i] {
		case ',':
			p.i++
		case ']':
			p.i++
			return out, nil
		default:
			return nil, p.expected("\",\" or \"]\"")
		}
	}
}

func (p *parser) object() (*Value, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	var out *Value
	if p.build {
		out = &Value{Kind: Object}
	}
	p.i++
	p.space()
	if p.i < len(p.s) && p.s[p.i] == '}' {
		p.i++
		return out, nil
	}
	for first := true; ; first = false {
		p.space()
		if p.i >= len(p.s) {
			return nil, p.ended()
		}
		if p.s[p.i] != '"' {
			if first {
				return nil, p.expected("string or \"}\"")
			}
			return nil, p.expected("string")
		}
		k, err := p.str()
		if err != nil {
			return nil, err
		}
		if out != nil {
			out.Keys = append(out.Keys, append([]byte(nil), k...))
		}
		p.space()
		if p.i >= len(p.s) {
			return nil, p.ended()
		}
		if p.s[p.i] != ':' {
			return nil, p.expected("\":\"")
		}
		p.i++
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if out != nil {
			out.Elems = append(out.Elems, v)
		}
		p.space()
		if p.i >= len(p.s) {
			return nil, p.ended()
		}
		switch p.s[p.i] {
		case ',':
			p.i++
		case '}':
			p.i++
			return out, nil
		default:
			return nil, p.expected("\",\" or \"}\"")
		}
	}
}

// number passes over a number and checks that it ends well.
func (p *parser) number() error {
	from := p.i
	bad := false
	if p.s[p.i] == '-' {
		p.i++
	}
	digits := func() int {
		n := 0
		for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
			p.i++
			n++
		}
		return n
	}
	switch {
	case p.i < len(p.s) && p.s[p.i] == '0':
		p.i++
	default:
		bad = digits() == 0
	}
	if !bad && p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		bad = digits() == 0
	}
	if !bad && p.i < len(p.s) && p.s[p.i]|0x20 == 'e' {
		p.i++
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		bad = digits() == 0
	}
	end := p.i
	for end < len(p.s) && (wordChar(p.s[end]) || p.s[end] == '.' && bad) {
		end++
		bad = true
	}
	if bad {
		p.i = from
		return p.fail(from, end, "Token \"%s\" is invalid.", p.s[from:end])
	}
	return nil
}

// str passes over a string and returns its content without escapes; it aliases the text or p.tmp.
func (p *parser) str() ([]byte, error) {
	start := p.i
	p.i++
	from := p.i
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return p.s[from : p.i-1], nil
		case c == '\\':
			return p.escaped(start, from)
		case c < 0x20:
			return nil, p.control(p.i, c)
		default:
			p.i++
		}
	}
	p.i = start
	return nil, p.fail(start, len(p.s), "Token \"%s\" is invalid.", p.s[start:])
}

func (p *parser) control(at int, c byte) error {
	return p.fail(at, at, "Character with value 0x%02x must be escaped.", c)
}

// escaped is str from the first backslash on.
func (p *parser) escaped(start, from int) ([]byte, error) {
	out := append(p.tmp[:0], p.s[from:p.i]...)
	high := rune(0)
	for p.i < len(p.s) {
		c := p.s[p.i]
		if high != 0 && !(c == '\\' && p.i+1 < len(p.s) && p.s[p.i+1] == 'u') {
			return nil, p.fail(start, p.i, "Unicode low surrogate must follow a high surrogate.")
		}
		switch {
		case c == '"':
			p.i++
			p.tmp = out
			return out, nil
		case c < 0x20:
			return nil, p.control(p.i, c)
		case c != '\\':
			out = append(out, c)
			p.i++
			continue
		}
		if p.i+1 >= len(p.s) {
			break
		}
		p.i++
		switch e := p.s[p.i]; e {
		case '"', '\\', '/':
			out = append(out, e)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			var err error
			if out, high, err = p.unicode(start, out, high); err != nil {
				return nil, err
			}
			continue
		default:
			_, n := utf8.DecodeRune(p.s[p.i:])
			return nil, p.fail(start, p.i+n, "Escape sequence \"\\%s\" is invalid.", p.s[p.i:p.i+n])
		}
		p.i++
	}
	p.i = start
	return nil, p.fail(start, len(p.s), "Token \"%s\" is invalid.", p.s[start:])
}

// unicode reads the four digits after \u; high is a pending first half of a surrogate pair.
func (p *parser) unicode(start int, out []byte, high rune) ([]byte, rune, error) {
	p.i++
	var r rune
	for k := range 4 {
		if p.i+k >= len(p.s) {
			return nil, 0, p.fail(start, len(p.s), "\"\\u\" must be followed by four hexadecimal digits.")
		}
		c := p.s[p.i+k]
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return nil, 0, p.fail(start, p.i+k+1, "\"\\u\" must be followed by four hexadecimal digits.")
		}
	}
	p.i += 4
	isHigh, isLow := r >= 0xD800 && r <= 0xDBFF, r >= 0xDC00 && r <= 0xDFFF
	if !p.jsonb {
		return out, 0, nil // json keeps its text: only the form counts
	}
	switch {
	case isHigh && high != 0:
		return nil, 0, p.fail(start, p.i, "Unicode high surrogate must not follow a high surrogate.")
	case isHigh:
		return out, r, nil
	case isLow && high == 0, !isLow && high != 0:
		return nil, 0, p.fail(start, p.i, "Unicode low surrogate must follow a high surrogate.")
	case isLow:
		r = 0x10000 + (high-0xD800)<<10 + (r - 0xDC00)
	case r == 0:
		return nil, 0, sqlerr.New(sqlerr.UntranslatableCharacter, "unsupported Unicode escape sequence").
			WithDetail("\\u0000 cannot be converted to text.").WithWhere("%s", p.where(p.i))
	}
	return utf8.AppendRune(out, r), 0, nil
}
