// Command kill9 kills a herd server with SIGKILL in the middle of TPC-B, again and again, and checks what is there after each restart.
//
// # Purpose
//
// `go run ./tests/kill9` loads pgbench's tables, runs TPC-B transactions from several clients that note every acknowledged commit, kills the
// server, starts it again, and checks that no acknowledged transaction is missing and that the balances of branches, tellers and
// accounts equal the history.
//
// # Invariants
//
//   - I1: a transaction counts as acknowledged only when the answer to its COMMIT has been read.
//   - I2: a transaction that was not acknowledged may be there or not, but wholly: the sums see half of one.
//   - I3: the data folder is the same through all rounds, so that a loss shows even if a later round hides it from the sums.
//
// # Goroutines
//
// One per client and round, ended by the kill.
//
// # Files
//
//   - main.go: flags and rounds. client.go: the transactions. check.go: what must hold.
package main
