// Package jsonpath reads, prints and runs the SQL/JSON path language.
//
// # Purpose
//
// A path is stored as the text that PostgreSQL prints for it, which says everything; who runs it parses it once. The executor works
// on trees of package json. What it needs from above (regular expressions, templates of dates) comes through Env.
//
// # Invariants
//
//	I1  Parse(p.String()) gives the same path, and prints the same.
//	I2  A parsed Path is never changed: sessions may share it. What belongs to one run is in a run.
//	I3  A silent run reports no error that the language calls one; errors of other kinds (0A000, cancelled) come through.
//
// # Goroutines
//
// None.
//
// # Files
//
//	node.go      the tree of a path
//	scan.go      tokens; scanquote.go: escapes in strings and names
//	parse.go     grammar: predicates and arithmetic; parseaccess.go: primaries and accessors
//	print.go     the canonical text
//	run.go       running a path: what all items share
//	access.go    members, elements, wildcards, subscripts
//	method.go    .type() to .keyvalue(); offset.go: the ids of .keyvalue()
//	arith.go     arithmetic
//	predicate.go conditions and comparisons
//	datetime.go  .datetime() and the values that it makes
package jsonpath
