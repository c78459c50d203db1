// Package catalog describes the objects of a database (schemas, tables, columns, indexes,
// constraints, sequences, views, types, functions, roles) and reads and writes them as rows of
// system trees, so that DDL is as transactional as any other change.
//
// # Purpose
//
// Planner and executor get immutable descriptors; PostgreSQL's system catalogs are computed
// from the same descriptors as virtual tables.
//
// # Storage
//
// All system trees have identifiers below 512 (see trees.go):
//
//	objects   (class, oid)                 -> format, kind, stamp, descriptor (codec.go)
//	names     (class, schema, name)        -> oid; functions add their oid to the key
//	depends   (refclass, refobj, refsub, class, obj, sub) -> type; and the reverse
//	stats     (relation)                   -> stamp, statistics of the relation and its columns
//	comments  (class, obj, sub)            -> text
//	marker    one key, written by every DDL statement: a View whose own changes hold it
//	          contains uncommitted DDL
//
// Indexes, constraints and columns are part of their table's descriptor; their identifiers
// have object rows that point to the table.
//
// A table's rows are keyed by its primary key, or by an 8-byte big-endian row number when it
// has none. An entry of a unique index is (encoded columns) -> row key, and has the row key
// appended to its key when a column is NULL (unless NULLS NOT DISTINCT). An entry of any other
// index is (encoded columns, row key) -> row key: the value costs little, and a reader need not
// know where the encoded columns end.
//
// # Invariants
//
//	I1. A descriptor that left this package is never changed; a change is a clone with a new stamp.
//	I2. (oid, stamp) names one content for ever within a process: the shared cache never goes stale.
//	I3. A look-up costs tree descents, never a scan of all objects.
//	I4. Every write locks the keys it writes and checks them in the newest state, so two
//	    sessions cannot create one name.
//	I5. Built-in objects (oid below 16384) come from pgdata and are never stored.
//
// # Goroutines
//
// None. Readers and writers belong to one session; Cache is safe for all.
//
// # Files
//
//	desc.go, shared.go              descriptors
//	trees.go, codec.go              how they are stored
//	reader.go                       the Reader interface
//	read.go, readtypes.go, readshared.go, resolve.go, cache.go   its implementation
//	system.go, systemindex.go       built-in objects as descriptors
//	write.go, writerel.go, writetypes.go, writeshared.go, stats.go   the Writer
//	build.go                        indexes being built
//	depend.go, drop.go, roleuse.go, owner.go  who needs whom; DROP; whose a tree is
//	acl.go                          privileges
//	bootstrap.go                    the rows of a new database
//	format.go, describe.go, define.go   objects and definitions as text
//	regnames.go, regoperators.go, resolver.go, visible.go   names to objects and back
//	virtual.go, vt_relations.go, vt_objects.go   PostgreSQL's base catalogs
package catalog
