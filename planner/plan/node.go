package plan

import (
	"herd/sql/catalog"
	"herd/sql/types"
)

// Node is an operator of a physical plan: read-only data, shared by sessions. Its output columns are Cols();
// expressions inside a node refer to its input's columns by Slot.
type Node interface {
	Base() *NodeBase
	Children() []Node
}

// NodeBase is common to all nodes.
type NodeBase struct {
	Cols    []Column
	Rows    float64 // estimate
	Startup float64 // cost before the first row
	Total   float64 // cost of all rows
	Width   int
	ID      int // dense number within the plan, for EXPLAIN ANALYZE counters
}

// Base returns the common part.
func (b *NodeBase) Base() *NodeBase { return b }

type leaf struct{}

// Children is empty for a leaf.
func (leaf) Children() []Node { return nil }

// Plan is a planned statement.
type Plan struct {
	Root       Node
	Command    Command
	ResultCols []Column   // RowDescription; nil when the statement returns no rows
	Origins    []Origin   // for each result column: relation and column, zero if none
	Params     []Typed    // statement parameters (then literal slots)
	ExecParams int        // number of ExecParam ids used
	InitPlans  []InitPlan // run lazily, at most once, before first use of their params
	CTEs       []*CTEPlan
	Fast       *FastPath // non-nil: a named point path may run instead of Root
	ReadOnly   bool      // no data modification, no row locks, no volatile function with effects
	Deps       []Dependency
	Rights     []Right
	Calls      []types.OID // user's functions that the statement calls: the current user needs EXECUTE
	Tables     []TableLock // relations with the table lock each needs while the plan runs
	Volatile   bool
	RowWise    bool // volatile functions of the user's are called as they are: they see what was done for the row before
	// Unpopulated names a materialized view without rows to read, "" for none.
	Unpopulated string
	CustomOnly  bool
	Sizes       []TableSize // row counts the choice of paths was based on
}

// TableSize is a table with the number of rows it had when the plan was made.
type TableSize struct {
	Rel  *catalog.Relation
	Rows float64
}

// Origin is the table column an output column comes from.
type Origin struct {
	Rel types.OID
	Col int16
}

// Dependency is an object (or a looked-up name that was absent) the plan relies on.
type Dependency struct {
	Class   types.OID // catalog: pg_class, pg_type, pg_proc, pg_namespace
	OID     types.OID // what was looked up, or what Name was found to mean; 0 nothing
	Version catalog.Version
	Schema  string // of Name as it was written; "" is the search path
	Name    string // "": looked up by OID
	Usage   bool   // the role's right to look into the schema was needed
}

// Right is a privilege the executor checks.
type Right struct {
	Rel  types.OID
	Need uint32    // ACL bits
	Role types.OID // 0 current user
	// ByColumn says that columns of the relation have rights of their own; then Read, Inserted and Updated are those the statement uses.
	ByColumn                bool
	Read, Inserted, Updated []int16
}

// InitPlan computes ExecParams once.
type InitPlan struct {
	Plan   Node
	Kind   SubLinkKind // SubScalar, SubExists, SubArray
	Params []int
}

// CTEPlan is a materialized WITH query, or a modifying one that must run even if nobody reads it.
type CTEPlan struct {
	Name     string
	Plan     Node
	Modifies bool
	Params   []int // ExecParams of enclosing queries that it uses: its rows are computed anew when one is set
}

// Result produces one row (no input) of Exprs, or nothing when Filter is not true.
type Result struct {
	NodeBase
	leaf
	Exprs  []Expr
	Filter Expr
}

// Values produces one row per list.
type Values struct {
	NodeBase
	leaf
	Lists [][]Expr
	Alias string // for EXPLAIN
}

// Bound is one end of a key range: Exprs for a prefix of the index columns; Inclusive applies to the last one.
type Bound struct {
	Exprs     []Expr // no Slots: constants, Params, ExecParams, stable expressions; NULL means an empty range
	Inclusive bool
}

// KeyRange is a range of an index: equality on a prefix, then optional bounds on the next column.
// Eq may hold one ScalarArrayOp-like list column: In >= 0 names the position whose Exprs element is an array to iterate in key order.
type KeyRange struct {
	Eq     []Expr
	In     int // -1, or position in Eq that is an array of alternatives
	Lo, Hi *Bound
	// NullEq: position in Eq means IS NULL when the Expr is nil.
}

