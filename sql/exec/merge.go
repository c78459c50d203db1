package exec

import (
	"herd/engine/lock"
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// mergeProg is one WHEN of a MERGE.
type mergeProg struct {
	*plan.MergeAction
	cond *filterProg
	set  []program
}

func (c *compiler) merges(list []plan.MergeAction) ([]mergeProg, error) {
	out := make([]mergeProg, len(list))
	for i := range list {
		m := &out[i]
		m.MergeAction = &list[i]
		var err error
		if m.cond, err = c.filter(m.Cond); err != nil {
			return nil, err
		}
		if m.set, err = c.compileAll(m.Set); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// merge does with input row i what the first WHEN that applies says. As in PostgreSQL the conditions look at the row that the
// snapshot has; it is locked only when it is going to be changed. A row that changed meanwhile is joined again with its newest
// version and the conditions are looked at anew; one that is gone or does not match any more is a source row without a match.
func (o *modifyOp) merge(b *vec.Batch, i int) error {
	id := b.Cols[o.node.RowIDCol]
	for !id.IsNull(i) {
		a, err := o.mergeWhen(b, i, true)
		if err != nil || a == nil || a.Command == plan.CmdSelect {
			return err
		}
		o.deleting = a.Command == plan.CmdDelete
		values, err := a.values(o.st, b, i)
		if err != nil {
			return err
		}
		mode, err := o.mergeMode(a, values, id.Bytes(i))
		if err != nil {
			return err
		}
		key, old, moved, found, err := o.target(id.Bytes(i), mode)
		if err != nil {
			return err
		}
		if !found {
			if o.changedByUs(key) {
				return sqlerr.New(sqlerr.CardinalityViolation, "MERGE command cannot affect row a second time").
					WithHint("Ensure that not more than one source row matches any one target row.")
			}
			break
		}
		if !moved {
			return o.mergeMatched(a, key, old, values)
		}
		again, err := o.again(b, i, key, old)
		if err != nil {
			return err
		}
		if again == nil { // not in the join any more, as an inner one has no other rows
			break
		}
		b, i = again, firstRow(again)
		id = b.Cols[o.node.RowIDCol]
	}
	return o.mergeNotMatched(b, i)
}

// mergeWhen finds the first WHEN [NOT] MATCHED whose condition holds.
func (o *modifyOp) mergeWhen(b *vec.Batch, i int, matched bool) (*mergeProg, error) {
	sel := [1]uint16{uint16(i)}
	for k := range o.merges {
		m := &o.merges[k]
		if m.Matched != matched {
			continue
		}
		if m.cond == nil {
			return m, nil
		}
		left, err := m.cond.run(&frame{st: o.st, b: b, n: b.N}, sel[:])
		if err != nil {
			return nil, err
		}
		if left == nil || len(left) > 0 {
			return m, nil
		}
	}
	return nil, nil
}

// values computes what the action assigns.
func (m *mergeProg) values(st *State, b *vec.Batch, i int) ([]types.Datum, error) {
	sel := [1]uint16{uint16(i)}
	f := frame{st: st, b: b, n: b.N}
	out := make([]types.Datum, len(m.set))
	for k, p := range m.set {
		v, err := p.eval(&f, sel[:])
		if err != nil {
			return nil, err
		}
		out[k] = v.Datum(i)
	}
	return out, nil
}

// mergeMode is the lock that the action needs on the row.
func (o *modifyOp) mergeMode(a *mergeProg, values []types.Datum, rowID []byte) (lock.Mode, error) {
	if a.Command == plan.CmdDelete {
		return lock.Update, nil
	}
	return o.modeFor(a.SetAttnos, func(c int) types.Datum { return values[c] }, rowID)
}

// changedByUs says whether the command at hand has changed the row already.
func (o *modifyOp) changedByUs(key []byte) bool {
	_, cmd, own, _ := o.w.tx().Newest().GetOwn(o.w.tree(), key)
	return own && o.st.own(cmd)
}

// mergeMatched updates or deletes the row, which is locked.
func (o *modifyOp) mergeMatched(a *mergeProg, key, old []byte, values []types.Datum) error {
	if a.Command == plan.CmdDelete {
		if err := o.w.delete(key, old); err != nil {
			return err
		}
		return o.changed(old, nil, 0)
	}
	clear(o.set)
	for c, at := range a.SetAttnos {
		o.set[at-1], o.vals[at-1] = true, values[c]
	}
	if err := o.w.change(key, old, o.set, o.vals); err != nil {
		return err
	}
	return o.changed(o.w.rowBuf, nil, 0)
}

// mergeNotMatched inserts a row when a WHEN NOT MATCHED says so.
func (o *modifyOp) mergeNotMatched(b *vec.Batch, i int) error {
	a, err := o.mergeWhen(b, i, false)
	if err != nil || a == nil || a.Command != plan.CmdInsert {
		return err
	}
	values, err := a.values(o.st, b, i)
	if err != nil {
		return err
	}
	for k := range o.vals {
		o.vals[k] = types.NullDatum
	}
	for c, at := range a.SetAttnos {
		o.vals[at-1] = values[c]
	}
	w := o.w
	if w.rowBuf, err = w.newRow(w.rowBuf[:0], o.vals); err != nil {
		return err
	}
	if err := w.insert(w.rowBuf); err != nil {
		return err
	}
	return o.changed(w.rowBuf, nil, 0)
}
