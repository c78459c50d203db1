package types

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"herd/sql/sqlerr"
	"herd/sql/types/datetime"
)

// testdata/io.txt has lines: type | settings | input, tab separated, and testdata/io.golden what PostgreSQL 15 makes of them.
// HERD_TEST_POSTGRES=<connection string> with -run TestIO rewrites the golden file from a server.

var testTypes = map[string]OID{}

func init() {
	for i := range builtins {
		testTypes[builtins[i].Name] = builtins[i].OID
		testTypes[builtins[i].SQL] = builtins[i].OID
	}
}

// parseType reads a type name with a modifier: varchar(3), numeric(5,2), int4[], interval day to second(2).
func parseType(s string) (OID, Typmod) {
	base, mod := s, Typmod(-1)
	var args []int
	if i := strings.IndexByte(s, '('); i >= 0 {
		j := strings.IndexByte(s, ')')
		base = s[:i] + s[j+1:]
		for _, a := range strings.Split(s[i+1:j], ",") {
			v, _ := strconv.Atoi(a)
			args = append(args, v)
		}
	}
	if base == "bit" && mod < 0 && args == nil {
		mod = 1
	}
	array := strings.HasSuffix(base, "[]")
	base = strings.TrimSuffix(base, "[]")
	if base == "char" {
		base = "bpchar"
	}
	t := testTypes[base]
	if strings.HasPrefix(base, "interval ") {
		t = IntervalOID
		mask := map[string]int{"year": 4, "month": 2, "year to month": 6, "day": 8, "hour": 1 << 10, "day to second": 8 | 7<<10, "day to hour": 8 | 1<<10, "minute to second": 3 << 11, "hour to minute": 3 << 10}[base[9:]]
		mod = Typmod(mask<<16 | 0xffff)
	}
	switch {
	case args == nil:
	case t == NumericOID:
		if len(args) == 1 {
			args = append(args, 0)
		}
		mod = NumericTypmod(args[0], args[1])
	case t == VarcharOID || t == BPCharOID:
		mod = Typmod(args[0] + 4)
	case t == IntervalOID && mod < 0:
		mod = Typmod(0x7fff<<16 | args[0])
	default:
		mod = Typmod(args[0])
	}
	if array {
		t = ArrayOf(t)
	}
	return t, mod
}

func testContext(settings string) *IOContext {
	c := NewIOContext()
	c.Now = func() int64 { return 788918400 * 1000000 }
	c.Zone, _ = datetime.LoadZone("America/New_York")
	for _, s := range strings.Split(settings, ";") {
		k, v, _ := strings.Cut(s, "=")
		switch k {
		case "TimeZone":
			c.Zone, _ = datetime.LoadZone(v)
		case "DateStyle":
			for _, w := range strings.Split(v, ",") {
				switch strings.ToLower(strings.TrimSpace(w)) {
				case "iso":
					c.DateStyle = datetime.ISO
				case "sql":
					c.DateStyle = datetime.SQL
				case "postgres":
					c.DateStyle = datetime.Postgres
				case "german":
					c.DateStyle = datetime.German
				case "dmy":
					c.DateOrder = datetime.DMY
				case "ymd":
					c.DateOrder = datetime.YMD
				}
			}
		case "IntervalStyle":
			c.IntervalStyle = map[string]datetime.IntervalStyle{"postgres": 0, "postgres_verbose": 1, "sql_standard": 2, "iso_8601": 3}[v]
		case "extra_float_digits":
			c.ExtraFloatDigits, _ = strconv.Atoi(v)
		case "bytea_output":
			c.ByteaEscape = v == "escape"
		}
	}
	return c
}

type ioCase struct{ typ, settings, input string }

func readCases(t *testing.T) (out []ioCase) {
	b, err := os.ReadFile("testdata/io.txt")
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(string(b), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) < 2 {
			t.Fatalf("line %d", n+1)
		}
		settings := ""
		for _, in := range f[1:] {
			if strings.Contains(in, "=") && settings == "" && strings.HasPrefix(in, "@") {
				settings = in[1:]
				continue
			}
			s, err := strconv.Unquote("\"" + strings.ReplaceAll(in, "\"", "\\\"") + "\"")
			if err != nil {
				t.Fatalf("line %d: %q: %v", n+1, in, err)
			}
			out = append(out, ioCase{f[0], settings, s})
		}
	}
	return out
}

