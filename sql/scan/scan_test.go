package scan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"herd/sql/sqlerr"
)

func TestNesting(t *testing.T) {
	rep := strings.Repeat
	for _, c := range []struct {
		name, sql string
		deep      bool
	}{
		{"brackets at the limit", "select " + rep("(", 1000) + "1" + rep(")", 1000), false},
		{"brackets over it", "select " + rep("(", 1001) + "1" + rep(")", 1001), true},
		{"arrays", "select " + rep("array[", 400000), true},
		{"many brackets in a row", "select " + rep("(1),", 100000) + "1", false},
		{"long in list", "select a in (" + rep("1,", 100000) + "1)", false},
		{"not", "select " + rep("not ", 5001) + "a", true},
		{"not with and", "select " + rep("not a and ", 50000) + "a", false},
		{"not after operator", "select " + rep("not a = ", 6000) + "a", true},
		{"minus", "select " + rep("- ", 6000) + "1", true},
		{"minus over a comma", "select " + rep("-1,", 60000) + "1", false},
		{"sum of negatives", "select " + rep("-1 + ", 60000) + "1", false},
		{"prefix operators", "select " + rep("@ a + ", 6000) + "1", true},
		{"casts", "select a" + rep("::int", 6000), true},
		{"casts in a list", "select " + rep("a::int,", 60000) + "1", false},
		{"case", "select " + rep("case when a then ", 6000), true},
		{"case closed", "select " + rep("case when a then 1 else 2 end + ", 60000) + "1", false},
		{"joins", "select * from a" + rep(" join a on true", 6000), true},
		{"union", "select 1" + rep(" union all select 1", 60000), false},
		{"brackets in a string", "select '" + rep("(", 6000) + "'", false},
		{"brackets in a comment", "select /*" + rep("(", 6000) + "*/ 1", false},
		{"brackets in a dollar string", "select $x$" + rep("(", 6000) + "$x$", false},
		{"concatenation", "select " + rep("a || ", 60000) + "b", false},
		{"several statements", rep("select (1);", 60000), false},
	} {
		err := CheckNesting(c.sql)
		if (err != nil) != c.deep {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && sqlerr.CodeOf(err) != "54001" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestNext(t *testing.T) {
	text := ` ; select ';' ; -- a;b
	/* ; /* ; */ ; */ select ";", $$ ; $$, $a$ ; $$ $a$, E'\';' ;;
	create rule r as on insert to t do (select 1; select 2);
	create function f() returns int begin atomic select case when true then 1 end; select 2; end; select a$b$;'`
	var got []string
	for from := 0; ; {
		st, ok := Next(text, from)
		if !ok {
			break
		}
		got = append(got, text[st.Start:st.End])
		from = st.Next
	}
	want := []string{
		"select ';'", `select ";", $$ ; $$, $a$ ; $$ $a$, E'\';'`, "create rule r as on insert to t do (select 1; select 2)",
		"create function f() returns int begin atomic select case when true then 1 end; select 2; end", "select a$b$", "'",
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// show makes a shape readable.
func show(shape []byte) string {
	return strings.NewReplacer("\x01", "<int4>", "\x02", "<int8>", "\x03", "<numeric>", "\x04", "<string>").Replace(string(shape))
}

func TestShape(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"select 1", "select <int4>"},
		{"SELECT a1, 'it''s', 2147483647, 2147483648, 9223372036854775808, 1.5, 1e10, .5", "-"},
		{"SELECT a1, 'it''s', 2147483647, 2147483648, 9223372036854775808, 1.5, 1e10;  ",
			"SELECT a1, <string>, <int4>, <int8>, <numeric>, <numeric>, <numeric>"},
		{"select -2147483648, -2147483649, a -1, a - 1, a/-1, (-1)", "select <int4>, <int8>, a -<int4>, a - <int4>, a/<int4>, (<int4>)"},
		{"select a from t where b=-1 and c>=-2", "select a from t where b=<int4> and c>=<int4>"},
		{"select \"x1\" from t1 where a$1 = 'x' limit 5", "select \"x1\" from t1 where a$1 = <string> limit <int4>"},
		{"update t set a = a + 1 where id = 7::int8", "update t set a = a + <int4> where id = <int4>::int8"},
		{"insert into t values (1,null,true,'a')", "insert into t values (<int4>,null,true,<string>)"},
		{"select $1 + 1", "-"},
		{"select 1 -- x", "-"},
		{"select 1 /* x */", "-"},
		{"select e'x'", "-"},
		{"select 'a' 'b'", "-"},
		{"select 'a'\n'b'", "-"},
		{"select - 1", "-"},
		{"select - -1", "-"},
		{"select +1", "-"},
		{"select 1; select 2", "-"},
		{"select 0x10", "-"},
		{"select 1a", "-"},
		{"select $$a$$", "-"},
		{"select 'a", "-"},
		{"set x = 1", "-"},
		{"select a[1:2]", "select a[<int4>:<int4>]"},
		{"select count(*) -1", "select count(*) -<int4>"},
		{"select * -1 from t", "-"},
		{"select a*-1", "-"},
	} {
		shape, lits, ok := Shape(nil, nil, c.sql)
		got := show(shape)
		if !ok {
			got = "-"
		}
		if got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.sql, got, c.want)
		}
		if ok {
			checkShape(t, c.sql, shape, lits)
		}
	}
}

// checkShape puts the literals back and compares.
func checkShape(t *testing.T, text string, shape []byte, lits []Literal) {
	t.Helper()
	var b bytes.Buffer
	n := 0
	for _, c := range shape {
		if c >= 1 && c <= 4 {
			if n >= len(lits) || byte(lits[n].Class) != c {
				t.Fatalf("%q: literal %d of shape %q", text, n, shape)
			}
			b.WriteString(text[lits[n].Start:lits[n].End])
			n++
			continue
		}
		b.WriteByte(c)
	}
	trimmed := strings.TrimRight(text, "; \t\n\r\f\v")
	if n != len(lits) || strings.TrimRight(b.String(), " \t\n\r\f\v") != trimmed {
		t.Fatalf("%q: shape %q gives back %q", text, shape, b.String())
	}
}

func TestLiteralValues(t *testing.T) {
	text := "select 'it''s', -42, 9223372036854775807, -9223372036854775808"
	_, lits, ok := Shape(nil, nil, text)
	if !ok || string(lits[0].AppendText(nil, text)) != "it's" || lits[1].Int(text) != -42 || lits[2].Int(text) != 1<<63-1 || lits[3].Int(text) != -1<<63 {
		t.Error(lits, ok)
	}
}

func TestShapeAllocates(t *testing.T) {
	dst, lits := make([]byte, 0, 256), make([]Literal, 0, 16)
	text := "SELECT abalance FROM pgbench_accounts WHERE aid = 4711"
	if n := testing.AllocsPerRun(100, func() {
		if _, _, ok := Shape(dst, lits, text); !ok {
			t.Fatal("no shape")
		}
		if CheckNesting(text) != nil {
			t.Fatal("deep")
		}
		if _, ok := Next(text, 0); !ok {
			t.Fatal("none")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func bulkText(rows int, row, tail string) string {
	var b strings.Builder
	b.WriteString("INSERT INTO s.\"t\" (a, b, c) VALUES ")
	for i := range rows {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, row, i)
	}
	return b.String() + tail
}

func TestBulk(t *testing.T) {
	row := "(%d, 'it''s, (x)', null)"
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{bulkText(40, row, ""), true},
		{bulkText(40, row, " ; "), true},
		{bulkText(40, row, " on conflict do nothing returning a;"), true},
		{bulkText(40, row, "; select 1"), false},
		{bulkText(40, row, " returning a; select 1"), false},
		{bulkText(32, row, ""), false},
		{bulkText(40, "(%d, now(), 1)", ""), false},
		{bulkText(40, row, ",(1,2)"), false},
		{bulkText(40, "(%d, 1 + 1, 1)", ""), false},
	} {
		b, ok := FindBulk(c.text)
		if ok != c.ok {
			t.Errorf("%.120q...: %v", c.text, ok)
			continue
		}
		if !ok {
			continue
		}
		if b.Rows != 40 || b.Columns != 3 || c.text[b.HeadEnd-1] != ')' || strings.Count(c.text[:b.HeadEnd], "\n") != 0 {
			t.Errorf("%+v", b)
		}
		tu := b.Tuples(c.text)
		dst := make([]Literal, 0, 3)
		n := 0
		for l := tu.Next(dst); l != nil; l = tu.Next(dst) {
			if l[0].Int(c.text) != int64(n) || string(l[1].AppendText(nil, c.text)) != "it's, (x)" || l[2].Class != Null {
				t.Fatalf("row %d: %v", n, l)
			}
			n++
		}
		if n != 40 {
			t.Error(n)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"select 1", "select -1, 'a''b', \"x\", 1.5e3::numeric(10,2) from t where a>=-1;", "insert into t values (1,'a'),(2,null)",
		"select E'\\'', $a$;$a$, U&'x' /* a /* b */ */ -- c\n;", "begin atomic select case end; end; x", "((([[", "1..2", "a@-1",
	} {
		f.Add(s)
	}
	f.Add(bulkText(40, "(%d,'a',-1.5)", " returning a"))
	f.Fuzz(func(t *testing.T, s string) {
		_ = nestsTooDeep(s)
		for from := 0; from < len(s); {
			st, ok := Next(s, from)
			if !ok {
				break
			}
			if st.Start < from || st.End < st.Start || st.Next < st.End || st.Next <= from || st.Next > len(s) {
				t.Fatalf("%q: %+v from %d", s, st, from)
			}
			from = st.Next
		}
		if shape, lits, ok := Shape(nil, nil, s); ok {
			checkShape(t, s, shape, lits)
		}
		if b, ok := FindBulk(s); ok {
			n, tu := 0, b.Tuples(s)
			for l := tu.Next(nil); l != nil; l = tu.Next(nil) {
				if len(l) != b.Columns {
					t.Fatalf("%q: row %d", s, n)
				}
				n++
			}
			if n != b.Rows {
				t.Fatalf("%q: %d rows of %d", s, n, b.Rows)
			}
		}
	})
}

func BenchmarkShape(b *testing.B) {
	dst, lits := make([]byte, 0, 256), make([]Literal, 0, 16)
	text := "SELECT abalance FROM pgbench_accounts WHERE aid = 4711"
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := Shape(dst, lits, text); !ok {
			b.Fatal("no shape")
		}
	}
}

func BenchmarkBulk(b *testing.B) {
	text := bulkText(10000, "(%d, 'some text here', 3.25)", "")
	b.SetBytes(int64(len(text)))
	dst := make([]Literal, 0, 3)
	for b.Loop() {
		k, ok := FindBulk(text)
		if !ok {
			b.Fatal("no bulk")
		}
		tu := k.Tuples(text)
		for tu.Next(dst) != nil {
		}
	}
}
