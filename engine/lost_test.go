package engine

import (
	"errors"
	"testing"

	"herd/sql/sqlerr"
)

// A node loses the leadership with entries that nobody agrees on, and leads again: a session from before orders nothing any more, whatever it
// has begun, and sequences go on where the others are.
func TestLeadsAgain(t *testing.T) {
	g := &group{}
	a, b := g.join(t), g.join(t)
	a.lead(t, 1)
	db := a.e.System()
	spec := SequenceSpec{Name: "q", Increment: 1, Min: 1, Max: 1000, Start: 1}
	s := db.NewSession(SessionOptions{PID: 1})
	tree := newTree(t, s)
	put(t, s, tree, "k", "1")
	_, err := s.NextValue(8, spec)
	must(t, err)
	must(t, s.WaitDurable())

	a.hold = true
	tx := s.Begin(TxOptions{})
	must(t, tx.Put(tree, []byte("k"), []byte("lost")))
	must(t, tx.Commit())
	_, err = s.NextValue(7, spec) // a reservation that is lost
	must(t, err)
	must(t, s.DropSequence(8)) // lost as well
	tx = s.Begin(TxOptions{})
	v, _, err := tx.NewestGet(tree, []byte("k"))
	must(t, err)
	must(t, tx.Put(tree, []byte("copy"), v))
	a.lose(t)
	a.mu.Lock()
	a.pending, a.hold, a.last = nil, false, a.replica.Applied()
	a.mu.Unlock()
	a.lead(t, 2)
	var e *sqlerr.Error
	if err := tx.Commit(); !errors.As(err, &e) || e.Code != sqlerr.AdminShutdown {
		t.Errorf("a commit of what was read before: %v", err)
	}
	for _, oid := range []uint32{7, 9} {
		if _, err := s.NextValue(oid, spec); !errors.As(err, &e) || e.Code != sqlerr.AdminShutdown {
			t.Errorf("a value of sequence %d: %v", oid, err)
		}
	}
	s.Close()

	s = db.NewSession(SessionOptions{PID: 2})
	defer s.Close()
	told := map[uint32]int64{}
	for _, oid := range []uint32{7, 8} {
		told[oid], err = s.NextValue(oid, spec)
		must(t, err)
	}
	must(t, s.WaitDurable())
	if got := get(t, s, tree, "k"); got != "1" {
		t.Errorf("k is %q", got)
	}
	a.lose(t)
	b.lead(t, 3)
	other := b.e.System().NewSession(SessionOptions{PID: 3})
	defer other.Close()
	for oid, v := range told {
		w, err := other.NextValue(oid, spec)
		must(t, err)
		if w <= v {
			t.Errorf("sequence %d gives %d after %d", oid, w, v)
		}
	}
	g.same(t)
}
