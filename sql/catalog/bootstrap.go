package catalog

import (
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// Bootstrap writes the rows of a new database: its schemas. The system trees (Trees) exist already.
func Bootstrap(w *Writer) error {
	schemas := []*Schema{
		{OID: pgdata.CatalogSchema, Name: "pg_catalog", Owner: BootstrapRole, ACL: []string{"10=UC/10", "=U/10"}},
		{OID: pgdata.ToastSchema, Name: "pg_toast", Owner: BootstrapRole},
		{OID: pgdata.PublicSchema, Name: "public", Owner: databaseOwner, ACL: []string{"6171=UC/6171", "=U/6171"}},
		{OID: pgdata.InformationSchema, Name: "information_schema", Owner: BootstrapRole, ACL: []string{"10=UC/10", "=U/10"}},
	}
	for _, s := range schemas {
		if err := w.CreateSchema(s); err != nil {
			return err
		}
	}
	return nil
}

// databaseOwner is the predefined role pg_database_owner.
const databaseOwner types.OID = 6171

// BootstrapShared writes the rows of a new system database: the role postgres (named user) and
// the databases postgres, template1 and template0 with the identifiers PostgreSQL gives them.
// password is a SCRAM verifier or "".
func BootstrapShared(w *Writer, user, password string) error {
	err := w.CreateRole(&Role{
		OID: BootstrapRole, Name: user, Super: true, Inherit: true, CreateRole: true, CreateDB: true, Login: true,
		Replication: true, BypassRLS: true, ConnLimit: -1, Password: password,
	})
	if err != nil {
		return err
	}
	template := []string{"=c/10", "10=CTc/10"}
	for _, d := range []*Database{
		{OID: 1, Name: "template1", IsTemplate: true, AllowConn: true, ACL: template},
		{OID: 4, Name: "template0", IsTemplate: true, ACL: template},
		{OID: 5, Name: "postgres", AllowConn: true},
	} {
		d.Owner, d.ConnLimit = BootstrapRole, -1
		if err := w.CreateDatabase(d); err != nil {
			return err
		}
	}
	for id, text := range map[types.OID]string{
		1: "default template for new databases", 4: "unmodifiable empty database", 5: "default administrative connection database",
	} {
		if err := w.SetComment(ClassDatabase, id, 0, text); err != nil {
			return err
		}
	}
	return nil
}
