package cluster

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"herd/txlog"
)

// Check is what a check found out about one replica.
type Check struct {
	Database string
	OID      uint32
	Node     string
	Entry    uint64 // the place of the log
	Trees    int
	Rows     uint64
	Sum      uint64 // of all trees
	State    CheckState
	Detail   string
}

// CheckState is a check's result.
type CheckState string

// The results.
const (
	CheckEqual   CheckState = "equal"   // to the leader's, or the leader's itself
	CheckDiffers CheckState = "differs" // contents that are not the leader's
	CheckUnknown CheckState = "unknown" // the replica did not tell in time
)

const (
	// sumsPatience is how long a replica may take to come to the place of the log that is compared.
	sumsPatience = 20 * time.Second
	// checkPatience bounds what all nodes are asked to do.
	checkPatience = 3 * sumsPatience
	sumBytes      = 4 + 8 + 8
)

// packSums and unpackSums: for each tree its number u32, rows u64, sum u64, little-endian.
func packSums(list []txlog.TreeSum) []byte {
	b := make([]byte, 0, len(list)*sumBytes)
	for _, s := range list {
		b = le.AppendUint32(b, s.Tree)
		b = le.AppendUint64(b, s.Rows)
		b = le.AppendUint64(b, s.Sum)
	}
	return b
}

func unpackSums(b []byte) []txlog.TreeSum {
	list := make([]txlog.TreeSum, 0, len(b)/sumBytes)
	for ; len(b) >= sumBytes; b = b[sumBytes:] {
		list = append(list, txlog.TreeSum{Tree: le.Uint32(b), Rows: le.Uint64(b[4:]), Sum: le.Uint64(b[12:])})
	}
	return list
}

// sums answers what this node's replica was at a place.
func (n *Node) sums(r request) (answer, error) {
	g := n.group(r.OID)
	if g == nil || r.Place == nil {
		return answer{}, fmt.Errorf("node %s has no replica of database %d", n.o.ID, r.OID)
	}
	list, ok := g.sumsAt(*r.Place)
	return answer{Known: ok, Sums: packSums(list)}, nil
}

func (g *Group) sumsAt(p txlog.Place) ([]txlog.TreeSum, bool) {
	s, ok := g.replica.(txlog.Summer)
	if !ok {
		return nil, false
	}
	return s.Sums(p)
}

// Check compares the replicas of all databases with their leaders', each database at one entry of its log. Writes go on.
func (n *Node) Check() ([]Check, error) {
	state, _ := n.system.view()
	var mu sync.Mutex
	var wait sync.WaitGroup
	var all []Check
	for _, x := range state.Nodes {
		wait.Go(func() {
			a := answer{}
			if x.ID == n.o.ID {
				a = n.checkLed()
			} else if got, err := n.askFor(x.Address, request{Op: opCheck}, checkPatience); err == nil {
				a = got
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, a.Checks...)
		})
	}
	wait.Wait()
	led := map[uint32]bool{}
	for _, c := range all {
		led[c.OID] = true
	}
	for oid, d := range state.Databases {
		if !led[oid] {
			all = append(all, Check{Database: d.Name, OID: oid, State: CheckUnknown, Detail: "no node that can be reached leads the database"})
		}
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].OID != all[j].OID {
			return all[i].OID < all[j].OID
		}
		return all[i].Node < all[j].Node
	})
	return all, nil
}

// checkLed checks the databases that this node leads.
func (n *Node) checkLed() answer {
	var a answer
	for oid, g := range n.allGroups() {
		if !g.isServing() {
			continue
		}
		list, err := n.check(oid, g)
		if err != nil {
			list = []Check{{Node: n.o.ID, State: CheckUnknown, Detail: err.Error()}}
		}
		for _, c := range list {
			c.OID, c.Database = oid, g.opening.Name
			a.Checks = append(a.Checks, c)
		}
	}
	return a
}

