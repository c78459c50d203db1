package postgres

import (
	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
)

// objectKinds maps the parser's object types to ours; what is missing is unsupported.
var objectKinds = map[pg.ObjectType]ast.ObjectKind{
	pg.ObjectType_OBJECT_TABLE: ast.ObjTable, pg.ObjectType_OBJECT_INDEX: ast.ObjIndex, pg.ObjectType_OBJECT_VIEW: ast.ObjView,
	pg.ObjectType_OBJECT_MATVIEW: ast.ObjMatView, pg.ObjectType_OBJECT_SEQUENCE: ast.ObjSequence,
	pg.ObjectType_OBJECT_FOREIGN_TABLE: ast.ObjForeignTable, pg.ObjectType_OBJECT_COLUMN: ast.ObjColumn,
	pg.ObjectType_OBJECT_ATTRIBUTE: ast.ObjAttribute, pg.ObjectType_OBJECT_SCHEMA: ast.ObjSchema,
	pg.ObjectType_OBJECT_DATABASE: ast.ObjDatabase, pg.ObjectType_OBJECT_TYPE: ast.ObjType, pg.ObjectType_OBJECT_DOMAIN: ast.ObjDomain,
	pg.ObjectType_OBJECT_FUNCTION: ast.ObjFunction, pg.ObjectType_OBJECT_PROCEDURE: ast.ObjProcedure,
	pg.ObjectType_OBJECT_ROUTINE: ast.ObjRoutine, pg.ObjectType_OBJECT_AGGREGATE: ast.ObjAggregate,
	pg.ObjectType_OBJECT_OPERATOR: ast.ObjOperator, pg.ObjectType_OBJECT_TABCONSTRAINT: ast.ObjConstraint,
	pg.ObjectType_OBJECT_DOMCONSTRAINT: ast.ObjDomConstraint, pg.ObjectType_OBJECT_TRIGGER: ast.ObjTrigger,
	pg.ObjectType_OBJECT_RULE: ast.ObjRule, pg.ObjectType_OBJECT_POLICY: ast.ObjPolicy, pg.ObjectType_OBJECT_ROLE: ast.ObjRole,
	pg.ObjectType_OBJECT_EXTENSION: ast.ObjExtension, pg.ObjectType_OBJECT_LANGUAGE: ast.ObjLanguage,
	pg.ObjectType_OBJECT_COLLATION: ast.ObjCollation, pg.ObjectType_OBJECT_CONVERSION: ast.ObjConversion,
	pg.ObjectType_OBJECT_CAST: ast.ObjCast, pg.ObjectType_OBJECT_TABLESPACE: ast.ObjTablespace,
	pg.ObjectType_OBJECT_STATISTIC_EXT: ast.ObjStatistics, pg.ObjectType_OBJECT_LARGEOBJECT: ast.ObjLargeObject,
	pg.ObjectType_OBJECT_FOREIGN_SERVER: ast.ObjForeignServer, pg.ObjectType_OBJECT_FDW: ast.ObjFDW,
	pg.ObjectType_OBJECT_PARAMETER_ACL: ast.ObjParameter,
}

func (c *converter) objectKind(t pg.ObjectType) ast.ObjectKind {
	k, ok := objectKinds[t]
	if !ok {
		c.unsupported(ast.NoPos, t.String())
	}
	return k
}

