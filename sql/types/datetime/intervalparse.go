package datetime

import (
	"math"
	"strconv"
	"strings"

	"herd/sql/sqlerr"
)

type unit uint8

const (
	uNone unit = iota
	uMicro
	uMilli
	uSecond
	uMinute
	uHour
	uDay
	uWeek
	uMonth
	uYear
	uDecade
	uCentury
	uMillennium
	uAgo
)

var units = map[string]unit{
	"us": uMicro, "usec": uMicro, "usecs": uMicro, "useconds": uMicro, "microsecon": uMicro,
	"ms": uMilli, "msec": uMilli, "msecs": uMilli, "mseconds": uMilli, "millisecon": uMilli,
	"s": uSecond, "sec": uSecond, "secs": uSecond, "second": uSecond, "seconds": uSecond,
	"m": uMinute, "min": uMinute, "mins": uMinute, "minute": uMinute, "minutes": uMinute,
	"h": uHour, "hr": uHour, "hrs": uHour, "hour": uHour, "hours": uHour, "d": uDay, "day": uDay, "days": uDay,
	"w": uWeek, "week": uWeek, "weeks": uWeek, "mon": uMonth, "mons": uMonth, "month": uMonth, "months": uMonth,
	"y": uYear, "yr": uYear, "yrs": uYear, "year": uYear, "years": uYear, "dec": uDecade, "decs": uDecade, "decade": uDecade, "decades": uDecade,
	"c": uCentury, "cent": uCentury, "century": uCentury, "centuries": uCentury,
	"mil": uMillennium, "mils": uMillennium, "millennia": uMillennium, "millennium": uMillennium, "ago": uAgo,
}

func lookupUnit(s string) (unit, bool) {
	if len(s) > 10 {
		s = s[:10]
	}
	u, ok := units[s]
	return u, ok
}

// span collects the parts of an interval.
type span struct {
	years, months, days int64 // each must fit 32 bits
	us                  int64
	seen                map[unit]bool
	over                bool
}

func (s *span) once(u unit) bool {
	if s.seen[u] {
		return false
	}
	if s.seen == nil {
		s.seen = map[unit]bool{}
	}
	s.seen[u] = true
	return true
}

func (s *span) addMicros(v float64) {
	if math.Abs(v) >= 9.2233720368547758e18 {
		s.over = true
		return
	}
	s.addUS(int64(v))
}

func (s *span) addUS(v int64) {
	r, ok := add64(s.us, v)
	s.us = r
	s.over = s.over || !ok
}

// mulUS adds n units of a microsecond length.
func (s *span) mulUS(n, unit int64) {
	if n > math.MaxInt64/unit || n < math.MinInt64/unit {
		s.over = true
		return
	}
	s.addUS(n * unit)
}

func (s *span) fracDays(f float64, scale float64) {
	if f == 0 {
		return
	}
	f *= scale
	whole := math.Trunc(f)
	s.addDays(int64(whole))
	s.fracMicros(f-whole, Day)
}

func (s *span) addYears(n, scale int64) { s.years = s.add32(s.years, n, scale) }
func (s *span) addMonths(n int64)       { s.months = s.add32(s.months, n, 1) }
func (s *span) addDays(n int64)         { s.days = s.add32(s.days, n, 1) }

// add32 returns v + n*scale and notes when one of them does not fit 32 bits.
func (s *span) add32(v, n, scale int64) int64 {
	if n != int64(int32(n)) || n*scale != int64(int32(n*scale)) || v+n*scale != int64(int32(v+n*scale)) {
		s.over = true
		return v
	}
	return v + n*scale
}

func (s *span) fracMicros(f float64, scale int64) {
	if f == 0 {
		return
	}
	f *= float64(scale)
	whole := math.Trunc(f)
	us := int64(whole)
	if rest := f - whole; rest > 0.5 {
		us++
	} else if rest < -0.5 {
		us--
	}
	s.addUS(us)
}

