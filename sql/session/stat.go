package session

import (
	"herd/engine"
	"herd/sql/types"
)

// Stat implements funcs.Env: the counters behind the statistics views. What herd does not count is 0, as in a PostgreSQL
// where it never happened; times are microseconds.
func (e *environment) Stat(counter string, object types.OID) (int64, bool) {
	s := e.s()
	switch counter {
	case "live_tuples":
		cat, err := s.catalog()
		if err != nil {
			return 0, true
		}
		if rel, err := cat.RelationByOID(object); err == nil && rel != nil && rel.TreeID != 0 {
			return cat.RowCount(rel), true
		}
		return 0, true
	case "db_numbackends":
		n := int64(0)
		for _, o := range s.srv.sessionList() {
			if o.db.OID() == uint32(object) {
				n++
			}
		}
		return n, true
	case "db_xact_commit":
		return s.databaseStat(object, func(st *engine.Stats) int64 { return st.Commits }), true
	case "db_deadlocks":
		return s.databaseStat(object, func(st *engine.Stats) int64 { return st.Deadlocks }), true
	}
	if f := logCounters[counter]; f != nil {
		st := s.db.Stats()
		return f(&st), true
	}
	return 0, true
}

// logCounters are the columns of pg_stat_wal and pg_stat_bgwriter that herd counts, for the session's database.
var logCounters = map[string]func(*engine.Stats) int64{
	"wal_records":                func(st *engine.Stats) int64 { return st.LogEntries },
	"wal_bytes":                  func(st *engine.Stats) int64 { return st.LogBytes },
	"wal_write":                  func(st *engine.Stats) int64 { return st.LogGroups },
	"wal_sync":                   func(st *engine.Stats) int64 { return st.Syncs },
	"wal_sync_time":              func(st *engine.Stats) int64 { return st.SyncNanos / 1000 },
	"bgwriter_timed_checkpoints": func(st *engine.Stats) int64 { return st.Checkpoints },
}

// databaseStat reads a counter of a database by number, 0 when there is none.
func (s *Session) databaseStat(id types.OID, f func(*engine.Stats) int64) int64 {
	db := s.db
	if uint32(id) != db.OID() {
		cat, err := s.catalog()
		if err != nil {
			return 0
		}
		d, err := cat.DatabaseByOID(id)
		if err != nil || d == nil {
			return 0
		}
		if db, err = s.srv.engine.Database(d.Name); err != nil {
			return 0
		}
	}
	st := db.Stats()
	return f(&st)
}
