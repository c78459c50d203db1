package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"herd/internal/vfs"
	"herd/storage/block"
)

const (
	labelSegment     vfs.Label = "storage.segment"
	labelWrite       vfs.Label = "storage.write"
	labelSync        vfs.Label = "storage.sync"
	segmentHeader              = 16
	segmentSuffix              = ".seg"
	segmentMagic               = "HERDSEG1"
	segmentSizeMax             = 1 << 31
	segmentSizeUsual           = 64 << 20
)

// segment is one append-only file of frames. It begins with magic (8), number (u32) and CRC32C of both (u32).
type segment struct {
	no   uint32
	f    vfs.File
	size int64 // bytes written; guarded by segments.mu
	live int64 // bytes of frames that a version, a pin or the manifest needs; guarded by segments.mu
	// listed: the durable manifest names the file, so it must not disappear. Guarded by segments.mu.
	listed bool
	// open: a writer appends to the file. Guarded by segments.mu.
	open bool
	// unsynced: a fork wrote to the file and nobody has synced it: no manifest may name it. Guarded by segments.mu.
	unsynced bool
}

// segments is the set of segment files.
type segments struct {
	mu   sync.RWMutex
	fs   vfs.FS
	dir  string
	all  map[uint32]*segment
	next uint32
}

func (s *segments) name(no uint32) string {
	return filepath.Join(s.dir, fmt.Sprintf("%08d%s", no, segmentSuffix))
}

// headerOf returns the first bytes of segment no.
func headerOf(no uint32) []byte {
	p := append(make([]byte, 0, segmentHeader), segmentMagic...)
	p = binary.LittleEndian.AppendUint32(p, no)
	return binary.LittleEndian.AppendUint32(p, crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)))
}

// headerError tells a damaged header from one of a later format, whose magic has another last byte.
func headerError(p []byte) error {
	last := len(segmentMagic) - 1
	whole := crc32.Checksum(p[:segmentHeader-4], crc32.MakeTable(crc32.Castagnoli)) == binary.LittleEndian.Uint32(p[segmentHeader-4:])
	if string(p[:last]) == segmentMagic[:last] && p[last] > segmentMagic[last] && whole {
		return fmt.Errorf("format %c: %w", p[last], ErrNewerFormat)
	}
	return ErrCorrupt
}

// open opens the files of the manifest and removes all others: leftovers of a checkpoint that did not finish.
func (s *segments) open(fs vfs.FS, dir string, m Manifest) error {
	s.fs, s.dir, s.all, s.next = fs, dir, map[uint32]*segment{}, max(m.NextSegment, 1)
	if err := fs.MkdirAll(labelSegment, dir); err != nil {
		return err
	}
	if err := fs.SyncDir(labelSegment, filepath.Dir(dir)); err != nil { // a manifest must not outlive the folder
		return err
	}
	for _, e := range m.Segments {
		f, err := fs.Open(labelSegment, s.name(e.No))
		if err != nil {
			return fmt.Errorf("open segment %d of the manifest: %w", e.No, err)
		}
		s.all[e.No] = &segment{no: e.No, f: f, size: e.Size, live: e.Live, listed: true}
		size, err := f.Size()
		if err != nil {
			return err
		}
		if size < e.Size {
			return fmt.Errorf("segment %s has %d bytes, the manifest says %d: %w", f.Name(), size, e.Size, ErrCorrupt)
		}
		head := make([]byte, segmentHeader)
		if _, err := f.ReadAt(labelRead, head, 0); err != nil && err != io.EOF {
			return fmt.Errorf("read header of segment %s: %w", f.Name(), err)
		}
		if string(head) != string(headerOf(e.No)) {
			return fmt.Errorf("segment %s: header: %w", f.Name(), headerError(head))
		}
	}
	names, err := fs.ReadDir(labelSegment, dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		base, ok := strings.CutSuffix(n, segmentSuffix)
		no, err := strconv.ParseUint(base, 10, 32)
		if !ok || err != nil {
			continue
		}
		if s.all[uint32(no)] == nil {
			if err := fs.Remove(labelSegment, filepath.Join(dir, n)); err != nil {
				return fmt.Errorf("remove unused segment: %w", err)
			}
		}
		s.next = max(s.next, uint32(no)+1)
	}
	return nil
}

