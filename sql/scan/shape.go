package scan

// Class is the class of a literal; its value is the byte that stands for one in a shape.
type Class uint8

// The classes. Numbers are classed by value, as PostgreSQL types them.
const (
	Int4    Class = 1 // fits 32 bits
	Int8    Class = 2 // fits 64 bits
	Numeric Class = 3
	String  Class = 4
	Null    Class = 5 // in tuples only, as are the next three
	True    Class = 6
	False   Class = 7
	Default Class = 8
)

// Literal is a literal of a text: its class and byte span. A number's span has its sign when the sign is part of the constant
// (the parser folds it too); a string's has its quotes.
type Literal struct {
	Start, End int32
	Class      Class
}

// MaxShape is the length in bytes of the longest text that Shape looks at.
const MaxShape = 16 << 10

// Shape appends text's shape to dst and its literals to lits. ok is false for what it does not handle: statements other than
// SELECT, INSERT, UPDATE, DELETE, VALUES and WITH, several statements, comments, parameters, special strings, adjacent
// strings, long texts. Two texts with equal shapes differ only in the values of their literals. Called by sql/session for
// each simple Query; when a plan is stored, its constants are matched to the literals by offset.
func Shape(dst []byte, lits []Literal, text string) (shape []byte, literals []Literal, ok bool) {
	if len(text) > MaxShape || len(text) < 8 {
		return dst, lits, false
	}
	i := 0
	for classes[text[i]] == cSpace {
		if i++; i == len(text) {
			return dst, lits, false
		}
	}
	if !startsQuery(text[i:]) {
		return dst, lits, false
	}
	copied := 0 // text before this offset is in dst
	prefix := true
	for i < len(text) {
		b := text[i]
		switch classes[b] {
		case cSpace:
			i++
		case cLetter:
			start := i
			for i++; i < len(text) && isNamePart(text[i]); i++ {
			}
			if i-start == 1 && i < len(text) && (text[i] == '\'' || text[i] == '&') {
				return dst, lits, false // E'', B'', X'', N'', U&
			}
			prefix = i-start <= 7 && wantsOperand(text[start:i])
		case cDigit:
			start := i
			lit, end := number(text, start, start)
			if end == 0 {
				return dst, lits, false
			}
			dst = append(append(dst, text[copied:start]...), byte(lit.Class))
			lits = append(lits, lit)
			i, copied, prefix = end, end, false
		case cQuote:
			end, closed := skipQuoted(text, i, '\'')
			if !closed || nextIsQuote(text, end) {
				return dst, lits, false
			}
			dst = append(append(dst, text[copied:i]...), byte(String))
			lits = append(lits, Literal{int32(i), int32(end), String})
			i, copied, prefix = end, end, false
		case cDouble:
			end, closed := skipQuoted(text, i, '"')
			if !closed {
				return dst, lits, false
			}
			i, prefix = end, false
		case cOpen, cComma:
			i, prefix = i+1, true
		case cClose:
			i, prefix = i+1, false
		case cDot:
			if i+1 < len(text) && classes[text[i+1]] == cDigit {
				return dst, lits, false
			}
			i, prefix = i+1, false
		case cColon:
			i, prefix = i+1, true
		case cOp:
			end := skipOperator(text, i)
			if skipComment(text, i) > i {
				return dst, lits, false
			}
			if prefix && (b == '-' || b == '+') && end == i+1 {
				// The sign of a constant. The parser folds signs in other forms as well: leave those.
				if b == '+' || end >= len(text) || classes[text[end]] != cDigit {
					return dst, lits, false
				}
				lit, stop := number(text, i, end)
				if stop == 0 {
					return dst, lits, false
				}
				dst = append(append(dst, text[copied:i]...), byte(lit.Class))
				lits = append(lits, lit)
				i, copied, prefix = stop, stop, false
				continue
			}
			// A star may be an operand (count(*), select *) or an operator; a sign after it is left to the parser.
			if b == '*' && end == i+1 && signFollows(text, end) {
				return dst, lits, false
			}
			i, prefix = end, true
		case cSemi:
			if skipSpaces(text, i+1) != len(text) {
				return dst, lits, false
			}
			return append(dst, text[copied:i]...), lits, true
		default:
			return dst, lits, false
		}
	}
	return append(dst, text[copied:]...), lits, true
}

