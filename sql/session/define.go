package session

import (
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/ddl"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// definition runs a statement that changes the catalog.
func (s *Session) definition(p *prepared) (commandTag, error) {
	if err := s.claimToken(); err != nil {
		return commandTag{}, err
	}
	if s.modes.readOnly {
		return commandTag{}, sqlerr.New(sqlerr.ReadOnlySqlTransaction, "cannot execute %s in a read-only transaction", ddl.Word(p.stmt))
	}
	switch st := p.stmt.(type) {
	case *ast.CreateIndex:
		if st.Concurrently {
			return commandTag{text: "CREATE INDEX"}, s.createIndexConcurrently(st, p.text)
		}
	case *ast.Drop:
		if st.Concurrently {
			return commandTag{text: "DROP INDEX"}, s.dropIndexConcurrently(st, p.text)
		}
	}
	env, err := s.definitionEnv(p.text)
	if err != nil {
		return commandTag{}, err
	}
	defer s.progress(nil)
	env.Progress = s.building(commandCreateIndex)
	res, err := ddl.Execute(env, p.stmt)
	s.path.forget()
	return commandTag{text: res.Tag, count: res.Rows, hasCount: res.HasRows}, err
}

// definitionEnv is what a definition runs with in the current transaction; text is the statement's.
func (s *Session) definitionEnv(text string) (*ddl.Env, error) {
	bind, err := s.bindEnv(text)
	if err != nil {
		return nil, err
	}
	s.txUsed = true
	db, err := s.srv.systemReader().DatabaseByName(s.info.Database)
	if err != nil {
		return nil, err
	}
	env := &ddl.Env{
		Tx: s.tx, Writer: s.catalogWriter(), Exec: s.internalEnv(), Bind: bind, User: &s.user, Database: s.info.Database,
		CreationSchema: s.creationSchema, TempSchema: s.makeTempSchema, OnTemp: s.noteTemp, OnLabel: s.noteLabel, Notice: s.notice, System: s.srv.systemTx,
		Sequences: (*sequenceStore)(s), Hold: s.holdView,
		Query:    func(st ast.Stmt) (int64, error) { return s.internalExec(st, text) },
		Rows:     func(st ast.Stmt, f func([]types.Datum) error) error { return s.internalQuery(st, text, f) },
		Prepared: s.preparedQuery, CheckBody: s.bodyChecker(),
		Setting: func(st *ast.SetVar) (string, string, error) {
			v, err := s.setValue(st)
			if err != nil {
				return "", "", err
			}
			return s.checkSetting(st.Name, v)
		},
		Password: func(password string) (string, error) {
			if _, err := ParseVerifier(password); err == nil {
				return password, nil
			}
			v, err := MakeVerifier(password)
			return v.String(), err
		},
	}
	if db != nil {
		env.DatabaseOID = db.OID
	}
	return env, nil
}

// holdView keeps a view readable while a definition moves rows.
func (s *Session) holdView(v storage.View) func() {
	pin := s.tx.PinView(v)
	return pin.Release
}

// noteTemp remembers what COMMIT does with a new temporary table.
func (s *Session) noteTemp(rel types.OID, action ast.OnCommit) {
	switch action {
	case ast.OnCommitDelete, ast.OnCommitDrop:
		s.tempTables = append(s.tempTables, tempTable{rel, action})
	}
}

// preparedQuery is the SELECT of CREATE TABLE AS EXECUTE.
func (s *Session) preparedQuery(st *ast.Execute) (*ast.Select, error) {
	target, err := s.sqlPrepared(st.Name)
	if err != nil {
		return nil, err
	}
	q, ok := target.stmt.(*ast.Select)
	if !ok || len(st.Args) > 0 || len(target.params) > 0 {
		return nil, sqlerr.Unsupported("CREATE TABLE AS EXECUTE with parameters")
	}
	return q, nil
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
	s.planKey = envKey{}
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
	err := ddl.DropSchemaContents(s.catalogWriter(), s.tempSchema)
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

// noteLabel remembers a label that the transaction has added to an enum type.
func (s *Session) noteLabel(label types.OID) {
	if s.io.NewLabels == nil {
		s.io.NewLabels = map[types.OID]bool{}
	}
	s.io.NewLabels[label] = true
}
