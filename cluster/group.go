package cluster

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"herd/internal/vfs"
	"herd/txlog"
)

// GroupOptions configure a Group. Zero durations mean the defaults.
type GroupOptions struct {
	FS vfs.FS // has files of the operating system
	// Node is the id of this node, Transport connects it with the group's other members.
	Node      string
	Transport raft.Transport
	// Found begins the group with this node as its only member, in a folder that has none.
	Found bool
	// Fetch connects with Serve of another node's group.
	Fetch func(node string) (io.ReadWriteCloser, error)
	// OnLead is called, in a goroutine of its own, when the database has begun to serve.
	OnLead func()
	// ElectionTimeout is how long a follower hears nothing from its leader before it wants to be one (default 600 ms).
	ElectionTimeout time.Duration
	// KeepBytes of log stay behind a checkpoint for followers that are behind (default 64 MiB).
	KeepBytes       int64
	Sync            txlog.SyncMode
	SyncInterval    time.Duration
	SegmentBytes    int64
	SegmentBytesMax int64
	KeepFreeBytes   uint64
	Logger          *slog.Logger
}

func (o GroupOptions) withDefaults() GroupOptions {
	if o.ElectionTimeout == 0 {
		o.ElectionTimeout = 600 * time.Millisecond
	}
	if o.KeepBytes == 0 {
		o.KeepBytes = 64 << 20
	}
	if o.OnLead == nil {
		o.OnLead = func() {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

const (
	// batchBytes is the size of a batch of entries above which another is begun; what is appended at once may be larger.
	batchBytes = 512 << 10
	// inflightMax is how many batches are in Raft's hands at once: while one is on its way the next is written.
	inflightMax = 4
	// pendingMax is the size of what waits to be proposed above which Reserve waits.
	pendingMax = 8 << 20
	// raftTimeout bounds what is asked of Raft outside the commit path.
	raftTimeout = 10 * time.Second
)

// Group is a database's log that several nodes share. It implements txlog.Log.
type Group struct {
	o       GroupOptions
	opening txlog.Opening
	replica txlog.Replica
	raft    *raft.Raft
	logs    *logStore
	stable  *stable
	snaps   *descriptors
	log     *slog.Logger
	opened  time.Time

	durable atomic.Uint64 // txlog.Seq: what the state contains that was agreed on
	applied atomic.Uint64 // Raft index of the last entry handed to the database
	reads   verifier
	asks    verifier // whether the replica is fresh

	proposing sync.Mutex // held while a batch goes into Raft (I1)

	mu       sync.Mutex  // guards what follows
	cond     *sync.Cond  // leadership or what is missing of the state has changed
	work     *sync.Cond  // there may be something to propose; the proposer waits here
	room     *sync.Cond  // less waits to be proposed; Reserve waits here
	epoch    txlog.Epoch // of the leadership that Append works for; 0: none
	engine   txlog.Epoch // the database was told Lead, and not Follow yet; 0: it follows
	serving  bool        // Lead has returned
	leads    leadership  // the last one begun
	term     uint64      // Raft says that the node leads in this term; 0: it does not
	pending  [][]byte    // batches to propose
	waiting  int         // bytes of pending
	queued   int         // entries of pending since it had one batch
	batched  int         // entries of the last batch proposed
	inflight int         // batches in Raft's hands
	last     txlog.Seq
	missing  bool   // the state is not the one that the descriptor says (I4), see catchup.go
	needs    uint64 // then: the Raft index that it has to contain,
	agreed   uint64 // the last entry that waits for it,
	source   string // and the node that sent the descriptor, "": not known
	marks    seqMarks
	history  history
	fresh    freshness
	configs  []configAt
	waiters  txlog.Waiters
	wake     chan struct{} // closed when durable or epoch changes
	closed   bool

	stats   txlog.Stats
	counts  groupStats
	results chan proposal
	stop    chan struct{}
	done    sync.WaitGroup
}

// configAt is a membership and the Raft index it came with.
type configAt struct {
	index  uint64
	config raft.Configuration
}

var _ txlog.Log = (*Group)(nil)

// OpenGroup opens the log in x.Dir and begins to drive the database.
func OpenGroup(o GroupOptions, x txlog.Opening) (*Group, error) {
	o = o.withDefaults()
	g := &Group{o: o, opening: x, replica: x.Replica, wake: make(chan struct{}), stop: make(chan struct{}), opened: time.Now(),
		results: make(chan proposal, 2*inflightMax), log: o.Logger.With("database", x.Name)}
	g.cond, g.work, g.room = sync.NewCond(&g.mu), sync.NewCond(&g.mu), sync.NewCond(&g.mu)
	if !vfs.IsReal(o.FS) {
		return nil, errors.New("open a Raft group: its files must be the operating system's")
	}
	if err := g.open(); err != nil {
		g.closeStores()
		return nil, fmt.Errorf("open Raft group of database %q: %w", x.Name, err)
	}
	return g, nil
}

func (g *Group) closeStores() error {
	var errs []error
	if g.logs != nil {
		errs = append(errs, g.logs.close())
	}
	if g.stable != nil {
		errs = append(errs, g.stable.close())
	}
	return errors.Join(errs...)
}

func (g *Group) open() (err error) {
	if g.stable, err = openStable(g.opening.Dir); err != nil {
		return err
	}
	g.snaps = &descriptors{stable: g.stable, self: g.o.Node}
	g.logs, err = openLogStore(logStoreOptions{FS: g.o.FS, Dir: g.opening.Dir, Sync: g.o.Sync, SyncInterval: g.o.SyncInterval,
		SegmentBytes: g.o.SegmentBytes, SegmentBytesMax: g.o.SegmentBytesMax, KeepFreeBytes: g.o.KeepFreeBytes,
		Fatal: g.opening.Fatal, Logger: g.log})
	if err != nil {
		return err
	}
	if err := g.begin(); err != nil {
		return err
	}
	c := g.config()
	if g.o.Found {
		found := raft.Configuration{Servers: []raft.Server{{ID: c.LocalID, Address: g.o.Transport.LocalAddr()}}}
		err := raft.BootstrapCluster(c, g.logs, g.stable, g.snaps, g.o.Transport, found)
		if err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
			return err
		}
	}
	notify := make(chan bool, 64)
	c.NotifyCh = notify
	if g.raft, err = raft.NewRaft(c, (*fsm)(g), g.logs, g.stable, g.snaps, &heldBack{g.o.Transport, g.logs}); err != nil {
		return err
	}
	g.logs.allowEarly(g.isLeader)
	g.done.Add(6)
	go g.catchUp()
	go g.propose()
	go g.collect()
	go g.watch(notify)
	go g.act()
	go g.observe()
	return nil
}

// begin compares the descriptor with the state on disk.
func (g *Group) begin() error {
	d, err := g.snaps.stable.descriptor()
	if err != nil {
		return err
	}
	g.last = g.replica.Applied()
	g.durable.Store(uint64(g.last))
	if d == nil {
		g.marks.reset(g.last, 0)
		return nil
	}
	g.marks.reset(g.last, d.Index)
	g.applied.Store(d.Index)
	g.configs = []configAt{{d.ConfigIndex, raft.DecodeConfiguration(d.Config)}}
	// A checkpoint's state is older than a descriptor that came from another node when the node stopped in between.
	if g.missing = uint64(g.opening.From) < d.Index+1; g.missing {
		g.needs, g.agreed = d.Index, d.Index
		g.applied.Store(max(uint64(g.opening.From), 1) - 1)
	}
	if last, _ := g.logs.LastIndex(); last != 0 && last < d.Index {
		return g.logs.DeleteRange(0, last)
	}
	return nil
}

func (g *Group) config() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(g.o.Node)
	c.HeartbeatTimeout, c.ElectionTimeout = g.o.ElectionTimeout, g.o.ElectionTimeout
	c.LeaderLeaseTimeout = g.o.ElectionTimeout * 2 / 3
	c.CommitTimeout = min(c.CommitTimeout, g.o.ElectionTimeout/8)
	c.MaxAppendEntries = 64
	c.SnapshotThreshold = math.MaxUint64 // never by itself
	c.SnapshotInterval = 24 * time.Hour
	c.TrailingLogs = math.MaxUint64
	c.NoSnapshotRestoreOnStart = true
	c.ShutdownOnRemove = false
	c.BatchApplyCh = false
	c.NoLegacyTelemetry = true
	c.Logger = raftLogger(g.log)
	return c
}

// setElectionTimeout changes how long followers wait for a silent leader.
func (g *Group) setElectionTimeout(d time.Duration) error {
	c := g.raft.ReloadableConfig()
	if c.ElectionTimeout == d && c.HeartbeatTimeout == d {
		return nil
	}
	c.ElectionTimeout, c.HeartbeatTimeout = d, d
	return g.raft.ReloadConfig(c)
}

// Reserve implements txlog.Log.
func (g *Group) Reserve(bytes int, c txlog.Class) (txlog.Reservation, error) {
	r, err := g.logs.local.Reserve(bytes, c) // is there room on this node's disk? Raft takes it when it stores the entry
	if err != nil {
		return txlog.Reservation{}, err
	}
	g.logs.local.Cancel(r)
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.epoch != 0 && g.waiting > pendingMax {
		g.room.Wait()
	}
	if g.closed {
		return txlog.Reservation{}, txlog.ErrClosed
	}
	return txlog.Reservation{}, nil // a node that does not lead: the database says so
}

// Cancel implements txlog.Log.
func (g *Group) Cancel(txlog.Reservation) {}

// Append implements txlog.Log.
func (g *Group) Append(r txlog.Reservation, e txlog.Entry) error {
	return g.AppendAll([]txlog.Reservation{r}, []txlog.Entry{e})
}

// AppendAll implements txlog.Log.
func (g *Group) AppendAll(_ []txlog.Reservation, es []txlog.Entry) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return txlog.ErrClosed
	}
	for i := range es {
		if g.epoch == 0 || es[i].Epoch != g.epoch {
			return txlog.ErrLost
		}
	}
	if len(es) > 0 {
		g.gather(es)
		g.last = es[len(es)-1].Seq
	}
	g.stats.Entries.Add(int64(len(es)))
	g.work.Signal()
	return nil
}

