package datetime

import (
	"strconv"
	"strings"
	"time"
)

// fault is why a text is no date; parse.go words it.
type fault uint8

const (
	okay fault = iota
	badFormat
	fieldOverflow
	monthDayOverflow // the field order may be to blame
	zoneOverflow
	badZone
)

// Bits of the parts that are known.
const (
	mYear = 1 << iota
	mMonth
	mDay
	mTime
	mZone
	mDoy
	mDow
	mDate = mYear | mMonth | mDay
)

// parts is a decoded text.
type parts struct {
	have      int
	year      int
	month     int
	day       int
	doy       int
	h, m, s   int
	micros    int64
	bc        bool
	twoDigits bool
	textMonth bool
	julian    bool
	pm        int            // -1 none, 0 AM, 1 PM
	special   wordKind       // wNow, wEpoch, wInfinity, ... or 0
	zone      *time.Location // named zone or abbreviation, with have&mZone
	abbr      string         // abbreviation to look for in zone
	west      int            // offset when zone is nil
	zoneName  string         // for badZone
}

func atoi(s string) (int, bool) {
	if s == "" || len(s) > 9 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// fraction reads ".ddd" as microseconds, rounded.
func fraction(s string) (int64, bool) {
	if s == "" || s == "." {
		return 0, true
	}
	if s[0] != '.' {
		return 0, false
	}
	var v, unit int64 = 0, Second / 10
	round := false
	for i := 1; i < len(s); i++ {
		if !isDigit(s[i]) {
			return 0, false
		}
		if unit > 0 {
			v += int64(s[i]-'0') * unit
		} else if i == 7 {
			round = s[i] >= '5'
		}
		unit /= 10
	}
	if round {
		v++
	}
	return v, true
}

// decode turns fields into parts. timeOnly is set for the types time and timetz.
func decode(fs []field, c *Config, timeOnly bool) (p parts, why fault) {
	p.pm = -1
	prefix := wNone // a word that says what the next number is
	for i := 0; i < len(fs); i++ {
		f := fs[i]
		switch f.kind {
		case fDate:
			why = p.dateField(f, c, &prefix, timeOnly)
		case fTime:
			if prefix != wNone && prefix != wISOTime {
				return p, badFormat
			}
			prefix = wNone
			why = p.timeField(f.s)
		case fZone:
			why = p.zoneField(f.s)
		case fNumber:
			why = p.numberField(fs, i, c, &prefix, timeOnly)
		default:
			why = p.wordField(f, fs, i, &prefix)
		}
		if why != okay {
			return p, why
		}
	}
	if prefix != wNone {
		return p, badFormat
	}
	return p, p.finish()
}

func (p *parts) set(bits int) fault {
	if p.have&bits != 0 {
		return badFormat
	}
	p.have |= bits
	return okay
}

func (p *parts) dateField(f field, c *Config, prefix *wordKind, timeOnly bool) fault {
	if *prefix == wJulian {
		return badFormat
	}
	if p.have&(mMonth|mDay) == mMonth|mDay || *prefix != wNone || timeOnly && isAlpha(f.s[0]) {
		if isDigit(f.s[0]) || *prefix != wNone {
			// hhmmss-zz of ISO 8601's short form
			if i := strings.IndexByte(f.s, '-'); i > 0 && p.have&mTime == 0 {
				*prefix = wNone
				if why := p.packed(f.s[:i], false); why != okay {
					return why
				}
				return p.zoneField(f.s[i:])
			}
			return badFormat
		}
		return p.namedZone(f)
	}
	return p.date(f.s, c)
}

// namedZone takes a field as the name of a zone.
func (p *parts) namedZone(f field) fault {
	z, err := LoadZone(f.raw)
	if err != nil {
		p.zoneName = strings.ToLower(f.raw)
		return badZone
	}
	p.zone = z
	return p.set(mZone)
}

// date decodes a field with three parts, one of which may be a month's name.
func (p *parts) date(s string, c *Config) fault {
	var nums []string
	start := p.have
	for i := 0; i < len(s); {
		if !isDigit(s[i]) && !isAlpha(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && (isDigit(s[i]) && isDigit(s[j]) || isAlpha(s[i]) && isAlpha(s[j])) {
			j++
		}
		w := s[i:j]
		i = j
		if isDigit(w[0]) {
			nums = append(nums, w)
			continue
		}
		m, ok := lookupWord(w)
		if !ok || m.kind != wMonth || p.textMonth {
			return badFormat
		}
		p.month, p.textMonth = m.val, true
		if why := p.set(mMonth); why != okay {
			return why
		}
	}
	if len(nums) > 3 {
		return badFormat
	}
	for _, n := range nums {
		if why := p.number(n, c); why != okay {
			return why
		}
	}
	if p.have&^start == 0 || p.have&mDate != mDate && p.have&mDoy == 0 {
		return badFormat
	}
	return okay
}

// number assigns a bare number by what is known already and the field order.
func (p *parts) number(s string, c *Config) fault {
	frac := ""
	if i := strings.IndexByte(s, '.'); i >= 0 {
		s, frac = s[:i], s[i:]
		if len(s) > 2 {
			return p.packed(s+frac, p.have&mDate != mDate)
		}
	}
	v, ok := atoi(s)
	if !ok {
		if len(s) > 9 {
			return fieldOverflow
		}
		return badFormat
	}
	if len(s) == 3 && p.have&mDate == mYear && v >= 1 && v <= 366 {
		p.doy = v
		return p.set(mDoy)
	}
	order := MDY
	if c != nil {
		order = c.DateOrder
	}
	year := func() fault {
		p.year, p.twoDigits = v, len(s) <= 2
		return p.set(mYear)
	}
	month := func() fault { p.month = v; return p.set(mMonth) }
	day := func() fault { p.day = v; return p.set(mDay) }
	switch p.have & mDate {
	case 0:
		switch {
		case len(s) >= 3 || order == YMD:
			return year()
		case order == DMY:
			return day()
		}
		return month()
	case mYear:
		return month()
	case mMonth:
		if p.textMonth && (len(s) >= 3 || order == YMD) {
			return year()
		}
		return day()
	case mYear | mMonth:
		if p.textMonth && len(s) >= 3 && p.twoDigits {
			// The first number was the day after all.
			p.day = p.year
			p.have |= mDay
			p.year, p.twoDigits = v, false
			return okay
		}
		return day()
	case mDay:
		return month()
	case mMonth | mDay:
		return year()
	case mDate:
		return p.packed(s+frac, false)
	}
	return badFormat
}

// packed decodes digits without separators: yyyymmdd, yymmdd as a date (when date is set), hhmmss[.f] or hhmm as a time.
func (p *parts) packed(s string, date bool) fault {
	frac := ""
	if i := strings.IndexByte(s, '.'); i >= 0 {
		s, frac = s[:i], s[i:]
	}
	part := func(a, b int) int { v, _ := atoi(s[a:b]); return v }
	n := len(s)
	for i := range n {
		if !isDigit(s[i]) {
			return badFormat
		}
	}
	if frac == "" && date && n >= 6 && p.have&mDate != mDate {
		if n > 13 {
			return badFormat
		}
		p.day, p.month = part(n-2, n), part(n-4, n-2)
		p.year, p.twoDigits = part(0, n-4), n == 6
		return p.set(mDate)
	}
	if p.have&mDate != 0 || !date {
		switch n {
		case 6:
			p.h, p.m, p.s = part(0, 2), part(2, 4), part(4, 6)
		case 4:
			p.h, p.m, p.s = part(0, 2), part(2, 4), 0
		default:
			return badFormat
		}
		us, ok := fraction(frac)
		if !ok {
			return badFormat
		}
		p.micros = us
		return p.set(mTime)
	}
	return badFormat
}

func (p *parts) numberField(fs []field, i int, c *Config, prefix *wordKind, timeOnly bool) fault {
	s := fs[i].s
	dot := strings.IndexByte(s, '.')
	switch *prefix {
	case wJulian:
		*prefix = wNone
		return p.julianDay(s)
	case wISOTime:
		*prefix = wNone
		return p.packed(s, false)
	case wNone:
	default:
		return badFormat
	}
	if timeOnly {
		if p.have&mTime == 0 && (dot >= 0 && dot >= 4 || dot < 0 && (len(s) == 4 || len(s) == 6)) {
			return p.packed(s, false)
		}
	}
	switch {
	case dot >= 0 && p.have&mDate == 0:
		return p.date(s, c)
	case dot > 2:
		return p.packed(s, p.have&mDate == 0)
	case dot < 0 && len(s) >= 6 && (p.have&mDate == 0 || p.have&mTime == 0):
		return p.packed(s, p.have&mDate == 0)
	}
	return p.number(s, c)
}

func (p *parts) julianDay(s string) fault {
	day, frac := s, ""
	if i := strings.IndexByte(s, '.'); i >= 0 {
		day, frac = s[:i], s[i:]
	}
	v, ok := atoi(day)
	if !ok {
		return badFormat
	}
	p.year, p.month, p.day = Civil(int64(v) - julianEpoch)
	p.julian = true
	if why := p.set(mDate); why != okay {
		return why
	}
	if frac != "" {
		f, err := strconv.ParseFloat("0"+frac, 64)
		if err != nil {
			return badFormat
		}
		us := int64(f * float64(Day))
		var mi int
		p.h, p.m, p.s, mi = Clock(us)
		p.micros = int64(mi)
		return p.set(mTime)
	}
	return okay
}

// timeField decodes hh:mm[:ss[.ffffff]], also mm:ss.f with a fraction.
func (p *parts) timeField(s string) fault {
	seg := strings.Split(s, ":")
	if len(seg) > 3 {
		return badFormat
	}
	h, ok1 := atoi(seg[0])
	last := seg[len(seg)-1]
	frac := ""
	if i := strings.IndexByte(last, '.'); i >= 0 {
		last, frac = last[:i], last[i:]
		seg[len(seg)-1] = last
	}
	m, ok2 := atoi(seg[1])
	sec, ok3 := 0, true
	if len(seg) == 3 {
		sec, ok3 = atoi(seg[2])
	} else if frac != "" { // mm:ss.f
		h, m, sec = 0, h, m
	}
	us, ok4 := fraction(frac)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return badFormat
	}
	if m > 59 || sec > 60 || h > 1<<30 {
		return fieldOverflow
	}
	p.h, p.m, p.s, p.micros = h, m, sec, us
	return p.set(mTime)
}

// zoneField decodes a numeric offset: +h, +hh, +hhmm, +hh:mm, +hh:mm:ss.
func (p *parts) zoneField(s string) fault {
	sign := 1
	if s[0] == '-' {
		sign = -1
	} else if s[0] != '+' {
		return badFormat
	}
	seg := strings.Split(s[1:], ":")
	var v [3]int
	if len(seg) > 3 {
		return badFormat
	}
	for i, x := range seg {
		n, ok := atoi(x)
		if !ok {
			return badFormat
		}
		v[i] = n
	}
	if len(seg) == 1 && len(seg[0]) > 2 {
		if len(seg[0]) > 4 {
			// hhmmss
			v[2] = v[0] % 100
			v[0] /= 100
		}
		v[1] = v[0] % 100
		v[0] /= 100
	}
	if v[0] > 15 || v[1] > 59 || v[2] > 59 {
		return zoneOverflow
	}
	if p.have&mZone != 0 && p.zone == nil {
		return badFormat
	}
	if p.have&mZone != 0 { // EST+3: the number wins
		p.have &^= mZone
		p.zone, p.abbr = nil, ""
	}
	p.west = -sign * (v[0]*3600 + v[1]*60 + v[2])
	return p.set(mZone)
}

func (p *parts) wordField(f field, fs []field, i int, prefix *wordKind) fault {
	if *prefix != wNone {
		return badFormat
	}
	w, ok := lookupWord(f.s)
	if !ok {
		return p.zoneWord(f)
	}
	switch w.kind {
	case wMonth:
		// A month's name after a number that was taken for the month makes that number the day.
		if p.have&mMonth != 0 && !p.textMonth && p.have&mDay == 0 && p.month >= 1 && p.month <= 31 {
			p.day = p.month
			p.have |= mDay
			p.have &^= mMonth
		}
		p.month, p.textMonth = w.val, true
		return p.set(mMonth)
	case wDay:
		return p.set(mDow)
	case wAMPM:
		p.pm = w.val
	case wEra:
		p.bc = w.val == 1
	case wNow, wToday, wTomorrow, wYesterday, wEpoch, wInfinity, wNegInfinity:
		if p.special != wNone {
			return badFormat
		}
		p.special = w.kind
		if w.kind == wToday || w.kind == wTomorrow || w.kind == wYesterday {
			return p.set(mDate)
		}
		return p.set(mDate | mTime)
	case wAllballs:
		p.h, p.m, p.s, p.micros = 0, 0, 0, 0
		p.west = 0
		if p.have&mZone == 0 {
			p.have |= mZone
		}
		return p.set(mTime)
	case wISOTime:
		// Only before a time or number.
		if i+1 >= len(fs) || fs[i+1].kind != fNumber && fs[i+1].kind != fTime && fs[i+1].kind != fDate {
			return badFormat
		}
		*prefix = wISOTime
	case wJulian:
		*prefix = wJulian
	case wIgnore, wDST:
	default:
		return badFormat
	}
	return okay
}

// zoneWord takes a word as an abbreviation or the name of a zone.
func (p *parts) zoneWord(f field) fault {
	if f.s == "z" || f.s == "zulu" {
		p.zone = time.UTC
		return p.set(mZone)
	}
	if f.kind == fSpecial {
		return badFormat
	}
	if z, fixed, _, ok := abbrevZone(f.s); ok {
		if p.have&mZone != 0 {
			return badFormat
		}
		p.zone = z
		if !fixed {
			p.abbr = f.s
		}
		return p.set(mZone)
	}
	if z, err := LoadZone(f.raw); err == nil {
		p.zone = z
		return p.set(mZone)
	}
	return badFormat
}

// finish checks ranges and applies AM/PM, BC, two-digit years and days of the year.
func (p *parts) finish() fault {
	if p.special != wNone {
		return okay
	}
	if p.have&mYear != 0 && !p.julian {
		switch {
		case p.bc:
			if p.year <= 0 {
				return fieldOverflow
			}
			p.year = -(p.year - 1)
		case p.twoDigits:
			if p.year < 70 {
				p.year += 2000
			} else {
				p.year += 1900
			}
		case p.year <= 0:
			return fieldOverflow
		}
	}
	if p.have&mDoy != 0 {
		p.year, p.month, p.day = Civil(Days(p.year, 1, 1) + int64(p.doy) - 1)
		p.have |= mDate
	}
	if p.have&mMonth != 0 && (p.month < 1 || p.month > 12) {
		return monthDayOverflow
	}
	if p.have&mDay != 0 && (p.day < 1 || p.day > 31) {
		return monthDayOverflow
	}
	if p.have&mDate == mDate && p.day > DaysInMonth(p.year, p.month) {
		return fieldOverflow
	}
	if p.pm >= 0 {
		if p.have&mTime == 0 {
			return badFormat
		}
		if p.h > 12 {
			return fieldOverflow
		}
		if p.pm == 0 && p.h == 12 {
			p.h = 0
		} else if p.pm == 1 && p.h != 12 {
			p.h += 12
		}
	}
	if p.have&mTime != 0 {
		if p.m > 59 || p.s > 60 || p.h > 24 || p.h == 24 && (p.m > 0 || p.s > 0 || p.micros > 0) {
			return fieldOverflow
		}
	}
	return okay
}

// clock returns the time of the day in microseconds.
func (p *parts) clock() int64 {
	return int64(p.h)*Hour + int64(p.m)*Minute + int64(p.s)*Second + p.micros
}
