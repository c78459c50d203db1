package vfs

import (
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mem is a file system in memory that knows what a crash would leave, see crash.go. Use NewMem.
type Mem struct {
	mu    sync.Mutex // guards all folders and what follows
	root  *memNode
	locks map[string]bool
	space atomic.Int64 // bytes that may still be written beyond current sizes; < 0 = no limit
	syncs int
	hook  func(n int, l Label)
}

// memNode is one file or folder.
type memNode struct {
	dir bool

	// Of a folder, under Mem.mu.
	entries map[string]*memNode // what a running process sees
	safe    map[string]*memNode // what is durable
	renames []nameChange        // what leads from safe to entries, in order

	// Of a file, under mu.
	mu     sync.RWMutex
	data   []byte
	writes []memWrite // since the last Sync, in order
}

// nameChange is one change of a folder that a crash leaves wholly done or wholly undone.
type nameChange struct {
	name     string
	old, new *memNode // new nil: removed
	from     string   // of a rename inside the folder: the name that new had
}

func newFolder() *memNode {
	return &memNode{dir: true, entries: map[string]*memNode{}, safe: map[string]*memNode{}}
}

// change makes a change of folder n visible, to become durable with SyncDir. Mem.mu is held.
func (n *memNode) change(c nameChange) {
	n.renames = append(n.renames, c)
	c.apply(n.entries)
}

// apply makes the change in a table of names. What a lost change should have brought there first may be missing.
func (c *nameChange) apply(names map[string]*memNode) {
	switch {
	case c.new != nil:
		names[c.name] = c.new
	case names[c.name] == c.old:
		delete(names, c.name)
	}
	if c.from != "" && names[c.from] == c.new {
		delete(names, c.from)
	}
}

// NewMem returns an empty file system.
func NewMem() *Mem {
	m := &Mem{root: newFolder(), locks: map[string]bool{}}
	m.space.Store(-1)
	return m
}

// SetSyncHook has f called before each sync takes effect (File.Sync and SyncDir) with the number of syncs so far: a
// crash loop clones there. f runs without locks.
func (m *Mem) SetSyncHook(f func(n int, l Label)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hook = f
}

// SetSpace limits the bytes files may still grow by; negative means no limit. Writes beyond fail with ENOSPC.
func (m *Mem) SetSpace(n int64) { m.space.Store(n) }

// Syncs returns the number of syncs that were begun.
func (m *Mem) Syncs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.syncs
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// parts returns the names on the way to a path; relative ones begin at the root.
func parts(path string) []string {
	clean := strings.Trim(filepath.Clean(path), "/")
	if clean == "" || clean == "." {
		return nil
	}
	return strings.Split(clean, "/")
}

// find returns the node at a path, nil when there is none. m.mu is held.
func (m *Mem) find(path string) *memNode {
	n := m.root
	for _, p := range parts(path) {
		if n = n.entries[p]; n == nil {
			return nil
		}
	}
	return n
}

// folder returns the folder that holds a path and the path's last part; nil when there is no such folder. m.mu is held.
func (m *Mem) folder(path string) (*memNode, string) {
	list := parts(path)
	if len(list) == 0 {
		return nil, ""
	}
	n := m.find(filepath.Join(list[:len(list)-1]...))
	if n == nil || !n.dir {
		return nil, ""
	}
	return n, list[len(list)-1]
}

// Create implements FS.
func (m *Mem) Create(_ Label, name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base := m.folder(name)
	if dir == nil {
		return nil, pathError("create", name, fs.ErrNotExist)
	}
	if dir.entries[base] != nil {
		return nil, pathError("create", name, fs.ErrExist)
	}
	n := &memNode{}
	dir.change(nameChange{name: base, new: n})
	return &memFile{fs: m, node: n, name: name, write: true}, nil
}

func (m *Mem) open(name string, write bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.find(name)
	if n == nil || n.dir {
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	return &memFile{fs: m, node: n, name: name, write: write}, nil
}

// Open implements FS.
func (m *Mem) Open(_ Label, name string) (File, error) { return m.open(name, true) }

// OpenRead implements FS.
func (m *Mem) OpenRead(_ Label, name string) (File, error) { return m.open(name, false) }

// Remove implements FS.
func (m *Mem) Remove(_ Label, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base := m.folder(name)
	if dir == nil || dir.entries[base] == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	n := dir.entries[base]
	if n.dir && len(n.entries) > 0 {
		return pathError("remove", name, fs.ErrExist)
	}
	dir.change(nameChange{name: base, old: n})
	if !n.dir {
		n.mu.RLock()
		m.giveSpace(int64(len(n.data)))
		n.mu.RUnlock()
	}
	return nil
}

// Rename implements FS. It renames files, and folders with all below them.
func (m *Mem) Rename(_ Label, from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	fromDir, fromBase := m.folder(from)
	toDir, toBase := m.folder(to)
	if fromDir == nil || toDir == nil || fromDir.entries[fromBase] == nil {
		return pathError("rename", from, fs.ErrNotExist)
	}
	n, over := fromDir.entries[fromBase], toDir.entries[toBase]
	if over != nil && over.dir != n.dir || over != nil && over.dir && len(over.entries) > 0 {
		return pathError("rename", to, fs.ErrExist)
	}
	if n == over {
		return nil
	}
	c := nameChange{name: toBase, old: over, new: n}
	if fromDir == toDir {
		c.from = fromBase
		toDir.change(c)
		return nil
	}
	toDir.change(c) // each folder has its own sync, and a crash between them may leave both names
	fromDir.change(nameChange{name: fromBase, old: n})
	return nil
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(_ Label, dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.root
	for _, p := range parts(dir) {
		next := n.entries[p]
		if next == nil {
			next = newFolder()
			n.change(nameChange{name: p, new: next})
		}
		if n = next; !n.dir {
			return pathError("mkdir", dir, fs.ErrExist)
		}
	}
	return nil
}

// ReadDir implements FS.
func (m *Mem) ReadDir(_ Label, dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.find(dir)
	if n == nil || !n.dir {
		return nil, pathError("readdir", dir, fs.ErrNotExist)
	}
	return sortedNames(n.entries), nil
}

func sortedNames(names map[string]*memNode) []string {
	out := make([]string, 0, len(names))
	for name := range names {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Stat implements FS.
func (m *Mem) Stat(_ Label, name string) (int64, error) {
	m.mu.Lock()
	n := m.find(name)
	m.mu.Unlock()
	if n == nil {
		return 0, pathError("stat", name, fs.ErrNotExist)
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	return int64(len(n.data)), nil
}

// beginSync counts a sync and runs the hook.
func (m *Mem) beginSync(l Label) {
	m.mu.Lock()
	m.syncs++
	n, hook := m.syncs, m.hook
	m.mu.Unlock()
	if hook != nil {
		hook(n, l)
	}
}

// SyncDir implements FS.
func (m *Mem) SyncDir(l Label, dir string) error {
	m.beginSync(l)
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.find(dir)
	if n == nil || !n.dir {
		return pathError("syncdir", dir, fs.ErrNotExist)
	}
	for i := range n.renames {
		n.renames[i].apply(n.safe)
	}
	n.renames = nil
	return nil
}

type memLock struct {
	m    *Mem
	name string
}

// Close implements io.Closer: it gives the lock back.
func (l memLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	delete(l.m.locks, l.name)
	return nil
}

// Lock implements FS.
func (m *Mem) Lock(_ Label, name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	clean := filepath.Clean(name)
	if m.locks[clean] {
		return nil, &fs.PathError{Op: "lock", Path: name, Err: ErrLocked}
	}
	dir, base := m.folder(name)
	if dir == nil {
		return nil, pathError("lock", name, fs.ErrNotExist)
	}
	if dir.entries[base] == nil {
		dir.change(nameChange{name: base, new: &memNode{}})
	}
	m.locks[clean] = true
	return memLock{m, clean}, nil
}

// FreeBytes implements FS.
func (m *Mem) FreeBytes(string) (uint64, error) {
	if left := m.space.Load(); left >= 0 {
		return uint64(left), nil
	}
	return 1 << 50, nil
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

// giveSpace is the inverse of takeSpace.
func (m *Mem) giveSpace(n int64) {
	for {
		left := m.space.Load()
		if left < 0 || m.space.CompareAndSwap(left, left+n) {
			return
		}
	}
}
