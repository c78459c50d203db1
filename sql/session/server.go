package session

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"herd/engine"
	"herd/engine/lock"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/planner"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// Options configure what all sessions share.
type Options struct {
	Engine *engine.Engine
	Memory *mem.Account // the process's account; sessions are its children
	// SpillFS and SpillDir hold temporary files of sorts and hash tables.
	SpillFS  vfs.FS
	SpillDir string
	// Settings override parameter defaults (port, max_connections, data_directory ...).
	Settings []Setting
	// Password is the SCRAM verifier of the first superuser on a new data folder, "" for none.
	Password string
	// PlanCacheBytes bounds the plans that sessions share; 0 keeps none.
	PlanCacheBytes int64
	// Cluster is the cluster that the server is a node of, nil for none. Nothing is made at start then: see Bootstrap.
	Cluster Cluster
	Logger  *slog.Logger
}

// LimitBatches makes all operators of the process exchange at most rows rows at once, so that a whole server can be tested with batches
// of one row; 0 keeps what is fastest. It is called before the first session.
func LimitBatches(rows int) error {
	if rows < 0 || rows > vec.MaxRows {
		return fmt.Errorf("batches of %d rows: between 1 and %d are possible", rows, vec.MaxRows)
	}
	if rows > 0 {
		vec.MaxRows = rows
	}
	return nil
}

// Server is what the sessions of a process share.
type Server struct {
	opts     Options
	engine   *engine.Engine
	catalogs catalogSet
	base     map[string]string // parameter defaults by canonical name
	zoneName string            // base's TimeZone
	zone     *time.Location
	log      *slog.Logger
	started  int64
	metrics  Metrics
	plans    *planner.Cache
	planMem  *mem.Account // of plans
	notify   notifyHub
	planMu   sync.Mutex // makes reading the cache's size and accounting for it one step

	mu       sync.Mutex
	sessions map[int32]*Session   // guarded by mu
	vacating map[uint32]*vacating // by the database's number; guarded by mu
}

// Metrics count what sessions did; read by the /metrics collector.
type Metrics struct {
	statements [kindCount]atomic.Int64
	seconds    [kindCount]atomic.Int64 // nanoseconds in all
	buckets    [kindCount][len(LatencyBounds) + 1]atomic.Int64
	errors     atomic.Int64
	rows       atomic.Int64
	cacheHits  atomic.Int64
	cacheMiss  atomic.Int64
}

// StatementKind classes statements for metrics.
type StatementKind uint8

// Statement kinds.
const (
	KindSelect StatementKind = iota
	KindInsert
	KindUpdate
	KindDelete
	KindTransaction
	KindCopy
	KindOther
	kindCount
)

// KindNames are the label values of StatementKind.
var KindNames = [kindCount]string{"select", "insert", "update", "delete", "transaction", "copy", "other"}

// LatencyBounds are the upper bounds of the latency buckets.
var LatencyBounds = [...]time.Duration{10 * time.Microsecond, 50 * time.Microsecond, 100 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second}

// observe counts one finished statement.
func (m *Metrics) observe(k StatementKind, d time.Duration) {
	m.statements[k].Add(1)
	m.seconds[k].Add(int64(d))
	i := 0
	for i < len(LatencyBounds) && d > LatencyBounds[i] {
		i++
	}
	m.buckets[k][i].Add(1)
}

// StatementStats is a reading of one kind's counters.
type StatementStats struct {
	Kind    string
	Count   int64
	Total   time.Duration
	Buckets [len(LatencyBounds) + 1]int64
}

// ServerStats is a reading of the counters of all sessions.
type ServerStats struct {
	Statements             []StatementStats
	Errors, Rows           int64
	PlanHits, PlanMisses   int64
	Sessions, Active, InTx int
}

