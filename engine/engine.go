package engine

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"sync"
	"time"

	"herd/engine/lock"
	"herd/internal/mem"
	"herd/sql/sqlerr"
)

// systemOID is the number of the system database, whose name is "".
const systemOID = 0

// keepFreeUsual is Options.LogKeepFreeBytes unless the disk is small: a checkpoint frees the log, and needs room to do so.
const keepFreeUsual = 64 << 20

// ErrNoDatabase is returned for a database that does not exist.
var ErrNoDatabase = errors.New("database does not exist")

// ErrClosed is returned by an engine that is closed, or is being closed.
var ErrClosed = errors.New("engine is closed")

// Engine is an open data folder. Use Open.
type Engine struct {
	o        Options
	began    time.Time
	folder   io.Closer
	identity string // of the folder's history of commits
	scanner  *lock.Scanner
	keeper   memoryKeeper

	acctBlocks *mem.Account // blocks of all databases

	mu     sync.RWMutex // guards what follows
	byName map[string]*Database
	closed bool
}

// uptime is how long the engine has been open, whatever the wall clock says.
func (e *Engine) uptime() time.Duration { return time.Since(e.began) }

// Open opens the data folder o.Dir, making it when it is missing: it takes the folder's lock, checks its format, opens
// all databases and replays their logs. ErrInUse, ErrNewerFormat, ErrNotHerd, *txlog.CorruptError.
func Open(o Options) (*Engine, error) {
	o = o.withDefaults()
	l, err := lockFolder(o.FS, o.Dir)
	if err != nil {
		return nil, err
	}
	return openFolder(o, l)
}

// openFolder opens a folder that l locks; it closes l at the end.
func openFolder(o Options, l io.Closer) (*Engine, error) {
	var err error
	if o.LogKeepFreeBytes == 0 {
		if free, err := o.FS.FreeBytes(o.Dir); err == nil {
			o.LogKeepFreeBytes = min(keepFreeUsual, free/8)
		}
	}
	e := &Engine{o: o, began: time.Now(), folder: l, scanner: lock.NewScanner(), byName: map[string]*Database{}}
	if err = takeOver(o.FS, o.Dir); err == nil {
		e.identity, err = identity(o.FS, o.Dir)
	}
	if err != nil {
		e.scanner.Close()
		l.Close()
		return nil, err
	}
	e.acctBlocks = o.Memory.Child("blocks")
	e.acctBlocks.SetLimit(blocksLimit(o.Memory.Limit()))
	if err := e.openAll(); err != nil {
		e.scanner.Close()
		for _, db := range e.byName {
			db.close(false)
		}
		l.Close()
		return nil, err
	}
	e.keeper.start(e)
	return e, nil
}

// openAll opens every database and makes the system database in a new folder.
func (e *Engine) openAll() error {
	dir := filepath.Join(e.o.Dir, dbFolder)
	if err := e.o.FS.MkdirAll(labelFolder, dir); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	if err := e.o.FS.SyncDir(labelFolder, e.o.Dir); err != nil {
		return err
	}
	oids, err := listDatabases(e.o.FS, e.o.Dir)
	if err != nil {
		return err
	}
	system := false
	for _, oid := range oids {
		system = system || oid == systemOID
	}
	if !system {
		if len(oids) > 0 {
			return fmt.Errorf("open %s: the system database is missing", e.o.Dir)
		}
		if err := makeDatabaseFolder(&e.o, systemOID, "", false); err != nil {
			return fmt.Errorf("make the system database: %w", err)
		}
		oids = append(oids, systemOID)
	}
	for _, oid := range oids {
		db, err := e.openDatabase(oid)
		if err != nil {
			return err
		}
		if other := e.byName[db.Name()]; other != nil {
			db.close(false)
			return fmt.Errorf("databases %d and %d are both named %q", other.oid, oid, db.Name())
		}
		e.byName[db.Name()] = db
	}
	return nil
}

// Close checkpoints and closes all databases. Sessions must have been closed.
func (e *Engine) Close() error { return e.shutdown(true) }

// Abandon closes without a checkpoint: the next Open replays. Tests use it.
func (e *Engine) Abandon() error { return e.shutdown(false) }

func (e *Engine) shutdown(checkpoint bool) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	dbs := e.byName
	e.byName = map[string]*Database{}
	e.mu.Unlock()
	e.keeper.stop()
	var errs []error
	for _, db := range dbs {
		if err := db.close(checkpoint); err != nil {
			errs = append(errs, fmt.Errorf("close database %q: %w", db.Name(), err))
		}
	}
	e.scanner.Close()
	errs = append(errs, e.folder.Close())
	return errors.Join(errs...)
}

// System returns the database that holds roles and the list of databases.
func (e *Engine) System() *Database {
	db, _ := e.Database("")
	return db
}

// Database returns the open database with a name, or ErrNoDatabase.
func (e *Engine) Database(name string) (*Database, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if db := e.byName[name]; db != nil && !db.dropping {
		return db, nil
	}
	return nil, fmt.Errorf("%q: %w", name, ErrNoDatabase)
}

// DatabaseInfo describes a database.
type DatabaseInfo struct {
	Name string
	OID  uint32
}

// Databases returns all databases but the system database, by name.
func (e *Engine) Databases() []DatabaseInfo {
	e.mu.RLock()
	defer e.mu.RUnlock()
	var out []DatabaseInfo
	for name, db := range e.byName {
		if db.oid != systemOID {
			out = append(out, DatabaseInfo{name, db.oid})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// each calls f for every open database, and not for one that is being closed.
func (e *Engine) each(f func(*Database)) {
	e.mu.RLock()
	dbs := make([]*Database, 0, len(e.byName))
	for _, db := range e.byName {
		if !db.stopping.Load() {
			dbs = append(dbs, db)
		}
	}
	e.mu.RUnlock()
	for _, db := range dbs {
		f(db)
	}
}

// CreateDatabase makes an empty database with a name and number that no other has, and opens it. A crash leaves all of
// it or nothing. It is marked as one that the list of databases may not have until SettleDatabase is called.
func (e *Engine) CreateDatabase(name string, oid uint32) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	if e.byName[name] != nil {
		return sqlerr.New(sqlerr.DuplicateDatabase, "database \"%s\" already exists", name)
	}
	for _, db := range e.byName {
		if db.oid == oid {
			return sqlerr.Internal("database number %d is in use by \"%s\"", oid, db.Name())
		}
	}
	if err := makeDatabaseFolder(&e.o, oid, name, e.o.OpenLog == nil); err != nil {
		return fmt.Errorf("make database %q: %w", name, err)
	}
	db, err := e.openDatabase(oid)
	if err != nil {
		return err
	}
	e.byName[name] = db
	return nil
}

// RenameDatabase gives a database another name.
func (e *Engine) RenameDatabase(name, to string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	db := e.byName[name]
	if db == nil || db.oid == systemOID {
		return sqlerr.New(sqlerr.UndefinedDatabase, "database \"%s\" does not exist", name)
	}
	if e.byName[to] != nil {
		return sqlerr.New(sqlerr.DuplicateDatabase, "database \"%s\" already exists", to)
	}
	if err := writeName(e.o.FS, db.dir, to); err != nil {
		return fmt.Errorf("rename database %q: %w", name, err)
	}
	db.name.Store(&to)
	delete(e.byName, name)
	e.byName[to] = db
	return nil
}
