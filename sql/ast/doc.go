// Package ast is herd's own syntax tree.
//
// # Purpose
//
// The tree states what a statement means, not how a grammar spelled it. sql/postgres and sql/mysql make it, the planner
// binds it, sql/ddl and sql/session execute the utility statements in it. It is the wall between parsers and everything else.
//
// # Invariants
//
//	I1  A tree is read-only once its maker has returned it, and may be shared by plans and sessions.
//	I2  Every node has the byte offset of its first or most telling token in the statement's text (what PostgreSQL reports
//	    errors at), or NoPos.
//	I3  Meaning is explicit: a dialect shows in qualified function and operator names, never in a mode flag.
//	I4  AND and OR, left-deep operator chains and left-deep set operations are n-ary (BoolExpr, OpChain, SetOp), so depth
//	    is bounded by brackets, which sql/scan limits before a parser runs.
//	I5  Identifiers are already case-folded and truncated to 63 bytes.
//	I6  An interface field is nil when the clause is absent; a slice may be nil.
//
// # Goroutines
//
// None.
//
// # Files
//
//	node.go     positions, names, the interfaces
//	expr.go     expressions
//	query.go    SELECT and its parts
//	dml.go      INSERT, UPDATE, DELETE, MERGE, COPY
//	table.go    CREATE TABLE, indexes, constraints, ALTER TABLE
//	ddl.go      all other object definitions, DROP, rename, ownership, rights, roles
//	utility.go  transactions, settings, prepared statements, cursors, EXPLAIN and the rest
package ast
