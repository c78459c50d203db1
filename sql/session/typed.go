package session

import (
	"strconv"
	"strings"
	"time"

	"herd/planner"
	"herd/sql/types/datetime"
)

// settingChanged keeps the session's typed copies of parameters current.
func (s *Session) settingChanged(name, value string) {
	if f := settingEffects[name]; f != nil {
		f(s, value)
	}
	for _, r := range reportedNames {
		if r == name {
			s.dirty = true
		}
	}
	s.planKey = envKey{}
}

// settingEffects keep a session's typed copies of parameters current; a session begins with those of the server's defaults.
var settingEffects map[string]func(s *Session, value string)

func init() { // not an initializer: switchUser leads back to it
	settingEffects = map[string]func(s *Session, value string){
		"DateStyle": func(s *Session, value string) {
			style, order, _ := strings.Cut(value, ", ")
			s.io.DateStyle = dateStyles[style]
			s.io.DateOrder = dateOrders[order]
		},
		"IntervalStyle": func(s *Session, value string) {
			s.io.IntervalStyle = intervalStyles[value]
		},
		"TimeZone": func(s *Session, value string) {
			if value == s.srv.zoneName {
				s.io.Zone = s.srv.zone
			} else if _, zone, err := loadZone(value); err == nil {
				s.io.Zone = zone
			}
		},
		"extra_float_digits": func(s *Session, value string) {
			s.io.ExtraFloatDigits, _ = strconv.Atoi(value)
		},
		"bytea_output": func(s *Session, value string) {
			s.io.ByteaEscape = value == "escape"
		},
		"search_path": func(s *Session, value string) {
			s.path.forget()
		},
		"default_transaction_isolation": func(s *Session, value string) {
			s.defaults.isolation = value
		},
		"default_transaction_read_only": func(s *Session, value string) {
			s.defaults.readOnly = value == "on" || s.replica
		},
		"default_transaction_deferrable": func(s *Session, value string) {
			s.defaults.deferrable = value == "on"
		},
		"synchronous_commit": func(s *Session, value string) {
			s.eng.SetSynchronousCommit(value != "off")
		},
		"max_parallel_workers_per_gather": func(s *Session, value string) {
			s.scanWorkers = atoi(value)
		},
		"statement_timeout": func(s *Session, value string) {
			s.statementTimeout = millis(value)
		},
		"idle_session_timeout": func(s *Session, value string) {
			s.idleTimeout = millis(value)
		},
		"idle_in_transaction_session_timeout": func(s *Session, value string) {
			s.idleTxTimeout = millis(value)
		},
		readConsistency: func(s *Session, value string) {
			s.setConsistency(value)
		},
		"herd.commit_token": func(s *Session, value string) {
			s.token = value
		},
		"herd.max_staleness": func(s *Session, value string) {
			s.setStaleness(value)
		},
		"herd.fast_paths": func(s *Session, value string) {
			s.fastPaths = value == "on"
		},
		"herd.bulk_insert": func(s *Session, value string) {
			s.bulkInserts = value == "on"
		},
		"herd.dialect": func(s *Session, value string) {
			s.mysql = value == "mysql"
		},
		"plan_cache_mode": func(s *Session, value string) {
			s.planMode = planner.CacheAuto
			switch value {
			case "force_generic_plan":
				s.planMode = planner.CacheForceGeneric
			case "force_custom_plan":
				s.planMode = planner.CacheForceCustom
			}
		},
		"lock_timeout": func(s *Session, value string) {
			s.eng.SetLockTimeout(millis(value))
		},
		"deadlock_timeout": func(s *Session, value string) {
			s.eng.SetDeadlockTimeout(millis(value))
		},
		"application_name": func(s *Session, value string) {
			s.activity.app.Store(&value)
		},
		"role": func(s *Session, value string) {
			s.switchUser("role", value)
		},
		"session_authorization": func(s *Session, value string) {
			s.switchUser("session_authorization", value)
		},
	}
}

// switchUser follows SET ROLE and SET SESSION AUTHORIZATION; the name was checked before.
func (s *Session) switchUser(name, value string) {
	if !s.started {
		return
	}
	if value == "none" || value == "" {
		value, _ = s.set.get("session_authorization")
	}
	role, err := s.srv.roleByName(value)
	if err == nil && role != nil {
		s.become(role)
		s.path.forget() // "$user" is another schema
	}
}

var dateStyles = map[string]datetime.Style{"ISO": datetime.ISO, "SQL": datetime.SQL, "Postgres": datetime.Postgres, "German": datetime.German}

var dateOrders = map[string]datetime.Order{"MDY": datetime.MDY, "DMY": datetime.DMY, "YMD": datetime.YMD}

var intervalStyles = map[string]datetime.IntervalStyle{"postgres": datetime.IntervalPostgres, "postgres_verbose": datetime.IntervalPostgresVerbose,
	"sql_standard": datetime.IntervalSQL, "iso_8601": datetime.IntervalISO}

// millis reads a parameter in milliseconds.
func millis(value string) time.Duration {
	n, _ := strconv.Atoi(value)
	return time.Duration(n) * time.Millisecond
}
