package txlog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"herd/internal/vfs"
)

// ArchiveOptions say where a log is copied to.
type ArchiveOptions struct {
	// Dir is the folder of this log, made when missing; "" = there is no archive.
	Dir string
	// Period is the longest time, while the archive can be written, until what is durable is in it. Default one minute.
	Period time.Duration
	// KeepMax is how many bytes of full segments may wait for an archive that cannot be written. Beyond it the oldest go when
	// they are not needed otherwise, which the logger and the counters are told of. 0 = they never go.
	KeepMax int64
	// Moment returns a time such that what was ordered before it is appended. Nil: the clock.
	Moment func() time.Time
	// Patience is how long Close waits for an archive that makes no progress. Default ten seconds.
	Patience time.Duration
	// Describe adds what a reader of the archive needs to know. May be nil; called before each pass.
	Describe func(dir string) error
}

const archiveRetry = 10 * time.Second

// archivePatience is how long closing waits for an archive that does nothing: a mount may hang for ever, and then no
// call comes back.
const archivePatience = 10 * time.Second

// archiver copies segments: full ones once, and what the current one has at intervals. Segments are not recycled or removed
// before they are copied.
type archiver struct {
	l    *Local
	o    ArchiveOptions
	kick chan struct{}
	quit chan struct{}
	done sync.WaitGroup

	copied Position // up to here it is all there
	made   bool     // the folder, durably
	failed bool     // the last pass

	steps atomic.Int64 // pieces copied, files finished: it is at work
	left  atomic.Bool  // closing has given up waiting for it
}

func (l *Local) startArchive() {
	if l.o.Archive.Dir == "" {
		return
	}
	a := &archiver{l: l, o: l.o.Archive, kick: make(chan struct{}, 1), quit: make(chan struct{})}
	if a.o.Period <= 0 {
		a.o.Period = time.Minute
	}
	if a.o.Moment == nil {
		a.o.Moment = time.Now
	}
	if a.o.Patience <= 0 {
		a.o.Patience = archivePatience
	}
	l.arch = a
	a.done.Add(1)
	go a.run()
}

// run is the archiver goroutine.
func (a *archiver) run() {
	defer a.done.Done()
	for wait := time.Duration(0); ; {
		t := time.NewTimer(wait)
		select {
		case <-a.quit:
			t.Stop()
			return
		case <-a.kick:
		case <-t.C:
		}
		t.Stop()
		wait = a.o.Period
		if a.pass() != nil {
			wait = min(wait, archiveRetry)
			select {
			case <-a.quit:
				return
			case <-time.After(min(wait, time.Second)): // a kick does not make it try again at once
			}
		}
	}
}

// stop ends the archiver with a last pass; the writer has ended. It waits as long as the pass makes progress. When it is given up, the
// next start archives what is missing, unless the log is removed.
func (a *archiver) stop() {
	close(a.quit)
	ended := make(chan struct{})
	go func() { // ends with the pass, or with the calls that hang
		defer close(ended)
		a.done.Wait()
		if !a.left.Load() {
			_ = a.pass() // it logs what fails
		}
	}()
	t := time.NewTicker(a.o.Patience)
	defer t.Stop()
	for before := a.steps.Load(); ; {
		select {
		case <-ended:
			return
		case <-t.C:
		}
		now := a.steps.Load()
		if now == before {
			a.left.Store(true)
			a.l.stats.ArchiveFailures.Add(1)
			a.l.o.Logger.Error("the log archive does not answer: the end of the transaction log is not in it", "archive", a.o.Dir,
				"waited_seconds", a.o.Patience.Seconds(), "waiting_bytes", a.l.ArchiveWaiting())
			return
		}
		before = now
	}
}

// sealed asks for a pass: a segment is full.
func (a *archiver) sealed() {
	select {
	case a.kick <- struct{}{}:
	default:
	}
}

// pass copies what is not in the archive yet.
func (a *archiver) pass() error {
	err := a.copyAll()
	switch {
	case errors.Is(err, ErrFailed) || errors.Is(err, ErrClosed):
	case err != nil:
		a.l.stats.ArchiveFailures.Add(1)
		a.l.o.Logger.Error("archiving the transaction log failed; it is kept until it is archived", "archive", a.o.Dir, "waiting_bytes", a.l.ArchiveWaiting(), "error", err)
	case a.failed:
		a.l.o.Logger.Info("archiving the transaction log works again", "archive", a.o.Dir)
	}
	a.failed = err != nil
	return err
}

