package cluster

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// A node joins a cluster whose log's beginning is gone: it gets the state. One that loses its folder joins anew, one that is
// removed is no member any more; a restart of all nodes changes nothing.
func TestJoinLate(t *testing.T) {
	c := start(t, 1, "server.cluster.log.keep=1M")
	first := c.list[0]
	must(t, first.url(), `create database app`)
	must(t, first.url(), `create table big(id int primary key, t text); create index on big(t);
		insert into big select i, repeat(md5(i::text), 10) from generate_series(1, 40000) i`)
	must(t, first.url(), "checkpoint")
	must(t, first.url(), "insert into big select i, 'late' from generate_series(40001, 40100) i")
	second := c.add()
	c.awaitVoter(second)
	const sum = "select count(*) || ' ' || sum(id) || ' ' || sum(length(t)) || ' ' || (select count(*) from pg_database where datname = 'app') from big"
	want := must(t, first.url(), sum)
	if got := must(t, second.url(), sum); got != want {
		t.Errorf("through the new node: %s, not %s", got, want)
	}
	c.lead(second)
	if got := must(t, second.url(), sum); got != want {
		t.Errorf("on the new node: %s, not %s", got, want)
	}
	if !strings.Contains(second.output.String(), "fetched the database's state") {
		t.Error("the new node did not fetch the state")
	}
	c.lead(first)

	c.awaitVoter(c.add()) // so that there is a majority without the one that goes
	c.kill(second)
	if err := os.RemoveAll(second.dir); err != nil {
		t.Fatal(err)
	}
	c.run(second)
	second.await(t)
	if !awaitOutput(second, "fetched the database's state") {
		t.Error("the node that came anew did not fetch the state")
	}
	c.awaitVoter(second)
	must(t, second.url(), "insert into big values (50000, 'after')")
	want = must(t, first.url(), sum)
	c.lead(second)
	if got := must(t, second.url(), sum); got != want {
		t.Errorf("on the node that came anew: %s, not %s", got, want)
	}
}

func awaitOutput(x *node, text string) bool {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if strings.Contains(x.output.String(), text) {
			return true
		}
	}
	return false
}

// All nodes end and come back, two of them at other addresses: the cluster is the one it was.
func TestRestartAll(t *testing.T) {
	c := start(t, 3)
	must(t, c.url(), "create table t(a int primary key); insert into t select generate_series(1, 1000)")
	for _, x := range c.list {
		c.kill(x)
	}
	c.list[1].clusterAddr, c.list[2].sql = free(t), free(t)
	for _, x := range c.list {
		x.join = ""
		c.run(x)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		n, err := value(c.url(), "insert into t select max(a) + 1 from t; select count(*) from t")
		if err == nil {
			if n != "1001" {
				t.Errorf("%s rows", n)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	for _, x := range c.list {
		c.awaitVoter(x)
		if got := must(t, x.url(), "select count(*) from t"); got != "1001" {
			t.Errorf("through node %s: %s rows", x.id, got)
		}
	}
	// A node that is removed is no member, and the others go on.
	last := c.list[2]
	if out, err := last.command("drain"); err != nil {
		t.Fatal(err, out)
	}
	if out, err := c.list[0].command("remove", last.id); err != nil {
		t.Fatal(err, out)
	}
	gone := func() string {
		out, _ := c.list[0].command("status")
		return out
	}
	for end := time.Now().Add(30 * time.Second); strings.Contains(gone(), last.id) && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
	}
	if out := gone(); strings.Contains(out, last.id) {
		t.Errorf("node %s is still there:\n%s", last.id, out)
	}
	c.kill(last)
	must(t, c.list[1].url(), fmt.Sprintf("insert into t values (%d)", 5000))
}
