package cluster

import (
	"runtime"
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

// gatherFor is how long a small batch waits for more, see isSmall.
const gatherFor = 100 * time.Microsecond

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
	g.queued += len(es)
}

// propose is the goroutine that hands batches to Raft: waiting commits share one.
func (g *Group) propose() {
	defer g.done.Done()
	defer close(g.results)
	for {
		g.mu.Lock()
		for !g.closed && (len(g.pending) == 0 || g.inflight >= inflightMax || g.inflight > 0 && g.isSmall(1)) {
			g.work.Wait()
		}
		gather := g.inflight == 0 && g.isSmall(2)
		g.mu.Unlock()
		if gather {
			time.Sleep(gatherFor)
		}
		letOthersCome(g.gathered)
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

// yieldFor bounds how long letOthersCome waits, yieldBatch is the size of a batch that waits for nobody.
const (
	yieldFor   = 2 * time.Millisecond
	yieldBatch = 64 << 10
)

// letOthersCome lets goroutines run that can, as long as what waits grows: on busy processors more share a batch then, on idle ones nothing is
// waited for. waiting tells how many wait, and whether they are enough.
func letOthersCome(waiting func() (n int, enough bool)) {
	end := time.Now().Add(yieldFor)
	for last := -1; ; {
		n, enough := waiting()
		if n == last || enough || time.Now().After(end) {
			return
		}
		last = n
		runtime.Gosched()
	}
}

// gathered tells how many entries wait to be proposed, and whether they fill a batch.
func (g *Group) gathered() (n int, full bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queued, len(g.pending) != 1 || len(g.pending[0]) > yieldBatch
}

// isSmall tells whether what waits is fewer entries than a share of the last batch. A batch costs a sync and messages on every node whatever
// is in it, so a small one waits while others are on their way, and the first after them for a moment: those whose commits have just been
// answered are about to come again. mu is held.
func (g *Group) isSmall(share int) bool {
	return len(g.pending) == 1 && g.queued*share < g.batched
}

// proposeOne takes the first batch, if it is still of this leadership, and hands it to Raft. proposing is held.
func (g *Group) proposeOne() proposal {
	g.mu.Lock()
	if g.closed || len(g.pending) == 0 {
		g.mu.Unlock()
		return proposal{}
	}
	b, epoch := g.pending[0], g.epoch
	if len(g.pending) == 1 {
		g.batched, g.queued = g.queued, 0
	} else { // it is full; how many entries it has does not matter
		g.batched = 0
	}
	g.pending = append(g.pending[:0:0], g.pending[1:]...)
	if g.waiting -= len(b) - batchHeader; g.waiting < pendingMax {
		g.room.Broadcast()
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
		g.work.Signal()
		g.mu.Unlock()
		if err != nil {
			g.log.Warn("entries were not agreed on", "error", err, "after", took)
			continue
		}
		g.counts.quorum.Observe(took)
	}
}
