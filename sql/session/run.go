package session

import (
	"herd/engine/lock"
	"herd/planner/plan"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// begunStatement notes the text of a new message for pg_stat_activity.
func (s *Session) begunStatement(text string) {
	s.activity.query.store(text)
	s.activity.queryStart.Store(s.now())
}

// begunPortal notes that a portal's execution begins.
func (s *Session) begunPortal(po *portal) {
	if po.stmt != nil {
		s.activity.query.store(po.stmt.text)
	}
	s.activity.queryStart.Store(s.now())
}

// stmtBegin arms the statement's deadline.
func (s *Session) stmtBegin() error {
	s.stmtClock = s.clock
	s.eng.Interrupt().SetStatementDeadline(s.statementTimeout)
	return nil
}

// stmtEnd disarms it.
func (s *Session) stmtEnd() {
	s.eng.Interrupt().SetStatementDeadline(0)
}

// fillEnv sets up an execution's surroundings.
func (s *Session) fillEnv(env *exec.Env, view storage.View, params []types.Datum) {
	env.View = view
	env.Params = params
	env.Acct = s.acct
	env.Interrupt = s.interrupt
	env.SpillFS = s.srv.opts.SpillFS
	env.SpillDir = s.srv.opts.SpillDir
	env.Deferred = &s.deferred
	env.Workers = s.scanWorkers
	if s.tx != nil {
		env.Tx = s.tx
	}
	env.Virtual = (*virtualEnv)(s)
	env.CursorRow = s.cursorKey
	env.Funcs.IO = &s.io
	env.Funcs.StmtTime = s.stmtStart
	env.Funcs.TxTime = s.txStart
	env.Funcs.Env = (*environment)(s)
	env.Funcs.Tables = env
	env.Funcs.Acct = s.acct
	env.Funcs.Interrupt = env.Interrupt
}

// pendingInterrupt returns the error of a pending cancel, timeout or termination.
func (s *Session) pendingInterrupt() error { return s.eng.Interrupt().Err() }

// checkRun makes sure that the session may run a plan: rights, read-only transactions, table locks.
func (s *Session) checkRun(p *plan.Plan) error {
	if s.modes.readOnly && !p.ReadOnly {
		if word := writeWord(p); word != "" && !s.onlyTemporary(p) {
			return sqlerr.New(sqlerr.ReadOnlySqlTransaction, "cannot execute %s in a read-only transaction", word)
		}
	}
	if err := s.checkRights(p); err != nil {
		return err
	}
	if err := s.lockTables(p); err != nil || p.Unpopulated == "" {
		return err
	}
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "materialized view \"%s\" has not been populated", p.Unpopulated).
		WithHint("Use the REFRESH MATERIALIZED VIEW command.")
}

// writeWord names what a plan writes, "" when nothing but temporary tables.
func writeWord(p *plan.Plan) string {
	switch p.Command {
	case plan.CmdInsert:
		return "INSERT"
	case plan.CmdUpdate:
		return "UPDATE"
	case plan.CmdDelete:
		return "DELETE"
	case plan.CmdMerge:
		return "MERGE"
	}
	if p.Modifies() {
		return "data-modifying WITH"
	}
	if p.LocksRows() {
		return "SELECT FOR UPDATE"
	}
	return ""
}

// onlyTemporary says whether all a plan writes or locks are the session's temporary tables, which a read-only transaction may change.
func (s *Session) onlyTemporary(p *plan.Plan) bool {
	cat, err := s.catalog()
	if err != nil {
		return false
	}
	for _, t := range p.Tables {
		if t.Lock == plan.LockAccessShare {
			continue
		}
		rel, err := cat.RelationByOID(t.OID)
		if err != nil || rel == nil || rel.Persistence != 't' {
			return false
		}
	}
	return len(p.Tables) > 0
}

// lockTables takes the table locks of a plan: they keep definitions from changing under it until the transaction ends.
func (s *Session) lockTables(p *plan.Plan) error {
	for _, r := range p.Tables {
		if err := s.tx.LockTable(uint32(r.OID), tableModes[r.Lock], lock.Wait); err != nil {
			return err
		}
	}
	return nil
}

// observe counts a finished statement under the kind that its command tag names.
func (s *Session) observe(tag string) {
	kind := KindOther
	switch tag {
	case "":
		return
	case "SELECT":
		kind = KindSelect
	case "INSERT 0":
		kind = KindInsert
	case "UPDATE":
		kind = KindUpdate
	case "DELETE":
		kind = KindDelete
	case "COPY":
		kind = KindCopy
	case "BEGIN", "START TRANSACTION", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE":
		kind = KindTransaction
	}
	s.tick()
	s.srv.metrics.observe(kind, s.clock.Sub(s.stmtClock))
}
