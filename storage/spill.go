package storage

import (
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"herd/internal/vfs"
	"herd/storage/block"
	"herd/storage/btree"
)

const (
	labelSpill  vfs.Label = "storage.spill"
	spillSuffix           = ".spill"
	spillBytes            = 256 << 20 // bytes of one scratch file
)

// spill is the scratch segment: blocks that were replaced before any checkpoint wrote them, and that an old pin still
// needs, move there when memory is short. Nothing in it survives the process.
type spill struct {
	mu    sync.Mutex
	fs    vfs.FS
	dir   string
	files map[uint32]*spillFile
	next  uint32
	gone  []spillGone
	top   uint64 // newest version whose retired blocks were spilled
}

type spillFile struct {
	f    vfs.File
	size int64
	live int64
}

// spillGone is a file that nobody needs.
type spillGone struct {
	no   uint32
	file *spillFile
}

// open removes the files of a former process.
func (s *spill) open(fs vfs.FS, dir string) error {
	s.fs, s.dir, s.files, s.next = fs, dir, map[uint32]*spillFile{}, block.ScratchBase
	names, err := fs.ReadDir(labelSpill, dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if strings.HasSuffix(n, spillSuffix) {
			if err := fs.Remove(labelSpill, filepath.Join(dir, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *spill) name(no uint32) string {
	return filepath.Join(s.dir, fmt.Sprintf("%08x%s", no, spillSuffix))
}

// newest returns the newest version whose retired blocks were spilled: an older snapshot cannot be checkpointed.
func (s *spill) newest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.top
}

// file returns the scratch file to append to.
func (s *spill) file() (uint32, *spillFile, error) {
	if f := s.files[s.next]; f != nil && f.size < spillBytes {
		return s.next, f, nil
	}
	s.next++
	f, err := s.fs.Create(labelSpill, s.name(s.next))
	if err != nil {
		return 0, nil, err
	}
	s.files[s.next] = &spillFile{f: f}
	return s.next, s.files[s.next], nil
}

// write appends the block b of h, retired by version ver, and tells h.
func (s *spill) write(ver uint64, h *btree.Handle, b *btree.Block) error {
	ref, err := s.append(ver, b)
	if err != nil {
		return err
	}
	h.SetRef(ref)
	h.SetFlag(btree.FlagDisk)
	return nil
}

// append writes the block b and returns its place, which is the caller's to give to its handle or to dead. The lock is
// not held while the disk works: commits take it to say what is dead.
func (s *spill) append(ver uint64, b *btree.Block) (block.Ref, error) {
	p := block.BeginFrame(nil, &block.Frame{Kind: b.Kind, Level: b.Level})
	p = btree.AppendPayload(p, b)
	s.mu.Lock()
	no, f, err := s.file()
	if err != nil {
		s.mu.Unlock()
		return block.Ref{}, err
	}
	off := f.size
	f.size += int64(len(p))
	f.live += int64(len(p))
	s.top = max(s.top, ver)
	s.mu.Unlock()
	ref := block.Ref{Addr: block.MakeAddress(no, uint32(off)), Size: uint32(len(p))}
	block.EndFrame(p, ref.Addr)
	if _, err := f.f.WriteAt(labelSpill, p, off); err != nil {
		s.dead(ref)
		return block.Ref{}, err
	}
	return ref, nil
}

// spillBatch is how many blocks are written between two looks at the retire list.
const spillBatch = 64

// spillable is a block that may be spilled: handle number at of the retire list, counted from the beginning of time.
type spillable struct {
	at  int
	ver uint64 // that retired it
	h   *btree.Handle
	b   *btree.Block
}

// Spill writes leaves and long values that were replaced before a checkpoint wrote them, and that an old pin still
// needs, to the scratch segment until target bytes of memory can be evicted. upTo is the newest decided snapshot: neither
// a checkpoint nor Rewind may go behind it afterwards. It returns the bytes that Evict can now free. While a checkpoint
// or a fork runs it does nothing. The engine calls it when evicting is not enough and Stats.Retired is large. Commits go on
// meanwhile.
func (st *Store) Spill(upTo *Snapshot, target int64) (bytes int64, err error) {
	if !st.ckptMu.TryLock() {
		return 0, nil
	}
	defer st.ckptMu.Unlock()
	st.spill.sweep()
	batch := make([]spillable, 0, spillBatch)
	for more := true; more && bytes < target && err == nil; {
		if batch, more = st.planSpill(batch[:0], upTo.ver); len(batch) == 0 {
			continue
		}
		var n int64
		n, err = st.spillAll(batch)
		bytes += n
		clear(batch)
	}
	if err != nil {
		return bytes, fmt.Errorf("spill: %w", err)
	}
	return bytes, nil
}

// planSpill looks at the next part of the retire list, up to what version ver has retired, and adds to batch what can be
// spilled. more is false at the end; then the next call begins anew, as what could not be spilled may have changed.
func (st *Store) planSpill(batch []spillable, ver uint64) (_ []spillable, more bool) {
	r := &st.retired
	r.mu.Lock()
	defer r.mu.Unlock()
	at, end := max(st.spillAt, r.q.base), r.retiredBy(ver)
	if st.forkActive.Load() != nil || at >= end {
		st.spillAt = 0
		return batch, false
	}
	m := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].end > at })
	for place, hs := range r.q.pieces(at, min(end, at+countStep)) {
		for i, h := range hs {
			if len(batch) == cap(batch) {
				st.spillAt = place + i
				return batch, true
			}
			for r.marks[m].end <= place+i {
				m++
			}
			if h != nil && canSpill(h) {
				batch = append(batch, spillable{place + i, r.marks[m].ver, h, h.Block()})
			}
		}
	}
	st.spillAt = min(end, at+countStep)
	return batch, true
}