func (a *archiver) copyAll() error {
	l := a.l
	moment := a.o.Moment()
	if err := l.Wait(l.Last(), nil); err != nil {
		return err
	}
	if err := a.makeFolder(); err != nil {
		return err
	}
	if a.o.Describe != nil {
		if err := a.o.Describe(a.o.Dir); err != nil {
			return err
		}
	}
	l.mu.Lock()
	var full []followed
	for i, s := range l.old {
		if !s.archived && l.written >= s.base+Position(s.off) {
			next := l.cur
			if i+1 < len(l.old) {
				next = l.old[i+1]
			}
			full = append(full, followed{s, next})
			s.copying = true // it is not recycled meanwhile
		}
	}
	cur, upto, complete := l.cur, int64(0), len(full)
	for _, s := range l.old {
		if !s.archived && !s.copying {
			complete = -1
		}
	}
	if l.written > cur.base {
		upto = int64(l.written - cur.base)
	}
	end := l.written
	l.mu.Unlock()
	err := a.copyFull(full)
	if err != nil || complete < 0 { // a segment is being filled up: it comes with the next pass
		return err
	}
	if upto > segmentHeader && end != a.copied {
		if err := a.copySegment(followed{segment: cur}, upto, partSuffix); err != nil {
			return err
		}
	}
	if err := vfs.WriteFileAtomic(l.o.FS, labelArchive, a.o.Dir, filepath.Join(a.o.Dir, untilFile), encodeUntil(Until{moment, end})); err != nil {
		return err
	}
	a.copied = end
	l.stats.ArchivedUntil.Store(moment.UnixNano())
	return nil
}

// makeFolder makes the archive's folder when it is not there. Log goes once it is copied, so the way to the copies must be as
// durable as they are.
func (a *archiver) makeFolder() error {
	fsys := a.l.o.FS
	if _, err := fsys.Stat(labelArchive, a.o.Dir); err != nil {
		a.made = false
	}
	if a.made {
		return nil
	}
	for _, dir := range []string{filepath.Dir(a.o.Dir), a.o.Dir} { // both may be new
		if err := vfs.MakeFolder(fsys, labelArchive, dir); err != nil {
			return err
		}
	}
	a.made = true
	return nil
}

// followed is a segment with the one behind it, nil when there is none yet.
type followed struct {
	*segment
	next *segment
}

// copyFull copies full segments in order.
func (a *archiver) copyFull(full []followed) (err error) {
	l := a.l
	for _, s := range full {
		if err == nil {
			err = a.copySegment(s, s.off, "")
		}
		if err == nil {
			part := segmentName(a.o.Dir, s.number) + partSuffix
			if e := l.o.FS.Remove(labelArchive, part); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = e
			}
		}
		l.mu.Lock()
		s.copying, s.archived = false, err == nil
		l.mu.Unlock()
	}
	return err
}

// groupsEnd returns where the groups of a segment end, which is upto; upto == the segment's size says that it is not known. Then the
// next segment's first group says whether the last one found is the last there was.
func (s followed) groupsEnd(upto int64) (int64, error) {
	end, err := lastGroup(s.segment, upto)
	if err != nil || end == upto {
		return end, err
	}
	whole := upto == s.size
	if whole && s.next != nil {
		var w window
		_, g, err := w.group(s.next, segmentHeader)
		if err != nil && !errors.Is(err, errNoGroup) {
			return 0, err
		}
		whole = err != nil || g.prevEnd == s.base+Position(end)
	}
	if !whole {
		return 0, &CorruptError{File: s.file.Name(), Offset: end, Reason: "no valid group here while the log is archived"}
	}
	return end, nil
}

// syncSource makes durable what is about to be archived, where a commit does not wait for that: an archive that is ahead of the
// log would go on otherwise than the log does after a loss of power.
func (a *archiver) syncSource(s *segment) error {
	l := a.l
	if l.o.Mode == SyncAlways {
		return nil
	}
	err := s.file.Sync(labelSync)
	if vfs.SyncFailed(err) {
		l.fail(err) // the writer's next sync would not say so any more
	}
	return err
}

