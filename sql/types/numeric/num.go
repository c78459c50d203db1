package numeric

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"herd/sql/sqlerr"
)

// Limits of PostgreSQL's numeric.
const (
	MaxDigits       = 131072 // decimal digits before the point
	MaxScale        = 16383  // decimal digits after the point
	MaxPrecision    = 1000   // of numeric(p,s)
	minSigDigits    = 16
	maxDisplayScale = 1000
	maxResultScale  = 2000
)

// Kind separates finite values from the special ones.
type Kind uint8

// Kinds, in the order of the stored form's header.
const (
	Finite Kind = iota
	NaN
	PosInf
	NegInf
)

// Num is one numeric value. The zero value is 0 with scale 0.
type Num struct {
	kind  Kind
	scale int32
	coef  int64
	big   *big.Int
}

// Special values.
var (
	Zero        = Num{}
	One         = Num{coef: 1}
	NotANumber  = Num{kind: NaN}
	Infinity    = Num{kind: PosInf}
	NegInfinity = Num{kind: NegInf}
)

var pow10 = [19]int64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

var (
	bigTen   = big.NewInt(10)
	bigPow10 [128]*big.Int
)

func init() {
	p := big.NewInt(1)
	for i := range bigPow10 {
		bigPow10[i] = new(big.Int).Set(p)
		p.Mul(p, bigTen)
	}
}

// bigPow returns 10**n; the result must not be changed.
func bigPow(n int) *big.Int {
	if n < len(bigPow10) {
		return bigPow10[n]
	}
	return new(big.Int).Exp(bigTen, big.NewInt(int64(n)), nil)
}

// FromInt64 returns v with scale 0.
func FromInt64(v int64) Num { return Num{coef: v} }

// New returns coef / 10**scale.
func New(coef int64, scale int) Num { return Num{coef: coef, scale: int32(scale)} }

// FromBig returns coef / 10**scale; coef belongs to the result.
func FromBig(coef *big.Int, scale int) Num {
	if coef.IsInt64() {
		return Num{coef: coef.Int64(), scale: int32(scale)}
	}
	return Num{big: coef, scale: int32(scale)}
}

// FromInt128 returns the signed 128-bit integer hi:lo with the scale.
func FromInt128(hi int64, lo uint64, scale int) Num {
	if (hi == 0 && lo <= math.MaxInt64) || (hi == -1 && lo > math.MaxInt64) {
		return Num{coef: int64(lo), scale: int32(scale)}
	}
	neg := hi < 0
	uhi := uint64(hi)
	if neg {
		var c uint64
		lo, c = bits.Sub64(0, lo, 0)
		uhi, _ = bits.Sub64(0, uhi, c)
	}
	b := new(big.Int).SetUint64(uhi)
	b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(lo))
	if neg {
		b.Neg(b)
	}
	return FromBig(b, scale)
}

// FromFloat64 converts as PostgreSQL does: 15 significant digits.
func FromFloat64(f float64) (Num, error) { return fromFloat(f, 15) }

// FromFloat32 converts as PostgreSQL does: 6 significant digits.
func FromFloat32(f float32) (Num, error) { return fromFloat(float64(f), 6) }

func fromFloat(f float64, digits int) (Num, error) {
	switch {
	case math.IsNaN(f):
		return NotANumber, nil
	case math.IsInf(f, 1):
		return Infinity, nil
	case math.IsInf(f, -1):
		return NegInfinity, nil
	}
	var buf [40]byte
	b := strconv.AppendFloat(buf[:0], f, 'e', digits-1, 64)
	n, err := Parse(b)
	if err != nil {
		return n, err
	}
	return n.trimTo(0), nil
}

// trimTo drops trailing zeros after the point, keeping at least scale digits.
func (n Num) trimTo(scale int32) Num {
	for n.big == nil && n.scale > scale && n.coef%10 == 0 {
		n.coef /= 10
		n.scale--
	}
	if n.big != nil && n.scale > scale {
		q, r := new(big.Int), new(big.Int)
		c := n.big
		for n.scale > scale {
			q.QuoRem(c, bigTen, r)
			if r.Sign() != 0 {
				break
			}
			c, q = q, new(big.Int)
			n.scale--
		}
		return FromBig(new(big.Int).Set(c), int(n.scale))
	}
	return n
}

