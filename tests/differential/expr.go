package main

import (
	"fmt"
	"strings"
)

// value makes an expression of a type over what the scope has.
func (g *gen) value(typ string, sc *scope, depth int) string {
	if of, ok := words[typ]; ok {
		return g.pick(of...)
	}
	if typ == "anything" {
		typ = g.pick(outputTypes...)
	}
	if depth <= 0 || g.chance(20) {
		return g.leaf(typ, sc)
	}
	switch g.n(12) {
	case 0, 1:
		return g.choice(typ, sc, depth)
	case 2:
		if typ == "bool" {
			return g.comparison(sc, depth)
		}
		if !g.wild && !sc.noSub {
			return g.scalar(typ, sc, depth)
		}
	case 3, 4:
		if typ == "bool" {
			return g.condition(sc, depth)
		}
	}
	forms := g.routines.tame[typ]
	if g.wild && (len(forms) == 0 || g.chance(70)) {
		forms = g.routines.wild[typ]
	}
	if len(forms) == 0 {
		return g.leaf(typ, sc)
	}
	return g.fill(forms[g.n(len(forms))], sc, depth-1)
}

// fill puts arguments into a form.
func (g *gen) fill(f form, sc *scope, depth int) string {
	args := make([]any, len(f.args))
	for i, a := range f.args {
		args[i] = g.value(a, sc, depth)
	}
	return fmt.Sprintf(f.text, args...)
}

// leaf is a column when there is one of the type, or a literal.
func (g *gen) leaf(typ string, sc *scope) string {
	var columns []string
	for s := sc; s != nil; s = s.outer {
		for _, c := range s.columns {
			if c.typ == typ {
				columns = append(columns, c.sql)
			}
		}
		if len(columns) > 0 && g.chance(85) {
			break // the outer query's columns are named seldom
		}
	}
	if len(columns) > 0 && g.chance(80) {
		return g.pick(columns...)
	}
	return g.literal(typ)
}

// literal is a constant, written in one of the ways that SQL has for it, or a parameter.
func (g *gen) literal(typ string) string {
	of := values[typ].tame
	if g.wild && g.chance(40) {
		of = append(of[:len(of):len(of)], values[typ].wild...)
	}
	v := g.pick(of...)
	switch {
	case g.chance(6):
		return "null::" + sqlType(typ)
	case g.params != nil && g.chance(50):
		*g.params = append(*g.params, param{typ, v})
		p := fmt.Sprint("$", len(*g.params))
		if g.wild && g.chance(50) {
			return p
		}
		return p + "::" + sqlType(typ)
	case (typ == "int4" || typ == "int8" || typ == "numeric") && strings.Trim(v, "0123456789.-") == "" && g.chance(70):
		if v[0] == '-' {
			v = "(" + v + ")"
		}
		if typ == "int8" && len(v) < 11 || typ == "numeric" && !strings.Contains(v, ".") {
			return v + "::" + sqlType(typ)
		}
		return v
	case typ == "bool" && g.chance(80):
		return map[string]string{"t": "true", "f": "false"}[v]
	case typ == "text" && g.chance(60), g.wild && g.chance(10):
		return quote(v)
	}
	return quote(v) + "::" + sqlType(typ)
}

// sqlType is a type's name in a cast.
func sqlType(typ string) string {
	if elem, ok := strings.CutPrefix(typ, "_"); ok {
		return elem + "[]"
	}
	return typ
}

