package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"herd/storage"
	"herd/txlog"
)

// checkpointState is what the checkpointer shows.
type checkpointState struct {
	last        atomic.Int64 // nanoseconds from the engine's begin to the last one's end: a clock that is set changes nothing
	begun       atomic.Int64 // and to its begin
	seq         atomic.Uint64
	done, total atomic.Int64  // bytes of the running one
	hurry       atomic.Bool   // finish without spreading
	end         atomic.Uint64 // position of the log's end when the last one began
}

// Meta.Opaque, version 2: version u8, next transaction u64, next row id u64, next object u32, next tree u32, epoch u64,
// last entry u64, time of the last commit u64 (version 1 has none), sequences (see encode), then pairs of transaction u64 and
// number u32 of parts that a checkpoint in the middle of a replay contains already.
const metaVersion = 2

func (db *Database) encodeMeta(last txlog.Seq, epoch txlog.Epoch, applied map[uint64]uint32) []byte {
	le := binary.LittleEndian
	b := []byte{metaVersion}
	b = le.AppendUint64(b, db.nextTx.Load())
	b = le.AppendUint64(b, db.nextRow.Load())
	b = le.AppendUint32(b, db.nextOID.Load())
	b = le.AppendUint32(b, db.nextTree.Load())
	b = le.AppendUint64(b, uint64(epoch))
	b = le.AppendUint64(b, uint64(last))
	b = le.AppendUint64(b, db.now.Load()) // perhaps that of a later commit: times need only ascend
	b = db.sequences.encode(b)
	for tx, n := range applied {
		b = le.AppendUint32(le.AppendUint64(b, tx), n)
	}
	return b
}

// decodeMeta sets the counters and returns the number of the last entry the manifest contains, and the numbers of
// parts it contains of transactions that commit later.
func (db *Database) decodeMeta(b []byte) (last txlog.Seq, applied map[uint64]uint32, err error) {
	le := binary.LittleEndian
	if len(b) < 41 {
		return 0, nil, fmt.Errorf("manifest: %w", errPayload)
	}
	if b[0] > metaVersion {
		return 0, nil, fmt.Errorf("manifest meta version %d: %w", b[0], ErrNewerFormat)
	}
	db.nextTx.Store(le.Uint64(b[1:]))
	db.nextRow.Store(le.Uint64(b[9:]))
	db.nextOID.Store(le.Uint32(b[17:]))
	db.nextTree.Store(le.Uint32(b[21:]))
	db.epoch = txlog.Epoch(le.Uint64(b[25:]))
	last = txlog.Seq(le.Uint64(b[33:]))
	rest := b[41:]
	if b[0] > 1 {
		if len(rest) < 8 {
			return 0, nil, fmt.Errorf("manifest: %w", errPayload)
		}
		raise(&db.now, le.Uint64(rest))
		rest = rest[8:]
	}
	rest, err = db.sequences.decode(rest)
	if err != nil || len(rest)%12 != 0 {
		return 0, nil, fmt.Errorf("manifest: %w", errPayload)
	}
	applied = map[uint64]uint32{}
	for ; len(rest) > 0; rest = rest[12:] {
		applied[le.Uint64(rest)] = le.Uint32(rest[8:])
	}
	return last, applied, nil
}

// Checkpoint writes everything that is ordered now to the data files and frees the log behind it. It may run beside
// everything; a running one is waited for.
func (db *Database) Checkpoint() error {
	if err := db.log.Barrier(); err != nil {
		return logError(err)
	}
	db.ckpt.hurry.Store(true)
	err := db.checkpointNow(0)
	if errors.Is(err, syscall.ENOSPC) {
		return diskFull(err)
	}
	return err
}

// checkpointNow makes a checkpoint of the durable snapshot, spread over d.
func (db *Database) checkpointNow(d time.Duration) error {
	db.ckptMu.Lock()
	defer db.ckptMu.Unlock()
	db.ckpt.hurry.Store(false)
	begun := db.eng.uptime()
	slot := db.store.NewSlot()
	defer slot.Close()
	snap, last, epoch := db.durableState(slot)
	end := db.log.EndOf(last)
	at := db.parts.floor(end, last)
	if at < end && db.shared() {
		return nil // the state machine begins at last and would miss earlier parts of what commits later: come again
	}
	meta := storage.Meta{LogPosition: uint64(at), Opaque: db.encodeMeta(last, epoch, nil)}
	err := db.store.Checkpoint(snap, meta, storage.CheckpointOptions{
		Duration: d,
		Progress: func(written, total int64) {
			db.ckpt.done.Store(written)
			db.ckpt.total.Store(total)
			if db.eng.o.Memory.Used() >= db.eng.keeper.budget.Load()/100*90 { // what is written can go
				db.eng.keeper.soon()
			}
		},
		Written: slot.Unpin,
		Stop:    func() bool { return d > 0 && (db.stopping.Load() || db.ckpt.hurry.Load()) },
	})
	db.ckpt.done.Store(0)
	db.ckpt.total.Store(0)
	if err != nil {
		return db.checkpointError(err)
	}
	db.stats.checkpoints.Add(1)
	db.ckpt.last.Store(int64(db.eng.uptime()))
	db.ckpt.begun.Store(int64(begun))
	db.ckpt.seq.Store(uint64(last))
	db.ckpt.end.Store(uint64(end))
	db.parts.forget(last)
	if err := db.log.Truncate(at); err != nil {
		return fmt.Errorf("checkpoint of database %q: %w", db.Name(), err)
	}
	return nil
}

