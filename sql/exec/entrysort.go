package exec

import (
	"herd/sql/catalog"
	"herd/sql/types"
)

// EntryEncoder makes keys of one index.
type EntryEncoder struct {
	cols []keyCol
	ix   *catalog.Index
}

// NewEntryEncoder returns the encoder of an index of rel, the primary key included.
func NewEntryEncoder(rel *catalog.Relation, ix *catalog.Index) *EntryEncoder {
	return &EntryEncoder{indexCols(rel, ix), ix}
}

// Append appends the key of an index entry: the encoded key values, then the row key unless the columns alone are
// unique. enforced says that a second entry with this key would violate uniqueness. The entry's value is the row key. vals are
// the values of the index's keys in order.
func (e *EntryEncoder) Append(dst []byte, vals []types.Datum, rowKey []byte) (key []byte, enforced bool) {
	return indexEntry(dst, e.cols, e.ix, vals, rowKey)
}

// EntrySort brings keys with their values into order, in memory or, when that is refused, in files: entries written in the order
// of their tree cost a fraction of those written in any.
type EntrySort struct {
	s   sorter
	rec []byte
	due bool // the sorter stands at an entry that was given
}

// NewEntrySort returns an empty sort that takes its memory from env's account. It is to be closed.
func NewEntrySort(env *Env) *EntrySort {
	e := &EntrySort{}
	e.s.start(env)
	return e
}

// Add copies one entry. Entries with the same key keep their order.
func (e *EntrySort) Add(key, val []byte) error {
	e.rec = append(append(append(e.rec[:0], 0, 0, 0, 0), key...), val...)
	return errMemory(e.s.add(e.s.item(e.rec, len(key))))
}

// Start is called once, behind the last Add.
func (e *EntrySort) Start() error { return errMemory(e.s.begin()) }

// Next returns the next entry in order, nil behind the last. It is valid until the next call.
func (e *EntrySort) Next() (key, val []byte, err error) {
	if e.due {
		if err := e.s.advance(); err != nil {
			return nil, nil, err
		}
	}
	it := e.s.peek()
	if e.due = it != nil; !e.due {
		return nil, nil, nil
	}
	return it.key(), it.tuple(), nil
}

// Close gives memory and files back.
func (e *EntrySort) Close() { e.s.close() }
