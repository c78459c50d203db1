package ast

// Persistence says how long a relation lives and how it is logged.
type Persistence uint8

// The choices.
const (
	Permanent Persistence = iota
	Temporary
	Unlogged
)

// OnCommit is what COMMIT does with a temporary table.
type OnCommit uint8

// The choices.
const (
	OnCommitDefault OnCommit = iota
	OnCommitPreserve
	OnCommitDelete
	OnCommitDrop
)

// CreateTable is CREATE TABLE.
type CreateTable struct {
	Loc
	Table        Name
	Persistence  Persistence
	IfNotExists  bool
	Elements     []TableElement
	Inherits     []Name
	PartitionBy  *PartitionBy
	PartitionOf  *PartitionBound // with the parent in Inherits
	OfType       *TypeName
	Options      []Option
	OnCommit     OnCommit
	Tablespace   string
	AccessMethod string
}

// PartitionBy is PARTITION BY.
type PartitionBy struct {
	Loc
	Strategy string // list, range, hash
	Elems    []IndexElem
}

// PartitionBound is FOR VALUES ... or DEFAULT.
type PartitionBound struct {
	Loc
	Default            bool
	Strategy           byte // l, r, h
	Modulus, Remainder int32
	List               []Expr
	Lower, Upper       []PartitionDatum
}

// PartitionDatum is a value of a range bound, or MINVALUE (Infinite -1) or MAXVALUE (Infinite 1).
type PartitionDatum struct {
	Infinite int8
	Value    Expr
}

// ColumnDef is a column of CREATE TABLE, a composite type or a function's column list.
type ColumnDef struct {
	Loc
	Name        string
	Type        *TypeName // nil in CREATE TABLE OF and PARTITION OF
	Collation   Name
	Constraints []*Constraint
	Storage     string
	Compression string
}

// LikeClause is LIKE table INCLUDING ...
type LikeClause struct {
	Loc
	Table   Name
	Options LikeOptions
}

// LikeOptions is the set of things that LIKE copies.
type LikeOptions uint32

// What LIKE copies beyond names, types and NOT NULL.
const (
	LikeComments LikeOptions = 1 << iota
	LikeCompression
	LikeConstraints
	LikeDefaults
	LikeGenerated
	LikeIdentity
	LikeIndexes
	LikeStatistics
	LikeStorage
)

// ConstraintKind is the kind of a Constraint.
type ConstraintKind uint8

// The kinds of Constraint.
const (
	ConNull ConstraintKind = iota
	ConNotNull
	ConDefault   // Expr
	ConIdentity  // Always, Sequence
	ConGenerated // Expr; stored
	ConCheck     // Expr, NoInherit
	ConPrimaryKey
	ConUnique
	ConExclude
	ConForeignKey // Ref
	ConOnUpdate   // Expr: what UPDATE of another column makes of this one
)

// Constraint is a column or table constraint; Keys is empty for a column's own.
type Constraint struct {
	Loc
	Name              string // "" when none was given
	Kind              ConstraintKind
	Expr              Expr
	Keys              []string // PRIMARY KEY, UNIQUE: columns; FOREIGN KEY: referencing columns
	Including         []string
	NullsNotDistinct  bool
	Always            bool // identity: GENERATED ALWAYS, else BY DEFAULT
	Sequence          *SequenceOptions
	Ref               *ForeignKey
	Deferrable        bool
	InitiallyDeferred bool
	NoInherit         bool
	NotValid          bool
	IndexName         string // USING INDEX
	Where             Expr   // EXCLUDE
	Exclusions        []Exclusion
	Options           []Option
	Tablespace        string
	AccessMethod      string
}

// Exclusion is one element of EXCLUDE.
type Exclusion struct {
	Elem IndexElem
	Op   Name
}

// FKAction is a referential action.
type FKAction uint8

// The actions.
const (
	FKNoAction FKAction = iota
	FKRestrict
	FKCascade
	FKSetNull
	FKSetDefault
)

// FKMatch is a foreign key's match type.
type FKMatch uint8

// The match types.
const (
	MatchSimple FKMatch = iota
	MatchFull
	MatchPartial
)