// object converts the name of an object of a kind that is not a relation given as a RangeVar.
func (c *converter) object(kind ast.ObjectKind, n *pg.Node) ast.ObjectName {
	out := ast.ObjectName{Loc: ast.At(ast.NoPos)}
	switch x := n.GetNode().(type) {
	case *pg.Node_String_:
		out.Name = ast.Name{Loc: ast.At(ast.NoPos), Name: x.String_.Sval}
	case *pg.Node_RangeVar:
		out.Name = c.plainRelation(x.RangeVar, string(kind))
		out.Loc = out.Name.Loc
	case *pg.Node_TypeName:
		out.Type = c.typeName(x.TypeName)
		out.Name, out.Loc = out.Type.Name, out.Type.Loc
	case *pg.Node_ObjectWithArgs:
		return c.objectWithArgs(x.ObjectWithArgs)
	case *pg.Node_List:
		c.objectList(kind, &out, x.List.Items)
	case *pg.Node_Integer:
		out.Name = ast.Name{Loc: ast.At(ast.NoPos), Name: ast.OptionValue{Kind: ast.ValueInt, Int: int64(x.Integer.Ival)}.String()}
	case *pg.Node_Float:
		out.Name = ast.Name{Loc: ast.At(ast.NoPos), Name: x.Float.Fval}
	default:
		c.unknown(n, string(kind))
	}
	return out
}

// objectList converts names given as a list: dotted names, a relation with one of its parts, a cast, a domain's constraint.
func (c *converter) objectList(kind ast.ObjectKind, out *ast.ObjectName, list []*pg.Node) {
	switch kind {
	case ast.ObjColumn, ast.ObjConstraint, ast.ObjTrigger, ast.ObjRule, ast.ObjPolicy:
		parts := c.strs(list, string(kind))
		if c.err == nil && len(parts) < 2 {
			if kind == ast.ObjColumn {
				c.failAt(ast.NoPos, "42601", "column name must be qualified")
			} else {
				c.unsupported(ast.NoPos, string(kind)+" without a relation")
			}
		}
		if c.err == nil {
			out.Sub = parts[len(parts)-1]
			out.Name = c.nameOf(parts[:len(parts)-1], ast.NoPos)
		}
	case ast.ObjDomConstraint:
		if len(list) > 0 {
			if _, ok := list[0].GetNode().(*pg.Node_String_); ok { // RENAME CONSTRAINT names the domain alone
				out.Name = c.name(list, ast.NoPos, string(kind))
				return
			}
		}
		if len(list) == 2 {
			if t, ok := list[0].GetNode().(*pg.Node_TypeName); ok {
				out.Type, out.Sub = c.typeName(t.TypeName), c.str(list[1], string(kind))
				out.Name = out.Type.Name
				return
			}
		}
		c.unsupported(ast.NoPos, "name of a domain constraint")
	case ast.ObjCast:
		types := c.typeNames(list, "CAST")
		if c.err == nil && len(types) != 2 {
			c.unsupported(ast.NoPos, "name of a cast")
		}
		if c.err == nil {
			out.Type, out.Args, out.HasArgs = types[0], types[1:], true
			out.Name, out.Loc = types[0].Name, types[0].Loc
		}
	default:
		out.Name = c.name(list, ast.NoPos, string(kind))
	}
}

func (c *converter) objectWithArgs(o *pg.ObjectWithArgs) ast.ObjectName {
	out := ast.ObjectName{Loc: ast.At(ast.NoPos), Name: c.name(o.Objname, ast.NoPos, "function name"), HasArgs: !o.ArgsUnspecified}
	if o.ArgsUnspecified {
		c.refuse(len(o.Objargs) > 0 || len(o.Objfuncargs) > 0, ast.NoPos, "arguments of an object without arguments")
		return out
	}
	for _, n := range o.Objargs {
		if n.GetNode() == nil {
			out.Args = append(out.Args, nil) // NONE
			continue
		}
		t, ok := n.GetNode().(*pg.Node_TypeName)
		if !ok {
			c.unknown(n, "argument types")
			return out
		}
		out.Args = append(out.Args, c.typeName(t.TypeName))
	}
	return out
}

