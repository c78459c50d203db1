package funcs

import (
	"bytes"
	"unicode/utf8"

	"herd/sql/sqlerr"
	"herd/sql/vec"
)

// likePattern is a compiled LIKE pattern.
type likePattern struct {
	src   []byte
	kind  likeKind
	part  []byte // the literal of the simple kinds
	elems []likeElem
	fault bool // match met the bad end
}

type likeKind uint8

const (
	likeGeneral likeKind = iota
	likeExact
	likePrefix
	likeSuffix
	likeContains
	likeAll
)

// likeElem is a literal character, _ or %.
type likeElem struct {
	any, many bool
	bad       bool   // an escape character at the end: an error when the text reaches it
	lit       []byte // a run of literal bytes
}

// compileLike reads a pattern; esc is the escape character, '\\' by default.
func compileLike(src []byte) (*likePattern, error) {
	p := &likePattern{src: append([]byte(nil), src...)}
	lit := func(c []byte) {
		if n := len(p.elems); n > 0 && p.elems[n-1].lit != nil {
			p.elems[n-1].lit = append(p.elems[n-1].lit, c...)
			return
		}
		p.elems = append(p.elems, likeElem{lit: append([]byte(nil), c...)})
	}
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '%':
			if n := len(p.elems); n == 0 || !p.elems[n-1].many {
				p.elems = append(p.elems, likeElem{many: true})
			}
		case '_':
			p.elems = append(p.elems, likeElem{any: true})
		case '\\':
			if i++; i >= len(src) {
				p.elems = append(p.elems, likeElem{bad: true})
				break
			}
			lit(src[i : i+1])
		default:
			lit(src[i : i+1])
		}
	}
	e := p.elems
	switch {
	case len(e) == 0:
		p.kind = likeExact
	case len(e) == 1 && e[0].lit != nil:
		p.kind, p.part = likeExact, e[0].lit
	case len(e) == 1 && e[0].many:
		p.kind = likeAll
	case len(e) == 2 && e[0].lit != nil && e[1].many:
		p.kind, p.part = likePrefix, e[0].lit
	case len(e) == 2 && e[0].many && e[1].lit != nil:
		p.kind, p.part = likeSuffix, e[1].lit
	case len(e) == 3 && e[0].many && e[1].lit != nil && e[2].many:
		p.kind, p.part = likeContains, e[1].lit
	}
	return p, nil
}

func (p *likePattern) match(b []byte) bool {
	switch p.kind {
	case likeExact:
		return bytes.Equal(b, p.part)
	case likePrefix:
		return bytes.HasPrefix(b, p.part)
	case likeSuffix:
		return bytes.HasSuffix(b, p.part)
	case likeContains:
		return bytes.Contains(b, p.part)
	case likeAll:
		return true
	}
	// Greedy matching with one point to come back to: the last %.
	e, back, from := 0, -1, 0
	i := 0
	for {
		if e < len(p.elems) && p.elems[e].many {
			back, from = e, i
			e++
			if e == len(p.elems) {
				return true
			}
			continue
		}
		if e < len(p.elems) {
			if el := &p.elems[e]; el.bad {
				if i < len(b) {
					p.fault = true
					return false
				}
			} else if el.any {
				if i < len(b) {
					_, w := utf8.DecodeRune(b[i:])
					i += w
					e++
					continue
				}
			} else if bytes.HasPrefix(b[i:], el.lit) {
				i += len(el.lit)
				e++
				continue
			}
		} else if i == len(b) {
			return true
		}
		if back < 0 || from >= len(b) {
			return false
		}
		_, w := utf8.DecodeRune(b[from:])
		from += w
		if lit := p.elems[back+1].lit; lit != nil { // what follows the % begins where the literal is found next
			at := bytes.Index(b[from:], lit)
			if at < 0 {
				return false
			}
			from += at
		}
		i, e = from, back+1
	}
}

// LikeMatcher returns a test for a pattern with the escape character \\, as the planner asks it of sampled values.
func LikeMatcher(pattern []byte) (func(text []byte) bool, error) {
	p, err := compileLike(pattern)
	if err != nil {
		return nil, err
	}
	return p.match, nil
}

