package exec

import (
	"slices"

	"herd/planner/plan"
	"herd/sql/row"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

// fkParent carries out what a foreign key demands when a row that others may refer to goes away or changes its key.
type fkParent struct {
	w      *tableWriter
	fk     *plan.ForeignKey
	find   *childFinder
	parent []keyCol
	order  []int
	tree   storage.TreeID
	viaRow bool
	defs   []program // SET DEFAULT
	down   *KeyConverter
}

func newFKParent(w *tableWriter, fk *plan.ForeignKey) (*fkParent, error) {
	p := &fkParent{w: w, fk: fk}
	p.parent, p.order, p.tree, p.viaRow = parentKey(fk)
	var err error
	if p.find, err = newChildFinder(fk); err != nil {
		return nil, err
	}
	if !slices.Contains(fk.ToChild, nil) {
		if p.down, err = NewKeyConverter(fk.ToChild); err != nil {
			return nil, err
		}
	}
	c := w.st.compiler()
	for _, d := range fk.Defaults {
		x, err := c.optional(d)
		if err != nil {
			return nil, err
		}
		p.defs = append(p.defs, x)
	}
	return p, nil
}

// parentChanged handles the referencing tables after the row in ob was deleted (nb nil) or updated to nb.
func (w *tableWriter) parentChanged(ob, nb *vec.Batch, set []bool) error {
	for _, p := range w.refs {
		if nb != nil && !p.touched(set) {
			continue
		}
		if err := p.changed(ob, nb); err != nil {
			return err
		}
	}
	return nil
}

func (p *fkParent) touched(set []bool) bool {
	for _, a := range p.fk.Constraint.RefCols {
		if set[a-1] {
			return true
		}
	}
	return false
}

// changed looks for children at once; only when there are some is anything left to do at the end of the statement.
func (p *fkParent) changed(ob, nb *vec.Batch) error {
	con := p.fk.Constraint
	old := make([]types.Datum, len(con.RefCols))
	var now []types.Datum
	same := nb != nil
	for i, a := range con.RefCols {
		v, err := ob.Col(int(a) - 1)
		if err != nil {
			return err
		}
		if old[i] = cloneDatum(v.Datum(0)); old[i].Null {
			return nil
		}
		if nb == nil {
			continue
		}
		n, err := nb.Col(int(a) - 1)
		if err != nil {
			return err
		}
		now = append(now, cloneDatum(n.Datum(0)))
		coll := p.w.rel.Columns[a-1].Collation
		same = same && !now[i].Null && types.Compare(colType(p.w.rel, a), coll, old[i], now[i]) == 0
	}
	if same {
		return nil
	}
	any, err := p.find.any(p.w.st.env, old)
	if err != nil || !any {
		return err
	}
	action := con.OnDelete
	if nb != nil {
		action = con.OnUpdate
	}
	if action == 'r' {
		return p.violation(p.w.st.env, old)
	}
	check := func(e *Env) error { return p.act(e, action, nb == nil, old, now) }
	if action == 'a' || action == 0 {
		p.w.st.atEnd(con, check)
	} else {
		p.w.st.atEnd(nil, check)
	}
	return nil
}

// act runs at the end of the statement.
func (p *fkParent) act(e *Env, action byte, deleted bool, old, now []types.Datum) error {
	if action == 'a' || action == 0 {
		return p.noAction(e, old)
	}
	cw, err := p.w.st.writer(p.fk.ChildTable)
	if err != nil {
		return err
	}
	if action == 'c' && !deleted {
		if now, err = p.childValues(e, now); err != nil {
			return err
		}
	}
	err = p.find.each(e, old, func(key, r []byte) error {
		if err := p.visible(e, key, r); err != nil {
			return err
		}
		if action == 'c' && deleted {
			return cw.cascadeDelete(key)
		}
		cols := p.fk.Constraint.Cols
		if deleted && action != 'c' && len(p.fk.Constraint.OnDeleteCols) > 0 {
			cols = p.fk.Constraint.OnDeleteCols
		}
		vals := make([]types.Datum, len(cols))
		for i := range vals {
			switch {
			case action == 'c':
				vals[i] = now[i]
			case action == 'n':
				vals[i] = types.NullDatum
			default:
				if vals[i], err = p.defaultOf(cols[i]); err != nil {
					return err
				}
			}
		}
		return cw.cascadeUpdate(key, cols, vals)
	})
	if err != nil || action != 'd' {
		return err
	}
	return p.noAction(e, old) // the default may be the very value that is gone
}

// childValues converts a new key to the types of the child's columns.
func (p *fkParent) childValues(e *Env, now []types.Datum) ([]types.Datum, error) {
	if i := slices.Index(p.fk.ToChild, nil); i >= 0 {
		return nil, sqlerr.Unsupported("ON UPDATE CASCADE of foreign key constraint \"%s\" to column \"%s\", whose type the key has no assignment cast to",
			p.fk.Constraint.Name, p.fk.Child.Columns[p.fk.Constraint.Cols[i]-1].Name)
	}
	out, _, err := p.down.Convert(e, now)
	return slices.Clone(out), err
}

// defaultOf evaluates the default of a child column.
func (p *fkParent) defaultOf(attno int16) (types.Datum, error) {
	for i, a := range p.fk.Constraint.Cols {
		if a == attno && i < len(p.defs) && p.defs[i] != nil {
			d, err := evalOne(&frame{st: p.w.st, n: 1}, p.defs[i])
			return cloneDatum(d), err
		}
	}
	return types.NullDatum, nil
}

// visible refuses, above READ COMMITTED, to act on a child row that the transaction's snapshot does not have as it is now.
func (p *fkParent) visible(e *Env, key, r []byte) error {
	if e.Tx.IsolationLevel() == ReadCommitted {
		return nil
	}
	if _, _, own, _ := e.Tx.Newest().GetOwn(p.fk.Child.TreeID, key); own {
		return nil
	}
	seen, ok, err := e.View.Get(p.fk.Child.TreeID, key)
	if err != nil {
		return err
	}
	if !ok || row.Stamp(seen) != row.Stamp(r) {
		return errConcurrent("update")
	}
	return nil
}

// noAction raises 23503 when children are still there and no row has taken over the key.
func (p *fkParent) noAction(e *Env, old []types.Datum) error {
	any, err := p.find.any(e, old)
	if err != nil || !any {
		return err
	}
	var key []byte
	for i := range p.parent {
		key = p.parent[i].append(key, old[p.order[i]])
	}
	_, back, err := e.Tx.NewestGet(p.tree, key)
	if err != nil || back {
		return err
	}
	return p.violation(e, old)
}

func (p *fkParent) violation(e *Env, old []types.Datum) error {
	names, texts := fkText(e, p.w.rel, p.fk.Constraint.RefCols, old)
	st := &State{env: e}
	return sqlerr.New(sqlerr.ForeignKeyViolation, "update or delete on table \"%s\" violates foreign key constraint \"%s\" on table \"%s\"", p.w.rel.Name, p.fk.Constraint.Name, p.fk.Child.Name).
		WithDetail("Key (%s)=(%s) is still referenced from table \"%s\".", names, texts, p.fk.Child.Name).
		WithTable(st.schemaName(p.fk.Child), p.fk.Child.Name).WithConstraint(p.fk.Constraint.Name)
}

// cascadeDelete deletes a child row, if it is still there.
func (w *tableWriter) cascadeDelete(key []byte) error {
	if err := w.claim(w.tree(), key); err != nil {
		return err
	}
	old, ok, err := w.tx().NewestGet(w.tree(), key)
	if err != nil || !ok {
		return err
	}
	return w.delete(key, old)
}

// cascadeUpdate sets columns of a child row, if it is still there.
func (w *tableWriter) cascadeUpdate(key []byte, cols []int16, vals []types.Datum) error {
	if err := w.claim(w.tree(), key); err != nil {
		return err
	}
	old, ok, err := w.tx().NewestGet(w.tree(), key)
	if err != nil || !ok {
		return err
	}
	set, row := make([]bool, len(w.rel.Columns)), make([]types.Datum, len(w.rel.Columns))
	for i, a := range cols {
		set[a-1], row[a-1] = true, vals[i]
	}
	return w.change(key, old, set, row)
}

// change writes a new version of old with the given columns set: generated columns, constraints, indexes, references.
func (w *tableWriter) change(key, old []byte, set []bool, vals []types.Datum) error {
	r, err := w.layout.Update(w.rowBuf[:0], w.tx().ID(), old, set, vals, w.large())
	w.rowBuf = r
	if err != nil {
		return err
	}
	if len(w.gens) > 0 {
		if r, err = w.generate(r); err != nil {
			return err
		}
		w.rowBuf = r
		for _, g := range w.node.Generated {
			set[g.Attno-1] = true
		}
	}
	if err := w.check(r); err != nil {
		return err
	}
	return w.update(key, old, r, set)
}
