// Command etcd measures a herd cluster beside an etcd cluster, three nodes each on this machine, and PostgreSQL 15 without replication.
//
// # Purpose
//
// `go run ./bench/etcd` builds herd, starts the servers one after the other, each with a sync for every commit on every node, and prints puts and
// linearizable reads a second with the ratios that the cluster is to reach. etcd is Debian's package etcd-server, or --etcd names a program.
//
// # Invariants
//
//   - I1: all systems of a row are measured in the same run, with the same clients, values and duration; clients connect to the leader.
//   - I2: an operation counts when its answer has been read; one that fails ends the measurement with the error.
//   - I3: what a put writes is new: etcd makes a key, the others insert a row.
//   - I4: processor time is that of all processes of a system, in hundredths of a second, over all operations; PostgreSQL's is not known.
//
// # Goroutines
//
// One per client during a measurement, ended by its duration; one per server process that takes its output.
//
// # Files
//
//   - main.go: flags, order and table. load.go: clients and their latencies.
//   - etcd.go, herd.go: clusters of three. sql.go: clients of herd and PostgreSQL; lean.go: the same without a driver. process.go: servers as processes.
package main
