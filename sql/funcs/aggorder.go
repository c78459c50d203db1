package funcs

import (
	"math"

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

// orderedAgg is an ordered-set aggregate: the executor feeds its argument in order.
type orderedAgg struct {
	what      string
	typ, coll types.OID
	result    types.OID
	direct    []types.Datum
	g         [][]types.Datum
	bytes     int64
}

func (a *orderedAgg) Grow(g int) error             { a.g = extendTo(a.g, g); return nil }
func (a *orderedAgg) Size() int64                  { return int64(24*cap(a.g)) + a.bytes }
func (a *orderedAgg) Reset()                       { clear(a.g); a.g, a.bytes = a.g[:0], 0 }
func (a *orderedAgg) SetDirect(args []types.Datum) { a.direct = args }

func (a *orderedAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	loop(n, sel, func(i int) {
		if args[0].IsNull(i) {
			return
		}
		d := args[0].Datum(i)
		if d.B != nil {
			d.B = append([]byte(nil), d.B...)
		}
		a.g[groups[i]] = append(a.g[groups[i]], d)
		a.bytes += int64(40 + len(d.B))
	})
	return nil
}

func (a *orderedAgg) Combine(other Agg, m []uint32) error {
	for g, o := range other.(*orderedAgg).g {
		if m[g] != ^uint32(0) {
			a.g[m[g]] = append(a.g[m[g]], o...)
		}
	}
	return nil
}

func (a *orderedAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		vals := a.g[g]
		if len(vals) == 0 {
			out.SetNull(g - from)
			continue
		}
		if a.what == "mode" {
			out.SetDatum(g-from, a.mode(vals))
			continue
		}
		d, err := a.percentiles(vals)
		if err != nil {
			return err
		}
		out.SetDatum(g-from, d)
	}
	return nil
}

// mode returns the most frequent value, the first one of equally frequent ones.
func (a *orderedAgg) mode(vals []types.Datum) types.Datum {
	best, bestN, n := vals[0], 0, 0
	for i := range vals {
		if i > 0 && types.Compare(a.typ, a.coll, vals[i-1], vals[i]) == 0 {
			n++
		} else {
			n = 1
		}
		if n > bestN {
			best, bestN = vals[i], n
		}
	}
	return best
}

// percentiles computes one fraction, or an array of them.
func (a *orderedAgg) percentiles(vals []types.Datum) (types.Datum, error) {
	if len(a.direct) == 0 || a.direct[0].Null {
		return types.NullDatum, nil
	}
	elem := types.ElemOf(a.result)
	if elem == 0 || types.KindOf(a.result) != types.KindBytes {
		return a.percentile(vals, a.direct[0].Float())
	}
	arr := types.ReadArray(a.direct[0].B)
	if arr.NDim() == 0 {
		return types.Bytes(types.EmptyArray(elem)), nil
	}
	lens, lowers := arr.Dims()
	b := types.BuildArray(nil, elem, lens, lowers)
	for _, f := range arr.Datums() {
		if f.Null {
			b.Null()
			continue
		}
		d, err := a.percentile(vals, f.Float())
		if err != nil {
			return d, err
		}
		b.Add(d)
	}
	return types.Bytes(b.Buf), nil
}

func (a *orderedAgg) percentile(vals []types.Datum, p float64) (types.Datum, error) {
	if p < 0 || p > 1 || p != p {
		return types.NullDatum, sqlerr.New(sqlerr.NumericValueOutOfRange, "percentile value %g is not between 0 and 1", p)
	}
	n := float64(len(vals))
	if a.what == "percentile_disc" {
		return vals[int(max(math.Ceil(p*n), 1))-1], nil
	}
	at := p * (n - 1)
	lo, hi := int(math.Floor(at)), int(math.Ceil(at))
	if lo == hi {
		return vals[lo], nil
	}
	part := at - float64(lo)
	if a.typ == types.IntervalOID {
		x, y := types.DecodeInterval(vals[lo].B), types.DecodeInterval(vals[hi].B)
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
	x, y := vals[lo].Float(), vals[hi].Float()
	return types.Float(x + part*(y-x)), nil
}
