package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"herd/internal/vfs"
	"herd/txlog"
)

const labelArchive vfs.Label = "engine.archive"

// RestoreTarget says where a restore ends. The zero value is the backup as it is; with Archives alone, all that they have.
type RestoreTarget struct {
	// Archives are folders of archived logs (server.log.archive.dir), or the folder of a stopped server's log itself.
	Archives []string
	// Time: no commit that is later.
	Time time.Time
	// Index is the last log entry of the database Of; the other databases go up to its time.
	Index txlog.Seq
	Of    string
}

// ErrBeforeBackup: the target is earlier than the backup.
var ErrBeforeBackup = errors.New("the backup is later than that: take an earlier backup")

// goal is where the replay of one restore ends.
type goal struct {
	archives []string
	time     time.Time // zero: everything
	index    txlog.Seq // of the database of; 0: by time
	of       uint32
}

// archiveDirs returns the folders of a database in the archives: below the identity of the data folder in an archive, else as
// in the folder of a log.
func (r *Restore) archiveDirs(oid uint32) (dirs []string) {
	n := strconv.FormatUint(uint64(oid), 10)
	for _, dir := range r.to.archives {
		dirs = append(dirs, filepath.Join(dir, r.head.Identity, n), filepath.Join(dir, n))
	}
	return dirs
}

// aim finds the goal once the backup's head is known.
func (r *Restore) aim() error {
	t := r.o.Target
	if len(t.Archives) == 0 {
		if !t.Time.IsZero() || t.Index > 0 {
			return errors.New("restore to a time or an index: the archived log is needed")
		}
		return nil
	}
	r.to = &goal{archives: t.Archives, time: t.Time}
	for _, d := range r.head.Databases {
		if d.Shared {
			return errors.New("restore up to an entry of the archived log: the backup is that of a cluster, whose log is not archived")
		}
		if !t.Time.IsZero() && t.Time.Before(d.Pinned) {
			return fmt.Errorf("restore to %s: database %q was backed up at %s: %w", t.Time.Format(time.RFC3339Nano), d.Name, d.Pinned.Format(time.RFC3339Nano), ErrBeforeBackup)
		}
	}
	if t.Index == 0 {
		return nil
	}
	for _, d := range r.head.Databases {
		if d.Name == t.Of && d.OID != systemOID {
			if t.Index < d.Index {
				return fmt.Errorf("restore to entry %d: the backup of database %q has entries up to %d: %w", t.Index, d.Name, d.Index, ErrBeforeBackup)
			}
			return r.aimAt(d, t.Index)
		}
	}
	return fmt.Errorf("restore to entry %d of database %q: %w in the backup", t.Index, t.Of, ErrNoDatabase)
}

// aimAt makes an entry the goal of its database, and its time that of the others.
func (r *Restore) aimAt(d DatabaseHead, index txlog.Seq) error {
	r.to.of, r.to.index, r.to.time = d.OID, index, d.Pinned
	last := d.Index
	found := errors.New("found")
	err := txlog.ReadArchive(r.o.FS, r.archiveDirs(d.OID), d.LogFrom, func(_ txlog.Position, e txlog.Entry) error {
		if e.Seq > index {
			return found
		}
		last = max(last, e.Seq)
		if at := commitTime(&e); at.After(r.to.time) {
			r.to.time = at
		}
		return nil
	})
	if err != nil && !errors.Is(err, found) {
		return fmt.Errorf("restore database %q to entry %d: %w", d.Name, index, err)
	}
	if last < index {
		return fmt.Errorf("restore database %q to entry %d: the archived log ends at entry %d", d.Name, index, last)
	}
	return nil
}

// later restores databases that were made after the backup: all that they have is in the archived log. Those that turn out not to
// be in the list of databases are removed with the other leftovers.
func (r *Restore) later() error {
	if r.to == nil || len(r.o.Databases) > 0 {
		return nil
	}
	names := map[uint32]string{} // of the folders: two may not have one, also when one was dropped before the other was made
	for _, dir := range r.to.archives {
		dir = filepath.Join(dir, r.head.Identity)
		list, err := r.o.FS.ReadDir(labelArchive, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read log archive %s: %w", dir, err)
		}
		for _, n := range list {
			oid, ok := parseOID(n)
			known := slices.ContainsFunc(r.head.Databases, func(d DatabaseHead) bool { return d.OID == oid })
			if !ok || known {
				continue
			}
			if has, err := r.o.FS.ReadDir(labelArchive, filepath.Join(dir, n)); err != nil {
				return fmt.Errorf("read log archive %s: %w", filepath.Join(dir, n), err)
			} else if len(has) == 0 { // made, and nothing was archived yet
				continue
			}
			if wanted, err := r.madeSince(oid); err != nil {
				return err
			} else if !wanted {
				continue
			}
			if names[oid], err = readName(r.o.FS, filepath.Join(dir, n)); err != nil {
				return err
			}
		}
	}
	for _, oid := range slices.Sorted(maps.Keys(names)) {
		name := names[oid]
		if slices.ContainsFunc(r.done, func(d RestoredDatabase) bool { return d.Name == name }) { // the list of databases decides whose it is
			name = fmt.Sprintf("%s of number %d", name, oid)
		}
		r.at = DatabaseHead{Name: name, OID: oid}
		if err := r.make(oid, name); err != nil {
			return err
		}
		if err := r.complete(r.db.store.Base(), 0); err != nil {
			return err
		}
	}
	return nil
}

