package funcs

import (
	"math"
	"strconv"
	"strings"
	"time"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/datetime"
)

func dateRange() error { return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range") }

// stamp returns a checked timestamp or the error.
func (r *row) RetStamp(ts int64, err error) error {
	if err != nil {
		return err
	}
	return r.RetInt(ts)
}

func addDays(d, n int64) (int64, error) {
	if datetime.IsInfiniteDate(d) {
		return d, nil
	}
	s := d + n
	if !datetime.ValidDate(s) || datetime.IsInfiniteDate(s) {
		return 0, dateRange()
	}
	return s, nil
}

// wrapDay brings a time of day back into one day.
func wrapDay(us int64) int64 {
	us %= datetime.Day
	if us < 0 {
		us += datetime.Day
	}
	return us
}

// negated registers a function of (x, interval) as the one that adds the negated interval.
func negate(v datetime.Interval) (datetime.Interval, error) {
	n, err := v.Neg()
	if err != nil {
		return n, sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
	}
	return n, nil
}

func init() {
	// date
	each(func(r *row) error { return r.RetI(addDays(r.Int(0), r.Int(1))) }, "date_pli")
	each(func(r *row) error { return r.RetI(addDays(r.Int(1), r.Int(0))) }, "integer_pl_date(int4,date)")
	each(func(r *row) error { return r.RetI(addDays(r.Int(0), -r.Int(1))) }, "date_mii")
	each(func(r *row) error {
		if datetime.IsInfiniteDate(r.Int(0)) || datetime.IsInfiniteDate(r.Int(1)) {
			return sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite dates")
		}
		return r.RetInt(r.Int(0) - r.Int(1))
	}, "date_mi")
	// x + interval and x - interval: i is the place of the interval
	plus := func(sym string, i int, f func(r *row, x int, v datetime.Interval) error) {
		each(func(r *row) error { return f(r, 1-i, r.Interval(i)) }, sym)
	}
	minus := func(sym string, f func(r *row, x int, v datetime.Interval) error) {
		each(func(r *row) error {
			v, err := negate(r.Interval(1))
			if err != nil {
				return err
			}
			return f(r, 0, v)
		}, sym)
	}
	stampPlus := func(r *row, x int, v datetime.Interval) error {
		return r.RetStamp(datetime.AddToTimestamp(r.Int(x), v))
	}
	zonedPlus := func(r *row, x int, v datetime.Interval) error {
		return r.RetStamp(datetime.AddToTimestampTZ(r.Int(x), v, &r.c.IO.Config))
	}
	datePlus := func(r *row, x int, v datetime.Interval) error {
		ts, err := dateStamp(r.Int(x))
		if err != nil {
			return err
		}
		return r.RetStamp(datetime.AddToTimestamp(ts, v))
	}
	timePlus := func(r *row, x int, v datetime.Interval) error {
		return r.RetInt(wrapDay(r.Int(x) + v.Micros%datetime.Day))
	}
	timetzPlus := func(r *row, x int, v datetime.Interval) error {
		us, z := types.DecodeTimeTZ(r.Bytes(x))
		return r.Finish(types.EncodeTimeTZ(r.Start(), wrapDay(us+v.Micros%datetime.Day), z))
	}
	plus("timestamp_pl_interval", 1, stampPlus)
	plus("interval_pl_timestamp(interval,timestamp)", 0, stampPlus)
	minus("timestamp_mi_interval", stampPlus)
	plus("timestamptz_pl_interval", 1, zonedPlus)
	plus("interval_pl_timestamptz(interval,timestamptz)", 0, zonedPlus)
	minus("timestamptz_mi_interval", zonedPlus)
	plus("date_pl_interval", 1, datePlus)
	plus("interval_pl_date(interval,date)", 0, datePlus)
	minus("date_mi_interval", datePlus)
	plus("time_pl_interval", 1, timePlus)
	plus("interval_pl_time(interval,time)", 0, timePlus)
	minus("time_mi_interval", timePlus)
	plus("timetz_pl_interval", 1, timetzPlus)
	plus("interval_pl_timetz(interval,timetz)", 0, timetzPlus)
	minus("timetz_mi_interval", timetzPlus)
	each(func(r *row) error {
		a, b := r.Int(0), r.Int(1)
		if datetime.IsInfinite(a) || datetime.IsInfinite(b) {
			return sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite timestamps")
		}
		return r.RetInterval(datetime.Interval{Micros: a - b}.JustifyHours())
	}, "timestamp_mi")
	each(func(r *row) error { return r.RetInterval(datetime.Interval{Micros: r.Int(0) - r.Int(1)}, nil) }, "time_mi_time")
	dateTime := func(d, t int) rowFunc {
		return func(r *row) error {
			ts, err := dateStamp(r.Int(d))
			if err != nil {
				return err
			}
			return r.RetStamp(datetime.AddToTimestamp(ts, datetime.Interval{Micros: r.Int(t)}))
		}
	}
	each(dateTime(0, 1), "datetime_timestamp")
	each(dateTime(1, 0), "timedate_pl(time,date)")
	each(func(r *row) error {
		ts, err := dateStamp(r.Int(0))
		if err != nil {
			return err
		}
		if ts, err = datetime.AddToTimestamp(ts, datetime.Interval{Micros: r.Int(1)}); err != nil {
			return err
		}
		return r.RetStamp(stampToUTC(ts, r.c))
	}, "timestamptz(date,time)")
	dateTimeTZ := func(d, t int) rowFunc {
		return func(r *row) error {
			ts, err := dateStamp(r.Int(d))
			if err != nil || datetime.IsInfinite(ts) {
				return r.RetStamp(ts, err)
			}
			us, z := types.DecodeTimeTZ(r.Bytes(t))
			ts += us + int64(z)*datetime.Second
			if !datetime.ValidTimestamp(ts) {
				return timestampRange()
			}
			return r.RetInt(ts)
		}
	}
	each(dateTimeTZ(0, 1), "datetimetz_timestamptz")
	each(dateTimeTZ(1, 0), "timetzdate_pl(timetz,date)")
	// interval
	each(func(r *row) error { return r.RetInterval(r.Interval(0).Add(r.Interval(1))) }, "interval_pl")
	each(func(r *row) error { return r.RetInterval(r.Interval(0).Sub(r.Interval(1))) }, "interval_mi")
	each(func(r *row) error { return r.RetInterval(r.Interval(0).Neg()) }, "interval_um")
	each(func(r *row) error { return r.RetInterval(r.Interval(0).Scale(r.Float(1), false)) }, "interval_mul")
	each(func(r *row) error { return r.RetInterval(r.Interval(1).Scale(r.Float(0), false)) }, "mul_d_interval")
	each(func(r *row) error { return r.RetInterval(r.Interval(0).Scale(r.Float(1), true)) }, "interval_div")
	each(func(r *row) error { return r.RetInterval(r.Interval(0).JustifyHours()) }, "interval_justify_hours")
	each(func(r *row) error { return r.RetInterval(r.Interval(0).JustifyDays()) }, "interval_justify_days")
	each(func(r *row) error { return r.RetInterval(r.Interval(0).Justify()) }, "interval_justify_interval")
	each(func(r *row) error { return r.RetBool(!datetime.IsInfinite(r.Int(0))) }, "timestamp_finite")
	each(func(r *row) error { return r.RetBool(!datetime.IsInfiniteDate(r.Int(0))) }, "date_finite")
	each(func(r *row) error { return r.RetBool(true) }, "interval_finite")
	age := func(a, b int64, r *row) error {
		if datetime.IsInfinite(a) || datetime.IsInfinite(b) {
			return timestampRange()
		}
		return r.RetInterval(datetime.Age(a, b), nil)
	}
	local := func(r *row, ts int64) int64 { return datetime.ToLocal(ts, r.c.IO.Zone) }
	each(func(r *row) error { return age(r.Int(0), r.Int(1), r) }, "timestamp_age")
	each(func(r *row) error { return age(local(r, r.Int(0)), local(r, r.Int(1)), r) }, "timestamptz_age")
	midnight := func(r *row) int64 {
		d, _ := datetime.Split(local(r, r.c.TxTime))
		return d * datetime.Day
	}
	each(func(r *row) error { return age(midnight(r), r.Int(0), r) }, "age(timestamp)")
	each(func(r *row) error { return age(midnight(r), local(r, r.Int(0)), r) }, "age(timestamptz)")
	// the present
	each(func(r *row) error { return r.RetInt(r.c.TxTime) }, "now")
	each(func(r *row) error { return r.RetInt(r.c.StmtTime) }, "statement_timestamp")
	each(func(r *row) error { return r.RetInt(r.c.clock()) }, "clock_timestamp")
	each(func(r *row) error {
		t := datetime.Time(r.c.clock()).In(r.c.location())
		return r.RetStr(t.Format("Mon Jan 02 15:04:05.000000 2006 MST"))
	}, "timeofday")
	initZones()
	initMake()
	initOverlaps()
}

func (c *Ctx) clock() int64 {
	if c.Clock != nil {
		return c.Clock()
	}
	return datetime.FromTime(time.Now())
}

func (c *Ctx) location() *time.Location {
	if c.IO.Zone == nil {
		return time.UTC
	}
	return c.IO.Zone
}

// zoneOf finds the zone that an argument of AT TIME ZONE names; the local time decides what an abbreviation means.
func zoneOf(name string) (z *time.Location, abbr string, err error) {
	low := strings.ToLower(name)
	if _, ok := datetime.AbbrevOffset(low, 0); ok {
		return nil, low, nil
	}
	z, err = datetime.LoadZone(name)
	return z, "", err
}

func initZones() {
	// A local timestamp in a zone becomes a point in time.
	each(func(r *row) error {
		ts := r.Int(1)
		if datetime.IsInfinite(ts) { // in any zone, also in one that there is not
			return r.RetInt(ts)
		}
		z, abbr, err := zoneOf(r.Str(0))
		if err != nil {
			return err
		}
		if abbr != "" {
			east, _ := datetime.AbbrevOffset(abbr, ts)
			ts -= int64(east) * datetime.Second
		} else {
			ts = datetime.LocalToUTC(ts, z)
		}
		if !datetime.ValidTimestamp(ts) {
			return timestampRange()
		}
		return r.RetInt(ts)
	}, "timestamp_zone")
	each(func(r *row) error {
		ts := r.Int(1)
		if datetime.IsInfinite(ts) { // in any zone, also in one that there is not
			return r.RetInt(ts)
		}
		z, abbr, err := zoneOf(r.Str(0))
		if err != nil {
			return err
		}
		if abbr != "" {
			east, _ := datetime.AbbrevOffsetAt(abbr, ts)
			ts += int64(east) * datetime.Second
		} else {
			ts = datetime.ToLocal(ts, z)
		}
		if !datetime.ValidTimestamp(ts) {
			return timestampRange()
		}
		return r.RetInt(ts)
	}, "timestamptz_zone")
	izone := func(r *row) (int64, error) {
		v := r.Interval(0)
		if v.Months != 0 || v.Days != 0 {
			return 0, invalidParam("interval time zone \"%s\" must not include months or days", types.Output(r.c.IO, nil, types.IntervalOID, r.Datum(0)))
		}
		return v.Micros / datetime.Second * datetime.Second, nil
	}
	shift := func(sign int64) rowFunc {
		return func(r *row) error {
			ts := r.Int(1)
			if datetime.IsInfinite(ts) {
				return r.RetInt(ts)
			}
			z, err := izone(r)
			if err != nil {
				return err
			}
			if ts += sign * z; !datetime.ValidTimestamp(ts) {
				return timestampRange()
			}
			return r.RetInt(ts)
		}
	}
	each(shift(-1), "timestamp_izone")
	each(shift(1), "timestamptz_izone")
	to := func(r *row, east int64) error {
		us, west := types.DecodeTimeTZ(r.Bytes(1))
		return r.Finish(types.EncodeTimeTZ(r.Start(), wrapDay(us+(int64(west)+east)*datetime.Second), int32(-east)))
	}
	each(func(r *row) error {
		z, abbr, err := zoneOf(r.Str(0))
		if err != nil {
			return err
		}
		if abbr != "" {
			east, _ := datetime.AbbrevOffset(abbr, datetime.ToLocal(r.c.TxTime, r.c.IO.Zone))
			return to(r, int64(east))
		}
		east, _ := datetime.OffsetAt(r.c.TxTime, z)
		return to(r, int64(east))
	}, "timetz_zone")
	each(func(r *row) error {
		z, err := izone(r)
		if err != nil {
			return err
		}
		return to(r, z/datetime.Second)
	}, "timetz_izone")
}

// makeDate checks the parts of a date; a negative year is BC. Errors show the year as PostgreSQL does: make_date counts
// 1 BC as 0 there (adjusted), make_timestamp as -1.
func makeDate(y, m, d int64, adjusted bool) (int64, error) {
	year := y
	if y < 0 {
		year = y + 1
	}
	if y == 0 || y == math.MinInt32 || m < 1 || m > 12 || d < 1 || d > int64(datetime.DaysInMonth(int(year), int(m))) {
		if !adjusted || y == math.MinInt32 { // the least year does not survive PostgreSQL's change of sign
			year = y
		}
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date field value out of range: %d-%02d-%02d", year, m, d)
	}
	n := datetime.Days(int(year), int(m), int(d))
	if !datetime.ValidDate(n) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: %d-%02d-%02d", y, m, d)
	}
	return n, nil
}

