// Command differential runs random statements against herd and against PostgreSQL 15 and compares every answer.
//
// # Purpose
//
// `go run ./tests/differential --herd postgres://... --postgres postgres://... --statements 100000` makes, round by round, a database
// with tables, views, indexes and rows of its own on both servers, and sends both the same statements: queries, data modification,
// transaction blocks, expressions over PostgreSQL's own list of functions and operators. Without URLs it starts private servers. What
// differs is printed with the seed of its round and a script that leads to it, and makes the command fail.
//
// # Invariants
//
//   - I1: a seed gives the same statements again, whatever the servers answered, up to the first difference of its round. A round ends there, since its
//     databases may differ from then on.
//   - I2: a statement's answer depends on nothing that SQL leaves open: where rows have no order they are compared as a bag, and
//     statements over several rows have no expression that can fail at run time.
//   - I3: what herd refuses with 0A000 is counted and named; any other difference is in the list of listed.go with its reason, or is a failure.
//
// # Goroutines
//
// None.
//
// # Files
//
//   - main.go: flags, report. servers.go: the two servers, a round's databases. round.go: one seed's statements. compare.go: one statement on both
//     servers. listed.go: differences that are meant.
//   - gen.go: the state of a generator. types.go: types and their literals. routines.go: PostgreSQL's functions and operators. forms.go: expressions with a syntax of
//     their own, and those that cannot fail. expr.go: expressions. query.go, from.go, group.go: queries. schema.go: tables, indexes, views. modify.go: INSERT, UPDATE,
//     DELETE, MERGE, transaction blocks.
package main
