package storage

import (
	"bytes"
	"testing"

	"herd/internal/mem"
)

// TestAllocs holds the hot paths to no allocation at all.
func TestAllocs(t *testing.T) {
	st, s, slot := loaded(t, 5000, 100, true)
	defer st.Close()
	key := benchKey(nil, 1234)
	zero := func(name string, f func()) {
		t.Helper()
		if n := testing.AllocsPerRun(200, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	v := View{Snap: s}
	zero("Get", func() {
		if _, ok, _ := v.Get(benchTree, key); !ok {
			t.Fatal("missing")
		}
	})
	zero("Pin", func() { slot.Pin(s); slot.Unpin(); slot.Pin(s) })
	var c Cursor
	vals := make([][]byte, 64)
	lo, hi := benchKey(nil, 100), benchKey(nil, 900)
	zero("Cursor", func() {
		n := 0
		for _, reverse := range []bool{false, true} {
			c.Init(v, benchTree, lo, hi, reverse)
			for c.Next() {
				n += len(c.Key()) / 8
			}
			c.Init(v, benchTree, lo, hi, reverse)
			for {
				m := c.NextRows(vals, nil)
				if n += m; m == 0 {
					break
				}
			}
		}
		if n != 4*800 {
			t.Fatal(n)
		}
	})
	o := NewOverlay(mem.NewRoot(0))
	val := bytes.Repeat([]byte("v"), 100)
	zero("Overlay", func() {
		o.Reset()
		for i := range uint64(8) {
			if err := o.Put(benchTree, benchKey(key, i), val, 1); err != nil {
				t.Fatal(err)
			}
		}
		r := o.Root()
		if _, _, found, _ := (View{s, r}).GetOwn(benchTree, key); !found {
			t.Fatal("missing")
		}
		if len(o.Changes()) != 8 {
			t.Fatal("changes")
		}
	})
}
