// Package peer starts a throw-away PostgreSQL, MariaDB or herd for tests and measurements that compare them.
//
// # Purpose
//
// Tests that ask another server how something behaves call Postgres or MariaDB. The benchmark driver calls the Start functions with
// the settings it measures with. Every server gets a new folder, a free loopback port and no password.
//
// # Invariants
//
//   - I1: a server listens on loopback only and lives no longer than the test or the caller's Stop.
//   - I2: a peer that is not installed skips the test by name, and .ci/run fails when that happened.
//
// # Goroutines
//
// One per server waits for its process to end.
//
// # Files
//
//   - peer.go: servers as processes, and the testing helpers. postgres.go, mariadb.go, herd.go: how each is made and started.
//   - process.go: what a process uses.
package peer
