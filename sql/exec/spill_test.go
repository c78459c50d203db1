package exec_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"herd/internal/mem"
	"herd/tests/script"
)

// spillQueries gather more than the limit of TestSpillSQL, by what gathers.
var spillQueries = []struct{ name, sql string }{
	{"sort", "select * from big order by t desc, id"},
	{"hash join", "select count(*), sum(a.id), sum(b.id), max(a.t), min(b.t) from big a join big b on a.id = b.n"},
	{"hash full join", "select count(*), sum(a.id), sum(b.id), count(a.id), count(b.id) from big a full join big b on a.id = b.n + 15000 and a.g < b.g"},
	{"hash aggregate", "select n, count(*), sum(id), min(t) from big group by n order by n"},
	{"distinct", "select distinct n, t from big order by n, t"},
	{"distinct aggregate", "select count(distinct t), sum(distinct n), count(distinct id % 7000) from big"},
	{"distinct aggregate by group", "select g, count(distinct t), sum(distinct n::float8 / 3) from big group by g order by g"},
	{"grouping sets", "select n, g, count(*), sum(id), grouping(n, g) from big group by grouping sets ((n, g), (n), (g), ()) order by n, g, 5"},
	{"cube of distinct", "select g, n % 100 m, count(distinct t) from big group by cube (g, n % 100) order by 1, 2, 3"},
	{"ordered aggregate", "select g, md5(string_agg(t, ',' order by t desc, id)), md5(array_agg(n order by n, id)::text) from big group by g order by g"},
	{"ordered aggregate of sorted groups", "select n, array_agg(id order by t, id) from (select * from big order by n) x group by n order by n"},
	{"collecting aggregate", "select n, string_agg(t, ','), json_agg(id), array_agg(t), array_agg(array[id, n]), jsonb_object_agg(id, g) from (select * from big order by id) x group by n order by n"},
	{"percentiles", "select g, percentile_disc(array[0, 0.3, 1]) within group (order by t), percentile_cont(0.5) within group (order by n), mode() within group (order by n) from big group by g order by g"},
	{"hypothetical", "select g, rank('m') within group (order by t), dense_rank(50) within group (order by n) from big group by g order by g"},
	{"window functions", `select id, row_number() over w, rank() over w, dense_rank() over w, cume_dist() over w, percent_rank() over w, ntile(7) over w, lag(t, 3) over w,
		lead(t, 1500) over w, first_value(t) over w, last_value(t) over w, sum(n) over w, count(*) filter (where n > 50) over w from big window w as (order by n, t) order by id`},
	{"window frames", `select id, sum(n) over (order by id rows between 5 preceding and 5 following), sum(n) over (partition by g order by n groups between 1 preceding and current row),
		count(*) over (partition by g order by n range between 3 preceding and 2 following exclude ties), nth_value(t, 3) over (partition by g order by id rows 10 preceding)
		from big where id % 4 = 0 order by id`},
	{"window partitions", "select id, max(t) over (partition by n), avg(id) over (partition by n order by id) from big order by id"},
	{"intersect", "select n, t from big intersect select n + 1, t from big order by 1, 2"},
	{"intersect all", "select id from big intersect all select n from big order by 1"},
	{"except", "select id, t from big except select id, t from big where id % 3 = 0 order by 1"},
	{"except all", "select n, t from big except all select n, t from big where id % 2 = 0 order by 1, 2"},
	{"union", "select id, t from big union select n, t from big order by 1, 2"},
	{"hashed in", "select count(*), sum(id) from big where (id, t) in (select id, t from big where id % 3 = 1) or id < 0"},
	{"hashed not in", "select count(*), sum(id) from big where id not in (select id * 2 from big) and id > 0 or id < 0"},
	{"hashed in with nulls", "select ((id, g) in (select nullif(id, n), g from big)) r, count(*) from big where id < 60 group by 1 order by 1"},
	{"materialized", "with b as materialized (select * from big) select count(*), sum(x.id), max(y.t) from b x join b y on x.id = y.n"},
	{"recursive", "with recursive r(i, t) as (select 1, 'x' union all select i + 1, repeat('x', i % 40) from r where i < 12000) select count(*), sum(length(t)), max(i) from r"},
	{"recursive distinct", "with recursive r(i) as (select id from big where id <= 3 union select (i * 7 + k) % 9000 from r, generate_series(0, 2) k) select count(*), sum(i) from r"},
	{"cursor", "declare c scroll cursor with hold for select * from big order by id; fetch last from c; fetch absolute 17 from c; fetch backward 3 from c; fetch relative 9000 from c; close c"},
	{"returning", "insert into sink select id, 'x' from big where id <= 400 returning id, repeat(t, 1000); delete from sink returning id"},
}

