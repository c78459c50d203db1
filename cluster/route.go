package cluster

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// routePatience is how long a session waits for its database's leader.
const routePatience = 10 * time.Second

// routeDial is how long a leader may take to answer before it is asked again who leads: it may be stopped, or cut off.
const routeDial = time.Second

// ErrNoDatabaseLeader: nobody is known to lead a database.
var ErrNoDatabaseLeader = errors.New("the database has no leader at the moment")

// Route returns a connection to the node that leads a database, nil when that is this one or the cluster does not know the
// database. What client is told the other node, for which the connection is the client's from there on.
func (n *Node) Route(database string, client net.Addr) (net.Conn, error) {
	known, err := n.knows(database)
	if err != nil || !known {
		return nil, err
	}
	var out net.Conn
	err = n.until(routePatience, func() error {
		d, ok := n.system.database(database)
		if !ok { // just made, it will be here at once
			return fmt.Errorf("%q: %w", database, ErrNoDatabaseLeader)
		}
		if n.Leads(d.OID) {
			return nil
		}
		x, err := n.leaderOf(d.OID)
		if err != nil {
			return err
		}
		nc, err := dial(n.tls, x.Address, routeDial, hello{For: forSession, Client: client.String()})
		if err == nil {
			out = n.watched(nc, d.OID, x.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

const (
	// relayGrace is how long a relayed session stays on a node that leads no more, for the node itself to end it.
	relayGrace = time.Second
	// relayPatience is how long one stays while this node hears of no leader at all.
	relayPatience = routePatience
)

// watchedConn is a relayed session's connection, which ends when another node leads the database and the one it goes to does not say
// so: it may be stopped, or cut off. It ends as well when this node is the one that is cut off.
type watchedConn struct {
	net.Conn
	once sync.Once
	gone chan struct{}
}

// Close implements net.Conn.
func (c *watchedConn) Close() error {
	c.once.Do(func() { close(c.gone) })
	return c.Conn.Close()
}

func (n *Node) watched(nc net.Conn, oid uint32, node string) net.Conn {
	c := &watchedConn{Conn: nc, gone: make(chan struct{})}
	go func() {
		const often = 250 * time.Millisecond
		tick := time.NewTicker(often)
		defer tick.Stop()
		for elsewhere, nowhere := time.Duration(0), time.Duration(0); elsewhere < relayGrace && nowhere < relayPatience; {
			select {
			case <-c.gone:
				return
			case <-n.stop:
				return
			case <-tick.C:
			}
			g := n.group(oid)
			if g == nil { // no replica is here: the node that has one says when it leads no more, or does not answer
				continue
			}
			switch _, leader := g.raft.LeaderWithID(); string(leader) {
			case node:
				elsewhere, nowhere = 0, 0
			case "":
				elsewhere, nowhere = 0, nowhere+often
			default:
				elsewhere, nowhere = elsewhere+often, 0
			}
		}
		c.Close()
	}()
	return c
}

// knows tells whether the cluster has a database. One that was just made may not be known here yet.
func (n *Node) knows(database string) (bool, error) {
	if _, ok := n.system.database(database); ok {
		return true, nil
	}
	leader := n.system.leader()
	if leader == n.o.ID {
		return false, nil
	}
	x, ok := n.system.node(leader)
	if !ok {
		return false, errNoLeader
	}
	a, err := n.ask(x.Address, request{Op: opFind, Database: &DatabaseInfo{Name: database}})
	return a.Known, err
}

// Serves tells whether this node leads a database, or knows nothing of it.
func (n *Node) Serves(database string) bool {
	d, ok := n.system.database(database)
	if !ok {
		return true
	}
	g := n.group(d.OID)
	return g != nil && g.isServing()
}

// CancelElsewhere passes a cancel request that no session of this node was meant by to the other nodes.
func (n *Node) CancelElsewhere(pid, secret int32) {
	state, _ := n.system.view()
	var wait sync.WaitGroup
	for id, x := range state.Nodes {
		if id == n.o.ID {
			continue
		}
		wait.Go(func() { // one that does not answer keeps no other
			if _, err := n.askFor(x.Address, request{Op: opCancel, PID: pid, Secret: secret}, askPatience); err != nil {
				n.o.Logger.Debug("pass a cancel request on", "node", id, "error", err)
			}
		})
	}
	wait.Wait()
}

// Verify returns when this node is known to lead a database at a moment after the call, see Group.Verify.
func (n *Node) Verify(oid uint32) error {
	g := n.group(oid)
	if g == nil {
		return fmt.Errorf("database %d has no Raft group", oid)
	}
	return g.Verify()
}
