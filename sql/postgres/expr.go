package postgres

import (
	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// exprs converts a list; empty gives nil.
func (c *converter) exprs(list []*pg.Node) []ast.Expr {
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
func (c *converter) exprOrNil(n *pg.Node) ast.Expr {
	if n == nil || n.Node == nil {
		return nil
	}
	return c.expr(n)
}

// expr converts an expression.
func (c *converter) expr(n *pg.Node) ast.Expr {
	if c.err != nil || !c.enter() {
		return nil
	}
	defer c.leave()
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return c.columnRef(x.ColumnRef)
	case *pg.Node_AConst:
		return c.constant(x.AConst)
	case *pg.Node_ParamRef:
		return &ast.Param{Loc: ast.At(x.ParamRef.Location), Number: int(x.ParamRef.Number)}
	case *pg.Node_AExpr:
		return c.operator(x.AExpr)
	case *pg.Node_BoolExpr:
		return c.boolExpr(x.BoolExpr)
	case *pg.Node_FuncCall:
		return c.funcCall(x.FuncCall)
	case *pg.Node_TypeCast:
		return &ast.Cast{Loc: ast.At(x.TypeCast.Location), Arg: c.expr(x.TypeCast.Arg), Type: c.typeName(x.TypeCast.TypeName)}
	case *pg.Node_SubLink:
		return c.subLink(x.SubLink)
	case *pg.Node_NullTest:
		return c.nullTest(x.NullTest)
	case *pg.Node_BooleanTest:
		return c.booleanTest(x.BooleanTest)
	case *pg.Node_CaseExpr:
		return c.caseExpr(x.CaseExpr)
	case *pg.Node_CoalesceExpr:
		return &ast.Coalesce{Loc: ast.At(x.CoalesceExpr.Location), Args: c.exprs(x.CoalesceExpr.Args)}
	case *pg.Node_MinMaxExpr:
		return c.minMax(x.MinMaxExpr)
	case *pg.Node_AArrayExpr:
		return &ast.Array{Loc: ast.At(x.AArrayExpr.Location), Elems: c.exprs(x.AArrayExpr.Elements)}
	case *pg.Node_RowExpr:
		return c.row(x.RowExpr)
	case *pg.Node_AIndirection:
		return c.indirection(x.AIndirection)
	case *pg.Node_CollateClause:
		return &ast.Collate{
			Loc: ast.At(x.CollateClause.Location), Arg: c.expr(x.CollateClause.Arg),
			Collation: c.name(x.CollateClause.Collname, x.CollateClause.Location, "COLLATE"),
		}
	case *pg.Node_SqlvalueFunction:
		return c.sqlValue(x.SqlvalueFunction)
	case *pg.Node_GroupingFunc:
		return &ast.Grouping{Loc: ast.At(x.GroupingFunc.Location), Args: c.exprs(x.GroupingFunc.Args)}
	case *pg.Node_SetToDefault:
		return &ast.Default{Loc: ast.At(x.SetToDefault.Location)}
	case *pg.Node_CurrentOfExpr:
		return &ast.CurrentOf{Loc: ast.At(ast.NoPos), Cursor: x.CurrentOfExpr.CursorName}
	case *pg.Node_NamedArgExpr:
		c.refuse(x.NamedArgExpr.Argnumber != -1, x.NamedArgExpr.Location, "argument number")
		return &ast.NamedArg{Loc: ast.At(x.NamedArgExpr.Location), Name: x.NamedArgExpr.Name, Value: c.expr(x.NamedArgExpr.Arg)}
	}
	c.refuseExpr(n)
	return nil
}

// refuseExpr names what an expression of an unsupported kind is, in SQL's words where there are some.
func (c *converter) refuseExpr(n *pg.Node) {
	switch x := n.GetNode().(type) {
	case *pg.Node_XmlExpr:
		c.unsupported(x.XmlExpr.Location, "XML expression")
	case *pg.Node_XmlSerialize:
		c.unsupported(x.XmlSerialize.Location, "XMLSERIALIZE")
	default:
		c.unknown(n, "expression")
	}
}

func (c *converter) columnRef(r *pg.ColumnRef) ast.Expr {
	out := &ast.ColumnRef{Loc: ast.At(r.Location), Parts: make([]string, 0, len(r.Fields))}
	for i, f := range r.Fields {
		if _, ok := f.GetNode().(*pg.Node_AStar); ok {
			if i != len(r.Fields)-1 {
				c.failAt(r.Location, sqlerr.SyntaxError, "improper use of \"*\"")
			}
			out.Star = true
			continue
		}
		out.Parts = append(out.Parts, c.str(f, "column reference"))
	}
	return out
}

// isSpineOp says whether e is a binary operator as ast.Op has it.
func isSpineOp(e *pg.A_Expr) bool {
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP, pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE, pg.A_Expr_Kind_AEXPR_SIMILAR:
		return e.Lexpr != nil && e.Lexpr.Node != nil
	}
	return false
}

