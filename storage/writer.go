package storage

import (
	"errors"
	"fmt"
	"syscall"

	"herd/internal/vfs"
	"herd/storage/block"
	"herd/storage/btree"
)

// flushBytes is the size of one write to a segment file.
const flushBytes = 1 << 20

// segmentWriter appends frames. A block's address is in its handle as soon as the frame is in the buffer, since its
// parent comes next and stores it; the block may be evicted only when the buffer was written (FlagDisk). Guarded by
// Store.ckptMu.
type segmentWriter struct {
	st      *Store
	seg     *segment
	off     int64 // where buf goes
	buf     []byte
	inBuf   []*btree.Handle
	touched []*segment // written and not synced
	fresh   bool       // the folder has new names
	written int64
	fork    bool // writes for a fork: files stay out of manifests until a checkpoint has synced them
}

// append writes h's block b as a frame of tree t and gives h the address.
func (w *segmentWriter) append(t TreeID, h *btree.Handle, b *btree.Block, key []byte) error {
	if w.seg == nil || w.off+int64(len(w.buf)) >= w.st.o.Segment {
		if err := w.nextSegment(); err != nil {
			return err
		}
	}
	from := len(w.buf)
	a := block.MakeAddress(w.seg.no, uint32(w.off)+uint32(from))
	w.buf = block.BeginFrame(w.buf, &block.Frame{Kind: b.Kind, Level: b.Level, Tree: t, Key: key})
	w.buf = btree.AppendPayload(w.buf, b)
	block.EndFrame(w.buf[from:], a)
	h.SetRef(block.Ref{Addr: a, Size: uint32(len(w.buf) - from)})
	w.inBuf = append(w.inBuf, h)
	w.st.books.dirty.Add(-b.Cost())
	if len(w.buf) >= flushBytes {
		return w.flush()
	}
	return nil
}

func (w *segmentWriter) nextSegment() error {
	if err := w.flush(); err != nil {
		return err
	}
	if w.seg != nil {
		w.st.segments.shut(w.seg)
		w.seg = nil
	}
	seg, err := w.st.segments.create(w.fork)
	if err != nil {
		return err
	}
	w.seg, w.off, w.fresh = seg, seg.size, true
	w.touched = append(w.touched, seg)
	return nil
}

// flush writes the buffer. When that fails the blocks in it have no disk copy after all, and the segment is not used
// any further.
func (w *segmentWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	if len(w.touched) == 0 || w.touched[len(w.touched)-1] != w.seg {
		w.touched = append(w.touched, w.seg)
	}
	if err := w.room(); err != nil {
		w.abandon()
		return err
	}
	if _, err := w.seg.f.WriteAt(labelWrite, w.buf, w.off); err != nil {
		w.abandon()
		return fmt.Errorf("write segment %d: %w", w.seg.no, err)
	}
	vfs.StartWrite(w.seg.f, w.off, int64(len(w.buf))) // else the sync at the end would be one burst before every commit's
	w.st.segments.grow(w.seg, int64(len(w.buf)))
	w.st.segments.addLive(w.seg.no, int64(len(w.buf)))
	for _, h := range w.inBuf {
		h.SetFlag(btree.FlagDisk)
	}
	w.off += int64(len(w.buf))
	w.written += int64(len(w.buf))
	w.st.wrote.Add(int64(len(w.buf)))
	clear(w.inBuf)
	w.buf, w.inBuf = w.buf[:0], w.inBuf[:0]
	return nil
}

// room refuses what a fork writes when a checkpoint might not find the room it needs: only that frees any.
func (w *segmentWriter) room() error {
	o := &w.st.o
	if !w.fork || o.KeepFreeBytes == 0 {
		return nil
	}
	need := o.KeepFreeBytes + uint64(len(w.buf)) + uint64(max(0, w.st.books.dirty.Load()))
	if free, err := o.FS.FreeBytes(o.Dir); err == nil && free < need {
		return fmt.Errorf("write segment %d, %d bytes are free and a checkpoint needs some: %w", w.seg.no, free, syscall.ENOSPC)
	}
	return nil
}

// abandon takes the addresses of the buffered blocks back.
func (w *segmentWriter) abandon() {
	for _, h := range w.inBuf {
		w.st.books.dirty.Add(h.Block().Cost())
		h.ClearRef()
	}
	clear(w.inBuf)
	w.buf, w.inBuf = w.buf[:0], w.inBuf[:0]
	w.off = w.st.o.Segment // the next frame opens a new segment
}

// sync makes everything written durable. A failure is final for the store: the kernel may have dropped the pages, and
// a later sync would not say so.
func (w *segmentWriter) sync() error {
	if err := w.flush(); err != nil {
		return err
	}
	for _, seg := range w.touched {
		if !w.st.segments.has(seg) { // everything in it died before it was synced, and it was removed
			continue
		}
		if err := seg.f.Sync(labelSync); err != nil {
			return w.st.fail(fmt.Errorf("sync segment %d: %w", seg.no, err))
		}
	}
	w.st.segments.synced(w.touched)
	w.touched = w.touched[:0]
	if w.fresh {
		if err := w.st.o.FS.SyncDir(labelSync, w.st.o.Dir); err != nil {
			return w.st.fail(fmt.Errorf("sync folder of segments: %w", err))
		}
		w.fresh = false
	}
	return nil
}

// leave ends the writing for a fork: its files are the next checkpoint's to sync.
func (w *segmentWriter) leave() {
	if w.seg != nil {
		w.st.segments.shut(w.seg)
	}
	w.st.unsyncedMu.Lock()
	w.st.unsynced = append(w.st.unsynced, w.touched...)
	w.st.unsyncedMu.Unlock()
	w.seg, w.touched = nil, nil
}

// takeUnsynced returns the files that forks left.
func (st *Store) takeUnsynced() []*segment {
	st.unsyncedMu.Lock()
	defer st.unsyncedMu.Unlock()
	list := st.unsynced
	st.unsynced = nil
	return list
}

// ErrBroken marks the error of a sync that failed: the store writes nothing any more and the server must stop.
var ErrBroken = errors.New("storage cannot be written any more")

func (st *Store) fail(err error) error {
	if !errors.Is(err, ErrBroken) {
		err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	st.broken.CompareAndSwap(nil, &err)
	return err
}
