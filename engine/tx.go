package engine

import (
	"errors"
	"time"

	"herd/engine/lock"
	"herd/internal/mem"
	"herd/sql/sqlerr"
	"herd/storage"
	"herd/txlog"
)

// Isolation is an isolation level.
type Isolation uint8

// The levels; READ UNCOMMITTED is READ COMMITTED.
const (
	ReadCommitted  Isolation = 1
	RepeatableRead Isolation = 2
	Serializable   Isolation = 3
)

// TxOptions configure Begin. The zero value is a READ COMMITTED transaction.
type TxOptions struct {
	Isolation  Isolation
	ReadOnly   bool
	Deferrable bool // with Serializable and ReadOnly: wait for a snapshot that needs no checks
	// Implicit says that the transaction is one statement: reads then need no table lock while nobody holds a strong one.
	Implicit bool
}

// Tx is a session's transaction. The session has one Tx that each Begin uses again.
type Tx struct {
	s     *Session
	o     TxOptions
	iso   Isolation
	done  bool
	start int64 // lock.Now

	id     uint64
	cmd    uint32
	snap   *storage.Snapshot // RR, SERIALIZABLE: the transaction's; else the statement's
	rowIDs bool              // row ids were taken: the commit records the counter
	system bool              // a system tree was changed
	moves  []move
	moved  movedParts

	token string // that it is committed with, "" for none

	onCommit, onRollback []func()
	serial               *serialTx
}

// Begin starts a transaction. Nothing is pinned until the first statement.
func (s *Session) Begin(o TxOptions) *Tx {
	t := &s.tx
	if !t.done {
		t.Rollback()
	}
	if o.Isolation == 0 {
		o.Isolation = ReadCommitted
	}
	t.o, t.iso, t.done = o, o.Isolation, false
	t.start = 0
	t.id, t.cmd, t.snap, t.token = 0, 0, nil, ""
	t.rowIDs, t.system = false, false
	return t
}

// ID returns the transaction's number, which its rows are stamped with; it is allotted at the first call.
func (t *Tx) ID() uint64 {
	if t.id == 0 {
		t.id = t.s.db.nextTx.Add(1) - 1
		t.s.own.Number(t.id)
	}
	return t.id
}

// HasID tells whether a number was allotted.
func (t *Tx) HasID() bool { return t.id != 0 }

// Isolation returns the isolation level.
func (t *Tx) Isolation() Isolation { return t.iso }

// IsolationLevel returns the isolation level as sql/exec numbers it.
func (t *Tx) IsolationLevel() uint8 { return uint8(t.iso) }

// ReadOnly tells whether the transaction is read only. The engine does not check it.
func (t *Tx) ReadOnly() bool { return t.o.ReadOnly }

// SetReadOnly changes it (SET TRANSACTION).
func (t *Tx) SetReadOnly(on bool) { t.o.ReadOnly = on }

// Command returns the number of the current command, 1 for the first.
func (t *Tx) Command() uint32 { return t.cmd }

// NextCommand ends the current command: changes from here on count as another one's, which sees what this one did.
func (t *Tx) NextCommand() { t.cmd++ }

// root returns the transaction's own changes.
func (t *Tx) root() storage.Root {
	if t.s.overlay == nil {
		return storage.Root{}
	}
	return t.s.overlay.Root()
}

// BeginStatement starts a command and returns what it sees: at READ COMMITTED a new snapshot, else the transaction's;
// and the changes of earlier commands. The view is valid until the next BeginStatement or the transaction's end; a
// portal that lives longer takes PinView.
func (t *Tx) BeginStatement() storage.View {
	t.cmd++
	switch {
	case t.iso == ReadCommitted:
		t.snap = t.s.pinStatement()
	case t.snap != nil:
	case t.iso == Serializable:
		t.s.fixed.Store(true)
		t.s.db.ssi.begin(t)
	default:
		t.s.fixed.Store(true) // before the snapshot: see WaitSnapshots
		t.snap = t.s.pinStatement()
	}
	if t.s.overlay == nil {
		return storage.View{Snap: t.snap}
	}
	return storage.View{Snap: t.snap, Own: t.s.overlay.Root()}
}

// View returns the current statement's snapshot and all own changes, those of the current command included.
func (t *Tx) View() storage.View {
	if t.snap == nil {
		return t.BeginStatement()
	}
	return storage.View{Snap: t.snap, Own: t.root()}
}

// Newest returns the newest ordered state and all own changes. It is valid until the next call of Newest or the
// transaction's end. Having read it, the session waits for it to be durable at the transaction's end.
func (t *Tx) Newest() storage.View {
	return storage.View{Snap: t.s.pinNewest(), Own: t.root()}
}

