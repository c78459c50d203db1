package system

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// A flipped bit in a block is told with file, place and the name of the table or index; other tables go on, an index can be built
// anew and the table be dropped.
func TestDamagedBlock(t *testing.T) {
	h := peer.HerdFor(t)
	s := start(t, h)
	c := Connect(t, s.URL)
	Exec(t, c, `CREATE TABLE good (id int PRIMARY KEY, v text); CREATE TABLE bad (id int PRIMARY KEY, v text); CREATE INDEX bad_v ON bad (v);
		INSERT INTO good SELECT i, 'row ' || i FROM generate_series(1, 2000) i;
		INSERT INTO bad SELECT i, i || '-' || md5(i::text) FROM generate_series(1, 2000) i; CHECKPOINT`)
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}
	flipBoth(t, h.Dir, []byte(fmt.Sprintf("%x", md5.Sum([]byte("1500")))))
	out, err := exec.Command(h.Binary, "check", h.Dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), ".seg at ") || !strings.Contains(string(out), "checksum") ||
		!strings.Contains(string(out), `table "bad", tree`) || !strings.Contains(string(out), `index "bad_v", tree`) {
		t.Errorf("herd check: %v: %s", err, out)
	}
	c = Connect(t, start(t, h).URL)
	fails := func(sql, what, hint string) {
		t.Helper()
		_, err := c.Exec(context.Background(), sql).ReadAll()
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "XX001" || pg.Message != "could not read a block of "+what || !strings.Contains(pg.Detail, ".seg at ") ||
			!strings.Contains(pg.Detail, "checksum") || !strings.Contains(pg.Hint, hint) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	fails("SELECT sum(length(v || id)) FROM bad", `table "bad"`, "herd check")
	fails("SET enable_seqscan = off; SELECT id FROM bad WHERE v BETWEEN '15' AND '16'", `index "bad_v"`, "REINDEX")
	if got := Value(t, c, "SELECT sum(length(v)) FROM good"); got != "14893" {
		t.Errorf("the good table: %s", got)
	}
	if got := Value(t, c, "SELECT split_part(v, '-', 1) FROM bad WHERE id = 7"); got != "7" {
		t.Errorf("a good block of the damaged table: %s", got)
	}
	Exec(t, c, "INSERT INTO good VALUES (0, 'new'); CHECKPOINT; DROP TABLE bad; CHECKPOINT")
	if got := Value(t, c, "SELECT count(*) FROM good"); got != "2001" {
		t.Errorf("the good table has %s rows", got)
	}
}

// flipBoth flips a bit of each place in the data files that has the bytes: a table's leaf, and an index's, whose
// keys have the text behind what they share.
func flipBoth(t *testing.T, dir string, text []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "data", "db", "*", "data", "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	flips := 0
	for _, file := range files {
		p, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; ; flips++ {
			i := bytes.Index(p[at:], text)
			if i < 0 {
				break
			}
			p[at+i+1] ^= 4
			at += i + len(text)
		}
		if err := os.WriteFile(file, p, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if flips < 2 {
		t.Fatalf("%d places have %q", flips, text)
	}
}
