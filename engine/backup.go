package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"herd/storage"
	"herd/txlog"
)

// BackupPiece says what a piece of a backup's stream is.
type BackupPiece byte

// A backup's stream: its head, then each database's head and state, then the end.
const (
	BackupBegins   BackupPiece = 'B' // BackupHead as JSON
	BackupDatabase BackupPiece = 'D' // DatabaseHead as JSON
	BackupState    BackupPiece = 'S' // whole records of the database's state, see state.go
	BackupEnds     BackupPiece = 'E' // BackupEnd as JSON
)

// backupFormat numbers the stream.
const backupFormat = 1

// BackupHead is what a backup begins with.
type BackupHead struct {
	Format    int            `json:"format"`
	Created   time.Time      `json:"created"`
	Identity  string         `json:"identity"` // of the data folder: its archived log is below a folder of that name
	Databases []DatabaseHead `json:"databases"`
}

// DatabaseHead is one database's place in a backup.
type DatabaseHead struct {
	Name  string      `json:"name"` // "" is the system database: roles, list of databases
	OID   uint32      `json:"oid"`
	Index txlog.Seq   `json:"index"` // the last log entry that the state contains
	Epoch txlog.Epoch `json:"epoch"`
	// LogFrom is where the log has to be read from to go on behind Index: parts of transactions that were open come earlier.
	LogFrom txlog.Position `json:"logFrom"`
	// Shared: the log was that of a cluster, LogFrom is not a position of a local one.
	Shared bool `json:"shared,omitempty"`
	// Pinned is when the state was taken: no commit in it is later, apart from clocks that were set. It may lack commits that are a
	// little earlier and were not durable yet.
	Pinned time.Time `json:"pinned"`
	Trees  int       `json:"trees"`
	Rows   int64     `json:"rows"`
}

// BackupEnd is what a backup ends with.
type BackupEnd struct {
	Databases int   `json:"databases"`
	Rows      int64 `json:"rows"`
	Bytes     int64 `json:"bytes"` // of the states
}

// BackupOptions say what to back up.
type BackupOptions struct {
	// Databases are names; none: all. The system database always is in it.
	Databases []string
	// Rate is the most bytes of state a second; 0 = as fast as they are taken.
	Rate int64
	// Sleep waits, or returns the error of an interrupt; it is called with 0 to ask for one. May be nil.
	Sleep func(d time.Duration) error
}

// pinnedState is one database's durable state, kept until it is closed.
type pinnedState struct {
	DatabaseHead
	db   *Database
	slot *storage.ReaderSlot
	use  *Session // keeps the database from being dropped
	snap *storage.Snapshot
	meta []byte
}

func (db *Database) pinState() *pinnedState {
	p := &pinnedState{db: db, slot: db.store.NewSlot(), use: db.NewSession(SessionOptions{})}
	before := db.parts.spans()
	snap, last, epoch := db.durableState(p.slot)
	at := db.parts.floorSince(before, db.log.EndOf(last), last)
	p.snap, p.meta = snap, db.encodeMeta(last, epoch, nil)
	p.DatabaseHead = DatabaseHead{Name: db.Name(), OID: db.oid, Index: last, Epoch: epoch, LogFrom: at, Shared: db.shared(), Pinned: time.Now().UTC()}
	snap.Trees(func(_ storage.TreeID, rows int64) bool {
		p.Trees++
		p.Rows += rows
		return true
	})
	return p
}

// close may be called twice.
func (p *pinnedState) close() {
	if p.slot != nil {
		p.slot.Close()
		p.use.Close()
		p.slot, p.snap = nil, nil
	}
}

// Backup writes a consistent state of each of the databases to emit, piece by piece; a piece is valid during the call. All
// states are taken before the first is written, that of the system database last: roles and databases that the others need
// are in it. Commits go on meanwhile. Errors: ErrNoDatabase, those of emit and of BackupOptions.Sleep, damaged blocks.
func (e *Engine) Backup(o BackupOptions, emit func(kind BackupPiece, p []byte) error) error {
	states, err := e.pinStates(o.Databases)
	if err != nil {
		return err
	}
	defer func() {
		for _, p := range states {
			p.close()
		}
	}()
	slices.Reverse(states) // the system database is restored first
	head := BackupHead{Format: backupFormat, Created: states[0].Pinned, Identity: e.identity}
	for _, p := range states {
		head.Databases = append(head.Databases, p.DatabaseHead)
	}
	write := func(kind BackupPiece, v any) error {
		p, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return emit(kind, p)
	}
	if err := write(BackupBegins, head); err != nil {
		return err
	}
	t := throttle{o: &o, begin: time.Now()}
	end := BackupEnd{Databases: len(states)}
	for _, p := range states {
		if err := write(BackupDatabase, p.DatabaseHead); err != nil {
			return err
		}
		w := stateWriter{emit: func(piece []byte) error {
			if err := t.passed(len(piece)); err != nil {
				return err
			}
			return emit(BackupState, piece)
		}}
		if err := w.write(p.snap, p.Index, p.meta); err != nil {
			return fmt.Errorf("back up database %q: %w", p.Name, err)
		}
		end.Rows += p.Rows
		p.close()
	}
	end.Bytes = t.bytes
	return write(BackupEnds, end)
}

// pinStates pins the states of the named databases, or of all, and of the system database, which comes last.
func (e *Engine) pinStates(names []string) (states []*pinnedState, err error) {
	e.mu.RLock() // no database comes or goes
	defer e.mu.RUnlock()
	var dbs []*Database
	for name, db := range e.byName {
		if db.oid != systemOID && !db.dropping && (len(names) == 0 || slices.Contains(names, name)) {
			dbs = append(dbs, db)
		}
	}
	for _, n := range names {
		if db := e.byName[n]; db == nil || db.oid == systemOID || db.dropping {
			return nil, fmt.Errorf("%q: %w", n, ErrNoDatabase)
		}
	}
	slices.SortFunc(dbs, func(a, b *Database) int { return int(int64(b.oid) - int64(a.oid)) })
	for _, db := range append(dbs, e.byName[""]) {
		states = append(states, db.pinState())
	}
	return states, nil
}

// throttle keeps a stream to a rate and asks for interrupts.
type throttle struct {
	o     *BackupOptions
	begin time.Time
	bytes int64
}

// passed counts n bytes and waits until they are due.
func (t *throttle) passed(n int) error {
	t.bytes += int64(n)
	if t.o.Sleep == nil {
		return nil
	}
	wait := time.Duration(0)
	if t.o.Rate > 0 {
		due := time.Duration(float64(t.bytes) / float64(t.o.Rate) * float64(time.Second))
		wait = max(0, due-time.Since(t.begin))
	}
	return t.o.Sleep(wait)
}
