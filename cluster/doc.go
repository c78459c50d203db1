// Package cluster keeps a database's log on several nodes: a Raft group is its txlog.Log.
//
// # Purpose
//
// A [Node] is one server of a cluster: one TLS port for all traffic between nodes, one Raft group for each database and
// one, the system group, that knows the nodes and the databases. A [Group] is what the engine has for a log: it gathers
// entries, proposes them as one Raft entry, and drives the database ([herd/txlog.Replica]) with what was agreed on. The
// package never looks into an entry.
//
// # Invariants
//
//	I1  What is proposed under an epoch lies in the Raft log before the barrier of the next leadership of the same node.
//	I2  A database that leads is told Follow before an entry is applied that opens another epoch.
//	I3  Append never waits for the network or a disk.
//	I4  A descriptor's index is at most that of the state on disk, or the state is fetched before anything is applied.
//	I5  Membership changes through the leader only; a restart never changes it. A node is known by its id.
//
// # Goroutines
//
// Group: the proposer, the collector of results, the watcher of leadership, the one that calls Lead and Follow, the counter of
// elections, the one that catches up and, while it fetches a state, one that does so and one that waits for Close; Raft has its own. Node: the accept loop, one per connection, the keeper of membership, the keeper of places. All end with Close.
//
// # Files
//
//	group.go     Group: txlog.Log over a Raft group
//	propose.go   batches of entries on their way into Raft
//	wait.go      waiting for an entry
//	lead.go      leadership: Lead and Follow
//	fsm.go       what was agreed on, to the database
//	catchup.go   a state that is fetched, and the log behind it
//	pace.go      how fast states are sent; background.go at which priority
//	verify.go    linearizable reads
//	fresh.go     how old a replica's state is at most
//	marks.go     which Raft index holds which entry
//	batch.go     the form of a Raft entry
//	logstore.go  the Raft log in txlog segments; early.go sends entries while the leader's disk writes them
//	stable.go    term, vote and descriptors in bbolt
//	snapshot.go  descriptors as Raft snapshots
//	secret.go    TLS from the cluster's secret
//	certificate.go TLS with given certificates
//	wire.go      one port: what a connection is for
//	transport.go Raft's transport, more patient with nodes that end and come back
//	suspect.go   leaders whose processes have ended
//	node.go      Node: open, close, groups
//	system.go    the system group: nodes and databases
//	join.go      joining and leaving
//	keeper.go    replicas on this node, membership of groups, learners to voters
//	place.go     which nodes hold a database, who leads it
//	overview.go  what all nodes know together: nodes, replicas, lag
//	history.go   when a state came to contain which entry
//	check.go     comparing replicas; promoting
//	stats.go     counters
//	route.go     where a client's session runs
//	message.go   messages for the node that leads a database
//	settle.go    databases that are being made or dropped, and what a crash leaves of that
//	admin.go     requests between nodes and of `herd cluster`
//	log.go       Raft's messages
package cluster
