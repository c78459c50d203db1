package funcs

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type reOp uint8

const (
	reEmpty reOp = iota
	reChar
	reAny
	reSet
	reCat
	reAlt
	reRepeat
	reGroup
	reBOL
	reEOL
	reWordB
	reNotWordB
	reWordStart
	reWordEnd
	reStart
	reEnd
	reBackref
	reLook
)

// reNode is a node of a parsed pattern.
type reNode struct {
	op       reOp
	kids     []*reNode
	r        rune
	ranges   []rune // of a set: pairs
	neg      bool   // of a set or look-around
	behind   bool   // of a look-around
	min, max int    // of a repeat; max -1: no limit
	lazy     bool
	exact    bool // written {m}
	cap      int  // of a group: its number, 0 not capturing; of a back reference
}

type rePref uint8

const (
	prefNone rePref = iota
	prefGreedy
	prefLazy
)

// preference is whether the node as a whole prefers long or short matches: its first quantified part decides.
func (n *reNode) preference() rePref {
	switch n.op {
	case reRepeat:
		if n.exact {
			return n.kids[0].preference()
		}
		if n.lazy {
			return prefLazy
		}
		return prefGreedy
	case reAlt:
		return prefGreedy
	case reCat, reGroup:
		for _, k := range n.kids {
			if p := k.preference(); p != prefNone {
				return p
			}
		}
	}
	return prefNone
}

// reParser reads an ARE.
type reParser struct {
	s       string
	i       int
	opt     reOptions
	groups  int
	closed  map[int]bool
	depth   int
	own     bool // needs the backtracking matcher
	context bool
}

// maxReDepth bounds the nesting of parentheses.
const maxReDepth = 200

func (p *reParser) parse() (*reNode, error) {
	switch {
	case p.opt.literal:
		return p.literal(), nil
	case strings.HasPrefix(p.s, "***="):
		p.i = 4
		return p.literal(), nil
	case strings.HasPrefix(p.s, "***:"):
		p.i = 4
	case strings.HasPrefix(p.s, "***"):
		return nil, badRegex("quantifier operand invalid")
	}
	if err := p.embedded(); err != nil {
		return nil, err
	}
	n, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if p.i < len(p.s) {
		return nil, badRegex("parentheses () not balanced")
	}
	return n, nil
}

func (p *reParser) literal() *reNode {
	cat := &reNode{op: reCat}
	for _, r := range p.s[p.i:] {
		cat.kids = append(cat.kids, &reNode{op: reChar, r: r})
	}
	return cat
}

// embedded reads (?flags) at the start.
func (p *reParser) embedded() error {
	s := p.s[p.i:]
	if !strings.HasPrefix(s, "(?") || len(s) < 3 || s[2] < 'a' || s[2] > 'z' {
		return nil
	}
	end := strings.IndexByte(s, ')')
	if end < 0 {
		return badRegex("invalid embedded option")
	}
	for _, c := range s[2:end] {
		switch c {
		case 'c':
			p.opt.fold = false
		case 'i':
			p.opt.fold = true
		case 'm', 'n':
			p.opt.nlStop, p.opt.nlAnchor = true, true
		case 'p':
			p.opt.nlStop, p.opt.nlAnchor = true, false
		case 's':
			p.opt.nlStop, p.opt.nlAnchor = false, false
		case 'w':
			p.opt.nlStop, p.opt.nlAnchor = false, true
		case 't':
			p.opt.expanded = false
		case 'x':
			p.opt.expanded = true
		case 'q':
			p.opt.literal = true
		case 'e':
		default:
			return badRegex("invalid embedded option")
		}
	}
	p.i += end + 1
	return nil
}

func (p *reParser) more() bool { return p.i < len(p.s) }

// skipBlanks passes over white space and comments of the expanded syntax, and over (?#comments).
func (p *reParser) skipBlanks() {
	for p.more() {
		switch c := p.s[p.i]; {
		case strings.HasPrefix(p.s[p.i:], "(?#"):
			end := strings.IndexByte(p.s[p.i:], ')')
			if end < 0 {
				p.i = len(p.s)
				return
			}
			p.i += end + 1
		case !p.opt.expanded:
			return
		case c == ' ' || c >= '\t' && c <= '\r':
			p.i++
		case c == '#':
			for p.more() && p.s[p.i] != '\n' {
				p.i++
			}
		default:
			return
		}
	}
}

