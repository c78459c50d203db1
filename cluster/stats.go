package cluster

import (
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"herd/txlog"
)

// groupStats are the counters of a group since it was opened.
type groupStats struct {
	quorum    txlog.Histogram // from a batch's way into Raft to its being agreed on and applied
	elections atomic.Int64    // that this node has called for
	leaders   atomic.Int64    // changes of leader that this node has seen
	fetched   atomic.Int64    // bytes of states that were fetched
	fetching  atomic.Bool
	// fetchDone of fetchTotal bytes of the state are known to be here, while it is fetched.
	fetchDone, fetchTotal atomic.Int64
	complete              atomic.Int64 // time.Time in nanoseconds: the state was last known to contain all that was known to be agreed on
}

// GroupStats is a reading of a group's counters.
type GroupStats struct {
	OID      uint32
	Database string
	Leads    bool // and takes commits
	Term     uint64
	Agreed   uint64 // Raft index
	Applied  uint64 // Raft index
	// Behind is how long this node has known that its state lacks something, or has not heard from a leader; 0 on the leader.
	Behind        time.Duration
	Elections     int64
	LeaderChanges int64
	FetchedBytes  int64
	FetchDone     int64 // bytes of a state being fetched that are here, of FetchTotal; both 0 when none is
	FetchTotal    int64
	LogBytes      int64
	Quorum        *txlog.Histogram
}

// Stats reads the counters of all groups of this node.
func (n *Node) Stats() []GroupStats {
	var out []GroupStats
	for oid, g := range n.allGroups() {
		s := g.readStats()
		s.OID = oid
		out = append(out, s)
	}
	return out
}

func (g *Group) readStats() GroupStats {
	leads := g.isServing()
	s := GroupStats{Database: g.opening.Name, Leads: leads, Term: g.raft.CurrentTerm(), Agreed: g.raft.CommitIndex(), Applied: g.applied.Load(),
		Elections: g.counts.elections.Load(), LeaderChanges: g.counts.leaders.Load(), FetchedBytes: g.counts.fetched.Load(), LogBytes: g.Bytes(),
		Quorum: &g.counts.quorum}
	s.FetchDone, s.FetchTotal = g.fetchProgress()
	if !leads {
		g.noteComplete()
		s.Behind = max(0, time.Since(g.opened)-time.Duration(g.counts.complete.Load()))
	}
	return s
}

// fetchProgress tells how far fetching the state is; total is 0 when it is not fetched.
func (g *Group) fetchProgress() (done, total int64) {
	if !g.counts.fetching.Load() {
		return 0, 0
	}
	return g.counts.fetchDone.Load(), g.counts.fetchTotal.Load()
}

// noteComplete notes that the state contains what is known to be agreed on, if it does, as of the last word from a leader.
func (g *Group) noteComplete() {
	at := time.Now()
	if !g.isLeader() {
		at = g.raft.LastContact()
	}
	if since := int64(at.Sub(g.opened)); !at.IsZero() && g.applied.Load() >= g.raft.CommitIndex() && since > g.counts.complete.Load() {
		g.counts.complete.Store(since)
	}
}

// observe is the goroutine that counts elections and changes of leader.
func (g *Group) observe() {
	defer g.done.Done()
	ch := make(chan raft.Observation, 16)
	o := raft.NewObserver(ch, false, func(o *raft.Observation) bool {
		switch o.Data.(type) {
		case raft.RaftState, raft.LeaderObservation:
			return true
		}
		return false
	})
	g.raft.RegisterObserver(o)
	defer g.raft.DeregisterObserver(o)
	for {
		select {
		case x := <-ch:
			switch d := x.Data.(type) {
			case raft.RaftState:
				if d == raft.Candidate {
					g.counts.elections.Add(1)
				}
			case raft.LeaderObservation:
				if d.LeaderID != "" {
					g.counts.leaders.Add(1)
				}
			}
		case <-g.stop:
			return
		}
	}
}
