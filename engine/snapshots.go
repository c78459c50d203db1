package engine

import (
	"time"

	"herd/storage"
)

// SnapshotUse is one snapshot that somebody keeps readable.
type SnapshotUse struct {
	// PID is the session's number, 0 when it is none of a client's.
	PID int32
	// Kind is "statement", "transaction" (its snapshot stays to its end), "cursor", "newest" (a look at the newest state), or
	// "internal": a checkpoint, a backup, a large commit, a node that catches up.
	Kind string
	// Seq is the number of the last commit in the snapshot; not known of internal ones, and of looks at the newest state.
	Seq   storage.Seq
	Known bool
	// Behind is how many commits it lacks, Age for how long, to a second, the first of them has been there.
	Behind int64
	Age    time.Duration
	// Held are the bytes of replaced blocks in memory that the snapshot keeps there; an older snapshot may keep them as well.
	Held int64
}

// Snapshots lists the snapshots that are in use. It is read one by one while work goes on.
func (db *Database) Snapshots() []SnapshotUse {
	tip := db.tip.Load().Seq()
	mine := map[*storage.ReaderSlot]SnapshotUse{}
	known := func(u SnapshotUse, seq storage.Seq) SnapshotUse {
		u.Seq, u.Known, u.Age = seq, true, db.horizons.age(seq)
		if tip > seq {
			u.Behind = int64(tip - seq)
		}
		return u
	}
	db.sessMu.Lock()
	for s := range db.sessions {
		pid := s.own.PID()
		mine[s.newest] = SnapshotUse{PID: pid, Kind: "newest"}
		u := SnapshotUse{PID: pid, Kind: "statement"}
		if s.fixed.Load() {
			u.Kind = "transaction"
		}
		if n := s.reading.Load(); n != 0 {
			u = known(u, storage.Seq(n-1))
		}
		mine[s.statement] = u
		s.pinned.mu.Lock()
		for _, v := range s.pinned.list {
			mine[v.slot] = known(SnapshotUse{PID: pid, Kind: "cursor"}, v.seq)
		}
		s.pinned.mu.Unlock()
	}
	db.sessMu.Unlock()
	var out []SnapshotUse
	db.store.EachPin(func(r *storage.ReaderSlot, ver uint64) {
		if r == db.tipSlot || r == db.durSlot {
			return
		}
		u, ok := mine[r]
		if !ok {
			u = SnapshotUse{Kind: "internal"}
		}
		u.Held = db.store.Held(ver)
		out = append(out, u)
	})
	return out
}
