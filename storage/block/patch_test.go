package block

import (
	"fmt"
	"math/rand"
	"testing"
)

// TestPatch sets values one by one and compares with a leaf whose values were replaced.
func TestPatch(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 50 {
		var rows []Row
		for i := range 1 + r.Intn(30) {
			rows = append(rows, Row{Suf: fmt.Appendf(nil, "key%03d", i), Val: make([]byte, r.Intn(20)), Kid: -1})
		}
		base := BuildLeaf(rows)
		want, p := base, Patch(nil)
		for range 40 {
			i := r.Intn(len(rows))
			v := make([]byte, len(rows[i].Val))
			r.Read(v)
			old := string(p)
			size := p.Size(len(v))
			if _, has := p.Value(i); has {
				size = len(p)
			}
			next := p.With(i, v)
			if string(p) != old {
				t.Fatal("With changed the patch")
			}
			if len(next) != size {
				t.Fatalf("With makes %d bytes, Size said %d", len(next), size)
			}
			p, want = next, want.ReplaceValue(i, v, MaxLeaf)
			if !CheckPatch(base, p) {
				t.Fatal("CheckPatch refuses the patch")
			}
			if string(base.Patched(p)) != string(want) {
				t.Fatal("Patched differs from replaced values")
			}
			for j := range rows {
				got, ok := p.Value(j)
				if !ok {
					got, _ = base.Value(j)
				}
				if w, _ := want.Value(j); string(got) != string(w) {
					t.Fatalf("row %d is %x, want %x", j, got, w)
				}
			}
		}
		at := r.Intn(len(rows) + 1)
		key := []byte("key")
		if at > 0 {
			key = fmt.Appendf(nil, "key%03da", at-1)
		}
		got, exp := base.Insert(at, key, []byte("new"), MaxLeaf), want.Insert(at, key, []byte("new"), MaxLeaf)
		if got == nil {
			continue // the key is shorter than the prefix
		}
		got.Fill(p, at, 1)
		if string(got) != string(exp) {
			t.Fatal("Fill after Insert differs")
		}
		i := r.Intn(len(rows))
		long := make([]byte, 33)
		got, exp = base.ReplaceValue(i, long, MaxLeaf), want.ReplaceValue(i, long, MaxLeaf)
		got.Fill(p, i, 0)
		if string(got) != string(exp) {
			t.Fatal("Fill after ReplaceValue differs")
		}
	}
	if CheckPatch(BuildLeaf([]Row{{Suf: []byte("k"), Val: []byte("vv"), Kid: -1}}), Patch(nil).With(0, []byte("v"))) {
		t.Fatal("CheckPatch accepts a value of another length")
	}
}
