package funcs

import (
	"strings"
	"unicode"

	"herd/sql/sqlerr"
)

// oneOf reads one of some names in any case.
func (p *dateReader) oneOf(n *fmtNode, names []string, length int) (int, error) {
	s := p.in[p.i:]
	for i, name := range names {
		if length > 0 {
			name = name[:length]
		}
		if len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) {
			p.i += len(name)
			return i, nil
		}
	}
	w := s
	if e := strings.IndexFunc(w, unicode.IsSpace); e >= 0 {
		w = w[:e]
	}
	if length == 0 && len(w) > 0 {
		return 0, invalidValue(w, n.word, "The given value did not match any of the allowed values for this field.")
	}
	return 0, invalidValue(w, n.word, "The given value did not match any of the allowed values for this field.")
}

func (p *dateReader) field(n *fmtNode, k int) error {
	num := func(dst *int64, width int) error {
		v, _, err := p.number(n, k, width)
		if err != nil {
			return err
		}
		return p.set(dst, n, v)
	}
	switch n.field {
	case "AM", "PM":
		i, err := p.oneOf(n, []string{"AM", "PM"}, 0)
		p.pm, p.clock12 = i+1, true
		return err
	case "A.M.", "P.M.":
		i, err := p.oneOf(n, []string{"A.M.", "P.M."}, 0)
		p.pm, p.clock12 = i+1, true
		return err
	case "HH", "HH12":
		p.clock12 = true
		return num(&p.hour, 2)
	case "HH24":
		return num(&p.hour, 2)
	case "MI":
		return num(&p.min, 2)
	case "SS":
		return num(&p.sec, 2)
	case "MS":
		v, used, err := p.number(n, k, 3)
		for ; used < 3; used++ {
			v *= 10
		}
		if err != nil {
			return err
		}
		return p.set(&p.ms, n, v)
	case "US", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		w := 6
		if n.field != "US" {
			w = int(n.field[2] - '0')
			p.ff = w
		}
		v, used, err := p.number(n, k, w)
		for ; used < 6; used++ {
			v *= 10
		}
		if err != nil {
			return err
		}
		return p.set(&p.us, n, v)
	case "SSSS", "SSSSS":
		return num(&p.ssss, len(n.field))
	case "TZ", "OF":
		return sqlerr.New(sqlerr.FeatureNotSupported, "formatting field \"%s\" is only supported in to_char", n.word)
	case "TZH":
		p.haveZone = true
		p.zsign = 1
		if p.i < len(p.in) && (p.in[p.i] == '+' || p.in[p.i] == '-' || p.in[p.i] == ' ') {
			if p.in[p.i] == '-' {
				p.zsign = -1
			}
			p.i++
		} else if p.extra > 0 && p.i > 0 && p.in[p.i-1] == '-' {
			p.zsign = -1
		}
		return num(&p.zh, 2)
	case "TZM":
		p.haveZone = true
		if p.zsign == 0 {
			p.zsign = 1
		}
		return num(&p.zm, 2)
	}
	return p.dateField(n, k)
}

func (p *dateReader) dateField(n *fmtNode, k int) error {
	mode := func(iso bool) error {
		p.iso, p.gregorian = p.iso || iso, p.gregorian || !iso
		if p.iso && p.gregorian {
			return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid combination of date conventions").
				WithHint("Do not mix Gregorian and ISO week date conventions in a formatting template.")
		}
		return nil
	}
	num := func(dst *int64, width int, iso, checked bool) error {
		if checked {
			if err := mode(iso); err != nil {
				return err
			}
		}
		v, _, err := p.number(n, k, width)
		if err != nil {
			return err
		}
		return p.set(dst, n, v)
	}
	name := func(list []string, length int, dst *int64) error {
		if err := mode(false); err != nil {
			return err
		}
		i, err := p.oneOf(n, list, length)
		if err != nil {
			return err
		}
		return p.set(dst, n, int64(i+1))
	}
	switch n.field {
	case "BC", "AD":
		i, err := p.oneOf(n, []string{"AD", "BC"}, 0)
		p.bc = i == 1
		return err
	case "B.C.", "A.D.":
		i, err := p.oneOf(n, []string{"A.D.", "B.C."}, 0)
		p.bc = i == 1
		return err
	case "MONTH":
		return name(longMonths, 0, &p.month)
	case "MON":
		return name(longMonths, 3, &p.month)
	case "DAY":
		return name(longDays, 0, &p.dow)
	case "DY":
		return name(longDays, 3, &p.dow)
	case "MM":
		return num(&p.month, 2, false, true)
	case "DD":
		return num(&p.day, 2, false, true)
	case "DDD":
		return num(&p.doy, 3, false, true)
	case "IDDD":
		return num(&p.doy, 3, true, true)
	case "D":
		return num(&p.dow, 1, false, true)
	case "ID":
		if err := num(&p.dow, 1, true, true); err != nil {
			return err
		}
		// Shift to the numbering from Sunday, where Sunday is 1.
		if p.dow++; p.dow > 7 {
			p.dow = 1
		}
		return nil
	case "WW":
		return num(&p.ww, 2, false, true)
	case "IW":
		return num(&p.ww, 2, true, true)
	case "W":
		return num(&p.w, 1, false, true)
	case "Q":
		_, _, err := p.number(n, k, 1) // read and ignored, as PostgreSQL does
		return err
	case "CC":
		return num(&p.cc, 2, false, false)
	case "J":
		return num(&p.j, 1, false, false)
	case "RM":
		return p.romanMonth(n)
	case "Y,YYY":
		return p.commaYear(n)
	}
	iso := n.field[0] == 'I'
	width := map[string]int{"YYYY": 4, "YYY": 3, "YY": 2, "Y": 1, "IYYY": 4, "IYY": 3, "IY": 2, "I": 1}[n.field]
	if err := mode(iso); err != nil {
		return err
	}
	v, used, err := p.number(n, k, width)
	if err != nil {
		return err
	}
	if used < 4 && width < 4 {
		v = fullYear(v)
	}
	p.yearDigits = width
	return p.set(&p.year, n, v)
}

// fullYear completes a year of less than four digits to one near 2020.
func fullYear(y int64) int64 {
	switch {
	case y < 70:
		return y + 2000
	case y < 100:
		return y + 1900
	case y < 520:
		return y + 2000
	case y < 1000:
		return y + 1000
	}
	return y
}

func (p *dateReader) romanMonth(n *fmtNode) error {
	s := p.in[p.i:]
	best := -1
	for i, r := range romanMonths {
		if len(s) >= len(r) && strings.EqualFold(s[:len(r)], r) && (best < 0 || len(r) > len(romanMonths[best])) {
			best = i
		}
	}
	if best < 0 {
		_, err := p.oneOf(n, romanMonths, 0)
		return err
	}
	p.i += len(romanMonths[best])
	return p.set(&p.month, n, int64(best+1))
}

func (p *dateReader) commaYear(n *fmtNode) error {
	s := p.in[p.i:]
	e := 0
	for e < len(s) && (s[e] >= '0' && s[e] <= '9' || s[e] == ',') {
		e++
	}
	a, b, ok := strings.Cut(s[:e], ",")
	x, ok1 := atoi(a)
	y, ok2 := atoi(b)
	if !ok || !ok1 || !ok2 {
		return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid input string for \"Y,YYY\"")
	}
	p.i += e
	p.yearDigits = 4
	return p.set(&p.year, n, int64(x)*1000+int64(y))
}
