package main

import (
	"fmt"
	"math/rand/v2"
)

// gen makes the statements of a round.
type gen struct {
	r        *rand.Rand
	routines *routines
	tables   []*table
	aliases  int
	wild     bool // expressions that may fail: for statements of one row
	loose    bool // the statement shows one of several equal values, which may differ in scale
	ctes     []*relation

	params *[]param // nil when the statement has none
}

// table is a table or view of the round.
type table struct {
	name    string
	columns []column
	view    bool
	key     bool            // column k is the primary key
	unique  []string        // columns, beside k, that an index makes unique
	fixed   map[string]bool // columns that take no value: generated ones
}

// column is something of a type that an expression can name.
type column struct{ sql, typ string }

// param is a parameter's value as text.
type param struct{ typ, value string }

// scope is what an expression may name.
type scope struct {
	columns []column
	outer   *scope
	noSub   bool // no sub-queries: over grouped rows they may name only plain columns
}

// relation is an item of FROM.
type relation struct {
	sql     string
	columns []column
}

func (g *gen) n(n int) int             { return g.r.IntN(n) }
func (g *gen) chance(percent int) bool { return g.r.IntN(100) < percent }
func (g *gen) pick(of ...string) string {
	return of[g.r.IntN(len(of))]
}

// alias returns a name that the statement has not.
func (g *gen) alias(of string) string {
	g.aliases++
	return fmt.Sprint(of, g.aliases)
}

// types returns n random types of a list.
func (g *gen) types(n int, of []string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = g.pick(of...)
	}
	return out
}
