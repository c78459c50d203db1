package cluster

import (
	"io"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// network is what lies between the engines of a scenario: links are slow, and nodes stand still as a stopped process does.
type network struct {
	mu    sync.Mutex
	delay map[link]time.Duration
	until map[string]time.Time // nodes that stand still, and how long
	links map[link]bool        // that are whole
}

func newNetwork() *network {
	return &network{delay: map[link]time.Duration{}, until: map[string]time.Time{}, links: map[link]bool{}}
}

// join makes a link whole or cuts it, for what is not Raft's; part cuts all.
func (n *network) join(from, to string, whole bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[link{from, to}] = whole
}

// part: see join.
func (n *network) part() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.links)
}

// joins tells whether a link is whole.
func (n *network) joins(from, to string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.links[link{from, to}]
}

// pass waits as long as a message takes from one node to another.
func (n *network) pass(from, to string) {
	for _, id := range []string{from, to} {
		n.mu.Lock()
		still := time.Until(n.until[id])
		n.mu.Unlock()
		time.Sleep(still)
		if id == from {
			n.mu.Lock()
			d := n.delay[link{from, to}]
			n.mu.Unlock()
			time.Sleep(d)
		}
	}
}

// slow makes all links of a node as slow as d, both ways; 0: fast.
func (n *network) slow(id string, d time.Duration, others []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range others {
		n.delay[link{id, o}], n.delay[link{o, id}] = d, d
	}
}

// stall has a node stand still.
func (n *network) stall(id string, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.until[id] = time.Now().Add(d)
}

// simTransport is Raft's transport in memory through a network. Nodes are known to each other by their instances, id/number.
type simTransport struct {
	*raft.InmemTransport
	net  *network
	self string // its node's id
}

func nodeOf(instance raft.ServerAddress) string {
	for i, c := range instance {
		if c == '/' {
			return string(instance[:i])
		}
	}
	return string(instance)
}

// call sends a message and waits for its answer.
func (t *simTransport) call(target raft.ServerAddress, f func() error) error {
	to := nodeOf(target)
	t.net.pass(t.self, to)
	err := f()
	t.net.pass(to, t.self)
	return err
}

// AppendEntriesPipeline implements raft.Transport: Raft sends one after the other then.
func (t *simTransport) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// AppendEntries implements raft.Transport.
func (t *simTransport) AppendEntries(id raft.ServerID, target raft.ServerAddress, q *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) error {
	return t.call(target, func() error { return t.InmemTransport.AppendEntries(id, target, q, a) })
}

// RequestVote implements raft.Transport.
func (t *simTransport) RequestVote(id raft.ServerID, target raft.ServerAddress, q *raft.RequestVoteRequest, a *raft.RequestVoteResponse) error {
	return t.call(target, func() error { return t.InmemTransport.RequestVote(id, target, q, a) })
}

// RequestPreVote implements raft.WithPreVote.
func (t *simTransport) RequestPreVote(id raft.ServerID, target raft.ServerAddress, q *raft.RequestPreVoteRequest, a *raft.RequestPreVoteResponse) error {
	return t.call(target, func() error { return t.InmemTransport.RequestPreVote(id, target, q, a) })
}

// InstallSnapshot implements raft.Transport.
func (t *simTransport) InstallSnapshot(id raft.ServerID, target raft.ServerAddress, q *raft.InstallSnapshotRequest, a *raft.InstallSnapshotResponse, data io.Reader) error {
	return t.call(target, func() error { return t.InmemTransport.InstallSnapshot(id, target, q, a, data) })
}

// TimeoutNow implements raft.Transport.
func (t *simTransport) TimeoutNow(id raft.ServerID, target raft.ServerAddress, q *raft.TimeoutNowRequest, a *raft.TimeoutNowResponse) error {
	return t.call(target, func() error { return t.InmemTransport.TimeoutNow(id, target, q, a) })
}
