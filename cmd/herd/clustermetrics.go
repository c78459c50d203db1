package main

import (
	"time"

	"herd/cluster"
	"herd/engine"
	"herd/txlog"
	"herd/web"
)

// clusterMetrics are the counters of the groups that this node is a member of.
func (in *instance) clusterMetrics(e *web.Emitter) {
	if in.node == nil {
		return
	}
	for _, s := range in.node.Stats() {
		groupMetrics(e, s)
	}
}

func groupMetrics(e *web.Emitter, s cluster.GroupStats) {
	name := s.Database
	if s.OID == systemDatabase {
		name = "(system)"
	}
	gauge := func(metric, help string, value float64) { e.Gauge(metric, help, value, "database", name) }
	counter := func(metric, help string, value int64) { e.Counter(metric, help, float64(value), "database", name) }
	leads := 0.0
	if s.Leads {
		leads = 1
	}
	gauge("herd_replica_leads", "1 where the node leads the database and takes commits.", leads)
	gauge("herd_replica_term", "Raft term.", float64(s.Term))
	gauge("herd_replica_agreed_entry", "Last Raft entry that the node knows to be agreed on.", float64(s.Agreed))
	gauge("herd_replica_applied_entry", "Last Raft entry that the node has applied.", float64(s.Applied))
	gauge("herd_replica_lag_entries", "Raft entries that are known to be agreed on and not applied here.", float64(s.Agreed-min(s.Applied, s.Agreed)))
	gauge("herd_replica_lag_seconds", "Time since the replica was last known to have everything; 0 on the leader.", s.Behind.Seconds())
	gauge("herd_replica_log_bytes", "Bytes of Raft log kept.", float64(s.LogBytes))
	counter("herd_replica_fetched_bytes_total", "Bytes of state fetched from leaders.", s.FetchedBytes)
	gauge("herd_replica_fetch_done_bytes", "Bytes of a state being fetched that are here.", float64(s.FetchDone))
	gauge("herd_replica_fetch_bytes", "Bytes of a state being fetched; 0 when none is.", float64(s.FetchTotal))
	counter("herd_elections_total", "Elections that this node has called for.", s.Elections)
	counter("herd_leader_changes_total", "Changes of leader that this node has seen.", s.LeaderChanges)
	e.Histogram("herd_quorum_seconds", "Time from handing a batch of commits to Raft to its being agreed on, on the leader.", histogram(s.Quorum), "database", name)
}

func histogram(h *txlog.Histogram) web.Distribution {
	d := web.Distribution{Sum: time.Duration(h.Nanos.Load()).Seconds()}
	for i := range h.Buckets {
		d.Counts = append(d.Counts, uint64(h.Buckets[i].Load()))
		if i < len(h.Buckets)-1 {
			d.Bounds = append(d.Bounds, txlog.BucketBound(i).Seconds())
		}
	}
	return d
}

// databaseBytes tells the other nodes how large a database's files are here.
func (in *instance) databaseBytes(oid uint32) int64 {
	db := in.databaseByNumber(oid)
	if db == nil {
		return 0
	}
	return db.Stats().Store.DiskBytes
}

func (in *instance) databaseByNumber(oid uint32) *engine.Database {
	if oid == systemDatabase {
		return in.engine.System()
	}
	for _, d := range in.engine.Databases() {
		if d.OID == oid {
			if db, err := in.engine.Database(d.Name); err == nil {
				return db
			}
		}
	}
	return nil
}
