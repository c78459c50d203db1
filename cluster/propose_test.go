package cluster

import (
	"testing"

	"herd/txlog"
)

// TestAppendedTogether appends entries at once: they go into one Raft entry, since one snapshot is published for all.
func TestAppendedTogether(t *testing.T) {
	g := &Group{}
	payload := make([]byte, 200<<10)
	seq := txlog.Seq(0)
	for _, n := range []int{1, 2, 1, 4, 5, 1} {
		before := len(g.pending)
		var es []txlog.Entry
		for range n {
			seq++
			es = append(es, txlog.Entry{Epoch: 1, Seq: seq, Prev: seq - 1, Kind: txlog.Commit, Payload: payload})
		}
		g.gather(es)
		got, err := decodeBatch(nil, g.pending[len(g.pending)-1])
		if err != nil {
			t.Fatal(err)
		}
		if len(g.pending) > before+1 || len(got) < n || got[len(got)-n].Seq != es[0].Seq {
			t.Errorf("%d entries appended at once went into several batches", n)
		}
	}
	have := 0
	for _, b := range g.pending {
		have += len(b) - batchHeader
	}
	if have != g.waiting {
		t.Errorf("%d bytes wait, %d are counted", have, g.waiting)
	}
}
