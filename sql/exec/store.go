package exec

import (
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/sql/types"
	"herd/sql/vec"
)

// StoreOptions are the surroundings of a Store.
type StoreOptions struct {
	Acct     *mem.Account
	SpillFS  vfs.FS // nil: 53200 when memory is refused
	SpillDir string
	Types    []types.OID // of the columns
}

// Store keeps rows that outlive a batch, in memory until memory is refused and then in a temporary file.
type Store struct {
	env   Env
	kept  *tape
	read  tapeReader
	rows  [][]byte
	batch *tupleBatch
	buf   []byte
}

// NewStore returns an empty store. The caller closes it.
func NewStore(o StoreOptions) *Store {
	kinds := make([]types.Kind, len(o.Types))
	for i, t := range o.Types {
		kinds[i] = types.KindOf(t)
	}
	s := &Store{env: Env{Acct: o.Acct, SpillFS: o.SpillFS, SpillDir: o.SpillDir}, kept: newTape(kinds)}
	s.batch = newTupleBatch(s.kept.codec)
	s.kept.open(&s.env)
	s.read = tapeReader{t: s.kept}
	return s
}

// AddBatch appends the live rows of b.
func (s *Store) AddBatch(b *vec.Batch) error { return s.kept.addBatch(b) }

// Add appends one row.
func (s *Store) Add(row []types.Datum) error {
	s.buf = s.kept.codec.encodeDatums(s.buf[:0], row)
	return s.kept.addTuple(s.buf)
}

// Len returns the number of rows.
func (s *Store) Len() int64 { return s.kept.len() }

// Batch returns rows from, from+1, ... before to, at most vec.MaxRows of them; nil when there are none. It is valid until the
// next call.
func (s *Store) Batch(from, to int64) (*vec.Batch, error) {
	if s.read.pos != from {
		s.read.seek(from)
	}
	want := int(min(to-from, int64(vec.MaxRows)))
	if want <= 0 {
		return nil, nil
	}
	if len(s.rows) < want {
		s.rows = make([][]byte, want)
	}
	n, err := s.read.next(s.rows[:want])
	if err != nil || n == 0 {
		return nil, err
	}
	return s.batch.set(s.rows[:n]), nil
}

// Close gives memory and file back.
func (s *Store) Close() { s.kept.close() }
