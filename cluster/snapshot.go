package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hashicorp/raft"
)

// errNoSnapshots: Raft never makes a snapshot by itself. The engine's checkpoint says what the log need not keep.
var errNoSnapshots = errors.New("snapshots are made by checkpoints")

// descriptors shows a group's descriptor to Raft as its snapshot. What a follower receives becomes the descriptor only
// when the state that it describes is there.
type descriptors struct {
	stable *stable
	self   string

	mu      sync.Mutex
	pending *received // received, its state is not there yet
}

// received is a descriptor of another node.
type received struct {
	descriptor
	from string // node that has the state
}

var _ raft.SnapshotStore = (*descriptors)(nil)

// snapshotBody is what travels: who has the state.
type snapshotBody struct{ From string }

const (
	ownSnapshot      = "own"
	receivedSnapshot = "received"
)

func (s *descriptors) current() (id string, d *descriptor, from string, err error) {
	s.mu.Lock()
	p := s.pending
	s.mu.Unlock()
	if p != nil {
		return receivedSnapshot, &p.descriptor, p.from, nil
	}
	d, err = s.stable.descriptor()
	return ownSnapshot, d, s.self, err
}

// List implements raft.SnapshotStore.
func (s *descriptors) List() ([]*raft.SnapshotMeta, error) {
	id, d, from, err := s.current()
	if err != nil || d == nil {
		return nil, err
	}
	m, _, err := describe(id, d, from)
	return []*raft.SnapshotMeta{m}, err
}

func describe(id string, d *descriptor, from string) (*raft.SnapshotMeta, []byte, error) {
	body, err := json.Marshal(snapshotBody{from})
	if err != nil {
		return nil, nil, err
	}
	return &raft.SnapshotMeta{
		Version: raft.SnapshotVersionMax, ID: id, Index: d.Index, Term: d.Term,
		Configuration: raft.DecodeConfiguration(d.Config), ConfigurationIndex: d.ConfigIndex, Size: int64(len(body)),
	}, body, nil
}

// Open implements raft.SnapshotStore.
func (s *descriptors) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	got, d, from, err := s.current()
	if err != nil {
		return nil, nil, err
	}
	if d == nil || got != id {
		return nil, nil, fmt.Errorf("open Raft snapshot %q: there is none", id)
	}
	m, body, err := describe(id, d, from)
	if err != nil {
		return nil, nil, err
	}
	return m, io.NopCloser(bytes.NewReader(body)), nil
}

// Create implements raft.SnapshotStore, for one that a leader sends.
func (s *descriptors) Create(_ raft.SnapshotVersion, index, term uint64, c raft.Configuration, configIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	return &sink{s: s, d: descriptor{Index: index, Term: term, Config: raft.EncodeConfiguration(c), ConfigIndex: configIndex}}, nil
}

// sink takes a descriptor in.
type sink struct {
	s    *descriptors
	d    descriptor
	body bytes.Buffer
}

// Write implements io.Writer.
func (k *sink) Write(p []byte) (int, error) {
	const most = 4096
	if k.body.Len()+len(p) > most {
		return 0, fmt.Errorf("a Raft snapshot of more than %d bytes is not a descriptor", most)
	}
	return k.body.Write(p)
}

// Close implements raft.SnapshotSink.
func (k *sink) Close() error {
	var b snapshotBody
	if err := json.Unmarshal(k.body.Bytes(), &b); err != nil {
		return fmt.Errorf("read a Raft snapshot's descriptor: %w", err)
	}
	k.s.mu.Lock()
	k.s.pending = &received{k.d, b.From}
	k.s.mu.Unlock()
	return nil
}

// ID implements raft.SnapshotSink.
func (k *sink) ID() string { return receivedSnapshot }

// Cancel implements raft.SnapshotSink.
func (k *sink) Cancel() error { return nil }

// arrived makes the received descriptor the node's own.
func (s *descriptors) arrived() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == nil {
		return nil
	}
	if err := s.stable.setDescriptor(s.pending.descriptor); err != nil {
		return err
	}
	s.pending = nil
	return nil
}

// failed forgets it.
func (s *descriptors) failed() {
	s.mu.Lock()
	s.pending = nil
	s.mu.Unlock()
}