// Durable implements txlog.Log.
func (g *Group) Durable() txlog.Seq { return txlog.Seq(g.durable.Load()) }

// Barrier implements txlog.Log.
func (g *Group) Barrier() error {
	g.mu.Lock()
	last, leads := g.last, g.epoch != 0
	g.mu.Unlock()
	if !leads { // nothing is appended here that is not agreed on
		return nil
	}
	if err := g.Wait(last, nil); !errors.Is(err, txlog.ErrLost) {
		return err
	}
	return nil // what is not agreed on is dropped
}

// End implements txlog.Log: the index behind the last Raft entry handed to the database.
func (g *Group) End() txlog.Position { return txlog.Position(g.applied.Load() + 1) }

// EndOf implements txlog.Log.
func (g *Group) EndOf(seq txlog.Seq) txlog.Position {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.marks.endOf(seq)
}

// Last implements txlog.Log.
func (g *Group) Last() txlog.Seq {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(g.last, g.Durable())
}

// Read implements txlog.Log. The last entries may not be agreed on.
func (g *Group) Read(from txlog.Position, f func(txlog.Position, txlog.Entry) bool) error {
	var es []txlog.Entry
	for index := max(uint64(from), 1); ; index++ {
		var l raft.Log
		err := g.logs.GetLog(index, &l)
		if errors.Is(err, raft.ErrLogNotFound) {
			if index > g.applied.Load() {
				return nil
			}
			err = txlog.ErrTruncated
		}
		if err == nil && l.Type == raft.LogCommand {
			es, err = decodeBatch(es[:0], l.Data)
		}
		if err != nil {
			return fmt.Errorf("read Raft entry %d of database %q: %w", index, g.opening.Name, err)
		}
		if l.Type != raft.LogCommand {
			continue
		}
		for i := range es {
			if !f(txlog.Position(index), es[i]) {
				return nil
			}
		}
	}
}