// add adds n + frac of a unit.
func (s *span) add(u unit, n int64, frac float64) bool {
	years := func(scale int64) {
		s.addYears(n, scale)
		s.addMonths(int64(math.RoundToEven(frac * float64(scale) * 12)))
	}
	switch u {
	case uMicro:
		s.addUS(n + int64(math.RoundToEven(frac)))
	case uMilli:
		s.mulUS(n, 1000)
		s.fracMicros(frac, 1000)
	case uSecond:
		s.mulUS(n, Second)
		s.fracMicros(frac, Second)
	case uMinute:
		s.mulUS(n, Minute)
		s.fracMicros(frac, Minute)
	case uHour:
		s.mulUS(n, Hour)
		s.fracMicros(frac, Hour)
	case uDay:
		s.addDays(n)
		s.fracMicros(frac, Day)
	case uWeek:
		s.days = s.add32(s.days, n, 7)
		s.fracDays(frac, 7)
	case uMonth:
		s.addMonths(n)
		s.fracDays(frac, 30)
	case uYear:
		years(1)
	case uDecade:
		years(10)
	case uCentury:
		years(100)
	case uMillennium:
		years(1000)
	default:
		return false
	}
	return true
}

// defaultUnit is what a number without a unit means under a type modifier's field mask.
func defaultUnit(mask int) unit {
	switch mask {
	case maskYear:
		return uYear
	case maskMonth, maskYear | maskMonth:
		return uMonth
	case maskDay:
		return uDay
	case maskHour, maskDay | maskHour:
		return uHour
	case maskMinute, maskHour | maskMinute, maskDay | maskHour | maskMinute:
		return uMinute
	}
	return uSecond
}

// ParseInterval reads an interval in any of PostgreSQL's forms. mod is the type modifier (-1 none), whose fields give
// bare numbers their unit; the caller applies it.
func ParseInterval(text []byte, c *Config, mod int32) (Interval, error) {
	mask := fullRange
	if mod >= 0 {
		mask = int(mod>>16) & fullRange
	}
	bad := func() (Interval, error) {
		return Interval{}, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid input syntax for type interval: \"%s\"", text)
	}
	over := func() (Interval, error) {
		return Interval{}, sqlerr.New(sqlerr.IntervalFieldOverflow, "interval field value out of range: \"%s\"", text)
	}
	fs, ok := split(text)
	var s span
	why := badFormat
	if ok && len(fs) > 0 {
		s, why = decodeInterval(fs, c, mask)
	}
	if why == badFormat {
		if t := trimSpace(string(text)); len(t) > 0 && t[0] == 'P' {
			s, why = decodeISO(t)
		}
	}
	switch {
	case why == badFormat:
		return bad()
	case why != okay || s.over:
		return over()
	}
	months := s.years*12 + s.months
	if months != int64(int32(months)) {
		return Interval{}, errInterval()
	}
	return Interval{s.us, int32(s.days), int32(months)}, nil
}

func trimSpace(s string) string { return strings.Trim(s, " \t\n\r\v\f") }

func decodeInterval(fs []field, c *Config, mask int) (s span, why fault) {
	signs := false // under sql_standard a leading minus counts for all fields
	if c != nil && c.IntervalStyle == IntervalSQL && len(fs[0].s) > 0 && fs[0].s[0] == '-' {
		signs = true
		for _, f := range fs[1:] {
			if f.s[0] == '-' || f.s[0] == '+' {
				signs = false
			}
		}
	}
	ago := false
	u := uNone
	for i := len(fs) - 1; i >= 0; i-- {
		f := fs[i]
		neg := f.s[0] == '-'
		switch {
		case f.kind == fWord || f.kind == fSpecial:
			got, ok := lookupUnit(f.s)
			if !ok {
				return s, badFormat
			}
			if got == uAgo {
				ago = true
				u = uNone
				continue
			}
			if u = got; i == 0 {
				return s, badFormat
			}
			continue
		case f.kind == fTime || f.kind == fZone && strings.IndexByte(f.s, ':') >= 0:
			if !s.once(uSecond) || !s.once(uMinute) || !s.once(uHour) {
				return s, badFormat
			}
			if why := s.clock(strings.TrimLeft(f.s, "+-"), neg || signs, mask); why != okay {
				return s, why
			}
			u = uDay
			continue
		}
		if u == uNone {
			u = defaultUnit(mask)
		}
		if why := s.number(f.s, &u, signs); why != okay {
			return s, why
		}
		u = uNone
	}
	if len(s.seen) == 0 {
		return s, badFormat
	}
	if ago {
		if s.us == math.MinInt64 || s.days == math.MinInt32 || s.months == math.MinInt32 || s.years == math.MinInt32 {
			return s, fieldOverflow
		}
		s.us, s.days, s.months, s.years = -s.us, -s.days, -s.months, -s.years
	}
	return s, okay
}

