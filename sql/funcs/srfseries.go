package funcs

import (
	"bytes"

	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/types/numeric"
	"herd/sql/vec"
)

func init() {
	regSet(func(*CallInfo) setStart {
		return func(_ *Ctx, a []types.Datum) (SetFunc, error) { return numericSeries(a) }
	}, "generate_series_numeric", "generate_series_step_numeric")
	regSet(func(*CallInfo) setStart {
		return func(_ *Ctx, a []types.Datum) (SetFunc, error) {
			return timeSeries(a, func(t int64, v datetime.Interval) (int64, error) { return datetime.AddToTimestamp(t, v) })
		}
	}, "generate_series_timestamp")
	regSet(func(*CallInfo) setStart {
		return func(c *Ctx, a []types.Datum) (SetFunc, error) {
			return timeSeries(a, func(t int64, v datetime.Interval) (int64, error) {
				return datetime.AddToTimestampTZ(t, v, &c.IO.Config)
			})
		}
	}, "generate_series_timestamptz")
	regSet(func(*CallInfo) setStart {
		return func(_ *Ctx, a []types.Datum) (SetFunc, error) { return stringToTable(a), nil }
	}, "text_to_table", "text_to_table_null")
	regSet(func(*CallInfo) setStart {
		return func(_ *Ctx, a []types.Datum) (SetFunc, error) { return expandArray(a[0].B), nil }
	}, "_pg_expandarray")
	regSet(func(*CallInfo) setStart {
		return func(*Ctx, []types.Datum) (SetFunc, error) { return keywords(), nil }
	}, "pg_get_keywords")
	byID := func(_ *Ctx, a []types.Datum) (SetFunc, error) {
		if a[0].I != defaultParser {
			return nil, sqlerr.Internal("cache lookup failed for text search parser %d", a[0].I)
		}
		return tokenTypes(), nil
	}
	regSet(func(*CallInfo) setStart { return byID }, "ts_token_type_byid")
	regSet(func(*CallInfo) setStart {
		return func(_ *Ctx, a []types.Datum) (SetFunc, error) {
			if name := string(a[0].B); name != "default" && name != "pg_catalog.default" {
				return nil, sqlerr.New(sqlerr.UndefinedObject, "text search parser \"%s\" does not exist", name)
			}
			return tokenTypes(), nil
		}
	}, "ts_token_type_byname")
}

func numericSeries(a []types.Datum) (SetFunc, error) {
	at, stop, step := numeric.Decode(a[0].B), numeric.Decode(a[1].B), numeric.FromInt64(1)
	if len(a) > 2 {
		step = numeric.Decode(a[2].B)
	}
	for i, x := range []numeric.Num{at, stop, step} {
		what := [...]string{"start value", "stop value", "step size"}[i]
		if x.IsNaN() {
			return nil, invalidParam("%s cannot be NaN", what)
		}
		if x.Kind() != numeric.FromInt64(0).Kind() {
			return nil, invalidParam("%s cannot be infinity", what)
		}
	}
	if step.Sign() == 0 {
		return nil, invalidParam("step size cannot equal zero")
	}
	return &genSet{next: func(_ *Ctx, i int, out []*vec.Vector) (bool, error) {
		if c := at.Cmp(stop); c != 0 && (c > 0) == (step.Sign() > 0) {
			return false, nil
		}
		out[0].Finish(i, at.Encode(out[0].Start()))
		var err error
		at, err = numeric.Add(at, step)
		return true, err
	}}, nil
}

func timeSeries(a []types.Datum, add func(int64, datetime.Interval) (int64, error)) (SetFunc, error) {
	at, stop, step := a[0].I, a[1].I, types.DecodeInterval(a[2].B)
	sign := step.Cmp(datetime.Interval{})
	if sign == 0 {
		return nil, invalidParam("step size cannot equal zero")
	}
	return &genSet{next: func(_ *Ctx, i int, out []*vec.Vector) (bool, error) {
		if sign > 0 && at > stop || sign < 0 && at < stop {
			return false, nil
		}
		out[0].Int[i] = at
		var err error
		at, err = add(at, step)
		return true, err
	}}, nil
}