// Bytes implements txlog.Log.
func (g *Group) Bytes() int64 { return g.logs.local.Bytes() }

// Stats implements txlog.Log.
func (g *Group) Stats() *txlog.Stats { return g.logs.local.Stats() }

// Truncate implements txlog.Log: a checkpoint has everything below the position. The descriptor says so before Raft entries
// go; some of them stay for followers that are behind.
func (g *Group) Truncate(below txlog.Position) error {
	if below <= 1 {
		return nil
	}
	index := uint64(below) - 1
	old, err := g.stable.descriptor()
	if err != nil || old != nil && old.Index >= index {
		return err
	}
	var l raft.Log
	if err := g.logs.GetLog(index, &l); err != nil {
		return fmt.Errorf("truncate the Raft log of database %q below %d: %w", g.opening.Name, below, err)
	}
	c, ok := g.configOf(index)
	if !ok {
		return fmt.Errorf("truncate the Raft log of database %q below %d: no membership is known there", g.opening.Name, below)
	}
	d := descriptor{Index: index, Term: l.Term, Config: raft.EncodeConfiguration(c.config), ConfigIndex: c.index}
	if err := g.stable.setDescriptor(d); err != nil {
		return err
	}
	keep := min(index, g.logs.indexBefore(g.o.KeepBytes))
	if keep <= 1 {
		return nil
	}
	return g.logs.DeleteRange(0, keep-1)
}

