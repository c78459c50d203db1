package funcs

import (
	"math"
	"math/bits"

	"herd/sql/vec"
)

// intType is an integer type's range and name in errors.
type intType struct {
	lo, hi int64
	name   string
}

var (
	int2 = intType{math.MinInt16, math.MaxInt16, "smallint"}
	int4 = intType{math.MinInt32, math.MaxInt32, "integer"}
	int8 = intType{math.MinInt64, math.MaxInt64, "bigint"}
)

func (t intType) check(v int64) (int64, error) {
	if v < t.lo || v > t.hi {
		return 0, outOfRange(t.name)
	}
	return v, nil
}

// addInt adds; the sum of two narrow integers never overflows int64, so one range check serves them.
func addInt(t intType) Kernel {
	wide := t == int8
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, y, mx, my, o := a[0].Int, a[1].Int, mask(a[0]), mask(a[1]), out.Int
		if sel == nil {
			for i := 0; i < n; i++ {
				p, q := x[i&mx], y[i&my]
				r := p + q
				if wide && (p^r)&(q^r) < 0 || r < t.lo || r > t.hi {
					return outOfRange(t.name)
				}
				o[i] = r
			}
			return nil
		}
		for _, s := range sel {
			p, q := x[int(s)&mx], y[int(s)&my]
			r := p + q
			if wide && (p^r)&(q^r) < 0 || r < t.lo || r > t.hi {
				return outOfRange(t.name)
			}
			o[s] = r
		}
		return nil
	}
}

func subInt(t intType) Kernel {
	wide := t == int8
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, y, mx, my, o := a[0].Int, a[1].Int, mask(a[0]), mask(a[1]), out.Int
		if sel == nil {
			for i := 0; i < n; i++ {
				p, q := x[i&mx], y[i&my]
				r := p - q
				if wide && (p^q)&(p^r) < 0 || r < t.lo || r > t.hi {
					return outOfRange(t.name)
				}
				o[i] = r
			}
			return nil
		}
		for _, s := range sel {
			p, q := x[int(s)&mx], y[int(s)&my]
			r := p - q
			if wide && (p^q)&(p^r) < 0 || r < t.lo || r > t.hi {
				return outOfRange(t.name)
			}
			o[s] = r
		}
		return nil
	}
}

func mulChecked(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi)
	if a < 0 {
		h -= b
	}
	if b < 0 {
		h -= a
	}
	r := int64(lo)
	return r, h == r>>63
}

func mulInt(t intType) Kernel {
	wide := t == int8
	one := func(p, q int64) (int64, bool) {
		if !wide {
			r := p * q
			return r, r >= t.lo && r <= t.hi
		}
		return mulChecked(p, q)
	}
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, y, mx, my, o := a[0].Int, a[1].Int, mask(a[0]), mask(a[1]), out.Int
		if sel == nil {
			for i := 0; i < n; i++ {
				r, ok := one(x[i&mx], y[i&my])
				if !ok {
					return outOfRange(t.name)
				}
				o[i] = r
			}
			return nil
		}
		for _, s := range sel {
			r, ok := one(x[int(s)&mx], y[int(s)&my])
			if !ok {
				return outOfRange(t.name)
			}
			o[s] = r
		}
		return nil
	}
}

func divInt(t intType) Kernel {
	return intBinary(func(a, b int64) (int64, error) {
		if b == 0 {
			return 0, divisionByZero()
		}
		if b == -1 {
			if a == t.lo {
				return 0, outOfRange(t.name)
			}
			return -a, nil
		}
		return a / b, nil
	})
}

func modInt(a, b int64) (int64, error) {
	if b == 0 {
		return 0, divisionByZero()
	}
	if b == -1 {
		return 0, nil
	}
	return a % b, nil
}

// gcdInt returns the greatest common divisor; only the two smallest integers overflow.
func gcdInt(t intType) func(a, b int64) (int64, error) {
	return func(a, b int64) (int64, error) {
		if a == t.lo && (b == 0 || b == t.lo) || b == t.lo && a == 0 {
			return 0, outOfRange(t.name)
		}
		for b != 0 {
			if b == -1 {
				return 1, nil
			}
			a, b = b, a%b
		}
		if a < 0 {
			a = -a
		}
		return a, nil
	}
}

func lcmInt(t intType) func(a, b int64) (int64, error) {
	gcd := gcdInt(t)
	return func(a, b int64) (int64, error) {
		if a == 0 || b == 0 {
			return 0, nil
		}
		g, err := gcd(a, b)
		if err != nil {
			return 0, err
		}
		r, ok := mulChecked(a/g, b)
		if !ok || r == math.MinInt64 {
			return 0, outOfRange(t.name)
		}
		if r < 0 {
			r = -r
		}
		return t.check(r)
	}
}

func init() {
	for suffix, t := range map[string]intType{"2": int2, "4": int4, "8": int8} {
		p := "int" + suffix
		reg(addInt(t), p+"pl")
		reg(subInt(t), p+"mi")
		reg(mulInt(t), p+"mul")
		reg(divInt(t), p+"div")
		reg(intBinary(modInt), p+"mod")
		reg(intUnary(func(a int64) (int64, error) {
			if a == t.lo {
				return 0, outOfRange(t.name)
			}
			return -a, nil
		}), p+"um")
		reg(intUnary(func(a int64) (int64, error) { return a, nil }), p+"up")
		reg(intUnary(func(a int64) (int64, error) {
			if a == t.lo {
				return 0, outOfRange(t.name)
			}
			return max(a, -a), nil
		}), p+"abs")
		reg(intBinary(func(a, b int64) (int64, error) { return a & b, nil }), p+"and")
		reg(intBinary(func(a, b int64) (int64, error) { return a | b, nil }), p+"or")
		reg(intBinary(func(a, b int64) (int64, error) { return a ^ b, nil }), p+"xor")
		reg(intUnary(func(a int64) (int64, error) { return ^a, nil }), p+"not")
		// Shifts take the count modulo the width of the machine type C uses: 32 bits for smallint and integer.
		width := int64(31)
		if suffix == "8" {
			width = 63
		}
		reg(intBinary(func(a, b int64) (int64, error) { return wrapInt(t, a<<uint(b&width)), nil }), p+"shl")
		reg(intBinary(func(a, b int64) (int64, error) { return a >> uint(b&width), nil }), p+"shr")
		if suffix != "2" {
			reg(intBinary(gcdInt(t)), p+"gcd")
			reg(intBinary(lcmInt(t)), p+"lcm")
		}
	}
	for _, m := range []struct {
		p string
		t intType
	}{{"int24", int4}, {"int42", int4}, {"int28", int8}, {"int82", int8}, {"int48", int8}, {"int84", int8}} {
		reg(addInt(m.t), m.p+"pl")
		reg(subInt(m.t), m.p+"mi")
		reg(mulInt(m.t), m.p+"mul")
		reg(divInt(m.t), m.p+"div")
	}
	one := func(t intType, d int64) Kernel {
		return intUnary(func(a int64) (int64, error) {
			if d > 0 && a == t.hi || d < 0 && a == t.lo {
				return 0, outOfRange(t.name)
			}
			return a + d, nil
		})
	}
	reg(one(int4, 1), "int4inc")
	reg(one(int8, 1), "int8inc")
	reg(one(int8, -1), "int8dec")
}

// wrapInt cuts v to the type's bits.
func wrapInt(t intType, v int64) int64 {
	switch t {
	case int2:
		return int64(int16(v))
	case int4:
		return int64(int32(v))
	}
	return v
}
