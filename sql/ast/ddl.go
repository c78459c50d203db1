package ast

// ObjectKind is a kind of database object in DROP, COMMENT, GRANT and the like. Its value is the phrase that statements use.
type ObjectKind string

// The kinds.
const (
	ObjTable         ObjectKind = "TABLE"
	ObjIndex         ObjectKind = "INDEX"
	ObjView          ObjectKind = "VIEW"
	ObjMatView       ObjectKind = "MATERIALIZED VIEW"
	ObjSequence      ObjectKind = "SEQUENCE"
	ObjForeignTable  ObjectKind = "FOREIGN TABLE"
	ObjColumn        ObjectKind = "COLUMN"
	ObjAttribute     ObjectKind = "ATTRIBUTE"
	ObjSchema        ObjectKind = "SCHEMA"
	ObjDatabase      ObjectKind = "DATABASE"
	ObjType          ObjectKind = "TYPE"
	ObjDomain        ObjectKind = "DOMAIN"
	ObjFunction      ObjectKind = "FUNCTION"
	ObjProcedure     ObjectKind = "PROCEDURE"
	ObjRoutine       ObjectKind = "ROUTINE"
	ObjAggregate     ObjectKind = "AGGREGATE"
	ObjOperator      ObjectKind = "OPERATOR"
	ObjConstraint    ObjectKind = "CONSTRAINT"
	ObjDomConstraint ObjectKind = "DOMAIN CONSTRAINT"
	ObjTrigger       ObjectKind = "TRIGGER"
	ObjRule          ObjectKind = "RULE"
	ObjPolicy        ObjectKind = "POLICY"
	ObjRole          ObjectKind = "ROLE"
	ObjExtension     ObjectKind = "EXTENSION"
	ObjLanguage      ObjectKind = "LANGUAGE"
	ObjCollation     ObjectKind = "COLLATION"
	ObjConversion    ObjectKind = "CONVERSION"
	ObjCast          ObjectKind = "CAST"
	ObjTablespace    ObjectKind = "TABLESPACE"
	ObjStatistics    ObjectKind = "STATISTICS"
	ObjLargeObject   ObjectKind = "LARGE OBJECT"
	ObjForeignServer ObjectKind = "FOREIGN SERVER"
	ObjFDW           ObjectKind = "FOREIGN DATA WRAPPER"
	ObjParameter     ObjectKind = "PARAMETER"
)

// ObjectName names an object of any kind.
type ObjectName struct {
	Loc
	Name Name
	// Sub is a column, constraint, trigger, rule or policy of the relation or domain called Name.
	Sub string
	// Type names types, domains and a cast's source.
	Type *TypeName
	// Args are the argument types of a function or operator (nil entries for NONE); HasArgs says that a list was written.
	Args    []*TypeName
	HasArgs bool
}

// CreateView is CREATE VIEW.
type CreateView struct {
	Loc
	View        Name
	Columns     []string
	Query       *Select
	OrReplace   bool
	Persistence Persistence
	Options     []Option
	CheckOption string // "", "local" or "cascaded"
}

// CreateTableAs is CREATE TABLE AS, SELECT INTO and CREATE MATERIALIZED VIEW. Query is *Select, *Execute or a modifying statement's *Select.
type CreateTableAs struct {
	Loc
	Table        Name
	Columns      []string
	Query        Stmt
	WithNoData   bool
	IfNotExists  bool
	MatView      bool
	SelectInto   bool
	Persistence  Persistence
	OnCommit     OnCommit
	Options      []Option
	Tablespace   string
	AccessMethod string
}

// RefreshMatView is REFRESH MATERIALIZED VIEW.
type RefreshMatView struct {
	Loc
	View         Name
	Concurrently bool
	WithNoData   bool
}

// SequenceOptions are the options of a sequence or identity column; nil means not given.
type SequenceOptions struct {
	Type       *TypeName
	Increment  *int64
	MinValue   *int64
	MaxValue   *int64
	NoMinValue bool
	NoMaxValue bool
	Start      *int64
	Restart    bool // with RestartAt nil: to the start value
	RestartAt  *int64
	Cache      *int64
	Cycle      *bool
	// OwnedBy is the dotted name of a column, or NONE alone; nil when not given.
	OwnedBy []string
	// Name is SEQUENCE NAME of an identity column.
	Name Name
	// Logged is ALTER's choice for an unlogged sequence; unused otherwise.
	Logged *bool
}

