package engine

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"herd/engine/lock"
	"herd/sql/sqlerr"
	"herd/storage"
	"herd/txlog"
)

// Numbers at which a new database begins.
const (
	firstTransaction = 1000
	firstObject      = 16384 // PostgreSQL's FirstNormalObjectId
)

// Database is one database: a store, a log, locks.
type Database struct {
	eng  *Engine
	oid  uint32
	dir  string
	name atomic.Pointer[string]

	dropping bool // guarded by Engine.mu: nobody finds it any more

	store   *storage.Store
	log     txlog.Log
	verify  func() error // that this node leads; nil when no other can
	applier *applier
	locks   *lock.Manager

	tip     atomic.Pointer[storage.Snapshot] // everything ordered
	durable atomic.Pointer[storage.Snapshot] // everything safe
	tipSlot *storage.ReaderSlot              // the leader's
	durSlot *storage.ReaderSlot              // under pubMu

	queue  queue
	epoch  txlog.Epoch
	last   txlog.Seq     // last entry ordered; the leader's
	now    atomic.Uint64 // time of the last commit ordered, microseconds since 1970; the leader of the queue raises it
	losses atomic.Uint64 // how often leadership of the log was lost, and with it what had been seen and was not agreed on

	pubMu sync.Mutex // guards pubs, durSlot and replacing durable
	pubs  []publication

	nextTx    atomic.Uint64
	nextRow   atomic.Uint64
	nextOID   atomic.Uint32
	nextTree  atomic.Uint32
	sequences sequences
	moves     moves
	parts     openParts
	ssi       ssi

	bigMu   sync.Mutex // one big commit at a time
	catchUp *catchUp   // the leader's: what a fork has to catch up with

	sessMu   sync.Mutex // guards sessions
	sessions map[*Session]struct{}

	ckptMu   sync.Mutex // one checkpoint at a time
	ckptKick chan struct{}
	ckptStop chan struct{}
	ckptDone sync.WaitGroup
	ckpt     checkpointState
	cleaner  cleaner // the checkpointer's
	stopping atomic.Bool

	spare    spareSlots
	horizons horizons
	stats    counters
}

// publication is a snapshot that becomes durable with an entry.
type publication struct {
	seq  txlog.Seq
	snap *storage.Snapshot
}

// shared tells whether the log is one of several nodes.
func (db *Database) shared() bool { return db.eng.o.OpenLog != nil }

// Name returns the database's name, "" for the system database.
func (db *Database) Name() string { return *db.name.Load() }

// OID returns the database's number.
func (db *Database) OID() uint32 { return db.oid }

// Locks returns the lock manager, for pg_locks.
func (db *Database) Locks() *lock.Manager { return db.locks }

// openStore opens the store in the database's folder.
func (db *Database) openStore() (m storage.Manifest, err error) {
	e := db.eng
	manifests, err := openManifests(e.o.FS, e.o.metadataDir(db.oid))
	if err != nil {
		return m, err
	}
	db.store, m, err = storage.Open(storage.Options{
		FS: e.o.FS, Dir: filepath.Join(db.dir, dataFolder), Manifests: manifests, PageSize: e.o.PageSize,
		KeepFreeBytes: e.o.LogKeepFreeBytes, Segment: e.segmentBytes(),
		Mem: e.acctBlocks, MemLimit: e.acctBlocks.Limit(), CleanPercent: e.o.CleanPercent,
	})
	return m, err
}

// segmentBytes returns the size of data files: smaller ones where little memory is, since no checkpoint is made while one is looked through for what
// is alive in it.
func (e *Engine) segmentBytes() int64 {
	const least, most = 8 << 20, 64 << 20
	limit := e.acctBlocks.Limit()
	if e.o.segmentBytes > 0 || limit == 0 {
		return e.o.segmentBytes
	}
	return min(max(limit/4, least), most)
}

