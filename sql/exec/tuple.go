package exec

import (
	"encoding/binary"
	"errors"
	"syscall"

	"herd/internal/vfs"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// tupleCodec packs rows of fixed kinds into bytes for what outlives a batch: row stores, sort runs, spill files.
// Layout: NULL bitmap, one 8-byte slot a column (the value, or offset and length of variable bytes), variable bytes.
type tupleCodec struct {
	kinds []types.Kind
	slots int // offset of the first slot
	fixed int // offset of the variable part
}

func newTupleCodec(kinds []types.Kind) *tupleCodec {
	nulls := (len(kinds) + 7) / 8
	return &tupleCodec{kinds: kinds, slots: nulls, fixed: nulls + 8*len(kinds)}
}

// encode appends row i of cols to dst as a tuple.
func (c *tupleCodec) encode(dst []byte, cols []*vec.Vector, i int) []byte {
	base := len(dst)
	dst = extendZero(dst, c.fixed)
	for k, kind := range c.kinds {
		v := cols[k]
		if v.IsNull(i) {
			dst[base+k>>3] |= 1 << (k & 7)
			continue
		}
		slot := base + c.slots + 8*k
		j := v.At(i)
		switch kind {
		case types.KindInt:
			binary.LittleEndian.PutUint64(dst[slot:], uint64(v.Int[j]))
		case types.KindFloat:
			binary.LittleEndian.PutUint64(dst[slot:], uint64(types.Float(v.Float[j]).I))
		case types.KindBool:
			if v.Bool[j] {
				dst[slot] = 1
			}
		default:
			b := v.Bytes(j)
			binary.LittleEndian.PutUint32(dst[slot:], uint32(len(dst)-base))
			binary.LittleEndian.PutUint32(dst[slot+4:], uint32(len(b)))
			dst = append(dst, b...)
		}
	}
	return dst
}

// encodeDatums is encode for a row of datums.
func (c *tupleCodec) encodeDatums(dst []byte, row []types.Datum) []byte {
	base := len(dst)
	dst = extendZero(dst, c.fixed)
	for k, kind := range c.kinds {
		d := row[k]
		slot := base + c.slots + 8*k
		switch {
		case d.Null:
			dst[base+k>>3] |= 1 << (k & 7)
		case kind == types.KindBytes:
			binary.LittleEndian.PutUint32(dst[slot:], uint32(len(dst)-base))
			binary.LittleEndian.PutUint32(dst[slot+4:], uint32(len(d.B)))
			dst = append(dst, d.B...)
		default:
			binary.LittleEndian.PutUint64(dst[slot:], uint64(d.I))
		}
	}
	return dst
}

func extendZero(dst []byte, n int) []byte {
	l := len(dst)
	if cap(dst)-l < n {
		dst = append(dst, make([]byte, n)...)
		return dst
	}
	dst = dst[:l+n]
	clear(dst[l:])
	return dst
}

// datum returns column k of tuple t; bytes alias t.
func (c *tupleCodec) datum(t []byte, k int) types.Datum {
	if t[k>>3]&(1<<(k&7)) != 0 {
		return types.NullDatum
	}
	s := t[c.slots+8*k:]
	if c.kinds[k] == types.KindBytes {
		off, n := binary.LittleEndian.Uint32(s), binary.LittleEndian.Uint32(s[4:])
		return types.Datum{B: t[off : off+n : off+n]}
	}
	return types.Datum{I: int64(binary.LittleEndian.Uint64(s))}
}

// fill sets row i of out to column k of tuple t; bytes are copied.
func (c *tupleCodec) fill(out *vec.Vector, i int, t []byte, k int) {
	if t[k>>3]&(1<<(k&7)) != 0 {
		out.SetNull(i)
		return
	}
	s := t[c.slots+8*k:]
	switch c.kinds[k] {
	case types.KindInt:
		out.Int[i] = int64(binary.LittleEndian.Uint64(s))
	case types.KindFloat:
		out.Float[i] = types.Datum{I: int64(binary.LittleEndian.Uint64(s))}.Float()
	case types.KindBool:
		out.Bool[i] = s[0] != 0
	default:
		off, n := binary.LittleEndian.Uint32(s), binary.LittleEndian.Uint32(s[4:])
		out.SetVar(i, t[off:off+n])
	}
}

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
}

func newRowStore(kinds []types.Kind) *rowStore { return &rowStore{codec: newTupleCodec(kinds)} }

