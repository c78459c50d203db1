// Command tpch writes the tables of TPC-H, its 22 queries and their answers into a folder.
//
// # Purpose
//
// `go run . -scale 0.2 -out DIR` in this folder writes lineitem.csv and the other seven tables with a header line each,
// 01.sql to 22.sql, and 01.csv to 22.csv with the answers. DuckDB's extension makes the data and knows the queries. The
// row tpch of bench/run loads that into the servers and compares. A module of its own: DuckDB needs cgo, herd does not.
//
// # Invariants
//
//   - I1: the answers are TPC-H's own where DuckDB has them (scales 0.01, 0.1 and 1), else what DuckDB computes on the same data.
//   - I2: nothing is downloaded: the extension is in the static libraries of the Go binding.
//
// # Goroutines
//
// None.
//
// # Files
//
//   - main.go: flags, and the files written by DuckDB's COPY.
//   - extension.cpp, extension.h: adds the linked extension to an open database, which the binding itself does not.
package main
