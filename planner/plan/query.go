package plan

import (
	"herd/sql/catalog"
	"herd/sql/types"
)

// Command is the kind of a bound query.
type Command uint8

// Commands.
const (
	CmdSelect Command = iota
	CmdInsert
	CmdUpdate
	CmdDelete
	CmdMerge
)

// Query is a bound statement: the result of parse analysis, the input of planning and of sql/deparse.
type Query struct {
	Command       Command
	CTEs          []*CTE
	Recursive     bool
	RTable        []*RTE
	From          []FromItem // implicit cross product of items
	Where         Expr
	Targets       []*Target
	GroupBy       []Expr         // distinct grouping expressions
	GroupingSets  [][]int        // indexes into GroupBy; nil = one plain set
	GroupingAs    []GroupingItem // GroupingSets as they were written
	GroupDistinct bool
	HasAggs       bool
	HasWindow     bool
	HasSRF        bool
	HasSubLinks   bool
	Having        Expr
	Windows       []*Window
	Distinct      bool
	DistinctOn    []Expr
	OrderBy       []SortKey // expressions are the same pointers as (possibly junk) targets' expressions
	OrderByTarget []int     // for each OrderBy: index into Targets
	Limit, Offset Expr      // int8
	WithTies      bool
	SetOp         *SetOp // non-nil: targets describe the output, leaves are subquery RTEs
	Locks         []RowLock
	Values        [][]Expr // a bare VALUES list (RTEValues is used when VALUES is in FROM)

	// data modification
	Result     int // RTE of the target relation, -1 none
	OnConflict *OnConflict
	Merge      []MergeWhen // MERGE: what its Targets belong to
	Returning  []*Target
	InsertCols []int // attnums in the order of Targets (INSERT: Targets give the full column list after defaults)
	Overriding byte  // 0, 's' system value, 'u' user value
	CanSetTag  bool
	CurrentOf  string // UPDATE, DELETE: the cursor whose current row is meant, "" none
	RowIDs     []int  // SELECT of a cursor: RTEs whose row identities its last targets are
	RowResult  bool   // the last statement of a SQL function: its columns are one row value

	// Deps are the look-ups in the catalog that the query was bound with (top query, and that of a view).
	Deps []Dependency
	// Calls are the user's functions that the body of an inlined function called, in it and further in.
	Calls []types.OID
	// Out describes the result as clients see it, domains as their base types; nil when the statement returns no rows (top query only).
	Out []Column
}

// CTE is one WITH item.
type CTE struct {
	Name         string
	Query        *Query
	Cols         []Column
	Recursive    bool
	Materialized byte // 0 default, 'm' MATERIALIZED, 'n' NOT MATERIALIZED
	Refs         int
}

// Column is a named, typed output or range-table column.
type Column struct {
	Name string
	Typed
}

// RTEKind is the kind of a range table entry.
type RTEKind uint8

// Kinds of RTE.
const (
	RTERelation RTEKind = iota
	RTESubquery
	RTEJoin // alias columns of a join (USING merges); Vars of it are resolved through JoinVars
	RTEFunction
	RTEValues
	RTECTE
	RTEResult
)

// RTE is a range table entry.
type RTE struct {
	Kind        RTEKind
	Alias       string
	HasAlias    bool
	HasColumns  bool     // the alias lists columns
	Cols        []Column // user columns by attno-1 (dropped columns have Name "")
	Rel         *catalog.Relation
	Sub         *Query
	JoinVars    []Expr
	Funcs       []Expr // FuncCall etc., several for ROWS FROM
	FuncCols    []int  // number of columns of each
	Ordinality  bool
	Values      [][]Expr
	CTE         *CTE
	CTELevelsUp int
	Lateral     bool
	Security    types.OID // checked-as role for views' relations, 0 = the current user
	Need        uint32    // rights the statement needs on Rel: Right* bits
	Written     []int16   // columns an INSERT gives values, for column rights
	Updated     []int16   // columns that SET assigns, likewise
	Read        []int16   // columns read, when it is not to be seen from the expressions
	InFromCl    bool
	Unstarred   int   // how many of the last columns * leaves out
	Locked      uint8 // strength in which an outer query locks the rows of Sub, 0 none
}

