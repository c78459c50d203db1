package engine

import (
	"sync/atomic"
	"time"

	"herd/storage"
	"herd/txlog"
)

// counters are a database's own figures; see Stats.
type counters struct {
	commits     atomic.Int64
	batches     atomic.Int64
	absent      atomic.Int64
	parts       atomic.Int64
	spills      atomic.Int64 // checkpoints in the middle of the replay
	checkpoints atomic.Int64
	slowed      atomic.Int64
}

// Stats are a database's figures since it was opened, for metrics and the system views.
type Stats struct {
	Commits       int64 // transactions with changes
	Batches       int64 // times a leader took the queue; Commits/Batches is the mean size
	AbsentRetries int64 // commits that met a block not in memory
	SlowedWriters int64 // commits held back because memory was full
	Parts         int64 // log entries written ahead of large commits

	LogBytes   int64 // written
	LogGroups  int64 // flush groups
	LogEntries int64
	LogLength  int64 // bytes kept
	Syncs      int64

	ArchiveWaiting  int64     // bytes of full log segments that are not archived yet
	ArchivedBytes   int64     // copied
	ArchivedUntil   time.Time // all that was durable before is archived; zero: there is no archive, or nothing in it
	ArchiveFailures int64
	ArchiveGaps     int64 // log segments that were given up

	SyncNanos       int64
	SyncBuckets     []int64 // by txlog.BucketBound
	Checkpoints     int64
	CheckpointAge   time.Duration
	CheckpointDone  int64 // of the running checkpoint, bytes; 0 when none runs
	CheckpointTotal int64

	LockWaits int64
	Deadlocks int64
	Sessions  int

	Tip, Durable storage.Seq
	Store        storage.Stats
}

// Stats returns the figures.
func (db *Database) Stats() Stats {
	l := db.log.Stats()
	s := Stats{
		ArchivedBytes: l.ArchivedBytes.Load(), ArchiveFailures: l.ArchiveFailures.Load(), ArchiveGaps: l.ArchiveGaps.Load(),
		Commits: db.stats.commits.Load(), Batches: db.stats.batches.Load(), AbsentRetries: db.stats.absent.Load(),
		SlowedWriters: db.stats.slowed.Load(), Parts: db.stats.parts.Load(),
		LogBytes: l.Bytes.Load(), LogGroups: l.Groups.Load(), LogEntries: l.Entries.Load(), LogLength: db.log.Bytes(),
		Syncs: l.Sync.Count.Load(), SyncNanos: l.Sync.Nanos.Load(),
		Checkpoints:    db.stats.checkpoints.Load(),
		CheckpointAge:  db.eng.uptime() - time.Duration(db.ckpt.last.Load()),
		CheckpointDone: db.ckpt.done.Load(), CheckpointTotal: db.ckpt.total.Load(),
		LockWaits: db.locks.Waits.Load(), Deadlocks: db.locks.Deadlocks.Load(),
		Tip: db.tip.Load().Seq(), Durable: storage.Seq(db.log.Durable()),
		Store: db.store.Stats(),
	}
	if n := l.ArchivedUntil.Load(); n != 0 {
		s.ArchivedUntil = time.Unix(0, n)
	}
	if local, ok := db.log.(*txlog.Local); ok {
		s.ArchiveWaiting = local.ArchiveWaiting()
	}
	for i := range l.Sync.Buckets {
		s.SyncBuckets = append(s.SyncBuckets, l.Sync.Buckets[i].Load())
	}
	db.sessMu.Lock()
	s.Sessions = len(db.sessions)
	db.sessMu.Unlock()
	return s
}

// SyncBucketBound returns the upper bound of Stats.SyncBuckets[i]; the last has none.
func SyncBucketBound(i int) time.Duration { return txlog.BucketBound(i) }

// MemoryStats say who holds the accounted memory, in bytes.
type MemoryStats struct {
	Limit  int64 // of accounted memory, 0 = none
	Used   int64
	Blocks int64 // of Used, blocks of all databases; the rest is sessions, statements, plans
	Peak   int64

	BlocksPeak, BlocksLimit int64
}

// Memory returns the figures of the process.
func (e *Engine) Memory() MemoryStats {
	m := e.o.Memory
	return MemoryStats{Limit: m.Limit(), Used: m.Used(), Blocks: e.acctBlocks.Used(), Peak: m.Peak(),
		BlocksPeak: e.acctBlocks.Peak(), BlocksLimit: e.acctBlocks.Limit()}
}
