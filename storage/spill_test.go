package storage

import (
	"encoding/binary"
	"testing"

	"herd/internal/mem"
)

// TestSpill keeps old versions pinned while rows are replaced: their blocks move to the scratch segment, can be read
// there, and the files go with the pins.
func TestSpill(t *testing.T) {
	for seed := range int64(2) {
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

// TestLongOverlay writes more than its account allows: the changes move to private blocks, can be read and walked while
// blocks are evicted, and everything is given back.
func TestLongOverlay(t *testing.T) {
	st, s, slot := loaded(t, 1000, 100, false)
	defer st.Close()
	defer slot.Close()
	acct := mem.NewRoot(1 << 20)
	o := NewOverlay(acct)
	o.SpillTo(st)
	const n = 20000
	val := make([]byte, 300)
	for i := range uint64(n) {
		binary.BigEndian.PutUint64(val, i)
		must(t, o.Put(benchTree, benchKey(nil, i*7919%n), val, uint32(i)))
		if i%1000 == 0 {
			st.Evict(1 << 30)
		}
	}
	if acct.Peak() > 1<<20 || o.Bytes() < n*300 {
		t.Errorf("peak %d, bytes %d", acct.Peak(), o.Bytes())
	}
	root := o.Root()
	v := View{Snap: s, Own: root}
	for i := range uint64(n) {
		got, cmd, found, _ := v.GetOwn(benchTree, benchKey(nil, i*7919%n))
		if !found || cmd != uint32(i) || binary.BigEndian.Uint64(got) != i {
			t.Fatal(i, found, cmd)
		}
	}
	for _, reverse := range []bool{false, true} {
		var c Cursor
		c.Init(v, benchTree, nil, nil, reverse)
		rows := 0
		for c.Next() {
			rows++
		}
		must(t, c.Err())
		if rows != n {
			t.Fatalf("%d rows", rows)
		}
	}
	w := o.Walk()
	walked := 0
	for {
		m := len(w.Next(make(ChangeSet, 0, 100), 100))
		if m == 0 {
			break
		}
		walked += m
	}
	must(t, w.Err())
	if walked != n {
		t.Fatalf("walked %d changes", walked)
	}
	o.Reset()
	if acct.Used() != 0 || st.Stats().Spilled != 0 {
		t.Errorf("after Reset: %d bytes booked, %d spilled", acct.Used(), st.Stats().Spilled)
	}
	must(t, o.Put(benchTree, []byte("k"), val, 1))
	if o.Root().Len() != 1 {
		t.Error("an overlay is not empty after Reset")
	}
}