func makeTime(h, m int64, s float64) (int64, error) {
	us := math.RoundToEven(s * 1e6)
	if h < 0 || m < 0 || m > 59 || math.IsNaN(s) || us < 0 || us > 60e6 || h > 24 || h == 24 && (m > 0 || us > 0) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%s", h, m, shortSeconds(s))
	}
	t := h*datetime.Hour + m*datetime.Minute + int64(us)
	if t > datetime.Day {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%s", h, m, shortSeconds(s))
	}
	return t, nil
}

// shortSeconds is C's %02g.
func shortSeconds(s float64) string {
	t := strconv.FormatFloat(s, 'g', 6, 64)
	if len(t) < 2 {
		t = "0" + t
	}
	return t
}

func initMake() {
	each(func(r *row) error { return r.RetI(makeDate(r.Int(0), r.Int(1), r.Int(2), true)) }, "make_date")
	each(func(r *row) error { return r.RetI(makeTime(r.Int(0), r.Int(1), r.Float(2))) }, "make_time")
	stamp := func(r *row) (int64, error) {
		d, err := makeDate(r.Int(0), r.Int(1), r.Int(2), false)
		if err != nil {
			return 0, err
		}
		us, err := makeTime(r.Int(3), r.Int(4), r.Float(5))
		if err != nil {
			return 0, err
		}
		ts, ok := datetime.Join(d, us)
		if !ok {
			return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: %d-%02d-%02d %d:%02d:%s",
				r.Int(0), r.Int(1), r.Int(2), r.Int(3), r.Int(4), types.AppendFloat(nil, r.Float(5), 64, 1))
		}
		return ts, nil
	}
	each(func(r *row) error { return r.RetStamp(stamp(r)) }, "make_timestamp")
	each(func(r *row) error {
		ts, err := stamp(r)
		if err != nil {
			return err
		}
		return r.RetStamp(stampToUTC(ts, r.c))
	}, "make_timestamptz")
	each(func(r *row) error {
		ts, err := stamp(r)
		if err != nil {
			return err
		}
		name := r.Str(6)
		if len(name) > 0 && (name[0] == '+' || name[0] == '-') {
			v, err := datetime.ParseTimestampTZ([]byte("2000-01-01 00:00:00"+name), &r.c.IO.Config)
			if err != nil {
				return invalidParam("invalid input syntax for type numeric time zone: \"%s\"", name)
			}
			return r.RetInt(ts + v)
		}
		z, abbr, err := zoneOf(name)
		if err != nil {
			return err
		}
		if abbr != "" {
			east, _ := datetime.AbbrevOffset(abbr, ts)
			return r.RetInt(ts - int64(east)*datetime.Second)
		}
		return r.RetInt(datetime.LocalToUTC(ts, z))
	}, "make_timestamptz_at_timezone")
	each(func(r *row) error {
		bad := sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
		secs := r.Float(6)
		months := r.Int(0)*12 + r.Int(1)
		days := r.Int(2)*7 + r.Int(3)
		if math.IsInf(secs, 0) || math.IsNaN(secs) || months != int64(int32(months)) || days != int64(int32(days)) || math.Abs(secs) > 9e12 {
			return bad
		}
		us := r.Int(4)*datetime.Hour + r.Int(5)*datetime.Minute + int64(math.RoundToEven(secs*1e6))
		return r.RetInterval(datetime.Interval{Micros: us, Days: int32(days), Months: int32(months)}, nil)
	}, "make_interval")
	each(func(r *row) error { // to_timestamp(seconds since 1970)
		f := r.Float(0)
		switch {
		case math.IsNaN(f):
			return sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp cannot be NaN")
		case math.IsInf(f, 1):
			return r.RetInt(datetime.Infinity)
		case math.IsInf(f, -1):
			return r.RetInt(datetime.NegInfinity)
		}
		bad := sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", types.AppendFloat(nil, f, 64, 1))
		if f < -210866803200 || f >= 9224318016000 {
			return bad
		}
		us := math.RoundToEven((f - float64(datetime.UnixEpoch)) * 1e6)
		if !datetime.ValidTimestamp(int64(us)) {
			return bad
		}
		return r.RetInt(int64(us))
	}, "float8_timestamptz")
}

