package deparse

import (
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// call prints a function call in the form it was written in.
func (p *printer) call(x *plan.FuncCall, showImplicit bool) {
	switch x.Form {
	case plan.FormOperator:
		p.operatorCall(x)
		return
	case plan.FormImplicitCast:
		p.coercion(x.Args[0], x.Form, x, showImplicit)
		return
	case plan.FormExplicitCast:
		p.castTo(x.Args[0], x)
		return
	case plan.FormSQLSyntax:
		if p.sqlSyntax(x) {
			return
		}
	}
	f := p.proc(x.Func)
	p.put(p.procName(f) + "(")
	for i, a := range x.Args {
		if i > 0 {
			p.put(", ")
		}
		if x.Variadic && i == len(x.Args)-1 {
			p.put("VARIADIC ")
		}
		p.exprShow(a, true)
	}
	p.put(")")
}

func (p *printer) operatorCall(x *plan.FuncCall) {
	p.open()
	if len(x.Args) == 2 {
		p.operand(x.Args[0], true, x)
		p.put(" " + p.operator(x.Op) + " ")
		p.operand(x.Args[1], true, x)
	} else {
		p.put(p.operator(x.Op) + " ")
		p.operand(x.Args[0], true, x)
	}
	p.close()
}

// sqlSyntax prints a call in SQL's own syntax; false when the function has none.
func (p *printer) sqlSyntax(x *plan.FuncCall) bool {
	f := p.proc(x.Func)
	if f.Namespace != pgdata.CatalogSchema {
		return false
	}
	arg := func(i int) { p.exprShow(x.Args[i], false) }
	word := func(s string) { p.put(s) }
	n := len(x.Args)
	switch {
	case f.Name == "timezone" && n == 2:
		word("(")
		p.operand(x.Args[1], false, x)
		word(" AT TIME ZONE ")
		p.operand(x.Args[0], false, x)
		word(")")
	case f.Name == "overlaps" && n == 4:
		word("((")
		arg(0)
		word(", ")
		arg(1)
		word(") OVERLAPS (")
		arg(2)
		word(", ")
		arg(3)
		word("))")
	case f.Name == "extract" && n == 2:
		field, ok := x.Args[0].(*plan.Const)
		if !ok || field.Value.Null {
			return false
		}
		word("EXTRACT(" + string(field.Value.B) + " FROM ")
		arg(1)
		word(")")
	case f.Name == "overlay" && (n == 3 || n == 4):
		p.clauses(x, "OVERLAY(", " PLACING ", " FROM ", " FOR ")
	case f.Name == "substring" && (n == 2 || n == 3) && x.Args[1].T().Type == types.Int4OID:
		p.clauses(x, "SUBSTRING(", " FROM ", " FOR ")
	case f.Name == "substring" && n == 3:
		p.clauses(x, "SUBSTRING(", " SIMILAR ", " ESCAPE ")
	case f.Name == "position" && n == 2:
		word("POSITION((")
		arg(1)
		word(") IN (")
		arg(0)
		word("))")
	case f.Name == "normalize":
		word("NORMALIZE(")
		arg(0)
		if c, ok := constText(x.Args, 1); ok {
			word(", " + c)
		}
		word(")")
	case f.Name == "is_normalized":
		word("((")
		arg(0)
		word(") IS")
		if c, ok := constText(x.Args, 1); ok {
			word(" " + c)
		}
		word(" NORMALIZED)")
	case f.Name == "pg_collation_for":
		word("COLLATION FOR (")
		arg(0)
		word(")")
	default:
		return p.trim(x, f)
	}
	return true
}

// clauses prints head, the first argument, and each other argument after its word.
func (p *printer) clauses(x *plan.FuncCall, head string, words ...string) {
	p.put(head)
	p.exprShow(x.Args[0], false)
	for i, a := range x.Args[1:] {
		p.put(words[i])
		p.exprShow(a, false)
	}
	p.put(")")
}

// trim prints TRIM.
func (p *printer) trim(x *plan.FuncCall, f *catalog.Proc) bool {
	words := map[string]string{"btrim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}
	w := words[f.Name]
	if w == "" || len(x.Args) < 1 || len(x.Args) > 2 {
		return false
	}
	p.put("TRIM(" + w)
	if len(x.Args) == 2 {
		p.put(" ")
		p.exprShow(x.Args[1], false)
	}
	p.put(" FROM ")
	p.exprShow(x.Args[0], false)
	p.put(")")
	return true
}

func constText(args []plan.Expr, i int) (string, bool) {
	if i >= len(args) {
		return "", false
	}
	c, ok := args[i].(*plan.Const)
	if !ok || c.Value.Null {
		return "", false
	}
	return string(c.Value.B), true
}

// aggregate is get_agg_expr.
func (p *printer) aggregate(x *plan.Aggref) {
	f := p.proc(x.Agg)
	p.put(p.procName(f) + "(")
	if x.Distinct {
		p.put("DISTINCT ")
	}
	if x.Kind == 'o' || x.Kind == 'h' {
		p.list(x.Direct, true)
		p.put(") WITHIN GROUP (ORDER BY ")
		p.sortKeys(x.OrderBy)
	} else {
		if x.Star {
			p.put("*")
		}
		for i, a := range x.Args {
			if i > 0 {
				p.put(", ")
			}
			if x.Variadic && i == len(x.Args)-1 {
				p.put("VARIADIC ")
			}
			p.exprShow(a, true)
		}
		if len(x.OrderBy) > 0 {
			p.put(" ORDER BY ")
			p.sortKeys(x.OrderBy)
		}
	}
	p.put(")")
	p.filter(x.Filter)
}

func (p *printer) filter(e plan.Expr) {
	if e != nil {
		p.put(" FILTER (WHERE ")
		p.expr(e)
		p.put(")")
	}
}

// sortKeys prints an ORDER BY list without its keyword.
func (p *printer) sortKeys(keys []plan.SortKey) {
	for i, k := range keys {
		if i > 0 {
			p.put(", ")
		}
		p.sortExpr(k.Expr)
		p.sortOrder(k)
	}
}

// sortExpr prints what is sorted or grouped by: a constant shows its type, since a bare number would be a column's position.
func (p *printer) sortExpr(e plan.Expr) {
	switch x := e.(type) {
	case *plan.Const:
		p.constant(x, labelAlways)
	case *plan.Var:
		p.expr(x)
	case *plan.FuncCall:
		if x.Form == plan.FormOperator && !p.env.Pretty {
			p.exprShow(e, true)
			return
		}
		p.bracketed(e)
	case *plan.Aggref, *plan.WindowFunc:
		p.bracketed(e)
	default:
		if p.env.Pretty {
			p.bracketed(e)
			return
		}
		p.exprShow(e, true)
	}
}

func (p *printer) bracketed(e plan.Expr) {
	p.put("(")
	p.exprShow(e, true)
	p.put(")")
}

func (p *printer) sortOrder(k plan.SortKey) {
	if k.Desc {
		p.put(" DESC")
		if !k.NullsFirst {
			p.put(" NULLS LAST")
		}
	} else if k.NullsFirst {
		p.put(" NULLS FIRST")
	}
}

func (p *printer) grouping(x *plan.GroupingFunc) {
	p.put("GROUPING(")
	if l := p.top(); l != nil {
		for i, n := range x.Refs {
			if i > 0 {
				p.put(", ")
			}
			if n < len(l.q.GroupBy) {
				p.expr(l.q.GroupBy[n])
			}
		}
	}
	p.put(")")
}

// windowFunc is get_windowfunc_expr.
func (p *printer) windowFunc(x *plan.WindowFunc) {
	f := p.proc(x.Func)
	p.put(p.procName(f) + "(")
	if x.Star {
		p.put("*")
	} else {
		p.list(x.Args, true)
	}
	p.put(")")
	p.filter(x.Filter)
	p.put(" OVER ")
	l := p.top()
	if l == nil || x.Window >= len(l.q.Windows) {
		p.put("(?)")
		return
	}
	w := l.q.Windows[x.Window]
	if w.Name != "" {
		p.put(quote(w.Name))
		return
	}
	p.windowSpec(w)
}

// windowSpec prints a window's definition in brackets.
func (p *printer) windowSpec(w *plan.Window) {
	p.put("(")
	sep := ""
	if len(w.PartitionBy) > 0 {
		p.put("PARTITION BY ")
		for i, k := range w.PartitionBy {
			if i > 0 {
				p.put(", ")
			}
			p.sortExpr(k.Expr)
		}
		sep = " "
	}
	if len(w.OrderBy) > 0 {
		p.put(sep + "ORDER BY ")
		p.sortKeys(w.OrderBy)
		sep = " "
	}
	if f := &w.Frame; !f.Default {
		p.put(sep)
		p.put(map[byte]string{'o': "ROWS ", 'g': "GROUPS "}[f.Mode])
		if f.Mode != 'o' && f.Mode != 'g' {
			p.put("RANGE ")
		}
		if f.Short {
			p.frameBound(f.Start, f.StartOffset)
		} else {
			p.put("BETWEEN ")
			p.frameBound(f.Start, f.StartOffset)
			p.put(" AND ")
			p.frameBound(f.End, f.EndOffset)
		}
		p.put(map[byte]string{'c': " EXCLUDE CURRENT ROW", 'g': " EXCLUDE GROUP", 't': " EXCLUDE TIES"}[f.Exclude])
	}
	p.put(")")
}

func (p *printer) frameBound(kind byte, offset plan.Expr) {
	switch kind {
	case 'u':
		p.put("UNBOUNDED PRECEDING")
	case 'U':
		p.put("UNBOUNDED FOLLOWING")
	case 'c':
		p.put("CURRENT ROW")
	case 'p':
		p.expr(offset)
		p.put(" PRECEDING")
	case 'f':
		p.expr(offset)
		p.put(" FOLLOWING")
	}
}
