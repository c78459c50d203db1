package mysql

import (
	"fmt"
	"strconv"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"herd/sql/ast"
)

// exprs converts a list; empty gives nil.
func (c *converter) exprs(list []tidb.ExprNode) []ast.Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]ast.Expr, len(list))
	for i, n := range list {
		out[i] = c.expr(n)
	}
	return out
}

// exprOrNil converts an optional expression.
func (c *converter) exprOrNil(n tidb.ExprNode) ast.Expr {
	if n == nil {
		return nil
	}
	return c.expr(n)
}

// condOrNil converts an optional condition.
func (c *converter) condOrNil(n tidb.ExprNode) ast.Expr {
	if n == nil {
		return nil
	}
	return c.cond(n)
}

// bare removes brackets.
func bare(n tidb.ExprNode) tidb.ExprNode {
	for {
		p, ok := n.(*tidb.ParenthesesExpr)
		if !ok {
			return n
		}
		n = p.Expr
	}
}

// isCondition says whether an expression is true or false by its form. MySQL has numbers for these.
func isCondition(n tidb.ExprNode) bool {
	switch x := bare(n).(type) {
	case *tidb.BinaryOperationExpr:
		switch x.Op {
		case opcode.LogicAnd, opcode.LogicOr, opcode.LogicXor, opcode.GE, opcode.LE, opcode.EQ, opcode.NE, opcode.LT, opcode.GT, opcode.NullEQ:
			return true
		}
	case *tidb.UnaryOperationExpr:
		return x.Op == opcode.Not || x.Op == opcode.Not2
	case *tidb.IsNullExpr, *tidb.IsTruthExpr, *tidb.BetweenExpr, *tidb.PatternInExpr, *tidb.PatternLikeOrIlikeExpr,
		*tidb.PatternRegexpExpr, *tidb.ExistsSubqueryExpr, *tidb.CompareSubqueryExpr:
		return true
	case *tidb.FuncCallExpr:
		return x.FnName.L == "isnull"
	}
	return false
}

// expr converts an expression to its value; a condition's is 1, 0 or NULL.
func (c *converter) expr(n tidb.ExprNode) ast.Expr {
	if isCondition(n) {
		loc := ast.At(c.at(n))
		return &ast.Cast{Loc: loc, Arg: c.cond(n), Type: &ast.TypeName{Loc: loc, Name: catalogName("int4")}}
	}
	return c.value(n)
}

// cond converts an expression to a condition; of a value, whether it is not 0.
func (c *converter) cond(n tidb.ExprNode) ast.Expr {
	if c.err != nil || !c.enter() {
		return nil
	}
	defer c.leave()
	n = bare(n)
	if !isCondition(n) {
		if l, ok := n.(*literal); ok {
			switch v := l.value.(type) {
			case bool:
				return &ast.Const{Loc: ast.At(c.at(n)), Kind: ast.ConstBool, Bool: v}
			case int64:
				return &ast.Const{Loc: ast.At(c.at(n)), Kind: ast.ConstBool, Bool: v != 0}
			}
		}
		return &ast.FuncCall{Loc: ast.At(c.at(n)), Name: mysqlName(c.at(n), "truth"), Args: []ast.Expr{c.value(n)}}
	}
	loc := ast.At(c.at(n))
	switch x := n.(type) {
	case *tidb.BinaryOperationExpr:
		return c.connective(x)
	case *tidb.UnaryOperationExpr:
		return &ast.Not{Loc: loc, Arg: c.cond(x.V)}
	case *tidb.IsNullExpr:
		return &ast.IsNull{Loc: loc, Arg: c.expr(x.Expr), Not: x.Not}
	case *tidb.IsTruthExpr:
		out := &ast.IsBool{Loc: loc, Arg: c.cond(x.Expr), Test: ast.IsTrue}
		switch {
		case x.True != 0 && x.Not:
			out.Test = ast.IsNotTrue
		case x.True == 0 && x.Not:
			out.Test = ast.IsNotFalse
		case x.True == 0:
			out.Test = ast.IsFalse
		}
		return out
	case *tidb.BetweenExpr:
		return &ast.Between{Loc: loc, Schema: Schema, Arg: c.expr(x.Expr), Low: c.expr(x.Left), High: c.expr(x.Right), Not: x.Not}
	case *tidb.PatternInExpr:
		return c.in(x)
	case *tidb.PatternLikeOrIlikeExpr:
		return c.like(x)
	case *tidb.ExistsSubqueryExpr:
		return c.exists(x)
	case *tidb.CompareSubqueryExpr:
		return c.compareSubquery(x)
	case *tidb.FuncCallExpr: // ISNULL
		if len(x.Args) == 1 {
			return &ast.IsNull{Loc: loc, Arg: c.expr(x.Args[0])}
		}
	}
	c.unknown(n, "condition")
	return nil
}

