package engine

import (
	"encoding/binary"
	"sync"

	"herd/sql/sqlerr"
	"herd/txlog"
)

// seqReserve is how many values of a sequence are reserved by one log entry, as in PostgreSQL.
const seqReserve = 32

// SequenceSpec is what the catalog says about a sequence.
type SequenceSpec struct {
	Name      string // for messages
	Increment int64  // not 0
	Min, Max  int64
	Start     int64
	Cycle     bool
}

// SequenceState is where a sequence stands.
type SequenceState struct {
	Last   int64 // last value handed out, or the value the next call returns when not Called
	Called bool
	// Logged is how many more values are handed out before the next log entry.
	Logged int64
}

// sequence is one sequence in memory.
type sequence struct {
	mu    sync.Mutex
	state SequenceState
	ahead SequenceState // what the log says: where the sequence goes on after a crash
}

// sequences holds a database's sequences by object number.
type sequences struct {
	mu  sync.Mutex
	all map[uint32]*sequence
	// agreed is what applied entries of a log of several nodes say: all returns to it when leadership is lost.
	agreed map[uint32]SequenceState
}

func (q *sequences) init() {
	q.all, q.agreed = map[uint32]*sequence{}, map[uint32]SequenceState{}
}

// reset forgets all.
func (q *sequences) reset() {
	q.mu.Lock()
	clear(q.all)
	clear(q.agreed)
	q.mu.Unlock()
}

// rewind gives up what was not agreed on: reservations that no other node knows, values that were set, sequences that were dropped.
func (q *sequences) rewind() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.all)
	for oid, st := range q.agreed {
		q.all[oid] = &sequence{state: st, ahead: st}
	}
}

