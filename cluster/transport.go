package cluster

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

// transport is Raft's, with patience where Raft has none.
type transport struct {
	*raft.NetworkTransport
	layer *layer

	once sync.Once
	quit chan struct{} // closed when nobody is waited for any more
}

// endPatience has calls wait for nobody: Raft, which is about to be shut down, waits for them.
func endPatience(t raft.Transport) {
	if p, ok := t.(*transport); ok {
		p.once.Do(func() { close(p.quit) })
	}
}

const (
	// stalePool is how many connections to a node may be kept from before it ended and came back: each of them fails once.
	stalePool = 3
	// staleQuick is how soon such a failure shows.
	staleQuick = 100 * time.Millisecond
	// returnPoll and returnPatience: how often and how long it is looked whether a node listens again. After each failure Raft lets a
	// member rest twice as long, up to ten seconds, whether it is back or not.
	returnPoll     = 100 * time.Millisecond
	returnPatience = 10 * time.Second
)

// again does a call that fails on a connection that broke before.
func again(call func() error) (err error) {
	for range stalePool + 1 {
		began := time.Now()
		if err = call(); err == nil || errors.Is(err, syscall.ECONNREFUSED) || time.Since(began) > staleQuick {
			return err
		}
	}
	return err
}

// RequestVote implements raft.Transport.
func (t *transport) RequestVote(id raft.ServerID, target raft.ServerAddress, q *raft.RequestVoteRequest, a *raft.RequestVoteResponse) error {
	return again(func() error { return t.NetworkTransport.RequestVote(id, target, q, a) })
}

// RequestPreVote implements raft.WithPreVote.
func (t *transport) RequestPreVote(id raft.ServerID, target raft.ServerAddress, q *raft.RequestPreVoteRequest, a *raft.RequestPreVoteResponse) error {
	return again(func() error { return t.NetworkTransport.RequestPreVote(id, target, q, a) })
}

// AppendEntries implements raft.Transport. It waits for a node whose process is gone to come back; heartbeats do not.
func (t *transport) AppendEntries(id raft.ServerID, target raft.ServerAddress, q *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) error {
	err := t.NetworkTransport.AppendEntries(id, target, q, a)
	if !errors.Is(err, syscall.ECONNREFUSED) || q.PrevLogEntry == 0 && len(q.Entries) == 0 {
		return err
	}
	for end := time.Now().Add(returnPatience); time.Now().Before(end); {
		select {
		case <-time.After(returnPoll):
		case <-t.quit:
			return err
		}
		if x, ok := t.layer.node.system.instance(string(target)); ok && !refuses(x.Address) {
			return t.NetworkTransport.AppendEntries(id, target, q, a)
		}
	}
	return err
}