// overlaps decides OVERLAPS for periods (s1,e1), (s2,e2) whose ends may be NULL or in either order.
func overlaps(r *row, get func(k int) (types.Datum, error), less func(a, b types.Datum) bool) error {
	var v [4]types.Datum
	for k := range v {
		d, err := get(k)
		if err != nil {
			return err
		}
		v[k] = d
	}
	for _, p := range [2]int{0, 2} {
		if v[p].Null {
			if v[p+1].Null {
				return r.RetNull()
			}
			v[p], v[p+1] = v[p+1], types.NullDatum
		} else if !v[p+1].Null && less(v[p+1], v[p]) {
			v[p], v[p+1] = v[p+1], v[p]
		}
	}
	if less(v[2], v[0]) { // the one that starts earlier comes first
		v[0], v[1], v[2], v[3] = v[2], v[3], v[0], v[1]
	}
	if less(v[0], v[2]) {
		// The first starts earlier: they overlap when it ends after the second starts.
		if v[1].Null {
			return r.RetNull()
		}
		if less(v[2], v[1]) {
			return r.RetBool(true)
		}
		if v[3].Null {
			return r.RetNull()
		}
		return r.RetBool(false)
	}
	if v[1].Null || v[3].Null {
		return r.RetNull()
	}
	return r.RetBool(true)
}

