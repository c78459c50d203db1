package scan

// class is what a byte begins, or belongs to.
type class uint8

const (
	cOther  class = iota // punctuation with a meaning of its own, and what no token begins with
	cSpace               // blank
	cLetter              // letter, underscore, byte of a non-ASCII character
	cDigit
	cOp // may be part of an operator
	cQuote
	cDouble
	cDollar
	cOpen  // ( [
	cClose // ) ]
	cComma
	cSemi
	cDot
	cColon
	cControl // a byte that no statement holds outside of strings
)

var classes = func() (t [256]class) {
	for i := 0; i < ' '; i++ {
		t[i] = cControl
	}
	t[127] = cControl
	for _, b := range []byte(" \t\n\r\f\v") {
		t[b] = cSpace
	}
	for b := 'a'; b <= 'z'; b++ {
		t[b], t[b-'a'+'A'] = cLetter, cLetter
	}
	t['_'] = cLetter
	for i := 128; i < 256; i++ {
		t[i] = cLetter
	}
	for b := '0'; b <= '9'; b++ {
		t[b] = cDigit
	}
	for _, b := range []byte("~!@#^&|`?+-*/%<>=") {
		t[b] = cOp
	}
	t['\''], t['"'], t['$'] = cQuote, cDouble, cDollar
	t['('], t['['], t[')'], t[']'] = cOpen, cOpen, cClose, cClose
	t[','], t[';'], t['.'], t[':'] = cComma, cSemi, cDot, cColon
	return t
}()

// isNamePart says whether b continues a name: letters, digits and dollar signs.
func isNamePart(b byte) bool {
	c := classes[b]
	return c == cLetter || c == cDigit || c == cDollar
}

// skipName returns the end of the name that begins at i.
func skipName(s string, i int) int {
	for i < len(s) && isNamePart(s[i]) {
		i++
	}
	return i
}

// skipQuoted returns the end of a string or quoted name whose opening quote q is at i; doubled quotes belong to it. closed
// is false when the text ends first.
func skipQuoted(s string, i int, q byte) (end int, closed bool) {
	for i++; i < len(s); i++ {
		if s[i] == q {
			if i+1 < len(s) && s[i+1] == q {
				i++
				continue
			}
			return i + 1, true
		}
	}
	return len(s), false
}

// skipEscaped is skipQuoted for E strings, where a backslash takes the next byte with it.
func skipEscaped(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			if i+1 < len(s) && s[i+1] == '\'' {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(s)
}

// skipDollar returns the end of the dollar-quoted string that begins at i, or i when there is none there.
func skipDollar(s string, i int) int {
	j := i + 1
	if j < len(s) && classes[s[j]] == cDigit {
		return i
	}
	for j < len(s) && (classes[s[j]] == cLetter || classes[s[j]] == cDigit) {
		j++
	}
	if j >= len(s) || s[j] != '$' {
		return i
	}
	tag := s[i : j+1]
	for k := j + 1; k+len(tag) <= len(s); k++ {
		if s[k] == '$' && s[k:k+len(tag)] == tag {
			return k + len(tag)
		}
	}
	return len(s)
}

// skipComment returns the end of the comment that begins at i, or i when there is none there. Block comments nest.
func skipComment(s string, i int) int {
	if i+1 >= len(s) {
		return i
	}
	switch {
	case s[i] == '-' && s[i+1] == '-':
		for i < len(s) && s[i] != '\n' && s[i] != '\r' {
			i++
		}
	case s[i] == '/' && s[i+1] == '*':
		depth := 1
		i += 2
		for i < len(s) && depth > 0 {
			switch {
			case s[i] == '*' && i+1 < len(s) && s[i+1] == '/':
				depth--
				i += 2
			case s[i] == '/' && i+1 < len(s) && s[i+1] == '*':
				depth++
				i += 2
			default:
				i++
			}
		}
	}
	return i
}

// skipOperator returns the end of the operator at i, by PostgreSQL's rules: it stops before a comment, and a trailing + or -
// belongs to it only if it holds one of ~ ! @ # % ^ & | ` ?.
func skipOperator(s string, i int) int {
	j := i
	special := false
	for j < len(s) && classes[s[j]] == cOp {
		if j > i && j+1 < len(s) && (s[j] == '-' && s[j+1] == '-' || s[j] == '/' && s[j+1] == '*') {
			break
		}
		switch s[j] {
		case '~', '!', '@', '#', '%', '^', '&', '|', '`', '?':
			special = true
		}
		j++
	}
	if !special {
		for j > i+1 && (s[j-1] == '+' || s[j-1] == '-') {
			j--
		}
	}
	return j
}

// skipNumber returns the end of the number at i (a digit, or a dot before one) and whether it is more than digits.
func skipNumber(s string, i int) (end int, fraction bool) {
	for i < len(s) && classes[s[i]] == cDigit {
		i++
	}
	// Two dots are an array slice or PL/pgSQL's range, not a fraction.
	if i < len(s) && s[i] == '.' && !(i+1 < len(s) && s[i+1] == '.') {
		fraction = true
		for i++; i < len(s) && classes[s[i]] == cDigit; i++ {
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && classes[s[j]] == cDigit {
			for i = j; i < len(s) && classes[s[i]] == cDigit; i++ {
			}
			fraction = true
		}
	}
	return i, fraction
}

// skipToken returns the end of the token at i, whatever it is; blanks are tokens of their own. i must be inside s.
func skipToken(s string, i int) int {
	switch classes[s[i]] {
	case cSpace:
		for i++; i < len(s) && classes[s[i]] == cSpace; i++ {
		}
		return i
	case cLetter:
		return skipWord(s, i)
	case cDigit:
		end, _ := skipNumber(s, i)
		return end
	case cQuote:
		end, _ := skipQuoted(s, i, '\'')
		return end
	case cDouble:
		end, _ := skipQuoted(s, i, '"')
		return end
	case cDollar:
		if end := skipDollar(s, i); end > i {
			return end
		}
	case cOp:
		if end := skipComment(s, i); end > i {
			return end
		}
		return skipOperator(s, i)
	}
	return i + 1
}

// skipWord returns the end of the name at i, or of the string that a letter introduces (E”, B”, X”, N”, U&”, U&"").
func skipWord(s string, i int) int {
	end := skipName(s, i)
	if end-i != 1 || end >= len(s) {
		return end
	}
	switch s[i] | 0x20 {
	case 'e':
		if s[end] == '\'' {
			return skipEscaped(s, end)
		}
	case 'b', 'x', 'n':
		if s[end] == '\'' {
			end, _ = skipQuoted(s, end, '\'')
		}
	case 'u':
		if s[end] == '&' && end+1 < len(s) && (s[end+1] == '\'' || s[end+1] == '"') {
			end, _ = skipQuoted(s, end+1, s[end+1])
		}
	}
	return end
}

// isWord says whether s[i:end] is the lower-case ASCII word w in any case.
func isWord(s string, i, end int, w string) bool {
	if end-i != len(w) {
		return false
	}
	for k := 0; k < len(w); k++ {
		if s[i+k]|0x20 != w[k] {
			return false
		}
	}
	return true
}

// skipBlank returns the first offset at or after i that is neither blank nor in a comment.
func skipBlank(s string, i int) int {
	for i < len(s) {
		if classes[s[i]] == cSpace {
			i++
			continue
		}
		if s[i] == '-' || s[i] == '/' {
			if end := skipComment(s, i); end > i {
				i = end
				continue
			}
		}
		break
	}
	return i
}
