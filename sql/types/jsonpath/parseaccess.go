package jsonpath

import (
	"strconv"

	"herd/sql/sqlerr"
)

// primary reads a literal, $, @, LAST, EXISTS or a parenthesis, and the accessors behind it.
func (p *parser) primary() (*node, error) {
	if p.tok.kind == '(' {
		return p.parenthesis()
	}
	if p.tok.word == "exists" {
		return p.exists()
	}
	n, err := p.literal()
	if err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return n, p.accessors(n)
}

func (p *parser) literal() (*node, error) {
	switch p.tok.kind {
	case '$':
		return &node{kind: kRoot}, nil
	case '@':
		return &node{kind: kCurrent}, nil
	case tString:
		return &node{kind: kString, text: p.tok.text}, nil
	case tVariable:
		return &node{kind: kVariable, text: p.tok.text}, nil
	case tNumber, tInt:
		return number(p.tok.text)
	}
	switch p.tok.word {
	case "null":
		return &node{kind: kNull}, nil
	case "true", "false":
		return &node{kind: kBool, truth: p.tok.word == "true"}, nil
	case "last":
		return &node{kind: kLast}, nil
	}
	return nil, p.unexpected()
}

// parenthesis reads ( ... ): a value, a condition, a condition IS UNKNOWN, or any of them with accessors.
func (p *parser) parenthesis() (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if err := p.expect(')'); err != nil {
		return nil, err
	}
	if p.tok.word == "is" && isCondition(n) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		return &node{kind: kIsUnknown, left: n}, p.expectWord("unknown")
	}
	return n, p.accessors(n)
}

func (p *parser) exists() (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect('('); err != nil {
		return nil, err
	}
	arg, err := p.value(p.or())
	if err != nil {
		return nil, err
	}
	return &node{kind: kExists, left: arg}, p.expect(')')
}

// accessors hangs the steps that follow behind n.
func (p *parser) accessors(n *node) error {
	end := n.end()
	for {
		var step *node
		var err error
		switch p.tok.kind {
		case '.':
			step, err = p.member()
		case '[':
			step, err = p.subscripts()
		case '?':
			step, err = p.filter()
		default:
			return nil
		}
		if err != nil {
			return err
		}
		end.next = step
		end = step
	}
}

func (p *parser) filter() (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect('('); err != nil {
		return nil, err
	}
	arg, err := p.condition(p.or())
	if err != nil {
		return nil, err
	}
	return &node{kind: kFilter, left: arg}, p.expect(')')
}

// member reads what follows a dot.
func (p *parser) member() (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch t := p.tok; t.kind {
	case '*':
		return &node{kind: kAnyKey}, p.advance()
	case tAny:
		return p.anyLevel()
	case tString:
		return &node{kind: kKey, text: t.text}, p.advance()
	case tIdent:
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.tok.kind == '(' && methods[t.word] != nil {
			return p.method(t.word)
		}
		return &node{kind: kKey, text: t.text}, nil
	}
	return nil, p.unexpected()
}

func (p *parser) method(name string) (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	n := &node{kind: kMethod, text: name}
	if name == "datetime" && p.tok.kind == tString {
		n.left = &node{kind: kString, text: p.tok.text}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	return n, p.expect(')')
}

// anyLevel reads ** and its levels.
func (p *parser) anyLevel() (*node, error) {
	n := &node{kind: kAny, first: 0, last: noLevel}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != '{' {
		return n, nil
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	if n.first, err = p.level(); err != nil {
		return nil, err
	}
	n.last = n.first
	if p.tok.word == "to" {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if n.last, err = p.level(); err != nil {
			return nil, err
		}
	}
	return n, p.expect('}')
}

func (p *parser) level() (uint32, error) {
	if p.tok.word == "last" {
		return noLevel, p.advance()
	}
	if p.tok.kind != tInt {
		return 0, p.unexpected()
	}
	v, err := strconv.ParseInt(p.tok.text, 10, 32)
	if err != nil {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "value \"%s\" is out of range for type integer", p.tok.text)
	}
	return uint32(v), p.advance()
}

// subscripts reads [*] and [a, b to c].
func (p *parser) subscripts() (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == '*' {
		if err := p.advance(); err != nil {
			return nil, err
		}
		return &node{kind: kAnyArray}, p.expect(']')
	}
	n := &node{kind: kIndex}
	for {
		s, err := p.subscript()
		if err != nil {
			return nil, err
		}
		n.subs = append(n.subs, s)
		if p.tok.kind != ',' {
			return n, p.expect(']')
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

func (p *parser) subscript() (s subscript, err error) {
	if err = p.enter(); err != nil {
		return s, err
	}
	defer func() { p.depth-- }()
	if s.from, err = p.value(p.sum()); err != nil || p.tok.word != "to" {
		return s, err
	}
	if err = p.advance(); err != nil {
		return s, err
	}
	s.to, err = p.value(p.sum())
	return s, err
}
