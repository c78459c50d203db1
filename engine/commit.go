package engine

import (
	"errors"
	"io/fs"
	"sync"
	"syscall"

	"herd/engine/lock"
	"herd/sql/sqlerr"
	"herd/storage"
	"herd/txlog"
)

// request is one entry on its way into the order.
type request struct {
	kind    txlog.Kind
	changes storage.ChangeSet
	payload []byte
	room    txlog.Reservation
	owner   *lock.Owner  // whose locks go once the entry is ordered; may be nil
	session *Session     // that asks; nil: none
	tx      *Tx          // of a Commit
	alone   func() error // instead of an entry: runs as the only thing the leader does

	seq    txlog.Seq // result
	absent bool      // result: a block is missing, touch and try again
	err    error     // result
	wake   chan bool // true: lead; false: done
}

// queue is where requests wait for their leader.
type queue struct {
	mu    sync.Mutex
	list  []*request
	spare []*request
	busy  bool // somebody leads

	sets    []storage.ChangeSet // the leader's scratch space
	live    []*request
	rooms   []txlog.Reservation
	entries []txlog.Entry
}

// submit puts r into the order. It returns when r is ordered and its results are set.
func (db *Database) submit(r *request) {
	r.seq, r.absent, r.err = 0, false, nil
	q := &db.queue
	q.mu.Lock()
	q.list = append(q.list, r)
	lead := !q.busy
	q.busy = true
	q.mu.Unlock()
	if !lead && !<-r.wake {
		return
	}
	db.lead(r)
}

// lead handles everything that is queued, mine included, and passes leadership on.
func (db *Database) lead(mine *request) {
	q := &db.queue
	q.mu.Lock()
	batch := q.list
	q.list, q.spare = q.spare[:0], nil
	q.mu.Unlock()
	db.orderAll(batch)
	db.stats.batches.Add(1)
	for _, r := range batch {
		if r != mine {
			r.wake <- false
		}
	}
	clear(batch)
	q.mu.Lock()
	q.spare = batch[:0]
	if len(q.list) == 0 {
		q.busy = false
		q.mu.Unlock()
		return
	}
	next := q.list[0]
	q.mu.Unlock()
	next.wake <- true
}

// batchBytes bounds the payloads that are ordered as one: the log publishes them together.
const batchBytes = txlog.MaxEntry

// orderAll orders a batch, cutting it at requests that run alone and where it becomes too large.
func (db *Database) orderAll(batch []*request) {
	for len(batch) > 0 {
		if f := batch[0].alone; f != nil {
			batch[0].err = f()
			batch = batch[1:]
			continue
		}
		n, size := 1, len(batch[0].payload)
		for n < len(batch) && batch[n].alone == nil && size+len(batch[n].payload) <= batchBytes {
			size += len(batch[n].payload)
			n++
		}
		db.order(batch[:n])
		batch = batch[n:]
	}
}

// order checks, applies, publishes and appends requests that carry entries.
func (db *Database) order(batch []*request) {
	q := &db.queue
	live := q.live[:0]
	for _, r := range batch {
		if r.err = db.mayOrder(r); r.err != nil {
			continue
		}
		if r.tx != nil && r.tx.iso == Serializable {
			if r.err = db.ssi.precommit(r.tx); r.err != nil {
				continue
			}
		}
		live = append(live, r)
	}
	db.orderChecked(live)
	clear(live)
	q.live = live[:0]
}

// orderChecked orders requests after their checks. Those that cannot be applied get their error and the others go on.
func (db *Database) orderChecked(live []*request) {
	next, sets := db.tip.Load(), db.queue.sets
	for {
		sets = sets[:0]
		for _, r := range live {
			if len(r.changes) > 0 {
				sets = append(sets, r.changes)
			}
		}
		if len(sets) == 0 {
			break
		}
		s, err := db.store.Apply(next, storage.Seq(db.last)+storage.Seq(len(live)), sets...)
		if err == nil {
			next = s
			break
		}
		var absent *storage.AbsentError
		switch {
		case errors.As(err, &absent):
			live = withoutSets(live, absent.All)
		case len(sets) == 1:
			for _, r := range live {
				if len(r.changes) > 0 {
					r.err = commitError(err)
				}
			}
			live = withoutErrors(live)
		default: // whose error it is shows when each goes alone
			for i := range live {
				db.orderChecked(live[i : i+1 : i+1])
			}
			return
		}
	}
	if len(live) > 0 {
		db.append(live, next, len(sets) > 0)
	}
	clear(sets)
	db.queue.sets = sets[:0]
}

