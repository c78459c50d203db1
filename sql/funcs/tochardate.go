package funcs

import (
	"strconv"
	"strings"

	"herd/sql/sqlerr"
	"herd/sql/types/datetime"
)

// fields is what to_char shows of a timestamp or interval.
type timeFields struct {
	year, month, day   int64
	days               int64 // day number, timestamps only
	hour, min, sec, us int64
	interval           bool
	zoned              bool
	east               int
	abbr               string
}

var longMonths = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
var longDays = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
var romanMonths = []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

func stampFields(ts int64) timeFields {
	d, us := datetime.Split(ts)
	y, m, day := datetime.Civil(d)
	return timeFields{year: int64(y), month: int64(m), day: int64(day), days: d,
		hour: us / datetime.Hour, min: us / datetime.Minute % 60, sec: us / datetime.Second % 60, us: us % datetime.Second}
}

func init() {
	show := func(r *row, f timeFields) error {
		format := r.dateFormat(r.Bytes(1))
		b, err := f.format(r.Start(), format.nodes)
		if err != nil {
			return err
		}
		return r.Finish(b)
	}
	each(func(r *row) error {
		if datetime.IsInfinite(r.Int(0)) || len(r.Bytes(1)) == 0 {
			return r.RetNull()
		}
		return show(r, stampFields(r.Int(0)))
	}, "timestamp_to_char")
	each(func(r *row) error {
		ts := r.Int(0)
		if datetime.IsInfinite(ts) || len(r.Bytes(1)) == 0 {
			return r.RetNull()
		}
		east, abbr := datetime.OffsetAt(ts, r.c.IO.Zone)
		f := stampFields(ts + int64(east)*datetime.Second)
		f.zoned, f.east, f.abbr = true, east, abbr
		return show(r, f)
	}, "timestamptz_to_char")
	each(func(r *row) error {
		if len(r.Bytes(1)) == 0 {
			return r.RetNull()
		}
		v := r.Interval(0)
		us := v.Micros
		return show(r, timeFields{interval: true, year: int64(v.Months / 12), month: int64(v.Months % 12), day: int64(v.Days),
			hour: us / datetime.Hour, min: us / datetime.Minute % 60, sec: us / datetime.Second % 60, us: us % datetime.Second})
	}, "interval_to_char")
}

// padInt appends v with at least width digits; a minus sign takes one more place.
func padInt(dst []byte, v int64, width int, fm bool) []byte {
	if fm {
		return strconv.AppendInt(dst, v, 10)
	}
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	s := strconv.FormatInt(v, 10)
	for range width - len(s) {
		dst = append(dst, '0')
	}
	return append(dst, s...)
}

// padC is padInt with the sign counted as a digit.
func padC(dst []byte, v int64, width int, fm bool) []byte {
	if v < 0 {
		width--
	}
	return padInt(dst, v, width, fm)
}

// cased gives a name the case of the field that asks for it.
func cased(name, word string) string {
	switch {
	case word == strings.ToUpper(word):
		return strings.ToUpper(name)
	case word[0] >= 'a':
		return strings.ToLower(name)
	}
	return name
}

func padName(dst []byte, s string, width int, fm bool) []byte {
	dst = append(dst, s...)
	if !fm {
		for range width - len(s) {
			dst = append(dst, ' ')
		}
	}
	return dst
}

func notForInterval() error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid format specification for an interval value").
		WithHint("Intervals are not tied to specific calendar dates.")
}

func (f *timeFields) format(dst []byte, nodes []fmtNode) ([]byte, error) {
	for i := range nodes {
		n := &nodes[i]
		if n.field == "" {
			dst = append(dst, n.lit...)
			continue
		}
		at := len(dst)
		var err error
		var numeric bool
		if dst, numeric, err = f.field(dst, n); err != nil {
			return dst, err
		}
		if n.th != "" && numeric {
			dst = append(dst, ordinal(dst[at:], n.th)...)
		}
	}
	return dst, nil
}

