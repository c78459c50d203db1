package txlog

import (
	"errors"
	"slices"
	"testing"
	"time"

	"herd/internal/vfs"
)

const archiveDir = "/backups/archive/id/5"

// archiving adds an archive that is written when a segment is full, and when the log is closed.
func archiving(o Options) Options {
	o.Archive = ArchiveOptions{Dir: archiveDir, Period: time.Hour}
	return o
}

// addMany appends entries of 100 KiB and waits for them, and for full segments to be archived.
func addMany(t *testing.T, l *Local, first, last Seq) {
	t.Helper()
	for i := first; i <= last; i++ {
		add(t, l, i, 100<<10)
	}
	must(t, l.Barrier())
	for end := time.Now().Add(20 * time.Second); l.ArchiveWaiting() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes are not archived, %d attempts failed", l.ArchiveWaiting(), l.Stats().ArchiveFailures.Load())
		}
	}
}

// inArchive returns the numbers of the entries that folders have from a position on.
func inArchive(fsys vfs.FS, from Position, dirs ...string) (got []Seq, err error) {
	err = ReadArchive(fsys, dirs, from, func(_ Position, e Entry) error {
		if !slices.Equal(e.Payload, payload(e.Seq, len(e.Payload))) {
			return errors.New("an entry has foreign bytes")
		}
		got = append(got, e.Seq)
		return nil
	})
	return got, err
}

// TestArchiveOutlivesPowerLoss frees log that is archived and loses all that was not synced: the archive, whose folders are all new,
// has what the log has not.
func TestArchiveOutlivesPowerLoss(t *testing.T) {
	m := newMem(t)
	l, _, err := reopen(t, archiving(Options{FS: m, Dir: dir, SegmentBytesMax: 3 << 20}), 0)
	must(t, err)
	addMany(t, l, 1, 100)
	must(t, l.Truncate(l.End()))
	c := m.CrashClone(vfs.CrashOptions{})
	must(t, l.Close())
	got, err := inArchive(c, 0, archiveDir)
	must(t, err)
	l, kept, err := reopen(t, Options{FS: c, Dir: dir}, 0)
	must(t, err)
	must(t, l.Close())
	if len(kept) == 0 || kept[0] == 1 {
		t.Fatalf("the log has entries %v", ends(kept))
	}
	if len(got) < int(kept[0])-1 {
		t.Fatalf("the log begins with entry %d, the archive has entries %v", kept[0], ends(got))
	}
	wantSeqs(t, got[:kept[0]-1], 1, kept[0]-1)
	wantSeqs(t, kept, kept[0], 100)
}

// TestArchiveIsNotAheadOfTheLog loses power where commits do not wait for the disk: the log goes on behind what the archive has, and
// so does the archive.
func TestArchiveIsNotAheadOfTheLog(t *testing.T) {
	for _, mode := range []SyncMode{SyncEvery, SyncNever} {
		o := archiving(Options{Dir: dir, Mode: mode, Interval: time.Hour, SegmentBytesMax: 3 << 20})
		m := newMem(t)
		o.FS = m
		l, _, err := reopen(t, o, 0)
		must(t, err)
		addMany(t, l, 1, 100)
		c := m.CrashClone(vfs.CrashOptions{})
		must(t, l.Close())
		had, err := inArchive(c, 0, archiveDir)
		must(t, err)
		o.FS = c
		l, kept, err := reopen(t, o, 0)
		must(t, err)
		last := l.Last()
		if len(had) < 60 || last < had[len(had)-1] {
			t.Fatalf("mode %d: the log has entries %v, the archive %v", mode, ends(kept), ends(had))
		}
		addMany(t, l, last+1, last+60)
		must(t, l.Close())
		if n := l.Stats().ArchiveFailures.Load(); n > 0 {
			t.Errorf("mode %d: %d attempts to archive failed", mode, n)
		}
		got, err := inArchive(c, 0, archiveDir)
		must(t, err)
		wantSeqs(t, got, 1, last+60)
	}
}

