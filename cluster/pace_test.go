package cluster

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	p := pace{rate: 1000}
	now := time.Now()
	for i, x := range []struct {
		after time.Duration
		bytes int
		wait  time.Duration
	}{
		{0, 50, 0},                     // what was not used is made up for
		{0, 100, 0},                    // what goes at once makes the next wait
		{0, 1, 100 * time.Millisecond}, // 100 of 1000 a second
		{40 * time.Millisecond, 0, 61 * time.Millisecond},
		{time.Hour, 10, 0}, // and not for more than paceSlack
		{0, 40, 0},
		{0, 10, 0},
		{0, 0, 10 * time.Millisecond},
	} {
		now = now.Add(x.after)
		if got := p.take(x.bytes, now).Round(time.Millisecond); got != x.wait {
			t.Errorf("step %d: wait %v, expected %v", i, got, x.wait)
		}
	}
	if d := (&pace{}).take(1<<40, now); d != 0 {
		t.Errorf("without a rate: wait %v", d)
	}
}
