// Package golden compares what a test produced with a file that is reviewed like code.
//
// # Purpose
//
// A test whose output is text (tables, plans, transcripts) keeps the expected text in testdata. `go test ./pkg -rewrite` writes the files
// anew; the difference is then read before it is committed.
//
// # Invariants
//
//   - I1: without -rewrite no file is written.
//
// # Goroutines
//
// None.
//
// # Files
//
//   - golden.go: Check.
package golden