const spillTable = "create table big (id int primary key, g int, n int, t text);" +
	"insert into big select i, i % 5, (i * 37) % 1500, md5((i % 4000)::text) || repeat('p', i % 30) from generate_series(1, 12000) i;" +
	"create table sink (id int, t text)"

// TestSpillSQL asks the same with a memory limit far below what the statements gather: the answers are the same, bytes and
// order, and no temporary file is left.
func TestSpillSQL(t *testing.T) {
	if os.Getenv("HERD_SCRIPT_PEER") != "" {
		t.Skip("herd only")
	}
	s := serveSQL(t)
	setup(t, s.url, spillTable)
	for _, q := range spillQueries {
		t.Run(q.name, func(t *testing.T) {
			sql := strings.ReplaceAll(strings.ReplaceAll(q.sql, "\n", " "), "; ", "\n")
			want := script.Output(t, s.url, sql)
			if strings.Contains(want, "ERROR") {
				t.Fatalf("without a limit: %.300s", want)
			}
			s.waitUnused(t) // a session ends after its client has gone
			s.memory.SetLimit(150 << 10)
			before := s.spilled.created.Load()
			got := script.Output(t, s.url, sql)
			s.memory.SetLimit(0)
			if got != want {
				t.Errorf("with a limit\n%.400s\nwithout\n%.400s", difference(got, want), difference(want, got))
			}
			if s.spilled.created.Load() == before {
				t.Error("nothing went to a temporary file")
			}
			if names := s.temporary(t); len(names) > 0 {
				t.Errorf("temporary files are left: %v", names)
			}
		})
	}
}

// TestSpillAnywhere moves the limit in small steps, so that memory is refused at other places each time.
func TestSpillAnywhere(t *testing.T) {
	s := serveSQL(t)
	setup(t, s.url, spillTable)
	for _, q := range []string{
		"select n, count(*), sum(id) from big group by n order by n",
		"select n, g, count(*) from big group by n, g order by n, g",
		"select distinct n from big order by n",
		"select n from big intersect all select id from big order by n",
		"select count(*), sum(a.id), count(b.id) from big a left join big b on a.n = b.n and b.id < 3000",
	} {
		want := script.Output(t, s.url, q)
		for limit := int64(60); limit < 400; limit += 23 {
			s.waitUnused(t)
			s.memory.SetLimit(limit << 10)
			got := script.Output(t, s.url, q)
			s.memory.SetLimit(0)
			if got != want {
				t.Errorf("%s with %d KiB\n%.300s\nwithout\n%.300s", q, limit, difference(got, want), difference(want, got))
			}
		}
	}
}

// difference returns a from where it stops being b.
func difference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("at %d: %s", i, a[max(0, i-80):])
}

func setup(t *testing.T, url, sql string) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if _, err := c.PgConn().Exec(context.Background(), sql).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// TestSpillLargeValue says that one value that does not fit is an error, and that the session and others go on.
func TestSpillLargeValue(t *testing.T) {
	s := serveSQL(t)
	setup(t, s.url, spillTable)
	s.memory.SetLimit(300 << 10)
	defer s.memory.SetLimit(0)
	out := script.Output(t, s.url, "select length(string_agg(repeat(t, 20), ',')) from big\nselect count(*) from big\nselect g, length(string_agg(repeat(t, 100), ',' order by id)) from big group by g\nselect count(distinct t) from big")
	for _, want := range []string{"ERROR 53200: out of memory", "The value of an aggregate does not fit", "  12000\n", "  12000\nSELECT 1\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if names := s.temporary(t); len(names) > 0 {
		t.Errorf("temporary files are left: %v", names)
	}
}

