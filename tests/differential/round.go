package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// statement is what is sent to both servers.
type statement struct {
	sql     string
	params  []param
	runs    [][]param // values of further executions of the same prepared statement
	mode    protocol
	ordered bool // the order of rows is told by the statement
	loose   bool // of equal values any may be shown
	bag     bool // which of several rows fails first is left open
}

type protocol int

const (
	simple protocol = iota
	extended
	binaryResults
	prepared
)

// round is the outcome of one seed.
type round struct {
	seed        uint64
	statements  int
	unsupported map[string]int // messages of 0A000
	listed      map[string]int // reasons of listed.go
	difference  string         // "" when there is none
	script      []string       // what was sent, as SQL
}

// runRound runs the statements of a seed until the first difference.
func runRound(ctx context.Context, s *servers, r *routines, seed uint64, statements int) (out *round, err error) {
	out = &round{seed: seed, unsupported: map[string]int{}, listed: map[string]int{}}
	name := fmt.Sprint("differential_", seed)
	var conns [2]*pgconn.PgConn
	for i, server := range []string{s.postgres, s.herd} {
		c, done, err := database(ctx, server, name)
		if err != nil {
			return nil, err
		}
		conns[i] = c
		defer func() { err = errors.Join(err, done()) }()
	}
	g := &gen{r: rand.New(rand.NewPCG(seed, 0)), routines: r}
	for _, sql := range g.schema() {
		if !out.run(ctx, conns, &statement{sql: sql}) {
			return out, nil
		}
	}
	for _, sql := range catalogTexts {
		if !out.run(ctx, conns, &statement{sql: sql, ordered: true}) {
			return out, nil
		}
	}
	for out.statements < statements {
		for _, st := range g.next() {
			if !out.run(ctx, conns, st) {
				return out, nil
			}
		}
	}
	return out, nil
}

// catalogTexts show how the servers write down what was defined.
var catalogTexts = []string{
	"select relname, pg_get_viewdef(oid), pg_get_viewdef(oid, true) from pg_class where relkind = 'v' and relnamespace = 'public'::regnamespace order by 1",
	"select c.relname, pg_get_indexdef(c.oid) from pg_class c where relkind = 'i' and relnamespace = 'public'::regnamespace order by 1",
	"select conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2",
	"select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid) from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum where c.relkind in ('r', 'v') and c.relnamespace = 'public'::regnamespace and a.attnum > 0 order by 1, a.attnum",
}

// next makes the next statement, or the statements of a block.
func (g *gen) next() []*statement {
	switch k := g.n(100); {
	case k < 30:
		return []*statement{g.one(g.wildRow)}
	case k < 45:
		return []*statement{g.one(g.calls)}
	case k < 75:
		return []*statement{g.select1()}
	case k < 80:
		return []*statement{g.repeated()}
	case k < 97:
		return []*statement{g.change()}
	}
	return g.block()
}

// one is a statement of one row: errors are compared with their messages.
func (g *gen) one(make func() string) *statement {
	st := &statement{mode: protocol(g.n(3)), ordered: true}
	g.loose = false
	if st.mode != simple && g.chance(60) {
		g.params = &st.params
	}
	st.sql = make()
	g.params = nil
	return st
}

func (g *gen) select1() *statement {
	st := &statement{mode: protocol(g.n(2)), bag: true}
	g.loose = false
	if st.mode != simple && g.chance(40) {
		g.params = &st.params
	}
	st.sql, st.ordered = g.top()
	g.params = nil
	st.loose = g.loose
	return st
}

// repeated is a prepared statement that is executed often enough for a generic plan.
func (g *gen) repeated() *statement {
	st := &statement{mode: prepared, bag: true}
	g.loose = false
	g.params = &st.params
	st.sql, st.ordered = g.top()
	g.params = nil
	st.loose = g.loose
	for range 7 {
		run := make([]param, len(st.params))
		for i, p := range st.params {
			run[i] = param{p.typ, g.pick(values[p.typ].tame...)}
		}
		st.runs = append(st.runs, run)
	}
	return st
}

func (g *gen) change() *statement {
	st := &statement{mode: protocol(g.n(2)), bag: true}
	g.loose = false
	st.sql = g.modify()
	st.loose = g.loose
	return st
}

// block is a transaction with a savepoint, changes and an end.
func (g *gen) block() []*statement {
	out := []*statement{{sql: g.pick("begin", "begin isolation level repeatable read", "start transaction isolation level serializable")}}
	for range 1 + g.n(3) {
		out = append(out, g.change())
	}
	out = append(out, &statement{sql: "savepoint s"})
	for range 1 + g.n(3) {
		out = append(out, g.change())
	}
	out = append(out, &statement{sql: g.pick("rollback to s", "release s", "rollback to savepoint s")}, g.select1(), g.change())
	return append(out, &statement{sql: g.pick("commit", "rollback", "commit", "rollback and chain"), bag: true}, &statement{sql: "rollback"})
}

// run sends a statement to both servers. False ends the round.
func (o *round) run(ctx context.Context, conns [2]*pgconn.PgConn, st *statement) bool {
	o.statements++
	o.script = append(o.script, st.text())
	want, got := send(ctx, conns[0], st), send(ctx, conns[1], st)
	for i := range want {
		if want[i].code == "57014" {
			return true // PostgreSQL takes too long
		}
		diff := compare(st, &want[i], &got[i])
		if diff == "" {
			continue
		}
		if got[i].code == "0A000" {
			o.unsupported[got[i].message]++
			return !want[i].changes()
		}
		if reason := listed(st, &want[i], &got[i]); reason != "" {
			o.listed[reason]++
			return !want[i].changes() && !got[i].changes()
		}
		w, h := parted(want[i].String(), got[i].String())
		o.difference = fmt.Sprintf("seed %d, statement %d: %s\n%s\nPostgreSQL: %s\nherd:       %s", o.seed, o.statements, diff, st.text(), w, h)
		return false
	}
	return true
}

// text is a statement as psql would run it, as nearly as its parameters allow.
func (st *statement) text() string {
	if len(st.params) == 0 && st.mode != prepared {
		return st.sql + ";"
	}
	var values []string
	for _, p := range st.params {
		values = append(values, quote(p.value))
	}
	text := fmt.Sprintf("prepare p as %s;", st.sql)
	if len(values) == 0 {
		return text + " execute p; deallocate p;"
	}
	return fmt.Sprintf("%s execute p(%s); deallocate p;", text, strings.Join(values, ", "))
}
