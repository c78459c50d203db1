package planner

import (
	"strconv"
	"strings"

	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

func explainIO() *types.IOContext { return types.NewIOContext() }

// subNumber is the number of a SubPlan: the order in which they are met.
func (x *explainer) subNumber(s *plan.SubPlan) int {
	if x.numbered == nil {
		x.numbered = map[*plan.SubPlan]int{}
	}
	if n, ok := x.numbered[s]; ok {
		return n
	}
	x.subs++
	x.numbered[s] = x.subs
	return x.subs
}

func (x *explainer) exprs(list []plan.Expr, names []string) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = x.expr(e, names)
	}
	return out
}

// cond renders a condition: always in brackets, as PostgreSQL does.
func (x *explainer) cond(e plan.Expr, names []string) string {
	s := x.expr(e, names)
	if b, ok := e.(*plan.BoolExpr); ok && b.Kind == plan.And && !strings.HasPrefix(s, "(") {
		return "(" + s + ")"
	}
	return s
}

func (x *explainer) literal(c *plan.Const) string {
	if c.Value.Null {
		return "NULL::" + x.b.typeNameMod(c.Type, c.Typmod)
	}
	text := string(types.Output(x.b.env.IO, nil, c.Type, c.Value))
	switch c.Type {
	case types.Int4OID, types.NumericOID:
		if strings.HasPrefix(text, "-") {
			return "'" + text + "'::" + x.b.typeName(c.Type)
		}
		return text
	case types.BoolOID:
		if c.Value.I != 0 {
			return "true"
		}
		return "false"
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'::" + x.b.typeNameMod(c.Type, c.Typmod)
}

// expr renders an expression over named columns.
func (x *explainer) expr(e plan.Expr, names []string) string {
	x.depth++
	defer func() { x.depth-- }()
	if x.depth > maxWalkDepth {
		return "..."
	}
	rec := func(a plan.Expr) string { return x.expr(a, names) }
	switch v := e.(type) {
	case nil:
		return ""
	case *plan.Const:
		return x.literal(v)
	case *plan.Param:
		return "$" + strconv.Itoa(v.Index+1)
	case *plan.Slot:
		if v.Index < len(names) {
			return names[v.Index]
		}
		return "column" + strconv.Itoa(v.Index+1)
	case *plan.ExecParam:
		if s, ok := x.params[v.ID]; ok {
			return s
		}
		return "$" + strconv.Itoa(v.ID)
	case *plan.FuncCall:
		return x.call(v, names)
	case *plan.Relabel:
		if v.Form == plan.FormImplicitCast {
			return rec(v.Arg)
		}
		return x.castText(rec(v.Arg), v.Typed)
	case *plan.CoerceViaIO:
		if v.Form == plan.FormImplicitCast {
			return rec(v.Arg)
		}
		return x.castText(rec(v.Arg), v.Typed)
	case *plan.ArrayCoerce:
		return x.castText(rec(v.Arg), v.Typed)
	case *plan.CoerceToDomain:
		return x.castText(rec(v.Arg), v.Typed)
	case *plan.BoolExpr:
		if v.Kind == plan.Not {
			return "(NOT " + rec(v.Args[0]) + ")"
		}
		return "(" + strings.Join(x.exprs(v.Args, names), map[plan.BoolKind]string{plan.And: " AND ", plan.Or: " OR "}[v.Kind]) + ")"
	case *plan.NullTest:
		if v.Not {
			return "(" + rec(v.Arg) + " IS NOT NULL)"
		}
		return "(" + rec(v.Arg) + " IS NULL)"
	case *plan.BooleanTest:
		return "(" + rec(v.Arg) + " " + [...]string{"IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN"}[v.Kind] + ")"
	}
	return x.exprRare(e, names)
}

func (x *explainer) castText(s string, t plan.Typed) string {
	return "(" + s + ")::" + x.b.typeNameMod(t.Type, t.Typmod)
}

func opName(id types.OID) string {
	if o := pgdata.OperatorByOID(id); o != nil {
		return o.Name
	}
	return "?"
}

func (x *explainer) call(v *plan.FuncCall, names []string) string {
	if v.Op != 0 {
		if len(v.Args) == 1 {
			return "(" + opName(v.Op) + " " + x.expr(v.Args[0], names) + ")"
		}
		return "(" + x.expr(v.Args[0], names) + " " + opName(v.Op) + " " + x.expr(v.Args[1], names) + ")"
	}
	switch v.Form {
	case plan.FormImplicitCast:
		return x.expr(v.Args[0], names)
	case plan.FormExplicitCast:
		return x.castText(x.expr(v.Args[0], names), v.Typed)
	}
	return x.funcName(v.Func) + "(" + strings.Join(x.exprs(v.Args, names), ", ") + ")"
}

func (x *explainer) funcName(id types.OID) string {
	if p := pgdata.FuncByOID(id); p != nil {
		return quoteIdent(p.Name)
	}
	if p, err := x.b.cat.FuncByOID(id); err == nil && p != nil {
		return quoteIdent(p.Name)
	}
	return "function " + strconv.Itoa(int(id))
}

func (x *explainer) exprRare(e plan.Expr, names []string) string {
	rec := func(a plan.Expr) string { return x.expr(a, names) }
	list := func(l []plan.Expr) string { return strings.Join(x.exprs(l, names), ", ") }
	switch v := e.(type) {
	case *plan.DistinctExpr:
		op := " IS DISTINCT FROM "
		if v.Not {
			op = " IS NOT DISTINCT FROM "
		}
		return "(" + rec(v.Args[0]) + op + rec(v.Args[1]) + ")"
	case *plan.NullIf:
		return "NULLIF(" + list(v.Args) + ")"
	case *plan.ScalarArrayOp:
		word := "ALL"
		if v.UseOr {
			word = "ANY"
		}
		return "(" + rec(v.Args[0]) + " " + opName(v.Op) + " " + word + " (" + rec(v.Args[1]) + "))"
	case *plan.Case:
		s := "CASE"
		if v.Arg != nil {
			s += " " + rec(v.Arg)
		}
		for _, w := range v.Whens {
			s += " WHEN " + rec(w.Cond) + " THEN " + rec(w.Result)
		}
		if v.Default != nil {
			s += " ELSE " + rec(v.Default)
		}
		return s + " END"
	case *plan.CaseTest:
		return "CASE_TEST_EXPR"
	case *plan.Coalesce:
		return "COALESCE(" + list(v.Args) + ")"
	case *plan.MinMax:
		if v.Least {
			return "LEAST(" + list(v.Args) + ")"
		}
		return "GREATEST(" + list(v.Args) + ")"
	case *plan.ArrayExpr:
		return "ARRAY[" + list(v.Args) + "]"
	case *plan.RowExpr:
		return "ROW(" + list(v.Args) + ")"
	case *plan.RowCompare:
		return "(ROW(" + list(v.Left) + ") " + [...]string{"<", "<=", ">=", ">"}[v.Kind] + " ROW(" + list(v.Right) + "))"
	case *plan.Subscript:
		s := rec(v.Container)
		for _, u := range v.Upper {
			s += "[" + rec(u) + "]"
		}
		return s
	case *plan.FieldSelect:
		return "(" + rec(v.Arg) + ")." + quoteIdent(v.Name)
	case *plan.SQLValue:
		return [...]string{"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "CURRENT_ROLE", "CURRENT_USER", "SESSION_USER",
			"CURRENT_CATALOG", "CURRENT_SCHEMA"}[v.Kind]
	case *plan.NextValue:
		return "nextval(" + strconv.Itoa(int(v.Sequence)) + ")"
	case *plan.Aggref:
		return x.aggregate(v, names, names)
	case *plan.WindowFunc:
		if v.Star {
			return x.funcName(v.Func) + "(*) OVER (?)"
		}
		return x.funcName(v.Func) + "(" + list(v.Args) + ") OVER (?)"
	case *plan.SubPlan:
		return x.subPlan(v, names)
	case *plan.SubOut:
		return "$" + strconv.Itoa(v.Col)
	}
	return "?"
}

// aggregate shows an aggregate over the columns names, its direct arguments over the group's keys.
func (x *explainer) aggregate(v *plan.Aggref, names, keys []string) string {
	s := x.funcName(v.Agg) + "("
	switch {
	case v.Star:
		s += "*"
	default:
		if v.Distinct {
			s += "DISTINCT "
		}
		s += strings.Join(append(x.exprs(v.Direct, keys), x.exprs(v.Args, names)...), ", ")
	}
	if len(v.OrderBy) > 0 && v.Kind == 'n' {
		s += " ORDER BY " + strings.Join(x.sortKeys(v.OrderBy, names), ", ")
	}
	s += ")"
	if v.Filter != nil {
		s += " FILTER (WHERE " + x.expr(v.Filter, names) + ")"
	}
	return s
}

func (x *explainer) subPlan(v *plan.SubPlan, names []string) string {
	for i, id := range v.ParamIDs {
		x.params[id] = x.expr(v.Args[i], names)
	}
	name := "SubPlan " + strconv.Itoa(x.subNumber(v))
	if v.Hashed {
		name = "hashed " + name
	}
	return "(" + name + ")"
}