// NewestGet is Newest().Get(tree, key) for a look-up between changes: it spares the next change from copying what a
// view would keep. val is valid until the next change of the same key or the transaction's end.
func (t *Tx) NewestGet(tree storage.TreeID, key []byte) (val []byte, ok bool, err error) {
	v := storage.View{Snap: t.s.pinNewest()}
	if t.s.overlay != nil {
		v.Own = t.s.overlay.Peek()
	}
	return v.Get(tree, key)
}

// LockNewest locks row (tree, key) if v, the statement's view, has it, and reads it from the newest ordered state. found
// is false, without error, when the view does not have the row or the newest state has it no more. val is valid as that
// of NewestGet. In the usual case the row is looked up once, for both: nothing was ordered between look and lock.
func (t *Tx) LockNewest(v storage.View, tree storage.TreeID, key []byte, m lock.Mode) (val []byte, found bool, err error) {
	s := t.s
	tip, ok := (*storage.Snapshot)(nil), false
	if s.overlay == nil || !s.overlay.Peek().Touches(tree, key) {
		tip = s.pinTip()
		var had bool
		if val, ok, had, err = tip.GetBoth(v.Snap, tree, key); err != nil || !had {
			return nil, false, err
		}
	} else if _, ok, err := v.Get(tree, key); err != nil || !ok {
		return nil, false, err
	}
	if _, _, err := t.LockRow(tree, key, m, lock.Wait); err != nil {
		return nil, false, err
	}
	if tip != nil && s.db.tip.Load() == tip {
		s.seen = max(s.seen, uint64(tip.Seq()))
		return val, ok, nil
	}
	return t.NewestGet(tree, key)
}

// Look returns a state with the newest catalog and all own changes: the view to look names up in. Unlike Newest it does
// not make the transaction's end wait for the disk, unless the catalog itself has a change that is not durable. It is
// valid until the next call of Look or Newest.
func (t *Tx) Look() storage.View {
	return storage.View{Snap: t.s.pinLook(), Own: t.root()}
}

// LockRow locks (tree, key). granted is false only with lock.SkipLocked; waited says that the row may have changed
// meanwhile. Errors: 40P01, 55P03, 57014, 53200 and those that end the session.
func (t *Tx) LockRow(tree storage.TreeID, key []byte, m lock.Mode, p lock.Policy) (granted, waited bool, err error) {
	t.ID() // who waits for the row waits for the transaction
	return t.s.own.Row(uint32(tree), key, m, p)
}

// LockTable locks the table with object number rel. 55P03 also when p is SkipLocked and the lock is not free.
func (t *Tx) LockTable(rel uint32, m lock.Mode, p lock.Policy) error {
	if m == lock.AccessShare && t.o.Implicit && !t.s.db.locks.TableBusy(rel) {
		return nil
	}
	granted, err := t.s.own.Table(rel, m, p)
	if err == nil && !granted {
		return sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on relation")
	}
	return err
}

// LockWaits returns how many locks the session has waited for so far. A statement that waited takes a new snapshot.
func (t *Tx) LockWaits() uint64 { return t.s.own.Waited() }

// TableMode returns the strongest lock the transaction holds on a table.
func (t *Tx) TableMode(rel uint32) lock.Mode { return t.s.own.TableMode(rel) }

func (t *Tx) changes() *storage.Overlay {
	if t.s.overlay == nil {
		t.s.overlay = storage.NewOverlay(t.s.acct)
		t.s.overlay.SpillTo(t.s.db.store)
		t.s.overlay.OnMove(t.logMoved)
	}
	return t.s.overlay
}

// changeError turns an error of the overlay into what the client is told.
func changeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mem.ErrLimit):
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("The changes of the transaction exceed the memory limit of the server.")
	}
	return commitError(err)
}

// Put sets key to val in tree. Both are copied. Errors: 53200, 54000.
func (t *Tx) Put(tree storage.TreeID, key, val []byte) error {
	t.system = t.system || tree < storage.SystemTrees
	if t.iso == Serializable {
		if err := t.serialWrite(tree, key); err != nil {
			return err
		}
	}
	if tree < storage.SystemTrees {
		return t.always(func() error { return t.changes().Put(tree, key, val, t.cmd) }) // TRUNCATE and DROP change the catalog
	}
	return changeError(t.changes().Put(tree, key, val, t.cmd))
}

// serialWrite notes a write of a SERIALIZABLE transaction, beginning it when this is the first thing it does.
func (t *Tx) serialWrite(tree storage.TreeID, key []byte) error {
	if t.snap == nil {
		t.BeginStatement()
	}
	t.s.db.ssi.noteWrite(t, tree, key)
	return t.s.db.ssi.doomedErr(t)
}

