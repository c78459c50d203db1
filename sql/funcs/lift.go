package funcs

import (
	"strings"

	"herd/sql/types"
	"herd/sql/vec"
)

// fields splits a list of symbols.
func fields(s string) []string { return strings.Fields(s) }

// intUnary makes a kernel of a function of one integer.
func intUnary(f func(a int64) (int64, error)) Kernel {
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, m, o := a[0].Int, mask(a[0]), out.Int
		if sel == nil {
			for i := 0; i < n; i++ {
				v, err := f(x[i&m])
				if err != nil {
					return err
				}
				o[i] = v
			}
			return nil
		}
		for _, s := range sel {
			v, err := f(x[int(s)&m])
			if err != nil {
				return err
			}
			o[s] = v
		}
		return nil
	}
}

// intBinary makes a kernel of a function of two integers.
func intBinary(f func(a, b int64) (int64, error)) Kernel {
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, y, mx, my, o := a[0].Int, a[1].Int, mask(a[0]), mask(a[1]), out.Int
		if sel == nil {
			for i := 0; i < n; i++ {
				v, err := f(x[i&mx], y[i&my])
				if err != nil {
					return err
				}
				o[i] = v
			}
			return nil
		}
		for _, s := range sel {
			v, err := f(x[int(s)&mx], y[int(s)&my])
			if err != nil {
				return err
			}
			o[s] = v
		}
		return nil
	}
}

// floatUnary makes a kernel of a function of one float.
func floatUnary(f func(a float64) (float64, error)) Kernel {
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, m, o := a[0].Float, mask(a[0]), out.Float
		if sel == nil {
			for i := 0; i < n; i++ {
				v, err := f(x[i&m])
				if err != nil {
					return err
				}
				o[i] = v
			}
			return nil
		}
		for _, s := range sel {
			v, err := f(x[int(s)&m])
			if err != nil {
				return err
			}
			o[s] = v
		}
		return nil
	}
}

// floatBinary makes a kernel of a function of two floats.
func floatBinary(f func(a, b float64) (float64, error)) Kernel {
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, y, mx, my, o := a[0].Float, a[1].Float, mask(a[0]), mask(a[1]), out.Float
		if sel == nil {
			for i := 0; i < n; i++ {
				v, err := f(x[i&mx], y[i&my])
				if err != nil {
					return err
				}
				o[i] = v
			}
			return nil
		}
		for _, s := range sel {
			v, err := f(x[int(s)&mx], y[int(s)&my])
			if err != nil {
				return err
			}
			o[s] = v
		}
		return nil
	}
}

// callText calls a kernel of two texts for one row.
func callText(c *Ctx, k Kernel, a, b types.Datum) ([]byte, error) {
	args := []*vec.Vector{vec.NewConst(types.TextOID, a), vec.NewConst(types.TextOID, b)}
	out := vec.New(types.KindBytes, 1)
	if err := k(c, 1, nil, args, out); err != nil {
		return nil, err
	}
	return out.Bytes(0), nil
}
