package ddl

import (
	"fmt"

	"herd/engine/lock"
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/deparse"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// reader reads the newest catalog with the statement's changes so far.
func (x *executor) reader() catalog.Reader { return x.Writer.Reader() }

// find looks a relation up; nil when there is none.
func (x *executor) find(n ast.Name) (*catalog.Relation, error) {
	if n.Catalog != "" && n.Catalog != x.Database {
		return nil, x.at(n.Off, sqlerr.FeatureNotSupported, "cross-database references are not implemented: \"%s\"", n.String())
	}
	return x.reader().LookupRelation(n.Schema, n.Name, x.Bind.Path)
}

// missing is the error about a relation that does not exist.
func (x *executor) missing(n ast.Name) *sqlerr.Error {
	return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", n.String())
}

// locked finds a relation, locks it and reads it again. missingOK makes an absent one a notice and nil. may is asked before
// the lock, so that who has no right to a table cannot keep others from it by waiting; the caller asks again after it.
func (x *executor) locked(n ast.Name, m lock.Mode, missingOK bool, may ...func(*catalog.Relation) error) (*catalog.Relation, error) {
	rel, err := x.find(n)
	if err != nil {
		return nil, err
	}
	if rel == nil {
		if missingOK {
			x.notice(sqlerr.SuccessfulCompletion, "relation \"%s\" does not exist, skipping", n.String())
			return nil, nil
		}
		return nil, x.missing(n)
	}
	for _, f := range may {
		if err := f(rel); err != nil {
			return nil, err
		}
	}
	return x.lockOID(rel.OID, m)
}

// lockOID locks a relation and reads its newest descriptor.
func (x *executor) lockOID(id types.OID, m lock.Mode) (*catalog.Relation, error) {
	if id >= pgdata.FirstUserOID {
		if err := x.Tx.LockTable(uint32(id), m, lock.Wait); err != nil {
			return nil, err
		}
	}
	rel, err := x.reader().RelationByOID(id)
	if err == nil && rel == nil {
		err = sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", id)
	}
	return rel, err
}

// own checks that the user may change a relation.
func (x *executor) own(rel *catalog.Relation) error {
	if rel.OID < pgdata.FirstUserOID {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", rel.Name)
	}
	return x.ownerOf(rel.Owner, relWord(rel), rel.Name)
}

// ownerOf checks that the user is, or is a member of, an object's owner.
func (x *executor) ownerOf(owner types.OID, word, name string) error {
	if x.User.Super || x.User.OID == owner {
		return nil
	}
	set, err := catalog.MembersOf(x.reader(), x.User.OID)
	if err != nil {
		return err
	}
	if set[owner] {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of %s %s", word, name)
}

// relWord is what messages call a relation.
func relWord(rel *catalog.Relation) string { return catalog.RelationWord(rel.Kind) }

// creationSchema finds where a new object goes and checks the right to create there.
func (x *executor) creationSchema(n ast.Name, temp bool) (types.OID, error) {
	if n.Catalog != "" && n.Catalog != x.Database {
		return 0, x.at(n.Off, sqlerr.FeatureNotSupported, "cross-database references are not implemented: \"%s\"", n.String())
	}
	if temp {
		if n.Schema != "" && n.Schema != "pg_temp" {
			return 0, x.at(n.Off, sqlerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema")
		}
		return x.TempSchema()
	}
	if n.Schema == "" {
		id, err := x.CreationSchema()
		if err != nil {
			return 0, err
		}
		return id, x.mayCreate(id, n.Name)
	}
	if n.Schema == "pg_temp" {
		return x.TempSchema()
	}
	s, err := x.reader().SchemaByName(n.Schema)
	if err != nil {
		return 0, err
	}
	if s == nil {
		return 0, x.at(n.Off, sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", n.Schema)
	}
	return s.OID, x.mayCreate(s.OID, n.Name)
}

// mayCreate checks the right to create something called name in a schema.
func (x *executor) mayCreate(schema types.OID, name string) error {
	s, err := x.reader().SchemaByOID(schema)
	if err != nil {
		return err
	}
	if s == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema with OID %d does not exist", schema)
	}
	if schema == pgdata.CatalogSchema || schema == pgdata.ToastSchema {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create \"%s.%s\"", s.Name, name).
			WithDetail("System catalog modifications are currently disallowed.")
	}
	if x.User.Super {
		return nil
	}
	set, err := catalog.MembersOf(x.reader(), x.User.OID)
	if err != nil {
		return err
	}
	privs, _ := catalog.Granted(catalog.EffectiveACL(s.ACL, 'n', s.Owner), s.Owner, set)
	if set[s.Owner] || privs&catalog.PrivCreate != 0 {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for schema %s", s.Name)
}

// notThere fails, or with ifNotExists sends a notice, when a relation of the name exists in the schema.
func (x *executor) notThere(schema types.OID, name string, ifNotExists bool) (exists bool, err error) {
	rel, err := x.reader().RelationByName(schema, name)
	if rel == nil || err != nil {
		return false, err
	}
	if ifNotExists {
		x.notice(sqlerr.DuplicateTable, "relation \"%s\" already exists, skipping", name)
		return true, nil
	}
	return true, sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", name)
}

// typeOf finds a written type for a column called name.
func (x *executor) typeOf(t *ast.TypeName) (types.OID, types.Typmod, error) {
	return planner.ResolveType(x.reader(), x.Bind, t)
}

// typeInfo returns a type's description.
func (x *executor) typeInfo(id types.OID) (*catalog.Type, error) {
	t, err := x.reader().TypeByOID(id)
	if err == nil && t == nil {
		err = sqlerr.Internal("cache lookup failed for type %d", id)
	}
	return t, err
}

// typeText is a type as messages show it.
func (x *executor) typeText(id types.OID) string {
	s, err := catalog.FormatType(x.reader(), id, -1, false, x.Bind.Path)
	if err != nil {
		return fmt.Sprint(id)
	}
	return s
}

// pgLookup adapts the reader to pgdata's callbacks.
func (x *executor) pgLookup(id types.OID) *pgdata.Type {
	t, err := x.reader().TypeByOID(id)
	if err != nil {
		return nil
	}
	return t
}

// collationOf resolves COLLATE for a type; a zero name gives the type's own collation.
func (x *executor) collationOf(n ast.Name, typ types.OID) (types.OID, error) {
	t, err := x.typeInfo(typ)
	if err != nil || n.IsZero() {
		if t == nil {
			return 0, err
		}
		return t.Collation, err
	}
	if t.Collation == 0 {
		return 0, x.at(n.Off, sqlerr.DatatypeMismatch, "collations are not supported by type %s", x.typeText(typ))
	}
	c := pgdata.CollationByName(n.Name)
	if c == nil || n.Schema != "" && n.Schema != "pg_catalog" {
		return 0, x.at(n.Off, sqlerr.UndefinedObject, "collation \"%s\" for encoding \"UTF8\" does not exist", n.String())
	}
	return c.OID, nil
}

// bindExpr binds an expression of the statement over rel's columns (nil: none).
func (x *executor) bindExpr(rel *catalog.Relation, e ast.Expr, use planner.ExprUse, col *catalog.Column) (plan.Expr, error) {
	return planner.BindExpr(x.reader(), x.Bind, rel, e, use, col)
}

// bindStored binds canonical text.
func (x *executor) bindStored(rel *catalog.Relation, text string, use planner.ExprUse) (plan.Expr, error) {
	return planner.BindStored(x.reader(), x.Bind, rel, text, use)
}

// store returns the canonical text of a bound expression.
func (x *executor) store(rel *catalog.Relation, e plan.Expr) (string, error) {
	return deparse.Expr(&deparse.Env{Cat: x.reader(), Path: deparse.StoredPath, Store: true, Database: x.Database}, rel, e)
}

// role finds a role by a name of the statement.
func (x *executor) role(r *ast.RoleSpec) (*catalog.Role, error) {
	switch r.Kind {
	case ast.RoleCurrentRole, ast.RoleCurrentUser, ast.RoleSessionUser:
		return x.User, nil
	case ast.RolePublic:
		return nil, sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", "public")
	}
	role, err := x.reader().RoleByName(r.Name)
	if err == nil && role == nil {
		err = sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", r.Name)
	}
	return role, err
}

// schemaName returns a schema's name.
func (x *executor) schemaName(id types.OID) string {
	s, err := x.reader().SchemaByOID(id)
	if err != nil || s == nil {
		return ""
	}
	return s.Name
}

// qualified returns schema.name quoted, as stored text needs it.
func (x *executor) qualified(rel *catalog.Relation) string {
	return catalog.QuoteQualified(x.schemaName(rel.Schema), rel.Name)
}

func (x *executor) collationName(id types.OID) string {
	if c := pgdata.CollationByOID(id); c != nil {
		return c.Name
	}
	return ""
}
