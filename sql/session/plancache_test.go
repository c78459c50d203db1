package session

import (
	"bytes"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"herd/pgwire/wire"
	"herd/sql/sqlerr"
)

// cacheClient is a client that reads one text value a statement.
type cacheClient struct {
	*Session
	t   *testing.T
	got *bytes.Buffer
}

// join connects a role to the server of a session.
func (s *Session) join(t *testing.T, user string) *cacheClient {
	t.Helper()
	got := &bytes.Buffer{}
	n, err := s.srv.Connect(&StartupInfo{User: user, Database: "postgres"}, Client{Out: wire.NewWriter(got), Wake: func() {}, Terminate: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return &cacheClient{n, t, got}
}

// do runs statements by simple Query.
func (c *cacheClient) do(list ...string) {
	c.t.Helper()
	for _, q := range list {
		if err := c.Query([]byte(q)); err != nil {
			c.t.Fatalf("%s: %v", q, err)
		}
		c.Sync()
	}
}

// run binds and executes a prepared statement.
func (c *cacheClient) run(name string) error {
	c.out.Flush()
	c.got.Reset()
	err := c.Bind(&wire.Bind{Statement: []byte(name)})
	if err == nil {
		err = c.Execute(nil, 0)
	}
	if err == nil {
		err = c.Session.Sync()
	} else {
		c.Session.Sync()
	}
	c.out.Flush()
	return err
}

// parse prepares a text anew and runs it.
func (c *cacheClient) parse(name, text string) error {
	err := c.Parse([]byte(name), []byte(text), nil)
	if err != nil {
		c.Session.Sync()
		return err
	}
	return c.run(name)
}

// reads demands that a text, parsed under a new name, gives a value.
func (c *cacheClient) reads(text, want string) {
	c.t.Helper()
	if err := c.parse("", text); err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	if !bytes.Contains(c.got.Bytes(), []byte(want)) {
		c.t.Fatalf("%s: got %q, want %s", text, c.got.Bytes(), want)
	}
}

func (c *cacheClient) fails(err error, want sqlerr.Code) {
	c.t.Helper()
	if err == nil || sqlerr.From(err).Code != want {
		c.t.Fatalf("error %v, want SQLSTATE %s", err, want)
	}
}

// TestCachedNames holds a shared plan to what its names mean now.
func TestCachedNames(t *testing.T) {
	s := open(t)
	c := s.join(t, "postgres")
	c.do("create schema a", "create schema b", "create table b.t (v text)", "insert into b.t values ('of b.t')", "set search_path = a, b")
	c.reads("select v from t", "of b.t")
	if err := c.parse("kept", "select v from t"); err != nil {
		t.Fatal(err)
	}
	c.do("create table a.t (v text)", "insert into a.t values ('of a.t')")
	c.reads("select v from t", "of a.t")
	if err := c.run("kept"); err != nil || !bytes.Contains(c.got.Bytes(), []byte("of a.t")) {
		t.Fatalf("a prepared statement: %v, %q", err, c.got.Bytes())
	}
	d := s.join(t, "postgres")
	d.do("set search_path = a, b")
	d.reads("select v from t", "of a.t")

	c.reads("select v from b.t", "of b.t")
	c.do("alter schema b rename to b3", "create schema b", "create table b.t (v text)", "insert into b.t values ('of new b.t')")
	c.reads("select v from b.t", "of new b.t")
	d.reads("select v from b.t", "of new b.t")

	c.do("create schema x", "set search_path = x, pg_catalog")
	c.reads("select upper('word'::text)", "WORD")
	c.do("create function x.upper(text) returns text language sql as $$ select 'of x.upper'::text $$")
	c.reads("select upper('word'::text)", "of x.upper")
	c.do("create or replace function x.upper(text) returns text language sql as $$ select 'replaced'::text $$")
	c.reads("select upper('word'::text)", "replaced")

	c.do("set search_path = x", "create schema y", "create domain y.d as text", "create table x.n (v text)", "insert into x.n values ('seven')")
	c.reads("select v::y.d from x.n", "seven")
	c.do("alter domain y.d add constraint c check (value <> 'seven')")
	c.fails(c.parse("", "select v::y.d from x.n"), sqlerr.CheckViolation)
}

// TestCachedBodies holds a shared plan to the functions in stored expressions and in bodies.
func TestCachedBodies(t *testing.T) {
	c := open(t).join(t, "postgres")
	c.do("create function f(int) returns int language sql immutable as $$ select $1 + 10 $$", "create table w (n int check (f(n) > 0))",
		"create function g(int) returns int language sql as $$ select f($1) $$", "create view vw as select g(1)::text || ' of g' as v")
	c.reads("insert into w values (1) returning 'put'", "put")
	c.reads("select v from vw", "11 of g")
	c.do("create or replace function f(int) returns int language sql immutable as $$ select $1 - 10 $$")
	c.fails(c.parse("", "insert into w values (1) returning 'put'"), sqlerr.CheckViolation)
	c.reads("select v from vw", "-9 of g")
}

// TestCachedRights holds a shared plan to the right to look into the schemas that it names.
func TestCachedRights(t *testing.T) {
	s := open(t)
	c := s.join(t, "postgres")
	c.do("create role bob login superuser", "create role readers", "create schema b", "create table b.t (v text)", "insert into b.t values ('of b.t')",
		"grant select on b.t to public")
	s.join(t, "bob").reads("select v from b.t", "of b.t")
	c.do("alter role bob nosuperuser")
	bob := s.join(t, "bob")
	bob.fails(bob.parse("", "select v from b.t"), sqlerr.InsufficientPrivilege)

	c.do("grant usage on schema b to bob")
	bob.reads("select v from b.t", "of b.t")
	if err := bob.parse("kept", "select v from b.t"); err != nil {
		t.Fatal(err)
	}
	c.do("revoke usage on schema b from bob")
	bob.fails(bob.parse("", "select v from b.t"), sqlerr.InsufficientPrivilege)
	bob.fails(bob.run("kept"), sqlerr.InsufficientPrivilege)

	c.do("grant usage on schema b to readers", "grant readers to bob")
	bob.reads("select v from b.t", "of b.t")
	c.do("revoke readers from bob")
	bob.fails(bob.parse("", "select v from b.t"), sqlerr.InsufficientPrivilege)
	s.join(t, "bob").do("set search_path = b, public")
}

// TestEnvironmentsAreCollected holds the process to keep nothing of the settings under which plans were made.
func TestEnvironmentsAreCollected(t *testing.T) {
	c := open(t).join(t, "postgres")
	c.do("create table t (v text)")
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const size, rounds = 256 << 10, 200
	before := held()
	for i := range rounds {
		c.do("set search_path = public, \"" + strconv.Itoa(i) + strings.Repeat("x", size) + "\"")
		if err := c.parse("", "select v from t"); err != nil {
			t.Fatal(err)
		}
	}
	if grown := held() - before; grown > size*rounds/4 {
		t.Fatalf("%d search paths of %d bytes have left %d bytes", rounds, size, grown)
	}
	d := c.join(t, "postgres")
	c.do("set search_path = public")
	d.do("set search_path = public")
	if c.environment() != d.environment() {
		t.Fatal("sessions with the same settings do not share plans")
	}
	d.do("set work_mem = '5MB'")
	if c.environment() == d.environment() {
		t.Fatal("sessions with other settings share plans")
	}
}

// TestCachedStays holds the cache to keeping plans over definitions that do not matter to them, and to giving them to those whose own
// have become stale.
func TestCachedStays(t *testing.T) {
	s := open(t)
	c, d := s.join(t, "postgres"), s.join(t, "postgres")
	c.do("create table t (v text)", "insert into t values ('of t')")
	const text = "select v from t"
	for _, x := range []*cacheClient{c, d} {
		if err := x.parse("p", text); err != nil {
			t.Fatal(err)
		}
	}
	before := c.statements["p"].plan
	if before == nil || d.statements["p"].plan != before {
		t.Fatal("two sessions do not share a plan")
	}
	c.do("create table other (n int)", "analyze other", "create function other(int) returns int language sql as $$ select 1 $$", "create role somebody")
	for _, x := range []*cacheClient{c, d} {
		if err := x.run("p"); err != nil || x.statements["p"].plan != before {
			t.Fatalf("a plan was made again for what it does not depend on (%v)", err)
		}
	}
	c.do("alter table t add column n int")
	for _, x := range []*cacheClient{c, d} {
		if err := x.run("p"); err != nil {
			t.Fatal(err)
		}
	}
	if p := c.statements["p"].plan; p == before || p != d.statements["p"].plan {
		t.Fatal("a plan was not made again, or not shared")
	}
}
