package ddl

import (
	"herd/engine/lock"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// truncate empties tables by giving them new trees.
func (x *executor) truncate(s *ast.Truncate) error {
	var list []*catalog.Relation
	seen := map[types.OID]bool{}
	add := func(rel *catalog.Relation) error {
		if seen[rel.OID] {
			return nil
		}
		seen[rel.OID] = true
		list = append(list, rel)
		return x.mayTruncate(rel)
	}
	for _, t := range s.Tables {
		rel, err := x.locked(t.Name, lock.AccessExclusive, false, x.mayTruncate)
		if err != nil {
			return err
		}
		if err := add(rel); err != nil {
			return err
		}
	}
	for i := 0; i < len(list); i++ {
		for k, child := range list[i].ReferencedByRel {
			if seen[child] {
				continue
			}
			rel, err := x.lockOID(child, lock.AccessExclusive)
			if err != nil {
				return err
			}
			if !s.Cascade {
				return x.truncateReferenced(list[i], rel, list[i].ReferencedBy[k])
			}
			x.notice(sqlerr.SuccessfulCompletion, "truncate cascades to table \"%s\"", rel.Name)
			if err := add(rel); err != nil {
				return err
			}
		}
	}
	for _, rel := range list {
		if err := x.empty(rel.OID, nil); err != nil {
			return err
		}
		if s.RestartIdentity {
			if err := x.restartSequences(rel); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *executor) truncateReferenced(rel, child *catalog.Relation, _ types.OID) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot truncate a table referenced in a foreign key constraint").
		WithDetail("Table \"%s\" references \"%s\".", child.Name, rel.Name).
		WithHint("Truncate table \"%s\" at the same time, or use TRUNCATE ... CASCADE.", child.Name)
}

func (x *executor) mayTruncate(rel *catalog.Relation) error {
	if rel.Kind != catalog.KindTable {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table", rel.Name)
	}
	if rel.OID < firstUser {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", rel.Name)
	}
	if x.User.Super {
		return nil
	}
	set, err := catalog.MembersOf(x.reader(), x.User.OID)
	if err != nil {
		return err
	}
	privs, _ := catalog.Granted(catalog.EffectiveACL(rel.ACL, 'r', rel.Owner), rel.Owner, set)
	if set[rel.Owner] || privs&catalog.PrivTruncate != 0 {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for table %s", rel.Name)
}

// empty gives a table new, empty trees and makes further changes to it.
func (x *executor) empty(id types.OID, change func(now *catalog.Relation)) error {
	old, err := x.reader().RelationByOID(id)
	if err != nil {
		return err
	}
	now := old.Clone()
	newTrees(now)
	if change != nil {
		change(now)
	}
	return x.Writer.UpdateRelation(old, now)
}

// restartSequences sets the sequences that a table's columns own to their start when the transaction commits.
func (x *executor) restartSequences(rel *catalog.Relation) error {
	for i := range rel.Columns {
		id := rel.Columns[i].Sequence
		if id == 0 || rel.Columns[i].Dropped {
			continue
		}
		seq, err := x.reader().RelationByOID(id)
		if err != nil {
			return err
		}
		if seq == nil || seq.Sequence == nil {
			continue
		}
		start := seq.Sequence.Start
		x.Tx.OnCommit(func() { x.Sequences.SetSequence(uint32(id), start, false) })
	}
	return nil
}
