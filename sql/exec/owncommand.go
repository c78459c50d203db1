package exec

import (
	"slices"

	"herd/sql/sqlerr"
)

// A statement that calls functions which change data is several commands for the transaction: its own changes count as the one that is
// current when they are made. What it has changed itself it does not change again; what such a function has changed it must not change.

// noteCommand records that the statement has made a change.
func (s *State) noteCommand() {
	now := s.env.Tx.Command()
	if n := len(s.commands); n == 0 || s.commands[n-1] != now {
		s.commands = append(s.commands, now)
	}
}

// own says whether a change that counts as command cmd of the transaction was made by this statement.
func (s *State) own(cmd uint32) bool { return cmd == s.first || slices.Contains(s.commands, cmd) }

// changed says whether the statement itself made the last change of a row, one of the transaction's own; when a function that it
// called did, that is an error. doing is what was to be done with the row.
func (s *State) changed(cmd uint32, doing string) (mine bool, err error) {
	if s.own(cmd) || cmd < s.first {
		return s.own(cmd), nil
	}
	word := map[string]string{"updating": "updated", "deleting": "deleted"}[doing]
	return false, sqlerr.New(sqlerr.TriggeredDataChangeViolation, "tuple to be %s was already modified by an operation triggered by the current command", word).
		WithHint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.")
}
