package cluster

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Making or dropping a database changes the list of databases, which is rows of the system database, and the system group. In between the
// group's state names the instance of the node that does so (DatabaseInfo.By). What a crash leaves is settled by the node that leads the system
// database: the list decides.

// systemDatabase is the number of the database that holds the list.
const systemDatabase = 0

// firstDatabase is the lowest number of a database that somebody makes; those below come with the cluster.
const firstDatabase = 16384

// settleEvery is how often the list is looked at when nothing is marked: a node that is cut off may have had its change committed late.
const settleEvery = time.Minute

// vacatePatience is how long a node may take to end the sessions of a database.
const vacatePatience = 10 * time.Second

func (n *Node) isBusy(oid uint32) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.busy[oid]
}

func (n *Node) setBusy(oid uint32, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if on {
		n.busy[oid] = true
	} else {
		delete(n.busy, oid)
	}
}

// BeginDrop notes that this node drops a database; the list still has it. Settled or Dropped ends that.
func (n *Node) BeginDrop(oid uint32) error {
	state, _ := n.system.view()
	d, ok := state.Databases[oid]
	if !ok {
		return fmt.Errorf("the cluster does not know database %d", oid)
	}
	n.setBusy(oid, true)
	d.By = n.file.Instance
	if err := n.update(request{Op: opRegister, Database: &d}); err != nil {
		n.setBusy(oid, false)
		return err
	}
	return nil
}

// Settled notes that this node has made a database, which the list has, or does not drop it after all.
func (n *Node) Settled(oid uint32) error {
	n.setBusy(oid, false)
	return n.update(request{Op: opSettle, Database: &DatabaseInfo{OID: oid, By: n.file.Instance}})
}

// Unsettled notes that this node does nothing more about a database and does not know whether the list has it.
func (n *Node) Unsettled(oid uint32) { n.setBusy(oid, false) }

// Dropped tells the cluster that a database is no more, and waits until it has gone here.
func (n *Node) Dropped(oid uint32) error {
	n.setBusy(oid, false)
	if err := n.update(request{Op: opDrop, OID: oid}); err != nil {
		return err
	}
	return n.until(raftTimeout, func() error {
		if n.group(oid) != nil {
			return fmt.Errorf("database %d is still on node %s", oid, n.o.ID)
		}
		return nil
	})
}

// Vacate has every node end the sessions of a database, or count them, and let nobody in. It returns how many are left: then, and on an
// error, Reopen has to follow. Nodes that cannot be reached are passed over, but not the one that leads it.
func (n *Node) Vacate(oid uint32, force bool) (users int, err error) {
	leader, nobody := n.leaderOf(oid)
	if n.Leads(oid) {
		leader, nobody = n.self(), nil
	}
	if nobody != nil && !force {
		return 0, nobody
	}
	var mu sync.Mutex
	n.eachNode(func(x NodeInfo) {
		r := request{Op: opVacate, OID: oid, Force: force}
		a, failed := n.askNode(x, r, vacatePatience)
		mu.Lock()
		defer mu.Unlock()
		users += a.Users
		if failed == nil || isUnasked(failed) && (x.ID != leader.ID || force) {
			return
		}
		err = errors.Join(err, fmt.Errorf("node %s: %w", x.ID, failed))
	})
	return users, err
}

// Reopen lets clients into a database again.
func (n *Node) Reopen(oid uint32) {
	n.eachNode(func(x NodeInfo) {
		if _, err := n.askNode(x, request{Op: opReopen, OID: oid}, askPatience); err != nil {
			n.o.Logger.Info("a node still keeps clients from a database", "number", oid, "node", x.ID, "error", err)
		}
	})
}

func isUnasked(err error) bool {
	var unasked *unaskedError
	return errors.As(err, &unasked)
}

// eachNode calls f for every node at once, this one included.
func (n *Node) eachNode(f func(x NodeInfo)) {
	state, _ := n.system.view()
	var wait sync.WaitGroup
	for _, x := range state.Nodes {
		wait.Go(func() { f(x) })
	}
	wait.Wait()
}

// askNode asks a node, which may be this one.
func (n *Node) askNode(x NodeInfo, r request, patience time.Duration) (answer, error) {
	if x.ID == n.o.ID {
		return n.handle(r)
	}
	return n.askFor(x.Address, r, patience)
}

func (n *Node) vacateHere(r request) (answer, error) {
	f := n.hooks().Vacate
	if f == nil {
		return answer{}, nil // it has not begun to serve
	}
	users, err := f(r.OID, r.Force)
	return answer{Users: users}, err
}

// knowsForCertain tells whether the cluster has a database, or had it. This node leads the system group as far as it knows, and makes sure.
func (n *Node) knowsForCertain(oid uint32) (answer, error) {
	if err := n.system.raft.Barrier(raftTimeout).Error(); err != nil {
		return answer{}, errNoLeader
	}
	state, _ := n.system.view()
	_, ok := state.Databases[oid]
	return answer{Known: ok || state.Dropped[oid]}, nil
}

// isOrphan tells whether a crash of this node has left a database that it had not made known.
func (n *Node) isOrphan(oid uint32, state *systemState) bool {
	if _, known := state.Databases[oid]; known || n.isBusy(oid) || n.Founding() {
		return false
	}
	a, err := n.handle(request{Op: opKnows, OID: oid})
	if err != nil || a.Known {
		return false
	}
	n.o.Logger.Info("a database that was being made when the server ended is removed", "number", oid)
	return true
}

// settleAll settles what nobody works on any more. This node leads the system database.
func (n *Node) settleAll(state *systemState) {
	marked := false
	for _, d := range state.Databases {
		marked = marked || d.By != ""
	}
	if !marked && time.Since(n.settled) < settleEvery {
		return
	}
	n.settled = time.Now()
	idle := map[uint32]string{} // asked before the list is read: what was done about them is in it
	for oid, d := range state.Databases {
		if d.By != "" && n.isIdle(d, state) {
			idle[oid] = d.By
		}
	}
	listed, err := n.hooks().Listed()
	if err != nil {
		n.o.Logger.Debug("read the list of databases", "error", err)
		return
	}
	for _, oid := range listed {
		if !state.Dropped[oid] {
			continue
		}
		err := n.hooks().Unlist(oid)
		n.o.Logger.Info("a database of the list was dropped", "number", oid, "error", err)
	}
	for oid, by := range idle {
		r := request{Op: opSettle, Database: &DatabaseInfo{OID: oid, By: by}}
		if !slices.Contains(listed, oid) {
			n.o.Logger.Info("a database that was being made or dropped is removed", "database", state.Databases[oid].Name, "number", oid)
			r = request{Op: opDrop, OID: oid}
		}
		if err := n.update(r); err != nil {
			n.o.Logger.Warn("settle a database", "number", oid, "error", err)
		}
	}
}

// isIdle tells whether the node that has begun to make or drop a database does so no more.
func (n *Node) isIdle(d DatabaseInfo, state *systemState) bool {
	for _, x := range state.Nodes {
		if x.Instance != d.By {
			continue
		}
		a, err := n.askNode(x, request{Op: opBusy, OID: d.OID}, askPatience)
		return err == nil && !a.Known
	}
	return true // it is no member any more
}
