package vfs

import (
	"io"
	"io/fs"
	"syscall"
)

// memFile is an open file of a Mem.
type memFile struct {
	fs    *Mem
	node  *memNode
	name  string
	write bool
}

// memWrite is one change of a file's contents that was not synced: at off, old became new. A truncation has the bytes
// that go as old and none as new, or the other way round.
type memWrite struct {
	off      int64
	old, new []byte
	size     int64 // of the file before it
}

// ReadAt implements File.
func (f *memFile) ReadAt(_ Label, p []byte, off int64) (int, error) {
	n := f.node
	n.mu.RLock()
	defer n.mu.RUnlock()
	if off >= int64(len(n.data)) {
		return 0, io.EOF
	}
	c := copy(p, n.data[off:])
	if c < len(p) {
		return c, io.EOF
	}
	return c, nil
}

// WriteAt implements File. On a full device it writes what fits, as a real one does.
func (f *memFile) WriteAt(_ Label, p []byte, off int64) (int, error) {
	if !f.write {
		return 0, pathError("write", f.name, fs.ErrPermission)
	}
	n := f.node
	n.mu.Lock()
	defer n.mu.Unlock()
	if grow := off + int64(len(p)) - int64(len(n.data)); grow > 0 && !f.fs.takeSpace(grow) {
		fits := max(0, min(int64(len(n.data))-off, int64(len(p))))
		n.put(p[:fits], off)
		return int(fits), pathError("write", f.name, syscall.ENOSPC)
	}
	n.put(p, off)
	return len(p), nil
}

// put writes p at off and remembers what was there. n.mu is held.
func (n *memNode) put(p []byte, off int64) {
	size, end := int64(len(n.data)), off+int64(len(p))
	if len(p) == 0 {
		return
	}
	w := memWrite{off: off, size: size, new: append([]byte(nil), p...)}
	if off < size {
		w.old = append([]byte(nil), n.data[off:min(end, size)]...)
	}
	if end > size {
		n.data = append(n.data, make([]byte, end-size)...)
	}
	copy(n.data[off:end], p)
	n.writes = append(n.writes, w)
}

// Sync implements File.
func (f *memFile) Sync(l Label) error {
	f.fs.beginSync(l)
	f.node.mu.Lock()
	f.node.writes = nil
	f.node.mu.Unlock()
	return nil
}

// Truncate implements File. A truncation counts for a crash after the next Sync.
func (f *memFile) Truncate(_ Label, size int64) error {
	n := f.node
	n.mu.Lock()
	defer n.mu.Unlock()
	old := int64(len(n.data))
	switch {
	case size > old:
		if !f.fs.takeSpace(size - old) {
			return pathError("truncate", f.name, syscall.ENOSPC)
		}
		n.put(make([]byte, size-old), old)
	case size < old:
		n.writes = append(n.writes, memWrite{off: size, size: old, old: append([]byte(nil), n.data[size:]...)})
		n.data = n.data[:size:size]
		f.fs.giveSpace(old - size)
	}
	return nil
}

// Size implements File.
func (f *memFile) Size() (int64, error) {
	f.node.mu.RLock()
	defer f.node.mu.RUnlock()
	return int64(len(f.node.data)), nil
}

// Name implements File.
func (f *memFile) Name() string { return f.name }

// Close implements File.
func (f *memFile) Close() error { return nil }
