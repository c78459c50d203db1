// Command pgdatagen writes the data files of herd/sql/catalog/pgdata from a running
// PostgreSQL 15 server.
//
// # Purpose
//
// PostgreSQL's own catalogs (types, functions, operators, casts, operator families, system
// views, settings, keywords) are interface: clients read them and name resolution depends on
// them. This tool copies the rows that initdb makes into one compressed text file for each
// catalog.
//
//	go run ./internal/pgdatagen -server "host=127.0.0.1 user=postgres" -out sql/catalog/pgdata/data
//	go run ./internal/pgdatagen -server ... -out ... -check
//
// With -check nothing is written; the tool fails when a file differs from the server.
// The server must have been made with initdb --locale=C --encoding=UTF8 --username=postgres.
//
// # Invariants
//
//	I1. Only rows that initdb made are copied (object identifiers below 16384).
//	I2. Columns that differ between two freshly made servers (pages, tuples, file nodes,
//	    transaction horizons) are written as constants, so a second run changes nothing.
//	I3. Expressions are written as SQL text, never as PostgreSQL's node trees.
//	I4. The files are in COPY text format below one line of column names.
//
// # Goroutines
//
// None.
//
// # Files
//
//	main.go     flags, writing and checking
//	dump.go     what is read from the server and how
package main
