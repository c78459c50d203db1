package session

import (
	"herd/engine"
	"herd/engine/lock"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// sequenceState is what currval and lastval remember in a session.
type sequenceState struct {
	last  map[types.OID]int64
	newst types.OID // sequence of the latest nextval, for lastval
}

func (q *sequenceState) clear() { *q = sequenceState{} }

func (q *sequenceState) note(seq types.OID, v int64) {
	if q.last == nil {
		q.last = make(map[types.OID]int64)
	}
	q.last[seq] = v
	q.newst = seq
}

// sequenceRelation finds a sequence by OID.
func (s *Session) sequenceRelation(id types.OID) (*catalog.Relation, error) {
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	rel, err := cat.RelationByOID(id)
	if err != nil {
		return nil, err
	}
	if rel == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", id)
	}
	if rel.Kind != catalog.KindSequence || rel.Sequence == nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", rel.Name)
	}
	return rel, nil
}

func sequenceSpec(rel *catalog.Relation) engine.SequenceSpec {
	q := rel.Sequence
	return engine.SequenceSpec{Name: rel.Name, Start: q.Start, Increment: q.Increment, Min: q.Min, Max: q.Max, Cycle: q.Cycle}
}

// lockSequence locks a sequence until the transaction ends, so that its ALTER waits, or is waited for.
func (s *Session) lockSequence(id types.OID) error {
	s.ensureTx()
	return s.tx.LockTable(uint32(id), lock.RowExclusive, lock.Wait)
}

// sequenceFor locks and finds a sequence on which the user has one of some privileges.
func (s *Session) sequenceFor(id types.OID, need ...catalog.Privileges) (*catalog.Relation, error) {
	if err := s.lockSequence(id); err != nil {
		return nil, err
	}
	rel, err := s.sequenceRelation(id)
	if err != nil {
		return nil, err
	}
	return rel, s.mayAny(rel, need...)
}

// NextVal implements funcs.Env.
func (e *environment) NextVal(seq types.OID) (int64, error) {
	s := e.s()
	rel, err := s.sequenceFor(seq, catalog.PrivUsage, catalog.PrivUpdate)
	if err != nil {
		return 0, err
	}
	return s.nextValue(seq, rel)
}

// NextIdentity implements funcs.Env: the sequence of an identity column belongs to it, and asks for no rights of its own.
func (e *environment) NextIdentity(seq types.OID) (int64, error) {
	s := e.s()
	if err := s.lockSequence(seq); err != nil {
		return 0, err
	}
	rel, err := s.sequenceRelation(seq)
	if err != nil {
		return 0, err
	}
	return s.nextValue(seq, rel)
}

func (s *Session) nextValue(seq types.OID, rel *catalog.Relation) (int64, error) {
	if s.modes.readOnly {
		return 0, sqlerr.New(sqlerr.ReadOnlySqlTransaction, "cannot execute nextval() in a read-only transaction")
	}
	v, err := s.eng.NextValue(uint32(seq), sequenceSpec(rel))
	if err != nil {
		return 0, err
	}
	s.sequences.note(seq, v)
	return v, nil
}

// CurrVal implements funcs.Env.
func (e *environment) CurrVal(seq types.OID) (int64, error) {
	rel, err := e.s().sequenceFor(seq, catalog.PrivSelect, catalog.PrivUsage)
	if err != nil {
		return 0, err
	}
	v, ok := e.sequences.last[seq]
	if !ok {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "currval of sequence \"%s\" is not yet defined in this session", rel.Name)
	}
	return v, nil
}

// LastVal implements funcs.Env.
func (e *environment) LastVal() (int64, error) {
	v, ok := e.sequences.last[e.sequences.newst]
	if !ok {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "lastval is not yet defined in this session")
	}
	_, err := e.s().sequenceFor(e.sequences.newst, catalog.PrivSelect, catalog.PrivUsage)
	if err != nil && sqlerr.From(err).Code == sqlerr.UndefinedTable { // it was dropped
		err = sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "lastval is not yet defined in this session")
	}
	return v, err
}

// SetVal implements funcs.Env.
func (e *environment) SetVal(seq types.OID, value int64, called bool) error {
	s := e.s()
	rel, err := s.sequenceFor(seq, catalog.PrivUpdate)
	if err != nil {
		return err
	}
	if s.modes.readOnly {
		return sqlerr.New(sqlerr.ReadOnlySqlTransaction, "cannot execute setval() in a read-only transaction")
	}
	if value < rel.Sequence.Min || value > rel.Sequence.Max {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "setval: value %d is out of bounds for sequence \"%s\" (%d..%d)",
			value, rel.Name, rel.Sequence.Min, rel.Sequence.Max)
	}
	if err := s.eng.SetSequence(uint32(seq), value, called); err != nil {
		return err
	}
	if called {
		s.sequences.note(seq, value)
	}
	return nil
}

// SequenceLast implements funcs.Env.
func (e *environment) SequenceLast(seq types.OID) (int64, bool, error) {
	st, err := e.s().sequenceState(seq)
	return st.Last, st.Called, err
}

// sequenceState reads where a sequence stands; one never used has its start value, not called.
func (s *Session) sequenceState(seq types.OID) (engine.SequenceState, error) {
	if st, known := s.db.SequenceState(uint32(seq)); known {
		return st, nil
	}
	rel, err := s.sequenceRelation(seq)
	if err != nil {
		return engine.SequenceState{}, err
	}
	return engine.SequenceState{Last: rel.Sequence.Start}, nil
}

// sequenceStore is what definitions do with sequences; it implements ddl.SequenceState.
type sequenceStore Session

// SetSequence sets a sequence; it is not undone by a rollback.
func (q *sequenceStore) SetSequence(id uint32, value int64, called bool) error {
	return q.eng.SetSequence(id, value, called)
}

// RestartSequence makes next the next value and puts the sequence back when the transaction is rolled back.
func (q *sequenceStore) RestartSequence(id uint32, next int64) error {
	before, known := q.db.SequenceState(id)
	if err := q.eng.SetSequence(id, next, false); err != nil || !known {
		return err
	}
	eng, log := q.eng, q.srv.log
	q.txHooks = append(q.txHooks, func(committed bool) {
		if committed {
			return
		}
		if err := eng.SetSequence(id, before.Last, before.Called); err != nil {
			log.Warn("could not put a sequence back after a rollback", "sequence", id, "error", err)
		}
	})
	return nil
}

// SequenceState returns where a sequence stands; known is false for one that was never used.
func (q *sequenceStore) SequenceState(id uint32) (last int64, called, known bool) {
	st, known := q.db.SequenceState(id)
	return st.Last, st.Called, known
}

// DropSequence forgets a sequence when the transaction commits.
func (q *sequenceStore) DropSequence(id uint32) error {
	eng := q.eng
	q.txHooks = append(q.txHooks, func(committed bool) {
		if committed {
			eng.DropSequence(id) // a failure leaves an entry that nobody asks for: numbers are not used again
		}
	})
	return nil
}
