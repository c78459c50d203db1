package engine

import (
	"errors"
	"fmt"

	"herd/storage"
	"herd/txlog"
)

// applier is the state machine that a log drives: it brings a store from its manifest to the end of the log, and keeps it
// there on a node that does not lead. It implements txlog.Applier, see replica.go.
type applier struct {
	db   *Database
	role role // guarded by the leader of the queue; while a log is replayed nobody leads
	snap *storage.Snapshot
	slot *storage.ReaderSlot

	last     txlog.Seq   // last entry of the log seen
	epoch    txlog.Epoch // opened by an entry that was applied; db.epoch is ahead of it while this node opens one
	done     txlog.Seq   // entries up to here are in snap
	gathered             // what is to be applied, see replay.go
	under    *applied    // a batch before it that is being applied; nil: none
	at       place       // of snap, while a log is replayed
	spilling *spilling   // a checkpoint in the middle of a replay, see replayspill.go; nil: none
	progress replayProgress
	pos      txlog.Position // of the group being replayed
	entries  int
	skipped  int // entries that were void: of an epoch that is not open, or behind one that was never applied

	// Parts wait for their Commit entry in memory, until they are too many; then the rest of the log is looked through
	// once for the transactions that do commit, whose parts are applied at once from there on. That is allowed since
	// their locks kept every other commit in between from the same keys.
	parts     map[uint64]*txParts
	partBytes int
	commits   map[uint64]txlog.Seq // the entry behind which their parts are not void; nil: not looked for yet

	// ahead reads the log from a position on, for lookAhead; nil: the log of the database's folder.
	ahead func(from txlog.Position, f func(txlog.Position, txlog.Entry) error) error

	sums sums
}

// txParts is what has been seen of a transaction with parts.
type txParts struct {
	n       uint32              // parts seen
	applied uint32              // of these, applied
	sets    []storage.ChangeSet // those that wait
}

// recover opens the log, replays it and makes the database ready. A log of several nodes is not replayed here: it drives
// the database from its own snapshot on, and says when to lead.
func (db *Database) recover(m storage.Manifest) error {
	db.nextTx.Store(firstTransaction)
	db.nextRow.Store(1)
	db.nextOID.Store(firstObject)
	db.nextTree.Store(uint32(storage.ReservedTrees))
	a := &applier{db: db, role: replaying, snap: db.store.Base(), slot: db.store.NewSlot(), parts: map[uint64]*txParts{}}
	db.applier = a
	a.slot.Pin(a.snap)
	if len(m.Meta.Opaque) > 0 {
		last, applied, err := db.decodeMeta(m.Meta.Opaque)
		if err != nil {
			return fmt.Errorf("open %s: %w", db.eng.o.metadataDir(db.oid), err)
		}
		a.done = last
		for tx, n := range applied {
			a.parts[tx] = &txParts{applied: n}
		}
	}
	if db.eng.o.OpenLog != nil {
		return db.join(m)
	}
	log, err := txlog.OpenLocal(txlog.Options{
		FS: db.eng.o.FS, Dir: db.eng.o.logDir(db.oid), Mode: db.eng.o.LogSync, Interval: db.eng.o.LogSyncInterval,
		SegmentBytes: db.eng.o.LogSegmentBytes, SegmentBytesMax: db.eng.o.LogSegmentBytesMax,
		KeepFreeBytes: db.eng.o.LogKeepFreeBytes, CheckpointBytes: func() int64 { return max(0, db.store.Dirty()) },
		OnDurable: db.onDurable, Fatal: db.eng.o.Fatal, Logger: db.eng.o.Logger, Archive: db.archive(), OnReplay: db.replayFound,
	}, txlog.Position(m.Meta.LogPosition), a.entry)
	if err != nil {
		_ = a.rest() // the log's error came first
	}
	if damage := (*txlog.CorruptError)(nil); errors.As(err, &damage) {
		return fmt.Errorf("%w (restore a backup; or run \"herd check --cut-log\", which gives up every commit from there on)", err)
	}
	if err != nil {
		return err
	}
	db.log = log
	if err := a.finish(); err != nil {
		return err
	}
	db.ready()
	a.reportEnd()
	// A new epoch voids the parts of transactions that never committed.
	return db.begin(db.epoch + 1)
}

// ready publishes what was replayed.
func (db *Database) ready() {
	a := db.applier
	db.tipSlot, db.durSlot = db.store.NewSlot(), db.store.NewSlot()
	db.durSlot.Pin(a.snap)
	db.setTip(a.snap)
	db.durable.Store(a.snap)
	a.slot.Close()
	a.slot = nil
	db.ckpt.seq.Store(uint64(a.done))
	db.last = max(a.last, a.done)
	a.last = db.last
}