// canSpill tells whether h is a block that only memory has and that needs nothing of the kind. retired.mu is held, so h
// is not buried meanwhile.
func canSpill(h *btree.Handle) bool {
	b := h.Block()
	if b == nil || h.Addr() != 0 || b.Kind == block.KindInner {
		return false
	}
	for _, k := range b.Kids {
		if !k.Flag(btree.FlagDisk) {
			return false
		}
	}
	return true
}

// spillAll writes blocks, and then gives the places to those that are still on the retire list.
func (st *Store) spillAll(batch []spillable) (bytes int64, err error) {
	refs := make([]block.Ref, 0, len(batch))
	for _, s := range batch {
		var ref block.Ref
		if ref, err = st.spill.append(s.ver, s.b); err != nil {
			break
		}
		refs = append(refs, ref)
	}
	r := &st.retired
	r.mu.Lock()
	defer r.mu.Unlock()
	forked := st.forkActive.Load() != nil // what its base does not lack may come to life again
	for i, ref := range refs {
		s := &batch[i]
		if forked || r.q.get(s.at) != s.h {
			st.spill.dead(ref)
			continue
		}
		s.h.SetRef(ref)
		s.h.SetFlag(btree.FlagDisk)
		st.books.dirty.Add(-s.b.Cost())
		bytes += s.b.Cost()
	}
	return bytes, err
}

// read fills p from a.
func (s *spill) read(p []byte, a block.Address) error {
	s.mu.Lock()
	f := s.files[a.Segment()]
	s.mu.Unlock()
	if f == nil {
		return fmt.Errorf("scratch file %x does not exist: %w", a.Segment(), ErrCorrupt)
	}
	n, err := f.f.ReadAt(labelSpill, p, int64(a.Offset()))
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		err = ErrCorrupt
	}
	return fmt.Errorf("read scratch file %x at %d: %w", a.Segment(), a.Offset(), err)
}

// dead notes that the frame at ref is not needed any more; a file without live frames goes with the next sweep.
func (s *spill) dead(ref block.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	no := ref.Addr.Segment()
	f := s.files[no]
	if f == nil {
		return
	}
	if f.live -= int64(ref.Size); f.live == 0 {
		delete(s.files, no)
		s.gone = append(s.gone, spillGone{no, f})
	}
}

// sweep removes the files that nobody needs.
func (s *spill) sweep() {
	s.mu.Lock()
	gone := s.gone
	s.gone = nil
	s.mu.Unlock()
	for _, g := range gone {
		_ = g.file.f.Close() // scratch: errors do not matter, Open removes what stays
		_ = s.fs.Remove(labelSpill, s.name(g.no))
	}
}

// bytes returns the size of all scratch files.
func (s *spill) bytes() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		n += f.size
	}
	return n
}

// close removes all files.
func (s *spill) close() error {
	s.sweep()
	s.mu.Lock()
	defer s.mu.Unlock()
	for no, f := range s.files {
		_ = f.f.Close()
		_ = s.fs.Remove(labelSpill, s.name(no))
	}
	clear(s.files)
	return nil
}
