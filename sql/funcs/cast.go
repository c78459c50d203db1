package funcs

import (
	"math"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/types/json"
	"herd/sql/types/numeric"
	"herd/sql/vec"
)

// narrow checks an integer against the range of a smaller type.
func narrow(t intType) Kernel { return intUnary(t.check) }

func intToFloat(round func(float64) float64) Kernel {
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, m, o := a[0].Int, mask(a[0]), out.Float
		if sel == nil {
			for i := 0; i < n; i++ {
				o[i] = round(float64(x[i&m]))
			}
			return nil
		}
		for _, s := range sel {
			o[s] = round(float64(x[int(s)&m]))
		}
		return nil
	}
}

// floatToInt rounds half to even, as rint does.
func floatToInt(t intType) Kernel {
	lo, hi := float64(t.lo), float64(t.hi)+1
	if t == int8 {
		hi = 9223372036854775808
	}
	f := func(r *row) error {
		v := math.RoundToEven(r.Float(0))
		if !(v >= lo && v < hi) {
			return outOfRange(t.name)
		}
		return r.RetInt(int64(v))
	}
	return lift(f, &CallInfo{})
}

func init() {
	reg(intUnary(func(a int64) (int64, error) { return a, nil }), "i2toi4", "int28", "int48", "oidtoi8")
	reg(narrow(int2), "i4toi2", "int82")
	reg(narrow(int4), "int84")
	reg(intUnary(func(a int64) (int64, error) {
		if a < 0 || a > math.MaxUint32 {
			return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "OID out of range")
		}
		return a, nil
	}), "i8tooid")
	double := func(v float64) float64 { return v }
	reg(intToFloat(double), "i2tod", "i4tod", "i8tod")
	reg(intToFloat(single), "i2tof", "i4tof", "i8tof")
	reg(floatToInt(int2), "dtoi2", "ftoi2")
	reg(floatToInt(int4), "dtoi4", "ftoi4")
	reg(floatToInt(int8), "dtoi8", "ftoi8")
	reg(floatUnary(func(a float64) (float64, error) {
		v := single(a)
		if math.IsInf(v, 0) && !math.IsInf(a, 0) {
			return 0, overflow()
		}
		if v == 0 && a != 0 {
			return 0, underflow()
		}
		return v, nil
	}), "dtof")
	reg(intToNumeric, "int2_numeric", "int4_numeric", "int8_numeric")
	each(func(r *row) error { return r.RetNum(numeric.FromFloat64(r.Float(0))) }, "float8_numeric")
	each(func(r *row) error { return r.RetNum(numeric.FromFloat32(float32(r.Float(0)))) }, "float4_numeric")
	for sym, t := range map[string]intType{"numeric_int2": int2, "numeric_int4": int4, "numeric_int8": int8} {
		each(func(r *row) error { return r.RetI(r.Num(0).Int64(t.lo, t.hi, t.name)) }, sym)
	}
	each(func(r *row) error {
		f, err := r.Num(0).Float64()
		if err != nil {
			return err
		}
		return r.RetFloat(f)
	}, "numeric_float8", "numeric_float8_no_overflow")
	each(func(r *row) error {
		f, err := r.Num(0).Float32()
		if err != nil {
			return err
		}
		return r.RetFloat(float64(f))
	}, "numeric_float4")
	each(func(r *row) error { return r.RetBool(r.Int(0) != 0) }, "int4_bool")
	each(func(r *row) error {
		if r.Bool(0) {
			return r.RetInt(1)
		}
		return r.RetInt(0)
	}, "bool_int4")
	each(func(r *row) error {
		if r.Bool(0) {
			return r.RetStr("true")
		}
		return r.RetStr("false")
	}, "booltext")
	initTextCasts()
	initBitCasts()
	initTimeCasts()
	initJSONCasts()
	initMoney()
}

// typmodCast registers the length coercion of a type: (value, typmod[, explicit]).
func typmodCast(symbol string, t types.OID) {
	each(func(r *row) error {
		explicit := r.N() > 2 && r.Bool(2)
		if err := checkPrecision(t, r.Int(1), r.Datum(0)); err != nil {
			return err
		}
		d, err := types.ApplyTypmod(t, types.Typmod(r.Int(1)), explicit, r.Datum(0))
		if err != nil {
			return err
		}
		return r.RetDatum(d)
	}, symbol)
}

