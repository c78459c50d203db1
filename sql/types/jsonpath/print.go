package jsonpath

import (
	"strconv"

	"herd/sql/types/json"
)

// Append appends the canonical text.
func (p *Path) Append(dst []byte) []byte {
	if p.strict {
		dst = append(dst, "strict "...)
	}
	return p.root.append(dst, false, true)
}

// String returns the canonical text.
func (p *Path) String() string { return string(p.Append(nil)) }

// append appends a chain. Step says that it follows another one, brackets that an operator has to be enclosed.
func (n *node) append(dst []byte, step, brackets bool) []byte {
	switch {
	case n.kind.priority() < 6:
		dst = n.appendOperator(dst, brackets || n.next != nil)
	case n.kind >= kKey:
		dst = n.appendStep(dst, step)
	default:
		dst = n.appendPrimary(dst)
	}
	if n.next != nil {
		dst = n.next.append(dst, true, true)
	}
	return dst
}

func (n *node) appendPrimary(dst []byte) []byte {
	switch n.kind {
	case kNull:
		return append(dst, "null"...)
	case kString:
		return json.Quote(dst, []byte(n.text))
	case kVariable:
		return json.Quote(append(dst, '$'), []byte(n.text))
	case kNumber:
		if n.next != nil {
			return append(n.num.Append(append(dst, '(')), ')')
		}
		return n.num.Append(dst)
	case kBool:
		return strconv.AppendBool(dst, n.truth)
	case kRoot:
		return append(dst, '$')
	case kCurrent:
		return append(dst, '@')
	case kLast:
		return append(dst, "last"...)
	}
	// A condition with steps behind it has to be told from its last operand.
	open, closing := "", ""
	if n.next != nil {
		open, closing = "(", ")"
	}
	dst = append(dst, open...)
	switch n.kind {
	case kNot:
		dst = append(n.left.append(append(dst, "!("...), false, false), ')')
	case kIsUnknown:
		dst = append(n.left.append(append(dst, '('), false, false), ") is unknown"...)
	case kExists:
		dst = append(n.left.append(append(dst, "exists ("...), false, false), ')')
	}
	return append(dst, closing...)
}

func (n *node) appendOperator(dst []byte, brackets bool) []byte {
	operand := func(o *node) {
		dst = o.append(dst, false, o.kind.priority() <= n.kind.priority())
	}
	if brackets {
		dst = append(dst, '(')
	}
	switch n.kind {
	case kPlus, kMinus:
		dst = append(dst, symbols[n.kind]...)
		operand(n.left)
	case kLikeRegex:
		operand(n.left)
		dst = json.Quote(append(dst, " like_regex "...), []byte(n.text))
		dst = n.flags.append(dst)
	default:
		operand(n.left)
		dst = append(append(append(dst, ' '), symbols[n.kind]...), ' ')
		operand(n.right)
	}
	if brackets {
		dst = append(dst, ')')
	}
	return dst
}

func (f RegexFlags) append(dst []byte) []byte {
	if f == (RegexFlags{}) {
		return dst
	}
	dst = append(dst, ` flag "`...)
	for _, x := range []struct {
		set  bool
		char byte
	}{{f.Fold, 'i'}, {f.DotAll, 's'}, {f.Lines, 'm'}, {f.Blanks, 'x'}, {f.Literal, 'q'}} {
		if x.set {
			dst = append(dst, x.char)
		}
	}
	return append(dst, '"')
}

func (n *node) appendStep(dst []byte, step bool) []byte {
	switch n.kind {
	case kKey:
		if step {
			dst = append(dst, '.')
		}
		return json.Quote(dst, []byte(n.text))
	case kAnyKey:
		return append(dst, ".*"...)
	case kAnyArray:
		return append(dst, "[*]"...)
	case kAny:
		return n.appendLevels(append(dst, ".**"...))
	case kFilter:
		return append(n.left.append(append(dst, "?("...), false, false), ')')
	case kMethod:
		dst = append(append(append(dst, '.'), n.text...), '(')
		if n.left != nil {
			dst = n.left.append(dst, false, false)
		}
		return append(dst, ')')
	}
	dst = append(dst, '[')
	for i, s := range n.subs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = s.from.append(dst, false, false)
		if s.to != nil {
			dst = s.to.append(append(dst, " to "...), false, false)
		}
	}
	return append(dst, ']')
}

func (n *node) appendLevels(dst []byte) []byte {
	level := func(v uint32) {
		if v == noLevel {
			dst = append(dst, "last"...)
			return
		}
		dst = strconv.AppendUint(dst, uint64(v), 10)
	}
	if n.first == 0 && n.last == noLevel {
		return dst
	}
	dst = append(dst, '{')
	level(n.first)
	if n.last != n.first {
		dst = append(dst, " to "...)
		level(n.last)
	}
	return append(dst, '}')
}
