package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"herd/engine/lock"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/storage"
	"herd/txlog"
)

// RestoreOptions say what to restore and up to where.
type RestoreOptions struct {
	Options // FS, Dir, LogDir, MetadataDir, MemLimit, PageSize and Logger count
	// Databases are the names of those to restore; none: all. The system database always is.
	Databases []string
	Target    RestoreTarget
}

// Restore builds a data folder from a backup's pieces. Until Done has returned nil no server opens the folder.
type Restore struct {
	o    RestoreOptions
	lock io.Closer
	eng  *Engine // to open databases with; never opened itself
	head BackupHead
	to   *goal // nil: the backup as it is
	db   *Database
	in   *stateParser // of the database in hand; nil: between databases, or it is left out
	out  *restorer
	at   DatabaseHead
	had  int // databases of the backup so far, those that are left out included
	end  bool
	done []RestoredDatabase
	// nextOID is the first number that a database made after the backup may have.
	nextOID uint32
}

// RestoredDatabase is what Restore made of a database.
type RestoredDatabase struct {
	Name  string
	OID   uint32
	Index txlog.Seq // of the last entry in it
	Time  time.Time // of the last commit that came from the archived log; zero: none did
	Trees int
	Rows  int64
}

// BeginRestore makes the folder o.Dir, which must be empty or missing, and marks it as one that is being restored.
func BeginRestore(o RestoreOptions) (*Restore, error) {
	o.Options = o.Options.withDefaults()
	fsys := o.FS
	for _, dir := range []string{o.Dir, o.LogDir, o.MetadataDir} {
		if dir == "" {
			continue
		}
		names, err := fsys.ReadDir(labelFolder, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("restore into %s: %w", dir, err)
		}
		if len(names) > 0 {
			if dir == o.Dir && notRestoring(fsys, dir) != nil {
				return nil, fmt.Errorf("restore into %s: %w", dir, ErrHalfRestored)
			}
			return nil, fmt.Errorf("restore into %s: the folder is not empty", dir)
		}
	}
	l, err := markRestoring(&o.Options)
	if err != nil {
		return nil, fmt.Errorf("restore into %s: %w", o.Dir, err)
	}
	e := &Engine{o: o.Options, began: time.Now(), scanner: lock.NewScanner(), byName: map[string]*Database{}}
	e.acctBlocks = o.Memory.Child("blocks")
	e.acctBlocks.SetLimit(blocksLimit(o.Memory.Limit()))
	return &Restore{o: o, lock: l, eng: e}, nil
}

