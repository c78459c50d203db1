package engine

import (
	"bytes"
	"errors"
	"fmt"

	"herd/sql/sqlerr"
	"herd/storage"
	"herd/txlog"
)

// role is what a database does with entries.
type role uint8

const (
	replaying role = iota // applies those of a local log that is being opened
	following             // applies what a log of several nodes hands it
	opening               // has proposed its epoch and waits for it
	leading               // orders
)

var _ txlog.Replica = (*applier)(nil)

// join opens a log that several nodes share, as one that does not lead.
func (db *Database) join(m storage.Manifest) error {
	a := db.applier
	a.role = following
	a.last, a.epoch = a.done, db.epoch
	db.ready()
	log, err := db.eng.o.OpenLog(txlog.Opening{
		Database: db.oid, Name: db.Name(), Dir: db.eng.o.logDir(db.oid), From: txlog.Position(m.Meta.LogPosition),
		Replica: a, Fatal: db.eng.o.Fatal,
	})
	db.log = log
	if v, ok := log.(txlog.Verifier); ok {
		db.verify = v.Verify
	}
	return err
}

// leads returns when no other node can have ordered anything before the call that this one does not have.
func (db *Database) leads() error {
	err := db.verify()
	if errors.Is(err, txlog.ErrLost) {
		return db.notLeading()
	}
	if err != nil {
		return logError(err)
	}
	return nil
}

func (db *Database) notLeading() error {
	return sqlerr.Fatal(sqlerr.AdminShutdown, "this server does not lead database \"%s\"", db.Name())
}

// begin begins an epoch: its entry comes first, and nothing else is ordered before it is durable.
func (db *Database) begin(epoch txlog.Epoch) error {
	a := db.applier
	err := db.exclusive(func() error {
		if epoch <= db.epoch {
			return fmt.Errorf("lead epoch %d of database %q: epoch %d was open already", epoch, db.Name(), db.epoch)
		}
		db.epoch, db.last, a.role = epoch, max(a.last, a.done), opening
		db.parts.clear()
		clear(a.parts)
		return nil
	})
	if err != nil {
		return err
	}
	seq, err := db.logOnly(txlog.Open, nil, txlog.Shrinking)
	if err != nil {
		return err
	}
	if err := db.log.Wait(seq, nil); err != nil {
		return err
	}
	return db.exclusive(func() error {
		if a.role == opening {
			a.role, a.epoch = leading, epoch
		}
		return nil
	})
}

// mayOrder says why an entry cannot be ordered now. The leader of the queue calls it. A session that was there before leadership was lost
// stays refused when this node leads anew: what it has read and locked may not be there any more.
func (db *Database) mayOrder(r *request) error {
	if r.session != nil && r.session.losses != db.losses.Load() {
		return db.notLeading()
	}
	switch role := db.applier.role; {
	case role == leading, role == opening && r.kind == txlog.Open:
		return nil
	}
	return db.notLeading()
}

// Applied implements txlog.Replica.
func (a *applier) Applied() txlog.Seq { return max(a.last, a.done) }

// Lead implements txlog.Replica.
func (a *applier) Lead(epoch txlog.Epoch) error { return a.db.begin(epoch) }

// Follow implements txlog.Replica: the sessions end, and the state returns to the last one applied.
func (a *applier) Follow() error {
	db := a.db
	db.sessMu.Lock()
	for s := range db.sessions {
		s.intr.Terminate()
	}
	db.sessMu.Unlock()
	db.bigMu.Lock() // no fork is open while somebody has it
	defer db.bigMu.Unlock()
	return db.exclusive(func() error {
		if a.role != leading && a.role != opening {
			return nil
		}
		a.role = following
		if err := a.recall(); err != nil {
			return fmt.Errorf("return database %q to entry %d: %w", db.Name(), a.last, err)
		}
		db.pubMu.Lock()
		defer db.pubMu.Unlock()
		clear(db.pubs)
		db.pubs = db.pubs[:0]
		applied := db.durable.Load()
		back, err := db.store.Rewind(applied)
		if err != nil {
			return fmt.Errorf("return database %q to entry %d: %w", db.Name(), a.last, err)
		}
		db.moves.drop(applied.Seq())
		db.sequences.rewind()
		db.durSlot.Pin(back)
		db.durable.Store(back)
		db.setTip(back)
		db.last, db.epoch = a.last, a.epoch // an epoch whose entry was not applied is not open
		db.losses.Add(1)
		return nil
	})
}

