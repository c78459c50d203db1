package jsonpath

import (
	"bytes"
	"cmp"

	"herd/sql/sqlerr"
	"herd/sql/types/datetime"
	"herd/sql/types/json"
)

// DatetimeKind is the SQL type of what .datetime() made.
type DatetimeKind uint8

// The types of dates and times.
const (
	Date DatetimeKind = iota
	Time
	TimeTZ
	Timestamp
	TimestampTZ
)

var kindNames = [...]string{"date", "time without time zone", "time with time zone", "timestamp without time zone", "timestamp with time zone"}

// String returns what .type() calls a type.
func (k DatetimeKind) String() string { return kindNames[k] }

// shortNames are what the errors of comparisons call the types.
var shortNames = [...]string{"date", "time", "timetz", "timestamp", "timestamptz"}

// Datetime is a date or time: V counts days or microseconds, of a TimestampTZ in UTC, and East is the offset it was written with.
type Datetime struct {
	Kind DatetimeKind
	V    int64
	East int
}

// text returns the form that JSON has: ISO 8601, the offset with its minutes.
func (d *Datetime) text() []byte {
	c := datetime.Default()
	var out []byte
	switch d.Kind {
	case Date:
		out = datetime.AppendDate(nil, d.V, &c)
	case Time:
		out = datetime.AppendTime(nil, d.V)
	case TimeTZ:
		out = datetime.AppendTimeTZ(nil, d.V, int32(-d.East))
	case Timestamp:
		out = datetime.AppendTimestamp(nil, d.V, &c)
	case TimestampTZ:
		c.Zone = datetime.FixedZone(d.East)
		out = datetime.AppendTimestampTZ(nil, d.V, &c)
	}
	out, bc := bytes.CutSuffix(out, []byte(" BC"))
	if d.Kind >= Timestamp {
		out = bytes.Replace(out, []byte(" "), []byte("T"), 1)
	}
	if n := len(out); (d.Kind == TimeTZ || d.Kind == TimestampTZ) && n > 3 && (out[n-3] == '+' || out[n-3] == '-') {
		out = append(out, ":00"...)
	}
	if bc {
		out = append(out, " BC"...)
	}
	return out
}

// templates are tried in this order when .datetime() has no argument.
var templates = []string{
	"yyyy-mm-dd",
	"HH24:MI:SS.USTZH:TZM", "HH24:MI:SS.USTZH", "HH24:MI:SSTZH:TZM", "HH24:MI:SSTZH", "HH24:MI:SS.US", "HH24:MI:SS",
	"yyyy-mm-dd HH24:MI:SS.USTZH:TZM", "yyyy-mm-dd HH24:MI:SS.USTZH", "yyyy-mm-dd HH24:MI:SSTZH:TZM", "yyyy-mm-dd HH24:MI:SSTZH",
	`yyyy-mm-dd"T"HH24:MI:SS.USTZH:TZM`, `yyyy-mm-dd"T"HH24:MI:SS.USTZH`, `yyyy-mm-dd"T"HH24:MI:SSTZH:TZM`, `yyyy-mm-dd"T"HH24:MI:SSTZH`,
	"yyyy-mm-dd HH24:MI:SS.US", "yyyy-mm-dd HH24:MI:SS",
	`yyyy-mm-dd"T"HH24:MI:SS.US`, `yyyy-mm-dd"T"HH24:MI:SS`,
}

func (x *run) datetime(n *node, it item, into *list, unwrap bool) (outcome, error) {
	if unwrap && it.is(json.Array) {
		return x.elements(n, it, into)
	}
	if !it.is(json.String) {
		return x.fail(sqlerr.InvalidArgumentForSqlJsonDatetimeFunction, "jsonpath item method .%s() can only be applied to a string", n.text)
	}
	text := string(it.v.Text)
	if n.left != nil {
		d, err := x.env.ParseDatetime(text, n.left.text)
		if err != nil {
			return x.failWith(err)
		}
		return x.next(n, item{dt: &d}, into)
	}
	for _, t := range templates {
		d, err := x.env.ParseDatetime(text, t)
		if err == nil {
			return x.next(n, item{dt: &d}, into)
		}
	}
	if !x.raise {
		return failed, nil
	}
	return failed, sqlerr.New(sqlerr.InvalidArgumentForSqlJsonDatetimeFunction, "datetime format is not recognized: \"%s\"", text).
		WithHint("Use a datetime template argument to specify the input data format.")
}

// compareDatetimes orders two dates or times; not ok: their types cannot be compared.
func (x *run) compareDatetimes(a, b *Datetime) (c int, ok bool, err error) {
	if a.Kind > b.Kind {
		c, ok, err = x.compareDatetimes(b, a)
		return -c, ok, err
	}
	clock := func(d *Datetime) bool { return d.Kind == Time || d.Kind == TimeTZ }
	if clock(a) != clock(b) {
		return 0, false, nil
	}
	if a.Kind != b.Kind && (b.Kind == TimeTZ || b.Kind == TimestampTZ) && !x.zones {
		return 0, false, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert value from %s to %s without time zone usage",
			shortNames[a.Kind], shortNames[b.Kind]).WithHint("Use *_tz() function for time zone support.")
	}
	if clock(b) {
		return x.compareClocks(a, b), true, nil
	}
	return cmp.Compare(x.instant(a, b.Kind), x.instant(b, b.Kind)), true, nil
}

// instant gives a value the measure of another type: days stay days among dates, else microseconds. Dates beyond the range of
// timestamps are its ends, which orders them right.
func (x *run) instant(d *Datetime, as DatetimeKind) int64 {
	if d.Kind == as {
		return d.V
	}
	v := d.V
	if d.Kind == Date {
		local, ok := datetime.Join(v, 0)
		switch {
		case !ok && v > 0:
			return datetime.Infinity
		case !ok:
			return datetime.NegInfinity
		}
		v = local
	}
	if as == TimestampTZ {
		return x.env.Zoned(v)
	}
	return v
}

// compareClocks orders times; with zones by the moment, then by the zone.
func (x *run) compareClocks(a, b *Datetime) int {
	if b.Kind == Time {
		return cmp.Compare(a.V, b.V)
	}
	east := a.East
	if a.Kind == Time {
		east = x.env.ZoneEast()
	}
	return cmp.Or(cmp.Compare(a.V-int64(east)*datetime.Second, b.V-int64(b.East)*datetime.Second), cmp.Compare(-east, -b.East))
}