// number adds a numeric field of the unit; "1-2" is years and months.
func (s *span) number(t string, u *unit, forceNeg bool) fault {
	neg := t[0] == '-' || forceNeg
	t = strings.TrimLeft(t, "+-")
	if i := strings.IndexByte(t, '-'); i > 0 {
		y, ok1 := atoi(t[:i])
		digits := t[i+1:]
		for k := range len(digits) {
			if digits[k] < '0' || digits[k] > '9' {
				digits = digits[:k]
				break
			}
		}
		m, ok2 := atoi(digits)
		if ok1 && ok2 && m >= 12 { // said before what follows it is looked at
			return fieldOverflow
		}
		if !ok1 || !ok2 || len(digits) < len(t)-i-1 {
			return badFormat
		}
		v := int64(y)*12 + int64(m)
		if neg {
			v = -v
		}
		if !s.once(uMonth) || !s.once(uYear) {
			return badFormat
		}
		s.add(uMonth, v, 0)
		return okay
	}
	whole, fracText := t, ""
	if i := strings.IndexByte(t, '.'); i >= 0 {
		whole, fracText = t[:i], t[i:]
	}
	var n int64
	if whole != "" {
		if neg {
			whole = "-" + whole
		}
		v, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			if err.(*strconv.NumError).Err == strconv.ErrRange {
				return fieldOverflow
			}
			return badFormat
		}
		n = v
	} else if len(fracText) < 2 {
		return badFormat
	}
	frac := 0.0
	if len(fracText) > 1 {
		v, err := strconv.ParseFloat("0"+fracText, 64)
		if err != nil {
			return badFormat
		}
		frac = v
	}
	if neg {
		frac = -frac
	}
	if !s.once(*u) {
		return badFormat
	}
	if !s.add(*u, n, frac) {
		return badFormat
	}
	return okay
}

// clock adds h:m[:s[.f]].
func (s *span) clock(t string, neg bool, mask int) fault {
	seg := strings.Split(t, ":")
	if len(seg) < 2 || len(seg) > 3 {
		return badFormat
	}
	last, frac := seg[len(seg)-1], ""
	if i := strings.IndexByte(last, '.'); i >= 0 {
		last, frac = last[:i], last[i:]
	}
	h, err := strconv.ParseInt(seg[0], 10, 64)
	if err != nil {
		if strings.Trim(seg[0], "0123456789") == "" && seg[0] != "" {
			return fieldOverflow
		}
		return badFormat
	}
	var m, sec int
	ok1, ok2 := true, true
	if len(seg) == 3 {
		m, ok1 = atoi(seg[1])
		sec, ok2 = atoi(last)
	} else if m, ok1 = atoi(last); frac != "" || mask == maskMinute|maskSecond {
		h, m, sec = 0, int(h), m
	}
	us, ok3 := fraction(frac)
	if !ok1 || !ok2 || !ok3 {
		return badFormat
	}
	if m > 59 || sec > 60 {
		return fieldOverflow
	}
	sign := int64(1)
	if neg {
		sign = -1
	}
	s.mulUS(sign*h, Hour)
	s.addUS(sign * (int64(m)*Minute + int64(sec)*Second + us))
	return okay
}
