package txlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"herd/internal/vfs"
)

// ErrTruncated: the position is below what the log keeps.
var ErrTruncated = errors.New("the log does not go back that far")

// Foreign is the first of the kinds of records that are not a database's entries: a log of several nodes keeps its own form
// of entries in segments.
const Foreign Kind = 64

// HoldsForeign tells whether the log in dir holds such records. Positions in it are not those that a database knows.
func HoldsForeign(fsys vfs.FS, dir string) (bool, error) {
	first := errors.New("first record")
	kind := Kind(0)
	_, err := Inspect(fsys, dir, 0, nil, func(_ Position, e Entry) error {
		kind = e.Kind
		return first
	})
	if errors.Is(err, first) {
		err = nil
	}
	return kind >= Foreign, err
}

// Read hands entries that are on disk to f, in order, beginning with the group at from, which is a position that End or
// EndOf returned, until f returns false or no more follow. A payload is valid during the call only. It runs beside
// everything: what Truncate takes away meanwhile is ErrTruncated or the end, never another entry.
func (l *Local) Read(from Position, f func(Position, Entry) bool) error {
	l.mu.Lock()
	segs := append(append(make([]*segment, 0, len(l.old)+1), l.old...), l.cur)
	l.mu.Unlock()
	if from < segs[0].base {
		return fmt.Errorf("read log %s from %d: %w", l.o.Dir, from, ErrTruncated)
	}
	i := 0
	for i < len(segs)-1 && segs[i].end() <= from {
		i++
	}
	off := max(int64(from-segs[i].base), segmentHeader)
	var w window
	end := from // of the last group before the next
	for {
		p, g, err := w.group(segs[i], off)
		switch {
		case err == nil && g.prevEnd > end: // what was between is overwritten: its segment is another one now
			return fmt.Errorf("read log %s at %d: %w", l.o.Dir, end, ErrTruncated)
		case errors.Is(err, errNoGroup) && i+1 < len(segs):
			i, off = i+1, segmentHeader
			continue
		case errors.Is(err, errNoGroup):
			return nil
		case errors.Is(err, os.ErrClosed), errors.Is(err, fs.ErrNotExist): // the segment was removed
			return fmt.Errorf("read log %s at %d: %w", l.o.Dir, from, ErrTruncated)
		case err != nil:
			return err
		}
		for body := p[groupHeader:]; len(body) > 0; {
			e, n, err := decodeEntry(body)
			if err != nil {
				return &CorruptError{File: segs[i].file.Name(), Offset: off, Reason: err.Error()}
			}
			if !f(g.pos, e) {
				return nil
			}
			body = body[n:]
		}
		off += int64(len(p))
		end = g.pos + Position(len(p))
	}
}