// configOf returns the membership that was in force at a Raft index.
func (g *Group) configOf(index uint64) (configAt, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := len(g.configs) - 1; i >= 0; i-- {
		if g.configs[i].index <= index {
			g.configs = g.configs[i:]
			return g.configs[0], true
		}
	}
	return configAt{}, false
}

// Close implements txlog.Log.
func (g *Group) Close() error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	g.epoch = 0
	g.waiters.Release(math.MaxUint64, txlog.ErrClosed)
	g.changed()
	g.mu.Unlock()
	close(g.stop)
	endPatience(g.o.Transport)
	err := g.raft.Shutdown().Error()
	g.done.Wait()
	return errors.Join(err, closeTransport(g.o.Transport), g.closeStores())
}

// AddVoter makes a node with an instance (see NodeInfo) a voter of the group, which this one leads.
func (g *Group) AddVoter(node, instance string) error {
	return g.raft.AddVoter(raft.ServerID(node), raft.ServerAddress(instance), 0, raftTimeout).Error()
}

// AddLearner makes a node with an instance a member that does not vote.
func (g *Group) AddLearner(node, instance string) error {
	return g.raft.AddNonvoter(raft.ServerID(node), raft.ServerAddress(instance), 0, raftTimeout).Error()
}

// Remove takes a member out of the group, which this node leads.
func (g *Group) Remove(node string) error {
	return g.raft.RemoveServer(raft.ServerID(node), 0, raftTimeout).Error()
}

// Complete tells whether this node has the state and everything that it knows to be agreed on.
func (g *Group) Complete() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.missing && g.applied.Load() > 0 && g.applied.Load() >= g.raft.CommitIndex()
}

// changed wakes everybody but those who wait for an entry. mu is held.
func (g *Group) changed() {
	g.advanced()
	g.cond.Broadcast()
	g.work.Signal()
	g.room.Broadcast()
}

// advanced wakes those who wait for what is applied, entries' waiters not among them. mu is held.
func (g *Group) advanced() {
	close(g.wake)
	g.wake = make(chan struct{})
}
