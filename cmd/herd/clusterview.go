package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"herd/cluster"
	"herd/sql/session"
)

// clusterView shows a node to sessions.
type clusterView struct{ *cluster.Node }

var _ session.Cluster = clusterView{}

// Overview implements session.Cluster.
func (v clusterView) Overview() session.ClusterOverview {
	o := v.Node.Overview()
	var out session.ClusterOverview
	for _, n := range o.Nodes {
		out.Nodes = append(out.Nodes, session.ClusterNode{Node: n.ID, Address: n.Address, SQL: n.SQL, Leads: n.Leads, Self: n.Self, Failed: n.Failed})
	}
	for _, d := range o.Databases {
		x := session.ClusterDatabase{OID: d.OID, Name: d.Name, Leader: d.Leader, Term: d.Term, Entry: d.Entry, Wanted: session.Placement(d.Placement)}
		for _, r := range d.Replicas {
			if r.Node == d.Leader {
				x.LeaderAddress = r.Address
			}
			l := &r.Local
			x.Replicas = append(x.Replicas, session.ClusterReplica{Node: r.Node, Address: r.Address, State: string(r.State), Leads: r.Known && r.Node == d.Leader,
				Voter: r.Voter, Known: r.Known, Lagged: r.LagOf, Term: l.Term, Entry: l.Entry, LagEntries: r.Entries, Lag: r.Lag,
				LogBytes: l.LogBytes, DataBytes: l.DataBytes, FetchedBytes: l.Fetched,
				FetchDone: l.FetchDone, FetchTotal: l.FetchTotal})
		}
		out.Databases = append(out.Databases, x)
	}
	return out
}

// Check implements session.Cluster.
func (v clusterView) Check() ([]session.ClusterCheck, error) {
	list, err := v.Node.Check()
	var out []session.ClusterCheck
	for _, c := range list {
		out = append(out, session.ClusterCheck{Database: c.Database, Node: c.Node, State: string(c.State), Detail: c.Detail,
			Entry: c.Entry, Rows: c.Rows, Sum: c.Sum, Trees: c.Trees})
	}
	return out, err
}

// Await implements session.Cluster.
func (v clusterView) Await(oid uint32, p session.Placement) error {
	return v.Node.Await(oid, cluster.Placement(p))
}

// Place implements session.Cluster.
func (v clusterView) Place(oid uint32, change func(*session.Placement)) error {
	return v.Node.Place(oid, func(p *cluster.Placement) {
		x := session.Placement(*p)
		change(&x)
		*p = cluster.Placement(x)
	})
}

// addClusterChecks adds the subcommands that compare and promote.
func addClusterChecks(add func(use, short string, args cobra.PositionalArgs, run func(cl *cluster.Client, args []string, out io.Writer) error)) {
	add("promote NODE", "Make a node a voter of the databases it is a learner of, however far behind it is", cobra.ExactArgs(1),
		func(cl *cluster.Client, args []string, out io.Writer) error {
			return done(out, cl.Promote(args[0]), "node %s is a voter", args[0])
		})
	add("check", "Compare the replicas of every database at one entry of its log", cobra.NoArgs,
		func(cl *cluster.Client, _ []string, out io.Writer) error {
			list, err := cl.Check()
			if err != nil {
				return err
			}
			return printChecks(out, list)
		})
}

// printChecks shows a check's result. It is an error when a replica differs or could not be compared.
func printChecks(out io.Writer, list []cluster.Check) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DATABASE\tNODE\tENTRY\tTREES\tROWS\tCHECKSUM\tSTATE\tDETAIL")
	bad := 0
	for _, c := range list {
		name := c.Database
		if c.OID == systemDatabase {
			name = "(system)"
		}
		if c.State != cluster.CheckEqual {
			bad++
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%016x\t%s\t%s\n", name, c.Node, c.Entry, c.Trees, c.Rows, c.Sum, c.State, c.Detail)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d replicas are not known to have what their leader has", bad, len(list))
	}
	return nil
}
