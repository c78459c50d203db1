// Package dump reads dumps: SQL files of mysqldump and pg_dump, of any size.
//
// # Purpose
//
// It cuts a stream into statements, knowing each dialect's strings, comments, dollar quotes, DELIMITER lines and COPY blocks, and
// turns INSERTs of literal tuples, which MySQL's dumps consist of, into rows for COPY.
//
// # Invariants
//
//	I1  No more than one statement, or one piece of a COPY block, is in memory.
//	I2  What is not certain to be literal tuples stays an INSERT.
//
// # Goroutines
//
// None.
//
// # Files
//
//	reader.go  Reader: statements of a stream
//	insert.go  Insert: the tuples of an INSERT
package dump
