package session

import (
	"errors"
	"fmt"
	"time"

	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Cluster is what sessions need of the nodes that share the databases.
type Cluster interface {
	// Await returns when a database that was just made leads here and the other nodes know of it, as one that is being made. AwaitReplicas
	// returns when it has its replicas.
	Await(oid uint32, p Placement) error
	AwaitReplicas(oid uint32) error
	// Settled tells them that it is made, or is not dropped after all; Unsettled, that nothing more is done here and nobody knows.
	Settled(oid uint32) error
	Unsettled(oid uint32)
	// BeginDrop tells them that a database is being dropped; Vacate has them end its sessions, or count those that stay, and let nobody in;
	// Reopen takes that back. Dropped tells them that it is no more.
	BeginDrop(oid uint32) error
	Vacate(oid uint32, force bool) (users int, err error)
	Reopen(oid uint32)
	Dropped(oid uint32) error
	// Place changes what is wanted of a database's replicas; change gets what is wanted so far.
	Place(oid uint32, change func(*Placement)) error
	// Lead has a node lead a database whenever it can.
	Lead(database, node string) error
	// Leads tells whether this node leads a database, as far as it knows.
	Leads(oid uint32) bool
	// AskLeader has the node that leads a database answer a message (see ServeSystem). sent: with an error, it may have done what was asked.
	AskLeader(oid uint32, message []byte) (answer []byte, sent bool, err error)
	// Spread returns when every node that can be reached has what was agreed on of a database that this node leads.
	Spread(oid uint32)
	// Serves tells whether this node leads a database.
	Serves(database string) bool
	// Fresh returns when this node has every commit of a database that was answered before a moment at most that long before the call.
	Fresh(oid uint32, most time.Duration) error
	// FreshNow tells whether Fresh would return at once.
	FreshNow(oid uint32, most time.Duration) bool
	// CutOff tells for how long the node has not heard from a database's leader, when that is too long.
	CutOff(oid uint32) (silent time.Duration, off bool)
	// Overview asks all nodes what they have.
	Overview() ClusterOverview
	// Check compares the replicas of all databases with their leaders'.
	Check() ([]ClusterCheck, error)
	// Remove takes a node out; Promote makes it a voter of all databases; Transfer has it lead; Drain has others lead.
	Remove(node string) error
	Promote(node string) error
	Transfer(node string) error
	Drain(node string) error
}

// Placement is what is wanted of a database's replicas. The zero value: one on every node, led by any.
type Placement struct {
	Replicas      int      // 0: every node has one
	Nodes         []string // that come first when nodes are chosen
	Leader        string   // that leads whenever it can
	LeaderTimeout time.Duration
}

// ClusterOverview is what all nodes that can be reached know together.
type ClusterOverview struct {
	Nodes     []ClusterNode
	Databases []ClusterDatabase
}

// ClusterNode is one node. Failed says why it could not be asked.
type ClusterNode struct {
	Node, Address, SQL string
	Leads, Self        bool
	Failed             string
}

// ClusterDatabase is one database with its replicas.
type ClusterDatabase struct {
	OID                         uint32
	Name, Leader, LeaderAddress string
	Term, Entry                 uint64
	Wanted                      Placement
	Replicas                    []ClusterReplica
}

// ClusterReplica is one replica. Known: its node could be asked; Lagged: its lag is known.
type ClusterReplica struct {
	Node, Address, State              string
	Leads, Voter, Known, Lagged       bool
	Term, Entry, LagEntries           uint64
	Lag                               time.Duration
	LogBytes, DataBytes, FetchedBytes int64
	FetchDone, FetchTotal             int64 // bytes of a state that is being fetched; 0: none is
}

// ClusterCheck is the result of comparing one replica.
type ClusterCheck struct {
	Database, Node, State, Detail string
	Entry, Rows, Sum              uint64
	Trees                         int
}

// clusterRows are the rows of the functions about the cluster; ok is false when the function is none of them.
func (s *Session) clusterRows(function string, args []types.Datum) (rows [][]types.Datum, ok bool, err error) {
	c := s.srv.opts.Cluster
	switch function {
	case "herd_nodes", "herd_databases", "herd_replicas":
		if c == nil {
			return nil, true, nil
		}
		o, err := awaiting(s, func() (ClusterOverview, error) { return c.Overview(), nil })
		if err != nil {
			return nil, true, err
		}
		switch function {
		case "herd_nodes":
			return nodeRows(&o), true, nil
		case "herd_databases":
			return databaseRows(&o), true, nil
		}
		return replicaRows(&o), true, nil
	case "herd_cluster_check":
		if err := s.mayManageCluster(function); err != nil {
			return nil, true, err
		}
		list, err := awaiting(s, c.Check)
		return checkRows(list), true, clusterError(function, err)
	}
	if function == "herd_cluster_lead" {
		if err := s.mayManageCluster(function); err != nil {
			return nil, true, err
		}
		database, node := string(args[0].B), string(args[1].B)
		_, err := awaiting(s, func() (struct{}, error) { return struct{}{}, c.Lead(database, node) })
		return [][]types.Datum{{types.Text("done")}}, true, clusterError(function, err)
	}
	if do := clusterActions[function]; do != nil {
		if err := s.mayManageCluster(function); err != nil {
			return nil, true, err
		}
		node := string(args[0].B)
		_, err := awaiting(s, func() (struct{}, error) { return struct{}{}, do(c, node) })
		return [][]types.Datum{{types.Text("done")}}, true, clusterError(function, err)
	}
	return nil, false, nil
}

// clusterActions are the functions that change the cluster; the argument is a node.
var clusterActions = map[string]func(c Cluster, node string) error{
	"herd_cluster_remove": Cluster.Remove, "herd_cluster_promote": Cluster.Promote, "herd_cluster_transfer": Cluster.Transfer,
	"herd_cluster_drain": Cluster.Drain,
}

// mayManageCluster refuses what only superusers may do, and what only a cluster can.
func (s *Session) mayManageCluster(function string) error {
	if s.srv.opts.Cluster == nil {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "%s(): this server is not a node of a cluster", function)
	}
	if !s.superuser {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for function %s", function)
	}
	return nil
}

