package cluster

import (
	"cmp"
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
			n.keepMembers(systemGroup, n.system.raft, &state)
		}
		for oid, g := range n.allGroups() {
			if !g.isLeader() {
				continue
			}
			n.keepMembers(oid, g.raft, &state)
		}
		n.keepTimeouts(&state)
		if n.Leads(systemDatabase) && !n.Founding() {
			n.settleAll(&state)
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

// keepDatabases removes databases that are dropped, or are of no use here, and makes those that others have begun.
func (n *Node) keepDatabases(state systemState) {
	h := n.hooks()
	for oid := range n.allGroups() {
		if !state.Dropped[oid] && !n.isSpare(oid, &state) && !n.isOrphan(oid, &state) {
			continue
		}
		if err := h.Drop(oid); err != nil {
			n.o.Logger.Warn("a database could not be removed here", "number", oid, "dropped", state.Dropped[oid], "error", err)
		}
	}
	for oid, d := range state.Databases {
		if nodes, ok := state.wanted(oid); n.group(oid) != nil || !ok || nodes[n.o.ID].Instance != n.file.Instance {
			continue
		}
		if err := h.Create(d.Name, oid); err != nil {
			n.o.Logger.Error("a database of the cluster could not be made here", "database", d.Name, "error", err)
		}
	}
}

// isSpare tells whether the replica of a database here is of no use: another node is to hold it, and its leader, which has proved that it is
// one, says that this node is no member.
func (n *Node) isSpare(oid uint32, state *systemState) bool {
	nodes, ok := state.wanted(oid)
	if _, wanted := nodes[n.o.ID]; !ok || wanted {
		return false
	}
	for _, x := range nodes {
		a, err := n.askFor(x.Address, request{Op: opMember, OID: oid, ID: n.o.ID}, askPatience)
		if err == nil && a.Known {
			return !a.Member
		}
	}
	return false
}

// membership tells whether a node is a member of a database's group, when this one is known to lead it.
func (n *Node) membership(r request) (answer, error) {
	g := n.group(r.OID)
	if g == nil {
		return answer{}, nil
	}
	if err := g.Verify(); err != nil {
		return answer{}, nil // it does not lead, so it does not know
	}
	return answer{Known: true, Member: isMember(g.raft, r.ID)}, nil
}

// keepTimeouts has the groups wait for silent leaders as long as their databases' placement says.
func (n *Node) keepTimeouts(state *systemState) {
	for oid, g := range n.allGroups() {
		d, ok := state.Databases[oid]
		if !ok {
			continue
		}
		if err := g.setElectionTimeout(cmp.Or(d.LeaderTimeout, g.o.ElectionTimeout)); err != nil {
			n.o.Logger.Warn("set the time that followers wait for a leader", "database", d.Name, "error", err)
		}
	}
}

// keepMembers makes the members of a group that this node leads the nodes that are wanted: one change at a time.
func (n *Node) keepMembers(group uint32, r *raft.Raft, state *systemState) {
	nodes, ok := state.wanted(group)
	if !ok {
		return
	}
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
	whole := true // every node that is wanted votes
	for id, x := range nodes {
		s, ok := servers[id]
		switch {
		case !ok && !state.Gone[x.Instance]:
			n.change("add learner", group, raft.ServerID(id), r.AddNonvoter(raft.ServerID(id), raft.ServerAddress(x.Instance), 0, raftTimeout).Error())
			return
		case ok && s.Suffrage == raft.Nonvoter && n.isCaughtUp(group, r, x):
			n.change("make voter", group, s.ID, r.AddVoter(s.ID, s.Address, 0, raftTimeout).Error())
			return
		}
		whole = whole && ok && s.Suffrage == raft.Voter
	}
	if whole {
		n.dropSpare(group, r, servers, nodes)
	}
}

// dropSpare takes a member out of a group that is not wanted there any more. This node itself hands the leadership over before.
func (n *Node) dropSpare(group uint32, r *raft.Raft, servers map[string]raft.Server, nodes map[string]NodeInfo) {
	for id, s := range servers {
		if _, wanted := nodes[id]; wanted {
			continue
		}
		if id != n.o.ID {
			n.change("remove spare member", group, s.ID, r.RemoveServer(s.ID, 0, raftTimeout).Error())
			return
		}
		for to, x := range nodes {
			if n.isCaughtUp(group, r, x) {
				n.change("hand over", group, raft.ServerID(to), r.LeadershipTransferToServer(raft.ServerID(to), raft.ServerAddress(x.Instance)).Error())
				return
			}
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
