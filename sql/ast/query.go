package ast

// Select is a query: SELECT, VALUES, TABLE or a set operation, with what goes around it.
type Select struct {
	Loc
	With     *With
	Body     QueryBody
	OrderBy  []SortItem
	Limit    Expr // nil when absent; LIMIT ALL is a null Const
	Offset   Expr
	WithTies bool // FETCH FIRST ... WITH TIES
	Locking  []Locking
}

// SelectCore is one SELECT ... FROM ... without ordering.
type SelectCore struct {
	Loc
	Equality      Name // what DISTINCT and GROUP BY compare by; zero: each type's own
	Distinct      bool
	DistinctOn    []Expr // with Distinct
	Targets       []Target
	From          []FromItem
	Where         Expr
	GroupBy       []GroupItem
	GroupDistinct bool
	Having        Expr
	Windows       []*WindowDef
}

// Values is VALUES (...), (...). An item may be *Default in an INSERT.
type Values struct {
	Loc
	Rows [][]Expr
}

// SetOpKind is a set operation.
type SetOpKind uint8

// The set operations.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// SetOp is a left-deep chain of set operations: ((First t0) t1) ... Operands have their own clauses when parenthesised.
type SetOp struct {
	Loc
	Equality Name // what rows are compared by; zero: each type's own
	First    *Select
	Terms    []SetOpTerm
}

// SetOpTerm is one operation of a SetOp with its right operand.
type SetOpTerm struct {
	Kind  SetOpKind
	All   bool
	Right *Select
}

// Target is an entry of a select list or RETURNING.
type Target struct {
	Loc
	Expr  Expr
	Alias string // after AS; "" when none was given
}

// SortDir is the direction of a SortItem or IndexElem.
type SortDir uint8

// The directions.
const (
	SortDefault SortDir = iota
	SortAsc
	SortDesc
	SortUsing
)

// NullsOrder places nulls.
type NullsOrder uint8

// Where nulls go; the default is last for ascending and first for descending order.
const (
	NullsDefault NullsOrder = iota
	NullsFirst
	NullsLast
)

// SortItem is an entry of ORDER BY.
type SortItem struct {
	Loc
	Expr  Expr
	Dir   SortDir
	Nulls NullsOrder
	Using Name // for SortUsing
}

// GroupKind is the kind of a GroupItem.
type GroupKind uint8

// The kinds of GroupItem.
const (
	GroupExpr   GroupKind = iota // Expr; an implicit Row inside a grouping set is a list of columns
	GroupEmpty                   // ()
	GroupRollup                  // ROLLUP (Items)
	GroupCube                    // CUBE (Items)
	GroupSets                    // GROUPING SETS (Items)
)

// GroupItem is an entry of GROUP BY.
type GroupItem struct {
	Loc
	Kind  GroupKind
	Expr  Expr
	Items []GroupItem
}

// FrameMode is the unit of a window frame.
type FrameMode uint8

// The units.
const (
	FrameRange FrameMode = iota
	FrameRows
	FrameGroups
)

// BoundKind is one end of a window frame.
type BoundKind uint8

// The ends.
const (
	UnboundedPreceding BoundKind = iota
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// FrameBound is one end of a window frame.
type FrameBound struct {
	Kind   BoundKind
	Offset Expr // for OffsetPreceding and OffsetFollowing
}

// FrameExclude is a frame's exclusion.
type FrameExclude uint8

// The exclusions.
const (
	ExcludeNone FrameExclude = iota
	ExcludeCurrentRow
	ExcludeGroup
	ExcludeTies
)

// Frame is a window frame.
type Frame struct {
	Mode       FrameMode
	Start, End FrameBound
	Exclude    FrameExclude
	// Between says that both ends were written.
	Between bool
}

// WindowDef is an entry of WINDOW or what follows OVER.
type WindowDef struct {
	Loc
	// Name is the window's name in WINDOW, or the window meant by OVER name; then nothing else is set.
	Name string
	// Ref is the window that this one extends: OVER (ref ...).
	Ref         string
	Equality    Name // what PARTITION BY compares by; zero: each type's own
	PartitionBy []Expr
	OrderBy     []SortItem
	Frame       *Frame // nil for the default, RANGE UNBOUNDED PRECEDING
}

// LockStrength is the strength of FOR UPDATE and its like.
type LockStrength uint8

// The strengths, weakest first.
const (
	ForKeyShare LockStrength = iota
	ForShare
	ForNoKeyUpdate
	ForUpdate
)

// LockWait says what to do about a row that is locked.
type LockWait uint8

// The waits.
const (
	LockBlock LockWait = iota
	LockSkip
	LockNoWait
)

// Locking is FOR UPDATE [OF tables] [NOWAIT | SKIP LOCKED].
type Locking struct {
	Loc
	Strength LockStrength
	Of       []Name // empty: all
	Wait     LockWait
}

// Materialize is a CTE's [NOT] MATERIALIZED.
type Materialize uint8

// The choices.
const (
	MaterializeDefault Materialize = iota
	MaterializeAlways
	MaterializeNever
)

// With is a WITH clause.
type With struct {
	Loc
	Recursive bool
	CTEs      []*CTE
}

// CTE is one query of WITH. Query is *Select, *Insert, *Update or *Delete.
type CTE struct {
	Loc
	Name        string
	Columns     []string
	Materialize Materialize
	Query       Stmt
	Search      *Search
	Cycle       *Cycle
}

// Search is SEARCH BREADTH|DEPTH FIRST BY Columns SET Sequence.
type Search struct {
	Loc
	Columns  []string
	Breadth  bool
	Sequence string
}

// Cycle is CYCLE Columns SET Mark TO Value DEFAULT Default USING Path.
type Cycle struct {
	Loc
	Columns        []string
	Mark           string
	Value, Default Expr // TRUE and FALSE constants when not written
	Path           string
}

// TableRef is a relation in FROM or as the target of a statement.
type TableRef struct {
	Loc
	Name  Name
	Only  bool
	Alias *Alias
}

// SubqueryRef is a subquery in FROM. Alias may be nil only where the dialect allows it.
type SubqueryRef struct {
	Loc
	Lateral bool
	Query   *Select
	Alias   *Alias
}

// FuncRef is a function, or ROWS FROM of several, in FROM.
type FuncRef struct {
	Loc
	Lateral    bool
	Ordinality bool
	RowsFrom   bool
	Funcs      []FuncRefItem
	Alias      *Alias
	Columns    []*ColumnDef // AS (a int, ...) on the whole
}

// FuncRefItem is one function of a FuncRef. Call is a *FuncCall, or a *SQLValue or other expression written with function syntax.
type FuncRefItem struct {
	Call    Expr
	Columns []*ColumnDef
}

// JoinType is the type of a Join.
type JoinType uint8

// The join types. A cross join is an inner one without condition.
const (
	JoinInner JoinType = iota
	JoinLeft
	JoinRight
	JoinFull
)

// Join is a join of two FROM items.
type Join struct {
	Loc
	Schema      string // of the operator = of USING and NATURAL; "" for the search path's
	Type        JoinType
	Natural     bool
	Left, Right FromItem
	Using       []string
	UsingAlias  *Alias
	On          Expr
	Alias       *Alias // of a parenthesised join
}

func (*Select) stmt()          {}
func (*SelectCore) queryBody() {}
func (*Values) queryBody()     {}
func (*SetOp) queryBody()      {}
func (*TableRef) fromItem()    {}
func (*SubqueryRef) fromItem() {}
func (*FuncRef) fromItem()     {}
func (*Join) fromItem()        {}
