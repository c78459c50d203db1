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
	switch name {
	case "DateStyle":
		style, order, _ := strings.Cut(value, ", ")
		s.io.DateStyle = dateStyles[style]
		s.io.DateOrder = dateOrders[order]
	case "IntervalStyle":
		s.io.IntervalStyle = intervalStyles[value]
	case "TimeZone":
		if _, zone, err := loadZone(value); err == nil {
			s.io.Zone = zone
		}
	case "extra_float_digits":
		s.io.ExtraFloatDigits, _ = strconv.Atoi(value)
	case "bytea_output":
		s.io.ByteaEscape = value == "escape"
	case "search_path":
		s.path.forget()
	case "default_transaction_isolation":
		s.defaults.isolation = value
	case "default_transaction_read_only":
		s.defaults.readOnly = value == "on"
	case "default_transaction_deferrable":
		s.defaults.deferrable = value == "on"
	case "synchronous_commit":
		s.eng.SetSynchronousCommit(value != "off")
	case "statement_timeout":
		s.statementTimeout = millis(value)
	case "idle_session_timeout":
		s.idleTimeout = millis(value)
	case "idle_in_transaction_session_timeout":
		s.idleTxTimeout = millis(value)
	case "herd.fast_paths":
		s.fastPaths = value == "on"
	case "herd.bulk_insert":
		s.bulkInserts = value == "on"
	case "plan_cache_mode":
		s.planMode = planner.CacheAuto
		switch value {
		case "force_generic_plan":
			s.planMode = planner.CacheForceGeneric
		case "force_custom_plan":
			s.planMode = planner.CacheForceCustom
		}
	case "lock_timeout":
		n, _ := strconv.Atoi(value)
		s.eng.SetLockTimeout(time.Duration(n) * time.Millisecond)
	case "application_name":
		s.activity.app.Store(&value)
	case "role", "session_authorization":
		s.switchUser(name, value)
	}
	for _, r := range reportedNames {
		if r == name {
			s.dirty = true
		}
	}
	s.planKey = nil
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
		s.user, s.superuser = *role, role.Super
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
