package ddl

import (
	"herd/engine/lock"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// renameWord is the object named in the command tag of ALTER ... RENAME.
func renameWord(s *ast.Rename) ast.ObjectKind {
	switch s.Kind {
	case ast.ObjColumn, ast.ObjAttribute:
		return s.Relation
	case ast.ObjConstraint:
		return ast.ObjTable
	case ast.ObjDomConstraint:
		return ast.ObjDomain
	}
	return s.Kind
}

func (x *executor) rename(s *ast.Rename) error {
	switch s.Kind {
	case ast.ObjColumn, ast.ObjAttribute:
		return x.renameColumn(s)
	case ast.ObjConstraint:
		return x.renameConstraint(s)
	case ast.ObjTable, ast.ObjView, ast.ObjSequence, ast.ObjIndex, ast.ObjMatView:
		return x.renameRelation(s)
	case ast.ObjSchema:
		return x.renameSchema(s)
	case ast.ObjRole:
		return x.renameRole(s)
	case ast.ObjType, ast.ObjDomain:
		return x.renameType(s)
	case ast.ObjDomConstraint:
		return x.renameDomainConstraint(s)
	case ast.ObjFunction, ast.ObjRoutine:
		return x.changeFunction(&s.Object, func(now *catalog.Proc) error { now.Name = s.New; return nil })
	case ast.ObjDatabase:
		return sqlerr.Unsupported("ALTER DATABASE ... RENAME")
	}
	return sqlerr.Unsupported("ALTER %s ... RENAME", string(s.Kind))
}

func (x *executor) renameRelation(s *ast.Rename) error {
	rel, err := x.locked(s.Table.Name, lock.AccessExclusive, s.IfExists)
	if rel == nil || err != nil {
		return err
	}
	if rel.Kind == catalog.KindIndex {
		return x.renameIndex(rel, s.New)
	}
	switch {
	case s.Kind == ast.ObjView && rel.Kind != catalog.KindView:
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a view", rel.Name)
	case s.Kind == ast.ObjSequence && rel.Kind != catalog.KindSequence:
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", rel.Name)
	case s.Kind == ast.ObjIndex:
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not an index", rel.Name)
	}
	if err := x.own(rel); err != nil {
		return err
	}
	if _, err := x.notThere(rel.Schema, s.New, false); err != nil {
		return err
	}
	refs, err := x.dependentsOf(catalog.ClassRelation, rel.OID, 0)
	if err != nil {
		return err
	}
	now := rel.Clone()
	now.Name = s.New
	if err := x.Writer.UpdateRelation(rel, now); err != nil {
		return err
	}
	return x.restore(refs)
}

// renameIndex renames an index and the constraint it belongs to.
func (x *executor) renameIndex(index *catalog.Relation, name string) error {
	table, ix, err := x.reader().IndexByOID(index.OID)
	if err != nil {
		return err
	}
	if table, err = x.lockOID(table.OID, lock.AccessExclusive); err != nil {
		return err
	}
	if err := x.own(table); err != nil {
		return err
	}
	if _, err := x.notThere(table.Schema, name, false); err != nil {
		return err
	}
	now := table.Clone()
	for _, i := range now.AllIndexes() {
		if i.OID == ix.OID {
			i.Name = name
		}
	}
	for _, k := range now.Constraints {
		if k.OID == ix.Constraint && ix.Constraint != 0 {
			k.Name = name
		}
	}
	return x.Writer.UpdateRelation(table, now)
}

func (x *executor) renameColumn(s *ast.Rename) error {
	rel, err := x.locked(s.Table.Name, lock.AccessExclusive, s.IfExists)
	if rel == nil || err != nil {
		return err
	}
	switch rel.Kind {
	case catalog.KindTable, catalog.KindView, catalog.KindMatView, catalog.KindComposite:
	default:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot rename columns of relation \"%s\"", rel.Name).WithDetail("This operation is not supported for %s.", kindPlural(rel.Kind))
	}
	if err := x.own(rel); err != nil {
		return err
	}
	c := rel.ColumnByName(s.Old)
	if c == nil {
		if systemColumns[s.Old] {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot rename system column \"%s\"", s.Old)
		}
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", s.Old)
	}
	if systemColumns[s.New] {
		return sqlerr.New(sqlerr.DuplicateColumn, "column name \"%s\" conflicts with a system column name", s.New)
	}
	if rel.ColumnByName(s.New) != nil {
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists", s.New, rel.Name)
	}
	refs, err := x.dependentsOf(catalog.ClassRelation, rel.OID, int32(c.Num))
	if err != nil {
		return err
	}
	now := rel.Clone()
	now.Columns[c.Num-1].Name = s.New
	if err := x.Writer.UpdateRelation(rel, now); err != nil {
		return err
	}
	return x.restore(refs)
}

