package funcs

import (
	"math"
	"strings"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/types/numeric"
)

// part is the value of a field as micros-exact number: num for EXTRACT, float for date_part.
type part struct {
	v     int64
	scale int // v is in units of 10**-scale
	num   *numeric.Num
	f     float64
	isF   bool
}

func intPart(v int64) part { return part{v: v} }

func unitError(unit, typ string, u datetime.Unit) error {
	if u == datetime.UnitNone || u == datetime.UnitOther && !strings.HasPrefix(typ, "timestamp") && typ != "date" {
		return invalidParam("unit \"%s\" not recognized for type %s", strings.ToLower(unit), typ)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "unit \"%s\" not supported for type %s", strings.ToLower(unit), typ)
}

// ret stores a part as numeric or float8, whatever the result is.
func (r *row) retPart(p part) error {
	if r.out.Kind == types.KindFloat {
		if p.isF {
			return r.RetFloat(p.f)
		}
		if p.num != nil {
			f, _ := p.num.Float64()
			return r.RetFloat(f)
		}
		return r.RetFloat(float64(p.v) / math.Pow10(p.scale))
	}
	if p.num != nil {
		return r.RetNumOK(*p.num)
	}
	return r.RetNumOK(numeric.New(p.v, p.scale))
}

// infinitePart is the field of an infinite value: infinite for what grows without end, NULL for the rest.
func (r *row) infinitePart(name, typ string, u datetime.Unit, negative, dateOnly bool) error {
	switch u {
	case datetime.UnitYear, datetime.UnitDecade, datetime.UnitCentury, datetime.UnitMillennium, datetime.UnitJulian, datetime.UnitISOYear, datetime.UnitEpoch:
		n, f := numeric.Infinity, math.Inf(1)
		if negative {
			n, f = numeric.NegInfinity, math.Inf(-1)
		}
		return r.retPart(part{num: &n, f: f, isF: true})
	case datetime.UnitMicrosecond, datetime.UnitMillisecond, datetime.UnitSecond, datetime.UnitMinute, datetime.UnitHour:
		if dateOnly {
			return unitError(name, typ, u)
		}
		return r.RetNull()
	case datetime.UnitTimezone, datetime.UnitTimezoneHour, datetime.UnitTimezoneMinute:
		if dateOnly {
			return unitError(name, typ, u)
		}
		return r.RetNull()
	case datetime.UnitDay, datetime.UnitMonth, datetime.UnitQuarter, datetime.UnitWeek, datetime.UnitDow, datetime.UnitISODow, datetime.UnitDoy:
		return r.RetNull()
	}
	return unitError(name, typ, u)
}

// datePart is the field of a day; ok false when the unit is not one of a date.
func datePart(u datetime.Unit, days int64) (p part, ok bool) {
	y, m, d := datetime.Civil(days)
	switch u {
	case datetime.UnitDay:
		return intPart(int64(d)), true
	case datetime.UnitMonth:
		return intPart(int64(m)), true
	case datetime.UnitQuarter:
		return intPart(int64(m-1)/3 + 1), true
	case datetime.UnitWeek:
		_, w := datetime.ISOWeek(days)
		return intPart(int64(w)), true
	case datetime.UnitYear:
		if y <= 0 {
			y--
		}
		return intPart(int64(y)), true
	case datetime.UnitDecade:
		if y >= 0 {
			return intPart(int64(y / 10)), true
		}
		return intPart(int64(-((8 - (y - 1)) / 10))), true
	case datetime.UnitCentury:
		if y > 0 {
			return intPart(int64((y + 99) / 100)), true
		}
		return intPart(int64(-((99 - (y - 1)) / 100))), true
	case datetime.UnitMillennium:
		if y > 0 {
			return intPart(int64((y + 999) / 1000)), true
		}
		return intPart(int64(-((999 - (y - 1)) / 1000))), true
	case datetime.UnitISOYear:
		iy, _ := datetime.ISOWeek(days)
		if iy <= 0 {
			iy--
		}
		return intPart(int64(iy)), true
	case datetime.UnitDow:
		return intPart(int64(datetime.Weekday(days))), true
	case datetime.UnitISODow:
		w := datetime.Weekday(days)
		if w == 0 {
			w = 7
		}
		return intPart(int64(w)), true
	case datetime.UnitDoy:
		return intPart(days - datetime.Days(y, 1, 1) + 1), true
	}
	return part{}, false
}