// Scan reads a relation in row-key order: the whole table, or ranges of its primary key. Output: the columns in Attnos.
type Scan struct {
	NodeBase
	leaf
	Rel     *catalog.Relation
	RTE     int
	Alias   string     // for EXPLAIN
	Attnos  []int16    // output columns; 0 is the hidden row identity (KindBytes: row key; stamp available through Batch.Src for locking), negative = system columns
	Ranges  []KeyRange // nil = everything; on the primary key
	Reverse bool
	Ordered bool // a parent relies on the order of rows
	Filter  Expr // over the output slots
	RowID   bool // also provide row identity (key + stamp) for LockRows / ModifyTable: last output column, KindBytes: 8-byte stamp + key
}

// IndexScan reads rows through a secondary index, in index order.
type IndexScan struct {
	NodeBase
	leaf
	Rel       *catalog.Relation
	Index     *catalog.Index
	RTE       int
	Alias     string // for EXPLAIN
	Attnos    []int16
	Ranges    []KeyRange
	Reverse   bool
	Filter    Expr
	RowID     bool
	IndexOnly bool // all Attnos are reversible key columns: no row fetch
}

// VirtualScan reads a catalog table.
type VirtualScan struct {
	NodeBase
	leaf
	Table  catalog.VirtualTable
	Rel    *catalog.Relation // the table's descriptor
	Alias  string            // for EXPLAIN
	Attnos []int16
	Path   int    // access path, -1 full
	Keys   []Expr // values pinned by the access path
	Filter Expr
}

// FunctionScan runs set-returning (or scalar) functions in FROM.
type FunctionScan struct {
	NodeBase
	leaf
	Calls      []Expr // FuncCall; several: ROWS FROM, padded with NULL
	CallCols   []int
	Ordinality bool
	Filter     Expr
	Alias      string // for EXPLAIN
}

// CTEScan reads Plan.CTEs[CTE]. WorkTableScan reads the working table of the enclosing RecursiveUnion.
type CTEScan struct {
	NodeBase
	leaf
	CTE    int
	Filter Expr
	Alias  string // for EXPLAIN
}

// WorkTableScan reads the rows of the last iteration of RecursiveUnion ID.
type WorkTableScan struct {
	NodeBase
	leaf
	Union  *RecursiveUnion
	Filter Expr
	Alias  string // for EXPLAIN
}

// RecursiveUnion is WITH RECURSIVE.
type RecursiveUnion struct {
	NodeBase
	Init, Step Node
	Distinct   bool
	Keys       []HashKey // types of all columns when Distinct
}

// Unary is embedded by nodes with one input.
type Unary struct {
	NodeBase
	Input Node
}

// Children returns the input.
func (u *Unary) Children() []Node { return []Node{u.Input} }

// Filter keeps rows for which Cond is true.
type Filter struct {
	Unary
	Cond Expr
}

// Project computes Exprs.
type Project struct {
	Unary
	Exprs []Expr
}

// ProjectSet computes Exprs that contain set-returning functions, in lock step.
type ProjectSet struct {
	Unary
	Exprs []Expr
}

// Join is embedded by joins. Output columns: left then right (Semi, Anti: left only).
type Join struct {
	NodeBase
	Type        JoinType
	Left, Right Node
	Cond        Expr // residual condition over left ++ right slots
}

// Children returns both inputs.
func (j *Join) Children() []Node { return []Node{j.Left, j.Right} }

// NestLoop runs Right for every left row; Params are set from left columns first (dependent join). Right runs once and is materialized when Params is empty.
type NestLoop struct {
	Join
	ParamIDs []int
	Args     []Expr // over left slots
}

// HashJoin builds Right, probes with Left.
type HashJoin struct {
	Join
	Keys []HashKey // Left over left slots, Right over right slots (right's own numbering)
}

// MergeJoin joins inputs sorted on Keys.
type MergeJoin struct {
	Join
	Keys       []HashKey
	Desc       []bool
	NullsFirst []bool
}

// Sort orders its input; Limit >= 0 bounds it (top-N) when Count is set at run time by the parent Limit.
type Sort struct {
	Unary
	Keys      []SortKey // expressions over input slots
	Presorted int       // leading keys by which the input is already ordered
	TopN      bool      // parent is a Limit without ties: keep limit+offset rows only
}

