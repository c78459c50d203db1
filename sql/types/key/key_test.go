package key

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"herd/sql/types"
)

// samples are texts of values of each type; every pair is compared both ways.
var samples = map[types.OID][]string{
	types.Int2OID:    {"0", "1", "-1", "32767", "-32768", "255", "256"},
	types.Int4OID:    {"0", "1", "-1", "2147483647", "-2147483648", "65536", "-256"},
	types.Int8OID:    {"0", "1", "-1", "9223372036854775807", "-9223372036854775808", "4294967296"},
	types.OIDOID:     {"0", "1", "4294967295", "2147483648"},
	types.BoolOID:    {"t", "f"},
	types.Float8OID:  {"0", "-0", "1", "-1", "1e-300", "-1e-300", "1e300", "NaN", "Infinity", "-Infinity", "1.5"},
	types.Float4OID:  {"0", "-0", "1", "-1", "1e-30", "NaN", "Infinity", "-Infinity", "1.5"},
	types.TextOID:    {"", "a", "b", "ab", "a ", "aé", "é", "\x01", "a\x01"},
	types.VarcharOID: {"", "a", "b", "ab"},
	types.BPCharOID:  {"a", "a  ", "b", "", " ", "a\x01"},
	types.NameOID:    {"", "x", "xy"},
	types.ByteaOID:   {"", "\\x00", "\\x0000", "\\x00ff", "\\x0001", "\\xff", "\\xff00", "\\x01", "\\x0100"},
	types.UUIDOID:    {"00000000-0000-0000-0000-000000000000", "ffffffff-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001"},
	types.NumericOID: {"0", "0.00", "1", "1.0", "1.00", "-1", "10", "100", "99", "9.9", "0.1", "0.01", "0.011", "-0.1", "-0.01", "-0.011", "-10", "-99",
		"123456789012345678901234567890", "-123456789012345678901234567890", "1e-20", "1e50", "NaN", "Infinity", "-Infinity", "12.5", "12.50", "12.49", "9223372036854775807", "9223372036854775808"},
	types.DateOID:        {"2000-01-01", "1999-12-31", "infinity", "-infinity", "4713-01-01 BC"},
	types.TimestampOID:   {"2000-01-01", "1999-12-31 23:59:59.999999", "infinity", "-infinity"},
	types.TimestampTZOID: {"2000-01-01+00", "1999-12-31 23:59:59.999999+00", "infinity"},
	types.TimeOID:        {"00:00", "24:00", "12:34:56.7"},
	types.TimeTZOID:      {"00:00+00", "01:00+01", "00:00-01", "23:00-02", "02:00+02"},
	types.IntervalOID:    {"0", "1 day", "24 hours", "1 mon", "30 days", "29 days 23:59:59", "-1 day", "-1 mon", "178000000 years", "-178000000 years"},
	types.JSONBOID: {"null", "1", "1.0", "2", `"a"`, `"b"`, "true", "false", "[]", "[1]", "[1,2]", "[2]", "{}", `{"a":1}`, `{"a":2}`, `{"b":1}`,
		`{"a":1,"b":2}`, `{"aa":1}`, "[[]]", "[null]", `[""]`, `"\u0001"`},
	types.Int4ArrayOID: {"{}", "{1}", "{1,2}", "{2}", "{NULL}", "{1,NULL}", "{{1},{2}}", "[0:1]={1,2}", "{1,2,3}"},
	types.TextArrayOID: {"{}", "{a}", "{a,b}", `{""}`, "{NULL}", "{ab}"},
	types.VarbitOID:    {"", "0", "1", "00", "01", "000000000", "11111111", "111111110"},
	types.QCharOID:     {"", "a", "b"},
	types.TIDOID:       {"(0,1)", "(0,2)", "(1,0)", "(256,0)", "(255,65535)"},
	types.XID8OID:      {"0", "18446744073709551615", "9223372036854775808"},
	types.OIDVectorOID: {"1 2", "3", "", "3 1"},
	types.MoneyOID:     {"0", "-1.5", "1"},
}

func sign(v int) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

func TestOrder(t *testing.T) {
	io := types.NewIOContext()
	for typ, texts := range samples {
		var ds []types.Datum
		for _, s := range texts {
			d, err := types.Input(io, typ, -1, []byte(s))
			if err != nil {
				t.Fatalf("type %d %q: %v", typ, s, err)
			}
			ds = append(ds, d)
		}
		for _, desc := range []bool{false, true} {
			for i, a := range ds {
				for j, b := range ds {
					// A second column must not change the order of different first ones.
					ka := AppendKey(AppendKey(nil, typ, 0, desc, false, a), types.Int4OID, 0, false, false, types.Int(5))
					kb := AppendKey(AppendKey(nil, typ, 0, desc, false, b), types.Int4OID, 0, false, false, types.Int(5))
					want := types.Compare(typ, 0, a, b)
					if desc {
						want = -want
					}
					if got := sign(bytes.Compare(ka, kb)); got != want {
						t.Errorf("type %d desc %v: %q against %q: key order %d, values %d", typ, desc, texts[i], texts[j], got, want)
					}
					if want == 0 && types.Hash(typ, a) != types.Hash(typ, b) {
						t.Errorf("type %d: %q and %q are equal, their hashes differ", typ, texts[i], texts[j])
					}
				}
				roundTrip(t, typ, desc, a, texts[i])
			}
		}
		n := AppendKey(nil, typ, 0, false, true, types.NullDatum)
		m := AppendKey(nil, typ, 0, true, false, types.NullDatum)
		for _, d := range ds {
			k := AppendKey(nil, typ, 0, false, false, d)
			if bytes.Compare(n, k) >= 0 || bytes.Compare(m, k) <= 0 {
				t.Errorf("type %d: NULL does not sort outside the values", typ)
			}
		}
	}
}

func roundTrip(t *testing.T, typ types.OID, desc bool, d types.Datum, text string) {
	t.Helper()
	k := append(AppendKey(nil, typ, 0, desc, false, d), 0xAB)
	if rest, err := Skip(k, typ, desc); (err == nil) != Skippable(typ) || err == nil && fmt.Sprintf("%x", rest) != "ab" {
		t.Errorf("type %d %q: Skip left %x, %v", typ, text, rest, err)
	}
	if !Reversible(typ, 0) {
		return
	}
	got, rest, err := DecodeKey(k, typ, 0, desc, false)
	if err != nil || fmt.Sprintf("%x", rest) != "ab" || got.I != d.I || !bytes.Equal(got.B, d.B) {
		t.Errorf("type %d desc %v %q: decoded %v (rest %x), %v, want %v", typ, desc, text, got, rest, err, d)
	}
}

func TestSuccessor(t *testing.T) {
	if got := Successor([]byte{1, 0xff, 0xff}); !bytes.Equal(got, []byte{2}) {
		t.Errorf("got %x", got)
	}
	if Successor([]byte{0xff}) != nil {
		t.Error("ff has a successor")
	}
}

func TestAllocs(t *testing.T) {
	buf := make([]byte, 0, 128)
	txt, num := types.Text("some text"), types.Datum{}
	num, _ = types.Input(types.NewIOContext(), types.NumericOID, -1, []byte("-123.4500"))
	got := testing.AllocsPerRun(100, func() {
		b := AppendKey(buf, types.Int8OID, 0, false, false, types.Int(math.MaxInt64))
		b = AppendKey(b, types.TextOID, 100, true, false, txt)
		_ = AppendKey(b, types.NumericOID, 0, false, false, num)
	})
	if got != 0 {
		t.Errorf("%v allocations a key, want 0", got)
	}
}
