package funcs

import (
	"math"
	"slices"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

func init() {
	regAgg(func(ci *CallInfo) func() Agg {
		t, coll := ci.ArgTypes[0], ci.Collation
		return func() Agg { return &orderedAgg{what: "mode", typ: t, coll: coll} }
	}, "mode")
	for _, name := range []string{"percentile_disc", "percentile_cont"} {
		regAgg(func(ci *CallInfo) func() Agg {
			t, r := ci.ArgTypes[0], ci.Result
			return func() Agg { return &orderedAgg{what: name, typ: t, result: r} }
		}, name)
	}
}

// orderedAgg is an ordered-set aggregate: the executor feeds its argument in order, a group at a time, and says before how many
// rows the group has. So only the values are kept that the result is made of.
type orderedAgg struct {
	what      string
	typ, coll types.OID
	result    types.OID
	direct    []types.Datum
	g         []orderedState
	bytes     int64
}

// orderedState is one group. For mode picks are the best value so far and the last one.
type orderedState struct {
	rows  int64 // that will come
	seen  int64
	at    []int64 // positions of picks, ascending
	picks []types.Datum
	n     [2]int64 // mode: how often picks came
}

func (a *orderedAgg) Grow(g int) error             { a.g = extendTo(a.g, g); return nil }
func (a *orderedAgg) Size() int64                  { return int64(96*cap(a.g)) + a.bytes }
func (a *orderedAgg) Reset()                       { clear(a.g); a.g, a.bytes = a.g[:0], 0 }
func (a *orderedAgg) SetDirect(args []types.Datum) { a.direct = args }

// Expect implements CountedAgg.
func (a *orderedAgg) Expect(group int, rows int64) {
	s := &a.g[group]
	s.rows = rows
	if rows == 0 || a.what == "mode" {
		return
	}
	for _, f := range a.fractions() {
		if !f.Null && inUnit(f.Float()) {
			lo, hi, _ := a.position(f.Float(), rows)
			s.at = append(s.at, lo, hi)
		}
	}
	slices.Sort(s.at)
	s.at = slices.Compact(s.at)
	a.bytes += int64(48 * len(s.at))
}

// Drop implements Collector.
func (a *orderedAgg) Drop(g int) {
	s := &a.g[g]
	a.bytes -= int64(48 * len(s.at))
	for _, d := range s.picks {
		a.bytes -= int64(len(d.B))
	}
	*s = orderedState{}
}

func (a *orderedAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	loop(n, sel, func(i int) {
		if args[0].IsNull(i) {
			return
		}
		s := &a.g[groups[i]]
		if a.what == "mode" {
			a.count(s, args[0].Datum(i))
		} else if k := len(s.picks); k < len(s.at) && s.at[k] == s.seen {
			s.picks = append(s.picks, a.keep(args[0].Datum(i)))
		}
		s.seen++
	})
	return nil
}

// keep copies a value.
func (a *orderedAgg) keep(d types.Datum) types.Datum {
	if d.B != nil {
		d.B = append([]byte(nil), d.B...)
		a.bytes += int64(len(d.B))
	}
	return d
}

// count is mode's step: equal values come one after the other, and the first of equally frequent ones wins.
func (a *orderedAgg) count(s *orderedState, d types.Datum) {
	switch {
	case s.picks == nil:
		s.picks = []types.Datum{a.keep(d), a.keep(d)}
	case types.Compare(a.typ, a.coll, s.picks[1], d) != 0:
		a.bytes -= int64(len(s.picks[1].B))
		s.picks[1], s.n[1] = a.keep(d), 0
	}
	s.n[1]++
	if s.n[1] > s.n[0] {
		a.bytes -= int64(len(s.picks[0].B))
		s.n[0] = s.n[1]
		s.picks[0] = a.keep(s.picks[1])
	}
}

// Combine has nothing to take over: a group is fed when all of its rows are there.
func (a *orderedAgg) Combine(Agg, []uint32) error { return nil }

func (a *orderedAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		s := &a.g[g]
		if s.seen == 0 {
			out.SetNull(g - from)
			continue
		}
		if a.what == "mode" {
			out.SetDatum(g-from, s.picks[0])
			continue
		}
		d, err := a.percentiles(s)
		if err != nil {
			return err
		}
		out.SetDatum(g-from, d)
	}
	return nil
}

// fractions returns the direct argument's fractions: one, or the elements of an array.
func (a *orderedAgg) fractions() []types.Datum {
	if len(a.direct) == 0 || a.direct[0].Null {
		return nil
	}
	if !a.array() {
		return a.direct[:1]
	}
	return types.ReadArray(a.direct[0].B).Datums()
}

// array says whether the result is an array of percentiles.
func (a *orderedAgg) array() bool {
	return types.ElemOf(a.result) != 0 && types.KindOf(a.result) == types.KindBytes
}

// percentiles computes one fraction, or an array of them.
func (a *orderedAgg) percentiles(s *orderedState) (types.Datum, error) {
	if len(a.direct) == 0 || a.direct[0].Null {
		return types.NullDatum, nil
	}
	if !a.array() {
		return a.percentile(s, a.direct[0].Float())
	}
	elem := types.ElemOf(a.result)
	arr := types.ReadArray(a.direct[0].B)
	if arr.NDim() == 0 {
		return types.Bytes(types.EmptyArray(elem)), nil
	}
	lens, lowers := arr.Dims()
	b := types.BuildArray(nil, elem, lens, lowers)
	for _, f := range a.fractions() {
		if f.Null {
			b.Null()
			continue
		}
		d, err := a.percentile(s, f.Float())
		if err != nil {
			return d, err
		}
		b.Add(d)
	}
	return types.Bytes(b.Buf), nil
}

func inUnit(p float64) bool { return p >= 0 && p <= 1 }

// position returns the rows between which fraction p of rows lies, and how far from the first towards the second.
func (a *orderedAgg) position(p float64, rows int64) (lo, hi int64, part float64) {
	n := float64(rows)
	if a.what == "percentile_disc" {
		lo = int64(max(math.Ceil(p*n), 1)) - 1
		return lo, lo, 0
	}
	at := p * (n - 1)
	lo, hi = int64(math.Floor(at)), int64(math.Ceil(at))
	return lo, hi, at - float64(lo)
}

func (a *orderedAgg) percentile(s *orderedState, p float64) (types.Datum, error) {
	if !inUnit(p) {
		return types.NullDatum, sqlerr.New(sqlerr.NumericValueOutOfRange, "percentile value %g is not between 0 and 1", p)
	}
	lo, hi, part := a.position(p, s.rows)
	first, second := s.pick(lo), s.pick(hi)
	if lo == hi {
		return first, nil
	}
	if a.typ == types.IntervalOID {
		x, y := types.DecodeInterval(first.B), types.DecodeInterval(second.B)
		diff, err := y.Sub(x)
		if err != nil {
			return types.NullDatum, err
		}
		if diff, err = diff.Scale(part, false); err != nil {
			return types.NullDatum, err
		}
		x, err = x.Add(diff)
		return types.Bytes(types.EncodeInterval(nil, x)), err
	}
	x, y := first.Float(), second.Float()
	return types.Float(x + part*(y-x)), nil
}

// pick returns the value at a position that Expect asked for.
func (s *orderedState) pick(at int64) types.Datum {
	i, _ := slices.BinarySearch(s.at, at)
	return s.picks[i]
}
