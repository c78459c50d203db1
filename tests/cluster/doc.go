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
// One for each client of the load, until its end; two for each connection between nodes that leads through links, until the test's end.
//
// # Files
//
//	nodes_test.go  processes
//	kill_test.go   the leader is killed under load
//	relay_test.go  sessions through nodes that follow, a node alone
//	join_test.go   late, returning, moving and leaving nodes
//	rolling_test.go nodes that restart, join and leave under load
//	cut_test.go    links between nodes are cut
//	links_test.go  what stands between the nodes then
//	rounds_test.go anything of this again and again: HERD_ROUNDS=100 go test ./tests/cluster -run TestRounds -timeout 2h
//	backup_test.go backups of a node
//	scenario_test.go engines in this process in simulated time, histories checked; network_test.go what lies between them
//	counter_test.go clients that find stale reads and lost commits
//	engines_test.go three engines in this process, compared by the checksums of their trees
package cluster
