package lock

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"herd/internal/mem"
	"herd/sql/sqlerr"
)

const (
	shardBits  = 8
	shardCount = 1 << shardBits
	partCount  = 1024 // counters of strong table locks
	fastSlots  = 8
	// accountStep is the number of row locks for which memory is asked at once.
	accountStep  = 1024
	rowLockBytes = 48 // an entry at half load and a record
)

// DefaultDeadlockDelay is Owner.DeadlockDelay at first: a wait that long is rare where rows are small, and looking costs little.
const DefaultDeadlockDelay = 50 * time.Millisecond

// Manager holds the locks of one database. Use NewManager.
type Manager struct {
	seed   maphash.Seed
	shards [shardCount]shard

	heavyMu sync.Mutex // guards heavy and its wide locks
	heavy   map[name]*wide

	strong [partCount]atomic.Int32 // strong table locks held or asked for, by part of the table's number

	wholeTrees atomic.Int32 // owners that have, or are about to have, a whole tree
	// Database is the number of the database, for messages. Set it before use.
	Database uint32
	// WholeAt is how many row locks of one tree an owner takes before it locks the whole tree. Set it before use.
	WholeAt int

	ownersMu sync.RWMutex // guards owners and free
	owners   []*Owner     // by Owner.id; [0] is unused
	free     []uint32

	// Waits counts lock waits, Deadlocks the deadlocks found.
	Waits, Deadlocks atomic.Int64
}

// NewManager returns a Manager without locks.
func NewManager() *Manager {
	return &Manager{WholeAt: wholeAt, seed: maphash.MakeSeed(), heavy: map[name]*wide{}, owners: make([]*Owner, 1)}
}

// Owner is a session as the holder of locks. Use NewOwner.
type Owner struct {
	m    *Manager
	id   uint32
	pid  int32
	intr *Interrupt
	acct *mem.Account

	// Timeout is lock_timeout in nanoseconds, 0 = none. DeadlockDelay is how long a wait lasts before it is checked for
	// a deadlock, in nanoseconds.
	Timeout       int64
	DeadlockDelay int64

	fast [fastSlots]atomic.Uint64 // table number << 16 | mask; others only clear

	rows   []rowRecord
	tables []tableRecord
	adv    []advisoryHold
	advTx  []advisoryRecord
	whole  []uint32 // trees locked as a whole
	counts []treeCount

	wait  waitState
	waits uint64

	kept    []tableRecord // table locks that outlive the transaction
	xid     atomic.Uint64 // number of the present transaction, 0 = it has none yet
	ended   atomic.Uint64 // transactions that have ended
	watched atomic.Bool   // somebody waits for the present transaction
}

// rowRecord is one step of the owner's row locks: before it the row was held in mode prev.
type rowRecord struct {
	hash uint64
	prev Mode
}

// Mark is a point to which locks can be rolled back.
type Mark struct{ rows, tables, advisory int }

// PID returns the process number the owner was made with.
func (o *Owner) PID() int32 { return o.pid }

// NewOwner returns an owner for a session with the given process number. acct, which may be nil, pays for its locks.
func (m *Manager) NewOwner(pid int32, intr *Interrupt, acct *mem.Account) *Owner {
	o := &Owner{m: m, pid: pid, intr: intr, acct: acct, DeadlockDelay: int64(DefaultDeadlockDelay)}
	m.ownersMu.Lock()
	defer m.ownersMu.Unlock()
	if n := len(m.free); n > 0 {
		o.id = m.free[n-1]
		m.free = m.free[:n-1]
		m.owners[o.id] = o
	} else {
		o.id = uint32(len(m.owners))
		m.owners = append(m.owners, o)
	}
	return o
}

// Close releases everything, session locks included, and retires the owner.
func (o *Owner) Close() {
	o.ReleaseAll()
	o.DropKept()
	o.TransactionEnded()
	o.AdvisoryUnlockAll()
	m := o.m
	m.ownersMu.Lock()
	defer m.ownersMu.Unlock()
	m.owners[o.id] = nil
	m.free = append(m.free, o.id)
}

// Mark returns the present point, for RollbackTo.
func (o *Owner) Mark() Mark { return Mark{len(o.rows), len(o.tables), len(o.advTx)} }

// Waited returns how many locks the owner has waited for.
func (o *Owner) Waited() uint64 { return o.waits }

// Few tells whether ReleaseAll takes next to no time.
func (o *Owner) Few() bool { return len(o.rows)+len(o.tables)+len(o.advTx) <= 64 }

// Holding tells whether the transaction holds any lock.
func (o *Owner) Holding() bool { return len(o.rows)+len(o.tables)+len(o.advTx) > 0 }

// RollbackTo releases or weakens what was locked since the mark.
func (o *Owner) RollbackTo(k Mark) {
	for i := len(o.rows) - 1; i >= k.rows; i-- {
		o.m.setRow(o, o.rows[i].hash, o.rows[i].prev)
	}
	if o.acct != nil {
		n := int64(len(o.rows)/accountStep-k.rows/accountStep) * accountStep * rowLockBytes
		o.acct.Shrink(n)
		o.acct.Note(mem.UseLocks, -n)
	}
	o.rows = o.rows[:k.rows]
	for i := len(o.tables) - 1; i >= k.tables; i-- {
		o.releaseTable(o.tables[i])
	}
	o.tables = o.tables[:k.tables]
	for i := len(o.advTx) - 1; i >= k.advisory; i-- {
		o.releaseAdvisory(o.advTx[i].name, o.advTx[i].mode, false)
	}
	o.advTx = o.advTx[:k.advisory]
}

// ReleaseAll releases the transaction's locks; session-level advisory locks stay.
func (o *Owner) ReleaseAll() {
	if !o.Holding() {
		return
	}
	o.RollbackTo(Mark{})
	o.counts = o.counts[:0]
	if cap(o.rows) > 4096 {
		o.rows = nil
	}
	o.TransactionEnded()
}

// account asks for the memory of one more row lock.
func (o *Owner) account() error {
	if o.acct == nil || (len(o.rows)+1)%accountStep != 0 {
		return nil
	}
	if err := o.acct.Grow(accountStep * rowLockBytes); err != nil {
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory for row locks").
			WithDetail("The transaction holds %d row locks.", len(o.rows))
	}
	o.acct.Note(mem.UseLocks, accountStep*rowLockBytes)
	return nil
}

// ownerOf returns the owner with a number.
func (m *Manager) ownerOf(id uint32) *Owner {
	m.ownersMu.RLock()
	defer m.ownersMu.RUnlock()
	return m.owners[id]
}
