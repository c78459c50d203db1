package planner

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"herd/internal/golden"
)

// TestScripts runs testdata/*.txt: blocks separated by empty lines. A block is a statement, then "----" and its plan or error.
// DDL builds the catalog; "rows t 1000" sets a table's size. Rewrite with -rewrite and read the difference.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	var out []string
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		stmt, _, _ := strings.Cut(block, "\n----")
		res := runBlock(f, stmt)
		if res != "" {
			stmt += "\n----\n" + strings.TrimRight(res, "\n")
		}
		out = append(out, stmt)
	}
	golden.Check(t, file, strings.Join(out, "\n\n")+"\n")
}

func runBlock(f *fakeCatalog, stmt string) string {
	var sql []string
	for _, l := range strings.Split(stmt, "\n") {
		if !strings.HasPrefix(l, "#") {
			sql = append(sql, l)
		}
	}
	text := strings.TrimSpace(strings.Join(sql, "\n"))
	if text == "" {
		return ""
	}
	words := strings.Fields(text)
	switch words[0] {
	case "rows":
		n, _ := strconv.Atoi(words[2])
		f.rows[words[1]] = int64(n)
		return ""
	case "create":
		for _, s := range strings.Split(text, ";\n") {
			if err := f.exec(strings.TrimSuffix(s, ";")); err != nil {
				return errorText(err)
			}
		}
		return ""
	}
	p, err := f.plan(strings.TrimSuffix(text, ";"), nil)
	if err != nil {
		return errorText(err)
	}
	res := Explain(f, p, ExplainOptions{})
	if p.Fast != nil {
		res = [...]string{"", "Get", "Insert", "Update", "Delete", "Range"}[p.Fast.Kind] + " fast path\n" + res
	}
	return res
}
