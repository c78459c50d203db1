package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herd/tests/peer"
)

// The runner passes what PostgreSQL answers, and notices each way in which an answer can differ.
func TestRunner(t *testing.T) {
	url := peer.Postgres(t)
	for _, extended := range []bool{false, true} {
		r := runner{url: url, extended: extended, showMax: 10}
		files, err := filepath.Glob("testdata/*.test")
		if err != nil || len(files) == 0 {
			t.Fatalf("no files: %v", err)
		}
		for _, file := range files {
			out, err := r.runFile(context.Background(), file)
			if err != nil || out.failed > 0 || out.passed == 0 {
				t.Errorf("%s: %d passed, %d failed, %v: %v", file, out.passed, out.failed, err, out.failures)
			}
		}
		out, err := r.runFile(context.Background(), "testdata/notices.txt")
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"expected 42703", "got error", "succeeded, expected error 22012", "got 1 columns, expected 2", `got ["1"], expected ["2"]`}
		if out.passed != 8 || out.failed != len(want) {
			t.Errorf("%d passed, %d failed: %v", out.passed, out.failed, out.failures)
		}
		for i, w := range want[:min(len(want), len(out.failures))] {
			if !strings.Contains(out.failures[i], w) {
				t.Errorf("failure %d is %q, want %q", i, out.failures[i], w)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"statement maybe\nSELECT 1", "query nosort x\nSELECT 1\n----\n1", "statement ok", "hello"} {
		file := filepath.Join(t.TempDir(), "f.test")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := parseFile(file); err == nil || !strings.Contains(err.Error(), file+":1") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}
