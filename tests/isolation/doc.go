// Command isolation runs PostgreSQL's isolation specs against herd and compares with PostgreSQL's output.
//
// # Purpose
//
// `go run ./tests/isolation DIR` runs the specs in DIR, src/test/isolation of PostgreSQL 15's source, with the isolationtester that
// is installed with PostgreSQL's client programs. Specs named after DIR run alone, with their differences. The specs are not
// part of this repository; .ci/run fetches them with Debian's source package postgresql-15.
//
// The folder hermitage has specs of our own: Adya's phenomena and their kin, as the hermitage collection names them, each at
// the three levels. Their wanted output was written by a PostgreSQL (--rewrite --url).
//
// # Invariants
//
//   - I1: every spec runs in a database of its own, so that one that stops in the middle does not disturb the next.
//   - I2: a spec that differs and is not in exempt.txt is a failure, and so is one that is there and passes in the test.
//
// # Goroutines
//
// None of its own.
//
// # Files
//
//   - main.go: flags, the table of results. spec.go: running and comparing. exempt.txt: specs that need what herd refuses.
package main
