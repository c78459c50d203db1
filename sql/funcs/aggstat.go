package funcs

import (
	"math"
	"unsafe"

	"herd/sql/types"
	"herd/sql/types/numeric"
	"herd/sql/vec"
)

func init() {
	for _, x := range []struct {
		name      string
		pop, root bool
	}{{"variance", false, false}, {"var_samp", false, false}, {"var_pop", true, false}, {"stddev", false, true}, {"stddev_samp", false, true}, {"stddev_pop", true, true}} {
		regAgg(func(ci *CallInfo) func() Agg {
			switch types.KindOf(ci.ArgTypes[0]) {
			case types.KindFloat:
				return func() Agg { return &momentAgg{pop: x.pop, root: x.root} }
			case types.KindInt:
				return func() Agg { return &numVarAgg{ints: true, pop: x.pop, root: x.root} }
			}
			return func() Agg { return &numVarAgg{pop: x.pop, root: x.root} }
		}, x.name)
	}
	for _, name := range []string{"corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy"} {
		regAgg(func(*CallInfo) func() Agg { return func() Agg { return &regrAgg{what: name} } }, name)
	}
}

// moments are count, sum and sum of squared deviations, updated by the method of Youngs and Cramer.
type moments struct{ n, sx, sxx float64 }

// momentAgg is the variance family over floats.
type momentAgg struct {
	pop, root bool
	g         []moments
}

func (a *momentAgg) Grow(g int) error { a.g = extendTo(a.g, g); return nil }
func (a *momentAgg) Size() int64      { return int64(24 * cap(a.g)) }
func (a *momentAgg) Reset()           { a.g = a.g[:0] }

func (a *momentAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	return loopErr(n, sel, func(i int) error {
		if v.IsNull(i) {
			return nil
		}
		s, x := &a.g[groups[i]], v.Float[v.At(i)]
		old := s.n
		s.n++
		sx := s.sx + x
		if old > 0 {
			tmp := x*s.n - sx
			s.sxx += tmp * tmp / (s.n * old)
			if math.IsInf(sx, 0) || math.IsInf(s.sxx, 0) {
				if !math.IsInf(s.sx, 0) && !math.IsInf(x, 0) {
					return outOfRangeFloat()
				}
				s.sxx = math.NaN()
			}
		} else if math.IsNaN(x) || math.IsInf(x, 0) {
			s.sxx = math.NaN()
		}
		s.sx = sx
		return nil
	})
}

func (a *momentAgg) Combine(other Agg, m []uint32) error {
	for g, o := range other.(*momentAgg).g {
		if m[g] == ^uint32(0) || o.n == 0 {
			continue
		}
		s := &a.g[m[g]]
		if s.n == 0 {
			*s = o
			continue
		}
		tmp := s.sx/s.n - o.sx/o.n
		n := s.n + o.n
		s.sxx += o.sxx + s.n*o.n*tmp*tmp/n
		s.sx += o.sx
		s.n = n
	}
	return nil
}

func (a *momentAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		s := &a.g[g]
		div := s.n - 1
		if a.pop {
			div = s.n
		}
		if div <= 0 {
			out.SetNull(g - from)
			continue
		}
		r := s.sxx / div
		if a.root {
			r = math.Sqrt(r)
		}
		out.Float[g-from] = r
	}
	return nil
}

// numVarAgg is the variance family over integers and numeric: exact sums of values and squares.
type numVarAgg struct {
	ints, pop, root bool
	g               []numVar
}

type numVar struct{ sum, squares numeric.Sum }

func (a *numVarAgg) Grow(g int) error { a.g = extendTo(a.g, g); return nil }
func (a *numVarAgg) Size() int64      { return int64(cap(a.g)) * int64(unsafe.Sizeof(numVar{})) }
func (a *numVarAgg) Reset()           { clear(a.g); a.g = a.g[:0] }

func (a *numVarAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	return loopErr(n, sel, func(i int) error {
		if v.IsNull(i) {
			return nil
		}
		var x numeric.Num
		if a.ints {
			x = numeric.FromInt64(v.Int[v.At(i)])
		} else {
			x = numeric.Decode(v.Bytes(i))
		}
		sq, err := numeric.Mul(x, x)
		if err != nil {
			return err
		}
		s := &a.g[groups[i]]
		s.sum.Add(x)
		s.squares.Add(sq)
		return nil
	})
}

func (a *numVarAgg) Combine(other Agg, m []uint32) error {
	o := other.(*numVarAgg)
	for g := range o.g {
		if m[g] != ^uint32(0) {
			a.g[m[g]].sum.Merge(&o.g[g].sum)
			a.g[m[g]].squares.Merge(&o.g[g].squares)
		}
	}
	return nil
}

func (a *numVarAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		s := &a.g[g]
		n := s.sum.Count()
		if n == 0 || n == 1 && !a.pop {
			out.SetNull(g - from)
			continue
		}
		r, err := a.result(s, n)
		if err != nil {
			return err
		}
		out.Finish(g-from, r.Encode(out.Start()))
	}
	return nil
}

