package engine

import (
	"fmt"
	"runtime"
	"slices"

	"bytes"

	"herd/storage"
	"herd/txlog"
)

// replayer brings a store from its manifest to the end of the log.
type replayer struct {
	db   *Database
	snap *storage.Snapshot
	slot *storage.ReaderSlot

	last    txlog.Seq // last entry of the log seen
	done    txlog.Seq // entries up to here are in snap
	sets    []storage.ChangeSet
	bytes   int
	pos     txlog.Position // of the group being replayed
	entries int

	// Parts wait for their Commit entry in memory, until they are too many; then the rest of the log is looked through
	// once for the transactions that do commit, whose parts are applied at once from there on. That is allowed since
	// their locks kept every other commit in between from the same keys.
	parts     map[uint64]*txParts
	partBytes int
	commits   map[uint64]txlog.Seq // the entry behind which their parts are not void; nil: not looked for yet
}

// txParts is what has been seen of a transaction with parts.
type txParts struct {
	n       uint32              // parts seen
	applied uint32              // of these, applied
	sets    []storage.ChangeSet // those that wait
}

// recover opens the log, replays it and makes the database ready.
func (db *Database) recover(m storage.Manifest) error {
	db.nextTx.Store(firstTransaction)
	db.nextRow.Store(1)
	db.nextOID.Store(firstObject)
	db.nextTree.Store(uint32(storage.ReservedTrees))
	rp := &replayer{db: db, snap: db.store.Base(), slot: db.store.NewSlot(), parts: map[uint64]*txParts{}}
	defer rp.slot.Close()
	rp.slot.Pin(rp.snap)
	if len(m.Meta.Opaque) > 0 {
		last, applied, err := db.decodeMeta(m.Meta.Opaque)
		if err != nil {
			return err
		}
		rp.done = last
		for tx, n := range applied {
			rp.parts[tx] = &txParts{applied: n}
		}
	}
	log, err := txlog.OpenLocal(txlog.Options{
		FS: db.eng.o.FS, Dir: db.eng.o.logDir(db.oid), Mode: db.eng.o.LogSync, Interval: db.eng.o.LogSyncInterval,
		SegmentBytes: db.eng.o.LogSegmentBytes, SegmentBytesMax: db.eng.o.LogSegmentBytesMax,
		KeepFreeBytes: db.eng.o.LogKeepFreeBytes,
		OnDurable:     db.onDurable, Fatal: db.eng.o.Fatal, Logger: db.eng.o.Logger,
	}, txlog.Position(m.Meta.LogPosition), rp.entry)
	if err != nil {
		return err
	}
	db.log = log
	if err := rp.flush(); err != nil {
		return err
	}
	db.tipSlot, db.durSlot = db.store.NewSlot(), db.store.NewSlot()
	db.durSlot.Pin(rp.snap)
	db.setTip(rp.snap)
	db.durable.Store(rp.snap)
	db.ckpt.seq.Store(uint64(rp.done))
	db.last = max(rp.last, rp.done)
	if rp.entries > 0 {
		db.eng.o.Logger.Info("replayed the log", "database", db.Name(), "entries", rp.entries, "last", db.last)
	}
	// A new epoch voids the parts of transactions that never committed.
	db.epoch++
	if _, err := db.logOnly(txlog.Open, nil, txlog.Shrinking); err != nil {
		return err
	}
	return db.log.Barrier()
}