// recall reads the parts again that were applied while the node led: it kept none, and their Commit entry may be agreed
// on yet.
func (a *applier) recall() error {
	db := a.db
	from, some := db.parts.since(a.last)
	clear(a.parts)
	db.parts.clear()
	if !some {
		return nil
	}
	var failed error
	err := db.log.Read(from, func(pos txlog.Position, e txlog.Entry) bool {
		if e.Epoch == a.epoch && e.Seq <= a.last { // all of these were applied: in one epoch none is void before one that is not
			failed = a.again(pos, e)
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}

// again takes an entry that is in the state already, for the parts that wait.
func (a *applier) again(pos txlog.Position, e txlog.Entry) error {
	switch e.Kind {
	case txlog.Part, txlog.Commit, txlog.Abort:
	default:
		return nil
	}
	h, body, err := decodeHeader(e.Payload)
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	if e.Kind != txlog.Part {
		delete(a.parts, h.tx)
		a.db.parts.aborted(h.tx)
		return nil
	}
	cs, err := decodeChanges(nil, bytes.Clone(body))
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	a.db.parts.begin(h.tx, pos)
	return a.part(e, h, cs, len(body))
}

// Apply implements txlog.Applier.
func (a *applier) Apply(batch []txlog.Entry) error {
	db := a.db
	return db.exclusive(func() error {
		a.snap = db.tip.Load()
		own := txlog.Seq(0)
		for _, e := range batch {
			if a.role == leading || a.role == opening {
				if e.Epoch != db.epoch || e.Prev != a.last {
					a.skipped++
					continue
				}
				a.last, own = e.Seq, e.Seq // it is in tip
				switch e.Kind {
				case txlog.Open:
					a.epoch = e.Epoch
				case txlog.SeqReserve:
					if err := db.sequences.agree(e.Payload); err != nil {
						return fmt.Errorf("entry %d: %w", e.Seq, err)
					}
				}
				continue
			}
			if err := a.entry(0, e); err != nil {
				return err
			}
		}
		if a.role != following {
			db.onDurable(own)
			return nil
		}
		db.last = a.last
		return a.flush()
	})
}

// admits tells whether an entry counts. In a local log one that does not follow the last is damage; a log of several nodes
// contains entries of leaders that were leaders no more.
func (a *applier) admits(e *txlog.Entry) (bool, error) {
	if a.role != replaying {
		newer := e.Kind == txlog.Open && e.Epoch > a.db.epoch
		if e.Prev == a.last && e.Seq > a.last && (newer || e.Kind != txlog.Open && e.Epoch == a.db.epoch) {
			return true, nil
		}
		a.skipped++
		return false, nil
	}
	if a.last != 0 && e.Prev != a.last || e.Seq <= a.last {
		return false, fmt.Errorf("entry %d follows %d and not %d: %w", e.Seq, a.last, e.Prev, storage.ErrCorrupt)
	}
	if a.last == 0 && e.Prev > a.done {
		return false, fmt.Errorf("the log begins behind entry %d, the checkpoint ends at %d: %w", e.Prev, a.done, storage.ErrCorrupt)
	}
	if e.Seq > a.done && (e.Epoch < a.db.epoch || e.Epoch > a.db.epoch && e.Kind != txlog.Open) {
		return false, fmt.Errorf("entry %d has epoch %d, epoch %d is open: %w", e.Seq, e.Epoch, a.db.epoch, storage.ErrCorrupt)
	}
	a.db.epoch = max(a.db.epoch, e.Epoch)
	a.epoch = a.db.epoch
	return true, nil
}

// track notes parts that the log has to keep on a node that follows, as those that lead do when they write them.
func (a *applier) track(e *txlog.Entry, h header) {
	if a.role == replaying {
		return
	}
	db := a.db
	switch e.Kind {
	case txlog.Part:
		db.parts.begin(h.tx, db.log.EndOf(e.Prev))
	case txlog.Abort:
		db.parts.aborted(h.tx)
	case txlog.Commit:
		if h.parts > 0 {
			db.parts.committed(h.tx, e.Seq)
		}
	}
}

// published makes a new snapshot visible, on a node that follows at once.
func (a *applier) published(s *storage.Snapshot) {
	db := a.db
	if a.role == replaying {
		a.slot.Pin(s)
		return
	}
	db.setTip(s)
	db.pubMu.Lock()
	defer db.pubMu.Unlock()
	db.durSlot.Pin(s)
	db.durable.Store(s)
}
