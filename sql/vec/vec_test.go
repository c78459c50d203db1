package vec

import (
	"testing"

	"herd/sql/types"
	"herd/sql/types/numeric"
)

func TestVarValues(t *testing.T) {
	v := New(types.KindBytes, 4)
	v.SetVar(0, []byte("abc"))
	b := v.Start()
	v.Finish(1, append(b, "appended"...))
	v.SetNull(2)
	v.Ref(3, []byte("foreign"))
	for i, want := range []string{"abc", "appended", "", "foreign"} {
		if got := string(v.Bytes(i)); got != want || v.IsNull(i) != (i == 2) {
			t.Errorf("row %d: %q NULL %v, want %q", i, got, v.IsNull(i), want)
		}
	}
	// After foreign buffers the arena still grows.
	v.SetVar(0, []byte("again"))
	if string(v.Bytes(0)) != "again" || string(v.Bytes(1)) != "appended" {
		t.Error("arena lost after a foreign buffer")
	}
	v.Reset(types.KindBytes, 2)
	if v.IsNull(2) || len(v.Bytes(0)) != 0 {
		t.Error("Reset kept values")
	}
}

func TestSharedBuffersAreNotWritten(t *testing.T) {
	rows := make([][]byte, 1, 8) // room that an append would use
	rows[0] = []byte("hello")
	v := New(types.KindBytes, 2)
	v.SetBufs(rows)
	v.SetView(0, 0, 1, 3)
	v.SetVar(1, []byte("own"))
	if string(v.Bytes(0)) != "ell" || string(v.Bytes(1)) != "own" {
		t.Errorf("got %q %q", v.Bytes(0), v.Bytes(1))
	}
	if full := rows[:2]; full[1] != nil {
		t.Error("the caller's slice was appended to")
	}
}

func TestCopyGatherShare(t *testing.T) {
	for _, kind := range []types.Kind{types.KindInt, types.KindFloat, types.KindBool, types.KindBytes} {
		src := New(kind, 100)
		for i := range 100 {
			switch kind {
			case types.KindInt:
				src.Int[i] = int64(i)
			case types.KindFloat:
				src.Float[i] = float64(i)
			case types.KindBool:
				src.Bool[i] = i%2 == 0
			default:
				src.SetVar(i, []byte{byte(i), 1, 2, 3, 4})
			}
			if i%7 == 0 {
				src.SetNull(i)
			}
		}
		same := func(a, b types.Datum) bool { return a.Null == b.Null && a.I == b.I && string(a.B) == string(b.B) }
		sel := []uint16{1, 7, 50, 99}
		g := New(kind, 0)
		g.Gather(src, 100, sel)
		c := New(kind, 100)
		c.CopyFrom(src, 100, nil)
		var sh Vector
		sh.Share(src)
		e := New(kind, 0)
		for i := range 100 {
			e.Append(src, i)
		}
		for k, i := range sel {
			if !same(g.Datum(k), src.Datum(int(i))) {
				t.Errorf("kind %d: gathered row %d differs", kind, i)
			}
		}
		for i := range 100 {
			if !same(c.Datum(i), src.Datum(i)) || !same(sh.Datum(i), src.Datum(i)) || !same(e.Datum(i), src.Datum(i)) {
				t.Errorf("kind %d: row %d differs", kind, i)
			}
		}
		sh.Reset(kind, 3)
		if !same(src.Datum(1), c.Datum(1)) {
			t.Error("Reset of a sharing vector changed its source")
		}
		Put(&sh)
	}
}

func TestConst(t *testing.T) {
	v := NewConst(types.TextOID, types.Text("x"))
	if string(v.Bytes(500)) != "x" || v.IsNull(500) {
		t.Error("constant vector")
	}
	n := NewConst(types.Int4OID, types.NullDatum)
	if !n.IsNull(9) || !n.Datum(9).Null {
		t.Error("constant NULL")
	}
}

// Decimals have the bytes of their stored form wherever they go.
func TestDecimal(t *testing.T) {
	src := New(types.KindBytes, 0)
	o := src.ResetDecimal(100, 2)
	for i := range o {
		o[i] = int64(i) - 50
		if i%7 == 0 {
			src.SetNull(i)
		}
	}
	want := func(i int) string { return string(numeric.AppendSmall(nil, int64(i)-50, 2)) }
	var shared Vector
	shared.Share(src)
	sel := []uint16{1, 8, 50, 99}
	gathered, again := New(types.KindBytes, 0), New(types.KindBytes, 0)
	gathered.Gather(src, 100, sel)
	again.GatherShared(gathered, []uint16{0, 1, 2, 3, 3})
	copied := New(types.KindBytes, 100)
	copied.CopyFrom(src, 100, nil)
	if !gathered.Dec || !again.Dec || copied.Dec {
		t.Error("gathering keeps decimals, copying one by one does not")
	}
	for i := range 100 {
		for _, v := range []*Vector{src, &shared, copied} {
			if v.IsNull(i) != (i%7 == 0) || !v.IsNull(i) && string(v.Bytes(i)) != want(i) {
				t.Errorf("row %d: % x", i, v.Bytes(i))
			}
		}
	}
	for k, i := range append(sel, 99) {
		if again.IsNull(k) != (i%7 == 0) || !again.IsNull(k) && string(again.Bytes(k)) != want(int(i)) {
			t.Errorf("gathered row %d: % x", i, again.Bytes(k))
		}
	}
	src.Reset(types.KindBytes, 2)
	src.SetVar(0, []byte("plain"))
	if src.Dec || string(src.Bytes(0)) != "plain" || string(shared.Bytes(1)) != want(1) {
		t.Error("after Reset")
	}
	c := NewConst(types.NumericOID, types.Bytes(numeric.AppendSmall(nil, 7, 1)))
	if !c.Dec || c.Scale != 1 || c.Int[0] != 7 || string(c.Bytes(5)) != string(numeric.AppendSmall(nil, 7, 1)) {
		t.Error("constant")
	}
}
