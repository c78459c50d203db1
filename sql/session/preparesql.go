package session

import (
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// sqlPrepared finds a statement for EXECUTE and DEALLOCATE, whichever way it was prepared.
func (s *Session) sqlPrepared(name string) (*prepared, error) {
	if p := s.statements[name]; p != nil {
		return p, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidSqlStatementName, "prepared statement \"%s\" does not exist", name)
}

// prepareSQL is PREPARE.
func (s *Session) prepareSQL(st *ast.Prepare, text string) (commandTag, error) {
	tag := commandTag{text: "PREPARE"}
	p := &prepared{name: st.Name, text: text, stmt: st.Stmt, class: classify(st.Stmt), fromSQL: true, described: true, created: s.now()}
	if p.class != classQuery {
		return tag, sqlerr.Unsupported("PREPARE of this statement")
	}
	if s.statements[st.Name] != nil {
		return tag, sqlerr.New(sqlerr.DuplicatePstatement, "prepared statement \"%s\" already exists", st.Name)
	}
	cat, err := s.catalog()
	if err != nil {
		return tag, err
	}
	env, err := s.bindEnv(text)
	if err != nil {
		return tag, err
	}
	given := make([]types.OID, len(st.Types))
	for i, t := range st.Types {
		typ, _, err := planner.ResolveType(cat, env, t)
		if err != nil {
			return tag, err
		}
		given[i] = typ
	}
	if err := s.prepare(p, given); err != nil {
		return tag, err
	}
	return tag, s.store(p)
}

// executeSQL is EXECUTE.
func (s *Session) executeSQL(st *ast.Execute, text string, params []types.Datum, sink rowSink) (commandTag, error) {
	po, err := s.executePortal(st, text, params)
	if err != nil {
		return commandTag{}, err
	}
	defer s.closePortal(po)
	if po.cols == nil || po.plan.Fast != nil {
		if po.cols != nil {
			s.startRows(po.cols, sink)
		}
		if _, err := po.run(s, 0, sink); err != nil {
			return commandTag{}, err
		}
		return po.tag(), nil
	}
	late := &lateSink{s: s, cols: po.cols, sink: sink}
	if _, err := po.run(s, 0, late); err != nil {
		return commandTag{}, err
	}
	late.start()
	return po.tag(), nil
}

// lateSink describes the rows when there are some, or at the end: an EXECUTE that fails before has no description.
type lateSink struct {
	s       *Session
	cols    []plan.Column
	sink    rowSink
	started bool
}

func (l *lateSink) start() {
	if !l.started {
		l.started = true
		l.s.startRows(l.cols, l.sink)
	}
}

func (l *lateSink) writeBatch(b *vec.Batch) error {
	l.start()
	return l.sink.writeBatch(b)
}

func (l *lateSink) writeRow(row []types.Datum) error {
	l.start()
	return l.sink.writeRow(row)
}

// executePortal evaluates EXECUTE's arguments and opens the statement's portal.
func (s *Session) executePortal(st *ast.Execute, text string, params []types.Datum) (*portal, error) {
	p, err := s.sqlPrepared(st.Name)
	if err != nil {
		return nil, err
	}
	if len(st.Args) != len(p.params) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "wrong number of parameters for prepared statement \"%s\"", st.Name).
			WithDetail("Expected %d parameters but got %d.", len(p.params), len(st.Args))
	}
	values, err := s.evaluateArguments(st.Args, p.params, text, params)
	if err != nil {
		return nil, err
	}
	return s.openPortal("", p, values, nil)
}

// evaluateArguments computes expressions without columns as values of the given types.
func (s *Session) evaluateArguments(args []ast.Expr, want []types.OID, text string, params []types.Datum) ([]types.Datum, error) {
	if len(args) == 0 {
		return nil, nil
	}
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	env, err := s.bindEnv(text)
	if err != nil {
		return nil, err
	}
	exprs := make([]plan.Expr, len(args))
	for i, a := range args {
		if exprs[i], err = planner.BindValue(cat, env, a, want[i]); err != nil {
			return nil, err
		}
	}
	var run exec.Env
	s.fillEnv(&run, s.tx.BeginStatement(), params)
	out := make([]types.Datum, len(args))
	for i, e := range exprs {
		d, err := exec.Evaluate(&run, e)
		if err != nil {
			return nil, err
		}
		d.B = append([]byte(nil), d.B...)
		out[i] = d
	}
	return out, nil
}

// deallocate is DEALLOCATE.
func (s *Session) deallocate(st *ast.Deallocate) (commandTag, error) {
	if st.All {
		for _, p := range s.statements {
			s.dropStatement(p)
		}
		s.statements = nil
		return commandTag{text: "DEALLOCATE ALL"}, nil
	}
	p, err := s.sqlPrepared(st.Name)
	if err != nil {
		return commandTag{}, err
	}
	s.dropStatement(p)
	delete(s.statements, st.Name)
	return commandTag{text: "DEALLOCATE"}, nil
}
