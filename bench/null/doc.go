// Command null is a server that pgbench can talk to and that does nothing else than it must: the bound of what a server in
// this language can reach on a machine.
//
// # Purpose
//
// `go run ./bench/null --port N --log FILE` answers every point read with one fixed row, without parsing, planning or looking
// anything up. A change waits for a synchronous write that all waiting changes share. TPC-B's branches and tellers are locked as the
// benchmark's transactions lock them, and let go before the write ends. What a real server adds to that is its own cost; what is
// slow here is the client, the sockets and the disk. bench/run measures it beside the servers.
//
// # Invariants
//
//   - I1: a COMMIT, or a change outside a transaction, is answered after a write that began later has reached the disk.
//   - I2: at most one transaction holds a branch or a teller.
//
// # Goroutines
//
// One for each connection, one that writes the log.
//
// # Files
//
//   - main.go: flags and the listener.
//   - conn.go: the messages of a connection.
//   - statement.go: what kind of statement a text is.
//   - grouplog.go: the log's shared writes.
package main
