package deparse_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/catalogtest"
	"herd/sql/catalog/pgdata"
	"herd/sql/deparse"
	"herd/sql/postgres"
	"herd/sql/types"
	"herd/tests/peer"
)

var sessionPath = []types.OID{pgdata.CatalogSchema, pgdata.PublicSchema}

// tables are made alike in the catalog of the test and in PostgreSQL.
var tables = []struct {
	name string
	cols [][2]string
}{
	{"t", [][2]string{{"a", "int4"}, {"b", "text"}, {"c", "numeric"}, {"d", "timestamptz"}, {"e", "_int4"}, {"f", "bool"}, {"g", "varchar"}, {"h", "int8"}, {"i", "date"}, {"j", "jsonb"}}},
	{"u", [][2]string{{"id", "int4"}, {"a", "int4"}, {"x", "text"}}},
	{"Odd Name", [][2]string{{"Select", "int4"}, {"user", "text"}}},
}

var views = []string{
	"select a, b from t",
	"select * from t where a > 1 and b = 'x' or not f",
	"select a + 1 as p, -a as q, a * 2 as dbl, b || 'x' as r, c / 3 as s, h % 2 as u from t",
	"select t.a, u.x from t join u on t.a = u.id left join t t2 on t2.a = u.a where u.x is not null order by t.a desc, 2 nulls first limit 10 offset 5",
	"select a, count(*), sum(c) filter (where f), count(distinct b) as n from t group by a having count(*) > 1",
	"select case when a > 1 then 'x' else b end, case a when 1 then 'one' when 2 then 'two' end from t",
	"select coalesce(a, 1), nullif(a, 2), greatest(a, 3), least(a, 4) from t",
	"select a::text, b::int, c::numeric(10,2), '2020-01-01'::date, null::int, g::text, 'x'::varchar(5) from t",
	"select e[1], e[1:2] as s, array[1,2,a], array[]::int[] as n from t",
	"select a in (1, 2) as p, a not in (3, 4) as q, a = any (e) as r, a <> all (array[1, 2]) as s from t",
	"select a between 1 and 2 as p, b like 'x%' as q, b not like 'y' as r, b ilike 'z' as s, a is distinct from 1 as u, a is not distinct from 2 as v, f is true as w, f is not false as x, f is unknown as y from t",
	"select exists (select 1 from u where u.id = t.a), (select max(x) from u), a in (select id from u), array(select id from u) from t",
	"select a from t union all select id from u union all select 3 order by 1",
	"select a from t union select id from u except select 3",
	"select * from (select a, b from t) s(x, y), lateral (select x as z) q",
	"select * from generate_series(1, 3) g(n), unnest(array[1,2]) with ordinality as o(v, i)",
	"with q as (select a from t), r(z) as materialized (select 1) select q.a, r.z from q, r",
	"with recursive q(n) as (select 1 union all select n + 1 from q where n < 5) select n from q",
	"values (1, 'a'), (2, 'b')",
	"select distinct a, b from t",
	"select distinct on (a) a, b from t order by a, b",
	"select a, rank() over (partition by b order by a desc), sum(a) over w from t window w as (order by a rows between 1 preceding and current row)",
	"select current_date, current_timestamp, current_user, localtime(3) from t",
	"select extract(year from d), substring(b from 1 for 2), trim(both 'x' from b), position('x' in b), overlay(b placing 'x' from 2), d at time zone 'utc' from t",
	"select \"Select\", \"user\" from \"Odd Name\" where \"Select\" > 1",
	"select (a, 1) = (2, 3) as p, row(a, b) < row(1, 'x') as q from t",
	"select b collate \"C\" from t order by b collate \"C\"",
	"select lower(b), length(b), round(c, 2), now(), abs(-a) from t",
	"select t.* from t cross join u",
	"select a, b from t where (select count(*) from u where u.a = t.a) > 1 for update",
	"select j->'a' as p, j->>'b' as q, j @> '{\"a\":1}' as r from t",
	"select string_agg(b, ',' order by a), array_agg(a) from t",
	"select percentile_cont(0.5) within group (order by a) from t",
	"select i + 1 as p, d + interval '1 day' as q, i - i as r from t",
	"select a, b from t group by grouping sets ((a, b), (a), ())",
	"select 1 as one, 'text' as two, 1.5 as three, true as four, null as five",
	"select a as \"A\", b as \"select\" from t",
	"select a from t natural join (select 1 as a) s",
	"select a, x from t join u using (a)",
}

var checks = []string{
	"a > 0", "a > 0 and b <> 'x'", "b in ('a', 'b')", "length(b) < 10", "f", "a is not null or c > 1.5", "not f", "a between 1 and 10", "g = 'x'",
	"c > -1.5", "a > -1", "d > '2020-01-01'", "e[1] = 1", "b ~ '^x'", "case when f then a > 1 else true end", "h > 3000000000", "i < '2020-01-01'", "b like '%x'",
	"g in ('a', 'b')", "a % 2 = 0", "upper(b) = b", "coalesce(a, 0) > 0",
}

type world struct {
	cat catalog.Reader
	env *planner.BindEnv
}

