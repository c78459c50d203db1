package exec

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"

	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/sql/sqlerr"
)

const (
	labelSpill  vfs.Label = "exec.spill"
	spillBuffer           = 64 << 10
	// spillMark is the number of records between two of which a spillFile remembers the offset.
	spillMark = 64
	// spillHead is what precedes a record: its length, and the CRC32C of that and the record.
	spillHead = 8
)

var spillTable = crc32.MakeTable(crc32.Castagnoli)

var spillCounter atomic.Uint64

// spillName returns a name for a temporary file that no other statement of this process uses.
func spillName() string {
	return spillPrefix + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(spillCounter.Add(1), 10)
}

// spillFile is a temporary file of records with their lengths and checksums: it grows at its end and is read any number of times, from its
// start or from any record.
type spillFile struct {
	fs    vfs.FS
	f     vfs.File
	name  string
	buf   []byte // write buffer
	mem   account
	size  int64 // bytes in the file
	rows  int64
	marks []int64 // offset of every spillMark-th record
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
	return &spillFile{fs: env.SpillFS, f: f, name: name, mem: account{acct: env.Acct, use: mem.UseSpill}}, nil
}

// errSpill is the SQL error for a failed operation on a temporary file.
func errSpill(what, name string, err error) error {
	code := sqlerr.IoError
	if errors.Is(err, syscall.ENOSPC) {
		code = sqlerr.DiskFull
	}
	return sqlerr.New(code, "could not %s temporary file \"%s\": %v", what, name, err)
}

// damaged is the SQL error for a record that is not what was written.
func (s *spillFile) damaged(at int64) error {
	return sqlerr.New(sqlerr.DataCorrupted, "temporary file \"%s\" is damaged at byte %d", s.name, at)
}

// write appends a record made of the given parts.
func (s *spillFile) write(parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if s.rows%spillMark == 0 {
		s.marks = append(s.marks, s.size+int64(len(s.buf)))
	}
	before, at := cap(s.buf), len(s.buf)
	s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(n))
	for _, p := range parts {
		s.buf = append(s.buf, p...)
	}
	binary.LittleEndian.PutUint32(s.buf[at+4:], spillSum(s.buf[at:]))
	if cap(s.buf) > before {
		s.mem.force(int64(cap(s.buf) - before))
	}
	s.rows++
	if len(s.buf) >= spillBuffer {
		return s.flush()
	}
	return nil
}

// spillSum is the checksum of a record with its head.
func spillSum(p []byte) uint32 {
	return crc32.Update(crc32.Checksum(p[:4], spillTable), spillTable, p[spillHead:])
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

// seal writes what is buffered and gives the buffer back; the file may still grow.
func (s *spillFile) seal() error {
	if s == nil {
		return nil
	}
	err := s.flush()
	s.buf = nil
	s.mem.release()
	return err
}

// close removes the file.
func (s *spillFile) close() {
	if s == nil || s.f == nil {
		return
	}
	s.f.Close()
	s.fs.Remove(labelSpill, s.name)
	s.f, s.buf, s.marks = nil, nil, nil
	s.mem.release()
}

// reader starts reading from the first record.
func (s *spillFile) reader() (*spillReader, error) {
	if err := s.seal(); err != nil {
		return nil, err
	}
	return &spillReader{s: s}, nil
}

// spillReader reads the records of a spillFile in order. It sees records that were flushed after it began.
type spillReader struct {
	s   *spillFile
	off int64 // file offset after buf
	buf []byte
	pos int
}

// seek makes record n the next one.
func (r *spillReader) seek(n int64) error {
	r.buf, r.pos, r.off = nil, 0, r.s.size
	if n >= r.s.rows {
		return nil
	}
	r.off = r.s.marks[n/spillMark]
	for range n % spillMark {
		if p, err := r.next(); err != nil || p == nil {
			return err
		}
	}
	return nil
}

// next returns the next record, or nil at the end. Records stay valid: a refill makes a new buffer.
func (r *spillReader) next() ([]byte, error) {
	if err := r.need(spillHead); err != nil {
		return nil, err
	}
	at, have := r.off-int64(len(r.buf)-r.pos), r.s.size-r.off+int64(len(r.buf)-r.pos)
	if have == 0 {
		return nil, nil
	}
	if have < spillHead {
		return nil, r.s.damaged(at)
	}
	n := spillHead + int(binary.LittleEndian.Uint32(r.buf[r.pos:]))
	if int64(n) > have {
		return nil, r.s.damaged(at)
	}
	if err := r.need(n); err != nil {
		return nil, err
	}
	p := r.buf[r.pos : r.pos+n : r.pos+n]
	if binary.LittleEndian.Uint32(p[4:]) != spillSum(p) {
		return nil, r.s.damaged(at)
	}
	r.pos += n
	return p[spillHead:], nil
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
