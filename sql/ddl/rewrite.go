package ddl

import (
	"bytes"
	"encoding/binary"

	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/row"
	"herd/sql/types"
	"herd/storage"
)

// rewriteRows copies the rows that old has in a view, taken before its trees were dropped, to the new and empty trees of now.
// change turns an old row's values into those of now's columns; nil is no change. It must not keep vals.
func (x *executor) rewriteRows(view storage.View, old, now *catalog.Relation, change func(vals []types.Datum) ([]types.Datum, error)) error {
	w, err := x.rowWriter(now)
	if err != nil {
		return err
	}
	defer w.close()
	d := newRowDecoder(view, old)
	same := change == nil && sameLayout(old, now)
	err = x.scanRaw(view, old, func(_, r []byte) error {
		if same && row.Columns(r) == len(now.Columns) && !row.HasLarge(r) {
			return w.copy(d, r)
		}
		if err := d.all(r); err != nil {
			return err
		}
		vals := d.vals
		for len(vals) < len(now.Columns) {
			v := types.NullDatum
			if m := now.Columns[len(vals)].Missing; m != nil { // a column added with a default by the same statement
				v = *m
			}
			vals = append(vals, v)
		}
		if change != nil {
			var err error
			if vals, err = change(vals); err != nil {
				return err
			}
		}
		return w.write(vals)
	})
	if err != nil {
		return err
	}
	return w.finish()
}

// sameLayout tells whether rows of old, with all columns and no large values, are rows of now. Those of dropped columns are to be
// written without them.
func sameLayout(old, now *catalog.Relation) bool {
	if len(old.Columns) != len(now.Columns) {
		return false
	}
	for i := range old.Columns {
		a, b := &old.Columns[i], &now.Columns[i]
		if a.Dropped || b.Dropped || old.Layout().Type(i) != now.Layout().Type(i) || a.Type != b.Type || a.Typmod != b.Typmod {
			return false
		}
	}
	return true
}

// rowWriter writes complete rows to a table nobody else can see.
type rowWriter struct {
	x      *executor
	rel    *catalog.Relation
	needs  []int16 // attributes that keys are made of
	all    bool    // an index needs any
	builds []*indexBuild
	row    []byte
	key    []byte
	enc    *exec.EntryEncoder // of the primary key
	top    []byte             // the highest key so far
	pk     []types.Datum
}

// rowWriter returns the writer of the rows of a table and of the entries of its indexes. It is to be closed.
func (x *executor) rowWriter(rel *catalog.Relation) (*rowWriter, error) {
	w := &rowWriter{x: x, rel: rel}
	for _, ix := range rel.Indexes {
		if ix.State == catalog.IndexInvalid {
			continue
		}
		b, err := x.indexBuild(rel, ix)
		if err != nil {
			return nil, err
		}
		w.builds = append(w.builds, b)
		w.needs = append(w.needs, b.needs...)
		w.all = w.all || b.exprs != nil
	}
	if pk := rel.PrimaryKey; pk != nil {
		w.enc = exec.NewEntryEncoder(rel, pk)
		for _, k := range pk.Keys {
			w.needs = append(w.needs, k.Attno)
		}
	}
	return w, nil
}

// finish writes the indexes' entries behind the last row.
func (w *rowWriter) finish() error {
	for _, b := range w.builds {
		if err := b.finish(); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWriter) close() {
	for _, b := range w.builds {
		b.close()
	}
}

// write writes a row made of values.
func (w *rowWriter) write(vals []types.Datum) error {
	tx := w.x.Tx
	var err error
	if w.row, err = w.rel.Layout().Encode(w.row[:0], tx.ID(), vals, exec.NewLargeWriter(tx, w.rel)); err != nil {
		return err
	}
	return w.put(vals)
}

// copy writes a row that stays as it is stored. d is for its values.
func (w *rowWriter) copy(d *rowDecoder, r []byte) error {
	w.row = append(w.row[:0], r...)
	row.SetStamp(w.row, w.x.Tx.ID())
	var err error
	if w.all {
		err = d.all(r)
	} else {
		err = d.some(r, w.needs)
	}
	if err != nil {
		return err
	}
	return w.put(d.vals)
}

// put writes w.row, which has these values, under its key, and gathers its index entries.
func (w *rowWriter) put(vals []types.Datum) error {
	tx := w.x.Tx
	if pk := w.rel.PrimaryKey; pk != nil {
		w.pk = w.pk[:0]
		for _, k := range pk.Keys {
			w.pk = append(w.pk, vals[k.Attno-1])
		}
		w.key, _ = w.enc.Append(w.key[:0], w.pk, nil)
		if err := w.unique(pk); err != nil {
			return err
		}
	} else {
		w.key = binary.BigEndian.AppendUint64(w.key[:0], tx.NextRowID(w.rel.TreeID))
	}
	for _, b := range w.builds {
		if err := b.gather(w.key, vals); err != nil {
			return err
		}
	}
	return tx.Put(w.rel.TreeID, w.key, w.row)
}

// unique fails when the row at hand has another one's primary key. Rows often come in the order of their keys: what is behind all
// others needs no look.
func (w *rowWriter) unique(pk *catalog.Index) error {
	if w.top == nil || bytes.Compare(w.key, w.top) > 0 {
		w.top = append(w.top[:0], w.key...)
		return nil
	}
	_, dup, err := w.x.Tx.Newest().Get(w.rel.TreeID, w.key)
	if err == nil && dup {
		err = w.x.duplicated(w.rel, pk, w.pk)
	}
	return err
}
