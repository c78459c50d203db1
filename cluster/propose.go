package cluster

import (
	"time"

	"github.com/hashicorp/raft"

	"herd/txlog"
)

// proposal is a batch in Raft's hands.
type proposal struct {
	future raft.ApplyFuture
	epoch  txlog.Epoch
	began  time.Time
}

// gather adds entries to the last batch that waits, or begins one. All go into one: it is applied as a whole or not at all.
// mu is held.
func (g *Group) gather(es []txlog.Entry) {
	n, size := len(g.pending), 0
	for i := range es {
		size += itemHeader + len(es[i].Payload)
	}
	if n == 0 || len(g.pending[n-1])+size > batchBytes {
		g.pending = append(g.pending, make([]byte, 0, max(size+batchHeader, 1<<10)))
		n++
	}
	for i := range es {
		g.pending[n-1] = appendItem(g.pending[n-1], &es[i])
	}
	g.waiting += size
}

// propose is the goroutine that hands batches to Raft: waiting commits share one.
func (g *Group) propose() {
	defer g.done.Done()
	defer close(g.results)
	for {
		g.mu.Lock()
		for !g.closed && (len(g.pending) == 0 || g.inflight >= inflightMax) {
			g.cond.Wait()
		}
		g.mu.Unlock()
		g.proposing.Lock()
		p := g.proposeOne()
		g.proposing.Unlock()
		if p.future == nil {
			g.mu.Lock()
			closed := g.closed
			g.mu.Unlock()
			if closed {
				return
			}
			continue
		}
		g.results <- p
	}
}

// proposeOne takes the first batch, if it is still of this leadership, and hands it to Raft. proposing is held.
func (g *Group) proposeOne() proposal {
	g.mu.Lock()
	if g.closed || len(g.pending) == 0 {
		g.mu.Unlock()
		return proposal{}
	}
	b, epoch := g.pending[0], g.epoch
	g.pending = append(g.pending[:0:0], g.pending[1:]...)
	if g.waiting -= len(b) - batchHeader; g.waiting < pendingMax {
		g.cond.Broadcast()
	}
	g.inflight++
	g.mu.Unlock()
	began := time.Now()
	return proposal{g.raft.Apply(b, raftTimeout), epoch, began}
}

// collect is the goroutine that sees Raft's answers. That an entry is safe is said by the fsm; here only failures count.
func (g *Group) collect() {
	defer g.done.Done()
	for p := range g.results {
		err := p.future.Error()
		took := time.Since(p.began)
		g.mu.Lock()
		g.inflight--
		if err != nil && p.epoch == g.epoch {
			g.loseLocked()
		}
		g.cond.Broadcast()
		g.mu.Unlock()
		if err != nil {
			g.log.Warn("entries were not agreed on", "error", err, "after", took)
			continue
		}
		g.counts.quorum.Observe(took)
	}
}
