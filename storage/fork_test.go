package storage

import (
	"slices"
	"testing"
)

// merged returns the changes of several overlays' sets that touch only trees of m.
func (f *fixture) bulk(n int, prefix string) ChangeSet {
	t := f.trees()[0]
	var cs ChangeSet
	keys := map[string]string{}
	for range n {
		keys[prefix+string(f.key())] = string(f.val())
	}
	for _, k := range rowsModel(keys).sorted() {
		cs = append(cs, Change{Tree: t, Op: OpPut, Key: []byte(k), Val: []byte(keys[k])})
	}
	return cs
}

func (m dbModel) put(cs ChangeSet) {
	for _, c := range cs {
		m[c.Tree][string(c.Key)] = string(c.Val)
	}
}

// TestFork runs big commits beside small ones, with readers, checkpoints and eviction in between.
func TestFork(t *testing.T) {
	for seed := range int64(3) {
		f := newFixture(t, seed, 512)
		if seed%2 == 0 {
			f.st.forkFlush = 20 << 10
		}
		for range 10 {
			f.apply(f.changes(f.model, 100))
		}
		for round := range 12 {
			big := f.bulk(3000, "big/")
			fork, err := f.st.Fork(f.tip)
			must(t, err)
			if _, err := f.st.Fork(f.tip); err == nil {
				t.Fatal("two forks at once")
			}
			var list []ChangeSet
			for part := range slices.Chunk(big, 700) {
				must(t, fork.Merge(part))
				for range 3 {
					cs := f.changes(f.model, 20)
					f.apply(cs)
					list = append(list, cs)
				}
				switch f.r.Intn(5) {
				case 0:
					f.checkpoint()
					f.notes()
				case 1:
					f.st.Evict(1 << 30)
				case 2:
					must(t, f.st.Maintain())
				}
			}
			if _, there := f.model[big[0].Tree]; !there || round%4 == 3 {
				fork.Abandon()
				fork.Discard()
				f.compare(View{Snap: f.tip}, f.model)
				f.checkpoint()
				f.notes()
				continue
			}
			for len(list) > 3 {
				must(t, fork.CatchUp(list[:3]...))
				list = list[3:]
			}
			must(t, fork.CatchUp(list...))
			old, before := f.tip, f.model.clone()
			slot := f.st.NewSlot()
			slot.Pin(old)
			f.seq++
			f.tip, err = fork.Finish(f.seq, f.tip)
			must(t, err)
			f.pin()
			f.model.put(big)
			f.compare(View{Snap: f.tip}, f.model)
			if round%2 == 0 {
				f.checkpoint()
				f.st.Evict(1 << 30)
			}
			must(t, f.st.Maintain())
			f.compare(View{Snap: old}, before)
			slot.Close()
			f.apply(f.changes(f.model, 50))
		}
		f.checkpoint()
		f.notes()
		f.reopen()
	}
}

// notes runs the check without minding notes: a branch of versions that was left may leave dead bytes booked.
func (f *fixture) notes() {
	f.t.Helper()
	must(f.t, f.st.Check(func(p Problem) {
		if !p.Note {
			f.t.Errorf("check: %s: %s", p.Where, p.What)
		}
	}))
}

// TestRewind drops commits as a leader does that loses its leadership.
func TestRewind(t *testing.T) {
	for seed := range int64(3) {
		f := newFixture(t, seed, 512)
		for range 10 {
			f.apply(f.changes(f.model, 100))
		}
		for range 10 {
			base, seq, m := f.tip, f.seq, f.model.clone()
			keep := f.st.NewSlot()
			keep.Pin(base)
			for range 1 + f.r.Intn(5) {
				f.apply(f.changes(f.model, 40))
			}
			reader := f.st.NewSlot()
			dropped, dm := f.tip, f.model.clone()
			reader.Pin(dropped)
			back, err := f.st.Rewind(base)
			must(t, err)
			f.tip, f.seq, f.model = back, seq, m
			f.pin()
			keep.Close()
			f.compare(View{Snap: dropped}, dm)
			f.apply(f.changes(f.model, 40))
			f.compare(View{Snap: f.tip}, f.model)
			f.compare(View{Snap: dropped}, dm)
			reader.Close()
			if f.r.Intn(2) == 0 {
				f.checkpoint()
				f.st.Evict(1 << 20)
			}
			must(t, f.st.Maintain())
		}
		f.checkpoint()
		f.reopen()
	}
}

// TestApplySorted gives what Apply gives.
func TestApplySorted(t *testing.T) {
	f := newFixture(t, 1, 512)
	for range 30 {
		cs := f.changes(f.model, 300)
		f.seq++
		s, err := f.st.ApplySorted(f.tip, f.seq, cs, 3)
		must(t, err)
		f.tip = s
		f.pin()
		if f.r.Intn(3) == 0 {
			f.checkpoint()
			f.st.Evict(1 << 30)
		}
	}
	f.compare(View{Snap: f.tip}, f.model)
	f.checkpoint()
	f.reopen()
}