// comparisons are the operators of MySQL by the parser's.
var comparisons = map[opcode.Op]string{
	opcode.GE: ">=", opcode.LE: "<=", opcode.EQ: "=", opcode.NE: "<>", opcode.LT: "<", opcode.GT: ">",
}

// connective converts AND, OR, XOR and comparisons.
func (c *converter) connective(x *tidb.BinaryOperationExpr) ast.Expr {
	loc := ast.At(c.at(x))
	switch x.Op {
	case opcode.LogicAnd:
		return &ast.BoolExpr{Loc: loc, Op: ast.And, Args: c.flat(x, nil)}
	case opcode.LogicOr:
		return &ast.BoolExpr{Loc: loc, Op: ast.Or, Args: c.flat(x, nil)}
	case opcode.LogicXor:
		return &ast.Op{Loc: loc, Op: ast.Name{Loc: loc, Schema: "pg_catalog", Name: "<>"}, Left: c.cond(x.L), Right: c.cond(x.R)}
	case opcode.NullEQ:
		return &ast.IsDistinct{Loc: loc, Schema: Schema, Left: c.expr(x.L), Right: c.expr(x.R), Not: true}
	}
	return c.binary(comparisons[x.Op], x)
}

// flat gathers the arguments of left-nested AND or OR of one kind.
func (c *converter) flat(x *tidb.BinaryOperationExpr, out []ast.Expr) []ast.Expr {
	if l, ok := x.L.(*tidb.BinaryOperationExpr); ok && l.Op == x.Op {
		out = c.flat(l, out)
	} else {
		out = append(out, c.cond(x.L))
	}
	return append(out, c.cond(x.R))
}

// binary makes an operator of schema mysql; one over another is a chain.
func (c *converter) binary(op string, x *tidb.BinaryOperationExpr) ast.Expr {
	loc := c.at(x)
	name := mysqlName(loc, op)
	left, right := c.expr(x.L), c.expr(x.R)
	switch l := left.(type) {
	case *ast.Op:
		if l.Left != nil {
			return &ast.OpChain{Loc: ast.At(loc), First: l.Left, Terms: []ast.OpTerm{{Loc: l.Loc, Op: l.Op, Right: l.Right}, {Loc: ast.At(loc), Op: name, Right: right}}}
		}
	case *ast.OpChain:
		return &ast.OpChain{Loc: ast.At(loc), First: l.First, Terms: append(l.Terms, ast.OpTerm{Loc: ast.At(loc), Op: name, Right: right})}
	}
	return &ast.Op{Loc: ast.At(loc), Op: name, Left: left, Right: right}
}