// leftOp returns the binary operator that is e's left operand, or nil.
func leftOp(e *pg.A_Expr) *pg.A_Expr {
	if x, ok := e.Lexpr.GetNode().(*pg.Node_AExpr); ok && isSpineOp(x.AExpr) {
		return x.AExpr
	}
	return nil
}

func (c *converter) operator(e *pg.A_Expr) ast.Expr {
	if !isSpineOp(e) {
		return c.otherOperator(e)
	}
	below := leftOp(e)
	if below == nil {
		return &ast.Op{Loc: ast.At(e.Location), Op: c.spineName(e), Left: c.expr(e.Lexpr), Right: c.expr(e.Rexpr)}
	}
	spine := []*pg.A_Expr{e}
	for ; below != nil; below = leftOp(below) {
		spine = append(spine, below)
	}
	last := len(spine) - 1
	out := &ast.OpChain{Loc: ast.At(e.Location), First: c.expr(spine[last].Lexpr), Terms: make([]ast.OpTerm, 0, last+1)}
	for i := last; i >= 0; i-- {
		x := spine[i]
		out.Terms = append(out.Terms, ast.OpTerm{Loc: ast.At(x.Location), Op: c.spineName(x), Right: c.expr(x.Rexpr)})
	}
	return out
}

// spineName returns a binary operator's name; LIKE and its like must have the names that ast.Op documents.
func (c *converter) spineName(e *pg.A_Expr) ast.Name {
	n := c.name(e.Name, e.Location, "operator")
	want := ""
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_LIKE:
		want = "~~"
	case pg.A_Expr_Kind_AEXPR_ILIKE:
		want = "~~*"
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		want = "~"
	default:
		return n
	}
	c.refuse(n.Schema != "" || n.Name != want && n.Name != "!"+want, e.Location, "operator "+n.Name+" in "+e.Kind.String())
	return n
}

// otherOperator converts what the parser keeps in an A_Expr but is no binary operator.
func (c *converter) otherOperator(e *pg.A_Expr) ast.Expr {
	loc := ast.At(e.Location)
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		return &ast.Op{Loc: loc, Op: c.name(e.Name, e.Location, "operator"), Right: c.expr(e.Rexpr)}
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return &ast.OpAny{
			Loc: loc, Op: c.name(e.Name, e.Location, "operator"), Left: c.expr(e.Lexpr), Right: c.expr(e.Rexpr),
			All: e.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL,
		}
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		c.expectOp(e, "=")
		return &ast.IsDistinct{
			Loc: loc, Left: c.expr(e.Lexpr), Right: c.expr(e.Rexpr),
			Not: e.Kind == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT,
		}
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		c.expectOp(e, "=")
		return &ast.NullIf{Loc: loc, Left: c.expr(e.Lexpr), Right: c.expr(e.Rexpr)}
	case pg.A_Expr_Kind_AEXPR_IN:
		return c.inList(e)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return c.between(e)
	}
	c.unsupported(e.Location, "expression kind "+e.Kind.String())
	return nil
}

// expectOp checks an operator name that the node's kind implies.
func (c *converter) expectOp(e *pg.A_Expr, want string) {
	if n := c.name(e.Name, e.Location, "operator"); c.err == nil && (n.Name != want || n.Schema != "") {
		c.unsupported(e.Location, "operator "+n.String()+" in "+e.Kind.String())
	}
}

func (c *converter) inList(e *pg.A_Expr) ast.Expr {
	n := c.name(e.Name, e.Location, "operator")
	if n.Name != "=" && n.Name != "<>" || n.Schema != "" {
		c.unsupported(e.Location, "operator "+n.String()+" in IN")
	}
	return &ast.In{
		Loc: ast.At(e.Location), Left: c.expr(e.Lexpr), List: c.exprs(c.items(e.Rexpr, "IN list")), Not: n.Name == "<>",
	}
}

func (c *converter) between(e *pg.A_Expr) ast.Expr {
	out := &ast.Between{Loc: ast.At(e.Location), Arg: c.expr(e.Lexpr)}
	word := "BETWEEN"
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		out.Not, word = true, "NOT BETWEEN"
	case pg.A_Expr_Kind_AEXPR_BETWEEN_SYM:
		out.Symmetric, word = true, "BETWEEN SYMMETRIC"
	case pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		out.Not, out.Symmetric, word = true, true, "NOT BETWEEN SYMMETRIC"
	}
	c.expectOp(e, word)
	bounds := c.items(e.Rexpr, "BETWEEN")
	if c.err == nil && len(bounds) != 2 {
		c.unsupported(e.Location, "BETWEEN with other than two bounds")
	}
	if c.err != nil {
		return nil
	}
	out.Low, out.High = c.expr(bounds[0]), c.expr(bounds[1])
	return out
}

