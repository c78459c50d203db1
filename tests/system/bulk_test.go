package system

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// tuples writes n tuples by a format with the row's number, which may be used several times as %[1]d. special replaces
// single rows.
func tuples(n int, format string, special map[int]string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(",\n ")
		}
		if s, ok := special[i]; ok {
			b.WriteString(s)
			continue
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// bulkScript are statements around INSERTs of literal tuples: types, tails, defaults, and what is wrong with a row in the middle.
func bulkScript() []string {
	const cols = "create table t (i2 int2, i4 int primary key, i8 int8, n numeric(8,2), f4 float4, f8 float8, b bool, v varchar(5), c char(4), x text, " +
		"d date, ts timestamp(1), tz timestamptz, u uuid, y bytea, j jsonb, a int[], s int generated always as (i4 * 2) stored, z text default 'dflt')"
	row := "(%[1]d, %[1]d, -%[1]d000000000, %[1]d.125, 1.5e%[1]d, -0.%[1]d, true, 'v', 'c', 'it''s %[1]d', '2024-02-29', '2001-01-01 00:00:00.25', " +
		"'2001-01-01 00:00:00+02', '00000000-0000-0000-0000-0000000000%02[1]d', '\\x00ff', '{\"a\": [1, null]}', '{1,2}')"
	into := "insert into t (i2, i4, i8, n, f4, f8, b, v, c, x, d, ts, tz, u, y, j, a) values "
	with := func(special string) string {
		return into + tuples(38, row, map[int]string{20: special})
	}
	change := func(from, to string) string {
		r := fmt.Sprintf(row, 20)
		if !strings.Contains(r, from) {
			panic("no " + from + " in " + r)
		}
		return with(strings.Replace(r, from, to, 1))
	}
	list := []string{cols, into + tuples(38, row, nil), "delete from t"}
	for _, c := range [][2]string{
		{"(20,", "(40000,"}, {"(20,", "(1.5,"}, {"(20,", "(null,"}, {"(20,", "('7',"}, {"(20,", "('x',"}, {"(20,", "(true,"}, {"(20,", "(default,"},
		{"(20,", "(-32768,"}, {"20.125", "1234567.125"}, {"20.125", "'12.345'"}, {"1.5e20", "1e50"}, {"1.5e20", "1e-60"}, {"-0.20", "-0.0"}, {"-0.20", "-0"},
		{"true", "1"}, {"true", "'off'"}, {"true", "'maybe'"}, {"'v'", "'toolong'"}, {"'v'", "'fits      '"}, {"'v'", "007"}, {"'v'", "false"},
		{"'c'", "'ccccc'"}, {"'it''s 20'", "null"}, {"'it''s 20'", "''"}, {"'it''s 20'", "E'a\\nb'"}, {"'it''s 20'", "'a' 'b'"}, {"'it''s 20'", "'a'\n'b'"},
		{"'it''s 20'", "upper('q')"}, {"'2024-02-29'", "'2023-02-29'"}, {"'2024-02-29'", "20240229"}, {"'2001-01-01 00:00:00+02'", "'epoch'"},
		{"'\\x00ff'", "'\\xzz'"}, {"[1, null]", "[1, nul]"}, {"'{1,2}'", "'{1,'"}, {"20, 20,", "20, 19,"}, {"20, 20,", "20, null,"}, {"'{1,2}'", "'{1,2}', 3"},
		{"'{1,2}'", "$1"}, {"'{1,2}'", "(select 1)"}, {"'{1,2}'", "nosuch"},
	} {
		list = append(list, change(c[0], c[1]), "select count(*), sum(i2), sum(f8), min(f8::text), max(n), max(v), min(x), max(j::text), max(a), max(s), max(z), max(ts), max(tz) from t", "delete from t")
	}
	two := func(n int, special map[int]string) string { return tuples(n, "(%[1]d, 'x%[1]d')", special) }
	return append(list,
		"create table k (id serial primary key, v text check (v <> 'bad'), w int references t (i4))",
		"create unique index on k (v)",
		"insert into k (id, v) values "+two(50, nil),
		"insert into k (id, v) values "+two(50, nil),
		"insert into k values "+two(60, nil)+" on conflict do nothing",
		"insert into k values "+two(60, nil)+" on conflict (id) do update set v = excluded.v || '!' where k.id > 40",
		"insert into k values "+two(40, map[int]string{39: "(1, 'q')"})+" on conflict (id) do update set v = excluded.v || '?'",
		"insert into k as kk values "+two(40, nil)+" on conflict (id) do update set v = kk.v",
		"insert into k values "+two(40, nil)+" on conflict (nosuch) do nothing",
		"insert into k values "+two(40, nil)+" returning id",
		"insert into k (id, v) values "+tuples(40, "(%[1]d + 200, 'y%[1]d')", nil)+" returning id, v",
		"insert into k values "+two(40, nil)+" order by 1 limit 3",
		"insert into k values "+two(40, nil)+" union all select 900, 'u'",
		"insert into k values "+two(40, nil)+" nonsense",
		"insert into k values "+two(40, nil)+"; select 7",
		"select setval('k_id_seq', 4000)",
		"insert into k (v) values "+tuples(40, "('s%[1]d')", nil),
		"insert into k (v) values "+tuples(40, "('t%[1]d')", map[int]string{33: "('bad')"}),
		"select setval('k_id_seq', 5000)", // how many numbers a failed statement has drawn may differ
		"insert into k (id, w) values "+tuples(40, "(10%02[1]d, %[1]d)", nil),
		"insert into k (id, id) values "+two(40, nil),
		"insert into k (id, nosuch) values "+two(40, nil),
		"insert into k (id) values "+two(40, nil),
		"insert into nosuch values "+two(40, nil),
		"insert into k.k values "+two(40, nil),
		"select count(*), min(id), max(id), min(v), max(v) from k",
		"begin read only", "insert into k values "+two(40, nil), "rollback",
		"begin", "insert into k (id, v) values "+tuples(2000, "(5%04[1]d, 'z%[1]d')", nil), "savepoint a",
		"insert into k (id, v) values "+tuples(2000, "(6%04[1]d, 'zz%[1]d')", map[int]string{1999: "(60000, 'q')"}),
		"rollback to a", "insert into k (id, v) values "+two(40, map[int]string{39: "(1, 'bad"}), "rollback",
		"select count(*), min(id), max(id), min(v), max(v) from k",
		"create domain small as int check (value < 30)",
		"create table dm (a small, b timestamptz, r regclass, i int generated always as identity)",
		"insert into dm (a, b) values "+tuples(29, "(%d, 'now')", nil)+", (1, null), (2, 'infinity'), (3, 'today'), (4, null)",
		"insert into dm (a, b) values "+tuples(40, "(%d, null)", nil),
		"insert into dm (a, b, r, i) values "+tuples(40, "(1, null, 'dm', 4)", nil),
		"insert into dm (r) values "+tuples(40, "('dm')", map[int]string{9: "('nosuch')"}),
		"insert into dm (r) values "+tuples(40, "('dm')", nil),
		"select count(a), count(distinct b), max(i), max(r::text) from dm",
		"create view vk as select id, v from k",
		"insert into vk values "+tuples(40, "(%d + 7000, null)", nil),
		"insert into vk values "+tuples(40, "(7%03d, null)", nil),
		"select count(*) from k",
		"create table nn (a int, b int not null)",
		"insert into nn values "+tuples(40, "(%d, 1)", map[int]string{35: "(1, null)"}),
		"insert into nn values "+tuples(40, "(%d)", nil),
		"insert into nn (b) values "+tuples(40, "(%d)", nil),
		"select count(a), sum(b) from nn")
}

// transcript runs statements and returns what a client sees of each.
func transcript(t *testing.T, c *pgconn.PgConn, list []string) []string {
	t.Helper()
	var out []string
	for _, sql := range list {
		var b strings.Builder
		results, err := c.Exec(context.Background(), sql).ReadAll()
		for _, r := range results {
			fmt.Fprintf(&b, "%s%s\n", joinRows(r.Rows), r.CommandTag)
		}
		var e *pgconn.PgError
		if errors.As(err, &e) {
			fmt.Fprintf(&b, "%s %s at %d\n%s\n%s\n%s\n%s %s %s", e.Code, e.Message, e.Position, e.Detail, e.Hint, e.Where, e.TableName, e.ColumnName, e.ConstraintName)
		} else if err != nil {
			t.Fatalf("%.100s: %v", sql, err)
		}
		out = append(out, b.String())
	}
	return out
}

func joinRows(rows [][][]byte) string {
	var b strings.Builder
	for _, r := range rows {
		for _, v := range r {
			if v == nil {
				v = []byte("NULL")
			}
			b.Write(v)
			b.WriteByte('|')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// INSERT of literal tuples gives the same answers whether or not the parser sees every tuple, and PostgreSQL's.
func TestBulkInsert(t *testing.T) {
	list := bulkScript()
	postgres := transcript(t, Connect(t, peer.Postgres(t)), list)
	for _, mode := range []string{"off", "on"} {
		c := Connect(t, peer.StartHerdFor(t).URL)
		Exec(t, c, "set herd.bulk_insert = "+mode)
		for i, got := range transcript(t, c, list) {
			if got != postgres[i] {
				t.Errorf("herd.bulk_insert %s: %.90s ... %.90s\ngot  %s\nwant %s", mode, list[i], list[i][max(0, len(list[i])-90):], got, postgres[i])
			}
		}
	}
}
