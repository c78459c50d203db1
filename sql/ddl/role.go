package ddl

import (
	"slices"
	"strings"

	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// roleChange is what a role's option list asks for.
type roleChange struct {
	role     catalog.Role
	addTo    []ast.RoleSpec // IN ROLE
	members  []ast.RoleSpec // ROLE
	admins   []ast.RoleSpec // ADMIN
	superSet bool
}

// reservedRole refuses names that mean something else.
func reservedRole(name string) error {
	if strings.HasPrefix(name, "pg_") {
		return sqlerr.New(sqlerr.ReservedName, "role name \"%s\" is reserved", name).WithDetail("Role names starting with \"pg_\" are reserved.")
	}
	if name == "public" || name == "none" {
		return sqlerr.New(sqlerr.ReservedName, "role name \"%s\" is reserved", name)
	}
	return nil
}

func (x *executor) createRole(s *ast.CreateRole) error {
	if err := reservedRole(s.Name); err != nil {
		return err
	}
	c := roleChange{role: catalog.Role{Name: s.Name, Inherit: true, ConnLimit: -1, Login: s.Word == ast.WordUser}}
	if err := x.roleOptions(&c, s.Options); err != nil {
		return err
	}
	switch {
	case x.User.Super:
	case c.role.Super:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to create superusers")
	case c.role.Replication:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to create replication users")
	case c.role.BypassRLS:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to create bypassrls users")
	case !x.User.CreateRole:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create role")
	}
	return x.System(func(w *catalog.Writer) error {
		if old, err := w.Reader().RoleByName(s.Name); err != nil {
			return err
		} else if old != nil {
			return sqlerr.New(sqlerr.DuplicateObject, "role \"%s\" already exists", s.Name)
		}
		if err := w.CreateRole(&c.role); err != nil {
			return err
		}
		return x.memberships(w, &c)
	})
}

// memberships applies IN ROLE, ROLE and ADMIN.
func (x *executor) memberships(w *catalog.Writer, c *roleChange) error {
	grant := func(role, member types.OID, admin bool) error {
		return w.Grant(catalog.Membership{Role: role, Member: member, Grantor: x.User.OID, Admin: admin})
	}
	for _, list := range []struct {
		roles []ast.RoleSpec
		in    bool
		admin bool
	}{{c.addTo, true, false}, {c.members, false, false}, {c.admins, false, true}} {
		for i := range list.roles {
			r, err := w.Reader().RoleByName(list.roles[i].Name)
			if err != nil {
				return err
			}
			if r == nil {
				return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", list.roles[i].Name)
			}
			role, member := c.role.OID, r.OID
			if list.in {
				role, member = r.OID, c.role.OID
			}
			if err := grant(role, member, list.admin); err != nil {
				return err
			}
		}
	}
	return nil
}

// roleOptions reads the options of CREATE and ALTER ROLE.
func (x *executor) roleOptions(c *roleChange, list []ast.Option) error {
	seen := map[string]bool{}
	for _, o := range list {
		if seen[o.Name] {
			return x.at(o.Off, sqlerr.SyntaxError, "conflicting or redundant options")
		}
		seen[o.Name] = true
		on := o.Value.Bool
		switch o.Name {
		case "superuser":
			c.role.Super, c.superSet = on, true
		case "inherit":
			c.role.Inherit = on
		case "createrole":
			c.role.CreateRole = on
		case "createdb":
			c.role.CreateDB = on
		case "canlogin":
			c.role.Login = on
		case "isreplication":
			c.role.Replication = on
		case "bypassrls":
			c.role.BypassRLS = on
		case "connectionlimit":
			if o.Value.Int < -1 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "invalid connection limit: %d", o.Value.Int)
			}
			c.role.ConnLimit = int32(o.Value.Int)
		case "password":
			if err := x.rolePassword(c, o.Value); err != nil {
				return err
			}
		case "validUntil":
			if err := x.validUntil(c, o.Value.String()); err != nil {
				return err
			}
		case "addroleto":
			c.addTo = roleList(o.Value)
		case "rolemembers":
			c.members = roleList(o.Value)
		case "adminmembers":
			c.admins = roleList(o.Value)
		case "sysid":
			x.notice(sqlerr.SuccessfulCompletion, "SYSID can no longer be specified")
		default:
			return sqlerr.Internal("role option \"%s\" not recognized", o.Name)
		}
	}
	return nil
}

