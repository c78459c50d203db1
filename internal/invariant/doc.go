// Package invariant is the only place of herd that panics on purpose.
//
// # Purpose
//
// A broken invariant means that going on could damage data, so the process stops where it was seen. Cheap checks
// ([Assert]) are always on. Dear checks stand behind [Enabled], which is true in builds with the tag "invariants".
//
// # Invariants
//
//	I1  Assert never allocates when the condition holds.
//
// # Goroutines
//
// None.
//
// # Files
//
//	invariant.go  Assert, Unreachable
//	on.go off.go  the constant Enabled, by build tag
package invariant
