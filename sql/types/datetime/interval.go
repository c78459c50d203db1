package datetime

import (
	"cmp"
	"math"
	"math/bits"

	"herd/sql/sqlerr"
)

// Interval is a span of months, days and microseconds, which do not convert into each other except for comparison
// (30 days a month, 24 hours a day).
type Interval struct {
	Micros int64
	Days   int32
	Months int32
}

// Span returns the length as a 128-bit count of microseconds.
func (v Interval) Span() (hi int64, lo uint64) {
	days := int64(v.Days) + int64(v.Months)*30
	h, l := bits.Mul64(uint64(days), uint64(Day))
	hi = int64(h)
	if days < 0 {
		hi -= Day
	}
	lo, carry := bits.Add64(l, uint64(v.Micros), 0)
	return hi + v.Micros>>63 + int64(carry), lo
}

// Cmp compares lengths: -1, 0 or 1.
func (v Interval) Cmp(w Interval) int {
	h1, l1 := v.Span()
	h2, l2 := w.Span()
	if c := cmp.Compare(h1, h2); c != 0 {
		return c
	}
	return cmp.Compare(l1, l2)
}

func errInterval() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
}

func errTimestamp() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
}

func add32(a, b int32) (int32, bool) {
	r := int64(a) + int64(b)
	return int32(r), r == int64(int32(r))
}

func add64(a, b int64) (int64, bool) {
	r := a + b
	return r, (a^r)&(b^r) >= 0
}

// Add returns v + w.
func (v Interval) Add(w Interval) (Interval, error) {
	m, ok1 := add32(v.Months, w.Months)
	d, ok2 := add32(v.Days, w.Days)
	us, ok3 := add64(v.Micros, w.Micros)
	if !ok1 || !ok2 || !ok3 {
		return Interval{}, errInterval()
	}
	return Interval{us, d, m}, nil
}

// Neg returns -v.
func (v Interval) Neg() (Interval, error) {
	if v.Micros == math.MinInt64 || v.Days == math.MinInt32 || v.Months == math.MinInt32 {
		return Interval{}, errInterval()
	}
	return Interval{-v.Micros, -v.Days, -v.Months}, nil
}

// Sub returns v - w.
func (v Interval) Sub(w Interval) (Interval, error) {
	m := int64(v.Months) - int64(w.Months)
	d := int64(v.Days) - int64(w.Days)
	us := v.Micros - w.Micros
	if m != int64(int32(m)) || d != int64(int32(d)) || (v.Micros^w.Micros)&(v.Micros^us) < 0 {
		return Interval{}, errInterval()
	}
	return Interval{us, int32(d), int32(m)}, nil
}

func tsRound(f float64) float64 { return math.RoundToEven(f*1e6) / 1e6 }

// Scale returns v * f, or v / f when divide is set; fractions of months spill into days, of days into time.
func (v Interval) Scale(f float64, divide bool) (Interval, error) {
	op := func(x float64) float64 {
		if divide {
			return x / f
		}
		return x * f
	}
	if divide && f == 0 {
		return Interval{}, sqlerr.New(sqlerr.DivisionByZero, "division by zero")
	}
	var r Interval
	m := op(float64(v.Months))
	d := op(float64(v.Days))
	if math.IsNaN(m) || m > math.MaxInt32 || m < math.MinInt32 || math.IsNaN(d) || d > math.MaxInt32 || d < math.MinInt32 {
		return r, errInterval()
	}
	r.Months, r.Days = int32(m), int32(d)
	remDays := tsRound((m - float64(r.Months)) * 30)
	remSecs := tsRound((d - float64(r.Days) + remDays - math.Trunc(remDays)) * 86400)
	if math.Abs(remSecs) >= 86400 {
		r.Days += int32(remSecs / 86400)
		remSecs -= math.Trunc(remSecs/86400) * 86400
	}
	r.Days += int32(remDays)
	us := math.RoundToEven(op(float64(v.Micros)) + remSecs*1e6)
	if math.IsNaN(us) || us >= 9.2233720368547758e18 || us < -9.2233720368547758e18 {
		return r, errInterval()
	}
	r.Micros = int64(us)
	return r, nil
}

// JustifyHours moves whole days of the time into Days.
func (v Interval) JustifyHours() (Interval, error) {
	d, ok := add32(v.Days, int32(v.Micros/Day))
	if !ok || v.Micros/Day != int64(int32(v.Micros/Day)) {
		return v, errInterval()
	}
	v.Days, v.Micros = d, v.Micros%Day
	if v.Days > 0 && v.Micros < 0 {
		v.Micros += Day
		v.Days--
	} else if v.Days < 0 && v.Micros > 0 {
		v.Micros -= Day
		v.Days++
	}
	return v, nil
}

// JustifyDays moves whole months of the days into Months.
func (v Interval) JustifyDays() (Interval, error) {
	m, ok := add32(v.Months, v.Days/30)
	if !ok {
		return v, errInterval()
	}
	v.Months, v.Days = m, v.Days%30
	if v.Months > 0 && v.Days < 0 {
		v.Days += 30
		v.Months--
	} else if v.Months < 0 && v.Days > 0 {
		v.Days -= 30
		v.Months++
	}
	return v, nil
}

