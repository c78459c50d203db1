package session

import (
	"net"
	"sync/atomic"
	"time"

	"herd/engine"
	"herd/internal/mem"
	"herd/pgwire/wire"
	"herd/planner"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// StartupInfo is what a client said before its session began.
type StartupInfo struct {
	User, Database string
	Settings       []Setting // application_name, client_encoding ... and the "options" parameter, in order
	Replication    bool      // commands of a replication connection instead of SQL
	Remote, Local  net.Addr
	TLS            bool
	Started        time.Time
	PID            int32
}

// CopySource delivers the data of COPY FROM STDIN.
type CopySource interface {
	// NextCopyData returns the next piece, valid until the next call; done after the client's CopyDone.
	NextCopyData() (data []byte, done bool, err error)
}

// Client is the connection a session answers to.
type Client struct {
	Out  *wire.Writer
	Copy CopySource
	// Wake makes the connection look at EndReason while it waits for the client; any goroutine may call it.
	Wake func()
	// Rest undoes Wake, unless the connection is to end; called by those who hold what keeps Wake from being called again.
	Rest func()
	// Terminate ends the connection with 57P01; any goroutine may call it.
	Terminate func()
}

// Session is one client's session. All methods but Cancel and Terminate belong to the connection's goroutine.
type Session struct {
	srv    *Server
	client Client
	out    *wire.Writer
	info   StartupInfo
	db     *engine.Database
	// domains are the domains' constraints that input of values inside of others has used.
	domains map[types.OID]*domainCheck
	eng     *engine.Session
	acct    *mem.Account

	set         settings
	io          types.IOContext
	started     bool
	dirty       bool // a reported parameter may have changed since the last ReadyForQuery
	reported    [len(reportedNames)]string
	authUser    string
	authSuper   bool
	user        catalog.Role
	superuser   bool
	path        searchPath
	planKey     envKey // environment of plans; the zero one: compute it
	planMode    planner.CacheMode
	scanWorkers int // goroutines that a scan may use beside the session's

	// transaction
	tx               *engine.Tx
	block            bool // inside BEGIN
	implicitBlock    bool // several statements in one Query message
	aborted          bool
	txUsed           bool // a query ran: its characteristics are fixed
	txStart          int64
	stmtStart        int64
	clock            time.Time // see tick
	arrived          time.Time // the clock when the message in work came: the time of its statements and transactions
	stmtClock        time.Time // when the running statement began
	statementTimeout time.Duration
	idleTimeout      time.Duration
	idleTxTimeout    time.Duration
	fastPaths        bool
	bulkInserts      bool
	replica          bool          // the session reads a node's own state, see consistency.go
	stale            bool          // herd.read_consistency = stale
	maxStaleness     time.Duration // herd.max_staleness
	freshTx          uint32        // the command of the transaction's snapshot that was found fresh enough
	token            string        // herd.commit_token
	saidCutOff       bool
	mysql            bool                                                       // herd.dialect: texts are MySQL's SQL
	interrupt        func() error                                               // pendingInterrupt, bound once
	cursorKey        func(cursor string, rel *catalog.Relation) ([]byte, error) // cursorRow, bound once
	modes            txModes
	defaults         txModes
	savepoints       []savepoint
	txHooks          []func(committed bool)
	deferred         exec.Deferred

	statements map[string]*prepared
	unnamed    *prepared
	portals    portalSet
	freePortal *portal
	env        exec.Env
	bindParams []types.Datum
	sequences  sequenceState
	shapes     shapes
	sink       wireSink
	tempSchema types.OID
	tempTables []tempTable // with an ON COMMIT action
	notices    []*sqlerr.Error

	calls     []callLevel
	functions map[functionKey]*sqlFunction

	notes    pendingNotes
	channels []string // that the session listens to
	inbox    *inbox   // nil: it never listened

	backingUp *backupCommand // guarded by srv.mu

	activity activity
	ended    atomic.Pointer[sqlerr.Error]
}

// Busy is called by the connection when it has a message; fresh says that the client's bytes came just now, not with an
// earlier message.
func (s *Session) Busy(fresh bool) {
	if fresh {
		s.tick()
		s.eng.Interrupt().Reset() // what came while the client was waited for concerns no statement
	}
	s.arrived = s.clock
	if s.inbox != nil {
		s.inbox.busy(s)
	}
	if s.activity.state.Load() != stateActive {
		s.activity.state.Store(stateActive)
		s.eng.Interrupt().ClearIdle()
	}
}

// Idle is called by the connection before it waits for the client.
func (s *Session) Idle() {
	if s.inbox != nil {
		defer s.inbox.idle(s)
	}
	now := s.now()
	s.activity.stateSince.Store(now)
	intr := s.eng.Interrupt()
	switch {
	case s.aborted:
		s.activity.state.Store(stateIdleInAborted)
		intr.SetIdle(s.idleTxTimeout, true)
	case s.block:
		s.activity.state.Store(stateIdleInTx)
		intr.SetIdle(s.idleTxTimeout, true)
	default:
		s.activity.state.Store(stateIdle)
		intr.SetIdle(s.idleTimeout, false)
	}
}

// Cancel interrupts the running statement; any goroutine may call it.
func (s *Session) Cancel() { s.eng.Interrupt().Cancel() }

// Terminate makes the running statement end with 57P01; the connection closes after it. Any goroutine may call it.
func (s *Session) Terminate() { s.eng.Interrupt().Terminate() }

// EndReason says why the connection was woken while idle: a timeout, or nil.
func (s *Session) EndReason() *sqlerr.Error { return s.ended.Load() }

// Close ends the session: rolls back, drops temporary objects, releases locks.
func (s *Session) Close() {
	s.eng.Interrupt().Reset()
	if s.tx != nil {
		s.rollback()
	}
	s.closeNotes()
	s.closeCursors()
	s.dropTemp()
	s.srv.unregister(s)
	s.eng.Close()
	s.acct.Close()
}

// notice sends a NoticeResponse if client_min_messages lets it through.
func (s *Session) notice(e *sqlerr.Error) {
	if s.noticeLevel(e) {
		s.out.Error(e)
	}
}

var noticeRank = map[string]int{"debug5": 0, "debug4": 1, "debug3": 2, "debug2": 3, "debug1": 4, "log": 5, "notice": 6, "warning": 7, "error": 8}

func (s *Session) noticeLevel(e *sqlerr.Error) bool {
	v, _ := s.set.get("client_min_messages")
	rank := noticeRank[v]
	switch e.Severity {
	case sqlerr.SeverityInfo:
		return true
	case sqlerr.SeverityWarning:
		return rank <= noticeRank["warning"]
	case sqlerr.SeverityNotice:
		return rank <= noticeRank["notice"]
	case sqlerr.SeverityDebug:
		return rank <= noticeRank["debug1"]
	}
	return true
}

// Reported returns the parameters that a client is told at start-up.
func (s *Session) Reported() []Setting {
	out := make([]Setting, len(reportedNames))
	for i, n := range reportedNames {
		v, _ := s.Setting(n)
		s.reported[i] = v
		out[i] = Setting{n, v}
	}
	return out
}

// reportChanges sends ParameterStatus for reported parameters that changed since the client heard of them.
func (s *Session) reportChanges() {
	if !s.dirty {
		return
	}
	s.dirty = false
	for i, n := range reportedNames {
		if v, _ := s.Setting(n); v != s.reported[i] {
			s.reported[i] = v
			s.out.ParameterStatus(n, v)
		}
	}
}

// BeforeReady is called by the connection before each ReadyForQuery.
func (s *Session) BeforeReady() {
	s.sendNotifications()
	s.reportChanges()
}

// class tells how a statement is run.
type class uint8

const (
	classEmpty class = iota
	classQuery       // planned: SELECT, INSERT, UPDATE, DELETE, MERGE
	classTx          // transaction control
	classUtility
)

func classify(st ast.Stmt) class {
	switch st.(type) {
	case nil:
		return classEmpty
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		return classQuery
	case *ast.Transaction:
		return classTx
	}
	return classUtility
}

// allowedInAborted says whether a statement may run in a failed transaction block.
func allowedInAborted(st ast.Stmt) bool {
	t, ok := st.(*ast.Transaction)
	return ok && (t.Kind == ast.TxCommit || t.Kind == ast.TxRollback || t.Kind == ast.TxRollbackTo || t.Kind == ast.TxPrepare)
}
