package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// Placement is what is wanted of a database's replicas. The zero value: one on every node, led by any.
type Placement struct {
	Replicas int      `json:",omitempty"` // 0: every node has one
	Nodes    []string `json:",omitempty"` // that come first when nodes are chosen
	Leader   string   `json:",omitempty"` // that leads whenever it can
	// LeaderTimeout is how long followers wait for a silent leader; 0: as the node is configured.
	LeaderTimeout time.Duration `json:",omitempty"`
}

const (
	// placeEvery is how often the placer looks, calmFor how long a leader has led before it is moved for the sake of an even spread.
	placeEvery = 2 * time.Second
	calmFor    = 10 * time.Second
)

// hold says which nodes hold a database.
type hold struct {
	OID   uint32
	Nodes []string
}

// place changes what is wanted of a database.
type place struct {
	OID       uint32
	Placement Placement
}

// wanted returns the nodes that are to hold a database; ok is false while none were chosen.
func (s *systemState) wanted(oid uint32) (nodes map[string]NodeInfo, ok bool) {
	d, known := s.Databases[oid]
	if !known || d.Replicas == 0 {
		return s.Nodes, true
	}
	nodes = map[string]NodeInfo{}
	for _, id := range d.Held {
		if x, ok := s.Nodes[id]; ok {
			nodes[id] = x
		}
	}
	return nodes, len(nodes) > 0
}

