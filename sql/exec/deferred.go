package exec

import (
	"herd/engine/lock"
	"herd/sql/catalog"
	"herd/sql/types"
	"herd/storage"
)

// Deferred collects the constraint checks that a transaction postpones to its end (DEFERRABLE INITIALLY DEFERRED, SET
// CONSTRAINTS). The session owns it and calls Run before COMMIT.
type Deferred struct {
	checks []func(*Env) error
	// All and Named say what SET CONSTRAINTS asked for: 0 as declared, 'd' deferred, 'i' immediate.
	All   byte
	Named map[types.OID]byte
}

// deferrable says whether the checks of a constraint wait for COMMIT now.
func (d *Deferred) deferrable(c *catalog.Constraint) bool {
	if d == nil || c == nil || !c.Deferrable {
		return false
	}
	mode := d.Named[c.OID]
	if mode == 0 {
		mode = d.All
	}
	if mode == 0 {
		return c.InitiallyDeferred
	}
	return mode == 'd'
}

// Run makes all postponed checks with a fresh environment; called inside COMMIT and by SET CONSTRAINTS IMMEDIATE.
func (d *Deferred) Run(e *Env) error {
	for i := 0; i < len(d.checks); i++ {
		if err := d.checks[i](e); err != nil {
			return err
		}
	}
	d.checks = d.checks[:0]
	return nil
}

// Pending says whether Run has anything to do; Reset forgets it (ROLLBACK).
func (d *Deferred) Pending() bool { return len(d.checks) > 0 }

// Reset forgets postponed checks and SET CONSTRAINTS at the end of a transaction.
func (d *Deferred) Reset() { *d = Deferred{checks: d.checks[:0]} }

// Len and Truncate let a savepoint forget the checks that were added after it.
func (d *Deferred) Len() int { return len(d.checks) }

// Truncate drops the checks after the first n.
func (d *Deferred) Truncate(n int) { d.checks = d.checks[:min(n, len(d.checks))] }

// atEnd runs a check at the end of the statement, or of the transaction when its constraint is deferred. The check gets the
// environment that is current then.
func (s *State) atEnd(c *catalog.Constraint, check func(*Env) error) {
	if d := s.env.Deferred; d.deferrable(c) {
		d.checks = append(d.checks, check)
		return
	}
	s.checks = append(s.checks, func() error { return check(s.env) })
}

// deferUnique checks a deferrable unique index at the end: two entries with the columns prefix violate it.
func (s *State) deferUnique(w *tableWriter, ix *indexWriter, prefix []byte) {
	con := &catalog.Constraint{OID: ix.def.Constraint, Deferrable: true, InitiallyDeferred: ix.def.InitiallyDeferred}
	lo := append([]byte(nil), prefix...)
	vals := make([]types.Datum, len(ix.vals))
	for i, v := range ix.vals {
		if v.Null && !ix.def.NullsNotDistinct {
			return
		}
		vals[i] = cloneDatum(v)
	}
	s.atEnd(con, func(e *Env) error {
		if _, _, err := e.Tx.LockRow(ix.def.Tree, lo, lock.Update, lock.Wait); err != nil {
			return err
		}
		var c storage.Cursor
		c.Init(e.Tx.Newest(), ix.def.Tree, lo, successor(lo), false)
		defer c.Close()
		n := 0
		for n < 2 && c.Next() {
			n++
		}
		if err := c.Err(); err != nil || n < 2 {
			return err
		}
		st := w.st.env
		w.st.env = e
		defer func() { w.st.env = st }()
		copy(ix.vals, vals)
		return w.errUnique(ix)
	})
}