// value converts an expression that is no condition.
func (c *converter) value(n tidb.ExprNode) ast.Expr {
	if c.err != nil || !c.enter() {
		return nil
	}
	defer c.leave()
	loc := ast.At(c.at(n))
	switch x := n.(type) {
	case *tidb.ParenthesesExpr:
		return c.expr(x.Expr)
	case *literal:
		return c.constant(x)
	case *marker:
		return &ast.Param{Loc: loc, Number: x.order}
	case *tidb.ColumnNameExpr:
		return c.columnRef(x.Name, c.at(n))
	case *tidb.BinaryOperationExpr:
		return c.arithmetic(x)
	case *tidb.UnaryOperationExpr:
		return c.unary(x)
	case *tidb.CaseExpr:
		return c.caseExpr(x)
	case *tidb.FuncCallExpr:
		return c.funcCall(x)
	case *tidb.FuncCastExpr:
		return c.cast(x)
	case *tidb.AggregateFuncExpr:
		return c.aggregate(x)
	case *tidb.WindowFuncExpr:
		return c.windowFunc(x)
	case *tidb.SubqueryExpr:
		return &ast.SubLink{Loc: loc, Kind: ast.SubScalar, Query: c.subquery(x)}
	case *tidb.RowExpr:
		return &ast.Row{Loc: loc, Args: c.exprs(x.Values), Explicit: true}
	case *tidb.DefaultExpr:
		c.refuse(x.Name != nil, c.at(n), "DEFAULT(column)")
		return &ast.Default{Loc: loc}
	case *tidb.ValuesExpr:
		return &ast.ColumnRef{Loc: loc, Parts: []string{"excluded", ident(x.Column.Name.Name)}}
	case *tidb.VariableExpr:
		return c.variable(x)
	case *tidb.PositionExpr:
		return &ast.Const{Loc: loc, Kind: ast.ConstInt, Int: int64(x.N)}
	case *tidb.SetCollationExpr:
		c.unsupported(c.at(n), "COLLATE")
	case *tidb.MatchAgainst:
		c.unsupported(c.at(n), "MATCH ... AGAINST")
	default:
		c.unknown(n, "expression")
	}
	return nil
}

func (c *converter) constant(l *literal) ast.Expr {
	out := &ast.Const{Loc: ast.At(c.at(l))}
	switch v := l.value.(type) {
	case nil:
	case int64:
		out.Kind, out.Int = ast.ConstInt, v
	case int:
		out.Kind, out.Int = ast.ConstInt, int64(v)
	case uint64:
		if v <= 1<<63-1 {
			out.Kind, out.Int = ast.ConstInt, int64(v)
		} else {
			out.Kind, out.Text = ast.ConstNumeric, strconv.FormatUint(v, 10)
		}
	case decimal:
		out.Kind, out.Text = ast.ConstNumeric, string(v)
	case float64:
		out.Kind, out.Text = ast.ConstNumeric, strconv.FormatFloat(v, 'g', -1, 64)
		return &ast.Cast{Loc: out.Loc, Arg: out, Type: &ast.TypeName{Loc: out.Loc, Name: catalogName("float8")}}
	case string:
		out.Kind, out.Text = ast.ConstString, v
	case bool:
		out.Kind = ast.ConstInt
		if v {
			out.Int = 1
		}
	case hexText:
		out.Kind, out.Text = ast.ConstString, "\\x"+string(v)
		return &ast.Cast{Loc: out.Loc, Arg: out, Type: &ast.TypeName{Loc: out.Loc, Name: catalogName("bytea")}}
	case bitText:
		out.Kind, out.Text = ast.ConstBit, "b"+string(v)
	default:
		c.unsupported(c.at(l), fmt.Sprintf("literal of type %T", v))
	}
	return out
}

func (c *converter) columnRef(n *tidb.ColumnName, loc int32) ast.Expr {
	out := &ast.ColumnRef{Loc: ast.At(loc)}
	if n.Schema.L != "" {
		out.Parts = append(out.Parts, ident(n.Schema))
	}
	switch {
	case n.Table.L != "":
		out.Parts = append(out.Parts, ident(n.Table))
	case c.target != "":
		out.Parts = append(out.Parts, c.target)
	}
	out.Parts = append(out.Parts, ident(n.Name))
	return out
}

// arithmetics are the operators that give numbers, with the name they have in the tree.
var arithmetics = map[opcode.Op]string{
	opcode.Plus: "+", opcode.Minus: "-", opcode.Mul: "*", opcode.Div: "/", opcode.Mod: "%",
}

func (c *converter) arithmetic(x *tidb.BinaryOperationExpr) ast.Expr {
	if i, ok := x.R.(*tidb.FuncCallExpr); ok && i.FnName.L == "interval" {
		c.unsupported(c.at(x), "INTERVAL arithmetic")
		return nil
	}
	if op := arithmetics[x.Op]; op != "" {
		return c.binary(op, x)
	}
	if x.Op == opcode.IntDiv {
		return &ast.FuncCall{Loc: ast.At(c.at(x)), Name: mysqlName(c.at(x), "div"), Args: []ast.Expr{c.expr(x.L), c.expr(x.R)}}
	}
	c.unsupported(c.at(x), "operator "+x.Op.String())
	return nil
}

