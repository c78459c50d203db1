package system

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// later runs a statement that has to wait, and returns once the server says that it does.
func later(t *testing.T, c, watcher *pgconn.PgConn, sql string) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := c.Exec(context.Background(), sql).ReadAll()
		done <- err
	}()
	for range 500 {
		if Value(t, watcher, fmt.Sprintf("SELECT pg_blocking_pids(%d)::text", c.PID())) != "{}" {
			return done
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not wait", sql)
	return nil
}

// Two SERIALIZABLE transactions look for a key, find none and add it. The second is told that a retry may help where the reads
// made the conflict, and that the key exists where they did not.
func TestSerializableDuplicateKey(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		a, b, watcher := Connect(t, url), Connect(t, url), Connect(t, url)
		Exec(t, a, "CREATE TABLE byp (id int PRIMARY KEY); CREATE TABLE byu (n int, id int UNIQUE)")
		id := 0
		for _, table := range []string{"byp", "byu"} {
			for _, want := range []struct {
				level        string
				readA, readB bool
				state        string
			}{
				{"SERIALIZABLE", true, true, "40001"},
				{"SERIALIZABLE", true, false, "23505"},
				{"SERIALIZABLE", false, true, "23505"},
				{"REPEATABLE READ", true, true, "23505"},
			} {
				id++
				look := fmt.Sprintf("SET LOCAL enable_seqscan = off; SELECT * FROM %s WHERE id = %d", table, id)
				add := fmt.Sprintf("INSERT INTO %s (id) VALUES (%d)", table, id)
				Exec(t, a, "BEGIN ISOLATION LEVEL "+want.level)
				Exec(t, b, "BEGIN ISOLATION LEVEL "+want.level)
				Exec(t, a, "SELECT 1") // both snapshots are older than both rows
				Exec(t, b, "SELECT 1")
				if want.readA {
					Exec(t, a, look)
				}
				if want.readB {
					Exec(t, b, look)
				}
				Exec(t, a, add)
				waiting := later(t, b, watcher, add)
				Exec(t, a, "COMMIT")
				if err := <-waiting; stateOf(err) != want.state {
					t.Errorf("%s %+v: %v", table, want, err)
				}
				Exec(t, b, "ROLLBACK")
			}
			// A key that the snapshot shows is a duplicate whatever was read.
			Exec(t, b, fmt.Sprintf("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM %s WHERE id = %d", table, id))
			expectState(t, b, fmt.Sprintf("INSERT INTO %s (id) VALUES (%d)", table, id), "23505")
			Exec(t, b, "ROLLBACK")
		}
	})
}

// Who wants to lock a row that changed or went since its snapshot hears of a concurrent update; who wants to delete it is told
// the two apart.
func TestConcurrentChangeIsNamed(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		a, b := Connect(t, url), Connect(t, url)
		Exec(t, a, "CREATE TABLE moved (id int PRIMARY KEY, v text); INSERT INTO moved VALUES (1, 'one'), (2, 'two'), (3, 'three')")
		for _, want := range []struct{ change, lock, message string }{
			{"UPDATE moved SET v = 'uno' WHERE id = 1", "SELECT * FROM moved WHERE v = 'one' FOR UPDATE", "update"},
			{"UPDATE moved SET id = 20 WHERE id = 2", "SELECT * FROM moved WHERE v = 'two' FOR UPDATE", "update"},
			{"UPDATE moved SET id = 30 WHERE id = 20", "SELECT * FROM moved WHERE v = 'two' FOR KEY SHARE", "update"},
			{"DELETE FROM moved WHERE id = 3", "SELECT * FROM moved WHERE v = 'three' FOR UPDATE", "update"},
			{"DELETE FROM moved WHERE id = 30", "DELETE FROM moved WHERE v = 'two'", "delete"},
			{"UPDATE moved SET id = 10 WHERE id = 1", "DELETE FROM moved WHERE v = 'uno'", "update"},
		} {
			Exec(t, a, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM moved")
			Exec(t, b, want.change)
			_, err := a.Exec(context.Background(), want.lock).ReadAll()
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != "40001" || pgErr.Message != "could not serialize access due to concurrent "+want.message {
				t.Errorf("%s after %s: %v, expected concurrent %s", want.lock, want.change, err, want.message)
			}
			Exec(t, a, "ROLLBACK")
		}
	})
}
