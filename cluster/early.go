package cluster

import (
	"github.com/hashicorp/raft"

	"herd/txlog"
)

// Raft's leader stores an entry before it sends it, so a commit would take two syncs one after the other. Here the leader's store returns at
// once for commands: the entry goes to the others while this node's disk works. Raft then counts an entry that is not safe yet as stored
// here, and what follows from that is held back until it is true: nothing is applied here, and no member is told that an entry is agreed on,
// before this node's disk has it. A node that leads no more says of no entry that it has it before its disk does. What a crash takes away
// nobody was told of, as if the entry had never been sent.

// unsynced is a write on its way to the disk.
type unsynced struct {
	first, last uint64    // Raft entries
	record      txlog.Seq // its last record
}

// allowEarly lets StoreLogs return before the disk has commands, while leads says so.
func (s *logStore) allowEarly(leads func() bool) { s.early.Store(&leads) }

func (s *logStore) mayBeEarly() bool {
	leads := s.early.Load()
	return leads != nil && (*leads)()
}

// synced returns the index up to which all entries are on disk.
func (s *logStore) synced() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.syncedLocked()
}

func (s *logStore) syncedLocked() uint64 {
	if len(s.writes) == 0 {
		return s.last
	}
	durable, n := s.local.Durable(), 0
	for n < len(s.writes) && s.writes[n].record <= durable {
		n++
	}
	s.writes = s.writes[:copy(s.writes, s.writes[n:])]
	if len(s.writes) == 0 {
		return s.last
	}
	return s.writes[0].first - 1
}

// waitSynced returns when everything up to an index is on disk.
func (s *logStore) waitSynced(index uint64) error {
	s.mu.Lock()
	record := txlog.Seq(0)
	if s.syncedLocked() < index {
		for i := range s.writes {
			if s.writes[i].first <= index {
				record = s.writes[i].record
			}
		}
	}
	s.mu.Unlock()
	if record == 0 {
		return nil
	}
	return s.local.Wait(record, nil)
}

// heldBack is a transport that tells members of what is agreed on only as far as this node's disk has it.
type heldBack struct {
	raft.Transport
	logs *logStore
}

// AppendEntries implements raft.Transport.
func (t *heldBack) AppendEntries(id raft.ServerID, target raft.ServerAddress, q *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) error {
	t.hold(q)
	return t.Transport.AppendEntries(id, target, q, a)
}

func (t *heldBack) hold(q *raft.AppendEntriesRequest) {
	if q.LeaderCommitIndex > 0 {
		q.LeaderCommitIndex = min(q.LeaderCommitIndex, t.logs.synced())
	}
}

// AppendEntriesPipeline implements raft.Transport.
func (t *heldBack) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	p, err := t.Transport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	return heldBackPipeline{p, t}, nil
}

// RequestPreVote implements raft.WithPreVote.
func (t *heldBack) RequestPreVote(id raft.ServerID, target raft.ServerAddress, q *raft.RequestPreVoteRequest, a *raft.RequestPreVoteResponse) error {
	return t.Transport.(raft.WithPreVote).RequestPreVote(id, target, q, a)
}

type heldBackPipeline struct {
	raft.AppendPipeline
	t *heldBack
}

// AppendEntries implements raft.AppendPipeline.
func (p heldBackPipeline) AppendEntries(q *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	p.t.hold(q)
	return p.AppendPipeline.AppendEntries(q, a)
}
