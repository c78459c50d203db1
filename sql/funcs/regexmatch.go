package funcs

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"herd/sql/sqlerr"
)

func decodeRune(b []byte) (rune, int) { return utf8.DecodeRune(b) }

// emit writes the node in Go's syntax. allLazy turns every quantifier into its short form.
func (n *reNode) emit(b *strings.Builder, o *reOptions, allLazy bool) {
	switch n.op {
	case reEmpty:
		b.WriteString("(?:)")
	case reChar:
		emitRune(b, n.r)
	case reAny:
		if o.nlStop {
			b.WriteString("[^\\n]")
		} else {
			b.WriteString("(?s:.)")
		}
	case reSet:
		b.WriteByte('[')
		if n.neg {
			b.WriteByte('^')
		}
		for i := 0; i < len(n.ranges); i += 2 {
			emitHex(b, n.ranges[i])
			if n.ranges[i] != n.ranges[i+1] {
				b.WriteByte('-')
				emitHex(b, n.ranges[i+1])
			}
		}
		if n.neg && o.nlStop {
			b.WriteString("\\n")
		}
		b.WriteByte(']')
	case reCat:
		if len(n.kids) == 0 {
			b.WriteString("(?:)")
		}
		for _, k := range n.kids {
			k.emit(b, o, allLazy)
		}
	case reAlt:
		b.WriteString("(?:")
		for i, k := range n.kids {
			if i > 0 {
				b.WriteByte('|')
			}
			k.emit(b, o, allLazy)
		}
		b.WriteByte(')')
	case reGroup:
		if n.cap > 0 {
			b.WriteByte('(')
		} else {
			b.WriteString("(?:")
		}
		n.kids[0].emit(b, o, allLazy)
		b.WriteByte(')')
	case reRepeat:
		b.WriteString("(?:")
		n.kids[0].emit(b, o, allLazy)
		b.WriteString("){" + strconv.Itoa(n.min) + ",")
		if n.max >= 0 {
			b.WriteString(strconv.Itoa(n.max))
		}
		b.WriteByte('}')
		if n.lazy || allLazy {
			b.WriteByte('?')
		}
	default:
		b.WriteString(n.emitAnchor(o))
	}
}

func (n *reNode) emitAnchor(o *reOptions) string {
	switch n.op {
	case reBOL:
		if o.nlAnchor {
			return "(?m:^)"
		}
		return "\\A"
	case reEOL:
		if o.nlAnchor {
			return "(?m:$)"
		}
		return "\\z"
	case reStart:
		return "\\A"
	case reEnd:
		return "\\z"
	case reWordB:
		return "\\b"
	}
	return "\\B"
}

func emitRune(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		emitHex(b, r)
		return
	}
	b.WriteRune(r)
}

func emitHex(b *strings.Builder, r rune) {
	b.WriteString("\\x{" + strconv.FormatInt(int64(r), 16) + "}")
}

// matcher is one search of the backtracking matcher.
type matcher struct {
	c     *Ctx
	re    *Regex
	b     []byte
	caps  []int
	steps int
	err   error
}

// maxSteps is where a search gives up: nested quantifiers can take exponential time.
const maxSteps = 50_000_000

// search finds the first match at or after from, preferring as the quantifiers say.
func (re *Regex) search(c *Ctx, b []byte, from int) ([]int, error) {
	m := &matcher{c: c, re: re, b: b, caps: make([]int, 2*(re.groups+1))}
	for at := from; at <= len(b); {
		for i := range m.caps {
			m.caps[i] = -1
		}
		end := -1
		if m.run(re.root, at, func(e int) bool { end = e; return true }) {
			out := append([]int(nil), m.caps...)
			out[0], out[1] = at, end
			return out, m.err
		}
		if m.err != nil {
			return nil, m.err
		}
		if at == len(b) {
			break
		}
		_, w := utf8.DecodeRune(b[at:])
		at += w
	}
	return nil, nil
}

// within matches b[from:to] as a whole.
func (re *Regex) within(c *Ctx, b []byte, from, to int) ([]int, error) {
	m := &matcher{c: c, re: re, b: b, caps: make([]int, 2*(re.groups+1))}
	for i := range m.caps {
		m.caps[i] = -1
	}
	if !m.run(re.root, from, func(e int) bool { return e == to }) {
		return nil, m.err
	}
	m.caps[0], m.caps[1] = from, to
	return m.caps, m.err
}

// step counts and checks for interrupts; false ends the search.
func (m *matcher) step() bool {
	m.steps++
	if m.steps&0xffff == 0 {
		if m.err == nil && m.c != nil {
			m.err = m.c.interrupted()
		}
		if m.err == nil && m.steps > maxSteps {
			m.err = sqlerr.New(sqlerr.ProgramLimitExceeded, "regular expression match takes too many steps")
		}
	}
	return m.err == nil
}

