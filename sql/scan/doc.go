// Package scan is herd's own scanner of SQL text: what has to be known before, or instead of, parsing.
//
// # Purpose
//
// It refuses nesting that no recursive parser survives, cuts a Query message into statements, turns a statement into its
// shape (literals replaced by their class) so that plans are found without parsing, and reads the tuples of a bulk INSERT.
// It knows PostgreSQL's lexical rules with standard_conforming_strings on, and no grammar.
//
// # Invariants
//
//	I1  CheckNesting, Next and FindBulk accept every text, valid or not, and end; they never fail on what is merely wrong SQL.
//	I2  Shape says no rather than guess: two texts of the same shape differ in the values of their listed literals alone.
//	I3  A shape and its literals give the text back: shapes are injective but for literal values and trailing semicolons.
//	I4  Nothing here allocates, apart from growing the caller's buffers and making an error.
//
// # Goroutines
//
// None.
//
// # Files
//
//	lex.go      character classes, skipping of strings, comments, names and operators
//	nesting.go  CheckNesting
//	split.go    Next: statements of a Query message
//	shape.go    Shape and Literal
//	bulk.go     FindBulk and Tuples
//	database.go PlainDatabase: what databases have beyond PostgreSQL's grammar
//	exclude.go  NameExclude: columns named exclude
package scan
