package ddl

import (
	"herd/engine/lock"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// privileges are the rights by name.
var privileges = map[string]catalog.Privileges{
	"insert": catalog.PrivInsert, "select": catalog.PrivSelect, "update": catalog.PrivUpdate, "delete": catalog.PrivDelete,
	"truncate": catalog.PrivTruncate, "references": catalog.PrivReferences, "trigger": catalog.PrivTrigger, "execute": catalog.PrivExecute,
	"usage": catalog.PrivUsage, "create": catalog.PrivCreate, "temporary": catalog.PrivTemporary, "temp": catalog.PrivTemporary,
	"connect": catalog.PrivConnect, "set": catalog.PrivSet, "alter system": catalog.PrivAlterSystem,
}

// grantClass is a kind of object with rights: the letter of its default rights, all its rights, its word in messages.
type grantClass struct {
	letter byte
	all    catalog.Privileges
	word   string
}

var grantClasses = map[ast.ObjectKind]grantClass{
	ast.ObjTable: {'r', catalog.AllTable, "relation"}, ast.ObjSequence: {'S', catalog.AllSequence, "sequence"},
	ast.ObjSchema: {'n', catalog.AllSchema, "schema"}, ast.ObjDatabase: {'d', catalog.AllDatabase, "database"},
	ast.ObjFunction: {'f', catalog.AllFunction, "function"}, ast.ObjType: {'T', catalog.AllType, "type"},
	ast.ObjLanguage: {'l', catalog.AllLanguage, "language"},
}

func (x *executor) grant(s *ast.Grant) error {
	class, ok := grantClasses[s.Kind]
	if !ok {
		return sqlerr.Unsupported("GRANT ON %s", string(s.Kind))
	}
	grantees, err := x.grantees(s.Grantees)
	if err != nil {
		return err
	}
	if s.AllInSchema {
		return x.grantAll(s, class, grantees)
	}
	for i := range s.Objects {
		n := &s.Objects[i]
		switch s.Kind {
		case ast.ObjTable, ast.ObjSequence:
			rel, err := x.locked(n.Name, lock.AccessShare, false)
			if err != nil {
				return err
			}
			if err := x.grantRelation(s, rel, grantees); err != nil {
				return err
			}
		case ast.ObjSchema:
			if err := x.grantSchema(s, n.Name.Name, grantees); err != nil {
				return err
			}
		case ast.ObjDatabase:
			if err := x.grantDatabase(s, n.Name.Name, grantees); err != nil {
				return err
			}
		case ast.ObjType:
			if err := x.grantType(s, n, grantees); err != nil {
				return err
			}
		case ast.ObjFunction:
			if err := x.grantFunction(s, n, grantees); err != nil {
				return err
			}
		default:
			return sqlerr.Unsupported("GRANT ON %s", string(s.Kind))
		}
	}
	return nil
}

func (x *executor) grantFunction(s *ast.Grant, n *ast.ObjectName, grantees []types.OID) error {
	old, err := x.functionNamed(n)
	if err != nil {
		return err
	}
	if old.OID < pgdata.FirstUserOID {
		return sqlerr.Unsupported("GRANT on a built-in function")
	}
	now := *old
	if now.ACL, err = x.changeJoined(s, ast.ObjFunction, old.ACL, old.Owner, old.Name, grantees); err != nil {
		return err
	}
	return x.Writer.UpdateProc(old, &now)
}

// changeJoined changes a list of privileges that is kept as one text.
func (x *executor) changeJoined(s *ast.Grant, kind ast.ObjectKind, acl string, owner types.OID, name string, grantees []types.OID) (string, error) {
	class := grantClasses[kind]
	bits, _, err := x.wanted(s, class)
	if err != nil {
		return "", err
	}
	stored, err := x.change(s, catalog.SplitACL(acl), class, owner, name, bits, grantees)
	if err != nil {
		return "", err
	}
	return catalog.JoinACL(stored), nil
}

// grantees are the roles of a GRANT; 0 is PUBLIC.
func (x *executor) grantees(list []ast.RoleSpec) ([]types.OID, error) {
	out := make([]types.OID, 0, len(list))
	for i := range list {
		if list[i].Kind == ast.RolePublic {
			out = append(out, 0)
			continue
		}
		r, err := x.role(&list[i])
		if err != nil {
			return nil, err
		}
		out = append(out, r.OID)
	}
	return out, nil
}

// grantAll is GRANT ON ALL ... IN SCHEMA.
func (x *executor) grantAll(s *ast.Grant, class grantClass, grantees []types.OID) error {
	for i := range s.Objects {
		name := s.Objects[i].Name.Name
		sc, err := x.reader().SchemaByName(name)
		if err != nil {
			return err
		}
		if sc == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
		}
		var rels []*catalog.Relation
		err = x.reader().RelationsInSchema(sc.OID, func(r *catalog.Relation) bool {
			isSeq := r.Kind == catalog.KindSequence
			if isSeq == (class.letter == 'S') && r.Kind != catalog.KindComposite && r.Kind != catalog.KindIndex && class.letter != 'f' {
				rels = append(rels, r)
			}
			return true
		})
		if err != nil {
			return err
		}
		for _, r := range rels {
			if err := x.grantRelation(s, r, grantees); err != nil {
				return err
			}
		}
	}
	return nil
}

