// Package storage is one database's blocks: snapshots, views, apply, checkpoint, eviction.
//
// # Purpose
//
// A database is a set of B+trees from order-preserving key bytes to value bytes. A [Snapshot] is one immutable version of
// all of them; [Store.Apply] is the function from a snapshot and change sets to the next one. Trees consist of blocks
// (package btree), each behind a handle that all versions share: a block is in memory, on disk or both. A checkpoint
// writes the blocks that have no disk copy; eviction drops the memory of those that have one; a reader that misses a
// block loads it. Nothing here knows SQL, transactions or the log: the engine numbers commits, keeps the pointers to the
// newest and to the newest durable snapshot, and decides when to checkpoint and evict.
//
// A transaction's own changes live in an [Overlay]; a statement reads a [View], a snapshot merged with a captured [Root].
//
// # How the owner stamp of the design is kept
//
// Apply merges the change sets of a group of commits and descends each tree once, so a node is rebuilt at most once per
// call and there is nothing to edit in place, except by the cleaner and by overlays, which do use stamps.
//
// # Books
//
// Versions are numbered within the process (Snapshot.ver): a rewrite by the cleaner makes a new version of the same
// sequence number. The applier puts replaced handles on the retire list of the new version. Readers pin a version in a
// [ReaderSlot]. When the lowest pin has reached a list's version its blocks are buried: taken out of the eviction ring,
// the memory account, and, once the durable manifest is at least that version too, off the live bytes of their segment. A pin
// that stays behind keeps only what its own version has: the others are buried from the middle of the lists (sieve.go).
// A segment file without live bytes that the manifest does not name is removed. A dropped tree is unhooked at once and
// its blocks are listed later (Maintain, Checkpoint), since that needs its inner nodes.
//
// # Invariants
//
//	I1  Apply, Fork.Finish, Rewrite and Rewind run one at a time (the engine's commit mutex) and do not change their
//	    argument. Everything else may run beside them.
//	I2  A handle with an address has only children with addresses, and FlagDisk only when its frame can be read. So an
//	    evicted block can always be loaded, and a manifest reaches only written frames.
//	I3  Every handle with a block is in the ring, except those of an edit that is not installed and dead ones.
//	I4  A pin that returned true keeps every block of its snapshot loadable. See ReaderSlot.Pin for the order of the two
//	    atomics that this rests on.
//	I5  Live bytes of a segment are never too low. They may be too high after a branch of versions was left (Rewind, Fork);
//	    the cleaner corrects that.
//	I6  After a failed sync nothing is written any more (ErrBroken).
//	I7  A manifest names only synced segments: those that a fork writes are kept out until a checkpoint has synced them.
//	I8  A checkpointed snapshot is never older than the manifest's, nor than one that Spill was called with.
//	I9  Whatever a commit waits for is done in steps of bounded size: releasing what was replaced, booking, counting dead
//	    bytes, and spilling. None of the locks that a commit takes is held while the disk works.
//
// # Formats
//
// Blocks and frames: package block. Segment file: 16 bytes of header (segment.go), then frames. Manifest: EncodeManifest.
// Each has a number of its own.
//
// # Goroutines
//
// None of its own, except the workers of one ApplySorted call, which it waits for, and one for each overlay whose changes
// are on their way to private blocks, which the overlay's next move, its commit and Reset wait for. Locks, in the order they may be
// taken: ckptMu (one checkpoint, cleaning, check or spill), evictMu (one eviction), retired.mu (retire lists), a load's
// shard, books.mu (ring), segments.mu, unsyncedMu, spill.mu, slots.mu, Fork.mu.
//
// # Files
//
//	types.go       names and limits, Options, errors
//	store.go       Store, Open, Close, Rewind, Stats
//	roots.go       the copy-on-write array of roots
//	snapshot.go    Snapshot
//	apply.go       Apply, ApplySorted
//	fork.go        Fork: big commits
//	overlay.go     Overlay and Root; overtree.go their tree and its iterator; overspill.go overlays larger than memory,
//	               overmove.go how they move, overrun.go their stretches of new rows, which a commit takes over
//	view.go        View; sum.go its checksums
//	cursor.go      Cursor, KeyBuf
//	pins.go        ReaderSlot; retired.go the retire lists; queue.go what they lie in; sieve.go what a pin that stays behind needs of them
//	books.go       the ring and its clock
//	load.go        loading, eviction, Touch
//	segment.go     segment files; writer.go appending to them
//	checkpoint.go  Checkpoint
//	manifest.go    Manifest, its codec, FileManifests
//	drops.go       Maintain, dropped trees
//	clean.go       the cleaner
//	spill.go       scratch files for retired blocks
//	check.go       Check, CheckSnapshot, DumpSegment, Outline
package storage
