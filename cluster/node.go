package cluster

import (
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"herd/internal/vfs"
	"herd/txlog"
)

// Options configure a Node. Zero durations and sizes mean the defaults.
type Options struct {
	FS  vfs.FS
	Dir string // the node's own files; the groups' are where their databases are
	ID  string
	// Address is what the node listens on for others, Advertise where they reach it, "": the same. SQLAddress is where clients do.
	Address    string
	Advertise  string
	SQLAddress string
	// Join is the address of any node of the cluster that a node with a new folder joins; "": it begins a cluster.
	Join string
	Credentials
	// Stop, when it is closed, ends OpenNode, which may have to wait for others. May be nil.
	Stop <-chan struct{}
	// ElectionTimeout and the others: see GroupOptions.
	ElectionTimeout time.Duration
	// ReplicaTimeout is how long a node may be silent before its replicas are made on others; 0: for ever.
	ReplicaTimeout  time.Duration
	KeepBytes       int64
	Sync            txlog.SyncMode
	SyncInterval    time.Duration
	SegmentBytesMax int64
	KeepFreeBytes   uint64
	// ServeRate is the most bytes a second of databases' states that are sent to nodes which fetch them; 0: as fast as they are read.
	ServeRate int64
	Fatal     func(error)
	Logger    *slog.Logger
}

// Hooks are what a Node asks of the server around it. They are called from its goroutines.
type Hooks struct {
	// Create makes a database that another node has begun; Drop removes one.
	Create func(name string, oid uint32) error
	Drop   func(oid uint32) error
	// Listed returns the numbers in the list of databases, which this node leads; Unlist takes one off that has no store.
	Listed func() ([]uint32, error)
	Unlist func(oid uint32) error
	// Vacate ends or counts the sessions of a database that is being dropped, and lets nobody in unless there are any left; Reopen takes that
	// back.
	Vacate func(oid uint32, force bool) (users int, err error)
	Reopen func(oid uint32)
	// Lead: the node leads a database now.
	Lead func(oid uint32)
	// Session serves a client that another node relays; it takes the connection over.
	Session func(nc net.Conn, client net.Addr)
	// Bytes tells how large a database's files are; may be nil.
	Bytes func(oid uint32) int64
	// Sessions tells how many clients use a database here; may be nil.
	Sessions func(oid uint32) int
	// Message answers what another node asks the one that leads a database.
	Message func(oid uint32, message []byte) ([]byte, error)
	// Cancel passes a cancel request to the sessions of this node.
	Cancel func(pid, secret int32)
}

// nodeFile is what a node remembers of itself.
type nodeFile struct {
	ID       string
	Instance string
	Member   bool // it has begun a cluster or joined one
	Founder  bool // it has begun the cluster
	Ready    bool // the founder has made the first databases
}

const nodeFileName = "node.json"

// Node is one server of a cluster.
type Node struct {
	o        Options
	tls      *tls.Config
	listener net.Listener
	system   *system
	done     sync.WaitGroup
	stop     chan struct{}

	fileMu sync.Mutex // guards writing file
	file   nodeFile

	mu     sync.Mutex // guards what follows
	conns  map[net.Conn]struct{}
	layers map[uint32]*layer
	groups map[uint32]*Group
	hook   Hooks
	closed bool

	busy       map[uint32]bool // databases that this process makes or drops; guarded by mu
	suspecting map[uint32]bool // groups that somebody looks whether the leader of is gone; guarded by mu
	kick       chan struct{}
	settled    time.Time // when the list of databases was last looked at; the keeper's
	serving    pace
	draining   atomic.Bool // it is to lead nothing until it starts anew, unless it is told to
}

func vfsNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// OpenNode begins a cluster, joins one, or comes back to the one that its folder belongs to.
func OpenNode(o Options) (*Node, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Fatal == nil {
		o.Fatal = func(error) {}
	}
	if o.ID == "" || o.Address == "" {
		return nil, errors.New("a node of a cluster needs an id and a cluster address")
	}
	if !vfs.IsReal(o.FS) {
		return nil, errors.New("a node of a cluster needs the operating system's files")
	}
	n := &Node{o: o, stop: make(chan struct{}), conns: map[net.Conn]struct{}{}, layers: map[uint32]*layer{}, groups: map[uint32]*Group{},
		busy: map[uint32]bool{}, suspecting: map[uint32]bool{}, kick: make(chan struct{}, 1), serving: pace{rate: o.ServeRate}}
	if err := n.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("node %s: %w", o.ID, err), n.Close())
	}
	return n, nil
}

func (n *Node) open() (err error) {
	if n.tls, err = n.o.Credentials.config(); err != nil {
		return err
	}
	if err := n.o.FS.MkdirAll(labelCluster, n.o.Dir); err != nil {
		return err
	}
	if err := n.readFile(); err != nil {
		return err
	}
	if n.system, err = newSystem(&n.o); err != nil {
		return err
	}
	if n.listener, err = tls.Listen("tcp", n.o.Address, n.tls); err != nil {
		return fmt.Errorf("listen for nodes on %s: %w", n.o.Address, err)
	}
	if _, port, err := net.SplitHostPort(n.o.Address); err == nil && port == "0" {
		n.o.Address = n.listener.Addr().String()
	}
	l, t := n.transport(systemGroup)
	n.layers[systemGroup], n.system.trans = l, t
	if err := n.system.open(n, !n.file.Member && n.o.Join == ""); err != nil {
		return err
	}
	n.done.Add(1)
	go n.accept() // what comes earlier waits in the socket: answers need the system group
	if n.file.Member {
		return nil
	}
	if n.o.Join != "" {
		return n.join()
	}
	return n.found()
}

