package engine

import (
	"strings"
	"testing"
	"time"

	"herd/internal/mem"
	"herd/internal/vfs"
)

// TestSlowWriterIsCancelled holds a commit back for want of memory that nothing will free, and cancels it.
func TestSlowWriterIsCancelled(t *testing.T) {
	root := mem.NewRoot(0)
	e := openMem(t, vfs.NewMem(), func(o *Options) { o.Memory = root })
	defer e.Close()
	db := e.System()
	s := db.NewSession(SessionOptions{})
	defer s.Close()
	put(t, s, newTree(t, s), "key", strings.Repeat("x", 1000))
	limit := 4 * db.store.Dirty()
	other := root.Child("a statement")
	other.Force(2 * limit)
	defer other.Close()
	root.SetLimit(limit)
	e.keeper.budget.Store(limit)
	began, done := time.Now(), make(chan time.Duration)
	go func() {
		db.slowWriter(s)
		done <- time.Since(began)
	}()
	time.Sleep(50 * time.Millisecond)
	s.Interrupt().Cancel()
	if d := <-done; d < 40*time.Millisecond || d > 5*time.Second {
		t.Errorf("the commit was held back for %v, cancelled after 50 ms", d)
	}
}

// TestIdleHeap asks for a collection once after a load, not during it, and not for little.
func TestIdleHeap(t *testing.T) {
	const mib = 1 << 20
	var i idleHeap
	now := time.Unix(1000, 0)
	h := heapFigures{live: 1000 * mib}
	asked := 0
	second := func(alloc, used, free uint64) {
		now = now.Add(time.Second)
		h.allocs += alloc
		h.used, h.free = used, free
		if i.due(now, h) {
			asked++
		}
	}
	for range 60 {
		second(200*mib, 1200*mib, 10*mib)
	}
	if asked != 0 {
		t.Errorf("%d collections during a load", asked)
	}
	for range idleSeconds {
		second(mib, 1200*mib, 10*mib)
	}
	if asked != 1 {
		t.Errorf("%d collections after a load", asked)
	}
	for range 120 {
		second(mib, 1020*mib, 10*mib)
	}
	if asked != 1 {
		t.Errorf("%d collections although there is little to gain", asked)
	}
	for range 120 {
		second(mib, 1100*mib, 0)
	}
	if asked < 2 || asked > 5 {
		t.Errorf("%d collections in two minutes", asked)
	}
}

// TestCrowdedLimit gives a heap of which much is alive some room, and not without bound.
func TestCrowdedLimit(t *testing.T) {
	for _, c := range []struct{ limit, live, want int64 }{{100, 0, 100}, {100, 75, 100}, {100, 84, 112}, {100, 90, 120}, {100, 300, 120}} {
		if got := crowdedLimit(c.limit, c.live); got != c.want {
			t.Errorf("limit %d, %d alive: %d, want %d", c.limit, c.live, got, c.want)
		}
	}
}
