package dump

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// statements reads all of a dump; a COPY block comes as its data.
func statements(t *testing.T, text string, d Dialect) []string {
	t.Helper()
	r := NewReader(strings.NewReader(text), d)
	var out []string
	for {
		s, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			return append(out, "error: "+err.Error())
		}
		out = append(out, string(s))
		if strings.HasSuffix(string(s), "FROM stdin") {
			if err := r.StartCopy(); err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r.CopyData())
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, "data "+string(data))
		}
	}
}

func TestReader(t *testing.T) {
	for _, c := range []struct {
		name, text string
		dialect    Dialect
		want       []string
	}{
		{"strings of MySQL", `-- a; b
SELECT 'a;\';', "x;", ` + "`c;`" + `; # y; z
/*!40101 SET a=1; */;
SELECT 'it''s;';`, MySQL, []string{`SELECT 'a;\';', "x;", ` + "`c;`", "/*!40101 SET a=1; */", `SELECT 'it''s;'`}},
		{"delimiter", "DELIMITER ;;\nCREATE TRIGGER a BEGIN x; y; END ;;\nDELIMITER ;\nSELECT 1;\n", MySQL, []string{"CREATE TRIGGER a BEGIN x; y; END", "SELECT 1"}},
		{"strings of PostgreSQL", `SELECT 'a\'; SELECT E'b\';''\'' , "c;", $x$ ; $ $y$ ;$x$, $1; /* a /* ; */ ; */ SELECT 2`, Postgres,
			[]string{`SELECT 'a\'`, `SELECT E'b\';''\'' , "c;", $x$ ; $ $y$ ;$x$, $1`, `/* a /* ; */ ; */ SELECT 2`}},
		{"copy", "\\restrict abc\nCOPY t (a) FROM stdin;\n1;2\n\\.x\n\\.\nSELECT 3;", Postgres, []string{`\restrict abc`, "COPY t (a) FROM stdin", "data 1;2\n\\.x\n", "SELECT 3"}},
		{"cut off", "SELECT 1; SELECT 'abc", MySQL, []string{"SELECT 1", "error: string in the statement of line 1 does not end: unexpected EOF"}},
		{"empty", " \n-- nothing\n", MySQL, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := statements(t, c.text, c.dialect); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestReaderLines(t *testing.T) {
	r := NewReader(strings.NewReader("\n-- x\nSELECT\n1;\n\nSELECT 2;"), MySQL)
	for _, want := range []int{3, 6} {
		if _, err := r.Next(); err != nil || r.Line() != want {
			t.Errorf("line %d, error %v, want line %d", r.Line(), err, want)
		}
	}
}

func TestInsert(t *testing.T) {
	for _, c := range []struct {
		text   string
		fields []Field
		want   string // "" when it is to stay an INSERT
	}{
		{"INSERT INTO `t` VALUES (1,'a\\'b','x\\\\y\\n\\t',NULL),(-2.5e3,\"q\"\"r\",'',TRUE)", nil, "t\n1\ta'b\tx\\\\y\\n\\t\t\\N\n-2.5e3\tq\"r\t\t1\n"},
		{"insert into d.t (a, `b`) values (0x1fAB, _binary 'a\\0')", nil, "t\n\\\\x1fAB\t\\\\x6100\n"},
		{"INSERT INTO t VALUES ('ab','\\n',b'101')", []Field{{Bytes: true}, {Bits: 4}}, "t\n\\\\x6162\t1010\t101\n"},
		{"INSERT INTO t VALUES ('100\\%')", nil, "t\n100\\\\%\n"},
		{"INSERT INTO t VALUES (1, now())", nil, ""},
		{"INSERT INTO t VALUES (1+1)", nil, ""},
		{"INSERT INTO t VALUES ('a' 'b')", nil, ""},
		{"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a=1", nil, ""},
		{"INSERT IGNORE INTO t VALUES (1)", nil, ""},
		{"INSERT INTO t SELECT 1", nil, ""},
		{"INSERT INTO t VALUES ('\\n\\n')", []Field{{Bits: 4}}, ""},
	} {
		got := ""
		if x := ParseInsert([]byte(c.text)); x != nil {
			if rows, _, ok := x.AppendRows(nil, c.fields); ok {
				got = x.Table + "\n" + string(rows)
			}
		}
		if got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]Dialect{
		"/*M!999999\\- x */\n-- MariaDB dump 10.19": MySQL, "--\n-- PostgreSQL database dump\n": Postgres, "SELECT 1;": "", "CREATE TABLE `a` (x int)": MySQL,
	} {
		if got := Detect([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