// TestSpillEnds ends statements that have temporary files in every way that is not their end.
func TestSpillEnds(t *testing.T) {
	s := serveSQL(t)
	setup(t, s.url, spillTable)
	s.memory.SetLimit(150 << 10)
	defer s.memory.SetLimit(0)
	ctx := context.Background()
	sorted := "select id, t, sum(n) over (order by t), count(*) over (partition by g) from big order by t"
	files := func(what string, some bool) {
		t.Helper()
		deadline := time.Now().Add(10 * time.Second)
		for (len(s.temporary(t)) > 0) != some {
			if time.Now().After(deadline) {
				t.Fatalf("%s: temporary files %v", what, s.temporary(t))
			}
			time.Sleep(time.Millisecond)
		}
	}
	connect := func() *pgconn.PgConn {
		t.Helper()
		c, err := pgconn.Connect(ctx, s.url)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	open := func(c *pgconn.PgConn) {
		t.Helper()
		if _, err := c.Exec(ctx, "begin; declare c cursor for "+sorted+"; fetch 10 from c").ReadAll(); err != nil {
			t.Fatal(err)
		}
		files("open cursor", true)
	}

	c := connect()
	if _, err := c.Exec(ctx, "select 1 / (id - 11999), sum(n) over (order by t) from big order by t").ReadAll(); err == nil || !strings.Contains(err.Error(), "22012") {
		t.Errorf("division by zero behind a window: %v", err)
	}
	files("after an error", false)

	open(c)
	if _, err := c.Exec(ctx, "close c").ReadAll(); err != nil {
		t.Fatal(err)
	}
	files("after CLOSE", false)
	if _, err := c.Exec(ctx, "rollback").ReadAll(); err != nil {
		t.Fatal(err)
	}
	open(c)
	if _, err := c.Exec(ctx, "rollback").ReadAll(); err != nil {
		t.Fatal(err)
	}
	files("after ROLLBACK", false)

	done := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, "select count(*) from (select sum(b.n) over (order by a.t, b.t) from big a, big b) x").ReadAll()
		done <- err
	}()
	files("while it runs", true)
	if err := c.CancelRequest(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "57014") {
		t.Errorf("cancelled: %v", err)
	}
	files("after a cancel", false)
	c.Close(ctx)

	c = connect()
	open(c)
	c.Conn().(*net.TCPConn).SetLinger(0)
	c.Conn().Close()
	files("after the client has gone", false)
}

// TestMemoryByOwner says that everything that sessions have on the books is shown under an owner.
func TestMemoryByOwner(t *testing.T) {
	s := serveSQL(t)
	setup(t, s.url, spillTable)
	s.waitUnused(t) // a session ends after its client has gone
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, s.url)
	if err != nil {
		t.Fatal(err)
	}
	idle := owners(s)
	if idle["connections"] < 16<<10 {
		t.Errorf("an idle connection has %d bytes", idle["connections"])
	}
	if _, err := c.Exec(ctx, "begin; declare c cursor for select * from big order by t; fetch 1 from c").ReadAll(); err != nil {
		t.Fatal(err)
	}
	busy := owners(s)
	if grown := busy["sorts"] - idle["sorts"]; grown < 12000*64 || busy["connections"] != idle["connections"] {
		t.Errorf("12,000 sorted rows: before %v, now %v", idle, busy)
	}
	sum, used := int64(0), s.memory.Used()
	for kind, bytes := range busy {
		if kind != "all" && kind != "blocks" { // the engine of this test has books of its own
			sum += bytes
		}
	}
	if busy["changes"] < 0 || busy["reserve"] > 3*mem.Step || sum > used || used-sum > 3*mem.Step {
		t.Errorf("owners have %d bytes, the process %d: %v", sum, used, busy)
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	s.waitUnused(t)
}

// waitUnused waits until nothing is on the books of sessions.
func (s *sqlServer) waitUnused(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); s.memory.Used() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are left", s.memory.Used())
		}
	}
}

func owners(s *sqlServer) map[string]int64 {
	m := map[string]int64{}
	for _, u := range s.sessions.Memory() {
		if u.Owner != "database" {
			m[u.Kind] += u.Bytes
		}
	}
	return m
}
