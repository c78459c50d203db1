package funcs

import (
	"bytes"
	"crypto/rand"
	"math"
	"runtime"
	"strings"

	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// sysFunc computes one row with the help of the session.
type sysFunc func(r *row, e Env) error

// sys registers functions that ask the session.
func sys(f sysFunc, symbols ...string) {
	each(func(r *row) error {
		if r.c.Env == nil {
			return unsupported("%s outside a session", Signature(r.ci.Func, r.ci.ArgTypes))
		}
		return f(r, r.c.Env)
	}, symbols...)
}

func init() {
	initSession()
	initTransactions()
	initSleep()
	initConstants()
	initSequences()
	initAdvisory()
}

func initSession() {
	sys(func(r *row, e Env) error {
		v, _ := e.Setting("server_version")
		return r.RetStr("PostgreSQL " + v + " (herd) on " + runtime.GOARCH + "-" + runtime.GOOS + ", compiled by " + runtime.Version() + ", 64-bit")
	}, "pgsql_version")
	sys(func(r *row, e Env) error { return r.RetStr(e.Database()) }, "current_database")
	sys(func(r *row, e Env) error { return r.RetStr(e.CurrentUser()) }, "current_user")
	sys(func(r *row, e Env) error { return r.RetStr(e.SessionUser()) }, "session_user")
	sys(func(r *row, e Env) error {
		path := e.SearchPath(false)
		if len(path) == 0 {
			return r.RetNull()
		}
		return r.RetStr(path[0])
	}, "current_schema")
	sys(func(r *row, e Env) error {
		path := e.SearchPath(r.Bool(0))
		elems := make([]types.Datum, len(path))
		for i, s := range path {
			elems[i] = types.Text(s)
		}
		return r.RetBytes(types.MakeArray(types.NameOID, elems))
	}, "current_schemas")
	setting := func(r *row, e Env, quiet bool) error {
		v, ok := e.Setting(r.Str(0))
		if !ok {
			if quiet {
				return r.RetNull()
			}
			return sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", r.Str(0))
		}
		return r.RetStr(v)
	}
	sys(func(r *row, e Env) error { return setting(r, e, false) }, "show_config_by_name")
	sys(func(r *row, e Env) error { return setting(r, e, r.Bool(1)) }, "show_config_by_name_missing_ok")
	sys(setConfig, "set_config_by_name")
	sys(func(r *row, e Env) error { return r.RetInt(int64(e.BackendPID())) }, "pg_backend_pid")
	signal := func(terminate bool) sysFunc {
		return func(r *row, e Env) error {
			ok, err := e.SignalBackend(int32(r.Int(0)), terminate)
			if err != nil {
				return err
			}
			return r.RetBool(ok)
		}
	}
	sys(signal(false), "pg_cancel_backend")
	sys(signal(true), "pg_terminate_backend")
	sys(func(r *row, e Env) error {
		channel, payload := "", ""
		if !r.Null(0) {
			channel = r.Str(0)
		}
		if !r.Null(1) {
			payload = r.Str(1)
		}
		if err := e.Notify(channel, payload); err != nil {
			return err
		}
		return r.RetBytes(nil)
	}, "pg_notify")
	sys(func(r *row, e Env) error { return r.RetFloat(e.NotifyUsage()) }, "pg_notification_queue_usage")
	sys(func(r *row, e Env) error { s, _, _ := e.StartTimes(); return r.RetInt(s) }, "pg_postmaster_start_time")
	sys(func(r *row, e Env) error { _, c, _ := e.StartTimes(); return r.RetInt(c) }, "pg_conf_load_time")
	initPeer()
	initTempSchema()
}

// initPeer registers the functions about the ends of the connection. A connection over a Unix socket has no addresses.
func initPeer() {
	addr := func(server bool) sysFunc {
		return func(r *row, e Env) error {
			client, _, srv, _ := e.ClientAddr()
			if server {
				client = srv
			}
			if client == "" {
				return r.RetNull()
			}
			return r.RetStr(client)
		}
	}
	each(func(r *row) error { return r.RetArg(0) }, "network_host")
	each(func(r *row) error {
		mask := "/32"
		if bytes.IndexByte(r.Bytes(0), ':') >= 0 {
			mask = "/128"
		}
		return r.Finish(append(append(r.Start(), r.Bytes(0)...), mask...))
	}, "network_show")
	sys(addr(false), "inet_client_addr")
	sys(addr(true), "inet_server_addr")
	port := func(server bool) sysFunc {
		return func(r *row, e Env) error {
			client, port, srv, srvPort := e.ClientAddr()
			if server {
				client, port = srv, srvPort
			}
			if client == "" {
				return r.RetNull()
			}
			return r.RetInt(int64(port))
		}
	}
	sys(port(false), "inet_client_port")
	sys(port(true), "inet_server_port")
}

func initTempSchema() {
	sys(func(r *row, e Env) error { return r.RetInt(int64(e.Catalog().TempSchema())) }, "pg_my_temp_schema")
	sys(func(r *row, e Env) error {
		s, err := e.Catalog().SchemaByOID(types.OID(r.Int(0)))
		if err != nil {
			return err
		}
		return r.RetBool(s != nil && strings.HasPrefix(s.Name, "pg_temp_") && s.OID != e.Catalog().TempSchema())
	}, "pg_is_other_temp_schema")
}

// setConfig is set_config(name, value, is_local); a NULL value resets to the built-in default.
func setConfig(r *row, e Env) error {
	if r.Null(0) {
		return sqlerr.New(sqlerr.NullValueNotAllowed, "SET requires parameter name")
	}
	name, value := r.Str(0), ""
	if !r.Null(1) {
		value = r.Str(1)
	} else if s := pgdata.SettingByName(strings.ToLower(name)); s != nil {
		value = s.Boot
	}
	v, err := e.SetSetting(name, value, !r.Null(2) && r.Bool(2))
	if err != nil {
		return err
	}
	return r.RetStr(v)
}

func initTransactions() {
	sys(func(r *row, e Env) error {
		id, err := e.TxID(true)
		if err != nil {
			return err
		}
		return r.RetInt(int64(id))
	}, "pg_current_xact_id")
	sys(func(r *row, e Env) error {
		id, err := e.TxID(false)
		if err != nil {
			return err
		}
		if id == 0 {
			return r.RetNull()
		}
		return r.RetInt(int64(id))
	}, "pg_current_xact_id_if_assigned")
	sys(func(r *row, e Env) error {
		s := e.TxStatus(uint64(r.Int(0)))
		if s == "" {
			return r.RetNull()
		}
		return r.RetStr(s)
	}, "pg_xact_status")
	sys(func(r *row, e Env) error {
		id, err := e.TxID(true)
		if err != nil {
			return err
		}
		return r.RetInt(int64(int32(uint32(id) - uint32(r.Int(0)))))
	}, "xid_age")
}

func initSleep() {
	sys(func(r *row, e Env) error {
		s := r.Float(0)
		if math.IsNaN(s) || s <= 0 {
			return r.RetBytes(nil)
		}
		micros := int64(math.MaxInt64)
		if s < float64(math.MaxInt64)/1e6 {
			micros = int64(s * 1e6)
		}
		if err := e.Sleep(micros); err != nil {
			return err
		}
		return r.RetBytes(nil)
	}, "pg_sleep")
}

// initConstants registers what has the same answer in every herd.
func initConstants() {
	each(func(r *row) error { return r.RetStr("UTF8") }, "getdatabaseencoding")
	sys(func(r *row, e Env) error {
		v, _ := e.Setting("in_hot_standby")
		return r.RetBool(v == "on")
	}, "pg_is_in_recovery")
	each(func(r *row) error { return r.RetBool(false) }, "pg_jit_available", "row_security_active", "row_security_active_name")
	each(func(r *row) error { return r.RetInt(0) }, "pg_trigger_depth")
	each(func(r *row) error { return r.RetNull() }, "pg_last_xact_replay_timestamp", "pg_last_wal_receive_lsn", "pg_last_wal_replay_lsn",
		"pg_current_logfile", "pg_current_logfile_1arg", "pg_collation_actual_version", "pg_database_collation_actual_version")
	each(func(r *row) error { return r.RetInt(int64(r.Type(0))) }, "pg_typeof")
	each(func(r *row) error {
		if n := types.FixedWidth(r.Type(0)); n > 0 {
			return r.RetInt(int64(n))
		}
		return r.RetInt(int64(len(r.Bytes(0)) + 4))
	}, "pg_column_size")
	each(func(r *row) error { return r.RetNull() }, "pg_column_compression")
	each(func(r *row) error {
		if r.ci.Collation == 0 {
			if b := types.BuiltinByOID(r.Type(0)); b != nil && b.Category != 'S' && r.Type(0) != types.UnknownOID {
				return sqlerr.New(sqlerr.DatatypeMismatch, "collations are not supported by type %s", r.c.IO.NameOf(r.Type(0)))
			}
			return r.RetNull()
		}
		if c := pgdata.CollationByOID(r.ci.Collation); c != nil {
			return r.RetStr(collationName(c.Name))
		}
		return r.RetNull()
	}, "pg_collation_for")
	each(func(r *row) error {
		var b [16]byte
		rand.Read(b[:]) // never fails; strong, so not Ctx's generator
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		return r.RetBytes(b[:])
	}, "gen_random_uuid")
}

// collationName quotes the name as generate_collation_name does.
func collationName(name string) string { return QuoteIdent(name) }

func initSequences() {
	sys(func(r *row, e Env) error { return r.RetI(e.NextVal(types.OID(r.Int(0)))) }, "nextval_oid")
	sys(func(r *row, e Env) error { return r.RetI(e.CurrVal(types.OID(r.Int(0)))) }, "currval_oid")
	sys(func(r *row, e Env) error { return r.RetI(e.LastVal()) }, "lastval")
	set := func(r *row, e Env, called bool) error {
		if err := e.SetVal(types.OID(r.Int(0)), r.Int(1), called); err != nil {
			return err
		}
		return r.RetInt(r.Int(1))
	}
	sys(func(r *row, e Env) error { return set(r, e, true) }, "setval_oid")
	sys(func(r *row, e Env) error { return set(r, e, r.Bool(2)) }, "setval3_oid")
	sys(func(r *row, e Env) error {
		v, ok, err := e.SequenceLast(types.OID(r.Int(0)))
		if err != nil || !ok {
			r.RetNull()
			return err
		}
		return r.RetInt(v)
	}, "pg_sequence_last_value")
}

// advisoryKey reads the key of an advisory lock: one bigint or two integers.
func advisoryKey(r *row) AdvisoryKey {
	if r.N() == 2 {
		return AdvisoryKey{Class: uint32(r.Int(0)), Obj: uint32(r.Int(1)), Two: true}
	}
	v := uint64(r.Int(0))
	return AdvisoryKey{Class: uint32(v >> 32), Obj: uint32(v)}
}

func initAdvisory() {
	for _, xact := range []bool{false, true} {
		for _, shared := range []bool{false, true} {
			mid := "lock"
			if xact {
				mid = "xact_lock"
			}
			if shared {
				mid += "_shared"
			}
			sys(func(r *row, e Env) error {
				if _, err := e.AdvisoryLock(advisoryKey(r), shared, xact, false); err != nil {
					return err
				}
				return r.RetBytes(nil)
			}, "pg_advisory_"+mid+"_int8", "pg_advisory_"+mid+"_int4")
			sys(func(r *row, e Env) error {
				ok, err := e.AdvisoryLock(advisoryKey(r), shared, xact, true)
				if err != nil {
					return err
				}
				return r.RetBool(ok)
			}, "pg_try_advisory_"+mid+"_int8", "pg_try_advisory_"+mid+"_int4")
		}
	}
	for _, shared := range []bool{false, true} {
		mid := "unlock"
		if shared {
			mid += "_shared"
		}
		sys(func(r *row, e Env) error {
			ok, err := e.AdvisoryUnlock(advisoryKey(r), shared)
			if err != nil {
				return err
			}
			return r.RetBool(ok)
		}, "pg_advisory_"+mid+"_int8", "pg_advisory_"+mid+"_int4")
	}
	sys(func(r *row, e Env) error { e.AdvisoryUnlockAll(); return r.RetBytes(nil) }, "pg_advisory_unlock_all")
}

// relationOf looks up the relation that argument k names, nil when there is none.
func relationOf(r *row, e Env, k int) (*catalog.Relation, error) {
	return e.Catalog().RelationByOID(types.OID(r.Int(k)))
}
