package funcs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// letterRanges are the letters as pairs, ASCII first.
func letterRanges() []rune {
	var out []rune
	for _, t := range []*unicode.RangeTable{unicode.L} {
		for _, r := range t.R16 {
			out = appendTable(out, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			out = appendTable(out, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return out
}

func appendTable(out []rune, lo, hi, stride rune) []rune {
	if stride == 1 {
		return append(out, lo, hi)
	}
	for r := lo; r <= hi; r += stride {
		out = append(out, r, r)
	}
	return out
}

// classRanges returns the ranges of [:name:].
func classRanges(name string) ([]rune, bool) {
	switch name {
	case "alpha":
		return wordRanges[4:], true
	case "alnum":
		return append([]rune{'0', '9'}, wordRanges[4:]...), true
	case "digit":
		return digitRanges, true
	case "space":
		return spaceRanges, true
	case "blank":
		return []rune{' ', ' ', '\t', '\t'}, true
	case "upper":
		return tableRanges(unicode.Upper), true
	case "lower":
		return tableRanges(unicode.Lower), true
	case "punct":
		return []rune{'!', '/', ':', '@', '[', '`', '{', '~'}, true
	case "cntrl":
		return []rune{0, 31, 127, 127}, true
	case "print":
		return []rune{' ', '~', 0xA0, unicode.MaxRune}, true
	case "graph":
		return []rune{'!', '~', 0xA1, unicode.MaxRune}, true
	case "xdigit":
		return []rune{'0', '9', 'A', 'F', 'a', 'f'}, true
	case "ascii":
		return []rune{0, 127}, true
	case "word":
		return wordRanges, true
	}
	return nil, false
}

func tableRanges(t *unicode.RangeTable) (out []rune) {
	for _, r := range t.R16 {
		out = appendTable(out, rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range t.R32 {
		out = appendTable(out, rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return out
}

func escapeRanges(c byte) []rune {
	switch c | 0x20 {
	case 'd':
		return digitRanges
	case 's':
		return spaceRanges
	}
	return wordRanges
}

// bracket reads a set.
func (p *reParser) bracket() (*reNode, error) {
	switch rest := p.s[p.i:]; {
	case strings.HasPrefix(rest, "[[:<:]]"):
		p.i += 7
		p.own, p.context = true, true
		return &reNode{op: reWordStart}, nil
	case strings.HasPrefix(rest, "[[:>:]]"):
		p.i += 7
		p.own, p.context = true, true
		return &reNode{op: reWordEnd}, nil
	}
	p.i++
	n := &reNode{op: reSet}
	if p.more() && p.s[p.i] == '^' {
		n.neg = true
		p.i++
	}
	for first := true; ; first = false {
		if !p.more() {
			return nil, badRegex("brackets [] not balanced")
		}
		if p.s[p.i] == ']' && !first {
			p.i++
			return n, nil
		}
		lo, set, err := p.bracketItem(n)
		if err != nil {
			return nil, err
		}
		if set {
			continue
		}
		hi := lo
		if p.i+1 < len(p.s) && p.s[p.i] == '-' && p.s[p.i+1] != ']' {
			p.i++
			if hi, set, err = p.bracketItem(n); err != nil {
				return nil, err
			}
			if set || hi < lo {
				return nil, badRegex("invalid character range")
			}
		}
		n.ranges = append(n.ranges, lo, hi)
	}
}

// bracketItem reads one character of a set, or adds a class to it (set).
func (p *reParser) bracketItem(n *reNode) (r rune, set bool, err error) {
	rest := p.s[p.i:]
	for _, k := range [...]string{":", ".", "="} {
		if !strings.HasPrefix(rest, "["+k) {
			continue
		}
		end := strings.Index(rest[2:], k+"]")
		if end < 0 {
			return 0, false, badRegex("brackets [] not balanced")
		}
		name := rest[2 : 2+end]
		p.i += end + 4
		if k == ":" {
			rs, ok := classRanges(name)
			if !ok {
				return 0, false, badRegex("invalid character class")
			}
			n.ranges = append(n.ranges, rs...)
			return 0, true, nil
		}
		c, w := utf8.DecodeRuneInString(name)
		if w != len(name) {
			return 0, false, badRegex("invalid collating element")
		}
		return c, false, nil
	}
	if rest[0] == '\\' && !p.opt.extended {
		p.i++
		if !p.more() {
			return 0, false, badRegex("invalid escape \\ sequence")
		}
		switch c := p.s[p.i]; c {
		case 'd', 's', 'w':
			p.i++
			n.ranges = append(n.ranges, escapeRanges(c)...)
			return 0, true, nil
		case 'D', 'S', 'W':
			p.i++
			n.ranges = append(n.ranges, complement(escapeRanges(c))...)
			return 0, true, nil
		}
		r, err = p.charEscape()
		return r, false, err
	}
	r, w := utf8.DecodeRuneInString(rest)
	p.i += w
	return r, false, nil
}

// complement returns what sorted ranges leave out.
func complement(in []rune) (out []rune) {
	rs := append([]rune(nil), in...)
	sortRanges(rs)
	next := rune(0)
	for i := 0; i < len(rs); i += 2 {
		if rs[i] > next {
			out = append(out, next, rs[i]-1)
		}
		next = max(next, rs[i+1]+1)
	}
	return append(out, next, unicode.MaxRune)
}

func sortRanges(rs []rune) {
	for i := 2; i < len(rs); i += 2 {
		for j := i; j > 0 && rs[j] < rs[j-2]; j -= 2 {
			rs[j], rs[j-2] = rs[j-2], rs[j]
			rs[j+1], rs[j-1] = rs[j-1], rs[j+1]
		}
	}
}