// copySegment copies the groups of a segment, which end at upto, into a file that appears when it is whole and durable.
// upto: see followed.groupsEnd.
func (a *archiver) copySegment(s followed, upto int64, suffix string) error {
	fsys := a.l.o.FS
	if err := a.syncSource(s.segment); err != nil {
		return err
	}
	end, err := s.groupsEnd(upto)
	if err != nil {
		return err
	}
	name := segmentName(a.o.Dir, s.number) + suffix
	if suffix == "" {
		there, err := sameFile(fsys, name, s.file, end)
		if there || err != nil {
			return err
		}
	}
	tmp := name + ".tmp"
	if err := fsys.Remove(labelArchive, tmp); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a failed pass
		return err
	}
	f, err := fsys.Create(labelArchive, tmp)
	if err != nil {
		return err
	}
	err = a.copyBytes(f, s.file, end)
	if err == nil {
		err = f.Sync(labelArchive)
	}
	if err == nil { // what is in the archive is all there is left of it later
		var n int64
		if n, err = lastGroup(&segment{number: s.number, base: s.base, size: end, file: f}, end); err == nil && n != end {
			err = &CorruptError{File: tmp, Offset: n, Reason: "the copy is not what was written"}
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := fsys.Rename(labelArchive, tmp, name); err != nil {
		return err
	}
	a.l.stats.ArchivedBytes.Add(end)
	return fsys.SyncDir(labelArchive, a.o.Dir)
}

// lastGroup returns where the groups of a segment end, at most upto.
func lastGroup(s *segment, upto int64) (int64, error) {
	var w window
	off := int64(segmentHeader)
	for off < upto {
		p, _, err := w.group(s, off)
		if errors.Is(err, errNoGroup) {
			break
		}
		if err != nil {
			return 0, err
		}
		off += int64(len(p))
	}
	return off, nil
}

func (a *archiver) copyBytes(to, from vfs.File, n int64) error {
	buf := make([]byte, len(zeros))
	for off := int64(0); off < n; off += int64(len(buf)) {
		if a.left.Load() {
			return ErrClosed
		}
		a.steps.Add(1)
		p := buf[:min(int64(len(buf)), n-off)]
		if _, err := from.ReadAt(labelArchive, p, off); err != nil {
			return fmt.Errorf("read %s: %w", from.Name(), err)
		}
		if _, err := to.WriteAt(labelArchive, p, off); err != nil {
			return err
		}
	}
	return nil
}

// sameFile tells whether the archive has a file of that name already: that of an earlier pass. It is an error when it is another
// log's.
func sameFile(fsys vfs.FS, name string, s vfs.File, n int64) (bool, error) {
	f, err := fsys.OpenRead(labelArchive, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	other := fmt.Errorf("%s is there already and is of another log: two servers must not share an archive folder", name)
	if size, err := f.Size(); err != nil || size != n {
		return false, errors.Join(other, err)
	}
	a, b := make([]byte, len(zeros)), make([]byte, len(zeros))
	for off := int64(0); off < n; off += int64(len(a)) {
		m := min(int64(len(a)), n-off)
		if _, err := f.ReadAt(labelArchive, a[:m], off); err != nil {
			return false, err
		}
		if _, err := s.ReadAt(labelArchive, b[:m], off); err != nil {
			return false, err
		}
		if !bytes.Equal(a[:m], b[:m]) {
			return false, other
		}
	}
	return true, nil
}

// ArchiveWaiting returns the bytes of full segments that are not archived yet.
func (l *Local) ArchiveWaiting() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.archiveWaiting()
}

func (l *Local) archiveWaiting() (n int64) {
	if l.arch == nil {
		return 0
	}
	for _, s := range l.old {
		if !s.archived {
			n += s.size
		}
	}
	return n
}

// mustWait tells whether a full segment has to stay for the archive. When too many wait it is given up. l.mu is held.
func (l *Local) mustWait(s *segment) bool {
	if l.arch == nil || s.archived {
		return false
	}
	waiting := l.archiveWaiting()
	if s.copying || l.o.Archive.KeepMax == 0 || waiting <= l.o.Archive.KeepMax {
		return true
	}
	l.stats.ArchiveGaps.Add(1)
	l.o.Logger.Error("the log archive has a gap: the archive cannot be written and too much log waits for it; take a new backup once it can",
		"segment", segmentName(l.o.Archive.Dir, s.number), "waiting_bytes", waiting)
	return false
}
