package session

import (
	"strings"

	"herd/engine/lock"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// checkpoint is CHECKPOINT.
func (s *Session) checkpoint() (commandTag, error) {
	if !s.superuser {
		return commandTag{}, sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT")
	}
	return commandTag{text: "CHECKPOINT"}, s.db.Checkpoint()
}

// lockTable is LOCK TABLE.
func (s *Session) lockTable(st *ast.LockTable) (commandTag, error) {
	tag := commandTag{text: "LOCK TABLE"}
	if !s.block && !s.implicitBlock {
		return tag, sqlerr.New(sqlerr.NoActiveSqlTransaction, "LOCK TABLE can only be used in transaction blocks")
	}
	policy := lock.Wait
	if st.NoWait {
		policy = lock.NoWait
	}
	for _, t := range st.Tables {
		rel, err := s.relation(t.Name)
		if err != nil {
			return tag, err
		}
		if rel.Kind != catalog.KindTable && rel.Kind != catalog.KindView {
			return tag, sqlerr.New(sqlerr.WrongObjectType, "cannot lock relation \"%s\"", rel.Name)
		}
		if err := s.mayLock(rel, tableModes[st.Mode]); err != nil {
			return tag, err
		}
		if err := s.tx.LockTable(uint32(rel.OID), tableModes[st.Mode], policy); err != nil {
			e := sqlerr.From(err)
			if e.Code == sqlerr.LockNotAvailable && policy == lock.NoWait {
				e.Message = "could not obtain lock on relation \"" + rel.Name + "\""
			}
			return tag, e
		}
	}
	s.txUsed = true
	return tag, nil
}

// mayLock makes sure that the user may do to a relation some of what the lock is for.
func (s *Session) mayLock(rel *catalog.Relation, m lock.Mode) error {
	need := []catalog.Privileges{catalog.PrivUpdate, catalog.PrivDelete, catalog.PrivTruncate}
	switch m {
	case lock.AccessShare:
		need = []catalog.Privileges{catalog.PrivSelect}
	case lock.RowExclusive:
		need = append(need, catalog.PrivInsert)
	}
	return s.mayAny(rel, need...)
}

// owns says whether the user is, or is a member of, the owner of a relation.
func (s *Session) owns(rel *catalog.Relation) (bool, error) {
	if s.superuser || rel.Owner == s.user.OID {
		return true, nil
	}
	cat, err := s.catalog()
	if err != nil {
		return false, err
	}
	set, err := catalog.MembersOf(cat, s.user.OID)
	return set[rel.Owner], err
}

// tableModes turns LOCK TABLE's numbers (1 ACCESS SHARE to 8 ACCESS EXCLUSIVE) into lock modes.
var tableModes = [...]lock.Mode{1: lock.AccessShare, 2: lock.RowShare, 3: lock.RowExclusive, 4: lock.ShareUpdateExclusive, 5: lock.TableShare,
	6: lock.ShareRowExclusive, 7: lock.Exclusive, 8: lock.AccessExclusive}

// relation finds a relation by a name of the statement.
func (s *Session) relation(n ast.Name) (*catalog.Relation, error) {
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	path, err := s.searchOIDs()
	if err != nil {
		return nil, err
	}
	rel, err := cat.LookupRelation(n.Schema, n.Name, path)
	if err != nil {
		return nil, err
	}
	if rel == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", n.String())
	}
	return rel, nil
}

// vacuum is VACUUM and ANALYZE. There is nothing to vacuum: old row versions are not kept in tables. VACUUM checks its
// targets and, with ANALYZE, gathers statistics.
func (s *Session) vacuum(st *ast.Vacuum) (commandTag, error) {
	tag := commandTag{text: "ANALYZE"}
	analyze := !st.Vacuum
	if st.Vacuum {
		tag.text = "VACUUM"
		if err := s.noBlock("VACUUM"); err != nil {
			return tag, err
		}
		for _, o := range st.Options {
			if strings.EqualFold(o.Name, "analyze") && optionOn(o.Value) {
				analyze = true
			}
		}
	}
	rels, err := s.vacuumTargets(st)
	if err != nil || !analyze {
		return tag, err
	}
	for _, rel := range rels {
		if err := s.analyze(rel, len(st.Targets) > 0); err != nil {
			return tag, err
		}
	}
	return tag, nil
}

