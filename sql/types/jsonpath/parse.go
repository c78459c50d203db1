package jsonpath

import (
	"herd/sql/sqlerr"
	"herd/sql/types/numeric"
)

// maxDepth is the deepest nesting of a path, maxOperators the longest row of operators (54001 beyond).
const (
	maxDepth     = 2000
	maxOperators = 20000
)

// CheckRegex tells whether a pattern of LIKE_REGEX is valid. The package of regular expressions sets it as it starts.
var CheckRegex func(pattern string, flags RegexFlags) error

// parser reads a path by recursive descent. Conditions and values come from one set of functions: only what follows a parenthesis
// tells them apart, so each place checks the kind it got.
type parser struct {
	sc    scanner
	tok   token
	depth int
	ops   int
}

// Parse reads a path.
func Parse(text string) (*Path, error) {
	p := parser{sc: scanner{s: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	out := &Path{}
	if p.tok.word == "strict" || p.tok.word == "lax" {
		out.strict = p.tok.word == "strict"
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.tok.kind == tEnd {
			return nil, p.unexpected()
		}
	}
	if p.tok.kind == tEnd {
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type jsonpath: \"%s\"", text)
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tEnd {
		return nil, p.unexpected()
	}
	out.root = n
	return out, check(n, 0, false)
}

func (p *parser) advance() (err error) {
	p.tok, err = p.sc.next()
	return err
}

func (p *parser) unexpected() error { return syntax("syntax error", p.tok.src) }

// expect passes over a token.
func (p *parser) expect(k tokenKind) error {
	if p.tok.kind != k {
		return p.unexpected()
	}
	return p.advance()
}

func (p *parser) expectWord(w string) error {
	if p.tok.word != w {
		return p.unexpected()
	}
	return p.advance()
}

// isCondition says whether an expression is a predicate: a chain that starts with one is a value.
func isCondition(n *node) bool { return n.kind.predicate() && n.next == nil }

// condition and value pass on what they get when it is of their kind.
func (p *parser) condition(n *node, err error) (*node, error) {
	if err == nil && !isCondition(n) {
		err = p.unexpected()
	}
	return n, err
}

func (p *parser) value(n *node, err error) (*node, error) {
	if err == nil && isCondition(n) {
		err = p.unexpected()
	}
	return n, err
}

func tooDeep() error { return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded") }

func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return tooDeep()
	}
	return nil
}

// operator passes over an operator between two operands.
func (p *parser) operator() error {
	if p.ops++; p.ops > maxOperators {
		return tooDeep()
	}
	return p.advance()
}

func (p *parser) or() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	return p.chain(tOr, kOr, p.and)
}

func (p *parser) and() (*node, error) { return p.chain(tAnd, kAnd, p.comparison) }

// chain reads operands between which one logical operator stands.
func (p *parser) chain(tok tokenKind, k kind, operand func() (*node, error)) (*node, error) {
	left, err := operand()
	for err == nil && p.tok.kind == tok {
		if _, err = p.condition(left, nil); err != nil {
			break
		}
		if err = p.operator(); err != nil {
			break
		}
		var right *node
		if right, err = p.condition(operand()); err == nil {
			left = &node{kind: k, left: left, right: right}
		}
	}
	return left, err
}

var comparisons = map[tokenKind]kind{
	tEqual: kEqual, tNotEqual: kNotEqual, '<': kLess, '>': kGreater, tLessEqual: kLessEqual, tGreaterEqual: kGreaterEqual,
}

// comparison reads a negation, a comparison, STARTS WITH, LIKE_REGEX, or something smaller.
func (p *parser) comparison() (*node, error) {
	if p.tok.kind == '!' {
		return p.not()
	}
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	k, compares := comparisons[p.tok.kind]
	switch {
	case isCondition(left):
		return left, nil
	case compares:
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.value(p.sum())
		return &node{kind: k, left: left, right: right}, err
	case p.tok.word == "starts":
		return p.startsWith(left)
	case p.tok.word == "like_regex":
		return p.likeRegex(left)
	}
	return left, nil
}

// not reads !, which takes a condition in parentheses or EXISTS.
func (p *parser) not() (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != '(' && p.tok.word != "exists" {
		return nil, p.unexpected()
	}
	arg, err := p.condition(p.primary())
	if err == nil && arg.kind == kIsUnknown {
		// ! binds closer than IS UNKNOWN, which cannot follow it.
		err = syntax("syntax error", " ")
	}
	return &node{kind: kNot, left: arg}, err
}

