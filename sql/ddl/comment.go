package ddl

import (
	"herd/engine/lock"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

func (x *executor) comment(s *ast.Comment) error {
	class, id, sub, shared, err := x.commented(s)
	if err != nil {
		return err
	}
	if shared {
		return x.System(func(w *catalog.Writer) error { return w.SetComment(class, id, sub, s.Text) })
	}
	return x.Writer.SetComment(class, id, sub, s.Text)
}

// commented finds the object of a COMMENT; shared objects are of the system database.
func (x *executor) commented(s *ast.Comment) (class, id types.OID, sub int32, shared bool, err error) {
	n := s.Object.Name
	if kind := relationKinds[s.Kind]; kind != 0 {
		rel, err := x.commentRelation(n, kind)
		if err != nil {
			return 0, 0, 0, false, err
		}
		return catalog.ClassRelation, rel.OID, 0, false, nil
	}
	switch s.Kind {
	case ast.ObjColumn:
		rel, err := x.commentRelation(n, 0)
		if err != nil {
			return 0, 0, 0, false, err
		}
		c := rel.ColumnByName(s.Object.Sub)
		if c == nil {
			return 0, 0, 0, false, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", s.Object.Sub, rel.Name)
		}
		return catalog.ClassRelation, rel.OID, int32(c.Num), false, nil
	case ast.ObjConstraint:
		rel, err := x.commentRelation(n, 0)
		if err != nil {
			return 0, 0, 0, false, err
		}
		k := rel.ConstraintByName(s.Object.Sub)
		if k == nil {
			return 0, 0, 0, false, sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist", s.Object.Sub, rel.Name)
		}
		return catalog.ClassConstraint, k.OID, 0, false, nil
	case ast.ObjSchema:
		sc, err := x.reader().SchemaByName(n.Name)
		if err != nil {
			return 0, 0, 0, false, err
		}
		if sc == nil {
			return 0, 0, 0, false, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", n.Name)
		}
		return catalog.ClassNamespace, sc.OID, 0, false, x.ownerOf(sc.Owner, "schema", sc.Name)
	case ast.ObjFunction, ast.ObjRoutine:
		p, err := x.functionNamed(&s.Object)
		if err != nil {
			return 0, 0, 0, false, err
		}
		return catalog.ClassProc, p.OID, 0, false, x.ownerOf(p.Owner, "function", p.Name)
	case ast.ObjDomConstraint:
		return x.commentedCheck(s)
	case ast.ObjType, ast.ObjDomain:
		t, err := x.userType(n)
		if err != nil {
			return 0, 0, 0, false, err
		}
		return catalog.ClassType, t.OID, 0, false, nil
	}
	return x.commentedShared(s)
}

// commentedCheck finds a constraint of a domain.
func (x *executor) commentedCheck(s *ast.Comment) (class, id types.OID, sub int32, shared bool, err error) {
	t, err := x.userType(s.Object.Name)
	if err != nil {
		return 0, 0, 0, false, err
	}
	if err := x.ownerOf(t.Owner, "type", t.Name); err != nil {
		return 0, 0, 0, false, err
	}
	for i := range t.Checks {
		if t.Checks[i].Name == s.Object.Sub {
			return catalog.ClassConstraint, t.Checks[i].OID, 0, false, nil
		}
	}
	return 0, 0, 0, false, sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for domain %s does not exist", s.Object.Sub, t.Name)
}

func (x *executor) commentedShared(s *ast.Comment) (class, id types.OID, sub int32, shared bool, err error) {
	name := s.Object.Name.Name
	switch s.Kind {
	case ast.ObjDatabase:
		d, err := x.reader().DatabaseByName(name)
		if err != nil {
			return 0, 0, 0, false, err
		}
		if d == nil {
			return 0, 0, 0, false, sqlerr.New(sqlerr.UndefinedDatabase, "database \"%s\" does not exist", name)
		}
		return catalog.ClassDatabase, d.OID, 0, true, x.ownerOf(d.Owner, "database", d.Name)
	case ast.ObjRole:
		r, err := x.reader().RoleByName(name)
		if err != nil {
			return 0, 0, 0, false, err
		}
		if r == nil {
			return 0, 0, 0, false, sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
		}
		if !x.User.Super && !x.User.CreateRole {
			return 0, 0, 0, false, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied")
		}
		return catalog.ClassAuthID, r.OID, 0, true, nil
	}
	return 0, 0, 0, false, sqlerr.Unsupported("COMMENT ON %s", string(s.Kind))
}

// commentRelation finds a relation, of a kind when it is not 0.
func (x *executor) commentRelation(n ast.Name, kind catalog.RelKind) (*catalog.Relation, error) {
	rel, err := x.find(n)
	if err != nil {
		return nil, err
	}
	if rel == nil {
		return nil, x.missing(n)
	}
	if kind != 0 && rel.Kind != kind {
		article := "a "
		if kind == catalog.KindIndex {
			article = "an "
		}
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not %s%s", rel.Name, article, catalog.RelationWord(kind))
	}
	if rel.Kind == catalog.KindIndex {
		return rel, x.ownerOf(rel.Owner, "index", rel.Name)
	}
	if err := x.own(rel); err != nil {
		return nil, err
	}
	return x.lockOID(rel.OID, lock.ShareUpdateExclusive)
}
