// Package json reads, checks and writes JSON text, and the canonical text that is the stored form of jsonb.
//
// # Purpose
//
// The canonical text of a jsonb value is what PostgreSQL prints: keys sorted by length and then bytes, the last of equal
// keys kept, numbers as numeric prints them, ", " and ": " between parts. So output is a copy, and the navigation
// functions here serve json and jsonb alike.
//
// # Invariants
//
//	I1  Canonical(Canonical(x)) = Canonical(x).
//	I2  No function recurses deeper than MaxDepth.
//	I3  The functions of nav.go need valid JSON: what json or jsonb input has accepted.
//
// # Goroutines
//
// None.
//
// # Files
//
//	scan.go     the checking parser
//	value.go    trees of values: parse, canonical text, compare
//	nav.go      finding parts of a text without a tree
//	errors.go   PostgreSQL's messages
package json
