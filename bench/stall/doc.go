// Command stall measures what background work and large commits do to the latency of others.
//
// # Purpose
//
// `go run ./bench/stall` finds the peak of YCSB's workload a, runs it at 60 % of the peak without checkpoints and index builds and then with
// checkpoints every 20 s and a CREATE INDEX CONCURRENTLY in the middle, and prints both with the ratio of their p99.9 (at most 3) and
// the seconds without an operation (none). `go run ./bench/stall --bulk` runs commits of a million rows, definitions and maintenance beside small
// commits and prints the longest of those (at most 50 ms). The exit status is 1 when a goal is missed. Figures count on a quiet machine only.
//
// # Invariants
//
//   - I1: latencies count from when an operation was due, so that one that hangs is seen in those that could not begin.
//   - I2: both runs of a comparison are on the same data, one after the other, by the same program.
//
// # Goroutines
//
// Those of package ycsb; one that builds the index; a fixed number that commit beside bulk statements, ended by their context.
//
// # Files
//
//   - main.go: flags. load.go: the two runs at a share of the peak. bulk.go: small commits beside large statements.
package main
