package main

import "strings"

// splitter cuts a stream of SQL text into statements at semicolons outside quotes, comments and parentheses,
// because a whole script sent at once would be one transaction.
type splitter struct {
	text string // not yet given out
}

// add appends text.
func (s *splitter) add(text string) { s.text += text }

// next returns the next complete statement without its semicolon. ok is false when more text is needed.
func (s *splitter) next() (statement string, ok bool) {
	end := statementEnd(s.text)
	if end < 0 {
		return "", false
	}
	statement, s.text = strings.TrimSpace(s.text[:end]), s.text[end+1:]
	return statement, true
}

// rest returns what stands after the last semicolon, when the input has ended.
func (s *splitter) rest() string {
	rest := strings.TrimSpace(s.text)
	s.text = ""
	return rest
}

// statementEnd returns the place of the semicolon that ends the first statement, or -1.
func statementEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ';' && depth == 0:
			return i
		case c == '(':
			depth++
		case c == ')':
			depth = max(depth-1, 0)
		default:
			if n := tokenLength(s, i); n < 0 {
				return -1
			} else if n > 0 {
				i += n
				continue
			}
		}
		i++
	}
	return -1
}

// tokenLength returns the length of the quoted text or comment that begins at i, 0 when none does, -1 when it does not end.
func tokenLength(s string, i int) int {
	switch rest := s[i:]; {
	case rest[0] == '\'':
		escapes := i > 0 && (s[i-1] == 'e' || s[i-1] == 'E') && (i == 1 || !isNameByte(s[i-2]))
		return quotedLength(rest, '\'', escapes)
	case rest[0] == '"':
		return quotedLength(rest, '"', false)
	case strings.HasPrefix(rest, "--"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return n + 1
		}
		return -1
	case strings.HasPrefix(rest, "/*"):
		return commentLength(rest)
	case rest[0] == '$' && (i == 0 || !isNameByte(s[i-1])):
		return dollarLength(rest)
	}
	return 0
}

func quotedLength(s string, quote byte, escapes bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return -1
}

// commentLength measures a comment, in which others may be nested.
func commentLength(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// dollarLength measures $tag$ text $tag$; 0 when the dollar begins no such text ($1).
func dollarLength(s string) int {
	end := 1
	for end < len(s) && isNameByte(s[end]) && !(end == 1 && s[end] >= '0' && s[end] <= '9') {
		end++
	}
	if end >= len(s) || s[end] != '$' {
		return 0
	}
	tag := s[:end+1]
	n := strings.Index(s[len(tag):], tag)
	if n < 0 {
		return -1
	}
	return len(tag) + n + len(tag)
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
