package session

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQueryTextIsCutBetweenCharacters(t *testing.T) {
	for pad := range 5 {
		long := strings.Repeat("x", pad) + strings.Repeat("€", 1000)
		var q queryText
		if _, ok := q.load(); ok {
			t.Fatal("a text before the first statement")
		}
		q.store(long)
		got, ok := q.load()
		if !ok || !strings.HasPrefix(long, got) || !utf8.ValidString(got) || len(got) > queryTextMax || len(got) < queryTextMax-3 {
			t.Errorf("pad %d: %d bytes, valid %v", pad, len(got), utf8.ValidString(got))
		}
	}
	var q queryText
	buf := []byte("select 1")
	q.store(string(buf))
	if got, _ := q.load(); got != "select 1" {
		t.Errorf("got %q", got)
	}
	if n := testing.AllocsPerRun(100, func() { q.store("select 2") }); n != 0 {
		t.Errorf("%v allocations a statement", n)
	}
}
