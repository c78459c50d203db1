package session

import (
	"strings"

	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// setVar is SET and RESET.
func (s *Session) setVar(st *ast.SetVar) (commandTag, error) {
	tag := commandTag{text: "SET"}
	if st.Local && !s.block && !s.implicitBlock {
		s.notice(sqlerr.Warn(sqlerr.NoActiveSqlTransaction, "SET LOCAL can only be used in transaction blocks"))
	}
	switch st.Kind {
	case ast.SetReset:
		return commandTag{text: "RESET"}, s.resetSetting(st.Name, false)
	case ast.SetResetAll:
		s.resetAll()
		return commandTag{text: "RESET"}, nil
	case ast.SetDefault:
		return tag, s.resetSetting(st.Name, st.Local)
	case ast.SetCurrent:
		return tag, nil
	case ast.SetTransaction:
		if !s.block && !s.implicitBlock {
			s.notice(sqlerr.Warn(sqlerr.NoActiveSqlTransaction, "SET TRANSACTION can only be used in transaction blocks"))
			return tag, nil
		}
		return tag, s.applyModes(st.Modes)
	case ast.SetSession:
		return tag, s.sessionModes(st.Modes)
	case ast.SetSnapshot:
		return tag, sqlerr.Unsupported("SET TRANSACTION SNAPSHOT")
	}
	value, err := s.setValue(st)
	if err != nil {
		return tag, err
	}
	return tag, s.setByName(st.Name, value, st.Local)
}

// setByName assigns a parameter; the transaction's characteristics go to the transaction.
func (s *Session) setByName(name, value string, local bool) error {
	switch canonical(name) {
	case "transaction_isolation":
		v, err := validateEnum(definition("transaction_isolation"), value)
		if err != nil {
			return err
		}
		return s.applyModes(ast.TxModes{Isolation: &v})
	case "transaction_read_only":
		b, ok := parseBool(value)
		if !ok {
			return sqlerr.New(sqlerr.InvalidParameterValue, "parameter \"transaction_read_only\" requires a Boolean value")
		}
		return s.applyModes(ast.TxModes{ReadOnly: &b})
	}
	_, err := s.SetSetting(name, value, local)
	return err
}

// sessionModes is SET SESSION CHARACTERISTICS.
func (s *Session) sessionModes(m ast.TxModes) error {
	onOff := func(b bool) string {
		if b {
			return "on"
		}
		return "off"
	}
	if m.Isolation != nil {
		s.assign("default_transaction_isolation", *m.Isolation, false)
	}
	if m.ReadOnly != nil {
		s.assign("default_transaction_read_only", onOff(*m.ReadOnly), false)
	}
	if m.Deferrable != nil {
		s.assign("default_transaction_deferrable", onOff(*m.Deferrable), false)
	}
	return nil
}

// resetAll is RESET ALL: everything but the session's identity and transaction goes back to its start value.
func (s *Session) resetAll() {
	for name := range s.set.values {
		switch name {
		case "session_authorization", "role", "transaction_isolation", "transaction_read_only", "transaction_deferrable":
			continue
		}
		if v, ok := s.set.baseValue(name); ok {
			s.assign(name, v, false)
		} else {
			s.assign(name, "", false)
		}
	}
}

// setValue turns the arguments of SET into the parameter's text.
func (s *Session) setValue(st *ast.SetVar) (string, error) {
	name := canonical(st.Name)
	if d := definition(name); d != nil && len(st.Args) > 1 && !isListSetting(name) {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "SET %s takes only one argument", st.Name)
	}
	parts := make([]string, len(st.Args))
	for i, a := range st.Args {
		v, err := s.setArgument(a)
		if err != nil {
			return "", err
		}
		if name == "search_path" || name == "temp_tablespaces" {
			v = quoteIdent(v)
		}
		parts[i] = v
	}
	return strings.Join(parts, ", "), nil
}

