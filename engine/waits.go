package engine

import (
	"slices"

	"herd/engine/lock"
	"herd/storage"
	"herd/txlog"
)

// WaitProgress is told about a wait for transactions: how many in all, how many have ended, and whose is waited for.
type WaitProgress func(total, done int, pid int32)

// WaitHolders waits for the transactions of others that hold table rel now in a mode that conflicts with m. It asks for
// no lock, so nobody queues behind it. Errors as for Tx.LockRow.
func (s *Session) WaitHolders(rel uint32, m lock.Mode, progress WaitProgress) error {
	list := s.own.Holders(rel, m)
	return s.awaitAll(list, progress)
}

func (s *Session) awaitAll(list []lock.Transaction, progress WaitProgress) error {
	for i, t := range list {
		if progress != nil {
			progress(len(list), i, t.PID())
		}
		if err := s.own.Await(t); err != nil {
			return err
		}
	}
	if progress != nil {
		progress(len(list), len(list), 0)
	}
	return nil
}

// WaitSnapshots waits until entry seq is durable and no transaction keeps a snapshot without it: every statement that
// begins after the call reads a state that contains seq. Statements at READ COMMITTED are not waited for, their next
// one reads a newer state.
func (s *Session) WaitSnapshots(seq storage.Seq, progress WaitProgress) error {
	db := s.db
	if err := db.awaitDurable(txlog.Seq(seq)); err != nil {
		return logError(err)
	}
	for {
		list := db.olderSnapshots(seq, s)
		if len(list) == 0 {
			return nil
		}
		if err := s.awaitAll(list, progress); err != nil {
			return err
		}
	}
}

// awaitDurable waits until entry seq, which a state that was read contains, is durable. A state is to be seen before the log
// has its entries (I2): then the batch that is being ordered is let finish first.
func (db *Database) awaitDurable(seq txlog.Seq) error {
	if seq > db.log.Last() {
		if err := db.exclusive(func() error { return nil }); err != nil {
			return err
		}
	}
	return db.log.Wait(seq, nil)
}

// olderSnapshots lists the transactions whose snapshot lasts and does not contain seq.
func (db *Database) olderSnapshots(seq storage.Seq, but *Session) []lock.Transaction {
	db.sessMu.Lock()
	defer db.sessMu.Unlock()
	var list []lock.Transaction
	for o := range db.sessions {
		t := o.own.Transaction() // first: a transaction that ends meanwhile is then known to have ended
		if n := o.reading.Load(); o != but && o.fixed.Load() && n != 0 && n-1 < uint64(seq) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b lock.Transaction) int { return int(a.PID()) - int(b.PID()) })
	return list
}

// LastWrite returns the number of the newest entry that the session has read or written.
func (s *Session) LastWrite() storage.Seq { return storage.Seq(s.seen) }

// KeepTable makes a table lock of the current transaction outlive it, until DropKept or the session's end: a definition
// in several transactions keeps others away from its table.
func (s *Session) KeepTable(rel uint32, m lock.Mode) { s.own.KeepTable(rel, m) }

// DropKept releases the kept table locks.
func (s *Session) DropKept() { s.own.DropKept() }

// Behind tells whether the transaction reads a snapshot with an older catalog than the newest, to which names refer.
func (t *Tx) Behind() bool {
	return t.iso != ReadCommitted && t.snap != nil && t.snap.CatalogVersion() != t.s.db.CatalogVersion()
}
