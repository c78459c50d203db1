package funcs

import (
	"herd/sql/types"
	"herd/sql/vec"
)

// pickNum is min and max of integers and floats; NaN is larger than all numbers.
type pickNum[T int64 | float64] struct {
	max    bool
	values func(*vec.Vector) []T
	val    []T
	seen   []bool
}

// newPickNum returns min or max for types whose order is that of their numbers, nil for others.
func newPickNum(t types.OID, max bool) func() Agg {
	switch {
	case t == types.XID8OID: // unsigned
		return nil
	case types.KindOf(t) == types.KindInt:
		return func() Agg { return &pickNum[int64]{max: max, values: func(v *vec.Vector) []int64 { return v.Int }} }
	case types.KindOf(t) == types.KindFloat:
		return func() Agg {
			return &pickNum[float64]{max: max, values: func(v *vec.Vector) []float64 { return v.Float }}
		}
	}
	return nil
}

func (a *pickNum[T]) Grow(g int) error {
	a.val, a.seen = extendTo(a.val, g), extendTo(a.seen, g)
	return nil
}
func (a *pickNum[T]) Size() int64 { return int64(9 * cap(a.val)) }
func (a *pickNum[T]) Reset()      { a.val, a.seen = a.val[:0], a.seen[:0] }

// less is T's order with NaN at its end.
func less[T int64 | float64](x, y T) bool { return x < y || y != y && x == x }

// put takes x into group g.
func (a *pickNum[T]) put(g uint32, x T) {
	if !a.seen[g] {
		a.val[g], a.seen[g] = x, true
	} else if old := a.val[g]; a.max && less(old, x) || !a.max && less(x, old) {
		a.val[g] = x
	}
}

func (a *pickNum[T]) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	vals := a.values(v)
	switch {
	case v.HasNulls || v.Const:
		loop(n, sel, func(i int) {
			if !v.IsNull(i) {
				a.put(groups[i], vals[v.At(i)])
			}
		})
	case sel == nil:
		for i, x := range vals[:n] {
			a.put(groups[i], x)
		}
	default:
		for _, i := range sel {
			a.put(groups[i], vals[i])
		}
	}
	return nil
}

func (a *pickNum[T]) Combine(other Agg, m []uint32) error {
	o := other.(*pickNum[T])
	for g, x := range o.val {
		if m[g] != ^uint32(0) && o.seen[g] {
			a.put(m[g], x)
		}
	}
	return nil
}

func (a *pickNum[T]) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	vals := a.values(out)
	for g := from; g < to; g++ {
		if a.seen[g] {
			vals[g-from] = a.val[g]
		} else {
			out.SetNull(g - from)
		}
	}
	return nil
}