// wanted are the rights that a statement names, for a class of objects; columns collects those with column lists.
func (x *executor) wanted(s *ast.Grant, class grantClass) (whole catalog.Privileges, columns map[string]catalog.Privileges, err error) {
	columns = map[string]catalog.Privileges{}
	if len(s.Privileges) == 0 {
		return class.all, columns, nil
	}
	for _, p := range s.Privileges {
		bits := class.all
		if p.Name != "" {
			bits = privileges[p.Name]
			if bits == 0 {
				return 0, nil, sqlerr.New(sqlerr.SyntaxError, "unrecognized privilege type \"%s\"", p.Name)
			}
		}
		if len(p.Columns) > 0 {
			if p.Name == "" {
				bits = catalog.AllColumn
			}
			if bits&^catalog.AllColumn != 0 {
				return 0, nil, sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for column", upper(p.Name))
			}
			for _, c := range p.Columns {
				columns[c] |= bits
			}
			continue
		}
		if bits&^class.all != 0 {
			return 0, nil, sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for %s", upper(p.Name), class.word)
		}
		whole |= bits
	}
	return whole, columns, nil
}

func upper(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] >= 'a' && b[i] <= 'z' {
			b[i] -= 32
		}
	}
	return string(b)
}

// change applies a GRANT or REVOKE to one access list. nil stands for the default list.
func (x *executor) change(s *ast.Grant, stored []string, class grantClass, owner types.OID, name string, bits catalog.Privileges, grantees []types.OID) ([]string, error) {
	if bits == 0 {
		return stored, nil
	}
	list := catalog.EffectiveACL(stored, class.letter, owner)
	grantor, bits, err := x.grantor(list, owner, class.word, name, bits)
	if err != nil {
		return nil, err
	}
	for _, g := range grantees {
		if s.Revoke {
			list = catalog.RevokeFrom(list, g, grantor, bits, s.GrantOption)
		} else {
			if g == 0 && s.GrantOption {
				return nil, sqlerr.New(sqlerr.InvalidGrantOperation, "grant options can only be granted to roles")
			}
			list = catalog.GrantTo(list, g, grantor, bits, s.GrantOption)
		}
	}
	out := catalog.FormatACL(list)
	if len(out) == 0 && class.letter != 'c' && class.letter != 'f' && class.letter != 'T' {
		out = []string{""} // no rights at all: not to be taken for the default, which an empty list is when it is stored
	}
	return out, nil
}

// grantor decides in whose name rights are granted: the owner's where the user may act for it, else the user's own, with
// what it may grant on.
func (x *executor) grantor(list []catalog.ACLItem, owner types.OID, word, name string, bits catalog.Privileges) (types.OID, catalog.Privileges, error) {
	set, err := catalog.MembersOf(x.reader(), x.User.OID)
	if err != nil {
		return 0, 0, err
	}
	if x.User.Super || set[owner] {
		return owner, bits, nil
	}
	privs, options := catalog.Granted(list, owner, set)
	if options&bits == 0 {
		if privs == 0 {
			return 0, 0, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for %s %s", messageWord(word), name)
		}
		if x.Notice != nil {
			x.Notice(sqlerr.Warn(sqlerr.WarningPrivilegeNotGranted, "no privileges were granted for \"%s\"", name))
		}
		return x.User.OID, 0, nil
	}
	return x.User.OID, bits & options, nil
}

func messageWord(word string) string {
	if word == "relation" {
		return "table"
	}
	return word
}

func (x *executor) grantRelation(s *ast.Grant, rel *catalog.Relation, grantees []types.OID) error {
	class := grantClasses[ast.ObjTable]
	if rel.Kind == catalog.KindSequence {
		class = grantClasses[ast.ObjSequence]
	} else if s.Kind == ast.ObjSequence {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", rel.Name)
	}
	if rel.OID < firstUser {
		return sqlerr.Unsupported("GRANT on a system catalog")
	}
	bits, columns, err := x.wanted(s, class)
	if err != nil {
		return err
	}
	old, err := x.reader().RelationByOID(rel.OID)
	if err != nil {
		return err
	}
	now := old.Clone()
	if now.ACL, err = x.change(s, old.ACL, class, old.Owner, old.Name, bits, grantees); err != nil {
		return err
	}
	for name, b := range columns {
		c := now.ColumnByName(name)
		if c == nil {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, old.Name)
		}
		if c.ACL, err = x.change(s, c.ACL, grantClass{'c', catalog.AllColumn, "column"}, old.Owner, old.Name, b, grantees); err != nil {
			return err
		}
		if len(c.ACL) == 0 {
			c.ACL = nil
		}
	}
	// Revoking a right of the table takes it from the columns too.
	if s.Revoke && bits&catalog.AllColumn != 0 {
		for i := range now.Columns {
			if c := &now.Columns[i]; len(c.ACL) > 0 {
				if c.ACL, err = x.change(s, c.ACL, grantClass{'c', catalog.AllColumn, "column"}, old.Owner, old.Name, bits&catalog.AllColumn, grantees); err != nil {
					return err
				}
			}
		}
	}
	return x.Writer.UpdateRelation(old, now)
}