func isListSetting(name string) bool {
	switch name {
	case "search_path", "DateStyle", "temp_tablespaces", "session_preload_libraries", "shared_preload_libraries", "local_preload_libraries",
		"log_destination", "synchronous_standby_names", "listen_addresses", "wal_consistency_checking", "unix_socket_directories":
		return true
	}
	return false
}

// setArgument is one constant of SET; TIME ZONE also takes numbers and intervals.
func (s *Session) setArgument(a ast.Expr) (string, error) {
	switch e := a.(type) {
	case *ast.Const:
		return constText(e), nil
	case *ast.Cast:
		if c, ok := e.Arg.(*ast.Const); ok {
			d, err := types.Input(&s.io, types.IntervalOID, -1, []byte(constText(c)))
			if err != nil {
				return "", err
			}
			iv := types.DecodeInterval(d.B)
			if iv.Months != 0 || iv.Days != 0 {
				return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"TimeZone\": \"%s\"", constText(c)).
					WithDetail("Cannot specify months or days in time zone interval.")
			}
			return zoneOfSeconds(iv.Micros / 1000000), nil
		}
	}
	d, err := s.evaluateArguments([]ast.Expr{a}, []types.OID{types.TextOID}, "", nil)
	if err != nil || d[0].Null {
		return "", err
	}
	return string(d[0].B), nil
}

// showColumns are the columns of SHOW.
func showColumns(st *ast.Show) []plan.Column {
	if strings.EqualFold(st.Name, "all") {
		return []plan.Column{textColumn("name"), textColumn("setting"), textColumn("description")}
	}
	name := canonical(st.Name)
	if definition(name) == nil {
		name = st.Name
	}
	return []plan.Column{textColumn(name)}
}

func (s *Session) show(st *ast.Show, sink rowSink) (commandTag, error) {
	tag := commandTag{text: "SHOW"}
	cols := showColumns(st)
	if strings.EqualFold(st.Name, "all") {
		s.startRows(cols, sink)
		for _, d := range allSettings() {
			if strings.Contains(d.Flags, "NO_SHOW_ALL") {
				continue
			}
			v, _ := s.Setting(d.Name)
			if err := sink.writeRow([]types.Datum{types.Text(d.Name), types.Text(v), types.Text(d.ShortDesc)}); err != nil {
				return tag, err
			}
		}
		return tag, nil
	}
	v, ok := s.showValue(st.Name)
	if !ok {
		return tag, errUnknownSetting(st.Name)
	}
	s.startRows(cols, sink)
	return tag, sink.writeRow([]types.Datum{types.Text(v)})
}

// showValue reads a parameter; the transaction's characteristics come from the transaction.
func (s *Session) showValue(name string) (string, bool) {
	onOff := map[bool]string{true: "on", false: "off"}
	switch canonical(name) {
	case "transaction_isolation":
		return s.modes.isolation, true
	case "transaction_read_only":
		return onOff[s.modes.readOnly], true
	case "transaction_deferrable":
		return onOff[s.modes.deferrable], true
	}
	return s.Setting(name)
}

// discardState is DISCARD.
func (s *Session) discardState(st *ast.Discard) (commandTag, error) {
	switch st.Target {
	case ast.DiscardPlans:
		for _, p := range s.statements {
			p.forget()
		}
		return commandTag{text: "DISCARD PLANS"}, nil
	case ast.DiscardSequences:
		s.sequences.clear()
		return commandTag{text: "DISCARD SEQUENCES"}, nil
	case ast.DiscardTemp:
		return commandTag{text: "DISCARD TEMP"}, s.dropTemp()
	}
	if err := s.noBlock("DISCARD ALL"); err != nil {
		return commandTag{}, err
	}
	s.closeCursors()
	if err := s.setByName("session_authorization", s.authUser, false); err != nil {
		return commandTag{}, err
	}
	s.resetAll()
	s.statements = nil
	s.sequences.clear()
	s.applyListen(noteAction{})
	s.eng.AdvisoryUnlockAll()
	return commandTag{text: "DISCARD ALL"}, s.dropTemp()
}
