package funcs

import (
	"strings"
	"unicode/utf8"

	"herd/sql/sqlerr"
	"herd/sql/types/datetime"
)

// dateParts is what to_date and to_timestamp have read.
type dateParts struct {
	hour, min, sec, us, ssss int64
	ms                       int64
	pm                       int // 0 none, 1 AM, 2 PM
	clock12                  bool
	year, month, day         int64
	yearDigits               int
	isoYear                  bool // year came from an ISO field
	bc                       bool
	cc, j, q, w, ww          int64
	doy, dow                 int64 // dow 1..7 from Sunday; for ISO weeks from Monday
	gregorian, iso           bool
	haveZone                 bool
	zsign, zh, zm            int64
	ff                       int // digits of FF1 to FF6, 0: none
	seen                     map[string]int64
}

// dateReader reads a text by a template.
type dateReader struct {
	dateParts
	in    string
	i     int
	extra int // blanks passed over that the template does not have
	fx    bool
	nodes []fmtNode
	typ   string
}

func (p *dateReader) skipSpace() {
	for p.i < len(p.in) && (p.in[p.i] == ' ' || p.in[p.i] >= '\t' && p.in[p.i] <= '\r') {
		p.i++
	}
}

// isSeparator says whether a character is neither letter nor digit.
func isSeparator(c byte) bool {
	return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'z')
}

func invalidValue(value, field, detail string) error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid value \"%s\" for \"%s\"", value, field).WithDetail("%s", detail)
}

// skipBefore passes over blanks before a field and counts them: characters of the template that follow take fewer of the text.
func (p *dateReader) skipBefore() {
	from := p.i
	p.skipSpace()
	p.extra += p.i - from
}

func (p *dateReader) read() error {
	for k := range p.nodes {
		n := &p.nodes[k]
		if p.i >= len(p.in) {
			break
		}
		if !p.fx && (n.field != "" || k == 0) {
			if p.skipBefore(); p.i >= len(p.in) {
				break
			}
		}
		if n.field == "" {
			p.literal(n)
			continue
		}
		if err := p.field(n, k); err != nil {
			return err
		}
		if n.th != "" {
			p.i = min(len(p.in), p.i+2)
		}
		if !p.fx {
			p.extra = 0
			p.skipBefore()
		}
	}
	if p.fx && p.i < len(p.in) {
		rest := strings.TrimRight(p.in[p.i:], " \t\n\r")
		if rest != "" {
			return sqlerr.New(sqlerr.InvalidDatetimeFormat, "trailing characters remain in input string after datetime format")
		}
	}
	return nil
}

// literal passes over what a character of the template stands for: a blank or separator for one of those or for nothing, another character
// for any one, unless more than the template has was passed over before.
func (p *dateReader) literal(n *fmtNode) {
	c := n.lit[0]
	blank := func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	switch {
	case p.fx:
	case !n.quoted && (blank(c) || isSeparator(c)):
		if p.i < len(p.in) && (blank(p.in[p.i]) || isSeparator(p.in[p.i])) {
			p.i++
		} else {
			p.extra--
		}
		return
	case p.extra > 0:
		p.extra--
		return
	}
	_, w := utf8.DecodeRuneInString(p.in[p.i:])
	p.i += w
}

// separatorNext says whether the template goes on with something that ends a number.
func (p *dateReader) separatorNext(k int) bool {
	n := &p.nodes[k]
	if n.th != "" || k+1 >= len(p.nodes) {
		return true
	}
	next := &p.nodes[k+1]
	if next.field == "" {
		c := next.lit[0]
		return !(c >= '0' && c <= '9')
	}
	switch next.field {
	case "AM", "PM", "A.M.", "P.M.", "BC", "AD", "B.C.", "A.D.", "MONTH", "MON", "DAY", "DY", "RM", "TZ", "TZH", "OF":
		return true
	}
	return false
}

// number reads an integer of at most width digits, of any length before a separator.
func (p *dateReader) number(n *fmtNode, k, width int) (v int64, used int, err error) {
	p.skipSpace()
	from := p.i
	s := p.in[p.i:]
	free := n.fm || p.separatorNext(k)
	if !free {
		if len(s) < width && p.fx {
			return 0, 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "source string too short for \"%s\" formatting field", n.word).
				WithDetail("Field requires %d characters, but only %d remain.", width, len(s))
		}
		if len(s) > width {
			s = s[:width]
		}
	}
	i := 0
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	start := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		if v = v*10 + int64(s[i]-'0'); v > int4.hi {
			return 0, 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "value for \"%s\" in source string is out of range", n.word).
				WithDetail("Value must be in the range %d to %d.", int4.lo, int4.hi)
		}
		i++
	}
	if i == start {
		end := min(len(p.in), from+width)
		return 0, 0, invalidValue(p.in[from:end], n.word, "Value must be an integer.")
	}
	if !free && p.fx && i < width {
		return 0, 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid value \"%s\" for \"%s\"", p.in[from:from+width], n.word).
			WithDetail("Field requires %d characters, but only %d could be parsed.", width, i).
			WithHint("If your source string is not fixed-width, try using the \"FM\" modifier.")
	}
	if neg {
		v = -v
	}
	p.i = from + i
	return v, i, nil
}

// set stores a value; a field given twice with different values is an error.
func (p *dateReader) set(dst *int64, n *fmtNode, v int64) error {
	if p.seen == nil {
		p.seen = map[string]int64{}
	}
	key := slotOf(n.field)
	if old, ok := p.seen[key]; ok && old != v {
		return sqlerr.New(sqlerr.InvalidDatetimeFormat, "conflicting values for \"%s\" field in formatting string", n.word).
			WithDetail("This value contradicts a previous setting for the same field type.")
	}
	p.seen[key] = v
	*dst = v
	return nil
}

