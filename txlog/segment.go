package txlog

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"herd/internal/invariant"
	"herd/internal/vfs"
)

// segment is one file of the log. off and unsynced are guarded by Local.mu.
type segment struct {
	number   uint64
	base     Position
	size     int64
	file     vfs.File
	opened   bool  // file was opened for groups: past the page cache where that works
	off      int64 // where the next group goes
	unsynced bool
	archived bool // guarded by Local.mu, as copying
	copying  bool // to the archive
}

func (s *segment) end() Position { return s.base + Position(s.size) }

// allocState is the state of preparing segments ahead, under Local.mu.
type allocState struct {
	running bool
	gen     int   // finished attempts
	err     error // of the last attempt
}

func (a *allocState) failure() error {
	if a.err == nil {
		return ErrNoSpace
	}
	return a.err
}

// nextSegment makes the first prepared segment the current one. l.mu is held.
func (l *Local) nextSegment() {
	invariant.Assert(len(l.ready) > 0, "txlog: reserved bytes without a segment")
	l.old = append(l.old, l.cur)
	l.cur = l.ready[0]
	l.ready = append(l.ready[:0:0], l.ready[1:]...)
	if l.arch != nil {
		l.arch.sealed()
	}
}

// lastSegment returns the newest segment there is. l.mu is held.
func (l *Local) lastSegment() *segment {
	if n := len(l.ready); n > 0 {
		return l.ready[n-1]
	}
	return l.cur
}

// prepareAhead starts preparing a segment unless that runs already. l.mu is held.
func (l *Local) prepareAhead() {
	if l.alloc.running || l.closed || l.err != nil || len(l.ready) > 0 && l.available() >= l.aheadMin() {
		return
	}
	l.alloc.running = true
	l.allocWG.Add(1)
	go l.prepare()
}

