package system

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// psql runs a script with errors in the middle, goes on, copies a file in and out, and shows what PostgreSQL shows.
func TestPsqlScript(t *testing.T) {
	psql := Program(t, "psql")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(in, []byte("id,name\n3,\"c,\"\"d\"\"\"\n4,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := `CREATE TABLE t (id int PRIMARY KEY, name text, at timestamp DEFAULT '2020-01-02 03:04:05');
INSERT INTO t (id, name) VALUES (1, 'a'), (2, NULL);
INSERT INTO t (id, name) VALUES (1, 'again');
SELECT nothing FROM t;
SELEC 1;
BEGIN;
INSERT INTO t (id) VALUES (9);
SELECT 1/0;
SELECT 1;
COMMIT;
SELECT count(*) FROM t WHERE id = 9;
\copy t (id, name) FROM '` + in + `' WITH (FORMAT csv, HEADER)
\copy (SELECT id, name FROM t ORDER BY id) TO '` + out + `' WITH (FORMAT csv, HEADER)
SELECT * FROM t ORDER BY id;
\x
SELECT * FROM t WHERE id = 1;
SELECT 1 AS a \; SELECT 2 AS b;
SELECT 5 AS watched \gset
\echo :watched
`
	var first string
	ForEach(t, func(t *testing.T, url string) {
		cmd := exec.Command(psql, "-X", "-a", "-d", url)
		cmd.Stdin = strings.NewReader(script)
		cmd.Env = append(cmd.Environ(), "PGCONNECT_TIMEOUT=10")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		copied, err := os.ReadFile(out)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if want := "id,name\n1,a\n2,\n3,\"c,\"\"d\"\"\"\n4,\n"; string(copied) != want {
			t.Errorf("copied out %q, want %q", copied, want)
		}
		if first == "" {
			first = string(text)
		}
		if string(text) != first {
			t.Errorf("psql shows\n%s\non PostgreSQL\n%s", text, first)
		}
	})
}