func (c *converter) boolExpr(e *pg.BoolExpr) ast.Expr {
	loc := ast.At(e.Location)
	switch e.Boolop {
	case pg.BoolExprType_AND_EXPR:
		return &ast.BoolExpr{Loc: loc, Op: ast.And, Args: c.exprs(e.Args)}
	case pg.BoolExprType_OR_EXPR:
		return &ast.BoolExpr{Loc: loc, Op: ast.Or, Args: c.exprs(e.Args)}
	case pg.BoolExprType_NOT_EXPR:
		if len(e.Args) == 1 {
			return &ast.Not{Loc: loc, Arg: c.expr(e.Args[0])}
		}
	}
	c.unsupported(e.Location, "boolean expression "+e.Boolop.String())
	return nil
}

func (c *converter) funcCall(f *pg.FuncCall) *ast.FuncCall {
	out := &ast.FuncCall{
		Loc: ast.At(f.Location), Name: c.name(f.Funcname, f.Location, "function name"), Args: c.exprs(f.Args),
		OrderBy: c.sortItems(f.AggOrder), Filter: c.exprOrNil(f.AggFilter), WithinGroup: f.AggWithinGroup,
		Star: f.AggStar, Distinct: f.AggDistinct, Variadic: f.FuncVariadic,
	}
	switch f.Funcformat {
	case pg.CoercionForm_COERCE_EXPLICIT_CALL:
	case pg.CoercionForm_COERCE_SQL_SYNTAX:
		out.SQLSyntax = true
		c.refuse(out.Name.Name == "system_user", f.Location, "SYSTEM_USER")
	default:
		c.unsupported(f.Location, "function format "+f.Funcformat.String())
	}
	if f.Over != nil {
		out.Over = c.window(f.Over)
	}
	return out
}

func (c *converter) subLink(s *pg.SubLink) ast.Expr {
	out := &ast.SubLink{Loc: ast.At(s.Location)}
	switch s.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		out.Kind = ast.SubExists
	case pg.SubLinkType_ANY_SUBLINK:
		out.Kind = ast.SubAny
	case pg.SubLinkType_ALL_SUBLINK:
		out.Kind = ast.SubAll
	case pg.SubLinkType_EXPR_SUBLINK:
		out.Kind = ast.SubScalar
	case pg.SubLinkType_ARRAY_SUBLINK:
		out.Kind = ast.SubArray
	default:
		c.unsupported(s.Location, "subquery kind "+s.SubLinkType.String())
		return nil
	}
	if out.Kind == ast.SubAny || out.Kind == ast.SubAll {
		out.Test = c.expr(s.Testexpr)
		if len(s.OperName) == 0 {
			c.refuse(out.Kind == ast.SubAll, s.Location, "ALL without an operator")
			out.InSyntax = true
			out.Op = ast.Name{Loc: ast.At(s.Location), Name: "="}
		} else {
			out.Op = c.name(s.OperName, s.Location, "operator")
		}
	} else {
		c.refuse(s.Testexpr != nil || len(s.OperName) > 0, s.Location, "test expression of "+s.SubLinkType.String())
	}
	out.Query = c.subquery(s.Subselect)
	return out
}

func (c *converter) nullTest(t *pg.NullTest) ast.Expr {
	out := &ast.IsNull{Loc: ast.At(t.Location), Arg: c.expr(t.Arg)}
	switch t.Nulltesttype {
	case pg.NullTestType_IS_NULL:
	case pg.NullTestType_IS_NOT_NULL:
		out.Not = true
	default:
		c.unsupported(t.Location, "null test "+t.Nulltesttype.String())
	}
	return out
}

func (c *converter) booleanTest(t *pg.BooleanTest) ast.Expr {
	out := &ast.IsBool{Loc: ast.At(t.Location), Arg: c.expr(t.Arg)}
	switch t.Booltesttype {
	case pg.BoolTestType_IS_TRUE:
		out.Test = ast.IsTrue
	case pg.BoolTestType_IS_NOT_TRUE:
		out.Test = ast.IsNotTrue
	case pg.BoolTestType_IS_FALSE:
		out.Test = ast.IsFalse
	case pg.BoolTestType_IS_NOT_FALSE:
		out.Test = ast.IsNotFalse
	case pg.BoolTestType_IS_UNKNOWN:
		out.Test = ast.IsUnknown
	case pg.BoolTestType_IS_NOT_UNKNOWN:
		out.Test = ast.IsNotUnknown
	default:
		c.unsupported(t.Location, "boolean test "+t.Booltesttype.String())
	}
	return out
}

