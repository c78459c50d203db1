// Package cluster tests clusters of real server processes on loopback.
//
// # Purpose
//
// Nodes are killed, come back, join late, lose their folders and leave, under load; then every node must show what was
// acknowledged. HERD_PROGRAM names a server that is built already.
//
// # Invariants
//
//	I1  Every process that a test starts has ended when the test ends.
//
// # Goroutines
//
// One for each client of the load, until its end.
//
// # Files
//
//	nodes_test.go  processes
//	kill_test.go   the leader is killed under load
//	relay_test.go  sessions through nodes that follow, a node alone
//	join_test.go   late, returning, moving and leaving nodes
//	engines_test.go three engines in this process, compared by the checksums of their trees
package cluster
