package cluster

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"herd/tests/peer"
)

// A backup through the leader has what was acknowledged before it; one of a follower is taken there; both are restored as a server alone.
func TestClusterBackup(t *testing.T) {
	c := start(t, 3)
	must(t, c.list[0].url(), "create role owner login")
	createDatabase(t, c.list[0].url(), "create database d with (leader = 'n2')")
	must(t, c.list[0].in("d"), "create table t(i int primary key, v text); alter table t owner to owner; insert into t select g, repeat('x', 100) from generate_series(1, 5000) g")
	dir := t.TempDir()
	stale := "?options=-c%20herd.read_consistency%3Dstale%20-c%20herd.max_staleness%3D0&sslmode=disable"
	for name, url := range map[string]string{"leader": c.list[0].in("d"), "follower": "postgres://postgres@" + c.list[2].sql + "/d" + stale} {
		must(t, c.list[1].in("d"), "insert into t select max(i) + 1, 'y' from t")
		want := must(t, c.list[1].in("d"), "select count(*) || ' ' || sum(i) from t")
		file, folder := filepath.Join(dir, name+".herd"), filepath.Join(dir, name)
		if out, err := exec.Command(c.program, "backup", "--quiet", "--verify", "--url", url, file).CombinedOutput(); err != nil {
			t.Fatalf("backup from the %s: %v\n%s", name, err, out)
		}
		if out, err := exec.Command(c.program, "restore", "--quiet", file, folder).CombinedOutput(); err != nil {
			t.Fatalf("restore of the %s's: %v\n%s", name, err, out)
		}
		s, err := (&peer.Herd{Binary: c.program, Dir: folder}).Start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		x := &node{sql: fmt.Sprintf("127.0.0.1:%d", s.Port)}
		if got := must(t, x.in("d"), "select count(*) || ' ' || sum(i) from t"); got != want {
			t.Errorf("from the %s: %s, want %s", name, got, want)
		}
		if got := must(t, x.in("d"), "select tableowner from pg_tables where tablename = 't'"); got != "owner" {
			t.Errorf("from the %s: the table's owner is %q", name, got)
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}
	createDatabase(t, c.list[0].url(), "create database one with (replicas = 1, nodes = 'n1')")
	out, err := exec.Command(c.program, "backup", "--quiet", "--url", "postgres://postgres@"+c.list[2].sql+"/d"+stale, filepath.Join(dir, "all.herd")).CombinedOutput()
	if err == nil {
		t.Errorf("a node backs up a database that it does not have:\n%s", out)
	}
}

// createDatabase makes a database while leaders may change, which a busy machine makes them do: what is unknown is tried again.
func createDatabase(t *testing.T, url, sql string) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		_, err := value(url, sql)
		switch c := code(err); {
		case err == nil, c == "42P04": // by the try before
			return
		case c != "08007" && c != "57P01" && c != "57P03" || time.Now().After(until):
			t.Fatalf("%s: %v", sql, err)
		}
	}
}
