package engine

import (
	"maps"
	"sync"

	"herd/storage"
	"herd/txlog"
)

const commitKind = txlog.Commit

type spaceClass = txlog.Class

// openParts are the transactions whose parts in the log are still needed: those without an end, and those whose Commit
// entry is not yet behind a checkpoint.
type openParts struct {
	mu   sync.Mutex
	open map[uint64]partSpan
}

type partSpan struct {
	first  txlog.Position // at or below the transaction's first part
	commit txlog.Seq      // of its Commit entry, 0 = not ordered yet
}

func (p *openParts) init() { p.open = map[uint64]partSpan{} }

func (p *openParts) begin(tx uint64, at txlog.Position) {
	p.mu.Lock()
	if _, ok := p.open[tx]; !ok {
		p.open[tx] = partSpan{first: at}
	}
	p.mu.Unlock()
}

// committed notes the entry that made the parts effective.
func (p *openParts) committed(tx uint64, seq txlog.Seq) {
	p.mu.Lock()
	p.open[tx] = partSpan{p.open[tx].first, seq}
	p.mu.Unlock()
}

// aborted forgets parts that are void.
func (p *openParts) aborted(tx uint64) {
	p.mu.Lock()
	delete(p.open, tx)
	p.mu.Unlock()
}

// spans returns a copy of what is open now.
func (p *openParts) spans() map[uint64]partSpan {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.open)
}

// floorSince is floor for somebody who took before, and then a state that contains entries up to last: a checkpoint may have
// forgotten since what that state lacks.
func (p *openParts) floorSince(before map[uint64]partSpan, at txlog.Position, last txlog.Seq) txlog.Position {
	p.mu.Lock()
	for tx, s := range p.open {
		before[tx] = s
	}
	p.mu.Unlock()
	old := openParts{open: before}
	return old.floor(at, last)
}

// floor returns the lowest position that a checkpoint containing entries up to last must keep, at most at.
func (p *openParts) floor(at txlog.Position, last txlog.Seq) txlog.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.open {
		if s.commit == 0 || s.commit > last {
			at = min(at, s.first)
		}
	}
	return at
}

// clear forgets all: a new epoch has made them void.
func (p *openParts) clear() {
	p.mu.Lock()
	clear(p.open)
	p.mu.Unlock()
}

// since returns a position at or below all parts whose Commit entry is not among those up to last; false: there are none.
func (p *openParts) since(last txlog.Seq) (txlog.Position, bool) {
	const none = ^txlog.Position(0)
	at := p.floor(none, last)
	return at, at != none
}

// waiting tells whether parts wait for the end of their transaction.
func (p *openParts) waiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.open {
		if s.commit == 0 {
			return true
		}
	}
	return false
}

// forget drops what a finished checkpoint contains.
func (p *openParts) forget(last txlog.Seq) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for tx, s := range p.open {
		if s.commit != 0 && s.commit <= last {
			delete(p.open, tx)
		}
	}
}

// walkStep is how many changes are looked at at a time.
const walkStep = 512

// header returns the head of the Commit entry.
func (t *Tx) header(parts uint32) header {
	db := t.s.db
	h := header{tx: t.ID(), parts: parts, stamped: true}
	if t.rowIDs {
		h.rowID = db.nextRow.Load()
	}
	if t.system {
		h.numbers, h.oid, h.tree = true, db.nextOID.Load(), db.nextTree.Load()
	}
	return h
}

// abortParts says in the log that a transaction's parts are void. When that fails the log is full or has failed, and the
// next epoch says it. The log need not keep them either way: full as it is, it could never be freed.
func (db *Database) abortParts(tx uint64) error {
	db.parts.aborted(tx)
	_, err := db.logOnly(txlog.Abort, appendHeader(nil, header{tx: tx}), txlog.Shrinking)
	if err != nil {
		db.eng.o.Logger.Warn("could not log an abort", "database", db.Name(), "transaction", tx, "error", err)
	}
	return err
}

// catchUp is what commits do to the tip while a fork is merged.
type catchUp struct {
	mu   sync.Mutex
	sets []storage.ChangeSet
	n    int // changes in sets
}

// add copies the changes of ordered requests: their owners use the memory again.
func (c *catchUp) add(live []*request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range live {
		if len(r.changes) > 0 {
			c.sets = append(c.sets, cloneChanges(r.changes))
			c.n += len(r.changes)
		}
	}
}

func (c *catchUp) take() []storage.ChangeSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	sets := c.sets
	c.sets, c.n = nil, 0
	return sets
}