// checkPrecision refuses a precision that no declaration can have, which a call of the cast's function can.
func checkPrecision(t types.OID, precision int64, d types.Datum) error {
	const most = 6
	switch {
	case precision >= -1 && precision <= most:
	case (t == types.TimestampOID || t == types.TimestampTZOID) && !datetime.IsInfinite(d.I):
		return sqlerr.New(sqlerr.InvalidParameterValue, "timestamp(%d) precision must be between 0 and %d", precision, most)
	}
	return nil
}

func initTextCasts() {
	typmodCast("varchar", types.VarcharOID)
	typmodCast("bpchar", types.BPCharOID)
	each(func(r *row) error { return r.RetArg(0) }, "name_text", "name_bpchar", "char_text", "char_bpchar")
	each(func(r *row) error { return r.RetBytes(types.ClipName(r.Bytes(0))) }, "text_name")
	each(func(r *row) error { return r.RetBytes(types.ClipName(types.TrimPad(r.Bytes(0)))) }, "bpchar_name")
	each(func(r *row) error {
		d, err := types.Input(r.c.IO, types.QCharOID, -1, r.Bytes(0))
		if err != nil {
			return err
		}
		return r.RetDatum(d)
	}, "text_char")
	each(func(r *row) error {
		v := r.Int(0)
		if v < -128 || v > 127 {
			return sqlerr.New(sqlerr.NumericValueOutOfRange, "\"char\" out of range")
		}
		if v == 0 {
			return r.RetBytes(nil)
		}
		return r.RetBytes([]byte{byte(v)})
	}, "i4tochar")
	each(func(r *row) error {
		if b := r.Bytes(0); len(b) > 0 {
			return r.RetInt(int64(int8OfByte(b[0])))
		}
		return r.RetInt(0)
	}, "chartoi4")
	each(func(r *row) error {
		d, err := types.Input(r.c.IO, types.RegclassOID, -1, r.Bytes(0))
		if err != nil {
			return err
		}
		return r.RetDatum(d)
	}, "text_regclass")
	each(func(r *row) error { return r.RetInt(int64(uint32(r.Int(0)))) }, "xid8toxid")
}

func int8OfByte(b byte) int { return int(int16(uint16(b)<<8) >> 8) }

func initBitCasts() {
	typmodCast("bit", types.BitOID)
	typmodCast("varbit", types.VarbitOID)
	fromInt := func(width int) rowFunc {
		return func(r *row) error {
			v, n := r.Int(0), int(r.Int(1))
			if n <= 0 || n > types.MaxBits {
				n = 1
			}
			b := types.MakeBit(n)
			for i := range n {
				shift := n - 1 - i
				on := v < 0 // sign bits in front of a longer string
				if shift < width {
					on = v>>uint(shift)&1 != 0
				}
				types.SetBitAt(b, i, on)
			}
			return r.RetBytes(b)
		}
	}
	each(fromInt(32), "bitfromint4")
	each(fromInt(64), "bitfromint8")
	toInt := func(t intType, width int) rowFunc {
		return func(r *row) error {
			b := r.Bytes(0)
			n := types.BitLen(b)
			var v uint64
			if n > width {
				return outOfRange(t.name)
			}
			for i := range n {
				v <<= 1
				if types.BitAt(b, i) {
					v |= 1
				}
			}
			return r.RetInt(wrapInt(t, int64(v)))
		}
	}
	each(toInt(int4, 32), "bittoint4")
	each(toInt(int8, 64), "bittoint8")
}

