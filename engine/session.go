package engine

import (
	"errors"
	"sync/atomic"
	"time"

	"herd/engine/lock"
	"herd/internal/mem"
	"herd/sql/sqlerr"
	"herd/storage"
	"herd/txlog"
)

// Interrupt is a session's word of pending interrupts and its deadlines.
type Interrupt = lock.Interrupt

// SessionOptions configure NewSession.
type SessionOptions struct {
	// PID is the number shown in pg_stat_activity, pg_locks and deadlock reports.
	PID int32
	// Acct pays for the session's changes and locks; nil: the engine's account.
	Acct *mem.Account
	// Replica says that the session reads what this node has, whether it leads or not: what it reads may be old.
	Replica bool
	// Wake is called, from another goroutine, when an idle session has to end: 25P03, 57P05 or 57P01. May be nil.
	Wake func(reason *sqlerr.Error)
}

// Session is one client in one database. It is used by one goroutine at a time; only Interrupt's Cancel and Terminate
// may come from others.
type Session struct {
	db   *Database
	intr *Interrupt
	own  *lock.Owner
	acct *mem.Account

	statement *storage.ReaderSlot // pins the snapshot of the statement or transaction
	newest    *storage.ReaderSlot // pins what Newest returned last

	seen    uint64        // highest sequence number the session has read or written
	reading atomic.Uint64 // sequence number of the open snapshot plus one, 0 = none
	fixed   atomic.Bool   // the snapshot stays until the transaction ends
	pinned  pinnedViews
	wrote   bool   // the transaction at hand is ordered: it may be agreed on whatever becomes of this node
	async   bool   // synchronous_commit = off
	replica bool   // see SessionOptions
	trusts  bool   // reads are not checked: this node is taken for the leader while it takes itself for it
	losses  uint64 // the database's when the session began

	overlay *storage.Overlay // made at the first change
	tx      Tx
	req     request
	enc     []byte // payload of the last commit
}

// NewSession returns a session of db. The caller closes it.
func (db *Database) NewSession(o SessionOptions) *Session {
	acct := o.Acct
	if acct == nil {
		acct = db.eng.o.Memory
	}
	s := &Session{db: db, intr: lock.NewInterrupt(), acct: acct.Child("transaction"), losses: db.losses.Load(), replica: o.Replica}
	s.own = db.locks.NewOwner(o.PID, s.intr, s.acct)
	s.statement, s.newest = db.store.NewSlot(), db.store.NewSlot()
	s.req.wake = make(chan bool, 1)
	s.tx.s = s
	s.tx.done = true
	if o.Wake != nil {
		s.intr.SetNotify(func(c lock.Cause) {
			if c&(lock.IdleInTransaction|lock.IdleSession|lock.Terminate) != 0 {
				if e, ok := s.intr.Err().(*sqlerr.Error); ok {
					o.Wake(e)
				}
			}
		})
	}
	db.eng.scanner.Add(s.intr)
	db.sessMu.Lock()
	db.sessions[s] = struct{}{}
	db.sessMu.Unlock()
	return s
}

// Close rolls back what is open, releases all locks and ends the session.
func (s *Session) Close() {
	if s.db == nil {
		return
	}
	s.tx.Rollback()
	s.own.Close()
	s.statement.Close()
	s.newest.Close()
	s.db.eng.scanner.Remove(s.intr)
	s.acct.Close()
	s.db.sessMu.Lock()
	delete(s.db.sessions, s)
	s.db.sessMu.Unlock()
	s.db = nil
}

// Database returns the session's database.
func (s *Session) Database() *Database { return s.db }

// Account returns what pays for the changes and locks of the session's transactions.
func (s *Session) Account() *mem.Account { return s.acct }

// Interrupt returns the session's interrupt word.
func (s *Session) Interrupt() *Interrupt { return s.intr }

// SetSynchronousCommit turns waiting for the disk on or off (synchronous_commit).
func (s *Session) SetSynchronousCommit(on bool) { s.async = !on }

// SetVerified turns the check at the end of transactions on or off that this node still led when they read.
func (s *Session) SetVerified(on bool) { s.trusts = !on }

// SetLockTimeout sets lock_timeout; 0 = none.
func (s *Session) SetLockTimeout(d time.Duration) { s.own.Timeout = int64(d) }

// SetDeadlockTimeout sets how long a lock wait lasts before it is checked for a deadlock.
func (s *Session) SetDeadlockTimeout(d time.Duration) { s.own.DeadlockDelay = int64(d) }