// TestDamagedSegmentIsNotArchived changes a bit of a segment that the next start does not read: it is not taken for a short one, and
// stays.
func TestDamagedSegmentIsNotArchived(t *testing.T) {
	m := newMem(t)
	o := Options{FS: m, Dir: dir, SegmentBytesMax: 3 << 20}
	l, _, err := reopen(t, o, 0)
	must(t, err)
	addMany(t, l, 1, 100)
	from := l.End()
	must(t, l.Close())
	must(t, vfs.FlipBit(m, "t", segmentName(dir, 1), 8<<20))
	l, _, err = reopen(t, archiving(o), from)
	must(t, err)
	for end := time.Now().Add(20 * time.Second); l.Stats().ArchiveFailures.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the archive says nothing")
		}
	}
	must(t, l.Truncate(from))
	must(t, l.Close())
	if _, err := m.Stat("t", segmentName(archiveDir, 1)); err == nil {
		t.Error("the damaged segment was archived")
	}
	if _, err := m.Stat("t", segmentName(dir, 1)); err != nil {
		t.Errorf("the damaged segment is gone: %v", err)
	}
}

// TestLogAsArchive reads the files of a log itself, with one that a crash has left half made.
func TestLogAsArchive(t *testing.T) {
	m := newMem(t)
	l, _, err := reopen(t, Options{FS: m, Dir: dir, SegmentBytesMax: 3 << 20}, 0)
	must(t, err)
	addMany(t, l, 1, 50)
	middle := l.End()
	addMany(t, l, 51, 100)
	end := l.End()
	l.mu.Lock()
	used := l.cur.number
	l.mu.Unlock()
	must(t, l.Close())
	names, err := m.ReadDir("t", dir)
	must(t, err)
	for _, name := range names { // prepared ahead
		if n, ok := parseSegmentName(name); ok && n > used {
			must(t, m.Remove("t", segmentName(dir, n)))
		}
	}
	f, err := m.Create("t", segmentName(dir, used+1))
	must(t, err)
	_, err = f.WriteAt("t", zeros[:], 0)
	must(t, err)
	must(t, f.Close())
	for from, first := range map[Position]Seq{0: 1, middle: 51, end: 101} {
		got, err := inArchive(m, from, dir)
		must(t, err)
		wantSeqs(t, got, first, 100)
	}
	for what, from := range map[string]Position{"another place": middle + 8, "behind it": end + 1<<30, "behind its end": end + 64} {
		if got, err := inArchive(m, from, dir); err == nil {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	if got, err := inArchive(m, middle, "/nowhere"); !errors.Is(err, ErrTruncated) {
		t.Errorf("of no folder: %v, %v", got, err)
	}
	must(t, vfs.FlipBit(m, "t", segmentName(dir, 2), 100)) // in the header of one that is used
	if got, err := inArchive(m, 0, dir); err == nil {
		t.Errorf("of a damaged header: %v", ends(got))
	}
}

// TestHungArchiveDoesNotHoldClose closes a log whose archive's calls do not come back, in the archiver's own pass and in the last one. The
// log has all afterwards, and the next start archives it.
func TestHungArchiveDoesNotHoldClose(t *testing.T) {
	for _, op := range []vfs.Op{vfs.OpStat, vfs.OpCreate, vfs.OpWrite, vfs.OpSync, vfs.OpRename, vfs.OpRemove} {
		for _, full := range []bool{false, true} {
			m := newMem(t)
			f := vfs.NewFault(m)
			o := archiving(Options{FS: f, Dir: dir, SegmentBytes: 3 << 20, SegmentBytesMax: 3 << 20})
			o.Archive.Patience = 50 * time.Millisecond
			l, _, err := reopen(t, o, 0)
			must(t, err)
			addMany(t, l, 1, 40) // the archiver rests
			back := make(chan struct{})
			f.Add(vfs.Rule{Label: labelArchive, Op: op, Nth: 1, Sticky: true, Hang: back})
			n := Seq(45)
			if full {
				n = 80
			}
			for i := Seq(41); i <= n; i++ {
				add(t, l, i, 100<<10)
			}
			must(t, l.Barrier())
			failures := l.Stats().ArchiveFailures.Load()
			closed := make(chan error, 1)
			go func() { closed <- l.Close() }()
			select {
			case err := <-closed:
				must(t, err)
			case <-time.After(20 * time.Second):
				t.Fatalf("%s hangs, and so does Close", op)
			}
			if l.Stats().ArchiveFailures.Load() == failures {
				t.Errorf("%s hung and no failure is counted", op)
			}
			close(back)
			f.Clear()
			o.FS, o.Archive.Patience = m.CrashClone(vfs.CrashOptions{}), 0
			l, kept, err := reopen(t, o, 0)
			must(t, err)
			wantSeqs(t, kept, 1, n)
			must(t, l.Close())
			got, err := inArchive(o.FS, 0, archiveDir)
			must(t, err)
			wantSeqs(t, got, 1, n)
		}
	}
}