func (c *converter) caseExpr(e *pg.CaseExpr) ast.Expr {
	out := &ast.Case{Loc: ast.At(e.Location), Arg: c.exprOrNil(e.Arg), Whens: make([]ast.When, 0, len(e.Args))}
	for _, n := range e.Args {
		w, ok := n.GetNode().(*pg.Node_CaseWhen)
		if !ok {
			c.unknown(n, "CASE")
			return nil
		}
		out.Whens = append(out.Whens, ast.When{
			Loc: ast.At(w.CaseWhen.Location), Cond: c.expr(w.CaseWhen.Expr), Result: c.expr(w.CaseWhen.Result),
		})
	}
	out.Else = c.exprOrNil(e.Defresult)
	return out
}

func (c *converter) minMax(e *pg.MinMaxExpr) ast.Expr {
	out := &ast.MinMax{Loc: ast.At(e.Location), Args: c.exprs(e.Args)}
	switch e.Op {
	case pg.MinMaxOp_IS_GREATEST:
		out.Greatest = true
	case pg.MinMaxOp_IS_LEAST:
	default:
		c.unsupported(e.Location, "expression "+e.Op.String())
	}
	return out
}

func (c *converter) row(r *pg.RowExpr) ast.Expr {
	out := &ast.Row{Loc: ast.At(r.Location), Args: c.exprs(r.Args)}
	switch r.RowFormat {
	case pg.CoercionForm_COERCE_EXPLICIT_CALL:
		out.Explicit = true
	case pg.CoercionForm_COERCE_IMPLICIT_CAST:
	default:
		c.unsupported(r.Location, "row format "+r.RowFormat.String())
	}
	return out
}

func (c *converter) indirection(e *pg.A_Indirection) ast.Expr {
	arg := c.expr(e.Arg)
	off := int32(ast.NoPos)
	if arg != nil {
		off = arg.Pos()
	}
	return &ast.Indirection{Loc: ast.At(off), Arg: arg, Steps: c.steps(e.Indirection)}
}

// steps converts what follows an expression or a column: fields, subscripts, a star.
func (c *converter) steps(list []*pg.Node) []ast.Step {
	if len(list) == 0 {
		return nil
	}
	out := make([]ast.Step, 0, len(list))
	for _, n := range list {
		switch x := n.GetNode().(type) {
		case *pg.Node_String_:
			out = append(out, ast.Step{Kind: ast.StepField, Field: x.String_.Sval})
		case *pg.Node_AStar:
			out = append(out, ast.Step{Kind: ast.StepStar})
		case *pg.Node_AIndices:
			s := ast.Step{Kind: ast.StepSubscript, Lower: c.exprOrNil(x.AIndices.Lidx), Upper: c.exprOrNil(x.AIndices.Uidx)}
			if x.AIndices.IsSlice {
				s.Kind = ast.StepSlice
			} else if s.Lower != nil || s.Upper == nil && c.err == nil {
				c.unknown(n, "subscript")
			}
			out = append(out, s)
		default:
			c.unknown(n, "indirection")
			return nil
		}
	}
	return out
}

// sqlValues maps the parser's functions to ours; hasPrecision marks those that carry one.
var sqlValues = map[pg.SQLValueFunctionOp]struct {
	fn           ast.SQLValueFunc
	hasPrecision bool
}{
	pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE:        {ast.CurrentDate, false},
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME:        {ast.CurrentTime, false},
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N:      {ast.CurrentTime, true},
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP:   {ast.CurrentTimestamp, false},
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: {ast.CurrentTimestamp, true},
	pg.SQLValueFunctionOp_SVFOP_LOCALTIME:           {ast.LocalTime, false},
	pg.SQLValueFunctionOp_SVFOP_LOCALTIME_N:         {ast.LocalTime, true},
	pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:      {ast.LocalTimestamp, false},
	pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:    {ast.LocalTimestamp, true},
	pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:        {ast.CurrentRole, false},
	pg.SQLValueFunctionOp_SVFOP_CURRENT_USER:        {ast.CurrentUser, false},
	pg.SQLValueFunctionOp_SVFOP_USER:                {ast.User, false},
	pg.SQLValueFunctionOp_SVFOP_SESSION_USER:        {ast.SessionUser, false},
	pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:     {ast.CurrentCatalog, false},
	pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:      {ast.CurrentSchema, false},
}

func (c *converter) sqlValue(f *pg.SQLValueFunction) ast.Expr {
	v, ok := sqlValues[f.Op]
	if !ok {
		c.unsupported(f.Location, "function "+f.Op.String())
		return nil
	}
	out := &ast.SQLValue{Loc: ast.At(f.Location), Func: v.fn, Precision: -1}
	if v.hasPrecision {
		out.Precision = f.Typmod
	}
	c.refuse(v.hasPrecision == (f.Typmod < 0) || f.Typmod < -1, f.Location, "precision of "+f.Op.String())
	return out
}