// result is (n * sum(x*x) - sum(x)^2) / (n * (n-1)), or / (n * n).
func (a *numVarAgg) result(s *numVar, n int64) (numeric.Num, error) {
	sum, err := s.sum.Total()
	if err != nil {
		return sum, err
	}
	squares, err := s.squares.Total()
	if err != nil {
		return sum, err
	}
	if sum.Kind() != numeric.FromInt64(0).Kind() {
		return numeric.Parse([]byte("NaN"))
	}
	nn := numeric.FromInt64(n)
	a1, err := numeric.Mul(nn, squares)
	if err != nil {
		return sum, err
	}
	a2, err := numeric.Mul(sum, sum)
	if err != nil {
		return sum, err
	}
	top, err := numeric.Sub(a1, a2)
	if err != nil {
		return sum, err
	}
	if top.Sign() <= 0 {
		return numeric.FromInt64(0), nil
	}
	d := n - 1
	if a.pop {
		d = n
	}
	bottom, err := numeric.Mul(nn, numeric.FromInt64(d))
	if err != nil {
		return sum, err
	}
	r, err := numeric.Div(top, bottom)
	if err != nil || !a.root {
		return r, err
	}
	scale := r.Scale()
	if r, err = r.Sqrt(); err != nil {
		return r, err
	}
	return r.Round(scale), nil
}

// regrAgg is the family of two-argument statistics: f(Y, X).
type regrAgg struct {
	what string
	g    []regrState
}

type regrState struct{ n, sx, sxx, sy, syy, sxy float64 }

func (a *regrAgg) Grow(g int) error { a.g = extendTo(a.g, g); return nil }
func (a *regrAgg) Size() int64      { return int64(48 * cap(a.g)) }
func (a *regrAgg) Reset()           { a.g = a.g[:0] }

func (a *regrAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	loop(n, sel, func(i int) {
		if args[0].IsNull(i) || args[1].IsNull(i) {
			return
		}
		y, x := args[0].Float[args[0].At(i)], args[1].Float[args[1].At(i)]
		s := &a.g[groups[i]]
		old := s.n
		s.n++
		s.sx += x
		s.sy += y
		if old > 0 {
			dx, dy := x*s.n-s.sx, y*s.n-s.sy
			scale := 1 / (s.n * old)
			s.sxx += dx * dx * scale
			s.syy += dy * dy * scale
			s.sxy += dx * dy * scale
			return
		}
		if math.IsNaN(x - x) { // NaN or infinite: so are the sums, also of one row
			s.sxx, s.sxy = math.NaN(), math.NaN()
		}
		if math.IsNaN(y - y) {
			s.syy, s.sxy = math.NaN(), math.NaN()
		}
	})
	return nil
}

func (a *regrAgg) Combine(other Agg, m []uint32) error {
	for g, o := range other.(*regrAgg).g {
		if m[g] == ^uint32(0) || o.n == 0 {
			continue
		}
		s := &a.g[m[g]]
		if s.n == 0 {
			*s = o
			continue
		}
		n := s.n + o.n
		dx, dy := s.sx/s.n-o.sx/o.n, s.sy/s.n-o.sy/o.n
		s.sxx += o.sxx + s.n*o.n*dx*dx/n
		s.syy += o.syy + s.n*o.n*dy*dy/n
		s.sxy += o.sxy + s.n*o.n*dx*dy/n
		s.sx += o.sx
		s.sy += o.sy
		s.n = n
	}
	return nil
}

func (a *regrAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		if a.what == "regr_count" {
			out.Int[g-from] = int64(a.g[g].n)
			continue
		}
		r, ok := a.g[g].value(a.what)
		if !ok {
			out.SetNull(g - from)
			continue
		}
		out.Float[g-from] = r
	}
	return nil
}

func (s *regrState) value(what string) (float64, bool) {
	some := s.n > 0
	switch what {
	case "regr_sxx":
		return s.sxx, some
	case "regr_syy":
		return s.syy, some
	case "regr_sxy":
		return s.sxy, some
	case "regr_avgx":
		return s.sx / s.n, some
	case "regr_avgy":
		return s.sy / s.n, some
	case "covar_pop":
		return s.sxy / s.n, some
	case "covar_samp":
		return s.sxy / (s.n - 1), s.n > 1
	case "corr":
		return s.sxy / math.Sqrt(s.sxx*s.syy), some && s.sxx != 0 && s.syy != 0
	case "regr_r2":
		if s.syy == 0 {
			return 1, some && s.sxx != 0
		}
		return s.sxy * s.sxy / (s.sxx * s.syy), some && s.sxx != 0
	case "regr_slope":
		return s.sxy / s.sxx, some && s.sxx != 0
	}
	return (s.sy - s.sx*s.sxy/s.sxx) / s.n, some && s.sxx != 0 // regr_intercept
}