// choice is an expression that any type has: CASE, COALESCE, NULLIF, GREATEST, LEAST.
func (g *gen) choice(typ string, sc *scope, depth int) string {
	d := depth - 1
	switch g.n(6) {
	case 0:
		return fmt.Sprintf("case when %s then %s else %s end", g.value("bool", sc, d), g.value(typ, sc, d), g.value(typ, sc, d))
	case 1:
		return fmt.Sprintf("case when %s then %s when %s then %s end", g.value("bool", sc, d), g.value(typ, sc, d), g.value("bool", sc, d), g.value(typ, sc, d))
	case 2:
		return fmt.Sprintf("coalesce(%s, %s)", g.value(typ, sc, d), g.value(typ, sc, d))
	case 3:
		return fmt.Sprintf("coalesce(%s, %s, %s)", g.value(typ, sc, d), g.value(typ, sc, d), g.literal(typ))
	case 4:
		if typ != "json" && typ != "varbit" {
			return fmt.Sprintf("nullif(%s, %s)", g.value(typ, sc, d), g.value(typ, sc, d))
		}
	case 5:
		if typ != "json" && typ != "varbit" && !(typ == "numeric" && !g.wild) && typ != "interval" && typ != "bool" {
			return fmt.Sprintf("%s(%s, %s)", g.pick("greatest", "least"), g.value(typ, sc, d), g.value(typ, sc, d))
		}
	}
	return g.leaf(typ, sc)
}

// comparison compares two expressions of one type.
func (g *gen) comparison(sc *scope, depth int) string {
	typ := g.pick(columnTypes...)
	d := depth - 1
	a, b := g.value(typ, sc, d), g.value(typ, sc, d)
	switch g.n(8) {
	case 0:
		return fmt.Sprintf("(%s is null)", a)
	case 1:
		return fmt.Sprintf("(%s is not null)", a)
	case 2:
		return fmt.Sprintf("(%s is %sdistinct from %s)", a, g.pick("", "not "), b)
	case 3:
		return fmt.Sprintf("(%s %sbetween %s%s and %s)", a, g.pick("", "not "), g.pick("", "symmetric "), b, g.value(typ, sc, d))
	case 4:
		return fmt.Sprintf("(%s %sin (%s, %s, %s))", a, g.pick("", "not "), b, g.literal(typ), g.literal(typ))
	}
	return fmt.Sprintf("(%s %s %s)", a, g.pick("=", "=", "=", "<>", "<", "<=", ">", ">="), b)
}

// condition is a sub-query that gives a boolean, or a comparison.
func (g *gen) condition(sc *scope, depth int) string {
	if g.wild || sc.noSub || depth < 1 {
		return g.comparison(sc, depth)
	}
	typ := g.pick("int4", "int4", "text", "date", "numeric", "int8")
	switch g.n(6) {
	case 0:
		return fmt.Sprintf("%sexists (%s)", g.pick("", "not "), g.query([]string{typ}, sc, depth-1))
	case 1:
		return fmt.Sprintf("(%s %sin (%s))", g.value(typ, sc, depth-1), g.pick("", "not "), g.query([]string{typ}, sc, depth-1))
	case 2:
		return fmt.Sprintf("(%s %s %s (%s))", g.value(typ, sc, depth-1), g.pick("=", "<>", "<", ">="), g.pick("any", "all", "some"), g.query([]string{typ}, sc, depth-1))
	case 3:
		return fmt.Sprintf("((%s, %s) %sin (%s))", g.value(typ, sc, depth-1), g.value("int4", sc, depth-1), g.pick("", "not "), g.query([]string{typ, "int4"}, sc, depth-1))
	}
	return g.comparison(sc, depth)
}

// scalar is a sub-query of one row: an aggregate, or the first of all.
func (g *gen) scalar(typ string, sc *scope, depth int) string {
	from, inner := g.from(sc, depth-1)
	where := g.where(inner, depth-1)
	if forms := plainAggregates[typ]; len(forms) > 0 && g.chance(70) {
		return fmt.Sprintf("(select %s from %s%s)", g.fill(forms[g.n(len(forms))], &scope{columns: inner.columns}, 0), from, where)
	}
	return fmt.Sprintf("(select %s from %s%s order by 1 limit 1)", g.orderable(typ, inner, depth-1), from, where)
}

// orderable is an expression of a type; of a type without an order it is a constant.
func (g *gen) orderable(typ string, sc *scope, depth int) string {
	if typ == "json" || typ == "varbit" {
		return g.literal(typ)
	}
	if typ == "numeric" || typ == "interval" || typ == "jsonb" || typ == "bpchar" {
		g.loose = true
	}
	return g.value(typ, sc, depth)
}
