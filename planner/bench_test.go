package planner

import (
	"testing"

	"herd/sql/postgres"
)

// BenchmarkStatement measures parsing, binding and planning of simple statements, each by itself: DESIGN allows 12 us in all.
func BenchmarkStatement(b *testing.B) {
	f := newFake()
	if err := f.exec("create table t (a int primary key, b int not null, c text, d text)"); err != nil {
		b.Fatal(err)
	}
	f.rows["t"] = 100000
	for _, s := range []struct{ name, sql string }{
		{"get", "SELECT b FROM t WHERE a = 42"},
		{"insert", "INSERT INTO t VALUES (1, 2, 'x', 'y')"},
		{"update", "UPDATE t SET b = b + 5 WHERE a = 42"},
		{"range", "SELECT a, b, c FROM t WHERE a BETWEEN 5 AND 10 ORDER BY a LIMIT 10"},
	} {
		st, err := postgres.Parse(s.sql)
		if err != nil {
			b.Fatal(err)
		}
		env := *f.env
		env.Text = s.sql
		b.Run(s.name+"/parse", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := postgres.Parse(s.sql); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(s.name+"/bind", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Bind(f, &env, st[0].Stmt, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		q, info, err := Bind(f, &env, st[0].Stmt, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(s.name+"/plan", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Plan(f, &env, q, info, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestStatementAllocs bounds the allocations of an uncached simple statement, the part of its cost that does not depend on the machine.
func TestStatementAllocs(t *testing.T) {
	f := newFake()
	if err := f.exec("create table t (a int primary key, b int not null, c text, d text)"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		sql        string
		bind, plan float64
	}{
		{"SELECT b FROM t WHERE a = 42", 30, 65},
		{"INSERT INTO t VALUES (1, 2, 'x', 'y')", 40, 35},
		{"UPDATE t SET b = b + 5 WHERE a = 42", 40, 110},
	} {
		st, err := postgres.Parse(s.sql)
		if err != nil {
			t.Fatal(err)
		}
		env := *f.env
		env.Text = s.sql
		q, info, err := Bind(f, &env, st[0].Stmt, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { Bind(f, &env, st[0].Stmt, nil) }); n > s.bind {
			t.Errorf("binding %q: %.0f allocations, at most %.0f expected", s.sql, n, s.bind)
		}
		if n := testing.AllocsPerRun(100, func() { Plan(f, &env, q, info, Options{}) }); n > s.plan {
			t.Errorf("planning %q: %.0f allocations, at most %.0f expected", s.sql, n, s.plan)
		}
	}
}
