package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

func TestMain(m *testing.M) { os.Exit(peer.Main(m)) }

// A few rounds, one of them with a freeze.
func TestRounds(t *testing.T) {
	o := options{rounds: 3, least: 300 * time.Millisecond, most: time.Second, freezeEvery: 2, checkEvery: 1, frozen: time.Second, seed: uint64(time.Now().UnixNano()), out: t.Output()}
	if err := rounds(t.Context(), o, peer.HerdFor(t)); err != nil {
		t.Fatalf("seed %d: %v", o.seed, err)
	}
}

// The comparison passes on PostgreSQL, and notices lost, changed and unknown rows, and money that is gone.
func TestVerifyNotices(t *testing.T) {
	url, ctx := peer.Postgres(t), context.Background()
	if err := define(ctx, url); err != nil {
		t.Fatal(err)
	}
	m := newModel()
	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for i, w := range []work{items, transfers, largeValues, copies, definitions} {
		go runClient(short, url, m, i, 0, 1, w)
	}
	<-short.Done()
	time.Sleep(200 * time.Millisecond) // the server ends what the clients have left
	problems, err := verify(ctx, url, m)
	if err != nil || problems != nil || m.acked < 20 || m.trouble != nil {
		t.Fatalf("%d acknowledged, %v, %v, %v", m.acked, problems, err, m.trouble)
	}
	c, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for _, broken := range []struct{ sql, want string }{
		{"DELETE FROM item WHERE k = (SELECT min(k) FROM item)", `: "" is there, want "`},
		{"UPDATE large SET body = body || 'x' WHERE k = (SELECT min(k) FROM large)", "large c2-"},
		{"INSERT INTO copied VALUES ('other', 0, 'row 0 of other')", "copied other"},
		{"DELETE FROM copied WHERE i = 0 AND k = (SELECT min(k) FROM copied)", "copied c3-"},
		{"UPDATE account SET balance = balance + 1 WHERE id = 1", "sum(balance)"},
		{"CREATE TABLE d_other (i int)", "definition d_other"},
		{"SELECT setval('drawn', 1, false)", "nextval gave"},
	} {
		if _, err := c.Exec(ctx, broken.sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", broken.sql, err)
		}
		problems, err := verify(ctx, url, m)
		if err != nil || !strings.Contains(strings.Join(problems, "\n"), broken.want) {
			t.Errorf("after %s: problems %v, %v", broken.sql, problems, err)
		}
	}
}