func TestIO(t *testing.T) {
	cases := readCases(t)
	if dsn := os.Getenv("HERD_TEST_POSTGRES"); dsn != "" {
		regenerate(t, dsn, cases)
	}
	f, err := os.Open("testdata/io.golden")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for _, c := range cases {
		if !in.Scan() {
			t.Fatal("golden file is too short")
		}
		want := in.Text()
		if got := runIO(c); got != want {
			t.Errorf("%s [%s] %q\n got  %s\n want %s", c.typ, c.settings, c.input, got, want)
		}
	}
}

func runIO(c ioCase) string {
	io := testContext(c.settings)
	typ, mod := parseType(c.typ)
	d, err := Input(io, typ, mod, []byte(c.input))
	if err != nil {
		e := sqlerr.From(err)
		return fmt.Sprintf("! %s %q", e.Code, e.Message)
	}
	out := Output(io, nil, typ, d)
	// The binary form must give the same value.
	bin := Send(nil, nil, typ, d)
	d2, err := Recv(io, typ, mod, bin)
	if err != nil {
		return fmt.Sprintf("= %q, binary: %v", out, err)
	}
	if out2 := Output(io, nil, typ, d2); string(out2) != string(out) {
		return fmt.Sprintf("= %q, through binary %q", out, out2)
	}
	return fmt.Sprintf("= %q %x", out, bin)
}

func regenerate(t *testing.T, dsn string, cases []ioCase) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var b strings.Builder
	for _, c := range cases {
		conn.Exec(ctx, "RESET ALL; SET TimeZone='America/New_York'")
		for _, s := range strings.Split(c.settings, ";") {
			if k, v, ok := strings.Cut(s, "="); ok {
				if _, err := conn.Exec(ctx, fmt.Sprintf("SET %s='%s'", k, v)); err != nil {
					t.Fatal(err)
				}
			}
		}
		typ, mod := parseType(c.typ)
		_ = mod
		sql := c.typ
		if typ == QCharOID {
			sql = "\"char\""
		}
		send := BuiltinByOID(typ).Name + "send"
		if ElemOf(typ) != 0 && typ != Int2VectorOID && typ != OIDVectorOID {
			send = "array_send"
		}
		send = map[string]string{"date": "date_send", "time": "time_send", "timetz": "timetz_send", "timestamp": "timestamp_send", "timestamptz": "timestamptz_send",
			"interval": "interval_send", "numeric": "numeric_send", "json": "json_send", "jsonb": "jsonb_send", "bit": "bit_send", "varbit": "varbit_send", "uuid": "uuid_send", "money": "cash_send"}[BuiltinByOID(typ).Name]
		if send == "" {
			send = BuiltinByOID(typ).Name + "send"
			if ElemOf(typ) != 0 && typ != Int2VectorOID && typ != OIDVectorOID {
				send = "array_send"
			}
		}
		lit := "E'" + strings.NewReplacer("\\", "\\\\", "'", "\\'").Replace(c.input) + "'"
		var out string
		var bin string
		q := fmt.Sprintf("SELECT format('%%s', v), encode(%s(v), 'hex') FROM (SELECT %s::%s AS v) s", send, lit, sql)
		if strings.Contains(c.typ, ")[]") || typ == BPCharOID || typ == BitOID || typ == VarcharOID || typ == VarbitOID {
			// Input functions refuse what an explicit cast cuts: go through a column.
			q = fmt.Sprintf("SELECT format('%%s', v), encode(%s(v), 'hex') FROM x", send)
			conn.Exec(ctx, "DROP TABLE IF EXISTS x")
			if _, err := conn.Exec(ctx, "CREATE TEMP TABLE x (v "+sql+")"); err != nil {
				t.Fatal(err)
			}
			if _, err = conn.Exec(ctx, "INSERT INTO x VALUES ("+lit+")"); err != nil {
				writeErr(&b, err)
				continue
			}
		}
		if err := conn.QueryRow(ctx, q, pgx.QueryExecModeSimpleProtocol).Scan(&out, &bin); err != nil {
			writeErr(&b, err)
			continue
		}
		fmt.Fprintf(&b, "= %q %s\n", out, bin)
	}
	if err := os.WriteFile("testdata/io.golden", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func writeErr(b *strings.Builder, err error) {
	type pgErr interface{ SQLState() string }
	if e, ok := err.(pgErr); ok {
		msg := strings.TrimSuffix(strings.TrimPrefix(err.Error(), "ERROR: "), " (SQLSTATE "+e.SQLState()+")")
		fmt.Fprintf(b, "! %s %q\n", e.SQLState(), msg)
		return
	}
	fmt.Fprintf(b, "? %v\n", err)
}
