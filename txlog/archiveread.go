package txlog

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"herd/internal/vfs"
)

const labelArchive = vfs.Label("log.archive")

const (
	partSuffix = ".part" // behind a segment's name: a copy of what the segment had so far
	untilFile  = "UNTIL"
)

// archived is a copy of a segment.
type archived struct {
	number uint64
	path   string
}

// listArchived returns the copies in several folders, in order of their numbers. A whole segment goes before a part of it, and
// earlier folders before later ones; a folder that is missing is empty.
func listArchived(fsys vfs.FS, dirs []string) ([]archived, error) {
	whole, part := map[uint64]string{}, map[uint64]string{}
	for _, dir := range dirs {
		names, err := fsys.ReadDir(labelArchive, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read log archive %s: %w", dir, err)
		}
		for _, name := range names {
			base, isPart := strings.CutSuffix(name, partSuffix)
			into := whole
			if isPart {
				into = part
			}
			if n, ok := parseSegmentName(base); ok && into[n] == "" {
				into[n] = filepath.Join(dir, name)
			}
		}
	}
	for n, path := range part {
		if whole[n] == "" {
			whole[n] = path
		}
	}
	var list []archived
	for n, path := range whole {
		list = append(list, archived{n, path})
	}
	slices.SortFunc(list, func(a, b archived) int { return int(int64(a.number) - int64(b.number)) })
	return list, nil
}

// errUnused: a file of a log that a crash has left while it was prepared.
var errUnused = errors.New("the segment was never used")

// openArchived opens a copy, which may be shorter than its segment was: size is that of the file. errUnused.
func openArchived(fsys vfs.FS, c archived) (s *segment, full int64, err error) {
	f, err := fsys.OpenRead(labelArchive, c.path)
	if err != nil {
		return nil, 0, err
	}
	size, err := f.Size()
	var p [segmentHeader]byte
	if err == nil {
		if _, err = f.ReadAt(labelArchive, p[:], 0); err == io.EOF {
			err = &CorruptError{File: c.path, Reason: "file is shorter than its header"}
		}
	}
	if err == nil {
		var number uint64
		var base Position
		number, base, full, err = decodeSegment(p[:])
		if err == nil && number != c.number {
			err = fmt.Errorf("header says segment %d", number)
		}
		if err != nil && !errors.Is(err, ErrNewerFormat) {
			err = &CorruptError{File: c.path, Reason: err.Error()}
		}
		s = &segment{number: number, base: base, size: size, file: f}
	}
	if damage := (*CorruptError)(nil); errors.As(err, &damage) {
		_, e := findGroup(f, segmentHeader, size, func(g group) bool { return g.segment == c.number })
		if errors.Is(e, errNoGroup) {
			err = fmt.Errorf("%w: %w", errUnused, err)
		}
	}
	if err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("open archived log %s: %w", c.path, err)
	}
	return s, full, nil
}