// TrimScale drops trailing zeros after the point.
func (n Num) TrimScale() Num {
	if n.kind != Finite {
		return n
	}
	return n.trimTo(0)
}

// Kind returns whether n is finite, NaN or infinite.
func (n Num) Kind() Kind { return n.kind }

// Scale returns the digits shown after the point.
func (n Num) Scale() int { return int(n.scale) }

// IsNaN says whether n is NaN.
func (n Num) IsNaN() bool { return n.kind == NaN }

// Sign returns -1, 0 or 1; NaN has sign 1 as it sorts above everything.
func (n Num) Sign() int {
	switch n.kind {
	case NaN, PosInf:
		return 1
	case NegInf:
		return -1
	}
	if n.big != nil {
		return n.big.Sign()
	}
	switch {
	case n.coef < 0:
		return -1
	case n.coef > 0:
		return 1
	}
	return 0
}

// Small returns the coefficient when it fits int64.
func (n Num) Small() (coef int64, scale int, ok bool) {
	return n.coef, int(n.scale), n.kind == Finite && n.big == nil
}

// Coef returns the coefficient as a big integer that must not be changed.
func (n Num) Coef() *big.Int {
	if n.big != nil {
		return n.big
	}
	return big.NewInt(n.coef)
}

// IsIntegral says whether n is finite without a fraction.
func (n Num) IsIntegral() bool {
	return n.kind == Finite && n.Trunc(0).Cmp(n) == 0
}

// Int64 rounds to an integer; typ names the SQL type in the error.
func (n Num) Int64(lo, hi int64, typ string) (int64, error) {
	switch n.kind {
	case NaN:
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert NaN to %s", typ)
	case PosInf, NegInf:
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert infinity to %s", typ)
	}
	r := n.Round(0)
	if r.big != nil || r.coef < lo || r.coef > hi {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", typ)
	}
	return r.coef, nil
}

// Float64 returns the nearest double.
func (n Num) Float64() (float64, error) {
	switch n.kind {
	case NaN:
		return math.NaN(), nil
	case PosInf:
		return math.Inf(1), nil
	case NegInf:
		return math.Inf(-1), nil
	}
	if n.big == nil && n.scale <= 15 && n.coef < 1<<53 && n.coef > -1<<53 {
		return float64(n.coef) / float64(pow10[n.scale]), nil
	}
	var buf [64]byte
	b := n.Append(buf[:0])
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f == 0 && n.digits() > 0 {
		return f, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type double precision", b)
	}
	return f, nil
}

// Float32 returns the nearest single.
func (n Num) Float32() (float32, error) {
	f, err := n.Float64()
	if err != nil || n.kind != Finite {
		return float32(f), err
	}
	b := n.Append(nil)
	g, err := strconv.ParseFloat(string(b), 32)
	if err != nil || g == 0 && n.digits() > 0 {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type real", b)
	}
	return float32(g), nil
}

// digits returns the number of decimal digits of the coefficient, 0 for zero.
func (n Num) digits() int {
	if n.big == nil {
		u := uint64(n.coef)
		if n.coef < 0 {
			u = -u
		}
		d := 0
		for d < len(pow10) && u >= uint64(pow10[d]) {
			d++
		}
		return d
	}
	b := n.big
	d := int(float64(b.BitLen()-1) * 0.30102999566398120)
	if b.CmpAbs(bigPow(d)) >= 0 {
		d++
	}
	if d > 0 && b.CmpAbs(bigPow(d)) >= 0 {
		d++
	}
	return d
}

func overflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
}

// check enforces I3.
func (n Num) check() (Num, error) {
	if n.kind != Finite || n.big == nil && n.scale <= MaxScale {
		return n, nil
	}
	if n.scale > MaxScale || n.digits()-int(n.scale) > MaxDigits {
		return n, overflow()
	}
	return n, nil
}