// entry takes one entry of the log.
func (a *applier) entry(pos txlog.Position, e txlog.Entry) error {
	db := a.db
	if ok, err := a.admits(&e); !ok || err != nil {
		return err
	}
	if pos != a.pos {
		a.pos = pos
		if a.enough() {
			if err := a.turn(); err != nil {
				return err
			}
		}
		a.report(pos)
	}
	a.last = e.Seq
	a.entries++
	switch e.Kind {
	case txlog.Open:
		db.epoch = max(db.epoch, e.Epoch)
		a.epoch = db.epoch
		clear(a.parts)
		if a.role != replaying {
			db.parts.clear()
		}
		return nil
	case txlog.SeqReserve:
		return db.sequences.apply(e.Payload)
	case txlog.Sum:
		return a.sumUp(&e)
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
	raise(&db.now, h.time) // the clock may have been set back since
	a.track(&e, h)
	if e.Kind == txlog.Abort {
		if p := a.parts[h.tx]; p != nil && e.Seq <= a.done {
			p.n, p.sets = 0, nil // what a checkpoint has applied came later
		} else {
			delete(a.parts, h.tx)
		}
		return nil
	}
	if e.Kind == txlog.Commit && e.Seq <= a.done {
		delete(a.parts, h.tx)
		return nil
	}
	cs, err := a.arena.decode(body)
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	if e.Kind == txlog.Part {
		return a.part(e, h, cs, len(body))
	}
	return a.commit(e, h, cs, len(body))
}

// part takes one part of a transaction.
func (a *applier) part(e txlog.Entry, h header, cs storage.ChangeSet, size int) error {
	p := a.parts[h.tx]
	if p == nil {
		p = &txParts{}
		a.parts[h.tx] = p
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
	case a.commits == nil:
		p.sets = append(p.sets, cs)
		if a.partBytes += size; a.partBytes > a.db.eng.o.replayBytes && a.role == replaying {
			return a.lookAhead()
		}
	case a.commits[h.tx] != 0 && e.Seq > a.commits[h.tx]:
		p.applied = p.n
		a.add(size, cs)
	}
	return nil
}

// lookAhead finds the transactions with parts that commit in the rest of the log, and lets their parts go. Parts before
// an Abort are void also when their transaction commits: a savepoint has taken them back.
func (a *applier) lookAhead() error {
	a.commits = map[uint64]txlog.Seq{}
	aborts := map[uint64]txlog.Seq{}
	read := a.ahead
	if read == nil {
		read = func(from txlog.Position, f func(txlog.Position, txlog.Entry) error) error {
			o := &a.db.eng.o
			_, err := txlog.Inspect(o.FS, o.logDir(a.db.oid), from, nil, f)
			return err
		}
	}
	err := read(a.pos, func(_ txlog.Position, e txlog.Entry) error {
		if e.Kind != txlog.Abort && (e.Kind != txlog.Commit || e.Seq <= a.done) {
			return nil
		}
		h, _, err := decodeHeader(e.Payload)
		switch {
		case err != nil:
		case e.Kind == txlog.Abort:
			aborts[h.tx] = e.Seq
		case h.parts > 0:
			a.commits[h.tx] = max(aborts[h.tx], 1)
		}
		return err
	})
	for tx, p := range a.parts {
		if from := a.commits[tx]; from != 0 && from <= a.last && len(p.sets) > 0 {
			a.add(0, p.sets...)
			p.applied = p.n
		}
		p.sets = nil
	}
	a.bytes += a.partBytes
	a.partBytes = 0
	return err
}

// commit takes a transaction that is not in the snapshot.
func (a *applier) commit(e txlog.Entry, h header, cs storage.ChangeSet, size int) error {
	if h.parts > 0 {
		p := a.parts[h.tx]
		delete(a.parts, h.tx)
		if p == nil || max(p.n, p.applied) != h.parts || int(p.applied)+len(p.sets) != int(h.parts) {
			return fmt.Errorf("entry %d commits %d parts, the log does not have them all: %w", e.Seq, h.parts, storage.ErrCorrupt)
		}
		a.add(0, p.sets...)
		for _, s := range p.sets {
			for i := range s {
				a.bytes += changeBytes(&s[i])
				a.partBytes = max(0, a.partBytes-changeBytes(&s[i]))
			}
		}
	}
	a.add(size, cs)
	return nil
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