// create makes the next segment file, open; unsynced keeps it out of manifests.
func (s *segments) create(unsynced bool) (*segment, error) {
	s.mu.Lock()
	no := s.next
	s.next++
	s.mu.Unlock()
	f, err := s.fs.Create(labelSegment, s.name(no))
	if err != nil {
		return nil, fmt.Errorf("create segment %d: %w", no, err)
	}
	if _, err := f.WriteAt(labelWrite, headerOf(no), 0); err != nil {
		f.Close()
		_ = s.fs.Remove(labelSegment, s.name(no)) // empty; Open removes it otherwise
		return nil, fmt.Errorf("write header of segment %d: %w", no, err)
	}
	seg := &segment{no: no, f: f, size: segmentHeader, open: true, unsynced: unsynced}
	s.mu.Lock()
	s.all[no] = seg
	s.mu.Unlock()
	return seg, nil
}

// read fills p from a. The lock is not held meanwhile: who books live bytes must not wait for the disk, and a file that
// somebody may read is not removed.
func (s *segments) read(p []byte, a block.Address) error {
	s.mu.RLock()
	seg := s.all[a.Segment()]
	s.mu.RUnlock()
	if seg == nil {
		return fmt.Errorf("segment %d does not exist: %w", a.Segment(), ErrCorrupt)
	}
	n, err := seg.f.ReadAt(labelRead, p, int64(a.Offset()))
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("segment %s ends inside the frame at %d: %w", seg.f.Name(), a.Offset(), ErrCorrupt)
	}
	return fmt.Errorf("read segment %s at %d: %w", seg.f.Name(), a.Offset(), err)
}

// addLive changes the live bytes of a segment.
func (s *segments) addLive(no uint32, bytes int64) {
	s.mu.Lock()
	if seg := s.all[no]; seg != nil {
		seg.live += bytes
	}
	s.mu.Unlock()
}

// grow notes that bytes were written to the end of seg.
func (s *segments) grow(seg *segment, bytes int64) {
	s.mu.Lock()
	seg.size += bytes
	s.mu.Unlock()
}

// entries lists the segments for a manifest; less are bytes per segment that count as dead there. A segment without
// live bytes is left out: it goes when the last pin has gone.
func (s *segments) entries(less map[uint32]int64) (list []SegmentEntry, next uint32) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, seg := range s.all {
		if live := seg.live - less[seg.no]; live > 0 && !seg.unsynced {
			list = append(list, SegmentEntry{seg.no, seg.size, live})
		}
	}
	slices.SortFunc(list, func(a, b SegmentEntry) int { return int(a.No) - int(b.No) })
	return list, s.next
}

// switched notes which files the manifest that is durable now names.
func (s *segments) switched(list []SegmentEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.all {
		_, seg.listed = slices.BinarySearchFunc(list, seg.no, func(e SegmentEntry, no uint32) int { return int(e.No) - int(no) })
	}
}

// shut notes that nobody appends to seg any more.
func (s *segments) shut(seg *segment) {
	s.mu.Lock()
	seg.open = false
	s.mu.Unlock()
}

// has reports whether seg was not removed.
func (s *segments) has(seg *segment) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.all[seg.no] == seg
}

// synced notes that the files are durable.
func (s *segments) synced(list []*segment) {
	s.mu.Lock()
	for _, seg := range list {
		seg.unsynced = false
	}
	s.mu.Unlock()
}

// removeDead deletes the segments that have no live bytes, are not in the manifest and are not being written, and
// returns their number.
func (s *segments) removeDead() (n int, err error) {
	var dead []*segment
	s.mu.Lock()
	for no, seg := range s.all {
		if seg.live <= 0 && !seg.listed && !seg.open {
			delete(s.all, no)
			dead = append(dead, seg)
		}
	}
	s.mu.Unlock()
	for _, seg := range dead {
		_ = seg.f.Close() // nothing unsynced is wanted
		if e := s.fs.Remove(labelSegment, s.name(seg.no)); e != nil && err == nil {
			err = fmt.Errorf("remove dead segment: %w", e)
		}
	}
	return len(dead), err
}

// totals returns the number of files, their bytes and their live bytes.
func (s *segments) totals() (n int, size, live int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, seg := range s.all {
		n++
		size += seg.size
		live += seg.live
	}
	return n, size, live
}

// close closes all files.
func (s *segments) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.all {
		if e := seg.f.Close(); e != nil && err == nil {
			err = e
		}
	}
	s.all = map[uint32]*segment{}
	return err
}
