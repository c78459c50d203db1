package main

import (
	"errors"
	"time"

	"herd/engine"
	"herd/sql/session"
	"herd/web"
)

// sources name the counters that /metrics shows.
func (in *instance) sources() []web.Source {
	return []web.Source{in.sessionMetrics, in.engineMetrics, in.memoryMetrics, in.clusterMetrics}
}

// errStopping is what /healthz answers while the server ends.
var errStopping = errors.New("stopping")

// healthy is nil while the server takes sessions. A server whose log has failed has ended, so there is no third state.
func (in *instance) healthy() error {
	if in.stopping.Load() {
		return errStopping
	}
	return nil
}

func (in *instance) sessionMetrics(e *web.Emitter) {
	s := in.sessions.Stats()
	bounds := make([]float64, len(session.LatencyBounds))
	for i, b := range session.LatencyBounds {
		bounds[i] = b.Seconds()
	}
	for _, k := range s.Statements {
		e.Counter("herd_statements_total", "Statements run to their end.", float64(k.Count), "kind", k.Kind)
		d := web.Distribution{Bounds: bounds, Sum: k.Total.Seconds()}
		for _, n := range k.Buckets {
			d.Counts = append(d.Counts, uint64(n))
		}
		e.Histogram("herd_statement_seconds", "Time of statements.", d, "kind", k.Kind)
	}
	e.Counter("herd_statement_errors_total", "Statements that ended with an error.", float64(s.Errors))
	e.Counter("herd_rows_total", "Rows sent to clients.", float64(s.Rows))
	e.Counter("herd_plans_total", "Look-ups in the plan cache.", float64(s.PlanHits), "result", "hit")
	e.Counter("herd_plans_total", "Look-ups in the plan cache.", float64(s.PlanMisses), "result", "miss")
	e.Gauge("herd_sessions", "Open sessions.", float64(s.Sessions-s.Active-s.InTx), "state", "idle")
	e.Gauge("herd_sessions", "Open sessions.", float64(s.Active), "state", "active")
	e.Gauge("herd_sessions", "Open sessions.", float64(s.InTx), "state", "idle in transaction")
	e.Gauge("herd_connections", "Network connections, those that are still logging in included.", float64(in.listener.Connections()))
}

func (in *instance) engineMetrics(e *web.Emitter) {
	for _, d := range in.engine.Databases() {
		db, err := in.engine.Database(d.Name)
		if err != nil {
			continue // dropped since the list was made
		}
		databaseMetrics(e, d.Name, db.Stats())
	}
}

func databaseMetrics(e *web.Emitter, name string, s engine.Stats) {
	counter := func(metric, help string, value float64) { e.Counter(metric, help, value, "database", name) }
	gauge := func(metric, help string, value float64) { e.Gauge(metric, help, value, "database", name) }
	counter("herd_commits_total", "Transactions with changes that were committed.", float64(s.Commits))
	counter("herd_commit_batches_total", "Batches of commits applied together; commits divided by batches is the batch size.", float64(s.Batches))
	counter("herd_commit_block_misses_total", "Commits that met a block not in memory.", float64(s.AbsentRetries))
	counter("herd_writers_slowed_total", "Commits held back because memory was full.", float64(s.SlowedWriters))
	counter("herd_log_bytes_total", "Bytes written to the log.", float64(s.LogBytes))
	counter("herd_log_groups_total", "Flush groups written to the log.", float64(s.LogGroups))
	counter("herd_log_entries_total", "Entries written to the log.", float64(s.LogEntries))
	gauge("herd_log_kept_bytes", "Bytes of log that the next start would have to look at.", float64(s.LogLength))
	e.Histogram("herd_log_sync_seconds", "Time of a sync of the log.", syncTimes(s), "database", name)
	if !s.ArchivedUntil.IsZero() {
		gauge("herd_log_archive_age_seconds", "Time since the moment up to which the log is archived.", time.Since(s.ArchivedUntil).Seconds())
	}
	gauge("herd_log_archive_waiting_bytes", "Bytes of full log files that are not archived yet.", float64(s.ArchiveWaiting))
	counter("herd_log_archived_bytes_total", "Bytes copied to the log archive.", float64(s.ArchivedBytes))
	counter("herd_log_archive_failures_total", "Attempts to archive the log that failed.", float64(s.ArchiveFailures))
	counter("herd_log_archive_gaps_total", "Log files that were freed without having been archived: a new backup is needed.", float64(s.ArchiveGaps))
	counter("herd_checkpoints_total", "Checkpoints finished.", float64(s.Checkpoints))
	gauge("herd_checkpoint_age_seconds", "Time since the last checkpoint.", s.CheckpointAge.Seconds())
	gauge("herd_checkpoint_done_bytes", "Bytes written by the running checkpoint.", float64(s.CheckpointDone))
	gauge("herd_checkpoint_todo_bytes", "Bytes that the running checkpoint has to write in all.", float64(s.CheckpointTotal))
	counter("herd_lock_waits_total", "Locks that had to be waited for.", float64(s.LockWaits))
	counter("herd_deadlocks_total", "Deadlocks broken.", float64(s.Deadlocks))
	gauge("herd_blocks", "Blocks in memory.", float64(s.Store.Blocks))
	counter("herd_page_reads_total", "Blocks read from disk.", float64(s.Store.Loads))
	counter("herd_evictions_total", "Blocks removed from memory.", float64(s.Store.Evictions))
	gauge("herd_data_file_bytes", "Bytes of data files.", float64(s.Store.DiskBytes))
	gauge("herd_data_live_bytes", "Bytes of data files that are in use.", float64(s.Store.LiveBytes))
	gauge("herd_pins", "Snapshots held by readers.", float64(s.Store.Pins))
	gauge("herd_pin_age_versions", "Versions between the oldest snapshot in use and the newest.", float64(s.Store.PinAge))
}

func syncTimes(s engine.Stats) web.Distribution {
	d := web.Distribution{Sum: time.Duration(s.SyncNanos).Seconds()}
	for i, n := range s.SyncBuckets {
		d.Counts = append(d.Counts, uint64(n))
		if i < len(s.SyncBuckets)-1 {
			d.Bounds = append(d.Bounds, engine.SyncBucketBound(i).Seconds())
		}
	}
	return d
}

func (in *instance) memoryMetrics(e *web.Emitter) {
	// What herd_memory shows, all sessions together.
	type key struct{ database, owner string }
	sums := map[key]int64{}
	var order []key
	for _, m := range in.sessions.Memory() {
		k := key{m.Database, m.Kind}
		switch {
		case m.Owner == "server" && m.Kind != "plans":
			continue // the gauges below, and what databases show in parts
		case m.Owner == "session":
			k.database = ""
		}
		if _, ok := sums[k]; !ok {
			order = append(order, k)
		}
		sums[k] += m.Bytes
	}
	for _, k := range order {
		e.Gauge("herd_memory_bytes", "Accounted memory by owner.", float64(sums[k]), "database", k.database, "owner", k.owner)
	}
	e.Gauge("herd_memory_used_bytes", "Accounted memory of the process.", float64(in.memory.Used()))
	e.Gauge("herd_memory_limit_bytes", "Most memory that may be accounted.", float64(in.memory.Limit()))
}
