package datetime

import (
	"strconv"
)

// intervalParts is an interval cut into the units that are shown; all time parts have the sign of Micros.
type intervalParts struct {
	years, months, days int64
	h, m, s, f          int64
}

func (v Interval) parts() intervalParts {
	p := intervalParts{years: int64(v.Months / 12), months: int64(v.Months % 12), days: int64(v.Days)}
	us := v.Micros
	p.h = us / Hour
	us %= Hour
	p.m = us / Minute
	us %= Minute
	p.s, p.f = us/Second, us%Second
	return p
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// AppendInterval appends an interval in the session's IntervalStyle.
func AppendInterval(dst []byte, v Interval, c *Config) []byte {
	p := v.parts()
	switch c.IntervalStyle {
	case IntervalPostgresVerbose:
		return p.verbose(dst)
	case IntervalSQL:
		return p.sql(dst)
	case IntervalISO:
		return p.iso(dst)
	}
	return p.postgres(dst)
}

func appendPad2(dst []byte, v int64) []byte {
	if v < 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, v, 10)
}

func (p intervalParts) postgres(dst []byte) []byte {
	zero, before := true, false
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		if !zero {
			dst = append(dst, ' ')
		}
		if before && v > 0 {
			dst = append(dst, '+')
		}
		dst = append(strconv.AppendInt(dst, v, 10), ' ')
		dst = append(dst, unit...)
		if v != 1 {
			dst = append(dst, 's')
		}
		before, zero = v < 0, false
	}
	part(p.years, "year")
	part(p.months, "mon")
	part(p.days, "day")
	if zero || p.h != 0 || p.m != 0 || p.s != 0 || p.f != 0 {
		if !zero {
			dst = append(dst, ' ')
		}
		if p.h < 0 || p.m < 0 || p.s < 0 || p.f < 0 {
			dst = append(dst, '-')
		} else if before {
			dst = append(dst, '+')
		}
		dst = append(appendPad2(dst, abs(p.h)), ':')
		dst = append(appendPad2(dst, abs(p.m)), ':')
		dst = appendFraction(appendPad2(dst, abs(p.s)), int(abs(p.f)))
	}
	return dst
}

func (p intervalParts) verbose(dst []byte) []byte {
	dst = append(dst, '@')
	zero, before := true, false
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		if zero {
			before = v < 0
			v = abs(v)
		} else if before {
			v = -v
		}
		dst = append(strconv.AppendInt(append(dst, ' '), v, 10), ' ')
		dst = append(dst, unit...)
		if v != 1 {
			dst = append(dst, 's')
		}
		zero = false
	}
	part(p.years, "year")
	part(p.months, "mon")
	part(p.days, "day")
	part(p.h, "hour")
	part(p.m, "min")
	if p.s != 0 || p.f != 0 {
		dst = append(dst, ' ')
		if p.s < 0 || p.f < 0 {
			if zero {
				before = true
			} else if !before {
				dst = append(dst, '-')
			}
		} else if before {
			dst = append(dst, '-')
		}
		dst = appendFraction(strconv.AppendInt(dst, abs(p.s), 10), int(abs(p.f)))
		dst = append(dst, " sec"...)
		if abs(p.s) != 1 || p.f != 0 {
			dst = append(dst, 's')
		}
		zero = false
	}
	if zero {
		dst = append(dst, " 0"...)
	}
	if before {
		dst = append(dst, " ago"...)
	}
	return dst
}

func (p intervalParts) sql(dst []byte) []byte {
	all := [...]int64{p.years, p.months, p.days, p.h, p.m, p.s, p.f}
	neg, pos := false, false
	for _, v := range all {
		neg, pos = neg || v < 0, pos || v > 0
	}
	ym := p.years != 0 || p.months != 0
	dt := p.days != 0 || p.h != 0 || p.m != 0 || p.s != 0 || p.f != 0
	standard := !(neg && pos) && !(ym && dt)
	if !neg && !pos {
		return append(dst, '0')
	}
	if neg && standard {
		dst = append(dst, '-')
		p = intervalParts{-p.years, -p.months, -p.days, -p.h, -p.m, -p.s, -p.f}
	}
	clock := func() {
		dst = append(strconv.AppendInt(dst, abs(p.h), 10), ':')
		dst = append(appendPad2(dst, abs(p.m)), ':')
		dst = appendFraction(appendPad2(dst, abs(p.s)), int(abs(p.f)))
	}
	sign := func(minus bool) {
		if minus {
			dst = append(dst, '-')
		} else {
			dst = append(dst, '+')
		}
	}
	switch {
	case !standard:
		sign(p.years < 0 || p.months < 0)
		dst = append(strconv.AppendInt(dst, abs(p.years), 10), '-')
		dst = append(strconv.AppendInt(dst, abs(p.months), 10), ' ')
		sign(p.days < 0)
		dst = append(strconv.AppendInt(dst, abs(p.days), 10), ' ')
		sign(p.h < 0 || p.m < 0 || p.s < 0 || p.f < 0)
		clock()
	case ym:
		dst = append(strconv.AppendInt(dst, p.years, 10), '-')
		dst = strconv.AppendInt(dst, p.months, 10)
	case p.days != 0:
		dst = append(strconv.AppendInt(dst, p.days, 10), ' ')
		clock()
	default:
		clock()
	}
	return dst
}

func (p intervalParts) iso(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, 'P')
	part := func(v int64, u byte) {
		if v != 0 {
			dst = append(strconv.AppendInt(dst, v, 10), u)
		}
	}
	part(p.years, 'Y')
	part(p.months, 'M')
	part(p.days, 'D')
	if p.h != 0 || p.m != 0 || p.s != 0 || p.f != 0 {
		dst = append(dst, 'T')
	}
	part(p.h, 'H')
	part(p.m, 'M')
	if p.s != 0 || p.f != 0 {
		if p.s < 0 || p.f < 0 {
			dst = append(dst, '-')
		}
		dst = append(appendFraction(strconv.AppendInt(dst, abs(p.s), 10), int(abs(p.f))), 'S')
	}
	if len(dst) == start+1 {
		dst = append(dst, "T0S"...)
	}
	return dst
}
