package storage

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"herd/internal/vfs"
	"herd/storage/block"
	"herd/storage/btree"
)

const labelRead vfs.Label = "storage.read"

// loads makes sure that a block is read once however many readers miss it at the same time.
type loads struct {
	mu    [64]sync.Mutex // by handle
	count atomic.Uint64
}

// bufs are read buffers.
var bufs = sync.Pool{New: func() any { return new([]byte) }}

// BlockError is a block of a tree that cannot be read. Err says which file and place, and is ErrCorrupt or an I/O error.
type BlockError struct {
	Tree TreeID
	Err  error
}

// Error implements error.
func (e *BlockError) Error() string { return fmt.Sprintf("load block of tree %d: %v", e.Tree, e.Err) }

// Unwrap gives the reason.
func (e *BlockError) Unwrap() error { return e.Err }

// LoadBlock implements btree.Loader: it reads h's frame, checks it, and publishes the block.
func (st *Store) LoadBlock(t TreeID, h *btree.Handle) (*btree.Block, error) {
	mu := &st.loads.mu[uintptr(unsafe.Pointer(h))>>6%64]
	mu.Lock()
	if b := h.Block(); b != nil {
		mu.Unlock()
		return b, nil
	}
	b, err := st.readBlock(t, h)
	if err != nil {
		mu.Unlock()
		return nil, &BlockError{Tree: t, Err: err}
	}
	st.loads.count.Add(1)
	grown := st.books.publish(h, b)
	mu.Unlock()
	st.account(grown)
	st.evictForLoad()
	return b, nil
}

// readBlock reads and decodes the frame of h.
func (st *Store) readBlock(t TreeID, h *btree.Handle) (*btree.Block, error) {
	ref := h.Ref()
	if ref.Addr == 0 {
		return nil, fmt.Errorf("block has neither memory nor disk: %w", ErrCorrupt)
	}
	bp := bufs.Get().(*[]byte)
	defer func() {
		if cap(*bp) <= 1<<20 {
			bufs.Put(bp)
		}
	}()
	f, err := st.readFrame(ref, bp)
	if err != nil {
		return nil, err
	}
	if f.Tree != t && !ref.Addr.Scratch() {
		return nil, fmt.Errorf("file %s at %d: the frame belongs to tree %d: %w", st.fileOf(ref.Addr), ref.Addr.Offset(), f.Tree, ErrCorrupt)
	}
	b, err := btree.Decode(&f)
	if err != nil {
		return nil, fmt.Errorf("file %s at %d: %w", st.fileOf(ref.Addr), ref.Addr.Offset(), err)
	}
	return b, nil
}

// readFrame reads the frame at ref into *bp.
func (st *Store) readFrame(ref block.Ref, bp *[]byte) (block.Frame, error) {
	if cap(*bp) < int(ref.Size) {
		*bp = make([]byte, ref.Size)
	}
	p := (*bp)[:ref.Size]
	var err error
	if ref.Addr.Scratch() {
		err = st.spill.read(p, ref.Addr)
	} else {
		err = st.segments.read(p, ref.Addr)
	}
	if err != nil {
		return block.Frame{}, err
	}
	f, err := block.DecodeFrame(p, ref.Addr)
	if err != nil {
		return f, fmt.Errorf("file %s at %d: %w", st.fileOf(ref.Addr), ref.Addr.Offset(), err)
	}
	return f, nil
}

// fileOf returns the name of the file that holds a.
func (st *Store) fileOf(a block.Address) string {
	if a.Scratch() {
		return "of private blocks" // never read after a restart
	}
	return st.segments.name(a.Segment())
}

// evictForLoad keeps a reader that loads more than fits from growing memory without bound. It gives up for a while when
// nothing can be evicted: then only a checkpoint helps.
func (st *Store) evictForLoad() {
	limit := st.memLimit.Load()
	over := st.books.resident.Load() - limit
	if limit == 0 || over <= 0 {
		return
	}
	if st.evictPause.Load() > 0 {
		st.evictPause.Add(-1)
		return
	}
	if !st.evictMu.TryLock() {
		return
	}
	want := over + limit/64
	if freed := st.evictLocked(want); freed < want {
		st.evictPause.Store(1024)
	}
	st.evictMu.Unlock()
}

