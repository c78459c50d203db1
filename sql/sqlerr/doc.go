// Package sqlerr has the one SQL error type of herd.
//
// # Purpose
//
// An error or notice that a client may see is born with its SQLSTATE, in the words PostgreSQL uses, at the place that
// finds it. Nothing above adds or guesses a code: the wire protocol only copies fields. Packages below SQL (storage,
// the logs) have their own sentinels, which the engine's callers translate here.
//
// # Invariants
//
//	I1  Every code is a constant generated from codes.txt.
//	I2  An *Error is not changed once it has left the function that made it; From makes a copy before a caller adds to it.
//
// # Goroutines
//
// None. An *Error may be read by several goroutines.
//
// # Files
//
//	codes.txt   the table: code, kind, constant, condition name
//	codes.go    generated from it by gen
//	error.go    the error type and its constructors
package sqlerr

//go:generate go run ./gen
