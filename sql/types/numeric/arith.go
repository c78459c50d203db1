package numeric

import (
	"math"
	"math/big"
	"math/bits"
)

func mul64(a, b int64) (int64, bool) {
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

func add64(a, b int64) (int64, bool) {
	r := a + b
	return r, (a^r)&(b^r) >= 0
}

// Neg returns -n.
func (n Num) Neg() Num {
	switch n.kind {
	case PosInf:
		return NegInfinity
	case NegInf:
		return Infinity
	case NaN:
		return n
	}
	if n.big != nil {
		return FromBig(new(big.Int).Neg(n.big), int(n.scale))
	}
	if n.coef == math.MinInt64 {
		return FromBig(new(big.Int).Neg(big.NewInt(n.coef)), int(n.scale))
	}
	n.coef = -n.coef
	return n
}

// Abs returns the magnitude of n.
func (n Num) Abs() Num {
	if n.Sign() < 0 {
		return n.Neg()
	}
	return n
}

// align returns both coefficients at the larger scale when they fit int64.
func align(a, b Num) (x, y int64, ok bool) {
	if a.big != nil || b.big != nil {
		return 0, 0, false
	}
	x, y = a.coef, b.coef
	switch d := a.scale - b.scale; {
	case d == 0:
		return x, y, true
	case d > 0 && d < int32(len(pow10)):
		y, ok = mul64(y, pow10[d])
	case d < 0 && -d < int32(len(pow10)):
		x, ok = mul64(x, pow10[-d])
	}
	return x, y, ok
}

func alignBig(a, b Num) (x, y *big.Int) {
	x, y = a.Coef(), b.Coef()
	switch d := int(a.scale - b.scale); {
	case d > 0:
		y = new(big.Int).Mul(y, bigPow(d))
	case d < 0:
		x = new(big.Int).Mul(x, bigPow(-d))
	}
	return x, y
}

// Add returns a + b.
func Add(a, b Num) (Num, error) {
	if a.kind|b.kind != Finite {
		switch {
		case a.kind == NaN || b.kind == NaN:
			return NotANumber, nil
		case a.kind == Finite:
			return b, nil
		case b.kind == Finite || a.kind == b.kind:
			return a, nil
		}
		return NotANumber, nil
	}
	if x, y, ok := align(a, b); ok {
		if r, ok := add64(x, y); ok {
			return Num{coef: r, scale: max(a.scale, b.scale)}, nil
		}
	}
	x, y := alignBig(a, b)
	return FromBig(new(big.Int).Add(x, y), int(max(a.scale, b.scale))).check()
}

// Sub returns a - b.
func Sub(a, b Num) (Num, error) { return Add(a, b.Neg()) }

// Mul returns a * b.
func Mul(a, b Num) (Num, error) {
	if a.kind|b.kind != Finite {
		if a.kind == NaN || b.kind == NaN || a.Sign() == 0 || b.Sign() == 0 {
			return NotANumber, nil
		}
		if a.Sign()*b.Sign() < 0 {
			return NegInfinity, nil
		}
		return Infinity, nil
	}
	s := int(a.scale + b.scale)
	if a.big == nil && b.big == nil {
		if r, ok := mul64(a.coef, b.coef); ok {
			n := Num{coef: r, scale: int32(s)}
			if s > MaxScale {
				return n.Round(MaxScale), nil
			}
			return n, nil
		}
	}
	n := FromBig(new(big.Int).Mul(a.Coef(), b.Coef()), s)
	if s > MaxScale {
		n = n.Round(MaxScale)
	}
	return n.check()
}

// rank orders the special values around the finite ones.
func (n Num) rank() int {
	switch n.kind {
	case NegInf:
		return -1
	case PosInf:
		return 1
	case NaN:
		return 2
	}
	return 0
}

// Cmp returns -1, 0 or 1; scale does not count, NaN equals itself and is above everything.
func (n Num) Cmp(m Num) int {
	if n.kind|m.kind != Finite {
		a, b := n.rank(), m.rank()
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	}
	if x, y, ok := align(n, m); ok {
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	if a, b := n.Sign(), m.Sign(); a != b {
		if a < b {
			return -1
		}
		return 1
	}
	x, y := alignBig(n, m)
	return x.Cmp(y)
}

// Compare compares two stored values without an allocation when both are small.
func Compare(a, b []byte) int {
	x, sx, ok1 := SmallOf(a)
	y, sy, ok2 := SmallOf(b)
	if ok1 && ok2 && sx == sy {
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	return Decode(a).Cmp(Decode(b))
}

// cut divides the coefficient by 10**k, away from zero at one half when round is set, and returns the rest's sign.
func (n Num) cut(k int, round bool) (q Num, rest int) {
	if n.big == nil {
		if k >= len(pow10) {
			sign := n.Sign()
			// |coef| < 9.3e18: with 19 digits to cut one half is 5e18.
			if round && k == 19 && (n.coef >= 5e18 || n.coef <= -5e18) {
				return Num{coef: int64(sign)}, sign
			}
			return Num{}, sign
		}
		p := pow10[k]
		c, r := n.coef/p, n.coef%p
		if round && k > 0 {
			if r >= p/2 {
				c++
			} else if r <= -p/2 {
				c--
			}
		}
		return Num{coef: c}, signOf(r)
	}
	p := bigPow(k)
	c, r := new(big.Int).QuoRem(n.big, p, new(big.Int))
	rs := r.Sign()
	if round && rs != 0 {
		if r.Abs(r).Lsh(r, 1).Cmp(p) >= 0 {
			c.Add(c, big.NewInt(int64(rs)))
		}
	}
	return FromBig(c, 0), rs
}

func signOf(v int64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// rescale implements Round and Trunc.
func (n Num) rescale(scale int, round bool) Num {
	if n.kind != Finite {
		return n
	}
	d := scale - int(n.scale)
	switch {
	case d == 0:
		return n
	case d > 0 && scale >= 0:
		r := n.scaleUp(d)
		r.scale = int32(scale)
		return r
	case scale >= 0:
		q, _ := n.cut(-d, round)
		q.scale = int32(scale)
		return q
	}
	q, _ := n.cut(int(n.scale)-scale, round)
	q = q.scaleUp(-scale)
	q.scale = 0
	return q
}

// Round rounds half away from zero to scale digits after the point (negative: before it).
func (n Num) Round(scale int) Num { return n.rescale(clampScale(scale), true) }

// Trunc cuts to scale digits after the point.
func (n Num) Trunc(scale int) Num { return n.rescale(clampScale(scale), false) }

// clampScale keeps a scale within what matters: one place beyond the largest value already rounds everything to 0.
func clampScale(s int) int { return min(max(s, -MaxDigits-1), MaxScale) }

// Ceil returns the smallest integer >= n.
func (n Num) Ceil() Num { return n.toward(1) }

// Floor returns the largest integer <= n.
func (n Num) Floor() Num { return n.toward(-1) }

func (n Num) toward(dir int) Num {
	if n.kind != Finite || n.scale == 0 {
		return n
	}
	q, rest := n.cut(int(n.scale), false)
	if rest == dir {
		q, _ = Add(q, FromInt64(int64(dir)))
	}
	return q
}

// FitsDigits says whether |n| < 10**k.
func (n Num) FitsDigits(k int) bool {
	if n.Sign() == 0 {
		return true
	}
	return n.digits()-int(n.scale) <= k
}
