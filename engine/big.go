package engine

import (
	"sync"

	"herd/storage"
	"herd/txlog"
)

const commitKind = txlog.Commit

type spaceClass = txlog.Class

// classOf tells whether a change set only takes away: it may then use the log's last bytes.
func classOf(cs storage.ChangeSet) spaceClass {
	for i := range cs {
		if op := cs[i].Op; op != storage.OpDelete && op != storage.OpDropTree && cs[i].Tree >= storage.ReservedTrees {
			return txlog.Normal
		}
	}
	return txlog.Shrinking
}

// openParts are the transactions with parts in the log and no end yet.
type openParts struct {
	mu    sync.Mutex
	first map[uint64]txlog.Position // at or below the transaction's first part
}

func (p *openParts) init() { p.first = map[uint64]txlog.Position{} }

func (p *openParts) open(tx uint64, at txlog.Position) {
	p.mu.Lock()
	if _, ok := p.first[tx]; !ok {
		p.first[tx] = at
	}
	p.mu.Unlock()
}

func (p *openParts) end(tx uint64) {
	p.mu.Lock()
	delete(p.first, tx)
	p.mu.Unlock()
}

// floor returns the lowest position that an open transaction needs, or at.
func (p *openParts) floor(at txlog.Position) txlog.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.first {
		at = min(at, f)
	}
	return at
}

// partsEnd returns how many changes at the front of cs go into a part, 0 when all fit into one entry.
func partsEnd(cs storage.ChangeSet) int {
	size := 0
	for i := range cs {
		size += changeBytes(&cs[i])
		if size > payloadMax-payloadHeader {
			return i
		}
	}
	return 0
}

// writeParts writes what does not fit into the Commit entry ahead, and returns the number of parts.
func (t *Tx) writeParts(cs storage.ChangeSet, class spaceClass) (parts uint32, err error) {
	n := partsEnd(cs)
	if n == 0 {
		return 0, nil
	}
	db, id := t.s.db, t.ID()
	db.parts.open(id, db.log.End())
	var buf []byte
	for n > 0 {
		buf = appendHeader(buf[:0], header{tx: id, parts: parts})
		buf = appendChanges(buf, cs[:n])
		if _, err := db.logOnly(txlog.Part, buf, class); err != nil {
			db.abortParts(id)
			return 0, err
		}
		parts++
		if t.s.intr.Pending() {
			db.abortParts(id)
			return 0, t.s.intr.Err()
		}
		cs = cs[n:]
		n = partsEnd(cs)
	}
	return parts, nil
}

// abortParts says in the log that a transaction's parts are void. When that fails the log is full or has failed: then
// the next epoch does it.
func (db *Database) abortParts(tx uint64) {
	_, err := db.logOnly(txlog.Abort, appendHeader(nil, header{tx: tx}), txlog.Shrinking)
	if err != nil {
		db.eng.o.Logger.Warn("could not log an abort", "database", db.Name(), "transaction", tx, "error", err)
		return
	}
	db.parts.end(tx)
}

func appendChanges(b []byte, cs storage.ChangeSet) []byte {
	prev := storage.TreeID(0)
	for i := range cs {
		b = appendChange(b, &cs[i], prev)
		prev = cs[i].Tree
	}
	return b
}

// encodeRest makes the payload of the Commit entry: what follows the parts.
func (t *Tx) encodeRest(b []byte, cs storage.ChangeSet, parts uint32) ([]byte, error) {
	for range parts {
		cs = cs[partsEnd(cs):]
	}
	db := t.s.db
	h := header{tx: t.ID(), parts: parts}
	if t.rowIDs {
		h.rowID = db.nextRow.Load()
	}
	if t.system {
		h.numbers, h.oid, h.tree = true, db.nextOID.Load(), db.nextTree.Load()
	}
	return appendChanges(appendHeader(b, h), cs), nil
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
func (t *Tx) commitBig(cs storage.ChangeSet, parts uint32, class spaceClass) error {
	s, db := t.s, t.s.db
	db.bigMu.Lock()
	defer db.bigMu.Unlock()
	room, err := db.log.Reserve(len(s.enc), class)
	if err != nil {
		return logError(err)
	}
	var fork *storage.Fork
	catch := &catchUp{}
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
	if err = t.mergeFork(fork, catch, cs); err == nil {
		err = db.exclusive(func() error { return t.finishFork(fork, catch, room) })
	}
	if err != nil && t.s.req.seq == 0 {
		_ = db.exclusive(func() error {
			db.catchUp = nil
			fork.Abandon()
			return nil
		})
		db.log.Cancel(room)
	}
	s.req.tx, s.req.changes, s.req.payload = nil, nil, nil
	if err != nil {
		return err
	}
	s.seen = max(s.seen, uint64(s.req.seq))
	return nil
}

// mergeFork merges cs and catches up until few changes are left.
func (t *Tx) mergeFork(fork *storage.Fork, catch *catchUp, cs storage.ChangeSet) error {
	t.s.req.seq = 0
	for len(cs) > 0 {
		n := min(mergeStep, len(cs))
		if err := fork.Merge(cs[:n]); err != nil {
			return commitError(err)
		}
		cs = cs[n:]
		if t.s.intr.Pending() {
			return t.s.intr.Err()
		}
		if catch.left() > catchUpFew {
			if err := fork.CatchUp(catch.take()...); err != nil {
				return commitError(err)
			}
		}
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
func (t *Tx) finishFork(fork *storage.Fork, catch *catchUp, room txlog.Reservation) error {
	s, db := t.s, t.s.db
	r := &s.req
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
	db.append([]*request{r}, next, true)
	db.parts.end(t.id)
	return r.err
}
