package cluster

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Every node takes every session: definitions, roles, databases, cancel requests and errors go through a node that follows as
// they do on the leader.
func TestAnyNode(t *testing.T) {
	c := start(t, 3)
	lead := c.leader()
	var others []*node
	for _, x := range c.list {
		if x != lead {
			others = append(others, x)
		}
	}
	one, two := others[0], others[1]
	must(t, one.url(), "create role ann login")
	must(t, one.url(), "create database app")
	app := func(x *node) string { return strings.Replace(x.url(), "/postgres?", "/app?", 1) }
	must(t, app(one), "create table t(a int primary key); insert into t select generate_series(1, 10000)")
	if got := must(t, app(two), "select count(*) || ' ' || current_database() || ' ' || (select count(*) from pg_roles where rolname = 'ann') from t"); got != "10000 app 1" {
		t.Errorf("through the third node: %s", got)
	}
	if _, err := value(app(two), "insert into t values (1)"); code(err) != "23505" {
		t.Errorf("a duplicate key through the third node: %v", err)
	}
	if _, err := value(strings.Replace(one.url(), "/postgres?", "/nothing?", 1), "select 1"); code(err) != "3D000" {
		t.Errorf("a database that is not there: %v", err)
	}

	// A cancel request comes on a connection of its own, to the node that the client knows.
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, app(one))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	go func() {
		time.Sleep(300 * time.Millisecond)
		if err := conn.CancelRequest(ctx); err != nil {
			t.Error(err)
		}
	}()
	began := time.Now()
	if _, err := conn.Exec(ctx, "select pg_sleep(30)").ReadAll(); code(err) != "57014" || time.Since(began) > 20*time.Second {
		t.Errorf("cancelled after %v: %v", time.Since(began), err)
	}
	if err := conn.Close(ctx); err != nil {
		t.Error(err)
	}

	// What is dropped goes from all nodes.
	must(t, two.url(), "drop database app")
	if _, err := value(app(one), "select 1"); code(err) != "3D000" {
		t.Errorf("a dropped database: %v", err)
	}
	folders := func() (n int) {
		for _, x := range c.list {
			dirs, err := os.ReadDir(filepath.Join(x.dir, "data", "db"))
			if err != nil {
				t.Fatal(err)
			}
			n += len(dirs)
		}
		return n
	}
	for end := time.Now().Add(20 * time.Second); folders() != 9 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
	}
	if n := folders(); n != 9 { // system, template1 and postgres on three nodes
		t.Errorf("%d folders of databases are left", n)
	}

	// A leader that is drained ends its sessions; the next one is served elsewhere.
	old, err := pgconn.Connect(ctx, c.list[0].url())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close(ctx)
	if out, err := lead.command("drain"); err != nil {
		t.Fatal(err, out)
	}
	if _, err := old.Exec(ctx, "select 1").ReadAll(); err == nil {
		t.Error("a session outlives its leader")
	}
	if next := c.leader(); next == lead {
		t.Error("the drained node leads")
	}
	must(t, lead.url(), "create table later(a int)")
}

// A node without the others neither commits nor shows what it has as the newest.
func TestAlone(t *testing.T) {
	c := start(t, 3)
	lead := c.leader()
	must(t, lead.url(), "create table t(a int); insert into t values (1)")
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, lead.url())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, x := range c.list {
		if x != lead {
			c.kill(x)
		}
	}
	for _, sql := range []string{"select count(*) from t", "insert into t values (2)"} {
		if r, err := conn.Exec(ctx, sql).ReadAll(); err == nil {
			t.Errorf("%s alone: %v", sql, r)
		}
	}
	// A session that begins before the node has seen that it leads no more is ended when it does.
	var alone error
	for end := time.Now().Add(20 * time.Second); code(alone) != "57P03" && time.Now().Before(end); {
		if _, alone = value(lead.url()+"&connect_timeout=30", "select count(*) from t"); alone == nil {
			t.Fatal("a new session alone is answered")
		} else if code(alone) != "57P01" {
			break
		}
	}
	if code(alone) != "57P03" {
		t.Errorf("a new session alone: %v", alone)
	}
	for _, x := range c.list {
		if x != lead {
			c.run(x)
			x.await(t)
		}
	}
	c.leader()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		got, err := value(lead.url(), "select count(*) from t")
		if err == nil {
			if got != "1" && got != "2" { // whether the second row was agreed on was not known
				t.Errorf("%s rows", got)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// A leader that was stopped for a while, and does not know that there is another one, never shows old rows as the newest and
// acknowledges nothing.
func TestPausedLeader(t *testing.T) {
	c := start(t, 3)
	must(t, c.url(), "create table t(a int); insert into t values (1)")
	ctx := context.Background()
	for round := range 3 {
		x := c.leader()
		var sessions []*pgconn.PgConn
		for range 4 {
			conn, err := pgconn.Connect(ctx, x.url())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(ctx)
			sessions = append(sessions, conn)
		}
		if err := x.process.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		var rest []*node
		for _, o := range c.list {
			if o != x {
				rest = append(rest, o)
			}
		}
		want := strconv.Itoa(round + 2)
		var err error
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if _, err = value(rest[0].url(), "update t set a = "+want); err == nil {
				break
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := x.process.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		for i, conn := range sessions {
			sql := "select a from t"
			if i%2 == 1 {
				sql = "update t set a = 0 returning a"
			}
			r, err := conn.Exec(ctx, sql).ReadAll()
			if err == nil && i%2 == 1 {
				t.Errorf("round %d: an update on the leader that was stopped is acknowledged", round)
			} else if err == nil && string(r[0].Rows[0][0]) != want {
				t.Errorf("round %d: the leader that was stopped shows %s, not %s", round, r[0].Rows[0][0], want)
			}
		}
		if got := must(t, rest[1].url(), "select a from t"); got != want {
			t.Errorf("round %d: %s, not %s", round, got, want)
		}
	}
}