func newWorld(t *testing.T) *world {
	t.Helper()
	m, err := catalogtest.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, tab := range tables {
		if _, err := m.Table(tab.name, "", tab.cols...); err != nil {
			t.Fatal(err)
		}
	}
	parse := func(sql string) (ast.Stmt, error) {
		list, err := postgres.Parse(sql)
		if err != nil {
			return nil, err
		}
		return list[0].Stmt, nil
	}
	return &world{m.Reader(), &planner.BindEnv{Path: sessionPath, IO: types.NewIOContext(), ParseQuery: parse, ParseExpr: postgres.ParseExpr, Fold: true}}
}

func (w *world) bind(sql string, path []types.OID) (*plan.Query, error) {
	st, err := w.env.ParseQuery(sql)
	if err != nil {
		return nil, err
	}
	env := *w.env
	env.Path = path
	q, _, err := planner.Bind(w.cat, &env, st, nil)
	return q, err
}

// TestRoundTrip binds the text of a bound query again: the text must stay as it is, also fully qualified.
func TestRoundTrip(t *testing.T) {
	w := newWorld(t)
	for _, sql := range views {
		for _, path := range [][]types.OID{sessionPath, deparse.StoredPath} {
			q, err := w.bind(sql, sessionPath)
			if err != nil {
				t.Errorf("%s\n\t%v", sql, err)
				continue
			}
			env := &deparse.Env{Cat: w.cat, Path: path}
			text, err := deparse.Query(env, q, nil)
			if err != nil {
				t.Errorf("%s\n\t%v", sql, err)
				continue
			}
			again, err := w.bind(text, path)
			if err != nil {
				t.Errorf("%s\ngives\n%s\n\t%v", sql, text, err)
				continue
			}
			second, err := deparse.Query(env, again, nil)
			if err != nil || second != text {
				t.Errorf("%s\ngives\n%s\nthen\n%s\n\t%v", sql, text, second, err)
			}
		}
	}
}

// TestAgainstPostgres compares with pg_get_viewdef and pg_get_constraintdef of a running server.
func TestAgainstPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a server")
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, peer.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	run := func(sql string) error { _, err := conn.Exec(ctx, sql); return err }
	for _, tab := range tables {
		var cols []string
		for _, c := range tab.cols {
			cols = append(cols, catalog.QuoteIdent(c[0])+" "+c[1])
		}
		if err := run(fmt.Sprintf("create table %s (%s)", catalog.QuoteIdent(tab.name), strings.Join(cols, ", "))); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t)
	env := &deparse.Env{Cat: w.cat, Path: sessionPath}
	for i, sql := range views {
		if err := run(fmt.Sprintf("create view v%d as %s", i, sql)); err != nil {
			t.Errorf("PostgreSQL makes no view of %s: %v", sql, err)
			continue
		}
		var want string
		if err := conn.QueryRow(ctx, "select pg_get_viewdef($1::regclass)", fmt.Sprintf("v%d", i)).Scan(&want); err != nil {
			t.Fatal(err)
		}
		q, err := w.bind(sql, sessionPath)
		if err != nil {
			t.Errorf("%s\n\t%v", sql, err)
			continue
		}
		var names []string
		for _, c := range q.Targets {
			if !c.Junk {
				names = append(names, c.Name)
			}
		}
		got, err := deparse.Query(env, q, names)
		if got += ";"; err != nil || got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s\n\t%v", sql, got, want, err)
		}
		if err := conn.QueryRow(ctx, "select pg_get_viewdef($1::regclass, true)", fmt.Sprintf("v%d", i)).Scan(&want); err != nil {
			t.Fatal(err)
		}
		pretty := *env
		pretty.Pretty = true
		got, err = deparse.Query(&pretty, q, names)
		if got += ";"; err != nil || got != want {
			t.Errorf("%s\ngot (pretty)\n%s\nwant\n%s\n\t%v", sql, got, want, err)
		}
	}
	rel, err := w.cat.LookupRelation("", "t", sessionPath)
	if err != nil {
		t.Fatal(err)
	}
	for i, sql := range checks {
		if err := run(fmt.Sprintf("alter table t add constraint c%d check (%s)", i, sql)); err != nil {
			t.Fatal(err)
		}
		var want string
		if err := conn.QueryRow(ctx, "select pg_get_expr(conbin, conrelid) from pg_constraint where conname = $1", fmt.Sprintf("c%d", i)).Scan(&want); err != nil {
			t.Fatal(err)
		}
		st, err := postgres.ParseExpr(sql)
		if err != nil {
			t.Fatal(err)
		}
		e, err := planner.BindExpr(w.cat, w.env, rel, st, planner.UseCheck, nil)
		if err != nil {
			t.Errorf("%s\n\t%v", sql, err)
			continue
		}
		got, err := deparse.Expr(env, rel, e)
		if err != nil || got != want {
			t.Errorf("%s\n got %s\nwant %s\n\t%v", sql, got, want, err)
		}
		if err := conn.QueryRow(ctx, "select pg_get_expr(conbin, conrelid, true) from pg_constraint where conname = $1", fmt.Sprintf("c%d", i)).Scan(&want); err != nil {
			t.Fatal(err)
		}
		pretty := *env
		pretty.Pretty = true
		if got, err = deparse.Expr(&pretty, rel, e); err != nil || got != want {
			t.Errorf("%s\n got (pretty) %s\nwant %s\n\t%v", sql, got, want, err)
		}
	}
}