func (p *reParser) alternatives() (*reNode, error) {
	if p.depth++; p.depth > maxReDepth {
		return nil, badRegex("nfa has too many states")
	}
	defer func() { p.depth-- }()
	var alts []*reNode
	for {
		n, err := p.branch()
		if err != nil {
			return nil, err
		}
		alts = append(alts, n)
		if !p.more() || p.s[p.i] != '|' {
			break
		}
		p.i++
	}
	if len(alts) == 1 {
		return alts[0], nil
	}
	return &reNode{op: reAlt, kids: alts}, nil
}

func (p *reParser) branch() (*reNode, error) {
	cat := &reNode{op: reCat}
	for {
		p.skipBlanks()
		if !p.more() || p.s[p.i] == '|' || p.s[p.i] == ')' && p.depth > 1 {
			return cat, nil
		}
		if p.s[p.i] == ')' {
			return nil, badRegex("parentheses () not balanced")
		}
		a, err := p.atom()
		if err != nil {
			return nil, err
		}
		if a, err = p.quantified(a); err != nil {
			return nil, err
		}
		cat.kids = append(cat.kids, a)
	}
}

// quantified reads the quantifier after an atom.
func (p *reParser) quantified(a *reNode) (*reNode, error) {
	p.skipBlanks()
	if !p.more() {
		return a, nil
	}
	n := &reNode{op: reRepeat, kids: []*reNode{a}}
	switch c := p.s[p.i]; {
	case c == '*':
		n.max = -1
		p.i++
	case c == '+':
		n.min, n.max = 1, -1
		p.i++
	case c == '?':
		n.max = 1
		p.i++
	case p.atBound():
		if err := p.bound(n); err != nil {
			return nil, err
		}
	default:
		return a, nil
	}
	switch a.op {
	case reBOL, reEOL, reWordB, reNotWordB, reWordStart, reWordEnd, reStart, reEnd, reLook:
		return nil, badRegex("quantifier operand invalid")
	}
	if p.more() && p.s[p.i] == '?' {
		n.lazy = true
		p.i++
	}
	p.skipBlanks()
	if p.more() && (p.s[p.i] == '*' || p.s[p.i] == '+' || p.s[p.i] == '?' || p.atBound()) {
		return nil, badRegex("quantifier operand invalid")
	}
	return n, nil
}

// atBound says that a bound begins here; another { is a character.
func (p *reParser) atBound() bool {
	return p.s[p.i] == '{' && p.i+1 < len(p.s) && p.s[p.i+1] >= '0' && p.s[p.i+1] <= '9'
}

// bound reads {m}, {m,} and {m,n}.
func (p *reParser) bound(n *reNode) error {
	end := strings.IndexByte(p.s[p.i:], '}')
	if end < 0 {
		return badRegex("braces {} not balanced")
	}
	lo, hi, two := strings.Cut(p.s[p.i+1:p.i+end], ",")
	p.i += end + 1
	v, err := strconv.Atoi(lo)
	if err != nil || v > 255 {
		return badRegex("invalid repetition count(s)")
	}
	n.min, n.max, n.exact = v, v, !two
	if two {
		n.max = -1
		if hi != "" {
			if n.max, err = strconv.Atoi(hi); err != nil || n.max > 255 || n.max < n.min {
				return badRegex("invalid repetition count(s)")
			}
		}
	}
	return nil
}

func (p *reParser) atom() (*reNode, error) {
	switch c := p.s[p.i]; c {
	case '(':
		return p.group()
	case '[':
		return p.bracket()
	case '.':
		p.i++
		return &reNode{op: reAny}, nil
	case '^':
		p.i++
		p.context = true
		return &reNode{op: reBOL}, nil
	case '$':
		p.i++
		p.context = true
		return &reNode{op: reEOL}, nil
	case '*', '+', '?':
		return nil, badRegex("quantifier operand invalid")
	case '\\':
		return p.escape()
	}
	if p.atBound() {
		return nil, badRegex("quantifier operand invalid")
	}
	r, w := utf8.DecodeRuneInString(p.s[p.i:])
	p.i += w
	return &reNode{op: reChar, r: r}, nil
}

