package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"syscall"

	"herd/sql/sqlerr"
)

// The list of databases is rows of the system database, and a database's store is a folder: no commit is one of both. A store that
// is made before its row, or whose row goes before it, is marked as unlisted meanwhile. At the next start the list decides.
// Where several nodes share the logs the cluster marks it, see cluster/settle.go.

// Drop is a database that is being dropped: nobody finds it any more, and its name is still taken. Finish or Cancel ends it.
type Drop struct {
	e    *Engine
	db   *Database
	name string
}

// BeginDrop begins to drop a database: 3D000 when there is none, 55006 while sessions use it. Nobody can connect to it after that.
func (e *Engine) BeginDrop(name string) (*Drop, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	db := e.byName[name]
	if db == nil || db.oid == systemOID || db.dropping {
		return nil, sqlerr.New(sqlerr.UndefinedDatabase, "database \"%s\" does not exist", name)
	}
	db.sessMu.Lock()
	n := len(db.sessions)
	db.sessMu.Unlock()
	if n > 0 {
		return nil, sqlerr.New(sqlerr.ObjectInUse, "database \"%s\" is being accessed by other users", name).
			WithDetail("There are %d other sessions using the database.", n)
	}
	if !db.shared() {
		err := markUnlisted(e.o.FS, db.dir)
		if errors.Is(err, syscall.ENOSPC) { // DROP frees space: it goes on, and a crash now may leave the folder
			e.o.Logger.Warn("a database is dropped without a mark that says so", "database", name, "error", err)
		} else if err != nil {
			return nil, fmt.Errorf("drop database %q: %w", name, err)
		}
	}
	db.dropping = true
	return &Drop{e, db, name}, nil
}

// Cancel gives the database back. It stays marked until it is settled.
func (d *Drop) Cancel() {
	d.e.mu.Lock()
	d.db.dropping = false
	d.e.mu.Unlock()
}

// Finish closes the database and removes its folder. Others find their databases meanwhile: closing may wait for the archive.
func (d *Drop) Finish() error {
	e, db := d.e, d.db
	if err := db.close(false); err != nil {
		e.o.Logger.Warn("closing a dropped database failed", "database", d.name, "error", err)
	}
	if err := db.noteDropped(); err != nil {
		e.o.Logger.Warn("the log archive does not say that a database was dropped", "database", d.name, "error", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.byName, d.name)
	dropped := db.dir + suffixDrop
	if err := e.o.FS.Rename(labelFolder, db.dir, dropped); err != nil {
		return fmt.Errorf("drop database %q: %w", d.name, err)
	}
	if err := e.o.FS.SyncDir(labelFolder, filepath.Dir(db.dir)); err != nil {
		return fmt.Errorf("drop database %q: %w", d.name, err)
	}
	for _, dir := range append(outside(&e.o, db.oid), dropped) {
		if err := removeTree(e.o.FS, dir); err != nil {
			return err
		}
	}
	return nil
}

// DropDatabase closes a database and removes its folder: 3D000 when there is none, 55006 while sessions use it.
func (e *Engine) DropDatabase(name string) error {
	d, err := e.BeginDrop(name)
	if err != nil {
		return err
	}
	return d.Finish()
}

// SettleDatabase says that the list of databases has a database, durably: what the list says at a later start does not take it away.
func (e *Engine) SettleDatabase(name string) error {
	db, err := e.Database(name)
	if err != nil {
		return err
	}
	err = e.o.FS.Remove(labelFolder, filepath.Join(db.dir, unlistedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = e.o.FS.SyncDir(labelFolder, db.dir)
	}
	if err != nil {
		return fmt.Errorf("settle database %q: %w", name, err)
	}
	return nil
}

// Unsettled returns the databases that were being made or dropped when the server ended.
func (e *Engine) Unsettled() (out []DatabaseInfo, err error) {
	e.each(func(db *Database) {
		_, failed := e.o.FS.Stat(labelFolder, filepath.Join(db.dir, unlistedFile))
		switch {
		case failed == nil:
			out = append(out, DatabaseInfo{db.Name(), db.oid})
		case !errors.Is(failed, fs.ErrNotExist):
			err = failed
		}
	})
	sort.Slice(out, func(i, j int) bool { return out[i].OID < out[j].OID })
	return out, err
}
