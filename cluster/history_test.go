package cluster

import (
	"testing"
	"time"

	"herd/txlog"
)

// A replica's lag is the age of the first entry that it does not have; thinning makes it longer, never shorter.
func TestHistory(t *testing.T) {
	var h history
	began := time.Now()
	if got := h.lag(began, 0); got != 0 {
		t.Errorf("lag without entries: %v", got)
	}
	const n = 10000
	at := func(i int) time.Time { return began.Add(time.Duration(i) * 10 * time.Millisecond) }
	for i := 1; i <= n; i++ {
		h.add(at(i), txlog.Seq(i))
	}
	if len(h.list) > historyMax {
		t.Fatalf("%d moments are kept", len(h.list))
	}
	now := at(n)
	for seq := range n + 1 {
		exact := time.Duration(0)
		if seq < n {
			exact = now.Sub(at(seq + 1))
		}
		got := h.lag(now, txlog.Seq(seq))
		if got < exact || got > exact+exact/2+2*historyStep {
			t.Fatalf("entry %d of %d: lag %v, exact %v", seq, n, got, exact)
		}
	}
}
