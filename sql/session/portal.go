package session

import (
	"errors"

	"herd/engine"
	"herd/planner/plan"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

// portalStatus is where a portal is in its life.
type portalStatus uint8

const (
	portalReady  portalStatus = iota
	portalActive              // some rows were taken
	portalDone                // ran to completion
	portalFailed
)

// portal is one execution of a statement: bound values, captured view, result formats.
type portal struct {
	name     string
	stmt     *prepared
	plan     *plan.Plan
	version  storage.Seq   // of the catalog that the plan was made under
	cols     []plan.Column // nil: returns no rows
	params   []types.Datum
	formats  []int16
	arena    []byte        // bytes of params that came with Bind; kept for the next portal
	paramBuf []types.Datum // backing of params, likewise
	env      exec.Env
	pin      engine.ViewPin
	pinned   bool
	state    *exec.State
	status   portalStatus
	held     bool // rights were checked and locks are held: plan and cols stay
	level    int  // transaction level that made it; a rollback to a savepoint before it closes it

	// stored results: RETURNING, utilities with rows, scrollable and held cursors
	store *rowStore
	ctag  commandTag

	cursor   bool
	hold     bool
	scroll   bool     // declared SCROLL: rows are kept from the first on
	noScroll bool     // only goes forward
	at       [][]byte // streamed row that the cursor is on: row identities of its tables
	binary   bool
	text     string
	created  int64
	fetched  int64 // rows taken in all: the position of a cursor
	affected int64
	counted  bool
}

// commandTag is the text of CommandComplete, with a count behind it when hasCount is set.
type commandTag struct {
	text     string
	count    int64
	hasCount bool
}

// tag is the command tag of a finished portal.
func (p *portal) tag() commandTag {
	if p.ctag.text != "" {
		return p.ctag
	}
	switch p.plan.Command {
	case plan.CmdInsert:
		return commandTag{text: "INSERT 0", count: p.affected, hasCount: true}
	case plan.CmdUpdate:
		return commandTag{text: "UPDATE", count: p.affected, hasCount: true}
	case plan.CmdDelete:
		return commandTag{text: "DELETE", count: p.affected, hasCount: true}
	case plan.CmdMerge:
		return commandTag{text: "MERGE", count: p.affected, hasCount: true}
	}
	return commandTag{text: "SELECT", count: p.affected, hasCount: true}
}

// streaming says that rows may leave while the statement runs: a query that changes nothing.
func (p *portal) streaming() bool {
	return p.plan != nil && p.plan.Command == plan.CmdSelect && !p.plan.Modifies()
}

// openPortal makes a portal over values that the caller keeps for as long as the portal lives.
func (s *Session) openPortal(name string, p *prepared, params []types.Datum, formats []int16) (*portal, error) {
	po := s.newPortal()
	po.name, po.params = name, params
	if err := s.startPortal(po, p, formats); err != nil {
		return nil, err
	}
	return po, nil
}

// startPortal captures the statement's view and prepares the execution; on error the portal is given back.
func (s *Session) startPortal(po *portal, p *prepared, formats []int16) error {
	po.stmt = p
	po.formats = append(po.formats[:0], formats...)
	po.level = s.settingLevel()
	po.cols = p.cols
	if p.class != classQuery {
		return nil
	}
	s.txUsed = true
	if len(s.calls) == 1 { // a statement that has called functions and has ended
		s.dropViews(0)
	}
	if err := s.fresh(); err != nil {
		s.recycle(po)
		return err
	}
	view := s.tx.BeginStatement()
	s.stmtStart = s.messageTime()
	pl, err := s.planFor(p, view, po.params)
	if err != nil {
		s.recycle(po)
		return err
	}
	if s.token != "" && writeWord(pl) != "" {
		if err := s.claimToken(); err != nil {
			s.recycle(po)
			return err
		}
		view = s.tx.BeginStatement()
	}
	po.plan, po.cols, po.version = pl, p.cols, p.version
	if view.Snap.CatalogVersion() < po.version { // definitions that are ordered and not durable yet
		s.tx.Newest()
		view = s.tx.BeginStatement()
	}
	s.fillEnv(&po.env, view, po.params)
	return nil
}

// ready makes sure that the portal's plan may run and is right: rights and locks first. Definitions may have changed
// before the locks were there, so the plan is made anew if they did; and who waited for a lock reads what the one it
// waited for has left.
func (p *portal) ready(s *Session) error {
	for !p.held {
		waits := s.tx.LockWaits()
		if err := s.checkRun(p.plan); err != nil {
			return err
		}
		current := p.stmt == nil || s.db.CatalogVersion() == p.version
		if s.replica && p.stmt != nil && s.tx.Isolation() == engine.ReadCommitted { // no lock keeps the leader's definitions from coming
			current = current && p.env.View.Snap.CatalogVersion() == p.version
		}
		if current && s.tx.LockWaits() == waits {
			p.held = true
			break
		}
		s.tx.Newest() // what was waited for is ordered, perhaps not durable
		view := s.tx.BeginStatement()
		if !current {
			pl, err := s.planFor(p.stmt, view, p.params)
			if err != nil {
				return err
			}
			p.plan, p.cols, p.version = pl, p.stmt.cols, p.stmt.version
		}
		s.fillEnv(&p.env, view, p.params)
		p.held = current
	}
	return nil
}

// newPortal reuses the struct of the last closed portal.
func (s *Session) newPortal() *portal {
	if po := s.freePortal; po != nil {
		s.freePortal = nil
		return po
	}
	return new(portal)
}

func (s *Session) recycle(po *portal) {
	*po = portal{formats: po.formats[:0], arena: keepSmall(po.arena), paramBuf: po.paramBuf[:0]}
	s.freePortal = po
}

// closePortal ends an execution and gives back what it holds.
func (s *Session) closePortal(po *portal) {
	s.portals.remove(po)
	s.finishState(po)
	if po.store != nil {
		po.store.close()
	}
	if po.pinned {
		po.pin.Release()
	}
	s.recycle(po)
}

// finishState closes the state tree and gives it back to its statement for the next execution.
func (s *Session) finishState(po *portal) {
	if po.state == nil {
		return
	}
	po.state.Close()
	if po.stmt != nil && po.stmt.plan == po.plan && len(po.stmt.free) < 2 {
		po.stmt.free = append(po.stmt.free, po.state)
	}
	po.state = nil
}

// run takes up to max rows (0 = all) into the sink; done says that the portal has no more.
func (p *portal) run(s *Session, max int64, sink rowSink) (done bool, err error) {
	if done, err = p.take(s, max, sink); err != nil && errors.Is(err, storage.ErrNoTree) && s.tx.Behind() {
		return false, sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update").
			WithDetail("A table was made, truncated or rewritten after the transaction's snapshot was taken.")
	}
	return done, err
}

func (p *portal) take(s *Session, max int64, sink rowSink) (done bool, err error) {
	switch p.status {
	case portalDone:
		p.affected = 0
		return true, nil
	case portalFailed:
		return false, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "portal \"%s\" cannot be run", p.name)
	}
	if w, ok := sink.(*wireSink); ok && max == 0 && p.status == portalReady && p.plan != nil && p.plan.Fast != nil {
		if ran, err := p.runPoint(s, w); ran {
			return err == nil, err
		}
	}
	if p.store == nil && p.streaming() {
		return p.stream(s, max, sink)
	}
	if p.store == nil {
		if err := p.fill(s); err != nil {
			p.status = portalFailed
			return false, err
		}
	}
	return p.drain(max, sink)
}

