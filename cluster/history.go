package cluster

import (
	"sort"
	"time"

	"herd/txlog"
)

// history remembers when a state came to contain which entry, by this node's clock: how long ago it had what a replica has
// not is that replica's lag. It is kept by the group's mutex.
type history struct{ list []moment }

// moment is a stretch of time: it began at from, and at its end the state contained seq.
type moment struct {
	from time.Time
	seq  txlog.Seq
}

const (
	historyStep = 20 * time.Millisecond
	historyMax  = 2048
)

func (h *history) add(now time.Time, seq txlog.Seq) {
	n := len(h.list)
	if n > 0 {
		last := &h.list[n-1]
		if seq <= last.seq {
			return
		}
		if now.Sub(last.from) < historyStep {
			last.seq = seq
			return
		}
	}
	if n == historyMax { // the older half becomes half as fine
		half := h.list[:0]
		for i := range n {
			switch {
			case i < n/2 && i%2 == 1:
				half[len(half)-1].seq = h.list[i].seq
			default:
				half = append(half, h.list[i])
			}
		}
		h.list = half
	}
	h.list = append(h.list, moment{now, seq})
}

// lag returns for how long somebody who has only seq lacks something.
func (h *history) lag(now time.Time, seq txlog.Seq) time.Duration {
	i := sort.Search(len(h.list), func(i int) bool { return h.list[i].seq > seq })
	if i == len(h.list) {
		return 0
	}
	return now.Sub(h.list[i].from)
}

// reset forgets everything: the state is another one.
func (h *history) reset() { h.list = h.list[:0] }