// entry takes one entry of the log.
func (rp *replayer) entry(pos txlog.Position, e txlog.Entry) error {
	db := rp.db
	if rp.last != 0 && e.Prev != rp.last || e.Seq <= rp.last {
		return fmt.Errorf("entry %d follows %d and not %d: %w", e.Seq, rp.last, e.Prev, storage.ErrCorrupt)
	}
	if rp.last == 0 && e.Prev > rp.done {
		return fmt.Errorf("the log begins behind entry %d, the checkpoint ends at %d: %w", e.Prev, rp.done, storage.ErrCorrupt)
	}
	if pos != rp.pos {
		rp.pos = pos
		if rp.bytes > db.eng.o.replayBytes {
			if err := rp.flush(); err != nil {
				return err
			}
		}
	}
	rp.last = e.Seq
	rp.entries++
	db.epoch = max(db.epoch, e.Epoch)
	switch e.Kind {
	case txlog.Open:
		clear(rp.parts)
		return nil
	case txlog.SeqReserve:
		return db.sequences.apply(e.Payload)
	case txlog.Commit, txlog.Part, txlog.Abort:
	default:
		return fmt.Errorf("entry %d is of unknown kind %d: %w", e.Seq, e.Kind, ErrNewerFormat)
	}
	h, body, err := decodeHeader(e.Payload)
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	raise(&db.nextTx, h.tx+1)
	if h.rowID > 0 {
		raise(&db.nextRow, h.rowID)
	}
	if h.numbers {
		raise32(&db.nextOID, h.oid)
		raise32(&db.nextTree, h.tree)
	}
	if e.Kind == txlog.Abort {
		if p := rp.parts[h.tx]; p != nil && e.Seq <= rp.done {
			p.n, p.sets = 0, nil // what a checkpoint has applied came later
		} else {
			delete(rp.parts, h.tx)
		}
		return nil
	}
	if e.Kind == txlog.Commit && e.Seq <= rp.done {
		delete(rp.parts, h.tx)
		return nil
	}
	cs, err := decodeChanges(nil, append([]byte(nil), body...))
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	if e.Kind == txlog.Part {
		return rp.part(e, h, cs, len(body))
	}
	return rp.commit(e, h, cs, len(body))
}

// part takes one part of a transaction.
func (rp *replayer) part(e txlog.Entry, h header, cs storage.ChangeSet, size int) error {
	p := rp.parts[h.tx]
	if p == nil {
		p = &txParts{}
		rp.parts[h.tx] = p
	}
	if p.n > 0 && h.parts != p.n { // the first seen may be any: earlier ones may be behind a checkpoint
		return fmt.Errorf("entry %d is part %d of its transaction and follows part %d: %w", e.Seq, h.parts, p.n-1, storage.ErrCorrupt)
	}
	if h.parts < p.applied { // a checkpoint in the middle of an earlier replay has it
		p.n = h.parts + 1
		return nil
	}
	p.n = h.parts + 1
	switch {
	case rp.commits == nil:
		p.sets = append(p.sets, cs)
		if rp.partBytes += size; rp.partBytes > rp.db.eng.o.replayBytes {
			return rp.lookAhead()
		}
	case rp.commits[h.tx] != 0 && e.Seq > rp.commits[h.tx]:
		p.applied = p.n
		rp.sets = append(rp.sets, cs)
		rp.bytes += size
	}
	return nil
}

// lookAhead finds the transactions with parts that commit in the rest of the log, and lets their parts go. Parts before
// an Abort are void also when their transaction commits: a savepoint has taken them back.
func (rp *replayer) lookAhead() error {
	rp.commits = map[uint64]txlog.Seq{}
	aborts := map[uint64]txlog.Seq{}
	o := &rp.db.eng.o
	_, err := txlog.Inspect(o.FS, o.logDir(rp.db.oid), rp.pos, nil, func(_ txlog.Position, e txlog.Entry) error {
		if e.Kind != txlog.Abort && (e.Kind != txlog.Commit || e.Seq <= rp.done) {
			return nil
		}
		h, _, err := decodeHeader(e.Payload)
		switch {
		case err != nil:
		case e.Kind == txlog.Abort:
			aborts[h.tx] = e.Seq
		case h.parts > 0:
			rp.commits[h.tx] = max(aborts[h.tx], 1)
		}
		return err
	})
	for tx, p := range rp.parts {
		if from := rp.commits[tx]; from != 0 && from <= rp.last && len(p.sets) > 0 {
			rp.sets = append(rp.sets, p.sets...)
			p.applied = p.n
		}
		p.sets = nil
	}
	rp.bytes += rp.partBytes
	rp.partBytes = 0
	return err
}