// likeKernel makes a LIKE kernel; the pattern is compiled once when it is constant.
func likeKernel(negate, fold, binary bool, trimPad bool) Maker {
	return func(*CallInfo) Kernel {
		var p *likePattern
		var buf, pbuf []byte
		return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
			one := func(i int) error {
				b, pat := a[0].Bytes(i), a[1].Bytes(i)
				if fold {
					buf = lowerTo(buf[:0], b)
					b = buf
				}
				if p == nil || !bytes.Equal(p.src, pat) {
					if fold {
						pbuf = lowerTo(pbuf[:0], pat)
					} else {
						pbuf = append(pbuf[:0], pat...)
					}
					q, err := compileLike(pbuf)
					if err != nil {
						return err
					}
					q.src = append([]byte(nil), pat...)
					p = q
				}
				out.Bool[i] = p.match(b) != negate
				if p.fault {
					p.fault = false
					return sqlerr.New(sqlerr.InvalidEscapeSequence, "LIKE pattern must not end with escape character")
				}
				return nil
			}
			if sel == nil {
				for i := 0; i < n; i++ {
					if err := one(i); err != nil {
						return err
					}
				}
				return nil
			}
			for _, s := range sel {
				if err := one(int(s)); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

func init() {
	for _, p := range []string{"text", "bpchar", "name", "bytea"} {
		pad := p == "bpchar"
		register(p+"like", likeKernel(false, false, p == "bytea", pad))
		register(p+"nlike", likeKernel(true, false, p == "bytea", pad))
		if p != "bytea" {
			register(p+"iclike", likeKernel(false, true, false, pad))
			register(p+"icnlike", likeKernel(true, true, false, pad))
		}
	}
	each(likeEscape, "like_escape", "like_escape_bytea")
	each(similarEscape, "similar_to_escape_2", "similar_to_escape_1", "similar_escape")
}

func escapeChar(b []byte) ([]byte, error) {
	if utf8.RuneCount(b) > 1 {
		return nil, sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid escape string").WithHint("Escape string must be empty or one character.")
	}
	return b, nil
}

// likeEscape rewrites a pattern with an escape character of the user's to one with a backslash.
func likeEscape(r *row) error {
	esc, err := escapeChar(r.Bytes(1))
	if err != nil {
		return err
	}
	b, dst := r.Bytes(0), r.Start()
	if len(esc) == 1 && esc[0] == '\\' {
		return r.Finish(append(dst, b...))
	}
	for i := 0; i < len(b); {
		switch {
		case len(esc) > 0 && bytes.HasPrefix(b[i:], esc):
			i += len(esc)
			dst = append(dst, '\\')
			if i < len(b) {
				_, w := utf8.DecodeRune(b[i:])
				dst = append(dst, b[i:i+w]...)
				i += w
			}
		case b[i] == '\\':
			dst = append(dst, '\\', '\\')
			i++
		default:
			dst = append(dst, b[i])
			i++
		}
	}
	return r.Finish(dst)
}

// similarEscape turns a SIMILAR TO pattern into a regular expression.
func similarEscape(r *row) error {
	if r.Null(0) {
		return r.RetNull()
	}
	esc := []byte{'\\'}
	if r.N() > 1 {
		if r.Null(1) {
			if r.ci.Func != 1623 { // similar_escape alone takes NULL as the default
				return r.RetNull()
			}
		} else {
			var err error
			if esc, err = escapeChar(r.Bytes(1)); err != nil {
				return err
			}
		}
	}
	b := r.Bytes(0)
	dst := append(r.Start(), "^(?:"...)
	inBracket, quotes := false, 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		if len(esc) > 0 && bytes.HasPrefix(b[i:], esc) && !(inBracket && false) {
			i += len(esc)
			if i >= len(b) {
				break
			}
			if b[i] == '"' && !inBracket {
				// Separators of SUBSTRING ... SIMILAR.
				if quotes == 0 {
					dst = append(dst, "){1,1}?("...)
				} else {
					dst = append(dst, "){1,1}(?:"...)
				}
				if quotes++; quotes > 2 {
					return sqlerr.New(sqlerr.InvalidUseOfEscapeCharacter, "SQL regular expression may not contain more than two escape-double-quote separators")
				}
				continue
			}
			dst = append(dst, '\\', b[i])
			continue
		}
		switch {
		case inBracket:
			if c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
			inBracket = c != ']'
		case c == '[':
			dst = append(dst, c)
			inBracket = true
			if i+1 < len(b) && b[i+1] == '^' {
				i++
				dst = append(dst, '^')
			}
			if i+1 < len(b) && b[i+1] == ']' {
				i++
				dst = append(dst, ']')
			}
		case c == '%':
			dst = append(dst, ".*"...)
		case c == '_':
			dst = append(dst, '.')
		case c == '(':
			dst = append(dst, "(?:"...)
		case c == '\\' || c == '.' || c == '^' || c == '$':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	return r.Finish(append(dst, ")$"...))
}
