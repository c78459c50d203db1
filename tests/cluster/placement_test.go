package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// eventually waits until a query has an answer.
func eventually(t *testing.T, patience time.Duration, x *node, sql, want string) {
	t.Helper()
	got, err := "", error(nil)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if got, err = value(x.url(), sql); err == nil && got == want {
			return
		}
	}
	t.Fatalf("%s\nis %q (%v), want %q", sql, got, err, want)
}

// in is x's address for another database.
func (x *node) in(database string) string {
	return strings.Replace(x.url(), "/postgres?", "/"+database+"?", 1)
}

const leaders = "select string_agg(distinct leader, ',' order by leader) from herd_databases"

// Leaders spread over the nodes, roles and databases are changed through any, and every node knows the change when it is answered.
func TestPlacement(t *testing.T) {
	c := start(t, 3, "server.cluster.replica.timeout=5s")
	eventually(t, 40*time.Second, c.list[0], leaders, "n1,n2,n3")
	for i := range 20 {
		x, other := c.list[i%3], c.list[(i+1)%3]
		must(t, x.url(), fmt.Sprintf("create role r%d login", i))
		user := strings.Replace(other.url(), "postgres@", fmt.Sprintf("r%d@", i), 1)
		must(t, user, "select 1") // at once, through another node
		must(t, other.url(), fmt.Sprintf("alter role r%d createdb", i))
		must(t, c.list[(i+2)%3].url(), fmt.Sprintf("drop role r%d", i))
		if _, err := value(user, "select 1"); code(err) != "28000" {
			t.Fatalf("a dropped role connects: %v", err)
		}
	}
	for _, x := range c.list {
		must(t, x.url(), "create database d_"+x.id+" with (replicas = 2, leader = 'n3')")
		must(t, x.in("d_"+x.id), "create table t(i int); insert into t values (1)")
	}
	if _, err := value(c.list[1].url(), "create database d_n1"); code(err) != "42P04" {
		t.Errorf("a database is made twice: %v", err)
	}
	eventually(t, 20*time.Second, c.list[0], "select count(*) from herd_databases where database like 'd_n%' and leader = 'n3' and voters = 2", "3")
	must(t, c.list[0].url(), "alter database d_n1 set leader n1")
	eventually(t, 20*time.Second, c.list[1], "select leader from herd_databases where database = 'd_n1'", "n1")
	if out, err := c.list[2].command("lead", "d_n1", "n2"); err != nil {
		t.Fatal(err, out)
	}
	eventually(t, 20*time.Second, c.list[1], "select leader from herd_databases where database = 'd_n1'", "n2")
	must(t, c.list[0].url(), "select herd_cluster_lead('d_n1', '')")
	must(t, c.list[0].url(), "alter database d_n1 replicas 3")
	eventually(t, 20*time.Second, c.list[1], "select voters from herd_databases where database = 'd_n1'", "3")
	must(t, c.list[0].url(), "alter database d_n1 replicas 1")
	eventually(t, 20*time.Second, c.list[1], "select count(*)::text || max(voters) from herd_replicas r join herd_databases using (database) where database = 'd_n1'", "11")
	for _, x := range c.list { // through nodes that hold nothing of it, too
		if v := must(t, x.in("d_n1"), "insert into t values (2); select count(*) from t"); v < "2" {
			t.Errorf("d_n1 has %s rows through node %s", v, x.id)
		}
	}
	mysql := c.list[2].url() + "&options=-c%20herd.dialect%3Dmysql"
	must(t, mysql, "execute createtablespace 'Ts','replica:n2','expectedreplicacount:1','leader:n2','wait:1000'")
	must(t, mysql, "alter tablespace 'ts','expectedreplicacount:2'")
	eventually(t, 20*time.Second, c.list[0], "select leader || voters from herd_databases where database = 'ts'", "n22")
}

// A node that is gone is replaced; one that is named takes part again when it is back.
func TestReplicaReplaced(t *testing.T) {
	c := start(t, 4, "server.cluster.replica.timeout=4s")
	must(t, c.list[0].url(), "create database d with (replicas = 3, nodes = 'n2,n3,n4')")
	must(t, c.list[0].in("d"), "create table t(i int primary key); insert into t select generate_series(1, 1000)")
	const members = "select string_agg(node, ',' order by node) from herd_replicas where database = 'd' and voter"
	eventually(t, 20*time.Second, c.list[0], members, "n2,n3,n4")
	c.kill(c.list[2])
	eventually(t, 40*time.Second, c.list[0], members, "n1,n2,n4")
	c.kill(c.list[3])
	if v := must(t, c.list[0].in("d"), "insert into t values (0); select count(*) from t"); v != "1001" {
		t.Errorf("%s rows, want 1001", v)
	}
	c.run(c.list[2])
	c.run(c.list[3])
	c.list[2].await(t)
	c.list[3].await(t)
	eventually(t, 40*time.Second, c.list[0], members, "n2,n3,n4")
	eventually(t, 20*time.Second, c.list[0], "select count(*) from herd_replicas where database = 'd'", "3")
}

// DROP DATABASE ends or counts the sessions of every node, and leaves nothing on any.
func TestDropElsewhere(t *testing.T) {
	c := start(t, 3)
	must(t, c.list[0].url(), "create database d with (leader = 'n2')")
	if v := must(t, c.list[0].url(), "select leader from herd_databases where database = 'd'"); v != "n2" {
		t.Errorf("a new database is led by %q", v)
	}
	must(t, c.list[0].in("d"), "create table t(i int)")
	user, err := pgconn.Connect(t.Context(), c.list[2].in("d"))
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close(t.Context())
	if _, err := value(c.list[0].url(), "drop database d"); code(err) != "55006" {
		t.Errorf("a database in use is dropped: %v", err)
	}
	must(t, c.list[1].in("d"), "insert into t values (1)") // it is open again
	must(t, c.list[0].url(), "drop database d with (force)")
	if _, err := value(c.list[1].in("d"), "select 1"); code(err) != "3D000" {
		t.Errorf("a dropped database serves: %v", err)
	}
	must(t, c.list[2].url(), "create database d")
	if v := must(t, c.list[1].in("d"), "select count(*) from pg_class where relname = 't'"); v != "0" {
		t.Errorf("the new database has the old one's table")
	}
}