func (p *parser) startsWith(left *node) (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expectWord("with"); err != nil {
		return nil, err
	}
	k := kString
	switch p.tok.kind {
	case tString:
	case tVariable:
		k = kVariable
	default:
		return nil, p.unexpected()
	}
	right := &node{kind: k, text: p.tok.text}
	return &node{kind: kStartsWith, left: left, right: right}, p.advance()
}

func (p *parser) likeRegex(left *node) (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	n := &node{kind: kLikeRegex, left: left, text: p.tok.text}
	if err := p.expect(tString); err != nil {
		return nil, err
	}
	if p.tok.word == "flag" {
		if err := p.advance(); err != nil {
			return nil, err
		}
		var err error
		if n.flags, err = parseFlags(p.tok.text); err != nil {
			return nil, err
		}
		if err := p.expect(tString); err != nil {
			return nil, err
		}
	}
	if n.flags.Blanks && !n.flags.Literal {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "XQuery \"x\" flag (expanded regular expressions) is not implemented")
	}
	return n, CheckRegex(n.text, n.flags)
}

func parseFlags(text string) (f RegexFlags, err error) {
	for _, c := range text {
		switch c {
		case 'i':
			f.Fold = true
		case 's':
			f.DotAll = true
		case 'm':
			f.Lines = true
		case 'x':
			f.Blanks = true
		case 'q':
			f.Literal = true
		default:
			return f, sqlerr.New(sqlerr.SyntaxError, "invalid input syntax for type jsonpath").
				WithDetail("Unrecognized flag character \"%c\" in LIKE_REGEX predicate.", c)
		}
	}
	return f, nil
}

func (p *parser) sum() (*node, error) {
	return p.arithmetic(map[tokenKind]kind{'+': kAdd, '-': kSub}, p.product)
}

func (p *parser) product() (*node, error) {
	return p.arithmetic(map[tokenKind]kind{'*': kMul, '/': kDiv, '%': kMod}, p.unary)
}

// arithmetic reads operands of one priority, from the left.
func (p *parser) arithmetic(ops map[tokenKind]kind, operand func() (*node, error)) (*node, error) {
	left, err := operand()
	for err == nil {
		k, ok := ops[p.tok.kind]
		if !ok {
			break
		}
		if _, err = p.value(left, nil); err != nil {
			break
		}
		if err = p.operator(); err != nil {
			break
		}
		var right *node
		if right, err = p.value(operand()); err == nil {
			left = &node{kind: k, left: left, right: right}
		}
	}
	return left, err
}

// unary reads signs; the sign of a number becomes part of it.
func (p *parser) unary() (*node, error) {
	if p.tok.kind != '+' && p.tok.kind != '-' {
		return p.primary()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	k := kPlus
	if p.tok.kind == '-' {
		k = kMinus
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	arg, err := p.value(p.unary())
	switch {
	case err != nil:
		return nil, err
	case arg.kind == kNumber && arg.next == nil && k == kPlus:
		return arg, nil
	case arg.kind == kNumber && arg.next == nil:
		return &node{kind: kNumber, num: arg.num.Neg()}, nil
	}
	return &node{kind: k, left: arg}, nil
}

// check refuses @ outside filters and LAST outside subscripts.
func check(n *node, filters int, inSubscript bool) error {
	for ; n != nil; n = n.next {
		inner := filters
		switch n.kind {
		case kCurrent:
			if filters == 0 {
				return sqlerr.New(sqlerr.SyntaxError, "@ is not allowed in root expressions")
			}
		case kLast:
			if !inSubscript {
				return sqlerr.New(sqlerr.SyntaxError, "LAST is allowed only in array subscripts")
			}
		case kFilter:
			inner++
		}
		for _, s := range n.subs {
			for _, e := range []*node{s.from, s.to} {
				if err := check(e, filters, true); err != nil {
					return err
				}
			}
		}
		for _, e := range []*node{n.left, n.right} {
			if err := check(e, inner, inSubscript); err != nil {
				return err
			}
		}
	}
	return nil
}

// number makes a node of a literal.
func number(text string) (*node, error) {
	n, err := numeric.Parse([]byte(text))
	return &node{kind: kNumber, num: n}, err
}
