package funcs

import (
	"math"
	"math/rand/v2"

	"herd/sql/sqlerr"
)

// floatFn registers a float8 function that fails on infinite results of finite arguments.
func floatFn(symbol string, f func(a float64) float64) {
	reg(floatUnary(func(a float64) (float64, error) {
		v := f(a)
		if math.IsInf(v, 0) && !math.IsInf(a, 0) {
			return 0, overflow()
		}
		return v, nil
	}), symbol)
}

func inputRange() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "input is out of range")
}

// trig registers a function that refuses infinities (when bounded, also values outside [-1, 1]).
func trig(symbol string, refuse func(a float64) bool, f func(a float64) float64) {
	reg(floatUnary(func(a float64) (float64, error) {
		if math.IsNaN(a) {
			return a, nil
		}
		if refuse(a) {
			return 0, inputRange()
		}
		v := f(a)
		if math.IsInf(v, 0) && !math.IsInf(a, 0) {
			return 0, overflow()
		}
		return v, nil
	}), symbol)
}

func never(float64) bool        { return false }
func isInf(a float64) bool      { return math.IsInf(a, 0) }
func outsideOne(a float64) bool { return a < -1 || a > 1 }

const degree = math.Pi / 180

// sindQ1 and cosdQ1 are sine and cosine of degrees in the first quadrant, exact at 0, 30, 60 and 90.
func sindQ1(x float64) float64 {
	if x <= 30 {
		return math.Sin(x*degree) / math.Sin(30*degree) / 2
	}
	return cosdSmall(90 - x)
}

func cosdSmall(x float64) float64 {
	if x <= 60 {
		one := 1 - math.Cos(x*degree)
		return 1 - one/(1-math.Cos(60*degree))/2
	}
	return math.Sin((90-x)*degree) / math.Sin(30*degree) / 2
}

func sind(a float64) float64 {
	a = math.Mod(a, 360)
	sign := 1.0
	if a < 0 {
		a, sign = -a, -sign
	}
	if a > 180 {
		a, sign = 360-a, -sign
	}
	if a > 90 {
		a = 180 - a
	}
	return sign * sindQ1(a)
}

func cosd(a float64) float64 {
	a = math.Abs(math.Mod(a, 360))
	sign := 1.0
	if a > 180 {
		a = 360 - a
	}
	if a > 90 {
		a, sign = 180-a, -sign
	}
	return sign * cosdSmall(a)
}

func tand(a float64) float64 {
	a = math.Mod(a, 360)
	sign := 1.0
	if a < 0 {
		a, sign = -a, -sign
	}
	if a > 180 {
		a, sign = 360-a, -sign
	}
	if a > 90 {
		a, sign = 180-a, -sign
	}
	t45 := sindQ1(45) / cosdSmall(45)
	v := sign * (sindQ1(a) / cosdSmall(a) / t45)
	if v == 0 {
		return 0
	}
	return v
}

func asind(a float64) float64 {
	if a < 0 {
		return -asind(-a)
	}
	if a <= 0.5 {
		return math.Asin(a) / math.Asin(0.5) * 30
	}
	return 90 - math.Acos(a)/math.Acos(0.5)*60
}

func acosd(a float64) float64 {
	if a < 0 {
		return 90 + asind(-a)
	}
	if a <= 0.5 {
		return 90 - math.Asin(a)/math.Asin(0.5)*30
	}
	return math.Acos(a) / math.Acos(0.5) * 60
}

func atand(a float64) float64 { return math.Atan(a) / math.Atan(1) * 45 }

func powFloat(a, b float64) (float64, error) {
	switch {
	case math.IsNaN(a):
		if b == 0 {
			return 1, nil
		}
		return a, nil
	case math.IsNaN(b):
		if a == 1 {
			return 1, nil
		}
		return b, nil
	case a == 0 && b < 0:
		return 0, sqlerr.New(sqlerr.InvalidArgumentForPowerFunction, "zero raised to a negative power is undefined")
	case a < 0 && math.Floor(b) != b && !math.IsInf(b, 0):
		return 0, sqlerr.New(sqlerr.InvalidArgumentForPowerFunction, "a negative number raised to a non-integer power yields a complex result")
	}
	v := math.Pow(a, b)
	if !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		if math.IsInf(v, 0) {
			return 0, overflow()
		}
		if v == 0 && a != 0 {
			return 0, underflow()
		}
	}
	if math.IsInf(b, 0) && math.Abs(a) == 1 {
		return 1, nil
	}
	return v, nil
}

func logFloat(f func(float64) float64) func(a float64) (float64, error) {
	return func(a float64) (float64, error) {
		if a == 0 {
			return 0, sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of zero")
		}
		if a < 0 {
			return 0, sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of a negative number")
		}
		return f(a), nil
	}
}

// log10 is exact for powers of ten, unlike math.Log10.
func log10(a float64) float64 {
	v := math.Log10(a)
	if r := math.Round(v); r != v && math.Pow(10, r) == a {
		return r
	}
	return v
}