// check compares the replicas of one database, which this node leads.
func (n *Node) check(oid uint32, g *Group) ([]Check, error) {
	s, ok := g.replica.(txlog.Summer)
	if !ok {
		return nil, errors.New("the database cannot be summed up")
	}
	place, err := s.SumUp()
	if err == nil {
		err = g.Wait(place.Seq, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("agree on a place of the log of database %q: %w", g.opening.Name, err)
	}
	own, ok := s.Sums(place)
	if !ok {
		return nil, fmt.Errorf("the sums of database %q were forgotten: too many checks at once", g.opening.Name)
	}
	f := g.raft.GetConfiguration()
	if err := f.Error(); err != nil {
		return nil, fmt.Errorf("read the members of database %q: %w", g.opening.Name, err)
	}
	servers := f.Configuration().Servers
	out := make([]Check, len(servers))
	var wait sync.WaitGroup
	for i, m := range servers {
		wait.Go(func() { out[i] = n.checkMember(m, request{Op: opSums, OID: oid, Place: &place}, own) })
	}
	wait.Wait()
	return out, nil
}

// checkMember compares a member's sums with the leader's.
func (n *Node) checkMember(m raft.Server, r request, own []txlog.TreeSum) Check {
	c := Check{Node: string(m.ID), Entry: uint64(r.Place.Seq), State: CheckUnknown}
	if string(m.ID) == n.o.ID {
		c.fill(own)
		c.State = CheckEqual
		return c
	}
	var list []txlog.TreeSum
	err := n.until(sumsPatience, func() error {
		x, ok := n.system.node(string(m.ID))
		if !ok {
			return errors.New("its address is not known")
		}
		a, err := n.askFor(x.Address, r, askPatience)
		if err == nil && !a.Known {
			err = fmt.Errorf("it has not come to entry %d of the log", r.Place.Seq)
		}
		list = unpackSums(a.Sums)
		return err
	})
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	c.fill(list)
	if c.Detail = differences(own, list); c.Detail == "" {
		c.State = CheckEqual
	} else {
		c.State = CheckDiffers
	}
	return c
}

// fill sums the trees up.
func (c *Check) fill(list []txlog.TreeSum) {
	c.Trees = len(list)
	for _, s := range list {
		c.Rows += s.Rows
		// Rows of a tree must not make up for those of another, so its number goes into the sum.
		c.Sum += (s.Sum ^ s.Rows*0x9e3779b97f4a7c15) * (2*uint64(s.Tree) + 1)
	}
}

// differences says where two lists in order of trees differ, "" when they do not.
func differences(want, got []txlog.TreeSum) string {
	var odd []string
	const most = 5
	for len(want) > 0 || len(got) > 0 {
		switch {
		case len(got) == 0 || len(want) > 0 && want[0].Tree < got[0].Tree:
			odd = append(odd, fmt.Sprintf("tree %d is missing", want[0].Tree))
			want = want[1:]
		case len(want) == 0 || got[0].Tree < want[0].Tree:
			odd = append(odd, fmt.Sprintf("tree %d is too many", got[0].Tree))
			got = got[1:]
		default:
			if want[0] != got[0] {
				odd = append(odd, fmt.Sprintf("tree %d has %d rows with sum %016x, the leader's %d with %016x",
					got[0].Tree, got[0].Rows, got[0].Sum, want[0].Rows, want[0].Sum))
			}
			want, got = want[1:], got[1:]
		}
	}
	if len(odd) > most {
		odd = append(odd[:most], fmt.Sprintf("and %d more", len(odd)-most))
	}
	return strings.Join(odd, "; ")
}

// Promote makes a node a voter of every group that it is a learner of, however far behind it is.
func (n *Node) Promote(id string) error {
	state, _ := n.system.view()
	if _, ok := state.Nodes[id]; !ok {
		return noSuchNode(id)
	}
	var errs []error
	for _, x := range state.Nodes {
		var err error
		if x.ID == n.o.ID {
			err = n.promoteHere(id)
		} else {
			_, err = n.ask(x.Address, request{Op: opPromote, ID: id})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("node %s: %w", x.ID, err))
		}
	}
	return errors.Join(errs...)
}

// promoteHere makes a node a voter of the groups that this one leads. One without the state of a database could not elect a
// leader for it, so it stays a learner.
func (n *Node) promoteHere(id string) error {
	x, ok := n.system.node(id)
	if !ok {
		return noSuchNode(id)
	}
	promote := func(group uint32, r *raft.Raft) error {
		if r.State() != raft.Leader || n.isVoter(r, id) {
			return nil
		}
		a, err := n.ask(x.Address, request{Op: opProgress, OID: group})
		if err != nil {
			return err
		}
		if !a.Known || a.Instance != x.Instance {
			return fmt.Errorf("node %s does not have the state of group %d yet", id, group)
		}
		return r.AddVoter(raft.ServerID(id), raft.ServerAddress(x.Instance), 0, raftTimeout).Error()
	}
	errs := []error{promote(systemGroup, n.system.raft)}
	for oid, g := range n.allGroups() {
		errs = append(errs, promote(oid, g.raft))
	}
	return errors.Join(errs...)
}