// Delete removes key from tree.
func (t *Tx) Delete(tree storage.TreeID, key []byte) error {
	t.system = t.system || tree < storage.SystemTrees
	if t.iso == Serializable {
		if err := t.serialWrite(tree, key); err != nil {
			return err
		}
	}
	return t.always(func() error { return t.changes().Delete(tree, key, t.cmd) })
}

// always makes a change that takes away: it works over the memory limit, too. What it needs is booked nevertheless.
func (t *Tx) always(change func() error) error {
	err := change()
	if errors.Is(err, mem.ErrLimit) {
		t.s.acct.Force(mem.Step)
		t.s.acct.Shrink(mem.Step) // leaves the grant
		err = change()
	}
	return changeError(err)
}

// NewTree makes a tree with a number that was never used.
func (t *Tx) NewTree() (storage.TreeID, error) {
	t.system = true
	id := storage.TreeID(t.s.db.nextTree.Add(1) - 1)
	return id, t.always(func() error { return t.changes().CreateTree(id) })
}

// CreateTree makes a tree with a given number: the system trees of a new database.
func (t *Tx) CreateTree(id storage.TreeID) error {
	t.system = true
	return changeError(t.changes().CreateTree(id))
}

// DropTree removes a tree with its rows.
func (t *Tx) DropTree(id storage.TreeID) error {
	t.system = true
	return t.always(func() error { return t.changes().DropTree(id) })
}

// ChangedCatalog tells whether the transaction has changed a system tree or made or dropped any tree.
func (t *Tx) ChangedCatalog() bool { return t.system }

// NextRowID returns a new hidden row id; ids ascend over the whole database.
func (t *Tx) NextRowID(storage.TreeID) uint64 {
	t.rowIDs = true
	return t.s.db.nextRow.Add(1) - 1
}

// Mark is a savepoint.
type Mark struct {
	root       storage.Root
	locks      lock.Mark
	moves      int
	onCommit   int
	onRollback int
	system     bool
	logged     int // movedParts.moves
}

// Savepoint returns the present point.
func (t *Tx) Savepoint() Mark {
	return Mark{t.root(), t.s.own.Mark(), len(t.moves), len(t.onCommit), len(t.onRollback), t.system, t.moved.moves}
}

// RollbackTo drops the changes and locks made since the mark. Rollback hooks added since then run.
func (t *Tx) RollbackTo(m Mark) {
	if t.s.overlay != nil {
		t.s.overlay.Rollback(m.root)
	}
	if t.moved.moves != m.logged {
		t.voidParts()
	}
	t.moves = t.moves[:m.moves]
	t.s.own.RollbackTo(m.locks)
	t.system = m.system
	for i := len(t.onRollback) - 1; i >= m.onRollback; i-- {
		t.onRollback[i]()
	}
	t.onCommit, t.onRollback = t.onCommit[:m.onCommit], t.onRollback[:m.onRollback]
}

// Release forgets a mark; what was done since stays.
func (t *Tx) Release(Mark) {}

// OnCommit has f called after the transaction is ordered, OnRollback when it, or the part since a savepoint, is undone.
func (t *Tx) OnCommit(f func()) { t.onCommit = append(t.onCommit, f) }

// OnRollback: see OnCommit.
func (t *Tx) OnRollback(f func()) { t.onRollback = append(t.onRollback, f) }

// ViewPin keeps a view readable beyond the statement that began with it.
type ViewPin struct {
	db   *Database
	slot *storage.ReaderSlot
	of   *pinnedViews
}

// PinView pins v, the view of the current statement, until Release.
func (t *Tx) PinView(v storage.View) ViewPin {
	db := t.s.db
	slot := db.spare.get(db.store)
	slot.Pin(v.Snap) // the statement's slot holds it
	t.s.pinned.add(v.Snap.Seq(), slot)
	return ViewPin{db, slot, &t.s.pinned}
}

// Release ends the pin. Calling it on the zero value or twice is harmless.
func (p *ViewPin) Release() {
	if p.slot != nil {
		p.of.remove(p.slot)
		p.db.spare.put(p.slot)
		p.slot = nil
	}
}

// Commit orders the transaction's changes. On error nothing of it remains: 40001, 53100, 54000 or what ends the
// session. The outcome is durable after Session.WaitDurable.
func (t *Tx) Commit() error {
	if t.done {
		return nil
	}
	if t.s.overlay == nil || t.s.overlay.Len() == 0 {
		if err := t.s.db.ssi.readOnlyCommit(t); err != nil {
			t.Rollback()
			return err
		}
		t.finish(true)
		return nil
	}
	if t.token != "" {
		if err := t.recordToken(); err != nil {
			t.Rollback()
			return err
		}
	}
	if err := t.commitChanges(); err != nil {
		t.Rollback()
		return err
	}
	t.finish(true)
	return nil
}