// stream runs the plan as far as max rows.
func (p *portal) stream(s *Session, max int64, sink rowSink) (bool, error) {
	if err := p.open(s); err != nil {
		return false, err
	}
	n, more, err := pull(p.state, max, sink)
	if err != nil {
		p.status = portalFailed
		return false, err
	}
	p.affected = n
	p.fetched += n
	if more {
		p.status = portalActive
		return false, nil
	}
	p.status = portalDone
	s.finishState(p)
	return true, nil
}

func (p *portal) open(s *Session) error {
	if p.status != portalReady {
		return nil
	}
	p.status = portalFailed // until the state tree is open
	if err := p.ready(s); err != nil {
		return err
	}
	state, err := s.takeState(p)
	if err != nil {
		return err
	}
	p.state = state
	if err := state.Open(&p.env); err != nil {
		return err
	}
	p.status = portalActive
	return nil
}

// takeState returns a state tree of the portal's plan, a used one if there is.
func (s *Session) takeState(p *portal) (*exec.State, error) {
	if st := p.stmt; st != nil && st.plan == p.plan && len(st.free) > 0 {
		state := st.free[len(st.free)-1]
		st.free = st.free[:len(st.free)-1]
		return state, nil
	}
	return exec.Build(p.plan)
}

// fill runs a statement that must run to completion before its first row leaves.
func (p *portal) fill(s *Session) error {
	if p.cols == nil {
		if err := p.open(s); err != nil {
			return err
		}
		for {
			b, err := p.state.Next(vec.MaxRows)
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
		}
		p.affected = p.state.RowsAffected()
		p.counted = true
		s.finishState(p)
		p.status = portalDone
		return nil
	}
	p.store = s.newRowStore(p.cols)
	if err := p.open(s); err != nil {
		return err
	}
	if _, _, err := pull(p.state, 0, p.store); err != nil {
		return err
	}
	p.affected = p.state.RowsAffected()
	if p.plan.Command == plan.CmdSelect {
		p.affected = p.store.len()
	}
	p.counted = true
	s.finishState(p)
	return nil
}

