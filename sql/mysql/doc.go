// Package mysql turns MySQL's and HerdDB's SQL into herd's tree.
//
// # Purpose
//
// It is the twin of sql/postgres: files of the same name treat the same nouns. Statements of equal meaning give equal trees in
// both. Where MySQL means something else by the same words, the tree says so by functions and operators of schema mysql
// (sql/catalog/pgdata/mysql.go has them): nothing behind the tree knows which front end made it.
//
// # Invariants
//
//	I1  TiDB's parser is imported by this package only. A parser is not safe for concurrent use and not cheap: they are pooled.
//	I2  What has no counterpart is an error of code 0A000 with its name and place; nothing is skipped in silence. The exceptions
//	    are listed where they are made: storage options of tables (engine, row format, ...), index hints, character sets.
//	I3  What is converted gives MySQL's answer, which the tests have from a MariaDB 10.11; a statement that could give
//	    another one is refused.
//	I4  Names of tables, columns, indexes and aliases of subqueries are folded to lower case, as with lower_case_table_names=1.
//	    A MySQL database is a schema.
//
// # Goroutines
//
// None; all functions are safe for concurrent use.
//
// # Files
//
//	parse.go     text to statements, errors
//	lex.go       tokens, nesting, what is HerdDB's own
//	literal.go   literals of TiDB's parser
//	convert.go   names, tables, the converter
//	stmt.go      kinds of statement
//	query.go     SELECT
//	dml.go       INSERT, REPLACE, UPDATE, DELETE
//	expr.go      expressions and conditions
//	funccall.go  functions and aggregates
//	datefn.go    functions of dates
//	table.go     CREATE TABLE, indexes, constraints
//	alter.go     ALTER TABLE, DROP, RENAME
//	typename.go  types
//	utility.go   SET, variables, transactions, LOCK TABLES
//	show.go      SHOW and DESCRIBE
//	herddb.go    statements of HerdDB
//	split.go     CREATE TABLE of a dump cut into what comes before and after the rows
package mysql