// Limit applies LIMIT and OFFSET.
type Limit struct {
	Unary
	Count, Offset Expr
	WithTies      bool
	TieKeys       []SortKey
}

// Distinct removes duplicates: hashed, or comparing neighbours when Sorted; On limits the columns compared (DISTINCT ON, Sorted).
type Distinct struct {
	Unary
	Keys   []HashKey // Left over input slots
	Sorted bool
}

// Agg groups: output columns = group keys, then aggregates, then grouping bits. Strategy hash, sorted, or plain (no keys: always one row).
type Agg struct {
	Unary
	Strategy  AggStrategy
	Keys      []HashKey // Left over input slots
	Sets      [][]int   // grouping sets (indexes into Keys); nil = one set of all keys
	Aggs      []*Aggref // arguments over input slots
	Groupings []*GroupingFunc
}

// AggStrategy is how groups are found.
type AggStrategy uint8

// Strategies.
const (
	AggPlain AggStrategy = iota
	AggHash
	AggSorted
)

// WindowAgg computes window functions over sorted input: output = input columns, then one per function.
type WindowAgg struct {
	Unary
	Window *Window // expressions over input slots
	Funcs  []*WindowFunc
}

// SetOperation is INTERSECT / EXCEPT [ALL] by hashing. UNION is Append + Distinct.
type SetOperation struct {
	NodeBase
	Kind        SetOpKind
	All         bool
	Left, Right Node
	Keys        []HashKey // all columns: Left over the slots of either side
}

// Append concatenates inputs.
type Append struct {
	NodeBase
	Inputs []Node
}

// Materialize keeps its input's rows for rescans.
type Materialize struct{ Unary }

// LockRows locks each row of the relations in Locks and re-evaluates by Recheck when a row changed (READ COMMITTED).
type LockRows struct {
	Unary
	Locks   []LockTarget
	Recheck *Recheck
}

// LockTarget is one locked relation of a LockRows.
type LockTarget struct {
	Rel      *catalog.Relation
	RTE      int
	RowIDCol int // input column with the row identity; NULL = outer-joined, nothing to lock
	Strength uint8
	Policy   uint8
}

// Recheck re-evaluates a query over one row per relation (PostgreSQL's EvalPlanQual).
// The new rows of locked relations are decoded into Inputs; the others come from the original joined row.
type Recheck struct {
	Root Node // a copy of the plan in which each scan is a RecheckScan
}

// RecheckScan yields the single current row of RTE set by the caller (none = no row).
type RecheckScan struct {
	NodeBase
	leaf
	Rel    *catalog.Relation
	RTE    int
	Attnos []int16
	Filter Expr
	RowID  bool
	// Col is the first input column of the original row that holds this relation's columns when it is not a locked one.
	Col int
}

// CurrentRow yields the row that a cursor is on: WHERE CURRENT OF.
type CurrentRow struct {
	NodeBase
	leaf
	Rel    *catalog.Relation
	Alias  string
	Cursor string
	Attnos []int16
	Filter Expr
	RowID  bool
}

// ModifyTable runs INSERT, UPDATE, DELETE, MERGE. Input rows: INSERT: the full row in attribute order (all live columns);
// UPDATE: new values for SetAttnos, then (if any) other columns needed by RETURNING, and RowIDCol; DELETE: RowIDCol;
// MERGE: what the expressions of Merge need, and RowIDCol, which is NULL when no row matches.
type ModifyTable struct {
	Unary
	Command         Command
	Rel             *catalog.Relation
	Alias           string // for EXPLAIN
	RTE             int
	SetAttnos       []int16 // INSERT: attributes of input columns; UPDATE: assigned attributes
	RowIDCol        int
	Recheck         *Recheck // UPDATE/DELETE in READ COMMITTED
	RecheckCols     int
	Checks          []CheckExpr // over the new row's columns in attribute order (Slot index = attno-1)
	NotNull         []int16
	Generated       []GeneratedExpr
	Indexes         []IndexExprs // expressions and predicates of indexes, over the new row (Slot index = attno-1)
	ForeignKeys     []ForeignKey // this table references
	ReferencedBy    []ForeignKey // tables that reference this one
	OnConflict      *ConflictAction
	Merge           []MergeAction
	Returning       []Expr // over: target row (Slot 0..natts-1 = attno-1), then input columns (Slot natts+i)
	ReturningSystem bool
}

