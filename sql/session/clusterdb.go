package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"herd/engine"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// placementChange is what the options of CREATE or ALTER DATABASE want of a database's replicas.
type placementChange struct {
	list      []func(*Placement)
	needNodes bool // it means something only in a cluster
}

func (c *placementChange) apply(p *Placement) {
	for _, f := range c.list {
		f(p)
	}
}

// add takes an option; false: it is not about placement.
func (c *placementChange) add(o ast.Option) (bool, error) {
	v := o.Value.String()
	reset := o.Value.Kind == ast.ValueNone
	switch strings.ToLower(o.Name) {
	case "replicas":
		n, err := placementNumber(o, 1, 1000)
		c.needNodes = c.needNodes || n > 1
		c.list = append(c.list, func(p *Placement) { p.Replicas = n })
		return true, err
	case "leader_timeout":
		n, err := placementNumber(o, 0, 60_000)
		c.list = append(c.list, func(p *Placement) { p.LeaderTimeout = time.Duration(n) * time.Millisecond })
		c.needNodes = c.needNodes || n > 0
		return true, err
	case "leader":
		c.list = append(c.list, func(p *Placement) { p.Leader = v })
	case "nodes":
		var nodes []string
		for n := range strings.SplitSeq(v, ",") {
			if n = strings.TrimSpace(n); n != "" {
				nodes = append(nodes, n)
			}
		}
		c.list = append(c.list, func(p *Placement) { p.Nodes = nodes })
	default:
		return false, nil
	}
	c.needNodes = c.needNodes || !reset
	return true, nil
}

// placementNumber reads an option's number; DEFAULT is 0.
func placementNumber(o ast.Option, low, high int) (int, error) {
	if o.Value.Kind == ast.ValueNone {
		return 0, nil
	}
	n, err := strconv.Atoi(o.Value.String())
	if err != nil || n < low || n > high {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for option \"%s\": \"%s\"", o.Name, o.Value.String()).
			WithDetail("It is a number from %d to %d.", low, high)
	}
	return n, nil
}

// mayPlace refuses what only a cluster, or only a superuser, can do.
func (s *Session) mayPlace(c *placementChange) error {
	if len(c.list) == 0 {
		return nil
	}
	if s.srv.opts.Cluster == nil && c.needNodes {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "cannot place a database: this server is not a node of a cluster")
	}
	if !s.superuser {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to place a database")
	}
	return nil
}

// place changes where a database's replicas are.
func (s *Session) place(d *catalog.Database, c *placementChange) error {
	if len(c.list) == 0 || s.srv.opts.Cluster == nil {
		return nil
	}
	if err := s.srv.opts.Cluster.Place(uint32(d.OID), c.apply); err != nil {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "cannot place database \"%s\": %v", d.Name, err)
	}
	return nil
}

// setLeader is ALTER DATABASE ... SET LEADER.
func (s *Session) setLeader(d *catalog.Database, set *ast.SetVar) error {
	node := ""
	if set.Kind != ast.SetReset && set.Kind != ast.SetDefault {
		var err error
		if node, err = s.setValue(set); err != nil {
			return err
		}
	}
	c := placementChange{list: []func(*Placement){func(p *Placement) { p.Leader = node }}, needNodes: true}
	if err := s.mayPlace(&c); err != nil {
		return err
	}
	return s.place(d, &c)
}

// dropInCluster drops a database whose sessions and replicas are on several nodes. The nodes' states say meanwhile that this one does so; what
// a crash leaves is settled by whoever leads the system database.
func (s *Session) dropInCluster(d *catalog.Database, st *ast.DropDatabase) error {
	srv, c, oid := s.srv, s.srv.opts.Cluster, uint32(d.OID)
	if err := c.BeginDrop(oid); err != nil {
		return unsettled(d.Name, err)
	}
	users, err := c.Vacate(oid, st.Force)
	if err != nil {
		err = unsettled(d.Name, err)
	} else if users > 0 {
		err = inUse(d.Name, users)
	} else {
		err = srv.unlist(d)
	}
	switch {
	case err == nil:
	case srv.unknown(err):
		c.Unsettled(oid)
		c.Reopen(oid)
		return err
	default:
		c.Reopen(oid)
		if e := c.Settled(oid); e != nil { // the list has it, and is what counts
			srv.log.Warn("a database that was not dropped is still marked as if it were", "database", d.Name, "error", e)
		}
		return err
	}
	if err := c.Dropped(oid); err != nil {
		return unsettled(d.Name, err)
	}
	return nil
}

