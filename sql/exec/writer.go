package exec

import (
	"bytes"
	"encoding/binary"

	"herd/engine/lock"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/row"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

// tableWriter writes rows of one table: constraints, row, indexes, foreign keys. It serves the ModifyTable of the statement,
// referential actions and COPY alike.
type tableWriter struct {
	st      *State
	node    *plan.ModifyTable
	rel     *catalog.Relation
	layout  *row.Layout
	pk      []keyCol // nil: hidden row ids
	indexes []*indexWriter
	checks  []program
	gens    []program
	notNull []int16
	keyAtt  []bool // attributes of the primary key and unique indexes, by attno-1
	fks     []*fkChild
	refs    []*fkParent

	allAtt []int16
	newB   *rowBatch // the new version of a row
	oldB   *rowBatch // the old one
	tmpB   *rowBatch // a row whose generated columns are to be computed
	rowBuf []byte
	genBuf []byte
	keyBuf []byte
	set    []bool
	vals   []types.Datum
	one    [1][]byte
	frame  frame       // of check
	larges largeWriter // what large returns
}

// writer returns the table writer of a ModifyTable node, one per node.
func (s *State) writer(n *plan.ModifyTable) (*tableWriter, error) {
	if w := s.writers[n]; w != nil {
		return w, nil
	}
	if s.writers == nil {
		s.writers = map[*plan.ModifyTable]*tableWriter{}
	}
	rel := n.Rel
	w := &tableWriter{st: s, node: n, rel: rel, layout: rel.Layout(), notNull: n.NotNull}
	s.writers[n] = w
	natts := len(rel.Columns)
	w.set, w.vals, w.keyAtt = make([]bool, natts), make([]types.Datum, natts), make([]bool, natts)
	for i := range natts {
		w.allAtt = append(w.allAtt, int16(i+1))
	}
	batch := func() *rowBatch { return newRowBatch(s, rel, w.allAtt, false).fromNewest() }
	w.newB, w.oldB, w.tmpB = batch(), batch(), batch()
	if rel.PrimaryKey != nil && !rel.HiddenRowID {
		w.pk = indexCols(rel, rel.PrimaryKey)
		for _, c := range w.pk {
			w.keyAtt[c.attno-1] = true
		}
	}
	c := s.compiler()
	for _, ix := range rel.Indexes {
		if ix.State == catalog.IndexInvalid {
			continue
		}
		var x *plan.IndexExprs
		for i := range n.Indexes {
			if n.Indexes[i].Index.OID == ix.OID {
				x = &n.Indexes[i]
			}
		}
		iw, err := c.indexWriter(rel, ix, x)
		if err != nil {
			return nil, err
		}
		w.indexes = append(w.indexes, iw)
		if ix.Unique {
			for _, k := range ix.Keys {
				if k.Attno > 0 {
					w.keyAtt[k.Attno-1] = true
				}
			}
		}
	}
	return w, w.compile(c)
}

func (w *tableWriter) compile(c *compiler) error {
	for _, ch := range w.node.Checks {
		p, err := c.compile(ch.Expr)
		if err != nil {
			return err
		}
		w.checks = append(w.checks, p)
	}
	for _, g := range w.node.Generated {
		p, err := c.compile(g.Expr)
		if err != nil {
			return err
		}
		w.gens = append(w.gens, p)
	}
	for i := range w.node.ForeignKeys {
		f, err := newFKChild(w, &w.node.ForeignKeys[i])
		if err != nil {
			return err
		}
		w.fks = append(w.fks, f)
	}
	for i := range w.node.ReferencedBy {
		r, err := newFKParent(w, &w.node.ReferencedBy[i])
		if err != nil {
			return err
		}
		w.refs = append(w.refs, r)
	}
	return nil
}

func (w *tableWriter) tx() Tx                  { return w.st.env.Tx }
func (w *tableWriter) tree() storage.TreeID    { return w.rel.TreeID }
func (w *tableWriter) reader() row.LargeReader { return NewLargeReader(w.tx().Newest(), w.rel) }
func (w *tableWriter) large() row.LargeWriter {
	w.larges = largeWriter{tx: w.tx(), rel: w.rel}
	return &w.larges
}
func (w *tableWriter) single(b *rowBatch, r []byte) *vec.Batch {
	if b.rows == nil {
		b.rows = make([][]byte, 1)
	}
	b.rows[0] = r
	return b.set(1)
}

// rowKey computes the primary key of row i of b.
func (w *tableWriter) rowKey(dst []byte, b *vec.Batch, i int) ([]byte, error) {
	for k := range w.pk {
		v, err := b.Col(int(w.pk[k].attno) - 1)
		if err != nil {
			return dst, err
		}
		dst = w.pk[k].append(dst, v.Datum(i))
	}
	return dst, nil
}

// newRow appends the encoding of vals with generated columns computed and constraints checked.
func (w *tableWriter) newRow(dst []byte, vals []types.Datum) ([]byte, error) {
	dst, err := w.layout.Encode(dst, w.tx().ID(), vals, w.large())
	if err != nil {
		return dst, err
	}
	if len(w.gens) > 0 {
		if dst, err = w.generate(dst); err != nil {
			return dst, err
		}
	}
	return dst, w.check(dst)
}

// generate recomputes the generated columns of an encoded row.
func (w *tableWriter) generate(r []byte) ([]byte, error) {
	b := w.single(w.tmpB, r)
	f := frame{st: w.st, b: b, n: 1}
	clear(w.set)
	for k, p := range w.gens {
		v, err := p.eval(&f, nil)
		if err != nil {
			return r, err
		}
		a := w.node.Generated[k].Attno - 1
		w.set[a], w.vals[a] = true, v.Datum(0)
	}
	out, err := w.layout.Update(w.genBuf[:0], w.tx().ID(), r, w.set, w.vals, w.large())
	w.genBuf = r[:0]
	return out, err
}

// check verifies NOT NULL and CHECK constraints of an encoded row.
func (w *tableWriter) check(r []byte) error {
	b := w.single(w.newB, r)
	for _, a := range w.notNull {
		if w.layout.IsNull(r, int(a)-1) {
			return w.errNotNull(a, b)
		}
	}
	w.frame = frame{st: w.st, b: b, n: 1}
	for k, p := range w.checks {
		v, err := p.eval(&w.frame, nil)
		if err != nil {
			return err
		}
		if !v.IsNull(0) && !v.Bool[v.At(0)] {
			return w.errCheck(w.node.Checks[k].Name, b)
		}
	}
	return nil
}

// insert writes a checked row. The unique keys were not looked at yet.
func (w *tableWriter) insert(r []byte) error {
	b := w.single(w.newB, r)
	tx := w.tx()
	var key []byte
	var err error
	if w.pk != nil {
		if key, err = w.rowKey(w.keyBuf[:0], b, 0); err != nil {
			return err
		}
		w.keyBuf = key
		if err := w.claim(w.tree(), key); err != nil {
			return whileWaiting(err, "inserting index", key, w.rel.PrimaryKey.Name)
		}
		_, dup, err := tx.NewestGet(w.tree(), key)
		if err != nil {
			return err
		}
		if dup {
			return w.errUniquePK(b, key)
		}
	} else {
		key = binary.BigEndian.AppendUint64(w.keyBuf[:0], tx.NextRowID(w.tree()))
		w.keyBuf = key
	}
	for _, ix := range w.indexes {
		if err := w.addEntry(ix, b, key); err != nil {
			return err
		}
	}
	if err := tx.Put(w.tree(), key, r); err != nil {
		return err
	}
	return w.checkParents(b, nil, key, false)
}

// claim takes the lock of a key that is about to be added or removed.
func (w *tableWriter) claim(t storage.TreeID, key []byte) error {
	_, _, err := w.tx().LockRow(t, key, lock.Update, lock.Wait)
	return err
}

// addEntry adds the index entry of the row in b, checking uniqueness.
func (w *tableWriter) addEntry(ix *indexWriter, b *vec.Batch, rowKey []byte) error {
	k, enforced, ok, err := ix.entry(ix.key[:0], w.st, b, 0, rowKey)
	ix.key = k
	if err != nil || !ok {
		return err
	}
	if enforced {
		if err := w.claim(ix.def.Tree, k); err != nil {
			return whileWaiting(err, "inserting index", rowKey, ix.def.Name)
		}
		other, dup, err := w.tx().NewestGet(ix.def.Tree, k)
		if err != nil {
			return err
		}
		if dup && !bytes.Equal(other, rowKey) {
			return w.errUniqueEntry(ix, k)
		}
	} else if ix.def.Unique && ix.def.Deferrable {
		w.st.deferUnique(w, ix, k[:len(k)-len(rowKey)])
	}
	return w.tx().Put(ix.def.Tree, k, rowKey)
}

// update replaces row old under key by r, whose generated columns and constraints are done. set has the attributes that may
// differ.
func (w *tableWriter) update(key, old, r []byte, set []bool) error {
	nb, ob := w.single(w.newB, r), w.single(w.oldB, old)
	tx := w.tx()
	newKey, moved := key, false
	if w.pk != nil && w.touchesPK(set) {
		k, err := w.rowKey(w.keyBuf[:0], nb, 0)
		if err != nil {
			return err
		}
		w.keyBuf = k
		if moved = !bytes.Equal(k, key); moved {
			newKey = k
			if err := w.claim(w.tree(), newKey); err != nil {
				return err
			}
			_, dup, err := tx.NewestGet(w.tree(), newKey)
			if err != nil {
				return err
			}
			if dup {
				return w.errUniquePK(nb, newKey)
			}
		}
	}
	for _, ix := range w.indexes {
		if !moved && !ix.touches(set) {
			continue
		}
		if err := w.moveEntry(ix, ob, nb, key, newKey); err != nil {
			return err
		}
	}
	if moved {
		if err := tx.Delete(w.tree(), key); err != nil {
			return err
		}
		tx.NoteMove(w.tree(), key, newKey)
	}
	if err := tx.Put(w.tree(), newKey, r); err != nil {
		return err
	}
	if err := dropLarge(tx, w.rel, old, r); err != nil {
		return err
	}
	if err := w.checkParents(nb, ob, newKey, moved); err != nil {
		return err
	}
	return w.parentChanged(ob, nb, set)
}

func (w *tableWriter) touchesPK(set []bool) bool {
	for _, c := range w.pk {
		if set[c.attno-1] {
			return true
		}
	}
	return false
}

// moveEntry replaces the index entry of the old row by that of the new one, unless it is the same.
func (w *tableWriter) moveEntry(ix *indexWriter, ob, nb *vec.Batch, oldKey, newKey []byte) error {
	k, wasEnforced, had, err := ix.entry(ix.old[:0], w.st, ob, 0, oldKey)
	ix.old = k
	if err != nil {
		return err
	}
	n, _, has, err := ix.entry(ix.key[:0], w.st, nb, 0, newKey)
	ix.key = n
	if err != nil {
		return err
	}
	if had && has && bytes.Equal(k, n) {
		if bytes.Equal(oldKey, newKey) {
			return nil
		}
		if ix.def.State == catalog.IndexValid {
			return w.tx().Put(ix.def.Tree, n, newKey)
		}
	}
	if had {
		if err := w.removeEntry(ix, k, wasEnforced, oldKey); err != nil {
			return err
		}
	}
	if has {
		return w.addEntry(ix, nb, newKey)
	}
	return nil
}

// removeEntry removes the entry of a row. In an index that is being built a row may have no entry yet, and another row
// with the same values one under the same key: that one stays, for the build to find.
func (w *tableWriter) removeEntry(ix *indexWriter, key []byte, enforced bool, rowKey []byte) error {
	if enforced {
		if err := w.claim(ix.def.Tree, key); err != nil {
			return err
		}
		if ix.def.State != catalog.IndexValid {
			owner, found, err := w.tx().NewestGet(ix.def.Tree, key)
			if err != nil || found && !bytes.Equal(owner, rowKey) {
				return err
			}
		}
	}
	return w.tx().Delete(ix.def.Tree, key)
}

// delete removes a row, which is locked.
func (w *tableWriter) delete(key, old []byte) error {
	ob := w.single(w.oldB, old)
	tx := w.tx()
	for _, ix := range w.indexes {
		k, enforced, ok, err := ix.entry(ix.old[:0], w.st, ob, 0, key)
		ix.old = k
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := w.removeEntry(ix, k, enforced, key); err != nil {
			return err
		}
	}
	if err := tx.Delete(w.tree(), key); err != nil {
		return err
	}
	if err := dropLarge(tx, w.rel, old, nil); err != nil {
		return err
	}
	return w.parentChanged(ob, nil, nil)
}
