package exec

import (
	"errors"

	"herd/internal/mem"
	"herd/sql/types"
	"herd/sql/vec"
)

// tape is a sequence of tuples that moves to a file when memory is refused. Readers may read while it grows.
type tape struct {
	rowStore
	env   *Env
	spill *spillFile
}

func newTape(kinds []types.Kind) *tape { return &tape{rowStore: rowStore{codec: newTupleCodec(kinds)}} }

func (t *tape) open(env *Env) {
	t.env = env
	t.spill.close()
	t.spill = nil
	t.rowStore.open(env)
}

func (t *tape) close() {
	t.spill.close()
	t.spill = nil
	t.rowStore.close()
}

// addBatch appends the live rows of b.
func (t *tape) addBatch(b *vec.Batch) error {
	cols, err := allCols(b)
	if err != nil {
		return err
	}
	each(b.N, b.Sel, func(i int) {
		if err == nil {
			err = t.add(cols, i)
		}
	})
	return err
}

// add appends row i of cols.
func (t *tape) add(cols []*vec.Vector, i int) error {
	t.buf = t.codec.encode(t.buf[:0], cols, i)
	return t.addTuple(t.buf)
}

// addTuple appends one tuple (copied).
func (t *tape) addTuple(p []byte) error {
	if t.spill == nil {
		err := t.rowStore.addTuple(p)
		if err == nil || !t.env.canSpill(err) {
			return errMemory(err)
		}
		if err := t.toFile(); err != nil {
			return err
		}
	}
	return t.spill.write(p)
}

// toFile moves all tuples to a file. Their memory goes back to the account: what works above may need it more.
func (t *tape) toFile() error {
	f, err := newSpill(t.env)
	if err != nil {
		return err
	}
	t.spill = f
	for _, r := range t.rows {
		if err := f.write(r); err != nil {
			return err
		}
	}
	t.rowStore.close()
	return nil
}

// len returns the number of tuples.
func (t *tape) len() int64 {
	if t.spill != nil {
		return t.spill.rows
	}
	return int64(len(t.rows))
}

// tapeReader reads a tape, from its start or from where pos was set before the first next.
type tapeReader struct {
	t   *tape
	pos int64
	sr  *spillReader
}

// seek makes tuple pos the next one.
func (r *tapeReader) seek(pos int64) { r.pos, r.sr = pos, nil }

// next fills rows with the next tuples and returns their number. Tuples stay valid until the tape is closed.
func (r *tapeReader) next(rows [][]byte) (int, error) {
	if r.t.spill == nil {
		if r.pos >= int64(len(r.t.rows)) {
			return 0, nil
		}
		n := copy(rows, r.t.rows[r.pos:])
		r.pos += int64(n)
		return n, nil
	}
	if err := r.t.spill.flush(); err != nil {
		return 0, err
	}
	if r.sr == nil {
		r.sr = &spillReader{s: r.t.spill}
		if err := r.sr.seek(r.pos); err != nil {
			return 0, err
		}
	}
	n := 0
	for n < len(rows) && r.pos < r.t.len() {
		p, err := r.sr.next()
		if err != nil {
			return n, err
		}
		rows[n] = p
		r.pos++
		n++
	}
	return n, nil
}

// canSpill says whether err is a refusal of memory that a temporary file can answer.
func (e *Env) canSpill(err error) bool { return errors.Is(err, mem.ErrLimit) && e.SpillFS != nil }
