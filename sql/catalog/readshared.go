package catalog

import (
	"fmt"

	"herd/sql/types"
	"herd/storage"
)

// RoleByOID implements Reader.
func (r *reader) RoleByOID(id types.OID) (*Role, error) {
	if r.shared != nil {
		return r.shared.RoleByOID(id)
	}
	if x := systemRole(id); x != nil {
		return x, nil
	}
	val, _, stamp, err := r.record(ClassAuthID, id)
	if val == nil || err != nil {
		return nil, err
	}
	return fetch(r, ClassAuthID, id, val, stamp, (*codec).role, func(x *Role) { x.Version = seq(stamp) })
}

// RoleByName implements Reader.
func (r *reader) RoleByName(name string) (*Role, error) {
	if r.shared != nil {
		return r.shared.RoleByName(name)
	}
	if x := systemRoleByName(name); x != nil {
		return x, nil
	}
	id, err := r.nameOID(ClassAuthID, 0, name)
	if id == 0 || err != nil {
		return nil, err
	}
	return r.RoleByOID(id)
}

// Roles implements Reader.
func (r *reader) Roles() ([]*Role, error) {
	if r.shared != nil {
		return r.shared.Roles()
	}
	list := append([]*Role(nil), systemRoles()...)
	err := r.objects(ClassAuthID, func(id types.OID, val []byte, _ recordKind, stamp uint64) error {
		x, err := fetch(r, ClassAuthID, id, val, stamp, (*codec).role, func(x *Role) { x.Version = seq(stamp) })
		list = append(list, x)
		return err
	})
	return list, err
}

// decodeAll reads all records of a class that is not cached.
func decodeAll[T any](r *reader, class types.OID, fields func(*codec, *T)) ([]T, error) {
	var list []T
	err := r.objects(class, func(id types.OID, val []byte, _ recordKind, _ uint64) error {
		var v T
		if err := decode(val, func(c *codec) { fields(c, &v) }); err != nil {
			return fmt.Errorf("object %d of class %d: %w", id, class, err)
		}
		list = append(list, v)
		return nil
	})
	return list, err
}

// Memberships implements Reader.
func (r *reader) Memberships() ([]Membership, error) {
	if r.shared != nil {
		return r.shared.Memberships()
	}
	list, err := decodeAll(r, ClassMember, (*codec).membership)
	return append(systemMemberships(), list...), err
}

// DatabaseByOID implements Reader.
func (r *reader) DatabaseByOID(id types.OID) (*Database, error) {
	if r.shared != nil {
		return r.shared.DatabaseByOID(id)
	}
	val, _, stamp, err := r.record(ClassDatabase, id)
	if val == nil || err != nil {
		return nil, err
	}
	return fetch(r, ClassDatabase, id, val, stamp, (*codec).database, func(x *Database) { x.Version = seq(stamp) })
}

// DatabaseByName implements Reader.
func (r *reader) DatabaseByName(name string) (*Database, error) {
	if r.shared != nil {
		return r.shared.DatabaseByName(name)
	}
	id, err := r.nameOID(ClassDatabase, 0, name)
	if id == 0 || err != nil {
		return nil, err
	}
	return r.DatabaseByOID(id)
}

// Databases implements Reader.
func (r *reader) Databases() ([]*Database, error) {
	if r.shared != nil {
		return r.shared.Databases()
	}
	var list []*Database
	err := r.objects(ClassDatabase, func(id types.OID, val []byte, _ recordKind, stamp uint64) error {
		x, err := fetch(r, ClassDatabase, id, val, stamp, (*codec).database, func(x *Database) { x.Version = seq(stamp) })
		list = append(list, x)
		return err
	})
	return list, err
}

// RoleSettings implements Reader.
func (r *reader) RoleSettings() ([]RoleSetting, error) {
	if r.shared != nil {
		return r.shared.RoleSettings()
	}
	return decodeAll(r, ClassRoleSetting, (*codec).roleSetting)
}

// DefaultACLs implements Reader.
func (r *reader) DefaultACLs() ([]DefaultACL, error) {
	return decodeAll(r, ClassDefaultACL, (*codec).defaultACL)
}

// Comment implements Reader.
func (r *reader) Comment(class, id types.OID, sub int32) (string, error) {
	if r.shared != nil && (class == ClassAuthID || class == ClassDatabase || class == ClassTablespace) {
		return r.shared.Comment(class, id, sub)
	}
	val, ok, err := r.src.Get(treeComments, partKey(class, id, sub))
	if err != nil {
		return "", fmt.Errorf("read comment on object %d of class %d: %w", id, class, err)
	}
	if !ok {
		return systemComment(class, id, sub), nil
	}
	return string(val), nil
}

// Comments implements Reader.
func (r *reader) Comments(f func(class, id types.OID, sub int32, text string) bool) error {
	return r.src.Range(treeComments, nil, nil, func(key, val []byte) bool {
		class, id, sub := splitPart(key)
		return f(class, id, sub, string(val))
	})
}

// dependencies walks one of the two dependency trees.
func (r *reader) dependencies(t storage.TreeID, lo, hi []byte, f func(Dependency) bool) error {
	err := r.src.Range(t, lo, hi, func(key, val []byte) bool {
		var d Dependency
		if t == treeDepends {
			d.RefClass, d.RefOID, d.RefSub = splitPart(key)
			d.Class, d.OID, d.Sub = splitPart(key[12:])
		} else {
			d.Class, d.OID, d.Sub = splitPart(key)
			d.RefClass, d.RefOID, d.RefSub = splitPart(key[12:])
		}
		d.Type = val[0]
		return f(d)
	})
	if err != nil {
		return fmt.Errorf("read dependencies: %w", err)
	}
	return nil
}

// Dependents implements Reader.
func (r *reader) Dependents(class, id types.OID, sub int32, f func(Dependency) bool) error {
	prefix := objectKey(class, id)
	if sub != 0 {
		prefix = partKey(class, id, sub)
	}
	return r.dependencies(treeDepends, prefix, prefixEnd(prefix), f)
}

// References implements Reader.
func (r *reader) References(class, id types.OID, sub int32, f func(Dependency) bool) error {
	prefix := objectKey(class, id)
	if sub != 0 {
		prefix = partKey(class, id, sub)
	}
	return r.dependencies(treeReference, prefix, prefixEnd(prefix), f)
}

// AllDependencies implements Reader.
func (r *reader) AllDependencies(f func(Dependency) bool) error {
	return r.dependencies(treeReference, nil, nil, f)
}