func initTimeCasts() {
	typmodCast("timestamp_scale", types.TimestampOID)
	typmodCast("timestamptz_scale", types.TimestampTZOID)
	typmodCast("time_scale", types.TimeOID)
	typmodCast("timetz_scale", types.TimeTZOID)
	typmodCast("interval_scale", types.IntervalOID)
	each(func(r *row) error { return r.RetI(dateStamp(r.Int(0))) }, "date_timestamp")
	each(func(r *row) error {
		ts, err := dateStamp(r.Int(0))
		if err != nil {
			return err
		}
		return r.RetI(stampToUTC(ts, r.c))
	}, "date_timestamptz")
	each(func(r *row) error { return r.RetI(stampToUTC(r.Int(0), r.c)) }, "timestamp_timestamptz")
	each(func(r *row) error { return r.RetInt(datetime.ToLocal(r.Int(0), r.c.IO.Zone)) }, "timestamptz_timestamp")
	each(func(r *row) error { return r.RetInt(stampDate(r.Int(0))) }, "timestamp_date")
	each(func(r *row) error { return r.RetInt(stampDate(datetime.ToLocal(r.Int(0), r.c.IO.Zone))) }, "timestamptz_date")
	each(func(r *row) error {
		if datetime.IsInfinite(r.Int(0)) {
			return r.RetNull()
		}
		_, us := datetime.Split(r.Int(0))
		return r.RetInt(us)
	}, "timestamp_time")
	each(func(r *row) error {
		if datetime.IsInfinite(r.Int(0)) {
			return r.RetNull()
		}
		_, us := datetime.Split(datetime.ToLocal(r.Int(0), r.c.IO.Zone))
		return r.RetInt(us)
	}, "timestamptz_time")
	each(func(r *row) error {
		if datetime.IsInfinite(r.Int(0)) {
			return r.RetNull()
		}
		east, _ := datetime.OffsetAt(r.Int(0), r.c.IO.Zone)
		_, us := datetime.Split(datetime.ToLocal(r.Int(0), r.c.IO.Zone))
		return r.Finish(types.EncodeTimeTZ(r.Start(), us, int32(-east)))
	}, "timestamptz_timetz")
	each(func(r *row) error {
		v, _ := types.DecodeTimeTZ(r.Bytes(0))
		return r.RetInt(v)
	}, "timetz_time")
	each(func(r *row) error {
		// The zone's offset of today.
		day, _ := datetime.Split(datetime.ToLocal(r.c.TxTime, r.c.IO.Zone))
		east := datetime.LocalOffset(day*datetime.Day+r.Int(0), r.c.IO.Zone)
		return r.Finish(types.EncodeTimeTZ(r.Start(), r.Int(0), int32(-east)))
	}, "time_timetz")
	each(func(r *row) error { return r.RetInterval(datetime.Interval{Micros: r.Int(0)}, nil) }, "time_interval")
	each(func(r *row) error {
		us := r.Interval(0).Micros % datetime.Day
		if us < 0 {
			us += datetime.Day
		}
		return r.RetInt(us)
	}, "interval_time")
}

// dateStamp converts a date to a timestamp.
func dateStamp(d int64) (int64, error) {
	switch d {
	case datetime.DateInfinity:
		return datetime.Infinity, nil
	case datetime.DateNegInfinity:
		return datetime.NegInfinity, nil
	}
	ts, ok := datetime.Join(d, 0)
	if !ok {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range for timestamp")
	}
	return ts, nil
}

// stampDate converts a timestamp to a date.
func stampDate(ts int64) int64 {
	switch ts {
	case datetime.Infinity:
		return datetime.DateInfinity
	case datetime.NegInfinity:
		return datetime.DateNegInfinity
	}
	d, _ := datetime.Split(ts)
	return d
}

// stampToUTC takes a local timestamp of the session's zone.
func stampToUTC(ts int64, c *Ctx) (int64, error) {
	if datetime.IsInfinite(ts) {
		return ts, nil
	}
	u := datetime.LocalToUTC(ts, c.IO.Zone)
	if !datetime.ValidTimestamp(u) {
		return 0, timestampRange()
	}
	return u, nil
}

func timestampRange() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
}

// jsonKindName is the word for a JSON value in the errors of casts.
func jsonKindName(k json.Kind) string {
	switch k {
	case json.Null:
		return "null"
	case json.String:
		return "string"
	case json.Number:
		return "numeric"
	case json.True, json.False:
		return "boolean"
	case json.Array:
		return "array"
	}
	return "object"
}

