package cluster

import (
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// Overview is what all nodes that can be reached know together.
type Overview struct {
	Node      string // that asked the others
	Leader    string // of the system group, "" when none is known
	Nodes     []NodeOverview
	Databases []DatabaseOverview
}

// NodeOverview is one node.
type NodeOverview struct {
	NodeInfo
	Self  bool
	Leads bool // the system group
	// Draining: leaderships are not moved to it.
	Draining bool
	Failed   string // why it could not be asked, "" when it could
}

// DatabaseOverview is one database. Without a leader that can be reached its replicas' lag is not known.
type DatabaseOverview struct {
	DatabaseInfo
	Leader   string
	Term     uint64
	Entry    uint64
	Sessions int // of clients, on the leader
	Replicas []ReplicaOverview
}

// ReplicaOverview is one replica.
type ReplicaOverview struct {
	Node    string
	Address string // for clients
	Voter   bool
	State   ReplicaState
	Known   bool // the node could be asked: what follows is known
	Local   LocalReplica
	LagOf   bool // the lag is known
	Entries uint64
	Lag     time.Duration
}

// ReplicaState says what a replica does.
type ReplicaState string

// The states.
const (
	Serving     ReplicaState = "serving"     // it leads and takes commits
	Starting    ReplicaState = "starting"    // it was elected and does not take commits yet
	Streaming   ReplicaState = "streaming"   // it follows and has about all
	CatchingUp  ReplicaState = "catching up" // it follows and lacks entries
	Fetching    ReplicaState = "fetching"    // it gets the state from the leader
	CutOff      ReplicaState = "cut off"     // it has not heard from a leader for a while
	Unreachable ReplicaState = "unreachable" // it could not be asked
	Absent      ReplicaState = "absent"      // the node has no replica yet
)

// LocalReplica is what a node tells of its replica of a database.
type LocalReplica struct {
	OID        uint32
	Leads      bool // Raft says so
	Serving    bool
	Term       uint64
	Entry      uint64
	Missing    bool  `json:",omitempty"` // the state is fetched
	Fetched    int64 `json:",omitempty"` // bytes of states fetched since the start
	FetchDone  int64 `json:",omitempty"` // bytes of the state being fetched that are here, of FetchTotal
	FetchTotal int64 `json:",omitempty"`
	CutOff     bool  `json:",omitempty"`
	Sessions   int   `json:",omitempty"`
	LogBytes   int64
	DataBytes  int64
	Members    []ReplicaStatus
	History    []pastEntry `json:",omitempty"` // of a leader
}

// pastEntry: the state came to contain more than the entry before, up to Entry, since that long ago.
type pastEntry struct {
	Ago   time.Duration
	Entry uint64
}

// askPatience bounds what is asked of all nodes at once.
const askPatience = 2 * time.Second

// Overview asks all nodes.
func (n *Node) Overview() *Overview {
	state, _ := n.system.view()
	out := &Overview{Node: n.o.ID, Leader: n.system.leader()}
	for _, x := range state.Nodes {
		out.Nodes = append(out.Nodes, NodeOverview{NodeInfo: x, Self: x.ID == n.o.ID, Leads: x.ID == out.Leader})
	}
	sort.Slice(out.Nodes, func(i, j int) bool { return out.Nodes[i].ID < out.Nodes[j].ID })
	locals := n.askAll(out.Nodes)
	for _, d := range state.Databases {
		out.Databases = append(out.Databases, overviewOf(d, out.Nodes, locals))
	}
	sort.Slice(out.Databases, func(i, j int) bool { return out.Databases[i].OID < out.Databases[j].OID })
	return out
}

// askAll asks every node what it has, and notes who does not answer.
func (n *Node) askAll(nodes []NodeOverview) map[string]map[uint32]LocalReplica {
	var mu sync.Mutex
	var wait sync.WaitGroup
	out := map[string]map[uint32]LocalReplica{}
	for i := range nodes {
		wait.Go(func() {
			x := &nodes[i]
			list := n.local()
			x.Draining = n.draining.Load()
			if !x.Self {
				a, err := n.askFor(x.Address, request{Op: opLocal}, askPatience)
				if err != nil {
					x.Failed = err.Error()
					return
				}
				list, x.Draining = a.Local, a.Draining
			}
			mu.Lock()
			defer mu.Unlock()
			out[x.ID] = map[uint32]LocalReplica{}
			for _, r := range list {
				out[x.ID][r.OID] = r
			}
		})
	}
	wait.Wait()
	return out
}

func overviewOf(d DatabaseInfo, nodes []NodeOverview, locals map[string]map[uint32]LocalReplica) DatabaseOverview {
	out := DatabaseOverview{DatabaseInfo: d}
	var leader *LocalReplica
	members := map[string]bool{} // voter
	for _, x := range nodes {
		r, ok := locals[x.ID][d.OID]
		if !ok {
			continue
		}
		if r.Leads && (leader == nil || r.Term > leader.Term) {
			leader, out.Leader = &r, x.ID
		}
		for _, m := range r.Members {
			members[m.Node] = m.Voter
		}
	}
	if leader != nil {
		out.Term, out.Entry, out.Sessions = leader.Term, leader.Entry, leader.Sessions
		clear(members)
		for _, m := range leader.Members {
			members[m.Node] = m.Voter
		}
	}
	for _, x := range nodes {
		voter, member := members[x.ID]
		r, there := locals[x.ID][d.OID]
		if !member && !there {
			continue
		}
		v := ReplicaOverview{Node: x.ID, Address: x.SQL, Voter: voter, Known: there, Local: r}
		if there && leader != nil {
			v.LagOf = true
			if leader.Entry > r.Entry {
				v.Entries = leader.Entry - r.Entry
			}
			v.Lag = leader.lag(r.Entry)
		}
		v.State = stateOf(&v, x.Failed != "")
		out.Replicas = append(out.Replicas, v)
	}
	return out
}

func (r *LocalReplica) lag(entry uint64) time.Duration {
	for _, p := range r.History {
		if p.Entry > entry {
			return p.Ago
		}
	}
	return 0
}

func stateOf(v *ReplicaOverview, failed bool) ReplicaState {
	switch r := &v.Local; {
	case failed:
		return Unreachable
	case !v.Known:
		return Absent
	case r.Serving:
		return Serving
	case r.Leads:
		return Starting
	case r.Missing:
		return Fetching
	case r.CutOff:
		return CutOff
	case v.LagOf && v.Entries > caughtUp:
		return CatchingUp
	}
	return Streaming
}

// local tells what this node has.
func (n *Node) local() []LocalReplica {
	var out []LocalReplica
	for oid, g := range n.allGroups() {
		r := g.local()
		r.OID = oid
		if f := n.hooks().Bytes; f != nil {
			r.DataBytes = f(oid)
		}
		if f := n.hooks().Sessions; f != nil {
			r.Sessions = f(oid)
		}
		out = append(out, r)
	}
	return out
}

// historyTold is how many moments a leader tells at most.
const historyTold = 40

func (g *Group) local() LocalReplica {
	now := time.Now()
	r := LocalReplica{Leads: g.isLeader(), Term: g.raft.CurrentTerm(), Entry: uint64(g.Durable()), LogBytes: g.Bytes(), Fetched: g.counts.fetched.Load()}
	r.FetchDone, r.FetchTotal = g.fetchProgress()
	r.CutOff = !r.Leads && now.Sub(g.raft.LastContact()) > 2*g.o.ElectionTimeout
	if f := g.raft.GetConfiguration(); f.Error() == nil {
		for _, m := range f.Configuration().Servers {
			r.Members = append(r.Members, ReplicaStatus{string(m.ID), m.Suffrage == raft.Voter})
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r.Serving, r.Missing = g.serving, g.missing || g.counts.fetching.Load()
	if r.Leads {
		r.History = g.history.told(now)
	}
	return r
}

// told returns the history in few moments, oldest first, each at most two fifths longer than the time since it. What is told as one is
// told as of its beginning: a lag may seem longer, never shorter.
func (h *history) told(now time.Time) []pastEntry {
	var out []pastEntry
	for i := len(h.list) - 1; i >= 0; {
		seq, limit := h.list[i].seq, now.Sub(h.list[i].from)*7/5+historyStep
		for i > 0 && (now.Sub(h.list[i-1].from) <= limit || len(out) == historyTold-1) {
			i--
		}
		out = append(out, pastEntry{now.Sub(h.list[i].from), uint64(seq)})
		i--
	}
	slices.Reverse(out)
	return out
}
