package types

import "testing"

// TestTextAllocs holds text output, and input of values that fit a word, to no allocation.
func TestTextAllocs(t *testing.T) {
	io := NewIOContext()
	buf := make([]byte, 0, 256)
	for _, tc := range []struct {
		typ  OID
		text string
	}{{Int4OID, "-12345"}, {Int8OID, "123456789012"}, {BoolOID, "t"}, {Float8OID, "123.456"}, {Float8OID, "1e-20"}, {DateOID, "2024-02-29"}, {TimeOID, "10:11:12.5"},
		{TimestampOID, "2024-02-29 10:11:12.123456"}, {TimestampTZOID, "2024-02-29 10:11:12.5+00"}, {TextOID, "some text"}} {
		in := []byte(tc.text)
		var d Datum
		if n := testing.AllocsPerRun(50, func() {
			var err error
			if d, err = Input(io, tc.typ, -1, in); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("Input of type %d %q: %v allocations", tc.typ, tc.text, n)
		}
		if n := testing.AllocsPerRun(50, func() { buf = Output(io, buf[:0], tc.typ, d) }); n != 0 {
			t.Errorf("Output of type %d %q: %v allocations", tc.typ, tc.text, n)
		}
		if string(buf) != tc.text {
			t.Errorf("type %d: %q came back as %q", tc.typ, tc.text, buf)
		}
	}
	for typ, text := range map[OID]string{NumericOID: "-1234.5600", IntervalOID: "1 year 2 mons", UUIDOID: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", Int4ArrayOID: "{1,2,3}"} {
		d, err := Input(io, typ, -1, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		limit := 0.0
		if typ == Int4ArrayOID {
			limit = 4 // the recursive writer of dimensions
		}
		if n := testing.AllocsPerRun(50, func() { buf = Output(io, buf[:0], typ, d) }); n > limit {
			t.Errorf("Output of type %d: %v allocations", typ, n)
		}
	}
}

func BenchmarkText(b *testing.B) {
	io := NewIOContext()
	for _, tc := range []struct {
		name string
		typ  OID
		text string
	}{{"int4", Int4OID, "-12345"}, {"float8", Float8OID, "123.456"}, {"timestamptz", TimestampTZOID, "2024-02-29 10:11:12.5+00"}, {"numeric", NumericOID, "1234.56"}} {
		in := []byte(tc.text)
		d, _ := Input(io, tc.typ, -1, in)
		b.Run("in/"+tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				Input(io, tc.typ, -1, in)
			}
		})
		b.Run("out/"+tc.name, func(b *testing.B) {
			buf := make([]byte, 0, 64)
			for range b.N {
				buf = Output(io, buf[:0], tc.typ, d)
			}
		})
	}
}
