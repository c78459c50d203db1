package session

import (
	"herd/internal/mem"
	"herd/sql/types"
)

// sessionBytes is what an idle session with its connection holds: buffers, settings, the stack of its goroutine. Measured with
// 90 connections that had run one statement: 27 KiB of heap and 4 KiB of stack.
const sessionBytes = 32 << 10

// MemoryUse is the memory that one owner holds for one purpose, as accounted.
type MemoryUse struct {
	// Owner is "server", "database" or "session".
	Owner string
	// Kind is what it is for: of the server "all", "plans" or "blocks"; of a database "blocks clean", "blocks dirty" or "blocks
	// retired" (replaced and still read); of a session "connections", "changes" (of its transaction), a name of mem.Use, or
	// "reserve": granted in steps, and not in use.
	Kind     string
	PID      int32
	Database string
	Bytes    int64
	Peak     int64 // 0 = not known
	Limit    int64 // 0 = none of its own

	session *Session
}

// account lists what the session holds.
func (s *Session) account() []MemoryUse {
	var out []MemoryUse
	left := s.acct.Used()
	add := func(kind string, bytes, peak int64) {
		left -= bytes
		out = append(out, MemoryUse{Owner: "session", Kind: kind, PID: s.info.PID, Database: s.info.Database, Bytes: bytes, Peak: peak, session: s})
	}
	add("connections", sessionBytes, sessionBytes)
	tx := s.eng.Account()
	locks, _ := s.acct.Uses().Of(mem.UseLocks)
	if bytes, peak := max(0, tx.Used()-locks), tx.Peak(); peak > 0 {
		add("changes", bytes, peak)
	}
	for u := mem.UseOther + 1; u < mem.UseCount; u++ {
		if bytes, peak := s.acct.Uses().Of(u); peak > 0 {
			add(u.String(), bytes, peak)
		}
	}
	add("reserve", max(0, left), 0)
	return out
}

// Memory lists who holds the accounted memory of the process. The first row is the sum of all but the rows of databases, which
// say what the server's blocks are.
func (srv *Server) Memory() []MemoryUse {
	m := srv.engine.Memory()
	out := []MemoryUse{
		{Owner: "server", Kind: "all", Bytes: m.Used, Peak: m.Peak, Limit: m.Limit},
		{Owner: "server", Kind: "blocks", Bytes: m.Blocks, Peak: m.BlocksPeak, Limit: m.BlocksLimit},
		{Owner: "server", Kind: "plans", Bytes: srv.planMem.Used(), Peak: srv.planMem.Peak(), Limit: srv.opts.PlanCacheBytes},
	}
	for _, d := range srv.engine.Databases() {
		db, err := srv.engine.Database(d.Name)
		if err != nil {
			continue // dropped since the list was made
		}
		st := db.Stats().Store
		for _, b := range []MemoryUse{{Kind: "blocks clean", Bytes: st.Resident - st.Dirty}, {Kind: "blocks dirty", Bytes: st.Dirty},
			{Kind: "blocks retired", Bytes: st.Retired}} {
			b.Owner, b.Database = "database", d.Name
			out = append(out, b)
		}
	}
	for _, s := range srv.sessionList() {
		out = append(out, s.account()...)
	}
	return out
}

// memoryRows is herd_memory_use().
func (s *Session) memoryRows() [][]types.Datum {
	positive := func(n int64) types.Datum { return types.Datum{I: n, Null: n == 0} }
	var rows [][]types.Datum
	for _, m := range s.srv.Memory() {
		peak := m.Peak
		if peak > 0 {
			peak = max(peak, m.Bytes)
		}
		rows = append(rows, []types.Datum{types.Text(m.Owner), types.Text(m.Kind), positive(int64(m.PID)), textOrNull(m.Database), types.Int(m.Bytes),
			positive(peak), positive(m.Limit), s.queryOf(m.session)})
	}
	return rows
}

// sees says whether the user may see what another session runs.
func (s *Session) sees(o *Session) bool { return s.superuser || o.info.User == s.user.Name }

// queryOf is the text of another session's last statement, as far as this one's user may see it; NULL without a session.
func (s *Session) queryOf(o *Session) types.Datum {
	switch {
	case o == nil:
		return types.NullDatum
	case !s.sees(o):
		return types.Text("<insufficient privilege>")
	}
	text, _ := o.activity.query.load()
	return types.Text(text)
}

// snapshotRows is herd_snapshot_list().
func (s *Session) snapshotRows() [][]types.Datum {
	sessions := map[int32]*Session{}
	for _, o := range s.srv.sessionList() {
		sessions[o.info.PID] = o
	}
	var rows [][]types.Datum
	for _, d := range s.srv.engine.Databases() {
		db, err := s.srv.engine.Database(d.Name)
		if err != nil {
			continue // dropped since the list was made
		}
		for _, u := range db.Snapshots() {
			row := []types.Datum{{I: int64(u.PID), Null: u.PID == 0}, types.Text(d.Name), types.Text(u.Kind), types.NullDatum, types.NullDatum,
				types.NullDatum, types.Int(u.Held), s.queryOf(sessions[u.PID])}
			if u.Known {
				row[3], row[4], row[5] = types.Int(int64(u.Seq)), types.Int(u.Behind), interval(int(u.Age.Seconds()))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// accountPlans brings the account of the shared plans to what their cache holds now.
func (srv *Server) accountPlans() {
	srv.planMu.Lock()
	defer srv.planMu.Unlock()
	if d := srv.plans.Stats().Bytes - srv.planMem.Used(); d > 0 {
		srv.planMem.Force(d) // the cache bounds itself
	} else {
		srv.planMem.Shrink(-d)
	}
}

// Account returns what pays for the session's memory.
func (s *Session) Account() *mem.Account { return s.acct }
