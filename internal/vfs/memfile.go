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

// takeSpace reserves growth by n bytes on the simulated device. It takes no lock: a node's lock is held, and the file
// system's comes before it.
func (m *Mem) takeSpace(n int64) bool {
	for {
		left := m.space.Load()
		if left < 0 {
			return true
		}
		if n > left {
			return false
		}
		if m.space.CompareAndSwap(left, left-n) {
			return true
		}
	}
}

// WriteAt implements File.
func (f *memFile) WriteAt(_ Label, p []byte, off int64) (int, error) {
	if !f.write {
		return 0, pathError("write", f.name, fs.ErrPermission)
	}
	n := f.node
	n.mu.Lock()
	defer n.mu.Unlock()
	end := off + int64(len(p))
	if grow := end - int64(len(n.data)); grow > 0 {
		if !f.fs.takeSpace(grow) {
			return 0, pathError("write", f.name, syscall.ENOSPC)
		}
		n.data = append(n.data, make([]byte, grow)...)
	}
	copy(n.data[off:end], p)
	n.dirty = append(n.dirty, span{off, end})
	return len(p), nil
}

// Sync implements File.
func (f *memFile) Sync(l Label) error {
	f.fs.beginSync(l)
	n := f.node
	n.mu.Lock()
	defer n.mu.Unlock()
	size := len(n.data)
	if len(n.synced) > size {
		n.synced = n.synced[:size]
	} else if len(n.synced) < size {
		n.synced = append(n.synced, make([]byte, size-len(n.synced))...)
	}
	for _, s := range n.dirty {
		if end := min(s.end, int64(size)); end > s.off {
			copy(n.synced[s.off:end], n.data[s.off:end])
		}
	}
	n.dirty = n.dirty[:0]
	return nil
}

// Truncate implements File. A truncation counts for a crash after the next Sync.
func (f *memFile) Truncate(_ Label, size int64) error {
	n := f.node
	n.mu.Lock()
	defer n.mu.Unlock()
	old := int64(len(n.data))
	if size > old {
		if !f.fs.takeSpace(size - old) {
			return pathError("truncate", f.name, syscall.ENOSPC)
		}
		n.data = append(n.data, make([]byte, size-old)...)
	} else {
		n.data = n.data[:size:size]
	}
	n.dirty = append(n.dirty, span{min(size, old), max(size, old)})
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
