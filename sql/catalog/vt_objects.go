package catalog

import (
	"strings"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

func typeRows(s *scan) (func() (bool, error), error) {
	emitOne := func(t *Type, err error) (func() (bool, error), error) {
		if t == nil || err != nil || t.OID < pgdata.FirstUserOID {
			return nil, err
		}
		return once(func() error { return s.emitType(t) }), nil
	}
	if id, ok := s.pinnedOID(1); ok {
		return emitOne(s.r.TypeByOID(id))
	}
	if schema, ok := s.pinnedOID(3); ok {
		if name, ok := s.pinned(2); ok {
			return emitOne(s.r.TypeByName(schema, string(name.B)))
		}
	}
	if relid, ok := s.pinnedOID(12); ok && relid != 0 {
		rel, err := s.r.RelationByOID(relid)
		if rel == nil || err != nil {
			return nil, err
		}
		return emitOne(s.r.TypeByOID(rel.RowType))
	}
	if elem, ok := s.pinnedOID(14); ok && elem != 0 {
		t, err := s.r.TypeByOID(elem)
		if t == nil || err != nil {
			return nil, err
		}
		return emitOne(s.r.TypeByOID(t.Array))
	}
	var ids []types.OID
	err := s.r.UserTypes(func(t *Type) bool { ids = append(ids, t.OID); return true })
	return overIDs(ids, func(id types.OID) error {
		t, err := s.r.TypeByOID(id)
		if t == nil || err != nil {
			return err
		}
		return s.emitType(t)
	}), err
}

// JoinACL makes the one-line form of a stored list for Type.ACL and Proc.ACL.
func JoinACL(list []string) string {
	if list == nil {
		return ""
	}
	return "{" + strings.Join(list, ",") + "}"
}

func (s *scan) emitType(t *Type) error {
	acl, err := s.aclD(32, SplitACL(t.ACL))
	if err != nil {
		return err
	}
	s.emit(oidD(t.OID), textD(t.Name), oidD(t.Namespace), oidD(t.Owner), intD(t.Len), boolD(t.ByVal), charD(t.Type), charD(t.Category),
		boolD(t.Preferred), boolD(t.Defined), charD(t.Delim), oidD(t.Relid), oidD(t.Subscript), oidD(t.Elem), oidD(t.Array), oidD(t.Input),
		oidD(t.Output), oidD(t.Receive), oidD(t.Send), oidD(t.ModIn), oidD(t.ModOut), oidD(t.Analyze), charD(t.Align), charD(t.Storage),
		boolD(t.NotNull), oidD(t.BaseType), intD(t.Typmod), intD(t.NDims), oidD(t.Collation), optD(t.Default), optD(t.Default), acl)
	return nil
}

func enumRows(s *scan) (func() (bool, error), error) {
	emit := func(t *Type) bool {
		for _, l := range t.Labels {
			s.emit(oidD(l.OID), oidD(t.OID), floatD(l.Sort), textD(l.Name))
		}
		return true
	}
	if id, ok := s.pinnedOID(2); ok {
		t, err := s.r.TypeByOID(id)
		if t == nil || err != nil {
			return nil, err
		}
		return once(func() error { emit(t); return nil }), nil
	}
	return once(func() error { return s.r.UserTypes(emit) }), nil
}

func procRows(s *scan) (func() (bool, error), error) {
	emitAll := func(each func(f func(*Proc) bool) error) func() (bool, error) {
		return once(func() error {
			var inner error
			err := each(func(p *Proc) bool { inner = s.emitProc(p); return inner == nil })
			if err == nil {
				err = inner
			}
			return err
		})
	}
	if id, ok := s.pinnedOID(1); ok {
		if id < pgdata.FirstUserOID {
			return nil, nil
		}
		p, err := s.r.FuncByOID(id)
		if p == nil || err != nil {
			return nil, err
		}
		return once(func() error { return s.emitProc(p) }), nil
	}
	return emitAll(s.r.UserFuncs), nil
}

func (s *scan) emitProc(p *Proc) error {
	acl, err := s.aclD(30, SplitACL(p.ACL))
	if err != nil {
		return err
	}
	support := types.OID(0)
	defaults := optD(strings.Join(p.ArgDefaults, ", "))
	s.emit(oidD(p.OID), textD(p.Name), oidD(p.Namespace), oidD(p.Owner), oidD(p.Lang), floatD(p.Cost), floatD(p.Rows), oidD(p.Variadic),
		oidD(support), charD(p.Kind), boolD(p.SecDef), boolD(p.LeakProof), boolD(p.Strict), boolD(p.RetSet), charD(p.Volatile),
		charD(p.Parallel), intD(p.NArgs), intD(p.NArgDefaults), oidD(p.RetType), vectorD(types.OIDOID, p.ArgTypes, oidD),
		listD(types.OIDOID, p.AllArgTypes, oidD), listD(types.QCharOID, p.ArgModes, charD[byte]), listD(types.TextOID, p.ArgNames, textD),
		defaults, nullD, textD(p.Src), nullD, optD(p.SQLBody), nullD, acl)
	return nil
}

func namespaceRows(s *scan) (func() (bool, error), error) {
	emit := func(x *Schema) error {
		acl, err := s.aclD(4, x.ACL)
		s.emit(oidD(x.OID), textD(x.Name), oidD(x.Owner), acl)
		return err
	}
	var one *Schema
	var err error
	if id, ok := s.pinnedOID(1); ok {
		one, err = s.r.SchemaByOID(id)
	} else if name, ok := s.pinned(2); ok {
		one, err = s.r.SchemaByName(string(name.B))
	} else {
		list, err := s.r.Schemas()
		return once(func() error {
			for _, x := range list {
				if err := emit(x); err != nil {
					return err
				}
			}
			return nil
		}), err
	}
	if one == nil || err != nil {
		return nil, err
	}
	return once(func() error { return emit(one) }), nil
}

func dependRows(s *scan) (func() (bool, error), error) {
	emit := func(d Dependency) bool {
		s.emit(oidD(d.Class), oidD(d.OID), intD(d.Sub), oidD(d.RefClass), oidD(d.RefOID), intD(d.RefSub), charD(d.Type))
		return true
	}
	class, hasClass := s.pinnedOID(1)
	id, hasID := s.pinnedOID(2)
	refClass, hasRefClass := s.pinnedOID(4)
	ref, hasRef := s.pinnedOID(5)
	switch {
	case hasClass && hasID:
		return once(func() error { return s.r.References(class, id, 0, emit) }), nil
	case hasRefClass && hasRef:
		return once(func() error { return s.r.Dependents(refClass, ref, 0, emit) }), nil
	case hasID || hasRef:
		return once(func() error {
			for _, c := range dependClasses {
				var err error
				if hasID {
					err = s.r.References(c, id, 0, emit)
				} else {
					err = s.r.Dependents(c, ref, 0, emit)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}), nil
	}
	return once(func() error { return s.r.AllDependencies(emit) }), nil
}

// dependClasses are the catalogs whose objects take part in dependencies.
var dependClasses = []types.OID{
	ClassRelation, ClassConstraint, ClassAttrDef, ClassType, ClassProc, ClassRewrite, ClassNamespace, ClassTrigger,
}

// sharedClass tells the objects that belong to all databases.
func sharedClass(class types.OID) bool {
	return class == ClassDatabase || class == ClassAuthID || class == ClassTablespace
}

func descriptionRows(s *scan) (func() (bool, error), error) {
	emit := func(class, id types.OID, sub int32, text string) bool {
		if !sharedClass(class) {
			s.emit(oidD(id), oidD(class), intD(sub), textD(text))
		}
		return true
	}
	return once(func() error { return s.r.Comments(emit) }), nil
}

func sharedDescriptionRows(s *scan) (func() (bool, error), error) {
	emit := func(class, id types.OID) error {
		text, err := s.r.Comment(class, id, 0)
		if text != "" {
			s.emit(oidD(id), oidD(class), textD(text))
		}
		return err
	}
	return once(func() error {
		databases, err := s.r.Databases()
		if err != nil {
			return err
		}
		for _, d := range databases {
			if err := emit(ClassDatabase, d.OID); err != nil {
				return err
			}
		}
		roles, err := s.r.Roles()
		if err != nil {
			return err
		}
		for _, x := range roles {
			if err := emit(ClassAuthID, x.OID); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

func authidRows(s *scan) (func() (bool, error), error) {
	return once(func() error {
		roles, err := s.r.Roles()
		for _, x := range roles {
			until := nullD
			if x.ValidUntil != nil {
				until = intD(*x.ValidUntil)
			}
			s.emit(oidD(x.OID), textD(x.Name), boolD(x.Super), boolD(x.Inherit), boolD(x.CreateRole), boolD(x.CreateDB), boolD(x.Login),
				boolD(x.Replication), boolD(x.BypassRLS), intD(x.ConnLimit), optD(x.Password), until)
		}
		return err
	}), nil
}

func memberRows(s *scan) (func() (bool, error), error) {
	return once(func() error {
		list, err := s.r.Memberships()
		for _, m := range list {
			s.emit(oidD(m.Role), oidD(m.Member), oidD(m.Grantor), boolD(m.Admin))
		}
		return err
	}), nil
}

func databaseRows(s *scan) (func() (bool, error), error) {
	return once(func() error {
		list, err := s.r.Databases()
		if err != nil {
			return err
		}
		for _, d := range list {
			acl, err := s.aclD(16, d.ACL)
			if err != nil {
				return err
			}
			s.emit(oidD(d.OID), textD(d.Name), oidD(d.Owner), intD(pgdata.EncodingUTF8), charD(byte('c')), boolD(d.IsTemplate),
				boolD(d.AllowConn), intD(d.ConnLimit), intD(0), intD(0), oidD(DefaultTablespace), textD("C"), textD("C"), nullD, nullD, acl)
		}
		return nil
	}), nil
}

func roleSettingRows(s *scan) (func() (bool, error), error) {
	return once(func() error {
		list, err := s.r.RoleSettings()
		for _, x := range list {
			s.emit(oidD(x.Database), oidD(x.Role), listD(types.TextOID, x.Config, textD))
		}
		return err
	}), nil
}

func defaultACLRows(s *scan) (func() (bool, error), error) {
	return once(func() error {
		list, err := s.r.DefaultACLs()
		if err != nil {
			return err
		}
		for _, x := range list {
			acl, err := s.aclD(5, x.ACL)
			if err != nil {
				return err
			}
			s.emit(oidD(x.OID), oidD(x.Role), oidD(x.Schema), charD(x.ObjType), acl)
		}
		return nil
	}), nil
}

// SplitACL reads the one-line form in which types and functions keep their list; nil when nothing is stored.
func SplitACL(acl string) []string {
	if acl == "" {
		return nil
	}
	if acl = strings.Trim(acl, "{}"); acl == "" {
		return []string{}
	}
	return strings.Split(acl, ",")
}
