// Package system holds tests of a whole server that clients see: psql, pgbench, sysbench, large values, concurrency.
//
// # Purpose
//
// Each test runs on a herd built from the working tree and on a real PostgreSQL 15, so that what it expects is what PostgreSQL does.
//
// # Invariants
//
//   - I1: a test asks for nothing that PostgreSQL does not give.
//
// # Goroutines
//
// Those of the tests, which wait for them.
//
// # Files
//
//   - system.go: running a test on both servers. The tests are in the _test files, one subject each.
package system
