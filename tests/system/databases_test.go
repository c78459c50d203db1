package system

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// inDatabase opens a session in another database of the server.
func inDatabase(t *testing.T, server, name string) *pgconn.PgConn {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return Connect(t, u.String())
}

// TestDatabasesApart makes two databases in two runs of the server that go the same way, so that their objects have the same numbers
// and versions, and reads one after the other: what is kept of definitions is kept for one database.
func TestDatabasesApart(t *testing.T) {
	h := peer.HerdFor(t)
	run := func(f func(server string)) {
		t.Helper()
		s, err := h.Start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		f(s.URL)
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	database := func(server, name string, definitions ...string) {
		Exec(t, Connect(t, server), "CREATE DATABASE "+name)
		c := inDatabase(t, server, name)
		for _, sql := range definitions {
			Exec(t, c, sql)
		}
	}
	const read = "SELECT x || ' ' || f(4) || ' ' || (SELECT a || ' ' || b || ' ' || c FROM t) FROM v"
	run(func(string) {}) // the first run makes more
	run(func(server string) {
		database(server, "one", "CREATE TABLE t (a int CHECK (a > 0), b int DEFAULT 7, c int GENERATED ALWAYS AS (a + 1) STORED)",
			"CREATE VIEW v AS SELECT a + 100 AS x FROM t", "CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT $1 + 1'")
	})
	run(func(server string) {
		c := inDatabase(t, server, "one")
		if got := Value(t, c, "INSERT INTO t (a) VALUES (1); "+read); got != "101 5 1 7 2" {
			t.Errorf("one: %s", got)
		}
		database(server, "two", "CREATE TABLE t (a int CHECK (a < 0), b int DEFAULT 8, c int GENERATED ALWAYS AS (a - 1) STORED)",
			"CREATE VIEW v AS SELECT 'v' || a AS x FROM t", "CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT $1 * 2'")
		c = inDatabase(t, server, "two")
		if got := Value(t, c, "INSERT INTO t (a) VALUES (-2); "+read); got != "v-2 8 -2 8 -3" {
			t.Errorf("two: %s", got)
		}
	})
}
