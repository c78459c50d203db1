package funcs

import (
	"math"

	"herd/sql/sqlerr"
)

func overflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
}

func underflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: underflow")
}

// single rounds the result of an operation of float4.
func single(v float64) float64 { return float64(float32(v)) }

// arith makes a float operation with PostgreSQL's overflow and underflow checks.
func arith(round func(float64) float64, f func(a, b float64) float64, under func(a, b float64) bool) func(a, b float64) (float64, error) {
	return func(a, b float64) (float64, error) {
		v := round(f(a, b))
		if math.IsInf(v, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
			return 0, overflow()
		}
		if v == 0 && under != nil && under(a, b) {
			return 0, underflow()
		}
		return v, nil
	}
}

func divFloat(round func(float64) float64) func(a, b float64) (float64, error) {
	return func(a, b float64) (float64, error) {
		if b == 0 && !math.IsNaN(a) {
			return 0, divisionByZero()
		}
		v := round(a / b)
		if math.IsInf(v, 0) && !math.IsInf(a, 0) {
			return 0, overflow()
		}
		if v == 0 && a != 0 && !math.IsInf(b, 0) {
			return 0, underflow()
		}
		return v, nil
	}
}

func init() {
	double := func(v float64) float64 { return v }
	add := func(a, b float64) float64 { return a + b }
	sub := func(a, b float64) float64 { return a - b }
	mul := func(a, b float64) float64 { return a * b }
	mulUnder := func(a, b float64) bool { return a != 0 && b != 0 }
	for _, m := range []struct {
		p     string
		round func(float64) float64
	}{{"float4", single}, {"float8", double}, {"float48", double}, {"float84", double}} {
		reg(floatBinary(arith(m.round, add, nil)), m.p+"pl")
		reg(floatBinary(arith(m.round, sub, nil)), m.p+"mi")
		reg(floatBinary(arith(m.round, mul, mulUnder)), m.p+"mul")
		reg(floatBinary(divFloat(m.round)), m.p+"div")
	}
	unary := func(f func(float64) float64) Kernel {
		return floatUnary(func(a float64) (float64, error) { return f(a), nil })
	}
	reg(unary(func(a float64) float64 { return -a }), "float4um", "float8um")
	reg(unary(func(a float64) float64 { return a }), "float4up", "float8up", "ftod")
	reg(unary(math.Abs), "float4abs", "float8abs")
}
