package cluster

import (
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"herd/txlog"
)

// verifier lets readers share one question to the members at a time: a round that began after a reader asked answers it.
type verifier struct {
	mu      sync.Mutex
	running bool
	next    *round
	last    int // size of the last round
}

// round is one question and those that wait for its answer.
type round struct {
	done chan struct{}
	err  error
	size int // how many wait for it
}

// ask returns when a round that began after the call has ended.
func (v *verifier) ask(verify func() error) error {
	v.mu.Lock()
	if v.next == nil {
		v.next = &round{done: make(chan struct{})}
	}
	mine, lead := v.next, !v.running
	mine.size++
	if lead {
		v.running = true
	}
	v.mu.Unlock()
	if lead {
		v.run(verify)
	}
	<-mine.done
	return mine.err
}

// run asks for all that wait. Those that come meanwhile are the next round's, which has a goroutine of its own, so that
// the one that asked first is not kept.
func (v *verifier) run(verify func() error) {
	v.mu.Lock()
	few := v.next.size*2 < v.last
	v.mu.Unlock()
	if few { // those whose reads have just been answered are about to come again
		time.Sleep(gatherFor)
	}
	letOthersCome(v.asking)
	v.mu.Lock()
	r := v.next
	v.next = nil
	v.mu.Unlock()
	r.err = verify()
	v.mu.Lock()
	v.last = r.size
	more := v.next != nil
	v.running = more
	v.mu.Unlock()
	if more {
		go v.run(verify)
	}
	close(r.done)
}

// asking tells how many wait for the next round.
func (v *verifier) asking() (n int, enough bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.next.size, false
}

// Verify returns when the node is known to have led the group at a moment after the call: what the database shows then is
// not older than any commit that was answered before. txlog.ErrLost when it does not lead.
func (g *Group) Verify() error {
	if !g.isServing() {
		return txlog.ErrLost
	}
	return g.reads.ask(g.proveLead)
}

// proveLead asks the members whether the node leads in the term that the database serves for. Raft alone may say yes for a later one, whose
// entries are not applied here yet, and it counts what learners answer as if they could vote: while there are any, an entry has to be agreed on.
func (g *Group) proveLead() error {
	g.mu.Lock()
	serving, term := g.serving, g.leads.term
	g.mu.Unlock()
	if !serving {
		return txlog.ErrLost
	}
	learners := g.hasLearners()
	if !learners {
		if err := g.raft.VerifyLeader().Error(); err != nil {
			return txlog.ErrLost
		}
		learners = g.hasLearners()
	}
	if learners {
		if err := g.raft.Barrier(raftTimeout).Error(); err != nil {
			return txlog.ErrLost
		}
	}
	if g.raft.CurrentTerm() != term {
		return txlog.ErrLost
	}
	return nil
}

// hasLearners tells whether a member of the group cannot vote.
func (g *Group) hasLearners() bool {
	f := g.raft.GetConfiguration()
	return f.Error() != nil || slices.ContainsFunc(f.Configuration().Servers, func(s raft.Server) bool { return s.Suffrage != raft.Voter })
}

// isLeader tells whether Raft says so, which may be outdated.
func (g *Group) isLeader() bool { return g.raft.State() == raft.Leader }
