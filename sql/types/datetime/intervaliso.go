package datetime

import (
	"math"
	"strconv"
)

// isoReader reads an ISO 8601 duration after its P.
type isoReader struct {
	s    span
	rest string
}

// decodeISO reads P1Y2M3W4DT5H6M7.8S, P0001-02-03T04:05:06 and P00010203T040506.
func decodeISO(t string) (span, fault) {
	r := isoReader{rest: t[1:]}
	if r.rest == "" {
		return r.s, badFormat
	}
	why := r.date()
	return r.s, why
}

// number reads a number: its whole part, its fraction, and how many digits the whole part has.
func (r *isoReader) number() (n int64, frac float64, width int, why fault) {
	t := r.rest
	i := 0
	if i < len(t) && t[i] == '-' {
		i++
	}
	start := i
	for i < len(t) && isDigit(t[i]) {
		i++
	}
	width = i - start
	if i < len(t) && t[i] == '.' {
		i++
		for i < len(t) && isDigit(t[i]) {
			i++
		}
	}
	f, err := strconv.ParseFloat(t[:i], 64)
	if err != nil {
		return 0, 0, 0, badFormat
	}
	if math.IsNaN(f) || math.Abs(f) > 1e15 {
		return 0, 0, 0, fieldOverflow
	}
	r.rest = t[i:]
	whole := math.Trunc(f)
	return int64(whole), f - whole, width, okay
}

// next takes the next byte, 0 at the end.
func (r *isoReader) next() byte {
	if r.rest == "" {
		return 0
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

// date reads the part before T.
func (r *isoReader) date() fault {
	for some := false; r.rest != ""; some = true {
		if r.rest[0] == 'T' {
			r.next()
			return r.time()
		}
		n, frac, width, why := r.number()
		if why != okay {
			return why
		}
		switch c := r.next(); c {
		case 'Y':
			r.s.add(uYear, n, frac)
		case 'M':
			r.s.add(uMonth, n, frac)
		case 'W':
			r.s.add(uWeek, n, frac)
		case 'D':
			r.s.add(uDay, n, frac)
		case 'T', 0, '-':
			if some {
				return badFormat
			}
			if c != '-' && width == 8 {
				r.s.addYears(n/10000, 1)
				r.s.addMonths(n / 100 % 100)
				r.s.add(uDay, n%100, frac)
			} else if c, why = r.alternative(uYear, n, frac, c, '-', uMonth, uDay); why != okay {
				return why
			}
			if c == 'T' {
				return r.time()
			}
			return okay
		default:
			return badFormat
		}
	}
	return okay
}

// time reads the part behind T.
func (r *isoReader) time() fault {
	for some := false; r.rest != ""; some = true {
		n, frac, width, why := r.number()
		if why != okay {
			return why
		}
		switch c := r.next(); c {
		case 'H':
			r.s.add(uHour, n, frac)
		case 'M':
			r.s.add(uMinute, n, frac)
		case 'S':
			r.s.add(uSecond, n, frac)
		case 0, ':':
			if some {
				return badFormat
			}
			if c == 0 && width == 6 {
				r.s.add(uHour, n/10000, 0)
				r.s.add(uMinute, n/100%100, 0)
				r.s.add(uSecond, n%100, frac)
				return okay
			}
			if c, why = r.alternative(uHour, n, frac, c, ':', uMinute, uSecond); why == okay && c != 0 {
				why = badFormat
			}
			return why
		default:
			return badFormat
		}
	}
	return okay
}

// alternative reads the form with separators, whose first number was n; c is what followed it. It returns what follows the last one.
func (r *isoReader) alternative(first unit, n int64, frac float64, c, separator byte, others ...unit) (byte, fault) {
	r.s.add(first, n, frac)
	for _, u := range others {
		if c != separator {
			break
		}
		n, frac, _, why := r.number()
		if why != okay {
			return 0, why
		}
		r.s.add(u, n, frac)
		c = r.next()
	}
	if c != 0 && c != 'T' || c == 'T' && separator == ':' {
		return 0, badFormat
	}
	return c, okay
}
