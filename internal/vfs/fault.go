package vfs

import (
	"io"
	"maps"
	"sync"
)

// Op names a kind of call for a Rule.
type Op string

// The calls that rules can name.
const (
	OpCreate   Op = "create"
	OpOpen     Op = "open"
	OpRemove   Op = "remove"
	OpRename   Op = "rename"
	OpMkdir    Op = "mkdir"
	OpReadDir  Op = "readdir"
	OpStat     Op = "stat"
	OpSyncDir  Op = "syncdir"
	OpLock     Op = "lock"
	OpRead     Op = "read"
	OpWrite    Op = "write"
	OpSync     Op = "sync"
	OpTruncate Op = "truncate"
)

// Rule makes calls fail. A call matches when its label and kind do; empty Label or Op match all.
type Rule struct {
	Label Label
	Op    Op
	// Nth is the matching call that fails, counted from 1.
	Nth int
	// Sticky makes every later matching call fail as well.
	Sticky bool
	// Partial is the number of bytes a failing read still reads or a failing write still writes.
	Partial int
	// Err is the error returned. Nil: a read or write says that all went well, with one bit of the bytes inverted.
	Err error
	// Bit is that bit, counted from the first byte's lowest and modulo the bytes.
	Bit int
	// Hang, when it is not nil, has the call wait until it is closed, as on a mount whose server is away; then the call goes on, or fails
	// with Err.
	Hang <-chan struct{}

	seen int
}

// Call is a kind of call with its label.
type Call struct {
	Label Label
	Op    Op
}

// Fault is a file system that fails calls as its rules say and counts all of them. Use NewFault.
type Fault struct {
	base  FS
	mu    sync.Mutex
	rules []*Rule
	calls map[Call]int
	fired int
}

// NewFault returns base under rules.
func NewFault(base FS, rules ...Rule) *Fault {
	f := &Fault{base: base, calls: map[Call]int{}}
	for _, r := range rules {
		f.Add(r)
	}
	return f
}

// RealFiles implements Truer.
func (f *Fault) RealFiles() bool { return IsReal(f.base) }

// Add adds a rule; its count starts now.
func (f *Fault) Add(r Rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &r)
}

// Clear removes all rules.
func (f *Fault) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// Calls returns how many calls of each kind there were so far.
func (f *Fault) Calls() map[Call]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.calls)
}

// Fired returns how often a rule has applied.
func (f *Fault) Fired() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// check counts a call and returns the rule that fails it, if any.
func (f *Fault) check(l Label, op Op) *Rule {
	hit := f.match(l, op)
	if hit == nil || hit.Hang == nil {
		return hit
	}
	<-hit.Hang
	if hit.Err == nil {
		return nil
	}
	return hit
}

func (f *Fault) match(l Label, op Op) *Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[Call{l, op}]++
	var hit *Rule
	for _, r := range f.rules {
		if (r.Label != "" && r.Label != l) || (r.Op != "" && r.Op != op) {
			continue
		}
		r.seen++
		if hit == nil && (r.seen == r.Nth || r.Sticky && r.seen > r.Nth) {
			f.fired++
			hit = r
		}
	}
	return hit
}

func (f *Fault) fail(l Label, op Op, name string) error {
	if r := f.check(l, op); r != nil && r.Err != nil {
		return pathError(string(op), name, r.Err)
	}
	return nil
}

func (f *Fault) file(l Label, op Op, name string, open func(Label, string) (File, error)) (File, error) {
	if err := f.fail(l, op, name); err != nil {
		return nil, err
	}
	file, err := open(l, name)
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, fs: f}, nil
}

// Create implements FS.
func (f *Fault) Create(l Label, name string) (File, error) {
	return f.file(l, OpCreate, name, f.base.Create)
}

// Open implements FS.
func (f *Fault) Open(l Label, name string) (File, error) {
	return f.file(l, OpOpen, name, f.base.Open)
}

// OpenRead implements FS.
func (f *Fault) OpenRead(l Label, name string) (File, error) {
	return f.file(l, OpOpen, name, f.base.OpenRead)
}

