package plan

import (
	"herd/sql/types"
)

// Typed is what every bound expression knows about its value.
type Typed struct {
	Type      types.OID
	Typmod    types.Typmod
	Collation types.OID
	Loc       int // byte offset in the statement's text, -1 unknown
}

// T returns the type description; it makes every node that embeds Typed an Expr.
func (t *Typed) T() *Typed { return t }

// Expr is a bound expression: read-only after planning, shared by all sessions that run the plan.
// In a Query its leaves are Var; in a physical plan Var has become Slot (column of the node's input), OuterRef or ExecParam.
type Expr interface {
	T() *Typed
}

// Const is a literal whose value is known at bind time.
type Const struct {
	Typed
	Value types.Datum
}

// Param is $n of the statement (Index 0-based into Env.Params) — also a literal slot of a shape, numbered after the real parameters.
type Param struct {
	Typed
	Index int
}

// Var is a column of a range table entry of a Query, LevelsUp queries out. Attno > 0 column, 0 whole row, < 0 system column.
type Var struct {
	Typed
	RTE      int // 0-based index in Query.RTable
	Attno    int
	LevelsUp int
}

// Slot is column Index of the operator's input batch (physical plans only). For a join: left columns, then right columns.
type Slot struct {
	Typed
	Index int
}

// ExecParam is a value computed by an enclosing operator before this one runs: correlation values of Apply/SubPlan, results of InitPlans.
type ExecParam struct {
	Typed
	ID int
}

// FuncCall calls function Func; operators are resolved to their function (Op kept for deparse and index matching).
type FuncCall struct {
	Typed
	Func      types.OID
	Op        types.OID // operator OID when written as an operator, else 0
	Args      []Expr
	Variadic  bool
	RetSet    bool
	Volatile  byte // 'i', 's', 'v'
	Strict    bool
	Form      CallForm  // for deparse: how the user wrote it
	InputColl types.OID // collation the function computes with
	OutNames  []string  // of the fields of a record result, where the function declares them
}

// CallForm tells deparse how a call is shown.
type CallForm uint8

// Forms of a FuncCall.
const (
	FormFunc CallForm = iota
	FormOperator
	FormExplicitCast
	FormImplicitCast
	FormSQLSyntax
)

// Relabel changes the type without changing the representation (binary-coercible cast).
type Relabel struct {
	Typed
	Arg  Expr
	Form CallForm
}

// CoerceViaIO casts through the text output and input functions.
type CoerceViaIO struct {
	Typed
	Arg  Expr
	Form CallForm
}

// ArrayCoerce casts an array element by element; Elem is an expression over CaseTest (the element).
type ArrayCoerce struct {
	Typed
	Arg  Expr
	Elem Expr
	Form CallForm
}

// CoerceToDomain checks a domain's constraints after the base type's cast.
type CoerceToDomain struct {
	Typed
	Arg     Expr
	Form    CallForm
	Schema  string // the domain's schema and name, for messages
	Name    string
	Text    string      // the name as messages show it, with the schema where the search path needs it
	NotNull bool        // the domain is NOT NULL
	Checks  []CheckExpr // conditions over CaseTest, in name order
}

// BoolOp kinds.
type BoolKind uint8

// Kinds of BoolExpr.
const (
	And BoolKind = iota
	Or
	Not
)

// BoolExpr is n-ary AND/OR, or NOT with one argument.
type BoolExpr struct {
	Typed
	Kind BoolKind
	Args []Expr
}

// NullTest is IS [NOT] NULL; ArgIsRow follows SQL's row rules.
type NullTest struct {
	Typed
	Arg      Expr
	Not      bool
	ArgIsRow bool
}

// BoolTestKind is the constant of IS [NOT] TRUE/FALSE/UNKNOWN.
type BoolTestKind uint8

// Kinds of BooleanTest.
const (
	IsTrue BoolTestKind = iota
	IsNotTrue
	IsFalse
	IsNotFalse
	IsUnknown
	IsNotUnknown
)

// BooleanTest is IS [NOT] TRUE/FALSE/UNKNOWN.
type BooleanTest struct {
	Typed
	Arg  Expr
	Kind BoolTestKind
}

// DistinctExpr is a IS [NOT] DISTINCT FROM b with the equality function of the operator.
type DistinctExpr struct {
	Typed
	Func, Op  types.OID
	Args      []Expr // two
	Not       bool   // IS NOT DISTINCT FROM
	InputColl types.OID
}

// NullIf is NULLIF(a, b) with the equality function.
type NullIf struct {
	Typed
	Func, Op  types.OID
	Args      []Expr
	InputColl types.OID
}

// ScalarArrayOp is scalar op ANY/ALL (array); IN (list) of constants is ANY over an ArrayExpr or array Const.
type ScalarArrayOp struct {
	Typed
	Func, Op  types.OID
	UseOr     bool   // ANY; false = ALL
	Args      []Expr // scalar, array
	InputColl types.OID
	Strict    bool
}

// Case is CASE; with Arg the WHEN conditions compare CaseTest to it.
type Case struct {
	Typed
	Arg     Expr // nil for searched CASE
	Whens   []CaseWhen
	Default Expr // nil = NULL
}

// CaseWhen is one arm.
type CaseWhen struct{ Cond, Result Expr }

