package system

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// checksum returns herd_checksum of a table as text.
func checksum(t *testing.T, c *pgconn.PgConn, table string) string {
	t.Helper()
	return Value(t, c, "SELECT rows || ' ' || checksum FROM herd_checksum('"+table+"')")
}

// Equal rows give equal checksums whatever the order in which they came and whatever blocks hold them; other bytes give others.
func TestChecksum(t *testing.T) {
	h := peer.HerdFor(t)
	s, err := h.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	c := Connect(t, s.URL)
	Exec(t, c, `CREATE TABLE up (id int PRIMARY KEY, v text); CREATE TABLE down (id int PRIMARY KEY, v text);
		CREATE TABLE mixed (id int PRIMARY KEY, v text); CREATE TABLE big (id int PRIMARY KEY, v text STORAGE EXTERNAL);
		ALTER TABLE big ALTER v SET STORAGE EXTERNAL; CREATE TABLE none (id int PRIMARY KEY, v text)`)
	Exec(t, c, `BEGIN; INSERT INTO up SELECT i, repeat('v', i % 300) FROM generate_series(1, 20000) i;
		INSERT INTO down SELECT i, repeat('v', i % 300) FROM generate_series(20000, 1, -1) i;
		INSERT INTO mixed SELECT i, repeat('v', i % 300) FROM generate_series(1, 40000) i ORDER BY i * 7919 % 40009;
		DELETE FROM mixed WHERE id > 20000; COMMIT`)
	want := checksum(t, c, "up")
	same := func(when string, tables ...string) {
		t.Helper()
		for _, table := range tables {
			if got := checksum(t, c, table); got != want {
				t.Errorf("%s, table %s: %s, want %s", when, table, got, want)
			}
		}
	}
	same("after the load", "down", "mixed")
	if got := checksum(t, c, "none"); got != "0 0" {
		t.Errorf("empty table: %s", got)
	}

	// A transaction sees its own changes counted, other sessions do not, and a rollback takes them back.
	Exec(t, c, "BEGIN; DELETE FROM up WHERE id % 2 = 0; INSERT INTO up VALUES (0, 'zero')")
	if got := checksum(t, c, "up"); got == want || got[:6] != "10001 " {
		t.Errorf("with own changes: %s, before them %s", got, want)
	}
	other := Connect(t, s.URL)
	if got := checksum(t, other, "up"); got != want {
		t.Errorf("another session sees %s, want %s", got, want)
	}
	Exec(t, c, "ROLLBACK")
	same("after a rollback", "up")
	Exec(t, c, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM down LIMIT 1")
	Exec(t, other, "UPDATE down SET v = 'other' WHERE id = 77")
	same("in an older snapshot", "down")
	Exec(t, c, "COMMIT")
	if got := checksum(t, c, "down"); got == want {
		t.Error("a changed row does not change the checksum")
	}

	// A byte deep inside a value that lies in chunks of its own.
	Exec(t, c, "INSERT INTO big SELECT i, repeat(chr(64 + i), 700000) FROM generate_series(1, 3) i")
	before := checksum(t, c, "big")
	Exec(t, c, "BEGIN; UPDATE big SET v = overlay(v placing '!' from 400000) WHERE id = 2")
	if got := checksum(t, c, "big"); got == before {
		t.Error("a byte of a large value does not change the checksum")
	}
	Exec(t, c, "ROLLBACK")
	if got := checksum(t, c, "big"); got != before {
		t.Errorf("after a rollback: %s, want %s", got, before)
	}

	after := func(when string) {
		t.Helper()
		same(when, "up", "mixed")
		if got := checksum(t, c, "big"); got != before {
			t.Errorf("%s: %s, want %s", when, got, before)
		}
	}
	Exec(t, c, "CHECKPOINT")
	after("after a checkpoint")
	for _, kill := range []bool{true, false} {
		end := s.Shutdown
		if kill {
			end = s.Kill
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if s, err = h.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Stop() })
		c = Connect(t, s.URL)
		after("after a restart")
	}
	testChecksumErrors(t, c)
}

func testChecksumErrors(t *testing.T, c *pgconn.PgConn) {
	Exec(t, c, "CREATE VIEW v AS SELECT 1; CREATE ROLE reader; SET ROLE reader")
	for sql, code := range map[string]string{
		"SELECT * FROM herd_checksum('up')":       "42501",
		"SELECT * FROM herd_checksum('v')":        "42809",
		"SELECT * FROM herd_checksum('up_pkey')":  "42809",
		"SELECT * FROM herd_checksum('pg_class')": "0A000",
		"SELECT * FROM herd_checksum(4711)":       "42P01",
	} {
		_, err := c.Exec(context.Background(), sql).ReadAll()
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != code {
			t.Errorf("%s: %v, want SQLSTATE %s", sql, err, code)
		}
	}
	Exec(t, c, "RESET ROLE; GRANT SELECT ON up TO reader; SET ROLE reader")
	checksum(t, c, "up")
}
