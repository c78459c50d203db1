package types

import (
	"bytes"
	"math/rand"
	"testing"
	"unicode/utf8"
)

func TestValidText(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	parts := []string{"a", "plain", "eight by", "é", "😀", "\x00", "\xff", "\xc3", "\x7f", "\x80"}
	for range 20000 {
		var b []byte
		for range r.Intn(12) {
			n := len(parts)
			if r.Intn(3) > 0 {
				n = 5
			}
			b = append(b, parts[r.Intn(n)]...)
		}
		want := utf8.Valid(b) && bytes.IndexByte(b, 0) < 0
		if got := ValidText(b) == nil; got != want {
			t.Fatalf("ValidText(%q) is %v", b, got)
		}
	}
}
