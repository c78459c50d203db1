package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// The check passes on what PostgreSQL has committed, and notices a lost transaction, half a one, and one that is there twice.
func TestCheckNotices(t *testing.T) {
	url := peer.Postgres(t)
	ctx := context.Background()
	if err := load(ctx, url, 1); err != nil {
		t.Fatal(err)
	}
	l := newLedger()
	short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	runClient(short, url, 1, 0, 0, l)
	rows, problems, err := checkServer(ctx, url, l)
	if err != nil || problems != nil || rows == 0 || len(l.acked) == 0 {
		t.Fatalf("%d rows, %d acknowledged, %v, %v", rows, len(l.acked), problems, err)
	}
	c, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for sql, want := range map[string]string{
		"UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 1":                         "sums differ",
		"INSERT INTO pgbench_history SELECT * FROM pgbench_history WHERE filler LIKE 'r0 c0 t0 %'": "2 times",
		"DELETE FROM pgbench_history WHERE filler LIKE 'r0 c0 t0 %'":                               "missing",
	} {
		for _, s := range []string{"CREATE TABLE old AS SELECT * FROM pgbench_history", sql} {
			if _, err := c.Exec(ctx, s).ReadAll(); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
		_, problems, err := checkServer(ctx, url, l)
		if err != nil || !strings.Contains(strings.Join(problems, "; "), want) {
			t.Errorf("after %s: problems %v, %v", sql, problems, err)
		}
		if _, err := c.Exec(ctx, "TRUNCATE pgbench_history; INSERT INTO pgbench_history SELECT * FROM old; DROP TABLE old").ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
}
