package ast

import "unicode/utf8"

// NoPos is the offset of a node that no source text stands for.
const NoPos = -1

// Loc is embedded in every node: its place in the source text.
type Loc struct {
	// Off is the 0-based byte offset in the statement's source text (the text given to the parser), or NoPos.
	Off int32
}

// Pos returns the node's byte offset, or NoPos.
func (l Loc) Pos() int32 { return l.Off }

// At makes a Loc.
func At(off int32) Loc { return Loc{Off: off} }

// CharPosition turns a byte offset into the 1-based character position that sqlerr.Error.Position wants; 0 when off is NoPos.
func CharPosition(text string, off int32) int {
	if off < 0 {
		return 0
	}
	if int(off) > len(text) {
		off = int32(len(text))
	}
	return utf8.RuneCountInString(text[:off]) + 1
}

// Node is anything with a place in the source.
type Node interface {
	// Pos returns the byte offset of the node, or NoPos.
	Pos() int32
}

// Expr is an expression: one of the pointer types of expr.go.
type Expr interface {
	Node
	expr()
}

// Stmt is a statement.
type Stmt interface {
	Node
	stmt()
}

// FromItem is an entry of FROM: *TableRef, *SubqueryRef, *FuncRef or *Join.
type FromItem interface {
	Node
	fromItem()
}

// QueryBody is what a Select evaluates before ordering and limiting: *SelectCore, *Values or *SetOp.
type QueryBody interface {
	Node
	queryBody()
}

// TableElement is an entry of CREATE TABLE's list: *ColumnDef, *Constraint or *LikeClause.
type TableElement interface {
	Node
	tableElement()
}

// Name is a possibly qualified name of a relation, type, function, operator, collation or the like. Empty parts are absent.
type Name struct {
	Loc
	Catalog string
	Schema  string
	Name    string
}

// IsZero says whether no name is there.
func (n Name) IsZero() bool { return n.Name == "" }

// String returns the name with dots and without quotes, as most PostgreSQL messages show it.
func (n Name) String() string {
	s := n.Name
	if n.Schema != "" {
		s = n.Schema + "." + s
	}
	if n.Catalog != "" {
		s = n.Catalog + "." + s
	}
	return s
}

// TypeName is a type as written. A type spelled with SQL keywords arrives as its pg_catalog name (INTEGER is pg_catalog.int4).
type TypeName struct {
	Loc
	Name  Name
	SetOf bool
	// PctType marks table.column%TYPE; then Name is the table and Column the column.
	PctType bool
	Column  string
	// Mods are the modifiers in brackets; INTERVAL's field mask and precision arrive as integer constants, as in PostgreSQL.
	Mods []Expr
	// ArrayDims has an entry a dimension: the bound, or -1.
	ArrayDims []int32
}

// Alias names a FROM item and, optionally, its columns.
type Alias struct {
	Name    string
	Columns []string
}

// RoleKind says how a role is named.
type RoleKind uint8

// The kinds of RoleSpec.
const (
	RoleNamed RoleKind = iota
	RoleCurrentRole
	RoleCurrentUser
	RoleSessionUser
	RolePublic
)

// RoleSpec names a role.
type RoleSpec struct {
	Loc
	Kind RoleKind
	Name string // for RoleNamed
}

// ValueKind is the form of an OptionValue.
type ValueKind uint8

// The forms of OptionValue.
const (
	ValueNone   ValueKind = iota // the option stands alone
	ValueString                  // Text: a string, identifier or keyword
	ValueInt                     // Int
	ValueFloat                   // Text: digits as written
	ValueBool                    // Bool
	ValueStar                    // *
	ValueList                    // List
	ValueType                    // Type: an identifier or type name in option position
	ValueRole                    // Role: CREATE ROLE's member lists
	ValueSet                     // Set: CREATE FUNCTION ... SET
)

// OptionValue is the value of a generic option.
type OptionValue struct {
	Loc
	Kind ValueKind
	Text string
	Int  int64
	Bool bool
	List []OptionValue
	Type *TypeName
	Role *RoleSpec
	Set  *SetVar
}

// String returns the value as text, as PostgreSQL's defGetString does; "" for none, lists and types with modifiers.
func (v OptionValue) String() string {
	switch v.Kind {
	case ValueString, ValueFloat:
		return v.Text
	case ValueInt:
		return itoa(v.Int)
	case ValueBool:
		if v.Bool {
			return "true"
		}
		return "false"
	case ValueStar:
		return "*"
	case ValueType:
		if v.Type != nil {
			return v.Type.Name.String()
		}
	}
	return ""
}

func itoa(n int64) string {
	var b [20]byte
	i, neg, u := len(b), n < 0, uint64(n)
	if neg {
		u = -u
	}
	for {
		i--
		b[i] = byte('0' + u%10)
		if u /= 10; u == 0 {
			break
		}
	}
	if neg {
		i--
		b[i] = '-'
	}
	return string(b[i:])
}

// Option is one name-value pair of an option list such as WITH (fillfactor = 70).
type Option struct {
	Loc
	Namespace string
	Name      string
	Value     OptionValue
	// Drop and Add mark DROP and ADD in ALTER ... OPTIONS lists.
	Drop, Add bool
}
