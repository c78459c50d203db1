// Package pgdata holds what PostgreSQL 15's initdb puts into the system catalogs: types,
// functions, operators, casts, aggregates, operator families, collations, keywords, settings,
// and the definitions of the system tables and views.
//
// # Purpose
//
// Name resolution, index use and introspection are decided by data, not by code: a function
// that PostgreSQL knows takes part in overload resolution even if herd has no kernel for it.
//
// # Invariants
//
//	I1. Everything returned by this package is shared and must not be modified.
//	I2. Nothing is decoded before it is first asked for; each catalog is decoded once.
//	I3. The data files are made by internal/pgdatagen and never edited; the test of that
//	    tool compares them with a server when HERD_TEST_POSTGRES names one.
//	I4. Lists for one name (functions, operators) are in order of object identifier.
//
// # Goroutines
//
// None; all functions are safe for concurrent use.
//
// # Files
//
//	data/       COPY text files, gzip, one for each catalog that has rows
//	raw.go      reading a data file; generic access to a catalog's rows
//	own.go      herd's own functions and views, rows of the same catalogs
//	parse.go    fields to Go values
//	types.go    pg_type, pg_range
//	procs.go    pg_proc, pg_aggregate
//	operators.go pg_operator
//	mysql.go    functions and operators of schema mysql
//	casts.go    pg_cast, binary coercion
//	opclasses.go pg_opclass, pg_opfamily, pg_amop, pg_amproc, pg_am
//	relations.go system tables and views: columns and definitions
//	names.go    schemas, collations, languages, encodings, keywords, settings, descriptions
package pgdata
