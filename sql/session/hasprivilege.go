package session

import (
	"strings"

	"herd/sql/catalog"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// hasPrivilege answers has_..._privilege and pg_has_role: null when the object is named by an OID that nothing has.
func (s *Session) hasPrivilege(cat catalog.Reader, path []types.OID, q funcs.PrivilegeQuery) (has, null bool, err error) {
	role := &s.user
	if !q.Current {
		role, err = privilegeRole(cat, q.ByName, q.RoleName, q.RoleOID)
		if err != nil || role == nil {
			return false, err == nil, err
		}
	}
	switch q.Kind {
	case "table", "column", "any_column", "sequence":
		return s.relationPrivilege(cat, path, role, q)
	case "role":
		return rolePrivilege(cat, role, q)
	}
	acl, err := s.privilegeObject(cat, path, q)
	if err != nil || acl == nil {
		return false, true, err
	}
	if role.Super {
		return true, false, nil
	}
	set, err := catalog.MembersOf(cat, role.OID)
	if err != nil {
		return false, false, err
	}
	have, options := catalog.Granted(catalog.EffectiveACL(acl.stored, acl.kind, acl.owner), acl.owner, set)
	return grantedAny(q.Privileges, have, options), false, nil
}

// relationPrivilege is hasPrivilege for tables, their columns and sequences.
func (s *Session) relationPrivilege(cat catalog.Reader, path []types.OID, role *catalog.Role, q funcs.PrivilegeQuery) (has, null bool, err error) {
	rel, err := s.privilegeRelation(cat, path, q)
	if err != nil || rel == nil {
		return false, true, err
	}
	var cols []int16
	if q.Kind == "column" {
		if cols, err = privilegeColumns(rel, q); cols == nil {
			return false, true, err
		}
	}
	if role.Super {
		return true, false, nil
	}
	for _, word := range strings.Split(q.Privileges, ",") {
		bits, _ := privilegeBits(word)
		ok, err := hasRights(cat, rel, role.OID, bits)
		if err == nil && !ok && (q.Kind == "column" || q.Kind == "any_column") {
			ok, err = columnsGranted(cat, rel, role.OID, bits, cols)
		}
		if err != nil || ok {
			return ok, false, err
		}
	}
	return false, false, nil
}

// rolePrivilege is pg_has_role: MEMBER may become the role, USAGE has its rights, WITH ADMIN OPTION may grant it.
func rolePrivilege(cat catalog.Reader, role *catalog.Role, q funcs.PrivilegeQuery) (has, null bool, err error) {
	of, err := privilegeRole(cat, q.ObjectByName, q.ObjectName, q.Object)
	if err != nil || of == nil {
		return false, true, err
	}
	if role.Super {
		return true, false, nil
	}
	set, err := catalog.MembersOf(cat, role.OID)
	return set[of.OID] || of.OID == role.OID, false, err
}

func privilegeRole(cat catalog.Reader, byName bool, name string, id types.OID) (*catalog.Role, error) {
	return named(byName, name, id, cat.RoleByName, cat.RoleByOID, sqlerr.UndefinedObject, "role")
}

// named finds an object by its name, which something must have, or by its OID; nil when nothing has that.
func named[T any](byName bool, name string, id types.OID, find func(string) (*T, error), get func(types.OID) (*T, error), missing sqlerr.Code, what string) (*T, error) {
	if !byName {
		return get(id)
	}
	x, err := find(name)
	if err == nil && x == nil {
		err = sqlerr.New(missing, "%s \"%s\" does not exist", what, name)
	}
	return x, err
}

// guarded is an object's list of rights.
type guarded struct {
	stored []string
	kind   byte // as DefaultACLOf has it
	owner  types.OID
}

// privilegeObject finds what has_..._privilege asks about; nil when it is named by an OID that nothing has.
func (s *Session) privilegeObject(cat catalog.Reader, path []types.OID, q funcs.PrivilegeQuery) (*guarded, error) {
	n := catalog.Names{Reader: cat, Path: path, Database: s.info.Database}
	id := q.Object
	switch q.Kind {
	case "schema":
		sc, err := named(q.ObjectByName, q.ObjectName, id, cat.SchemaByName, cat.SchemaByOID, sqlerr.InvalidSchemaName, "schema")
		if err != nil || sc == nil {
			return nil, err
		}
		return &guarded{sc.ACL, 'n', sc.Owner}, nil
	case "database":
		db, err := named(q.ObjectByName, q.ObjectName, id, cat.DatabaseByName, cat.DatabaseByOID, sqlerr.UndefinedDatabase, "database")
		if err != nil || db == nil {
			return nil, err
		}
		return &guarded{db.ACL, 'd', db.Owner}, nil
	case "function":
		if q.ObjectByName {
			var err error
			if id, err = n.ProcedureIn(q.ObjectName, false); err != nil {
				return nil, err
			}
		}
		f, err := cat.FuncByOID(id)
		if err != nil || f == nil {
			return nil, err
		}
		return &guarded{catalog.SplitACL(f.ACL), 'f', f.Owner}, nil
	case "type":
		if q.ObjectByName {
			var err error
			if id, err = n.TypeIn(q.ObjectName, false); err != nil {
				return nil, err
			}
		}
		t, err := cat.TypeByOID(id)
		if err != nil || t == nil {
			return nil, err
		}
		return &guarded{catalog.SplitACL(t.ACL), 'T', t.Owner}, nil
	case "language":
		return fixedObject(q, map[string]types.OID{"internal": 12, "c": 13, "sql": 14}, "language", 'l')
	case "tablespace":
		return fixedObject(q, map[string]types.OID{"pg_default": 1663, "pg_global": 1664}, "tablespace", 't')
	}
	return &guarded{nil, 'f', bootstrapRole}, nil
}

// bootstrapRole owns what initdb makes.
const bootstrapRole types.OID = 10

// fixedObject finds one of the objects of a kind that nobody can define.
func fixedObject(q funcs.PrivilegeQuery, all map[string]types.OID, what string, kind byte) (*guarded, error) {
	for name, id := range all {
		if q.ObjectByName && name == q.ObjectName || !q.ObjectByName && id == q.Object {
			return &guarded{nil, kind, bootstrapRole}, nil
		}
	}
	if !q.ObjectByName {
		return nil, nil
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "%s \"%s\" does not exist", what, q.ObjectName)
}

// grantedAny says whether one of the words of a list is among the rights, or those to grant them.
func grantedAny(words string, have, options catalog.Privileges) bool {
	for _, w := range strings.Split(words, ",") {
		bits, option := privilegeBits(w)
		if option && options&bits == bits || !option && have&bits == bits {
			return true
		}
	}
	return false
}

// privilegeBits reads one word of a has_..._privilege argument, which funcs has checked.
func privilegeBits(word string) (bits catalog.Privileges, option bool) {
	word, option = strings.CutSuffix(strings.ToUpper(strings.TrimSpace(word)), " WITH GRANT OPTION")
	return map[string]catalog.Privileges{"SELECT": catalog.PrivSelect, "INSERT": catalog.PrivInsert, "UPDATE": catalog.PrivUpdate,
		"DELETE": catalog.PrivDelete, "TRUNCATE": catalog.PrivTruncate, "REFERENCES": catalog.PrivReferences, "TRIGGER": catalog.PrivTrigger,
		"USAGE": catalog.PrivUsage, "CREATE": catalog.PrivCreate, "TEMPORARY": catalog.PrivTemporary, "TEMP": catalog.PrivTemporary,
		"CONNECT": catalog.PrivConnect, "EXECUTE": catalog.PrivExecute, "SET": catalog.PrivSet, "ALTER SYSTEM": catalog.PrivAlterSystem}[word], option
}

// privilegeColumns is the column that has_column_privilege asks about; nil when there is none of that number.
func privilegeColumns(rel *catalog.Relation, q funcs.PrivilegeQuery) ([]int16, error) {
	for i := range rel.Columns {
		c := &rel.Columns[i]
		if !c.Dropped && (q.Column != "" && c.Name == q.Column || q.Column == "" && i+1 == q.Attno) {
			return []int16{int16(i + 1)}, nil
		}
	}
	if q.Column == "" {
		return nil, nil
	}
	return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", q.Column, rel.Name)
}

func (s *Session) privilegeRelation(cat catalog.Reader, path []types.OID, q funcs.PrivilegeQuery) (*catalog.Relation, error) {
	if !q.ObjectByName {
		return cat.RelationByOID(q.Object)
	}
	n := catalog.Names{Reader: cat, Path: path, Database: s.info.Database}
	id, err := n.RelationIn(q.ObjectName, false)
	if err != nil {
		return nil, err
	}
	return cat.RelationByOID(id)
}
