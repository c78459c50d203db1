package exec

import (
	"math"
	"sort"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/types/numeric"
	"herd/sql/vec"
)

// rangeBound finds the end of a RANGE frame with an offset: the first row whose value is not before value -/+ offset (start),
// or the first one after it.
func (o *windowOp) rangeBound(preceding bool, off types.Datum, i int, start bool) (int, error) {
	typ := o.ordC[0].typ
	offTyp := typ
	if e := o.win.Frame.StartOffset; start && e != nil {
		offTyp = e.T().Type
	} else if e := o.win.Frame.EndOffset; e != nil {
		offTyp = e.T().Type
	}
	v, err := o.orderValue(i)
	if err != nil {
		return 0, err
	}
	if v.Null { // NULLs are peers of each other only
		return o.edge(i, start)
	}
	bound, err := shift(o.st.env.Funcs.IO, typ, v, offTyp, off, preceding != o.ordC[0].desc)
	if err != nil {
		return 0, err
	}
	desc := o.ordC[0].desc
	if isNaN(typ, bound) && !isNaN(typ, v) { // infinity less infinity: every number is within
		bound = infinity(typ, start != desc)
	}
	n := sort.Search(o.n, func(k int) bool {
		d, e := o.orderValue(k)
		if e != nil {
			err = e
			return true
		}
		if d.Null {
			return !o.ordC[0].nullsFirst
		}
		c := types.Compare(typ, o.ordC[0].coll, d, bound)
		if desc {
			c = -c
		}
		if start {
			return c >= 0
		}
		return c > 0
	})
	return n, err
}

func (o *windowOp) orderValue(i int) (types.Datum, error) {
	c, err := o.chunks.get(i / vec.MaxRows)
	if err != nil {
		return types.NullDatum, err
	}
	return c.order.Datum(i % vec.MaxRows), nil
}

func isNaN(typ types.OID, d types.Datum) bool {
	switch {
	case types.KindOf(typ) == types.KindFloat:
		return math.IsNaN(d.Float())
	case typ == types.NumericOID:
		return numeric.Decode(d.B).IsNaN()
	}
	return false
}

// infinity is a number type's infinity.
func infinity(typ types.OID, negative bool) types.Datum {
	n, sign := numeric.Infinity, 1
	if negative {
		n, sign = numeric.NegInfinity, -1
	}
	if typ == types.NumericOID {
		return types.Bytes(n.Encode(nil))
	}
	return types.Float(math.Inf(sign))
}

// shift returns v minus (down) or plus an offset, as the in_range functions compare; sums beyond the type's range saturate.
func shift(io *types.IOContext, typ types.OID, v types.Datum, offTyp types.OID, off types.Datum, down bool) (types.Datum, error) {
	negative := func() error {
		return sqlerr.New(sqlerr.InvalidPrecedingOrFollowingSize, "invalid preceding or following size in window function")
	}
	switch {
	case offTyp == types.IntervalOID:
		iv := types.DecodeInterval(off.B)
		if iv.Cmp(datetime.Interval{}) < 0 {
			return v, negative()
		}
		if down {
			var err error
			if iv, err = iv.Neg(); err != nil {
				return v, err
			}
		}
		return shiftTime(io, typ, v, iv)
	case types.KindOf(typ) == types.KindInt && types.KindOf(offTyp) == types.KindInt:
		if off.I < 0 {
			return v, negative()
		}
		if down {
			if v.I < math.MinInt64+off.I {
				return types.Int(math.MinInt64), nil
			}
			return types.Int(v.I - off.I), nil
		}
		if v.I > math.MaxInt64-off.I {
			return types.Int(math.MaxInt64), nil
		}
		return types.Int(v.I + off.I), nil
	case types.KindOf(typ) == types.KindFloat:
		x := off.Float()
		if x < 0 || x != x {
			return v, negative()
		}
		if down {
			x = -x
		}
		return types.Float(v.Float() + x), nil
	case typ == types.NumericOID:
		x := numeric.Decode(off.B)
		if x.Sign() < 0 || x.IsNaN() {
			return v, negative()
		}
		if down {
			x = x.Neg()
		}
		s, err := numeric.Add(numeric.Decode(v.B), x)
		return types.Bytes(s.Encode(nil)), err
	}
	return v, sqlerr.Unsupported("RANGE with offset PRECEDING/FOLLOWING for column type %s", types.FormatType(typ, -1, false))
}

func shiftTime(io *types.IOContext, typ types.OID, v types.Datum, iv datetime.Interval) (types.Datum, error) {
	const day = 24 * 3600 * 1000000
	switch typ {
	case types.TimestampOID:
		t, err := datetime.AddToTimestamp(v.I, iv)
		return types.Int(t), err
	case types.TimestampTZOID:
		t, err := datetime.AddToTimestampTZ(v.I, iv, &io.Config)
		return types.Int(t), err
	case types.DateOID:
		t, err := datetime.AddToTimestamp(v.I*day, iv)
		if err != nil {
			return v, err
		}
		d := t / day
		if t%day < 0 {
			d--
		}
		if t%day != 0 && iv.Cmp(datetime.Interval{}) < 0 {
			d++ // a bound inside of a day excludes that day's midnight
		}
		return types.Int(d), nil
	case types.TimeOID:
		return types.Int(addTime(v.I, iv.Micros)), nil
	case types.TimeTZOID:
		us, west := types.DecodeTimeTZ(v.B)
		return types.Bytes(types.EncodeTimeTZ(nil, addTime(us, iv.Micros), west)), nil
	case types.IntervalOID:
		s, err := types.DecodeInterval(v.B).Add(iv)
		return types.Bytes(types.EncodeInterval(nil, s)), err
	}
	return v, sqlerr.Unsupported("RANGE with offset PRECEDING/FOLLOWING for column type %s", types.FormatType(typ, -1, false))
}

// addTime adds to a time of day without going round, as frames compare; sums saturate.
func addTime(us, more int64) int64 {
	switch {
	case more > 0 && us > math.MaxInt64-more:
		return math.MaxInt64
	case more < 0 && us < math.MinInt64-more:
		return math.MinInt64
	}
	return us + more
}
