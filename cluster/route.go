package cluster

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// routePatience is how long a session waits for its database's leader.
const routePatience = 10 * time.Second

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
		g := n.group(d.OID)
		if !ok || g == nil { // just made, it will be here at once
			return fmt.Errorf("%q: %w", database, ErrNoDatabaseLeader)
		}
		if g.isServing() {
			return nil
		}
		_, leader := g.raft.LeaderWithID()
		if leader == "" || string(leader) == n.o.ID {
			return fmt.Errorf("%q: %w", database, ErrNoDatabaseLeader)
		}
		x, ok := n.system.node(string(leader))
		if !ok {
			return fmt.Errorf("%q: %w", database, ErrNoDatabaseLeader)
		}
		nc, err := dial(n.tls, x.Address, dialTimeout, hello{For: forSession, Client: client.String()})
		out = nc
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
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
	for id, x := range state.Nodes {
		if id == n.o.ID {
			continue
		}
		if _, err := n.ask(x.Address, request{Op: opCancel, PID: pid, Secret: secret}); err != nil {
			n.o.Logger.Debug("pass a cancel request on", "node", id, "error", err)
		}
	}
}

// Verify returns when this node is known to lead a database at a moment after the call, see Group.Verify.
func (n *Node) Verify(oid uint32) error {
	g := n.group(oid)
	if g == nil {
		return fmt.Errorf("database %d has no Raft group", oid)
	}
	return g.Verify()
}
