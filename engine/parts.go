package engine

import (
	"herd/storage"
	"herd/txlog"
)

// movedParts is what of a transaction's changes is in the log before its commit: all that its overlay has moved to
// private blocks, in the order of the moves. A later change of a key counts, in the log as in memory.
type movedParts struct {
	buf    []byte         // payload of the part that is being filled; nil: none
	prev   storage.TreeID // of the last change in buf
	n      uint32         // parts written
	moves  int            // calls of logMoved
	normal bool           // some change takes log space for good, see isNormal
	// void: a savepoint took back what is in the log already. The parts are void and nothing more is logged before the
	// commit, which logs everything.
	void   bool
	unsaid bool // the log does not say so yet
}

// isNormal tells whether a change is none of those that may use the log's last bytes: it does not take away.
func isNormal(c *storage.Change) bool {
	return c.Op != storage.OpDelete && c.Op != storage.OpDropTree && c.Tree >= storage.ReservedTrees
}

// logMoved logs changes that are about to move to private blocks: while a COPY runs and not at its end, so that neither
// the commit nor the writer of the log has it all to do at once.
func (t *Tx) logMoved(cs storage.ChangeSet) error {
	m := &t.moved
	m.moves++
	if m.void {
		return nil
	}
	for i := range cs {
		m.normal = m.normal || isNormal(&cs[i])
		if err := t.logChange(&cs[i]); err != nil {
			return err
		}
	}
	return nil
}

// logChange adds a change to the part that is being filled, after writing that one when it is full.
func (t *Tx) logChange(c *storage.Change) error {
	m := &t.moved
	if m.buf != nil && len(m.buf)+changeBytes(c) > payloadMax {
		if err := t.writePart(); err != nil {
			return err
		}
		m.buf, m.prev = appendHeader(m.buf[:0], header{tx: t.ID(), parts: m.n}), 0
	}
	if m.buf == nil {
		m.buf, m.prev = appendHeader(nil, header{tx: t.ID(), parts: m.n}), 0
	}
	m.buf = appendChange(m.buf, c, m.prev)
	m.prev = c.Tree
	return nil
}

// writePart puts the filled part into the log. After an error the transaction, or what was done since a savepoint, is
// rolled back.
func (t *Tx) writePart() error {
	db, m := t.s.db, &t.moved
	if err := t.sayVoid(); err != nil {
		return err
	}
	db.parts.begin(t.id, db.log.End())
	class := txlog.Shrinking
	if m.normal {
		class = txlog.Normal
	}
	if _, err := t.s.log(txlog.Part, m.buf, class); err != nil {
		if m.n == 0 { // nothing is there that the log has to keep
			db.parts.aborted(t.id)
		}
		return err
	}
	m.n++
	if t.s.intr.Pending() {
		return t.s.intr.Err()
	}
	return nil
}

// voidParts makes what was logged before the commit void.
func (t *Tx) voidParts() {
	m := &t.moved
	unsaid := m.unsaid || m.n > 0 && t.s.db.abortParts(t.id) != nil
	*m = movedParts{moves: m.moves, void: true, unsaid: unsaid}
}

// sayVoid says in the log that earlier parts are void, if there was no room to say so when that was decided: further
// parts would be taken for their continuation.
func (t *Tx) sayVoid() error {
	if !t.moved.unsaid {
		return nil
	}
	if err := t.s.db.abortParts(t.id); err != nil {
		return err
	}
	t.moved.unsaid = false
	return nil
}

// endParts forgets the parts when the transaction ends.
func (t *Tx) endParts(committed bool) {
	if t.moved.n > 0 && !committed {
		_ = t.s.db.abortParts(t.id) // parts without a commit are void as well
	}
	t.moved = movedParts{}
}

// unlogged begins a pass over the changes that are not in the log.
func (t *Tx) unlogged() *storage.Walk {
	if t.moved.void {
		return t.s.overlay.Walk()
	}
	return t.s.overlay.WalkMemory()
}

// encodeAll encodes the changes that are not in the log: what does not fit into the Commit entry is written ahead as
// parts, the rest is left in the session's buffer. It returns the number of parts.
func (t *Tx) encodeAll() (parts uint32, err error) {
	m, s := &t.moved, t.s
	if err := t.sayVoid(); err != nil {
		return 0, err
	}
	if !m.normal {
		if m.normal, err = anyNormal(t.unlogged()); err != nil {
			return 0, commitError(err)
		}
	}
	w, step := t.unlogged(), make(storage.ChangeSet, 0, walkStep)
	m.void = false
	for cs := w.Next(step, walkStep); len(cs) > 0; cs = w.Next(step, walkStep) {
		for i := range cs {
			if err := t.logChange(&cs[i]); err != nil {
				return 0, err
			}
		}
	}
	if err := w.Err(); err != nil {
		return 0, commitError(err)
	}
	s.enc = appendHeader(s.enc[:0], t.header(m.n))
	if m.buf != nil {
		s.enc = append(s.enc, m.buf[payloadHeader:]...)
	}
	if m.n > 0 {
		s.db.stats.parts.Add(int64(m.n))
	}
	return m.n, nil
}

// anyNormal tells whether a walk meets a change that takes log space for good.
func anyNormal(w *storage.Walk) (bool, error) {
	var buf [64]storage.Change
	for cs := w.Next(buf[:0], len(buf)); len(cs) > 0; cs = w.Next(buf[:0], len(buf)) {
		for i := range cs {
			if isNormal(&cs[i]) {
				return true, nil
			}
		}
	}
	return false, w.Err()
}