func unsettled(name string, err error) error {
	return sqlerr.New(sqlerr.CannotConnectNow, "the cluster cannot drop database \"%s\" at the moment", name).WithDetail("%v", err)
}

// vacating is a database that is being dropped by some node. Nobody connects to it; if nothing more is heard that ends by itself.
type vacating struct {
	drop  *engine.Drop
	timer *time.Timer
}

// vacateFor is how long a database stays closed when its drop does not go on.
const vacateFor = 30 * time.Second

// localDatabase finds a database of this node by its number.
func (srv *Server) localDatabase(oid uint32) (engine.DatabaseInfo, bool) {
	list := srv.engine.Databases()
	i := slices.IndexFunc(list, func(d engine.DatabaseInfo) bool { return d.OID == oid })
	if i < 0 {
		return engine.DatabaseInfo{}, false
	}
	return list[i], true
}

// Vacate ends the sessions of a database of this node that is being dropped, or waits for them to end, and lets nobody in. It returns how many
// are left.
func (srv *Server) Vacate(oid uint32, force bool) (int, error) {
	d, ok := srv.localDatabase(oid)
	if !ok {
		return 0, nil
	}
	if n, err := srv.emptied(d.Name, force, nil); n > 0 || err != nil {
		return n, err
	}
	srv.Reopen(oid) // of a drop that has ended without a word
	drop, err := srv.engine.BeginDrop(d.Name)
	if err != nil {
		return 0, err
	}
	v := &vacating{drop: drop}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.vacating == nil {
		srv.vacating = map[uint32]*vacating{}
	}
	srv.vacating[oid] = v
	v.timer = time.AfterFunc(vacateFor, func() {
		srv.mu.Lock()
		mine := srv.vacating[oid] == v
		srv.mu.Unlock()
		if mine {
			srv.Reopen(oid)
		}
	})
	return 0, nil
}

// takeVacating returns the drop that is under way here, nil for none, and forgets it.
func (srv *Server) takeVacating(oid uint32) *engine.Drop {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	v := srv.vacating[oid]
	if v == nil {
		return nil
	}
	v.timer.Stop()
	delete(srv.vacating, oid)
	return v.drop
}

// Reopen lets clients in again.
func (srv *Server) Reopen(oid uint32) {
	if d := srv.takeVacating(oid); d != nil {
		d.Cancel()
	}
}

// DropReplica removes this node's replica of a database that was dropped, or that other nodes hold. Its sessions end.
func (srv *Server) DropReplica(oid uint32) error {
	drop := srv.takeVacating(oid)
	if drop == nil {
		d, ok := srv.localDatabase(oid)
		if !ok {
			return nil
		}
		if _, err := srv.emptied(d.Name, true, nil); err != nil {
			return err
		}
		var err error
		if drop, err = srv.engine.BeginDrop(d.Name); err != nil {
			return err
		}
	}
	err := drop.Finish()
	srv.catalogs.forget(oid)
	srv.notify.forget(oid)
	return err
}

// Using tells how many sessions a database has here.
func (srv *Server) Using(oid uint32) int {
	d, ok := srv.localDatabase(oid)
	if !ok {
		return 0
	}
	return len(srv.usersOf(d.Name))
}

// Listed returns the numbers of the databases in the list, as they are once everything ordered before is durable. This node leads it.
func (srv *Server) Listed() (out []uint32, err error) {
	err = srv.inSystemTx(srv.engine.System(), func(*engine.Session, *engine.Tx) error {
		rows, err := srv.systemReader().Databases()
		for _, r := range rows {
			out = append(out, uint32(r.OID))
		}
		return err
	})
	return out, err
}

// Unlist takes a database off the list that has no store.
func (srv *Server) Unlist(oid uint32) error {
	d, err := srv.systemReader().DatabaseByOID(types.OID(oid))
	if err != nil || d == nil {
		return err
	}
	return srv.unlist(d)
}
