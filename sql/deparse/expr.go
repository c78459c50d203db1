package deparse

import (
	"fmt"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// expr prints an expression; implicit casts are left out.
func (p *printer) expr(e plan.Expr) { p.exprShow(e, false) }

// exprShow prints an expression, with its implicit casts when showImplicit.
func (p *printer) exprShow(e plan.Expr, showImplicit bool) {
	if !p.enter() {
		return
	}
	defer p.leave()
	switch x := e.(type) {
	case *plan.Const:
		p.constant(x, labelIfNeeded)
	case *plan.Param:
		p.put(fmt.Sprintf("$%d", x.Index+1))
	case *plan.Var:
		p.variable(x)
	case *plan.FuncCall:
		p.call(x, showImplicit)
	case *plan.Relabel:
		p.relabel(x, showImplicit)
	case *plan.CoerceViaIO:
		p.coercion(x.Arg, x.Form, x, showImplicit)
	case *plan.ArrayCoerce:
		p.coercion(x.Arg, x.Form, x, showImplicit)
	case *plan.CoerceToDomain:
		p.coercion(x.Arg, x.Form, x, showImplicit)
	case *plan.BoolExpr:
		p.boolean(x)
	case *plan.NullTest:
		p.nullTest(x)
	case *plan.BooleanTest:
		p.open()
		p.operand(x.Arg, false, x)
		p.put([...]string{" IS TRUE", " IS NOT TRUE", " IS FALSE", " IS NOT FALSE", " IS UNKNOWN", " IS NOT UNKNOWN"}[x.Kind])
		p.close()
	case *plan.DistinctExpr:
		p.distinct(x)
	case *plan.NullIf:
		p.put("NULLIF(")
		p.list(x.Args, true)
		p.put(")")
	case *plan.ScalarArrayOp:
		p.scalarArray(x)
	case *plan.Case:
		p.caseExpr(x)
	default:
		p.exprRare(e)
	}
}

func (p *printer) exprRare(e plan.Expr) {
	switch x := e.(type) {
	case *plan.CaseTest:
		if len(p.caseTest) == 0 {
			p.put("CASE_TEST_EXPR")
			return
		}
		p.put(p.caseTest[len(p.caseTest)-1])
	case *plan.Coalesce:
		p.put("COALESCE(")
		p.list(x.Args, true)
		p.put(")")
	case *plan.MinMax:
		name := "GREATEST("
		if x.Least {
			name = "LEAST("
		}
		p.put(name)
		p.list(x.Args, true)
		p.put(")")
	case *plan.ArrayExpr:
		p.put("ARRAY[")
		p.list(x.Args, true)
		p.put("]")
		if len(x.Args) == 0 {
			p.put("::" + p.typeName(x.Type, -1))
		}
	case *plan.RowExpr:
		p.row(x)
	case *plan.RowCompare:
		p.put("(ROW(")
		p.list(x.Left, true)
		p.put(") " + p.operator(x.Ops[0]) + " ROW(")
		p.list(x.Right, true)
		p.put("))")
	case *plan.Subscript:
		p.subscript(x)
	case *plan.FieldSelect:
		p.fieldSelect(x)
	case *plan.SQLValue:
		p.sqlValue(x)
	case *plan.NextValue:
		p.nextValue(x)
	case *plan.SetToDefault:
		p.put("DEFAULT")
	case *plan.Aggref:
		p.aggregate(x)
	case *plan.GroupingFunc:
		p.grouping(x)
	case *plan.WindowFunc:
		p.windowFunc(x)
	case *plan.SubLink:
		p.subLink(x)
	case *plan.SubOut:
		if n := len(p.subOut); n > 0 && x.Col < len(p.subOut[n-1]) {
			p.put(p.subOut[n-1][x.Col])
		}
	default:
		p.unsupported(fmt.Sprintf("%T", e))
	}
}

// list prints expressions with commas between them.
func (p *printer) list(list []plan.Expr, showImplicit bool) {
	for i, e := range list {
		if i > 0 {
			p.put(", ")
		}
		p.exprShow(e, showImplicit)
	}
}

// variable prints a column reference.
func (p *printer) variable(v *plan.Var) {
	if len(p.levels) == 0 {
		if p.rel == nil || v.RTE != 0 {
			p.fail(sqlerr.Internal("column reference outside a table"))
			return
		}
		p.put(p.relColumn(p.rel, v.Attno))
		return
	}
	i := len(p.levels) - 1 - v.LevelsUp
	if i < 0 || v.RTE >= len(p.levels[i].q.RTable) {
		p.fail(sqlerr.Internal("column reference to range table entry %d, %d levels up", v.RTE, v.LevelsUp))
		return
	}
	l := p.levels[i]
	p.sawVar = p.sawVar || v.LevelsUp == 0
	r := l.q.RTable[v.RTE]
	if r.Kind == plan.RTEJoin && !r.HasAlias && v.Attno > 0 && v.Attno <= len(r.JoinVars) {
		p.joinVar(l, i, r.JoinVars[v.Attno-1])
		return
	}
	name := l.names[v.RTE]
	switch {
	case v.Attno == 0:
		p.put(quote(name) + ".*")
		return
	case v.Attno > 0 && v.Attno <= len(r.Cols):
		if name != "" {
			p.put(quote(name) + ".")
		}
		p.put(quote(l.cols[v.RTE][v.Attno-1]))
		return
	case v.Attno < 0 && r.Rel != nil:
		p.put(quote(name) + "." + p.relColumn(r.Rel, v.Attno))
		return
	}
	p.fail(sqlerr.Internal("column %d of \"%s\" does not exist", v.Attno, name))
}

// joinVar prints what a column of a join without alias stands for, in the query it belongs to.
func (p *printer) joinVar(l *level, i int, e plan.Expr) {
	saved := p.levels
	p.levels = p.levels[:i+1]
	p.expr(e)
	p.levels = saved
}

// relColumn is the name of a table's column, or of a system column.
func (p *printer) relColumn(rel *catalog.Relation, attno int) string {
	switch attno {
	case 0:
		return quote(rel.Name) + ".*"
	case -1:
		return "ctid"
	case -2:
		return "xmin"
	case -3:
		return "cmin"
	case -4:
		return "xmax"
	case -5:
		return "cmax"
	case -6:
		return "tableoid"
	}
	if c := rel.Column(int16(attno)); c != nil {
		if c.Name == DomainValue && len(rel.Columns) == 1 && rel.OID == 0 {
			return c.Name
		}
		return quote(c.Name)
	}
	p.fail(sqlerr.Internal("column %d of relation \"%s\" does not exist", attno, rel.Name))
	return ""
}

// relabel prints a cast without effect on the value, or COLLATE.
func (p *printer) relabel(x *plan.Relabel, showImplicit bool) {
	if isCollate(x) {
		p.open()
		p.operand(x.Arg, showImplicit, x)
		p.put(" COLLATE " + p.collation(x.Collation))
		p.close()
		return
	}
	p.coercion(x.Arg, x.Form, x, showImplicit)
}

// coercion prints a cast, or its argument alone when it is implicit.
func (p *printer) coercion(arg plan.Expr, form plan.CallForm, cast plan.Expr, showImplicit bool) {
	if form == plan.FormImplicitCast && !showImplicit {
		p.operand(arg, false, cast)
		return
	}
	p.castTo(arg, cast)
}

// castTo is get_coercion_expr.
func (p *printer) castTo(arg, cast plan.Expr) {
	t := cast.T()
	if c, ok := arg.(*plan.Const); ok && c.Type == t.Type && c.Typmod == -1 {
		p.constant(c, labelNever)
	} else {
		p.open()
		p.operand(arg, false, cast)
		p.close()
	}
	p.put("::" + p.typeName(t.Type, t.Typmod))
}

func (p *printer) boolean(x *plan.BoolExpr) {
	p.open()
	if x.Kind == plan.Not {
		p.put("NOT ")
		p.operand(x.Args[0], false, x)
		p.close()
		return
	}
	word := " AND "
	if x.Kind == plan.Or {
		word = " OR "
	}
	for i, a := range x.Args {
		if i > 0 {
			p.put(word)
		}
		p.operand(a, false, x)
	}
	p.close()
}

func (p *printer) nullTest(x *plan.NullTest) {
	p.open()
	p.operand(x.Arg, true, x)
	if x.Not {
		p.put(" IS NOT NULL")
	} else {
		p.put(" IS NULL")
	}
	p.close()
}

func (p *printer) distinct(x *plan.DistinctExpr) {
	if x.Not {
		p.open()
		p.put("NOT ")
	}
	p.open()
	p.operand(x.Args[0], true, x)
	p.put(" IS DISTINCT FROM ")
	p.operand(x.Args[1], true, x)
	p.close()
	if x.Not {
		p.close()
	}
}

func (p *printer) scalarArray(x *plan.ScalarArrayOp) {
	p.open()
	p.operand(x.Args[0], true, x)
	word := " ALL ("
	if x.UseOr {
		word = " ANY ("
	}
	p.put(" " + p.operator(x.Op) + word)
	p.operand(x.Args[1], true, x)
	// A bare subquery would be read as ANY over its rows.
	if s, ok := x.Args[1].(*plan.SubLink); ok && s.Kind == plan.SubScalar {
		p.put("::" + p.typeName(s.Type, s.Typmod))
	}
	p.put(")")
	p.close()
}

func (p *printer) caseExpr(x *plan.Case) {
	p.keyword("CASE", 0, indentVar, 0)
	if x.Arg != nil {
		p.put(" ")
		p.exprShow(x.Arg, true)
	}
	for _, w := range x.Whens {
		p.keyword("WHEN ", 0, 0, 0)
		p.whenCond(x, w.Cond)
		p.put(" THEN ")
		p.exprShow(w.Result, true)
	}
	p.keyword("ELSE ", 0, 0, 0)
	if x.Default != nil {
		p.exprShow(x.Default, true)
	} else {
		p.put("NULL::" + p.typeName(x.Type, x.Typmod))
	}
	p.keyword("END", -indentVar, 0, 0)
}

// whenCond prints a WHEN condition: of a simple CASE, what CaseTest is compared to.
func (p *printer) whenCond(x *plan.Case, cond plan.Expr) {
	if x.Arg == nil {
		p.expr(cond)
		return
	}
	// The comparison may be under implicit casts to boolean.
	w := cond
	if call, ok := w.(*plan.FuncCall); ok && len(call.Args) == 2 && isCaseTest(call.Args[0]) {
		p.expr(call.Args[1])
		return
	}
	p.caseTest = append(p.caseTest, "CASE_TEST_EXPR")
	p.expr(cond)
	p.caseTest = p.caseTest[:len(p.caseTest)-1]
}

// isCaseTest looks through implicit casts.
func isCaseTest(e plan.Expr) bool {
	switch x := e.(type) {
	case *plan.CaseTest:
		return true
	case *plan.Relabel:
		return x.Form == plan.FormImplicitCast && isCaseTest(x.Arg)
	case *plan.CoerceViaIO:
		return x.Form == plan.FormImplicitCast && isCaseTest(x.Arg)
	case *plan.FuncCall:
		return x.Form == plan.FormImplicitCast && len(x.Args) > 0 && isCaseTest(x.Args[0])
	}
	return false
}

func (p *printer) row(x *plan.RowExpr) {
	p.put("ROW(")
	p.list(x.Args, true)
	p.put(")")
	if x.Type != types.RecordOID {
		p.put("::" + p.typeName(x.Type, -1))
	}
}

func (p *printer) subscript(x *plan.Subscript) {
	bracket := true
	switch x.Container.(type) {
	case *plan.Var, *plan.FieldSelect:
		bracket = false
	}
	if bracket {
		p.put("(")
	}
	p.exprShow(x.Container, true)
	if bracket {
		p.put(")")
	}
	for i, u := range x.Upper {
		p.put("[")
		if x.Slice {
			if i < len(x.Lower) && x.Lower[i] != nil {
				p.expr(x.Lower[i])
			}
			p.put(":")
		}
		if u != nil {
			p.expr(u)
		}
		p.put("]")
	}
	if x.Assign != nil {
		p.unsupported("a subscripted assignment")
	}
}

func (p *printer) fieldSelect(x *plan.FieldSelect) {
	bracket := true
	switch x.Arg.(type) {
	case *plan.Subscript, *plan.FieldSelect:
		bracket = false
	}
	if bracket {
		p.put("(")
	}
	p.exprShow(x.Arg, true)
	if bracket {
		p.put(")")
	}
	p.put("." + quote(x.Name))
}

func (p *printer) sqlValue(x *plan.SQLValue) {
	if x.User {
		p.put("USER")
		return
	}
	words := [...]string{"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "CURRENT_ROLE",
		"CURRENT_USER", "SESSION_USER", "CURRENT_CATALOG", "CURRENT_SCHEMA"}
	p.put(words[x.Kind])
	switch x.Kind {
	case plan.CurrentTime, plan.CurrentTimestamp, plan.LocalTime, plan.LocalTimestamp:
		if x.Typmod >= 0 {
			p.put(fmt.Sprintf("(%d)", x.Typmod))
		}
	}
}

func (p *printer) nextValue(x *plan.NextValue) {
	rel, err := p.env.Cat.RelationByOID(x.Sequence)
	if err != nil || rel == nil {
		p.fail(sqlerr.Internal("cache lookup failed for sequence %d", x.Sequence))
		return
	}
	p.put("nextval(" + Literal(p.relation(rel)) + "::regclass)")
}

// subLink is get_sublink_expr.
func (p *printer) subLink(x *plan.SubLink) {
	switch x.Kind {
	case plan.SubArray:
		p.put("ARRAY(")
	default:
		p.put("(")
	}
	switch x.Kind {
	case plan.SubExists:
		p.put("EXISTS ")
	case plan.SubAny, plan.SubAll, plan.SubRowCompare:
		p.subTest(x)
	case plan.SubMulti:
		p.unsupported("a multiple assignment")
	}
	bracket := x.Kind == plan.SubExists || x.Kind == plan.SubAny || x.Kind == plan.SubAll || x.Kind == plan.SubRowCompare
	if bracket {
		p.put("(")
	}
	p.query(x.Query, nil, false)
	if bracket {
		p.put(")")
	}
	p.put(")")
}

// subTest prints the left side and operator of ANY, ALL and a row comparison.
func (p *printer) subTest(x *plan.SubLink) {
	lefts := leftOperands(x.Test)
	if len(lefts) == 0 {
		p.unsupported("the test of a subquery")
		return
	}
	if len(lefts) > 1 {
		p.put("(")
	}
	p.list(lefts, true)
	if len(lefts) > 1 {
		p.put(")")
	}
	switch {
	case x.Kind == plan.SubAny && (x.OpName == "=" || x.OpName == ""):
		p.put(" IN ")
	case x.Kind == plan.SubAny:
		p.put(" " + x.OpName + " ANY ")
	case x.Kind == plan.SubAll:
		p.put(" " + x.OpName + " ALL ")
	default:
		p.put(" " + x.OpName + " ")
	}
}

// leftOperands finds the outer operands of a test over a subquery's columns.
func leftOperands(e plan.Expr) []plan.Expr {
	switch x := e.(type) {
	case *plan.FuncCall:
		if len(x.Args) == 2 {
			return x.Args[:1]
		}
	case *plan.DistinctExpr:
		return x.Args[:1]
	case *plan.RowCompare:
		return x.Left
	case *plan.BoolExpr:
		var out []plan.Expr
		for _, a := range x.Args {
			out = append(out, leftOperands(a)...)
		}
		return out
	case *plan.Relabel:
		return leftOperands(x.Arg)
	}
	return nil
}
