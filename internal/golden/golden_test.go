package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder stands for a test and keeps its failure.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.failure = fmt.Sprintf(format, args...) }

func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x", "f.txt")
	*rewrite = true
	Check(t, file, "a\nb\n")
	*rewrite = false
	Check(t, file, "a\nb\n")
	for got, want := range map[string]string{"a\nc\n": `f.txt:2: got "c", want "b"`, "a\nb\nc": `f.txt:3: got "c", want ""`, "a": `got "(end)", want "b"`} {
		r := &recorder{TB: t}
		if Check(r, file, got); !strings.Contains(r.failure, want) {
			t.Errorf("%q: failure %q, want %q", got, r.failure, want)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "a\nb\n" {
		t.Errorf("file was changed: %q, %v", text, err)
	}
}