// slotOf names the value that a field sets, which several fields share.
func slotOf(f string) string {
	switch f {
	case "HH", "HH12", "HH24":
		return "hour"
	case "MONTH", "MON", "MM", "RM":
		return "month"
	case "DAY", "DY", "D", "ID":
		return "dow"
	case "YYYY", "YYY", "YY", "Y", "Y,YYY", "IYYY", "IYY", "IY", "I":
		return "year"
	case "SSSS", "SSSSS":
		return "ssss"
	case "DDD", "IDDD":
		return "doy"
	case "WW", "IW":
		return "ww"
	case "US", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		return "us"
	}
	return f
}

// stamp puts the parts together: a local timestamp and, with a zone in the text, its offset.
func (p *dateReader) stamp(text string) (local int64, err error) {
	bad := func() error {
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", text)
	}
	h, mi, s := p.hour, p.min, p.sec
	if _, ok := p.seen["ssss"]; ok {
		h, mi, s = p.ssss/3600, p.ssss%3600/60, p.ssss%60
	}
	if p.clock12 {
		if h < 1 || h > 12 {
			return 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "hour \"%d\" is invalid for the 12-hour clock", h).
				WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
		}
		switch {
		case p.pm == 2 && h < 12:
			h += 12
		case p.pm == 1 && h == 12:
			h = 0
		}
	}
	days, err := p.date(text, bad)
	if err != nil {
		return 0, err
	}
	us := p.us + p.ms*1000
	if p.ff > 0 {
		us = datetime.RoundMicros(us, p.ff)
	}
	if h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 59 || us < 0 || us >= datetime.Second && p.ff == 0 || us > datetime.Second {
		return 0, bad()
	}
	ts, ok := datetime.Join(days, h*datetime.Hour+mi*datetime.Minute+s*datetime.Second+us)
	if !ok {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", text)
	}
	return ts, nil
}

// date returns the day number of the parts.
func (p *dateReader) date(text string, bad func() error) (int64, error) {
	_, haveYear := p.seen["year"]
	year, month, day := int64(0), int64(1), int64(1)
	switch {
	case haveYear:
		year = p.year
		_, haveCC := p.seen["CC"]
		switch {
		case haveCC && p.yearDigits <= 2:
			cc := p.cc
			if p.bc {
				cc = -cc
			}
			year = p.year % 100
			if year != 0 {
				if cc >= 0 {
					year += (cc - 1) * 100
				} else {
					year = (cc+1)*100 - year + 1
				}
			} else if cc >= 0 {
				year = cc * 100
			} else {
				year = cc*100 + 1
			}
		default:
			if p.bc {
				year = -year
			}
			if year < 0 {
				year++ // a negative year is BC
			}
		}
	default:
		if cc, ok := p.seen["CC"]; ok {
			if p.bc {
				cc = -cc
			}
			if cc >= 0 {
				year = (cc-1)*100 + 1
			} else {
				year = cc*100 + 1
			}
		}
	}
	if j, ok := p.seen["J"]; ok && j != 0 {
		y, m, d := datetime.Civil(j - 2451545)
		year, month, day = int64(y), int64(m), int64(d)
	}
	doy := p.doy
	if p.ww != 0 {
		if p.iso {
			start := datetime.ISOWeekStart(int(year), int(p.ww))
			if p.dow != 0 {
				off := p.dow - 2 // Monday is 2
				if off < 0 {
					off = 6
				}
				start += off
			}
			return start, nil
		}
		doy = (p.ww-1)*7 + 1
	}
	if m, ok := p.seen["month"]; ok {
		month = m
	}
	if d, ok := p.seen["DD"]; ok {
		day = d
	}
	if p.w != 0 {
		day = (p.w-1)*7 + 1
	}
	_, haveMonth := p.seen["month"]
	_, haveDay := p.seen["DD"]
	if doy != 0 && (!haveMonth || !haveDay) {
		if year == 0 && !p.bc {
			return 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "cannot calculate day of year without year information")
		}
		if p.iso {
			return datetime.ISOWeekStart(int(year), 1) + doy - 1, nil
		}
		if doy < 1 || doy > 366 || doy == 366 && !datetime.Leap(int(year)) {
			return 0, bad()
		}
		return datetime.Days(int(year), 1, 1) + doy - 1, nil
	}
	if month < 1 || month > 12 || day < 1 || day > int64(datetime.DaysInMonth(int(year), int(month))) {
		return 0, bad()
	}
	return datetime.Days(int(year), int(month), int(day)), nil
}

func init() {
	read := func(r *row) (*dateReader, int64, error) {
		f := r.dateFormat(r.Bytes(1))
		p := &dateReader{in: r.Str(0), fx: f.fx, nodes: f.nodes}
		if err := p.read(); err != nil {
			return nil, 0, err
		}
		ts, err := p.stamp(p.in)
		return p, ts, err
	}
	each(func(r *row) error {
		p, ts, err := read(r)
		if err != nil {
			return err
		}
		if p.haveZone {
			if p.zh > 15 || p.zm > 59 || p.zm < 0 {
				return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", p.in)
			}
			return r.RetInt(ts - p.zsign*(p.zh*3600+p.zm*60)*datetime.Second)
		}
		return r.RetStamp(stampToUTC(ts, r.c))
	}, "to_timestamp")
	each(func(r *row) error {
		_, ts, err := read(r)
		if err != nil {
			return err
		}
		d, _ := datetime.Split(ts)
		return r.RetInt(d)
	}, "to_date")
}