// number reads the number whose digits begin at digits and whose span begins at start. end is 0 when it is not plain.
func number(text string, start, digits int) (lit Literal, end int) {
	end, fraction := skipNumber(text, digits)
	if end < len(text) && (isNamePart(text[end]) || text[end] == '.') {
		return lit, 0
	}
	c := Numeric
	if !fraction {
		c = intClass(text[digits:end], start < digits)
	}
	return Literal{int32(start), int32(end), c}, end
}

// intClass classes an integer by its value.
func intClass(digits string, negative bool) Class {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	if len(digits) < 10 {
		return Int4
	}
	if len(digits) > 19 {
		return Numeric
	}
	var n uint64
	for i := 0; i < len(digits); i++ {
		n = n*10 + uint64(digits[i]-'0')
	}
	limit := uint64(0)
	if negative {
		limit = 1
	}
	switch {
	case n <= 1<<31-1+limit:
		return Int4
	case n <= 1<<63-1+limit:
		return Int8
	}
	return Numeric
}

func skipSpaces(s string, i int) int {
	for i < len(s) && classes[s[i]] == cSpace {
		i++
	}
	return i
}

// nextIsQuote says whether a string follows at i after blanks: SQL joins strings across a line break.
func nextIsQuote(s string, i int) bool {
	i = skipSpaces(s, i)
	return i < len(s) && s[i] == '\''
}

func signFollows(s string, i int) bool {
	i = skipSpaces(s, i)
	return i < len(s) && (s[i] == '-' || s[i] == '+')
}

// startsQuery says whether s begins with the first word of a statement that Shape handles.
func startsQuery(s string) bool {
	end := skipName(s, 0)
	switch end {
	case 4:
		return isWord(s, 0, end, "with")
	case 6:
		return isWord(s, 0, end, "select") || isWord(s, 0, end, "insert") || isWord(s, 0, end, "update") ||
			isWord(s, 0, end, "delete") || isWord(s, 0, end, "values")
	}
	return false
}

// wantsOperand says whether a sign after the word begins a constant. Names are not in the list: after one, it is binary.
// A word that can be both makes the shape's literal differ from the parser's constant, which storing a plan notices.
func wantsOperand(w string) bool {
	n := len(w)
	switch w[0] | 0x20 {
	case 's':
		return isWord(w, 0, n, "select")
	case 'a':
		return isWord(w, 0, n, "and") || isWord(w, 0, n, "all") || isWord(w, 0, n, "any")
	case 'o':
		return isWord(w, 0, n, "or") || isWord(w, 0, n, "offset") || isWord(w, 0, n, "on")
	case 'n':
		return isWord(w, 0, n, "not")
	case 'b':
		return isWord(w, 0, n, "between") || isWord(w, 0, n, "by")
	case 't':
		return isWord(w, 0, n, "then")
	case 'e':
		return isWord(w, 0, n, "else")
	case 'w':
		return isWord(w, 0, n, "when") || isWord(w, 0, n, "where")
	case 'l':
		return isWord(w, 0, n, "limit") || isWord(w, 0, n, "like")
	case 'h':
		return isWord(w, 0, n, "having")
	case 'f':
		return isWord(w, 0, n, "from") || isWord(w, 0, n, "for") || isWord(w, 0, n, "first")
	case 'c':
		return isWord(w, 0, n, "case")
	case 'i':
		return isWord(w, 0, n, "in") || isWord(w, 0, n, "ilike")
	case 'd':
		return isWord(w, 0, n, "default")
	}
	return false
}

// Int returns the value of an Int4 or Int8 literal of text.
func (l Literal) Int(text string) int64 {
	s := text[l.Start:l.End]
	neg := s[0] == '-'
	if neg {
		s = s[1:]
	}
	var n uint64
	for i := 0; i < len(s); i++ {
		n = n*10 + uint64(s[i]-'0')
	}
	if neg {
		return int64(-n)
	}
	return int64(n)
}

// Raw returns what stands between a string literal's quotes and whether it holds doubled quotes, or a number's digits.
func (l Literal) Raw(text string) (raw string, doubled bool) {
	if l.Class != String {
		return text[l.Start:l.End], false
	}
	raw = text[l.Start+1 : l.End-1]
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\'' {
			return raw, true
		}
	}
	return raw, false
}

// AppendText appends the value of a string literal, or a number's digits, to dst.
func (l Literal) AppendText(dst []byte, text string) []byte {
	raw, doubled := l.Raw(text)
	if !doubled {
		return append(dst, raw...)
	}
	for i := 0; i < len(raw); i++ {
		dst = append(dst, raw[i])
		if raw[i] == '\'' {
			i++
		}
	}
	return dst
}