// Justify does both and gives all parts one sign.
func (v Interval) Justify() (Interval, error) {
	if v.Days > 0 && v.Micros > 0 || v.Days < 0 && v.Micros < 0 {
		m, ok := add32(v.Months, v.Days/30)
		if !ok {
			return v, errInterval()
		}
		v.Months, v.Days = m, v.Days%30
	}
	whole := v.Micros / Day
	v.Micros -= whole * Day
	d, ok := add32(v.Days, int32(whole))
	if !ok || whole != int64(int32(whole)) {
		return v, errInterval()
	}
	v.Days = d
	m, ok := add32(v.Months, v.Days/30)
	if !ok {
		return v, errInterval()
	}
	v.Months, v.Days = m, v.Days%30
	if v.Months > 0 && (v.Days < 0 || v.Days == 0 && v.Micros < 0) {
		v.Days += 30
		v.Months--
	} else if v.Months < 0 && (v.Days > 0 || v.Days == 0 && v.Micros > 0) {
		v.Days -= 30
		v.Months++
	}
	if v.Days > 0 && v.Micros < 0 {
		v.Micros += Day
		v.Days--
	} else if v.Days < 0 && v.Micros > 0 {
		v.Micros -= Day
		v.Days++
	}
	return v, nil
}

// AddToTimestamp adds an interval to a timestamp without zone: months (the day cut to the month's length), days, time.
func AddToTimestamp(ts int64, v Interval) (int64, error) {
	if IsInfinite(ts) {
		return ts, nil
	}
	ts, err := addDate(ts, v)
	if err != nil {
		return 0, err
	}
	return addMicros(ts, v.Micros)
}

func addMicros(ts, us int64) (int64, error) {
	r, ok := add64(ts, us)
	if !ok || !ValidTimestamp(r) || IsInfinite(r) {
		return 0, errTimestamp()
	}
	return r, nil
}

// addDate adds months and days.
func addDate(ts int64, v Interval) (int64, error) {
	if v.Months == 0 && v.Days == 0 {
		return ts, nil
	}
	days, us := Split(ts)
	if v.Months != 0 {
		y, m, d := Civil(days)
		total := int64(y)*12 + int64(m-1) + int64(v.Months)
		y, m = int(floorDiv(total, 12)), int(floorMod(total, 12))+1
		days = Days(y, m, min(d, DaysInMonth(y, m)))
	}
	r, ok := Join(days+int64(v.Days), us)
	if !ok {
		return 0, errTimestamp()
	}
	return r, nil
}

// AddToTimestampTZ adds an interval to a timestamp with zone: months and days by the session's local time.
func AddToTimestampTZ(ts int64, v Interval, c *Config) (int64, error) {
	if IsInfinite(ts) {
		return ts, nil
	}
	if v.Months != 0 || v.Days != 0 {
		local, err := addDate(ToLocal(ts, c.zone()), v)
		if err != nil {
			return 0, err
		}
		ts = LocalToUTC(local, c.zone())
	}
	return addMicros(ts, v.Micros)
}

// Age returns the difference of two local timestamps in years, months, days and time.
func Age(a, b int64) Interval {
	neg := a < b
	d1, us1 := Split(a)
	d2, us2 := Split(b)
	y1, m1, day1 := Civil(d1)
	y2, m2, day2 := Civil(d2)
	years, months, days, us := y1-y2, m1-m2, day1-day2, us1-us2
	if neg {
		years, months, days, us = -years, -months, -days, -us
	}
	for us < 0 {
		us += Day
		days--
	}
	for days < 0 {
		if neg {
			days += DaysInMonth(y1, m1)
		} else {
			days += DaysInMonth(y2, m2)
		}
		months--
	}
	for months < 0 {
		months += 12
		years--
	}
	v := Interval{us, int32(days), int32(years*12 + months)}
	if neg {
		v = Interval{-v.Micros, -v.Days, -v.Months}
	}
	return v
}

// Bits of the field mask in an interval's type modifier.
const (
	maskMonth  = 1 << 1
	maskYear   = 1 << 2
	maskDay    = 1 << 3
	maskHour   = 1 << 10
	maskMinute = 1 << 11
	maskSecond = 1 << 12
	fullRange  = 0x7FFF
	fullPrec   = 0xFFFF
)

// IntervalTypmod cuts v to the fields and the precision of a type modifier (-1 none).
func IntervalTypmod(v Interval, mod int32) (Interval, error) {
	if mod < 0 {
		return v, nil
	}
	mask, prec := int(mod>>16)&fullRange, int(mod)&fullPrec
	cut := func(unit int64) { v.Micros = v.Micros / unit * unit }
	switch mask {
	case maskYear:
		v = Interval{0, 0, v.Months / 12 * 12}
	case maskMonth, maskYear | maskMonth:
		v = Interval{0, 0, v.Months}
	case maskDay:
		v.Micros = 0
	case maskHour, maskDay | maskHour:
		cut(Hour)
	case maskMinute, maskHour | maskMinute, maskDay | maskHour | maskMinute:
		cut(Minute)
	}
	if prec < 6 {
		v.Micros = RoundMicros(v.Micros, prec)
	}
	return v, nil
}

// IntervalTypmodText returns what the type modifier adds to the name: " day to second(3)".
func IntervalTypmodText(mod int32) string {
	if mod < 0 {
		return ""
	}
	mask, prec := int(mod>>16)&fullRange, int(mod)&fullPrec
	s := map[int]string{
		maskYear: " year", maskMonth: " month", maskDay: " day", maskHour: " hour", maskMinute: " minute", maskSecond: " second",
		maskYear | maskMonth: " year to month", maskDay | maskHour: " day to hour", maskDay | maskHour | maskMinute: " day to minute",
		maskDay | maskHour | maskMinute | maskSecond: " day to second", maskHour | maskMinute: " hour to minute",
		maskHour | maskMinute | maskSecond: " hour to second", maskMinute | maskSecond: " minute to second",
	}[mask]
	if prec != fullPrec {
		s += "(" + string(rune('0'+prec)) + ")"
	}
	return s
}
