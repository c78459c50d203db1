package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// plainAggregates give a type from rows, whatever their order.
var plainAggregates = parseForms(`
int8 :: count(*)
int8 :: count(%s) :: text
int8 :: count(distinct %s) :: int4
int8 :: sum(%s) :: int4
int8 :: sum(distinct %s) :: int2
int4 :: min(%s) :: int4
int4 :: max(%s) :: int4
int4 :: bit_or(%s) :: int4
int4 :: bit_and(%s) :: int4
numeric :: avg(%s) :: int4
numeric :: sum(%s) :: int8
numeric :: sum(%s) :: numeric
numeric :: avg(%s) :: numeric
numeric :: max(%s) :: numeric
numeric :: variance(%s) :: int4
numeric :: stddev_pop(%s) :: int4
float8 :: sum(%s) :: float8
float8 :: avg(%s) :: float4
float8 :: min(%s) :: float8
float8 :: percentile_cont(0.5) within group (order by %s) :: float8
float8 :: regr_slope(%s, %s) :: float8 float8
float8 :: corr(%s, %s) :: float8 float8
int4 :: percentile_disc(0.3) within group (order by %s) :: int4
text :: min(%s) :: text
text :: max(%s) :: text
text :: mode() within group (order by %s) :: text
bool :: bool_and(%s) :: bool
bool :: bool_or(%s) :: bool
bool :: every(%s) :: bool
date :: min(%s) :: date
date :: max(%s) :: date
timestamp :: max(%s) :: timestamp
timestamptz :: min(%s) :: timestamptz
time :: max(%s) :: time
interval :: sum(%s) :: interval
mood :: max(%s) :: mood
_int4 :: array_agg(distinct %s) :: int4
jsonb :: to_jsonb(array_agg(distinct %s)) :: text
int2 :: max(%s) :: int2
float4 :: max(%s) :: float4
`)

// aggregate makes an aggregate of a type; "" when there is none.
func (g *gen) aggregate(typ string, sc *scope) string {
	rows := &scope{columns: sc.columns, noSub: true}
	switch {
	case typ == "text" && g.chance(30):
		x := g.value("text", rows, 1)
		return fmt.Sprintf("string_agg(%s, %s order by %s%s)", x, g.pick("','", "''", "' - '"), x, g.pick("", " desc", " nulls first"))
	case typ == "_int4" && g.chance(50):
		x := g.value("int4", rows, 1)
		return fmt.Sprintf("array_agg(%s order by %s%s)", x, x, g.pick("", " desc", " desc nulls last"))
	case typ == "jsonb" && g.chance(50):
		x := g.value("int4", rows, 1)
		return fmt.Sprintf("jsonb_agg(%s order by %s)", x, x)
	}
	forms := plainAggregates[typ]
	if len(forms) == 0 {
		return ""
	}
	sql := g.fill(forms[g.n(len(forms))], rows, 1)
	if g.chance(20) && !strings.HasPrefix(sql, "to_jsonb") {
		sql += " filter (where " + g.value("bool", rows, 1) + ")"
	}
	return sql
}

// grouped is a query with GROUP BY or with aggregates over all rows.
func (g *gen) grouped(types []string, from, where string, sc *scope) string {
	g.loose = true
	var keys []column
	for range g.n(3) {
		typ := g.pick(sortable...)
		sql := g.leaf(typ, &scope{columns: sc.columns})
		if g.chance(30) {
			sql = g.value(typ, &scope{columns: sc.columns, noSub: true}, 1)
		}
		if isConstant(sql) || strings.Contains(sql, "$") {
			continue
		}
		keys = append(keys, column{sql, typ})
	}
	over := &scope{columns: slices.Clone(keys), noSub: true}
	for _, typ := range []string{"int8", "numeric", g.pick(outputTypes...)} {
		if a := g.aggregate(typ, sc); a != "" {
			over.columns = append(over.columns, column{a, typ})
		}
	}
	out := make([]string, len(types))
	for i, t := range types {
		if a := g.aggregate(t, sc); a != "" && g.chance(50) {
			out[i] = a
			continue
		}
		out[i] = g.typed(t, g.value(t, over, 1))
	}
	having := ""
	if g.chance(25) {
		having = " having " + g.value("bool", over, 2)
	}
	return "select " + strings.Join(out, ", ") + " from " + from + where + g.groupBy(keys) + having
}

// isConstant says that an expression of a generator has no column in it.
func isConstant(sql string) bool { return !columnName.MatchString(sql) }

var columnName = regexp.MustCompile(`\ba\d+\.`)

func (g *gen) groupBy(keys []column) string {
	if len(keys) == 0 {
		return g.pick("", "", " group by ()")
	}
	var parts []string
	for _, k := range keys {
		parts = append(parts, "("+k.sql+")")
	}
	all := strings.Join(parts, ", ")
	switch g.n(8) {
	case 0:
		return " group by rollup (" + all + ")"
	case 1:
		return " group by cube (" + all + ")"
	case 2:
		return " group by grouping sets ((" + strings.Join(parts, "), (") + "), ())"
	}
	return " group by " + all
}

// windows are the columns of a query with window functions. Each is ordered by all that a row shows, so that only equal rows share a place.
func (g *gen) windows(types []string, sc *scope) string {
	var all []string
	for _, c := range sc.columns {
		if slices.Contains(sortable, c.typ) || c.typ == "jsonb" || c.typ == "interval" || c.typ == "float4" || c.typ == "bpchar" {
			all = append(all, c.sql+g.pick("", "", " desc", " nulls first"))
		}
	}
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = g.window(t, sc, all)
		if out[i] == "" {
			out[i] = g.typed(t, g.value(t, sc, 1))
		}
	}
	return strings.Join(out, ", ")
}

func (g *gen) window(typ string, sc *scope, order []string) string {
	rows := &scope{columns: sc.columns, noSub: true}
	over := ""
	if g.chance(50) {
		over = "partition by " + g.value(g.pick("int4", "text", "bool", "date"), rows, 1)
	}
	ordered := len(order) > 0
	if ordered {
		over += " order by " + strings.Join(order, ", ")
	}
	frame := ""
	if ordered && g.chance(50) {
		frame = g.pick(" rows between 1 preceding and 1 following", " rows unbounded preceding", " range between current row and unbounded following",
			" groups between 1 preceding and current row", " rows between 2 preceding and 1 preceding", " rows between unbounded preceding and unbounded following exclude current row",
			" groups current row exclude ties", " rows between current row and 2 following exclude group")
	}
	call := ""
	switch k := g.n(4); {
	case k == 0 && typ == "int8" && ordered:
		call, frame = g.pick("row_number()", "rank()", "dense_rank()"), ""
	case k == 0 && typ == "float8" && ordered:
		call, frame = g.pick("percent_rank()", "cume_dist()"), ""
	case k == 0 && typ == "int4" && ordered:
		call, frame = "ntile(3)", ""
	case k == 1 && ordered:
		x := g.typed(typ, g.value(typ, rows, 1))
		call = g.pick("lag("+x+")", "lead("+x+", 2)", "first_value("+x+")", "last_value("+x+")", "nth_value("+x+", 2)")
	default:
		forms := []form{}
		for _, f := range plainAggregates[typ] {
			if !strings.Contains(f.text, "distinct") && !strings.Contains(f.text, "within") && !strings.Contains(f.text, "order by") {
				forms = append(forms, f)
			}
		}
		if len(forms) == 0 {
			return ""
		}
		call = g.fill(forms[g.n(len(forms))], rows, 1)
		if !ordered {
			frame = ""
		}
	}
	return call + " over (" + over + frame + ")"
}