// markRestoring makes the folder and its mark before anything else is in it.
func markRestoring(o *Options) (io.Closer, error) {
	fsys := o.FS
	if err := vfs.MakeFolder(fsys, labelFolder, o.Dir); err != nil {
		return nil, err
	}
	f, err := fsys.Create(labelFolder, filepath.Join(o.Dir, restoringFile))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Sync(labelFolder), f.Close(), fsys.SyncDir(labelFolder, o.Dir)); err != nil {
		return nil, err
	}
	l, err := fsys.Lock(labelFolder, filepath.Join(o.Dir, lockFile))
	if err != nil { // a server has just begun to make the folder its own: the mark must not keep it from that
		return nil, errors.Join(err, fsys.Remove(labelFolder, filepath.Join(o.Dir, restoringFile)))
	}
	if err = checkFormat(fsys, o.Dir); err == nil {
		err = fsys.MkdirAll(labelFolder, filepath.Join(o.Dir, dbFolder))
	}
	if err == nil {
		err = fsys.SyncDir(labelFolder, o.Dir)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// HalfRestored tells whether dir is a data folder whose restore has begun and not ended.
func HalfRestored(fsys vfs.FS, dir string) bool {
	return errors.Is(notRestoring(fsys, dir), ErrHalfRestored)
}

// Piece takes the next piece of the backup. After an error only Abandon may be called.
func (r *Restore) Piece(kind BackupPiece, p []byte) error {
	switch kind {
	case BackupBegins:
		head, err := decodeHead(p)
		if err != nil {
			return err
		}
		r.head = head
		return r.aim()
	case BackupDatabase:
		return r.begin(p)
	case BackupState:
		if r.in == nil { // left out
			return nil
		}
		if err := r.in.feed(p); err != nil {
			return fmt.Errorf("database %q: %w", r.at.Name, err)
		}
		if r.in.Ended {
			return r.finish()
		}
		return nil
	case BackupEnds:
		if err := r.betweenDatabases(); err != nil {
			return err
		}
		if r.had != len(r.head.Databases) {
			return fmt.Errorf("the backup has %d databases, its head says %d: %w", r.had, len(r.head.Databases), storage.ErrCorrupt)
		}
		if err := r.later(); err != nil {
			return err
		}
		r.end = true
		return nil
	}
	return unknownPiece(kind)
}

func unknownPiece(kind BackupPiece) error {
	return fmt.Errorf("piece of kind %q: %w", byte(kind), ErrNewerFormat)
}

// decodeHead reads a backup's head.
func decodeHead(p []byte) (h BackupHead, err error) {
	if err := json.Unmarshal(p, &h); err != nil {
		return h, fmt.Errorf("the backup's head: %v: %w", err, storage.ErrCorrupt)
	}
	if h.Format > backupFormat {
		return h, fmt.Errorf("backup of format %d: %w", h.Format, ErrNewerFormat)
	}
	return h, nil
}

func decodeDatabase(p []byte) (h DatabaseHead, err error) {
	if err := json.Unmarshal(p, &h); err != nil {
		return h, fmt.Errorf("a database's head: %v: %w", err, storage.ErrCorrupt)
	}
	return h, nil
}

func (r *Restore) betweenDatabases() error {
	if r.in != nil {
		return fmt.Errorf("database %q: %w", r.at.Name, r.in.whole())
	}
	return nil
}

// begin begins a database.
func (r *Restore) begin(p []byte) (err error) {
	if err := r.betweenDatabases(); err != nil {
		return err
	}
	if r.at, err = decodeDatabase(p); err != nil {
		return err
	}
	r.had++
	if len(r.o.Databases) > 0 && r.at.OID != systemOID && !slices.Contains(r.o.Databases, r.at.Name) {
		return nil
	}
	if err := r.make(r.at.OID, r.at.Name); err != nil {
		return err
	}
	r.out = &restorer{store: r.db.store, snap: r.db.store.Base(), slot: r.db.store.NewSlot(), applied: func() error { return r.spill(r.out.snap) }}
	r.in = &stateParser{to: r.out}
	return nil
}

// make makes a database's folder and opens its store.
func (r *Restore) make(oid uint32, name string) error {
	o := &r.o.Options
	if err := makeDatabaseFolder(o, oid, name, false); err != nil {
		return fmt.Errorf("make database %q: %w", name, err)
	}
	db := &Database{eng: r.eng, oid: oid, dir: dbDir(o.Dir, oid)}
	db.name.Store(&name)
	db.sequences.init()
	db.parts.init()
	if _, err := db.openStore(); err != nil {
		return fmt.Errorf("make database %q: %w", name, err)
	}
	db.nextTx.Store(firstTransaction)
	db.nextRow.Store(1)
	db.nextOID.Store(firstObject)
	db.nextTree.Store(uint32(storage.ReservedTrees))
	r.db = db
	return nil
}

// spill writes what was restored so far when memory is short.
func (r *Restore) spill(s *storage.Snapshot) error {
	limit, st := r.eng.acctBlocks.Limit(), r.db.store
	if limit == 0 || st.Dirty() < limit/4 {
		return nil
	}
	if err := st.Checkpoint(s, storage.Meta{}, storage.CheckpointOptions{}); err != nil {
		return fmt.Errorf("restore database %q: %w", r.db.Name(), err)
	}
	st.Evict(st.Resident() - limit/4)
	return nil
}

// finish ends the database in hand: it replays the log as far as wanted and makes everything durable.
func (r *Restore) finish() error {
	b, db := r.out, r.db
	r.in, r.out = nil, nil
	defer b.slot.Close()
	last, _, err := db.decodeMeta(b.meta)
	if err != nil {
		return fmt.Errorf("restore database %q: %w", db.Name(), err)
	}
	if last != r.at.Index {
		return fmt.Errorf("restore database %q: its state is of entry %d, its head says %d: %w", db.Name(), last, r.at.Index, storage.ErrCorrupt)
	}
	if r.at.OID == systemOID {
		r.nextOID = db.nextOID.Load()
	}
	return r.complete(b.snap, last)
}

// complete replays the log behind snap, which contains entries up to last, and writes the database.
func (r *Restore) complete(snap *storage.Snapshot, last txlog.Seq) error {
	db := r.db
	done := RestoredDatabase{Name: db.Name(), OID: db.oid, Index: last}
	a := &applier{db: db, role: replaying, snap: snap, done: last, slot: db.store.NewSlot(), parts: map[uint64]*txParts{}}
	db.applier = a
	a.slot.Pin(snap)
	defer a.slot.Close()
	if r.to != nil {
		var err error
		if done.Time, err = r.replay(a); err != nil {
			return fmt.Errorf("restore database %q: %w", db.Name(), err)
		}
		done.Index = max(a.last, a.done)
	}
	meta := storage.Meta{Opaque: db.encodeMeta(done.Index, db.epoch, nil)}
	if err := db.store.Checkpoint(a.snap, meta, storage.CheckpointOptions{}); err != nil {
		return fmt.Errorf("restore database %q: %w", db.Name(), err)
	}
	a.snap.Trees(func(_ storage.TreeID, rows int64) bool {
		done.Trees++
		done.Rows += rows
		return true
	})
	r.done = append(r.done, done)
	r.db = nil
	if err := db.store.Close(); err != nil {
		return fmt.Errorf("restore database %q: %w", db.Name(), err)
	}
	return nil
}

// Databases returns what was restored so far.
func (r *Restore) Databases() []RestoredDatabase { return r.done }

// Open opens the restored folder, for what has to be put in order before a server may use it. Close the engine before Done.
func (r *Restore) Open() (*Engine, error) {
	if !r.end {
		return nil, errors.New("restore: the backup has not been read to its end")
	}
	for _, n := range r.o.Databases {
		if !slices.ContainsFunc(r.done, func(d RestoredDatabase) bool { return d.Name == n }) {
			return nil, fmt.Errorf("restore database %q: %w in the backup", n, ErrNoDatabase)
		}
	}
	o := r.o.Options
	o.Memory = mem.NewRoot(o.Memory.Limit())
	return openFolder(o, io.NopCloser(nil))
}

// Done makes the folder one that a server opens.
func (r *Restore) Done() error {
	fsys, dir := r.o.FS, r.o.Dir
	defer r.Abandon()
	if !r.end {
		return errors.New("restore: the backup has not been read to its end")
	}
	if err := fsys.Remove(labelFolder, filepath.Join(dir, restoringFile)); err != nil {
		return fmt.Errorf("restore into %s: %w", dir, err)
	}
	if err := fsys.SyncDir(labelFolder, dir); err != nil {
		return fmt.Errorf("restore into %s: %w", dir, err)
	}
	return nil
}

// Abandon lets go of the folder; what is in it stays, and stays marked unless Done was called. It may be called twice.
func (r *Restore) Abandon() {
	if r.db != nil {
		_ = r.db.store.Close() // nothing of it is kept
		r.db = nil
	}
	if r.lock != nil {
		r.eng.scanner.Close()
		r.lock.Close()
		r.lock = nil
	}
}
