package funcs

import (
	"strings"
	"unicode/utf8"

	"herd/sql/sqlerr"
	"herd/sql/types/datetime"
	"herd/sql/types/jsonpath"
)

// parseStrictDatetime reads a text by a template as the SQL standard has it: separators and quoted text must match, nothing may be
// missing or left, and the fields of the template decide the type.
func parseStrictDatetime(text, template string) (jsonpath.Datetime, error) {
	nodes, _ := parseDateFormat([]byte(template))
	for _, n := range nodes {
		if n.field == "" && !n.quoted && !strings.Contains("-./,':; ", n.lit) {
			return jsonpath.Datetime{}, badDatetime("invalid datetime format separator: \"%s\"", n.lit)
		}
	}
	p := &dateReader{in: text, fx: true, nodes: nodes}
	if err := p.readStrict(); err != nil {
		return jsonpath.Datetime{}, err
	}
	return p.strictValue()
}

func badDatetime(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, format, args...)
}

func (p *dateReader) readStrict() error {
	for k := range p.nodes {
		n := &p.nodes[k]
		if p.i >= len(p.in) {
			return badDatetime("input string is too short for datetime format")
		}
		if n.field != "" {
			if err := p.field(n, k); err != nil {
				return err
			}
			if n.th != "" {
				p.i = min(len(p.in), p.i+2)
			}
			continue
		}
		_, w := utf8.DecodeRuneInString(p.in[p.i:])
		if p.in[p.i:p.i+w] != n.lit {
			what := "separator"
			if n.quoted {
				what = "character"
			}
			return badDatetime("unmatched format %s \"%s\"", what, n.lit)
		}
		p.i += w
	}
	if strings.TrimLeft(p.in[p.i:], " \t\n\v\f\r") != "" {
		return badDatetime("trailing characters remain in input string after datetime format")
	}
	return nil
}

// strictKind tells from the template what was read.
func (p *dateReader) strictKind() (dated, timed, zoned bool) {
	for _, n := range p.nodes {
		switch n.field {
		case "":
		case "TZ", "OF", "TZH", "TZM":
			zoned = true
		case "AM", "PM", "A.M.", "P.M.", "HH", "HH12", "HH24", "MI", "SS", "MS", "US", "SSSS", "SSSSS", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
			timed = true
		default:
			dated = true
		}
	}
	return dated, timed, zoned
}

func (p *dateReader) strictValue() (d jsonpath.Datetime, err error) {
	dated, timed, zoned := p.strictKind()
	switch {
	case !dated && !timed:
		return d, badDatetime("datetime format is not dated and not timed")
	case !timed && zoned:
		return d, badDatetime("datetime format is zoned but not timed")
	}
	if dated && !timed {
		d.V, err = p.strictDate()
		return d, err
	}
	local, err := p.stamp(p.in)
	if err != nil {
		return d, err
	}
	if zoned {
		if p.zh > 15 || p.zh < 0 || p.zm > 59 || p.zm < 0 {
			return d, sqlerr.New(sqlerr.InvalidTimeZoneDisplacementValue, "time zone displacement out of range: \"%s\"", p.in)
		}
		d.East = int(p.zsign * (p.zh*3600 + p.zm*60))
	}
	switch {
	case !dated:
		_, d.V = datetime.Split(local)
		if d.Kind = jsonpath.Time; zoned {
			d.Kind = jsonpath.TimeTZ
		}
	case zoned:
		d.Kind, d.V = jsonpath.TimestampTZ, local-int64(d.East)*datetime.Second
		if !datetime.ValidTimestamp(d.V) {
			return d, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamptz out of range")
		}
	default:
		d.Kind, d.V = jsonpath.Timestamp, local
	}
	return d, nil
}

// strictDate is the date alone, whose range is wider than that of timestamps.
func (p *dateReader) strictDate() (int64, error) {
	days, err := p.date(p.in, func() error {
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", p.in)
	})
	if err == nil && !datetime.ValidDate(days) {
		err = sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: \"%s\"", p.in)
	}
	return days, err
}
