// Command regress runs PostgreSQL's own regression scripts against a server and counts their statements.
//
// # Purpose
//
// `go run ./tests/regress --url postgres://... --source DIR [SCRIPT...]`, DIR being src/test/regress of PostgreSQL 15's source, feeds the
// scripts to psql as pg_regress does, cuts the expected and the actual output by statement and says of each: equal, refused (0A000 for
// something left for later), unsupported (any other 0A000), following from the one or the other, in another row order, or different. EXPLAIN is
// counted apart. The table goes to stdout; --out takes the outputs, and causes.txt with every difference, grouped by its cause; --summary
// writes RESULTS.md, the page beside this file.
//
// # Invariants
//
//   - I1: a statement counts as equal only when all psql printed for it is equal, byte for byte.
//   - I2: every statement of the expected output is counted once; what a server never answered is different.
//   - I3: a script starts with what the scripts before it left behind, in PostgreSQL's order, in a database of its own.
//
// psql runs with VERBOSITY=verbose, unlike under pg_regress, so that refusals are known by their SQLSTATE instead of by wording; the lines
// and codes that this adds are taken out again before anything is compared. Statements that share a line count as one.
//
// # Largest groups
//
// What RESULTS.md calls "rows in" a script is mostly one thing each: window and portals have queries whose answer depends on the order of
// PostgreSQL's heap (no ORDER BY, cursors after an UPDATE); alter_table looks at pg_locks, toast tables and storage modes; create_view at the
// aliases that pg_get_viewdef chooses after tables and columns were renamed; create_index at relfilenodes and statistics of indexes.
// EXPLAIN is nearly always different: plans are herd's own.
//
// # Goroutines
//
// None.
//
// # Files
//
//   - RESULTS.md: the last results. main.go: flags. list.go: the scripts and their order. psql.go: running one. lex.go: where statements end. split.go: a script in
//     statements, an output by statement. classify.go: what a difference means. report.go: table and causes.
package main
