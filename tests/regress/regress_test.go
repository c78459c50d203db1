package main

import (
	"slices"
	"strings"
	"testing"
)

func texts(list []*stmt) []string {
	var out []string
	for _, s := range list {
		out = append(out, strings.Join(s.text, "|"))
	}
	return out
}

func TestSplitScript(t *testing.T) {
	script := strings.Join([]string{
		"-- a comment",
		"",
		"SELECT 'it''s; one'",
		"  FROM t; SELECT 2;",
		`SELECT E'\'; x', (1; 2);`,
		"CREATE FUNCTION f() RETURNS int AS $$ SELECT 1;",
		"",
		"$$ LANGUAGE sql;",
		"CREATE FUNCTION g() RETURNS int BEGIN ATOMIC",
		" SELECT CASE WHEN true THEN 1 END; SELECT 2;",
		"END;",
		"COPY t FROM stdin;",
		"1;2",
		`\.`,
		"SELECT 3 /* ; */ AS x",
		`\gset`,
	}, "\n")
	list := splitScript(script)
	want := []string{
		"-- a comment|SELECT 'it''s; one'|  FROM t; SELECT 2;",
		`SELECT E'\'; x', (1; 2);`,
		"CREATE FUNCTION f() RETURNS int AS $$ SELECT 1;||$$ LANGUAGE sql;",
		"CREATE FUNCTION g() RETURNS int BEGIN ATOMIC| SELECT CASE WHEN true THEN 1 END; SELECT 2;|END;",
		"COPY t FROM stdin;",
		`SELECT 3 /* ; */ AS x|\gset`,
	}
	if got := texts(list); !slices.Equal(got, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := list[4].data; !slices.Equal(got, []string{"1;2", `\.`}) {
		t.Errorf("data of COPY: %q", got)
	}
	if list[3].line != 9 {
		t.Errorf("line %d, want 9", list[3].line)
	}
}

func TestCutOutput(t *testing.T) {
	list := splitScript("SELECT 1;\n-- next\nSELECT 2;\nSELECT 3;\n")
	got := cutOutput(list, "SELECT 1;\n one\n\n-- next\nSELECT 2;\nERROR:  no\n")
	if *got[0] != " one\n" || *got[1] != "ERROR:  no" || got[2] != nil {
		t.Errorf("got %q, %q, %v", *got[0], *got[1], got[2])
	}
}

func TestJudge(t *testing.T) {
	steps := []struct {
		sql, want, got string
		state          string
		verdict        verdict
	}{
		{"CREATE TABLE p (a int) PARTITION BY LIST (a);", "", "ERROR:  partitioned tables are not supported", "0A000", refused},
		{"INSERT INTO p VALUES (1);", "", `ERROR:  relation "p" does not exist`, "42P01", follows},
		{"SELECT * FROM p;", " a \n---\n 1", `ERROR:  relation "p" does not exist`, "42P01", follows},
		{"SELECT * FROM q;", " 1\n 2", " 2\n 1", "", reordered},
		{"SELECT 1 + 1;", " 2", " 3", "", differs},
		{"SELECT f(1);", " 2", "ERROR:  function f(integer) is not supported", "0A000", unsupported},
		{"SELECT 1/0;", "ERROR:  division by zero", "ERROR:  division by zero", "22012", equal},
		{"CREATE TABLE p (a int);", "", "", "", equal},
		{"SELECT a FROM p;", " 1", " 2", "", differs},
	}
	var j judge
	j.kept = map[string]root{}
	j.begin()
	for _, s := range steps {
		it := &item{script: "x", st: splitScript(s.sql)[0], want: s.want, got: &s.got, states: []string{s.state}}
		if j.judge(it, true); it.verdict != s.verdict {
			t.Errorf("%s: verdict %d, want %d", s.sql, it.verdict, s.verdict)
		}
	}
}

func TestPlain(t *testing.T) {
	got, states := plain("ERROR:  23505: duplicate key\nDETAIL:  d\nSCHEMA NAME:  public\nTABLE NAME:  t\nLOCATION:  f, x.c:1\nrow")
	if got != "ERROR:  duplicate key\nDETAIL:  d\nrow" || !slices.Equal(states, []string{"23505"}) {
		t.Errorf("got %q, %q", got, states)
	}
}