func (c *catchUp) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func cloneChanges(cs storage.ChangeSet) storage.ChangeSet {
	size := 0
	for i := range cs {
		size += len(cs[i].Key) + len(cs[i].Val)
	}
	buf := make([]byte, 0, size)
	copied := func(p []byte) []byte {
		if p == nil {
			return nil
		}
		at := len(buf)
		buf = append(buf, p...)
		return buf[at:len(buf):len(buf)]
	}
	out := make(storage.ChangeSet, len(cs))
	for i, c := range cs {
		c.Key, c.Val = copied(c.Key), copied(c.Val)
		out[i] = c
	}
	return out
}

const (
	// mergeStep is how many changes of a big commit are merged at a time.
	mergeStep = 2048
	// catchUpFew is how many changes may be left for the leader.
	catchUpFew = 256
)

// commitBig merges the changes onto a fork while others commit, and takes its place in the order when it has caught up.
func (t *Tx) commitBig(class spaceClass) error {
	s, db := t.s, t.s.db
	db.bigMu.Lock()
	defer db.bigMu.Unlock()
	room, err := db.reserve(len(s.enc), class)
	if err != nil {
		return err
	}
	var fork *storage.Fork
	catch := &catchUp{}
	s.req.seq = 0 // until this commit has its place: an earlier one's says nothing
	err = db.exclusive(func() (err error) {
		if fork, err = db.store.Fork(db.tip.Load()); err == nil {
			db.catchUp = catch
		}
		return err
	})
	if err != nil {
		db.log.Cancel(room)
		return commitError(err)
	}
	if err = fork.Graft(s.overlay); err != nil {
		err = commitError(err)
	} else {
		err = t.mergeFork(fork, catch)
	}
	if err == nil {
		s.overlay.Reset() // the fork has it all
		moves := gatherMoves(t.moves)
		t.moves = nil
		err = db.exclusive(func() error { return t.finishFork(fork, catch, room, moves) })
	}
	if err != nil && t.s.req.seq == 0 {
		_ = db.exclusive(func() error {
			db.catchUp = nil
			fork.Abandon()
			return nil
		})
		fork.Discard()
		db.log.Cancel(room)
	}
	s.req.tx, s.req.changes, s.req.payload = nil, nil, nil
	if err != nil {
		return err
	}
	s.seen, s.wrote = max(s.seen, uint64(s.req.seq)), true
	return nil
}

// mergeFork merges cs and catches up until few changes are left.
func (t *Tx) mergeFork(fork *storage.Fork, catch *catchUp) error {
	w, step := t.s.overlay.Walk(), make(storage.ChangeSet, 0, mergeStep)
	for cs := w.Next(step, mergeStep); len(cs) > 0; cs = w.Next(step, mergeStep) {
		if err := fork.Merge(cs); err != nil {
			return commitError(err)
		}
		if t.s.intr.Pending() {
			return t.s.intr.Err()
		}
		if catch.left() > catchUpFew {
			if err := fork.CatchUp(catch.take()...); err != nil {
				return commitError(err)
			}
		}
	}
	if err := w.Err(); err != nil {
		return commitError(err)
	}
	for range 64 {
		if catch.left() <= catchUpFew {
			break
		}
		if err := fork.CatchUp(catch.take()...); err != nil {
			return commitError(err)
		}
	}
	return nil
}

// finishFork runs as the leader: the fork becomes tip.
func (t *Tx) finishFork(fork *storage.Fork, catch *catchUp, room txlog.Reservation, moves map[string][]byte) error {
	s, db := t.s, t.s.db
	r := &s.req
	r.kind, r.session = commitKind, s
	if err := db.mayOrder(r); err != nil {
		return err
	}
	if t.iso == Serializable {
		if err := db.ssi.precommit(t); err != nil {
			return err
		}
	}
	if sets := catch.take(); len(sets) > 0 {
		if err := fork.CatchUp(sets...); err != nil {
			return commitError(err)
		}
	}
	next, err := fork.Finish(storage.Seq(db.last+1), db.tip.Load())
	if err != nil {
		return commitError(err)
	}
	db.catchUp = nil
	r.kind, r.changes, r.payload, r.room, r.owner, r.tx, r.err = commitKind, nil, s.enc, room, s.own, t, nil
	db.moves.addBig(moves, storage.Seq(db.last+1)) // its number; before append may release the locks
	db.append([]*request{r}, next, true)
	return r.err
}
