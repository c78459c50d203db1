// Package deparse turns bound expressions and queries back into SQL text, as PostgreSQL's ruleutils prints it.
//
// # Purpose
//
// Stored expressions (defaults, checks, index expressions, generated columns) and views are kept as this text, fully qualified:
// with the search path pg_catalog alone. With a session's path it is what pg_get_viewdef and its kin show.
//
// # Invariants
//
//	I1  Binding the text of a bound tree, with the same path, gives the same tree again.
//	I2  The text is PostgreSQL's, brackets, casts and line breaks included: clients parse it.
//	I3  Nothing is left out silently: a node that cannot be written is an error.
//
// # Goroutines
//
// None.
//
// # Files
//
//	deparse.go  Env, Expr, Query; the printer
//	const.go    constants
//	expr.go     expressions
//	pretty.go   brackets
//	call.go     functions, operators, aggregates, windows, special syntaxes
//	query.go    SELECT, set operations, WITH
//	from.go     FROM
//	stored.go   stored expressions
package deparse
