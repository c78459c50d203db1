// Package exec runs physical plans: operators over column batches, expressions compiled to programs of vector steps,
// data modification, and the named point fast paths.
//
// # Purpose
//
// Build turns a read-only plan.Plan into a State, the mutable side of one prepared statement. A State is opened, drained
// with Next and closed; then it is opened again for the next execution: operators are reset, not rebuilt.
//
// # Invariants
//
//	I1  A batch is valid until the operator that made it is asked for the next one, rescanned or closed.
//	I2  No operator evaluates a volatile function, locks or sends more rows than its caller wants (the want argument).
//	    Filters over pure inputs read ahead; what they have found and nobody wanted yet they keep.
//	I3  An expression is evaluated for selected rows only: AND, OR, CASE, COALESCE and strict functions narrow the selection,
//	    so that errors come from rows that PostgreSQL evaluates too.
//	I4  exec reads through storage.View and writes and locks only through Tx.
//	I5  Whoever writes a row locks its key first and then reads it from Tx.Newest, whether it waited or not.
//	I6  Memory that grows with the data is asked for from an account before it is allocated; refusal means spill, or 53200 for one
//	    value that does not fit. What a spilling operator needs to get on at all (spillFloor) is granted whatever the limit says.
//
// # Goroutines
//
// A State belongs to one session. Only an exchange has goroutines: the workers that share a scan, each with a State of its own, all of which
// end before the call that started them returns.
//
// # Files
//
//	tx.go          Tx, Env: what a statement needs from below
//	state.go       Build, State: life of an execution, exec params, init plans, counters
//	build.go       plan node -> operator
//	expr*.go       expressions: compile, calls, logic, casts, arrays, rows, SQL values, subplans
//	walk.go walknode.go  what an expression or a plan reads: slots, volatile functions, exec params
//	const.go       Evaluate, Evaluator: expressions without a plan
//	tuple.go rowstore.go  rows as bytes; rows in memory
//	tablesum.go           checksums of tables
//	spill.go tape.go sorter.go partition.go  what every operator spills with: files of records, tuples in sequence, sorted runs, hash partitions
//	store.go       Store: rows that outlive a statement's batches
//	currentrow.go  WHERE CURRENT OF; owncommand.go: a statement that is several commands
//	keys.go keytable.go inttable.go pairset.go  grouping and sorting keys as bytes; the hash tables over them
//	keyrange.go    key ranges of scans
//	index.go       entries of secondary indexes; entrysort.go: many of them in order, for DDL
//	scan.go indexscan.go virtual.go function.go values.go filter.go project.go append.go
//	materialize.go recursive.go seenblock.go  CTEs, materialization, recursive union
//	nestloop.go mergejoin.go sort.go limit.go distinct.go setop.go lockrows.go  one operator a file
//	hashjoin.go hashrows.go hashprobe.go joinpart.go  hash join: operator, build side, probing, partitions
//	hashedsub.go   IN over a hash table
//	exchange.go exchangesafe.go  workers that share the scan below an aggregation; what they may share
//	agg.go agggroup.go aggcache.go aggcall.go aggout.go aggsort.go agghypo.go  aggregation: operator, groups, a cache of them, calls, results; rows fed in order; hypothetical rows
//	window.go windowchunk.go windowfunc.go windowrange.go  window functions
//	modify.go      INSERT, UPDATE, DELETE, ON CONFLICT, RETURNING; merge.go: MERGE
//	writer.go large.go rowerrors.go   one table's rows: constraints, indexes, large values, messages
//	foreignkey.go fkparent.go fkfinder.go fkconvert.go deferred.go  referential integrity, deferred checks
//	recheck.go     re-evaluation of rows that changed
//	copyin.go      COPY FROM and bulk INSERT; copywhere.go: its WHERE
//	point.go       the point fast paths
package exec
