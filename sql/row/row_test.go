package row

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"herd/sql/types"
	"herd/sql/vec"
)

var testTypes = []struct {
	t    types.OID
	mod  types.Typmod
	vals []string
}{
	{types.BoolOID, -1, []string{"t", "f"}},
	{types.Int2OID, -1, []string{"0", "-1", "32767"}},
	{types.Int4OID, -1, []string{"0", "-1", "2147483647"}},
	{types.Int8OID, -1, []string{"0", "-1", "9223372036854775807"}},
	{types.OIDOID, -1, []string{"0", "4294967295"}},
	{types.Float4OID, -1, []string{"1.5", "NaN"}},
	{types.Float8OID, -1, []string{"1.5", "-0"}},
	{types.TextOID, -1, []string{"", "abc", "héllo"}},
	{types.VarcharOID, 14, []string{"", "abc"}},
	{types.BPCharOID, 9, []string{"abc", ""}},
	{types.ByteaOID, -1, []string{"\\x00ff", "\\x"}},
	{types.UUIDOID, -1, []string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}},
	{types.NumericOID, -1, []string{"1.50", "NaN", "123456789012345678901234567890"}},
	{types.NumericOID, types.NumericTypmod(10, 2), []string{"1.50", "-99999999.99", "NaN"}},
	{types.NumericOID, types.NumericTypmod(30, 5), []string{"1.50000", "123456789012345678901.00000"}},
	{types.DateOID, -1, []string{"2000-01-01", "-infinity"}},
	{types.TimestampTZOID, -1, []string{"2000-01-01 00:00:00+00"}},
	{types.TimeTZOID, -1, []string{"04:05:06-08"}},
	{types.IntervalOID, -1, []string{"1 mon -2 days"}},
	{types.JSONBOID, -1, []string{`{"a": 1}`}},
	{types.Int4ArrayOID, -1, []string{"{1,2}", "{}"}},
}

func input(t *testing.T, typ types.OID, mod types.Typmod, s string) types.Datum {
	t.Helper()
	d, err := types.Input(types.NewIOContext(), typ, mod, []byte(s))
	if err != nil {
		t.Fatalf("type %d %q: %v", typ, s, err)
	}
	return d
}

// TestRoundTrip encodes random rows of all types and reads them back in every way.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	io := types.NewIOContext()
	for n := 1; n < 40; n++ {
		var cols []Column
		var vals [][]types.Datum
		for range n {
			k := rng.IntN(len(testTypes))
			tt := testTypes[k]
			cols = append(cols, Column{Type: tt.t, Typmod: tt.mod})
			var c []types.Datum
			for range 5 {
				if rng.IntN(4) == 0 {
					c = append(c, types.NullDatum)
				} else {
					c = append(c, input(t, tt.t, tt.mod, tt.vals[rng.IntN(len(tt.vals))]))
				}
			}
			vals = append(vals, c)
		}
		l := NewLayout(cols)
		var rows [][]byte
		for r := range 5 {
			in := make([]types.Datum, n)
			for c := range n {
				in[c] = vals[c][r]
			}
			b, err := l.Encode(nil, uint64(r)+1000, in, nil)
			if err != nil || !l.Check(b) || Stamp(b) != uint64(r)+1000 || Columns(b) != n {
				t.Fatalf("encode: %v, %x", err, b)
			}
			rows = append(rows, b)
			for c := range n {
				same(t, l, b, c, in[c], io)
			}
			updateOne(t, l, b, in, rng.IntN(n), io)
		}
		var v vec.Vector
		for c := range n {
			for _, sel := range [][]uint16{nil, {0, 2, 4}} {
				if err := l.DecodeVector(rows, sel, c, &v, nil); err != nil {
					t.Fatal(err)
				}
				for r := range rows {
					if sel != nil && r%2 == 1 {
						continue
					}
					if got := v.Datum(r); got.Null != vals[c][r].Null || !got.Null && !bytes.Equal(types.EncodeValue(nil, cols[c].Type, got), types.EncodeValue(nil, cols[c].Type, vals[c][r])) {
						t.Errorf("column %d type %d row %d: %v, want %v", c, cols[c].Type, r, got, vals[c][r])
					}
				}
			}
		}
	}
}

func same(t *testing.T, l *Layout, b []byte, col int, want types.Datum, io *types.IOContext) {
	t.Helper()
	got, err := l.Decode(b, col, nil)
	if err != nil || got.Null != want.Null || got.I != want.I || !bytes.Equal(got.B, want.B) {
		t.Fatalf("column %d type %d: %v %v, want %v", col, l.Type(col), got, err, want)
	}
	text, err := l.AppendText(nil, b, col, io, nil)
	if err != nil || !bytes.Equal(text, FieldText(nil, io, l.Type(col), want)) {
		t.Fatalf("column %d type %d: text %q %v", col, l.Type(col), text, err)
	}
	bin, err := l.AppendBinary(nil, b, col, io, nil)
	if err != nil || !bytes.Equal(bin, FieldBinary(nil, io, l.Type(col), want)) {
		t.Fatalf("column %d type %d: binary %x %v, want %x", col, l.Type(col), bin, err, FieldBinary(nil, io, l.Type(col), want))
	}
}