// prepare makes one segment ahead.
func (l *Local) prepare() {
	defer l.allocWG.Done()
	l.allocMu.Lock()
	l.mu.Lock()
	last := l.lastSegment()
	number, base := last.number+1, last.end()
	size := min(last.size*2, l.o.SegmentBytesMax)
	l.mu.Unlock()
	s, err := l.createSegment(number, base, size)
	if err != nil && size > l.o.SegmentBytes && errors.Is(err, ErrNoSpace) {
		s, err = l.createSegment(number, base, l.o.SegmentBytes)
	}
	l.mu.Lock()
	l.alloc.running = false
	l.alloc.gen++
	l.alloc.err = err
	if err == nil {
		l.ready = append(l.ready, s)
	} else if !errors.Is(err, ErrNoSpace) {
		l.alloc.err = fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	l.space.Broadcast()
	l.mu.Unlock()
	l.allocMu.Unlock()
	if vfs.SyncFailed(err) {
		l.fail(err)
	}
}

// createSegment makes a zero-filled segment file and makes it durable.
func (l *Local) createSegment(number uint64, base Position, size int64) (*segment, error) {
	need := uint64(size) + l.o.KeepFreeBytes
	if l.o.CheckpointBytes != nil {
		need += uint64(size) + uint64(l.o.CheckpointBytes())
	}
	if free, err := l.o.FS.FreeBytes(l.o.Dir); err == nil && free < need {
		return nil, fmt.Errorf("%w: a segment of %d bytes is needed, %d bytes are free, and a checkpoint needs some", ErrNoSpace, size, free)
	}
	name := segmentName(l.o.Dir, number)
	f, err := l.o.FS.Create(labelSegment, name)
	if errors.Is(err, fs.ErrExist) { // left by an attempt that failed
		if err = l.o.FS.Remove(labelSegment, name); err == nil {
			f, err = l.o.FS.Create(labelSegment, name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("create log segment %s: %w", name, err)
	}
	f = l.direct(f)
	if err = fillSegment(f, number, base, size); err == nil {
		err = l.o.FS.SyncDir(labelSegment, l.o.Dir)
	}
	if err != nil {
		f.Close()
		_ = l.o.FS.Remove(labelSegment, name)
		if errors.Is(err, syscall.ENOSPC) {
			return nil, fmt.Errorf("%w: fill %s", ErrNoSpace, name)
		}
		return nil, fmt.Errorf("fill log segment %s: %w", name, err)
	}
	return &segment{number: number, base: base, size: size, file: f, opened: true, off: segmentHeader}, nil
}

// direct lets what is written durably pass the page cache by; what is not is to wait there.
func (l *Local) direct(f vfs.File) vfs.File {
	if l.o.Mode != SyncAlways {
		return f
	}
	return vfs.Direct(f)
}

// zeros is written to segments; syncs between the pieces keep one large flush from delaying commits.
var zeros = vfs.AlignedBuffer(256 << 10)

func fillSegment(f vfs.File, number uint64, base Position, size int64) error {
	for off := int64(0); off < size; off += int64(len(zeros)) {
		n := min(int64(len(zeros)), size-off)
		if _, err := f.WriteAt(labelSegment, zeros[:n], off); err != nil {
			return err
		}
		if off%(4<<20) == 0 && off > 0 {
			if err := f.Sync(labelSegment); err != nil {
				return err
			}
		}
	}
	if err := f.Sync(labelSegment); err != nil {
		return err
	}
	// The header goes last: a segment whose header verifies is zero behind it or full of recycled groups.
	if _, err := f.WriteAt(labelSegment, encodeSegment(number, base, size), 0); err != nil {
		return err
	}
	return f.Sync(labelSegment)
}

// readyMax is the number of prepared segments above which old ones are removed and not recycled.
const readyMax = 2

// Truncate implements Log: segments wholly below the position are recycled or removed.
func (l *Local) Truncate(below Position) error {
	l.allocMu.Lock()
	defer l.allocMu.Unlock()
	l.slim()
	for {
		l.mu.Lock()
		if len(l.old) == 0 || l.old[0].end() > below || l.old[0].unsynced && l.o.Mode != SyncNever || l.err != nil || l.mustWait(l.old[0]) {
			l.mu.Unlock()
			return nil
		}
		s := l.old[0]
		l.old = append(l.old[:0:0], l.old[1:]...)
		last := l.lastSegment()
		recycle := len(l.ready) < readyMax && s.size >= last.size
		l.mu.Unlock()
		var err error
		if recycle {
			err = l.recycle(s, last.number+1, last.end())
		} else {
			err = l.removeSegment(s)
		}
		if vfs.SyncFailed(err) {
			l.fail(err)
		}
		if err != nil {
			return fmt.Errorf("truncate log below %d: %w", below, err)
		}
	}
}

// putBack undoes taking s off the old segments: it is still there, and a later one must not go before it.
func (l *Local) putBack(s *segment) {
	l.mu.Lock()
	l.old = append([]*segment{s}, l.old...)
	l.mu.Unlock()
}

// slim gives large buffers back while nothing gathers: a load has ended.
func (l *Local) slim() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ends) == 0 && cap(l.buf) > spareMax {
		l.buf, l.ends = make([]byte, groupHeader, 64<<10), nil
	}
	if cap(l.spare) > spareMax {
		l.spare, l.spareEnd = make([]byte, groupHeader, 64<<10), nil
	}
}

// recycle gives s a new number and adds it to the prepared segments. The old name goes first: a crash in between
// leaves either the old segment or a file whose header does not match its name, which recovery removes.
func (l *Local) recycle(s *segment, number uint64, base Position) error {
	from, to := segmentName(l.o.Dir, s.number), segmentName(l.o.Dir, number)
	if err := l.o.FS.Rename(labelSegment, from, to); err != nil {
		l.putBack(s)
		return err
	}
	err := l.o.FS.SyncDir(labelSegment, l.o.Dir)
	if err == nil {
		_, err = s.file.WriteAt(labelSegment, encodeSegment(number, base, s.size), 0)
	}
	if err == nil {
		err = s.file.Sync(labelSegment)
	}
	if err == nil && !s.opened {
		var f vfs.File
		if f, err = l.o.FS.Open(labelSegment, to); err == nil {
			s.file.Close()
			s.file, s.opened = l.direct(f), true
		}
	}
	if err != nil { // the next segment that is prepared replaces it
		s.file.Close()
		return err
	}
	l.mu.Lock()
	l.ready = append(l.ready, &segment{number: number, base: base, size: s.size, file: s.file, opened: s.opened, off: segmentHeader})
	l.space.Broadcast()
	l.mu.Unlock()
	return nil
}

func (l *Local) removeSegment(s *segment) error {
	if err := l.o.FS.Remove(labelSegment, segmentName(l.o.Dir, s.number)); err != nil {
		l.putBack(s)
		return err
	}
	s.file.Close()
	return l.o.FS.SyncDir(labelSegment, l.o.Dir)
}
