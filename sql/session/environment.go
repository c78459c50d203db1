package session

import (
	"net"
	"strings"

	"herd/engine"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// environment is the session as functions see it; it implements funcs.Env.
type environment Session

func (e *environment) s() *Session { return (*Session)(e) }

// CurrentUser implements funcs.Env.
func (e *environment) CurrentUser() string { return e.user.Name }

// SessionUser implements funcs.Env.
func (e *environment) SessionUser() string {
	v, _ := e.set.get("session_authorization")
	return v
}

// Database implements funcs.Env.
func (e *environment) Database() string { return e.info.Database }

// SearchPath implements funcs.Env.
func (e *environment) SearchPath(implicit bool) []string {
	s := e.s()
	cat, err := s.catalog()
	if err != nil {
		return nil
	}
	path, err := s.searchOIDs()
	if err != nil {
		return nil
	}
	setting, _ := s.set.get("search_path")
	explicit := make(map[string]bool)
	for _, n := range splitList(setting) {
		if n == "$user" {
			n = s.user.Name
		}
		explicit[n] = true
	}
	var out []string
	for _, id := range path {
		sch, err := cat.SchemaByOID(id)
		if err != nil || sch == nil {
			continue
		}
		if implicit || explicit[sch.Name] {
			out = append(out, sch.Name)
		}
	}
	return out
}

// Catalog implements funcs.Env.
func (e *environment) Catalog() catalog.Reader {
	cat, err := e.s().catalog()
	if err != nil {
		return nil
	}
	return cat
}

// Setting implements funcs.Env.
func (e *environment) Setting(name string) (string, bool) { return e.s().showValue(name) }

// SetSetting implements funcs.Env.
func (e *environment) SetSetting(name, value string, local bool) (string, error) {
	if err := e.s().setByName(name, value, local); err != nil {
		return "", err
	}
	v, _ := e.s().showValue(name)
	return v, nil
}

func advisoryKey(k funcs.AdvisoryKey) engine.AdvisoryKey {
	kind := 1
	if k.Two {
		kind = 2
	}
	return engine.AdvisoryKey{ClassID: k.Class, ObjID: k.Obj, Kind: kind}
}

// AdvisoryLock implements funcs.Env.
func (e *environment) AdvisoryLock(k funcs.AdvisoryKey, shared, xact, try bool) (bool, error) {
	return e.eng.AdvisoryLock(advisoryKey(k), shared, xact, try)
}

// AdvisoryUnlock implements funcs.Env.
func (e *environment) AdvisoryUnlock(k funcs.AdvisoryKey, shared bool) (bool, error) {
	ok := e.eng.AdvisoryUnlock(advisoryKey(k), shared)
	if !ok {
		e.s().notice(sqlerr.Warn(sqlerr.Warning, "you don't own a lock of type %s", map[bool]string{true: "ShareLock", false: "ExclusiveLock"}[shared]))
	}
	return ok, nil
}

// AdvisoryUnlockAll implements funcs.Env.
func (e *environment) AdvisoryUnlockAll() { e.eng.AdvisoryUnlockAll() }

// TxID implements funcs.Env.
func (e *environment) TxID(assign bool) (uint64, error) {
	if !assign && !e.tx.HasID() {
		return 0, nil
	}
	return e.tx.ID(), nil
}

// TxStatus implements funcs.Env: the fate of finished transactions is not kept.
func (e *environment) TxStatus(id uint64) string {
	if e.tx.HasID() && e.tx.ID() == id {
		return "in progress"
	}
	return ""
}

// Sleep implements funcs.Env.
func (e *environment) Sleep(micros int64) error {
	return e.eng.Interrupt().Sleep(int((micros + 999) / 1000))
}

// BackendPID implements funcs.Env.
func (e *environment) BackendPID() int32 { return e.info.PID }

// SignalBackend implements funcs.Env.
func (e *environment) SignalBackend(pid int32, terminate bool) (bool, error) {
	t := e.srv.session(pid)
	if t == nil {
		e.s().notice(sqlerr.Warn(sqlerr.Warning, "PID %d is not a PostgreSQL server process", pid))
		return false, nil
	}
	if !e.superuser && t.authUser != e.authUser {
		what := "cancel query of"
		if terminate {
			what = "terminate"
		}
		return false, sqlerr.New(sqlerr.InsufficientPrivilege, "must be a member of the role whose process is being "+what+" or member of pg_signal_backend")
	}
	if terminate {
		t.client.Terminate()
	} else {
		t.Cancel()
	}
	return true, nil
}

// Notify implements funcs.Env.
func (e *environment) Notify(channel, payload string) error {
	return e.s().notifyChannel(channel, payload)
}

// NotifyUsage implements funcs.Env.
func (e *environment) NotifyUsage() float64 { return e.srv.notify.usage() }

// ClientAddr implements funcs.Env.
func (e *environment) ClientAddr() (client string, clientPort int, server string, serverPort int) {
	if t, ok := e.info.Remote.(*net.TCPAddr); ok {
		client, clientPort = t.IP.String(), t.Port
	}
	if t, ok := e.info.Local.(*net.TCPAddr); ok {
		server, serverPort = t.IP.String(), t.Port
	}
	return client, clientPort, server, serverPort
}

// StartTimes implements funcs.Env.
func (e *environment) StartTimes() (server, conf, session int64) {
	return e.srv.started, e.srv.started, e.info.Started.UnixMicro() - epoch2000
}

// Visible implements funcs.Env.
func (e *environment) Visible(class, object types.OID) (visible, ok bool, err error) {
	s := e.s()
	cat, err := s.catalog()
	if err != nil {
		return false, false, err
	}
	path, err := s.searchOIDs()
	if err != nil {
		return false, false, err
	}
	switch class {
	case catalog.ClassRelation:
		rel, err := cat.RelationByOID(object)
		if err != nil || rel == nil {
			if rx, _, err := cat.IndexByOID(object); err == nil && rx != nil {
				return containsOID(path, rx.Schema), true, nil
			}
			return false, false, err
		}
		v, err := catalog.RelationIsVisible(cat, rel, path)
		return v, true, err
	case catalog.ClassType:
		t, err := cat.TypeByOID(object)
		if err != nil || t == nil {
			return false, false, err
		}
		v, err := catalog.TypeIsVisible(cat, t, path)
		return v, true, err
	case catalog.ClassProc:
		p, err := cat.FuncByOID(object)
		if err != nil || p == nil {
			return false, false, err
		}
		v, err := catalog.FuncIsVisible(cat, p, path)
		return v, true, err
	}
	return catalog.BuiltinIsVisible(path), object < firstUserOID, nil
}

func containsOID(list []types.OID, x types.OID) bool {
	for _, o := range list {
		if o == x {
			return true
		}
	}
	return false
}

// TypeName implements funcs.Env.
func (e *environment) TypeName(t types.OID, mod types.Typmod) (string, bool) {
	s := e.s()
	cat, err := s.catalog()
	if err != nil {
		return "", false
	}
	path, err := s.searchOIDs()
	if err != nil {
		return "", false
	}
	name, err := catalog.FormatType(cat, t, mod, mod >= 0, path)
	return name, err == nil
}

// Size implements funcs.Env.
func (e *environment) Size(what string, object types.OID) (int64, bool, error) {
	s := e.s()
	cat, err := s.catalog()
	if err != nil {
		return 0, false, err
	}
	switch what {
	case "database":
		d, err := cat.DatabaseByOID(object)
		if err != nil || d == nil {
			return 0, false, err
		}
		db, err := s.srv.engine.Database(d.Name)
		if err != nil {
			return 0, true, nil
		}
		return db.Stats().Store.DiskBytes, true, nil
	case "tablespace":
		return s.db.Stats().Store.DiskBytes, true, nil
	}
	rel, err := cat.RelationByOID(object)
	if err != nil || rel == nil {
		if _, ix, err := cat.IndexByOID(object); err == nil && ix != nil {
			n, err := treeBytes(s.tx.Newest(), ix.Tree)
			return n, err == nil, err
		}
		return 0, false, err
	}
	view := s.tx.Newest()
	table, err := treeBytes(view, rel.TreeID)
	if err == nil && rel.LargeTree != 0 && what != "relation" {
		var large int64
		large, err = treeBytes(view, rel.LargeTree)
		table += large
	}
	indexes := int64(0)
	for _, ix := range rel.Indexes {
		if err != nil {
			break
		}
		var n int64
		n, err = treeBytes(view, ix.Tree)
		indexes += n
	}
	if err != nil {
		return 0, false, err
	}
	switch what {
	case "indexes":
		return indexes, true, nil
	case "total":
		return table + indexes, true, nil
	}
	return table, true, nil
}

// HasPrivilege implements funcs.Env.
func (e *environment) HasPrivilege(q funcs.PrivilegeQuery) (has, null bool, err error) {
	s := e.s()
	cat, err := s.catalog()
	if err != nil {
		return false, false, err
	}
	path, err := s.searchOIDs()
	if err != nil {
		return false, false, err
	}
	return s.hasPrivilege(cat, path, q)
}

// virtualEnv is the session as base catalogs see it.
type virtualEnv Session

// Catalog implements catalog.VirtualEnv.
func (v *virtualEnv) Catalog() catalog.Reader { return (*environment)(v).Catalog() }

// Server implements catalog.VirtualEnv.
func (v *virtualEnv) Server() catalog.ServerState { return (*serverState)(v) }

// serverState is live server state for base catalogs.
type serverState Session

// SequenceState implements catalog.ServerState.
func (st *serverState) SequenceState(seq types.OID) (last, logged int64, called bool, err error) {
	q, err := (*Session)(st).sequenceState(seq)
	return q.Last, q.Logged, q.Called, err
}

// settingRows are the rows of pg_settings.
func (s *Session) settingRows(f func(d *pgdata.Setting, value, boot, reset string) bool) {
	for _, d := range allSettings() {
		if strings.Contains(d.Flags, "NO_SHOW_ALL") {
			continue
		}
		v, _ := s.showRaw(d.Name)
		reset, _ := s.set.baseValue(d.Name)
		if !f(d, v, d.Boot, reset) {
			return
		}
	}
}

// showRaw is a parameter's value in its own unit, as pg_settings.setting has it.
func (s *Session) showRaw(name string) (string, bool) {
	switch name {
	case "transaction_isolation", "transaction_read_only", "transaction_deferrable":
		return s.showValue(name)
	}
	return s.set.get(name)
}
