// Package scenario reads the files that say what happens to a cluster under test, and plays them in simulated time.
//
// # Purpose
//
// A scenario is a text file: a step a line, a verb and what it is done to. cluster plays them with a list for a database, tests/cluster with
// engines; the steps that the language itself has (comments, run, keep) and how nodes are named are the same for both.
//
// # Invariants
//
//   - I1: a step that nobody knows, or that fails, fails the test with its line.
//
// # Goroutines
//
// One per Served, until what serves returns. A file is played inside testing/synctest.
//
// # Files
//
//   - scenario.go: Files, Play, Nodes, Served.
package scenario
