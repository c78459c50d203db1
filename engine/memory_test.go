package engine

import (
	"testing"
	"time"
)

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