// run matches n at position at and goes on with k.
func (m *matcher) run(n *reNode, at int, k func(int) bool) bool {
	if !m.step() {
		return false
	}
	switch n.op {
	case reEmpty:
		return k(at)
	case reChar, reAny, reSet:
		w, ok := m.one(n, at)
		return ok && k(at+w)
	case reCat:
		return m.cat(n.kids, at, k)
	case reAlt:
		for _, kid := range n.kids {
			if m.run(kid, at, k) {
				return true
			}
		}
		return false
	case reGroup:
		if n.cap == 0 {
			return m.run(n.kids[0], at, k)
		}
		s, e := m.caps[2*n.cap], m.caps[2*n.cap+1]
		if m.run(n.kids[0], at, func(end int) bool {
			os, oe := m.caps[2*n.cap], m.caps[2*n.cap+1]
			m.caps[2*n.cap], m.caps[2*n.cap+1] = at, end
			if k(end) {
				return true
			}
			m.caps[2*n.cap], m.caps[2*n.cap+1] = os, oe
			return false
		}) {
			return true
		}
		m.caps[2*n.cap], m.caps[2*n.cap+1] = s, e
		return false
	case reRepeat:
		return m.repeat(n, 0, at, -1, k)
	case reBackref:
		s, e := m.caps[2*n.cap], m.caps[2*n.cap+1]
		if s < 0 {
			return false
		}
		want := m.b[s:e]
		if at+len(want) > len(m.b) {
			return false
		}
		got := m.b[at : at+len(want)]
		if bytes.Equal(got, want) || m.re.opt.fold && bytes.EqualFold(got, want) {
			return k(at + len(want))
		}
		return false
	case reLook:
		return m.look(n, at) != n.neg && k(at)
	}
	return m.anchor(n, at) && k(at)
}

func (m *matcher) cat(kids []*reNode, at int, k func(int) bool) bool {
	if len(kids) == 0 {
		return k(at)
	}
	return m.run(kids[0], at, func(e int) bool { return m.cat(kids[1:], e, k) })
}

// repeat matches the rest of a repetition of which count are done; last is where the previous one began.
func (m *matcher) repeat(n *reNode, count, at, last int, k func(int) bool) bool {
	if !m.step() {
		return false
	}
	again := func() bool {
		if n.max >= 0 && count >= n.max || count >= n.min && at == last {
			return false
		}
		return m.run(n.kids[0], at, func(e int) bool { return m.repeat(n, count+1, e, at, k) })
	}
	if count < n.min {
		return again()
	}
	if n.lazy {
		return k(at) || again()
	}
	return again() || k(at)
}

// one matches a single character.
func (m *matcher) one(n *reNode, at int) (w int, ok bool) {
	if at >= len(m.b) {
		return 0, false
	}
	r, w := utf8.DecodeRune(m.b[at:])
	fold := m.re.opt.fold
	switch n.op {
	case reChar:
		return w, r == n.r || fold && unicode.ToLower(r) == unicode.ToLower(n.r)
	case reAny:
		return w, r != '\n' || !m.re.opt.nlStop
	}
	in := n.has(r) || fold && (n.has(unicode.ToLower(r)) || n.has(unicode.ToUpper(r)))
	if n.neg {
		return w, !in && (r != '\n' || !m.re.opt.nlStop)
	}
	return w, in
}

func (n *reNode) has(r rune) bool {
	for i := 0; i < len(n.ranges); i += 2 {
		if r >= n.ranges[i] && r <= n.ranges[i+1] {
			return true
		}
	}
	return false
}

// look says whether a look-around's pattern matches at the position.
func (m *matcher) look(n *reNode, at int) bool {
	save := append([]int(nil), m.caps...)
	defer copy(m.caps, save)
	if !n.behind {
		return m.run(n.kids[0], at, func(int) bool { return true })
	}
	for s := at; s >= 0; s-- {
		if s < len(m.b) && !utf8.RuneStart(m.b[s]) {
			continue
		}
		if m.run(n.kids[0], s, func(e int) bool { return e == at }) {
			return true
		}
	}
	return false
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func (m *matcher) anchor(n *reNode, at int) bool {
	b := m.b
	before, after := false, false
	if at > 0 {
		r, _ := utf8.DecodeLastRune(b[:at])
		before = isWordRune(r)
	}
	if at < len(b) {
		r, _ := utf8.DecodeRune(b[at:])
		after = isWordRune(r)
	}
	switch n.op {
	case reBOL:
		return at == 0 || m.re.opt.nlAnchor && b[at-1] == '\n'
	case reEOL:
		return at == len(b) || m.re.opt.nlAnchor && b[at] == '\n'
	case reStart:
		return at == 0
	case reEnd:
		return at == len(b)
	case reWordB:
		return before != after
	case reNotWordB:
		return before == after
	case reWordStart:
		return !before && after
	case reWordEnd:
		return before && !after
	}
	return false
}
