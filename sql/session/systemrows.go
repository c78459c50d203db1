package session

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"herd/engine"
	"herd/engine/lock"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/storage"
)

// SystemRows implements funcs.SystemRows: the rows of the functions behind pg_stat_activity, pg_locks, pg_cursors,
// pg_prepared_statements, the time zone views and herd's own.
func (e *environment) SystemRows(function string, args []types.Datum) ([][]types.Datum, bool, error) {
	s := e.s()
	switch function {
	case "pg_stat_get_activity":
		rows, err := s.activityRows(args)
		return rows, true, err
	case "pg_stat_get_backend_idset":
		var rows [][]types.Datum
		for _, o := range s.srv.sessionList() {
			rows = append(rows, []types.Datum{types.Int(int64(o.info.PID))})
		}
		return rows, true, nil
	case "pg_lock_status":
		rows, err := s.lockRows()
		return rows, true, err
	case "pg_blocking_pids":
		return s.blockingRows(int32(args[0].I)), true, nil
	case "pg_safe_snapshot_blocking_pids":
		return s.safeSnapshotRows(int32(args[0].I)), true, nil
	case "pg_cursor":
		return s.cursorRows(), true, nil
	case "pg_prepared_statement":
		return s.preparedRows(), true, nil
	case "pg_stat_get_progress_info":
		return s.progressRows(string(args[0].B)), true, nil
	case "herd_memory_use":
		return s.memoryRows(), true, nil
	case "herd_snapshot_list":
		return s.snapshotRows(), true, nil
	case "pg_listening_channels":
		return s.channelRows(), true, nil
	case "pg_timezone_abbrevs":
		return s.abbrevRows(), true, nil
	case "pg_timezone_names":
		rows, err := s.zoneRows()
		return rows, true, err
	}
	return s.clusterRows(function, args)
}

// sessionList returns the sessions in order of their numbers.
func (srv *Server) sessionList() []*Session {
	srv.mu.Lock()
	list := make([]*Session, 0, len(srv.sessions))
	for _, s := range srv.sessions {
		list = append(list, s)
	}
	srv.mu.Unlock()
	sort.Slice(list, func(i, j int) bool { return list[i].info.PID < list[j].info.PID })
	return list
}

func textOrNull(s string) types.Datum {
	if s == "" {
		return types.NullDatum
	}
	return types.Text(s)
}

// timeOrNull is a timestamptz, NULL when it never was.
func timeOrNull(v int64) types.Datum {
	if v == 0 {
		return types.NullDatum
	}
	return types.Int(v)
}

var stateNames = [...]string{stateIdle: "idle", stateActive: "active", stateIdleInTx: "idle in transaction", stateIdleInAborted: "idle in transaction (aborted)"}

// activityRows is pg_stat_get_activity(pid): one row a session. Who is neither superuser nor the session's own user sees
// only that there is a session.
func (s *Session) activityRows(args []types.Datum) ([][]types.Datum, error) {
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	waits := map[int32]string{}
	s.eachLock(func(_ *engine.Database, l lock.Info) {
		if !l.Granted {
			waits[l.PID] = l.Kind
		}
	})
	var rows [][]types.Datum
	for _, o := range s.srv.sessionList() {
		if len(args) == 1 && !args[0].Null && int64(o.info.PID) != args[0].I {
			continue
		}
		role, err := cat.RoleByName(o.info.User)
		if err != nil {
			return nil, err
		}
		user := types.NullDatum
		if role != nil {
			user = types.Int(int64(role.OID))
		}
		null := types.NullDatum
		row := make([]types.Datum, 30)
		for i := range row {
			row[i] = null
		}
		row[0], row[1], row[2] = types.Int(int64(o.db.OID())), types.Int(int64(o.info.PID)), user
		row[5] = types.Text("<insufficient privilege>")
		if s.sees(o) {
			o.fillActivity(row, waits)
		}
		row[18] = types.Bool(o.info.TLS)
		row[25], row[27] = types.Bool(false), types.Bool(false)
		rows = append(rows, row)
	}
	return rows, nil
}

