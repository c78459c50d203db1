package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sort"
	"time"

	"github.com/hashicorp/raft"

	"herd/txlog"
)

// What nodes and `herd cluster` ask of a node.
const (
	opJoin       = "join"     // let a node in, or note its new address
	opRegister   = "register" // a database was made
	opDrop       = "drop"     // a database was dropped
	opFind       = "find"     // is there a database of a name, as far as the node knows
	opProgress   = "progress" // how far is a group here
	opCancel     = "cancel"   // a client's cancel request
	opStatus     = "status"
	opLeader     = "leader"      // a message for the node that leads a database
	opSettle     = "settle"      // nobody makes or drops a database any more
	opKnows      = "knows"       // is there a database, for certain
	opBusy       = "busy"        // is the node making or dropping a database
	opVacate     = "vacate"      // end the sessions of a database that is being dropped, let nobody in
	opReopen     = "reopen"      // let them in again
	opLeads      = "leads"       // who leads a database, as far as the node knows
	opMember     = "member"      // is a node a member of a database, if it leads it
	opGive       = "give"        // hand a database over
	opLead       = "lead"        // a node is to lead a database whenever it can
	opPlace      = "place"       // what is wanted of a database's replicas
	opApplied    = "applied"     // wait until a replica has an entry
	opFresh      = "fresh"       // what a verified leader has applied
	opLocal      = "local"       // what the node has
	opCheck      = "check"       // compare the replicas of the databases that the node leads
	opSums       = "sums"        // the sums of a replica at a place
	opCheckAll   = "check all"   // opCheck of all nodes
	opPromoteAll = "promote all" // opPromote of all nodes
	opPromote    = "promote"     // make a node a voter of the groups that the node leads
	opRemove     = "remove"      // a node leaves the cluster
	opTransfer   = "transfer"    // leaderships go to a node
	opDrain      = "drain"       // leaderships of the node that is asked go to others
)

// request is one question.
type request struct {
	Op       string
	Node     *NodeInfo     `json:",omitempty"`
	Database *DatabaseInfo `json:",omitempty"`
	ID       string        `json:",omitempty"` // of a node
	OID      uint32        `json:",omitempty"`
	PID      int32         `json:",omitempty"`
	Secret   int32         `json:",omitempty"`
	Hops     int           `json:",omitempty"` // how often it was passed on
	Place    *txlog.Place  `json:",omitempty"`
	Message  []byte        `json:",omitempty"`
	Index    uint64        `json:",omitempty"`
	Force    bool          `json:",omitempty"`
}

// answer is what comes back.
type answer struct {
	Error    string         `json:",omitempty"`
	Leader   bool           `json:",omitempty"` // the error: nobody is known to lead
	Final    bool           `json:",omitempty"` // the error: asking again will not help
	Known    bool           `json:",omitempty"`
	Index    uint64         `json:",omitempty"`
	ID       string         `json:",omitempty"` // of a node
	Instance string         `json:",omitempty"`
	Status   *Status        `json:",omitempty"`
	Local    []LocalReplica `json:",omitempty"`
	Sums     []byte         `json:",omitempty"` // see packSums
	Checks   []Check        `json:",omitempty"`
	Message  []byte         `json:",omitempty"`
	Member   bool           `json:",omitempty"`
	Draining bool           `json:",omitempty"`
	Users    int            `json:",omitempty"`
}

// RefusedError is what a node answered instead of doing what was asked.
type RefusedError struct {
	Reason string
	Final  bool // asking again will not help
}

// Error implements error.
func (e *RefusedError) Error() string { return e.Reason }

// unaskedError: the other node cannot have heard of the request.
type unaskedError struct{ error }

// Unwrap returns the reason.
func (e *unaskedError) Unwrap() error { return e.error }

// errNoLeader: the system group has no leader that this node knows.
var errNoLeader = errors.New("the cluster has no leader at the moment: fewer than half of its nodes can be reached")

// Status is what a node knows of the cluster.
type Status struct {
	Node      string // that answers
	Leader    string // of the system group, "" when none is known
	Nodes     []NodeInfo
	Databases []DatabaseStatus
}

// DatabaseStatus is one database as the node that answers sees it.
type DatabaseStatus struct {
	DatabaseInfo
	Leader   string
	Term     uint64
	Commit   uint64 // Raft index agreed on, as far as this node knows
	Applied  uint64
	Entry    uint64 // last log entry of the state here
	Replicas []ReplicaStatus
}

// ReplicaStatus is one member of a database's group.
type ReplicaStatus struct {
	Node  string
	Voter bool
}

// ask sends a request to a cluster address.
func (n *Node) ask(address string, r request) (answer, error) {
	return n.askFor(address, r, requestPatience)
}

