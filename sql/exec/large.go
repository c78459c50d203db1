package exec

import (
	"encoding/binary"

	"herd/sql/catalog"
	"herd/sql/row"
	"herd/sql/sqlerr"
	"herd/storage"
)

// largeChunk is the size of the pieces in which large values are stored.
const largeChunk = 32 << 10

const _ = uint(storage.MaxValue - row.MaxRow) // storage takes every row that fits

func largeKey(id uint64, chunk uint32) []byte {
	k := binary.BigEndian.AppendUint64(make([]byte, 0, 12), id)
	return binary.BigEndian.AppendUint32(k, chunk)
}

// NewLargeReader returns a reader of rel's large values in a view; nil when rel cannot have any.
func NewLargeReader(view storage.View, rel *catalog.Relation) row.LargeReader {
	if rel.LargeTree == 0 {
		return nil
	}
	return &largeReader{view: view, tree: rel.LargeTree}
}

// largeReader reads chunk rows.
type largeReader struct {
	view storage.View
	tree storage.TreeID
}

// ReadLarge implements row.LargeReader.
func (r *largeReader) ReadLarge(id, size uint64) ([]byte, error) {
	out := make([]byte, 0, size)
	var c storage.Cursor
	c.Init(r.view, r.tree, largeKey(id, 0), largeKey(id+1, 0), false)
	defer c.Close()
	for c.Next() {
		out = append(out, c.Value()...)
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	if uint64(len(out)) != size {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "large value %d has %d bytes, not %d", id, len(out), size)
	}
	return out, nil
}

// largeWriter stores chunk rows through the transaction.
type largeWriter struct {
	tx  Tx
	rel *catalog.Relation
}

// WriteLarge implements row.LargeWriter.
func (w *largeWriter) WriteLarge(val []byte) (uint64, error) {
	if w.rel.LargeTree == 0 {
		return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "value of %d bytes is too large for relation \"%s\"", len(val), w.rel.Name)
	}
	id := w.tx.NextRowID(w.rel.LargeTree)
	for n := uint32(0); len(val) > 0; n++ {
		part := val[:min(largeChunk, len(val))]
		val = val[len(part):]
		if err := w.tx.Put(w.rel.LargeTree, largeKey(id, n), part); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// dropLarge deletes the chunks of old's large values, except those that a new version of the row still refers to.
func dropLarge(tx Tx, rel *catalog.Relation, old, now []byte) error {
	if !row.HasLarge(old) || rel.LargeTree == 0 {
		return nil
	}
	l := rel.Layout()
	for c := range rel.Columns {
		ref, ok := l.Large(old, c)
		if !ok {
			continue
		}
		if now != nil {
			if r, ok := l.Large(now, c); ok && r == ref {
				continue
			}
		}
		for n := uint32(0); uint64(n)*largeChunk < ref.Size; n++ {
			if err := tx.Delete(rel.LargeTree, largeKey(ref.ID, n)); err != nil {
				return err
			}
		}
	}
	return nil
}
