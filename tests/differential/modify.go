package main

import (
	"fmt"
	"slices"
	"strings"
)

// base returns a table of the round that is no view.
func (g *gen) base() *table {
	for {
		if t := g.tables[g.n(len(g.tables))]; !t.view {
			return t
		}
	}
}

// modify is a statement that changes rows.
func (g *gen) modify() string {
	t := g.base()
	switch g.n(12) {
	case 0, 1:
		return g.insertRows(t, 1+g.n(3)) + g.returning(t)
	case 2:
		return g.upsert(t)
	case 3:
		return g.insertSelect(t)
	case 4, 5:
		return g.update(t) + g.returning(t)
	case 6:
		return g.updateFrom(t)
	case 7:
		return g.delete(t) + g.returning(t)
	case 8:
		return g.deleteUsing(t)
	case 9:
		return g.merge(t)
	case 10:
		return g.modifyingWith(t)
	}
	return fmt.Sprintf("select * from %s", t.name)
}

// scopeOf is a scope with a table's columns under its name.
func scopeOf(t *table, name string) *scope {
	sc := &scope{}
	for _, c := range t.columns {
		sc.columns = append(sc.columns, column{name + "." + c.sql, c.typ})
	}
	return sc
}

func (g *gen) returning(t *table) string {
	switch g.n(3) {
	case 0:
		return " returning *"
	case 1:
		return " returning " + g.output(g.types(1+g.n(2), outputTypes), &scope{columns: scopeOf(t, t.name).columns, noSub: true}, 1)
	}
	return ""
}

func (g *gen) upsert(t *table) string {
	insert := g.insertRows(t, 1+g.n(3))
	if !t.key {
		return insert + " on conflict do nothing"
	}
	if g.chance(30) || len(t.writable()) == 0 {
		return insert + g.pick(" on conflict do nothing", " on conflict (k) do nothing returning k")
	}
	w := t.writable()
	c := w[g.n(len(w))]
	both := scopeOf(t, t.name)
	both.columns = append(both.columns, scopeOf(t, "excluded").columns...)
	both.noSub = true
	where := ""
	if g.chance(40) {
		where = " where " + g.value("bool", both, 1)
	}
	return fmt.Sprintf("%s on conflict (k) do update set %s = %s%s%s", insert, c.sql, g.assigned(c, both), where, g.returning(t))
}

// assigned is a value for a column, which its length or precision cannot refuse.
func (g *gen) assigned(c column, sc *scope) string {
	switch c.typ {
	case "varchar":
		return "left(" + g.value("varchar", sc, 1) + ", 5)"
	case "bpchar", "numeric":
		return g.literal(c.typ)
	}
	return g.typed(c.typ, g.value(c.typ, sc, 1))
}

func (g *gen) insertSelect(t *table) string {
	types := []string{}
	names := []string{}
	for _, c := range t.columns {
		if !t.fixed[c.sql] && c.sql != "parent" && c.typ != "bpchar" && c.typ != "varchar" && c.typ != "numeric" {
			types, names = append(types, c.typ), append(names, c.sql)
		}
	}
	if len(types) == 0 {
		return g.insertRows(t, 1)
	}
	inner := g.named(types, g.query(types, nil, 1))
	return fmt.Sprintf("insert into %s (%s) select * from (%s) as %s order by %s limit %d on conflict do nothing%s", t.name, strings.Join(names, ", "), inner, g.alias("i"), g.order(len(types)), 1+g.n(4), g.returning(t))
}

func (g *gen) sets(t *table, sc *scope) string {
	w := t.writable()
	if len(w) == 0 {
		return ""
	}
	c := w[g.n(len(w))]
	d := w[g.n(len(w))]
	switch {
	case c.sql != d.sql && g.chance(30):
		return fmt.Sprintf("(%s, %s) = (%s, %s)", c.sql, d.sql, g.assigned(c, sc), g.assigned(d, sc))
	case c.sql != d.sql && g.chance(30):
		return fmt.Sprintf("%s = %s, %s = default", c.sql, g.assigned(c, sc), d.sql)
	}
	return fmt.Sprintf("%s = %s", c.sql, g.assigned(c, sc))
}

func (g *gen) update(t *table) string {
	sc := scopeOf(t, t.name)
	if t.key && g.chance(15) { // one row's key
		return fmt.Sprintf("update %s set k = %d where k = %d", t.name, g.n(60), g.n(60))
	}
	set := g.sets(t, sc)
	if set == "" {
		return "delete from " + t.name + " where false"
	}
	return "update " + t.name + " set " + set + g.where(sc, 1)
}

