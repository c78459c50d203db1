package catalog

import (
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/storage"
)

// Type is a built-in or user-defined type.
type Type = pgdata.Type

// Proc is a built-in or user-defined function.
type Proc = pgdata.Proc

// Object identifiers of the catalogs, which name the class of an object in dependencies,
// comments and keys.
const (
	ClassType        types.OID = 1247 // pg_type
	ClassProc        types.OID = 1255 // pg_proc
	ClassRelation    types.OID = 1259 // pg_class
	ClassAuthID      types.OID = 1260 // pg_authid
	ClassMember      types.OID = 1261 // pg_auth_members
	ClassDatabase    types.OID = 1262 // pg_database
	ClassAttrDef     types.OID = 2604 // pg_attrdef
	ClassConstraint  types.OID = 2606 // pg_constraint
	ClassNamespace   types.OID = 2615 // pg_namespace
	ClassRewrite     types.OID = 2618 // pg_rewrite
	ClassTrigger     types.OID = 2620 // pg_trigger
	ClassEnum        types.OID = 3501 // pg_enum
	ClassExtension   types.OID = 3079 // pg_extension
	ClassRoleSetting types.OID = 2964 // pg_db_role_setting
	ClassDefaultACL  types.OID = 826  // pg_default_acl
	ClassOperator    types.OID = 2617 // pg_operator
	ClassCast        types.OID = 2605 // pg_cast
	ClassCollation   types.OID = 3456 // pg_collation
	ClassLanguage    types.OID = 2612 // pg_language
	ClassTablespace  types.OID = 1213 // pg_tablespace
	ClassOpclass     types.OID = 2616 // pg_opclass
	ClassOpfamily    types.OID = 2753 // pg_opfamily

	ClassAccessMethod types.OID = 2601 // pg_am
)

// Object identifiers that every database has.
const (
	BootstrapRole     types.OID = 10   // postgres
	DefaultTablespace types.OID = 1663 // pg_default
	GlobalTablespace  types.OID = 1664 // pg_global
)

// Role is a row of pg_authid; roles are shared by all databases.
type Role struct {
	OID         types.OID
	Name        string
	Super       bool
	Inherit     bool
	CreateRole  bool
	CreateDB    bool
	Login       bool
	Replication bool
	BypassRLS   bool
	ConnLimit   int32    // -1 unlimited
	Password    string   // SCRAM verifier, "" none
	ValidUntil  *int64   // microseconds since 2000-01-01, nil for ever
	Config      []string // name=value, of ALTER ROLE SET for all databases
	Version     storage.Seq
}

// Membership is a row of pg_auth_members.
type Membership struct {
	Role, Member, Grantor types.OID
	Admin                 bool
}

// Database is a row of pg_database.
type Database struct {
	OID        types.OID
	Name       string
	Owner      types.OID
	IsTemplate bool
	AllowConn  bool
	ConnLimit  int32
	ACL        []string
	Config     []string // name=value, of ALTER DATABASE SET
	Version    storage.Seq
}

// RoleSetting is a row of pg_db_role_setting; Database or Role may be 0 (all).
type RoleSetting struct {
	Database, Role types.OID
	Config         []string
}

// DefaultACL is a row of pg_default_acl.
type DefaultACL struct {
	OID     types.OID
	Role    types.OID
	Schema  types.OID // 0 all
	ObjType byte      // r table, S sequence, f function, T type, n schema
	ACL     []string
}

// Dependency is a row of pg_depend: the object (Class, OID, Sub) needs (RefClass, RefOID, RefSub).
type Dependency struct {
	Class, OID       types.OID
	Sub              int32
	RefClass, RefOID types.OID
	RefSub           int32
	Type             byte // n normal, a auto, i internal, e extension, P and S partition
}

// ServerState is what base catalogs know about the running server beyond descriptors.
type ServerState interface {
	// SequenceState returns a sequence's last value, how many more are handed out before the log is written, and whether
	// the last one was handed out.
	SequenceState(seq types.OID) (last, logged int64, called bool, err error)
}
