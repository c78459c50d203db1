package engine

import (
	"testing"

	"herd/storage"
)

// Moves of big commits lie beside those of small ones: the newest counts, and both are forgotten by entry.
func TestMovesOfBigCommits(t *testing.T) {
	var m moves
	list := func(old, now string) []move { return []move{{tree1, []byte(old), []byte(now)}} }
	want := func(key, now string) {
		t.Helper()
		v, ok := m.find(moveKey(tree1, []byte(key)))
		if ok != (now != "") || string(v.now) != now {
			t.Errorf("%s moved to %q, %v, not %q", key, v.now, ok, now)
		}
	}
	m.add(list("a", "b"), 1)
	m.addBig(gatherMoves(append(list("a", "c"), list("x", "y")...)), 2)
	want("a", "c")
	m.add(list("a", "d"), 3)
	want("a", "d")
	want("x", "y")
	if n := m.count.Load(); n != 3 {
		t.Errorf("%d moves", n)
	}
	m.prune(2)
	want("x", "")
	want("a", "d")
	m.addBig(gatherMoves(list("a", "e")), 4)
	m.drop(storage.Seq(3))
	want("a", "d")
	m.drop(2)
	want("a", "")
	if n := m.count.Load(); n != 0 || len(m.big) != 0 {
		t.Errorf("%d moves are left", n)
	}
}