func (p *reParser) group() (*reNode, error) {
	p.i++
	n := &reNode{op: reGroup}
	rest := p.s[p.i:]
	look := func(skip int, neg, behind bool) {
		p.i += skip
		*n = reNode{op: reLook, neg: neg, behind: behind}
		p.own, p.context = true, true
	}
	switch {
	case strings.HasPrefix(rest, "?:"):
		p.i += 2
	case strings.HasPrefix(rest, "?="):
		look(2, false, false)
	case strings.HasPrefix(rest, "?!"):
		look(2, true, false)
	case strings.HasPrefix(rest, "?<="):
		look(3, false, true)
	case strings.HasPrefix(rest, "?<!"):
		look(3, true, true)
	case strings.HasPrefix(rest, "?"):
		return nil, badRegex("quantifier operand invalid")
	default:
		p.groups++
		n.cap = p.groups
	}
	kid, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if !p.more() || p.s[p.i] != ')' {
		return nil, badRegex("parentheses () not balanced")
	}
	p.i++
	n.kids = []*reNode{kid}
	if n.cap > 0 {
		if p.closed == nil {
			p.closed = map[int]bool{}
		}
		p.closed[n.cap] = true
	}
	return n, nil
}

var (
	digitRanges = []rune{'0', '9'}
	spaceRanges = []rune{'\t', '\r', ' ', ' '}
	wordRanges  = append([]rune{'0', '9', '_', '_'}, letterRanges()...)
)

// escape reads a backslash and what follows it.
func (p *reParser) escape() (*reNode, error) {
	p.i++
	if !p.more() {
		return nil, badRegex("invalid escape \\ sequence")
	}
	c := p.s[p.i]
	simple := func(op reOp) (*reNode, error) {
		p.i++
		p.context = true
		return &reNode{op: op}, nil
	}
	switch c {
	case 'd', 's', 'w', 'D', 'S', 'W':
		p.i++
		return &reNode{op: reSet, ranges: escapeRanges(c), neg: c < 'a'}, nil
	case 'A':
		return simple(reStart)
	case 'Z':
		return simple(reEnd)
	case 'y':
		return simple(reWordB)
	case 'Y':
		return simple(reNotWordB)
	case 'm':
		p.own = true
		return simple(reWordStart)
	case 'M':
		p.own = true
		return simple(reWordEnd)
	}
	if c >= '1' && c <= '9' {
		j := p.i
		for j < len(p.s) && p.s[j] >= '0' && p.s[j] <= '9' {
			j++
		}
		v, _ := strconv.Atoi(p.s[p.i:j])
		if j == p.i+1 || v <= p.groups {
			if !p.closed[v] {
				return nil, badRegex("invalid backreference number")
			}
			p.i = j
			p.own = true
			return &reNode{op: reBackref, cap: v}, nil
		}
	}
	r, err := p.charEscape()
	if err != nil {
		return nil, err
	}
	return &reNode{op: reChar, r: r}, nil
}

// charEscape reads an escape that stands for one character; p.i is after the backslash.
func (p *reParser) charEscape() (rune, error) {
	r, w := utf8.DecodeRuneInString(p.s[p.i:])
	p.i += w
	hex := func(n int) (rune, error) {
		if p.i+n > len(p.s) {
			return 0, badRegex("invalid escape \\ sequence")
		}
		v, err := strconv.ParseUint(p.s[p.i:p.i+n], 16, 32)
		if err != nil || v > unicode.MaxRune {
			return 0, badRegex("invalid escape \\ sequence")
		}
		p.i += n
		return rune(v), nil
	}
	switch r {
	case 'a':
		return 7, nil
	case 'b':
		return 8, nil
	case 'B':
		return '\\', nil
	case 'c':
		if !p.more() {
			return 0, badRegex("invalid escape \\ sequence")
		}
		c := p.s[p.i]
		p.i++
		return rune(c & 31), nil
	case 'e':
		return 27, nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'v':
		return '\v', nil
	case 'u':
		return hex(4)
	case 'U':
		return hex(8)
	case 'x':
		n := 0
		for p.i+n < len(p.s) && strings.IndexByte("0123456789abcdefABCDEF", p.s[p.i+n]) >= 0 {
			n++
		}
		if n == 0 {
			return 0, badRegex("invalid escape \\ sequence")
		}
		return hex(n)
	case '0':
		v := rune(0)
		for k := 0; k < 2 && p.more() && p.s[p.i] >= '0' && p.s[p.i] <= '7'; k++ {
			v = v*8 + rune(p.s[p.i]-'0')
			p.i++
		}
		return v, nil
	}
	if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
		return 0, badRegex("invalid escape \\ sequence")
	}
	return r, nil
}
