// Package engine joins stores to logs: databases, sessions, transactions and the commit path.
//
// # Purpose
//
// An [Engine] is a data folder. A [Database] in it has a store (blocks), a log and a lock manager of its own. A
// [Session] is one client's relation to one database; its [Tx] collects changes in an overlay and makes them a log
// entry at commit. The engine knows rows only as bytes; SQL lives above.
//
// # Life of a commit
//
// The session encodes its change set, reserves log space, loads and pins the blocks that apply will need, and puts a
// request into the queue. Whoever finds the queue without a leader leads: it takes all that queue up, applies them as
// one batch, publishes the new tip, appends their entries to the log, releases their locks, and passes leadership to
// the first that queued meanwhile. The log's writer publishes the durable snapshot before anyone who waits is told.
//
// # Invariants
//
//	I1  tip is replaced only by the leader; Seq of an entry is the Seq of the entry before plus one.
//	I2  An entry is appended after the tip that contains it is published, and before its locks are released.
//	I3  durable never shows a state that the log could lose.
//	I4  After a request's space is reserved only a bug, a missing block or a failed serialization check keeps it from
//	    being ordered; a failed log stops the server.
//	I5  What a session has seen is durable before the end of its transaction is answered.
//	I6  Numbers handed out (transactions, row ids, trees, objects) come back after a crash above every number that a
//	    committed transaction used.
//	I7  A database folder is complete or has a suffix (.tmp, .drop) and is removed at the next start.
//
// # Goroutines
//
// Engine: the deadline scanner, the memory keeper. Database: the checkpointer, the log's writer; while its log is replayed, one
// that applies a batch while the next is read, ended by drain, with those that read blocks for it, and one that makes a checkpoint, ended by spilled; while a
// state is fetched, one that asks and one that reads, ended with it. Sessions have none of their own.
//
// # Files
//
//	engine.go      Engine: open, close, the list of databases
//	options.go     Options
//	folder.go      the data folder: lock, format, names; upgrade.go older formats
//	manifest.go    where a database's manifest is
//	database.go    Database: tip, durable, counters
//	recover.go     opening: the state machine of log entries, replay of a local log
//	replay.go      batches of a replay: gathered, merged, applied; its progress
//	replayspill.go checkpoints in the middle of a replay
//	replica.go     a database under a log of several nodes: leading, following, void entries
//	sum.go         sums of the state at one place of the log, to compare replicas
//	state.go       the whole state as a stream
//	restorer.go    the state that such a stream has
//	transfer.go    the state of one node for another, which asks for what it lacks; frames.go what they say
//	fetch.go       another node's state in place of this one's
//	backup.go      states of all databases as one stream; backupcheck.go verifies it
//	drop.go        dropping a database; what of one is made or gone and not in the list
//	restore.go     a data folder from a backup; pointintime.go up to where in the archived log
//	session.go     Session: floors, slots, advisory locks
//	token.go       transactions that are applied once, by their clients' tokens
//	tx.go          Tx: statements, changes, savepoints, end
//	commit.go      the queue and its leader
//	parts.go       parts of long transactions in the log
//	big.go         large transactions: merge beside the others
//	payload.go     what log entries contain
//	checkpoint.go  the checkpointer; clean.go what it cleans
//	archive.go     where a log is archived
//	sequence.go    sequences and numbers
//	moves.go       primary-key updates that older snapshots must find
//	ssi.go         SERIALIZABLE
//	waits.go       waiting for older writers and snapshots
//	horizon.go     the age of snapshots in transactions; snapshots.go the snapshots in use
//	memory.go      eviction and the collector's settings
//	stats.go       counters
//	check.go       herd check and herd inspect
package engine