// checkpointError says what failed, and stops the server when nothing can be made durable any more: it must not go on as
// if checkpoints merely came late.
func (db *Database) checkpointError(err error) error {
	err = fmt.Errorf("checkpoint of database %q: %w", db.Name(), err)
	if errors.Is(err, storage.ErrBroken) {
		db.eng.o.Fatal(err)
	}
	return err
}

// durableState pins the durable state and returns it with the last entry that it contains and the epoch open there.
func (db *Database) durableState(slot *storage.ReaderSlot) (snap *storage.Snapshot, last txlog.Seq, epoch txlog.Epoch) {
	pin := func() {
		for snap = db.durable.Load(); !slot.Pin(snap); {
			snap = db.durable.Load()
		}
	}
	if db.shared() { // exactly: entries of other epochs may follow, and replay must begin with the right one
		_ = db.exclusive(func() error { // it has no error of its own
			pin()
			last, epoch = db.applier.Applied(), db.applier.epoch
			return nil
		})
		return snap, last, epoch
	}
	// Read in this order, the snapshot contains the changes of all entries up to last, and perhaps of later ones: a
	// snapshot is published as durable before the log says that its entries are. The numbers and sequences recorded are
	// at least as far.
	last = db.log.Durable()
	pin()
	return snap, max(last, txlog.Seq(snap.Seq())), db.epoch
}

// checkpointer is the goroutine that decides when: by time, by log size, by dirty memory.
func (db *Database) checkpointer() {
	defer db.ckptDone.Done()
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for n := 1; ; n++ {
		kicked := false
		select {
		case <-db.ckptStop:
			return
		case <-db.ckptKick:
			kicked = true
		case <-t.C:
		}
		oldest := db.OldestSnapshot()
		db.moves.prune(oldest)
		db.horizons.note(db.tip.Load().Seq(), db.nextTx.Load(), db.oldestPinned(oldest))
		db.ssi.sweep()
		if spread, due := db.checkpointDue(kicked); due {
			if err := db.checkpointOver(spread); err != nil && !db.stopping.Load() {
				db.eng.o.Logger.Error("checkpoint failed", "error", err)
				time.Sleep(100 * time.Millisecond)
			}
		}
		if err := db.cleanDue(); err != nil && !db.stopping.Load() {
			db.eng.o.Logger.Error("cleaning failed", "database", db.Name(), "error", err)
		}
		if n%5 == 0 || db.cleaner.plan != nil {
			if err := db.maintain(); err != nil {
				db.eng.o.Logger.Error("maintenance failed", "database", db.Name(), "error", err)
			}
		}
	}
}

// checkpointOver makes a checkpoint spread over d, which it takes up anew when it has to.
func (db *Database) checkpointOver(d time.Duration) error {
	err := db.checkpointNow(d)
	for errors.Is(err, storage.ErrStopped) && !db.stopping.Load() || errors.Is(err, storage.ErrStale) {
		err = db.checkpointNow(0) // hurry, or something newer was spilled since the snapshot was taken
	}
	return err
}

// checkpointDue tells whether to begin a checkpoint and over which time to spread it.
func (db *Database) checkpointDue(kicked bool) (spread time.Duration, due bool) {
	o := &db.eng.o
	if uint64(db.log.Durable()) == db.ckpt.seq.Load() {
		return 0, false
	}
	st := db.store.Stats()
	if kicked || st.Dirty > 2*o.CheckpointDirtyBytes {
		return 0, true
	}
	// While there is still room to write what has to be written: the log grows as fast.
	if free, err := o.FS.FreeBytes(db.dir); err == nil && uint64(st.Dirty) > free/3 {
		return 0, true
	}
	if st.Dirty > o.CheckpointDirtyBytes || db.freeableLog() > o.CheckpointLogBytes {
		return min(o.CheckpointDuration, 30*time.Second), true
	}
	// From begin to begin, whatever the writing takes: it is to be over when the next one is due.
	age := db.eng.uptime() - time.Duration(db.ckpt.begun.Load())
	return min(o.CheckpointDuration, o.CheckpointPeriod/10*9), o.CheckpointPeriod > 0 && age > o.CheckpointPeriod
}

// freeableLog returns the bytes of log that a checkpoint might free: not those that the last one left, which the parts of
// an open transaction hold.
func (db *Database) freeableLog() int64 {
	return min(db.log.Bytes(), int64(db.log.End())-int64(db.ckpt.end.Load()))
}

// kickCheckpoint asks for a checkpoint soon.
func (db *Database) kickCheckpoint() {
	db.ckpt.hurry.Store(true)
	select {
	case db.ckptKick <- struct{}{}:
	default:
	}
}