func initJSONCasts() {
	want := func(r *row, t string, kinds ...json.Kind) error {
		k := json.KindOf(r.Bytes(0))
		for _, w := range kinds {
			if k == w {
				return nil
			}
		}
		return invalidParam("cannot cast jsonb %s to type %s", jsonKindName(k), t)
	}
	num := func(t string, f func(r *row, n numeric.Num) error) rowFunc {
		return func(r *row) error {
			if err := want(r, t, json.Number); err != nil {
				return err
			}
			n, err := numeric.Parse(r.Bytes(0))
			if err != nil {
				return err
			}
			return f(r, n)
		}
	}
	each(func(r *row) error {
		if err := want(r, "boolean", json.True, json.False); err != nil {
			return err
		}
		return r.RetBool(json.KindOf(r.Bytes(0)) == json.True)
	}, "jsonb_bool")
	each(num("numeric", func(r *row, n numeric.Num) error { return r.RetNumOK(n) }), "jsonb_numeric")
	for sym, t := range map[string]intType{"jsonb_int2": int2, "jsonb_int4": int4, "jsonb_int8": int8} {
		each(num(t.name, func(r *row, n numeric.Num) error { return r.RetI(n.Int64(t.lo, t.hi, t.name)) }), sym)
	}
	each(num("double precision", func(r *row, n numeric.Num) error {
		f, err := n.Float64()
		if err != nil {
			return err
		}
		return r.RetFloat(f)
	}), "jsonb_float8")
	each(num("real", func(r *row, n numeric.Num) error {
		f, err := n.Float32()
		if err != nil {
			return err
		}
		return r.RetFloat(float64(f))
	}), "jsonb_float4")
}

// initMoney registers the arithmetic and casts of money: cents in 64 bits.
func initMoney() {
	reg(addInt(intType{math.MinInt64, math.MaxInt64, "money"}), "cash_pl")
	reg(subInt(intType{math.MinInt64, math.MaxInt64, "money"}), "cash_mi")
	scale := func(r *row, v int64) error {
		c, ok := mulChecked(v, 100)
		if !ok {
			return outOfRange("bigint")
		}
		return r.RetInt(c)
	}
	each(func(r *row) error { return scale(r, r.Int(0)) }, "int4_cash", "int8_cash")
	each(func(r *row) error {
		n, err := numeric.Mul(r.Num(0), numeric.FromInt64(100))
		if err != nil {
			return err
		}
		return r.RetI(n.Int64(math.MinInt64, math.MaxInt64, "bigint"))
	}, "numeric_cash")
	each(func(r *row) error { return r.RetNumOK(numeric.New(r.Int(0), 2)) }, "cash_numeric")
	mul := func(i, m int) rowFunc {
		return func(r *row) error {
			v, ok := mulChecked(r.Int(i), r.Int(m))
			if !ok {
				return outOfRange("money")
			}
			return r.RetInt(v)
		}
	}
	each(mul(0, 1), "cash_mul_int2", "cash_mul_int4", "cash_mul_int8", "int2_mul_cash", "int4_mul_cash", "int8_mul_cash")
	each(func(r *row) error {
		if r.Int(1) == 0 {
			return divisionByZero()
		}
		return r.RetInt(r.Int(0) / r.Int(1))
	}, "cash_div_int2", "cash_div_int4", "cash_div_int8")
	each(func(r *row) error {
		if r.Int(1) == 0 {
			return divisionByZero()
		}
		return r.RetFloat(float64(r.Int(0)) / float64(r.Int(1)))
	}, "cash_div_cash")
	rint := func(r *row, v float64) error {
		if v = math.RoundToEven(v); !(v >= math.MinInt64 && v < 9223372036854775808) {
			return outOfRange("money")
		}
		return r.RetInt(int64(v))
	}
	each(func(r *row) error { return rint(r, float64(r.Int(0))*r.Float(1)) }, "cash_mul_flt8", "cash_mul_flt4")
	each(func(r *row) error { return rint(r, r.Float(0)*float64(r.Int(1))) }, "flt8_mul_cash", "flt4_mul_cash")
	each(func(r *row) error {
		if r.Float(1) == 0 {
			return divisionByZero()
		}
		return rint(r, float64(r.Int(0))/r.Float(1))
	}, "cash_div_flt8", "cash_div_flt4")
}
