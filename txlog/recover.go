package txlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"herd/internal/vfs"
)

// recover builds the list of segments, replays from the given position and leaves l ready for the writer.
func (l *Local) recover(from Position, replay func(Position, Entry) error) error {
	segs, err := l.openSegments()
	if err != nil {
		return err
	}
	// A process that was killed may have left groups in the machine's page cache alone. They count, and what their replay
	// makes may become durable before the log is used, so they must be durable first. See also rewrite.
	for _, s := range segs {
		if err := s.file.Sync(labelSync); err != nil {
			return err
		}
	}
	if len(segs) == 0 {
		if from != 0 {
			return &CorruptError{File: l.o.Dir, Reason: fmt.Sprintf("no segment holds position %d", from)}
		}
		l.cur, err = l.createSegment(1, 0, l.o.SegmentBytes)
		if err != nil {
			return err
		}
		l.prevEnd, l.written = l.cur.base, l.cur.base
		return nil
	}
	if l.o.OnReplay != nil {
		l.o.OnReplay(max(from, segs[0].base), max(from, segs[len(segs)-1].end()))
	}
	sc := scanner{segs: segs, good: l.blocks.note, replay: func(p Position, e Entry) error {
		l.last = max(l.last, e.Seq)
		return replay(p, e)
	}}
	i, off, err := sc.scan(from)
	if err != nil {
		return err
	}
	l.old, l.cur = segs[:i:i], segs[i]
	l.cur.off = off
	if l.o.Mode != SyncNever {
		if err := l.rewrite(segs[:i+1], max(sc.synced, from), sc.prevEnd); err != nil {
			return err
		}
	}
	for _, s := range l.old {
		s.off = s.size // where their groups end is not known
	}
	l.prevEnd, l.synced, l.written = sc.prevEnd, sc.prevEnd, sc.prevEnd
	l.marks.floor = max(segs[0].base, from)
	if sc.prevEnd >= from {
		l.marks.add(l.last, sc.prevEnd)
	}
	return l.cutTail(segs[i+1:])
}

// openSegments opens the segment files in order, and removes those that were prepared and never written.
func (l *Local) openSegments() ([]*segment, error) {
	segs, unused, err := listSegments(l.o.FS, l.o.Dir)
	if err != nil {
		return nil, err
	}
	for i := len(unused) - 1; i >= 0; i-- { // a crash must not leave a gap
		if err = l.o.FS.Remove(labelSegment, unused[i]); err == nil {
			err = l.o.FS.SyncDir(labelSegment, l.o.Dir)
		}
		if err != nil {
			closeSegments(segs)
			return nil, err
		}
		l.o.Logger.Info("removed an unused log segment", "file", unused[i])
	}
	return segs, nil
}

func closeSegments(segs []*segment) {
	for _, s := range segs {
		s.file.Close()
	}
}

// listSegments opens the segment files in order and checks that they continue each other. unused are the last ones, from
// the first whose header does not verify, when nothing was written to any of them: a crash came while one was prepared.
func listSegments(fsys vfs.FS, dir string) (segs []*segment, unused []string, err error) {
	names, err := fsys.ReadDir(labelSegment, dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			closeSegments(segs)
			segs = nil
		}
	}()
	var first *badSegment
	for _, name := range names {
		n, ok := parseSegmentName(name)
		if !ok {
			continue
		}
		s, err := openSegment(fsys, dir, n)
		var bad *badSegment
		switch {
		case errors.As(err, &bad):
			if first == nil {
				first = bad
			}
			if bad.hasGroups {
				return segs, nil, first
			}
			unused = append(unused, bad.File)
			continue
		case err != nil:
			return segs, nil, err
		case first != nil:
			_, err := findGroup(s.file, segmentHeader, s.size, func(g group) bool { return g.segment == n })
			s.file.Close()
			if err == nil {
				return segs, nil, first
			}
			if !errors.Is(err, errNoGroup) {
				return segs, nil, err
			}
			unused = append(unused, s.file.Name())
			continue
		}
		segs = append(segs, s)
		if i := len(segs) - 1; i > 0 && (segs[i-1].number+1 != n || segs[i-1].end() != s.base) {
			return segs, nil, &CorruptError{File: s.file.Name(), Reason: fmt.Sprintf("segment %d does not continue segment %d", n, segs[i-1].number)}
		}
	}
	return segs, unused, nil
}