// updateFrom joins on the key of the other table, so that each row has at most one partner.
func (g *gen) updateFrom(t *table) string {
	u := g.base()
	if !u.key {
		return g.update(t)
	}
	sc := scopeOf(t, "x")
	ints := []string{}
	for _, c := range sc.columns {
		if c.typ == "int4" {
			ints = append(ints, c.sql)
		}
	}
	sc.columns = append(sc.columns, scopeOf(u, "y").columns...)
	sc.noSub = true
	set := g.sets(t, sc)
	if set == "" || len(ints) == 0 {
		return g.update(t)
	}
	return fmt.Sprintf("update %s as x set %s from %s as y where y.k = %s and %s returning x.*, y.k", t.name, set, u.name, g.pick(ints...), g.value("bool", sc, 1))
}

func (g *gen) delete(t *table) string {
	sc := scopeOf(t, t.name)
	if t.key {
		return fmt.Sprintf("delete from %s where %s.k < %d and %s", t.name, t.name, g.n(30), g.value("bool", sc, 2))
	}
	return fmt.Sprintf("delete from %s where %s and %s", t.name, g.value("bool", sc, 1), g.value("bool", sc, 1))
}

func (g *gen) deleteUsing(t *table) string {
	u := g.base()
	on := g.equality(scopeOf(t, "x").columns, scopeOf(u, "y").columns)
	return fmt.Sprintf("delete from %s as x using %s as y where %s and %s returning x.*", t.name, u.name, on, g.value("bool", &scope{columns: scopeOf(t, "x").columns, noSub: true}, 1))
}

func (g *gen) merge(t *table) string {
	w := t.writable()
	if !t.key || len(w) == 0 {
		return g.insertRows(t, 1)
	}
	c := w[g.n(len(w))]
	both := scopeOf(t, "m")
	source := fmt.Sprintf("(values (%d, %s), (%d, %s)) as s(k, v)", g.n(30), g.typed(c.typ, g.typedLiteral(c.typ)), 30+g.n(30), g.typedLiteral(c.typ))
	if c.typ == "bpchar" || c.typ == "varchar" || c.typ == "numeric" {
		both.noSub = true
	}
	matched := fmt.Sprintf("when matched and %s then update set %s = s.v when matched then delete", g.value("bool", &scope{columns: both.columns, noSub: true}, 1), c.sql)
	if g.chance(40) {
		matched = "when matched then " + g.pick("do nothing", "update set "+c.sql+" = "+g.literal(c.typ))
	}
	return fmt.Sprintf("merge into %s as m using %s on m.k = s.k %s when not matched then insert (k, %s) values (s.k, s.v)", t.name, source, matched, c.sql)
}

// typedLiteral is a literal with its type said.
func (g *gen) typedLiteral(typ string) string {
	v := quote(g.pick(values[typ].tame...))
	return v + "::" + sqlType(typ)
}

// modifyingWith changes rows in a WITH query and shows them beside what was there before.
func (g *gen) modifyingWith(t *table) string {
	change := g.pick(g.update(t), g.delete(t), g.insertRows(t, 2)) + " returning *"
	return fmt.Sprintf("with m as (%s) select (select count(*) from m), (select count(*) from %s)", change, t.name)
}

// wildRow is a SELECT of one row with expressions that may fail.
func (g *gen) wildRow() string {
	g.wild = true
	defer func() { g.wild = false }()
	sc := &scope{}
	from := ""
	if g.chance(40) {
		types := g.types(2+g.n(2), outputTypes)
		var row, names []string
		for i, t := range types {
			row = append(row, g.typedEdge(t))
			names = append(names, fmt.Sprint("w", i))
			sc.columns = append(sc.columns, column{"a0." + names[i], t})
		}
		from = fmt.Sprintf(" from (values (%s)) as a0(%s)", strings.Join(row, ", "), strings.Join(names, ", "))
	}
	typ := g.pick(outputTypes...)
	if g.chance(20) {
		typ = g.pick("json", "_text", "varbit", "timetz", "float4", "bpchar", "int2")
	}
	return "select " + g.value(typ, sc, 1+g.n(3)) + " as x" + from
}

// typedEdge is typedLiteral with the type's edges.
func (g *gen) typedEdge(typ string) string {
	v := values[typ]
	return quote(g.pick(append(v.tame[:len(v.tame):len(v.tame)], v.wild...)...)) + "::" + sqlType(typ)
}

// calls is a SELECT of one call of PostgreSQL's list with edge values.
func (g *gen) calls() string {
	g.wild = true
	defer func() { g.wild = false }()
	var types []string
	for _, typ := range slices.Concat(outputTypes, list("json _text varbit timetz float4 bpchar int2")) {
		if len(g.routines.wild[typ]) > 0 {
			types = append(types, typ)
		}
	}
	forms := g.routines.wild[g.pick(types...)]
	return "select " + g.fill(forms[g.n(len(forms))], &scope{}, g.n(2)) + " as x"
}