// Remove implements FS.
func (f *Fault) Remove(l Label, name string) error {
	if err := f.fail(l, OpRemove, name); err != nil {
		return err
	}
	return f.base.Remove(l, name)
}

// Rename implements FS.
func (f *Fault) Rename(l Label, from, to string) error {
	if err := f.fail(l, OpRename, from); err != nil {
		return err
	}
	return f.base.Rename(l, from, to)
}

// MkdirAll implements FS.
func (f *Fault) MkdirAll(l Label, dir string) error {
	if err := f.fail(l, OpMkdir, dir); err != nil {
		return err
	}
	return f.base.MkdirAll(l, dir)
}

// ReadDir implements FS.
func (f *Fault) ReadDir(l Label, dir string) ([]string, error) {
	if err := f.fail(l, OpReadDir, dir); err != nil {
		return nil, err
	}
	return f.base.ReadDir(l, dir)
}

// Stat implements FS.
func (f *Fault) Stat(l Label, name string) (int64, error) {
	if err := f.fail(l, OpStat, name); err != nil {
		return 0, err
	}
	return f.base.Stat(l, name)
}

// SyncDir implements FS.
func (f *Fault) SyncDir(l Label, dir string) error {
	if err := f.fail(l, OpSyncDir, dir); err != nil {
		return err
	}
	return f.base.SyncDir(l, dir)
}

// Lock implements FS.
func (f *Fault) Lock(l Label, name string) (io.Closer, error) {
	if err := f.fail(l, OpLock, name); err != nil {
		return nil, err
	}
	return f.base.Lock(l, name)
}

// FreeBytes implements FS.
func (f *Fault) FreeBytes(dir string) (uint64, error) { return f.base.FreeBytes(dir) }

type faultFile struct {
	File
	fs *Fault
}

// ReadAt implements File.
func (f *faultFile) ReadAt(l Label, p []byte, off int64) (int, error) {
	r := f.fs.check(l, OpRead)
	if r == nil {
		return f.File.ReadAt(l, p, off)
	}
	if r.Err != nil {
		n := min(r.Partial, len(p))
		if n > 0 {
			n, _ = f.File.ReadAt(l, p[:n], off)
		}
		return n, pathError("read", f.Name(), r.Err)
	}
	n, err := f.File.ReadAt(l, p, off)
	invert(p[:n], r.Bit)
	return n, err
}

// WriteAt implements File.
func (f *faultFile) WriteAt(l Label, p []byte, off int64) (int, error) {
	r := f.fs.check(l, OpWrite)
	if r == nil {
		return f.File.WriteAt(l, p, off)
	}
	if r.Err == nil {
		q := append([]byte(nil), p...)
		invert(q, r.Bit)
		return f.File.WriteAt(l, q, off)
	}
	n := min(r.Partial, len(p))
	if n > 0 {
		n, _ = f.File.WriteAt(l, p[:n], off)
	}
	return n, pathError("write", f.Name(), r.Err)
}

// invert inverts a bit of p.
func invert(p []byte, bit int) {
	if len(p) > 0 {
		p[bit/8%len(p)] ^= 1 << (bit % 8)
	}
}

// FlipBit inverts one bit of a file, durably: bit is counted from the lowest of the first byte.
func FlipBit(fsys FS, l Label, name string, bit int64) error {
	f, err := fsys.Open(l, name)
	if err != nil {
		return err
	}
	defer f.Close()
	var p [1]byte
	if _, err := f.ReadAt(l, p[:], bit/8); err != nil {
		return err
	}
	invert(p[:], int(bit%8))
	if _, err := f.WriteAt(l, p[:], bit/8); err != nil {
		return err
	}
	return f.Sync(l)
}

// Sync implements File.
func (f *faultFile) Sync(l Label) error {
	if err := f.fs.fail(l, OpSync, f.Name()); err != nil {
		return err
	}
	return f.File.Sync(l)
}

// Truncate implements File.
func (f *faultFile) Truncate(l Label, size int64) error {
	if err := f.fs.fail(l, OpTruncate, f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(l, size)
}