// awaiting runs what other nodes are asked for. When the statement is interrupted it returns at once, and what was asked goes on.
func awaiting[T any](s *Session, f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	intr := s.eng.Interrupt()
	for {
		if intr.Pending() {
			if err := intr.Err(); err != nil {
				return *new(T), err
			}
		}
		select {
		case r := <-done:
			return r.v, r.err
		case <-intr.Woken():
		}
	}
}

func clusterError(function string, err error) error {
	if e := (*sqlerr.Error)(nil); err == nil || errors.As(err, &e) { // an interrupt has a code of its own
		return err
	}
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "%s(): %v", function, err)
}

func count(n uint64) types.Datum { return types.Int(int64(n)) }

func nodeRows(o *ClusterOverview) (rows [][]types.Datum) {
	for _, n := range o.Nodes {
		rows = append(rows, []types.Datum{types.Text(n.Node), types.Text(n.Address), types.Text(n.SQL), types.Bool(n.Leads), types.Bool(n.Self),
			types.Bool(n.Failed == ""), textOrNull(n.Failed)})
	}
	return rows
}

// databaseName is what the views call a database: the one of roles and databases has no name.
func databaseName(name string) types.Datum {
	if name == "" {
		name = "(system)"
	}
	return types.Text(name)
}

func databaseRows(o *ClusterOverview) (rows [][]types.Datum) {
	for _, d := range o.Databases {
		voters := int64(0)
		for _, r := range d.Replicas {
			if r.Voter {
				voters++
			}
		}
		row := []types.Datum{types.Int(int64(d.OID)), databaseName(d.Name), types.NullDatum, types.NullDatum, types.NullDatum, types.NullDatum,
			types.Int(int64(len(d.Replicas))), types.Int(voters), types.NullDatum, textOrNull(d.Wanted.Leader)}
		if d.Leader != "" {
			row[2], row[3], row[4], row[5] = types.Text(d.Leader), types.Text(d.LeaderAddress), count(d.Term), count(d.Entry)
		}
		if d.Wanted.Replicas > 0 {
			row[8] = types.Int(int64(d.Wanted.Replicas))
		}
		rows = append(rows, row)
	}
	return rows
}

func replicaRows(o *ClusterOverview) (rows [][]types.Datum) {
	for _, d := range o.Databases {
		for _, r := range d.Replicas {
			role := "follower"
			if r.Leads {
				role = "leader"
			}
			row := []types.Datum{databaseName(d.Name), types.Text(r.Node), types.Text(r.Address), types.NullDatum, types.Bool(r.Voter), types.Text(r.State)}
			for range 9 {
				row = append(row, types.NullDatum)
			}
			if r.Known {
				row[3], row[6], row[7] = types.Text(role), count(r.Term), count(r.Entry)
				row[10], row[11], row[12] = types.Int(r.LogBytes), types.Int(r.DataBytes), types.Int(r.FetchedBytes)
			}
			if r.FetchTotal > 0 {
				row[13], row[14] = types.Int(r.FetchDone), types.Int(r.FetchTotal)
			}
			if r.Lagged {
				row[8], row[9] = count(r.LagEntries), types.Float(r.Lag.Seconds())
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func checkRows(list []ClusterCheck) (rows [][]types.Datum) {
	for _, c := range list {
		row := []types.Datum{databaseName(c.Database), textOrNull(c.Node), types.NullDatum, types.NullDatum, types.NullDatum, types.NullDatum,
			types.Text(c.State), textOrNull(c.Detail)}
		if c.Entry != 0 {
			row[2] = count(c.Entry)
		}
		if c.Trees != 0 {
			row[3], row[4], row[5] = types.Int(int64(c.Trees)), count(c.Rows), types.Text(fmt.Sprintf("%016x", c.Sum))
		}
		rows = append(rows, row)
	}
	return rows
}
