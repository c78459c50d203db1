package session

import (
	"math"
	"sort"
	"strconv"
	"strings"

	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
)

// Setting is a configuration parameter by name with its text value.
type Setting struct{ Name, Value string }

// reportedNames are the parameters whose values PostgreSQL 15 tells every client, in its order.
var reportedNames = [...]string{"application_name", "client_encoding", "DateStyle", "default_transaction_read_only", "in_hot_standby",
	"integer_datetimes", "IntervalStyle", "is_superuser", "server_encoding", "server_version", "session_authorization",
	"standard_conforming_strings", "TimeZone"}

// ownSettings are parameters that herd adds to PostgreSQL's.
var ownSettings = []pgdata.Setting{
	{Name: "herd.dialect", Boot: "postgres", HasBoot: true, Context: "user", VarType: "enum", Enum: []string{"postgres", "mysql"},
		Category: "Customized Options", ShortDesc: "Sets the SQL dialect of the session."},
	{Name: "herd.fast_paths", Boot: "on", HasBoot: true, Context: "user", VarType: "bool",
		Category: "Customized Options", ShortDesc: "Lets statements by primary key run on their short paths."},
	{Name: readConsistency, Boot: readLinearizable, HasBoot: true, Context: "user", VarType: "enum", Enum: []string{readLinearizable, readLeader, readStale},
		Category: "Customized Options", ShortDesc: "Sets how new what the session reads is, on a node of a cluster."},
	{Name: "herd.max_staleness", Boot: "10000", HasBoot: true, Context: "user", VarType: "integer", Unit: "ms", Min: "-1", Max: "2147483647",
		Category: "Customized Options", ShortDesc: "Sets how old what a session with stale reads gets may be; -1 allows any age."},
	{Name: "herd.commit_token", HasBoot: true, Context: "user", VarType: "string",
		Category: "Customized Options", ShortDesc: "Names the next transaction that changes something, so that it is applied once however often it is tried."},
	{Name: "role", Boot: "none", HasBoot: true, Context: "user", VarType: "string", Flags: "NO_SHOW_ALL",
		Category: "Ungrouped", ShortDesc: "Sets the current role."},
	{Name: "session_authorization", Boot: "postgres", HasBoot: true, Context: "user", VarType: "string", Flags: "NO_SHOW_ALL",
		Category: "Ungrouped", ShortDesc: "Sets the session user name."},
	{Name: "is_superuser", Boot: "on", HasBoot: true, Context: "internal", VarType: "bool", Flags: "NO_SHOW_ALL",
		Category: "Ungrouped", ShortDesc: "Shows whether the current user is a superuser."},
	{Name: "herd.bulk_insert", Boot: "on", HasBoot: true, Context: "user", VarType: "bool",
		Category: "Customized Options", ShortDesc: "Lets INSERT of many literal tuples skip the parser."},
}

// definition finds a built-in or own parameter; names are case-insensitive.
func definition(name string) *pgdata.Setting {
	if d := pgdata.SettingByName(name); d != nil {
		return d
	}
	name = strings.ToLower(name)
	if alias, ok := settingAliases[name]; ok {
		return pgdata.SettingByName(alias)
	}
	for i := range ownSettings {
		if ownSettings[i].Name == name {
			return &ownSettings[i]
		}
	}
	return nil
}

var settingAliases = map[string]string{"time zone": "TimeZone", "sort_mem": "work_mem", "vacuum_mem": "maintenance_work_mem"}

func errUnknownSetting(name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", name)
}

// validate brings value into the form that SHOW prints and current_setting returns, or says why it cannot.
func validate(d *pgdata.Setting, value string) (string, error) {
	switch d.VarType {
	case "bool":
		b, ok := parseBool(value)
		if !ok {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "parameter \"%s\" requires a Boolean value", d.Name)
		}
		if b {
			return "on", nil
		}
		return "off", nil
	case "integer":
		return validateInt(d, value)
	case "real":
		return validateReal(d, value)
	case "enum":
		return validateEnum(d, value)
	}
	return value, nil
}

// parseBool understands PostgreSQL's spellings, unique prefixes included.
func parseBool(s string) (value, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "" {
		return false, false
	}
	switch {
	case strings.HasPrefix("true", s), strings.HasPrefix("yes", s), s == "on", s == "1":
		return true, true
	case strings.HasPrefix("false", s), strings.HasPrefix("no", s), s == "of", s == "off", s == "0":
		return false, true
	}
	return false, false
}

func validateEnum(d *pgdata.Setting, value string) (string, error) {
	for _, e := range d.Enum {
		if strings.EqualFold(e, value) {
			return e, nil
		}
	}
	// Enum parameters take Boolean spellings when on and off are among their values (synchronous_commit, bytea never).
	if b, ok := parseBool(value); ok {
		word := "off"
		if b {
			word = "on"
		}
		for _, e := range d.Enum {
			if e == word {
				return e, nil
			}
		}
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"%s\": \"%s\"", d.Name, value).
		WithHint("Available values: %s.", strings.Join(d.Enum, ", "))
}