// stringToTable is string_to_table(text, delimiter [, null string]); a NULL delimiter splits into characters.
func stringToTable(a []types.Datum) SetFunc {
	if a[0].Null || len(a[0].B) == 0 {
		return emptySet{}
	}
	rest, done := a[0].B, false
	next := func() ([]byte, bool) {
		if done {
			return nil, false
		}
		switch {
		case a[1].Null:
			n := 1
			for n < len(rest) && rest[n]&0xc0 == 0x80 {
				n++
			}
			part := rest[:n]
			rest = rest[n:]
			done = len(rest) == 0
			return part, true
		case len(a[1].B) > 0:
			if i := bytes.Index(rest, a[1].B); i >= 0 {
				part := rest[:i]
				rest = rest[i+len(a[1].B):]
				return part, true
			}
		}
		done = true
		return rest, true
	}
	return &genSet{next: func(_ *Ctx, i int, out []*vec.Vector) (bool, error) {
		part, ok := next()
		if !ok {
			return false, nil
		}
		if len(a) > 2 && !a[2].Null && bytes.Equal(part, a[2].B) {
			out[0].SetNull(i)
		} else {
			out[0].SetVar(i, part)
		}
		return true, nil
	}}
}

// expandArray is information_schema._pg_expandarray: elements with their numbers from 1.
func expandArray(b []byte) SetFunc {
	a := types.ReadArray(b)
	ds := a.Datums()
	return listSet(len(ds), func(_ *Ctx, row, i int, out []*vec.Vector) error {
		setRow(out, i, []types.OID{a.Elem(), types.Int4OID}, []types.Datum{ds[row], types.Int(int64(row + 1))})
		return nil
	})
}

// keywords is pg_get_keywords(): word, category code, bare label, category description, bare label description.
func keywords() SetFunc {
	var list []*pgdata.Keyword
	pgdata.Keywords(func(k *pgdata.Keyword) { list = append(list, k) })
	desc := map[byte]string{'U': "unreserved", 'C': "unreserved (cannot be function or type name)", 'T': "reserved (can be function or type name)", 'R': "reserved"}
	return listSet(len(list), func(_ *Ctx, row, i int, out []*vec.Vector) error {
		k := list[row]
		label := "requires AS"
		if k.BareLabel {
			label = "can be bare label"
		}
		setRow(out, i, []types.OID{types.TextOID, types.QCharOID, types.BoolOID, types.TextOID, types.TextOID}, []types.Datum{
			types.Text(k.Word), types.Bytes([]byte{k.Category}), types.Bool(k.BareLabel), types.Text(desc[k.Category]), types.Text(label),
		})
		return nil
	})
}

// defaultParser is the OID of the only text search parser.
const defaultParser = 3722

// tokens are the token types of the default text search parser, numbered from 1.
var tokens = [...][2]string{
	{"asciiword", "Word, all ASCII"}, {"word", "Word, all letters"}, {"numword", "Word, letters and digits"}, {"email", "Email address"},
	{"url", "URL"}, {"host", "Host"}, {"sfloat", "Scientific notation"}, {"version", "Version number"},
	{"hword_numpart", "Hyphenated word part, letters and digits"}, {"hword_part", "Hyphenated word part, all letters"},
	{"hword_asciipart", "Hyphenated word part, all ASCII"}, {"blank", "Space symbols"}, {"tag", "XML tag"}, {"protocol", "Protocol head"},
	{"numhword", "Hyphenated word, letters and digits"}, {"asciihword", "Hyphenated word, all ASCII"}, {"hword", "Hyphenated word, all letters"},
	{"url_path", "URL path"}, {"file", "File or path name"}, {"float", "Decimal notation"}, {"int", "Signed integer"},
	{"uint", "Unsigned integer"}, {"entity", "XML entity"},
}

// tokenTypes is ts_token_type(): what psql's \dF+ names the mappings of a configuration by.
func tokenTypes() SetFunc {
	return listSet(len(tokens), func(_ *Ctx, row, i int, out []*vec.Vector) error {
		setRow(out, i, []types.OID{types.Int4OID, types.TextOID, types.TextOID},
			[]types.Datum{types.Int(int64(row + 1)), types.Text(tokens[row][0]), types.Text(tokens[row][1])})
		return nil
	})
}
