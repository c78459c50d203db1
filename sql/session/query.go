package session

import (
	"herd/sql/ast"
	"herd/sql/mysql"
	"herd/sql/postgres"
	"herd/sql/scan"
	"herd/sql/types"
)

// Query runs the text of a simple Query message: all its statements in one implicit transaction, up to the first error.
func (s *Session) Query(text []byte) error {
	s.dropUnnamedPortal()
	if err := types.ValidText(text); err != nil {
		return err
	}
	if s.info.Replication {
		return s.replicationQuery(string(text))
	}
	if !s.mysql { // shapes and literal tuples are read by PostgreSQL's lexical rules
		if done, err := s.queryByShape(text); done {
			return err
		}
	}
	sql := string(text)
	s.begunStatement(sql)
	if !s.mysql {
		if done, err := s.queryBulk(text, sql); done {
			return err
		}
	}
	list, err := s.parseText(sql)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		s.out.Empty('I')
		return s.finishImplicit()
	}
	for i := range list {
		if err := s.queryStatement(sql, &list[i], len(list) > 1, i == len(list)-1); err != nil {
			return err
		}
	}
	s.implicitBlock = false
	return nil
}

// queryStatement runs one statement of a Query message and sends its answer.
func (s *Session) queryStatement(sql string, st *postgres.Statement, several, last bool) error {
	if s.aborted && !allowedInAborted(st.Stmt) {
		return errAborted()
	}
	s.implicitBlock = several && !s.block
	p := &prepared{text: sql, stmt: st.Stmt, class: classify(st.Stmt), noParams: true}
	if err := s.stmtBegin(); err != nil {
		return err
	}
	tag, err := s.simpleRun(p)
	if err != nil {
		return err
	}
	s.stmtEnd()
	if !s.block && (last || isTxControl(st.Stmt)) {
		if err := s.finishImplicit(); err != nil {
			return err
		}
	}
	s.complete(tag)
	return nil
}

func isTxControl(st ast.Stmt) bool {
	_, ok := st.(*ast.Transaction)
	return ok
}

// simpleRun executes a statement with text results; the tag is sent by the caller once the transaction may end.
func (s *Session) simpleRun(p *prepared) (commandTag, error) {
	switch p.class {
	case classTx:
		t, err := s.transaction(p.stmt.(*ast.Transaction))
		return commandTag{text: t}, err
	case classUtility:
		s.ensureTx()
		return s.utility(p, nil, s.wireSink(nil))
	}
	s.ensureTx()
	if err := s.prepare(p, nil); err != nil {
		return commandTag{}, err
	}
	po, err := s.openPortal("", p, nil, nil)
	if err != nil {
		return commandTag{}, err
	}
	return s.runSimple(po)
}

// parseText checks nesting and parses; an empty list is an empty query.
func (s *Session) parseText(sql string) ([]postgres.Statement, error) {
	if s.mysql {
		return mysql.Parse(sql)
	}
	if err := scan.CheckNesting(sql); err != nil {
		return nil, err
	}
	return postgres.Parse(sql)
}
