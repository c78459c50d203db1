package system

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// rowsText is the result of a query, a line for each row.
func rowsText(t *testing.T, c *pgconn.PgConn, sql string) string {
	t.Helper()
	var b strings.Builder
	for _, r := range Exec(t, c, sql) {
		for i, v := range r {
			if i > 0 {
				b.WriteByte('|')
			}
			b.Write(v)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// waiting returns when n sessions wait for locks.
func waiting(t *testing.T, c *pgconn.PgConn, n int) {
	t.Helper()
	until(t, c, "SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted", fmt.Sprint(n))
}

// The messages of a deadlock are PostgreSQL's: who waits for which transaction, and at which row.
func TestDeadlockMessage(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		a, b, c := Connect(t, url), Connect(t, url), Connect(t, url)
		Exec(t, c, "CREATE TABLE d (id int PRIMARY KEY, v int); INSERT INTO d VALUES (1, 1), (2, 2)")
		for _, x := range []struct{ first, second, where string }{
			{"UPDATE d SET v = 5 WHERE id = %d", "UPDATE d SET v = 6 WHERE id = %d", `while updating tuple \(\d+,\d+\) in relation "d"`},
			{"UPDATE d SET v = 5 WHERE id = %d", "UPDATE d SET v = v + 1 WHERE id BETWEEN %[1]d AND %[1]d", `while updating tuple \(\d+,\d+\) in relation "d"`},
			{"SELECT * FROM d WHERE id = %d FOR UPDATE", "DELETE FROM d WHERE id = %d", `while deleting tuple \(\d+,\d+\) in relation "d"`},
			{"SELECT * FROM d WHERE id = %d FOR UPDATE", "SELECT * FROM d WHERE id = %d FOR SHARE", `while locking tuple \(\d+,\d+\) in relation "d"`},
			{"INSERT INTO d VALUES (10 + %d)", "INSERT INTO d VALUES (10 + %d)", `while inserting index tuple \(\d+,\d+\) in relation "d_pkey"`},
		} {
			Exec(t, a, "BEGIN; "+fmt.Sprintf(x.first, 1))
			Exec(t, b, "BEGIN; "+fmt.Sprintf(x.first, 2))
			done := background(a, fmt.Sprintf(x.second, 2))
			waiting(t, c, 1)
			errs := []error{nil, nil}
			_, errs[1] = b.Exec(context.Background(), fmt.Sprintf(x.second, 1)).ReadAll()
			if errs[1] != nil { // else a was chosen
				Exec(t, b, "ROLLBACK")
			}
			if errs[0] = <-done; errs[1] == nil {
				Exec(t, b, "ROLLBACK")
			}
			Exec(t, a, "ROLLBACK")
			var e *pgconn.PgError
			if !errors.As(errors.Join(errs...), &e) || e.Code != "40P01" || e.Message != "deadlock detected" || e.Hint != "See server log for query details." {
				t.Fatalf("%s: %v", x.second, errs)
			}
			one, two := a.PID(), b.PID()
			if errs[1] != nil {
				one, two = two, one
			}
			detail := fmt.Sprintf(`^Process %[1]d waits for ShareLock on transaction \d+; blocked by process %[2]d\.\nProcess %[2]d waits for ShareLock on transaction \d+; blocked by process %[1]d\.$`, one, two)
			if !regexp.MustCompile(detail).MatchString(e.Detail) {
				t.Errorf("%s: detail %q, expected %q", x.second, e.Detail, detail)
			}
			if !regexp.MustCompile("^" + x.where + "$").MatchString(e.Where) {
				t.Errorf("%s: context %q, expected %q", x.second, e.Where, x.where)
			}
		}
		// Tables and advisory locks.
		Exec(t, a, "BEGIN; SELECT pg_advisory_xact_lock(7)")
		Exec(t, b, "BEGIN; LOCK TABLE d")
		done := background(a, "LOCK TABLE d IN SHARE MODE")
		waiting(t, c, 1)
		_, err := b.Exec(context.Background(), "SELECT pg_advisory_xact_lock(7)").ReadAll()
		if err == nil {
			Exec(t, b, "ROLLBACK")
		}
		Exec(t, b, "ROLLBACK")
		var e *pgconn.PgError
		if !errors.As(errors.Join(err, <-done), &e) {
			t.Fatal("no deadlock")
		}
		for _, line := range []string{`waits for ShareLock on relation \d+ of database \d+; blocked`, `waits for ExclusiveLock on advisory lock \[\d+,0,7,1\]; blocked`} {
			if !regexp.MustCompile(line).MatchString(e.Detail) {
				t.Errorf("detail %q, expected %s", e.Detail, line)
			}
		}
		Exec(t, a, "ROLLBACK")
	})
}

// pg_locks and pg_stat_activity show who has and who waits for what.
func TestLocksAndActivityShown(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		a, b, d, c := Connect(t, url), Connect(t, url), Connect(t, url), Connect(t, url)
		Exec(t, c, "CREATE TABLE l (id int PRIMARY KEY, v int); INSERT INTO l VALUES (1, 1)")
		Exec(t, a, "BEGIN; UPDATE l SET v = 2 WHERE id = 1")
		first := background(b, "UPDATE l SET v = 3 WHERE id = 1")
		waiting(t, c, 1)
		second := background(d, "DELETE FROM l WHERE id = 1")
		waiting(t, c, 2)
		locks := rowsText(t, c, fmt.Sprintf(`SELECT CASE pid WHEN %d THEN 'holder' WHEN %d THEN 'first' ELSE 'second' END AS who, locktype, relation::regclass,
			page IS NOT NULL AND tuple IS NOT NULL, virtualxid = virtualtransaction, transactionid IS NOT NULL, mode, granted, fastpath, waitstart <= now()
			FROM pg_locks WHERE pid IN (%[1]d, %[2]d, %[3]d) AND (relation IS NULL OR relation = 'l'::regclass) ORDER BY 1 DESC, 2, 7`, a.PID(), b.PID(), d.PID()))
		const want = `second|relation|l|f|||RowExclusiveLock|t|t|
second|tuple|l|t|||AccessExclusiveLock|f|f|t
second|virtualxid||f|t||ExclusiveLock|t|t|
`
		got := strings.ReplaceAll(strings.ReplaceAll(locks, "|f|RowEx", "||RowEx"), "|f|Access", "||Access")
		got = strings.ReplaceAll(got, "|t|f|ExclusiveLock|t|t|", "|t||ExclusiveLock|t|t|")
		for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
			if !strings.Contains(got, line+"\n") {
				t.Errorf("no line %s in\n%s", line, got)
			}
		}
		for _, line := range []string{"holder|transactionid||f||t|ExclusiveLock|t|f|", "first|transactionid||f||t|ShareLock|f|f|t", "first|tuple|l|t||f|ExclusiveLock|t|f|"} {
			if !strings.Contains(locks, line+"\n") {
				t.Errorf("no line %s in\n%s", line, locks)
			}
		}
		if got := Value(t, c, fmt.Sprintf("SELECT (SELECT transactionid FROM pg_locks WHERE pid = %d AND locktype = 'transactionid' AND granted) = (SELECT transactionid FROM pg_locks WHERE pid = %d AND NOT granted)", a.PID(), b.PID())); got != "t" {
			t.Error("the first waits for another transaction:", got)
		}
		if got := Value(t, c, fmt.Sprintf("SELECT pg_blocking_pids(%d)::text || pg_blocking_pids(%d)::text", a.PID(), b.PID())); got != fmt.Sprintf("{}{%d}", a.PID()) {
			t.Error("blocked by", got)
		}
		activity := rowsText(t, c, fmt.Sprintf(`SELECT state, wait_event_type, wait_event, xact_start <= now(), query_start >= xact_start, state_change >= query_start, backend_xid IS NOT NULL
			FROM pg_stat_activity WHERE pid IN (%d, %d, %d) ORDER BY pid = %[3]d, pid = %[2]d`, a.PID(), b.PID(), d.PID()))
		if want := "idle in transaction|Client|ClientRead|t|t|t|t\nactive|Lock|transactionid|t|t|t|t\nactive|Lock|tuple|t|t|t|t\n"; activity != want {
			t.Errorf("activity\n%sexpected\n%s", activity, want)
		}
		Exec(t, a, "ROLLBACK")
		if err := errors.Join(<-first, <-second); err != nil {
			t.Error(err)
		}
		if got := rowsText(t, c, fmt.Sprintf("SELECT state, xact_start, backend_xid, backend_xmin, query FROM pg_stat_activity WHERE pid = %d", a.PID())); got != "idle||||ROLLBACK\n" {
			t.Error("an idle session shows", got)
		}
		// A snapshot that stays shows how old it is.
		Exec(t, a, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM l")
		for range 20 {
			Exec(t, c, "INSERT INTO l SELECT coalesce(max(id), 0) + 1, 0 FROM l")
		}
		age := fmt.Sprintf("SELECT age(backend_xmin) >= 20 FROM pg_stat_activity WHERE pid = %d", a.PID())
		until(t, c, age, "t")
		Exec(t, a, "COMMIT")
		until(t, c, age, "")
	})
}

