package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"herd/internal/vfs"
	"herd/txlog"
)

// systemGroup is the number of the system group on the wire; databases have their own numbers.
const systemGroup = 1<<32 - 1

const labelCluster vfs.Label = "cluster.file"

// NodeInfo describes a node. In a group's membership its Instance stands where Raft has an address, so that a node that lost
// its disk is another member than the one it was.
type NodeInfo struct {
	ID       string
	Instance string // made with the node's folder
	Address  string // of its cluster port
	SQL      string // of its port for clients
}

// DatabaseInfo describes a database.
type DatabaseInfo struct {
	OID  uint32
	Name string
	Placement
	Held []string `json:",omitempty"` // nodes chosen to hold it, in order; not used while every node does
	// By is the instance of the node that is making or dropping it, "" for none: the list of databases may not have it.
	By string `json:",omitempty"`
}

// systemState is what the system group agrees on.
type systemState struct {
	Nodes     map[string]NodeInfo
	Databases map[uint32]DatabaseInfo
	Dropped   map[uint32]bool
	Gone      map[string]bool // instances that are no members any more
}

func newSystemState() systemState {
	return systemState{map[string]NodeInfo{}, map[uint32]DatabaseInfo{}, map[uint32]bool{}, map[string]bool{}}
}

// command changes it. What is empty changes nothing.
type command struct {
	Node     *NodeInfo     `json:",omitempty"`
	Remove   string        `json:",omitempty"`
	Database *DatabaseInfo `json:",omitempty"`
	Drop     *uint32       `json:",omitempty"`
	Hold     *hold         `json:",omitempty"`
	Place    *place        `json:",omitempty"`
	Settle   *DatabaseInfo `json:",omitempty"` // if it is still By's
}

// system is the system group on this node.
type system struct {
	o     *Options
	dir   string
	raft  *raft.Raft
	logs  *logStore
	store *stable
	trans raft.Transport

	mu      sync.Mutex // guards what follows
	state   systemState
	changed chan struct{} // closed at a change
	// moved is where nodes say that they are, by instance, until the group has agreed on it: it may need a node's vote for that.
	moved map[string]string
}

const (
	systemFile    = "system.json"
	systemRetain  = 2
	systemEntries = 1024 // between snapshots
)

func newSystem(o *Options) (*system, error) {
	s := &system{o: o, dir: filepath.Join(o.Dir, "system"), changed: make(chan struct{}), moved: map[string]string{}}
	s.state = newSystemState()
	if err := o.FS.MkdirAll(labelCluster, s.dir); err != nil {
		return nil, err
	}
	// What is known of the others from before a restart: where they are, until the group says more.
	p, err := vfs.ReadFile(o.FS, labelCluster, filepath.Join(s.dir, systemFile))
	if err == nil {
		err = json.Unmarshal(p, &s.state)
	} else if vfsNotExist(err) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of the cluster's system group: %w", systemFile, err)
	}
	return s, nil
}

// open starts the group's Raft.
func (s *system) open(n *Node, found bool) (err error) {
	if s.store, err = openStable(s.dir); err != nil {
		return err
	}
	s.logs, err = openLogStore(logStoreOptions{FS: s.o.FS, Dir: s.dir, Sync: txlog.SyncAlways, SegmentBytesMax: 4 << 20,
		Fatal: s.o.Fatal, Logger: s.o.Logger})
	if err != nil {
		return err
	}
	snaps, err := raft.NewFileSnapshotStoreWithLogger(s.dir, systemRetain, raftLogger(s.o.Logger))
	if err != nil {
		return err
	}
	c := (&Group{o: GroupOptions{Node: s.o.ID, ElectionTimeout: s.o.ElectionTimeout}.withDefaults(), log: s.o.Logger}).config()
	c.SnapshotThreshold, c.SnapshotInterval, c.TrailingLogs = systemEntries, time.Minute, systemEntries
	c.NoSnapshotRestoreOnStart = false
	if found {
		only := raft.Configuration{Servers: []raft.Server{{ID: c.LocalID, Address: raft.ServerAddress(n.file.Instance)}}}
		err := raft.BootstrapCluster(c, s.logs, s.store, snaps, s.trans, only)
		if err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
			return err
		}
	}
	s.raft, err = raft.NewRaft(c, (*systemFSM)(s), s.logs, s.store, snaps, s.trans)
	return err
}

func (s *system) close() error {
	var errs []error
	if s.raft != nil {
		endPatience(s.trans)
		errs = append(errs, s.raft.Shutdown().Error())
	}
	errs = append(errs, closeTransport(s.trans))
	if s.logs != nil {
		errs = append(errs, s.logs.close())
	}
	if s.store != nil {
		errs = append(errs, s.store.close())
	}
	return errors.Join(errs...)
}

func (s *system) node(id string) (NodeInfo, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.state.Nodes[id]
	return x, ok
}

func (s *system) isGone(instance string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Gone[instance]
}

