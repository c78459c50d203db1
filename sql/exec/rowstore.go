package exec

import (
	"herd/internal/mem"
	"herd/sql/types"
	"herd/sql/vec"
)

const (
	chunkMin = 2 << 10
	chunkMax = 256 << 10
)

// arena is append-only memory in chunks, taken from an account before it is allocated. Slices it gave stay valid
// until reset.
type arena struct {
	mem    account
	chunks [][]byte // filled ones, then the current one
}

// alloc returns room for n bytes, zero length, capacity n. The error is mem.ErrLimit.
func (a *arena) alloc(n int) ([]byte, error) {
	if k := len(a.chunks); k > 0 {
		c := a.chunks[k-1]
		if cap(c)-len(c) >= n {
			l := len(c)
			a.chunks[k-1] = c[:l+n]
			return c[l : l : l+n], nil
		}
	}
	size := chunkMin
	if k := len(a.chunks); k > 0 {
		size = min(2*cap(a.chunks[k-1]), chunkMax)
	}
	size = max(size, n)
	if err := a.mem.grow(int64(size)); err != nil {
		return nil, err
	}
	c := make([]byte, n, size)
	a.chunks = append(a.chunks, c)
	return c[0:0:n], nil
}

// save copies b into the arena.
func (a *arena) save(b []byte) ([]byte, error) {
	p, err := a.alloc(len(b))
	if err != nil {
		return nil, err
	}
	return append(p, b...), nil
}

// reset forgets everything; a small first chunk is kept.
func (a *arena) reset() {
	a.mem.release()
	if len(a.chunks) > 0 && cap(a.chunks[0]) <= chunkMin && a.mem.grow(int64(cap(a.chunks[0]))) == nil {
		clear(a.chunks[1:])
		a.chunks = a.chunks[:1]
		a.chunks[0] = a.chunks[0][:0]
		return
	}
	a.chunks = nil
}

// rowStore keeps tuples in memory in the order they came.
type rowStore struct {
	codec *tupleCodec
	bytes arena
	rows  [][]byte
	buf   []byte

	picked [][]byte // scratch of gather
	nulls  []byte   // a tuple of NULLs
}

func newRowStore(kinds []types.Kind) *rowStore { return &rowStore{codec: newTupleCodec(kinds)} }

// open binds the store to an account and empties it.
func (s *rowStore) open(env *Env) {
	s.reset()
	s.bytes.mem.open(env, mem.UseRows)
}

func (s *rowStore) reset() {
	s.bytes.reset()
	clear(s.rows)
	s.rows = s.rows[:0]
}

// close gives the memory back.
func (s *rowStore) close() {
	s.bytes.mem.release()
	s.bytes.chunks, s.rows = nil, nil
}

// add appends row i of cols. The error is mem.ErrLimit; the row is not added then.
func (s *rowStore) add(cols []*vec.Vector, i int) error {
	s.buf = s.codec.encode(s.buf[:0], cols, i)
	return s.addTuple(s.buf)
}

func (s *rowStore) addTuple(t []byte) error {
	if len(s.rows) == cap(s.rows) {
		if err := s.bytes.mem.grow(int64(24 * max(16, cap(s.rows)))); err != nil {
			return err
		}
		rows := make([][]byte, len(s.rows), max(16, 2*cap(s.rows)))
		copy(rows, s.rows)
		s.rows = rows
	}
	b, err := s.bytes.save(t)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, b)
	return nil
}

// addBatch appends all live rows of b.
func (s *rowStore) addBatch(b *vec.Batch) error {
	cols, err := allCols(b)
	if err != nil {
		return err
	}
	if b.Sel == nil {
		for i := range b.N {
			if err := s.add(cols, i); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range b.Sel {
		if err := s.add(cols, int(i)); err != nil {
			return err
		}
	}
	return nil
}

// gather sets v to column k of the given rows; a negative one is NULL.
func (s *rowStore) gather(v *vec.Vector, rows []int32, k int) {
	s.picked = s.picked[:0]
	for _, r := range rows {
		if r < 0 {
			s.picked = append(s.picked, s.null())
			continue
		}
		s.picked = append(s.picked, s.rows[r])
	}
	v.Reset(s.codec.kinds[k], len(rows))
	s.codec.column(v, s.picked, k)
	clear(s.picked)
}

// null returns a tuple of NULLs.
func (s *rowStore) null() []byte {
	if s.nulls == nil {
		s.nulls = make([]byte, s.codec.fixed)
		for i := range s.codec.slots {
			s.nulls[i] = 0xff
		}
	}
	return s.nulls
}
