// Package txlog is the log: the only thing that decides whether a commit is durable.
//
// # Purpose
//
// [Log] is the contract between the engine and whatever orders and keeps its entries: [Local] writes them to segment
// files of this machine, a Raft group writes them on several. [Applier] is the other side, what a log drives when it
// is the log that orders entries. The log never looks into a payload.
//
// # The local log
//
// The log is one sequence of bytes; a [Position] counts them over all segments, headers and unused tails included.
// Segments are files filled with zeros (or recycled) before use, because overwriting allocated bytes lets fdatasync
// leave the file system's journal alone. Entries go out in flush groups, each with one call that writes and syncs it
// (vfs.WriteSync), in whole blocks and, where the file system can, past the page cache (vfs.Direct): the log is read again
// only after a crash. A group's CRC32C covers its header (magic, format version, segment number, position, end of the previous
// group, length, synced) and its entries, so recycled bytes never pass for a group. While one fsync
// runs the next group gathers; nobody waits for a group to fill. Who waits for an entry writes its group himself when nobody else writes, else the writer
// does ([Entry].Awaited, Local.Wait).
//
// Recovery reads groups in order. A group that does not verify is the torn tail, unless a later group that does
// verify says that everything up to a position beyond the bad one had been synced before it was built: then it is
// corruption, and [Open] fails with [*CorruptError] naming file and offset. The torn tail is zeroed and synced before
// the log is used.
//
// # Invariants
//
//	I1  Append is called in sequence order; entry n's Prev is the Seq of entry n-1.
//	I2  Only Reserve can refuse (ErrNoSpace). What is reserved fits into segments that exist already.
//	I3  A write or fsync error is reported once to Options.Fatal and is never retried; no later call succeeds.
//	I4  OnDurable(seq) returns before any Wait(seq) does.
//	I5  A group never crosses a segment border; the tail of a segment that the next group does not fit into is left as it
//	    is: zero, or what a recycled segment had there, which never verifies. The last block's rest is zero.
//	I6  What the archive has is on disk in the log as well, as long as the log keeps it.
//
// # Goroutines
//
// Local: the writer (from Open to Close); at most one allocator at a time, preparing a segment ahead; with sync mode
// "every", a ticker that asks the writer to sync; with an archive, the archiver.
//
// # Files
//
//	log.go      the contract: Log, Applier, Entry, errors
//	format.go   group, entry and segment headers
//	local.go    Local: open, reserve, append
//	wait.go     waiting for entries to be durable, and writing them meanwhile
//	waiters.go  those who wait, for the logs of other packages too
//	writer.go   the writer: groups to disk; blocks.go makes whole blocks of them
//	stats.go    counters
//	segment.go  preparing, recycling and removing segments
//	recover.go  reading groups back, torn tail or corruption
//	inspect.go  reading a log without opening it
//	archive.go      copying segments to an archive
//	archiveread.go  reading archived segments
//	cut.go      giving up what follows a damaged place
package txlog
