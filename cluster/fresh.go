package cluster

import (
	"errors"
	"fmt"
	"time"
)

// freshness is what a replica knows of its age: at the moment at, every commit that was answered before lies at or below index. It is
// kept by the group's mutex. Only this node's clock counts, and only its own questions: a message that arrives may be old.
type freshness struct {
	at    time.Time
	index uint64
}

// freshPatience bounds one question about what the leader has, and the wait until it is here.
const freshPatience = 3 * time.Second

// StaleError says that a replica may lack what it must not lack.
type StaleError struct {
	Age   time.Duration // what is known of it; 0: nothing
	Cause error
}

// Error implements error.
func (e *StaleError) Error() string {
	if e.Age == 0 {
		return fmt.Sprintf("how old the replica is is not known: %v", e.Cause)
	}
	return fmt.Sprintf("the replica was last known to have everything %v ago: %v", e.Age.Round(time.Millisecond), e.Cause)
}

// Unwrap returns the cause.
func (e *StaleError) Unwrap() error { return e.Cause }

// Fresh returns when this node's replica of a database contains every commit that was answered before a moment not longer than most
// before the call. Without one, a *StaleError.
func (n *Node) Fresh(oid uint32, most time.Duration) error {
	g := n.group(oid)
	if g == nil {
		return fmt.Errorf("database %d has no replica on node %s", oid, n.o.ID)
	}
	called := time.Now()
	known := g.knownFresh()
	if !known.within(called, most) {
		if err := g.asks.ask(func() error { return n.askFresh(oid, g) }); err != nil {
			return g.stale(called, err)
		}
		if known = g.knownFresh(); called.Sub(known.at) > most {
			return g.stale(called, errors.New("its leader was asked, and another answer is meanwhile known"))
		}
	}
	if err := g.awaitApplied(known.index, freshPatience); err != nil {
		return g.stale(called, err)
	}
	return nil
}

// within tells whether a replica that has come to index is fresh enough.
func (f freshness) within(now time.Time, most time.Duration) bool {
	return !f.at.IsZero() && now.Sub(f.at) <= most
}

// FreshNow tells whether Fresh would return at once.
func (n *Node) FreshNow(oid uint32, most time.Duration) bool {
	g := n.group(oid)
	if g == nil {
		return false
	}
	known := g.knownFresh()
	return known.within(time.Now(), most) && g.applied.Load() >= known.index
}

func (g *Group) stale(now time.Time, cause error) error {
	e := &StaleError{Cause: cause}
	if at := g.knownFresh().at; !at.IsZero() {
		e.Age = max(now.Sub(at), 1)
	}
	return e
}

func (g *Group) knownFresh() freshness {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fresh
}

// askFresh asks the leader, which makes sure that it is one, what it has.
func (n *Node) askFresh(oid uint32, g *Group) error {
	began := time.Now()
	index, err := n.leaderIndex(oid, g)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if began.After(g.fresh.at) {
		g.fresh = freshness{began, index}
	}
	return nil
}

func (n *Node) leaderIndex(oid uint32, g *Group) (uint64, error) {
	if g.isServing() {
		return g.verifiedIndex()
	}
	x, err := n.leaderOf(oid)
	if err != nil {
		return 0, err
	}
	a, err := n.askFor(x.Address, request{Op: opFresh, OID: oid}, freshPatience)
	if err != nil {
		return 0, fmt.Errorf("ask node %s, which led database %q: %w", x.ID, g.opening.Name, err)
	}
	return a.Index, nil
}

// verifiedIndex is the last Raft entry applied on a node that was known to lead after the call: no commit that was answered before the
// call lies behind it.
func (g *Group) verifiedIndex() (uint64, error) {
	if err := g.Verify(); err != nil {
		return 0, err
	}
	return g.applied.Load(), nil
}

// awaitApplied waits until an entry was applied here.
func (g *Group) awaitApplied(index uint64, patience time.Duration) error {
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		g.mu.Lock()
		wake, closed := g.wake, g.closed
		g.mu.Unlock()
		switch {
		case g.applied.Load() >= index:
			return nil
		case closed:
			return errStopped
		}
		select {
		case <-wake:
		case <-end.C:
			return fmt.Errorf("it has not come to what the leader had within %v", patience)
		}
	}
}

// CutOff tells for how long this node has not heard from a leader of a database, when that is longer than leaders are silent.
func (n *Node) CutOff(oid uint32) (time.Duration, bool) {
	g := n.group(oid)
	if g == nil || g.isServing() {
		return 0, false
	}
	silent := time.Since(g.raft.LastContact())
	return silent, silent > 2*g.o.ElectionTimeout
}

// Holds tells whether this node has a replica of a database that can be read.
func (n *Node) Holds(database string) bool {
	d, ok := n.system.database(database)
	if !ok {
		return false
	}
	g := n.group(d.OID)
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.missing || g.replica.Applied() > 0 // what is there while the state is fetched is old, and whole
}
