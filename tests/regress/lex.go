package main

import (
	"regexp"
	"strings"
)

// lexer follows psql's reading of a script line by line, as far as it decides where a statement ends.
type lexer struct {
	quote   byte   // ', " or $ inside a quoted text, 0 outside
	escapes bool   // the text is E'...'
	dollar  string // the tag that ends a dollar-quoted text
	comment int    // depth of /* */
	parens  int
	begins  int      // BEGIN and CASE of a function body in SQL, as psql counts them
	words   []string // the first words of the statement
	open    bool     // something of a statement was read
}

var (
	dollarTag = regexp.MustCompile(`^\$([A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)?\$`)
	wordStart = regexp.MustCompile(`^[A-Za-z_\x80-\xff][A-Za-z0-9_$\x80-\xff]*`)
)

// inQuote tells whether the next line continues a quoted text, in which blank lines count.
func (l *lexer) inQuote() bool { return l.quote != 0 || l.comment > 0 }

// line reads one line and tells how many statements and commands of psql it ends.
func (l *lexer) line(s string) int {
	ends := 0
	for i := 0; i < len(s); {
		switch {
		case l.quote != 0:
			i += l.quoted(s[i:])
		case l.comment > 0:
			i += l.inComment(s[i:])
		case strings.HasPrefix(s[i:], "--"):
			return ends
		case s[i] == '\\':
			n, done := l.backslash(s[i:])
			if done {
				ends++
			}
			i += n
		case s[i] == ';' && l.parens == 0 && l.begins == 0:
			ends++
			l.reset()
			i++
		default:
			i += l.plain(s[i:])
		}
	}
	return ends
}

func (l *lexer) reset() { *l = lexer{} }

// backslash reads a command of psql, which ends with its line or at \\ . A \; only separates.
func (l *lexer) backslash(s string) (int, bool) {
	if strings.HasPrefix(s, `\;`) {
		l.words = nil
		return 2, false
	}
	if ends := regexp.MustCompile(`^\\(g|gx|gset|gexec|gdesc|crosstabview|r|reset|watch)\b`).MatchString(s); ends {
		l.reset()
	}
	return len(s), true
}

func (l *lexer) quoted(s string) int {
	if l.quote == '$' {
		if strings.HasPrefix(s, l.dollar) {
			l.quote = 0
			return len(l.dollar)
		}
		return 1
	}
	if l.escapes && s[0] == '\\' {
		return min(2, len(s))
	}
	if s[0] == l.quote {
		if len(s) > 1 && s[1] == l.quote {
			return 2
		}
		l.quote = 0
	}
	return 1
}

func (l *lexer) inComment(s string) int {
	switch {
	case strings.HasPrefix(s, "*/"):
		l.comment--
		return 2
	case strings.HasPrefix(s, "/*"):
		l.comment++
		return 2
	}
	return 1
}

// plain reads a token outside quotes and comments.
func (l *lexer) plain(s string) int {
	if s[0] != ' ' && s[0] != '\t' {
		l.open = true
	}
	switch s[0] {
	case '\'', '"':
		l.quote, l.escapes = s[0], false
	case '(':
		l.parens++
	case ')':
		l.parens = max(0, l.parens-1)
	case '/':
		if strings.HasPrefix(s, "/*") {
			l.comment = 1
			return 2
		}
	case '$':
		if tag := dollarTag.FindString(s); tag != "" {
			l.quote, l.dollar = '$', tag
			return len(tag)
		}
	case 'e', 'E':
		if len(s) > 1 && s[1] == '\'' {
			l.quote, l.escapes = '\'', true
			return 2
		}
	}
	if word := wordStart.FindString(s); word != "" {
		l.word(strings.ToLower(word))
		return len(word)
	}
	if s[0] >= '0' && s[0] <= '9' {
		n := 1
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '$') {
			n++
		}
		return n
	}
	return 1
}

// word counts the blocks of CREATE FUNCTION ... BEGIN ATOMIC ... END, in which a semicolon does not end the statement.
func (l *lexer) word(w string) {
	if len(l.words) < 4 {
		l.words = append(l.words, w)
	}
	first := strings.Join(l.words, " ")
	if !regexp.MustCompile(`^create (or replace )?(function|procedure)\b`).MatchString(first) || l.parens > 0 {
		return
	}
	switch w {
	case "begin":
		l.begins++
	case "case":
		if l.begins > 0 {
			l.begins++
		}
	case "end":
		l.begins = max(0, l.begins-1)
	}
}