// ReadArchive hands the entries of archived segments to f, in order, beginning with the group at from, a position of the log
// that was archived, until f returns an error, which it returns, or no more follow. dirs are folders of one database: archives,
// or the folder of its log itself. ErrTruncated: the archive begins behind from, or misses a segment on the way.
func ReadArchive(fsys vfs.FS, dirs []string, from Position, f func(Position, Entry) error) error {
	list, err := listArchived(fsys, dirs)
	if err != nil {
		return err
	}
	r := archiveReader{fsys: fsys, f: f, from: from, end: from}
	until, err := ArchivedUntil(fsys, dirs)
	if err != nil {
		return err
	}
	for i, c := range list {
		if i > 0 && c.number != list[i-1].number+1 && (r.begun || r.passed > r.from) {
			return fmt.Errorf("log archive %s: segment %d is missing before %s: %w", strings.Join(dirs, ", "), list[i-1].number+1, filepath.Base(c.path), ErrTruncated)
		}
		more, err := r.segment(c)
		if errors.Is(err, errUnused) && !r.follows(list[i+1:]) {
			break
		}
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if !r.begun && r.passed < from && until.End == 0 {
		return fmt.Errorf("log archive %s has no log at position %d: %w", strings.Join(dirs, ", "), from, ErrTruncated)
	}
	if r.end < until.End {
		return fmt.Errorf("log archive %s ends at position %d, it says that it goes to %d: %w", strings.Join(dirs, ", "), r.end, until.End, ErrTruncated)
	}
	return nil
}

// archiveReader is at a place in an archive.
type archiveReader struct {
	fsys   vfs.FS
	f      func(Position, Entry) error
	from   Position
	begun  bool     // a segment that holds from was read
	passed Position // end of the last segment looked at
	end    Position // of the last group read
	first  bool     // a group was read
	win    window
}

// follows tells whether any of the copies has been used, as far as they can be read.
func (r *archiveReader) follows(list []archived) bool {
	for _, c := range list {
		s, _, err := openArchived(r.fsys, c)
		if errors.Is(err, errUnused) {
			continue
		}
		if err != nil {
			return true
		}
		_, _, err = new(window).group(s, segmentHeader)
		s.file.Close()
		if !errors.Is(err, errNoGroup) {
			return true
		}
	}
	return false
}

// segment reads one copy; more is false when the log ends in it. errUnused.
func (r *archiveReader) segment(c archived) (more bool, err error) {
	s, full, err := openArchived(r.fsys, c)
	if err != nil {
		return false, err
	}
	defer s.file.Close()
	r.win = window{buf: r.win.buf}
	before := r.passed
	r.passed = s.base + Position(full)
	if r.passed <= r.from {
		return true, nil
	}
	if !r.begun && s.base > r.from && before < s.base {
		return false, fmt.Errorf("log archive begins at position %d with %s, and %d is needed: %w", s.base, c.path, r.from, ErrTruncated)
	}
	r.begun = true
	off := max(int64(r.from)-int64(s.base), segmentHeader)
	n := 0
	for ; ; n++ {
		size, err := r.group(s, off)
		if errors.Is(err, errNoGroup) {
			break
		}
		if err != nil {
			return false, err
		}
		off += size
	}
	if err := r.mustEnd(s, full, off); err != nil {
		return false, err
	}
	if n == 0 && off > segmentHeader && s.size == full { // the log's own file: then it has to end where the backup was taken
		if end, err := lastGroup(s, off); err != nil || end != off {
			return false, errors.Join(fmt.Errorf("log %s has no group that ends at position %d, it is not that of the backup: %w", c.path, r.from, ErrTruncated), err)
		}
	}
	// Prepared and never written: the log ends before.
	return n > 0 || off > segmentHeader, nil
}

// mustEnd returns an error when there must be a group at off, where none is. A copy has nothing but groups; the file of a log
// that was in use ends like a log does.
func (r *archiveReader) mustEnd(s *segment, full, off int64) error {
	if s.size < full {
		if off < s.size {
			return &CorruptError{File: s.file.Name(), Offset: off, Reason: fmt.Sprintf("no valid group here, the file goes on for %d bytes", s.size-off)}
		}
		return nil
	}
	sc := scanner{segs: []*segment{s}}
	return sc.mustBeTail(0, off)
}

func (r *archiveReader) group(s *segment, off int64) (int64, error) {
	p, g, err := r.win.group(s, off)
	if err != nil {
		return 0, err
	}
	if r.first && g.prevEnd != r.end {
		return 0, &CorruptError{File: s.file.Name(), Offset: off, Reason: fmt.Sprintf("the group here follows one that ended at %d, the one before ended at %d", g.prevEnd, r.end)}
	}
	for body := p[groupHeader:]; len(body) > 0; {
		e, n, err := decodeEntry(body)
		if err != nil {
			return 0, &CorruptError{File: s.file.Name(), Offset: off, Reason: err.Error()}
		}
		if err := r.f(g.pos, e); err != nil {
			return 0, err
		}
		body = body[n:]
	}
	r.first, r.end = true, g.pos+Position(len(p))
	return int64(len(p)), nil
}

// Until is how far an archive goes.
type Until struct {
	// Time: all that was durable before it is in the archive.
	Time time.Time
	End  Position // of the last group
}

// ArchivedUntil returns how far the archives in several folders go; the zero value when none says so.
func ArchivedUntil(fsys vfs.FS, dirs []string) (until Until, err error) {
	for _, dir := range dirs {
		name := filepath.Join(dir, untilFile)
		p, err := vfs.ReadFile(fsys, labelArchive, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return until, fmt.Errorf("read %s: %w", name, err)
		}
		u, err := decodeUntil(p)
		if err != nil {
			return until, &CorruptError{File: name, Reason: err.Error()}
		}
		if u.End > until.End || u.End == until.End && u.Time.After(until.Time) {
			until = u
		}
	}
	return until, nil
}

// encodeUntil returns the mark's text: a line of time and position, a line with its CRC32C.
func encodeUntil(u Until) []byte {
	line := fmt.Sprintf("%s %d\n", u.Time.UTC().Format(time.RFC3339Nano), u.End)
	return fmt.Appendf(nil, "%s%08x\n", line, crc32.Checksum([]byte(line), castagnoli))
}

func decodeUntil(p []byte) (u Until, err error) {
	line, rest, _ := strings.Cut(string(p), "\n")
	stamp, end, _ := strings.Cut(line, " ")
	if rest != fmt.Sprintf("%08x\n", crc32.Checksum([]byte(line+"\n"), castagnoli)) {
		return u, errors.New("its checksum does not match")
	}
	n, err := strconv.ParseUint(end, 10, 64)
	if err != nil {
		return u, err
	}
	u.End = Position(n)
	u.Time, err = time.Parse(time.RFC3339Nano, stamp)
	return u, err
}
