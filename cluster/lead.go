package cluster

import (
	"math"
	"time"

	"herd/txlog"
)

// leadership numbers what a node does in one term: it may lose what it has proposed and still lead.
type leadership struct {
	term    uint64
	attempt uint64
}

// attemptBits of an epoch are the attempt, the others the term. A term has one leader, so no epoch comes twice.
const attemptBits = 12

func (l leadership) epoch() txlog.Epoch { return txlog.Epoch(l.term<<attemptBits | l.attempt) }

// next returns the next leadership, in a term.
func (l leadership) next(term uint64) leadership {
	if l.term != term {
		return leadership{term: term}
	}
	l.attempt++
	return l
}

// loseLocked ends what was appended and is waited for: it may still be agreed on, nobody knows. mu is held.
func (g *Group) loseLocked() {
	if g.epoch == 0 {
		return
	}
	g.epoch = 0
	g.serving = false
	g.pending, g.waiting, g.queued, g.batched = nil, 0, 0, 0
	g.waiters.Release(math.MaxUint64, txlog.ErrLost)
	g.changed()
}

// watch is the goroutine that hears from Raft that the node leads or does so no more.
func (g *Group) watch(notify <-chan bool) {
	defer g.done.Done()
	for {
		var leads bool
		select {
		case leads = <-notify:
		case <-g.stop:
			return
		}
		g.mu.Lock()
		g.term = 0
		if leads {
			g.term = g.raft.CurrentTerm()
		}
		if g.epoch != 0 && g.leads.term != g.term {
			g.loseLocked()
		}
		g.cond.Broadcast()
		g.mu.Unlock()
	}
}

// act is the goroutine that tells the database Lead and Follow, one at a time.
func (g *Group) act() {
	defer g.done.Done()
	for {
		g.mu.Lock()
		for !g.closed && !g.mustFollow() && !g.mayLead() {
			g.cond.Wait()
		}
		if g.closed {
			g.mu.Unlock()
			return
		}
		follow, term := g.mustFollow(), g.term
		g.mu.Unlock()
		if follow {
			g.follow()
			continue
		}
		g.lead(term)
	}
}

// mustFollow: the database believes in a leadership that is over. mu is held.
func (g *Group) mustFollow() bool { return g.engine != 0 && g.engine != g.epoch }

// mayLead: Raft has elected the node and the database does not know yet. mu is held.
func (g *Group) mayLead() bool { return g.engine == 0 && g.term != 0 }

func (g *Group) follow() {
	if err := g.replica.Follow(); err != nil {
		g.fatal(err)
		return
	}
	g.mu.Lock()
	g.engine = 0
	g.last = g.replica.Applied()
	g.cond.Broadcast()
	g.mu.Unlock()
	g.log.Info("the database follows")
}

// lead begins the epoch that is the Raft term.
func (g *Group) lead(term uint64) {
	g.mu.Lock()
	missing, spent := g.missing, g.leads.term == term && g.leads.attempt == 1<<attemptBits-1
	g.mu.Unlock()
	if missing || spent { // somebody must lead who has the state, or in another term
		g.log.Warn("leadership goes to another node", "state_missing", missing, "attempts_spent", spent)
		if err := g.raft.LeadershipTransfer().Error(); err != nil {
			g.log.Warn("leadership could not be handed over", "error", err)
			g.pause()
		}
		g.forget(term)
		return
	}
	g.proposing.Lock() // what was taken before is in Raft's hands now, and lies before the barrier (I1)
	g.proposing.Unlock()
	if err := g.raft.Barrier(raftTimeout).Error(); err != nil {
		g.log.Warn("leadership was lost before the log was applied", "term", term, "error", err)
		g.forget(term)
		return
	}
	g.mu.Lock()
	if g.closed || g.term != term {
		g.mu.Unlock()
		return
	}
	if g.raft.CurrentTerm() != term { // elected anew meanwhile: an epoch of the old term might be another node's
		g.mu.Unlock()
		g.forget(term)
		return
	}
	g.leads = g.leads.next(term)
	epoch := g.leads.epoch()
	g.epoch, g.engine = epoch, epoch
	g.last = g.replica.Applied()
	g.changed()
	g.mu.Unlock()
	if err := g.replica.Lead(epoch); err != nil {
		g.log.Warn("leadership was lost while it began", "term", term, "error", err)
		g.mu.Lock()
		if g.epoch == epoch {
			g.loseLocked()
		}
		g.mu.Unlock()
		g.forget(term)
		return
	}
	g.mu.Lock()
	g.serving = g.epoch == epoch
	serving := g.serving
	g.changed()
	g.mu.Unlock()
	if serving {
		g.log.Info("the database leads", "term", term)
		go g.o.OnLead()
	}
}

// forget gives a leadership up that did not come to be: Raft will say when there is another.
func (g *Group) forget(term uint64) {
	g.mu.Lock()
	if g.term == term {
		g.term = 0
		if g.raft.CurrentTerm() == term && g.isLeader() { // it leads on, so it must be tried again
			g.term = term
		}
	}
	g.mu.Unlock()
	g.pause()
}

func (g *Group) pause() {
	select {
	case <-time.After(20 * time.Millisecond):
	case <-g.stop:
	}
}

// fatal: the database can go on with nothing.
func (g *Group) fatal(err error) {
	g.log.Error("a replica has failed", "error", err)
	if g.opening.Fatal != nil {
		g.opening.Fatal(err)
	}
}
