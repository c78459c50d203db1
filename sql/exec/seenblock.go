package exec

import (
	"herd/sql/types"
	"herd/sql/vec"
)

// seenBlock drops rows whose key came before, with the keys in a file: rows gather in a block as large as memory permits, then
// the file is read once, and the rows whose keys it does not have are new. Their order stays.
type seenBlock struct {
	open  bool
	env   *Env
	file  *spillFile
	table keyTable
	rows  *rowStore
	dup   []bool // by row of the block: the file has its key
	// decided rows wait in out until they are given.
	out   *tape
	read  tapeReader
	batch *tupleBatch
	buf   [][]byte
}

func newSeenBlock(kinds []types.Kind) *seenBlock {
	b := &seenBlock{rows: newRowStore(kinds), out: newTape(kinds)}
	b.batch = newTupleBatch(b.rows.codec)
	return b
}

// start moves the keys of seen to a file.
func (s *seenBlock) start(env *Env, seen *keyTable) error {
	f, err := newSpill(env)
	if err != nil {
		return err
	}
	s.open, s.env, s.file = true, env, f
	for _, k := range seen.keys {
		if err := f.write(k); err != nil {
			return err
		}
	}
	seen.reset()
	s.table.open(env)
	s.rows.open(env)
	s.out.open(env)
	s.read = tapeReader{t: s.out}
	return nil
}

func (s *seenBlock) close() {
	if !s.open {
		return
	}
	s.open = false
	s.file.close()
	s.table.close()
	s.rows.close()
	s.out.close()
	s.file, s.dup = nil, nil
}

// pending says whether rows are undecided.
func (s *seenBlock) pending() bool { return s.open && s.table.len() > 0 }

// ready says whether new rows can be given.
func (s *seenBlock) ready() bool { return s.open && s.read.pos < s.out.len() }

// add puts row i of b, with key k, into the block; a full block is decided first.
func (s *seenBlock) add(st *State, k []byte, b *vec.Batch, i int) error {
	cols, err := allCols(b)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		_, added, err := s.table.insert(hashKey(k), k)
		if err == nil && added {
			if err = s.rows.add(cols, i); err != nil {
				s.table.dropLast()
			}
		}
		if err == nil || try > 0 || s.table.len() == 0 || !s.env.canSpill(err) {
			return err
		}
		if err := s.decide(st); err != nil {
			return err
		}
	}
}

// decide moves the new rows of the block to out and their keys to the file.
func (s *seenBlock) decide(st *State) error {
	s.dup = append(s.dup[:0], make([]bool, s.table.len())...)
	r, err := s.file.reader()
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		k, err := r.next()
		if err != nil {
			return err
		}
		if k == nil {
			break
		}
		if n%vec.MaxRows == 0 {
			if err := st.interrupt(); err != nil {
				return err
			}
		}
		if i := s.table.find(hashKey(k), k); i >= 0 {
			s.dup[i] = true
		}
	}
	if !s.ready() {
		s.out.open(s.env)
		s.read.seek(0)
	}
	for i, dup := range s.dup {
		if dup {
			continue
		}
		if err := s.file.write(s.table.keys[i]); err != nil {
			return err
		}
		if err := s.out.addTuple(s.rows.rows[i]); err != nil {
			return err
		}
	}
	s.table.reset()
	s.rows.reset()
	return nil
}

// give returns the next new rows.
func (s *seenBlock) give(want int) (*vec.Batch, error) {
	want = min(want, vec.MaxRows)
	if len(s.buf) < want {
		s.buf = make([][]byte, vec.MaxRows)
	}
	n, err := s.read.next(s.buf[:want])
	if err != nil || n == 0 {
		return nil, err
	}
	return s.batch.set(s.buf[:n]), nil
}
