// Package ddl executes the statements that define objects: CREATE, ALTER, DROP, COMMENT, GRANT, TRUNCATE and their like.
//
// # Purpose
//
// A definition is a change of catalog descriptors, and sometimes of rows (CREATE INDEX, a rewriting ALTER TABLE, a constraint
// that has to be checked), all within the session's transaction. The messages are PostgreSQL's.
//
// # Invariants
//
//	I1  A relation is locked before its descriptor is read for change, and read again after the lock.
//	I2  Stored expressions are canonical text made from bound trees; what they refer to is in pg_depend.
//	I3  A table's rows move only to new trees (TreeID 0 in the new descriptor): an older snapshot keeps reading the old one.
//	I4  What cannot be rolled back (sequence state) is left to hooks of the transaction's end.
//
// # Goroutines
//
// None.
//
// # Files
//
//	env.go         Env, Execute: the switch over statements
//	lookup.go      names, rights, locks
//	create.go      CREATE TABLE; like.go: its LIKE
//	column.go      column definitions, defaults, identity, serial
//	constraint.go  PRIMARY KEY, UNIQUE, CHECK
//	foreignkey.go  FOREIGN KEY
//	index.go       CREATE INDEX
//	rows.go        scans and checks of existing rows; rewrite.go: rows written again
//	indexbuild.go  entries of a new index; buildindex.go: beside writers
//	slots.go       bound expressions over rows
//	alter.go       ALTER TABLE
//	altercolumn.go its column subcommands
//	drop.go        DROP
//	rename.go      RENAME, SET SCHEMA, OWNER TO
//	restore.go     stored text after a rename
//	sequence.go    sequences
//	view.go        views, CREATE TABLE AS
//	matview.go     materialized views
//	typedef.go     enums, domains, composite types; typeuse.go: tables that hold values of a type
//	function.go    functions in SQL
//	schema.go      schemas
//	truncate.go    TRUNCATE
//	comment.go     COMMENT
//	grant.go       GRANT, REVOKE, default privileges
//	role.go        roles
//	temp.go        what COMMIT and the end of a session do with temporary objects
package ddl
