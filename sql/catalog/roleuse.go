package catalog

import (
	"slices"

	"herd/sql/types"
)

// RoleUse is an object that keeps a role from being dropped.
type RoleUse struct {
	Object Object
	Owner  bool // the role owns the object; false = it has privileges on it
}

// UsesOfRole lists the objects of the database that a role owns or has privileges on. DROP ROLE,
// DROP OWNED and REASSIGN OWNED ask for it.
func UsesOfRole(r Reader, role types.OID) ([]RoleUse, error) {
	var list []RoleUse
	note := func(o Object, owner types.OID, acl []string) {
		if owner == role {
			list = append(list, RoleUse{o, true})
			return
		}
		mentions := func(it ACLItem) bool { return it.Grantee == role || it.Grantor == role }
		if slices.ContainsFunc(ParseACL(acl), mentions) {
			list = append(list, RoleUse{o, false})
		}
	}
	schemas, err := r.Schemas()
	if err != nil {
		return nil, err
	}
	for _, s := range schemas {
		note(Object{ClassNamespace, s.OID, 0}, s.Owner, s.ACL)
	}
	err = r.Relations(func(rel *Relation) bool {
		acl := rel.ACL
		for i := range rel.Columns {
			acl = append(acl[:len(acl):len(acl)], rel.Columns[i].ACL...)
		}
		note(Object{ClassRelation, rel.OID, 0}, rel.Owner, acl)
		return true
	})
	if err != nil {
		return nil, err
	}
	err = r.UserTypes(func(t *Type) bool {
		if t.Relid == 0 && t.Category != 'A' {
			note(Object{ClassType, t.OID, 0}, t.Owner, SplitACL(t.ACL))
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	err = r.UserFuncs(func(p *Proc) bool {
		note(Object{ClassProc, p.OID, 0}, p.Owner, SplitACL(p.ACL))
		return true
	})
	return list, err
}
