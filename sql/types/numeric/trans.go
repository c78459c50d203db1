package numeric

import (
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"herd/sql/sqlerr"
)

// RoundResult is SQL's round(n, scale).
func (n Num) RoundResult(scale int) Num {
	return n.Round(scale)
}

// TruncResult is SQL's trunc(n, scale).
func (n Num) TruncResult(scale int) Num {
	return n.Trunc(scale)
}

// fit limits a result scale to what PostgreSQL displays and at least the given scales.
func fit(scale int, atLeast ...int32) int {
	for _, s := range atLeast {
		scale = max(scale, int(s))
	}
	return min(max(scale, 0), maxDisplayScale)
}

// toApd converts a finite value.
func (n Num) toApd() *apd.Decimal {
	d := apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(n.Coef()), -n.scale)
	if d.Coeff.Sign() < 0 {
		d.Coeff.Abs(&d.Coeff)
		d.Negative = true
	}
	return d
}

func fromApd(d *apd.Decimal, scale int) Num {
	c := new(big.Int).Set(d.Coeff.MathBigInt())
	if d.Negative {
		c.Neg(c)
	}
	if d.Exponent > 0 {
		c.Mul(c, bigPow(int(d.Exponent)))
		return FromBig(c, 0).Round(scale)
	}
	return FromBig(c, int(-d.Exponent)).Round(scale)
}

func apdContext(digits int) *apd.Context {
	return &apd.Context{Precision: uint32(max(digits, 20)), MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Traps: 0, Rounding: apd.RoundHalfUp}
}

// Sqrt returns the square root, 2201F for a negative value.
func (n Num) Sqrt() (Num, error) {
	if n.kind == NaN || n.kind == PosInf {
		return n, nil
	}
	if n.Sign() < 0 {
		return n, sqlerr.New(sqlerr.InvalidArgumentForPowerFunction, "cannot take square root of a negative number")
	}
	w, _ := n.lead()
	scale := fit(minSigDigits-(w*4/2+1), n.scale)
	if n.Sign() == 0 {
		return Num{scale: int32(scale)}, nil
	}
	// The integer root of n * 10**(2(scale+1)) has one digit too many, which rounds.
	x := new(big.Int).Set(n.Coef())
	if k := 2*(scale+1) - int(n.scale); k >= 0 {
		x.Mul(x, bigPow(k))
	} else {
		x.Quo(x, bigPow(-k))
	}
	return FromBig(x.Sqrt(x), scale+1).Round(scale), nil
}

// approx returns the double nearest to n without an error for huge values.
func (n Num) approx() float64 {
	f, err := n.Float64()
	if err != nil {
		return math.Inf(n.Sign())
	}
	return f
}

const log10e = 0.434294481903252

// Exp returns e**n.
func (n Num) Exp() (Num, error) {
	switch n.kind {
	case NaN, PosInf:
		return n, nil
	case NegInf:
		return Num{}, nil
	}
	v := min(max(n.approx()*log10e, -maxResultScale), maxResultScale)
	return n.expTo(fit(minSigDigits-int(v), n.scale))
}

func (n Num) expTo(scale int) (Num, error) {
	v := n.approx()
	if math.Abs(v) >= maxResultScale*3 {
		if v > 0 {
			return n, overflow()
		}
		return Num{scale: int32(scale)}, nil
	}
	digits := scale + int(max(0, v*log10e)) + 12
	var r apd.Decimal
	if _, err := apdContext(digits).Exp(&r, n.toApd()); err != nil {
		return n, overflow()
	}
	return fromApd(&r, scale).check()
}

// lnWeight estimates the decimal weight of ln(n), n > 0.
func (n Num) lnWeight() int {
	if n.Sign() <= 0 {
		return 0
	}
	if n.Cmp(New(9, 1)) >= 0 && n.Cmp(New(11, 1)) <= 0 {
		x, _ := Sub(n, One)
		if x.Sign() == 0 {
			return 0
		}
		w, d := x.Abs().lead()
		return w*4 + int(math.Log10(float64(d)))
	}
	digits, w := n.Base10000()
	d, e := float64(digits[0]), w*4
	if len(digits) > 1 {
		d = d*10000 + float64(digits[1])
		e -= 4
	}
	return int(math.Log10(math.Abs(math.Log(d) + float64(e)*2.302585092994046)))
}

