package jsonpath

import "herd/sql/types/numeric"

// kind is what a node of a path does.
type kind uint8

const (
	kNull kind = iota
	kString
	kNumber
	kBool
	kVariable
	kRoot    // $
	kCurrent // @
	kLast
	kAnd
	kOr
	kNot
	kIsUnknown
	kEqual
	kNotEqual
	kLess
	kGreater
	kLessEqual
	kGreaterEqual
	kStartsWith
	kLikeRegex
	kExists
	kAdd
	kSub
	kMul
	kDiv
	kMod
	kPlus  // unary
	kMinus // unary
	kKey
	kAnyKey   // .*
	kAnyArray // [*]
	kIndex    // [ ... ]
	kAny      // .**
	kFilter
	kMethod
)

// noLevel is the level "last" of .**{...}.
const noLevel = ^uint32(0)

// node is one step of a path, or an expression. A chain of steps hangs together by next.
type node struct {
	kind        kind
	text        string      // kString, kVariable, kKey, kMethod: the name; kLikeRegex: the pattern
	num         numeric.Num // kNumber
	truth       bool        // kBool
	left        *node       // operand, argument
	right       *node
	subs        []subscript // kIndex
	first, last uint32      // kAny
	flags       RegexFlags  // kLikeRegex
	next        *node
}

// subscript is one part of [a, b to c].
type subscript struct{ from, to *node }

// RegexFlags are the flags of LIKE_REGEX.
type RegexFlags struct {
	Fold, DotAll, Lines, Blanks, Literal bool
}

// Path is a parsed path.
type Path struct {
	root   *node
	strict bool
}

// symbols of the binary and unary operators, as the errors and the text call them.
var symbols = map[kind]string{
	kAnd: "&&", kOr: "||", kEqual: "==", kNotEqual: "!=", kLess: "<", kGreater: ">", kLessEqual: "<=", kGreaterEqual: ">=",
	kStartsWith: "starts with", kAdd: "+", kSub: "-", kMul: "*", kDiv: "/", kMod: "%", kPlus: "+", kMinus: "-",
}

// priority decides where the text needs parentheses.
func (k kind) priority() int {
	switch k {
	case kOr:
		return 0
	case kAnd:
		return 1
	case kEqual, kNotEqual, kLess, kGreater, kLessEqual, kGreaterEqual, kStartsWith, kLikeRegex:
		return 2
	case kAdd, kSub:
		return 3
	case kMul, kDiv, kMod:
		return 4
	case kPlus, kMinus:
		return 5
	}
	return 6
}

// predicate says whether a node is a condition.
func (k kind) predicate() bool { return k >= kAnd && k <= kExists }

// end returns the last step of a chain.
func (n *node) end() *node {
	for n.next != nil {
		n = n.next
	}
	return n
}