// CaseTest stands for the value of the innermost enclosing Case.Arg or ArrayCoerce element.
type CaseTest struct{ Typed }

// Coalesce is COALESCE.
type Coalesce struct {
	Typed
	Args []Expr
}

// MinMax is GREATEST or LEAST.
type MinMax struct {
	Typed
	Least     bool
	Args      []Expr
	InputColl types.OID
}

// ArrayExpr is ARRAY[...]; Multi: the elements are arrays of one more dimension.
type ArrayExpr struct {
	Typed
	Elem  types.OID
	Args  []Expr
	Multi bool
}

// RowExpr is ROW(...).
type RowExpr struct {
	Typed
	Args     []Expr
	Names    []string
	Implicit bool
}

// RowCompare compares rows with < <= >= > (= and <> are expanded to AND/OR).
type RowCompare struct {
	Typed
	Kind      RowCompareKind
	Ops       []types.OID
	Funcs     []types.OID // btree comparison functions are types.Compare; Ops for deparse
	Left      []Expr
	Right     []Expr
	InputColl []types.OID
}

// RowCompareKind is the operator of a RowCompare.
type RowCompareKind uint8

// Kinds of RowCompare.
const (
	RowLT RowCompareKind = iota
	RowLE
	RowGE
	RowGT
)

// Subscript is array[index] or array[lo:hi], also jsonb subscripts.
type Subscript struct {
	Typed
	Container Expr
	Upper     []Expr // index of each dimension, or upper bound of a slice (nil element = omitted)
	Lower     []Expr // nil when not a slice
	Slice     bool
	Elem      types.OID
	Assign    Expr // UPDATE t SET a[1] = x: the new value; nil for a fetch
}

// FieldSelect is (row).field.
type FieldSelect struct {
	Typed
	Arg   Expr
	Field int // 1-based attribute number
	Name  string
}

// SQLValueKind names CURRENT_DATE and the like.
type SQLValueKind uint8

// Kinds of SQLValue.
const (
	CurrentDate SQLValueKind = iota
	CurrentTime
	CurrentTimestamp
	LocalTime
	LocalTimestamp
	CurrentRole
	CurrentUser
	SessionUser
	CurrentCatalog
	CurrentSchema
)

// SQLValue is a function without parentheses.
type SQLValue struct {
	Typed
	Kind SQLValueKind
	User bool // written USER
}

// NextValue is an identity column's or serial's implicit nextval.
type NextValue struct {
	Typed
	Sequence types.OID
}

// SetToDefault is DEFAULT in an INSERT or UPDATE; the binder replaces it.
type SetToDefault struct{ Typed }

// Aggref is a call of an aggregate.
type Aggref struct {
	Typed
	Agg       types.OID
	Args      []Expr    // without direct args
	Direct    []Expr    // ordered-set aggregates
	OrderBy   []SortKey // over Args by expression
	Distinct  bool
	Filter    Expr
	Star      bool
	Variadic  bool
	LevelsUp  int
	ArgTypes  []types.OID
	InputColl types.OID
	Kind      byte // 'n' normal, 'o' ordered-set, 'h' hypothetical
}

// GroupingFunc is GROUPING(...): Refs are indexes into the GROUP BY list.
type GroupingFunc struct {
	Typed
	Refs     []int
	Args     []Expr // as written; nil in a physical plan
	LevelsUp int    // of the query whose grouping is meant
}

// WindowFunc is a call with OVER; Window indexes Query.Windows.
type WindowFunc struct {
	Typed
	Func      types.OID
	Args      []Expr
	Filter    Expr
	Window    int
	IsAgg     bool
	Star      bool
	InputColl types.OID
}

// SubLinkKind is the form of a subquery in an expression.
type SubLinkKind uint8

// Kinds of SubLink and SubPlan.
const (
	SubExists SubLinkKind = iota
	SubAny                // test op ANY (subquery); IN
	SubAll
	SubScalar
	SubArray
	SubRowCompare
	SubMulti // UPDATE SET (a,b) = (SELECT ...)
)

// SubLink is a subquery in a bound Query's expression (planning turns it into a join, SubPlan or ExecParam).
type SubLink struct {
	Typed
	Kind   SubLinkKind
	Test   Expr // over the outer row and SubOut columns: for ANY/ALL a FuncCall/BoolExpr/RowCompare
	Query  *Query
	OpName string // for deparse
}

// SubOut is output column Col (0-based) of the subquery inside SubLink.Test / SubPlan.Test.
type SubOut struct {
	Typed
	Col int
}

// SubPlan runs Plan.Sub[PlanID] for a row: Args set ExecParams ParamIDs first. Hashed: uncorrelated ANY probes a hash table.
type SubPlan struct {
	Typed
	Kind     SubLinkKind
	Test     Expr
	Plan     Node
	ParamIDs []int
	Args     []Expr
	Hashed   bool
	HashKeys []HashKey // pairs test left expr = sub column when Hashed
}

// HashKey pairs the sides of an equality used for hashing, with the type and collation that both sides are hashed and compared as.
type HashKey struct {
	Left, Right Expr
	Type        types.OID
	Collation   types.OID
	NullsEqual  bool
}

// SortKey orders by Expr using the btree order of its type.
type SortKey struct {
	Expr       Expr
	Desc       bool
	NullsFirst bool
	EqOp, LtOp types.OID
	Collation  types.OID
}
