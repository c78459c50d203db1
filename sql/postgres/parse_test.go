package postgres

import (
	"strings"
	"sync"
	"testing"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// TestErrors holds the codes, texts and positions that PostgreSQL 15 gives (asked of a running server).
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		sql, code, msg string
		pos            int
	}{
		{"selec 1", "42601", `syntax error at or near "selec"`, 1},
		{"select 1 from", "42601", `syntax error at end of input`, 14},
		{"select 'é' fro x y z", "42601", `syntax error at or near "x"`, 16},
		{"select 'abc", "42601", `unterminated quoted string at or near "'abc"`, 8},
		{"select \"abc", "42601", `unterminated quoted identifier at or near ""abc"`, 8},
		{"select $$abc", "42601", `unterminated dollar-quoted string at or near "$$abc"`, 8},
		{"select /* abc", "42601", `unterminated /* comment at or near "/* abc"`, 8},
		{"select \"\"", "42601", `zero-length delimited identifier at or near """"`, 8},
		{"select 0x1F", "42601", `trailing junk after numeric literal at or near "0x1F"`, 8},
		{"select 1_000", "42601", `trailing junk after numeric literal at or near "1_000"`, 8},
		{"select * from (select 1)", "42601", `subquery in FROM must have an alias`, 15},
		{"select * from (values (1))", "42601", `VALUES in FROM must have an alias`, 15},
		{"explain (foo) select 1", "42601", `unrecognized EXPLAIN option "foo"`, 10},
		{"copy t from stdin (format foo)", "22023", `COPY format "foo" not recognized`, 20},
		{"create table t(a int deferrable)", "42601", `misplaced DEFERRABLE clause`, 22},
		{"select xmlelement(name foo)", "0A000", `XML expression is not supported`, 8},
		{"create trigger a before insert on t execute function f()", "0A000", `CREATE TRIGGER is not supported`, 1},
		{"select * from t tablesample system (1)", "0A000", `TABLESAMPLE is not supported`, 29},
		{"select \x80", "22021", `invalid byte sequence for encoding "UTF8": 0x80`, 0},
		{`select U&'\00zz'`, "42601", "invalid Unicode escape", 11},
		{`select E'\u00z'`, "22025", "invalid Unicode escape", 10},
		{"select 1 limit 1, 2", "42601", `LIMIT #,# syntax is not supported`, 10},
	} {
		_, err := Parse(c.sql)
		if err == nil {
			t.Errorf("%q: no error", c.sql)
			continue
		}
		e := sqlerr.From(err)
		if string(e.Code) != c.code || e.Message != c.msg || e.Position != c.pos {
			t.Errorf("%q: got %s %q at %d, want %s %q at %d", c.sql, e.Code, e.Message, e.Position, c.code, c.msg, c.pos)
		}
	}
}

func TestSpans(t *testing.T) {
	text := " select 1 ; -- x\n /* y; */ insert into t values (1);;  "
	list, err := Parse(text)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for i, want := range []string{"select 1", "insert into t values (1)"} {
		if got := text[list[i].Start:list[i].End]; got != want {
			t.Errorf("statement %d is %q, want %q", i, got, want)
		}
	}
	if list[1].Stmt.Pos() != int32(strings.Index(text, "insert")) {
		t.Error(list[1].Stmt.Pos())
	}
	if list, err := Parse(" -- nothing\n"); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

func TestChains(t *testing.T) {
	list, err := Parse("select " + strings.Repeat("1+", 50000) + "1 where " + strings.Repeat("a and ", 50000) + "a union " +
		strings.Repeat("select 1 union all ", 20000) + "select 2")
	if err != nil {
		t.Fatal(err)
	}
	set := list[0].Stmt.(*ast.Select).Body.(*ast.SetOp)
	core := set.First.Body.(*ast.SelectCore)
	if n := len(core.Targets[0].Expr.(*ast.OpChain).Terms); n != 50000 {
		t.Error(n)
	}
	if n := len(core.Where.(*ast.BoolExpr).Args); n != 50001 {
		t.Error(n)
	}
	if len(set.Terms) != 20001 || set.Terms[0].All || !set.Terms[1].All {
		t.Error(len(set.Terms))
	}
}

func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for range 200 {
				if _, err := Parse("select a, sum(b) over (partition by c) from t join u using (id) where x in (1,2) order by 1"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestParseExpr(t *testing.T) {
	if e, err := ParseExpr("a + 1"); err != nil || e.(*ast.Op).Op.Name != "+" {
		t.Error(e, err)
	}
	if _, err := ParseExpr("1 from t"); err == nil {
		t.Error("a query is no expression")
	}
	if ty, err := ParseTypeName("numeric(10,2)[]"); err != nil || len(ty.Mods) != 2 || len(ty.ArrayDims) != 1 {
		t.Error(ty, err)
	}
}

func BenchmarkSelect(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("SELECT abalance FROM pgbench_accounts WHERE aid = 4711"); err != nil {
			b.Fatal(err)
		}
	}
}