func (n Num) checkLog() error {
	if n.Sign() == 0 {
		return sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of zero")
	}
	if n.Sign() < 0 {
		return sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of a negative number")
	}
	return nil
}

// Ln returns the natural logarithm, 2201E for values that are not positive.
func (n Num) Ln() (Num, error) {
	if n.kind == NaN {
		return n, nil
	}
	if err := n.checkLog(); err != nil || n.kind == PosInf {
		return n, err
	}
	return n.lnTo(fit(minSigDigits-n.lnWeight(), n.scale)), nil
}

func (n Num) lnTo(scale int) Num {
	if n.Cmp(One) == 0 {
		return Num{scale: int32(scale)}
	}
	var r apd.Decimal
	apdContext(scale+max(0, n.lnWeight())+12).Ln(&r, n.toApd())
	return fromApd(&r, scale)
}

// Log returns the logarithm of n to the base.
func Log(base, n Num) (Num, error) {
	if base.kind == NaN || n.kind == NaN {
		return NotANumber, nil
	}
	if err := base.checkLog(); err != nil {
		return n, err
	}
	if err := n.checkLog(); err != nil {
		return n, err
	}
	if base.kind == PosInf || n.kind == PosInf {
		switch {
		case base.kind == n.kind:
			return NotANumber, nil
		case base.kind == PosInf:
			return Num{}, nil
		}
		return n, nil
	}
	wb, wn := base.lnWeight(), n.lnWeight()
	scale := fit(minSigDigits-(wn-wb), base.scale, n.scale)
	lb := base.lnTo(max(scale+wn-2*wb+8, 0) + 16)
	ln := n.lnTo(max(scale-wb+8, 0) + 16)
	if lb.Sign() == 0 {
		return n, divZero()
	}
	return DivTo(ln, lb, scale)
}

func badPower(msg string) error {
	return sqlerr.New(sqlerr.InvalidArgumentForPowerFunction, "%s", msg)
}

// Power returns a**b.
func Power(a, b Num) (Num, error) {
	if a.kind|b.kind != Finite {
		return powerSpecial(a, b)
	}
	if a.Sign() == 0 && b.Sign() < 0 {
		return a, badPower("zero raised to a negative power is undefined")
	}
	integral := b.Trunc(0).Cmp(b) == 0
	if a.Sign() < 0 && !integral {
		return a, badPower("a negative number raised to a non-integer power yields a complex result")
	}
	if integral {
		if e := b.Trunc(0); e.big == nil && e.coef >= math.MinInt32 && e.coef <= math.MaxInt32 {
			return powerInt(a, int(e.coef))
		}
	}
	if a.Sign() == 0 {
		return Num{scale: minSigDigits}, nil
	}
	neg := a.Sign() < 0
	if neg {
		neg = !evenInt(b)
		a = a.Neg()
	}
	w := a.lnWeight()
	rough, err := Mul(a.lnTo(max(8-w, 0)), b)
	if err != nil {
		return a, err
	}
	v := rough.approx()
	if math.Abs(v) > maxResultScale*3.01 {
		if v > 0 {
			return a, overflow()
		}
		return Num{scale: maxDisplayScale}, nil
	}
	v *= log10e
	scale := fit(minSigDigits-int(v), a.scale, b.scale)
	digits := scale + int(max(0, v)) + 24
	prod, err := Mul(a.lnTo(digits-min(w, 0)), b)
	if err != nil {
		return a, err
	}
	r, err := prod.Round(digits).expTo(scale)
	if neg {
		r = r.Neg()
	}
	return r, err
}

func evenInt(b Num) bool {
	t := b.Trunc(0)
	return t.Coef().Bit(0) == 0
}

