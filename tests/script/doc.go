// Package script runs SQL scripts whose answers are PostgreSQL's.
//
// # Purpose
//
// A package keeps scripts in testdata/*.sql, one statement a line, and beside each what PostgreSQL 15 answers (.out). Its test
// calls Run, which starts a herd and compares. The same scripts run on a PostgreSQL, which makes the answers.
//
// # Invariants
//
//   - I1: no wanted output comes from herd.
//   - I2: each script has a database of its own.
//
// # Goroutines
//
// None.
//
// # Files
//
//   - script.go: the runner.
package script
