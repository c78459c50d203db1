package funcs

import (
	"herd/sql/types/numeric"
	"herd/sql/vec"
)

// numericOp is an operation on two small numerics; ok is false when the general one has to do it.
type numericOp func(x, y int64, sx, sy int) (coef int64, scale int, ok bool)

func numAddSmall(x, y int64, sx, sy int) (int64, int, bool) {
	r := x + y
	return r, sx, sx == sy && (x^r)&(y^r) >= 0
}

func numSubSmall(x, y int64, sx, sy int) (int64, int, bool) {
	r := x - y
	return r, sx, sx == sy && (x^y)&(x^r) >= 0
}

func numMulSmall(x, y int64, sx, sy int) (int64, int, bool) {
	if s := sx + sy; s <= 255 {
		r, ok := mulChecked(x, y)
		return r, s, ok
	}
	return 0, 0, false
}

// numKernel makes a kernel that stays in int64 while it can: for the batch when both columns are decimals, else value by value.
// A product has the sum of the scales, the others are computed at one scale.
func numKernel(batch decimalOp, product bool, fast numericOp, slow func(a, b numeric.Num) (numeric.Num, error)) Kernel {
	return func(c *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, y := a[0], a[1]
		if p, q, ok := decimalPair(x, y, &c.decimal, !product); ok {
			scale := p.scale
			if product {
				scale += q.scale
			}
			if scale <= 255 && batch(out.SetDecimal(n, scale), n, sel, p, q) {
				return nil
			}
			out.ClearDecimal()
		}
		rows := n
		if sel != nil {
			rows = len(sel)
		}
		buf, index := out.Arena(rows * numeric.SmallSize)
		for k := range rows {
			i := k
			if sel != nil {
				i = int(sel[k])
			}
			p, q := x.Bytes(i), y.Bytes(i)
			off := len(buf)
			if c1, s1, ok := numeric.SmallOf(p); ok {
				if c2, s2, ok := numeric.SmallOf(q); ok {
					if c, s, ok := fast(c1, c2, s1, s2); ok {
						buf = numeric.AppendSmall(buf, c, s)
						out.SetSpan(i, index, buf, off)
						continue
					}
				}
			}
			v, err := slow(numeric.Decode(p), numeric.Decode(q))
			if err != nil {
				out.SetArena(buf)
				return err
			}
			buf = v.Encode(buf)
			out.SetSpan(i, index, buf, off)
		}
		out.SetArena(buf)
		return nil
	}
}

// numCmp compares numerics: coefficients when both are small and of one scale.
func numCmp(op cmpOp) Kernel {
	return func(c *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, y, o := a[0], a[1], out.Bool
		if p, q, ok := decimalPair(x, y, &c.decimal, true); ok {
			cmpLoop(op, n, sel, p.coef, q.coef, p.mask, q.mask, o)
			return nil
		}
		rows := n
		if sel != nil {
			rows = len(sel)
		}
		for k := range rows {
			i := k
			if sel != nil {
				i = int(sel[k])
			}
			o[i] = op.of(numeric.Compare(x.Bytes(i), y.Bytes(i)))
		}
		return nil
	}
}

// intToNumeric is the cast of an integer.
func intToNumeric(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
	x, m, o := a[0].Int, mask(a[0]), out.SetDecimal(n, 0)
	if sel == nil {
		for i := range n {
			o[i] = x[i&m]
		}
		return nil
	}
	for _, i := range sel {
		o[i] = x[int(i)&m]
	}
	return nil
}
