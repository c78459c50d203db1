package catalog

import (
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// The functions of this file write the system database's catalog: the Writer's transaction is
// one of that database.

// CreateRole stores a new role. Errors: 42710, 42939.
func (w *Writer) CreateRole(x *Role) error {
	if err := w.ensureOID(&x.OID); err != nil {
		return err
	}
	taken := sqlerr.New(sqlerr.DuplicateObject, "role %q already exists", x.Name)
	if systemRoleByName(x.Name) != nil {
		return taken
	}
	if err := w.claim(nameKey(ClassAuthID, 0, x.Name), x.OID, taken); err != nil {
		return err
	}
	return w.putRole(x)
}

func (w *Writer) putRole(x *Role) error {
	st := w.stamp()
	x.Version = seq(st)
	return w.put(treeObjects, objectKey(ClassAuthID, x.OID), encode(recRole, st, func(c *codec) { c.role(x) }))
}

// UpdateRole stores a changed copy of a role.
func (w *Writer) UpdateRole(old, x *Role) error {
	if err := w.current(ClassAuthID, old.OID, uint64(old.Version)); err != nil {
		return err
	}
	if old.Name != x.Name {
		taken := sqlerr.New(sqlerr.DuplicateObject, "role %q already exists", x.Name)
		if err := w.claim(nameKey(ClassAuthID, 0, x.Name), x.OID, taken); err != nil {
			return err
		}
		if err := w.remove(treeNames, nameKey(ClassAuthID, 0, old.Name)); err != nil {
			return err
		}
	}
	return w.putRole(x)
}

// DropRole removes a role and its memberships. The caller has checked that it owns nothing.
func (w *Writer) DropRole(x *Role) error {
	members, err := w.reader().Memberships()
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Role == x.OID || m.Member == x.OID {
			if err := w.Revoke(m); err != nil {
				return err
			}
		}
	}
	if err := w.remove(treeNames, nameKey(ClassAuthID, 0, x.Name)); err != nil {
		return err
	}
	return w.forget(ClassAuthID, x.OID)
}

// Grant makes a role a member of another, or changes the membership.
func (w *Writer) Grant(m Membership) error {
	return w.put(treeObjects, pairKey(ClassMember, m.Role, m.Member), encode(recMember, w.stamp(), func(c *codec) { c.membership(&m) }))
}

// Revoke ends a membership.
func (w *Writer) Revoke(m Membership) error {
	return w.remove(treeObjects, pairKey(ClassMember, m.Role, m.Member))
}

// CreateDatabase stores a database's descriptor; the database itself is the engine's. Errors: 42P04.
func (w *Writer) CreateDatabase(x *Database) error {
	if err := w.ensureOID(&x.OID); err != nil {
		return err
	}
	taken := sqlerr.New(sqlerr.DuplicateDatabase, "database %q already exists", x.Name)
	if err := w.claim(nameKey(ClassDatabase, 0, x.Name), x.OID, taken); err != nil {
		return err
	}
	return w.putDatabase(x)
}

func (w *Writer) putDatabase(x *Database) error {
	st := w.stamp()
	x.Version = seq(st)
	return w.put(treeObjects, objectKey(ClassDatabase, x.OID), encode(recDatabase, st, func(c *codec) { c.database(x) }))
}

// UpdateDatabase stores a changed copy of a database's descriptor.
func (w *Writer) UpdateDatabase(old, x *Database) error {
	if err := w.current(ClassDatabase, old.OID, uint64(old.Version)); err != nil {
		return err
	}
	if old.Name != x.Name {
		taken := sqlerr.New(sqlerr.DuplicateDatabase, "database %q already exists", x.Name)
		if err := w.claim(nameKey(ClassDatabase, 0, x.Name), x.OID, taken); err != nil {
			return err
		}
		if err := w.remove(treeNames, nameKey(ClassDatabase, 0, old.Name)); err != nil {
			return err
		}
	}
	return w.putDatabase(x)
}

// DropDatabase removes a database's descriptor.
func (w *Writer) DropDatabase(x *Database) error {
	if err := w.remove(treeNames, nameKey(ClassDatabase, 0, x.Name)); err != nil {
		return err
	}
	return w.forget(ClassDatabase, x.OID)
}

// SetRoleSetting stores ALTER ROLE ... SET or ALTER DATABASE ... SET; an empty Config removes it.
func (w *Writer) SetRoleSetting(x RoleSetting) error {
	key := pairKey(ClassRoleSetting, x.Database, x.Role)
	if len(x.Config) == 0 {
		return w.remove(treeObjects, key)
	}
	return w.put(treeObjects, key, encode(recSetting, w.stamp(), func(c *codec) { c.roleSetting(&x) }))
}

// SetDefaultACL stores ALTER DEFAULT PRIVILEGES; a nil ACL removes the row.
func (w *Writer) SetDefaultACL(x DefaultACL) error {
	have, err := w.reader().DefaultACLs()
	if err != nil {
		return err
	}
	for _, d := range have {
		if d.Role == x.Role && d.Schema == x.Schema && d.ObjType == x.ObjType {
			x.OID = d.OID
		}
	}
	if x.ACL == nil {
		if x.OID == 0 {
			return nil
		}
		return w.remove(treeObjects, objectKey(ClassDefaultACL, x.OID))
	}
	if err := w.ensureOID(&x.OID); err != nil {
		return err
	}
	return w.put(treeObjects, objectKey(ClassDefaultACL, x.OID), encode(recDefaultACL, w.stamp(), func(c *codec) { c.defaultACL(&x) }))
}

// MembersOf returns the roles that a role is a member of, directly or through others, itself included.
func MembersOf(r Reader, role types.OID) (map[types.OID]bool, error) {
	members, err := r.Memberships()
	if err != nil {
		return nil, err
	}
	set := map[types.OID]bool{role: true}
	for grown := true; grown; {
		grown = false
		for _, m := range members {
			if set[m.Member] && !set[m.Role] {
				set[m.Role] = true
				grown = true
			}
		}
	}
	return set, nil
}
