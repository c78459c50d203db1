package exec

import (
	"herd/engine/lock"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/row"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// lockRowsOp is plan.LockRows: SELECT ... FOR UPDATE and its kin.
type lockRowsOp struct {
	st      *State
	node    *plan.LockRows
	in      Operator
	recheck *recheck
	outB    *outRows
}

func (s *State) buildLockRows(n *plan.LockRows) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	return &lockRowsOp{st: s, node: n, in: in, recheck: s.recheck(n.Recheck), outB: newOutRows(kindsOf(n.Input))}, nil
}

func (o *lockRowsOp) Open(env *Env) error { return o.in.Open(env) }
func (o *lockRowsOp) Rescan() error       { return o.in.Rescan() }
func (o *lockRowsOp) Close() error {
	o.recheck.close()
	return o.in.Close()
}

// Next locks the rows of at most want input rows.
func (o *lockRowsOp) Next(want int) (*vec.Batch, error) {
	for {
		b, err := o.in.Next(want)
		if err != nil || b == nil {
			return nil, err
		}
		if err := o.st.interrupt(); err != nil {
			return nil, err
		}
		if _, err := allCols(b); err != nil {
			return nil, err
		}
		o.outB.start(b.Rows())
		each(b.N, b.Sel, func(i int) {
			if err == nil {
				err = o.lock(b, i)
			}
		})
		if err != nil {
			return nil, err
		}
		if out := o.outB.batch(); out != nil {
			return out, nil
		}
	}
}

// lock locks all targets of one row and adds it, re-evaluated if one has changed, to the output.
func (o *lockRowsOp) lock(b *vec.Batch, i int) error {
	tx := o.st.env.Tx
	var rows map[int]recheckRow
	changed := false
	if o.recheck != nil {
		rows = o.recheck.state.rows
		clear(rows)
	}
	for k := range o.node.Locks {
		t := &o.node.Locks[k]
		id := b.Cols[t.RowIDCol]
		if id.IsNull(i) {
			continue
		}
		stamp, key := splitRowID(id.Bytes(i))
		granted, _, err := tx.LockRow(t.Rel.TreeID, key, lock.Mode(t.Strength), lock.Policy(t.Policy))
		if err != nil {
			return nameLocked(err, t, key)
		}
		if !granted {
			return nil // SKIP LOCKED
		}
		val, ok, err := tx.NewestGet(t.Rel.TreeID, key)
		if err != nil {
			return err
		}
		if ok && row.Stamp(val) != stamp && lock.Mode(t.Strength) == lock.KeyShare {
			// The lock keeps the key, which is still the snapshot's: the other columns do not matter, as in PostgreSQL.
			same, old, err := o.keyKept(t.Rel, key, val)
			if err != nil {
				return err
			}
			if same {
				val, stamp = old, row.Stamp(old)
			}
		}
		if !ok || row.Stamp(val) != stamp {
			if tx.IsolationLevel() != ReadCommitted {
				return errConcurrent("update") // PostgreSQL's word here, though the row may have been deleted
			}
			if !ok {
				now, moved := tx.MovedTo(t.Rel.TreeID, key)
				if !moved {
					return nil // deleted
				}
				key = append([]byte(nil), now...)
				granted, _, err := tx.LockRow(t.Rel.TreeID, key, lock.Mode(t.Strength), lock.Policy(t.Policy))
				if err != nil || !granted {
					return nameLocked(err, t, key)
				}
				if val, ok, err = tx.NewestGet(t.Rel.TreeID, key); err != nil || !ok {
					return err
				}
			}
			changed = true
		}
		if rows != nil {
			rows[t.RTE] = recheckRow{key: append([]byte(nil), key...), val: val}
		}
	}
	if !changed || o.recheck == nil {
		o.add(b, i)
		return nil
	}
	nb, err := o.recheck.run(b, i)
	if err != nil || nb == nil {
		return err
	}
	o.add(nb, firstRow(nb))
	return nil
}

// keyKept tells whether the row that the statement's view has under key has the same primary and unique keys as now, the
// newest version, and returns the view's version.
func (o *lockRowsOp) keyKept(rel *catalog.Relation, key, now []byte) (same bool, old []byte, err error) {
	view := o.st.env.View
	old, ok, err := view.Get(rel.TreeID, key)
	if err != nil || !ok {
		return false, nil, err
	}
	layout, large := rel.Layout(), o.st.large(rel)
	for _, ix := range rel.Indexes {
		if !ix.Unique || ix.Pred != "" || ix.State == catalog.IndexInvalid {
			continue // nothing can refer to it
		}
		for _, k := range ix.Keys {
			if k.Attno <= 0 {
				break
			}
			a, err := layout.Decode(old, int(k.Attno)-1, large)
			if err != nil {
				return false, nil, err
			}
			b, err := layout.Decode(now, int(k.Attno)-1, large)
			if err != nil {
				return false, nil, err
			}
			if !equalDatum(types.KindOf(colType(rel, k.Attno)), a, b) {
				return false, nil, nil
			}
		}
	}
	return true, old, nil // the primary key is the row's key
}

// nameLocked gives the error of NOWAIT the name of the relation, which the lock manager does not know.
func nameLocked(err error, t *plan.LockTarget, key []byte) error {
	if lock.Policy(t.Policy) == lock.NoWait && sqlerr.CodeOf(err) == sqlerr.LockNotAvailable {
		return sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on row in relation \"%s\"", t.Rel.Name)
	}
	return whileWaiting(err, "locking", key, t.Rel.Name)
}

func (o *lockRowsOp) add(b *vec.Batch, i int) {
	r := o.outB.grow()
	for c := range o.outB.cols {
		o.outB.cols[c].Copy(r, b.Cols[c], i)
	}
}
