package storage

import (
	"testing"
)

// TestLongReader holds a version while every row is updated many times: what is kept for it is what it has, however long it
// stays, and it reads that to the end.
func TestLongReader(t *testing.T) {
	const rows = 5000
	st, s, slot := loaded(t, rows, 200, false)
	defer st.Close()
	want := loadAll(t, s)
	whole := st.Stats().Resident
	reader, second := st.NewSlot(), st.NewSlot()
	reader.Pin(s)
	old := s
	val := make([]byte, 200)
	most := int64(0)
	for i := range uint64(20 * rows) {
		s = update(t, st, s, slot, i*7919%rows, val)
		if i%(rows/2) == 0 {
			most = max(most, st.Stats().Retired)
			if !same(loadAll(t, old), want) {
				t.Fatalf("after %d updates the old version has changed", i)
			}
		}
	}
	// The queue is looked through when it has doubled.
	if most > 3*whole {
		t.Errorf("%d bytes are kept for a reader of %d bytes", most, whole)
	}
	st.release()
	if kept := st.Stats().Retired; kept > whole {
		t.Errorf("%d bytes are left for a reader of %d bytes", kept, whole)
	}
	if !second.Pin(old) {
		t.Fatal("a version that another slot holds cannot be pinned")
	}
	reader.Close()
	st.release()
	if !same(loadAll(t, old), want) {
		t.Error("the old version has changed when one of two pins was gone")
	}
	second.Unpin()
	st.release()
	if n := st.retired.q.len(); n != 0 || st.retired.bytes != 0 || st.retired.holes != 0 {
		t.Errorf("%d blocks, %d bytes and %d holes are left", n, st.retired.bytes, st.retired.holes)
	}
	if second.Pin(old) {
		t.Error("a version that was released can be pinned again")
	}
	second.Close()
}

// held is a version that a test keeps, beside its contents.
type heldVersion struct {
	slot *ReaderSlot
	snap *Snapshot
	m    dbModel
}

// TestSieveModel keeps versions while all that changes the store goes on, and compares them with their models.
func TestSieveModel(t *testing.T) {
	for seed := range int64(6) {
		f := newFixture(t, seed, 512)
		f.st.pinLag = uint64(f.r.Intn(4))
		var pins []heldVersion
		for range 150 {
			switch f.r.Intn(8) {
			case 0, 1:
				h := heldVersion{f.st.NewSlot(), f.tip, f.model.clone()}
				if !h.slot.Pin(f.tip) {
					t.Fatal("the newest snapshot cannot be pinned")
				}
				pins = append(pins, h)
			case 2:
				if n := len(pins); n > 0 {
					i := f.r.Intn(n)
					pins[i].slot.Close()
					pins = append(pins[:i], pins[i+1:]...)
				}
			case 3:
				f.checkpoint()
				f.st.Evict(1 << 30)
			case 4:
				must(t, f.st.Maintain())
			case 5:
				if seed%2 == 0 {
					break // own demands that no scratch file is left
				}
				if _, err := f.st.Spill(f.tip, 1<<20); err != nil {
					t.Fatal(err)
				}
				f.st.Evict(1 << 30)
			case 6:
				if len(f.model) > 0 && seed%2 == 0 {
					f.own()
				}
			}
			f.apply(f.changes(f.model, 40))
			f.st.releaseSome(f.r.Intn(200))
			if n := len(pins); n > 0 {
				h := pins[f.r.Intn(n)]
				f.compare(View{Snap: h.snap}, h.m)
			}
		}
		for _, h := range pins {
			f.compare(View{Snap: h.snap}, h.m)
			h.slot.Close()
		}
		f.st.release()
		if n := f.st.retired.q.len(); n != 0 {
			t.Errorf("seed %d: %d replaced blocks are left", seed, n)
		}
		f.checkpoint()
		f.reopen()
	}
}
