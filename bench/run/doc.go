// Command run measures herd beside PostgreSQL 15 and MariaDB 10.11 and prints a table with ratios.
//
// # Purpose
//
// `go run ./bench/run` (or `make bench`) builds herd, starts private servers on this machine with synchronous commits on all sides, runs every row and
// saves the table in bench/results. Rows can be named; `go run ./bench/run -list` shows them, -quick shortens them.
//
// # Invariants
//
//   - I1: all servers of a row are measured in the same run, one after the other, with the client on the same machine.
//   - I2: a row that fails is shown as failed with the reason; it never takes the place of a figure.
//
// # Goroutines
//
// None but those of the child processes' output.
//
// # Files
//
//   - main.go: flags and order. rows.go: the rows and what they must reach. servers.go: herd and its peers as processes.
//   - pgbench.go, ycsb.go, bulk.go, queries.go, tpch.go: how each kind of row is measured. report.go: the table.
package main
