package vec

import (
	"herd/sql/types"
	"herd/sql/types/numeric"
)

// ResetDecimal is Reset for n numerics that all have one scale: it returns their coefficients for the caller to set. The bytes of the
// values are made when somebody asks for them.
func (v *Vector) ResetDecimal(n, scale int) []int64 {
	if v.borrowed {
		v.Drop()
	}
	v.Kind, v.Const, v.HasNulls = types.KindBytes, false, false
	v.resetBufs()
	return v.SetDecimal(n, scale)
}

// SetDecimal is ResetDecimal for a vector of n rows that has been reset and that has nothing but NULLs yet.
func (v *Vector) SetDecimal(n, scale int) []int64 {
	v.Int = grow(v.Int, n)
	v.Dec, v.lazy, v.Scale = true, true, scale
	return v.Int
}

// ClearDecimal takes SetDecimal back.
func (v *Vector) ClearDecimal() { v.Dec, v.lazy = false, false }

// constDecimal gives a constant numeric its coefficient, if it has the small form.
func (v *Vector) constDecimal() {
	if c, s, ok := numeric.SmallOf(v.Bytes(0)); ok {
		v.Int = append(v.Int[:0], c)
		v.Dec, v.Scale = true, s
	}
}

// encode makes the bytes of decimals.
func (v *Vector) encode() {
	v.lazy = false
	n := len(v.Int)
	v.Var = grow(v.Var, n)
	b := v.Fixed(n, numeric.SmallSize)
	for i, c := range v.Int {
		numeric.PutSmall(b[i*numeric.SmallSize:], c, v.Scale)
		v.FixPrefix(i)
	}
}

// gatherDecimal is Gather for decimals.
func (v *Vector) gatherDecimal(src *Vector, sel []uint16) {
	o := v.ResetDecimal(len(sel), src.Scale)
	for k, i := range sel {
		o[k] = src.Int[i]
	}
	if src.HasNulls {
		for k, i := range sel {
			if src.IsNull(int(i)) {
				v.SetNull(k)
			}
		}
	}
}
