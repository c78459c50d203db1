package cluster

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// spreadPatience is how long Spread waits for a node.
const spreadPatience = askPatience

// Leads tells whether this node leads a database and takes commits, as far as it knows.
func (n *Node) Leads(oid uint32) bool {
	g := n.group(oid)
	return g != nil && g.isServing()
}

// AskLeader has the node that leads a database answer a message, see Hooks.Message. When there is an error, sent tells whether the
// message may have been taken nevertheless.
func (n *Node) AskLeader(oid uint32, message []byte) (reply []byte, sent bool, err error) {
	r := request{Op: opLeader, OID: oid, Message: message}
	if n.Leads(oid) {
		a, err := n.serveMessage(r)
		return a.Message, false, err
	}
	x, err := n.leaderOf(oid)
	if err != nil {
		return nil, false, err
	}
	a, err := n.ask(x.Address, r)
	var unasked *unaskedError
	var refused *RefusedError
	return a.Message, err != nil && !errors.As(err, &unasked) && !errors.As(err, &refused), err
}

// leaderOf returns the node that this one takes for a database's leader.
func (n *Node) leaderOf(oid uint32) (NodeInfo, error) {
	g := n.group(oid)
	if g == nil {
		return n.findLeader(oid)
	}
	_, leader := g.raft.LeaderWithID()
	x, ok := n.system.node(string(leader))
	if !ok || x.ID == n.o.ID {
		return NodeInfo{}, fmt.Errorf("%q: %w", g.opening.Name, ErrNoDatabaseLeader)
	}
	return x, nil
}

// findLeader asks the nodes that hold a database which this one does not who leads it.
func (n *Node) findLeader(oid uint32) (NodeInfo, error) {
	state, _ := n.system.view()
	nodes, _ := state.wanted(oid)
	for id, x := range nodes {
		if id == n.o.ID {
			continue
		}
		a, err := n.askFor(x.Address, request{Op: opLeads, OID: oid}, askPatience)
		if err != nil {
			continue
		}
		if l, ok := n.system.node(a.ID); ok {
			return l, nil
		}
	}
	return NodeInfo{}, fmt.Errorf("%q: %w", state.Databases[oid].Name, ErrNoDatabaseLeader)
}

// ledBy tells who leads a database, as far as this node knows.
func (n *Node) ledBy(oid uint32) answer {
	g := n.group(oid)
	if g == nil {
		return answer{}
	}
	_, leader := g.raft.LeaderWithID()
	return answer{ID: string(leader)}
}

func (n *Node) serveMessage(r request) (answer, error) {
	f := n.hooks().Message
	if f == nil {
		return answer{}, fmt.Errorf("node %s has not begun to serve", n.o.ID)
	}
	p, err := f(r.OID, r.Message)
	return answer{Message: p}, err
}

// Spread returns when every node that can be reached has what was agreed on of a database that this node leads.
func (n *Node) Spread(oid uint32) {
	g := n.group(oid)
	if g == nil {
		return
	}
	r := request{Op: opApplied, OID: oid, Index: g.applied.Load()}
	state, _ := n.system.view()
	var wait sync.WaitGroup
	for id, x := range state.Nodes {
		if id == n.o.ID {
			continue
		}
		wait.Go(func() {
			if _, err := n.askFor(x.Address, r, spreadPatience+time.Second); err != nil {
				n.o.Logger.Info("a node does not have a change yet", "database", g.opening.Name, "node", id, "error", err)
			}
		})
	}
	wait.Wait()
}
