package scan

import "herd/sql/sqlerr"

// MaxBrackets and MaxLevels are the nesting that CheckNesting lets through.
const (
	MaxBrackets = 1000
	MaxLevels   = 5000
)

// frame counts, for one pair of brackets, what nests without brackets.
type frame struct {
	cases  int32 // open CASEs
	prefix int32 // prefix operators and NOTs that the next operand is under
	signs  int32 // plus and minus signs in a row
	suffix int32 // casts and their like on the current operand
	joins  int32 // left-deep joins
}

func (f *frame) levels() int32 { return f.cases + f.prefix + f.signs + f.suffix + f.joins }

// CheckNesting returns an error of code 54001 when text nests deeper than a recursive parser should go: over MaxBrackets open
// brackets, or over MaxLevels of everything that nests (brackets, CASE, NOT, prefix operators, casts, joins). It must run
// before any parser does: stack overflow ends a Go process. Short texts cost nothing.
func CheckNesting(text string) error {
	// A level takes at least one byte.
	if len(text) <= MaxBrackets {
		return nil
	}
	if nestsTooDeep(text) {
		return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
	}
	return nil
}

func nestsTooDeep(s string) bool {
	var stack [MaxBrackets + 1]frame
	depth := 0
	below := int32(0) // levels of the frames under the top one
	f := &stack[0]
	operand := false // the last token ended an operand
	for i := 0; i < len(s); {
		end := skipToken(s, i)
		switch classes[s[i]] {
		case cSpace:
			i = end
			continue
		case cOpen:
			if depth == MaxBrackets {
				return true
			}
			below += f.levels() + 1
			depth++
			f = &stack[depth]
			*f = frame{}
			operand = false
		case cClose:
			if depth > 0 {
				depth--
				f = &stack[depth]
				below -= f.levels() + 1
			}
			f.signs = 0
			operand = true
		case cComma:
			*f = frame{cases: f.cases}
			operand = false
		case cSemi:
			*f = frame{}
			operand = false
		case cColon:
			if i+1 < len(s) && s[i+1] == ':' {
				end = i + 2
				f.suffix++
			}
			operand = false
		case cOp:
			if skipComment(s, i) > i {
				i = end
				continue
			}
			f.operator(s[i:end], operand)
			operand = false
		case cLetter:
			operand = f.word(s, i, end)
		default:
			f.signs = 0
			operand = true
		}
		if below+f.levels() > MaxLevels {
			return true
		}
		i = end
	}
	return false
}

// operator counts an operator: one that follows no operand is a prefix operator.
func (f *frame) operator(op string, operand bool) {
	f.suffix = 0
	switch {
	case operand:
	case op == "-" || op == "+":
		// A sign binds tighter than any other operator: only signs in a row nest.
		f.signs++
	default:
		f.prefix++
	}
}

// word counts a keyword that nests or ends nesting; it reports whether the word ends an operand.
func (f *frame) word(s string, i, end int) (operand bool) {
	switch s[i] | 0x20 {
	case 'n':
		if isWord(s, i, end, "not") {
			f.prefix++
			return false
		}
	case 'c':
		if isWord(s, i, end, "case") {
			f.cases++
			return false
		}
		if isWord(s, i, end, "collate") {
			f.suffix++
			return false
		}
	case 'e':
		if isWord(s, i, end, "end") && f.cases > 0 {
			f.cases--
			f.signs = 0
			return true
		}
		if isWord(s, i, end, "else") {
			f.endOperand()
			return false
		}
	case 'a':
		if isWord(s, i, end, "and") {
			f.endOperand()
			return false
		}
		if isWord(s, i, end, "at") {
			f.suffix++
			return false
		}
	case 'o':
		if isWord(s, i, end, "or") || isWord(s, i, end, "on") {
			f.endOperand()
			return false
		}
	case 't':
		if isWord(s, i, end, "then") {
			f.endOperand()
			return false
		}
	case 'j':
		if isWord(s, i, end, "join") {
			f.joins++
			return false
		}
	case 's':
		if isWord(s, i, end, "select") {
			// The next SELECT of a set operation.
			*f = frame{cases: f.cases}
			return false
		}
	case 'w':
		if isWord(s, i, end, "when") || isWord(s, i, end, "where") {
			f.endOperand()
			return false
		}
	}
	f.signs = 0
	return true
}

func (f *frame) endOperand() { f.prefix, f.signs, f.suffix = 0, 0, 0 }