// drain sends rows of the store from the portal's position.
func (p *portal) drain(max int64, sink rowSink) (bool, error) {
	if p.store == nil {
		return true, nil
	}
	from := p.fetched
	to := p.store.len()
	if max > 0 && from+max < to {
		to = from + max
	}
	if err := p.store.send(from, to, sink); err != nil {
		return false, err
	}
	p.fetched = to
	if p.plan == nil || p.plan.Command == plan.CmdSelect {
		p.affected = to - from
		if p.ctag.text != "" && p.ctag.hasCount {
			p.ctag.count = p.affected
		}
	}
	// As PostgreSQL: with a limit, reaching exactly the last row still suspends; the next Execute finds nothing.
	if max > 0 && to-from == max {
		p.status = portalActive
		return false, nil
	}
	p.status = portalDone
	return true, nil
}

// pull moves rows from a state tree to a sink; more says that the limit ended it.
func pull(state *exec.State, max int64, sink rowSink) (n int64, more bool, err error) {
	for {
		want := vec.MaxRows
		if max > 0 && max-n < int64(want) {
			want = int(max - n)
		}
		b, err := state.Next(want)
		if err != nil {
			return n, false, err
		}
		if b == nil {
			return n, false, nil
		}
		if err := sink.writeBatch(b); err != nil {
			return n, false, err
		}
		n += int64(b.Rows())
		if max > 0 && n >= max {
			return n, true, nil
		}
	}
}

// closePortals closes the portals that do not outlive the transaction: all but held cursors.
func (s *Session) closePortals() {
	s.portals.each(func(po *portal) {
		if po.level > 0 { // else it is a cursor held since an earlier transaction
			s.closePortal(po)
		}
	})
}

// closePortalsSince closes those made at a level or deeper.
func (s *Session) closePortalsSince(level int) {
	s.portals.each(func(po *portal) {
		if po.level >= level && po.level > 0 {
			s.closePortal(po)
		}
	})
}

// closePortalsOfFailure closes what the failed part of the transaction made.
func (s *Session) closePortalsOfFailure() {
	level := 1
	if n := len(s.savepoints); n > 0 {
		level = s.savepoints[n-1].level
	}
	s.closePortalsSince(level)
}

func (s *Session) dropUnnamedPortal() {
	if s.portals.unnamed != nil {
		s.closePortal(s.portals.unnamed)
	}
}

// keepSmall keeps a buffer for the next portal unless it would hold much memory while idle.
func keepSmall(b []byte) []byte {
	if cap(b) > 64<<10 {
		return nil
	}
	return b[:0]
}
