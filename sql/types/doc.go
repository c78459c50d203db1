// Package types has SQL types and values: their encodings, text and binary forms, order, equality and hashes.
//
// # Purpose
//
// Values travel in four physical classes (Kind): 64-bit integers, floats, booleans and bytes. What the bytes of a
// KindBytes type mean is fixed here and shared by vectors, datums, rows and arrays; all integers in them are little
// endian:
//
//	text varchar bpchar name bytea json xml  the bytes; bpchar has its padding, comparisons ignore it
//	numeric     see package numeric
//	interval    microseconds i64, days i32, months i32
//	timetz      microseconds i64, seconds west of Greenwich i32
//	uuid        16 bytes
//	tid         block u32, item u16
//	jsonb       the canonical text that PostgreSQL prints
//	jsonpath    the same
//	bit varbit  bit count u32, bits from the high end of each byte
//	arrays      dimensions u8, flags u8 (1: has NULLs), element type u32, per dimension length i32 and lower bound
//	            i32, then the elements: length i32 (-1 NULL), bytes (fixed-width elements as in rows)
//	records     column count u16, then per column type u32, length i32 (-1 NULL), bytes
//	enums       position f64 (order-preserving, big endian), label OID u32 big endian: see EncodeEnum
//
// Domains have the representation of their base type. Code outside the catalog and the planner never sees a domain's OID
// where a Kind matters: the planner replaces it by the base type.
//
// # Invariants
//
//	I1  Compare, Hash and package key agree: equal values hash equal and have equal keys.
//	I2  Output(Input(x)) = x for every canonical text, Recv(Send(v)) = v.
//	I3  Every error is a *sqlerr.Error in PostgreSQL's words.
//	I4  Output and Send only append to dst.
//
// # Goroutines
//
// None; an IOContext belongs to one session.
//
// # Files
//
//	oid.go datum.go builtin.go  identifiers, Datum, the table of built-in types
//	io.go input.go output.go    IOContext and the dispatch by type
//	recv.go send.go             binary forms
//	scalar.go text.go bit.go misc.go  numbers, strings, bit strings and the small types
//	array.go arraytext.go record.go enum.go  containers
//	jsonb.go jsonpath.go        JSON and its paths (packages json and jsonpath do the work)
//	width.go                    encodings of values inside rows, arrays and records
//	compare.go hash.go          order, equality, hashes
//	typmod.go format.go         type modifiers and type names
package types
