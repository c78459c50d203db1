package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// stale is where a node serves what it has itself.
func (x *node) stale() string { return x.url() + "&options=-c%20herd.read_consistency%3Dstale" }

// others are the nodes that run and are not x.
func (c *nodes) others(x *node) (list []*node) {
	for _, o := range c.list {
		if o != x && o.process != nil {
			list = append(list, o)
		}
	}
	return list
}

// Views, checks and reads of replicas, while all nodes are there and when one is alone; and a transaction that is tried again after its
// leader has gone.
func TestConsistency(t *testing.T) {
	c := start(t, 3)
	lead := c.leader()
	other := c.others(lead)[0]
	must(t, lead.url(), "create table t(a int primary key); insert into t select generate_series(1, 1000)")

	if got := must(t, other.url(), "select count(*) || ' ' || count(*) filter (where reachable) || ' ' || count(*) filter (where leads_cluster) from herd_nodes"); got != "3 3 1" {
		t.Errorf("herd_nodes: %s", got)
	}
	if got := must(t, other.url(), "select leader || ' ' || replicas || ' ' || voters from herd_databases where database = 'postgres'"); got != lead.id+" 3 3" {
		t.Errorf("herd_databases: %s", got)
	}
	if got := must(t, other.url(), "select string_agg(distinct state, ',' order by state) || ' ' || max(lag_seconds) from herd_replicas where database = 'postgres'"); !strings.HasPrefix(got, "serving,streaming ") {
		t.Errorf("herd_replicas: %s", got)
	}
	if got := must(t, other.url(), "select count(*) || ' ' || count(distinct checksum) || ' ' || count(*) filter (where state = 'equal') from herd_cluster_check() where database = 'postgres'"); got != "3 1 3" {
		t.Errorf("herd_cluster_check(): %s", got)
	}
	if out, err := other.command("check"); err != nil {
		t.Errorf("herd cluster check: %v\n%s", err, out)
	}

	// A replica with no staleness allowed has every row that was acknowledged before.
	for i := range 20 {
		must(t, lead.url(), fmt.Sprintf("insert into t values (%d)", 2000+i))
		if got := must(t, other.stale(), "set herd.max_staleness = 0; select count(*) || ' ' || pg_is_in_recovery() from t"); got != fmt.Sprintf("%d true", 1001+i) {
			t.Fatalf("a replica shows %s after row %d", got, 1001+i)
		}
	}
	for _, sql := range []string{"insert into t values (0)", "create table u(a int)", "delete from t", "select * from t for update", "create role ann"} {
		if _, err := value(other.stale(), sql); code(err) != "25006" {
			t.Errorf("%s on a replica: %v", sql, err)
		}
	}

	// The same transaction, tried again.
	const again = "begin; set local herd.commit_token = 'move 7'; update t set a = a + 100000 where a < 1000; insert into t values (7); commit"
	must(t, lead.url(), again)
	if _, err := value(other.url(), again); code(err) != "25T01" {
		t.Errorf("tried again: %v", err)
	}
	c.kill(lead)
	if next := c.leader(); next == lead {
		t.Fatal("the killed node leads")
	}
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if _, err = value(other.url(), again); code(err) == "25T01" {
			break
		}
	}
	if code(err) != "25T01" {
		t.Errorf("tried again after the leader has gone: %v", err)
	}
	if got := must(t, other.url(), "select count(*) from t where a = 7"); got != "1" {
		t.Errorf("%s rows of a transaction that was tried three times", got)
	}

	// Alone, a node shows what it has only when any age will do, and says so.
	var gone *node
	for _, gone = range c.others(other) {
		c.kill(gone)
	}
	time.Sleep(3 * time.Second)
	if _, err := value(other.stale(), "set herd.max_staleness = 1000; select count(*) from t"); code(err) != "72000" {
		t.Errorf("a read that may be a second old, alone: %v", err)
	}
	config, err := pgconn.ParseConfig(other.stale())
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said = append(said, n.Message) }
	conn, err := pgconn.ConnectConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	r, err := conn.Exec(context.Background(), "set herd.max_staleness = -1; select count(*) from t").ReadAll()
	if err != nil || len(r) != 2 || string(r[1].Rows[0][0]) != "1021" {
		t.Errorf("a read of any age, alone: %v, %v", r, err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "cut off") {
		t.Errorf("the node that is alone says %q", said)
	}
}
