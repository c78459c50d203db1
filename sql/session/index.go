package session

import (
	"herd/engine"
	"herd/engine/lock"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/ddl"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// The statements that build or drop an index in several transactions, beside those that write its table.

// transactions runs f, which commits and begins transactions as it goes, in place of the statement's own transaction. Table
// locks that f keeps are released.
func (s *Session) transactions(f func() error) error {
	if err := s.commit(); err != nil { // what the pipeline did before
		return err
	}
	s.restartReadCommitted()
	err := f()
	if err != nil && s.tx != nil {
		s.rollback()
	}
	s.eng.DropKept()
	s.progress(nil)
	if s.tx == nil {
		s.ensureTx()
	}
	return err
}

// restartReadCommitted begins a transaction in which each statement reads the newest state, whatever the session's
// default is.
func (s *Session) restartReadCommitted() {
	if s.tx != nil {
		s.rollback()
	}
	s.modes = txModes{isolation: "read committed"}
	s.startTx()
}

// step runs f in a transaction of its own and commits it.
func (s *Session) step(f func(env *ddl.Env) error) error {
	s.restartReadCommitted()
	env, err := s.definitionEnv("")
	if err == nil {
		err = f(env)
	}
	s.path.forget()
	if err != nil {
		s.rollback()
		return err
	}
	return s.commit()
}

// createIndexConcurrently is CREATE INDEX CONCURRENTLY.
func (s *Session) createIndexConcurrently(st *ast.CreateIndex, text string) error {
	if err := s.noBlock("CREATE INDEX CONCURRENTLY"); err != nil {
		return err
	}
	env, err := s.definitionEnv(text)
	if err != nil {
		return err
	}
	if temp, err := ddl.Temporary(env, st); err != nil {
		return err
	} else if temp {
		_, err := ddl.Execute(env, st)
		return err
	}
	return s.buildBeside(commandCreateIndexConcurrently, func() (b *ddl.IndexBuild, err error) {
		env, err := s.definitionEnv(text)
		if err != nil {
			return nil, err
		}
		return ddl.StartBuild(env, st)
	})
}

// buildBeside builds an index beside writers. start defines it.
func (s *Session) buildBeside(command int64, start func() (*ddl.IndexBuild, error)) error {
	return s.transactions(func() error {
		b, err := start()
		if err != nil {
			return err
		}
		if b == nil { // it exists
			return s.commit()
		}
		s.eng.KeepTable(uint32(b.Table), ddl.BuildLock)
		p := &buildProgress{command: command, table: b.Table, index: b.Index}
		s.progress(p)
		if err := s.commit(); err != nil {
			return err
		}
		err = s.build(b, p)
		b.Close()
		if err == nil {
			return s.step(func(env *ddl.Env) error { return ddl.FinishBuild(env, b, true) })
		}
		if s.tx != nil {
			s.rollback()
		}
		if e := s.step(func(env *ddl.Env) error { return ddl.FinishBuild(env, b, false) }); e != nil {
			s.srv.log.Error("could not mark an index invalid whose build failed", "index", b.Name, "error", e)
		}
		return err
	})
}

// build makes the entries of an index whose definition is committed, and waits until every reader sees them.
func (s *Session) build(b *ddl.IndexBuild, p *buildProgress) error {
	if rows, err := s.rowCount(b.Table); err == nil {
		p.rows.Store(rows)
	}
	p.phase.Store(phaseWaitWriters)
	if err := s.eng.WaitHolders(uint32(b.Table), lock.TableShare, p.lockers); err != nil {
		return err
	}
	p.phase.Store(phaseBuild)
	for !b.Done() {
		if err := s.buildStep(b); err != nil {
			return err
		}
		p.done.Store(b.Rows)
	}
	p.phase.Store(phaseWaitSnapshots)
	return s.eng.WaitSnapshots(s.eng.LastWrite(), p.lockers)
}

// buildStep is one part of a build; a row that stays locked is waited for without a lock on any other.
func (s *Session) buildStep(b *ddl.IndexBuild) error {
	if err := s.interrupt(); err != nil {
		return err
	}
	var wait *ddl.RowWait
	err := s.step(func(env *ddl.Env) (err error) {
		wait, err = b.Step(env)
		return err
	})
	if err != nil || wait == nil {
		return err
	}
	s.restartReadCommitted()
	err = wait.Wait(s.tx)
	s.rollback()
	return err
}

func (s *Session) rowCount(table types.OID) (int64, error) {
	cat, err := s.catalog()
	if err != nil {
		return 0, err
	}
	rel, err := cat.RelationByOID(table)
	if rel == nil || err != nil {
		return 0, err
	}
	n := cat.RowCount(rel)
	s.rollback()
	return n, nil
}

// dropIndexConcurrently is DROP INDEX CONCURRENTLY: readers first, then writers leave the index, then it goes.
func (s *Session) dropIndexConcurrently(st *ast.Drop, text string) error {
	if err := s.noBlock("DROP INDEX CONCURRENTLY"); err != nil {
		return err
	}
	return s.transactions(func() error {
		env, err := s.definitionEnv(text)
		if err != nil {
			return err
		}
		d, err := ddl.StartDrop(env, st, s.tried)
		if err != nil {
			return err
		}
		if d == nil {
			return s.commit()
		}
		s.eng.KeepTable(uint32(d.Table), ddl.BuildLock)
		if err := s.commit(); err != nil {
			return err
		}
		if err = s.leaveIndex(d); err == nil {
			return nil
		}
		if s.tx != nil {
			s.rollback()
		}
		if e := s.step(d.Abandon); e != nil {
			s.srv.log.Error("could not mark an index invalid that could not be dropped", "index", d.Index, "error", e)
		}
		return err
	})
}

// leaveIndex waits until nobody reads an index, then until nobody writes it, and drops it.
func (s *Session) leaveIndex(d *ddl.DropPlan) error {
	if err := s.eng.WaitHolders(uint32(d.Table), lock.AccessExclusive, nil); err != nil {
		return err
	}
	if err := s.step(d.Retire); err != nil {
		return err
	}
	if err := s.eng.WaitHolders(uint32(d.Table), lock.AccessExclusive, nil); err != nil {
		return err
	}
	return s.step(d.Drop)
}

// tried runs f and takes back what it changed.
func (s *Session) tried(f func() error) error {
	mark := s.tx.Savepoint()
	err := f()
	s.tx.RollbackTo(mark)
	s.path.forget()
	return err
}

// reindex is REINDEX: valid indexes are always exact here, so those that are invalid are built anew.
func (s *Session) reindex(st *ast.Reindex) (commandTag, error) {
	tag := commandTag{text: "REINDEX"}
	concurrently := false
	for _, o := range st.Options {
		if o.Name == "concurrently" {
			concurrently = optionOn(o.Value)
		}
	}
	if concurrently {
		if err := s.noBlock("REINDEX CONCURRENTLY"); err != nil {
			return tag, err
		}
	}
	list, err := s.reindexTargets(st)
	if err != nil {
		return tag, err
	}
	for _, id := range list {
		if concurrently {
			err = s.buildBeside(commandReindexConcurrently, func() (*ddl.IndexBuild, error) {
				env, err := s.definitionEnv("")
				if err != nil {
					return nil, err
				}
				return ddl.RestartBuild(env, id)
			})
		} else {
			var env *ddl.Env
			if env, err = s.definitionEnv(""); err == nil {
				env.Progress = s.building(commandReindex)
				err = ddl.Rebuild(env, id)
				s.progress(nil)
			}
		}
		if err != nil {
			return tag, err
		}
	}
	return tag, nil
}

// reindexTargets lists the invalid indexes that REINDEX means.
func (s *Session) reindexTargets(st *ast.Reindex) ([]types.OID, error) {
	env, err := s.definitionEnv("")
	if err != nil {
		return nil, err
	}
	if st.Table != nil {
		rel, err := s.relation(st.Table.Name)
		if err != nil {
			return nil, err
		}
		if st.Kind == ast.ObjIndex && rel.Kind != catalog.KindIndex {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not an index", rel.Name)
		}
		if st.Kind == ast.ObjTable && rel.Kind != catalog.KindTable && rel.Kind != catalog.KindMatView {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table or materialized view", rel.Name)
		}
		return ddl.InvalidIndexes(env, rel)
	}
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	schema := types.OID(0)
	if st.Kind == ast.ObjSchema {
		sc, err := cat.SchemaByName(st.Name)
		if err != nil {
			return nil, err
		}
		if sc == nil {
			return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", st.Name)
		}
		schema = sc.OID
	} else if st.Name != "" && st.Name != s.info.Database {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "can only reindex the currently open database")
	}
	var out []types.OID
	var failed error
	err = cat.Relations(func(rel *catalog.Relation) bool {
		if rel.Kind != catalog.KindTable && rel.Kind != catalog.KindMatView || schema != 0 && rel.Schema != schema {
			return true
		}
		list, err := ddl.InvalidIndexes(env, rel)
		out, failed = append(out, list...), err
		return err == nil
	})
	if err == nil {
		err = failed
	}
	return out, err
}

// voidBuilds makes the indexes of a database invalid whose build ended with the server.
func (srv *Server) voidBuilds(db *engine.Database) error {
	list, err := catalog.Building(systemSource{db})
	if err != nil || len(list) == 0 {
		return err
	}
	srv.log.Warn("indexes whose build was interrupted are invalid now", "database", db.Name(), "count", len(list))
	return srv.inTx(db, func(w *catalog.Writer) error { return ddl.VoidBuilds(w, list) })
}
