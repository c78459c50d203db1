package ast

// ConstKind is the class of a literal.
type ConstKind uint8

// The classes of Const.
const (
	ConstNull    ConstKind = iota
	ConstInt               // Int; int4 when it fits 32 bits, else int8
	ConstNumeric           // Text: digits, as written, possibly with sign
	ConstString            // Text; type unknown until bound
	ConstBit               // Text: 'b' or 'x' followed by the digits
	ConstBool              // Bool
)

// Const is a literal.
type Const struct {
	Loc
	Kind ConstKind
	Int  int64
	Text string
	Bool bool
}

// ColumnRef is a reference by name: [[[catalog.]schema.]table.]column, or the same with a star.
type ColumnRef struct {
	Loc
	Parts []string // without the star
	Star  bool     // Parts may then be empty
}

// Param is $n.
type Param struct {
	Loc
	Number int // from 1
}

// Cast is CAST(x AS t), x::t and t 'literal'.
type Cast struct {
	Loc
	Arg  Expr
	Type *TypeName
}

// Collate is x COLLATE c.
type Collate struct {
	Loc
	Arg       Expr
	Collation Name
}

// NamedArg is name => value; it occurs only in FuncCall.Args.
type NamedArg struct {
	Loc
	Name  string
	Value Expr
}

// FuncCall is a function, aggregate or window function call, and every special syntax that PostgreSQL turns into one
// (EXTRACT, SUBSTRING, OVERLAY, POSITION, TRIM, AT TIME ZONE, OVERLAPS, NORMALIZE, LIKE ... ESCAPE's like_escape).
type FuncCall struct {
	Loc
	Name        Name
	Args        []Expr
	OrderBy     []SortItem
	Filter      Expr
	Over        *WindowDef
	WithinGroup bool // OrderBy is WITHIN GROUP's
	Star        bool // f(*)
	Distinct    bool
	Variadic    bool // the last argument is VARIADIC
	SQLSyntax   bool // made from a special syntax; deparse prints it back that way
}

// Op is an operator applied once. Left is nil for a prefix operator. LIKE, ILIKE and SIMILAR TO arrive as ~~, ~~* and ~
// (NOT: !~~, !~~*, !~). Left is never itself a binary Op: that is an OpChain.
type Op struct {
	Loc
	Op          Name
	Left, Right Expr
}

// OpChain is a left-deep chain of two or more binary operators: ((First t0) t1) ...
type OpChain struct {
	Loc
	First Expr
	Terms []OpTerm
}

// OpTerm is one operator of an OpChain with its right operand.
type OpTerm struct {
	Loc   // of the operator
	Op    Name
	Right Expr
}

// OpAny is left op ANY (array) or, with All, left op ALL (array).
type OpAny struct {
	Loc
	Op          Name
	Left, Right Expr
	All         bool
}

// BoolOp is the connective of a BoolExpr.
type BoolOp uint8

// The connectives.
const (
	And BoolOp = iota
	Or
)

// BoolExpr is an AND or OR over two or more arguments; left-nested ones of the same kind are one.
type BoolExpr struct {
	Loc
	Op   BoolOp
	Args []Expr
}

// Not is NOT x.
type Not struct {
	Loc
	Arg Expr
}

// In is left [NOT] IN (list). IN (subquery) is a SubLink.
type In struct {
	Loc
	Schema string // of the operators = and <>; "" for the search path's
	Left   Expr
	List   []Expr
	Not    bool
}

// Between is arg [NOT] BETWEEN [SYMMETRIC] low AND high.
type Between struct {
	Loc
	Schema         string // of the operators; "" for the search path's
	Arg, Low, High Expr
	Not            bool
	Symmetric      bool
}

// IsNull is x IS [NOT] NULL.
type IsNull struct {
	Loc
	Arg Expr
	Not bool
}

// BoolTest is the test of an IsBool.
type BoolTest uint8

// The tests.
const (
	IsTrue BoolTest = iota
	IsNotTrue
	IsFalse
	IsNotFalse
	IsUnknown
	IsNotUnknown
)

// IsBool is x IS [NOT] TRUE, FALSE or UNKNOWN.
type IsBool struct {
	Loc
	Arg  Expr
	Test BoolTest
}

