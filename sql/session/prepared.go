package session

import (
	"herd/pgwire/wire"
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// prepared is one parsed and bound statement of a session.
type prepared struct {
	name   string
	text   string
	stmt   ast.Stmt
	class  class
	given  []types.OID // parameter types of Parse, 0 = to be inferred
	params []types.OID // all parameter types after binding
	query  *plan.Query
	cols   []plan.Column // nil: returns no rows
	desc   []wire.Column // RowDescription of cols

	bound      storage.Seq // catalog version that names were looked up in
	boundRoles storage.Seq // version of the catalog of roles, by which rights to schemas were looked up
	boundKey   envKey

	plan    *plan.Plan      // the generic one
	choice  *planner.Choice // between plan and one for the values at hand
	version storage.Seq     // catalog version plan was made or confirmed for
	own     bool            // made inside uncommitted definitions of the session's transaction
	key     envKey
	free    []*exec.State // idle state trees of plan
	point   *exec.Point
	noPoint bool // plan has no fast path that can run here

	used      bool          // was planned at least once
	generic   int64         // executions of plan
	custom    int64         // executions of plans made for their values
	described bool          // prepared by Parse or PREPARE: its result columns must not change
	parsed    bool          // came with a Parse message: its plan may be shared
	body      *planner.Body // the statement belongs to a function
	fromSQL   bool          // PREPARE, not Parse
	cursor    bool          // DECLARE: the plan yields row identities behind its columns
	noParams  bool          // simple protocol: $n is an error
	created   int64
}

// prepare binds a statement: parameter types, result columns. given are the client's parameter types.
func (s *Session) prepare(p *prepared, given []types.OID) error {
	p.given = given
	switch p.class {
	case classQuery:
		return s.bindStatement(p)
	case classUtility:
		return s.describeUtility(p)
	}
	p.params = given
	return nil
}

// statement finds a prepared statement by name.
func (s *Session) statement(name []byte) (*prepared, error) {
	if len(name) == 0 {
		if s.unnamed == nil {
			return nil, sqlerr.New(sqlerr.InvalidSqlStatementName, "unnamed prepared statement does not exist")
		}
		return s.unnamed, nil
	}
	if p := s.statements[string(name)]; p != nil {
		return p, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidSqlStatementName, "prepared statement \"%s\" does not exist", name)
}

// forget drops what a statement keeps for its next execution.
func (p *prepared) forget() {
	p.free = nil
	p.point, p.noPoint = nil, false
	p.plan = nil
}