// commit takes a transaction that is not in the snapshot.
func (rp *replayer) commit(e txlog.Entry, h header, cs storage.ChangeSet, size int) error {
	if h.parts > 0 {
		p := rp.parts[h.tx]
		delete(rp.parts, h.tx)
		if p == nil || max(p.n, p.applied) != h.parts || int(p.applied)+len(p.sets) != int(h.parts) {
			return fmt.Errorf("entry %d commits %d parts, the log does not have them all: %w", e.Seq, h.parts, storage.ErrCorrupt)
		}
		rp.sets = append(rp.sets, p.sets...)
		for _, s := range p.sets {
			for i := range s {
				rp.bytes += changeBytes(&s[i])
				rp.partBytes = max(0, rp.partBytes-changeBytes(&s[i]))
			}
		}
	}
	rp.sets = append(rp.sets, cs)
	rp.bytes += size
	return nil
}

// flush applies what was gathered: the last change of each key, sorted, tree by tree on all processors.
func (rp *replayer) flush() error {
	if len(rp.sets) > 0 {
		s, err := rp.db.store.ApplySorted(rp.snap, storage.Seq(rp.last), netChanges(rp.sets), runtime.GOMAXPROCS(0))
		if err != nil {
			return fmt.Errorf("replay up to entry %d: %w", rp.last, err)
		}
		rp.slot.Pin(s)
		rp.snap = s
		rp.sets, rp.bytes = nil, 0
	}
	return rp.spill()
}

// spill makes a checkpoint in the middle of a long replay, when memory is short. What is replayed so far stays in the
// log until the next ordinary checkpoint.
func (rp *replayer) spill() error {
	db := rp.db
	limit := db.eng.acctBlocks.Limit()
	if limit == 0 || db.store.Stats().Dirty < limit/2 {
		return nil
	}
	applied := map[uint64]uint32{}
	for tx, p := range rp.parts {
		if len(p.sets) > 0 {
			return nil // they must be read again, so the position cannot move
		}
		if p.applied > 0 {
			applied[tx] = p.applied
		}
	}
	meta := storage.Meta{LogPosition: uint64(rp.pos), Opaque: db.encodeMeta(rp.last, applied)}
	if err := db.store.Checkpoint(rp.snap, meta, storage.CheckpointOptions{}); err != nil {
		return fmt.Errorf("checkpoint during replay: %w", err)
	}
	rp.done = rp.last
	db.stats.spills.Add(1)
	return nil
}

// netChanges merges change sets in order into one: the last change of each key, nothing of trees that come and go,
// of dropped trees only the drop.
func netChanges(sets []storage.ChangeSet) storage.ChangeSet {
	n := 0
	for _, s := range sets {
		n += len(s)
	}
	all := make(storage.ChangeSet, 0, n)
	made, dropped := map[storage.TreeID]bool{}, map[storage.TreeID]bool{}
	for _, s := range sets {
		for _, c := range s {
			switch c.Op {
			case storage.OpCreateTree:
				made[c.Tree] = true
			case storage.OpDropTree:
				dropped[c.Tree] = true
			}
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b storage.Change) int {
		if a.Tree != b.Tree {
			if a.Tree < b.Tree {
				return -1
			}
			return 1
		}
		if x, y := opClass(a.Op), opClass(b.Op); x != y {
			return x - y
		}
		return bytes.Compare(a.Key, b.Key)
	})
	out := all[:0]
	for i, c := range all {
		if dropped[c.Tree] && (c.Op != storage.OpDropTree || made[c.Tree]) {
			continue
		}
		if i+1 < len(all) && opClass(c.Op) == 1 {
			if next := &all[i+1]; next.Tree == c.Tree && opClass(next.Op) == 1 && bytes.Equal(next.Key, c.Key) {
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// opClass orders the operations of one tree: create, rows, drop.
func opClass(op storage.Op) int {
	switch op {
	case storage.OpCreateTree:
		return 0
	case storage.OpDropTree:
		return 2
	}
	return 1
}

type loadStorer interface {
	Load() uint64
	Store(uint64)
}

func raise(c loadStorer, to uint64) {
	if c.Load() < to {
		c.Store(to)
	}
}

func raise32(c interface {
	Load() uint32
	Store(uint32)
}, to uint32) {
	if c.Load() < to {
		c.Store(to)
	}
}