// open binds the store to an account and empties it.
func (s *rowStore) open(env *Env) {
	s.reset()
	s.bytes.mem.acct = env.Acct
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

// allCols materializes and returns the columns of b.
func allCols(b *vec.Batch) ([]*vec.Vector, error) {
	for i := range b.Cols {
		if b.Cols[i] == nil {
			if _, err := b.Col(i); err != nil {
				return nil, err
			}
		}
	}
	return b.Cols, nil
}

// tupleBatch is a reusable output batch over tuples; columns are unpacked when first used.
type tupleBatch struct {
	vec.Batch
	codec *tupleCodec
	rows  [][]byte
	out   []vec.Vector
}

func newTupleBatch(codec *tupleCodec) *tupleBatch {
	t := &tupleBatch{codec: codec, out: make([]vec.Vector, len(codec.kinds))}
	t.Cols = make([]*vec.Vector, len(codec.kinds))
	t.Src = t
	return t
}

// set makes the batch the given tuples, which must stay valid as long as the batch.
func (t *tupleBatch) set(rows [][]byte) *vec.Batch {
	t.rows, t.N, t.Sel = rows, len(rows), nil
	clear(t.Cols)
	return &t.Batch
}

// DecodeColumn implements vec.Source.
func (t *tupleBatch) DecodeColumn(b *vec.Batch, col int) (*vec.Vector, error) {
	v := &t.out[col]
	v.Reset(t.codec.kinds[col], t.N)
	for i, r := range t.rows {
		t.codec.fill(v, i, r, col)
	}
	return v, nil
}

const (
	labelSpill  vfs.Label = "exec.spill"
	spillBuffer           = 64 << 10
)

// spillFile is a temporary file of length-prefixed records: written once, then read any number of times.
type spillFile struct {
	fs   vfs.FS
	f    vfs.File
	name string
	buf  []byte // write buffer
	size int64  // bytes in the file
	rows int64
}

// newSpill creates a temporary file, and the folder for them with the first one.
func newSpill(env *Env) (*spillFile, error) {
	name := env.SpillDir + "/" + spillName()
	f, err := env.SpillFS.Create(labelSpill, name)
	if err != nil && env.SpillFS.MkdirAll(labelSpill, env.SpillDir) == nil {
		f, err = env.SpillFS.Create(labelSpill, name)
	}
	if err != nil {
		return nil, errSpill("create", name, err)
	}
	return &spillFile{fs: env.SpillFS, f: f, name: name}, nil
}

// errSpill is the SQL error for a failed operation on a temporary file.
func errSpill(what, name string, err error) error {
	code := sqlerr.IoError
	if errors.Is(err, syscall.ENOSPC) {
		code = sqlerr.DiskFull
	}
	return sqlerr.New(code, "could not %s temporary file \"%s\": %v", what, name, err)
}

// write appends a record made of the given parts.
func (s *spillFile) write(parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(n))
	for _, p := range parts {
		s.buf = append(s.buf, p...)
	}
	s.rows++
	if len(s.buf) >= spillBuffer {
		return s.flush()
	}
	return nil
}

func (s *spillFile) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	if _, err := s.f.WriteAt(labelSpill, s.buf, s.size); err != nil {
		return errSpill("write", s.name, err)
	}
	s.size += int64(len(s.buf))
	s.buf = s.buf[:0]
	return nil
}

// close removes the file.
func (s *spillFile) close() {
	if s == nil || s.f == nil {
		return
	}
	s.f.Close()
	s.fs.Remove(labelSpill, s.name)
	s.f, s.buf = nil, nil
}

// reader starts reading from the first record.
func (s *spillFile) reader() (*spillReader, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	s.buf = nil
	return &spillReader{s: s}, nil
}

// spillReader reads the records of a spillFile in order.
type spillReader struct {
	s   *spillFile
	off int64 // file offset after buf
	buf []byte
	pos int
}

// next returns the next record, valid until the call after the next refill (at least until the next call), or nil at the end.
func (r *spillReader) next() ([]byte, error) {
	if err := r.need(4); err != nil {
		return nil, err
	}
	if len(r.buf)-r.pos < 4 {
		return nil, nil
	}
	n := int(binary.LittleEndian.Uint32(r.buf[r.pos:]))
	if err := r.need(4 + n); err != nil {
		return nil, err
	}
	p := r.buf[r.pos+4 : r.pos+4+n]
	r.pos += 4 + n
	return p, nil
}

// need makes n bytes available behind pos, unless the file ends before. A refill makes a new buffer.
func (r *spillReader) need(n int) error {
	have := len(r.buf) - r.pos
	if have >= n || r.off >= r.s.size {
		return nil
	}
	size := int(min(int64(max(spillBuffer, n)-have), r.s.size-r.off))
	buf := make([]byte, have+size)
	copy(buf, r.buf[r.pos:])
	if _, err := r.s.f.ReadAt(labelSpill, buf[have:], r.off); err != nil {
		return errSpill("read", r.s.name, err)
	}
	r.off += int64(size)
	r.buf, r.pos = buf, 0
	return nil
}

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
			t.buf = t.codec.encode(t.buf[:0], cols, i)
			err = t.addTuple(t.buf)
		}
	})
	return err
}

// addTuple appends one tuple (copied).
func (t *tape) addTuple(p []byte) error {
	if t.spill == nil {
		err := t.rowStore.addTuple(p)
		if err == nil || t.env.SpillFS == nil {
			return errMemory(err)
		}
		if t.spill, err = newSpill(t.env); err != nil {
			return err
		}
	}
	return t.spill.write(p)
}

// len returns the number of tuples.
func (t *tape) len() int64 {
	n := int64(len(t.rows))
	if t.spill != nil {
		n += t.spill.rows
	}
	return n
}

// tapeReader reads a tape from its start.
type tapeReader struct {
	t   *tape
	pos int64
	sr  *spillReader
}

// next fills rows with the next tuples and returns their number. Tuples stay valid until the tape is closed.
func (r *tapeReader) next(rows [][]byte) (int, error) {
	n := 0
	for n < len(rows) && r.pos < int64(len(r.t.rows)) {
		rows[n] = r.t.rows[r.pos]
		r.pos++
		n++
	}
	if n == len(rows) || r.t.spill == nil || r.pos >= r.t.len() {
		return n, nil
	}
	if err := r.t.spill.flush(); err != nil {
		return n, err
	}
	if r.sr == nil {
		r.sr = &spillReader{s: r.t.spill}
	}
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