// badSegment is a segment file whose header does not verify or does not match its name.
type badSegment struct {
	CorruptError
	hasGroups bool // it holds groups of the number in its name
}

// openSegment opens one file and checks its header.
func openSegment(fsys vfs.FS, dir string, number uint64) (*segment, error) {
	name := segmentName(dir, number)
	f, err := fsys.Open(labelSegment, name)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		f.Close()
		return nil, err
	}
	var p [segmentHeader]byte
	n, err := f.ReadAt(labelRead, p[:], 0)
	if err != nil && err != io.EOF {
		f.Close()
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	reason := "file is shorter than its header"
	if n == segmentHeader {
		got, base, want, err := decodeSegment(p[:])
		switch {
		case errors.Is(err, ErrNewerFormat):
			f.Close()
			return nil, fmt.Errorf("open log segment %s: %w", name, err)
		case err != nil:
			reason = err.Error()
		case got != number:
			reason = fmt.Sprintf("header says segment %d", got)
		case want != size:
			reason = fmt.Sprintf("header says %d bytes, file has %d", want, size)
		default:
			return &segment{number: number, base: base, size: size, file: f, off: segmentHeader}, nil
		}
	}
	bad := &badSegment{CorruptError: CorruptError{File: name, Reason: reason}}
	_, err = findGroup(f, segmentHeader, size, func(g group) bool { return g.segment == number })
	bad.hasGroups = err == nil
	f.Close()
	return nil, bad
}

// rewrite writes the groups between two positions again, as they are, and syncs them: what the last group does not say was
// synced. When a sync has failed, the kernel may hold pages that are not on disk and take them for clean: they are read, and
// another sync passes them over, unless they are written first. It may also let such pages go between two reads, so that the disk's
// older bytes show: each group is verified as it is written, and all have to be there that were replayed.
func (l *Local) rewrite(segs []*segment, from, to Position) error {
	var win window
	end := from // of the last group written
	for _, s := range segs {
		first, last := max(from, s.base+segmentHeader), min(to, s.end())
		if first >= last {
			continue
		}
		for at := first; at < last; {
			off := int64(at - s.base)
			p, g, err := win.group(s, off)
			if errors.Is(err, errNoGroup) || err == nil && at > from && end > from && g.prevEnd != end {
				break // the rest of a segment, or what was lost: the end tells
			}
			if err != nil {
				return err
			}
			if _, err := s.file.WriteAt(labelSegment, p, off); err != nil {
				return err
			}
			at += Position(len(p))
			end = at
		}
		if err := s.file.Sync(labelSync); err != nil {
			return err
		}
	}
	if end >= to {
		return nil
	}
	for _, s := range segs {
		if end < s.end() {
			return &CorruptError{File: s.file.Name(), Offset: int64(end - s.base), Reason: "a group that was read a moment ago does not verify any more: it is not on disk"}
		}
	}
	return nil
}

// cutTail zeroes what follows the last group and removes the segments behind: bytes of a lost tail must never again
// be taken for groups.
func (l *Local) cutTail(later []*segment) error {
	s := l.cur
	changed := false
	buf := make([]byte, len(zeros))
	for off := s.off; off < s.size; off += int64(len(buf)) {
		n := min(int64(len(buf)), s.size-off)
		if _, err := s.file.ReadAt(labelRead, buf[:n], off); err != nil {
			return fmt.Errorf("read %s: %w", s.file.Name(), err)
		}
		if allZero(buf[:n]) {
			continue
		}
		changed = true
		if _, err := s.file.WriteAt(labelSegment, zeros[:n], off); err != nil {
			return err
		}
	}
	if changed {
		if err := s.file.Sync(labelSync); err != nil {
			return err
		}
		l.o.Logger.Info("cut the tail of the log", "file", s.file.Name(), "offset", s.off)
	}
	for i := len(later) - 1; i >= 0; i-- {
		later[i].file.Close()
		err := l.o.FS.Remove(labelSegment, later[i].file.Name())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := l.o.FS.SyncDir(labelSegment, l.o.Dir); err != nil { // a crash must not leave a gap
			return err
		}
	}
	return nil
}