// Stats reads the counters.
func (srv *Server) Stats() ServerStats {
	m := &srv.metrics
	out := ServerStats{Errors: m.errors.Load(), Rows: m.rows.Load(), PlanHits: m.cacheHits.Load(), PlanMisses: m.cacheMiss.Load()}
	for k := range int(kindCount) {
		st := StatementStats{Kind: KindNames[k], Count: m.statements[k].Load(), Total: time.Duration(m.seconds[k].Load())}
		for i := range st.Buckets {
			st.Buckets[i] = m.buckets[k][i].Load()
		}
		out.Statements = append(out.Statements, st)
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	out.Sessions = len(srv.sessions)
	for _, s := range srv.sessions {
		switch s.activity.state.Load() {
		case stateActive:
			out.Active++
		case stateIdleInTx, stateIdleInAborted:
			out.InTx++
		}
	}
	return out
}

// serverVersion is the PostgreSQL version whose behaviour herd reproduces; clients decide by it what they may send.
const (
	serverVersion    = "15.18"
	serverVersionNum = "150018"
)

// New prepares the shared state; it does not listen.
func New(o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	srv := &Server{opts: o, engine: o.Engine, log: o.Logger, started: nowMicros(), sessions: make(map[int32]*Session)}
	srv.base = make(map[string]string, 400)
	for _, d := range allSettings() {
		srv.base[d.Name] = d.Boot
	}
	for _, s := range []Setting{{"server_version", serverVersion}, {"server_version_num", serverVersionNum}, {"server_encoding", "UTF8"},
		{"client_encoding", "UTF8"}, {"TimeZone", "UTC"}, {"log_timezone", "UTC"}, {"lc_collate", "C"}, {"lc_ctype", "C"}, {"lc_messages", "C"},
		{"lc_monetary", "C"}, {"lc_numeric", "C"}, {"lc_time", "C"}, {"DateStyle", "ISO, MDY"}, {"is_superuser", "on"},
		{"transaction_isolation", "read committed"}, {"session_authorization", "postgres"}, {"role", "none"},
		{"max_stack_depth", "2048"}, {"application_name", ""},
		{"deadlock_timeout", itoa(lock.DefaultDeadlockDelay.Milliseconds())}} {
		srv.base[s.Name] = s.Value
	}
	for _, s := range o.Settings {
		d := definition(s.Name)
		if d == nil {
			return nil, errUnknownSetting(s.Name)
		}
		v, err := validate(d, s.Value)
		if err != nil {
			return nil, err
		}
		srv.base[d.Name] = v
	}
	srv.zoneName = srv.base["TimeZone"]
	var err error
	if _, srv.zone, err = loadZone(srv.zoneName); err != nil {
		return nil, err
	}
	if o.SpillFS != nil {
		if err := exec.PrepareSpill(o.SpillFS, o.SpillDir); err != nil {
			return nil, err
		}
	}
	srv.plans = planner.NewCache(o.PlanCacheBytes)
	srv.planMem = o.Memory.Child("plans")
	srv.notify.acct = o.Memory.Child("notifications")
	if o.Cluster != nil {
		return srv, nil
	}
	if err := srv.Bootstrap(); err != nil {
		return nil, err
	}
	return srv, nil
}

// SetPort tells the port that the system has chosen, before the first client connects.
func (srv *Server) SetPort(port int) { srv.base["port"] = itoa(int64(port)) }

// Connect opens a session for an authenticated client.
func (srv *Server) Connect(info *StartupInfo, c Client) (*Session, error) {
	db, err := srv.engine.Database(info.Database)
	if err != nil {
		return nil, sqlerr.Fatal(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", info.Database)
	}
	s := &Session{srv: srv, client: c, out: c.Out, info: *info, db: db, acct: srv.opts.Memory.Child("session")}
	s.acct.Force(sessionBytes)
	s.replica = srv.follows(info)
	s.eng = db.NewSession(engine.SessionOptions{PID: info.PID, Acct: s.acct, Replica: s.replica, Wake: func(reason *sqlerr.Error) {
		s.ended.Store(reason)
		c.Wake()
	}})
	if err := s.open(); err != nil {
		s.eng.Close()
		s.acct.Close()
		return nil, err
	}
	srv.mu.Lock()
	srv.sessions[info.PID] = s
	srv.mu.Unlock()
	return s, nil
}

// open sets the session's user and settings.
func (s *Session) open() error {
	s.tick()
	s.arrived = s.clock
	s.interrupt, s.cursorKey = s.pendingInterrupt, s.cursorRow
	s.io = *types.NewIOContext()
	s.io.Catalog = (*resolver)(s)
	s.io.Now = s.txNow
	s.set = settings{base: s.srv.base, onChange: s.settingChanged}
	s.defaults = txModes{isolation: "read committed"}
	s.modes = s.defaults
	for name, effect := range settingEffects {
		effect(s, s.srv.base[name])
	}
	if s.replica {
		s.set.setBase("in_hot_standby", "on")
	}
	role, err := s.srv.roleByName(s.info.User)
	if err != nil {
		return err
	}
	if role == nil {
		return sqlerr.Fatal(sqlerr.InvalidAuthorizationSpecification, "role \"%s\" does not exist", s.info.User)
	}
	s.authUser, s.authSuper = role.Name, role.Super
	s.become(role)
	s.set.setBase("session_authorization", role.Name)
	for _, st := range s.startSettings(role) {
		name, v, err := s.checkSetting(st.Name, st.Value)
		if err != nil {
			return err
		}
		s.set.setBase(name, v)
	}
	if s.info.Replication && !role.Super {
		return sqlerr.Fatal(sqlerr.InsufficientPrivilege, "must be superuser to open a replication connection")
	}
	s.started = true
	s.dirty = false
	return nil
}

// startSettings are the parameters set by ALTER DATABASE and ALTER ROLE, then by the client, in the order of precedence.
func (s *Session) startSettings(role *catalog.Role) []Setting {
	var out []Setting
	for _, list := range [][]string{s.srv.databaseConfig(s.info.Database), role.Config} {
		for _, kv := range list {
			if name, v, ok := cutSetting(kv); ok {
				out = append(out, Setting{name, v})
			}
		}
	}
	return append(out, s.info.Settings...)
}

// become changes the current user.
func (s *Session) become(role *catalog.Role) {
	s.user = *role
	s.superuser = role.Super
	v := "off"
	if role.Super {
		v = "on"
	}
	s.set.setBase("is_superuser", v)
	s.planKey = envKey{}
	s.dirty = true
}

func (srv *Server) unregister(s *Session) {
	srv.mu.Lock()
	delete(srv.sessions, s.info.PID)
	srv.mu.Unlock()
}

// session finds another session by process number.
func (srv *Server) session(pid int32) *Session {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.sessions[pid]
}
