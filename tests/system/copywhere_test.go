package system

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// copyAnswer runs COPY FROM STDIN with data and returns the tag or the error with its place in the data.
func copyAnswer(t *testing.T, c *pgconn.PgConn, sql, data string) string {
	t.Helper()
	tag, err := c.CopyFrom(context.Background(), strings.NewReader(data), sql)
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return fmt.Sprintf("%s %s at %d|%s|%s", e.Code, e.Message, e.Position, e.Detail, e.Where)
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return tag.String()
}

// COPY ... WHERE takes the rows that PostgreSQL takes and fails where it fails: many batches, defaults, errors of the condition
// and of rows around it.
func TestCopyWhere(t *testing.T) {
	var rows strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&rows, "%d\tv%d\n", i, i%10)
	}
	with := func(line int, text string) string {
		l := strings.SplitAfter(rows.String(), "\n")
		l[line-1] = text + "\n"
		return strings.Join(l, "")
	}
	type copying struct{ sql, data string }
	const check = "select count(*), sum(a), min(b), max(b), sum(d) from t"
	steps := []copying{
		{"copy t (a, b) from stdin where a % 3 = 0 and b <> 'v9'", rows.String()},
		{"copy t (a, b) from stdin where d = 7 and a < 10", rows.String()},
		{"copy t (a, b) from stdin where d <> 7", rows.String()},
		{"copy t (a, b) from stdin where e is null and a = 11", rows.String()},
		{"copy t from stdin where null", "1\tx\t2\t\\N\n"},
		{"copy t from stdin where true", "100001\tx\t2\t\\N\n100002\ty\t3\t4\n"},
		{"copy t (a, b) from stdin where 10 / (a - 4321) > -100000", rows.String()},
		{"copy t (a, b) from stdin where 10 / (a - 4321) > -100000", with(4300, "4299\tv77")},
		{"copy t (a, b) from stdin where 10 / (a - 3) is not null", with(2, "1\tv77")},
		{"copy t (a, b) from stdin where a > 4000", with(4500, "4499\tv77")},
		{"copy t (a, b) from stdin where a > 4000 and b <> 'v77'", with(4500, "4499\tv77")},
		{"copy t (a, b) from stdin where a > 4800", with(4950, "4800\tx")},
		{"copy t (a, b) from stdin where a > 4900", with(4950, "x4900\tx")},
		{"copy t (a, b) from stdin where a > 4980", with(20, "4981\tx")},
		{"copy t from stdin where a", ""},
		{"copy t from stdin where nosuch > 1", ""},
		{"copy t from stdin where a in (select 1)", ""},
		{"copy t from stdin where sum(a) > 1", ""},
		{"copy t from stdin where $1", ""},
		{"copy (select 1) from stdin where true", ""},
		{"copy t to stdout where a > 1", ""},
	}
	answers := func(url string) []string {
		c := Connect(t, url)
		Exec(t, c, "create table t (a int primary key, b text check (b <> 'v77'), d int default 7, e text)")
		var out []string
		for _, s := range steps {
			a := copyAnswer(t, c, s.sql, s.data)
			out = append(out, a+"\n"+joinRows(Exec(t, c, check)))
			Exec(t, c, "delete from t")
		}
		return out
	}
	want := answers(peer.Postgres(t))
	for i, got := range answers(peer.StartHerdFor(t).URL) {
		if got != want[i] {
			t.Errorf("%s\ngot  %s\nwant %s", steps[i].sql, got, want[i])
		}
	}
}
