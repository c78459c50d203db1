package main

import (
	"fmt"
	"slices"
	"strings"
)

// schema makes the round's definitions and rows. They all succeed.
func (g *gen) schema() []string {
	out := []string{"create type mood as enum ('sad', 'ok', 'happy')"}
	for i := range 2 + g.n(3) {
		t, ddl := g.table(fmt.Sprint("t", i))
		out = append(out, ddl)
		out = append(out, g.indexes(t)...)
		for range 1 + g.n(5) {
			out = append(out, g.insertRows(t, 1+g.n(6)))
		}
		g.tables = append(g.tables, t)
	}
	for i := range g.n(3) {
		v := &table{name: fmt.Sprint("v", i), view: true}
		types := g.types(1+g.n(4), outputTypes)
		var names []string
		for c, typ := range types {
			names = append(names, fmt.Sprint("c", c))
			v.columns = append(v.columns, column{names[c], typ})
		}
		out = append(out, fmt.Sprintf("create view %s(%s) as %s", v.name, strings.Join(names, ", "), g.query(types, nil, 2)))
		g.tables = append(g.tables, v)
	}
	if g.chance(30) {
		out = append(out, "analyze")
	}
	return out
}

// table makes one table; all but the first may refer to the one before.
func (g *gen) table(name string) (*table, string) {
	t := &table{name: name, fixed: map[string]bool{}}
	var parts []string
	if g.chance(80) {
		t.key = true
		t.columns = append(t.columns, column{"k", "int4"})
		parts = append(parts, "k int primary key")
	}
	for i := range 2 + g.n(6) {
		c := column{fmt.Sprint("c", i), g.pick(columnTypes...)}
		t.columns = append(t.columns, c)
		parts = append(parts, c.sql+" "+g.columnDef(t, c))
	}
	if n := len(g.tables); n > 0 && g.tables[n-1].key && g.chance(50) {
		t.columns = append(t.columns, column{"parent", "int4"})
		parts = append(parts, "parent int references "+g.tables[n-1].name+g.pick("", " on delete cascade", " on delete set null", " on update cascade on delete set default", " deferrable initially deferred"))
	}
	if g.chance(20) {
		parts = append(parts, "check ("+g.value("bool", &scope{columns: t.columns, noSub: true}, 1)+" is not false or true)")
	}
	return t, fmt.Sprintf("create table %s (%s)", name, strings.Join(parts, ", "))
}

// columnDef is a column's type and what is said of it.
func (g *gen) columnDef(t *table, c column) string {
	typ := sqlType(c.typ)
	switch c.typ {
	case "varchar":
		typ = g.pick("varchar", "varchar(5)", "varchar(20)")
	case "bpchar":
		typ = g.pick("char(4)", "char(8)")
	case "numeric":
		typ = g.pick("numeric", "numeric(10,2)", "numeric(18,4)", "numeric(30,1)")
	case "timestamp":
		typ = g.pick("timestamp", "timestamp(0)")
	}
	if c.typ == "int4" && t.key && g.chance(10) {
		t.fixed[c.sql] = true
		return "int generated always as (k * 2 + 1) stored"
	}
	switch g.n(8) {
	case 0:
		return typ + " default " + g.literal(c.typ)
	case 1:
		return typ + " not null default " + quote(g.pick(values[c.typ].tame...))
	case 2:
		if c.typ == "int4" || c.typ == "text" {
			return fmt.Sprintf("%s check (%s is null or %s %s)", typ, c.sql, c.sql, map[string]string{"int4": "> -100000", "text": "<> 'forbidden'"}[c.typ])
		}
	}
	return typ
}

func (g *gen) indexes(t *table) []string {
	var out []string
	for i := range g.n(4) {
		c := t.columns[g.n(len(t.columns))]
		name := fmt.Sprintf("%s_i%d", t.name, i)
		switch g.n(6) {
		case 0:
			d := t.columns[g.n(len(t.columns))]
			out = append(out, fmt.Sprintf("create index %s on %s (%s%s, %s)", name, t.name, c.sql, g.pick("", " desc", " nulls first", " desc nulls last"), d.sql))
		case 1:
			out = append(out, fmt.Sprintf("create index %s on %s (%s) where %s is not null", name, t.name, c.sql, t.columns[len(t.columns)-1].sql))
		case 2:
			if c.typ == "text" {
				out = append(out, fmt.Sprintf("create index %s on %s (lower(%s))", name, t.name, c.sql))
			} else if c.typ == "int4" {
				out = append(out, fmt.Sprintf("create index %s on %s ((%s %% 10), %s)", name, t.name, c.sql, c.sql))
			}
		default:
			out = append(out, fmt.Sprintf("create index %s on %s (%s%s)", name, t.name, c.sql, g.pick("", " desc")))
		}
	}
	if t.key && g.chance(25) {
		for _, c := range t.columns {
			if (c.typ == "text" || c.typ == "int8" || c.typ == "date") && !t.fixed[c.sql] {
				t.unique = append(t.unique, c.sql)
				return append(out, fmt.Sprintf("create unique index %s_u on %s (%s)", t.name, t.name, c.sql))
			}
		}
	}
	return out
}

// insertRows is an INSERT of literals. Rows that are there already, or have no parent, make it fail: equally on both servers.
func (g *gen) insertRows(t *table, n int) string {
	var names []string
	var columns []column
	for _, c := range t.columns {
		if !t.fixed[c.sql] && (c.sql == "k" || g.chance(90)) {
			names = append(names, c.sql)
			columns = append(columns, c)
		}
	}
	if len(names) == 0 {
		return "insert into " + t.name + " default values"
	}
	var rows []string
	for range n {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = g.stored(c)
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	return fmt.Sprintf("insert into %s (%s) values %s", t.name, strings.Join(names, ", "), strings.Join(rows, ", "))
}

// stored is a value for a column.
func (g *gen) stored(c column) string {
	switch {
	case c.sql == "k":
		return fmt.Sprint(g.n(60))
	case c.sql == "parent":
		return g.pick("null", "null", fmt.Sprint(g.n(60)))
	case g.chance(4):
		return "default"
	}
	return g.literal(c.typ)
}

// writable are the columns of a table that UPDATE may set without meeting a unique index.
func (t *table) writable() []column {
	var out []column
	for _, c := range t.columns {
		if c.sql != "k" && c.sql != "parent" && !t.fixed[c.sql] && !slices.Contains(t.unique, c.sql) {
			out = append(out, c)
		}
	}
	return out
}
