// Package postgres turns PostgreSQL text into herd's syntax tree.
//
// # Purpose
//
// It is the only importer of the PostgreSQL grammar (github.com/sqlc-dev/oliphant), and the place where that parser's tree
// becomes sql/ast. The grammar is PostgreSQL 18's; what 15 does not have is refused here.
//
// # Invariants
//
//	I1  Nothing the parser's tree says is dropped silently: a node or field that has no counterpart in sql/ast is 0A000
//	    with its name and, where the tree has one, its position. A mutation test holds this.
//	I2  Syntax errors are 42601 in PostgreSQL's words with a character position.
//	I3  Callers have run scan.CheckNesting on the text: neither the parser nor the conversion bounds recursion itself.
//
// # Goroutines
//
// None; Parse may be called by any number of goroutines.
//
// # Files
//
//	parse.go    Parse, statements' texts, the parser's errors
//	convert.go  the converter's helpers: names, lists, failures
//	expr.go     expressions
//	typename.go type names, literals
//	query.go    SELECT
//	dml.go      INSERT, UPDATE, DELETE, MERGE
//	copy.go     COPY and its options
//	table.go    CREATE TABLE, CREATE INDEX, constraints
//	alter.go    ALTER TABLE
//	object.go   object names; DROP, RENAME, COMMENT, GRANT and their like
//	ddl.go      the other CREATE and ALTER statements
//	option.go   generic options, sequence options
//	utility.go  transactions, settings, cursors, EXPLAIN and the rest
//	stmt.go     the switch over statements
package postgres
