package main

import (
	"fmt"
	"strings"
)

// query makes a SELECT whose columns have the given types; its rows are in no order.
func (g *gen) query(types []string, outer *scope, depth int) string {
	if depth > 0 {
		switch g.n(14) {
		case 0:
			return g.setOperation(types, outer, depth)
		case 1:
			return g.with(types, outer, depth)
		case 2:
			return g.limited(types, outer, depth)
		}
	}
	return g.selection(types, outer, depth)
}

// selection is a SELECT without WITH, set operation or LIMIT.
func (g *gen) selection(types []string, outer *scope, depth int) string {
	from, sc := g.from(outer, depth)
	where := g.where(sc, depth)
	switch k := g.n(10); {
	case k < 2:
		return g.grouped(types, from, where, sc)
	case k == 2:
		return "select " + g.windows(types, sc) + " from " + from + where
	case k == 3:
		g.loose = true
		return "select distinct " + g.output(types, sc, depth) + " from " + from + where
	case k == 4 && outer == nil && depth > 1:
		return g.distinctOn(types, from, where, sc, depth)
	}
	return "select " + g.output(types, sc, depth) + " from " + from + where
}

// output are expressions for the columns, each of exactly the type that is wanted.
func (g *gen) output(types []string, sc *scope, depth int) string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = g.typed(t, g.value(t, sc, min(depth, 3)))
	}
	return strings.Join(out, ", ")
}

// typed makes sure that an expression has a type: literals may have another one.
func (g *gen) typed(typ, sql string) string {
	if strings.HasPrefix(sql, "'") || strings.HasPrefix(sql, "E'") || strings.HasPrefix(sql, "$") {
		return "(" + sql + ")::" + sqlType(typ)
	}
	return sql
}

func (g *gen) setOperation(types []string, outer *scope, depth int) string {
	g.loose = true
	op := g.pick("union", "union all", "intersect", "except", "intersect all", "except all")
	return fmt.Sprintf("(%s) %s (%s)", g.selection(types, outer, depth-1), op, g.selection(types, outer, depth-1))
}

// limited is ordered by all columns, so that it is known which rows it has.
func (g *gen) limited(types []string, outer *scope, depth int) string {
	g.loose = true
	return fmt.Sprintf("select * from (%s) as %s order by %s %s", g.named(types, g.query(types, outer, depth-1)), g.alias("l"), g.order(len(types)), g.limit())
}

// named gives the columns of a query names.
func (g *gen) named(types []string, query string) string {
	names := make([]string, len(types))
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	return fmt.Sprintf("select * from (%s) as %s(%s)", query, g.alias("q"), strings.Join(names, ", "))
}

// order is an ORDER BY list over all columns by position.
func (g *gen) order(n int) string {
	var parts []string
	for _, i := range g.r.Perm(n) {
		parts = append(parts, fmt.Sprint(i+1, g.pick("", "", " desc", " asc"), g.pick("", "", " nulls first", " nulls last")))
	}
	return strings.Join(parts, ", ")
}

func (g *gen) limit() string {
	switch g.n(4) {
	case 0:
		return fmt.Sprintf("limit %d offset %d", g.n(8), g.n(5))
	case 1:
		return fmt.Sprintf("offset %d", g.n(6))
	case 2:
		return fmt.Sprintf("fetch first %d rows only", 1+g.n(6))
	}
	return fmt.Sprintf("limit %d", g.n(12))
}

// distinctOn is ordered by all its columns within what it is distinct on.
func (g *gen) distinctOn(types []string, from, where string, sc *scope, depth int) string {
	g.loose = true
	inner := fmt.Sprintf("select %s from %s%s", g.output(types, sc, depth), from, where)
	rest := []string{}
	for i := range types {
		rest = append(rest, fmt.Sprint(i+1, g.pick("", " desc")))
	}
	return fmt.Sprintf("select distinct on (n0) * from (%s) as %s order by %s", g.named(types, inner), g.alias("o"), strings.Join(rest, ", "))
}

// with is a query with common table expressions.
func (g *gen) with(types []string, outer *scope, depth int) string {
	before := len(g.ctes)
	var parts []string
	recursive := ""
	for range 1 + g.n(2) {
		name := g.alias("w")
		if g.chance(25) {
			recursive = "recursive "
			parts = append(parts, g.recursive(name))
			continue
		}
		own := g.types(1+g.n(3), outputTypes)
		c := &relation{sql: name}
		var names []string
		for i, t := range own {
			names = append(names, fmt.Sprint("c", i))
			c.columns = append(c.columns, column{names[i], t})
		}
		parts = append(parts, fmt.Sprintf("%s(%s) as %s(%s)", name, strings.Join(names, ", "), g.pick("", "", "materialized ", "not materialized "), g.query(own, outer, depth-1)))
		g.ctes = append(g.ctes, c)
	}
	text := "with " + recursive + strings.Join(parts, ", ") + " " + g.selection(types, outer, depth-1)
	g.ctes = g.ctes[:before]
	return text
}

// recursive is a WITH RECURSIVE query that ends by itself.
func (g *gen) recursive(name string) string {
	g.ctes = append(g.ctes, &relation{sql: name, columns: []column{{"n", "int4"}, {"s", "text"}}})
	all := g.pick("union all", "union")
	step := fmt.Sprintf("select n + 1, left(s || %s, 6) from %s where n < %d", g.literal("text"), name, 2+g.n(6))
	if t := g.tables[g.n(len(g.tables))]; !t.view && g.chance(40) {
		step = fmt.Sprintf("select %s.n + 1, %s from %s join %s as j on j.%s = %s.n where n < 4", name, g.pick("s", "left(j."+t.columns[0].sql+"::text || s, 5)"), name, t.name, t.columns[0].sql, name)
	}
	return fmt.Sprintf("%s(n, s) as (select %s, %s %s %s)", name, g.typed("int4", g.pick("1", "0", "2")), g.typed("text", g.literal("text")), all, step)
}

// top is a whole query, ordered or not; ordered says that the order of rows is told.
func (g *gen) top() (sql string, ordered bool) {
	types := g.types(1+g.n(4), outputTypes)
	sql = g.query(types, nil, 1+g.n(3))
	switch g.n(4) {
	case 0:
		return fmt.Sprintf("select * from (%s) as %s order by %s", g.named(types, sql), g.alias("t"), g.order(len(types))), true
	case 1:
		return fmt.Sprintf("select * from (%s) as %s order by %s %s", g.named(types, sql), g.alias("t"), g.order(len(types)), g.limit()), true
	}
	return sql, false
}