// FromItem is RangeRef or *JoinExpr.
type FromItem interface{ fromItem() }

// RangeRef names RTable[RTE].
type RangeRef struct{ RTE int }

// JoinType is the kind of a join.
type JoinType uint8

// Join types; Semi and Anti come from planning only.
const (
	JoinInner JoinType = iota
	JoinLeft
	JoinRight
	JoinFull
	JoinSemi
	JoinAnti
)

// JoinExpr is an explicit join.
type JoinExpr struct {
	Type        JoinType
	Left, Right FromItem
	On          Expr
	Using       []string
	RTE         int // its RTEJoin
}

func (RangeRef) fromItem()  {}
func (*JoinExpr) fromItem() {}

// Target is one output column.
type Target struct {
	Expr    Expr
	Name    string
	Junk    bool
	Attno   int       // INSERT/UPDATE: attribute number assigned
	Parts   bool      // UPDATE: parts of the column are assigned, others may follow
	OrigRel types.OID // relation and column it comes from, for RowDescription
	OrigCol int16
}

// SetOpKind is UNION, INTERSECT or EXCEPT.
type SetOpKind uint8

// Set operations.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// SetOp is a tree of set operations; leaves have RTE >= 0 (a subquery of RTable) and no children. UNION chains are n-ary.
type SetOp struct {
	Kind SetOpKind
	All  bool
	Args []*SetOp
	RTE  int
	Cols []Typed
	// Exprs, on a leaf, are its columns cast to the types of the whole (over Vars of RTE); nil = no cast needed.
	Exprs []Expr
}

// GroupingKind is what an item of GROUP BY is.
type GroupingKind uint8

// The kinds of items.
const (
	GroupingColumns GroupingKind = iota
	GroupingEmpty
	GroupingRollup
	GroupingCube
	GroupingList // GROUPING SETS
)

// GroupingItem is an item of GROUP BY as it was written.
type GroupingItem struct {
	Kind    GroupingKind
	Columns []int // GroupingColumns: indexes into GroupBy
	Items   []GroupingItem
}

// Window is an OVER specification.
type Window struct {
	Name        string
	PartitionBy []SortKey
	OrderBy     []SortKey
	Frame       Frame
}

// Frame is a window frame: PostgreSQL's frameOptions taken apart.
type Frame struct {
	Mode                     byte // 'r' range, 'o' rows, 'g' groups
	Start, End               byte // 'u' unbounded preceding, 'p' offset preceding, 'c' current row, 'f' offset following, 'U' unbounded following
	StartOffset, EndOffset   Expr
	Exclude                  byte // 0 none, 'c' current row, 'g' group, 't' ties
	InRangeStart, InRangeEnd types.OID
	Default                  bool
	Short                    bool // only the start was written
}

// RowLock is FOR UPDATE and its kin on RTE.
type RowLock struct {
	RTE      int
	Strength uint8 // engine/lock.Mode
	Policy   uint8 // engine/lock.Policy
}

// OnConflict is INSERT ... ON CONFLICT.
type OnConflict struct {
	Update      bool
	Arbiters    []types.OID // unique indexes inferred (empty with DO NOTHING = any)
	Set         []*Target   // over RTEs: the target relation and ExcludedRTE
	Where       Expr
	ExcludedRTE int
}

// MergeWhen is one WHEN of a MERGE. Its expressions are among the query's Targets, so that rules see them as any others: the
// condition at Cond (-1: none), the values of an INSERT or UPDATE at From up to To.
type MergeWhen struct {
	Matched  bool
	Command  Command // CmdSelect: DO NOTHING
	Cond     int
	From, To int
}

// Rights on a relation: PostgreSQL's ACL bits.
const (
	RightInsert uint32 = 1 << iota
	RightSelect
	RightUpdate
	RightDelete
)