func (c *converter) roleSpec(r *pg.RoleSpec) ast.RoleSpec {
	if r == nil {
		c.unsupported(ast.NoPos, "missing role")
		return ast.RoleSpec{}
	}
	out := ast.RoleSpec{Loc: ast.At(r.Location), Name: r.Rolename}
	switch r.Roletype {
	case pg.RoleSpecType_ROLESPEC_CSTRING:
		return out
	case pg.RoleSpecType_ROLESPEC_CURRENT_ROLE:
		out.Kind = ast.RoleCurrentRole
	case pg.RoleSpecType_ROLESPEC_CURRENT_USER:
		out.Kind = ast.RoleCurrentUser
	case pg.RoleSpecType_ROLESPEC_SESSION_USER:
		out.Kind = ast.RoleSessionUser
	case pg.RoleSpecType_ROLESPEC_PUBLIC:
		out.Kind = ast.RolePublic
	default:
		c.unsupported(r.Location, r.Roletype.String())
	}
	c.refuse(r.Rolename != "", r.Location, "role name")
	return out
}

func (c *converter) roleSpecs(list []*pg.Node, where string) []ast.RoleSpec {
	var out []ast.RoleSpec
	for _, n := range list {
		r, ok := n.GetNode().(*pg.Node_RoleSpec)
		if !ok {
			c.unknown(n, where)
			return nil
		}
		out = append(out, c.roleSpec(r.RoleSpec))
	}
	return out
}

func (c *converter) drop(s *pg.DropStmt) ast.Stmt {
	out := &ast.Drop{
		Loc: ast.At(c.start), Kind: c.objectKind(s.RemoveType), IfExists: s.MissingOk, Cascade: c.cascade(s.Behavior), Concurrently: s.Concurrent,
	}
	for _, n := range s.Objects {
		if c.err != nil {
			return nil
		}
		out.Objects = append(out.Objects, c.object(out.Kind, n))
	}
	return out
}

func (c *converter) rename(s *pg.RenameStmt) ast.Stmt {
	out := &ast.Rename{
		Loc: ast.At(c.start), Kind: c.objectKind(s.RenameType), Old: s.Subname, New: s.Newname, IfExists: s.MissingOk, Cascade: c.cascade(s.Behavior),
	}
	if out.Kind == ast.ObjColumn || out.Kind == ast.ObjAttribute {
		out.Relation = c.objectKind(s.RelationType)
	}
	if s.Relation != nil {
		c.refuse(s.Relation.Alias != nil, s.Relation.Location, "alias in RENAME")
		// A composite type arrives as a relation without inheritance; its ONLY says nothing.
		out.Table = c.tableRef(s.Relation, "RENAME")
		if out.Kind == ast.ObjAttribute {
			out.Table.Only = false
		}
	}
	if s.Object.GetNode() != nil {
		out.Object = c.object(out.Kind, s.Object)
	}
	return out
}

func (c *converter) alterSchema(s *pg.AlterObjectSchemaStmt) ast.Stmt {
	out := &ast.AlterObjectSchema{Loc: ast.At(c.start), Kind: c.objectKind(s.ObjectType), Schema: s.Newschema, IfExists: s.MissingOk}
	if s.Relation != nil {
		out.Table = c.tableRef(s.Relation, "SET SCHEMA")
	}
	if s.Object.GetNode() != nil {
		out.Object = c.object(out.Kind, s.Object)
	}
	return out
}

func (c *converter) alterOwner(s *pg.AlterOwnerStmt) ast.Stmt {
	c.refuse(s.Relation != nil, ast.NoPos, "relation in OWNER TO")
	kind := c.objectKind(s.ObjectType)
	return &ast.AlterOwner{Loc: ast.At(c.start), Kind: kind, Object: c.object(kind, s.Object), Owner: c.roleSpec(s.Newowner)}
}

func (c *converter) comment(s *pg.CommentStmt) ast.Stmt {
	kind := c.objectKind(s.Objtype)
	// An empty text removes a comment, as NULL does.
	return &ast.Comment{Loc: ast.At(c.start), Kind: kind, Object: c.object(kind, s.Object), Text: s.Comment, Null: s.Comment == ""}
}