func (x *executor) renameConstraint(s *ast.Rename) error {
	rel, err := x.locked(s.Table.Name, lock.AccessExclusive, s.IfExists)
	if rel == nil || err != nil {
		return err
	}
	if err := x.own(rel); err != nil {
		return err
	}
	k := rel.ConstraintByName(s.Old)
	if k == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist", s.Old, rel.Name)
	}
	if rel.ConstraintByName(s.New) != nil {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for relation \"%s\" already exists", s.New, rel.Name)
	}
	now := rel.Clone()
	now.ConstraintByName(s.Old).Name = s.New
	if k.Type == 'p' || k.Type == 'u' {
		for _, ix := range now.AllIndexes() {
			if ix.OID == k.Index {
				ix.Name = s.New
			}
		}
	}
	return x.Writer.UpdateRelation(rel, now)
}

func (x *executor) renameSchema(s *ast.Rename) error {
	old, err := x.reader().SchemaByName(s.Old)
	if err != nil {
		return err
	}
	if old == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s.Old)
	}
	if err := x.ownerOf(old.Owner, "schema", old.Name); err != nil {
		return err
	}
	if err := reservedSchema(s.New); err != nil {
		return err
	}
	if other, err := x.reader().SchemaByName(s.New); err != nil {
		return err
	} else if other != nil {
		return sqlerr.New(sqlerr.DuplicateSchema, "schema \"%s\" already exists", s.New)
	}
	// Stored text is qualified: whatever refers to something in the schema is written again.
	refs, err := x.schemaRefs(old.OID)
	if err != nil {
		return err
	}
	now := *old
	now.Name = s.New
	if err := x.Writer.UpdateSchema(old, &now); err != nil {
		return err
	}
	return x.restore(refs)
}

// schemaRefs lists the texts that refer to objects of a schema.
func (x *executor) schemaRefs(schema types.OID) ([]restored, error) {
	var members []types.OID
	err := x.reader().RelationsInSchema(schema, func(r *catalog.Relation) bool {
		members = append(members, r.OID)
		return true
	})
	if err != nil {
		return nil, err
	}
	var out []restored
	seen := map[types.OID]bool{}
	for _, id := range members {
		list, err := x.dependentsOf(catalog.ClassRelation, id, 0)
		if err != nil {
			return nil, err
		}
		done := map[types.OID]bool{}
		for _, r := range list {
			if !seen[r.rel] {
				out = append(out, r)
				done[r.rel] = true
			}
		}
		for id := range done {
			seen[id] = true
		}
	}
	return out, nil
}

func (x *executor) setSchema(s *ast.AlterObjectSchema) error {
	to, err := x.reader().SchemaByName(s.Schema)
	if err != nil {
		return err
	}
	if s.Table == nil {
		if s.Kind == ast.ObjType || s.Kind == ast.ObjDomain {
			return x.typeToSchema(s, to)
		}
		if s.Kind == ast.ObjFunction || s.Kind == ast.ObjRoutine {
			return x.changeFunction(&s.Object, func(now *catalog.Proc) error {
				if to == nil {
					return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s.Schema)
				}
				now.Namespace = to.OID
				return x.mayCreate(to.OID, now.Name)
			})
		}
		return sqlerr.Unsupported("ALTER %s ... SET SCHEMA", string(s.Kind))
	}
	rel, err := x.locked(s.Table.Name, lock.AccessExclusive, s.IfExists)
	if rel == nil || err != nil {
		return err
	}
	if err := x.own(rel); err != nil {
		return err
	}
	if to == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s.Schema)
	}
	if q := rel.Sequence; q != nil && q.OwnerRel != 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot move an owned sequence into another schema").
			WithDetail("Sequence \"%s\" is linked to table \"%s\".", rel.Name, x.relationName(q.OwnerRel))
	}
	if rel.Schema == to.OID {
		return nil
	}
	if err := x.mayCreate(to.OID, rel.Name); err != nil {
		return err
	}
	return x.moveRelation(rel, to)
}

