package main

import "strings"

// literals are values of a type as the input function reads them.
type literals struct {
	tame []string // no operation that tame expressions use fails on these
	wild []string // the type's edges, beside tame
}

// values has the types of the generator by pg_type.typname. Floats are sums of few powers of two, so that the order of an addition does not show.
var values = map[string]literals{
	"bool":    {tame: list("t f")},
	"int2":    {tame: list("0 1 -1 7 42 -300"), wild: list("32767 -32768")},
	"int4":    {tame: list("0 1 -1 2 3 5 10 -7 100 999"), wild: list("2147483647 -2147483648 65536")},
	"int8":    {tame: list("0 1 -1 12 1000 -4000"), wild: list("9223372036854775807 -9223372036854775808 4294967296")},
	"numeric": {tame: list("0 1 -1 0.5 2.25 -3.10 10.00 99.99"), wild: list("NaN Infinity -Infinity 1e30 -0.000000000000000000001 12345678901234567890.123456789")},
	"float4":  {tame: list("0 1 -1 0.5 2.25 -8"), wild: list("NaN Infinity -Infinity 3e38 1e-40 0.1")},
	"float8":  {tame: list("0 1 -1 0.5 2.25 -1024 0.125"), wild: list("NaN Infinity -Infinity 1e308 1e-310 0.1 -0")},
	"text":    {tame: []string{"", "a", "ab", "B", "abc", "zz top", " x ", "a%b_c", "10", "\u20ac", "it's"}, wild: []string{"2020-01-01", "1 day", "{1,2}", "\\", "a\nb", "{\"a\": 1}", "99999", "yes", "YYYY-MM-DD", "FM999.99"}},
	"varchar": {tame: []string{"", "a", "xyz", "Hello"}, wild: []string{"12", "  pad  "}},
	"bpchar":  {tame: []string{"a", "ab ", "abc"}, wild: []string{"", "  "}},
	"bytea":   {tame: list(`\x \x00 \x6162 \xff00ff`), wild: []string{"abc", `a\001b`}},
	"date":    {tame: list("2020-02-29 1999-12-31 2000-01-01 2024-06-15"), wild: list("infinity -infinity 4713-01-01BC 5874897-12-31 0001-01-01")},
	"time":    {tame: list("00:00:00 12:34:56 23:59:59.999999"), wild: list("24:00:00 00:00:00.000001")},
	"timetz":  {tame: list("01:02:03+02 12:00:00Z"), wild: list("24:00:00-15:59 00:00:00+15:59")},
	"timestamp": {tame: []string{"2020-02-29 01:02:03", "1999-12-31 23:59:59.5", "2024-06-15 12:00:00"},
		wild: []string{"infinity", "-infinity", "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59.999999"}},
	"timestamptz": {tame: []string{"2020-02-29 01:02:03+00", "2001-09-09 01:46:40Z", "2024-03-31 02:30:00 Europe/Rome"},
		wild: []string{"infinity", "-infinity", "294276-12-31 23:59:59.999999+00"}},
	"interval": {tame: []string{"1 day", "02:03:04", "-1 mon", "1 year 2 mons", "0"},
		wild: []string{"178000000 years", "-5 days 00:00:00.000001", "1 mon -30 days", "P1Y2M3DT4H5M6S", "1.5 weeks"}},
	"uuid":   {tame: list("00000000-0000-0000-0000-000000000000 a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 ffffffff-ffff-ffff-ffff-ffffffffffff")},
	"jsonb":  {tame: []string{"{}", "[]", `{"a": 1, "b": [1, 2]}`, `{"a": {"b": null}}`, "[1, \"x\", null]", "7", `"s"`, "null", "true"}, wild: []string{`{"a":1.50,"a":2}`, `[[],{}]`, `"\u20ac\n"`}},
	"json":   {tame: []string{"{}", `{"a":1,"b":[1,2]}`, `[1, "x"]`, "3", "null"}, wild: []string{`{"a":1, "a":2}`, ` [ ] `}},
	"_int4":  {tame: list("{} {1} {1,2,3} {NULL,5} {3,3}"), wild: list("{{1,2},{3,4}} [0:1]={1,2} {2147483647}")},
	"_text":  {tame: []string{"{}", "{a}", "{a,b,NULL}", `{"x y","q\"r"}`}, wild: []string{"{{a,b},{c,d}}", "{\"\"}"}},
	"varbit": {tame: list("1 0101 11110000"), wild: []string{""}},
	"mood":   {tame: list("sad ok happy")},
}

func list(s string) []string { return strings.Fields(s) }

// columnTypes are the types of tables' columns; each has a btree operator class.
var columnTypes = list("bool int2 int4 int4 int4 int8 numeric numeric float4 float8 text text varchar bpchar bytea date time timestamp timestamptz interval uuid jsonb _int4 _text mood")

// sortable are the types that ORDER BY, DISTINCT and GROUP BY take, and whose equal values look equal (numeric, but for its scale).
var sortable = list("bool int2 int4 int8 numeric float8 text varchar bytea date time timestamp timestamptz uuid _int4 _text mood")

// outputTypes are types of columns of queries.
var outputTypes = list("bool int2 int4 int4 int8 numeric float8 text text varchar date time timestamp timestamptz uuid _int4 mood jsonb interval bytea")

// quote makes a string literal.
func quote(s string) string {
	q := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, "\\") {
		return "E" + strings.ReplaceAll(q, "\\", "\\\\")
	}
	return q
}
