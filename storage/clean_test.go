package storage

import "testing"

// clean moves the live blocks of mostly dead segments and reports whether there was one.
func (f *fixture) clean() bool {
	f.t.Helper()
	c, err := f.st.PlanCleaning(func() *Snapshot { return f.tip }, func() bool { return false })
	must(f.t, err)
	if c == nil {
		return false
	}
	for c.Left() > 0 {
		pin, err := f.st.PrepareRewrite(f.tip, c, 1+f.r.Intn(20), int64(f.r.Intn(64<<10)))
		must(f.t, err)
		if f.r.Intn(3) == 0 {
			f.apply(f.changes(f.model, 10))
		}
		s, err := f.st.Rewrite(f.tip, c)
		must(f.t, err)
		if s.Seq() != f.seq {
			f.t.Fatal("a rewrite changed the sequence number")
		}
		f.tip = s
		pin.Release()
		f.pin()
		if f.r.Intn(4) == 0 {
			f.st.Evict(1 << 18)
		}
	}
	return true
}

// TestClean updates the same rows over and over: without the cleaner every segment would keep a few live blocks.
func TestClean(t *testing.T) {
	for seed := range int64(2) {
		f := newFixture(t, seed, 512)
		for range 40 {
			f.apply(f.changes(f.model, 200))
		}
		f.checkpoint()
		cleaned := 0
		for round := range 60 {
			for range 4 {
				f.apply(f.changes(f.model, 30))
			}
			if f.clean() {
				cleaned++
			}
			f.checkpoint()
			must(t, f.st.Maintain())
			if round%10 == 0 {
				f.compare(View{Snap: f.tip}, f.model)
				f.check()
				f.st.Evict(1 << 30)
			}
		}
		for f.clean() {
			f.checkpoint()
		}
		f.compare(View{Snap: f.tip}, f.model)
		s := f.st.Stats()
		if cleaned == 0 || s.DiskBytes > 4*s.LiveBytes+4*64<<10 {
			t.Fatalf("%d segments cleaned; %d bytes on disk for %d live", cleaned, s.DiskBytes, s.LiveBytes)
		}
		f.reopen()
	}
}

// TestCleanCorrects sees the cleaner take leaked bytes off the books, so that the segment can go.
func TestCleanCorrects(t *testing.T) {
	f := newFixture(t, 7, 512)
	for range 20 {
		f.apply(f.changes(f.model, 100))
	}
	f.checkpoint()
	for range 40 {
		f.apply(f.changes(f.model, 100))
		f.checkpoint()
	}
	must(t, f.st.Maintain())
	list, _ := f.st.segments.entries(nil)
	var worst SegmentEntry
	for _, s := range list {
		if s.Live < s.Size/5 && (worst.No == 0 || s.Live < worst.Live) {
			worst = s
		}
	}
	if worst.No == 0 {
		t.Fatal("no segment is mostly dead")
	}
	f.st.segments.addLive(worst.No, worst.Size/5-worst.Live) // as if frames had leaked
	before := worst.Live
	for range 30 {
		if !f.clean() {
			break
		}
		f.checkpoint()
	}
	must(t, f.st.Maintain())
	list, _ = f.st.segments.entries(nil)
	for _, s := range list {
		if s.No == worst.No {
			t.Fatalf("segment %d with %d live bytes is still there: %+v", worst.No, before, s)
		}
	}
	f.reopen()
}
