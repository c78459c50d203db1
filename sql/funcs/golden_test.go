package funcs

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/vec"
)

// testdata/calls.golden has one call a line, tab separated: function(types), the arguments as quoted texts or NULL, then
// "=" with the result's type and text (or NULL), or "!" with SQLSTATE and message, as PostgreSQL 15 answered.
//
// HERD_TEST_POSTGRES=<connection string> [HERD_TEST_AREA=<area>] go test -run TestGolden rewrites it: for every function that has a kernel and
// argument types with sample values, some combinations of these, and the calls of testdata/calls.txt.

const casesPerFunction = 12

func typeByName(s string) types.OID {
	if array, ok := strings.CutSuffix(s, "[]"); ok {
		return types.ArrayOf(typeByName(array))
	}
	if t := pgdata.TypeByName(pgdata.CatalogSchema, s); t != nil {
		return t.OID
	}
	return 0
}

func typeName(t types.OID) string { return types.BuiltinByOID(t).Name }

func goldenContext() *Ctx {
	io := types.NewIOContext()
	io.Zone, _ = datetime.LoadZone("America/New_York")
	now := int64(788918400) * 1000000
	io.Now = func() int64 { return now }
	return &Ctx{IO: io, StmtTime: now, TxTime: now}
}

// resolve finds the built-in function of a name for argument types: exact, or polymorphic.
func resolve(name string, args []types.OID) *pgdata.Proc {
	var poly *pgdata.Proc
	for _, p := range pgdata.FuncsByName(name) {
		if p.Kind != 'f' {
			continue
		}
		n := len(p.ArgTypes)
		if p.Variadic != 0 && len(args) >= n-1 {
			ok := true
			for i := range n - 1 {
				ok = ok && (p.ArgTypes[i] == args[i] || isPolymorphic(p.ArgTypes[i]))
			}
			if ok && poly == nil {
				poly = p
			}
		}
		if n != len(args) {
			continue
		}
		exact, fits := true, true
		for i, t := range p.ArgTypes {
			if t == args[i] {
				continue
			}
			exact = false
			fits = fits && isPolymorphic(t)
		}
		if exact {
			return p
		}
		if fits && poly == nil {
			poly = p
		}
	}
	return poly
}

func isPolymorphic(t types.OID) bool {
	b := types.BuiltinByOID(t)
	return b != nil && b.Type == 'p' && t != types.CStringOID && t != types.InternalOID && t != types.RecordOID
}

func runCall(line string) (got, want string, skip bool) {
	call, want, _ := strings.Cut(line, "\t=\t")
	if strings.Contains(line, "\t!\t") {
		call, want, _ = strings.Cut(line, "\t!\t")
		want = "!\t" + want
	} else {
		want = "=\t" + want
	}
	f := strings.Split(call, "\t")
	name, list, _ := strings.Cut(f[0], "(")
	list = strings.TrimSuffix(list, ")")
	var argTypes []types.OID
	if list != "" {
		for _, s := range strings.Split(list, ",") {
			argTypes = append(argTypes, typeByName(s))
		}
	}
	p := resolve(name, argTypes)
	if p == nil || !Exists(p.OID) {
		return "no kernel", want, true
	}
	result := p.RetType
	if rt, _, ok := strings.Cut(strings.TrimPrefix(want, "=\t"), "\t"); ok && want[0] == '=' {
		result = typeByName(rt)
	} else if isPolymorphic(result) {
		result = argTypes[0]
	}
	c := goldenContext()
	var args []*vec.Vector
	for i, s := range f[1:] {
		d := types.NullDatum
		if s != "NULL" {
			text, err := strconv.Unquote(s)
			if err != nil {
				return err.Error(), want, false
			}
			if d, err = types.Input(c.IO, argTypes[i], -1, []byte(text)); err != nil {
				return outcome(err), want, false
			}
		}
		args = append(args, vec.NewConst(argTypes[i], d))
	}
	k, ok := Lookup(CallInfo{Func: p.OID, ArgTypes: argTypes, Result: result, Typmod: -1, Collation: types.DefaultCollationOID})
	if !ok {
		return "no kernel for these types", want, true
	}
	out := vec.New(types.KindOf(result), 1)
	if err := k(c, 1, nil, args, out); err != nil {
		return outcome(err), want, false
	}
	if out.IsNull(0) {
		return "=\t" + typeName(result) + "\tNULL", want, false
	}
	return "=\t" + typeName(result) + "\t" + strconv.Quote(string(types.Output(c.IO, nil, result, out.Datum(0)))), want, false
}

