package funcs

import (
	"math"
	"unsafe"

	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/types/numeric"
	"herd/sql/vec"
)

func init() {
	regAgg(func(ci *CallInfo) func() Agg {
		switch ci.ArgTypes[0] {
		case types.Int2OID, types.Int4OID, types.MoneyOID:
			return func() Agg { return &sumInt{} }
		case types.Int8OID:
			return func() Agg { return &sumNum{ints: true} }
		case types.NumericOID:
			return func() Agg { return &sumNum{} }
		case types.Float4OID:
			return func() Agg { return &sumFloat{single: true} }
		case types.Float8OID:
			return func() Agg { return &sumFloat{} }
		case types.IntervalOID:
			return func() Agg { return &sumInterval{} }
		}
		return nil
	}, "sum")
	regAgg(func(ci *CallInfo) func() Agg {
		switch ci.ArgTypes[0] {
		case types.Int2OID, types.Int4OID, types.Int8OID:
			return func() Agg { return &sumNum{ints: true, avg: true} }
		case types.NumericOID:
			return func() Agg { return &sumNum{avg: true} }
		case types.Float4OID, types.Float8OID:
			return func() Agg { return &sumFloat{avg: true} }
		case types.IntervalOID:
			return func() Agg { return &sumInterval{avg: true} }
		}
		return nil
	}, "avg")
}

// sumInt sums int2, int4 and money into 64 bits.
type sumInt struct {
	sum  []int64
	seen []bool
}

func (a *sumInt) Grow(g int) error {
	a.sum, a.seen = extendTo(a.sum, g), extendTo(a.seen, g)
	return nil
}
func (a *sumInt) Size() int64 { return int64(9 * cap(a.sum)) }
func (a *sumInt) Reset()      { a.sum, a.seen = a.sum[:0], a.seen[:0] }

func (a *sumInt) add(g uint32, v int64) error {
	s := a.sum[g] + v
	if (s^a.sum[g])&(s^v) < 0 {
		return outOfRange("bigint")
	}
	a.sum[g], a.seen[g] = s, true
	return nil
}

