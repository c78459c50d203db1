package engine

import (
	"math"

	"herd/storage"
	"herd/txlog"
)

// The cleaner moves the live blocks of mostly dead segments, so that the next checkpoint can remove their files. It has two gaits. As long as little is dead
// it takes a segment now and then, and keeps out of the way when memory is short. When much is dead it is given so many bytes for
// each byte that checkpoints write (storage.Store.CleanShare) and moves them before the next checkpoint, however often these come: what is on
// disk stays in proportion to what is alive, and writers are slowed as by any checkpoint.

// cleanStep is how many blocks are moved at a time, at most. They are in memory twice meanwhile, whatever the limit says, so that a step is no
// more than cleanStepShare of a slice.
const (
	cleanStep      = 64
	cleanStepShare = 4
)

// cleaner is guarded by the checkpointer, the only one that cleans.
type cleaner struct {
	plan   *storage.Cleaning // not done yet; nil: none
	wrote  int64             // store.Wrote when it was last looked at
	moved  int64             // bytes moved since, which are written too
	credit float64           // bytes that may be moved
}

// cleanLater tells whether the cleaner, when it is in no hurry, has to wait for a checkpoint: what it moves has no disk copy until the next one.
func (db *Database) cleanLater() bool {
	used, budget := db.eng.o.Memory.Used(), db.eng.keeper.budget.Load()
	return db.stopping.Load() || db.store.Dirty() > db.eng.o.CheckpointDirtyBytes/2 || budget > 0 && used >= budget/100*90
}

// maintain releases what nobody reads and moves the live blocks of one mostly dead segment. It goes on where it has been kept from it before, at
// least by a step.
func (db *Database) maintain() error {
	if err := db.store.Maintain(); err != nil {
		return err
	}
	_, err := db.cleanSome(db.cleanLater)
	return err
}

// cleanSlice returns how many bytes are moved between two checkpoints at most.
func (db *Database) cleanSlice() int64 {
	const most = 64 << 20
	if limit := db.eng.keeper.budget.Load(); limit > 0 {
		return min(limit/16, most)
	}
	return most
}

// overLimit returns how many bytes are booked above the memory limit, below 0 when there is room.
func (db *Database) overLimit() int64 {
	limit := db.eng.o.Memory.Limit()
	if limit == 0 {
		return math.MinInt64 / 2
	}
	return db.eng.o.Memory.Used() - limit
}

// cleanDue moves what is due for what was written since it was last called, in slices with checkpoints between them.
func (db *Database) cleanDue() error {
	const creditMost = 256 << 20 // nobody waits for minutes for a checkpoint
	c := &db.cleaner
	wrote := db.store.Wrote()
	fresh := max(0, wrote-c.wrote-c.moved)
	c.wrote, c.moved = wrote, 0
	share := db.store.CleanShare()
	if share == 0 {
		c.credit = 0
		return nil
	}
	c.credit = min(c.credit+share*float64(fresh), creditMost)
	for c.credit > 0 && !db.stopping.Load() {
		slice, begun := min(db.cleanSlice(), int64(c.credit)), c.moved
		if short := db.overLimit() + slice; short > 0 && db.eng.keeper.evict(short) < short {
			return nil // what is moved is booked whatever the limit says: there has to be room for it
		}
		crowded := func() bool { return db.store.Dirty() > db.eng.o.CheckpointDirtyBytes || db.overLimit() > 0 }
		more, err := db.cleanSome(func() bool {
			// Above the limit somebody waits for what only this goroutine can write.
			return db.stopping.Load() || c.moved-begun >= slice || c.moved > begun && crowded() || db.overLimit() > 0
		})
		c.credit -= float64(c.moved - begun)
		if err != nil || !more { // nothing is worth it before the next manifest
			return err
		}
		if c.credit > 0 && (c.moved-begun >= slice || crowded()) {
			if err := db.checkpointOver(0); err != nil {
				return err
			}
		}
	}
	return nil
}

// cleanSome moves live blocks of one mostly dead segment until stop says so, or all are moved. more tells whether it makes sense to call it again.
func (db *Database) cleanSome(stop func() bool) (more bool, err error) {
	slot := db.store.NewSlot()
	defer slot.Close()
	pin := func() *storage.Snapshot {
		for {
			if s := db.tip.Load(); slot.Pin(s) {
				return s
			}
		}
	}
	c := db.cleaner.plan
	db.cleaner.plan = nil
	if c == nil {
		if c, err = db.store.PlanCleaning(pin, stop); c == nil || err != nil {
			return false, err
		}
	}
	for c.Left() > 0 && !db.stopping.Load() {
		held, err := db.store.PrepareRewrite(pin(), c, cleanStep, db.cleanSlice()/cleanStepShare)
		if err != nil {
			return false, err
		}
		before, done := c.Moved(), false
		err = db.exclusive(func() (err error) {
			done, err = db.rewrite(c)
			return err
		})
		held.Release()
		if err != nil || !done {
			return false, err
		}
		db.cleaner.moved += c.Moved() - before
		db.ckpt.seq.Store(0) // there is something to write, though no commit came
		if stop() {
			db.cleaner.plan = c
			break
		}
	}
	db.onDurable(db.log.Durable())
	return true, nil
}

// rewrite moves a step of blocks, as the leader. The contents stay, so the new tip is as durable as the old one. While
// a big commit is merged nothing is moved: it would leave the moved blocks behind.
func (db *Database) rewrite(c *storage.Cleaning) (moved bool, err error) {
	if db.catchUp != nil {
		return false, nil
	}
	next, err := db.store.Rewrite(db.tip.Load(), c)
	if err != nil {
		return false, err
	}
	if db.applier.role == following { // what is applied is published at once there, and nothing may be published behind it
		db.applier.published(next)
		return true, nil
	}
	db.publish(txlog.Seq(next.Seq()), next)
	db.setTip(next)
	return true, nil
}
