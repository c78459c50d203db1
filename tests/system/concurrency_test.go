package system

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// No update of one hot row is lost, by autocommit and inside transactions.
func TestNoLostUpdate(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		Exec(t, c, "CREATE TABLE c (id int PRIMARY KEY, v int); INSERT INTO c VALUES (1, 0)")
		const clients, each = 40, 10 // PostgreSQL allows 100 sessions
		const update = "UPDATE c SET v = v + 1 WHERE id = 1"
		for round, statements := range [][]string{{update}, {"BEGIN", "SELECT v FROM c WHERE id = 1", update, "COMMIT"}} {
			var group sync.WaitGroup
			for range clients {
				group.Go(func() {
					if err := repeat(url, statements, each); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if got, want := Value(t, c, "SELECT v FROM c"), fmt.Sprint((round+1)*clients*each); got != want {
				t.Errorf("%v: value %s, want %s", statements, got, want)
			}
		}
	})
}

func repeat(url string, statements []string, times int) error {
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	for range times {
		for _, sql := range statements {
			if _, err := c.Exec(ctx, sql).ReadAll(); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
	}
	return nil
}

// A session that waits for a lock is told when it has waited too long, when it would wait for ever, and when it is cancelled.
func TestLockWaits(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		a, b := Connect(t, url), Connect(t, url)
		Exec(t, a, "CREATE TABLE l (id int PRIMARY KEY, v int); INSERT INTO l VALUES (1, 0), (2, 0)")
		Exec(t, a, "BEGIN; UPDATE l SET v = 1 WHERE id = 1")
		for sql, state := range map[string]string{
			"SELECT * FROM l WHERE id = 1 FOR UPDATE NOWAIT":                                        "55P03",
			"SET lock_timeout = '50ms'; UPDATE l SET v = 2 WHERE id = 1":                            "55P03",
			"SET lock_timeout = 0; SET statement_timeout = '50ms'; UPDATE l SET v = 2 WHERE id = 1": "57014",
		} {
			expectState(t, b, sql, state)
		}
		Exec(t, b, "RESET ALL")
		if rows := Exec(t, b, "SELECT id FROM l ORDER BY id FOR UPDATE SKIP LOCKED"); len(rows) != 1 || string(rows[0][0]) != "2" {
			t.Errorf("SKIP LOCKED gave %d rows", len(rows))
		}
		cancelled := make(chan error, 1)
		go func() {
			_, err := b.Exec(context.Background(), "UPDATE l SET v = 3 WHERE id = 1").ReadAll()
			cancelled <- err
		}()
		time.Sleep(100 * time.Millisecond) // until b waits; too early only makes the cancel hit earlier
		if err := b.CancelRequest(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := <-cancelled; stateOf(err) != "57014" {
			t.Errorf("cancelled update: %v", err)
		}
		Exec(t, b, "BEGIN; UPDATE l SET v = 4 WHERE id = 2")
		waiting := make(chan error, 1)
		go func() {
			_, err := b.Exec(context.Background(), "UPDATE l SET v = 4 WHERE id = 1").ReadAll()
			waiting <- err
		}()
		_, errA := a.Exec(context.Background(), "UPDATE l SET v = 1 WHERE id = 2").ReadAll()
		if errA != nil {
			Exec(t, a, "ROLLBACK")
		}
		errB := <-waiting
		if (errA == nil) == (errB == nil) || stateOf(errors.Join(errA, errB)) != "40P01" {
			t.Errorf("deadlock: %v and %v", errA, errB)
		}
	})
}

func stateOf(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}

func expectState(t *testing.T, c *pgconn.PgConn, sql, state string) {
	t.Helper()
	if _, err := c.Exec(context.Background(), sql).ReadAll(); stateOf(err) != state {
		t.Errorf("%s: error %v, expected %s", sql, err, state)
	}
}

// A snapshot taken by REPEATABLE READ does not move, and a write on a row that changed since fails.
func TestRepeatableRead(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		a, b := Connect(t, url), Connect(t, url)
		Exec(t, a, "CREATE TABLE r (id int PRIMARY KEY, v int); INSERT INTO r VALUES (1, 10), (2, 20)")
		Exec(t, a, "BEGIN ISOLATION LEVEL REPEATABLE READ")
		if got := Value(t, a, "SELECT sum(v) FROM r"); got != "30" {
			t.Errorf("sum %s", got)
		}
		Exec(t, b, "UPDATE r SET v = 11 WHERE id = 1; INSERT INTO r VALUES (3, 30)")
		if got := Value(t, a, "SELECT sum(v) FROM r"); got != "30" {
			t.Errorf("sum %s after another's commit", got)
		}
		expectState(t, a, "UPDATE r SET v = v + 1 WHERE id = 1", "40001")
		Exec(t, a, "ROLLBACK")
		if got := Value(t, a, "SELECT sum(v) FROM r"); got != "61" {
			t.Errorf("sum %s at last", got)
		}
		// Write skew is refused by SERIALIZABLE alone.
		for level, refused := range map[string]bool{"REPEATABLE READ": false, "SERIALIZABLE": true} {
			Exec(t, a, "BEGIN ISOLATION LEVEL "+level)
			Exec(t, b, "BEGIN ISOLATION LEVEL "+level)
			Value(t, a, "SELECT sum(v) FROM r")
			Value(t, b, "SELECT sum(v) FROM r")
			Exec(t, a, "UPDATE r SET v = v + 1 WHERE id = 1")
			_, err1 := b.Exec(context.Background(), "UPDATE r SET v = v + 1 WHERE id = 2").ReadAll()
			_, err2 := a.Exec(context.Background(), "COMMIT").ReadAll()
			_, err3 := b.Exec(context.Background(), "COMMIT").ReadAll()
			if got := stateOf(errors.Join(err1, err2, err3)) == "40001"; got != refused {
				t.Errorf("write skew under %s: %v, %v, %v", level, err1, err2, err3)
			}
			Exec(t, a, "ROLLBACK")
			Exec(t, b, "ROLLBACK")
		}
	})
}

// A cursor that is half read shows the rows as they were at its opening.
func TestCursorKeepsItsSnapshot(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		Exec(t, c, "CREATE TABLE k (id int PRIMARY KEY, v int); INSERT INTO k SELECT g, 0 FROM generate_series(1, 100) g")
		Exec(t, c, "BEGIN; DECLARE x CURSOR FOR SELECT id, v FROM k ORDER BY id")
		first := Exec(t, c, "FETCH 50 FROM x")
		Exec(t, c, "UPDATE k SET v = 1; DELETE FROM k WHERE id > 90")
		rest := Exec(t, c, "FETCH ALL FROM x")
		if len(first) != 50 || len(rest) != 50 {
			t.Fatalf("%d and %d rows", len(first), len(rest))
		}
		for _, row := range rest {
			if string(row[1]) != "0" {
				t.Fatalf("row %s has the new value", row[0])
			}
		}
		Exec(t, c, "COMMIT")
		if got := Value(t, c, "SELECT sum(v) FROM k"); got != "90" {
			t.Errorf("sum %s", got)
		}
	})
}
