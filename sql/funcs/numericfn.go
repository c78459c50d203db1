package funcs

import (
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/numeric"
	"herd/sql/vec"
)

// numBinary makes a kernel of a numeric operation. Small values take no allocation.
func numBinary(f func(a, b numeric.Num) (numeric.Num, error)) Kernel {
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, y := a[0], a[1]
		one := func(i int) error {
			v, err := f(numeric.Decode(x.Bytes(i)), numeric.Decode(y.Bytes(i)))
			if err != nil {
				return err
			}
			out.Finish(i, v.Encode(out.Start()))
			return nil
		}
		if sel == nil {
			for i := 0; i < n; i++ {
				if err := one(i); err != nil {
					return err
				}
			}
			return nil
		}
		for _, s := range sel {
			if err := one(int(s)); err != nil {
				return err
			}
		}
		return nil
	}
}

// numUnary registers a function of one numeric that cannot fail.
func numUnary(symbol string, f func(a numeric.Num) numeric.Num) {
	each(func(r *row) error { return r.RetNumOK(f(r.Num(0))) }, symbol)
}

func init() {
	reg(numKernel(decimalAdd, false, numAddSmall, numeric.Add), "numeric_add")
	reg(numKernel(decimalSub, false, numSubSmall, numeric.Sub), "numeric_sub")
	reg(numKernel(decimalMul, true, numMulSmall, numeric.Mul), "numeric_mul")
	reg(numBinary(numeric.Div), "numeric_div")
	reg(numBinary(numeric.DivTrunc), "numeric_div_trunc")
	reg(numBinary(numeric.Mod), "numeric_mod")
	reg(numBinary(numeric.Gcd), "numeric_gcd")
	reg(numBinary(numeric.Lcm), "numeric_lcm")
	reg(numBinary(numeric.Power), "numeric_power")
	reg(numBinary(numeric.Log), "numeric_log")
	numUnary("numeric_uminus", numeric.Num.Neg)
	numUnary("numeric_uplus", func(a numeric.Num) numeric.Num { return a })
	numUnary("numeric_abs", numeric.Num.Abs)
	numUnary("numeric_ceil", numeric.Num.Ceil)
	numUnary("numeric_floor", numeric.Num.Floor)
	numUnary("numeric_trim_scale", numeric.Num.TrimScale)
	numUnary("numeric_sign", func(a numeric.Num) numeric.Num {
		if a.IsNaN() {
			return a
		}
		return numeric.FromInt64(int64(a.Sign()))
	})
	each(func(r *row) error { return r.RetNum(numeric.Add(r.Num(0), numeric.One)) }, "numeric_inc")
	each(func(r *row) error { return r.RetNum(r.Num(0).Sqrt()) }, "numeric_sqrt")
	each(func(r *row) error { return r.RetNum(r.Num(0).Exp()) }, "numeric_exp")
	each(func(r *row) error { return r.RetNum(r.Num(0).Ln()) }, "numeric_ln")
	each(func(r *row) error { return r.RetNum(numeric.Log(numeric.FromInt64(10), r.Num(0))) }, "log10(numeric)", "log(numeric)")
	each(func(r *row) error { return r.RetNum(numeric.Factorial(r.Int(0))) }, "numeric_fac")
	each(func(r *row) error { return r.RetNumOK(r.Num(0).RoundResult(int(r.Int(1)))) }, "numeric_round")
	each(func(r *row) error { return r.RetNumOK(r.Num(0).TruncResult(int(r.Int(1)))) }, "numeric_trunc")
	each(func(r *row) error { return r.RetNumOK(r.Num(0).Round(0)) }, "round(numeric)")
	each(func(r *row) error { return r.RetNumOK(r.Num(0).Trunc(0)) }, "trunc(numeric)")
	each(func(r *row) error {
		a := r.Num(0)
		if a.Kind() != numeric.Finite {
			return r.RetNull()
		}
		return r.RetInt(int64(a.Scale()))
	}, "numeric_scale")
	each(func(r *row) error {
		a := r.Num(0)
		if a.Kind() != numeric.Finite {
			return r.RetNull()
		}
		return r.RetInt(int64(a.TrimScale().Scale()))
	}, "numeric_min_scale")
	each(func(r *row) error {
		d, err := types.ApplyTypmod(types.NumericOID, types.Typmod(r.Int(1)), false, r.Datum(0))
		if err != nil {
			return err
		}
		return r.RetDatum(d)
	}, "numeric")
	each(widthBucketNumeric, "width_bucket_numeric")
}

func widthBucketNumeric(r *row) error {
	x, lo, hi, count := r.Num(0), r.Num(1), r.Num(2), r.Int(3)
	bad := func(msg string) error {
		return sqlerr.New(sqlerr.InvalidArgumentForWidthBucketFunction, "%s", msg)
	}
	switch {
	case count <= 0:
		return bad("count must be greater than zero")
	case x.IsNaN() || lo.IsNaN() || hi.IsNaN():
		return bad("operand, lower bound, and upper bound cannot be NaN")
	case lo.Kind() != numeric.Finite || hi.Kind() != numeric.Finite:
		return bad("lower and upper bounds must be finite")
	}
	c := lo.Cmp(hi)
	if c == 0 {
		return bad("lower bound cannot equal upper bound")
	}
	if c > 0 { // a falling range: mirror it
		x, lo, hi = x.Neg(), lo.Neg(), hi.Neg()
	}
	switch {
	case x.Cmp(lo) < 0:
		return r.RetInt(0)
	case x.Cmp(hi) >= 0:
		if count == int4.hi {
			return outOfRange("integer")
		}
		return r.RetInt(count + 1)
	}
	a, _ := numeric.Sub(x, lo)
	w, _ := numeric.Sub(hi, lo)
	p, err := numeric.Mul(a, numeric.FromInt64(count))
	if err != nil {
		return err
	}
	q, err := numeric.DivTrunc(p, w)
	if err != nil {
		return err
	}
	v, err := q.Int64(0, count, "integer")
	return r.RetI(v+1, err)
}
