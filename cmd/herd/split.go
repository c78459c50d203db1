package main

import (
	"strings"

	"herd/sql/scan"
)

// splitter cuts lines of SQL text into statements, because a whole script sent at once would be one transaction.
type splitter struct {
	text string // not yet given out
}

// add appends text, whole lines at a time.
func (s *splitter) add(text string) { s.text += text }

// next returns the next statement that a semicolon ends, without it. ok is false when more text is needed.
func (s *splitter) next() (statement string, ok bool) {
	st, found := scan.Next(s.text, 0)
	if !found || st.Next == st.End || s.text[st.Next-1] != ';' {
		return "", false
	}
	statement, s.text = s.text[st.Start:st.End], s.text[st.Next:]
	return statement, true
}

// rest returns what stands after the last semicolon, when the input has ended.
func (s *splitter) rest() string {
	rest := strings.TrimSpace(s.text)
	s.text = ""
	return rest
}
