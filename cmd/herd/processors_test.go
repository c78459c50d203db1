package main

import (
	"testing"
	"time"
)

func TestProcessorChoice(t *testing.T) {
	p := processorChoice{cores: 4}
	u := diskUse{}
	look := func(want int, what string) {
		t.Helper()
		if got := p.next(u, time.Second); got != want {
			t.Errorf("%s: %d processors, want %d", what, got, want)
		}
	}
	look(4, "at the start")
	u.syncs += 50 * time.Millisecond
	look(4, "a few syncs")
	u.syncs += 300 * time.Millisecond
	look(6, "many syncs")
	for range diskCalmLooks - 1 {
		look(6, "calm for a moment")
	}
	look(4, "calm")
	u.reads += 1000
	look(6, "many reads")
	u.syncs += 300 * time.Millisecond
	look(6, "still busy")
}
