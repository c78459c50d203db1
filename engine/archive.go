package engine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"herd/internal/vfs"
	"herd/txlog"
)

// archive says where the database's log is archived: <archive>/<identity of the data folder>/<number>, with the database's name.
func (db *Database) archive() txlog.ArchiveOptions {
	o := &db.eng.o
	if o.ArchiveDir == "" {
		return txlog.ArchiveOptions{}
	}
	return txlog.ArchiveOptions{
		Dir:    filepath.Join(o.ArchiveDir, db.eng.identity, strconv.FormatUint(uint64(db.oid), 10)),
		Period: o.ArchivePeriod, KeepMax: o.ArchiveKeepMax, Patience: o.archivePatience, Moment: db.moment, Describe: db.describe,
	}
}

// droppedFile is in the archive of a database that was dropped.
const droppedFile = "DROPPED"

// noteDropped says in the archive that the database's log has ended. It does not wait for an archive that hangs.
func (db *Database) noteDropped() error {
	o := db.archive()
	if o.Dir == "" {
		return nil
	}
	done := make(chan error, 1)
	go func() { // ends when the archive answers
		done <- vfs.WriteFileAtomic(db.eng.o.FS, labelArchive, o.Dir, filepath.Join(o.Dir, droppedFile), []byte(time.Now().UTC().Format(time.RFC3339Nano)+"\n"))
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(db.eng.o.archivePatience):
		return errArchiveHangs
	}
}

var errArchiveHangs = errors.New("the log archive does not answer")

// moment returns a time such that every commit with that one or an earlier one is in the log, and every later commit has a later
// one. Commits know their time to the microsecond.
func (db *Database) moment() (t time.Time) {
	_ = db.exclusive(func() error { // it has no error of its own
		t = time.UnixMicro(int64(db.tick()) - 1)
		return nil
	})
	return t
}

// describe writes the database's name into its archive.
func (db *Database) describe(dir string) error {
	name, err := readName(db.eng.o.FS, dir)
	if err == nil && name == db.Name() {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeName(db.eng.o.FS, dir, db.Name())
}
