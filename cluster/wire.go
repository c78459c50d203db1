package cluster

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// What a connection between nodes is for.
const (
	forRaft    = "raft"    // a group's Raft messages
	forState   = "state"   // a database's state, from its leader
	forSession = "session" // a client's session, relayed
	forRequest = "request" // one request and its answer
)

// hello is the first message of a connection: length u32, then JSON.
type hello struct {
	For    string
	Group  uint32 `json:",omitempty"`
	Client string `json:",omitempty"` // of a session: address of the client
	To     string `json:",omitempty"` // of Raft messages: the instance meant, not one that has lost its disk since
	From   string `json:",omitempty"` // of Raft messages: the node that sends them
}

const (
	messageMax  = 1 << 20
	dialTimeout = 5 * time.Second
)

func writeMessage(w io.Writer, v any) error {
	p, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(p) > messageMax {
		return fmt.Errorf("a message of %d bytes between nodes is too long", len(p))
	}
	_, err = w.Write(append(le.AppendUint32(nil, uint32(len(p))), p...))
	return err
}

func readMessage(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := le.Uint32(head[:])
	if n > messageMax {
		return fmt.Errorf("a message of %d bytes between nodes is too long", n)
	}
	p := make([]byte, n)
	if _, err := io.ReadFull(r, p); err != nil {
		return err
	}
	return json.Unmarshal(p, v)
}

// dial opens a connection to a node's cluster address.
func dial(config *tls.Config, address string, timeout time.Duration, h hello) (net.Conn, error) {
	nc, err := tls.DialWithDialer(&net.Dialer{Timeout: timeout}, "tcp", address, config)
	if err != nil {
		return nil, fmt.Errorf("connect to cluster address %s: %w", address, err)
	}
	_ = nc.SetDeadline(time.Now().Add(timeout)) // fails only on a closed connection, which the write tells
	if err := writeMessage(nc, h); err != nil {
		nc.Close()
		return nil, fmt.Errorf("connect to cluster address %s: %w", address, err)
	}
	_ = nc.SetDeadline(time.Time{})
	return nc, nil
}

// layer is one group's part of a node's port, for Raft's transport.
type layer struct {
	node  *Node
	group uint32
	trans *transport

	once   sync.Once
	conns  chan net.Conn
	closed chan struct{}
}

var _ raft.StreamLayer = (*layer)(nil)

func newLayer(n *Node, group uint32) *layer {
	return &layer{node: n, group: group, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// deliver hands an incoming connection to Raft.
func (l *layer) deliver(nc net.Conn) {
	select {
	case l.conns <- nc:
	case <-l.closed:
		nc.Close()
	}
}

// Accept implements net.Listener.
func (l *layer) Accept() (net.Conn, error) {
	select {
	case nc := <-l.conns:
		return nc, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *layer) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener: what members of a group call this node by. It is no network address, see system.go.
func (l *layer) Addr() net.Addr { return instanceAddr(l.node.file.Instance) }

// Dial implements raft.StreamLayer.
func (l *layer) Dial(instance raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	if timeout <= 0 {
		timeout = dialTimeout
	}
	x, ok := l.node.system.instance(string(instance))
	if !ok {
		return nil, fmt.Errorf("where the node with folder %s is, is not known", instance)
	}
	return dial(l.node.tls, x.Address, timeout, hello{For: forRaft, Group: l.group, To: x.Instance, From: l.node.o.ID})
}

type instanceAddr string

// Network implements net.Addr.
func (instanceAddr) Network() string { return "herd" }

// String implements net.Addr.
func (a instanceAddr) String() string { return string(a) }

// transport returns Raft's transport for a group.
func (n *Node) transport(group uint32) (*layer, raft.Transport) {
	l := newLayer(n, group)
	l.trans = &transport{layer: l, quit: make(chan struct{}), NetworkTransport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: l, MaxPool: stalePool, Timeout: raftTimeout, Logger: raftLogger(n.o.Logger),
	})}
	return l, l.trans
}

func closeTransport(t raft.Transport) error {
	if c, ok := t.(raft.WithClose); ok {
		return c.Close()
	}
	return nil
}

// accept is the goroutine that takes connections of other nodes.
func (n *Node) accept() {
	defer n.done.Done()
	for {
		nc, err := n.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			n.o.Logger.Warn("accept a node", "error", err)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		if !n.track(nc, true) {
			nc.Close()
			return
		}
		go n.serve(nc)
	}
}

// track notes open connections, which Close ends.
func (n *Node) track(nc net.Conn, add bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !add {
		delete(n.conns, nc)
		return true
	}
	if n.closed {
		return false
	}
	n.conns[nc] = struct{}{}
	n.done.Add(1)
	return true
}

// serve finds out what a connection is for.
func (n *Node) serve(nc net.Conn) {
	defer n.done.Done()
	defer n.track(nc, false)
	var h hello
	_ = nc.SetDeadline(time.Now().Add(dialTimeout)) // fails only on a closed connection, which the read tells
	if err := readMessage(nc, &h); err != nil {
		n.o.Logger.Debug("a connection to the cluster port was refused", "remote", nc.RemoteAddr().String(), "error", err)
		nc.Close()
		return
	}
	_ = nc.SetDeadline(time.Time{})
	switch h.For {
	case forRaft:
		if h.To != n.file.Instance {
			break
		}
		if l := n.awaitLayer(h.Group); l != nil {
			l.deliver(n.watch(nc, h.Group, h.From))
			return
		}
	case forState:
		n.sendState(nc, h.Group)
	case forSession:
		if f := n.hooks().Session; f != nil {
			f(nc, clientAddr(h.Client))
			return
		}
	case forRequest:
		n.answer(nc)
	}
	nc.Close()
}

// layerPatience is how long a connection waits for a group that is not open here: a leader's first comes before a new member knows of it.
const layerPatience = 2 * time.Second

// awaitLayer returns a group's layer, nil when it is not there in time.
func (n *Node) awaitLayer(group uint32) *layer {
	for end := time.Now().Add(layerPatience); ; {
		if l := n.layerOf(group); l != nil || time.Now().After(end) {
			return l
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-n.stop:
			return nil
		}
	}
}

func clientAddr(s string) net.Addr {
	a, err := net.ResolveTCPAddr("tcp", s)
	if err != nil {
		return &net.TCPAddr{}
	}
	return a
}

// sendState gives a database's state to the node at the other end.
func (n *Node) sendState(nc net.Conn, group uint32) {
	g := n.group(group)
	if g == nil {
		return
	}
	inBackground()
	if err := g.Serve(pacedConn{nc, &n.serving, n.stop}); err != nil {
		n.o.Logger.Warn("a database's state could not be sent", "database", g.opening.Name, "to", nc.RemoteAddr().String(), "error", err)
	}
}

// fetchState connects with a node that is to give the state of a group's database.
func (n *Node) fetchState(group uint32, node string) (io.ReadWriteCloser, error) {
	x, ok := n.system.node(node)
	if !ok {
		return nil, fmt.Errorf("the address of node %s is not known", node)
	}
	nc, err := dial(n.tls, x.Address, dialTimeout, hello{For: forState, Group: group})
	if err != nil {
		return nil, err
	}
	return pacedConn{nc, &pace{}, n.stop}, nil
}
