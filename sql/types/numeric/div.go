package numeric

import (
	"math/big"
	"math/bits"

	"herd/sql/sqlerr"
)

func divZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }

// lead returns the weight and the value of the first base-10000 digit of |n|, 0 and 0 for zero.
func (n Num) lead() (weight int, digit int) {
	d := n.digits()
	if d == 0 {
		return 0, 0
	}
	e := d - 1 - int(n.scale) // power of ten of the first decimal digit
	weight = floorDiv(e, 4)
	keep := e - 4*weight + 1 // decimal digits that make up the first group
	q := n.Abs()
	q.scale = 0
	if d > keep {
		q, _ = q.cut(d-keep, false)
	}
	// Fewer digits than the group has places: zeros follow.
	digit = int(q.coef)
	for range max(0, keep-d) {
		digit *= 10
	}
	return weight, digit
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// divScale is the number of digits after the point that PostgreSQL gives a / b.
func divScale(a, b Num) int {
	w1, d1 := a.lead()
	w2, d2 := b.lead()
	qw := w1 - w2
	if d1 <= d2 {
		qw--
	}
	s := minSigDigits - qw*4
	s = max(s, int(a.scale), int(b.scale), 0)
	return min(s, maxDisplayScale)
}

// divSpecial handles NaN, infinities and a zero divisor; done is false for an ordinary division.
func divSpecial(a, b Num) (r Num, done bool, err error) {
	if a.kind == NaN || b.kind == NaN {
		return NotANumber, true, nil
	}
	if a.kind != Finite {
		if b.kind != Finite {
			return NotANumber, true, nil
		}
		switch b.Sign() {
		case 0:
			return Num{}, true, divZero()
		case 1:
			return a, true, nil
		}
		return a.Neg(), true, nil
	}
	if b.kind != Finite {
		return Num{}, true, nil
	}
	if b.Sign() == 0 {
		return Num{}, true, divZero()
	}
	return Num{}, false, nil
}

// Div returns a / b with PostgreSQL's scale, or 22012.
func Div(a, b Num) (Num, error) {
	if r, done, err := divSpecial(a, b); done {
		return r, err
	}
	return DivTo(a, b, divScale(a, b))
}

// DivTo returns a / b rounded to scale digits; b is not zero and both are finite.
func DivTo(a, b Num, scale int) (Num, error) {
	k := scale - int(a.scale) + int(b.scale)
	if a.big == nil && b.big == nil && k >= 0 && k < len(pow10) {
		ua, ub := uint64(a.coef), uint64(b.coef)
		if a.coef < 0 {
			ua = -ua
		}
		if b.coef < 0 {
			ub = -ub
		}
		if hi, lo := bits.Mul64(ua, uint64(pow10[k])); hi < ub {
			q, r := bits.Div64(hi, lo, ub)
			if r >= ub-r {
				q++
			}
			if q < 1<<63 {
				c := int64(q)
				if (a.coef < 0) != (b.coef < 0) {
					c = -c
				}
				return Num{coef: c, scale: int32(scale)}, nil
			}
		}
	}
	x, y := a.Coef(), b.Coef()
	if k >= 0 {
		x = new(big.Int).Mul(x, bigPow(k))
	} else {
		y = new(big.Int).Mul(y, bigPow(-k))
	}
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(y) >= 0 {
		q.Add(q, big.NewInt(int64(x.Sign()*y.Sign())))
	}
	return FromBig(q, scale).check()
}

// DivTrunc returns the integer quotient of a / b, cut toward zero.
func DivTrunc(a, b Num) (Num, error) {
	if r, done, err := divSpecial(a, b); done {
		return r, err
	}
	x, y := alignBig(a, b)
	return FromBig(new(big.Int).Quo(x, y), 0).check()
}

// Mod returns the remainder of a / b with the sign of a.
func Mod(a, b Num) (Num, error) {
	if a.kind == NaN || b.kind == NaN {
		return NotANumber, nil
	}
	if a.kind != Finite {
		if b.kind == Finite && b.Sign() == 0 {
			return Num{}, divZero()
		}
		return NotANumber, nil
	}
	if b.kind != Finite {
		return a, nil
	}
	if b.Sign() == 0 {
		return Num{}, divZero()
	}
	s := max(a.scale, b.scale)
	if x, y, ok := align(a, b); ok {
		if y == -1 {
			return Num{scale: s}, nil
		}
		return Num{coef: x % y, scale: s}, nil
	}
	x, y := alignBig(a, b)
	return FromBig(new(big.Int).Rem(x, y), int(s)), nil
}

// Gcd returns the greatest common divisor.
func Gcd(a, b Num) (Num, error) {
	if a.kind != Finite || b.kind != Finite {
		return NotANumber, nil
	}
	x, y := alignBig(a.Abs(), b.Abs())
	return FromBig(new(big.Int).GCD(nil, nil, x, y), int(max(a.scale, b.scale))), nil
}

// Lcm returns the least common multiple.
func Lcm(a, b Num) (Num, error) {
	if a.kind != Finite || b.kind != Finite {
		return NotANumber, nil
	}
	s := int(max(a.scale, b.scale))
	if a.Sign() == 0 || b.Sign() == 0 {
		return Num{scale: int32(s)}, nil
	}
	x, y := alignBig(a.Abs(), b.Abs())
	g := new(big.Int).GCD(nil, nil, x, y)
	return FromBig(g.Mul(new(big.Int).Quo(x, g), y), s).check()
}