func (x *executor) grantSchema(s *ast.Grant, name string, grantees []types.OID) error {
	old, err := x.reader().SchemaByName(name)
	if err != nil {
		return err
	}
	if old == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
	}
	class := grantClasses[ast.ObjSchema]
	bits, _, err := x.wanted(s, class)
	if err != nil {
		return err
	}
	now := *old
	if now.ACL, err = x.change(s, old.ACL, class, old.Owner, name, bits, grantees); err != nil {
		return err
	}
	return x.Writer.UpdateSchema(old, &now)
}

func (x *executor) grantDatabase(s *ast.Grant, name string, grantees []types.OID) error {
	class := grantClasses[ast.ObjDatabase]
	bits, _, err := x.wanted(s, class)
	if err != nil {
		return err
	}
	return x.System(func(w *catalog.Writer) error {
		old, err := w.Reader().DatabaseByName(name)
		if err != nil {
			return err
		}
		if old == nil {
			return sqlerr.New(sqlerr.UndefinedDatabase, "database \"%s\" does not exist", name)
		}
		now := *old
		if now.ACL, err = x.change(s, old.ACL, class, old.Owner, name, bits, grantees); err != nil {
			return err
		}
		return w.UpdateDatabase(old, &now)
	})
}

func (x *executor) grantType(s *ast.Grant, n *ast.ObjectName, grantees []types.OID) error {
	old, err := x.reader().LookupType(n.Name.Schema, n.Name.Name, x.Bind.Path)
	if err != nil {
		return err
	}
	if old == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", n.Name.String())
	}
	if old.OID < pgdata.FirstUserOID {
		return sqlerr.Unsupported("GRANT on a built-in type")
	}
	now := *old
	if now.ACL, err = x.changeJoined(s, ast.ObjType, old.ACL, old.Owner, old.Name, grantees); err != nil {
		return err
	}
	return x.Writer.UpdateType(old, &now)
}

// defaultPrivileges is ALTER DEFAULT PRIVILEGES.
func (x *executor) defaultPrivileges(s *ast.AlterDefaultPrivileges) error {
	class, ok := grantClasses[s.Grant.Kind]
	if !ok {
		return sqlerr.Unsupported("ALTER DEFAULT PRIVILEGES ON %s", string(s.Grant.Kind))
	}
	grantees, err := x.grantees(s.Grant.Grantees)
	if err != nil {
		return err
	}
	bits, _, err := x.wanted(s.Grant, class)
	if err != nil {
		return err
	}
	roles := []types.OID{x.User.OID}
	if len(s.Roles) > 0 {
		roles = roles[:0]
		for i := range s.Roles {
			r, err := x.role(&s.Roles[i])
			if err != nil {
				return err
			}
			if err := x.mayBecome(r); err != nil {
				return err
			}
			roles = append(roles, r.OID)
		}
	}
	schemas := []types.OID{0}
	if len(s.Schemas) > 0 {
		schemas = schemas[:0]
		for _, n := range s.Schemas {
			sc, err := x.reader().SchemaByName(n)
			if err != nil {
				return err
			}
			if sc == nil {
				return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", n)
			}
			schemas = append(schemas, sc.OID)
		}
	}
	for _, role := range roles {
		for _, schema := range schemas {
			if err := x.defaultACL(s.Grant, class, role, schema, bits, grantees); err != nil {
				return err
			}
		}
	}
	return nil
}

// defaultACL changes one row of default rights.
func (x *executor) defaultACL(g *ast.Grant, class grantClass, role, schema types.OID, bits catalog.Privileges, grantees []types.OID) error {
	letter := class.letter
	have, err := x.reader().DefaultACLs()
	if err != nil {
		return err
	}
	var list []catalog.ACLItem
	found := false
	for _, d := range have {
		if d.Role == role && d.Schema == schema && d.ObjType == letter {
			list, found = catalog.ParseACL(d.ACL), true
		}
	}
	if !found && schema == 0 {
		list = catalog.DefaultACLOf(class.letter, role)
	}
	for _, to := range grantees {
		if g.Revoke {
			list = catalog.RevokeFrom(list, to, role, bits, g.GrantOption)
		} else {
			list = catalog.GrantTo(list, to, role, bits, g.GrantOption)
		}
	}
	acl := catalog.FormatACL(list)
	if len(acl) == 0 {
		acl = nil
	}
	return x.Writer.SetDefaultACL(catalog.DefaultACL{Role: role, Schema: schema, ObjType: letter, ACL: acl})
}
