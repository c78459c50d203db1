package cluster

import (
	"time"

	"github.com/hashicorp/raft"
)

const (
	keepEvery = 500 * time.Millisecond
	// caughtUp is how many Raft entries a learner may be behind to become a voter.
	caughtUp = 500
)

// keep is the goroutine that brings databases and memberships to what the system group says.
func (n *Node) keep() {
	defer n.done.Done()
	for {
		state, changed := n.system.view()
		n.keepDatabases(state)
		if n.system.raft.State() == raft.Leader {
			n.keepMembers(systemGroup, n.system.raft, state)
		}
		for oid, g := range n.allGroups() {
			if !g.isLeader() {
				continue
			}
			n.keepMembers(oid, g.raft, state)
			n.handOver(oid, g, state)
		}
		select {
		case <-changed:
		case <-time.After(keepEvery):
		case <-n.stop:
			return
		}
	}
}

func (n *Node) allGroups() map[uint32]*Group {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make(map[uint32]*Group, len(n.groups))
	for oid, g := range n.groups {
		out[oid] = g
	}
	return out
}

// keepDatabases makes databases that others have begun and removes those that are dropped.
func (n *Node) keepDatabases(state systemState) {
	h := n.hooks()
	for oid, d := range state.Databases {
		if n.group(oid) != nil {
			continue
		}
		if err := h.Create(d.Name, oid); err != nil {
			n.o.Logger.Error("a database of the cluster could not be made here", "database", d.Name, "error", err)
		}
	}
	for oid := range n.allGroups() {
		if !state.Dropped[oid] {
			continue
		}
		if err := h.Drop(oid); err != nil {
			n.o.Logger.Warn("a dropped database could not be removed here", "number", oid, "error", err)
		}
	}
}

// keepMembers makes the members of a group that this node leads the nodes of the cluster: one change at a time.
func (n *Node) keepMembers(group uint32, r *raft.Raft, state systemState) {
	f := r.GetConfiguration()
	if err := f.Error(); err != nil {
		return
	}
	servers := map[string]raft.Server{}
	for _, s := range f.Configuration().Servers {
		servers[string(s.ID)] = s
		if string(s.ID) != n.o.ID && state.Gone[string(s.Address)] {
			n.change("remove member", group, s.ID, r.RemoveServer(s.ID, 0, raftTimeout).Error())
			return
		}
	}
	for id, x := range state.Nodes {
		s, ok := servers[id]
		switch {
		case !ok && !state.Gone[x.Instance]:
			n.change("add learner", group, raft.ServerID(id), r.AddNonvoter(raft.ServerID(id), raft.ServerAddress(x.Instance), 0, raftTimeout).Error())
			return
		case ok && s.Suffrage == raft.Nonvoter && n.isCaughtUp(group, r, x):
			n.change("make voter", group, s.ID, r.AddVoter(s.ID, s.Address, 0, raftTimeout).Error())
			return
		}
	}
}

func (n *Node) change(what string, group uint32, id raft.ServerID, err error) {
	if err != nil {
		n.o.Logger.Warn(what, "group", group, "node", string(id), "error", err)
		return
	}
	n.o.Logger.Info(what, "group", group, "node", string(id))
}

// isCaughtUp asks a node how far it is.
func (n *Node) isCaughtUp(group uint32, r *raft.Raft, x NodeInfo) bool {
	a, err := n.askFor(x.Address, request{Op: opProgress, OID: group}, askPatience) // one that does not answer must not keep the others long
	return err == nil && a.Known && a.Index+caughtUp >= r.CommitIndex() && a.Instance == x.Instance
}

// handOver gives the leadership of a database to the node that leads the system group: what concerns all databases (roles,
// CREATE DATABASE) is then done where the sessions are.
func (n *Node) handOver(oid uint32, g *Group, state systemState) {
	to := n.system.leader()
	if to == "" || to == n.o.ID {
		return
	}
	x, ok := state.Nodes[to]
	if !ok || !g.isServing() || !n.isVoter(g.raft, to) || !n.isCaughtUp(oid, g.raft, x) {
		return
	}
	if err := g.raft.LeadershipTransferToServer(raft.ServerID(to), raft.ServerAddress(x.Instance)).Error(); err != nil {
		n.o.Logger.Info("leadership stays", "database", g.opening.Name, "wanted", to, "error", err)
	}
}

func (n *Node) isVoter(r *raft.Raft, id string) bool {
	s, ok := memberOf(r, id)
	return ok && s.Suffrage == raft.Voter
}

func isMember(r *raft.Raft, id string) bool {
	_, ok := memberOf(r, id)
	return ok
}

// memberOf looks a node up in a group, as this one knows it.
func memberOf(r *raft.Raft, id string) (raft.Server, bool) {
	f := r.GetConfiguration()
	if f.Error() != nil {
		return raft.Server{}, false
	}
	for _, s := range f.Configuration().Servers {
		if string(s.ID) == id {
			return s, true
		}
	}
	return raft.Server{}, false
}

// isServing tells whether the database leads and takes commits.
func (g *Group) isServing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.serving
}
