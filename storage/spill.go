package storage

import (
	"fmt"
	"io"
	"path/filepath"
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
	top   uint64 // newest version whose retired blocks were spilled
}

type spillFile struct {
	f    vfs.File
	size int64
	live int64
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

// write appends the block b of h, retired by version ver.
func (s *spill) write(ver uint64, h *btree.Handle, b *btree.Block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	no, f, err := s.file()
	if err != nil {
		return err
	}
	a := block.MakeAddress(no, uint32(f.size))
	p := block.BeginFrame(nil, &block.Frame{Kind: b.Kind, Level: b.Level})
	p = btree.AppendPayload(p, b)
	block.EndFrame(p, a)
	if _, err := f.f.WriteAt(labelSpill, p, f.size); err != nil {
		return err
	}
	f.size += int64(len(p))
	f.live += int64(len(p))
	s.top = max(s.top, ver)
	h.SetRef(block.Ref{Addr: a, Size: uint32(len(p))})
	h.SetFlag(btree.FlagDisk)
	return nil
}

// spillBatch is how many blocks are written while Apply waits for the retire list.
const spillBatch = 64

// Spill writes leaves and long values that were replaced before a checkpoint wrote them, and that an old pin still
// needs, to the scratch segment until target bytes of memory can be evicted. upTo is the newest decided snapshot: neither
// a checkpoint nor Rewind may go behind it afterwards. It returns the bytes that Evict can now free. While a checkpoint
// or a fork runs it does nothing. The engine calls it when evicting is not enough and Stats.Retired is large.
func (st *Store) Spill(upTo *Snapshot, target int64) (bytes int64, err error) {
	if !st.ckptMu.TryLock() {
		return 0, nil
	}
	defer st.ckptMu.Unlock()
	r := &st.retired
	m, at := 0, 0 // mark and handle, counted from the beginning of time
	for bytes < target {
		r.mu.Lock()
		at = max(at, r.base)
		for m < len(r.marks) && r.marks[m].end <= at {
			m++
		}
		if st.forkActive.Load() != nil || m >= len(r.marks) || r.marks[m].ver > upTo.ver {
			r.mu.Unlock()
			break
		}
		end := min(r.marks[m].end, at+spillBatch)
		for ; at < end && err == nil; at++ {
			var n int64
			n, err = st.spillOne(r.marks[m].ver, r.handles[at-r.base])
			bytes += n
		}
		m = 0 // the queue may move before the next batch
		r.mu.Unlock()
		if err != nil {
			return bytes, fmt.Errorf("spill: %w", err)
		}
	}
	return bytes, nil
}

// spillOne spills h if it can be spilled. retired.mu is held, so h is not buried meanwhile.
func (st *Store) spillOne(ver uint64, h *btree.Handle) (int64, error) {
	b := h.Block()
	if b == nil || h.Addr() != 0 || b.Kind == block.KindInner {
		return 0, nil
	}
	for _, k := range b.Kids {
		if !k.Flag(btree.FlagDisk) {
			return 0, nil
		}
	}
	if err := st.spill.write(ver, h, b); err != nil {
		return 0, err
	}
	st.books.dirty.Add(-b.Cost())
	return b.Cost(), nil
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

// dead notes that the frame at ref is not needed any more; a file without live frames goes.
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
		_ = f.f.Close() // scratch: errors do not matter, Open removes what stays
		_ = s.fs.Remove(labelSpill, s.name(no))
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for no, f := range s.files {
		_ = f.f.Close()
		_ = s.fs.Remove(labelSpill, s.name(no))
	}
	clear(s.files)
	return nil
}
