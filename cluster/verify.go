package cluster

import (
	"sync"

	"github.com/hashicorp/raft"

	"herd/txlog"
)

// verifier lets readers share one question to the members at a time: a round that began after a reader asked answers it.
type verifier struct {
	mu      sync.Mutex
	running bool
	next    *round
}

// round is one question and those that wait for its answer.
type round struct {
	done chan struct{}
	err  error
}

// ask returns when a round that began after the call has ended.
func (v *verifier) ask(verify func() error) error {
	v.mu.Lock()
	if v.next == nil {
		v.next = &round{done: make(chan struct{})}
	}
	mine, lead := v.next, !v.running
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
	r := v.next
	v.next = nil
	v.mu.Unlock()
	r.err = verify()
	v.mu.Lock()
	more := v.next != nil
	v.running = more
	v.mu.Unlock()
	if more {
		go v.run(verify)
	}
	close(r.done)
}

// Verify returns when the node is known to have led the group at a moment after the call: what the database shows then is
// not older than any commit that was answered before. txlog.ErrLost when it does not lead.
func (g *Group) Verify() error {
	g.mu.Lock()
	serving := g.serving
	g.mu.Unlock()
	if !serving {
		return txlog.ErrLost
	}
	return g.reads.ask(func() error {
		if err := g.raft.VerifyLeader().Error(); err != nil {
			return txlog.ErrLost
		}
		return nil
	})
}

// isLeader tells whether Raft says so, which may be outdated.
func (g *Group) isLeader() bool { return g.raft.State() == raft.Leader }
