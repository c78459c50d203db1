package ast

// Overriding is INSERT's OVERRIDING clause.
type Overriding uint8

// The choices.
const (
	OverridingNone Overriding = iota
	OverridingUser
	OverridingSystem
)

// ColumnTarget is a column, or a part of one, that is assigned to.
type ColumnTarget struct {
	Loc
	Name  string
	Steps []Step // subscripts and fields
}

// Insert is INSERT.
type Insert struct {
	Loc
	With       *With
	Table      *TableRef
	Columns    []ColumnTarget // empty: all, in order
	Source     *Select        // nil: DEFAULT VALUES
	Overriding Overriding
	OnConflict *OnConflict
	Returning  []Target
}

// OnConflict is ON CONFLICT.
type OnConflict struct {
	Loc
	DoUpdate   bool        // else DO NOTHING
	Elems      []IndexElem // inferred index; empty with Constraint or when none was given
	InferWhere Expr        // predicate of a partial index
	Constraint string
	InferLoc   Loc  // of the conflict target
	AnyKey     bool // DO UPDATE: every unique index and the primary key, none inferred
	PrimaryKey bool // DO UPDATE: the primary key, whatever its columns
	Replace    bool // DO UPDATE: all columns become those of the new row; Set is empty
	Set        []Assignment
	Where      Expr
}

// Assignment is one item of SET. Multi marks (a, b) = value, where Value is a Row or a SubScalar SubLink or any row value.
type Assignment struct {
	Loc
	Targets []ColumnTarget
	Multi   bool
	Value   Expr
}

// Update is UPDATE. Where may be *CurrentOf.
type Update struct {
	Loc
	With      *With
	Table     *TableRef
	Set       []Assignment
	From      []FromItem
	Where     Expr
	Returning []Target
}

// Delete is DELETE. Where may be *CurrentOf.
type Delete struct {
	Loc
	With      *With
	Table     *TableRef
	Using     []FromItem
	Where     Expr
	Returning []Target
}

// MergeAction is what a MergeWhen does.
type MergeAction uint8

// The actions.
const (
	MergeNothing MergeAction = iota
	MergeInsert
	MergeUpdate
	MergeDelete
)

// Merge is MERGE.
type Merge struct {
	Loc
	With   *With
	Table  *TableRef
	Source FromItem
	On     Expr
	Whens  []MergeWhen
}

// MergeWhen is one WHEN of a Merge.
type MergeWhen struct {
	Loc
	Matched    bool
	Cond       Expr
	Action     MergeAction
	Set        []Assignment   // MergeUpdate
	Columns    []ColumnTarget // MergeInsert
	Values     []Expr         // MergeInsert; empty: DEFAULT VALUES
	Overriding Overriding
}

// Truncate is TRUNCATE.
type Truncate struct {
	Loc
	Tables          []*TableRef
	RestartIdentity bool
	Cascade         bool
}

// CopyFormat is COPY's format.
type CopyFormat uint8

// The formats.
const (
	CopyText CopyFormat = iota
	CopyCSV
	CopyBinary
)

// CopyHeader is COPY's HEADER option.
type CopyHeader uint8

// The choices.
const (
	HeaderOff CopyHeader = iota
	HeaderOn
	HeaderMatch
)

// CopyOptions are COPY's options. A nil string was not given.
type CopyOptions struct {
	Format                     CopyFormat
	Freeze                     bool
	Delimiter, Null            *string
	Header                     CopyHeader
	HeaderSet                  bool
	Quote, Escape              *string
	ForceQuote, ForceNotNull   []string
	ForceNull                  []string
	ForceQuoteAll              bool
	Encoding                   *string
	FormatSet, ForceNotNullSet bool
	ForceNullSet               bool
	// EncodingLoc is where ENCODING stands, for the error about an unknown one.
	EncodingLoc Loc
}

// Copy is COPY. Exactly one of Table and Query is set. File and Program are about the server's files; both empty: the client.
type Copy struct {
	Loc
	Table   *TableRef
	Columns []string
	Query   Stmt
	From    bool
	Program bool
	File    string
	Options CopyOptions
	Where   Expr
}

func (*Insert) stmt()   {}
func (*Update) stmt()   {}
func (*Delete) stmt()   {}
func (*Merge) stmt()    {}
func (*Truncate) stmt() {}
func (*Copy) stmt()     {}