func allZero(p []byte) bool {
	for len(p) >= 8 {
		if le.Uint64(p) != 0 {
			return false
		}
		p = p[8:]
	}
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}

// scanner reads groups in order.
type scanner struct {
	segs    []*segment
	replay  func(Position, Entry) error
	onGroup func(seg *segment, off int64, g group)
	good    func(seg *segment, off int64, p []byte) // is called with each group that is read; may be nil
	prevEnd Position                                // end of the last good group
	synced  Position                                // what that group says was on disk when it was made
	first   bool                                    // prevEnd is not known yet
	win     window
}

var errNoGroup = errors.New("no group")

// scan delivers the entries at or behind from and returns the segment and offset where the next group goes.
func (sc *scanner) scan(from Position) (int, int64, error) {
	i := 0
	for i < len(sc.segs)-1 && sc.segs[i].end() <= from {
		i++
	}
	s := sc.segs[i]
	if from < s.base {
		if from != 0 {
			return 0, 0, &CorruptError{File: s.file.Name(), Reason: fmt.Sprintf("position %d is before the first segment, which begins at %d", from, s.base)}
		}
		from = s.base
	}
	off := max(int64(from-s.base), segmentHeader)
	if off > s.size {
		return 0, 0, &CorruptError{File: s.file.Name(), Offset: s.size, Reason: fmt.Sprintf("the log ends before position %d, which a checkpoint needs", from)}
	}
	sc.first = true
	sc.prevEnd = max(from, s.base)
	for {
		n, err := sc.group(i, off)
		if err == nil {
			off += n
			continue
		}
		if !errors.Is(err, errNoGroup) {
			return 0, 0, err
		}
		if i+1 < len(sc.segs) && sc.continues(i+1) {
			i, off = i+1, segmentHeader
			continue
		}
		if err := sc.mustBeTail(i, off); err != nil {
			return 0, 0, err
		}
		return i, off, nil
	}
}

// group reads the group at off of segment i and delivers its entries; errNoGroup when none verifies there.
func (sc *scanner) group(i int, off int64) (int64, error) {
	s := sc.segs[i]
	p, g, err := sc.win.group(s, off)
	if err != nil {
		return 0, err
	}
	if !sc.first && g.prevEnd != sc.prevEnd {
		return 0, errNoGroup
	}
	if sc.onGroup != nil {
		sc.onGroup(s, off, g)
	}
	body := p[groupHeader:]
	for k := 0; len(body) > 0; k++ {
		e, n, err := decodeEntry(body)
		if err != nil {
			return 0, &CorruptError{File: s.file.Name(), Offset: off, Reason: fmt.Sprintf("entry %d of a group that verifies: %v", k, err)}
		}
		if err := sc.replay(g.pos, e); err != nil {
			return 0, err
		}
		body = body[n:]
	}
	if sc.good != nil {
		sc.good(s, off, p)
	}
	sc.first, sc.synced = false, g.synced
	sc.prevEnd = g.pos + Position(len(p))
	return int64(len(p)), nil
}

// continues tells whether segment i begins with the group that follows the last one read.
func (sc *scanner) continues(i int) bool {
	_, g, err := sc.win.group(sc.segs[i], segmentHeader)
	return err == nil && (g.prevEnd == sc.prevEnd || sc.first && g.prevEnd <= sc.prevEnd)
}

// mustBeTail returns an error when a later group proves that the bytes at off had been synced.
func (sc *scanner) mustBeTail(i int, off int64) error {
	bad := sc.segs[i].base + Position(off)
	for j := i; j < len(sc.segs); j++ {
		s, start := sc.segs[j], int64(segmentHeader)
		if j == i {
			start = off
		}
		proof := func(g group) bool { return g.segment == s.number && g.synced > bad }
		at, err := findGroup(s.file, start, s.size, proof)
		if err == nil {
			return &CorruptError{
				File: sc.segs[i].file.Name(), Offset: off,
				Reason: fmt.Sprintf("no valid group here, but the one in %s at offset %d says that it was synced", filepath.Base(s.file.Name()), at),
			}
		}
		if !errors.Is(err, errNoGroup) {
			return err
		}
	}
	return nil
}

