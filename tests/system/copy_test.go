package system

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// copyRows is COPY text of rows [from, to) of (id, v, payload), with line number bad spoilt.
func copyRows(from, to, step, bad int) *strings.Reader {
	var b strings.Builder
	for i, line := from, 1; i < to; i, line = i+step, line+1 {
		if line == bad {
			fmt.Fprintf(&b, "%d\tnot a number\t%0700d\n", i, i)
			continue
		}
		fmt.Fprintf(&b, "%d\t%d\t%0700d\n", i, i%97, i)
	}
	return strings.NewReader(b.String())
}

func copyIn(t *testing.T, c *pgconn.PgConn, data *strings.Reader) error {
	t.Helper()
	_, err := c.CopyFrom(context.Background(), data, "COPY bulk (id, v, payload) FROM STDIN")
	return err
}

func wantCopyError(t *testing.T, err error, code, where string) {
	t.Helper()
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != code || !strings.HasPrefix(e.Where, where) {
		t.Errorf("error is %v, want %s with context %q", err, code, where)
		if e != nil {
			t.Errorf("context %q", e.Where)
		}
	}
}

// TestLongCopy copies more than a transaction keeps in memory: behind, between and over rows that are there, with
// savepoints, changes of what was just copied, rows that fail, and a rollback.
func TestLongCopy(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		Exec(t, c, `CREATE TABLE bulk (id bigint PRIMARY KEY, v int CHECK (v >= 0), payload text NOT NULL, twice bigint GENERATED ALWAYS AS (id * 2) STORED);
			CREATE INDEX ON bulk (v)`)
		sums := func(what, want string) {
			t.Helper()
			const q = "SELECT count(*) || ' ' || sum(id) || ' ' || sum(twice) || ' ' || sum(length(payload)) || ' ' || (SELECT count(*) FROM bulk WHERE v = 5) FROM bulk"
			if got := Value(t, c, q); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		if err := copyIn(t, c, copyRows(0, 40000, 2, 0)); err != nil {
			t.Fatal(err)
		}
		sums("even rows", "20000 399980000 799960000 14000000 206")
		if err := copyIn(t, c, copyRows(40000, 60000, 1, 0)); err != nil {
			t.Fatal(err)
		}
		sums("rows behind", "40000 1399970000 2799940000 28000000 412")
		if err := copyIn(t, c, copyRows(1, 40000, 2, 0)); err != nil {
			t.Fatal(err)
		}
		sums("rows between", "60000 1799970000 3599940000 42000000 619")

		wantCopyError(t, copyIn(t, c, copyRows(60000, 80000, 1, 19000)), "22P02", "COPY bulk, line 19000, column v: \"not a number\"")
		Exec(t, c, "BEGIN; SAVEPOINT a")
		wantCopyError(t, copyIn(t, c, strings.NewReader("60001\t1\ta\n60000\t1\ta\n59999\t1\ta\n")), "23505", "COPY bulk, line 3")
		Exec(t, c, "ROLLBACK TO a; SAVEPOINT b")
		if err := copyIn(t, c, copyRows(60000, 80000, 1, 0)); err != nil {
			t.Fatal(err)
		}
		Exec(t, c, "UPDATE bulk SET payload = 'x' WHERE id >= 79000; DELETE FROM bulk WHERE id BETWEEN 60000 AND 60999")
		sums("changed", "79000 3139460500 6278921000 54601000 815")
		Exec(t, c, "ROLLBACK TO b")
		sums("taken back", "60000 1799970000 3599940000 42000000 619")
		if err := copyIn(t, c, copyRows(70000, 90000, 1, 0)); err != nil {
			t.Fatal(err)
		}
		Exec(t, c, "UPDATE bulk SET payload = 'x' WHERE id >= 89000; DELETE FROM bulk WHERE id BETWEEN 70000 AND 70999; COMMIT")
		sums("committed", "79000 3329460500 6658921000 54601000 815")

		Exec(t, c, "BEGIN")
		if err := copyIn(t, c, copyRows(100000, 130000, 1, 0)); err != nil {
			t.Fatal(err)
		}
		Exec(t, c, "ROLLBACK")
		sums("rolled back", "79000 3329460500 6658921000 54601000 815")
		if got := Value(t, c, "SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY id) AS before FROM bulk) t WHERE before >= id"); got != "0" {
			t.Errorf("%s rows are out of order", got)
		}
	})
}