func outcome(err error) string {
	e := sqlerr.From(err)
	return "!\t" + string(e.Code) + "\t" + strconv.Quote(e.Message)
}

func TestGolden(t *testing.T) {
	if dsn := os.Getenv("HERD_TEST_POSTGRES"); dsn != "" {
		regenerateCalls(t, dsn, os.Getenv("HERD_TEST_AREA"))
	}
	files, _ := filepath.Glob("testdata/calls*.golden")
	if len(files) == 0 {
		t.Fatal("no golden files")
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".golden"), func(t *testing.T) { runGolden(t, name) })
	}
}

func runGolden(t *testing.T, name string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	calls, failed := 0, map[string]int{}
	for in.Scan() {
		line := in.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		calls++
		got, want, skip := runCall(line)
		if skip {
			t.Errorf("%s: %s", line, got)
			continue
		}
		if got != want && !sameFloat(got, want) {
			name, _, _ := strings.Cut(line, "\t")
			if failed[name]++; failed[name] <= 3 {
				t.Errorf("%s\n  got %s", line, got)
			}
		}
	}
	if calls == 0 {
		t.Error("no calls in the golden file")
	}
}

// sameFloat allows the last digits of mathematical functions to differ.
func sameFloat(got, want string) bool {
	a, ok1 := strings.CutPrefix(got, "=\tfloat8\t\"")
	b, ok2 := strings.CutPrefix(want, "=\tfloat8\t\"")
	if !ok1 || !ok2 {
		return false
	}
	x, e1 := strconv.ParseFloat(strings.TrimSuffix(a, "\""), 64)
	y, e2 := strconv.ParseFloat(strings.TrimSuffix(b, "\""), 64)
	return e1 == nil && e2 == nil && math.Abs(x-y) <= math.Abs(y)*1e-13
}

