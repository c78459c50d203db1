package exec

import (
	"errors"

	"herd/engine/lock"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/sql/catalog"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// Isolation levels as Tx.Isolation reports them.
const (
	ReadCommitted  uint8 = 1
	RepeatableRead uint8 = 2
	Serializable   uint8 = 3
)

// Tx is what data modification, row locks and SERIALIZABLE reads need from the transaction; engine.Tx implements it.
// Errors are *sqlerr.Error: 40001, 40P01, 55P03, 57014, 53200, 53100.
type Tx interface {
	// ID is the transaction number stamped in rows; allotted at the first call.
	ID() uint64
	// IsolationLevel is ReadCommitted, RepeatableRead or Serializable.
	IsolationLevel() uint8
	// Command is the number of the current command within the transaction.
	Command() uint32
	// Newest returns the newest ordered state plus all own changes.
	Newest() storage.View
	// NewestGet is Newest().Get for one look-up between changes; it costs later changes nothing.
	NewestGet(tree storage.TreeID, key []byte) (val []byte, ok bool, err error)
	// LockNewest locks the row (tree, key) if the view v has it, and reads it as NewestGet.
	LockNewest(v storage.View, tree storage.TreeID, key []byte, m lock.Mode) (val []byte, found bool, err error)
	// LockRow takes a row lock on (tree, key). granted is false only with SkipLocked.
	LockRow(tree storage.TreeID, key []byte, m lock.Mode, p lock.Policy) (granted, waited bool, err error)
	// Put and Delete change the transaction's overlay; key and val are copied.
	Put(tree storage.TreeID, key, val []byte) error
	Delete(tree storage.TreeID, key []byte) error
	// NextRowID returns a new hidden row id for a table without primary key.
	NextRowID(tree storage.TreeID) uint64
	// NoteRead records that [lo, hi) of tree was read (SERIALIZABLE); nil means unbounded. No-op at other levels.
	// 40001 when the transaction cannot commit any more.
	NoteRead(tree storage.TreeID, lo, hi []byte) error
	// NoteWrite records a write that will not be made because a constraint forbids it. 40001 when a concurrent SERIALIZABLE
	// transaction put the obstacle there. No-op at other levels.
	NoteWrite(tree storage.TreeID, key []byte) error
	// MovedTo follows the primary-key update of a row since the caller's snapshot: the key the row has now.
	MovedTo(tree storage.TreeID, key []byte) (newKey []byte, ok bool)
	// NoteMove records that the row with key old has key now after this transaction.
	NoteMove(tree storage.TreeID, old, now []byte)
}

// Env is one execution's surroundings, filled by the session before Open.
type Env struct {
	Tx     Tx
	View   storage.View // the statement's snapshot plus own changes at its start
	Funcs  funcs.Ctx    // services for kernels
	Params []types.Datum
	Acct   *mem.Account // the statement's account
	// Interrupt returns the error of a pending cancel, timeout or termination; called once a batch. May be nil.
	Interrupt func() error
	Catalog   catalog.Reader
	Virtual   catalog.VirtualEnv
	SpillFS   vfs.FS // nil: no spilling, 53200 instead
	SpillDir  string
	Analyze   bool // count rows, loops and time per node
	// CursorRow returns the key of the row of a table that an open cursor is on; nil: it is on none that can be told.
	CursorRow func(cursor string, rel *catalog.Relation) ([]byte, error)
	Workers   int // goroutines that a scan may use beyond the session's own, within the process's limit
	// Deferred collects constraint checks postponed to COMMIT; nil: all are made at the end of the statement.
	Deferred *Deferred
}

// errMemory turns mem.ErrLimit into 53200; other errors pass.
func errMemory(err error) error {
	if errors.Is(err, mem.ErrLimit) {
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("The memory limit of the server was reached and the operation cannot spill to disk.")
	}
	return err
}

// account is an operator's share of the statement's account: it remembers what it took so that reset can give it back.
type account struct {
	acct  *mem.Account
	used  int64
	floor int64 // instead of spillFloor, when that is less
	use   mem.Use
}

// spillFloor is what an account may hold, in bytes, whatever the limit says: with less, an operator that spills could not get on.
const spillFloor = 16 << 10

// open binds the account, which is empty, to env's.
func (a *account) open(env *Env, use mem.Use) { a.acct, a.use = env.Acct, use }

// grow asks for n bytes; the error is mem.ErrLimit.
func (a *account) grow(n int64) error {
	if a.acct == nil {
		return nil
	}
	if err := a.acct.Grow(n); err != nil {
		if a.used+n > max(a.floor, spillFloor) {
			return err
		}
		a.acct.Force(n)
	}
	a.acct.Note(a.use, n)
	a.used += n
	return nil
}

// force takes n bytes without asking: what is held already, or bounded and needed to go on.
func (a *account) force(n int64) {
	if a.acct != nil {
		a.acct.Force(n)
		a.acct.Note(a.use, n)
		a.used += n
	}
}

// shrink gives n bytes back.
func (a *account) shrink(n int64) {
	if a.acct != nil {
		a.acct.Shrink(n)
		a.acct.Note(a.use, -n)
		a.used -= n
	}
}

// release gives everything back.
func (a *account) release() {
	if a.acct != nil && a.used > 0 {
		a.acct.Shrink(a.used)
		a.acct.Note(a.use, -a.used)
	}
	a.used = 0
}
