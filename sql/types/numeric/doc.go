// Package numeric is PostgreSQL's numeric: exact decimals with a display scale, NaN and infinities.
//
// # Purpose
//
// Num is a value type: an int64 coefficient and a scale for nearly everything, a big integer when that overflows.
// Result scales are PostgreSQL's, so that 1/3 has as many digits here as there.
//
// # Invariants
//
//	I1  Num.big is non-nil exactly when the coefficient does not fit int64; it is never changed once a Num holds it.
//	I2  An encoded value is unique for (value, scale): see encode.go.
//	I3  Finite results have at most MaxDigits digits before the decimal point and MaxScale after it; otherwise 22003.
//
// # Goroutines
//
// None. Values are immutable.
//
// # Files
//
//	num.go      Num, conversions from and to integers and floats
//	parse.go    text to Num
//	format.go   Num to text
//	encode.go   the stored form, and PostgreSQL's binary form
//	arith.go    add, subtract, multiply, compare, round
//	div.go      division, remainder, and the rule for its scale
//	trans.go    sqrt, exp, ln, log, power, factorial
//	sum.go      the accumulator of sums
package numeric
