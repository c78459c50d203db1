package system

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A statement that waits for a table lock runs under the definitions, and sees the rows, that the holder of the lock left.
func TestStatementsFollowWhatTheyWaitedFor(t *testing.T) {
	const table = "CREATE TABLE d (id int PRIMARY KEY, v int); INSERT INTO d SELECT g, g FROM generate_series(1, 100) g"
	tests := []struct {
		name, holder, waiter string
		state                string // SQLSTATE of the waiter, "" = none
		query, want          string
	}{
		{"index", "CREATE INDEX dv ON d (v)", "INSERT INTO d VALUES (1000, 555)", "",
			"SET enable_seqscan = off; SELECT count(*) FROM d WHERE v = 555", "1"},
		{"prepared statement and index", "CREATE INDEX dv ON d (v)", "EXECUTE ins(1000, 555)", "",
			"SET enable_seqscan = off; SELECT count(*) FROM d WHERE v = 555", "1"},
		{"check", "ALTER TABLE d ADD CONSTRAINT c CHECK (v > 0)", "EXECUTE ins(1000, -5)", "23514", "SELECT count(*) FROM d WHERE v < 0", "0"},
		{"column", "ALTER TABLE d ADD COLUMN w int DEFAULT 7", "EXECUTE ins(1000, 5)", "", "SELECT w FROM d WHERE id = 1000", "7"},
		{"truncate", "TRUNCATE d", "INSERT INTO d VALUES (1, 1)", "", "SELECT count(*) FROM d", "1"},
		{"drop", "DROP TABLE d", "SELECT count(*) FROM d", "42P01", "SELECT count(*) FROM pg_class WHERE relname = 'd'", "0"},
		{"statistics", "TRUNCATE d; INSERT INTO d VALUES (1, 1)", "ANALYZE d", "", "SELECT reltuples FROM pg_class WHERE relname = 'd'", "1"},
		{"statistics of nothing", "DROP TABLE d", "ANALYZE d", "42P01", "SELECT count(*) FROM pg_class WHERE relname = 'd'", "0"},
		{"fewer columns", "ALTER TABLE d DROP COLUMN v", "SELECT * FROM d", "", "SELECT count(*) FROM d", "101"},
		{"other columns", "ALTER TABLE d ALTER v TYPE text", "SELECT id, v FROM d WHERE id < 50", "", "SELECT count(*) FROM d", "101"},
		{"rows", "LOCK TABLE d; INSERT INTO d VALUES (1000, 1)", "CREATE TABLE n AS SELECT count(*) AS n FROM d", "", "SELECT n FROM n", "102"},
	}
	ForEach(t, func(t *testing.T, url string) {
		for _, x := range tests {
			t.Run(x.name, func(t *testing.T) {
				a, b := Connect(t, url), Connect(t, url)
				Exec(t, a, table)
				Exec(t, b, "PREPARE ins AS INSERT INTO d VALUES ($1, $2); EXECUTE ins(5000, 5)")
				Exec(t, a, "BEGIN; "+x.holder)
				done := make(chan error, 1)
				go func() {
					_, err := b.Exec(context.Background(), x.waiter).ReadAll()
					done <- err
				}()
				waitForLock(t, Connect(t, url), done)
				Exec(t, a, "COMMIT")
				if err := <-done; stateOf(err) != x.state {
					t.Errorf("%s after %s: %v", x.waiter, x.holder, err)
				}
				if got := Value(t, a, x.query); got != x.want {
					t.Errorf("%s gave %s, expected %s", x.query, got, x.want)
				}
				Exec(t, a, "DROP TABLE IF EXISTS d, n")
			})
		}
	})
}

// A cursor's table is locked from DECLARE on, before its first row is asked for.
func TestCursorLocksItsTable(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		a, b := Connect(t, url), Connect(t, url)
		Exec(t, a, "CREATE TABLE cl (id int PRIMARY KEY, v int); INSERT INTO cl VALUES (1, 2)")
		Exec(t, a, "BEGIN; DECLARE c CURSOR FOR SELECT * FROM cl")
		Exec(t, b, "SET lock_timeout = '100ms'")
		expectState(t, b, "ALTER TABLE cl DROP COLUMN v", "55P03")
		expectState(t, b, "DROP TABLE cl", "55P03")
		if got := Value(t, a, "FETCH ALL FROM c"); got != "1" {
			t.Errorf("the cursor gave %s", got)
		}
		Exec(t, a, "COMMIT")
		Exec(t, b, "DROP TABLE cl")
	})
}

// waitForLock returns when a session waits for a lock.
func waitForLock(t *testing.T, c *pgconn.PgConn, done chan error) {
	t.Helper()
	for range 500 {
		if Value(t, c, "SELECT count(*) FROM pg_locks WHERE NOT granted") != "0" {
			return
		}
		if len(done) > 0 {
			t.Error("it did not wait")
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("nobody waits")
}