// choose returns the nodes that are to hold a database: its leader and the named ones, then those that do, then the least laden. Nodes that are lost are
// kept only while there are no others.
func choose(d DatabaseInfo, nodes map[string]NodeInfo, load map[string]int, lost func(id string) bool) []string {
	others := make([]string, 0, len(nodes))
	for id := range nodes {
		others = append(others, id)
	}
	slices.SortFunc(others, func(a, b string) int { return cmp.Or(cmp.Compare(load[a], load[b]), cmp.Compare(a, b)) })
	var out []string
	for _, wantLost := range []bool{false, true} {
		for _, list := range [][]string{{d.Leader}, d.Nodes, d.Held, others} {
			for _, id := range list {
				if _, ok := nodes[id]; ok && len(out) < d.Replicas && lost(id) == wantLost && !slices.Contains(out, id) {
					out = append(out, id)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// load counts the databases with a bounded number of replicas that each node holds.
func (s *systemState) load() map[string]int {
	out := map[string]int{}
	for _, d := range s.Databases {
		for _, id := range d.Held {
			out[id]++
		}
	}
	return out
}

// placer is what the leader of the system group remembers of the nodes.
type placer struct {
	since time.Time // it has led since
	seen  map[string]time.Time
	led   map[uint32]ledSince
}

type ledSince struct {
	node string
	at   time.Time
}

// keepPlaces is the goroutine that chooses nodes and leaders, on the leader of the system group.
func (n *Node) keepPlaces() {
	defer n.done.Done()
	var p placer
	for {
		if n.system.raft.State() != raft.Leader {
			p.since = time.Time{}
		} else {
			if p.since.IsZero() {
				p = placer{time.Now(), map[string]time.Time{}, map[uint32]ledSince{}}
			}
			n.placeAll(&p)
		}
		select {
		case <-time.After(placeEvery):
		case <-n.kick:
		case <-n.stop:
			return
		}
	}
}

// replace has the placer look now.
func (n *Node) replace() {
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

func (n *Node) placeAll(p *placer) {
	o := n.Overview()
	now := time.Now()
	for _, x := range o.Nodes {
		if x.Failed == "" {
			p.seen[x.ID] = now
		}
	}
	lost := func(id string) bool {
		at, ok := p.seen[id]
		if !ok {
			at = p.since
		}
		return n.o.ReplicaTimeout > 0 && now.Sub(at) > n.o.ReplicaTimeout
	}
	state, _ := n.system.view()
	for oid, d := range state.Databases {
		if d.Replicas == 0 {
			continue
		}
		held := choose(d, state.Nodes, state.load(), lost)
		if slices.Equal(held, d.Held) {
			continue
		}
		n.o.Logger.Info("a database changes its nodes", "database", d.Name, "from", d.Held, "to", held)
		if err := n.system.apply(command{Hold: &hold{oid, held}}); err != nil {
			n.o.Logger.Warn("choose nodes for a database", "database", d.Name, "error", err)
			return
		}
		state, _ = n.system.view()
	}
	if m, ok := nextMove(o, p.calm(o, now)); ok {
		if err := n.give(o, m); err != nil {
			n.o.Logger.Info("leadership stays", "group", m.oid, "wanted", m.to, "error", err)
		}
	}
}

// calm notes who leads and returns for which databases that has not changed for a while.
func (p *placer) calm(o *Overview, now time.Time) map[uint32]bool {
	out := map[uint32]bool{}
	for _, d := range o.Databases {
		if l := p.led[d.OID]; l.node != d.Leader {
			p.led[d.OID] = ledSince{d.Leader, now}
		} else {
			out[d.OID] = now.Sub(l.at) > calmFor
		}
	}
	return out
}

// move is a leadership that goes to another node.
type move struct {
	oid      uint32
	from, to string
}

// nextMove returns a leadership that is to move: to the node that a database wants, or from a node with many to one with at least two fewer.
func nextMove(o *Overview, calm map[uint32]bool) (move, bool) {
	counts := map[string]int{}
	for _, x := range o.Nodes {
		if x.Failed == "" && !x.Draining {
			counts[x.ID] = 0
		}
	}
	for _, d := range o.Databases {
		if _, ok := counts[d.Leader]; ok {
			counts[d.Leader]++
		}
	}
	var best move
	most := 1
	for _, d := range o.Databases {
		wants := d.Placement.Leader
		for _, r := range d.Replicas {
			if _, able := counts[r.Node]; !able || !r.Voter || r.State != Streaming || d.Leader == "" {
				continue
			}
			if r.Node == wants {
				return move{d.OID, d.Leader, r.Node}, true
			}
			if led, able := counts[d.Leader]; able && d.Leader != wants && calm[d.OID] && d.Sessions == 0 && led-counts[r.Node] > most {
				best, most = move{d.OID, d.Leader, r.Node}, led-counts[r.Node]
			}
		}
	}
	return best, best.to != ""
}

// give has a leader hand a database over.
func (n *Node) give(o *Overview, m move) error {
	r := request{Op: opGive, OID: m.oid, ID: m.to}
	if m.from == n.o.ID {
		_, err := n.handle(r)
		return err
	}
	for _, x := range o.Nodes {
		if x.ID == m.from {
			_, err := n.ask(x.Address, r)
			return err
		}
	}
	return noSuchNode(m.from)
}

// handOver gives the leadership of a database that this node leads to a node, "" is any other.
func (n *Node) handOver(oid uint32, to string) error {
	g := n.group(oid)
	if g == nil || !g.isServing() {
		return fmt.Errorf("node %s does not lead database %d", n.o.ID, oid)
	}
	if to == "" {
		return g.raft.LeadershipTransfer().Error()
	}
	x, ok := n.system.node(to)
	switch {
	case !ok:
		return noSuchNode(to)
	case to == n.o.ID:
		return nil
	case !n.isVoter(g.raft, to):
		return refused("node %s has no replica of database %q that could lead", to, g.opening.Name)
	case !n.isCaughtUp(oid, g.raft, x):
		return fmt.Errorf("node %s is behind with database %q", to, g.opening.Name)
	}
	return g.raft.LeadershipTransferToServer(raft.ServerID(to), raft.ServerAddress(x.Instance)).Error()
}

// Place changes what is wanted of a database's replicas; change gets what is wanted so far.
func (n *Node) Place(oid uint32, change func(*Placement)) error {
	state, _ := n.system.view()
	d, ok := state.Databases[oid]
	if !ok {
		return fmt.Errorf("the cluster does not know database %d", oid)
	}
	change(&d.Placement)
	if least := n.o.ElectionTimeout * 2 / 3; d.Placement.LeaderTimeout != 0 && d.Placement.LeaderTimeout < least {
		return refused("a leader may be silent for %v, less than the %v that this cluster's timeouts allow", d.Placement.LeaderTimeout, least)
	}
	for _, id := range append(slices.Clone(d.Placement.Nodes), d.Placement.Leader) {
		if _, ok := state.Nodes[id]; !ok && id != "" {
			return noSuchNode(id)
		}
	}
	return n.update(request{Op: opPlace, Database: &d})
}

// Placed returns what is wanted of a database's replicas.
func (n *Node) Placed(oid uint32) (Placement, bool) {
	state, _ := n.system.view()
	d, ok := state.Databases[oid]
	return d.Placement, ok
}

// Lead has a node lead a database from now on, whenever it can; "" is any.
func (n *Node) Lead(database, node string) error {
	d, ok := n.system.database(database)
	if !ok {
		return refused("the cluster has no database %q", database)
	}
	return n.Place(d.OID, func(p *Placement) { p.Leader = node })
}

// AwaitReplicas returns, after a while with an error, when a new database has the voters that are wanted among the nodes that can be reached.
func (n *Node) AwaitReplicas(oid uint32) error {
	return n.until(replicaPatience, func() error {
		state, _ := n.system.view()
		g := n.group(oid)
		if g == nil { // it has gone where it is wanted already
			return nil
		}
		nodes, ok := state.wanted(oid)
		if !ok {
			return errors.New("no nodes were chosen yet")
		}
		if !g.isLeader() { // it was handed over, which takes voters; the session that makes the database does not need it here
			return nil
		}
		for id := range nodes {
			if !n.isVoter(g.raft, id) {
				return fmt.Errorf("the replica on node %s is not whole yet", id)
			}
		}
		wants := state.Databases[oid].Leader
		if _, able := nodes[n.o.ID]; !able || wants != "" && wants != n.o.ID {
			return fmt.Errorf("node %s still leads it", n.o.ID)
		}
		return nil
	})
}

// replicaPatience is how long a new database waits for its replicas.
const replicaPatience = 10 * time.Second
