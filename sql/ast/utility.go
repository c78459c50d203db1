package ast

// TransactionKind is the kind of a Transaction statement.
type TransactionKind uint8

// The kinds.
const (
	TxBegin TransactionKind = iota // BEGIN
	TxStart                        // START TRANSACTION
	TxCommit
	TxRollback
	TxSavepoint        // Name
	TxRelease          // Name
	TxRollbackTo       // Name
	TxPrepare          // GID
	TxCommitPrepared   // GID
	TxRollbackPrepared // GID
)

// TxModes are transaction modes; nil means not given.
type TxModes struct {
	Isolation  *string // lower case: "read committed", ...
	ReadOnly   *bool
	Deferrable *bool
}

// Transaction is a transaction control statement.
type Transaction struct {
	Loc
	Kind  TransactionKind
	Modes TxModes
	Name  string
	GID   string
	Chain bool
}

// SetKind is the kind of a SetVar.
type SetKind uint8

// The kinds.
const (
	SetValue       SetKind = iota // SET name = Args
	SetDefault                    // SET name = DEFAULT
	SetCurrent                    // SET name FROM CURRENT
	SetReset                      // RESET name
	SetResetAll                   // RESET ALL
	SetTransaction                // SET TRANSACTION modes
	SetSession                    // SET SESSION CHARACTERISTICS AS TRANSACTION modes
	SetSnapshot                   // SET TRANSACTION SNAPSHOT Args[0]
)

// SetVar is SET or RESET of a setting. Args are constants, or an interval Cast of one for TIME ZONE.
type SetVar struct {
	Loc
	Kind  SetKind
	Name  string
	Args  []Expr
	Local bool
	Modes TxModes
}

// Show is SHOW; Name is "all" for SHOW ALL.
type Show struct {
	Loc
	Name string
}

// DiscardTarget is what DISCARD discards.
type DiscardTarget uint8

// The targets.
const (
	DiscardAll DiscardTarget = iota
	DiscardPlans
	DiscardSequences
	DiscardTemp
)

// Discard is DISCARD.
type Discard struct {
	Loc
	Target DiscardTarget
}

// Prepare is PREPARE.
type Prepare struct {
	Loc
	Name  string
	Types []*TypeName
	Stmt  Stmt
}

// Execute is EXECUTE.
type Execute struct {
	Loc
	Name string
	Args []Expr
}

// Deallocate is DEALLOCATE.
type Deallocate struct {
	Loc
	Name string
	All  bool
}

// DeclareCursor is DECLARE CURSOR. Scroll is nil when neither SCROLL nor NO SCROLL was given.
type DeclareCursor struct {
	Loc
	Name        string
	Binary      bool
	Scroll      *bool
	Insensitive bool
	Asensitive  bool
	Hold        bool
	Query       *Select
}

// FetchDirection is the direction of a Fetch.
type FetchDirection uint8

// The directions.
const (
	FetchForward FetchDirection = iota
	FetchBackward
	FetchAbsolute
	FetchRelative
)

// FetchAll is the Count of FETCH ALL.
const FetchAll = int64(^uint64(0) >> 1)

// Fetch is FETCH or MOVE. FIRST and LAST are absolute 1 and -1, NEXT and PRIOR are forward and backward 1.
type Fetch struct {
	Loc
	Move      bool
	Direction FetchDirection
	Count     int64
	Cursor    string
}

// CloseCursor is CLOSE.
type CloseCursor struct {
	Loc
	Name string
	All  bool
}

// ExplainFormat is the output format of EXPLAIN.
type ExplainFormat uint8

// The formats.
const (
	ExplainText ExplainFormat = iota
	ExplainXML
	ExplainJSON
	ExplainYAML
)

// Explain is EXPLAIN. Timing and Summary are nil when not given.
type Explain struct {
	Loc
	Query           Stmt
	Analyze         bool
	Verbose         bool
	Costs           bool // true unless switched off
	Settings        bool
	Buffers         bool
	WAL             bool
	Timing, Summary *bool
	Format          ExplainFormat
}

// VacuumTarget is a table of VACUUM or ANALYZE.
type VacuumTarget struct {
	Table   *TableRef
	Columns []string
}

// Vacuum is VACUUM, or ANALYZE when Vacuum is false.
type Vacuum struct {
	Loc
	Vacuum  bool
	Options []Option
	Targets []VacuumTarget
}

// Checkpoint is CHECKPOINT.
type Checkpoint struct{ Loc }

// LockTable is LOCK TABLE. Mode is 1 (ACCESS SHARE) to 8 (ACCESS EXCLUSIVE).
type LockTable struct {
	Loc
	Tables []*TableRef
	Mode   uint8
	NoWait bool
}

// Listen is LISTEN.
type Listen struct {
	Loc
	Channel string
}

// Notify is NOTIFY.
type Notify struct {
	Loc
	Channel, Payload string
}

// Unlisten is UNLISTEN; Channel is "" for *.
type Unlisten struct {
	Loc
	Channel string
}

// Do is DO.
type Do struct {
	Loc
	Language string // "" when not given
	Body     string
}

// Call is CALL.
type Call struct {
	Loc
	Func *FuncCall
}

// Reindex is REINDEX. Kind is ObjIndex, ObjTable, ObjSchema, ObjDatabase or "SYSTEM".
type Reindex struct {
	Loc
	Kind    ObjectKind
	Table   *TableRef // ObjIndex and ObjTable
	Name    string
	Options []Option
}

// Cluster is CLUSTER.
type Cluster struct {
	Loc
	Table   *TableRef // nil: all
	Index   string
	Options []Option
}

// SetConstraints is SET CONSTRAINTS.
type SetConstraints struct {
	Loc
	All      bool
	Names    []Name
	Deferred bool
}

// AlterSystem is ALTER SYSTEM.
type AlterSystem struct {
	Loc
	Set *SetVar
}

// Load is LOAD.
type Load struct {
	Loc
	File string
}

func (*Transaction) stmt()    {}
func (*SetVar) stmt()         {}
func (*Show) stmt()           {}
func (*Discard) stmt()        {}
func (*Prepare) stmt()        {}
func (*Execute) stmt()        {}
func (*Deallocate) stmt()     {}
func (*DeclareCursor) stmt()  {}
func (*Fetch) stmt()          {}
func (*CloseCursor) stmt()    {}
func (*Explain) stmt()        {}
func (*Vacuum) stmt()         {}
func (*Checkpoint) stmt()     {}
func (*LockTable) stmt()      {}
func (*Listen) stmt()         {}
func (*Notify) stmt()         {}
func (*Unlisten) stmt()       {}
func (*Do) stmt()             {}
func (*Call) stmt()           {}
func (*Reindex) stmt()        {}
func (*Cluster) stmt()        {}
func (*SetConstraints) stmt() {}
func (*AlterSystem) stmt()    {}
func (*Load) stmt()           {}
