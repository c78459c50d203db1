package storage

import (
	"math/rand"
	"testing"

	"herd/storage/btree"
)

// TestQueue compares with a slice.
func TestQueue(t *testing.T) {
	for seed := range int64(20) {
		r := rand.New(rand.NewSource(seed))
		var q queue
		var want []*btree.Handle
		base := 0
		fresh := func() []*btree.Handle {
			hs := make([]*btree.Handle, r.Intn(3000))
			for i := range hs {
				hs[i] = new(btree.Handle)
			}
			return hs
		}
		for range 200 {
			switch r.Intn(5) {
			case 0, 1:
				hs := fresh()
				q.add(hs...)
				want = append(want, hs...)
			case 2:
				var other queue
				hs := fresh()
				for i := 0; i < len(hs); i += 100 {
					other.add(hs[i:min(i+100, len(hs))]...)
				}
				q.take(&other)
				want = append(want, hs...)
				if other.len() != 0 {
					t.Fatal("what was taken over is still there")
				}
			case 3:
				n := r.Intn(len(want) + 1)
				q.drop(n)
				want, base = want[n:], base+n
			case 4:
				n := r.Intn(len(want)/4 + 1)
				q.cut(base + len(want) - n)
				want = want[:len(want)-n]
			}
			if q.len() != len(want) || q.base != base || q.end != base+len(want) {
				t.Fatalf("seed %d: places %d to %d, want %d to %d", seed, q.base, q.end, base, base+len(want))
			}
			from, to := base+r.Intn(len(want)+1), base+r.Intn(len(want)+1)
			next := from
			for at, hs := range q.pieces(from, to) {
				if at != next || len(hs) == 0 {
					t.Fatalf("seed %d: a piece of %d at %d, want one at %d", seed, len(hs), at, next)
				}
				for i, h := range hs {
					if h != want[at+i-base] || q.get(at+i) != h {
						t.Fatalf("seed %d: another handle at %d", seed, at+i)
					}
				}
				next += len(hs)
			}
			if next != max(from, to) && next != from || to > from && next != to {
				t.Fatalf("seed %d: pieces from %d to %d end at %d", seed, from, to, next)
			}
		}
		if q.get(base-1) != nil || q.get(q.end) != nil {
			t.Fatal("there is something outside")
		}
	}
}
