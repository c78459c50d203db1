package main

import (
	"regexp"
	"slices"
	"strings"
)

// stmt is one statement of a script, or the statements that end on one line: its lines as psql echoes them, and the lines of data that
// follow a COPY FROM STDIN, which psql does not echo.
type stmt struct {
	line int // in the script, from 1
	text []string
	data []string
}

// sql returns the statement without the comments before it.
func (s *stmt) sql() string {
	lines := s.text
	for len(lines) > 1 && (strings.HasPrefix(lines[0], "--") || strings.TrimSpace(lines[0]) == "") {
		lines = lines[1:]
	}
	return strings.Join(lines, "\n")
}

var copyStdin = regexp.MustCompile(`(?is)\bcopy\b.*\bfrom\s+stdin\b`)

// splitScript cuts a script into statements.
func splitScript(text string) []*stmt {
	var out []*stmt
	var lex lexer
	cur := &stmt{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" && !lex.inQuote() {
			continue
		}
		if cur.line == 0 {
			cur.line = i + 1
		}
		cur.text = append(cur.text, line)
		if lex.line(line) == 0 {
			continue
		}
		if end := dataEnd(cur.sql(), lines[i+1:]); end >= 0 {
			cur.data = lines[i+1 : i+2+end]
			i += 1 + end
		}
		out = append(out, cur)
		cur = &stmt{}
	}
	if len(cur.text) > 0 {
		out = append(out, cur)
	}
	return out
}

// dataEnd returns the number of the line \. that ends the data of a COPY, -1 when there are none. A COPY that fails has no data in
// PostgreSQL's scripts: what follows then looks like SQL, and no \. comes before the next COPY.
func dataEnd(sql string, rest []string) int {
	if !copyStdin.MatchString(sql) {
		return -1
	}
	for i, line := range rest {
		if line == `\.` {
			return i
		}
		if copyStdin.MatchString(line) || strings.HasPrefix(line, "--") || strings.HasSuffix(line, ";") {
			return -1
		}
	}
	return -1
}

// cutOutput returns what psql printed for each statement, nil for one whose echo does not come.
func cutOutput(list []*stmt, output string) []*string {
	lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	out := make([]*string, len(list))
	at, last := 0, -1
	for i, s := range list {
		p := find(lines[at:], s.text)
		if p < 0 {
			continue
		}
		if last >= 0 {
			out[last] = join(lines[at : at+p])
		}
		at += p + len(s.text)
		last = i
	}
	if last >= 0 {
		out[last] = join(lines[at:])
	}
	return out
}

func find(lines, want []string) int {
	for i := 0; i+len(want) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(want)], want) {
			return i
		}
	}
	return -1
}

func join(lines []string) *string {
	s := strings.Join(lines, "\n")
	return &s
}
