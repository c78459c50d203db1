package datetime

import "strconv"

func append2(dst []byte, v int) []byte {
	return append(dst, '0'+byte(v/10%10), '0'+byte(v%10))
}

// appendYear appends a year of at least four digits; BC is the caller's.
func appendYear(dst []byte, y int) []byte {
	if y <= 0 {
		y = 1 - y
	}
	for n := 1000; n > y && n > 1; n /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(y), 10)
}

// appendClock appends hh:mm:ss and the fraction without trailing zeros.
func appendClock(dst []byte, us int64) []byte {
	h, m, s, f := Clock(us)
	dst = append2(dst, h)
	dst = append2(append(dst, ':'), m)
	dst = append2(append(dst, ':'), s)
	return appendFraction(dst, f)
}

func appendFraction(dst []byte, micros int) []byte {
	if micros == 0 {
		return dst
	}
	dst = append(dst, '.')
	for n := 100000; n > 0 && micros > 0; n /= 10 {
		dst = append(dst, '0'+byte(micros/n))
		micros %= n
	}
	return dst
}

// AppendDate appends a date in the session's style.
func AppendDate(dst []byte, d int64, c *Config) []byte {
	switch d {
	case DateInfinity:
		return append(dst, "infinity"...)
	case DateNegInfinity:
		return append(dst, "-infinity"...)
	}
	y, m, day := Civil(d)
	switch c.DateStyle {
	case SQL:
		if c.DateOrder == DMY {
			m, day = day, m
		}
		dst = append2(append(append2(dst, m), '/'), day)
		dst = appendYear(append(dst, '/'), y)
	case German:
		dst = append2(append(append2(dst, day), '.'), m)
		dst = appendYear(append(dst, '.'), y)
	case Postgres:
		if c.DateOrder == DMY {
			m, day = day, m
		}
		dst = append2(append(append2(dst, m), '-'), day)
		dst = appendYear(append(dst, '-'), y)
	default:
		dst = append2(append(appendYear(dst, y), '-'), m)
		dst = append2(append(dst, '-'), day)
	}
	if y <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}

// AppendTime appends a time of day.
func AppendTime(dst []byte, us int64) []byte { return appendClock(dst, us) }

// AppendTimeTZ appends a time with its zone, seconds west of Greenwich.
func AppendTimeTZ(dst []byte, us int64, west int32) []byte {
	return AppendOffset(appendClock(dst, us), -int(west))
}

// AppendOffset appends an offset as +hh[:mm[:ss]].
func AppendOffset(dst []byte, east int) []byte {
	if east < 0 {
		dst = append(dst, '-')
		east = -east
	} else {
		dst = append(dst, '+')
	}
	if h := east / 3600; h > 99 {
		dst = append(dst, '0'+byte(h/100))
	}
	dst = append2(dst, east/3600)
	if east%3600 != 0 {
		dst = append2(append(dst, ':'), east/60%60)
		if east%60 != 0 {
			dst = append2(append(dst, ':'), east%60)
		}
	}
	return dst
}

// AppendTimestamp appends a timestamp without zone in the session's style.
func AppendTimestamp(dst []byte, ts int64, c *Config) []byte {
	return appendStamp(dst, ts, c, false, 0, "")
}

// AppendTimestampTZ appends a timestamp in the session's zone and style.
func AppendTimestampTZ(dst []byte, ts int64, c *Config) []byte {
	if IsInfinite(ts) {
		return appendStamp(dst, ts, c, false, 0, "")
	}
	east, abbr := OffsetAt(ts, c.zone())
	return appendStamp(dst, ts+int64(east)*Second, c, true, east, abbr)
}

var monthNames = [...]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
var dayNames = [...]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

func appendStamp(dst []byte, ts int64, c *Config, zoned bool, east int, abbr string) []byte {
	switch ts {
	case Infinity:
		return append(dst, "infinity"...)
	case NegInfinity:
		return append(dst, "-infinity"...)
	}
	d, us := Split(ts)
	y, m, day := Civil(d)
	zone := func(dst []byte, space bool) []byte {
		if !zoned {
			return dst
		}
		if c.DateStyle == ISO || abbr == "" {
			if space {
				dst = append(dst, ' ')
			}
			return AppendOffset(dst, east)
		}
		return append(append(dst, ' '), abbr...)
	}
	switch c.DateStyle {
	case SQL:
		if c.DateOrder == DMY {
			m, day = day, m
		}
		dst = append2(append(append2(dst, m), '/'), day)
		dst = append(appendYear(append(dst, '/'), y), ' ')
		dst = zone(appendClock(dst, us), false)
	case German:
		dst = append2(append(append2(dst, day), '.'), m)
		dst = append(appendYear(append(dst, '.'), y), ' ')
		dst = zone(appendClock(dst, us), false)
	case Postgres:
		dst = append(append(dst, dayNames[Weekday(d)]...), ' ')
		if c.DateOrder == DMY {
			dst = append(append(append2(dst, day), ' '), monthNames[m-1]...)
		} else {
			dst = append2(append(append(dst, monthNames[m-1]...), ' '), day)
		}
		dst = append(appendClock(append(dst, ' '), us), ' ')
		dst = zone(appendYear(dst, y), true)
	default:
		dst = append2(append(appendYear(dst, y), '-'), m)
		dst = append(append2(append(dst, '-'), day), ' ')
		dst = zone(appendClock(dst, us), false)
	}
	if y <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}