func (c *converter) unary(x *tidb.UnaryOperationExpr) ast.Expr {
	loc := ast.At(c.at(x))
	switch x.Op {
	case opcode.Plus:
		return c.expr(x.V)
	case opcode.Minus:
		if l, ok := x.V.(*literal); ok {
			switch v := l.value.(type) {
			case int64:
				return &ast.Const{Loc: loc, Kind: ast.ConstInt, Int: -v}
			case uint64:
				if v == 1<<63 {
					return &ast.Const{Loc: loc, Kind: ast.ConstInt, Int: -1 << 63}
				}
			case decimal:
				return &ast.Const{Loc: loc, Kind: ast.ConstNumeric, Text: "-" + string(v)}
			}
		}
		return &ast.Op{Loc: loc, Op: ast.Name{Loc: loc, Name: "-"}, Right: c.expr(x.V)}
	}
	c.unsupported(c.at(x), "operator "+x.Op.String())
	return nil
}

func (c *converter) caseExpr(x *tidb.CaseExpr) ast.Expr {
	out := &ast.Case{Loc: ast.At(c.at(x)), Else: c.exprOrNil(x.ElseClause)}
	for _, w := range x.WhenClauses {
		loc := ast.At(c.at(w.Expr))
		when := ast.When{Loc: loc, Result: c.expr(w.Result)}
		if x.Value == nil {
			when.Cond = c.cond(w.Expr)
		} else { // the comparison is MySQL's
			when.Cond = &ast.Op{Loc: loc, Op: mysqlName(loc.Off, "="), Left: c.expr(x.Value), Right: c.expr(w.Expr)}
		}
		out.Whens = append(out.Whens, when)
	}
	return out
}

func (c *converter) in(x *tidb.PatternInExpr) ast.Expr {
	loc := ast.At(c.at(x))
	if x.Sel == nil {
		return &ast.In{Loc: loc, Schema: Schema, Left: c.expr(x.Expr), List: c.exprs(x.List), Not: x.Not}
	}
	s, ok := x.Sel.(*tidb.SubqueryExpr)
	if !ok {
		c.unknown(x.Sel, "IN")
		return nil
	}
	link := &ast.SubLink{Loc: loc, Kind: ast.SubAny, Test: c.expr(x.Expr), Op: mysqlName(loc.Off, "="), InSyntax: true, Query: c.subquery(s)}
	if x.Not {
		return &ast.Not{Loc: loc, Arg: link}
	}
	return link
}

func (c *converter) like(x *tidb.PatternLikeOrIlikeExpr) ast.Expr {
	loc := ast.At(c.at(x))
	c.refuse(!x.IsLike, loc.Off, "ILIKE")
	c.refuse(x.Escape != '\\', loc.Off, "LIKE ... ESCAPE")
	name := "~~"
	if x.Not {
		name = "!~~"
	}
	return &ast.Op{Loc: loc, Op: mysqlName(loc.Off, name), Left: c.expr(x.Expr), Right: c.expr(x.Pattern)}
}

func (c *converter) exists(x *tidb.ExistsSubqueryExpr) ast.Expr {
	s, ok := x.Sel.(*tidb.SubqueryExpr)
	if !ok {
		c.unknown(x.Sel, "EXISTS")
		return nil
	}
	loc := ast.At(c.at(x))
	link := &ast.SubLink{Loc: loc, Kind: ast.SubExists, Query: c.subquery(s)}
	if x.Not {
		return &ast.Not{Loc: loc, Arg: link}
	}
	return link
}

func (c *converter) compareSubquery(x *tidb.CompareSubqueryExpr) ast.Expr {
	s, ok := x.R.(*tidb.SubqueryExpr)
	op := comparisons[x.Op]
	if !ok || op == "" {
		c.unknown(x, "comparison")
		return nil
	}
	loc := ast.At(c.at(x))
	out := &ast.SubLink{Loc: loc, Kind: ast.SubAny, Test: c.expr(x.L), Op: mysqlName(loc.Off, op), Query: c.subquery(s)}
	if x.All {
		out.Kind = ast.SubAll
	}
	return out
}