// WaitDurable waits until everything the session has seen is durable; called at the end of each transaction, before
// its outcome is told. On a node of several it is known to lead then, so what the session has read was the newest there was.
// With synchronous_commit = off it does not wait. The error ends the session.
func (s *Session) WaitDurable() error {
	wrote := s.wrote
	s.wrote = false
	if s.async && wrote {
		return nil
	}
	if !s.async && uint64(s.db.log.Durable()) < s.seen {
		if err := s.db.awaitDurable(txlog.Seq(s.seen)); err != nil {
			return s.lost(err, wrote)
		}
	}
	// A transaction with an entry of its own has its place before all that another leader has ordered. What others wrote, and was waited
	// for, may have been agreed on by another leader that has gone on since.
	if !wrote && s.db.verify != nil && !s.replica && !s.trusts {
		if err := s.db.leads(); err != nil {
			return err
		}
	}
	if s.db.losses.Load() != s.losses { // another leader's entries may have the numbers that this session has seen
		return s.lost(txlog.ErrLost, wrote)
	}
	return nil
}

// lost is what the client is told when the log fails at a transaction's end. One that has changed nothing has no outcome that could be
// unknown.
func (s *Session) lost(err error, wrote bool) error {
	if errors.Is(err, txlog.ErrLost) && !wrote {
		return s.db.notLeading()
	}
	return logError(err)
}

// pinStatement pins and returns the snapshot a new statement reads: durable unless the session has seen more. What it
// reads is announced before it is sure: OldestSnapshot either sees the announcement, or began with a durable state that
// the second look at durable sees too.
func (s *Session) pinStatement() *storage.Snapshot {
	db := s.db
	snap := db.durable.Load()
	for {
		if uint64(snap.Seq()) < s.seen {
			snap = db.tip.Load()
		}
		seq := uint64(snap.Seq())
		s.reading.Store(seq + 1)
		again := db.durable.Load()
		if uint64(again.Seq()) <= seq && s.statement.Pin(snap) {
			s.seen = max(s.seen, seq)
			return snap
		}
		snap = again
	}
}

// pinLook pins and returns a snapshot with the newest catalog, in the slot of Newest: the one a new statement would
// read, if that has it.
func (s *Session) pinLook() *storage.Snapshot {
	for {
		snap, tip := s.db.durable.Load(), s.db.tip.Load()
		if uint64(snap.Seq()) < s.seen || snap.CatalogVersion() != tip.CatalogVersion() {
			snap = tip
		}
		if s.newest.Pin(snap) {
			s.seen = max(s.seen, uint64(snap.Seq()))
			return snap
		}
	}
}

// pinTip pins and returns tip. Whoever uses what he finds there raises seen.
func (s *Session) pinTip() *storage.Snapshot {
	for {
		if snap := s.db.tip.Load(); s.newest.Pin(snap) {
			return snap
		}
	}
}

// pinNewest pins and returns tip, which the session has seen then.
func (s *Session) pinNewest() *storage.Snapshot {
	snap := s.pinTip()
	s.seen = max(s.seen, uint64(snap.Seq()))
	return snap
}

// unpin ends the session's reading.
func (s *Session) unpin() {
	s.statement.Unpin()
	s.newest.Unpin()
	s.reading.Store(0)
	if s.fixed.Load() {
		s.fixed.Store(false)
		s.own.TransactionEnded() // it may have had no lock
	}
}

// AdvisoryKey names an advisory lock: Kind 1 is one bigint, split into ClassID (high) and ObjID (low), Kind 2 two ints.
type AdvisoryKey struct {
	ClassID, ObjID uint32
	Kind           int
}

func (k AdvisoryKey) lockKey() lock.AdvisoryKey {
	return lock.AdvisoryKey{Hi: k.ClassID, Lo: k.ObjID, TwoInts: k.Kind == 2}
}

// AdvisoryLock takes an advisory lock, for the transaction (xact) or for the session. With try it returns false instead
// of waiting. Errors as for Tx.LockRow.
func (s *Session) AdvisoryLock(key AdvisoryKey, shared, xact, try bool) (bool, error) {
	p := lock.Wait
	if try {
		p = lock.SkipLocked
	}
	return s.own.Advisory(key.lockKey(), shared, xact, p)
}

// AdvisoryUnlock gives one session-level lock back; false when the session does not hold it.
func (s *Session) AdvisoryUnlock(key AdvisoryKey, shared bool) bool {
	return s.own.AdvisoryUnlock(key.lockKey(), shared)
}

// AdvisoryUnlockAll gives all session-level locks back.
func (s *Session) AdvisoryUnlockAll() { s.own.AdvisoryUnlockAll() }