// self describes this node.
func (n *Node) self() NodeInfo {
	return NodeInfo{ID: n.o.ID, Instance: n.file.Instance, Address: cmp.Or(n.o.Advertise, n.o.Address), SQL: n.o.SQLAddress}
}

func (n *Node) readFile() error {
	p, err := vfs.ReadFile(n.o.FS, labelCluster, filepath.Join(n.o.Dir, nodeFileName))
	if vfsNotExist(err) {
		var b [16]byte
		rand.Read(b[:])
		return n.writeFile(func(f *nodeFile) { f.ID, f.Instance = n.o.ID, hex.EncodeToString(b[:]) })
	}
	if err == nil {
		err = json.Unmarshal(p, &n.file)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", nodeFileName, err)
	}
	if n.file.ID != n.o.ID {
		return fmt.Errorf("the folder belongs to node %s", n.file.ID)
	}
	return nil
}

func (n *Node) writeFile(change func(*nodeFile)) error {
	n.fileMu.Lock()
	defer n.fileMu.Unlock()
	f := n.file
	change(&f)
	p, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := vfs.WriteFileAtomic(n.o.FS, labelCluster, n.o.Dir, filepath.Join(n.o.Dir, nodeFileName), p); err != nil {
		return fmt.Errorf("write %s: %w", nodeFileName, err)
	}
	n.file = f
	return nil
}

// Founding tells whether this node has begun the cluster and the first databases are not made yet; Founded ends that.
func (n *Node) Founding() bool { return n.file.Founder && !n.file.Ready }

// Founded: see Founding.
func (n *Node) Founded() error { return n.writeFile(func(f *nodeFile) { f.Ready = true }) }

// Start lets the node do what needs the server around it: make databases, take sessions, keep memberships.
func (n *Node) Start(h Hooks) {
	n.mu.Lock()
	n.hook = h
	n.mu.Unlock()
	n.done.Add(3)
	go n.keep()
	go n.keepPlaces()
	go n.announce()
}

func (n *Node) hooks() Hooks {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hook
}

func (n *Node) layerOf(group uint32) *layer {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.layers[group]
}

func (n *Node) group(oid uint32) *Group {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.groups[oid]
}

// OpenLog opens the log of a database; a database that the cluster does not know is begun.
func (n *Node) OpenLog(x txlog.Opening) (txlog.Log, error) {
	state, _ := n.system.view()
	_, known := state.Databases[x.Database]
	l, t := n.transport(x.Database)
	n.mu.Lock()
	n.layers[x.Database] = l
	if !known && n.hook.Create != nil { // not one that a crash has left
		n.busy[x.Database] = true
	}
	n.mu.Unlock()
	g, err := OpenGroup(GroupOptions{
		FS: n.o.FS, Node: n.o.ID, Transport: t, Found: !known, ElectionTimeout: n.o.ElectionTimeout, KeepBytes: n.o.KeepBytes,
		Sync: n.o.Sync, SyncInterval: n.o.SyncInterval, SegmentBytesMax: n.o.SegmentBytesMax, KeepFreeBytes: n.o.KeepFreeBytes,
		Fetch: func(node string) (io.ReadWriteCloser, error) { return n.fetchState(x.Database, node) },
		OnLead: func() {
			if f := n.hooks().Lead; f != nil {
				f(x.Database)
			}
		},
		Logger: n.o.Logger,
	}, x)
	if err != nil {
		n.mu.Lock()
		if n.layers[x.Database] == l {
			delete(n.layers, x.Database)
		}
		n.mu.Unlock()
		return nil, errors.Join(err, closeTransport(t))
	}
	n.mu.Lock()
	n.groups[x.Database] = g
	n.mu.Unlock()
	return nodeLog{g, n}, nil
}

// nodeLog is a group that its node forgets when it closes.
type nodeLog struct {
	*Group
	node *Node
}

// Close implements txlog.Log.
func (l nodeLog) Close() error {
	oid := l.opening.Database
	l.node.mu.Lock()
	if l.node.groups[oid] == l.Group {
		delete(l.node.groups, oid)
		delete(l.node.layers, oid)
		delete(l.node.busy, oid)
	}
	l.node.mu.Unlock()
	return l.Group.Close()
}

// Close ends the node. The databases are closed already.
func (n *Node) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	for nc := range n.conns {
		nc.Close()
	}
	n.mu.Unlock()
	close(n.stop)
	var errs []error
	if n.listener != nil {
		errs = append(errs, n.listener.Close())
	}
	if n.system != nil {
		errs = append(errs, n.system.close())
	}
	n.done.Wait()
	return errors.Join(errs...)
}