// A sequence shows how many values are handed out before it is logged again, as PostgreSQL's do.
func TestSequenceLogCount(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		Exec(t, c, "CREATE SEQUENCE q; CREATE SEQUENCE r INCREMENT -5 MAXVALUE 100 START 100 MINVALUE 20")
		for _, x := range []struct{ sql, want string }{
			{"SELECT * FROM q", "1|0|f\n"},
			{"SELECT nextval('q')", "1\n"}, {"SELECT * FROM q", "1|32|t\n"},
			{"SELECT nextval('q')", "2\n"}, {"SELECT * FROM q", "2|31|t\n"},
			{"SELECT setval('q', 50)", "50\n"}, {"SELECT * FROM q", "50|0|t\n"},
			{"SELECT nextval('q')", "51\n"}, {"SELECT * FROM q", "51|32|t\n"},
			{"SELECT max(nextval('q')) FROM generate_series(1, 32)", "83\n"}, {"SELECT * FROM q", "83|0|t\n"},
			{"SELECT nextval('q')", "84\n"}, {"SELECT * FROM q", "84|32|t\n"},
			{"ALTER SEQUENCE q RESTART", ""}, {"SELECT * FROM q", "1|0|f\n"},
			{"SELECT nextval('r')", "100\n"}, {"SELECT * FROM r", "100|16|t\n"},
		} {
			if got := rowsText(t, c, x.sql); got != x.want {
				t.Errorf("%s gives %q, expected %q", x.sql, got, x.want)
			}
		}
	})
}