// clockPart is the field of a time of day.
func clockPart(u datetime.Unit, us int64) (p part, ok bool) {
	switch u {
	case datetime.UnitMicrosecond:
		return intPart(us % datetime.Minute), true
	case datetime.UnitMillisecond:
		return part{v: us % datetime.Minute, scale: 3}, true
	case datetime.UnitSecond:
		return part{v: us % datetime.Minute, scale: 6}, true
	case datetime.UnitMinute:
		return intPart(us / datetime.Minute % 60), true
	case datetime.UnitHour:
		return intPart(us / datetime.Hour), true
	}
	return part{}, false
}

// stampPart is a field of a timestamp; east is the zone's offset when zoned.
func (r *row) stampPart(name string, ts int64, zoned bool) error {
	typ := "timestamp without time zone"
	if zoned {
		typ = "timestamp with time zone"
	}
	u := datetime.LookupUnit(name)
	if datetime.IsInfinite(ts) {
		return r.infinitePart(name, typ, u, ts < 0, false)
	}
	local, east := ts, 0
	if zoned {
		east, _ = datetime.OffsetAt(ts, r.c.IO.Zone)
		local += int64(east) * datetime.Second
	}
	days, us := datetime.Split(local)
	if p, ok := clockPart(u, us); ok {
		return r.retPart(p)
	}
	if p, ok := datePart(u, days); ok {
		return r.retPart(p)
	}
	switch {
	case u == datetime.UnitJulian:
		j := datetime.JulianDay(days)
		q, err := numeric.Div(numeric.FromInt64(us), numeric.FromInt64(datetime.Day))
		if err != nil {
			return err
		}
		n, _ := numeric.Add(numeric.FromInt64(j), q)
		return r.retPart(part{num: &n, f: float64(j) + float64(us)/float64(datetime.Day), isF: true})
	case u == datetime.UnitEpoch:
		if ts < math.MaxInt64-datetime.UnixEpoch*datetime.Second {
			return r.retPart(part{v: ts + datetime.UnixEpoch*datetime.Second, scale: 6})
		}
		n, err := numeric.Add(numeric.New(ts, 6), numeric.FromInt64(datetime.UnixEpoch))
		if err != nil {
			return err
		}
		n = n.Round(6)
		return r.retPart(part{num: &n})
	case !zoned:
	case u == datetime.UnitTimezone:
		return r.retPart(intPart(int64(east)))
	case u == datetime.UnitTimezoneHour:
		return r.retPart(intPart(int64(east / 3600)))
	case u == datetime.UnitTimezoneMinute:
		return r.retPart(intPart(int64(east / 60 % 60)))
	}
	return unitError(name, typ, u)
}

func (r *row) timePart(name, typ string, us int64, zoned bool, west int32) error {
	u := datetime.LookupUnit(name)
	if p, ok := clockPart(u, us); ok {
		return r.retPart(p)
	}
	switch {
	case u == datetime.UnitEpoch:
		return r.retPart(part{v: us + int64(west)*datetime.Second, scale: 6})
	case !zoned:
	case u == datetime.UnitTimezone:
		return r.retPart(intPart(int64(-west)))
	case u == datetime.UnitTimezoneHour:
		return r.retPart(intPart(int64(-west / 3600)))
	case u == datetime.UnitTimezoneMinute:
		return r.retPart(intPart(int64(-west / 60 % 60)))
	}
	return unitError(name, typ, u)
}

func (r *row) intervalPart(name string, v datetime.Interval) error {
	u := datetime.LookupUnit(name)
	if p, ok := clockPart(u, v.Micros); ok {
		return r.retPart(p)
	}
	years := int64(v.Months / 12)
	switch u {
	case datetime.UnitDay:
		return r.retPart(intPart(int64(v.Days)))
	case datetime.UnitMonth:
		return r.retPart(intPart(int64(v.Months % 12)))
	case datetime.UnitQuarter:
		return r.retPart(intPart(int64(v.Months%12)/3 + 1))
	case datetime.UnitYear:
		return r.retPart(intPart(years))
	case datetime.UnitDecade:
		return r.retPart(intPart(years / 10))
	case datetime.UnitCentury:
		return r.retPart(intPart(years / 100))
	case datetime.UnitMillennium:
		return r.retPart(intPart(years / 1000))
	case datetime.UnitEpoch:
		// A year has 365.25 days here, a month 30.
		secs := (1461*years + 120*int64(v.Months%12) + 4*int64(v.Days)) * (86400 / 4)
		n, err := numeric.Add(numeric.FromInt64(secs), numeric.New(v.Micros, 6))
		if err != nil {
			return err
		}
		return r.retPart(part{num: &n})
	}
	return unitError(name, "interval", u)
}

