// Command history runs random transactions on a herd that is killed, checkpointed and short of memory meanwhile, and checks
// that what the clients saw is possible at their isolation level.
//
// # Purpose
//
// `go run ./tests/history` runs four loads at READ COMMITTED, REPEATABLE READ and SERIALIZABLE: lists that transactions append
// to and read (their histories are searched for cycles of dependencies), transfers between accounts, pairs of rows of which
// one must stay set (write skew), and many clients that add one to a counter. --time, --seed and --kills make it long.
//
// # Invariants
//
//   - I1: every appended element is unique, so a list that was read tells whose versions its reader saw and in which order.
//   - I2: a transaction whose COMMIT was not answered counts as committed if, and only if, somebody saw what it wrote.
//   - I3: what an aborted transaction read is not judged: at SERIALIZABLE it may be told of the conflict later.
//
// # Goroutines
//
// One per client, one that asks for checkpoints and one that scans a large table; all end with the load.
//
// # Files
//
//   - main.go: flags, rounds. record.go: histories. check.go: the rules. graph.go: cycles. lists.go: the list-append load.
//     sums.go: accounts, pairs, counter. stress.go: the server, kills, checkpoints, evictions. client.go: connections.
package main
