package session

import (
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/ddl"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// definition runs a statement that changes the catalog.
func (s *Session) definition(p *prepared) (commandTag, error) {
	if s.modes.readOnly {
		return commandTag{}, sqlerr.New(sqlerr.ReadOnlySqlTransaction, "cannot execute %s in a read-only transaction", ddl.Tag(p.stmt))
	}
	bind, err := s.bindEnv(p.text)
	if err != nil {
		return commandTag{}, err
	}
	s.txUsed = true
	env := &ddl.Env{
		Tx: (*catalogTx)(s), Writer: s.catalogWriter(), Bind: bind, User: s.user, Superuser: s.superuser, Path: bind.Path,
		CreateSchema: s.creationSchema, TempSchema: s.makeTempSchema, Notice: s.notice, System: s.srv.systemTx, Sequence: (*sequenceStore)(s),
		Exec:    func(st ast.Stmt) (int64, error) { return s.internalExec(st, p.text) },
		Query:   func(st ast.Stmt, f func([]types.Datum) error) error { return s.internalQuery(st, p.text, f) },
		ExecEnv: s.internalEnv,
		Config:  s.changeConfig,
		Verifier: func(password string) (string, error) {
			if _, err := ParseVerifier(password); err == nil {
				return password, nil
			}
			v, err := MakeVerifier(password)
			return v.String(), err
		},
	}
	tag, err := ddl.Execute(env, p.stmt)
	s.path.forget()
	return commandTag{text: tag}, err
}

// internalEnv is an execution environment over the newest state, for work inside a definition.
func (s *Session) internalEnv() *exec.Env {
	env := new(exec.Env)
	s.fillEnv(env, s.tx.BeginStatement(), nil)
	return env
}

// internalExec runs a planned statement inside the current one and returns the rows it affected.
func (s *Session) internalExec(st ast.Stmt, text string) (int64, error) {
	po, err := s.planPortal(st, text, nil)
	if err != nil {
		return 0, err
	}
	defer s.closePortal(po)
	if _, err := po.run(s, 0, discard{}); err != nil {
		return 0, err
	}
	return po.affected, nil
}

// internalQuery runs a query inside the current statement; the row handed to f is valid during the call.
func (s *Session) internalQuery(st ast.Stmt, text string, f func([]types.Datum) error) error {
	po, err := s.planPortal(st, text, nil)
	if err != nil {
		return err
	}
	defer s.closePortal(po)
	_, err = po.run(s, 0, &rowFunc{row: make([]types.Datum, len(po.cols)), f: f})
	return err
}

// makeTempSchema returns the session's temporary schema, made on first use in the current transaction.
func (s *Session) makeTempSchema() (types.OID, error) {
	if s.tempSchema != 0 {
		return s.tempSchema, nil
	}
	w := s.catalogWriter()
	name := "pg_temp_" + itoa(int64(s.info.PID))
	sch := &catalog.Schema{Name: name, Owner: s.user.OID}
	old, err := w.Reader().SchemaByName(name)
	if err != nil {
		return 0, err
	}
	if old == nil {
		if err := w.CreateSchema(sch); err != nil {
			return 0, err
		}
		old = sch
	}
	s.tempSchema = old.OID
	s.path.forget()
	s.planKey = nil
	s.txHooks = append(s.txHooks, func(committed bool) {
		if !committed {
			s.tempSchema = 0
			s.path.forget()
		}
	})
	return old.OID, nil
}

// dropTemp drops the session's temporary objects.
func (s *Session) dropTemp() error {
	if s.tempSchema == 0 {
		return nil
	}
	own := s.tx == nil
	s.ensureTx()
	err := ddl.DropSchemaContents(s.catalogWriter(), (*catalogTx)(s), s.tempSchema, true)
	if !own {
		return err
	}
	if err != nil {
		s.rollback()
		return err
	}
	s.tempSchema = 0
	s.path.forget()
	return s.commit()
}

// checkDeferred makes the constraint checks that waited for the end of the transaction.
func (s *Session) checkDeferred() error {
	if !s.deferred.Pending() {
		return nil
	}
	return s.deferred.Run(s.internalEnv())
}
