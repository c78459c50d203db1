package main

import (
	"fmt"
	"strings"
)

// from makes a FROM list and the scope of what is behind it.
func (g *gen) from(outer *scope, depth int) (string, *scope) {
	sc := &scope{outer: outer}
	first := g.relation(nil, depth)
	text := first.sql
	sc.columns = append(sc.columns, first.columns...)
	for joins := 0; joins < 2 && g.chance(45); joins++ {
		lateral := g.chance(15)
		var left *scope
		if lateral {
			left = &scope{columns: sc.columns, outer: outer}
		}
		r := g.relation(left, depth)
		all := append(sc.columns[:len(sc.columns):len(sc.columns)], r.columns...)
		on := &scope{columns: all, outer: outer}
		switch k := g.n(10); {
		case k == 0:
			text += ", " + r.sql
		case k == 1:
			text += " cross join " + r.sql
		case k < 5:
			text += " join " + r.sql + " on " + g.on(sc.columns, r.columns, on, depth)
		case k < 8:
			text += " left join " + r.sql + " on " + g.on(sc.columns, r.columns, on, depth)
		case k == 8 && !lateral:
			text += " right join " + r.sql + " on " + g.on(sc.columns, r.columns, on, depth)
		case !lateral:
			text += " full join " + r.sql + " on " + g.equality(sc.columns, r.columns)
		default:
			text += " join " + r.sql + " on true"
		}
		sc.columns = all
	}
	return text, sc
}

// on is a join's condition.
func (g *gen) on(left, right []column, both *scope, depth int) string {
	switch g.n(6) {
	case 0:
		return g.value("bool", both, min(depth, 2))
	case 1:
		return g.equality(left, right) + " and " + g.value("bool", both, min(depth, 2))
	}
	return g.equality(left, right)
}

// equality compares a column of one side with one of the other.
func (g *gen) equality(left, right []column) string {
	var pairs []string
	for _, a := range left {
		for _, b := range right {
			if a.typ == b.typ && a.typ != "json" && a.typ != "varbit" {
				pairs = append(pairs, a.sql+" = "+b.sql)
			}
		}
	}
	if len(pairs) == 0 {
		return "1 = 1"
	}
	return g.pick(pairs...)
}

// relation is one item of FROM; with a scope it is LATERAL over it.
func (g *gen) relation(lateral *scope, depth int) *relation {
	a := g.alias("a")
	switch k := g.n(10); {
	case lateral != nil || k == 0 && depth > 0:
		return g.derived(a, lateral, depth)
	case k == 1:
		return g.valuesList(a)
	case k == 2:
		switch g.n(3) {
		case 0:
			return &relation{"generate_series(1, " + g.pick("3", "0", "6") + ") " + a + "(x)", []column{{a + ".x", "int4"}}}
		case 1:
			return &relation{"unnest(" + g.literal("_int4") + ", " + g.literal("_text") + ") with ordinality " + a + "(x, y, z)", []column{{a + ".x", "int4"}, {a + ".y", "text"}, {a + ".z", "int8"}}}
		}
		return &relation{"(values (1), (2), (null)) " + a + "(x)", []column{{a + ".x", "int4"}}}
	case k == 3 && len(g.ctes) > 0:
		c := g.ctes[g.n(len(g.ctes))]
		return rename(c.sql, a, c.columns)
	}
	t := g.tables[g.n(len(g.tables))]
	return rename(t.name, a, t.columns)
}

// rename is a table under an alias.
func rename(name, alias string, columns []column) *relation {
	r := &relation{sql: name + " as " + alias}
	for _, c := range columns {
		r.columns = append(r.columns, column{alias + "." + c.sql, c.typ})
	}
	return r
}

func (g *gen) derived(a string, lateral *scope, depth int) *relation {
	types := g.types(1+g.n(3), outputTypes)
	if !g.chance(30) {
		types[0] = "int4"
	}
	r := &relation{}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = fmt.Sprint("d", i)
		r.columns = append(r.columns, column{a + "." + names[i], t})
	}
	word := ""
	if lateral != nil {
		word = "lateral "
	}
	r.sql = fmt.Sprintf("%s(%s) as %s(%s)", word, g.query(types, lateral, depth-1), a, strings.Join(names, ", "))
	return r
}

// valuesList is a list of VALUES with types.
func (g *gen) valuesList(a string) *relation {
	types := g.types(1+g.n(3), outputTypes)
	types[0] = "int4"
	r := &relation{}
	var rows, names []string
	for i, t := range types {
		names = append(names, fmt.Sprint("v", i))
		r.columns = append(r.columns, column{a + "." + names[i], t})
	}
	for range 1 + g.n(4) {
		row := make([]string, len(types))
		for i, t := range types {
			row[i] = g.literal(t)
			if len(rows) == 0 && !strings.HasSuffix(row[i], "::"+sqlType(t)) {
				row[i] += "::" + sqlType(t)
			}
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	r.sql = fmt.Sprintf("(values %s) as %s(%s)", strings.Join(rows, ", "), a, strings.Join(names, ", "))
	return r
}

// where is a WHERE clause or nothing.
func (g *gen) where(sc *scope, depth int) string {
	switch g.n(4) {
	case 0:
		return ""
	case 1:
		return " where " + g.value("bool", sc, min(depth, 2)) + " and " + g.value("bool", sc, 1)
	}
	return " where " + g.value("bool", sc, min(depth+1, 3))
}
