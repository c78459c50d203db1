package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"herd/cluster"
	"herd/conf"
	"herd/engine"
	"herd/internal/vfs"
)

const (
	modeCluster   = "cluster"
	clusterFolder = "cluster"
	// systemDatabase is the number of the database that holds roles and the list of databases.
	systemDatabase = 0
)

// openNode begins, joins or comes back to the cluster that the configuration names.
func openNode(ctx context.Context, c *conf.Config, fsys vfs.FS, o *engine.Options, logger *slog.Logger) (*cluster.Node, error) {
	if c.NodeID == "" {
		return nil, errors.New("server.node.id (--node-id): a node of a cluster needs a name")
	}
	if c.ClusterCert == "" && len(c.ClusterSecret) < cluster.SecretMin {
		return nil, fmt.Errorf("server.cluster.secret (HERD_SERVER_CLUSTER_SECRET): at least %d characters are needed", cluster.SecretMin)
	}
	return cluster.OpenNode(cluster.Options{
		FS: fsys, Dir: filepath.Join(c.BaseDir, clusterFolder), ID: c.NodeID, Address: c.ClusterAddress, Advertise: c.ClusterAdvertise,
		SQLAddress: c.Address(), Join: c.ClusterJoin, Credentials: credentials(c), Stop: ctx.Done(), ElectionTimeout: c.ElectionTimeout,
		ReplicaTimeout: c.ReplicaTimeout, KeepBytes: c.ClusterLogKeep, ServeRate: c.ClusterFetchRate,
		Sync: o.LogSync, SyncInterval: o.LogSyncInterval, SegmentBytesMax: o.LogSegmentBytesMax, KeepFreeBytes: o.LogKeepFreeBytes,
		Fatal: o.Fatal, Logger: logger,
	})
}

// credentials are what proves to the other nodes that this one is of their cluster.
func credentials(c *conf.Config) cluster.Credentials {
	if c.ClusterCert == "" {
		return cluster.Credentials{Secret: c.ClusterSecret}
	}
	return cluster.Credentials{CertFile: c.Under(c.ClusterCert), KeyFile: c.Under(c.ClusterKey), CAFile: c.Under(c.ClusterCA)}
}

// startNode lets the node do its work. The one that begins the cluster makes the first databases.
func (in *instance) startNode() error {
	in.node.Start(cluster.Hooks{
		Create:  in.createReplica,
		Drop:    in.sessions.DropReplica,
		Listed:  in.sessions.Listed,
		Unlist:  in.sessions.Unlist,
		Vacate:  in.sessions.Vacate,
		Reopen:  in.sessions.Reopen,
		Lead:    in.lead,
		Session: in.listener.ServeRelayed,
		Cancel:  in.listener.Cancel,
		Message: func(_ uint32, message []byte) ([]byte, error) { return in.sessions.ServeSystem(message) },
		Bytes:   in.databaseBytes,

		Sessions: in.sessions.Using,
	})
	if !in.node.Founding() {
		return nil
	}
	if err := in.node.Await(systemDatabase, cluster.Placement{}); err != nil {
		return err
	}
	if err := in.sessions.Bootstrap(); err != nil {
		return fmt.Errorf("make the first databases of the cluster: %w", err)
	}
	if err := in.loadUsers(); err != nil {
		return err
	}
	return in.node.Founded()
}

// createReplica makes an empty replica of a database of the cluster. A server that stops need not.
func (in *instance) createReplica(name string, oid uint32) error {
	err := in.engine.CreateDatabase(name, oid)
	if errors.Is(err, engine.ErrClosed) {
		return nil
	}
	return err
}

// lead puts in order what the last leader of a database may have left.
func (in *instance) lead(oid uint32) {
	if in.node.Founding() {
		return
	}
	err := in.sessions.Resume(oid)
	if oid == systemDatabase {
		err = errors.Join(err, in.loadUsers())
	}
	if err != nil {
		in.logger.Warn("begin to lead a database", "number", oid, "error", err)
	}
}

// newClusterCommand shows and changes a cluster from outside.
func newClusterCommand() *cobra.Command {
	var flags confFlags
	c := &cobra.Command{
		Use:   "cluster",
		Short: "Show and change a cluster",
		Long: `Shows and changes a cluster through any of its nodes: the one at --cluster-address.
The cluster's secret comes from server.cluster.secret, best as HERD_SERVER_CLUSTER_SECRET in the environment; a cluster with certificates
needs server.cluster.tls.cert, server.cluster.tls.key and server.cluster.tls.ca instead.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	add := func(use, short string, args cobra.PositionalArgs, run func(cl *cluster.Client, args []string, out io.Writer) error) {
		sub := &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
			config, err := flags.load(cmd)
			if err != nil {
				return err
			}
			cl, err := cluster.NewClient(config.ClusterAddress, credentials(config))
			if err != nil {
				return err
			}
			return run(cl, args, cmd.OutOrStdout())
		}}
		flags.register(sub)
		c.AddCommand(sub)
	}
	add("status", "Show nodes, databases, leaders and replicas", cobra.NoArgs, func(cl *cluster.Client, _ []string, out io.Writer) error {
		s, err := cl.Status()
		if err != nil {
			return err
		}
		return printStatus(out, s)
	})
	add("remove NODE", "Take a node out of the cluster; its folder stays", cobra.ExactArgs(1), func(cl *cluster.Client, args []string, out io.Writer) error {
		return done(out, cl.Remove(args[0]), "node %s is removed", args[0])
	})
	add("transfer NODE", "Give the leadership of the cluster and its databases to a node", cobra.ExactArgs(1), func(cl *cluster.Client, args []string, out io.Writer) error {
		return done(out, cl.Transfer(args[0]), "node %s takes over", args[0])
	})
	add("drain", "Give all leaderships of the node at --cluster-address to others, before it is stopped", cobra.NoArgs, func(cl *cluster.Client, _ []string, out io.Writer) error {
		return done(out, cl.Drain(), "the node leads nothing any more")
	})
	add("lead DATABASE NODE", "Have a node lead a database whenever it can; an empty NODE: any", cobra.ExactArgs(2), func(cl *cluster.Client, args []string, out io.Writer) error {
		return done(out, cl.Lead(args[0], args[1]), "database %s is to be led by node %s", args[0], cmp.Or(args[1], "(any)"))
	})
	addClusterChecks(add)
	return c
}

func done(out io.Writer, err error, format string, args ...any) error {
	if err == nil {
		_, err = fmt.Fprintf(out, format+"\n", args...)
	}
	return err
}

func printStatus(out io.Writer, s *cluster.Status) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tCLUSTER ADDRESS\tSQL ADDRESS\tLEADS")
	for _, n := range s.Nodes {
		leads := ""
		if n.ID == s.Leader {
			leads = "cluster"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", n.ID, n.Address, n.SQL, leads)
	}
	fmt.Fprintf(w, "\nDATABASE\tLEADER\tTERM\tAGREED\tAPPLIED ON %s\tREPLICAS\n", s.Node)
	for _, d := range s.Databases {
		name := d.Name
		if d.OID == systemDatabase {
			name = "(system)"
		}
		var members []string
		for _, r := range d.Replicas {
			m := r.Node
			if !r.Voter {
				m += " (learner)"
			}
			members = append(members, m)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\n", name, d.Leader, d.Term, d.Commit, d.Applied, strings.Join(members, ", "))
	}
	if s.Leader == "" {
		fmt.Fprintf(w, "\nNode %s knows no leader: fewer than half of the nodes can be reached.\n", s.Node)
	}
	return w.Flush()
}
