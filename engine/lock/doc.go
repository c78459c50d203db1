// Package lock is the lock manager of one database and the words of locking that the rest of herd shares.
//
// # Purpose
//
// Rows are locked by name (tree, key), in PostgreSQL's four strengths; tables in its eight modes; advisory locks by the
// user's numbers. Waiters queue first in, first out. A wait ends by grant, deadlock (40P01), lock timeout (55P03) or
// interrupt (57014 and the causes that end a session).
//
// An uncontended row lock is a 16-byte entry of a sharded open-addressed table: a 64-bit hash of the name, the owner's
// number and the mode. When a second owner shows up the entry points to a wide lock with lists of holders and waiters.
// Two names with one hash would wait for each other needlessly, and nothing worse.
//
// Weak table locks (AccessShare, RowShare, RowExclusive) go to a few slots of their owner. A strong locker raises a
// counter first, which closes the slots, and moves the matching slots of all owners into the table of wide locks.
//
// # Invariants
//
//	I1  A lock is granted only if it conflicts with no holder but its owner itself.
//	I2  A waiter is passed only by a request it does not conflict with, by one that conflicts with no holder of a row, by
//	    an owner that holds the lock already, or to undo a deadlock that the order of the queue alone makes.
//	I3  Whoever finds a slot empty that it had filled finds itself a holder in the table of wide locks.
//	I4  A deadlock is reported only when the cycle was seen with every shard locked.
//
// # Goroutines
//
// An Owner belongs to one session and is used by one goroutine at a time. Scanner runs one goroutine per engine.
//
// # Files
//
//	mode.go       modes, policies, conflicts
//	interrupt.go  Interrupt and the Scanner of deadlines
//	manager.go    Manager, Owner, savepoints and release
//	row.go        row locks: the open-addressed table
//	whole.go      very many rows of a tree as one lock
//	wide.go       holders and queues, waiting
//	table.go      table locks and their fast slots
//	advisory.go   advisory locks
//	transaction.go  waiting for transactions to end, locks that outlive one
//	deadlock.go   the wait-for graph
//	reorder.go    deadlocks that another order of waiting undoes
//	list.go       what pg_locks shows
package lock