// askFor is ask with another patience.
func (n *Node) askFor(address string, r request, patience time.Duration) (answer, error) {
	return ask(n.tls, address, r, patience)
}

// requestPatience is how long an answer may take.
const requestPatience = 2 * raftTimeout

func ask(config *tls.Config, address string, r request, patience time.Duration) (answer, error) {
	nc, err := dial(config, address, min(dialTimeout, patience), hello{For: forRequest})
	if err != nil {
		return answer{}, &unaskedError{err}
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience)) // fails only on a closed connection, which the write tells
	var a answer
	if err := writeMessage(nc, r); err != nil {
		return a, fmt.Errorf("ask %s at %s: %w", r.Op, address, err)
	}
	if err := readMessage(nc, &a); err != nil {
		return a, fmt.Errorf("ask %s at %s: %w", r.Op, address, err)
	}
	switch {
	case a.Leader:
		return a, errNoLeader
	case a.Error != "":
		return a, &RefusedError{Reason: a.Error, Final: a.Final}
	}
	return a, nil
}

// answer serves a request.
func (n *Node) answer(nc net.Conn) {
	var r request
	_ = nc.SetReadDeadline(time.Now().Add(dialTimeout)) // fails only on a closed connection, which the read tells
	if err := readMessage(nc, &r); err != nil {
		return
	}
	a, err := n.handle(r)
	if err != nil {
		a.Error, a.Leader, a.Final = err.Error(), errors.Is(err, errNoLeader), isFinal(err)
	}
	if err := writeMessage(nc, a); err != nil {
		n.o.Logger.Debug("answer a request", "op", r.Op, "error", err)
	}
}

// isFinal tells whether asking again will not help; the answer may have come from another node.
func isFinal(err error) bool {
	var refused *RefusedError
	return errors.Is(err, errRemoved) || errors.As(err, &refused) && refused.Final || isOutsider(err)
}

// handle does what was asked, here or at the leader of the system group.
func (n *Node) handle(r request) (answer, error) {
	switch r.Op {
	case opProgress:
		return n.progress(r.OID), nil
	case opFind:
		if r.Database == nil {
			return answer{}, errors.New("no name of a database to look for")
		}
		_, ok := n.system.database(r.Database.Name)
		return answer{Known: ok}, nil
	case opCancel:
		if f := n.hooks().Cancel; f != nil {
			f(r.PID, r.Secret)
		}
		return answer{}, nil
	case opLead:
		if r.Database == nil {
			return answer{}, errors.New("no database to lead")
		}
		return answer{}, n.Lead(r.Database.Name, r.ID)
	case opBusy:
		return answer{Known: n.isBusy(r.OID)}, nil
	case opVacate:
		return n.vacateHere(r)
	case opReopen:
		if f := n.hooks().Reopen; f != nil {
			f(r.OID)
		}
		return answer{}, nil
	case opLeads:
		return n.ledBy(r.OID), nil
	case opMember:
		return n.membership(r)
	case opGive:
		return answer{}, n.handOver(r.OID, r.ID)
	case opDrain:
		n.draining.Store(true)
		n.StepDown()
		return answer{}, n.leadsNothing()
	case opStatus:
		return answer{Status: n.Status()}, nil
	case opFresh:
		g := n.group(r.OID)
		if g == nil {
			return answer{}, fmt.Errorf("node %s has no replica of database %d", n.o.ID, r.OID)
		}
		index, err := g.verifiedIndex()
		return answer{Index: index}, err
	case opLeader:
		return n.serveMessage(r)
	case opApplied:
		g := n.group(r.OID)
		if g == nil {
			return answer{}, fmt.Errorf("node %s has no replica of database %d", n.o.ID, r.OID)
		}
		return answer{}, g.awaitApplied(r.Index, spreadPatience)
	case opLocal:
		return answer{Local: n.local(), Draining: n.draining.Load()}, nil
	case opCheck:
		return n.checkLed(), nil
	case opSums:
		return n.sums(r)
	case opPromote:
		return answer{}, n.promoteHere(r.ID)
	case opCheckAll:
		checks, err := n.Check()
		return answer{Checks: checks}, err
	case opPromoteAll:
		return answer{}, n.Promote(r.ID)
	case opJoin, opRegister, opDrop, opRemove, opTransfer, opPlace, opSettle, opKnows:
		return n.handleAtLeader(r)
	}
	return answer{}, fmt.Errorf("node %s does not know the request %q", n.o.ID, r.Op)
}

