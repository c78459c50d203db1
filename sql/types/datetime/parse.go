package datetime

import (
	"time"

	"herd/sql/sqlerr"
)

func explain(why fault, p *parts, typ string, text []byte) error {
	switch why {
	case fieldOverflow:
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", text)
	case monthDayOverflow:
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", text).
			WithHint("Perhaps you need a different \"datestyle\" setting.")
	case zoneOverflow:
		return sqlerr.New(sqlerr.InvalidTimeZoneDisplacementValue, "time zone displacement out of range: \"%s\"", text)
	case badZone:
		return sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", p.zoneName)
	}
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid input syntax for type %s: \"%s\"", typ, text)
}

// parseParts is the common beginning of the parse functions.
func parseParts(text []byte, c *Config, typ string, timeOnly bool) (parts, error) {
	fs, ok := split(text)
	if !ok || len(fs) == 0 || len(text) > 256 {
		return parts{}, explain(badFormat, nil, typ, text)
	}
	p, why := decode(fs, c, timeOnly)
	if timeOnly && why == monthDayOverflow {
		why = badFormat // a number that is no time
	}
	if why != okay {
		return p, explain(why, &p, typ, text)
	}
	return p, nil
}

// local returns the local timestamp of special words and dates; zoned says that 'now' is meant with the session's zone.
func (p *parts) local(c *Config, text []byte, typ string) (int64, error) {
	day := func(shift int64) int64 {
		d, _ := Split(ToLocal(c.now(), c.zone()))
		return (d + shift) * Day
	}
	switch p.special {
	case wNow:
		return ToLocal(c.now(), c.zone()), nil
	case wToday:
		return day(0) + p.clock(), nil
	case wTomorrow:
		return day(1) + p.clock(), nil
	case wYesterday:
		return day(-1) + p.clock(), nil
	case wEpoch:
		return -unixDays * Day, nil
	case wInfinity:
		return Infinity, nil
	case wNegInfinity:
		return NegInfinity, nil
	}
	if p.have&mDate != mDate {
		return 0, explain(badFormat, p, typ, text)
	}
	ts, ok := Join(Days(p.year, p.month, p.day), p.clock())
	if !ok {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", text)
	}
	return ts, nil
}

// fastISO reads "YYYY-MM-DD" and "YYYY-MM-DD hh:mm:ss[.ffffff]" without fields; n is the bytes used, 0 when it is another form.
func fastISO(s []byte) (days, micros int64, n int) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return 0, 0, 0
	}
	num := func(from, count int) int {
		v := 0
		for _, c := range s[from : from+count] {
			if !isDigit(c) {
				return -1
			}
			v = v*10 + int(c-'0')
		}
		return v
	}
	y, m, d := num(0, 4), num(5, 2), num(8, 2)
	if y < 1 || m < 1 || m > 12 || d < 1 || d > DaysInMonth(y, m) {
		return 0, 0, 0
	}
	days, n = Days(y, m, d), 10
	if len(s) < 19 || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return days, 0, n
	}
	h, mi, sec := num(11, 2), num(14, 2), num(17, 2)
	if h < 0 || h > 23 || mi < 0 || mi > 59 || sec < 0 || sec > 59 {
		return days, 0, n
	}
	micros, n = int64(h)*Hour+int64(mi)*Minute+int64(sec)*Second, 19
	if len(s) > 19 && s[19] == '.' {
		e := 20
		unit, us := Second/10, int64(0)
		for e < len(s) && isDigit(s[e]) && unit > 0 {
			us += int64(s[e]-'0') * unit
			unit /= 10
			e++
		}
		if e < len(s) && isDigit(s[e]) {
			return days, micros, 1 // too many digits: the long way
		}
		micros, n = micros+us, e
	}
	return days, micros, n
}

// fastOffset reads Z, +hh and +hh:mm.
func fastOffset(s []byte) (east int, ok bool) {
	if len(s) == 1 && s[0] == 'Z' {
		return 0, true
	}
	if len(s) != 3 && len(s) != 6 || s[0] != '+' && s[0] != '-' || !isDigit(s[1]) || !isDigit(s[2]) {
		return 0, false
	}
	h, m := int(s[1]-'0')*10+int(s[2]-'0'), 0
	if len(s) == 6 {
		if s[3] != ':' || !isDigit(s[4]) || !isDigit(s[5]) {
			return 0, false
		}
		m = int(s[4]-'0')*10 + int(s[5]-'0')
	}
	if h > 15 || m > 59 {
		return 0, false
	}
	if east = h*3600 + m*60; s[0] == '-' {
		east = -east
	}
	return east, true
}

// fastClock reads hh:mm:ss[.ffffff].
func fastClock(s []byte) (us int64, ok bool) {
	if len(s) < 8 || len(s) > 15 || s[2] != ':' || s[5] != ':' {
		return 0, false
	}
	num := func(i int) int64 {
		if !isDigit(s[i]) || !isDigit(s[i+1]) {
			return 99
		}
		return int64(s[i]-'0')*10 + int64(s[i+1]-'0')
	}
	h, m, sec := num(0), num(3), num(6)
	if h > 23 || m > 59 || sec > 59 {
		return 0, false
	}
	us = h*Hour + m*Minute + sec*Second
	if len(s) == 8 {
		return us, true
	}
	if s[8] != '.' || len(s) == 9 {
		return 0, false
	}
	unit := Second / 10
	for _, c := range s[9:] {
		if !isDigit(c) {
			return 0, false
		}
		us += int64(c-'0') * unit
		unit /= 10
	}
	return us, true
}