func (c *converter) grant(s *pg.GrantStmt) *ast.Grant {
	if s == nil {
		c.unsupported(ast.NoPos, "missing GRANT")
		return nil
	}
	out := &ast.Grant{
		Loc: ast.At(c.start), Revoke: !s.IsGrant, Kind: c.objectKind(s.Objtype), GrantOption: s.GrantOption,
		Cascade: c.cascade(s.Behavior), Grantees: c.roleSpecs(s.Grantees, "GRANT"),
	}
	switch s.Targtype {
	case pg.GrantTargetType_ACL_TARGET_OBJECT:
	case pg.GrantTargetType_ACL_TARGET_ALL_IN_SCHEMA:
		out.AllInSchema = true
	case pg.GrantTargetType_ACL_TARGET_DEFAULTS:
		c.refuse(len(s.Objects) > 0, ast.NoPos, "objects of default privileges")
	default:
		c.unsupported(ast.NoPos, s.Targtype.String())
	}
	for _, n := range s.Objects {
		kind := out.Kind
		if out.AllInSchema {
			kind = ast.ObjSchema
		}
		out.Objects = append(out.Objects, c.object(kind, n))
	}
	for _, n := range s.Privileges {
		p, ok := n.GetNode().(*pg.Node_AccessPriv)
		if !ok {
			c.unknown(n, "GRANT")
			return nil
		}
		out.Privileges = append(out.Privileges, ast.Privilege{Name: p.AccessPriv.PrivName, Columns: c.strs(p.AccessPriv.Cols, "GRANT")})
	}
	if s.Grantor != nil {
		r := c.roleSpec(s.Grantor)
		out.Grantor = &r
	}
	return out
}

func (c *converter) grantRole(s *pg.GrantRoleStmt) ast.Stmt {
	out := &ast.GrantRole{Loc: ast.At(c.start), Revoke: !s.IsGrant, Grantees: c.roleSpecs(s.GranteeRoles, "GRANT"), Cascade: c.cascade(s.Behavior)}
	for _, n := range s.GrantedRoles {
		p, ok := n.GetNode().(*pg.Node_AccessPriv)
		if !ok {
			c.unknown(n, "GRANT")
			return nil
		}
		c.refuse(len(p.AccessPriv.Cols) > 0, ast.NoPos, "columns of a role grant")
		out.Roles = append(out.Roles, p.AccessPriv.PrivName)
	}
	for _, d := range c.defElems(s.Opt, "GRANT") {
		// PostgreSQL 16 brought INHERIT, SET and values; 15 has ADMIN alone.
		v, ok := d.Arg.GetNode().(*pg.Node_Boolean)
		if d.Defname != "admin" || !ok || v.Boolean.Boolval == out.Revoke {
			c.unsupported(d.Location, "GRANT option "+d.Defname)
		}
		out.AdminOption = true
	}
	if s.Grantor != nil {
		r := c.roleSpec(s.Grantor)
		out.Grantor = &r
	}
	return out
}

func (c *converter) defaultPrivileges(s *pg.AlterDefaultPrivilegesStmt) ast.Stmt {
	out := &ast.AlterDefaultPrivileges{Loc: ast.At(c.start), Grant: c.grant(s.Action)}
	c.refuse(s.Action.GetTargtype() != pg.GrantTargetType_ACL_TARGET_DEFAULTS, ast.NoPos, "target of default privileges")
	for _, d := range c.defElems(s.Options, "ALTER DEFAULT PRIVILEGES") {
		switch d.Defname {
		case "roles":
			out.Roles = append(out.Roles, c.roleSpecs(c.items(d.Arg, "FOR ROLE"), "FOR ROLE")...)
		case "schemas":
			out.Schemas = append(out.Schemas, c.strs(c.items(d.Arg, "IN SCHEMA"), "IN SCHEMA")...)
		default:
			c.unsupported(d.Location, "default privileges option "+d.Defname)
		}
	}
	return out
}
