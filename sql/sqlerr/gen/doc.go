// Command gen turns sqlerr's codes.txt into codes.go.
//
// # Purpose
//
// It is run by go generate in sql/sqlerr whenever the table changes.
//
// # Invariants
//
//	I1  The first name of a code is the one it is called by.
//
// # Goroutines
//
// None.
//
// # Files
//
//	main.go  all of it
package main