func powerSpecial(a, b Num) (Num, error) {
	switch {
	case a.kind == NaN:
		if b.kind == Finite && b.Sign() == 0 {
			return One, nil
		}
		return a, nil
	case b.kind == NaN:
		if a.kind == Finite && a.Cmp(One) == 0 {
			return One, nil
		}
		return b, nil
	case a.kind == Finite && a.Sign() == 0 && b.Sign() < 0:
		return a, badPower("zero raised to a negative power is undefined")
	case a.kind == Finite && a.Cmp(One) == 0, b.kind == Finite && b.Sign() == 0:
		return One, nil
	}
	if b.kind != Finite {
		c := a.Abs().Cmp(One)
		switch {
		case a.kind == Finite && a.Sign() == 0:
			return Num{}, nil
		case c == 0:
			return One, nil
		case (c > 0) == (b.kind == PosInf):
			return Infinity, nil
		}
		return Num{}, nil
	}
	// a is infinite, b finite and not zero
	if a.kind == PosInf {
		if b.Sign() > 0 {
			return a, nil
		}
		return Num{}, nil
	}
	if b.Trunc(0).Cmp(b) != 0 {
		return a, badPower("a negative number raised to a non-integer power yields a complex result")
	}
	if b.Sign() < 0 {
		return Num{}, nil
	}
	if evenInt(b) {
		return Infinity, nil
	}
	return a, nil
}

// powerInt is a**e for an integer e, with at least 16 digits after the point.
func powerInt(a Num, e int) (Num, error) {
	f := 0.0
	if a.Sign() != 0 {
		digits, w := a.Base10000()
		m, p := float64(digits[0]), w*4
		for i := 1; i < len(digits) && i*4 < 16; i++ {
			m = m*10000 + float64(digits[i])
			p -= 4
		}
		f = float64(e) * (math.Log10(m) + float64(p))
	}
	if f > (math.MaxInt16+1)*4 {
		return a, overflow()
	}
	scale := fit(minSigDigits, a.scale)
	if f+1 < -float64(scale) {
		return Num{scale: int32(scale)}, nil
	}
	switch e {
	case 0:
		return One.Round(scale), nil
	case 1:
		return a.Round(scale), nil
	case -1:
		return DivTo(One, a, scale)
	case 2:
		r, err := Mul(a, a)
		return r.Round(scale), err
	}
	if a.Sign() == 0 {
		return Num{scale: int32(scale)}, nil
	}
	sig := 1 + scale + int(math.Abs(f)) + 16
	x := e
	if x < 0 {
		x = -x
	}
	r, base := One, a
	for x > 0 {
		if x&1 == 1 {
			r = mulSig(r, base, sig)
		}
		if x >>= 1; x > 0 {
			base = mulSig(base, base, sig)
		}
	}
	if e < 0 {
		return invSig(r, scale)
	}
	if r.scale < 0 { // see mulSig: the scale may be negative inside
		c := new(big.Int).Mul(r.Coef(), bigPow(int(-r.scale)))
		r = FromBig(c, 0)
	}
	return r.Round(scale).check()
}

// mulSig multiplies and keeps sig digits; the scale of the result may be negative or beyond MaxScale.
func mulSig(a, b Num, sig int) Num {
	c := new(big.Int).Mul(a.Coef(), b.Coef())
	n := Num{big: c, scale: a.scale + b.scale}
	if d := n.digits() - sig; d > 0 {
		c.Quo(c, bigPow(d))
		n.scale -= int32(d)
	}
	return FromBig(c, int(n.scale))
}

// invSig returns 1/a at the scale for an a from mulSig.
func invSig(a Num, scale int) (Num, error) {
	k := scale + 1 + int(a.scale)
	x := big.NewInt(1)
	if k < 0 {
		return Num{scale: int32(scale)}, nil
	}
	x.Mul(x, bigPow(k))
	return FromBig(x.Quo(x, a.Coef()), scale+1).Round(scale), nil
}

// Factorial returns n!.
func Factorial(n int64) (Num, error) {
	if n < 0 {
		return Num{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "factorial of a negative number is undefined")
	}
	if n > 32177 {
		return Num{}, overflow()
	}
	return FromBig(new(big.Int).MulRange(1, max(n, 1)), 0), nil
}
