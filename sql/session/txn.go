package session

import (
	"herd/engine"
	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// txModes are the characteristics of a transaction.
type txModes struct {
	isolation  string // lower case
	readOnly   bool
	deferrable bool
}

// savepoint is one level of the transaction block's stack.
type savepoint struct {
	name     string
	mark     engine.Mark
	level    int
	checks   int // postponed constraint checks before it
	readOnly bool
	notes    noteMark
}

// TxStatus is ReadyForQuery's byte: I idle, T in a block, E in a failed block.
func (s *Session) TxStatus() byte {
	switch {
	case s.aborted:
		return 'E'
	case s.block:
		return 'T'
	}
	return 'I'
}

func errAborted() error {
	return sqlerr.New(sqlerr.InFailedSqlTransaction, "current transaction is aborted, commands ignored until end of transaction block")
}

// ensureTx starts the implicit transaction of a statement outside a block.
func (s *Session) ensureTx() {
	if s.tx == nil {
		s.modes = s.defaultModes()
		s.startTx()
	}
}

func (s *Session) defaultModes() txModes { return s.defaults }

func (s *Session) startTx() {
	o := engine.TxOptions{Isolation: engine.ReadCommitted, ReadOnly: s.modes.readOnly, Deferrable: s.modes.deferrable}
	switch s.modes.isolation {
	case "repeatable read":
		o.Isolation = engine.RepeatableRead
	case "serializable":
		o.Isolation = engine.Serializable
	}
	s.tx = s.eng.Begin(o)
	s.txUsed = false
	s.txStart = s.messageTime()
	s.activity.xactStart.Store(s.txStart)
}

// restartTx applies modes given before the first query of the transaction.
func (s *Session) restartTx() {
	s.tx.Rollback()
	start := s.txStart
	s.startTx()
	s.txStart = start
}

// settingLevel is the depth at which SET records its undo entry.
func (s *Session) settingLevel() int {
	if s.tx == nil {
		return 0
	}
	return 1 + len(s.savepoints)
}

// finishImplicit commits the implicit transaction, if one is open.
func (s *Session) finishImplicit() error {
	if s.block || s.tx == nil {
		return nil
	}
	return s.commit()
}

// commit ends the current transaction. On error nothing of it remains and the session is idle.
func (s *Session) commit() error {
	err := s.beforeCommit()
	if err == nil && s.tx.Changed() {
		err = s.claimToken()
	}
	if err != nil {
		s.rollback()
		return err
	}
	tx := s.tx
	batch, err := s.commitNotes(tx)
	if err != nil {
		s.rollback()
		s.waitDurable()
		return tokenError(err)
	}
	if batch != nil {
		told := false
		defer func() { batch.settle(told) }() // those behind it must not wait for ever, whatever happens here
		err = s.endCommit(tx)
		told = err == nil
		return err
	}
	return s.endCommit(tx)
}

// endCommit ends a transaction whose commit is ordered.
func (s *Session) endCommit(tx *engine.Tx) error {
	s.set.commit()
	wrote := tx.HasID()
	s.endTx(true)
	err := s.waitDurable()
	if wrote {
		s.tick() // the wait may have been long
	}
	return err
}

// beforeCommit runs what belongs into the transaction but waits for its end: held cursors, deferred constraints.
func (s *Session) beforeCommit() error {
	if err := s.holdCursors(); err != nil {
		return err
	}
	if err := s.checkDeferred(); err != nil {
		return err
	}
	if err := s.notifyRoom(); err != nil {
		return err
	}
	return s.tempAtCommit()
}

// rollback drops the current transaction.
func (s *Session) rollback() {
	if s.tx != nil {
		s.closePortals()
		s.tx.Rollback()
	}
	s.set.rollback(1)
	s.endTx(false)
}

func (s *Session) endTx(committed bool) {
	s.closePortals()
	s.tx = nil
	s.block, s.aborted, s.implicitBlock, s.txUsed = false, false, false, false
	s.savepoints = s.savepoints[:0]
	s.deferred.Reset()
	s.io.NewLabels = nil
	s.dropViews(0)
	s.endNotes(committed)
	s.modes = s.defaults
	s.runHooks(committed)
}

// runHooks runs what waited for the outcome: sequences of currval, temporary objects.
func (s *Session) runHooks(committed bool) {
	hooks := s.txHooks
	s.txHooks = s.txHooks[:0]
	for _, h := range hooks {
		h(committed)
	}
}

// waitDurable keeps the end of a transaction back until what the session saw is on disk.
func (s *Session) waitDurable() error {
	return s.eng.WaitDurable()
}

// Failed puts the session into the state that follows an error and returns what the client is told.
func (s *Session) Failed(e *sqlerr.Error) *sqlerr.Error {
	s.stmtEnd()
	switch {
	case s.tx == nil:
	case s.block && e.Severity != sqlerr.SeverityFatal:
		s.abortBlock()
	default:
		s.rollback()
		if err := s.waitDurable(); err != nil {
			return sqlerr.From(err)
		}
	}
	s.implicitBlock = false
	s.tick()
	s.srv.metrics.errors.Add(1)
	return e
}

// abortBlock marks the block failed: its changes and locks go now, its savepoints stay reachable.
func (s *Session) abortBlock() {
	if s.aborted {
		return
	}
	s.aborted = true
	s.closePortalsOfFailure()
	if n := len(s.savepoints); n > 0 {
		sp := s.savepoints[n-1]
		s.tx.RollbackTo(sp.mark)
		s.set.rollback(sp.level)
		return
	}
	s.tx.Rollback()
	s.set.rollback(1)
}

// transaction runs a transaction control statement and returns its command tag.
func (s *Session) transaction(st *ast.Transaction) (string, error) {
	switch st.Kind {
	case ast.TxBegin, ast.TxStart:
		return s.begin(st)
	case ast.TxCommit:
		return s.commitBlock(st)
	case ast.TxRollback:
		return s.rollbackBlock(st)
	case ast.TxSavepoint:
		return s.defineSavepoint(st.Name)
	case ast.TxRelease:
		return s.releaseSavepoint(st.Name)
	case ast.TxRollbackTo:
		return s.rollbackToSavepoint(st.Name)
	}
	return "", sqlerr.Unsupported("two-phase commit")
}

func (s *Session) begin(st *ast.Transaction) (string, error) {
	tag := "BEGIN"
	if st.Kind == ast.TxStart {
		tag = "START TRANSACTION"
	}
	switch {
	case s.aborted:
		return "", errAborted()
	case s.block:
		s.notice(sqlerr.Warn(sqlerr.ActiveSqlTransaction, "there is already a transaction in progress"))
		return tag, s.applyModes(st.Modes)
	}
	s.ensureTx()
	s.block = true
	return tag, s.applyModes(st.Modes)
}

// applyModes sets the current transaction's characteristics.
func (s *Session) applyModes(m ast.TxModes) error {
	next := s.modes
	if m.Isolation != nil {
		if s.txUsed && *m.Isolation != s.modes.isolation {
			return sqlerr.New(sqlerr.ActiveSqlTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
		}
		next.isolation = *m.Isolation
	}
	if m.ReadOnly != nil {
		if !*m.ReadOnly && s.replica {
			return errReplicaWrites()
		}
		if len(s.savepoints) > 0 && s.modes.readOnly && !*m.ReadOnly {
			return sqlerr.New(sqlerr.ActiveSqlTransaction, "cannot set transaction read-write mode inside a read-only transaction")
		}
		if s.txUsed && s.modes.readOnly && !*m.ReadOnly {
			return sqlerr.New(sqlerr.ActiveSqlTransaction, "transaction read-write mode must be set before any query")
		}
		next.readOnly = *m.ReadOnly
	}
	if m.Deferrable != nil {
		next.deferrable = *m.Deferrable
	}
	if next == s.modes {
		return nil
	}
	used := s.txUsed
	s.modes = next
	if !used {
		s.restartTx()
		return nil
	}
	s.tx.SetReadOnly(next.readOnly)
	return nil
}

func (s *Session) commitBlock(st *ast.Transaction) (string, error) {
	switch {
	case s.aborted:
		modes := s.modes
		s.rollback()
		if st.Chain {
			s.chain(modes)
		}
		return "ROLLBACK", s.waitDurable()
	case !s.block:
		if st.Chain {
			return "", sqlerr.New(sqlerr.NoActiveSqlTransaction, "COMMIT AND CHAIN can only be used in transaction blocks")
		}
		s.notice(sqlerr.Warn(sqlerr.NoActiveSqlTransaction, "there is no transaction in progress"))
		if s.tx == nil {
			return "COMMIT", nil
		}
	}
	modes := s.modes
	if err := s.commit(); err != nil {
		return "", err
	}
	if st.Chain {
		s.chain(modes)
	}
	return "COMMIT", nil
}

func (s *Session) rollbackBlock(st *ast.Transaction) (string, error) {
	if !s.block && !s.aborted {
		if st.Chain {
			return "", sqlerr.New(sqlerr.NoActiveSqlTransaction, "ROLLBACK AND CHAIN can only be used in transaction blocks")
		}
		s.notice(sqlerr.Warn(sqlerr.NoActiveSqlTransaction, "there is no transaction in progress"))
		if s.tx == nil {
			return "ROLLBACK", nil
		}
	}
	modes := s.modes
	s.rollback()
	if st.Chain {
		s.chain(modes)
	}
	return "ROLLBACK", s.waitDurable()
}

func (s *Session) chain(m txModes) {
	s.modes = m
	s.startTx()
	s.block = true
}

func (s *Session) defineSavepoint(name string) (string, error) {
	if s.aborted {
		return "", errAborted()
	}
	if !s.block {
		return "", sqlerr.New(sqlerr.NoActiveSqlTransaction, "SAVEPOINT can only be used in transaction blocks")
	}
	s.txUsed = true
	s.savepoints = append(s.savepoints, savepoint{name: name, mark: s.tx.Savepoint(), level: s.settingLevel() + 1, checks: s.deferred.Len(), readOnly: s.modes.readOnly, notes: s.notes.mark()})
	return "SAVEPOINT", nil
}

func (s *Session) findSavepoint(name, command string) (int, error) {
	if !s.block {
		return 0, sqlerr.New(sqlerr.NoActiveSqlTransaction, "%s can only be used in transaction blocks", command)
	}
	for i := len(s.savepoints) - 1; i >= 0; i-- {
		if s.savepoints[i].name == name {
			return i, nil
		}
	}
	return 0, sqlerr.New(sqlerr.SEInvalidSpecification, "savepoint \"%s\" does not exist", name)
}

func (s *Session) releaseSavepoint(name string) (string, error) {
	if s.aborted {
		return "", errAborted()
	}
	i, err := s.findSavepoint(name, "RELEASE SAVEPOINT")
	if err != nil {
		return "", err
	}
	s.tx.Release(s.savepoints[i].mark)
	for n := len(s.savepoints) - 1; n >= i; n-- {
		s.set.release(s.savepoints[n].level)
	}
	s.restoreReadOnly(s.savepoints[i].readOnly)
	s.savepoints = s.savepoints[:i]
	return "RELEASE", nil
}

// restoreReadOnly ends what SET TRANSACTION READ ONLY said since a savepoint: it holds to the savepoint's end, whichever that is.
func (s *Session) restoreReadOnly(was bool) {
	if s.modes.readOnly != was {
		s.modes.readOnly = was
		s.tx.SetReadOnly(was)
	}
}

func (s *Session) rollbackToSavepoint(name string) (string, error) {
	i, err := s.findSavepoint(name, "ROLLBACK TO SAVEPOINT")
	if err != nil {
		return "", err
	}
	sp := s.savepoints[i]
	s.closePortalsSince(sp.level)
	s.tx.RollbackTo(sp.mark)
	s.deferred.Truncate(sp.checks)
	s.truncateNotes(sp.notes)
	s.set.rollback(sp.level)
	s.restoreReadOnly(sp.readOnly)
	s.savepoints = s.savepoints[:i+1]
	s.aborted = false
	return "ROLLBACK", nil
}