// IsDistinct is left IS [NOT] DISTINCT FROM right.
type IsDistinct struct {
	Loc
	Schema      string // of the operator =; "" for the search path's
	Left, Right Expr
	Not         bool
}

// Case is CASE [Arg] WHEN ... END.
type Case struct {
	Loc
	Arg   Expr // nil for the searched form
	Whens []When
	Else  Expr // nil when absent
}

// When is one WHEN of a Case.
type When struct {
	Loc
	Cond, Result Expr
}

// Coalesce is COALESCE(args).
type Coalesce struct {
	Loc
	Args []Expr
}

// NullIf is NULLIF(left, right).
type NullIf struct {
	Loc
	Left, Right Expr
}

// MinMax is GREATEST(args) or LEAST(args).
type MinMax struct {
	Loc
	Greatest bool
	Args     []Expr
}

// Array is ARRAY[elems]; a bare [..] inside it is an Array too.
type Array struct {
	Loc
	Elems []Expr
}

// Row is ROW(args), or the implicit (a, b).
type Row struct {
	Loc
	Args     []Expr
	Explicit bool
}

// SubLinkKind is the kind of a SubLink.
type SubLinkKind uint8

// The kinds of SubLink.
const (
	SubExists SubLinkKind = iota
	SubAny                // Test Op ANY (query); IN has Op "=" with InSyntax
	SubAll                // Test Op ALL (query)
	SubScalar             // (query) as a value, or as a row where a row is compared
	SubArray              // ARRAY(query)
)

// SubLink is a subquery in an expression.
type SubLink struct {
	Loc
	Kind     SubLinkKind
	Test     Expr // SubAny, SubAll
	Op       Name // SubAny, SubAll
	InSyntax bool // written IN (query); NOT IN is a Not around it
	Query    *Select
}

// StepKind is the kind of an indirection Step.
type StepKind uint8

// The kinds of Step.
const (
	StepField     StepKind = iota // .Field
	StepSubscript                 // [Upper]
	StepSlice                     // [Lower:Upper], either may be nil
	StepStar                      // .*
)

// Step is one step of an Indirection or of an assignment target.
type Step struct {
	Kind         StepKind
	Field        string
	Lower, Upper Expr
}

// Indirection is arg.field, arg[i], arg[i:j] and arg.* on something other than a plain column name.
type Indirection struct {
	Loc
	Arg   Expr
	Steps []Step
}

// SQLValueFunc is a parameterless function with its own syntax.
type SQLValueFunc uint8

// The functions of SQLValue.
const (
	CurrentDate SQLValueFunc = iota
	CurrentTime
	CurrentTimestamp
	LocalTime
	LocalTimestamp
	CurrentRole
	CurrentUser
	User
	SessionUser
	CurrentCatalog
	CurrentSchema
)

// SQLValue is CURRENT_DATE, CURRENT_TIMESTAMP(p), CURRENT_USER and their like.
type SQLValue struct {
	Loc
	Func      SQLValueFunc
	Precision int32 // -1 when not given
}

// Grouping is GROUPING(args).
type Grouping struct {
	Loc
	Args []Expr
}

// Default is DEFAULT in a VALUES list or assignment.
type Default struct{ Loc }

// CurrentOf is WHERE CURRENT OF cursor.
type CurrentOf struct {
	Loc
	Cursor string
}

func (*Const) expr()       {}
func (*ColumnRef) expr()   {}
func (*Param) expr()       {}
func (*Cast) expr()        {}
func (*Collate) expr()     {}
func (*NamedArg) expr()    {}
func (*FuncCall) expr()    {}
func (*Op) expr()          {}
func (*OpChain) expr()     {}
func (*OpAny) expr()       {}
func (*BoolExpr) expr()    {}
func (*Not) expr()         {}
func (*In) expr()          {}
func (*Between) expr()     {}
func (*IsNull) expr()      {}
func (*IsBool) expr()      {}
func (*IsDistinct) expr()  {}
func (*Case) expr()        {}
func (*Coalesce) expr()    {}
func (*NullIf) expr()      {}
func (*MinMax) expr()      {}
func (*Array) expr()       {}
func (*Row) expr()         {}
func (*SubLink) expr()     {}
func (*Indirection) expr() {}
func (*SQLValue) expr()    {}
func (*Grouping) expr()    {}
func (*Default) expr()     {}
func (*CurrentOf) expr()   {}
