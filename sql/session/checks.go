package session

import (
	"strings"

	"herd/sql/sqlerr"
)

// settingChecks are the parameters whose value needs more than its type; they return the canonical value.
var settingChecks map[string]func(s *Session, v string) (string, error)

func init() { // registration: the functions refer to the table through Session
	settingChecks = map[string]func(s *Session, v string) (string, error){
		"DateStyle":             checkDateStyle,
		"TimeZone":              checkTimeZone,
		"log_timezone":          checkTimeZone,
		"client_encoding":       checkEncoding,
		"transaction_isolation": checkIsolation,
		"transaction_read_only": checkReadOnly,
		readConsistency:         checkConsistency,
		"herd.commit_token":     checkToken,
		"session_authorization": checkAuthorization,
		"role":                  checkRole,
		"search_path":           func(_ *Session, v string) (string, error) { return v, nil },
		"application_name":      func(_ *Session, v string) (string, error) { return cleanASCII(v), nil },
	}
}

func errValue(name, v string) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"%s\": \"%s\"", name, v)
}

// checkDateStyle merges the given words into the current style and order.
func checkDateStyle(s *Session, v string) (string, error) {
	style, order := s.dateStyle()
	haveStyle, haveOrder := "", ""
	for _, w := range strings.Split(v, ",") {
		w = strings.ToLower(strings.TrimSpace(w))
		st, or := "", ""
		switch {
		case w == "iso":
			st = "ISO"
		case w == "sql":
			st = "SQL"
		case strings.HasPrefix(w, "postgres"):
			st = "Postgres"
		case w == "german":
			st = "German"
		case w == "ymd":
			or = "YMD"
		case w == "dmy" || strings.HasPrefix(w, "euro"):
			or = "DMY"
		case w == "mdy" || w == "us" || strings.HasPrefix(w, "noneuro"):
			or = "MDY"
		case w == "default":
			st, or = "ISO", "MDY"
		default:
			return "", errValue("DateStyle", v).WithDetail("Unrecognized key word: \"%s\".", w)
		}
		if st != "" {
			if haveStyle != "" && haveStyle != st {
				return "", errValue("DateStyle", v).WithDetail("Conflicting \"datestyle\" specifications.")
			}
			haveStyle = st
		}
		if or != "" {
			if haveOrder != "" && haveOrder != or {
				return "", errValue("DateStyle", v).WithDetail("Conflicting \"datestyle\" specifications.")
			}
			haveOrder = or
		}
	}
	if haveStyle == "German" && haveOrder == "" {
		haveOrder = "DMY"
	}
	if haveStyle != "" {
		style = haveStyle
	}
	if haveOrder != "" {
		order = haveOrder
	}
	return style + ", " + order, nil
}

func (s *Session) dateStyle() (style, order string) {
	v, _ := s.set.get("DateStyle")
	style, order, ok := strings.Cut(v, ", ")
	if !ok {
		return "ISO", "MDY"
	}
	return style, order
}

func checkTimeZone(_ *Session, v string) (string, error) {
	name, _, err := loadZone(v)
	if err != nil {
		return "", errValue("TimeZone", v)
	}
	return name, nil
}

func checkEncoding(_ *Session, v string) (string, error) {
	alphanumeric := func(r rune) rune { // of an encoding's name only these count
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}
	switch strings.Map(alphanumeric, strings.ToLower(v)) {
	case "utf8", "unicode":
		return "UTF8", nil
	}
	return "", sqlerr.New(sqlerr.FeatureNotSupported, "client_encoding \"%s\" is not supported: only UTF8 is", v)
}

// checkIsolation serves SET transaction_isolation; SET TRANSACTION comes here too.
func checkIsolation(s *Session, v string) (string, error) {
	if s.txUsed && !strings.EqualFold(v, s.modes.isolation) {
		return "", sqlerr.New(sqlerr.ActiveSqlTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
	}
	return strings.ToLower(v), nil
}

func checkReadOnly(s *Session, v string) (string, error) {
	if v == "off" && s.replica {
		return "", errReplicaWrites()
	}
	if v == "off" && s.txUsed && s.modes.readOnly {
		return "", sqlerr.New(sqlerr.ActiveSqlTransaction, "transaction read-write mode must be set before any query")
	}
	return v, nil
}

func checkAuthorization(s *Session, v string) (string, error) {
	if !s.started || v == s.authUser {
		return v, nil
	}
	if !s.authSuper {
		return "", sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set session authorization \"%s\"", v)
	}
	return v, s.roleExists(v)
}

func checkRole(s *Session, v string) (string, error) {
	if v == "none" {
		return v, nil
	}
	if err := s.roleExists(v); err != nil {
		return "", err
	}
	if ok, err := s.isMember(v); err != nil || !ok {
		if err == nil {
			err = sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set role \"%s\"", v)
		}
		return "", err
	}
	return v, nil
}

func cleanASCII(v string) string {
	b := []byte(v)
	for i, c := range b {
		if c < 32 || c > 126 {
			b[i] = '?'
		}
	}
	if len(b) > 63 {
		b = b[:63]
	}
	return string(b)
}
