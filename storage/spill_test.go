package storage

import "testing"

// TestSpill keeps old versions pinned while rows are replaced: their blocks move to the scratch segment, can be read
// there, and the files go with the pins.
func TestSpill(t *testing.T) {
	for seed := range int64(4) {
		f := newFixture(t, seed, 512)
		for range 10 {
			f.apply(f.changes(f.model, 200))
		}
		type old struct {
			s    *Snapshot
			m    dbModel
			slot *ReaderSlot
		}
		var olds []old
		spilled := int64(0)
		for round := range 30 {
			slot := f.st.NewSlot()
			slot.Pin(f.tip)
			olds = append(olds, old{f.tip, f.model.clone(), slot})
			for range 3 {
				f.apply(f.changes(f.model, 60))
			}
			n, err := f.st.Spill(f.tip, 1<<20)
			must(t, err)
			spilled += n
			if round%3 == 0 {
				f.checkpoint()
			}
			f.st.Evict(1 << 30)
			if len(olds) > 6 {
				o := olds[f.r.Intn(len(olds))]
				f.compare(View{Snap: o.s}, o.m)
				olds[0].slot.Close()
				olds = olds[1:]
			}
			must(t, f.st.Maintain())
		}
		if spilled == 0 {
			t.Fatal("nothing was spilled")
		}
		for _, o := range olds {
			f.compare(View{Snap: o.s}, o.m)
			o.slot.Close()
		}
		f.compare(View{Snap: f.tip}, f.model)
		f.apply(f.changes(f.model, 10))
		must(t, f.st.Maintain())
		if n := f.st.Stats().Spilled; n != 0 {
			t.Fatalf("%d bytes of scratch files outlive the pins", n)
		}
		f.checkpoint()
		f.reopen()
	}
}