// pools are sample values by type.
var pools = map[string][]string{
	"int2":        {"0", "1", "-1", "5", "-7", "32767", "-32768", "100", "2"},
	"int4":        {"0", "1", "-1", "5", "-7", "2147483647", "-2147483648", "10", "2", "3"},
	"int8":        {"0", "1", "-1", "5", "-7", "9223372036854775807", "-9223372036854775808", "100", "2", "12345678901"},
	"oid":         {"0", "1", "4294967295", "42"},
	"float4":      {"0", "1", "-1.5", "0.1", "NaN", "Infinity", "-Infinity", "1e30", "1e-30", "2", "3.5", "100.25"},
	"float8":      {"0", "1", "-1.5", "0.1", "NaN", "Infinity", "-Infinity", "1e300", "1e-300", "2", "2.5", "3.5", "-2.5", "100.25", "0.5", "12345.678"},
	"numeric":     {"0", "1", "-1.5", "0.1", "NaN", "Infinity", "-Infinity", "123456789.987654321", "0.00001", "2", "2.50", "-2.5", "100", "3", "7.25", "1e20", "99999999999999999999.99"},
	"bool":        {"t", "f"},
	"text":        {"", "abc", "Hello World", "héllo", "  trim  ", "a,b,c", "100", "ABC", "xyzabcxyz", "日本語", "a%b_c", "l"},
	"bpchar":      {"abc", "abc  ", "", "x"},
	"name":        {"abc", "xyz", ""},
	"bytea":       {"\\x", "\\x00ff41", "\\x6162", "\\xdeadbeef00"},
	"uuid":        {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000"},
	"date":        {"2000-01-01", "1999-12-31", "2024-02-29", "infinity", "-infinity", "0044-03-15 BC", "1970-06-15", "294277-01-01"},
	"time":        {"00:00", "04:05:06.789", "23:59:59.999999", "24:00", "12:30"},
	"timetz":      {"00:00+00", "04:05:06.789-08", "23:59:59.999999+05:30"},
	"timestamp":   {"2000-01-01 00:00:00", "1999-12-31 23:59:59.999999", "2024-02-29 12:34:56.789", "infinity", "-infinity", "0044-03-15 01:02:03 BC", "2000-04-02 02:30:00", "2016-08-13 10:11:12"},
	"timestamptz": {"2000-01-01 00:00:00+00", "1999-12-31 23:59:59.999999-05", "2024-02-29 12:34:56.789+02", "infinity", "-infinity", "2000-04-02 07:30:00+00", "2016-08-13 10:11:12+00"},
	"interval":    {"0", "1 day", "-1 day", "1 year 2 mons 3 days 04:05:06.789", "1 mon", "30 days", "36 hours", "-13 mons 5 days", "00:00:01", "1000 years"},
	"bit":         {"1010", "0000", "11110000"},
	"varbit":      {"101", "", "0011"},
	"json":        {`{"a":1,"b":[1,2,{"c":null}],"d":"x"}`, `[1,"two",null,{"k":true}]`, `"str"`, "1.50", "null", "{}", "[]", `{"a":{"b":{"c":5}}}`},
	"jsonb":       {`{"a":1,"b":[1,2,{"c":null}],"d":"x"}`, `[1,"two",null,{"k":true}]`, `"str"`, "1.50", "null", "{}", "[]", `{"a":{"b":{"c":5}}}`, "true", `["a","b"]`},
	"_text":       {"{}", "{a,b}", "{a,b,c}", "{b,2,c}", "{NULL,a}", "{0}"},
	"_int4":       {"{}", "{1,2,3}", "{NULL,1}", "{{1,2},{3,4}}"},
	"_float8":     {"{1,2.5,3}", "{}"},
	"money":       {"$1.00", "-$2.50", "$0.00", "$1000.25"},
	"char":        {"a", "b", ""},
	"tid":         {"(0,1)", "(5,7)"},
	"xid":         {"1", "5"},
	"xid8":        {"1", "5"},
	"oidvector":   {"1 2", "3"},
}

// skipAuto are functions whose calls with arbitrary arguments say nothing or depend on a session.
func skipAuto(p *pgdata.Proc) bool {
	switch {
	case p.Kind != 'f', p.RetSet, p.Volatile == 'v', strings.HasPrefix(p.Name, "pg_"), strings.HasPrefix(p.Name, "has_"), strings.HasPrefix(p.Name, "to_reg"), p.Name == "acldefault", p.Name == "row_security_active", strings.HasPrefix(p.Name, "hash"),
		strings.Contains(p.Name, "hash"), strings.HasPrefix(p.Name, "current"), p.Name == "format_type", p.Name == "obj_description",
		p.Name == "col_description", p.Name == "shobj_description", strings.HasPrefix(p.Name, "txid"), p.Name == "row_to_json",
		p.Name == "version", p.Name == "getpgusername", strings.HasPrefix(p.Name, "inet_"), p.Name == "_pg_index_position", p.Name == "now", strings.HasPrefix(p.Name, "convert_"), p.Src == "interval_scale", strings.HasPrefix(p.Src, "make_"), p.Src == "timestamp_age", p.Src == "timestamptz_age", p.Src == "timestamp_scale", p.Src == "timestamptz_scale", p.Src == "time_scale", p.Src == "timetz_scale", p.Src == "bitfromint4", p.Src == "bitfromint8", p.Src == "bit", p.Src == "varbit", p.Src == "bpchar",
		p.Name == "statement_timestamp", p.Name == "transaction_timestamp", p.Name == "session_user", p.Name == "to_regclass":
		return true
	case strings.HasSuffix(p.Name, "cmp"): // only the sign is promised
		return true
	case strings.Contains(p.Src, "_avg_") || strings.Contains(p.Src, "_accum"):
		return true
	case p.RetType == types.CStringOID || p.RetType == types.VoidOID || p.RetType == types.InternalOID:
		return true
	case p.Name == "timezone" && p.NArgs == 2, p.Name == "date_trunc" && p.NArgs == 3, p.Name == "like_escape", p.Name == "similar_escape":
		return true
	case p.Name == "age" && p.NArgs == 1:
		return true
	case strings.Contains(p.Name, "reg") && p.RetType >= 2200 && p.RetType < 2210:
		return true
	}
	return len(p.ArgTypes) == 0
}

// regenerateCalls asks PostgreSQL. Every testdata/calls_<area>.txt has its answers in calls_<area>.golden; calls.golden has
// those of calls.txt and of the calls made from samples. A given area restricts it to that file.
func regenerateCalls(t *testing.T, dsn, area string) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	conn.Exec(ctx, "SET TimeZone = 'America/New_York'")
	names, _ := filepath.Glob("testdata/calls_*.txt")
	for _, name := range names {
		if area != "" && name != "testdata/calls_"+area+".txt" {
			continue
		}
		var b strings.Builder
		for _, line := range callFile(t, name) {
			writeCall(ctx, t, conn, &b, line)
		}
		if err := os.WriteFile(strings.TrimSuffix(name, ".txt")+".golden", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if area != "" {
		return
	}
	var b strings.Builder
	for _, line := range callFile(t, "testdata/calls.txt") {
		writeCall(ctx, t, conn, &b, line)
	}
	procs := append([]pgdata.Proc(nil), pgdata.Procs()...)
	sort.SliceStable(procs, func(i, j int) bool { return procs[i].Name < procs[j].Name })
	for i := range procs {
		p := &procs[i]
		if skipAuto(p) || !Exists(p.OID) {
			continue
		}
		var names []string
		ok := true
		for _, a := range p.ArgTypes {
			n := typeName(a)
			_, have := pools[n]
			ok = ok && have
			names = append(names, n)
		}
		if !ok {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(p.OID), 7))
		seen := map[string]bool{}
		for k := 0; k < casesPerFunction*3 && len(seen) < casesPerFunction; k++ {
			call := p.Name + "(" + strings.Join(names, ",") + ")"
			for _, n := range names {
				pool := pools[n]
				if !p.Strict && rng.IntN(6) == 0 {
					call += "\tNULL"
					continue
				}
				call += "\t" + strconv.Quote(pool[rng.IntN(len(pool))])
			}
			if (p.Name == "upper" || p.Name == "initcap" || p.Name == "lower") && strings.ContainsAny(call, "é日") {
				continue // the server maps ASCII only
			}
			if !seen[call] {
				seen[call] = true
				writeCall(ctx, t, conn, &b, call)
			}
		}
	}
	if err := os.WriteFile("testdata/calls.golden", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// callFile reads explicit calls: name(types) and arguments, tab separated; arguments without quotes are quoted here.
func callFile(t *testing.T, name string) (lines []string) {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(string(b), "\n") {
		if l != "" && l[0] != '#' {
			f := strings.Split(l, "\t")
			for i := 1; i < len(f); i++ {
				if f[i] != "NULL" && !strings.HasPrefix(f[i], "\"") {
					f[i] = strconv.Quote(f[i])
				}
			}
			lines = append(lines, strings.Join(f, "\t"))
		}
	}
	return lines
}

func writeCall(ctx context.Context, t *testing.T, conn *pgx.Conn, b *strings.Builder, call string) {
	f := strings.Split(call, "\t")
	name, list, _ := strings.Cut(f[0], "(")
	var args []string
	names := strings.Split(strings.TrimSuffix(list, ")"), ",")
	var argTypes []types.OID
	for _, n := range names {
		argTypes = append(argTypes, typeByName(n))
	}
	p := resolve(name, argTypes)
	for i, s := range f[1:] {
		n := names[i]
		if n == "char" {
			n = "\"char\""
		}
		if n == "bit" || n == "varbit" {
			n = "varbit"
			if names[i] == "bit" {
				n = "\"bit\""
			}
		}
		lit := "NULL"
		if s != "NULL" {
			text, err := strconv.Unquote(s)
			if err != nil {
				t.Fatalf("%s: %v", call, err)
			}
			lit = "E'" + strings.NewReplacer("\\", "\\\\", "'", "\\'").Replace(text) + "'"
		}
		lit += "::" + n
		if p != nil && p.Variadic != 0 && p.Variadic != types.AnyOID && i == len(f)-2 && argTypes[i] == p.ArgTypes[len(p.ArgTypes)-1] {
			lit = "VARIADIC " + lit
		}
		args = append(args, lit)
	}
	q := fmt.Sprintf("SELECT (SELECT typname FROM pg_type WHERE oid = pg_typeof(v)), v IS NULL AND num_nulls(v) = 1, format('%%s', v) FROM (SELECT pg_catalog.\"%s\"(%s) AS v) s", name, strings.Join(args, ", "))
	var typ, text string
	var null bool
	if err := conn.QueryRow(ctx, q, pgx.QueryExecModeSimpleProtocol).Scan(&typ, &null, &text); err != nil {
		type pgErr interface{ SQLState() string }
		e, ok := err.(pgErr)
		if !ok {
			t.Fatalf("%s: %v", q, err)
		}
		if e.SQLState() == "42883" || e.SQLState() == "42601" && strings.Contains(err.Error(), "syntax error") || e.SQLState() == "42725" {
			t.Logf("%s: %v", q, err)
			return
		}
		msg := strings.TrimSuffix(strings.TrimPrefix(err.Error(), "ERROR: "), " (SQLSTATE "+e.SQLState()+")")
		fmt.Fprintf(b, "%s\t!\t%s\t%s\n", call, e.SQLState(), strconv.Quote(msg))
		return
	}
	val := strconv.Quote(text)
	if null {
		val = "NULL"
	}
	fmt.Fprintf(b, "%s\t=\t%s\t%s\n", call, typ, val)
}