func (a *sumInt) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	if v.HasNulls || v.Const {
		return loopErr(n, sel, func(i int) error {
			if v.IsNull(i) {
				return nil
			}
			return a.add(groups[i], v.Int[v.At(i)])
		})
	}
	if sel == nil {
		for i, x := range v.Int[:n] {
			if err := a.add(groups[i], x); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range sel {
		if err := a.add(groups[i], v.Int[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *sumInt) Combine(other Agg, m []uint32) error {
	o := other.(*sumInt)
	for g := range o.sum {
		if m[g] != ^uint32(0) && o.seen[g] {
			if err := a.add(m[g], o.sum[g]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *sumInt) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		if a.seen[g] {
			out.Int[g-from] = a.sum[g]
		} else {
			out.SetNull(g - from)
		}
	}
	return nil
}

// sumNum sums int8 and numeric, or averages integers and numeric, exactly.
type sumNum struct {
	ints, avg bool
	sum       []numeric.Sum
}

func (a *sumNum) Grow(g int) error { a.sum = extendTo(a.sum, g); return nil }
func (a *sumNum) Size() int64      { return int64(cap(a.sum)) * int64(unsafe.Sizeof(numeric.Sum{})) }
func (a *sumNum) Reset()           { clear(a.sum); a.sum = a.sum[:0] }

func (a *sumNum) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	switch {
	case a.ints || v.Dec:
		scale := v.Scale
		if a.ints {
			scale = 0
		}
		a.addAll(groups, n, sel, v, scale)
	default:
		loop(n, sel, func(i int) {
			if !v.HasNulls || !v.IsNull(i) {
				a.sum[groups[i]].AddEncoded(v.Bytes(i))
			}
		})
	}
	return nil
}

// addAll adds the coefficients of v.
func (a *sumNum) addAll(groups []uint32, n int, sel []uint16, v *vec.Vector, scale int) {
	switch {
	case v.HasNulls || v.Const:
		loop(n, sel, func(i int) {
			if !v.IsNull(i) {
				a.sum[groups[i]].AddSmall(v.Int[v.At(i)], scale)
			}
		})
	case sel == nil:
		for i, x := range v.Int[:n] {
			a.sum[groups[i]].AddSmall(x, scale)
		}
	default:
		for _, i := range sel {
			a.sum[groups[i]].AddSmall(v.Int[i], scale)
		}
	}
}

func (a *sumNum) Combine(other Agg, m []uint32) error {
	o := other.(*sumNum)
	for g := range o.sum {
		if m[g] != ^uint32(0) {
			a.sum[m[g]].Merge(&o.sum[g])
		}
	}
	return nil
}

func (a *sumNum) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		s := &a.sum[g]
		if s.Count() == 0 {
			out.SetNull(g - from)
			continue
		}
		r, err := s.Total()
		if a.avg {
			r, err = s.Avg()
		}
		if err != nil {
			return err
		}
		out.Finish(g-from, r.Encode(out.Start()))
	}
	return nil
}

// sumFloat sums or averages floats. float4 sums are rounded to float4 after every addition, averages are float8.
type sumFloat struct {
	single, avg bool
	sum         []float64
	n           []int64
}

func (a *sumFloat) Grow(g int) error {
	a.sum, a.n = extendTo(a.sum, g), extendTo(a.n, g)
	return nil
}
func (a *sumFloat) Size() int64 { return int64(16 * cap(a.sum)) }
func (a *sumFloat) Reset()      { a.sum, a.n = a.sum[:0], a.n[:0] }

func (a *sumFloat) add(g uint32, v float64, n int64) error {
	s := a.sum[g] + v
	if a.single {
		s = float64(float32(s))
	}
	if math.IsInf(s, 0) && !math.IsInf(v, 0) && !math.IsInf(a.sum[g], 0) {
		return outOfRangeFloat()
	}
	a.sum[g] = s
	a.n[g] += n
	return nil
}

func (a *sumFloat) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	return loopErr(n, sel, func(i int) error {
		if v.HasNulls && v.IsNull(i) {
			return nil
		}
		return a.add(groups[i], v.Float[v.At(i)], 1)
	})
}

func (a *sumFloat) Combine(other Agg, m []uint32) error {
	o := other.(*sumFloat)
	for g := range o.sum {
		if m[g] != ^uint32(0) && o.n[g] > 0 {
			if err := a.add(m[g], o.sum[g], o.n[g]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *sumFloat) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		switch {
		case a.n[g] == 0:
			out.SetNull(g - from)
		case a.avg:
			out.Float[g-from] = a.sum[g] / float64(a.n[g])
		default:
			out.Float[g-from] = a.sum[g]
		}
	}
	return nil
}

func outOfRangeFloat() error { return outOfRangeValue("value out of range: overflow") }

// sumInterval sums or averages intervals.
type sumInterval struct {
	avg bool
	sum []datetime.Interval
	n   []int64
}

func (a *sumInterval) Grow(g int) error {
	a.sum, a.n = extendTo(a.sum, g), extendTo(a.n, g)
	return nil
}
func (a *sumInterval) Size() int64 { return int64(24 * cap(a.sum)) }
func (a *sumInterval) Reset()      { a.sum, a.n = a.sum[:0], a.n[:0] }

func (a *sumInterval) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	return loopErr(n, sel, func(i int) error {
		if v.IsNull(i) {
			return nil
		}
		g := groups[i]
		s, err := a.sum[g].Add(types.DecodeInterval(v.Bytes(i)))
		a.sum[g] = s
		a.n[g]++
		return err
	})
}

func (a *sumInterval) Combine(other Agg, m []uint32) error {
	o := other.(*sumInterval)
	for g := range o.sum {
		if m[g] == ^uint32(0) || o.n[g] == 0 {
			continue
		}
		s, err := a.sum[m[g]].Add(o.sum[g])
		if err != nil {
			return err
		}
		a.sum[m[g]] = s
		a.n[m[g]] += o.n[g]
	}
	return nil
}

func (a *sumInterval) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		if a.n[g] == 0 {
			out.SetNull(g - from)
			continue
		}
		r := a.sum[g]
		if a.avg {
			var err error
			if r, err = r.Scale(float64(a.n[g]), true); err != nil {
				return err
			}
		}
		out.Finish(g-from, types.EncodeInterval(out.Start(), r))
	}
	return nil
}
