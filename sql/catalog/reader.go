package catalog

import (
	"herd/sql/types"
	"herd/storage"
)

// Version is the sequence number of a commit that changed the catalog; plans name it without importing storage.
type Version = storage.Seq

// Reader is the catalog as one storage.View shows it: one snapshot plus the transaction's own
// changes. Everything it returns is immutable and may be kept. A look-up of something absent
// returns nil without error; errors are those of storage.
//
// Schemas on a search path are given in order; the caller has put pg_catalog (and the temporary
// schema) where PostgreSQL would search them, see ResolvePath.
type Reader interface {
	// Version returns the sequence number of the last commit that touched the catalog and
	// whether the transaction has uncommitted DDL of its own.
	Version() (seq storage.Seq, own bool)
	// TempSchema returns the session's temporary schema, 0 when it has none yet.
	TempSchema() types.OID

	SchemaByName(name string) (*Schema, error)
	SchemaByOID(id types.OID) (*Schema, error)
	Schemas() ([]*Schema, error)

	// LookupRelation finds a table, view, sequence, index or composite type by name. With schema
	// "" the path is searched; "pg_temp" is the session's temporary schema. An index is returned
	// as a Relation of KindIndex whose Columns are its keys.
	LookupRelation(schema, name string, path []types.OID) (*Relation, error)
	RelationByName(schema types.OID, name string) (*Relation, error)
	RelationByOID(id types.OID) (*Relation, error)
	// IndexByOID returns an index and its table.
	IndexByOID(id types.OID) (*Relation, *Index, error)
	// ConstraintByOID returns a table constraint and its table.
	ConstraintByOID(id types.OID) (*Relation, *Constraint, error)
	// Relations calls f for every user relation (not indexes) until it returns false;
	// SystemRelations are in pgdata.
	Relations(f func(*Relation) bool) error
	// RelationsInSchema is Relations for one schema.
	RelationsInSchema(schema types.OID, f func(*Relation) bool) error
	// RowCount returns the number of rows in a table, exact but for the transaction's own changes;
	// for a base catalog it is an estimate.
	RowCount(r *Relation) int64

	TypeByOID(id types.OID) (*Type, error)
	TypeByName(schema types.OID, name string) (*Type, error)
	LookupType(schema, name string, path []types.OID) (*Type, error)
	// UserTypes calls f for enums, domains, ranges and the row and array types of relations.
	UserTypes(f func(*Type) bool) error

	FuncByOID(id types.OID) (*Proc, error)
	// FuncsByName returns all functions of a name in one schema.
	FuncsByName(schema types.OID, name string) ([]*Proc, error)
	// LookupFuncs returns the candidates of a name, those of earlier schemas first.
	LookupFuncs(schema, name string, path []types.OID) ([]*Proc, error)
	UserFuncs(f func(*Proc) bool) error

	// RoleByName and the others below read the system database.
	RoleByName(name string) (*Role, error)
	RoleByOID(id types.OID) (*Role, error)
	Roles() ([]*Role, error)
	Memberships() ([]Membership, error)
	DatabaseByName(name string) (*Database, error)
	DatabaseByOID(id types.OID) (*Database, error)
	Databases() ([]*Database, error)
	RoleSettings() ([]RoleSetting, error)

	DefaultACLs() ([]DefaultACL, error)
	// Comment returns the comment on an object, "" when it has none.
	Comment(class, id types.OID, sub int32) (string, error)
	// Comments calls f for all comments on user objects.
	Comments(f func(class, id types.OID, sub int32, text string) bool) error
	// Dependents calls f for what depends on an object; sub 0 means the object and all its parts.
	Dependents(class, id types.OID, sub int32, f func(Dependency) bool) error
	// References calls f for what an object (with sub 0: and its parts) depends on.
	References(class, id types.OID, sub int32, f func(Dependency) bool) error
	// AllDependencies calls f for all rows of pg_depend that belong to user objects.
	AllDependencies(f func(Dependency) bool) error
}