// CreateSequence is CREATE SEQUENCE.
type CreateSequence struct {
	Loc
	Sequence    Name
	Persistence Persistence
	IfNotExists bool
	Options     SequenceOptions
}

// AlterSequence is ALTER SEQUENCE with options.
type AlterSequence struct {
	Loc
	Sequence Name
	IfExists bool
	Options  SequenceOptions
}

// CreateSchema is CREATE SCHEMA. Name is "" when only an owner was given.
type CreateSchema struct {
	Loc
	Name        string
	Owner       *RoleSpec
	IfNotExists bool
	Elements    []Stmt
}

// CreateDatabase is CREATE DATABASE.
type CreateDatabase struct {
	Loc
	Name    string
	Options []Option
}

// AlterDatabase is ALTER DATABASE with options, or with a setting.
type AlterDatabase struct {
	Loc
	Name    string
	Options []Option
	Set     *SetVar // nil without one
}

// DropDatabase is DROP DATABASE.
type DropDatabase struct {
	Loc
	Name     string
	IfExists bool
	Force    bool
}

// CreateEnum is CREATE TYPE ... AS ENUM.
type CreateEnum struct {
	Loc
	Name   Name
	Labels []string
}

// AlterEnum is ALTER TYPE ... ADD VALUE or RENAME VALUE.
type AlterEnum struct {
	Loc
	Name        Name
	Old         string // RENAME VALUE Old TO New
	New         string
	Neighbor    string // BEFORE or AFTER; "" at the end
	After       bool
	IfNotExists bool
}

// CreateComposite is CREATE TYPE ... AS (columns).
type CreateComposite struct {
	Loc
	Name    Name
	Columns []*ColumnDef
}

// CreateDomain is CREATE DOMAIN.
type CreateDomain struct {
	Loc
	Name        Name
	Type        *TypeName
	Collation   Name
	Constraints []*Constraint
}

// AlterDomainKind is a subcommand of ALTER DOMAIN.
type AlterDomainKind uint8

// The subcommands.
const (
	DomainSetDefault AlterDomainKind = iota
	DomainDropDefault
	DomainSetNotNull
	DomainDropNotNull
	DomainAddConstraint
	DomainDropConstraint
	DomainValidateConstraint
)

// AlterDomain is ALTER DOMAIN.
type AlterDomain struct {
	Loc
	Name       Name
	Kind       AlterDomainKind
	Expr       Expr
	Constraint *Constraint
	Sub        string // constraint name
	IfExists   bool
	Cascade    bool
}

// ParamMode is the mode of a function parameter.
type ParamMode uint8

// The modes.
const (
	ParamIn ParamMode = iota
	ParamOut
	ParamInOut
	ParamVariadic
	ParamTable
)

// FuncParam is a parameter of CREATE FUNCTION.
type FuncParam struct {
	Loc
	Name    string
	Mode    ParamMode
	Type    *TypeName
	Default Expr
}

// CreateFunction is CREATE FUNCTION or PROCEDURE. Body is AS's strings (one, or object file and symbol); SQLBody the standard form.
type CreateFunction struct {
	Loc
	Name      Name
	OrReplace bool
	Procedure bool
	Params    []FuncParam
	Returns   *TypeName
	Language  string
	Body      []string
	SQLBody   []Stmt
	Return    Expr     // RETURN expr
	Options   []Option // volatility, strict, security, leakproof, cost, rows, parallel, set, ...
}

// Drop is DROP of any kind but databases and roles.
type Drop struct {
	Loc
	Kind         ObjectKind
	Objects      []ObjectName
	IfExists     bool
	Cascade      bool
	Concurrently bool
}

// Rename is ALTER ... RENAME.
type Rename struct {
	Loc
	Kind     ObjectKind // what is renamed: ObjTable, ObjColumn, ObjConstraint, ObjSchema, ...
	Relation ObjectKind // for ObjColumn and ObjAttribute: the kind named in ALTER
	Table    *TableRef  // relations, columns, constraints, triggers
	Object   ObjectName // everything else
	Old      string     // column, constraint, role, database and schema names
	New      string
	IfExists bool
	Cascade  bool
}

// AlterObjectSchema is ALTER ... SET SCHEMA.
type AlterObjectSchema struct {
	Loc
	Kind     ObjectKind
	Table    *TableRef
	Object   ObjectName
	Schema   string
	IfExists bool
}