func init() {
	floatFn("dround", math.RoundToEven)
	floatFn("dtrunc", math.Trunc)
	floatFn("dceil", math.Ceil)
	floatFn("dfloor", math.Floor)
	floatFn("dsign", func(a float64) float64 {
		switch {
		case a > 0:
			return 1
		case a < 0:
			return -1
		}
		return 0
	})
	floatFn("dcbrt", math.Cbrt)
	floatFn("radians", func(a float64) float64 { return a * degree })
	floatFn("degrees", func(a float64) float64 { return a / degree })
	reg(floatUnary(func(a float64) (float64, error) {
		if a < 0 {
			return 0, sqlerr.New(sqlerr.InvalidArgumentForPowerFunction, "cannot take square root of a negative number")
		}
		return math.Sqrt(a), nil
	}), "dsqrt")
	reg(floatBinary(powFloat), "dpow")
	reg(floatUnary(func(a float64) (float64, error) {
		v := math.Exp(a)
		if math.IsInf(v, 0) && !math.IsInf(a, 0) {
			return 0, overflow()
		}
		if v == 0 && !math.IsInf(a, 0) {
			return 0, underflow()
		}
		return v, nil
	}), "dexp")
	reg(floatUnary(logFloat(math.Log)), "dlog1")
	reg(floatUnary(logFloat(log10)), "dlog10")
	for sym, f := range map[string]func(float64) float64{"dsin": math.Sin, "dcos": math.Cos, "dtan": math.Tan, "dsind": sind, "dcosd": cosd, "dtand": tand,
		"dcot": func(a float64) float64 { return 1 / math.Tan(a) }} {
		refuse := isInf
		if sym == "dcot" {
			each(func(r *row) error { // an infinite cotangent is no error
				if isInf(r.Float(0)) {
					return inputRange()
				}
				return r.RetFloat(f(r.Float(0)))
			}, sym)
			continue
		}
		trig(sym, refuse, f)
	}
	each(func(r *row) error {
		if isInf(r.Float(0)) {
			return inputRange()
		}
		t := tand(r.Float(0))
		if t == 0 {
			return r.RetFloat(math.Inf(1))
		}
		v := 1 / t
		if math.IsInf(t, 0) || v == 0 {
			v = 0
		}
		return r.RetFloat(v)
	}, "dcotd")
	for sym, f := range map[string]func(float64) float64{"dasin": math.Asin, "dacos": math.Acos, "dasind": asind, "dacosd": acosd} {
		trig(sym, outsideOne, f)
	}
	for sym, f := range map[string]func(float64) float64{"datan": math.Atan, "datand": atand, "dsinh": nil, "dcosh": nil, "dtanh": math.Tanh, "dasinh": math.Asinh} {
		switch sym {
		case "dsinh": // infinite results are no errors here
			each(func(r *row) error { return r.RetFloat(math.Sinh(r.Float(0))) }, sym)
		case "dcosh":
			each(func(r *row) error { return r.RetFloat(math.Cosh(r.Float(0))) }, sym)
		default:
			trig(sym, never, f)
		}
	}
	trig("dacosh", func(a float64) bool { return a < 1 }, math.Acosh)
	each(func(r *row) error { // infinite at the ends, an error beyond
		a := r.Float(0)
		if outsideOne(a) {
			return inputRange()
		}
		return r.RetFloat(math.Atanh(a))
	}, "datanh")
	reg(floatBinary(func(a, b float64) (float64, error) { return math.Atan2(a, b), nil }), "datan2")
	reg(floatBinary(func(a, b float64) (float64, error) { return math.Atan2(a, b) / math.Atan(1) * 45, nil }), "datan2d")
	each(func(r *row) error { return r.RetFloat(math.Pi) }, "dpi")
	each(func(r *row) error { return r.RetFloat(r.c.random()) }, "drandom")
	each(setSeed, "setseed")
	each(widthBucketFloat, "width_bucket_float8")
}

func (c *Ctx) random() float64 {
	if c.Rand != nil {
		return c.Rand.Float64()
	}
	return rand.Float64()
}

func setSeed(r *row) error {
	s := r.Float(0)
	if !(s >= -1 && s <= 1) {
		return invalidParam("setseed parameter %v is out of allowed range [-1,1]", s)
	}
	r.c.Rand = rand.New(rand.NewPCG(math.Float64bits(s), 0x9E3779B97F4A7C15))
	return nil
}

func widthBucketFloat(r *row) error {
	x, lo, hi, count := r.Float(0), r.Float(1), r.Float(2), r.Int(3)
	bad := func(msg string) error {
		return sqlerr.New(sqlerr.InvalidArgumentForWidthBucketFunction, "%s", msg)
	}
	switch {
	case count <= 0:
		return bad("count must be greater than zero")
	case math.IsNaN(x) || math.IsNaN(lo) || math.IsNaN(hi):
		return bad("operand, lower bound, and upper bound cannot be NaN")
	case isInf(lo) || isInf(hi):
		return bad("lower and upper bounds must be finite")
	case lo == hi:
		return bad("lower bound cannot equal upper bound")
	}
	rising := lo < hi
	switch {
	case rising && x < lo || !rising && x > lo:
		return r.RetInt(0)
	case rising && x >= hi || !rising && x <= hi:
		return r.RetI(int4.check(count + 1))
	}
	// Halve everything when the width would overflow.
	if w := hi - lo; isInf(w) {
		x, lo, hi = x/2, lo/2, hi/2
	}
	v := int64(float64(count) * ((x - lo) / (hi - lo)))
	return r.RetInt(min(v, count-1) + 1)
}
