package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// joinPatience is how long a new node asks to be let in, and how long a founder waits to lead.
	joinPatience = 60 * time.Second
	retryEvery   = 200 * time.Millisecond
)

// errStopped: the node is being closed.
var errStopped = errors.New("the node is stopping")

// errRemoved: a node was removed from the cluster. Its data is of no use to it any more.
var errRemoved = errors.New("was removed from the cluster; it can join again with an empty base folder")

// until calls f until it returns nil, for at most a time.
func (n *Node) until(patience time.Duration, f func() error) error {
	for end := time.Now().Add(patience); ; {
		err := f()
		if err == nil || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(retryEvery):
		case <-n.stop:
			return errStopped
		case <-n.o.Stop:
			return errStopped
		}
	}
}

// found begins a cluster: the system group has this node as its only member, and knows it.
func (n *Node) found() error {
	self := n.self()
	err := n.until(joinPatience, func() error { return n.system.apply(command{Node: &self}) })
	if err != nil {
		return fmt.Errorf("begin a cluster: %w", err)
	}
	return n.writeFile(func(f *nodeFile) { f.Member, f.Founder = true, true })
}

// join asks a node of the cluster to be let in and waits until the system group's state is here.
func (n *Node) join() error {
	self := n.self()
	var last error // why asking again would not help
	err := n.until(joinPatience, func() error {
		_, err := n.ask(n.o.Join, request{Op: opJoin, Node: &self})
		if err != nil && isFinal(err) {
			last = err
			return nil
		}
		return err
	})
	if err = errors.Join(err, last); err != nil {
		return fmt.Errorf("join the cluster at %s: %w", n.o.Join, err)
	}
	err = n.until(joinPatience, func() error {
		state, _ := n.system.view()
		if x, ok := state.Nodes[n.o.ID]; !ok || x.Instance != n.file.Instance {
			return errors.New("the system group does not know this node yet")
		}
		if len(state.Databases) == 0 {
			return errors.New("the cluster has no databases yet")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("join the cluster at %s: %w", n.o.Join, err)
	}
	return n.writeFile(func(f *nodeFile) { f.Member = true })
}

// admit lets a node in: it becomes known, and a learner of the system group. This node leads that group.
func (n *Node) admit(x NodeInfo) error {
	if x.ID == "" || x.Instance == "" || x.Address == "" {
		return errors.New("a node without id, instance or address asks to join")
	}
	if n.system.isGone(x.Instance) { // it may tell an address of its while it does not know that it was removed
		return fmt.Errorf("node %s: %w", x.ID, errRemoved)
	}
	old, known := n.system.node(x.ID)
	if known && old.Instance != x.Instance {
		if a, err := n.askFor(old.Address, request{Op: opProgress, OID: systemGroup}, askPatience); err == nil && a.Instance == old.Instance {
			return refused("node %s runs already, at %s: a node with another folder needs a name of its own", x.ID, old.Address)
		}
		// It has lost its disk. As a voter it could elect a leader that lacks what it has acknowledged before.
		n.o.Logger.Info("a node joins anew: it has another folder", "node", x.ID)
		if err := n.system.raft.RemoveServer(raft.ServerID(x.ID), 0, raftTimeout).Error(); err != nil {
			return fmt.Errorf("remove node %s as it was: %w", x.ID, err)
		}
	}
	if !known || old != x {
		if err := n.system.apply(command{Node: &x}); err != nil {
			return fmt.Errorf("make node %s known: %w", x.ID, err)
		}
	}
	if known && old.Instance == x.Instance {
		return nil
	}
	err := n.system.raft.AddNonvoter(raft.ServerID(x.ID), raft.ServerAddress(x.Instance), 0, raftTimeout).Error()
	if err != nil {
		return fmt.Errorf("add node %s as a learner: %w", x.ID, err)
	}
	return nil
}

// announce is the goroutine that tells the cluster where this node is, when that has changed.
func (n *Node) announce() {
	defer n.done.Done()
	for {
		known, _ := n.system.node(n.o.ID)
		if self := n.self(); known != self && known.Instance == self.Instance {
			if err := n.update(request{Op: opJoin, Node: &self}); err != nil {
				n.o.Logger.Debug("tell the cluster this node's address", "error", err)
			}
		}
		select {
		case <-time.After(5 * retryEvery):
		case <-n.stop:
			return
		}
	}
}

// update has the system group's leader do something: this node, or one that is asked until some node knows the leader.
func (n *Node) update(r request) error {
	var last error // why trying again would not help
	err := n.until(raftTimeout, func() error {
		_, err := n.handle(r)
		if err != nil && isFinal(err) {
			last = err
			return nil
		}
		if !errors.Is(err, errNoLeader) {
			return err
		}
		state, _ := n.system.view()
		for id, x := range state.Nodes { // nobody is known to lead: the others may know
			if id == n.o.ID {
				continue
			}
			if _, err = n.ask(x.Address, r); err == nil {
				return nil
			}
		}
		return err
	})
	return errors.Join(err, last)
}

// Await returns when a database that was just made leads here and the cluster knows it, as one that this node is making, see Settle.
func (n *Node) Await(oid uint32, p Placement) error {
	g := n.group(oid)
	if g == nil {
		return fmt.Errorf("database %d has no Raft group", oid)
	}
	err := n.until(joinPatience, func() error {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.serving {
			return fmt.Errorf("this node does not lead database %q", g.opening.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	d := DatabaseInfo{OID: oid, Name: g.opening.Name, Placement: p, By: n.file.Instance}
	if oid < firstDatabase {
		d.By = ""
		n.setBusy(oid, false)
	}
	return n.update(request{Op: opRegister, Database: &d})
}

// register takes a database up. This node leads the system group.
func (n *Node) register(d DatabaseInfo) error {
	state, _ := n.system.view()
	if _, known := state.Databases[d.OID]; !known && d.Replicas > 0 {
		maker := DatabaseInfo{Placement: d.Placement}
		for id, x := range state.Nodes {
			if x.Instance == d.By { // it has it already
				maker.Held = []string{id}
			}
		}
		d.Held = choose(maker, state.Nodes, state.load(), func(string) bool { return false })
	}
	defer n.replace()
	return n.system.apply(command{Database: &d})
}
