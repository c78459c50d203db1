package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the files that tests compare with")

// Check fails the test when got differs from the file, naming the first line that does. With -rewrite it writes the file.
func Check(tb testing.TB, file, got string) {
	tb.Helper()
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatalf("%v (-rewrite makes it)", err)
	}
	if string(text) == got {
		return
	}
	wantLines, gotLines := strings.Split(string(text), "\n"), strings.Split(got, "\n")
	for i := 0; ; i++ {
		if i >= len(wantLines) || i >= len(gotLines) || wantLines[i] != gotLines[i] {
			tb.Errorf("%s:%d: got %q, want %q (-rewrite accepts)", file, i+1, at(gotLines, i), at(wantLines, i))
			return
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end)"
}
