package mysql

import (
	"strings"

	"herd/sql/sqlerr"
)

// maxBrackets and maxTokens are the nesting that checkNesting lets through. Every operator, sign, NOT, CASE or JOIN is a token, and
// none nests deeper than one level; an argument or a tuple ends with its comma.
const (
	maxBrackets = 1000
	maxTokens   = 1 << 17
)

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

func isNamePart(b byte) bool {
	return b >= 0x80 || b == '_' || b == '$' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// skipToken returns the end of the token at i: a string or quoted name with its escapes, a comment, blanks, a word, one other byte.
// A conditional comment's opening is a token of its own, and so is its end: what is in it counts.
func skipToken(s string, i int) int {
	switch b := s[i]; {
	case isSpace(b):
		for i < len(s) && isSpace(s[i]) {
			i++
		}
		return i
	case b == '\'' || b == '"' || b == '`':
		return skipQuoted(s, i)
	case b == '#', b == '-' && strings.HasPrefix(s[i:], "--") && (i+2 == len(s) || isSpace(s[i+2])):
		if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
			return i + n + 1
		}
		return len(s)
	case b == '/' && strings.HasPrefix(s[i:], "/*!"):
		i += 3
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	case b == '/' && strings.HasPrefix(s[i:], "/*"):
		if n := strings.Index(s[i+2:], "*/"); n >= 0 {
			return i + 2 + n + 2
		}
		return len(s)
	case b == '*' && strings.HasPrefix(s[i:], "*/"):
		return i + 2
	case isNamePart(b):
		for i < len(s) && isNamePart(s[i]) {
			i++
		}
		return i
	}
	return i + 1
}

// skipQuoted returns the end of the string or quoted name at i.
func skipQuoted(s string, i int) int {
	q := s[i]
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\' && q != '`':
			i++
		case s[i] == q && i+1 < len(s) && s[i+1] == q:
			i++
		case s[i] == q:
			return i + 1
		}
	}
	return len(s)
}

// isNoise says whether the token s[i:end] is blank or a comment.
func isNoise(s string, i, end int) bool {
	switch b := s[i]; {
	case isSpace(b), b == '#':
		return true
	case b == '-':
		return end-i > 1
	case b == '/':
		return end-i > 2 && s[i+2] != '!'
	}
	return false
}

// Next finds the statement at or after from: text[start:end], start == end when there is none before next. Statements end at
// semicolons outside of strings and comments.
func Next(text string, from int) (start, end, next int) {
	i := from
	for i < len(text) {
		n := skipToken(text, i)
		if !isNoise(text, i, n) {
			break
		}
		i = n
	}
	start, end = i, i
	for i < len(text) {
		n := skipToken(text, i)
		if text[i] == ';' {
			return start, end, n
		}
		if !isNoise(text, i, n) {
			end = n
		}
		i = n
	}
	return start, end, len(text)
}

// checkNesting refuses texts that nest deeper than the walks of the parser's tree should go: they recurse, and stack overflow ends a
// Go process.
func checkNesting(text string) error {
	if len(text) <= maxBrackets {
		return nil
	}
	var tokens [maxBrackets + 1]int // by open bracket: since its last comma
	depth, all := 0, 0
	for i, n := 0, 0; i < len(text); i = n {
		n = skipToken(text, i)
		if isNoise(text, i, n) {
			continue
		}
		switch text[i] {
		case '(':
			if depth++; depth > maxBrackets {
				return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
			}
			tokens[depth] = 0
		case ')':
			if depth > 0 {
				all -= tokens[depth]
				depth--
			}
		case ',', ';':
			all -= tokens[depth]
			tokens[depth] = 0
		default:
			tokens[depth]++
			if all++; all > maxTokens {
				return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
			}
		}
	}
	return nil
}

// words are the types of HerdDB that MySQL lacks, with MySQL's types of the same meaning. A replacement is padded with blanks, so
// that places stay right.
var words = map[string]string{"string": "text", "long": "int8", "bytearray": "blob"}

// herdWords replaces what is HerdDB's by MySQL's words of the same length: types of columns, and UPSERT, which is reported.
func herdWords(s string) (out string, upsert bool) {
	var b []byte
	var before, last string // the two tokens before
	depth := 0
	ddl := false
	for i, n := 0, 0; i < len(s); i = n {
		n = skipToken(s, i)
		if isNoise(s, i, n) {
			continue
		}
		w := strings.ToLower(s[i:n])
		switch {
		case last == "" && w == "upsert":
			upsert = true
			b = replaceWord(b, s, i, n, "INSERT")
		case last == "":
			ddl = w == "create" || w == "alter"
			if !ddl {
				return s, false
			}
		case w == "(":
			depth++
		case w == ")":
			depth--
		case ddl && words[w] != "" && last != "," && last != "(":
			switch before {
			case ",", "(", "add", "column", "modify", "change":
				if depth <= 1 {
					b = replaceWord(b, s, i, n, words[w])
				}
			}
		}
		before, last = last, w
	}
	if b == nil {
		return s, upsert
	}
	return string(b), upsert
}

// replaceWord puts word over s[i:n] in b, which is a copy of s or nil.
func replaceWord(b []byte, s string, i, n int, word string) []byte {
	if b == nil {
		b = []byte(s)
	}
	for k := copy(b[i:n], word); i+k < n; k++ {
		b[i+k] = ' '
	}
	return b
}