func init() {
	stamp := func(zoned bool) rowFunc {
		return func(r *row) error { return r.stampPart(r.Str(0), r.Int(1), zoned) }
	}
	each(stamp(false), "timestamp_part", "extract_timestamp")
	each(stamp(true), "timestamptz_part", "extract_timestamptz")
	each(func(r *row) error { return r.timePart(r.Str(0), "time without time zone", r.Int(1), false, 0) }, "time_part", "extract_time")
	each(func(r *row) error {
		us, west := types.DecodeTimeTZ(r.Bytes(1))
		return r.timePart(r.Str(0), "time with time zone", us, true, west)
	}, "timetz_part", "extract_timetz")
	each(func(r *row) error { return r.intervalPart(r.Str(0), r.Interval(1)) }, "interval_part", "extract_interval")
	each(func(r *row) error {
		ts, err := dateStamp(r.Int(1))
		if err != nil {
			return err
		}
		return r.stampPart(r.Str(0), ts, false)
	}, "date_part(text,date)")
	each(func(r *row) error {
		name, d := r.Str(0), r.Int(1)
		u := datetime.LookupUnit(name)
		if datetime.IsInfiniteDate(d) {
			return r.infinitePart(name, "date", u, d < 0, true)
		}
		if p, ok := datePart(u, d); ok {
			return r.retPart(p)
		}
		switch u {
		case datetime.UnitJulian:
			return r.retPart(intPart(datetime.JulianDay(d)))
		case datetime.UnitEpoch:
			return r.retPart(intPart((d)*86400 + datetime.UnixEpoch))
		}
		return unitError(name, "date", u)
	}, "extract_date")
	each(func(r *row) error {
		ts, err := truncStamp(r.Str(0), "timestamp without time zone", r.Int(1))
		return r.RetStamp(ts, err)
	}, "timestamp_trunc")
	each(func(r *row) error { return r.truncZoned(r.Str(0), r.Int(1), "") }, "timestamptz_trunc")
	each(func(r *row) error { return r.truncZoned(r.Str(0), r.Int(1), r.Str(2)) }, "timestamptz_trunc_zone")
	each(func(r *row) error { return r.RetInterval(truncInterval(r.Str(0), r.Interval(1))) }, "interval_trunc")
	each(dateBin, "timestamp_bin", "timestamptz_bin")
}

// truncStamp cuts a local timestamp to a unit.
func truncStamp(name, typ string, ts int64) (int64, error) {
	if datetime.IsInfinite(ts) {
		return ts, nil
	}
	u := datetime.LookupUnit(name)
	days, us := datetime.Split(ts)
	y, m, _ := datetime.Civil(days)
	cut := func(unit int64) (int64, error) {
		return days*datetime.Day + us/unit*unit, nil
	}
	start := func(y, m int) (int64, error) {
		r, ok := datetime.Join(datetime.Days(y, m, 1), 0)
		if !ok {
			return 0, timestampRange()
		}
		return r, nil
	}
	switch u {
	case datetime.UnitMicrosecond:
		return ts, nil
	case datetime.UnitMillisecond:
		return cut(1000)
	case datetime.UnitSecond:
		return cut(datetime.Second)
	case datetime.UnitMinute:
		return cut(datetime.Minute)
	case datetime.UnitHour:
		return cut(datetime.Hour)
	case datetime.UnitDay:
		return days * datetime.Day, nil
	case datetime.UnitWeek:
		monday := days - int64(datetime.Weekday(days)+6)%7
		r, ok := datetime.Join(monday, 0)
		if !ok {
			return 0, timestampRange()
		}
		return r, nil
	case datetime.UnitMonth:
		return start(y, m)
	case datetime.UnitQuarter:
		return start(y, (m-1)/3*3+1)
	case datetime.UnitYear:
		return start(y, 1)
	case datetime.UnitDecade:
		if y > 0 {
			return start(y/10*10, 1)
		}
		return start(-((8-(y-1))/10)*10, 1)
	case datetime.UnitCentury:
		if y > 0 {
			return start((y+99)/100*100-99, 1)
		}
		return start(-((99-(y-1))/100)*100+1, 1)
	case datetime.UnitMillennium:
		if y > 0 {
			return start((y+999)/1000*1000-999, 1)
		}
		return start(-((999-(y-1))/1000)*1000+1, 1)
	}
	return 0, unitError(name, typ, truncUnit(u))
}