// agree notes a SeqReserve entry that this node has ordered itself.
func (q *sequences) agree(p []byte) error {
	if len(p) != seqPayload {
		return errPayload
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.agreeLocked(p)
	return nil
}

func (q *sequences) agreeLocked(p []byte) (oid uint32, st SequenceState, dropped bool) {
	oid, st, dropped = decodeSequence(p)
	if dropped {
		delete(q.agreed, oid)
	} else {
		q.agreed[oid] = st
	}
	return oid, st, dropped
}

func (q *sequences) get(oid uint32) *sequence {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all[oid]
}

func (q *sequences) make(oid uint32, st SequenceState) *sequence {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.all[oid]
	if s == nil {
		s = &sequence{state: st, ahead: st}
		q.all[oid] = s
	}
	return s
}

// A SeqReserve payload: object number u32, flags u8 (1 called, 2 dropped), last i64. After a crash the sequence goes on
// behind last.
const seqPayload = 13

func encodeSequence(oid uint32, last int64, called, dropped bool) []byte {
	p := binary.LittleEndian.AppendUint32(make([]byte, 0, seqPayload), oid)
	f := byte(0)
	if called {
		f |= 1
	}
	if dropped {
		f |= 2
	}
	return binary.LittleEndian.AppendUint64(append(p, f), uint64(last))
}

// decodeSequence is the inverse of encodeSequence.
func decodeSequence(p []byte) (oid uint32, st SequenceState, dropped bool) {
	st = SequenceState{Last: int64(binary.LittleEndian.Uint64(p[5:])), Called: p[4]&1 != 0}
	return binary.LittleEndian.Uint32(p), st, p[4]&2 != 0
}

// apply replays a SeqReserve entry.
func (q *sequences) apply(p []byte) error {
	if len(p) != seqPayload {
		return errPayload
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	oid, st, dropped := q.agreeLocked(p)
	if dropped {
		delete(q.all, oid)
		return nil
	}
	q.all[oid] = &sequence{state: st, ahead: st}
	return nil
}

// next returns the value after st, or false at the end of a sequence that does not cycle.
func (sp *SequenceSpec) next(st SequenceState) (int64, bool) {
	if !st.Called {
		return st.Last, true
	}
	v := st.Last + sp.Increment
	if sp.Increment > 0 && (v > sp.Max || v < st.Last) {
		return sp.Min, sp.Cycle
	}
	if sp.Increment < 0 && (v < sp.Min || v > st.Last) {
		return sp.Max, sp.Cycle
	}
	return v, true
}

// NextValue advances a sequence and returns its value: 2200H when it has ended. A value is handed out only after an
// entry that covers it is ordered; the session's transaction waits for that entry to be durable.
func (s *Session) NextValue(oid uint32, sp SequenceSpec) (int64, error) {
	db := s.db
	q := db.sequences.get(oid)
	if q == nil {
		q = db.sequences.make(oid, SequenceState{Last: sp.Start})
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	v, ok := sp.next(q.state)
	if !ok {
		kind, limit := "maximum", sp.Max
		if sp.Increment < 0 {
			kind, limit = "minimum", sp.Min
		}
		return 0, sqlerr.New(sqlerr.SequenceGeneratorLimitExceeded,
			"nextval: reached %s value of sequence \"%s\" (%d)", kind, sp.Name, limit)
	}
	if q.state.Logged == 0 || !q.state.Called {
		ahead, n := SequenceState{Last: v, Called: true}, int64(0)
		for ; n < seqReserve; n++ {
			w, ok := sp.next(ahead)
			if !ok || (sp.Increment > 0) != (w > ahead.Last) {
				break // the end, or round the cycle: that needs an entry of its own
			}
			ahead.Last = w
		}
		seq, err := s.log(txlog.SeqReserve, encodeSequence(oid, ahead.Last, true, false), txlog.Normal)
		if err != nil {
			return 0, err
		}
		s.seen = max(s.seen, uint64(seq))
		q.state, q.ahead = SequenceState{Last: v, Called: true, Logged: n}, ahead
		return v, nil
	}
	q.state.Last = v
	q.state.Logged--
	return v, nil
}

// SetSequence sets a sequence (setval, RESTART, CREATE SEQUENCE): with called the next value is the one after last,
// else last itself. It is logged at once and not undone by a rollback.
func (s *Session) SetSequence(oid uint32, last int64, called bool) error {
	db := s.db
	q := db.sequences.make(oid, SequenceState{})
	q.mu.Lock()
	defer q.mu.Unlock()
	seq, err := s.log(txlog.SeqReserve, encodeSequence(oid, last, called, false), txlog.Normal)
	if err != nil {
		return err
	}
	s.seen = max(s.seen, uint64(seq))
	q.state = SequenceState{Last: last, Called: called}
	q.ahead = q.state
	return nil
}

// SequenceState returns where a sequence stands; ok is false for one that was never used.
func (db *Database) SequenceState(oid uint32) (st SequenceState, ok bool) {
	q := db.sequences.get(oid)
	if q == nil {
		return st, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.state, true
}

// DropSequence forgets a sequence. Call it from OnCommit of the transaction that drops it.
func (s *Session) DropSequence(oid uint32) error {
	db := s.db
	db.sequences.mu.Lock() // first: a checkpoint in between must not record it again
	delete(db.sequences.all, oid)
	db.sequences.mu.Unlock()
	seq, err := s.log(txlog.SeqReserve, encodeSequence(oid, 0, false, true), txlog.Shrinking)
	if err != nil {
		return err
	}
	s.seen = max(s.seen, uint64(seq))
	return nil
}

// encode writes all sequences for a checkpoint, as the log knows them.
func (q *sequences) encode(b []byte) []byte {
	q.mu.Lock()
	list := make(map[uint32]*sequence, len(q.all))
	for oid, s := range q.all {
		list[oid] = s
	}
	q.mu.Unlock()
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	for oid, s := range list {
		s.mu.Lock()
		st := s.ahead
		s.mu.Unlock()
		b = append(b, encodeSequence(oid, st.Last, st.Called, false)...)
	}
	return b
}

// decode is the inverse of encode and returns what follows.
func (q *sequences) decode(b []byte) (rest []byte, err error) {
	if len(b) < 4 {
		return nil, errPayload
	}
	n := int(binary.LittleEndian.Uint32(b))
	b = b[4:]
	if len(b)/seqPayload < n {
		return nil, errPayload
	}
	for ; n > 0; n-- {
		if err := q.apply(b[:seqPayload]); err != nil {
			return nil, err
		}
		b = b[seqPayload:]
	}
	return b, nil
}