func (s *system) instance(instance string) (NodeInfo, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.state.Nodes {
		if x.Instance == instance {
			if address, ok := s.moved[instance]; ok {
				x.Address = address
			}
			return x, true
		}
	}
	return NodeInfo{}, false
}

// told notes where a known node says that it is.
func (s *system) told(x NodeInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.state.Nodes[x.ID]; ok && old.Instance == x.Instance && old.Address != x.Address {
		s.moved[x.Instance] = x.Address
	}
}

// view returns a copy of the state, and a channel that is closed when it changes.
func (s *system) view() (systemState, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return systemState{maps.Clone(s.state.Nodes), maps.Clone(s.state.Databases), maps.Clone(s.state.Dropped), maps.Clone(s.state.Gone)}, s.changed
}

// database returns the database with a name.
func (s *system) database(name string) (DatabaseInfo, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.state.Databases {
		if d.Name == name {
			return d, true
		}
	}
	return DatabaseInfo{}, false
}

// leader returns the node that leads the system group, "" when none is known.
func (s *system) leader() string {
	_, id := s.raft.LeaderWithID()
	return string(id)
}

// apply changes the state. This node leads.
func (s *system) apply(c command) error {
	p, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f := s.raft.Apply(p, raftTimeout)
	if err := f.Error(); err != nil {
		return err
	}
	if err, ok := f.Response().(error); ok {
		return err
	}
	return nil
}

// systemFSM is the system group as Raft's state machine.
type systemFSM system

var _ raft.FSM = (*systemFSM)(nil)

// Apply implements raft.FSM.
func (f *systemFSM) Apply(l *raft.Log) any {
	s := (*system)(f)
	var c command
	if err := json.Unmarshal(l.Data, &c); err != nil {
		s.o.Fatal(fmt.Errorf("entry %d of the cluster's system group: %w", l.Index, err))
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Node != nil && !s.state.Gone[c.Node.Instance] {
		if old, ok := s.state.Nodes[c.Node.ID]; ok && old.Instance != c.Node.Instance {
			s.state.Gone[old.Instance] = true
		}
		s.state.Nodes[c.Node.ID] = *c.Node
		delete(s.moved, c.Node.Instance)
	}
	if old, ok := s.state.Nodes[c.Remove]; ok {
		s.state.Gone[old.Instance] = true
		delete(s.state.Nodes, c.Remove)
	}
	if c.Database != nil {
		if err := s.state.register(*c.Database); err != nil {
			return err
		}
	}
	if c.Hold != nil {
		s.state.change(c.Hold.OID, func(d *DatabaseInfo) { d.Held = c.Hold.Nodes })
	}
	if c.Settle != nil {
		s.state.change(c.Settle.OID, func(d *DatabaseInfo) {
			if d.By == c.Settle.By {
				d.By = ""
			}
		})
	}
	if c.Place != nil {
		s.state.change(c.Place.OID, func(d *DatabaseInfo) { d.Placement = c.Place.Placement })
	}
	if c.Drop != nil {
		delete(s.state.Databases, *c.Drop)
		s.state.Dropped[*c.Drop] = true
	}
	s.note()
	return nil
}

// register takes a database up, or notes who works on it now.
func (s *systemState) register(d DatabaseInfo) error {
	if s.Dropped[d.OID] {
		return refused("database %d was dropped", d.OID)
	}
	if old, ok := s.Databases[d.OID]; ok {
		d.Placement, d.Held = old.Placement, old.Held
	}
	s.Databases[d.OID] = d
	return nil
}

func (s *systemState) change(oid uint32, f func(*DatabaseInfo)) {
	if d, ok := s.Databases[oid]; ok {
		f(&d)
		s.Databases[oid] = d
	}
}

// note tells that the state has changed and keeps it for the next start. mu is held.
func (s *system) note() {
	close(s.changed)
	s.changed = make(chan struct{})
	p, err := json.Marshal(s.state)
	if err == nil {
		err = vfs.WriteFileAtomic(s.o.FS, labelCluster, s.dir, filepath.Join(s.dir, systemFile), p)
	}
	if err != nil { // the group has it; only a restart will ask the others for longer
		s.o.Logger.Warn("write what is known of the cluster", "file", systemFile, "error", err)
	}
}

// Snapshot implements raft.FSM.
func (f *systemFSM) Snapshot() (raft.FSMSnapshot, error) {
	s := (*system)(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := json.Marshal(s.state)
	return systemSnapshot(p), err
}

// Restore implements raft.FSM.
func (f *systemFSM) Restore(r io.ReadCloser) error {
	defer r.Close()
	s := (*system)(f)
	state := newSystemState()
	if err := json.NewDecoder(r).Decode(&state); err != nil {
		return fmt.Errorf("read the state of the cluster's system group: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
	s.note()
	return nil
}

type systemSnapshot []byte

// Persist implements raft.FSMSnapshot.
func (p systemSnapshot) Persist(sink raft.SnapshotSink) error {
	if _, err := sink.Write(p); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

// Release implements raft.FSMSnapshot.
func (systemSnapshot) Release() {}