// field appends one field; numeric says whether an ordinal suffix may follow.
func (f *timeFields) field(dst []byte, n *fmtNode) ([]byte, bool, error) {
	switch n.field {
	case "AM", "PM":
		return f.half(dst, n, "AM", "PM"), false, nil
	case "A.M.", "P.M.":
		return f.half(dst, n, "A.M.", "P.M."), false, nil
	case "HH", "HH12":
		h := f.hour % 12
		if h == 0 {
			h = 12
		}
		return padInt(dst, h, 2, n.fm), true, nil
	case "HH24":
		return padInt(dst, f.hour, 2, n.fm), true, nil
	case "MI":
		return padInt(dst, f.min, 2, n.fm), true, nil
	case "SS":
		return padInt(dst, f.sec, 2, n.fm), true, nil
	case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		w := int(n.field[2] - '0')
		v := f.us
		for range 6 - w {
			v /= 10
		}
		return padInt(dst, v, w, false), true, nil
	case "MS":
		return padInt(dst, f.us/1000, 3, false), true, nil
	case "US":
		return padInt(dst, f.us, 6, false), true, nil
	case "SSSS", "SSSSS":
		return strconv.AppendInt(dst, f.hour*3600+f.min*60+f.sec, 10), true, nil
	case "TZ", "TZH", "TZM", "OF":
		return f.zone(dst, n)
	}
	return f.dateField(dst, n)
}

func (f *timeFields) half(dst []byte, n *fmtNode, am, pm string) []byte {
	s := am
	if f.hour%24 >= 12 {
		s = pm
	}
	if n.word[0] >= 'a' {
		s = strings.ToLower(s)
	}
	return append(dst, s...)
}

func (f *timeFields) zone(dst []byte, n *fmtNode) ([]byte, bool, error) {
	if f.interval {
		return dst, false, notForInterval()
	}
	a, sign := f.east, byte('+')
	if a < 0 {
		a, sign = -a, '-'
	}
	switch n.field {
	case "TZ":
		if n.word == "tz" {
			return append(dst, strings.ToLower(f.abbr)...), false, nil
		}
		return append(dst, f.abbr...), false, nil
	case "TZH":
		return padInt(append(dst, sign), int64(a/3600), 2, false), false, nil
	case "TZM":
		return padInt(dst, int64(a%3600/60), 2, false), false, nil
	}
	dst = padInt(append(dst, sign), int64(a/3600), 2, n.fm)
	if m := a % 3600 / 60; m != 0 {
		dst = padInt(append(dst, ':'), int64(m), 2, false)
	}
	return dst, false, nil
}

// shownYear is the year without a year 0, which intervals have.
func (f *timeFields) shownYear(y int64) int64 {
	if f.interval || y > 0 {
		return y
	}
	return 1 - y
}

func (f *timeFields) dateField(dst []byte, n *fmtNode) ([]byte, bool, error) {
	name := func(list []string, i int64, short int, width int) ([]byte, bool, error) {
		if f.interval {
			return dst, false, notForInterval()
		}
		s := list[i]
		if short > 0 {
			s = s[:short]
		}
		return padName(dst, cased(s, n.word), width, n.fm || n.tm), false, nil
	}
	switch n.field {
	case "BC", "AD", "B.C.", "A.D.":
		if f.interval {
			return dst, false, notForInterval()
		}
		s := map[bool]string{true: "BC", false: "AD"}[f.year <= 0]
		if strings.Contains(n.field, ".") {
			s = s[:1] + "." + s[1:] + "."
		}
		if n.word[0] >= 'a' {
			s = strings.ToLower(s)
		}
		return append(dst, s...), false, nil
	case "MONTH":
		if f.month == 0 && f.interval {
			return dst, false, notForInterval()
		}
		return name(longMonths, f.month-1, 0, 9)
	case "MON":
		return name(longMonths, f.month-1, 3, 0)
	case "DAY":
		return name(longDays, int64(datetime.Weekday(f.days)), 0, 9)
	case "DY":
		return name(longDays, int64(datetime.Weekday(f.days)), 3, 0)
	case "MM":
		return padInt(dst, f.month, 2, n.fm), true, nil
	case "DD":
		return padC(dst, f.day, 2, n.fm), true, nil
	case "DDD":
		doy := (f.year*12+f.month)*30 + f.day
		if !f.interval {
			doy = f.days - datetime.Days(int(f.year), 1, 1) + 1
		}
		return padC(dst, doy, 3, n.fm), true, nil
	case "RM":
		return f.roman(dst, n)
	case "Q":
		if f.month == 0 {
			return dst, true, nil
		}
		return strconv.AppendInt(dst, (f.month-1)/3+1, 10), true, nil
	case "CC":
		var c int64
		switch {
		case f.interval:
			c = f.year / 100
		case f.year > 0:
			c = (f.year-1)/100 + 1
		default:
			c = f.year/100 - 1
		}
		if c <= 99 && c >= -99 {
			return padInt(dst, c, 2, n.fm), true, nil
		}
		return strconv.AppendInt(dst, c, 10), true, nil
	}
	return f.yearField(dst, n)
}

