package ddl

import (
	"strings"

	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

func reservedSchema(name string) error {
	if strings.HasPrefix(name, "pg_") {
		return sqlerr.New(sqlerr.ReservedName, "unacceptable schema name \"%s\"", name).WithDetail("The prefix \"pg_\" is reserved for system schemas.")
	}
	return nil
}

func (x *executor) createSchema(s *ast.CreateSchema) error {
	owner := x.User
	if s.Owner != nil {
		var err error
		if owner, err = x.role(s.Owner); err != nil {
			return err
		}
		if err := x.mayBecome(owner); err != nil {
			return err
		}
	}
	name := s.Name
	if name == "" {
		name = owner.Name
	}
	if err := x.mayCreateSchema(); err != nil {
		return err
	}
	if err := reservedSchema(name); err != nil {
		return err
	}
	old, err := x.reader().SchemaByName(name)
	if err != nil {
		return err
	}
	if old != nil {
		if s.IfNotExists {
			x.notice(sqlerr.DuplicateSchema, "schema \"%s\" already exists, skipping", name)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateSchema, "schema \"%s\" already exists", name)
	}
	sc := &catalog.Schema{Name: name, Owner: owner.OID}
	if err := x.Writer.CreateSchema(sc); err != nil {
		return err
	}
	if len(s.Elements) == 0 {
		return nil
	}
	return x.schemaElements(sc, s.Elements)
}

// mayCreateSchema checks CREATE on the database.
func (x *executor) mayCreateSchema() error {
	if x.User.Super {
		return nil
	}
	d, err := x.reader().DatabaseByName(x.Database)
	if err != nil {
		return err
	}
	if d != nil {
		set, err := catalog.MembersOf(x.reader(), x.User.OID)
		if err != nil {
			return err
		}
		privs, _ := catalog.Granted(catalog.EffectiveACL(d.ACL, 'd', d.Owner), d.Owner, set)
		if set[d.Owner] || privs&catalog.PrivCreate != 0 {
			return nil
		}
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for database %s", x.Database)
}

// schemaElements runs the statements inside CREATE SCHEMA: tables first, with the new schema in front of the path.
func (x *executor) schemaElements(sc *catalog.Schema, list []ast.Stmt) error {
	env, bind := *x.Env, *x.Bind
	bind.Path = append([]types.OID{sc.OID}, bind.Path...)
	env.Bind = &bind
	env.CreationSchema = func() (types.OID, error) { return sc.OID, nil }
	for _, tables := range []bool{true, false} {
		for _, st := range list {
			if _, isTable := st.(*ast.CreateTable); isTable != tables {
				continue
			}
			if _, err := Execute(&env, st); err != nil {
				return err
			}
		}
	}
	return nil
}

// createExtension: what PostgreSQL ships as extensions is either built in or not there.
func (x *executor) createExtension(s *ast.CreateExtension) error {
	if s.Name == "plpgsql" && s.IfNotExists {
		x.notice(sqlerr.DuplicateObject, "extension \"%s\" already exists, skipping", s.Name)
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "extension \"%s\" is not available", s.Name).
		WithDetail("herd has no extensions.")
}