// madeSince tells whether a database that the backup does not have was made after it. Its number may be older: it is drawn before
// the database is there.
func (r *Restore) madeSince(oid uint32) (bool, error) {
	if oid >= r.nextOID {
		return true, nil
	}
	first := time.Time{}
	found := errors.New("found")
	err := txlog.ReadArchive(r.o.FS, r.archiveDirs(oid), 0, func(_ txlog.Position, e txlog.Entry) error {
		if first = commitTime(&e); first.IsZero() {
			return nil
		}
		return found
	})
	if errors.Is(err, txlog.ErrTruncated) { // it was there before the log was archived
		return false, nil
	}
	if err != nil && !errors.Is(err, found) {
		return false, err
	}
	for _, d := range r.head.Databases {
		if first.Before(d.Pinned.Truncate(time.Microsecond)) {
			return false, nil
		}
	}
	return true, nil
}

// commitTime returns the time of a Commit entry, the zero time when it has none.
func commitTime(e *txlog.Entry) (at time.Time) {
	if e.Kind != txlog.Commit {
		return at
	}
	h, _, err := decodeHeader(e.Payload)
	if err != nil || h.time == 0 {
		return at
	}
	return time.UnixMicro(int64(h.time)).UTC()
}

// errGoal ends a replay that has reached its goal.
var errGoal = errors.New("the goal is reached")

// replay brings a from the state of the backup to the goal, and returns the time of the last commit replayed.
func (r *Restore) replay(a *applier) (last time.Time, err error) {
	dirs := r.archiveDirs(a.db.oid)
	read := func(from txlog.Position, f func(txlog.Position, txlog.Entry) error) error {
		return txlog.ReadArchive(r.o.FS, dirs, from, func(pos txlog.Position, e txlog.Entry) error {
			at := commitTime(&e)
			if r.passed(a, &e, at) {
				return errGoal
			}
			if e.Seq > a.done && at.After(last) {
				last = at
			}
			return f(pos, e)
		})
	}
	a.ahead = func(from txlog.Position, f func(txlog.Position, txlog.Entry) error) error {
		if err := read(from, f); !errors.Is(err, errGoal) {
			return err
		}
		return nil
	}
	err = read(r.at.LogFrom, a.entry)
	reached := errors.Is(err, errGoal)
	if err != nil && !reached {
		_ = a.rest() // the log's error came first
		return last, err
	}
	if err := a.finish(); err != nil {
		return last, err
	}
	if reached || r.to.time.IsZero() || r.to.of == a.db.oid && r.to.index == max(a.last, a.done) {
		return last, nil
	}
	if whole, err := r.archiveEnds(a.db.oid); whole || err != nil {
		return last, err
	}
	until, err := txlog.ArchivedUntil(r.o.FS, dirs)
	if err != nil {
		return last, err
	}
	if until.Time.Before(r.to.time) {
		return last, fmt.Errorf("the archived log goes to %s, which is before %s", until.Time.Format(time.RFC3339Nano), r.to.time.Format(time.RFC3339Nano))
	}
	return last, nil
}

// archiveEnds tells whether nothing can follow what the archives have of a database: one is the folder of the log itself, or the
// database was dropped.
func (r *Restore) archiveEnds(oid uint32) (bool, error) {
	n := strconv.FormatUint(uint64(oid), 10)
	for _, dir := range r.to.archives {
		for _, name := range []string{filepath.Join(dir, n), filepath.Join(dir, r.head.Identity, n, droppedFile)} {
			_, err := r.o.FS.Stat(labelArchive, name)
			if err == nil || !errors.Is(err, fs.ErrNotExist) {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// passed tells whether an entry is behind the goal.
func (r *Restore) passed(a *applier, e *txlog.Entry, at time.Time) bool {
	if e.Seq <= a.done {
		return false
	}
	if r.to.index > 0 && r.to.of == a.db.oid {
		return e.Seq > r.to.index
	}
	return !r.to.time.IsZero() && at.After(r.to.time)
}