// updateOne sets one column of a row to NULL and demands what a full encoding gives.
func updateOne(t *testing.T, l *Layout, old []byte, in []types.Datum, col int, io *types.IOContext) {
	t.Helper()
	set := make([]bool, len(in))
	set[col] = true
	vals := append([]types.Datum(nil), in...)
	vals[col] = types.NullDatum
	got, err := l.Update(nil, 7, old, set, vals, nil)
	want, _ := l.Encode(nil, 7, vals, nil)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("update: %v\n got %x\nwant %x", err, got, want)
	}
}

func TestMissingAndDropped(t *testing.T) {
	io := types.NewIOContext()
	five, txt := types.Int(5), types.Text("new")
	old := NewLayout([]Column{{Type: types.Int4OID}, {Type: types.TextOID}})
	l := NewLayout([]Column{{Type: types.Int4OID}, {Type: types.TextOID, Dropped: true}, {Type: types.Int8OID, Missing: &five},
		{Type: types.TextOID, Missing: &txt}, {Type: types.BoolOID}})
	b, err := old.Encode(nil, 1, []types.Datum{types.Int(1), types.Text("a")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for col, want := range []types.Datum{types.Int(1), types.Text("a"), five, txt, types.NullDatum} {
		if col != 1 {
			same(t, l, b, col, want, io)
		}
	}
	// An update writes the missing values out.
	u, err := l.Update(nil, 2, b, []bool{true, false, false, false, false}, []types.Datum{types.Int(9), {}, {}, {}, {}}, nil)
	if err != nil || Columns(u) != 5 {
		t.Fatal(err)
	}
	for col, want := range []types.Datum{types.Int(9), types.NullDatum, five, txt, types.NullDatum} {
		same(t, l, u, col, want, io)
	}
	var v vec.Vector
	if err := l.DecodeVector([][]byte{b, u}, nil, 3, &v, nil); err != nil || string(v.Bytes(0)) != "new" || string(v.Bytes(1)) != "new" {
		t.Errorf("vector of a missing value: %v, %q %q", err, v.Bytes(0), v.Bytes(1))
	}
}

// largeStore keeps values out of line in a map.
type largeStore map[uint64][]byte

func (s largeStore) WriteLarge(val []byte) (uint64, error) {
	id := uint64(len(s) + 1)
	s[id] = append([]byte(nil), val...)
	return id, nil
}

func (s largeStore) ReadLarge(id, size uint64) ([]byte, error) {
	if uint64(len(s[id])) != size {
		return nil, fmt.Errorf("value %d has %d bytes, want %d", id, len(s[id]), size)
	}
	return s[id], nil
}

// A row of values that each fit and together do not, or that fit but for the row's own bytes, has its longest values out of line.
func TestRowsOverMax(t *testing.T) {
	l := NewLayout([]Column{{Type: types.TextOID}, {Type: types.Int4OID}, {Type: types.TextOID}, {Type: types.TextOID}})
	text := func(n int) types.Datum { return types.Bytes(bytes.Repeat([]byte{byte('a' + n%26)}, n)) }
	whole := func(what string, b []byte, store largeStore, want []types.Datum, large int) {
		t.Helper()
		if len(b) > MaxRow || !l.Check(b) || len(store) != large {
			t.Fatalf("%s: %d bytes, well formed %v, %d values out of line, want %d", what, len(b), l.Check(b), len(store), large)
		}
		for col := range want {
			d, err := l.Decode(b, col, store)
			if err != nil || d.Null != want[col].Null || d.I != want[col].I || !bytes.Equal(d.B, want[col].B) {
				t.Errorf("%s: column %d: %d bytes, %v", what, col, len(d.B), err)
			}
		}
	}
	for _, c := range []struct {
		sizes [3]int
		large int
	}{
		{[3]int{200_000, 30_000, 0}, 0}, {[3]int{200_000, 150_000, 10}, 1}, {[3]int{90_000, 90_000, 90_000}, 1},
		{[3]int{LargeMin, 0, 0}, 1}, {[3]int{LargeMin - 40, 1, 1}, 0}, {[3]int{LargeMin - 20, 1, 1}, 1}, {[3]int{LargeMin, LargeMin, LargeMin}, 3},
		{[3]int{LargeMin + 1, 200_000, 100_000}, 2},
	} {
		store := largeStore{}
		vals := []types.Datum{text(c.sizes[0]), types.Int(7), text(c.sizes[1]), text(c.sizes[2])}
		b, err := l.Encode(nil, 1, vals, store)
		if err != nil {
			t.Fatal(err)
		}
		whole(fmt.Sprint(c.sizes), b, store, vals, c.large)
	}
	// A value that stays goes out of line when another one grows.
	store := largeStore{}
	vals := []types.Datum{text(150_000), types.Int(7), text(10), types.NullDatum}
	b, err := l.Encode(nil, 1, vals, store)
	if err != nil {
		t.Fatal(err)
	}
	vals[2] = text(140_000)
	if b, err = l.Update(nil, 2, b, []bool{false, false, true, false}, vals, store); err != nil {
		t.Fatal(err)
	}
	whole("update", b, store, vals, 1)
}

func TestLargeValues(t *testing.T) {
	store := largeStore{}
	l := NewLayout([]Column{{Type: types.TextOID}, {Type: types.Int4OID}, {Type: types.TextOID}})
	big := bytes.Repeat([]byte("x"), LargeMin+1)
	mid := bytes.Repeat([]byte("y"), 70000)
	b, err := l.Encode(nil, 1, []types.Datum{types.Bytes(big), types.Int(1), types.Bytes(mid)}, store)
	if err != nil || len(b) > 100000 || !l.Check(b) {
		t.Fatal(err, len(b))
	}
	if ref, ok := l.Large(b, 0); !ok || ref.Size != uint64(len(big)) {
		t.Error("no reference in column 0")
	}
	if _, ok := l.Large(b, 2); ok {
		t.Error("a reference in column 2")
	}
	u, err := l.Update(nil, 2, b, []bool{false, true, false}, []types.Datum{{}, types.Int(2), {}}, store)
	if err != nil || len(store) != 1 {
		t.Fatal("an update of another column wrote the large value again", err)
	}
	for col, want := range [][]byte{big, nil, mid} {
		if want == nil {
			continue
		}
		if d, err := l.Decode(u, col, store); err != nil || !bytes.Equal(d.B, want) {
			t.Errorf("column %d: %v", col, err)
		}
	}
	var v vec.Vector
	if err := l.DecodeVector([][]byte{u}, nil, 0, &v, store); err != nil || !bytes.Equal(v.Bytes(0), big) {
		t.Error("vector of a large value", err)
	}
	if _, err := l.Encode(nil, 1, []types.Datum{types.Bytes(big), types.Int(1), types.NullDatum}, nil); err == nil {
		t.Error("no error without a writer")
	}
}

func TestAllocs(t *testing.T) {
	io := types.NewIOContext()
	l := NewLayout([]Column{{Type: types.Int8OID}, {Type: types.TextOID}, {Type: types.NumericOID, Typmod: types.NumericTypmod(12, 2)}, {Type: types.TimestampOID}, {Type: types.Float8OID}})
	vals := []types.Datum{types.Int(42), types.Text("some text"), input(t, types.NumericOID, -1, "12.50"), types.Int(123456789), types.Float(1.25)}
	b, err := l.Encode(nil, 1, vals, nil)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { l.Encode(buf, 1, vals, nil) }); n != 0 {
		t.Errorf("Encode: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		dst := buf
		for c := range 5 {
			dst, _ = l.AppendText(dst, b, c, io, nil)
		}
	}); n != 0 {
		t.Errorf("AppendText: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		dst := buf
		for _, c := range []int{0, 1, 3, 4} {
			dst, _ = l.AppendBinary(dst, b, c, io, nil)
		}
	}); n != 0 {
		t.Errorf("AppendBinary: %v allocations", n)
	}
	rows := make([][]byte, 1024)
	for i := range rows {
		rows[i] = b
	}
	var vs [5]vec.Vector
	decode := func() {
		for c := range vs {
			if err := l.DecodeVector(rows, nil, c, &vs[c], nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	decode()
	if n := testing.AllocsPerRun(20, decode); n != 0 {
		t.Errorf("DecodeVector: %v allocations", n)
	}
}

func TestDamagedRows(t *testing.T) {
	l := NewLayout([]Column{{Type: types.Int4OID}, {Type: types.TextOID}})
	b, _ := l.Encode(nil, 1, []types.Datum{types.Int(1), types.Text("abc")}, nil)
	for i := range b {
		if l.Check(b[:i]) {
			t.Errorf("a row cut to %d bytes passes", i)
		}
	}
	binary.LittleEndian.PutUint16(b[1:], 9)
	if l.Check(b) {
		t.Error("a row with too many columns passes")
	}
}

func BenchmarkDecodeVector(b *testing.B) {
	l := NewLayout([]Column{{Type: types.Int8OID}, {Type: types.TextOID}, {Type: types.NumericOID, Typmod: types.NumericTypmod(12, 2)}})
	num, _ := types.Input(types.NewIOContext(), types.NumericOID, -1, []byte("12.50"))
	r, _ := l.Encode(nil, 1, []types.Datum{types.Int(42), types.Text("some text"), num}, nil)
	rows := make([][]byte, 1024)
	for i := range rows {
		rows[i] = append([]byte(nil), r...)
	}
	for c, name := range []string{"int8", "text", "numeric"} {
		b.Run(name, func(b *testing.B) {
			var v vec.Vector
			for range b.N {
				l.DecodeVector(rows, nil, c, &v, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
		})
	}
}