// withoutSets returns live without the requests whose change sets have these numbers, ascending; they are to touch their
// blocks and come again.
func withoutSets(live []*request, gone []int) []*request {
	out := make([]*request, 0, len(live))
	n := 0
	for _, r := range live {
		if len(r.changes) > 0 {
			n++
			if len(gone) > 0 && gone[0] == n-1 {
				gone = gone[1:]
				r.absent = true
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

func withoutErrors(live []*request) []*request {
	out := make([]*request, 0, len(live))
	for _, r := range live {
		if r.err == nil {
			out = append(out, r)
		}
	}
	return out
}

// commitError turns an error of Apply into what the client is told.
func commitError(err error) error {
	if errors.Is(err, storage.ErrNoTree) {
		return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update").
			WithDetail("The table was dropped, truncated or rewritten meanwhile.")
	}
	if errors.Is(err, storage.ErrTooLong) {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "row or key is too long").WithDetail("%v", err)
	}
	if told := (*sqlerr.Error)(nil); errors.As(err, &told) { // by the log, which takes a big transaction's parts meanwhile
		return told
	}
	class := sqlerr.DataCorrupted
	if errors.Is(err, syscall.ENOSPC) {
		return diskFull(err)
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		class = sqlerr.IoError
	}
	return sqlerr.New(class, "could not apply the transaction: %v", err)
}

// diskFull is what a client is told when something could not be written for want of space.
func diskFull(err error) error {
	return sqlerr.New(sqlerr.DiskFull, "no space left on device").WithDetail("%v", err).WithHint("Check free disk space.")
}

// tick returns the time of what is ordered now, never before that of what was. The leader of the queue calls it.
func (db *Database) tick() uint64 {
	raise(&db.now, uint64(db.eng.o.Now().UnixMicro()))
	return db.now.Load()
}

// append gives the requests their places, publishes the tip that contains them and hands them to the log (I2).
func (db *Database) append(live []*request, next *storage.Snapshot, changed bool) {
	first := db.last + 1
	db.last += txlog.Seq(len(live))
	if changed {
		db.publish(db.last, next)
		db.setTip(next)
		if db.catchUp != nil {
			db.catchUp.add(live)
		}
	}
	q := &db.queue
	rooms, entries := q.rooms[:0], q.entries[:0]
	now := db.tick()
	for i, r := range live {
		r.seq = first + txlog.Seq(i)
		if r.kind == txlog.Commit {
			stamp(r.payload, now)
		}
		if r.tx != nil {
			db.moves.add(r.tx.moves, storage.Seq(r.seq))
			if r.tx.iso == Serializable {
				db.ssi.committed(r.tx, storage.Seq(r.seq))
			}
		}
		rooms = append(rooms, r.room)
		awaited := r.tx != nil && !r.tx.s.async // WaitDurable ends each transaction
		entries = append(entries, txlog.Entry{Epoch: db.epoch, Seq: r.seq, Prev: r.seq - 1, Kind: r.kind, Payload: r.payload, Awaited: awaited})
		if r.kind == txlog.Commit {
			db.stats.commits.Add(1)
		}
	}
	if err := db.log.AppendAll(rooms, entries); err != nil {
		refused := logError(err)
		if errors.Is(err, txlog.ErrLost) { // nobody will ever see them
			refused = db.notLeading()
		}
		for _, r := range live {
			r.err = refused
		}
	}
	clear(entries)
	q.rooms, q.entries = rooms[:0], entries[:0]
	for _, r := range live {
		if r.owner != nil && r.owner.Few() { // who has many releases them itself: nobody waits for that in the queue
			r.owner.ReleaseAll()
		}
	}
}

// logError turns an error of the log into what the client is told.
func logError(err error) error {
	if errors.Is(err, txlog.ErrNoSpace) {
		return sqlerr.New(sqlerr.DiskFull, "could not extend the transaction log: no space left on device").
			WithDetail("%v", err).WithHint("Check free disk space.")
	}
	if errors.Is(err, txlog.ErrLost) {
		return sqlerr.Fatal(sqlerr.TransactionResolutionUnknown, "the outcome of the transaction is unknown").
			WithDetail("The server lost the leadership of the database before the transaction was known to be safe.")
	}
	if errors.Is(err, txlog.ErrClosed) {
		return sqlerr.Fatal(sqlerr.AdminShutdown, "terminating connection due to administrator command")
	}
	return sqlerr.Fatal(sqlerr.IoError, "could not write the transaction log").WithDetail("%v", err)
}

// reserve takes room in the log, or asks for a checkpoint, which may free some.
func (db *Database) reserve(bytes int, class txlog.Class) (txlog.Reservation, error) {
	room, err := db.log.Reserve(bytes, class)
	if err == nil {
		return room, nil
	}
	if errors.Is(err, txlog.ErrNoSpace) {
		db.kickCheckpoint()
	}
	return room, logError(err)
}

// logOnly orders an entry without changes, and returns its number.
func (db *Database) logOnly(kind txlog.Kind, payload []byte, class txlog.Class) (txlog.Seq, error) {
	return db.logFor(nil, kind, payload, class)
}

// log is logOnly for a session: nothing is ordered for one whose state was lost with the leadership.
func (s *Session) log(kind txlog.Kind, payload []byte, class txlog.Class) (txlog.Seq, error) {
	return s.db.logFor(s, kind, payload, class)
}

func (db *Database) logFor(s *Session, kind txlog.Kind, payload []byte, class txlog.Class) (txlog.Seq, error) {
	room, err := db.reserve(len(payload), class)
	if err != nil {
		return 0, err
	}
	r := &request{kind: kind, payload: payload, room: room, session: s, wake: make(chan bool, 1)}
	db.submit(r)
	return r.seq, r.err
}

// exclusive runs f while nobody else orders anything.
func (db *Database) exclusive(f func() error) error {
	r := &request{alone: f, wake: make(chan bool, 1)}
	db.submit(r)
	return r.err
}
