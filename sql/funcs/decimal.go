package funcs

import (
	"herd/sql/types/numeric"
	"herd/sql/vec"
)

// decimals are the coefficients of numerics that all have one scale; mask as in cmpLoop.
type decimals struct {
	coef  []int64
	mask  int
	scale int
}

// decimalsOf reads a vector as decimals: one that is marked so, or a constant in the small form.
func decimalsOf(v *vec.Vector, one *[1]int64) (d decimals, ok bool) {
	switch {
	case v.Dec:
		return decimals{v.Int, mask(v), v.Scale}, true
	case v.Const && !v.IsNull(0):
		one[0], d.scale, ok = numeric.SmallOf(v.Bytes(0))
		d.coef = one[:]
		return d, ok
	}
	return d, false
}

// decimalPair reads two vectors as decimals of one scale each; align makes it one scale for both.
func decimalPair(x, y *vec.Vector, buf *[2][1]int64, align bool) (a, b decimals, ok bool) {
	if !x.Dec && !y.Dec {
		return a, b, false
	}
	if a, ok = decimalsOf(x, &buf[0]); !ok {
		return a, b, false
	}
	if b, ok = decimalsOf(y, &buf[1]); !ok {
		return a, b, false
	}
	if align && a.scale < b.scale {
		ok = a.rescale(b.scale, &buf[0])
	} else if align && b.scale < a.scale {
		ok = b.rescale(a.scale, &buf[1])
	}
	return a, b, ok
}

// rescale brings a constant to a larger scale; false when it is none or does not fit.
func (d *decimals) rescale(scale int, one *[1]int64) bool {
	if d.mask != 0 || scale-d.scale > 18 {
		return false
	}
	c := d.coef[0]
	for ; d.scale < scale; d.scale++ {
		var ok bool
		if c, ok = mulChecked(c, 10); !ok {
			return false
		}
	}
	one[0] = c
	d.coef = one[:]
	return true
}

// decimalOp computes coefficients for a whole batch. False: one does not fit; what was written counts for nothing then.
type decimalOp func(o []int64, n int, sel []uint16, a, b decimals) bool

func decimalAdd(o []int64, n int, sel []uint16, a, b decimals) bool {
	over := int64(0)
	if sel == nil {
		for i := range n {
			x, y := a.coef[i&a.mask], b.coef[i&b.mask]
			r := x + y
			over |= (x ^ r) & (y ^ r)
			o[i] = r
		}
		return over >= 0
	}
	for _, i := range sel {
		x, y := a.coef[int(i)&a.mask], b.coef[int(i)&b.mask]
		r := x + y
		over |= (x ^ r) & (y ^ r)
		o[i] = r
	}
	return over >= 0
}

func decimalSub(o []int64, n int, sel []uint16, a, b decimals) bool {
	over := int64(0)
	if sel == nil {
		for i := range n {
			x, y := a.coef[i&a.mask], b.coef[i&b.mask]
			r := x - y
			over |= (x ^ y) & (x ^ r)
			o[i] = r
		}
		return over >= 0
	}
	for _, i := range sel {
		x, y := a.coef[int(i)&a.mask], b.coef[int(i)&b.mask]
		r := x - y
		over |= (x ^ y) & (x ^ r)
		o[i] = r
	}
	return over >= 0
}

func decimalMul(o []int64, n int, sel []uint16, a, b decimals) bool {
	if sel != nil {
		for _, i := range sel {
			r, ok := mulSmallChecked(a.coef[int(i)&a.mask], b.coef[int(i)&b.mask])
			if !ok {
				return false
			}
			o[i] = r
		}
		return true
	}
	for i := range n {
		r, ok := mulSmallChecked(a.coef[i&a.mask], b.coef[i&b.mask])
		if !ok {
			return false
		}
		o[i] = r
	}
	return true
}

// mulSmallChecked is mulChecked with a short way for factors of 32 bits.
func mulSmallChecked(x, y int64) (int64, bool) {
	if x == int64(int32(x)) && y == int64(int32(y)) {
		return x * y, true
	}
	return mulChecked(x, y)
}