// CheckExpr is a CHECK constraint.
type CheckExpr struct {
	Name string
	OID  types.OID
	Expr Expr
}

// GeneratedExpr is a stored generated column.
type GeneratedExpr struct {
	Attno int16
	Expr  Expr
}

// IndexExprs holds the bound parts of an index.
type IndexExprs struct {
	Index *catalog.Index
	Exprs []Expr // one per key column; nil = plain column
	Pred  Expr
}

// ForeignKey is a constraint with both ends resolved.
type ForeignKey struct {
	Constraint    *catalog.Constraint
	Child, Parent *catalog.Relation
	ParentIndex   *catalog.Index // nil: the primary key
	ChildIndex    *catalog.Index // index whose leading columns are the child's columns; nil = scan
	ChildIsPK     bool           // the child's columns lead its primary key
	// ChildTable holds the checks, indexes and keys of Child (Input nil, Command ignored); set on ReferencedBy entries whose
	// OnDelete or OnUpdate is CASCADE, SET NULL or SET DEFAULT. May be cyclic: one ModifyTable a relation.
	ChildTable *ModifyTable
	// ToParent converts the child's values to the parent's types, ToChild the other way (nil element: there is no cast), over
	// Slots that are positions in Constraint.Cols; nil when equal values of both ends have the same key.
	ToParent, ToChild []Expr
	Defaults          []Expr // parallel to Constraint.Cols: bound defaults (nil = NULL), for SET DEFAULT
}

// ConflictAction is a planned ON CONFLICT. Set expressions and Where are over: existing row (0..natts-1), excluded row (natts..2*natts-1).
type ConflictAction struct {
	Update    bool
	Arbiters  []*catalog.Index // empty with DO NOTHING: any unique index
	ArbiterPK bool
	SetAttnos []int16
	Set       []Expr
	Where     Expr
}

// MergeAction is one WHEN of a MERGE, over the input row.
type MergeAction struct {
	Matched   bool
	Command   Command // CmdSelect: DO NOTHING
	Cond      Expr
	SetAttnos []int16
	Set       []Expr
}

// FastKind names a point fast path.
type FastKind uint8

// Fast paths.
const (
	FastGet FastKind = iota + 1
	FastInsert
	FastUpdate
	FastDelete
	FastRange
)

// FastPath is a named short cut over one table by its full primary key (FastRange: a short primary-key range with LIMIT).
type FastPath struct {
	Kind      FastKind
	Rel       *catalog.Relation
	Key       []Expr  // Const, Param or Relabel of them, one per primary key column
	Attnos    []int16 // Get/Range: projected columns
	Set       []Expr  // Update: over row slots (attno-1) and params; parallel SetAttnos
	SetAttnos []int16
	Row       []Expr       // Insert: all columns
	Modify    *ModifyTable // checks, indexes, keys for the writing paths
	Lo, Hi    *Bound
	Limit     Expr
	Reverse   bool
}

// Children returns the inputs.
func (n *RecursiveUnion) Children() []Node { return []Node{n.Init, n.Step} }

// Children returns the inputs.
func (n *SetOperation) Children() []Node { return []Node{n.Left, n.Right} }

// Children returns the inputs.
func (n *Append) Children() []Node { return n.Inputs }

// Table locks that plans need, by PostgreSQL's numbers (LOCK TABLE knows 1 to 8).
const (
	LockAccessShare  uint8 = 1 // reading
	LockRowShare     uint8 = 2 // FOR UPDATE and its kin
	LockRowExclusive uint8 = 3 // writing
)

// TableLock is a relation a plan uses with the table lock it needs.
type TableLock struct {
	OID  types.OID
	Lock uint8
}

// Modifies says whether the plan changes data: the statement itself or a WITH query.
func (p *Plan) Modifies() bool {
	if p.Command != CmdSelect {
		return true
	}
	for _, c := range p.CTEs {
		if c.Modifies {
			return true
		}
	}
	return false
}

// LocksRows says whether the plan locks rows (FOR UPDATE and its kin).
func (p *Plan) LocksRows() bool {
	for _, t := range p.Tables {
		if t.Lock == LockRowShare {
			return true
		}
	}
	return false
}