func roleList(v ast.OptionValue) []ast.RoleSpec {
	var out []ast.RoleSpec
	for _, item := range v.List {
		if item.Role != nil {
			out = append(out, *item.Role)
		}
	}
	return out
}

func (x *executor) rolePassword(c *roleChange, v ast.OptionValue) error {
	if v.Kind == ast.ValueNone {
		c.role.Password = ""
		return nil
	}
	if v.String() == "" {
		x.notice(sqlerr.SuccessfulCompletion, "empty string is not a valid password, clearing password")
		c.role.Password = ""
		return nil
	}
	var err error
	c.role.Password, err = x.Password(v.String())
	return err
}

func (x *executor) validUntil(c *roleChange, text string) error {
	d, err := types.Input(x.Bind.IO, types.TimestampTZOID, -1, []byte(text))
	if err != nil {
		return err
	}
	const infinity = int64(^uint64(0) >> 1)
	if d.I == infinity {
		c.role.ValidUntil = nil
		return nil
	}
	t := d.I
	c.role.ValidUntil = &t
	return nil
}

func (x *executor) alterRole(s *ast.AlterRole) error {
	target, err := x.role(&s.Role)
	if err != nil {
		return err
	}
	if target.OID < firstUser && target.OID != catalog.BootstrapRole {
		return reservedRole(target.Name)
	}
	c := roleChange{role: *target}
	if err := x.roleOptions(&c, s.Options); err != nil {
		return err
	}
	if err := x.mayAlterRole(target, &c, s.Options); err != nil {
		return err
	}
	return x.System(func(w *catalog.Writer) error {
		old, err := w.Reader().RoleByOID(target.OID)
		if err != nil {
			return err
		}
		now := *old
		config, version := old.Config, old.Version
		now = c.role
		now.Config, now.Version = config, version
		if err := w.UpdateRole(old, &now); err != nil {
			return err
		}
		if !s.Drop {
			return x.memberships(w, &c)
		}
		for i := range c.members {
			r, err := w.Reader().RoleByName(c.members[i].Name)
			if err != nil {
				return err
			}
			if r == nil {
				return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", c.members[i].Name)
			}
			if err := w.Revoke(catalog.Membership{Role: target.OID, Member: r.OID}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (x *executor) mayAlterRole(target *catalog.Role, c *roleChange, opts []ast.Option) error {
	if x.User.Super {
		return nil
	}
	if target.Super || c.superSet {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to alter superuser roles or change superuser attribute")
	}
	if x.User.CreateRole {
		return nil
	}
	// Everybody may change the own password.
	if target.OID == x.User.OID && len(opts) == 1 && opts[0].Name == "password" {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied")
}

// alterRoleSet is ALTER ROLE ... SET and RESET.
func (x *executor) alterRoleSet(s *ast.AlterRoleSet) error {
	set := catalog.RoleSetting{}
	if s.Role != nil {
		r, err := x.role(s.Role)
		if err != nil {
			return err
		}
		if !x.User.Super && r.OID != x.User.OID && !x.User.CreateRole {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied")
		}
		set.Role = r.OID
	} else if !x.User.Super {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to alter settings globally")
	}
	if s.Database != "" {
		d, err := x.reader().DatabaseByName(s.Database)
		if err != nil {
			return err
		}
		if d == nil {
			return sqlerr.New(sqlerr.UndefinedDatabase, "database \"%s\" does not exist", s.Database)
		}
		set.Database = d.OID
	}
	return x.System(func(w *catalog.Writer) error {
		if set.Database == 0 && set.Role != 0 {
			old, err := w.Reader().RoleByOID(set.Role)
			if err != nil {
				return err
			}
			now := *old
			if now.Config, err = x.changeConfig(old.Config, s.Set); err != nil {
				return err
			}
			return w.UpdateRole(old, &now)
		}
		have, err := w.Reader().RoleSettings()
		if err != nil {
			return err
		}
		for _, h := range have {
			if h.Role == set.Role && h.Database == set.Database {
				set.Config = h.Config
			}
		}
		if set.Config, err = x.changeConfig(set.Config, s.Set); err != nil {
			return err
		}
		return w.SetRoleSetting(set)
	})
}

// changeConfig applies SET or RESET to a list of name=value.
func (x *executor) changeConfig(config []string, s *ast.SetVar) ([]string, error) {
	if s.Kind == ast.SetResetAll {
		return nil, nil
	}
	name, value := strings.ToLower(s.Name), ""
	drop := s.Kind == ast.SetReset || s.Kind == ast.SetDefault
	if !drop {
		var err error
		if name, value, err = x.Setting(s); err != nil {
			return nil, err
		}
	}
	out := slices.DeleteFunc(slices.Clone(config), func(kv string) bool {
		n, _, _ := strings.Cut(kv, "=")
		return strings.EqualFold(n, name)
	})
	if drop {
		return out, nil
	}
	return append(out, name+"="+value), nil
}

func (x *executor) dropRole(s *ast.DropRole) error {
	if !x.User.Super && !x.User.CreateRole {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to drop role")
	}
	for i := range s.Roles {
		spec := &s.Roles[i]
		if spec.Kind != ast.RoleNamed {
			return sqlerr.New(sqlerr.InvalidParameterValue, "cannot use special role specifier in DROP ROLE")
		}
		r, err := x.reader().RoleByName(spec.Name)
		if err != nil {
			return err
		}
		if r == nil {
			if s.IfExists {
				x.notice(sqlerr.SuccessfulCompletion, "role \"%s\" does not exist, skipping", spec.Name)
				continue
			}
			return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", spec.Name)
		}
		switch {
		case r.OID == x.User.OID:
			return sqlerr.New(sqlerr.ObjectInUse, "current user cannot be dropped")
		case r.Super && !x.User.Super:
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to drop superusers")
		}
		if err := x.unused(r); err != nil {
			return err
		}
		if err := x.System(func(w *catalog.Writer) error { return w.DropRole(r) }); err != nil {
			return err
		}
	}
	return nil
}

// unused checks that a role owns nothing in this database, nor a database.
func (x *executor) unused(r *catalog.Role) error {
	if r.OID < firstUser {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop role %s because it is required by the database system", r.Name)
	}
	var lines []string
	n := x.names()
	add := func(class, id types.OID) error {
		what, err := n.Describe(catalog.Object{Class: class, OID: id})
		lines = append(lines, "owner of "+what)
		return err
	}
	var fail error
	err := x.reader().Relations(func(rel *catalog.Relation) bool {
		if rel.Owner == r.OID {
			fail = add(catalog.ClassRelation, rel.OID)
		}
		return fail == nil
	})
	if err != nil || fail != nil {
		return firstError(err, fail)
	}
	schemas, err := x.reader().Schemas()
	if err != nil {
		return err
	}
	for _, s := range schemas {
		if s.Owner == r.OID {
			if err := add(catalog.ClassNamespace, s.OID); err != nil {
				return err
			}
		}
	}
	dbs, err := x.reader().Databases()
	if err != nil {
		return err
	}
	for _, d := range dbs {
		if d.Owner == r.OID {
			lines = append(lines, "owner of database "+d.Name)
		}
	}
	granted, err := x.rightsOf(r.OID)
	if err != nil {
		return err
	}
	if lines = append(lines, granted...); len(lines) == 0 {
		return nil
	}
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "role \"%s\" cannot be dropped because some objects depend on it", r.Name).
		WithDetail("%s", strings.Join(lines, "\n"))
}

// rightsOf describes the objects of this database on which a role has been granted rights.
func (x *executor) rightsOf(role types.OID) ([]string, error) {
	var out []string
	n := x.names()
	has := func(acl []string) bool {
		for _, it := range catalog.ParseACL(acl) {
			if it.Grantee == role || it.Grantor == role {
				return true
			}
		}
		return false
	}
	add := func(o catalog.Object) error {
		what, err := n.Describe(o)
		out = append(out, "privileges for "+what)
		return err
	}
	schemas, err := x.reader().Schemas()
	if err != nil {
		return nil, err
	}
	for _, s := range schemas {
		if has(s.ACL) {
			if err := add(catalog.Object{Class: catalog.ClassNamespace, OID: s.OID}); err != nil {
				return nil, err
			}
		}
	}
	var fail error
	err = x.reader().Relations(func(rel *catalog.Relation) bool {
		if has(rel.ACL) {
			fail = add(catalog.Object{Class: catalog.ClassRelation, OID: rel.OID})
		}
		for i := range rel.Columns {
			if fail == nil && has(rel.Columns[i].ACL) {
				fail = add(catalog.Object{Class: catalog.ClassRelation, OID: rel.OID, Sub: int32(rel.Columns[i].Num)})
			}
		}
		return fail == nil
	})
	return out, firstError(err, fail)
}

func firstError(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// grantRole is GRANT and REVOKE of membership.
func (x *executor) grantRole(s *ast.GrantRole) error {
	return x.System(func(w *catalog.Writer) error {
		r := w.Reader()
		for _, name := range s.Roles {
			role, err := r.RoleByName(name)
			if err != nil {
				return err
			}
			if role == nil {
				return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
			}
			if err := x.mayGrantRole(r, role); err != nil {
				return err
			}
			for i := range s.Grantees {
				member, err := x.role(&s.Grantees[i])
				if err != nil {
					return err
				}
				if err := x.member(w, s, role, member); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (x *executor) mayGrantRole(r catalog.Reader, role *catalog.Role) error {
	if x.User.Super {
		return nil
	}
	if role.Super {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to alter superusers")
	}
	if x.User.CreateRole {
		return nil
	}
	list, err := r.Memberships()
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.Role == role.OID && m.Member == x.User.OID && m.Admin {
			return nil
		}
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "must have admin option on role \"%s\"", role.Name)
}

// member grants or revokes one membership.
func (x *executor) member(w *catalog.Writer, s *ast.GrantRole, role, member *catalog.Role) error {
	list, err := w.Reader().Memberships()
	if err != nil {
		return err
	}
	var have *catalog.Membership
	for i := range list {
		if list[i].Role == role.OID && list[i].Member == member.OID {
			have = &list[i]
		}
	}
	if s.Revoke {
		if have == nil {
			if x.Notice != nil {
				x.Notice(sqlerr.Warn(sqlerr.Warning, "role \"%s\" is not a member of role \"%s\"", member.Name, role.Name))
			}
			return nil
		}
		if s.AdminOption {
			m := *have
			m.Admin = false
			return w.Grant(m)
		}
		return w.Revoke(*have)
	}
	if have != nil && (have.Admin || !s.AdminOption) {
		x.notice(sqlerr.SuccessfulCompletion, "role \"%s\" is already a member of role \"%s\"", member.Name, role.Name)
		return nil
	}
	// A role must not become a member of itself, directly or through others.
	set, err := catalog.MembersOf(w.Reader(), role.OID)
	if err != nil {
		return err
	}
	if set[member.OID] {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "role \"%s\" is a member of role \"%s\"", role.Name, member.Name)
	}
	return w.Grant(catalog.Membership{Role: role.OID, Member: member.OID, Grantor: x.User.OID, Admin: s.AdminOption || have != nil && have.Admin})
}

func (x *executor) renameRole(s *ast.Rename) error {
	if err := reservedRole(s.New); err != nil {
		return err
	}
	if !x.User.Super && !x.User.CreateRole {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to rename role")
	}
	return x.System(func(w *catalog.Writer) error {
		old, err := w.Reader().RoleByName(s.Old)
		if err != nil {
			return err
		}
		if old == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", s.Old)
		}
		if old.OID == x.User.OID {
			return sqlerr.New(sqlerr.FeatureNotSupported, "session user cannot be renamed")
		}
		now := *old
		now.Name = s.New
		return w.UpdateRole(old, &now)
	})
}
