package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herd/tests/peer"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT 1; SELECT 2;\n":                                  {"SELECT 1", "SELECT 2"},
		"SELECT ';', \";\"\nFROM t; x":                           {"SELECT ';', \";\"\nFROM t", "x"},
		"SELECT 'it''s;\n';\ny":                                  {"SELECT 'it''s;\n'", "y"},
		"SELECT E'\\';\n'; SELECT '\\'; z":                       {"SELECT E'\\';\n'", "SELECT '\\'", "z"},
		"-- a;b\nSELECT 1; -- c;\n/* d;\n /* e; */ */ SELECT 2;": {"SELECT 1", "SELECT 2"},
		"SELECT $$a;\nb$$; SELECT $x$;$$;\n$x$; SELECT $1;":      {"SELECT $$a;\nb$$", "SELECT $x$;$$;\n$x$", "SELECT $1"},
		"CREATE RULE r AS ON INSERT TO t DO (a;\nb); c;":         {"CREATE RULE r AS ON INSERT TO t DO (a;\nb)", "c"},
		"SELECT 'open;\n;":                                       {"SELECT 'open;\n;"},
	} {
		var s splitter
		var got []string
		for line := range strings.Lines(text) {
			s.add(line)
			for {
				statement, ok := s.next()
				if !ok {
					break
				}
				got = append(got, statement)
			}
		}
		if rest := s.rest(); rest != "" {
			got = append(got, rest)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// runShell runs the sql command in this process and returns what it printed.
func runShell(t *testing.T, args ...string) (out, errOut string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	c := newSQLCommand()
	c.SetArgs(args)
	c.SetOut(&o)
	c.SetErr(&e)
	c.SilenceErrors, c.SilenceUsage = true, true
	err = c.ExecuteContext(context.Background())
	return o.String(), e.String(), err
}

func TestShell(t *testing.T) {
	url := peer.Postgres(t)
	file := filepath.Join(t.TempDir(), "f.sql")
	script := "CREATE TABLE t(a int, b text);\nINSERT INTO t VALUES (1, 'x;y'), (20, NULL);\nSELECT * FROM t\nORDER BY a;\nSELECT wrong\nFROM t;\nSELECT 3 AS last;\n"
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errOut, err := runShell(t, "--url", url, "-f", file)
	if err != errReported || strings.Contains(out, "last") {
		t.Errorf("a file with an error: %v, %q", err, out)
	}
	if want := "CREATE TABLE\nINSERT 0 2\n a  | b\n----+-----\n  1 | x;y\n 20 | \n(2 rows)\n\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
	if want := "LINE 1: SELECT wrong\n               ^\n"; !strings.Contains(errOut, want) || !strings.Contains(errOut, "42703") {
		t.Errorf("error output %q", errOut)
	}
	out, _, err = runShell(t, "--url", url, "--keep-going", "--format", "csv", "-c", "SELECT nope; SELECT 'a,b' AS x, NULL AS y; SELECT 1 AS z WHERE false")
	if err != errReported || out != "x,y\n\"a,b\",\nz\n" {
		t.Errorf("csv: %v, %q", err, out)
	}
	out, _, err = runShell(t, "--url", url, "--format", "json", "-c", `SELECT 1 AS i, 'q"' AS s, NULL AS n, true AS b, 'NaN'::float8 AS f, '{"k": 1}'::jsonb AS j`)
	if want := "[\n {\"i\": 1, \"s\": \"q\\\"\", \"n\": null, \"b\": true, \"f\": \"NaN\", \"j\": {\"k\": 1}}\n]\n"; err != nil || out != want {
		t.Errorf("json: %v, %q, want %q", err, out, want)
	}
	if _, _, err = runShell(t, "--url", url, "--format", "xml", "-c", "SELECT 1"); err == nil {
		t.Error("format xml: no error")
	}
	if _, _, err = runShell(t, "--url", "postgres://postgres@127.0.0.1:1/x", "-c", "SELECT 1"); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("nobody listening: %v", err)
	}
}
