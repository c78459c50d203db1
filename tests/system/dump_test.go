package system

import (
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// everything is a database with an object of each kind that herd has.
const everything = "testdata/everything.sql"

// dumpNoise is what differs between two dumps of equal databases: the server's version and psql's random keys.
var dumpNoise = regexp.MustCompile(`(?m)^(-- Dumped (from|by) .*|\\(un)?restrict .*)\n`)

// pg_dump shows the same database on herd as on PostgreSQL; its output makes that database again.
func TestPgDump(t *testing.T) {
	psql, pgDump := Program(t, "psql"), Program(t, "pg_dump")
	run := func(t *testing.T, name string, args ...string) string {
		t.Helper()
		var errors strings.Builder
		cmd := exec.Command(name, args...)
		cmd.Stderr = &errors
		out, err := cmd.Output()
		if err != nil || errors.Len() > 0 {
			t.Fatalf("%s %q: %v: %s", name, args, err, errors.String())
		}
		return string(out)
	}
	dump := func(t *testing.T, db string) string { return dumpNoise.ReplaceAllString(run(t, pgDump, db), "") }
	file := t.TempDir() + "/dump.sql"
	var first string
	ForEach(t, func(t *testing.T, server string) {
		c := Connect(t, server)
		Exec(t, c, "CREATE DATABASE source")
		Exec(t, c, "CREATE DATABASE copy")
		run(t, psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", everything, database(t, server, "source"))
		text := dump(t, database(t, server, "source"))
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("pg_dump differs from that of the first server:\n%s", difference(first, text))
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, database(t, server, "copy"))
		if again := dump(t, database(t, server, "copy")); again != text {
			t.Errorf("the dump makes another database:\n%s", difference(text, again))
		}
	})
}

// database is a server's URL with another database.
func database(t *testing.T, server, name string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// difference shows where two texts part.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "want " + strings.Join(w[i:min(i+5, len(w))], "\n     ") + "\ngot  " + strings.Join(g[i:min(i+5, len(g))], "\n     ")
		}
	}
	return "one is the beginning of the other"
}