// Rollback drops the transaction. Harmless when it has ended.
func (t *Tx) Rollback() {
	if t.done {
		return
	}
	if t.serial != nil {
		t.s.db.ssi.abort(t)
	}
	t.finish(false)
}

// finish gives everything back.
func (t *Tx) finish(committed bool) {
	s := t.s
	t.done = true
	s.own.ReleaseAll()
	s.unpin()
	if s.overlay != nil {
		s.overlay.Reset()
	}
	if t.moved.buf != nil || t.moved.moves > 0 {
		t.endParts(committed)
	}
	if len(t.moves) > 0 {
		clear(t.moves)
		t.moves = t.moves[:0]
	}
	t.snap, t.serial = nil, nil
	if len(t.onCommit)+len(t.onRollback) > 0 {
		t.runHooks(committed)
	}
}

func (t *Tx) runHooks(committed bool) {
	hooks := t.onRollback
	if committed {
		hooks = t.onCommit
	}
	t.onCommit, t.onRollback = nil, nil
	for _, f := range hooks {
		f()
	}
}

// commitChanges orders the change set.
func (t *Tx) commitChanges() error {
	s, db := t.s, t.s.db
	o := s.overlay
	db.slowWriter(s)
	if o.Len() > db.eng.o.BigCommit || o.Bytes() > payloadMax || t.moved.moves > 0 {
		return t.commitLarge()
	}
	cs := o.Changes()
	if len(cs) == 0 {
		return db.ssi.readOnlyCommit(t)
	}
	s.enc = appendHeader(s.enc[:0], t.header(0))
	prev, class := storage.TreeID(0), txlog.Shrinking
	for i := range cs {
		c := &cs[i]
		s.enc = appendChange(s.enc, c, prev)
		prev = c.Tree
		if c.Op != storage.OpDelete && c.Op != storage.OpDropTree && c.Tree >= storage.ReservedTrees {
			class = txlog.Normal
		}
	}
	err := t.commitSmall(cs, class)
	t.trim()
	return err
}

// commitLarge is commitChanges for a transaction that may need parts, or that is merged beside the others.
func (t *Tx) commitLarge() error {
	s, db := t.s, t.s.db
	var first [1]storage.Change
	w := s.overlay.Walk()
	if len(w.Next(first[:0], 1)) == 0 {
		if err := w.Err(); err != nil {
			return commitError(err)
		}
		t.endParts(false)
		return db.ssi.readOnlyCommit(t)
	}
	parts, err := t.encodeAll()
	if err != nil {
		return err
	}
	class := txlog.Shrinking
	if t.moved.normal {
		class = txlog.Normal
	}
	if s.overlay.Len() > db.eng.o.BigCommit || s.overlay.Moved() {
		err = t.commitBig(class)
	} else {
		err = t.commitSmall(s.overlay.Changes(), class)
	}
	if parts > 0 && err == nil {
		db.parts.committed(t.id, s.req.seq)
	}
	t.trim()
	return err
}

// trim gives a large payload's memory back.
func (t *Tx) trim() {
	if cap(t.s.enc) > 64<<10 {
		t.s.enc = nil
	}
}

// commitSmall goes through the queue with everyone else.
func (t *Tx) commitSmall(cs storage.ChangeSet, class spaceClass) error {
	s, db := t.s, t.s.db
	room, err := db.reserve(len(s.enc), class)
	if err != nil {
		return err
	}
	r := &s.req
	r.kind, r.changes, r.payload, r.room, r.owner, r.session, r.tx = commitKind, cs, s.enc, room, s.own, s, t
	for {
		pin, err := db.touch(s, cs)
		if err != nil {
			db.log.Cancel(room)
			return commitError(err)
		}
		db.submit(r)
		pin.Release()
		if !r.absent {
			break
		}
		db.stats.absent.Add(1)
	}
	r.changes, r.payload, r.tx = nil, nil, nil
	if r.err != nil {
		if r.seq == 0 {
			db.log.Cancel(room)
		}
		return r.err
	}
	s.seen, s.wrote = max(s.seen, uint64(r.seq)), true
	return nil
}

// touch loads the blocks that cs needs in tip.
func (db *Database) touch(s *Session, cs storage.ChangeSet) (storage.Pin, error) {
	return db.store.Touch(s.pinTip(), cs)
}

// StartTime returns the time on lock.Now's clock at which SetStartTime was told the transaction began.
func (t *Tx) StartTime() time.Duration { return time.Duration(t.start) }

// SetStartTime records when the transaction began, on lock.Now's clock.
func (t *Tx) SetStartTime(d time.Duration) { t.start = int64(d) }
