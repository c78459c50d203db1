// Package lint is the tests that keep the repository's promises about itself.
//
// # Purpose
//
// Which package may import which, where each third-party module lives, that exported names and packages are documented, and that
// the files that documents name exist. A picture of the layers goes stale; these tests fail.
//
// # Invariants
//
//   - I1: each failure names the file and what to do instead.
//   - I2: the tables are text in the tests, to be read and changed by people.
//
// # Goroutines
//
// None.
//
// # Files
//
//   - lint.go: reading the tree. deps_test.go: import tables. docs_test.go: documentation.
package lint