// fillActivity sets what only the privileged may see. It reads what the session publishes for others.
func (s *Session) fillActivity(row []types.Datum, waits map[int32]string) {
	a := &s.activity
	if p := a.app.Load(); p != nil {
		row[3] = types.Text(*p)
	} else {
		row[3] = types.Text("")
	}
	row[4] = types.Text(stateNames[a.state.Load()])
	row[5] = types.Text("")
	if text, ok := a.query.load(); ok {
		row[5] = types.Text(text)
	}
	state := a.state.Load()
	if kind, ok := waits[s.info.PID]; ok {
		row[6], row[7] = types.Text("Lock"), types.Text(kind)
	} else if state != stateActive {
		row[6], row[7] = types.Text("Client"), types.Text("ClientRead")
	}
	query, changed := a.queryStart.Load(), a.stateSince.Load()
	if state == stateActive {
		changed = query // it became active with the message that it runs
	}
	if state != stateIdle {
		row[8] = timeOrNull(a.xactStart.Load())
	}
	row[9], row[10], row[11] = timeOrNull(query), types.Int(s.info.Started.UnixMicro()-epoch2000), timeOrNull(changed)
	if id := s.eng.TransactionNumber(); id != 0 {
		row[15] = types.Int(int64(uint32(id)))
	}
	if id := s.eng.Horizon(); id != 0 {
		row[16] = types.Int(int64(uint32(id)))
	}
	if t, ok := s.info.Remote.(*net.TCPAddr); ok {
		row[12], row[14] = types.Text(t.IP.String()), types.Int(int64(t.Port))
	} else {
		row[14] = types.Int(-1)
	}
	row[17] = types.Text("client backend")
}

// lockModeNames are pg_locks' words.
var lockModeNames = map[lock.Mode]string{
	lock.AccessShare: "AccessShareLock", lock.RowShare: "RowShareLock", lock.RowExclusive: "RowExclusiveLock",
	lock.ShareUpdateExclusive: "ShareUpdateExclusiveLock", lock.TableShare: "ShareLock", lock.ShareRowExclusive: "ShareRowExclusiveLock",
	lock.Exclusive: "ExclusiveLock", lock.AccessExclusive: "AccessExclusiveLock",
	lock.KeyShare: "RowShareLock", lock.Share: "RowShareLock", lock.NoKeyUpdate: "ExclusiveLock", lock.Update: "AccessExclusiveLock",
	lock.AdvisoryShare: "ShareLock", lock.AdvisoryExclusive: "ExclusiveLock",
}

// eachLock calls f for the locks of every database.
func (s *Session) eachLock(f func(db *engine.Database, l lock.Info)) {
	seen := map[*engine.Database]bool{}
	for _, o := range s.srv.sessionList() {
		if seen[o.db] {
			continue
		}
		seen[o.db] = true
		for _, l := range o.db.Locks().List() {
			f(o.db, l)
		}
	}
}

// lockRows is pg_lock_status().
func (s *Session) lockRows() ([][]types.Datum, error) {
	var rows [][]types.Datum
	tables, err := s.treeTables()
	if err != nil {
		return nil, err
	}
	base := nowMicros()
	add := func(l lock.Info, set map[int]types.Datum) {
		row := make([]types.Datum, 16)
		for i := range row {
			row[i] = types.NullDatum
		}
		row[0] = types.Text(l.Kind)
		row[10], row[11] = types.Text(itoa(int64(l.PID))+"/"+itoa(int64(l.Session))), types.Int(int64(l.PID))
		row[12], row[13], row[14] = types.Text(lockModeNames[l.Mode]), types.Bool(l.Granted), types.Bool(l.FastPath)
		if !l.Granted {
			row[15] = types.Int(base - (lock.Now()-l.Since)/1000)
		}
		for i, v := range set {
			row[i] = v
		}
		rows = append(rows, row)
	}
	virtual := map[int32]uint64{}
	s.eachLock(func(db *engine.Database, l lock.Info) {
		virtual[l.PID] = l.Session
		own := types.Int(int64(db.OID()))
		switch l.Kind {
		case "advisory":
			sub := int64(1)
			if l.Advisory.TwoInts {
				sub = 2
			}
			add(l, map[int]types.Datum{1: own, 7: types.Int(int64(l.Advisory.Hi)), 8: types.Int(int64(l.Advisory.Lo)), 9: types.Int(sub)})
		case "transactionid":
			add(l, map[int]types.Datum{6: types.Int(int64(uint32(l.XID)))})
		case "virtualxid":
			add(l, map[int]types.Datum{5: types.Text(itoa(int64(l.Virtual)) + "/" + itoa(int64(l.VirtualN)))})
		case "tuple":
			rel := tables[storage.TreeID(l.Relation)]
			if db != s.db || rel == 0 {
				return // the key of an index: only its transaction is waited for
			}
			set := map[int]types.Datum{1: own, 2: types.Int(int64(rel))}
			if l.Key != nil {
				page, n := exec.TupleID(l.Key)
				set[3], set[4] = types.Int(int64(page)), types.Int(int64(n))
			}
			add(l, set)
		default:
			add(l, map[int]types.Datum{1: own, 2: types.Int(int64(l.Relation))})
		}
	})
	// Every transaction has itself.
	for pid, n := range virtual {
		add(lock.Info{PID: pid, Kind: "virtualxid", Mode: lock.Exclusive, Granted: true, FastPath: true, Session: n},
			map[int]types.Datum{5: types.Text(itoa(int64(pid)) + "/" + itoa(int64(n)))})
	}
	return rows, nil
}

