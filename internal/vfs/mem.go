package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"path/filepath"
	"sort"
	"sync"
	"sync/atomic"
)

// sector is the unit, in bytes, in which a crash keeps or loses data that was not synced.
const sector = 512

// Mem is a file system in memory that knows what a crash would leave. Use NewMem.
type Mem struct {
	mu      sync.Mutex
	names   map[string]*memNode // what a running process sees, by clean path
	durable map[string]*memNode // names that survive a crash
	locks   map[string]bool
	space   atomic.Int64 // bytes that may still be written beyond current sizes; < 0 = no limit
	syncs   int
	hook    func(n int, l Label)
}

// memNode is one file or folder.
type memNode struct {
	mu     sync.RWMutex
	dir    bool
	data   []byte
	synced []byte
	dirty  []span // written since the last Sync, in order of writing
}

type span struct{ off, end int64 }

// NewMem returns an empty file system.
func NewMem() *Mem {
	root := &memNode{dir: true}
	m := &Mem{
		names:   map[string]*memNode{"/": root, ".": root},
		durable: map[string]*memNode{"/": root, ".": root},
		locks:   map[string]bool{},
	}
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

// CrashOptions says what becomes of data that was written but not synced.
type CrashOptions struct {
	// Rand decides per 512-byte sector; nil loses everything that was not synced.
	Rand *rand.Rand
	// KeepPercent is the chance of such a sector, or of a name not made durable, to survive.
	KeepPercent int
}

// CrashClone returns the file system as a machine would find it after losing power now. m stays usable.
func (m *Mem) CrashClone(o CrashOptions) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := NewMem()
	seen := map[*memNode]*memNode{}
	keep := func() bool { return o.Rand != nil && o.Rand.Intn(100) < o.KeepPercent }
	set := func(name string, n *memNode) {
		if name == "/" || name == "." {
			return
		}
		cn, ok := seen[n]
		if !ok {
			cn = n.afterCrash(keep)
			seen[n] = cn
		}
		c.names[name], c.durable[name] = cn, cn
	}
	for _, name := range sortedKeys(m.durable) {
		set(name, m.durable[name])
	}
	for _, name := range sortedKeys(m.names) {
		if m.durable[name] != m.names[name] && keep() {
			set(name, m.names[name])
		}
	}
	// A name whose folder was lost is lost.
	for changed := true; changed; {
		changed = false
		for name := range c.names {
			if name == "/" || name == "." {
				continue
			}
			if p := c.names[filepath.Dir(name)]; p == nil || !p.dir {
				delete(c.names, name)
				delete(c.durable, name)
				changed = true
			}
		}
	}
	return c
}

func sortedKeys(m map[string]*memNode) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// afterCrash returns what is left of n.
func (n *memNode) afterCrash(keep func() bool) *memNode {
	n.mu.RLock()
	defer n.mu.RUnlock()
	data := append([]byte(nil), n.synced...)
	for _, s := range n.dirty {
		for off := s.off; off < s.end; {
			end := min((off/sector+1)*sector, s.end, int64(len(n.data)))
			if end <= off {
				break
			}
			if keep() {
				if int64(len(data)) < end {
					data = append(data, make([]byte, end-int64(len(data)))...)
				}
				copy(data[off:end], n.data[off:end])
			}
			off = end
		}
	}
	return &memNode{dir: n.dir, data: data, synced: append([]byte(nil), data...)}
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// parentOK tells whether the folder of name exists. m.mu is held.
func (m *Mem) parentOK(name string) bool {
	p := m.names[filepath.Dir(name)]
	return p != nil && p.dir
}

// Create implements FS.
func (m *Mem) Create(_ Label, name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	clean := filepath.Clean(name)
	if m.names[clean] != nil {
		return nil, pathError("create", name, fs.ErrExist)
	}
	if !m.parentOK(clean) {
		return nil, pathError("create", name, fs.ErrNotExist)
	}
	n := &memNode{}
	m.names[clean] = n
	return &memFile{fs: m, node: n, name: name, write: true}, nil
}

func (m *Mem) open(name string, write bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.names[filepath.Clean(name)]
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
	clean := filepath.Clean(name)
	n := m.names[clean]
	if n == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if n.dir {
		for other := range m.names {
			if other != clean && filepath.Dir(other) == clean {
				return pathError("remove", name, fs.ErrExist)
			}
		}
	}
	if !n.dir && m.space.Load() >= 0 {
		m.space.Add(int64(len(n.data)))
	}
	delete(m.names, clean)
	return nil
}

// Rename implements FS. It renames files, and folders with all below them.
func (m *Mem) Rename(_ Label, from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	cf, ct := filepath.Clean(from), filepath.Clean(to)
	n := m.names[cf]
	if n == nil || !m.parentOK(ct) {
		return pathError("rename", from, fs.ErrNotExist)
	}
	if n.dir {
		// Durable contents move along with a folder at once; its name becomes durable with SyncDir of the parent.
		for _, names := range []map[string]*memNode{m.names, m.durable} {
			for _, name := range sortedKeys(names) {
				if len(name) > len(cf) && name[:len(cf)+1] == cf+"/" {
					names[ct+name[len(cf):]] = names[name]
					delete(names, name)
				}
			}
		}
	}
	delete(m.names, cf)
	m.names[ct] = n
	return nil
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(_ Label, dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		n := m.names[d]
		if n != nil && !n.dir {
			return pathError("mkdir", dir, fs.ErrExist)
		}
		if n != nil {
			return nil
		}
		m.names[d] = &memNode{dir: true}
	}
}

// ReadDir implements FS.
func (m *Mem) ReadDir(_ Label, dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	clean := filepath.Clean(dir)
	if n := m.names[clean]; n == nil || !n.dir {
		return nil, pathError("readdir", dir, fs.ErrNotExist)
	}
	var out []string
	for name := range m.names {
		if name != "/" && name != "." && filepath.Dir(name) == clean {
			out = append(out, filepath.Base(name))
		}
	}
	sort.Strings(out)
	return out, nil
}

// Stat implements FS.
func (m *Mem) Stat(_ Label, name string) (int64, error) {
	m.mu.Lock()
	n := m.names[filepath.Clean(name)]
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
	clean := filepath.Clean(dir)
	if n := m.names[clean]; n == nil || !n.dir {
		return pathError("syncdir", dir, fs.ErrNotExist)
	}
	for name := range m.durable {
		if name != "/" && name != "." && filepath.Dir(name) == clean && m.names[name] == nil {
			delete(m.durable, name)
		}
	}
	for name, n := range m.names {
		if name != "/" && name != "." && filepath.Dir(name) == clean {
			m.durable[name] = n
		}
	}
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
		return nil, fmt.Errorf("lock %s: %w", name, ErrLocked)
	}
	if m.names[clean] == nil {
		if !m.parentOK(clean) {
			return nil, pathError("lock", name, fs.ErrNotExist)
		}
		m.names[clean] = &memNode{}
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