// unit is a name that may follow a number, in base units of its family.
type unit struct {
	name   string
	factor float64
}

var timeUnits = []unit{{"d", 86400000}, {"h", 3600000}, {"min", 60000}, {"s", 1000}, {"ms", 1}, {"us", 0.001}}
var memoryUnits = []unit{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}

// family returns the units that fit a parameter and the factor of the parameter's own unit.
func family(own string) (units []unit, factor float64) {
	for _, u := range timeUnits {
		if u.name == own {
			return timeUnits, u.factor
		}
	}
	switch own {
	case "8kB":
		return memoryUnits, 8 << 10
	case "":
		return nil, 1
	}
	for _, u := range memoryUnits {
		if u.name == own {
			return memoryUnits, u.factor
		}
	}
	return nil, 1
}

// parseNumber reads a number with an optional unit, in the parameter's own unit.
func parseNumber(d *pgdata.Setting, value string) (float64, error) {
	s := strings.TrimSpace(value)
	end := 0
	for end < len(s) && strings.IndexByte("0123456789.+-eExXabcdefABCDEF", s[end]) >= 0 {
		if c := s[end]; (c == 'd' || c == 'b' || c == 'B' || c == 'e' || c == 'E') && !strings.HasPrefix(s, "0x") && !exponentAt(s, end) {
			break
		}
		end++
	}
	num, suffix := s[:end], strings.TrimSpace(s[end:])
	var v float64
	var err error
	if strings.HasPrefix(num, "0x") || strings.HasPrefix(num, "0X") {
		var n int64
		n, err = strconv.ParseInt(num[2:], 16, 64)
		v = float64(n)
	} else {
		v, err = strconv.ParseFloat(num, 64)
	}
	if err != nil {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"%s\": \"%s\"", d.Name, value)
	}
	if suffix == "" {
		return v, nil
	}
	units, own := family(d.Unit)
	for _, u := range units {
		if u.name == suffix {
			return v * u.factor / own, nil
		}
	}
	e := sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"%s\": \"%s\"", d.Name, value)
	switch {
	case len(units) > 0 && units[0].name == "d":
		e = e.WithHint("Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".")
	case len(units) > 0:
		e = e.WithHint("Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".")
	}
	return 0, e
}

func exponentAt(s string, i int) bool {
	return i > 0 && (s[i] == 'e' || s[i] == 'E') && i+1 < len(s) && (s[i+1] >= '0' && s[i+1] <= '9' || s[i+1] == '-' || s[i+1] == '+')
}

func validateInt(d *pgdata.Setting, value string) (string, error) {
	v, err := parseNumber(d, value)
	if err != nil {
		return "", err
	}
	n := math.RoundToEven(v)
	lo, _ := strconv.ParseInt(d.Min, 10, 64)
	hi, _ := strconv.ParseInt(d.Max, 10, 64)
	if n > math.MaxInt32 && hi <= math.MaxInt32 && n > float64(hi) || n < float64(lo) || n > float64(hi) {
		return "", errRange(d, strconv.FormatInt(int64(n), 10))
	}
	return strconv.FormatInt(int64(n), 10), nil
}

func validateReal(d *pgdata.Setting, value string) (string, error) {
	v, err := parseNumber(d, value)
	if err != nil {
		return "", err
	}
	lo, _ := strconv.ParseFloat(d.Min, 64)
	hi, _ := strconv.ParseFloat(d.Max, 64)
	if v < lo || v > hi || math.IsNaN(v) {
		return "", errRange(d, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strconv.FormatFloat(v, 'g', -1, 64), nil
}

func errRange(d *pgdata.Setting, shown string) error {
	space := ""
	if d.Unit != "" {
		space = " " + d.Unit
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "%s%s is outside the valid range for parameter \"%s\" (%s .. %s)",
		shown, space, d.Name, d.Min, d.Max)
}

// display is the form SHOW prints: numbers in the largest unit that divides them.
func display(d *pgdata.Setting, value string) string {
	if d.VarType != "integer" || d.Unit == "" {
		return value
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n <= 0 {
		return value
	}
	units, own := family(d.Unit)
	for _, u := range units {
		per := u.factor / own
		if per < 1 {
			// A unit smaller than the parameter's own; the own unit always divided before, except 8kB.
			return strconv.FormatInt(int64(float64(n)*own/u.factor), 10) + u.name
		}
		if per == math.Trunc(per) && n%int64(per) == 0 {
			return strconv.FormatInt(n/int64(per), 10) + u.name
		}
	}
	return value
}

// allSettings lists every definition by name, as SHOW ALL does.
func allSettings() []*pgdata.Setting {
	list := pgdata.Settings()
	out := make([]*pgdata.Setting, 0, len(list)+len(ownSettings))
	for i := range list {
		out = append(out, &list[i])
	}
	for i := range ownSettings {
		out = append(out, &ownSettings[i])
	}
	sort.Slice(out, func(i, j int) bool { return strings.ToLower(out[i].Name) < strings.ToLower(out[j].Name) })
	return out
}