// AlterOwner is ALTER ... OWNER TO for what is not a relation.
type AlterOwner struct {
	Loc
	Kind   ObjectKind
	Object ObjectName
	Owner  RoleSpec
}

// Comment is COMMENT ON; Null is IS NULL.
type Comment struct {
	Loc
	Kind   ObjectKind
	Object ObjectName
	Text   string
	Null   bool
}

// Privilege is one right, with columns when given; Name "" is ALL.
type Privilege struct {
	Name    string // lower case
	Columns []string
}

// Grant is GRANT or REVOKE of rights on objects.
type Grant struct {
	Loc
	Revoke      bool
	Kind        ObjectKind
	AllInSchema bool // Objects are schemas
	Objects     []ObjectName
	Privileges  []Privilege // empty: ALL
	Grantees    []RoleSpec
	GrantOption bool
	Grantor     *RoleSpec
	Cascade     bool
}

// GrantRole is GRANT or REVOKE of membership.
type GrantRole struct {
	Loc
	Revoke      bool
	Roles       []string
	Grantees    []RoleSpec
	AdminOption bool
	Grantor     *RoleSpec
	Cascade     bool
}

// AlterDefaultPrivileges is ALTER DEFAULT PRIVILEGES.
type AlterDefaultPrivileges struct {
	Loc
	Roles   []RoleSpec
	Schemas []string
	Grant   *Grant
}

// RoleWord is the word CREATE ROLE was written with.
type RoleWord uint8

// The words: USER adds LOGIN.
const (
	WordRole RoleWord = iota
	WordUser
	WordGroup
)

// CreateRole is CREATE ROLE, USER or GROUP. Option names are PostgreSQL's: superuser, createdb, canlogin, password, ...
type CreateRole struct {
	Loc
	Name    string
	Word    RoleWord
	Options []Option
}

// AlterRole is ALTER ROLE with options, and ALTER GROUP ADD or DROP USER.
type AlterRole struct {
	Loc
	Role    RoleSpec
	Options []Option
	Drop    bool // ALTER GROUP ... DROP USER
}

// AlterRoleSet is ALTER ROLE ... [IN DATABASE d] SET or RESET; Role is nil for ALL.
type AlterRoleSet struct {
	Loc
	Role     *RoleSpec
	Database string
	Set      *SetVar
}

// DropRole is DROP ROLE.
type DropRole struct {
	Loc
	Roles    []RoleSpec
	IfExists bool
}

// DropOwned is DROP OWNED BY.
type DropOwned struct {
	Loc
	Roles   []RoleSpec
	Cascade bool
}

// ReassignOwned is REASSIGN OWNED BY.
type ReassignOwned struct {
	Loc
	Roles []RoleSpec
	To    RoleSpec
}

// CreateExtension is CREATE EXTENSION.
type CreateExtension struct {
	Loc
	Name        string
	IfNotExists bool
	Options     []Option
}

func (*CreateView) stmt()             {}
func (*CreateTableAs) stmt()          {}
func (*RefreshMatView) stmt()         {}
func (*CreateSequence) stmt()         {}
func (*AlterSequence) stmt()          {}
func (*CreateSchema) stmt()           {}
func (*CreateDatabase) stmt()         {}
func (*AlterDatabase) stmt()          {}
func (*DropDatabase) stmt()           {}
func (*CreateEnum) stmt()             {}
func (*AlterEnum) stmt()              {}
func (*CreateComposite) stmt()        {}
func (*CreateDomain) stmt()           {}
func (*AlterDomain) stmt()            {}
func (*CreateFunction) stmt()         {}
func (*Drop) stmt()                   {}
func (*Rename) stmt()                 {}
func (*AlterObjectSchema) stmt()      {}
func (*AlterOwner) stmt()             {}
func (*Comment) stmt()                {}
func (*Grant) stmt()                  {}
func (*GrantRole) stmt()              {}
func (*AlterDefaultPrivileges) stmt() {}
func (*CreateRole) stmt()             {}
func (*AlterRole) stmt()              {}
func (*AlterRoleSet) stmt()           {}
func (*DropRole) stmt()               {}
func (*DropOwned) stmt()              {}
func (*ReassignOwned) stmt()          {}
func (*CreateExtension) stmt()        {}