// truncZoned cuts in local time; for days and more the zone's offset is found anew.
func (r *row) truncZoned(name string, ts int64, zone string) error {
	if datetime.IsInfinite(ts) {
		return r.RetInt(ts)
	}
	z := r.c.IO.Zone
	east := 0
	abbr := ""
	if zone != "" {
		var err error
		if z, abbr, err = zoneOf(zone); err != nil {
			return err
		}
	}
	if abbr != "" {
		east, _ = datetime.AbbrevOffsetAt(abbr, ts)
	} else {
		east, _ = datetime.OffsetAt(ts, z)
	}
	local, err := truncStamp(name, "timestamp with time zone", ts+int64(east)*datetime.Second)
	if err != nil {
		return err
	}
	switch datetime.LookupUnit(name) {
	case datetime.UnitMicrosecond, datetime.UnitMillisecond, datetime.UnitSecond, datetime.UnitMinute, datetime.UnitHour:
	default:
		if abbr == "" {
			east = datetime.LocalOffset(local, z)
		}
	}
	return r.RetInt(local - int64(east)*datetime.Second)
}

func truncInterval(name string, v datetime.Interval) (datetime.Interval, error) {
	u := datetime.LookupUnit(name)
	years := func(n int32) (datetime.Interval, error) {
		return datetime.Interval{Months: v.Months / 12 / n * n * 12}, nil
	}
	cut := func(unit int64) (datetime.Interval, error) {
		v.Micros = v.Micros / unit * unit
		return v, nil
	}
	switch u {
	case datetime.UnitMicrosecond:
		return v, nil
	case datetime.UnitMillisecond:
		return cut(1000)
	case datetime.UnitSecond:
		return cut(datetime.Second)
	case datetime.UnitMinute:
		return cut(datetime.Minute)
	case datetime.UnitHour:
		return cut(datetime.Hour)
	case datetime.UnitDay:
		v.Micros = 0
		return v, nil
	case datetime.UnitMonth:
		return datetime.Interval{Months: v.Months}, nil
	case datetime.UnitQuarter:
		return datetime.Interval{Months: v.Months / 3 * 3}, nil
	case datetime.UnitYear:
		return years(1)
	case datetime.UnitDecade:
		return years(10)
	case datetime.UnitCentury:
		return years(100)
	case datetime.UnitMillennium:
		return years(1000)
	case datetime.UnitWeek:
		return v, sqlerr.New(sqlerr.FeatureNotSupported, "unit \"%s\" not supported for type interval", strings.ToLower(name)).
			WithDetail("Months usually have fractional weeks.")
	}
	return v, unitError(name, "interval", truncUnit(u))
}

// truncUnit drops the units that only EXTRACT knows.
func truncUnit(u datetime.Unit) datetime.Unit {
	switch u {
	case datetime.UnitJulian, datetime.UnitISOYear, datetime.UnitDow, datetime.UnitISODow, datetime.UnitDoy, datetime.UnitEpoch, datetime.UnitOther:
		return datetime.UnitNone
	}
	return u
}

func dateBin(r *row) error {
	v, ts, origin := r.Interval(0), r.Int(1), r.Int(2)
	if datetime.IsInfinite(ts) {
		return r.RetInt(ts)
	}
	if datetime.IsInfinite(origin) {
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "origin out of range")
	}
	if v.Months != 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
	}
	days, ok := mulChecked(int64(v.Days), datetime.Day)
	stride := days + v.Micros
	if !ok || (days^stride)&(v.Micros^stride) < 0 {
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
	}
	if stride <= 0 {
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "stride must be greater than zero")
	}
	diff := ts - origin
	if (ts^origin)&(ts^diff) < 0 {
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
	}
	rest := diff % stride
	out := origin + diff - rest
	if rest < 0 {
		out -= stride
	}
	if !datetime.ValidTimestamp(out) {
		return timestampRange()
	}
	return r.RetInt(out)
}