// ParseTimestamp reads a timestamp; a zone in the text is ignored.
func ParseTimestamp(text []byte, c *Config) (int64, error) {
	if d, us, n := fastISO(text); n == len(text) && n > 0 {
		return d*Day + us, nil
	}
	p, err := parseParts(text, c, "timestamp", false)
	if err != nil {
		return 0, err
	}
	return p.local(c, text, "timestamp")
}

// ParseTimestampTZ reads a timestamp with time zone; without a zone in the text the session's counts.
func ParseTimestampTZ(text []byte, c *Config) (int64, error) {
	if d, us, n := fastISO(text); n > 1 {
		if n == len(text) {
			return checkTZ(LocalToUTC(d*Day+us, c.zone()), text)
		}
		if east, ok := fastOffset(text[n:]); ok && n >= 19 {
			return checkTZ(d*Day+us-int64(east)*Second, text)
		}
	}
	const typ = "timestamp with time zone"
	p, err := parseParts(text, c, typ, false)
	if err != nil {
		return 0, err
	}
	switch p.special {
	case wNow:
		return c.now(), nil
	case wEpoch, wInfinity, wNegInfinity:
		return p.local(c, text, typ)
	}
	local, err := p.local(c, text, typ)
	if err != nil {
		return 0, err
	}
	return checkTZ(local-int64(p.east(local, c))*Second, text)
}

func checkTZ(ts int64, text []byte) (int64, error) {
	if !ValidTimestamp(ts) || IsInfinite(ts) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", text)
	}
	return ts, nil
}

// east returns the offset at the local time: of the text's zone, else of the session's.
func (p *parts) east(local int64, c *Config) int {
	switch {
	case p.have&mZone == 0:
		return LocalOffset(local, c.zone())
	case p.zone == nil:
		return -p.west
	case p.abbr != "":
		return abbrevIn(p.abbr, local, p.zone)
	}
	return LocalOffset(local, p.zone)
}

// ParseDate reads a date; a time in the text is ignored.
func ParseDate(text []byte, c *Config) (int64, error) {
	if d, _, n := fastISO(text); n == len(text) && n > 0 {
		return d, nil
	}
	p, err := parseParts(text, c, "date", false)
	if err != nil {
		return 0, err
	}
	switch p.special {
	case wInfinity:
		return DateInfinity, nil
	case wNegInfinity:
		return DateNegInfinity, nil
	case wNone:
		if p.have&mDate != mDate {
			return 0, explain(badFormat, &p, "date", text)
		}
		d := Days(p.year, p.month, p.day)
		if d < minDate || d >= endDate {
			return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: \"%s\"", text)
		}
		return d, nil
	}
	ts, err := p.local(c, text, "date")
	if err != nil {
		return 0, err
	}
	d, _ := Split(ts)
	return d, nil
}

// ParseTime reads a time of day; a zone in the text is ignored.
func ParseTime(text []byte, c *Config) (int64, error) {
	if us, ok := fastClock(text); ok {
		return us, nil
	}
	p, us, err := parseTime(text, c, "time")
	if err == nil && p.zone != nil && p.have&mDate != mDate && p.special == wNone && !fixedZone(p.zone) {
		// A zone whose offset depends on the date is no use without one.
		return 0, explain(badFormat, &p, "time", text)
	}
	return us, err
}

func fixedZone(z *time.Location) bool {
	a, b := time.Unix(0, 0).In(z), time.Unix(86400*180, 0).In(z)
	_, x := a.Zone()
	_, y := b.Zone()
	_, e := b.ZoneBounds()
	return x == y && e.IsZero()
}

func parseTime(text []byte, c *Config, typ string) (parts, int64, error) {
	p, err := parseParts(text, c, typ, true)
	if err != nil {
		return p, 0, err
	}
	switch p.special {
	case wNow:
		_, us := Split(ToLocal(c.now(), c.zone()))
		return p, us, nil
	case wNone:
	default:
		if p.have&mTime == 0 || p.special == wInfinity || p.special == wNegInfinity || p.special == wEpoch {
			return p, 0, explain(badFormat, &p, typ, text)
		}
	}
	if p.have&mTime == 0 {
		return p, 0, explain(badFormat, &p, typ, text)
	}
	return p, p.clock(), nil
}

// ParseTimeTZ reads a time with time zone; west is in seconds west of Greenwich.
func ParseTimeTZ(text []byte, c *Config) (us int64, west int32, err error) {
	p, us, err := parseTime(text, c, "time with time zone")
	if err != nil {
		return 0, 0, err
	}
	if p.have&mZone != 0 && p.zone == nil {
		return us, int32(p.west), nil
	}
	day, _ := Split(ToLocal(c.now(), c.zone()))
	if p.have&mDate == mDate && p.special == wNone {
		day = Days(p.year, p.month, p.day)
	} else if p.zone != nil && p.abbr == "" && !fixedZone(p.zone) {
		return 0, 0, explain(badFormat, &p, "time with time zone", text)
	}
	return us, int32(-p.east(day*Day+us, c)), nil
}