// Evict frees at least target bytes of cold blocks that have a disk copy, if there are as many, and returns the bytes
// freed. The engine calls it when the process is over its memory budget; it may run beside everything.
func (st *Store) Evict(target int64) (freed int64) {
	if target <= 0 {
		return 0
	}
	st.evictMu.Lock()
	defer st.evictMu.Unlock()
	return st.evictLocked(target)
}

func (st *Store) evictLocked(target int64) int64 {
	if st.closed.Load() {
		return 0
	}
	freed, blocks := st.books.evict(target)
	if blocks > 0 {
		st.evictions.Add(uint64(blocks))
		st.evictVer.Store(st.ver.Load())
	}
	st.account(-freed)
	return freed
}

// evictCalm is how many versions after an eviction Touch still expects another.
const evictCalm = 1 << 16

// evicting reports whether blocks must be expected to be evicted: memory is nearly full, or something was evicted a short
// while ago, perhaps because others than blocks have filled it.
func (st *Store) evicting() bool {
	limit := st.memLimit.Load()
	if limit > 0 && st.books.resident.Load() > limit/4*3 {
		return true
	}
	last := st.evictVer.Load()
	return last > 0 && st.ver.Load()-last < evictCalm
}

// SetMemLimit changes Options.MemLimit. The engine calls it when the share of this database changes.
func (st *Store) SetMemLimit(n int64) { st.memLimit.Store(n) }

// account moves the books of the process.
func (st *Store) account(bytes int64) {
	if bytes > 0 {
		st.o.Mem.Force(bytes)
	} else if bytes < 0 {
		st.o.Mem.Shrink(-bytes)
	}
}

// Pin keeps the blocks that Touch found in memory. The zero value keeps nothing.
type Pin struct{ held *[]*btree.Handle }

var pinLists = sync.Pool{New: func() any { return new([]*btree.Handle) }}

// Release lets the blocks go. A Pin is released once.
func (p Pin) Release() {
	if p.held == nil {
		return
	}
	for _, h := range *p.held {
		h.Unpin()
	}
	clear(*p.held)
	*p.held = (*p.held)[:0]
	pinLists.Put(p.held)
}

// LeavesAtOnce returns how many leaves at random may be changed before they have to be written, so that they take a quarter of memory. 0:
// there is no limit, or what is on disk fits too.
func (st *Store) LeavesAtOnce() int {
	limit := st.memLimit.Load()
	if _, _, live := st.segments.totals(); limit == 0 || live <= limit/2 {
		return 0
	}
	return int(limit / 4 / int64(st.page))
}

// Prefetch loads the blocks on the ways that cs needs in s, several at a time, and does not keep them: whoever goes there next waits for
// the disk less. What cannot be read is for that one to find out.
func (st *Store) Prefetch(s *Snapshot, cs ChangeSet, readers int) {
	const step = 16
	var at atomic.Int64
	var all sync.WaitGroup
	for range min(readers, len(cs)/step+1) {
		all.Go(func() {
			for {
				from := int(at.Add(step)) - step
				if from >= len(cs) {
					return
				}
				for i := range cs[from:min(from+step, len(cs))] {
					c := &cs[from+i]
					if tr := s.roots.get(c.Tree); tr != nil && class(c.Op) == 1 {
						_ = btree.Path(st, tr.id, tr.root.H, c.Key, func(*btree.Handle) {})
					}
				}
			}
		})
	}
	all.Wait()
}

// Touch loads every block on the ways that cs needs in s and keeps them in memory until the pin is released, so that
// Apply finds them. While memory is plentiful nothing is evicted and Touch keeps no list. A tree that s does not have is
// passed over: it is made by cs itself, or Apply reports it.
func (st *Store) Touch(s *Snapshot, cs ChangeSet) (Pin, error) {
	var p Pin
	keep := func(*btree.Handle) {}
	if st.evicting() {
		p.held = pinLists.Get().(*[]*btree.Handle)
		keep = func(h *btree.Handle) {
			h.Pin()
			*p.held = append(*p.held, h)
		}
	}
	for i := range cs {
		if class(cs[i].Op) != 1 {
			continue
		}
		tr := s.roots.get(cs[i].Tree)
		if tr == nil {
			continue
		}
		if err := btree.Path(st, tr.id, tr.root.H, cs[i].Key, keep); err != nil {
			p.Release()
			return Pin{}, err
		}
	}
	return p, nil
}