func (n *Node) handleAtLeader(r request) (answer, error) {
	if r.Op == opJoin && r.Node != nil {
		n.system.told(*r.Node)
	}
	leader := n.system.leader()
	if leader == "" {
		return answer{}, errNoLeader
	}
	if leader != n.o.ID {
		x, ok := n.system.node(leader)
		if !ok || r.Hops > 2 {
			return answer{}, errNoLeader
		}
		r.Hops++
		return n.ask(x.Address, r)
	}
	switch r.Op {
	case opJoin:
		if r.Node == nil {
			return answer{}, errors.New("nobody asks to join")
		}
		return answer{}, n.admit(*r.Node)
	case opRegister:
		if r.Database == nil {
			return answer{}, errors.New("no database to register")
		}
		return answer{}, n.register(*r.Database)
	case opPlace:
		if r.Database == nil {
			return answer{}, errors.New("no database to place")
		}
		defer n.replace()
		return answer{}, n.system.apply(command{Place: &place{r.Database.OID, r.Database.Placement}})
	case opSettle:
		if r.Database == nil {
			return answer{}, errors.New("no database to settle")
		}
		return answer{}, n.system.apply(command{Settle: r.Database})
	case opKnows:
		return n.knowsForCertain(r.OID)
	case opDrop:
		return answer{}, n.system.apply(command{Drop: &r.OID})
	case opTransfer:
		return answer{}, n.transferTo(r.ID)
	}
	return answer{}, n.remove(r.ID)
}

// removePatience is how long the groups of the databases may take to let a removed node go.
const removePatience = 8 * time.Second

// remove takes a node out of the cluster; the keepers of the groups take it out of theirs. It returns when all have, so that the node may be
// stopped then and the next one removed: a group that still counts on it could be left without a majority.
func (n *Node) remove(id string) error {
	x, ok := n.system.node(id)
	if !ok {
		return noSuchNode(id)
	}
	if id == n.o.ID {
		return refused("node %s leads the cluster: transfer the leadership to another node first", id)
	}
	if err := n.system.apply(command{Remove: x.ID}); err != nil {
		return fmt.Errorf("remove node %s: %w", id, err)
	}
	if err := n.system.raft.RemoveServer(raft.ServerID(id), 0, raftTimeout).Error(); err != nil {
		n.o.Logger.Warn("take a node out of the system group", "node", id, "error", err) // its keeper will
	}
	err := n.until(removePatience, func() error { return n.countsOn(x) })
	if err != nil {
		return refused("node %s is removed, but %v; do not stop it before `herd cluster status` shows it nowhere", id, err)
	}
	return nil
}

// countsOn names a group that has a node as a member, as far as this one knows.
func (n *Node) countsOn(x NodeInfo) error {
	if isMember(n.system.raft, x.ID) {
		return errors.New("the system group still counts on it")
	}
	for _, g := range n.allGroups() {
		if isMember(g.raft, x.ID) {
			return fmt.Errorf("database %q still counts on it", g.opening.Name)
		}
	}
	return nil
}

func refused(format string, args ...any) error {
	return &RefusedError{Reason: fmt.Sprintf(format, args...), Final: true}
}

func noSuchNode(id string) error { return refused("there is no node %s", id) }

// Remove takes a node out of the cluster, Transfer gives the leaderships to a node ("" is any other), Drain gives those of a node
// to others.
func (n *Node) Remove(id string) error { return n.update(request{Op: opRemove, ID: id}) }

// Transfer: see Remove.
func (n *Node) Transfer(id string) error { return n.update(request{Op: opTransfer, ID: id}) }

// Drain: see Remove.
func (n *Node) Drain(id string) error {
	if id == n.o.ID {
		_, err := n.handle(request{Op: opDrain})
		return err
	}
	x, ok := n.system.node(id)
	if !ok {
		return noSuchNode(id)
	}
	_, err := n.ask(x.Address, request{Op: opDrain})
	return err
}

// transferTo gives the system group and the databases to a node. "" is any other node.
func (n *Node) transferTo(id string) error {
	o := n.Overview()
	for _, d := range o.Databases {
		if d.Leader == "" || d.Leader == id || id == "" && d.Leader != n.o.ID {
			continue
		}
		if err := n.give(o, move{d.OID, d.Leader, id}); err != nil {
			n.o.Logger.Info("leadership stays", "database", d.Name, "wanted", id, "error", err)
		}
	}
	if id == "" {
		return n.system.raft.LeadershipTransfer().Error()
	}
	x, ok := n.system.node(id)
	switch {
	case !ok:
		return noSuchNode(id)
	case id == n.o.ID:
		return nil
	case !n.isVoter(n.system.raft, id):
		return fmt.Errorf("node %s is still a learner", id)
	}
	return n.system.raft.LeadershipTransferToServer(raft.ServerID(id), raft.ServerAddress(x.Instance)).Error()
}

