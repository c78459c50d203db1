package session

import (
	"strings"

	"herd/sql/sqlerr"
)

// settings are one session's parameter values: a stack per transaction level, so that an abort or a rollback to a
// savepoint brings back what was there.
type settings struct {
	base     map[string]string // the server's defaults, which all sessions share
	start    map[string]string // what database, role and start-up have set instead: with base it is what RESET restores
	values   map[string]string // what differs from these, by canonical name
	undo     []settingUndo
	onChange func(name, value string) // keeps the session's typed copies current
}

type settingUndo struct {
	name   string
	old    string
	hadOld bool // old is an entry of values, else base counts
	value  string
	level  int
	local  bool
}

func canonical(name string) string {
	if d := definition(name); d != nil {
		return d.Name
	}
	return strings.ToLower(name)
}

// get returns the current value of a canonical name.
func (s *settings) get(name string) (string, bool) {
	if v, ok := s.values[name]; ok {
		return v, true
	}
	return s.baseValue(name)
}

// baseValue returns what RESET restores.
func (s *settings) baseValue(name string) (string, bool) {
	if v, ok := s.start[name]; ok {
		return v, true
	}
	v, ok := s.base[name]
	return v, ok
}

// setBase changes what RESET restores; used at start-up only.
func (s *settings) setBase(name, value string) {
	if s.start == nil {
		s.start = make(map[string]string)
	}
	s.start[name] = value
	s.onChange(name, value)
}

// set records value at a transaction level (0 = outside any transaction: nothing to undo).
func (s *settings) set(name, value string, level int, local bool) {
	old, had := s.values[name]
	if level > 0 {
		s.undo = append(s.undo, settingUndo{name: name, old: old, hadOld: had, value: value, level: level, local: local})
	}
	s.put(name, value)
}

func (s *settings) put(name, value string) {
	if s.values == nil {
		s.values = make(map[string]string)
	}
	s.values[name] = value
	s.onChange(name, value)
}

func (s *settings) restore(u settingUndo) {
	if u.hadOld {
		s.put(u.name, u.old)
		return
	}
	delete(s.values, u.name)
	if v, ok := s.baseValue(u.name); ok {
		s.onChange(u.name, v)
	}
}

// rollback undoes everything set at level and deeper.
func (s *settings) rollback(level int) {
	for len(s.undo) > 0 && s.undo[len(s.undo)-1].level >= level {
		s.restore(s.undo[len(s.undo)-1])
		s.undo = s.undo[:len(s.undo)-1]
	}
}

// release gives the entries of a released savepoint to the level above.
func (s *settings) release(level int) {
	for i := len(s.undo) - 1; i >= 0 && s.undo[i].level >= level; i-- {
		s.undo[i].level = level - 1
	}
}

// commit keeps what SET made and takes back what SET LOCAL made.
func (s *settings) commit() {
	if len(s.undo) == 0 {
		return
	}
	for i, u := range s.undo {
		if first := firstUndo(s.undo, u.name); first != i {
			continue
		}
		keep, value := false, ""
		local := false
		for _, v := range s.undo[i:] {
			if v.name != u.name {
				continue
			}
			if v.local {
				local = true
			} else {
				keep, value, local = true, v.value, false
			}
		}
		switch {
		case !local:
		case keep:
			s.put(u.name, value)
		default:
			s.restore(u)
		}
	}
	s.undo = s.undo[:0]
}

func firstUndo(undo []settingUndo, name string) int {
	for i := range undo {
		if undo[i].name == name {
			return i
		}
	}
	return -1
}

// Setting returns the value of a parameter as current_setting does; ok is false for an unknown name.
func (s *Session) Setting(name string) (string, bool) {
	n := canonical(name)
	v, ok := s.set.get(n)
	if !ok {
		return "", false
	}
	if d := definition(n); d != nil {
		v = display(d, v)
	}
	return v, true
}

// SetSetting is set_config: validates, checks the right to change and records the value.
func (s *Session) SetSetting(name, value string, local bool) (string, error) {
	n, v, err := s.checkSetting(name, value)
	if err != nil {
		return "", err
	}
	s.assign(n, v, local)
	out, _ := s.Setting(n)
	return out, nil
}

// assign stores a validated value at the current transaction level.
func (s *Session) assign(name, value string, local bool) {
	s.set.set(name, value, s.settingLevel(), local)
}

// resetSetting is RESET and SET ... TO DEFAULT.
func (s *Session) resetSetting(name string, local bool) error {
	n := canonical(name)
	if err := s.mayChange(n); err != nil {
		return err
	}
	v, ok := s.set.baseValue(n)
	if !ok {
		if definition(n) == nil {
			if _, custom := s.set.get(n); !custom && !strings.Contains(n, ".") {
				return errUnknownSetting(name)
			}
		}
		v = ""
	}
	s.assign(n, v, local)
	return nil
}

// checkSetting validates a new value and returns the canonical name with it.
func (s *Session) checkSetting(name, value string) (string, string, error) {
	n := canonical(name)
	d := definition(n)
	if d == nil {
		if !validCustomName(n) {
			return "", "", errUnknownSetting(name)
		}
		return n, value, nil
	}
	if err := s.mayChange(n); err != nil {
		return "", "", err
	}
	v, err := validate(d, value)
	if err != nil {
		return "", "", err
	}
	if check := settingChecks[n]; check != nil {
		if v, err = check(s, v); err != nil {
			return "", "", err
		}
	}
	return n, v, nil
}

func validCustomName(n string) bool {
	class, rest, ok := strings.Cut(n, ".")
	return ok && class != "" && rest != "" && class != "herd"
}

// mayChange enforces a parameter's context.
func (s *Session) mayChange(name string) error {
	d := definition(name)
	if d == nil {
		return nil
	}
	switch d.Context {
	case "internal":
		return sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed", d.Name)
	case "postmaster":
		return sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed without restarting the server", d.Name)
	case "sighup":
		return sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed now", d.Name)
	case "backend", "superuser-backend":
		if s.started {
			return sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be set after connection start", d.Name)
		}
	case "superuser":
		if !s.superuser {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set parameter \"%s\"", d.Name)
		}
	}
	return nil
}
