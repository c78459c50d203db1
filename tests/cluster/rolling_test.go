package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func connect1(t *testing.T, x *node) *pgconn.PgConn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgconn.Connect(ctx, x.url())
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// steady fails the test when a statement through others than except has failed since a time. Where the leader has changed meanwhile, which a
// busy machine can bring about, its sessions end rightly: then it only says so and returns false.
func (k *counter) steady(c *nodes, what string, since time.Time, term string, except ...string) bool {
	k.t.Helper()
	list := k.between(since, time.Now(), except...)
	if now := c.term(c.up()); now != term {
		k.t.Logf("%s: the leader has changed meanwhile (term %s, then %s); %d statements have failed", what, term, now, len(list))
		return false
	}
	for _, f := range list {
		k.t.Errorf("%s: through node %s: %v", what, f.node, f.err)
	}
	return true
}

// Every node is drained, stopped and started again under load: only sessions through the node that restarts notice the restart.
func TestRollingRestart(t *testing.T) {
	c := start(t, 3)
	k := newCounter(t, c.url(), c.list...)
	time.Sleep(time.Second)
	steady := 0
	for _, x := range c.list {
		if out, err := x.command("drain"); err != nil {
			t.Fatal(err, out)
		}
		other := c.others(x)[0]
		c.leaderBy(other, x)
		time.Sleep(2 * time.Second) // the sessions that the old leader had are open again elsewhere
		since, term := time.Now(), c.term(other)
		k.interval()
		c.end(x)
		time.Sleep(time.Second)
		c.run(x)
		x.await(t)
		c.awaitVoter(x)
		if k.steady(c, "restart of node "+x.id, since, term, x.id) {
			steady++
			if gap := k.interval(); gap > 2*time.Second {
				t.Errorf("restart of node %s: %v without a commit", x.id, gap)
			}
		}
	}
	if steady == 0 {
		t.Error("the leader has changed at each restart of a node that did not lead")
	}
	k.end(c.url())
	same(t, c)
}

// Three nodes become five and three again under load, without an error. Then one after the other goes, at once when it is removed, until one is
// left that commits alone.
func TestGrowAndShrink(t *testing.T) {
	c := start(t, 3)
	k := newCounter(t, c.url(), c.list...)
	time.Sleep(time.Second)
	since, term := time.Now(), c.term(c.list[0])
	steady := 0
	for range 2 {
		c.awaitVoter(c.add())
		if k.steady(c, "a node joins", since, term) {
			steady++
		}
		since, term = time.Now(), c.term(c.list[0])
	}
	for _, x := range c.list[3:] {
		if c.leader() == x {
			c.lead(c.list[0])
			time.Sleep(2 * time.Second)
			since, term = time.Now(), c.term(c.list[0])
		}
		if out, err := c.list[0].command("remove", x.id); err != nil {
			t.Fatal(err, out)
		}
		c.kill(x)
		time.Sleep(2 * time.Second)
		if k.steady(c, "node "+x.id+" is removed", since, term) {
			steady++
		}
		since, term = time.Now(), c.term(c.list[0])
	}
	if steady < 2 {
		t.Errorf("the leader has changed in %d of 4 steps", 4-steady)
	}
	k.end(c.url())
	same(t, c)

	lead := c.leader()
	for _, x := range c.others(lead) {
		if out, err := lead.command("remove", x.id); err != nil {
			t.Fatal(err, out)
		}
		c.kill(x)
	}
	must(t, lead.url(), "update counter set n = n + 1")
}