// StepDown gives the leaderships of this node to others, where there are any that can take them.
func (n *Node) StepDown() {
	if n.system.raft.State() == raft.Leader {
		if err := n.system.raft.LeadershipTransfer().Error(); err != nil {
			n.o.Logger.Info("leadership of the cluster could not be handed over", "error", err)
		}
	}
	for _, g := range n.allGroups() {
		if !g.isLeader() {
			continue
		}
		if err := g.raft.LeadershipTransfer().Error(); err != nil {
			n.o.Logger.Info("leadership could not be handed over", "database", g.opening.Name, "error", err)
		}
	}
}

// leadsNothing says what this node still leads.
func (n *Node) leadsNothing() error {
	for _, g := range n.allGroups() {
		if g.isLeader() {
			return fmt.Errorf("node %s still leads database %q: no other replica could take it", n.o.ID, g.opening.Name)
		}
	}
	if n.system.raft.State() == raft.Leader {
		return fmt.Errorf("node %s still leads the cluster: no other node could take it", n.o.ID)
	}
	return nil
}

func (n *Node) progress(group uint32) answer {
	a := answer{Instance: n.file.Instance}
	if group == systemGroup {
		a.Known, a.Index = true, n.system.raft.AppliedIndex()
	} else if g := n.group(group); g != nil {
		g.mu.Lock()
		a.Known = !g.missing
		g.mu.Unlock()
		a.Index = g.applied.Load()
	}
	return a
}

// Status tells what this node knows.
func (n *Node) Status() *Status {
	state, _ := n.system.view()
	out := &Status{Node: n.o.ID, Leader: n.system.leader()}
	for _, x := range state.Nodes {
		out.Nodes = append(out.Nodes, x)
	}
	sort.Slice(out.Nodes, func(i, j int) bool { return out.Nodes[i].ID < out.Nodes[j].ID })
	for oid, d := range state.Databases {
		s := DatabaseStatus{DatabaseInfo: d}
		if g := n.group(oid); g != nil {
			g.status(&s)
		}
		out.Databases = append(out.Databases, s)
	}
	sort.Slice(out.Databases, func(i, j int) bool { return out.Databases[i].OID < out.Databases[j].OID })
	return out
}

func (g *Group) status(s *DatabaseStatus) {
	_, leader := g.raft.LeaderWithID()
	s.Leader, s.Term = string(leader), g.raft.CurrentTerm()
	s.Commit, s.Applied, s.Entry = g.raft.CommitIndex(), g.applied.Load(), uint64(g.Durable())
	f := g.raft.GetConfiguration()
	if f.Error() != nil {
		return
	}
	for _, m := range f.Configuration().Servers {
		s.Replicas = append(s.Replicas, ReplicaStatus{string(m.ID), m.Suffrage == raft.Voter})
	}
}

// Client asks nodes from outside, with the cluster's secret.
type Client struct {
	tls     *tls.Config
	address string
}

// NewClient returns a client of the node at a cluster address.
func NewClient(address string, who Credentials) (*Client, error) {
	config, err := who.config()
	return &Client{config, address}, err
}

// Status asks what the node knows.
func (c *Client) Status() (*Status, error) {
	a, err := ask(c.tls, c.address, request{Op: opStatus}, requestPatience)
	return a.Status, err
}

// Remove takes a node out of the cluster. What it has stays in its folder.
func (c *Client) Remove(node string) error {
	_, err := ask(c.tls, c.address, request{Op: opRemove, ID: node}, requestPatience)
	return err
}

// Transfer gives the leadership to a node, or to any other than the present one.
func (c *Client) Transfer(node string) error {
	_, err := ask(c.tls, c.address, request{Op: opTransfer, ID: node}, requestPatience)
	return err
}

// Lead has a node lead a database whenever it can; "" is any.
func (c *Client) Lead(database, node string) error {
	_, err := ask(c.tls, c.address, request{Op: opLead, Database: &DatabaseInfo{Name: database}, ID: node}, requestPatience)
	return err
}

// Drain gives all leaderships of the node that is asked to others.
func (c *Client) Drain() error {
	_, err := ask(c.tls, c.address, request{Op: opDrain}, requestPatience)
	return err
}

// Promote makes a node a voter of every group that it is a learner of.
func (c *Client) Promote(node string) error {
	_, err := ask(c.tls, c.address, request{Op: opPromoteAll, ID: node}, checkPatience)
	return err
}

// Check compares the replicas of all databases.
func (c *Client) Check() ([]Check, error) {
	a, err := ask(c.tls, c.address, request{Op: opCheckAll}, checkPatience)
	return a.Checks, err
}