// window is a stretch of a segment in memory, so that small groups do not cost a read each.
type window struct {
	seg  *segment
	off  int64
	data []byte
	buf  []byte
}

const windowBytes = 256 << 10

// at returns n bytes at off of s, which must lie inside it.
func (w *window) at(s *segment, off int64, n int64) ([]byte, error) {
	if w.seg == s && off >= w.off && off+n <= w.off+int64(len(w.data)) {
		return w.data[off-w.off : off-w.off+n], nil
	}
	size := min(max(n, windowBytes), s.size-off)
	if int64(cap(w.buf)) < size {
		w.buf = make([]byte, size)
	}
	w.seg, w.off, w.data = s, off, w.buf[:size]
	if _, err := s.file.ReadAt(labelRead, w.data, off); err != nil {
		w.seg = nil
		return nil, fmt.Errorf("read %s at %d: %w", s.file.Name(), off, err)
	}
	return w.data[:n], nil
}

// group reads and verifies the group at off; errNoGroup when there is none. The bytes are valid until the next call.
func (w *window) group(s *segment, off int64) ([]byte, group, error) {
	if off+groupHeader > s.size {
		return nil, group{}, errNoGroup
	}
	p, err := w.at(s, off, groupHeader)
	if err != nil {
		return nil, group{}, err
	}
	g, ok := decodeGroup(p)
	if !ok {
		return nil, group{}, w.newer(s, off)
	}
	size := int64(groupHeader + g.length)
	if g.segment != s.number || g.pos != s.base+Position(off) || size > s.size-off {
		return nil, group{}, errNoGroup
	}
	if p, err = w.at(s, off, size); err != nil {
		return nil, group{}, err
	}
	if !verifyGroup(p) {
		return nil, group{}, errNoGroup
	}
	return p, g, nil
}

// newer returns an error when a whole group of a later format is at off: it must not be taken for a torn tail and cut. Otherwise errNoGroup.
func (w *window) newer(s *segment, off int64) error {
	p, err := w.at(s, off, groupHeader)
	if err != nil {
		return err
	}
	v, size := le.Uint16(p[4:]), int64(le.Uint32(p[40:]))+groupHeader
	if le.Uint32(p) != groupMagic || v <= formatVersion || le.Uint64(p[8:]) != s.number || size > s.size-off {
		return errNoGroup
	}
	if p, err = w.at(s, off, size); err != nil {
		return err
	}
	if !verifyGroup(p) {
		return errNoGroup
	}
	return fmt.Errorf("read %s at %d: a group of log format %d: %w", s.file.Name(), off, v, ErrNewerFormat)
}

// findGroup looks in [start, size) for a group that verifies and satisfies ok.
func findGroup(f vfs.File, start, size int64, ok func(group) bool) (int64, error) {
	const window = 1 << 20
	buf := make([]byte, window+groupHeader)
	start = (start + align - 1) &^ (align - 1)
	for at := start; at+groupHeader <= size; at += window {
		n, err := f.ReadAt(labelRead, buf[:min(int64(len(buf)), size-at)], at)
		if err != nil && err != io.EOF {
			return 0, fmt.Errorf("read %s at %d: %w", f.Name(), at, err)
		}
		for o := 0; o+groupHeader <= n && o < window; o += align {
			if le.Uint32(buf[o:]) != groupMagic {
				continue
			}
			g, good := decodeGroup(buf[o:])
			if !good || !ok(g) || at+int64(o)+int64(groupHeader+g.length) > size {
				continue
			}
			p := make([]byte, groupHeader+g.length)
			if _, err := f.ReadAt(labelRead, p, at+int64(o)); err == nil && verifyGroup(p) {
				return at + int64(o), nil
			}
		}
	}
	return 0, errNoGroup
}