func (f *timeFields) roman(dst []byte, n *fmtNode) ([]byte, bool, error) {
	m := f.month
	if f.interval {
		if m == 0 && f.year == 0 {
			return dst, false, nil
		}
		switch { // negative months count back from December
		case m < 0:
			m += 13
		case m == 0 && f.year < 0:
			m = 1
		case m == 0:
			m = 12
		}
	}
	s := romanMonths[(m-1+12)%12]
	if n.word == "rm" {
		s = strings.ToLower(s)
	}
	return padName(dst, s, 4, n.fm), false, nil
}

func (f *timeFields) yearField(dst []byte, n *fmtNode) ([]byte, bool, error) {
	year := f.shownYear(f.year)
	if n.field[0] == 'I' && n.field != "ID" && n.field != "IW" && n.field != "IDDD" {
		days := f.days
		if f.interval {
			days = datetime.Days(int(f.year), int(f.month), int(f.day))
		}
		iy, _ := datetime.ISOWeek(days)
		year = f.shownYear(int64(iy))
	}
	extra := 0 // the place of a sign
	if f.interval && f.year < 0 {
		extra = 1
	}
	switch n.field {
	case "Y,YYY":
		dst = strconv.AppendInt(dst, year/1000, 10)
		return padC(append(dst, ','), year%1000, 3, false), true, nil
	case "YYYY", "IYYY":
		return padC(dst, year, 4+extra, n.fm), true, nil
	case "YYY", "IYY":
		return padC(dst, year%1000, 3+extra, n.fm), true, nil
	case "YY", "IY":
		return padC(dst, year%100, 2+extra, n.fm), true, nil
	case "Y", "I":
		return strconv.AppendInt(dst, year%10, 10), true, nil
	case "J":
		if f.interval {
			return strconv.AppendInt(dst, datetime.JulianDay(datetime.Days(int(f.year), int(f.month), int(f.day))), 10), true, nil
		}
		return strconv.AppendInt(dst, datetime.JulianDay(f.days), 10), true, nil
	}
	if f.interval {
		return f.intervalWeek(dst, n)
	}
	wd := int64(datetime.Weekday(f.days))
	doy := f.days - datetime.Days(int(f.year), 1, 1) + 1
	iy, iw := datetime.ISOWeek(f.days)
	switch n.field {
	case "D":
		return strconv.AppendInt(dst, wd+1, 10), true, nil
	case "ID":
		if wd == 0 {
			wd = 7
		}
		return strconv.AppendInt(dst, wd, 10), true, nil
	case "W":
		return strconv.AppendInt(dst, (f.day-1)/7+1, 10), true, nil
	case "WW":
		return padInt(dst, (doy-1)/7+1, 2, n.fm), true, nil
	case "IW":
		return padInt(dst, int64(iw), 2, n.fm), true, nil
	case "IDDD":
		return padInt(dst, f.days-datetime.ISOWeekStart(iy, 1)+1, 3, n.fm), true, nil
	}
	return dst, false, nil
}

// intervalWeek shows fields of weeks for an interval: weeks of the month and the year count days; the others have no meaning.
func (f *timeFields) intervalWeek(dst []byte, n *fmtNode) ([]byte, bool, error) {
	switch n.field {
	case "W":
		return strconv.AppendInt(dst, (f.day-1)/7+1, 10), true, nil
	case "WW":
		return padC(dst, ((f.year*12+f.month)*30+f.day-1)/7+1, 2, n.fm), true, nil
	case "IW", "IDDD":
		// As if the parts were a date.
		days := datetime.Days(int(f.year), int(f.month), int(f.day))
		y, w := datetime.ISOWeek(days)
		if n.field == "IW" {
			return padInt(dst, int64(w), 2, n.fm), true, nil
		}
		return padC(dst, days-datetime.ISOWeekStart(y, 1)+1, 3, n.fm), true, nil
	}
	return dst, false, notForInterval()
}