// treeTables maps the trees of the tables of the session's database to the tables, if somebody waits for a row of it.
func (s *Session) treeTables() (map[storage.TreeID]types.OID, error) {
	waited := false
	for _, l := range s.db.Locks().List() {
		waited = waited || l.Kind == "tuple"
	}
	if !waited {
		return nil, nil
	}
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	out := map[storage.TreeID]types.OID{}
	err = cat.Relations(func(rel *catalog.Relation) bool {
		if rel.TreeID != 0 {
			out[rel.TreeID] = rel.OID
		}
		return true
	})
	return out, err
}

// blockingRows are the sessions that keep another from what it waits for.
func (s *Session) blockingRows(pid int32) [][]types.Datum {
	var rows [][]types.Datum
	o := s.srv.session(pid)
	if o == nil {
		return nil
	}
	for _, b := range o.db.Locks().Blockers(pid) {
		rows = append(rows, []types.Datum{types.Int(int64(b))})
	}
	return rows
}

// safeSnapshotRows are the sessions that a READ ONLY DEFERRABLE transaction waits for.
func (s *Session) safeSnapshotRows(pid int32) [][]types.Datum {
	o := s.srv.session(pid)
	if o == nil {
		return nil
	}
	var rows [][]types.Datum
	for _, b := range o.db.SafeSnapshotBlockers(pid) {
		rows = append(rows, []types.Datum{types.Int(int64(b))})
	}
	return rows
}

func (s *Session) cursorRows() [][]types.Datum {
	names := make([]string, 0, len(s.portals.named))
	for name := range s.portals.named {
		names = append(names, name)
	}
	sort.Strings(names)
	var rows [][]types.Datum
	for _, name := range names {
		p := s.portals.named[name]
		text := p.text
		if text == "" && p.stmt != nil {
			text = p.stmt.text
		}
		rows = append(rows, []types.Datum{types.Text(name), types.Text(text), types.Bool(p.hold), types.Bool(p.binary), types.Bool(p.cursor && !p.noScroll), types.Int(p.created)})
	}
	return rows
}

func (s *Session) preparedRows() [][]types.Datum {
	names := make([]string, 0, len(s.statements))
	for name := range s.statements {
		names = append(names, name)
	}
	sort.Strings(names)
	var rows [][]types.Datum
	for _, name := range names {
		p := s.statements[name]
		ts := make([]types.Datum, len(p.params))
		for i, t := range p.params {
			ts[i] = types.Int(int64(t))
		}
		rows = append(rows, []types.Datum{types.Text(name), types.Text(p.text), types.Int(p.created), types.Bytes(types.MakeArray(types.RegtypeOID, ts)),
			types.Bool(p.fromSQL), types.Int(p.generic), types.Int(p.custom)})
	}
	return rows
}

func interval(secs int) types.Datum {
	return types.Bytes(types.EncodeInterval(nil, datetime.Interval{Micros: int64(secs) * datetime.Second}))
}

func (s *Session) abbrevRows() [][]types.Datum {
	var rows [][]types.Datum
	now := s.now()
	datetime.Abbreviations(now, func(name string, east int, dst bool) {
		rows = append(rows, []types.Datum{types.Text(strings.ToUpper(name)), interval(east), types.Bool(dst)})
	})
	return rows
}

// zoneDirs are where systems keep their time zones.
var zoneDirs = []string{"/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"}

// zoneRows lists the zones of the system that herd can load.
func (s *Session) zoneRows() ([][]types.Datum, error) {
	var rows [][]types.Datum
	now := s.now()
	for _, dir := range zoneDirs {
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if d != nil && (d.Name() == "posix" || d.Name() == "right") {
					return fs.SkipDir
				}
				return err
			}
			name := filepath.ToSlash(path)
			if strings.Contains(name, ".") || name[0] < 'A' || name[0] > 'Z' {
				return nil
			}
			z, err := datetime.LoadZone(name)
			if err != nil {
				return nil // not a zone
			}
			east, abbr := datetime.OffsetAt(now, z)
			rows = append(rows, []types.Datum{types.Text(name), types.Text(abbr), interval(east), types.Bool(datetime.Time(now).In(z).IsDST())})
			return nil
		})
		if err == nil && len(rows) > 0 {
			return rows, nil
		}
		rows = nil
	}
	return nil, sqlerr.Unsupported("the list of time zones on a system without zone files")
}