func initOverlaps() {
	order := func(t types.OID) func(a, b types.Datum) bool {
		return func(a, b types.Datum) bool { return types.Compare(t, 0, a, b) < 0 }
	}
	plain := func(t types.OID) rowFunc {
		return func(r *row) error {
			return overlaps(r, func(k int) (types.Datum, error) { return r.Datum(k), nil }, order(t))
		}
	}
	each(plain(types.TimeOID), "overlaps_time")
	each(plain(types.TimestampOID), "overlaps_timestamp")
	each(plain(types.TimeTZOID), "overlaps_timetz")
	// With intervals the end is the start plus the interval.
	for _, t := range []types.OID{types.TimestampOID, types.TimestampTZOID, types.TimeOID} {
		n := types.BuiltinByOID(t).Name
		for _, sig := range []string{n + ",interval," + n + ",interval", n + ",interval," + n + "," + n, n + "," + n + "," + n + ",interval"} {
			each(func(r *row) error {
				return overlaps(r, func(k int) (types.Datum, error) {
					if k%2 == 0 || r.Type(k) != types.IntervalOID || r.Null(k) || r.Null(k-1) {
						if k%2 == 1 && r.Type(k) == types.IntervalOID {
							return types.NullDatum, nil
						}
						return r.Datum(k), nil
					}
					var v int64
					var err error
					switch t {
					case types.TimestampOID:
						v, err = datetime.AddToTimestamp(r.Int(k-1), r.Interval(k))
					case types.TimestampTZOID:
						v, err = datetime.AddToTimestampTZ(r.Int(k-1), r.Interval(k), &r.c.IO.Config)
					default:
						v = wrapDay(r.Int(k-1) + r.Interval(k).Micros%datetime.Day)
					}
					return types.Int(v), err
				}, order(t))
			}, "overlaps("+sig+")")
		}
	}
}