// openDatabase opens the database in base/db/<oid> and replays its log.
func (e *Engine) openDatabase(oid uint32) (*Database, error) {
	db := &Database{eng: e, oid: oid, dir: dbDir(e.o.Dir, oid), locks: lock.NewManager(),
		sessions: map[*Session]struct{}{}, ckptKick: make(chan struct{}, 1), ckptStop: make(chan struct{})}
	db.locks.Database = oid
	name, err := readName(e.o.FS, db.dir)
	if err != nil {
		return nil, fmt.Errorf("open database %d: %w", oid, err)
	}
	db.name.Store(&name)
	db.sequences.init()
	db.parts.init()
	db.ssi.init(db)
	manifest, err := db.openStore()
	if err != nil {
		return nil, fmt.Errorf("open database %q: %w", name, err)
	}
	if err := db.recover(manifest); err != nil {
		if db.log != nil {
			db.log.Close()
		}
		db.store.Close()
		return nil, fmt.Errorf("open database %q: %w", name, err)
	}
	db.ckpt.last.Store(int64(e.uptime()))
	db.ckpt.begun.Store(int64(e.uptime()))
	db.ckptDone.Add(1)
	go db.checkpointer()
	return db, nil
}

// close ends the database: log and files. Sessions must have ended.
func (db *Database) close(checkpoint bool) error {
	if db.stopping.Swap(true) {
		return nil
	}
	close(db.ckptStop)
	db.ckptDone.Wait()
	var err error
	if checkpoint {
		if err = db.log.Barrier(); err == nil {
			err = db.checkpointNow(0)
		}
	}
	if e := db.log.Close(); err == nil {
		err = e
	}
	if e := db.store.Close(); err == nil {
		err = e
	}
	return err
}

// setTip publishes a snapshot as the newest. The leader calls it.
func (db *Database) setTip(s *storage.Snapshot) {
	db.tipSlot.Pin(s)
	db.tip.Store(s)
}

// onDurable is called by the log's writer: entries up to seq are safe. The cleaner calls it too.
func (db *Database) onDurable(seq txlog.Seq) {
	db.pubMu.Lock()
	defer db.pubMu.Unlock()
	n := 0
	for n < len(db.pubs) && db.pubs[n].seq <= seq {
		n++
	}
	if n > 0 {
		s := db.pubs[n-1].snap
		rest := copy(db.pubs, db.pubs[n:])
		clear(db.pubs[rest:])
		db.pubs = db.pubs[:rest]
		db.durSlot.Pin(s)
		db.durable.Store(s)
	}
}

// publish notes that s becomes durable with entry seq.
func (db *Database) publish(seq txlog.Seq, s *storage.Snapshot) {
	db.pubMu.Lock()
	db.pubs = append(db.pubs, publication{seq, s})
	db.pubMu.Unlock()
}

// ReadTip calls f with the newest state, pinned during the call. There is no transaction: what f sees may not be
// durable yet.
func (db *Database) ReadTip(f func(v storage.View) error) error {
	slot := db.spare.get(db.store)
	defer db.spare.put(slot)
	s := db.tip.Load()
	for !slot.Pin(s) {
		s = db.tip.Load()
	}
	return f(storage.View{Snap: s})
}

// spareSlots are reader slots for readers that come and go. (A sync.Pool would lose them: a slot stays known to its
// store until it is closed.)
type spareSlots struct {
	mu   sync.Mutex
	list []*storage.ReaderSlot
}

func (p *spareSlots) get(st *storage.Store) *storage.ReaderSlot {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.list); n > 0 {
		r := p.list[n-1]
		p.list = p.list[:n-1]
		return r
	}
	return st.NewSlot()
}

func (p *spareSlots) put(r *storage.ReaderSlot) {
	r.Unpin()
	p.mu.Lock()
	p.list = append(p.list, r)
	p.mu.Unlock()
}

// CatalogVersion returns the number of the last ordered commit that changed a system tree.
func (db *Database) CatalogVersion() storage.Seq { return db.tip.Load().CatalogVersion() }

// NewOID returns a number that no object of this database has. It is kept across restarts once a transaction that
// changes a system tree commits.
func (db *Database) NewOID() (uint32, error) { return db.NewOIDs(1) }

// NewOIDs returns the first of count such numbers.
func (db *Database) NewOIDs(count uint32) (uint32, error) {
	n := db.nextOID.Add(count) - count
	if n >= 1<<32-1024 || n < firstObject {
		return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "out of object identifiers")
	}
	return n, nil
}

// OldestSnapshot returns the lowest sequence number that an open statement or transaction reads, or that of the durable
// state when none is older: no statement that begins later reads an older one. CREATE INDEX waits for it to pass.
func (db *Database) OldestSnapshot() storage.Seq {
	low := uint64(db.durable.Load().Seq())
	db.sessMu.Lock()
	defer db.sessMu.Unlock()
	for s := range db.sessions {
		if n := s.reading.Load(); n != 0 {
			low = min(low, n-1)
		}
	}
	return storage.Seq(low)
}
