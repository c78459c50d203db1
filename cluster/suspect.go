package cluster

import (
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

// A leader whose process has ended is found out before its silence tells: connections from it break, and nobody listens where it did. The
// members that notice call for an election one after the other, in the order of their names. That it is one is Raft's to decide as ever.

const (
	// suspectDial is how long it is tried to reach a node that a connection from has broken.
	suspectDial = 300 * time.Millisecond
	// suspectTries and suspectPause: a process that ends loses its connections and what it listens on in any order.
	suspectTries = 6
	suspectPause = 25 * time.Millisecond
	// suspectTurn is how long a member lets the one before it try.
	suspectTurn = 100 * time.Millisecond
)

// memberConn is a connection from a member of a group that tells when it breaks.
type memberConn struct {
	net.Conn
	once   sync.Once
	broken func()
}

// Read implements io.Reader.
func (c *memberConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.once.Do(c.broken)
	}
	return n, err
}

// watch returns a connection for Raft's messages of a group that came from a node.
func (n *Node) watch(nc net.Conn, group uint32, from string) net.Conn {
	if from == "" {
		return nc
	}
	return &memberConn{Conn: nc, broken: func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.closed || n.suspecting[group] { // each member has several connections
			return
		}
		n.suspecting[group] = true
		n.done.Add(1)
		go func() {
			defer n.done.Done()
			n.suspect(group, from)
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.suspecting, group)
		}()
	}}
}

// suspect calls for an election of a group whose leader is a node that a connection from has broken, if that is gone.
func (n *Node) suspect(group uint32, from string) {
	r := n.raftOf(group)
	if r == nil || !ledBy(r, from) {
		return
	}
	x, ok := n.system.node(from)
	turn := turnOf(r, n.o.ID, from)
	if !ok || turn < 0 || !n.isGone(x.Address) || !n.sleep(time.Duration(turn)*suspectTurn) || !ledBy(r, from) {
		return
	}
	n.mu.Lock()
	l := n.layers[group]
	n.mu.Unlock()
	if l == nil {
		return
	}
	n.o.Logger.Info("the leader's process is gone, an election is called for", "group", group, "node", from)
	self := raft.ServerAddress(n.file.Instance)
	q := raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(n.o.ID),
		Addr: l.trans.EncodePeer(raft.ServerID(n.o.ID), self)}}
	if err := l.trans.TimeoutNow(raft.ServerID(n.o.ID), self, &q, &raft.TimeoutNowResponse{}); err != nil {
		n.o.Logger.Warn("an election could not be called for", "group", group, "error", err)
	}
}

// raftOf returns a group's Raft instance, nil: it is not open.
func (n *Node) raftOf(group uint32) *raft.Raft {
	if group == systemGroup {
		return n.system.raft
	}
	if g := n.group(group); g != nil {
		return g.raft
	}
	return nil
}

// ledBy tells whether no other than a node is known to lead a group.
func ledBy(r *raft.Raft, id string) bool {
	_, leader := r.LeaderWithID()
	return r.State() == raft.Follower && (leader == "" || string(leader) == id)
}

// turnOf returns how many voters of a group come before a node, -1: it is none. The one that is gone does not count.
func turnOf(r *raft.Raft, id, gone string) int {
	f := r.GetConfiguration()
	if f.Error() != nil {
		return -1
	}
	var voters []string
	for _, s := range f.Configuration().Servers {
		if s.Suffrage == raft.Voter && string(s.ID) != gone {
			voters = append(voters, string(s.ID))
		}
	}
	slices.SortFunc(voters, strings.Compare)
	return slices.Index(voters, id)
}

// sleep waits, and returns false when the node is closed.
func (n *Node) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-n.stop:
		return false
	}
}

// isGone tells whether nobody listens at an address, or does so no more in a moment.
func (n *Node) isGone(address string) bool {
	for range suspectTries {
		if refuses(address) {
			return true
		}
		if !n.sleep(suspectPause) {
			return false
		}
	}
	return false
}

// refuses tells whether nobody listens at an address of a machine that is up.
func refuses(address string) bool {
	nc, err := net.DialTimeout("tcp", address, suspectDial)
	if err == nil {
		nc.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
