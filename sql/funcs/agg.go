package funcs

import (
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/sql/vec"
)

// Agg is the state of one aggregate for numbered groups. The executor makes one a call site and resets it.
type Agg interface {
	// Grow makes room for groups 0..groups-1; new ones are empty.
	Grow(groups int) error
	// Update adds the selected rows (sel nil = 0..n-1); row i belongs to group groups[i].
	Update(c *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error
	// Combine adds the states of another instance: its group g goes to group m[g], or nowhere when that is ^0.
	Combine(other Agg, m []uint32) error
	// Final sets rows 0..to-from-1 of out to the results of groups from..to-1. out has been reset to the result's kind.
	Final(c *Ctx, from, to int, out *vec.Vector) error
	// Size returns the bytes that the states hold.
	Size() int64
	// Reset forgets all groups.
	Reset()
}

// DirectAgg is an ordered-set aggregate: it gets its direct arguments before Final.
type DirectAgg interface {
	Agg
	SetDirect(args []types.Datum)
}

// Collector is an aggregate whose states hold their whole input. The executor may feed the groups one after the other and
// drop each when its result is taken.
type Collector interface {
	Agg
	// Drop forgets the state of a group.
	Drop(group int)
}

// CountedAgg is an aggregate that is fed one group at a time and wants to know before how many rows the group has.
type CountedAgg interface {
	Agg
	// Expect says that rows rows whose first argument is not NULL will come for a group.
	Expect(group int, rows int64)
}

// aggMaker makes the factory of a call site; nil when the argument types are not supported.
type aggMaker func(ci *CallInfo) func() Agg

// aggregates maps the name of an aggregate in pg_catalog to its implementation.
var aggregates = map[string]aggMaker{}

func regAgg(m aggMaker, names ...string) {
	for _, n := range names {
		aggregates[n] = m
	}
}

// LookupAgg returns the factory of an aggregate call, false when there is no implementation.
func LookupAgg(ci CallInfo) (func() Agg, bool) {
	p := pgdata.FuncByOID(ci.Func)
	if p == nil {
		return nil, false
	}
	m := aggregates[p.Name]
	if m == nil {
		return nil, false
	}
	if len(ci.ArgTypes) < len(p.ArgTypes) && p.Name != "count" {
		ci.ArgTypes = p.ArgTypes
	}
	f := m(&ci)
	return f, f != nil
}

// AggExists says whether an aggregate has an implementation.
func AggExists(fn types.OID) bool {
	p := pgdata.FuncByOID(fn)
	return p != nil && aggregates[p.Name] != nil
}

// OrderSensitive says whether the result of an aggregate depends on the order of its input.
func OrderSensitive(fn types.OID) bool {
	p := pgdata.FuncByOID(fn)
	if p == nil {
		return true
	}
	switch p.Name {
	case "count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every", "bit_and", "bit_or", "bit_xor":
		return false
	}
	return true
}

// extendTo makes s n long; new elements are zero.
func extendTo[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		clear(s[old:])
		return s
	}
	t := make([]T, n, max(n, 2*cap(s), 8))
	copy(t, s)
	return t
}

// loop calls f for the selected rows.
func loop(n int, sel []uint16, f func(i int)) {
	if sel == nil {
		for i := range n {
			f(i)
		}
		return
	}
	for _, i := range sel {
		f(int(i))
	}
}

// loopErr is loop with early end.
func loopErr(n int, sel []uint16, f func(i int) error) error {
	if sel == nil {
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range sel {
		if err := f(int(i)); err != nil {
			return err
		}
	}
	return nil
}

// countAgg is count(*) and count(x).
type countAgg struct {
	n    []int64
	star bool
}

func init() {
	regAgg(func(ci *CallInfo) func() Agg {
		star := len(ci.ArgTypes) == 0
		return func() Agg { return &countAgg{star: star} }
	}, "count")
}

func (a *countAgg) Grow(g int) error { a.n = extendTo(a.n, g); return nil }
func (a *countAgg) Size() int64      { return int64(8 * cap(a.n)) }
func (a *countAgg) Reset()           { a.n = a.n[:0] }

func (a *countAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	if a.star || !args[0].HasNulls {
		if len(a.n) == 1 {
			if sel != nil {
				n = len(sel)
			}
			a.n[0] += int64(n)
			return nil
		}
		loop(n, sel, func(i int) { a.n[groups[i]]++ })
		return nil
	}
	loop(n, sel, func(i int) {
		if !args[0].IsNull(i) {
			a.n[groups[i]]++
		}
	})
	return nil
}

func (a *countAgg) Combine(other Agg, m []uint32) error {
	for g, n := range other.(*countAgg).n {
		if m[g] != ^uint32(0) {
			a.n[m[g]] += n
		}
	}
	return nil
}

func (a *countAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	copy(out.Int, a.n[from:to])
	return nil
}
