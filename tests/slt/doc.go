// Command slt runs SQL logic tests, whose recorded results are PostgreSQL's, against a server.
//
// # Purpose
//
// `go run ./tests/slt --url postgres://... FILES` prints how many records of each file pass and shows the first failures. The same
// files pass completely on PostgreSQL 15, which is what makes them an oracle. --mode picks the protocol; the folder of files named without a path is
// HERD_SLT_DIR or ../shared/sqllogictest. --batches 1,3,1024 runs them on a herd of its own for each batch size instead.
//
// # Invariants
//
//   - I1: every file runs in a database of its own, made and dropped by the runner.
//   - I2: a record fails, and never only warns, when its outcome differs in success, SQLSTATE, number of columns, or values.
//
// # Goroutines
//
// None.
//
// # Files
//
//   - main.go: flags and report. parse.go: the file format. run.go: one file against one server.
package main