// ForeignKey is what a foreign key refers to.
type ForeignKey struct {
	Table              Name
	Columns            []string // empty: the primary key
	Match              FKMatch
	OnUpdate, OnDelete FKAction
	DeleteSet          []string // SET NULL (columns) and SET DEFAULT (columns)
}

// IndexElem is a column or expression of an index or conflict target.
type IndexElem struct {
	Loc
	Column    string
	Expr      Expr // when Column is ""
	Collation Name
	OpClass   Name
	OpOptions []Option
	Dir       SortDir
	Nulls     NullsOrder
}

// CreateIndex is CREATE INDEX.
type CreateIndex struct {
	Loc
	Name             string // "" when the server is to choose
	Table            *TableRef
	Method           string // "btree" when not given
	Elems            []IndexElem
	Include          []IndexElem
	Options          []Option
	Where            Expr
	Unique           bool
	NullsNotDistinct bool
	Concurrently     bool
	IfNotExists      bool
	Tablespace       string
}

// AlterKind is a subcommand of ALTER TABLE; the comment of each says which fields of AlterCmd it uses.
type AlterKind uint8

// The subcommands.
const (
	AlterAddColumn          AlterKind = iota // Column, IfNotExists
	AlterDropColumn                          // Name, IfExists, Cascade
	AlterSetDefault                          // Name, Expr
	AlterDropDefault                         // Name
	AlterSetNotNull                          // Name
	AlterDropNotNull                         // Name
	AlterColumnType                          // Name, Column (type and collation), Expr (USING)
	AlterSetStatistics                       // Name or Number (column number), Value
	AlterSetStorage                          // Name, Text
	AlterSetCompression                      // Name, Text
	AlterSetColumnOptions                    // Name, Options
	AlterResetColumnOptions                  // Name, Options
	AlterAddIdentity                         // Name, Constraint (ConIdentity)
	AlterSetIdentity                         // Name, Sequence, SetAlways, Always
	AlterDropIdentity                        // Name, IfExists
	AlterDropExpression                      // Name, IfExists
	AlterAddConstraint                       // Constraint
	AlterAlterConstraint                     // Constraint (name and deferrability)
	AlterValidateConstraint                  // Name
	AlterDropConstraint                      // Name, IfExists, Cascade
	AlterChangeOwner                         // Role
	AlterClusterOn                           // Name
	AlterDropCluster
	AlterSetLogged
	AlterSetUnlogged
	AlterSetOptions      // Options
	AlterResetOptions    // Options
	AlterSetTablespace   // Name
	AlterSetAccessMethod // Name
	AlterTrigger         // Text (enable, enable always, enable replica, disable, enable user, disable user), Name ("" all)
	AlterRule            // Text, Name
	AlterInherit         // Table
	AlterNoInherit       // Table
	AlterOfType          // Type
	AlterNotOf
	AlterReplicaIdentity // Text (d, f, n, i), Name
	AlterEnableRowSecurity
	AlterDisableRowSecurity
	AlterForceRowSecurity
	AlterNoForceRowSecurity
	AlterAttachPartition // Table, Bound
	AlterDetachPartition // Table, Concurrently
)

// AlterTable is ALTER TABLE, and ALTER INDEX, VIEW, SEQUENCE or MATERIALIZED VIEW with a table's subcommands.
type AlterTable struct {
	Loc
	Kind     ObjectKind
	Table    *TableRef
	IfExists bool
	Cmds     []AlterCmd
}

// AlterCmd is one subcommand; see AlterKind.
type AlterCmd struct {
	Loc
	Kind         AlterKind
	Name         string
	Column       *ColumnDef
	Expr         Expr
	Constraint   *Constraint
	Sequence     *SequenceOptions
	SetAlways    bool // SET GENERATED was given; Always says which
	Always       bool
	Options      []Option
	Number       int32
	Value        int32
	Text         string
	Role         *RoleSpec
	Table        Name
	Type         *TypeName
	Bound        *PartitionBound
	IfExists     bool
	IfNotExists  bool
	Cascade      bool
	Concurrently bool
}

func (*CreateTable) stmt()        {}
func (*CreateIndex) stmt()        {}
func (*AlterTable) stmt()         {}
func (*ColumnDef) tableElement()  {}
func (*Constraint) tableElement() {}
func (*LikeClause) tableElement() {}