// moveRelation moves a relation, and the sequences of its columns, to another schema.
func (x *executor) moveRelation(rel *catalog.Relation, to *catalog.Schema) error {
	if other, err := x.reader().RelationByName(to.OID, rel.Name); err != nil {
		return err
	} else if other != nil {
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists in schema \"%s\"", rel.Name, to.Name)
	}
	refs, err := x.dependentsOf(catalog.ClassRelation, rel.OID, 0)
	if err != nil {
		return err
	}
	now := rel.Clone()
	now.Schema = to.OID
	if err := x.Writer.UpdateRelation(rel, now); err != nil {
		return err
	}
	for i := range rel.Columns {
		id := rel.Columns[i].Sequence
		if id == 0 || rel.Columns[i].Dropped {
			continue
		}
		seq, err := x.reader().RelationByOID(id)
		if err != nil {
			return err
		}
		if seq == nil || seq.Sequence == nil || seq.Sequence.OwnerRel != rel.OID {
			continue
		}
		moved := seq.Clone()
		moved.Schema = to.OID
		if err := x.Writer.UpdateRelation(seq, moved); err != nil {
			return err
		}
	}
	return x.restore(refs)
}

func (x *executor) alterOwner(s *ast.AlterOwner) error {
	role, err := x.role(&s.Owner)
	if err != nil {
		return err
	}
	switch s.Kind {
	case ast.ObjSchema:
		old, err := x.reader().SchemaByName(s.Object.Name.Name)
		if err != nil {
			return err
		}
		if old == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s.Object.Name.Name)
		}
		if err := x.ownerOf(old.Owner, "schema", old.Name); err != nil {
			return err
		}
		if err := x.mayBecome(role); err != nil {
			return err
		}
		now := *old
		now.ACL, now.Owner = changeACLOwner(old.ACL, old.Owner, role.OID), role.OID
		return x.Writer.UpdateSchema(old, &now)
	case ast.ObjType, ast.ObjDomain:
		old, err := x.userType(s.Object.Name)
		if err != nil {
			return err
		}
		if err := x.mayBecome(role); err != nil {
			return err
		}
		if old.Relid != 0 {
			return x.rowTypeOwner(old, role.OID)
		}
		now := *old
		now.Owner = role.OID
		return x.Writer.UpdateType(old, &now)
	case ast.ObjFunction, ast.ObjRoutine:
		return x.changeFunction(&s.Object, func(now *catalog.Proc) error {
			now.Owner = role.OID
			return x.mayBecome(role)
		})
	case ast.ObjDatabase:
		return x.databaseOwner(s.Object.Name.Name, role)
	}
	return sqlerr.Unsupported("ALTER %s ... OWNER TO", string(s.Kind))
}

// databaseOwner is ALTER DATABASE ... OWNER TO.
func (x *executor) databaseOwner(name string, role *catalog.Role) error {
	return x.System(func(w *catalog.Writer) error {
		old, err := w.Reader().DatabaseByName(name)
		if err != nil {
			return err
		}
		if old == nil {
			return sqlerr.New(sqlerr.UndefinedDatabase, "database \"%s\" does not exist", name)
		}
		if err := x.ownerOf(old.Owner, "database", name); err != nil {
			return err
		}
		now := *old
		now.ACL, now.Owner = changeACLOwner(old.ACL, old.Owner, role.OID), role.OID
		return w.UpdateDatabase(old, &now)
	})
}

// mayBecome checks that the user is a member of a role that is to own something.
func (x *executor) mayBecome(role *catalog.Role) error {
	if x.User.Super || x.User.OID == role.OID {
		return nil
	}
	set, err := catalog.MembersOf(x.reader(), x.User.OID)
	if err != nil {
		return err
	}
	if set[role.OID] {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "must be member of role \"%s\"", role.Name)
}

// rowTypeOwner gives a composite type to another role: it is stored as a relation.
func (x *executor) rowTypeOwner(t *catalog.Type, owner types.OID) error {
	rel, err := x.reader().RelationByOID(t.Relid)
	if err != nil {
		return err
	}
	if rel != nil && rel.Kind != catalog.KindComposite {
		return sqlerr.New(sqlerr.WrongObjectType, "%s is a table's row type", x.typeText(t.OID)).WithHint("Use ALTER TABLE instead.")
	}
	return x.setOwner(t.Relid, owner)
}