// vacuumTargets are the named tables, or all that the user owns.
func (s *Session) vacuumTargets(st *ast.Vacuum) ([]*catalog.Relation, error) {
	var out []*catalog.Relation
	for _, t := range st.Targets {
		rel, err := s.relation(t.Table.Name)
		if err != nil {
			return nil, err
		}
		if rel.Kind != catalog.KindTable && rel.Kind != catalog.KindMatView {
			s.notice(sqlerr.Warn(sqlerr.SuccessfulCompletion, "skipping \"%s\" --- cannot vacuum non-tables or special system tables", rel.Name))
			continue
		}
		if ok, err := s.mayVacuum(rel, st.Vacuum); err != nil {
			return nil, err
		} else if ok {
			out = append(out, rel)
		}
	}
	if len(st.Targets) > 0 {
		return out, nil
	}
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	err = cat.Relations(func(r *catalog.Relation) bool {
		if r.Kind == catalog.KindTable && (s.superuser || r.Owner == s.user.OID) {
			out = append(out, r)
		}
		return true
	})
	return out, err
}

// mayVacuum says whether the user may clean or, if not vacuum, analyze a table; who owns neither it nor the database is told.
func (s *Session) mayVacuum(rel *catalog.Relation, vacuum bool) (bool, error) {
	ok, err := s.owns(rel)
	if ok || err != nil {
		return ok, err
	}
	d, err := s.srv.systemReader().DatabaseByName(s.info.Database)
	if err != nil {
		return false, err
	}
	who := "table or database owner"
	if rel.OID < firstUserOID {
		who = "superuser or database owner"
	}
	if d != nil && d.Owner == s.user.OID {
		return true, nil
	}
	word := "analyze"
	if vacuum {
		word = "vacuum"
	}
	s.notice(sqlerr.Warn(sqlerr.Warning, "skipping \"%s\" --- only %s can %s it", rel.Name, who, word))
	return false, nil
}

// cluster is CLUSTER: rows are always kept in primary-key order, another order is not to be had.
func (s *Session) cluster(st *ast.Cluster) (commandTag, error) {
	if st.Table == nil {
		return commandTag{text: "CLUSTER"}, nil
	}
	rel, err := s.relation(st.Table.Name)
	if err != nil {
		return commandTag{}, err
	}
	if ok, err := s.owns(rel); err != nil {
		return commandTag{}, err
	} else if !ok {
		return commandTag{}, sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of table %s", rel.Name)
	}
	if rel.PrimaryKey == nil || st.Index != "" && rel.PrimaryKey.Name != st.Index {
		return commandTag{}, sqlerr.Unsupported("CLUSTER on another index than the primary key")
	}
	return commandTag{text: "CLUSTER"}, nil
}

// setConstraints is SET CONSTRAINTS.
func (s *Session) setConstraints(st *ast.SetConstraints) (commandTag, error) {
	tag := commandTag{text: "SET CONSTRAINTS"}
	if !s.block && !s.implicitBlock {
		s.notice(sqlerr.Warn(sqlerr.NoActiveSqlTransaction, "SET CONSTRAINTS can only be used in transaction blocks"))
		return tag, nil
	}
	mode := byte('i')
	if st.Deferred {
		mode = 'd'
	}
	if st.All {
		s.deferred.All = mode
		s.deferred.Named = nil
	} else if err := s.nameConstraints(st.Names, mode); err != nil {
		return tag, err
	}
	if !st.Deferred {
		return tag, s.checkDeferred()
	}
	return tag, nil
}

// optionOn reads a Boolean option; one without a value is on.
func optionOn(v ast.OptionValue) bool {
	text := v.String()
	if text == "" {
		return true
	}
	on, ok := parseBool(text)
	return on || !ok
}

// nameConstraints sets the mode of the named constraints for the rest of the transaction.
func (s *Session) nameConstraints(names []ast.Name, mode byte) error {
	cat, err := s.catalog()
	if err != nil {
		return err
	}
	for _, n := range names {
		var found *catalog.Constraint
		err := cat.Relations(func(r *catalog.Relation) bool {
			for _, c := range r.Constraints {
				if c.Name == n.Name {
					found = c
				}
			}
			return found == nil
		})
		if err != nil {
			return err
		}
		switch {
		case found == nil:
			return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" does not exist", n.String())
		case !found.Deferrable:
			return sqlerr.New(sqlerr.WrongObjectType, "constraint \"%s\" is not deferrable", n.String())
		}
		if s.deferred.Named == nil {
			s.deferred.Named = make(map[types.OID]byte)
		}
		s.deferred.Named[found.OID] = mode
	}
	return nil
}
