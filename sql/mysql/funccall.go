package mysql

import (
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"herd/sql/ast"
)

// function converts a call whose arguments are converted already.
type function struct {
	least, most int
	make        func(c *converter, loc int32, args []ast.Expr) ast.Expr
}

// call calls a function of pg_catalog.
func call(loc int32, name string, args ...ast.Expr) ast.Expr {
	return &ast.FuncCall{Loc: ast.At(loc), Name: catalogName(name), Args: args}
}

// own calls a function of schema mysql.
func own(loc int32, name string, args ...ast.Expr) ast.Expr {
	return &ast.FuncCall{Loc: ast.At(loc), Name: mysqlName(loc, name), Args: args}
}

// castTo is x::t.
func castTo(x ast.Expr, typ string, mods ...ast.Expr) ast.Expr {
	loc := ast.At(ast.NoPos)
	if x != nil {
		loc = ast.At(x.Pos())
	}
	return &ast.Cast{Loc: loc, Arg: x, Type: &ast.TypeName{Loc: loc, Name: catalogName(typ), Mods: mods}}
}

func textOf(x ast.Expr) ast.Expr { return castTo(x, "text") }

func integer(loc int32, n int64) ast.Expr {
	return &ast.Const{Loc: ast.At(loc), Kind: ast.ConstInt, Int: n}
}

func text(loc int32, s string) ast.Expr {
	return &ast.Const{Loc: ast.At(loc), Kind: ast.ConstString, Text: s}
}

// same is a function that PostgreSQL has under the given name, for arguments of any type that fits.
func same(name string, least, most int) function {
	return function{least, most, func(_ *converter, loc int32, args []ast.Expr) ast.Expr { return call(loc, name, args...) }}
}

// onText is one whose arguments are strings, whatever they are.
func onText(name string, n int) function {
	return function{n, n, func(_ *converter, loc int32, args []ast.Expr) ast.Expr {
		for i := range args {
			args[i] = textOf(args[i])
		}
		return call(loc, name, args...)
	}}
}

// onFloat is one of a double.
func onFloat(name string, n int) function {
	return function{n, n, func(_ *converter, loc int32, args []ast.Expr) ast.Expr {
		for i := range args {
			args[i] = castTo(args[i], "float8")
		}
		return call(loc, name, args...)
	}}
}

const anyNumber = 1 << 16

// functions has what is supported; what is not listed, or with other numbers of arguments, is 0A000. Dates are in datefn.go.
var functions = map[string]function{
	"ifnull":   {2, 2, coalesce},
	"nvl":      {2, 2, coalesce},
	"coalesce": {1, anyNumber, coalesce},
	"nullif": {2, 2, func(_ *converter, loc int32, a []ast.Expr) ast.Expr {
		eq := &ast.Op{Loc: ast.At(loc), Op: mysqlName(loc, "="), Left: a[0], Right: a[1]}
		return &ast.Case{Loc: ast.At(loc), Whens: []ast.When{{Loc: ast.At(loc), Cond: eq, Result: &ast.Const{Loc: ast.At(loc)}}}, Else: a[0]}
	}},
	"concat":           {1, anyNumber, concat},
	"concat_ws":        {2, anyNumber, concatWS},
	"length":           onText("octet_length", 1),
	"octet_length":     onText("octet_length", 1),
	"char_length":      onText("char_length", 1),
	"character_length": onText("char_length", 1),
	"upper":            onText("upper", 1),
	"ucase":            onText("upper", 1),
	"lower":            onText("lower", 1),
	"lcase":            onText("lower", 1),
	"reverse":          onText("reverse", 1),
	"replace":          onText("replace", 3),
	"ascii":            onText("ascii", 1),
	"md5":              onText("md5", 1),
	"left":             {2, 2, head},
	"right":            {2, 2, head},
	"repeat": {2, 2, func(_ *converter, loc int32, a []ast.Expr) ast.Expr {
		return call(loc, "repeat", textOf(a[0]), castTo(a[1], "int4"))
	}},
	"substring": {2, 3, substring},
	"substr":    {2, 3, substring},
	"mid":       {3, 3, substring},
	"ltrim": {1, 1, func(_ *converter, loc int32, a []ast.Expr) ast.Expr {
		return call(loc, "ltrim", textOf(a[0]), text(loc, " "))
	}},
	"rtrim": {1, 1, func(_ *converter, loc int32, a []ast.Expr) ast.Expr {
		return call(loc, "rtrim", textOf(a[0]), text(loc, " "))
	}},
	"trim": {1, 1, func(_ *converter, loc int32, a []ast.Expr) ast.Expr {
		return call(loc, "btrim", textOf(a[0]), text(loc, " "))
	}},
	"locate": {2, 2, func(_ *converter, loc int32, a []ast.Expr) ast.Expr { return position(loc, a[1], a[0]) }},
	"instr":  {2, 2, func(_ *converter, loc int32, a []ast.Expr) ast.Expr { return position(loc, a[0], a[1]) }},
	"abs":    same("abs", 1, 1),
	"ceil":   {1, 1, rounded("ceil")}, "ceiling": {1, 1, rounded("ceil")}, "floor": {1, 1, rounded("floor")},
	"round": {1, 2, func(_ *converter, loc int32, a []ast.Expr) ast.Expr { return own(loc, "round", a...) }},
	"truncate": {2, 2, func(_ *converter, loc int32, a []ast.Expr) ast.Expr {
		return call(loc, "trunc", castTo(a[0], "numeric"), a[1])
	}},
	"sign": {1, 1, func(_ *converter, loc int32, a []ast.Expr) ast.Expr {
		return castTo(call(loc, "sign", a...), "int4")
	}},
	"mod": {2, 2, func(_ *converter, loc int32, a []ast.Expr) ast.Expr {
		return &ast.Op{Loc: ast.At(loc), Op: mysqlName(loc, "%"), Left: a[0], Right: a[1]}
	}},
	"pow": onFloat("power", 2), "power": onFloat("power", 2), "exp": onFloat("exp", 1),
	"pi": same("pi", 0, 0), "rand": same("random", 0, 0),
	"database": same("current_schema", 0, 0), "schema": same("current_schema", 0, 0),
	"connection_id": same("pg_backend_pid", 0, 0),
	"version":       {0, 0, func(_ *converter, loc int32, _ []ast.Expr) ast.Expr { return systemVariable(loc, "version") }},
	"user":          {0, 0, sessionUser}, "current_user": {0, 0, sessionUser}, "session_user": {0, 0, sessionUser},
}

func coalesce(_ *converter, loc int32, a []ast.Expr) ast.Expr {
	return &ast.Coalesce{Loc: ast.At(loc), Args: a}
}

func sessionUser(_ *converter, loc int32, _ []ast.Expr) ast.Expr {
	return &ast.SQLValue{Loc: ast.At(loc), Func: ast.SessionUser, Precision: -1}
}

// concat is a chain of ||, which is null when an argument is.
func concat(_ *converter, loc int32, a []ast.Expr) ast.Expr {
	op := catalogName("||")
	switch len(a) {
	case 1:
		return textOf(a[0])
	case 2:
		return &ast.Op{Loc: ast.At(loc), Op: op, Left: textOf(a[0]), Right: textOf(a[1])}
	}
	out := &ast.OpChain{Loc: ast.At(loc), First: textOf(a[0])}
	for _, x := range a[1:] {
		out.Terms = append(out.Terms, ast.OpTerm{Loc: ast.At(loc), Op: op, Right: textOf(x)})
	}
	return out
}

func concatWS(_ *converter, loc int32, a []ast.Expr) ast.Expr {
	for i := range a {
		a[i] = textOf(a[i])
	}
	return call(loc, "concat_ws", a...)
}

// head is LEFT and RIGHT of a length that is known not to be negative: there PostgreSQL counts from the other end.
func head(c *converter, loc int32, a []ast.Expr) ast.Expr {
	n, ok := a[1].(*ast.Const)
	c.refuse(!ok || n.Kind != ast.ConstInt || n.Int < 0, loc, "LEFT and RIGHT of other than a constant length")
	name := "left"
	if c.word == "right" {
		name = "right"
	}
	return call(loc, name, textOf(a[0]), a[1])
}

// substring is SUBSTRING with a constant place; one from the end is counted there.
func substring(c *converter, loc int32, a []ast.Expr) ast.Expr {
	from, ok := a[1].(*ast.Const)
	if !ok || from.Kind != ast.ConstInt || from.Int < 1 {
		c.unsupported(loc, "SUBSTRING from other than a constant place of 1 or more")
		return nil
	}
	if len(a) == 3 {
		n, ok := a[2].(*ast.Const)
		c.refuse(!ok || n.Kind != ast.ConstInt || n.Int < 0, loc, "SUBSTRING of other than a constant length")
	}
	a[0] = textOf(a[0])
	return call(loc, "substring", a...)
}

// position is where a string begins in another, by the weights of the characters.
func position(loc int32, in, part ast.Expr) ast.Expr {
	return call(loc, "strpos", own(loc, "fold", textOf(in)), own(loc, "fold", textOf(part)))
}

// rounded is CEIL or FLOOR: the answer for an integer is an integer, for which PostgreSQL has no function.
func rounded(name string) func(*converter, int32, []ast.Expr) ast.Expr {
	return func(_ *converter, loc int32, a []ast.Expr) ast.Expr { return own(loc, name, a...) }
}

func (c *converter) funcCall(f *tidb.FuncCallExpr) ast.Expr {
	loc := c.at(f)
	c.refuse(f.Schema.L != "", loc, "function of a database")
	name := f.FnName.L
	if name == "if" && len(f.Args) == 3 {
		return &ast.Case{Loc: ast.At(loc), Whens: []ast.When{{Loc: ast.At(loc), Cond: c.cond(f.Args[0]), Result: c.expr(f.Args[1])}}, Else: c.expr(f.Args[2])}
	}
	if d, ok := dateFunctions[name]; ok {
		return d(c, loc, f.Args)
	}
	if fn, ok := functions[name]; ok && len(f.Args) >= fn.least && len(f.Args) <= fn.most {
		word := c.word
		c.word = name
		defer func() { c.word = word }()
		args := c.exprs(f.Args)
		if c.err != nil {
			return nil
		}
		return fn.make(c, loc, args)
	}
	c.unsupported(loc, "function "+f.FnName.O)
	return nil
}

// cast converts CAST, CONVERT and BINARY.
func (c *converter) cast(x *tidb.FuncCastExpr) ast.Expr {
	loc := c.at(x)
	if x.FunctionType == tidb.CastBinaryOperator {
		return call(loc, "convert_to", textOf(c.expr(x.Expr)), text(loc, "UTF8"))
	}
	c.refuse(x.ExplicitCharSet, loc, "CHARACTER SET in CAST")
	arg := c.expr(x.Expr)
	switch t := x.Tp; t.GetType() {
	case mysql.TypeLonglong:
		c.refuse(mysql.HasUnsignedFlag(t.GetFlag()), loc, "CAST to UNSIGNED")
		return castTo(arg, "int8")
	case mysql.TypeVarString, mysql.TypeString, mysql.TypeVarchar:
		c.refuse(t.GetCharset() == "binary", loc, "CAST to BINARY")
		if n := t.GetFlen(); n > 0 {
			return call(loc, "left", textOf(arg), integer(loc, int64(n)))
		}
		return textOf(arg)
	case mysql.TypeDate:
		return castTo(arg, "date")
	case mysql.TypeDatetime:
		return castTo(arg, "timestamp", integer(loc, int64(max(t.GetDecimal(), 0))))
	case mysql.TypeDuration:
		return castTo(arg, "time", integer(loc, int64(max(t.GetDecimal(), 0))))
	case mysql.TypeNewDecimal:
		return castTo(arg, "numeric", integer(loc, int64(t.GetFlen())), integer(loc, int64(max(t.GetDecimal(), 0))))
	case mysql.TypeDouble:
		return castTo(arg, "float8")
	case mysql.TypeFloat:
		return castTo(arg, "float4")
	}
	c.unsupported(loc, "CAST to "+x.Tp.CompactStr())
	return nil
}

// aggregates are MySQL's aggregates with the names they have in schema mysql, which is that of pg_catalog where it has no own.
var aggregates = map[string]string{
	"count": "count", "sum": "sum", "min": "min", "max": "max",
	"stddev_pop": "stddev_pop", "stddev_samp": "stddev_samp", "var_pop": "var_pop", "var_samp": "var_samp",
}

func (c *converter) aggregate(a *tidb.AggregateFuncExpr) ast.Expr {
	loc := c.at(a)
	fn := strings.ToLower(a.F)
	if fn == "group_concat" {
		return c.groupConcat(a)
	}
	if fn == "avg" && len(a.Args) == 1 {
		// The sum by the count, by MySQL's rule for the places of a quotient.
		sum := &ast.FuncCall{Loc: ast.At(loc), Name: mysqlName(loc, "sum"), Args: c.exprs(a.Args), Distinct: a.Distinct}
		count := &ast.FuncCall{Loc: ast.At(loc), Name: mysqlName(loc, "count"), Args: c.exprs(a.Args), Distinct: a.Distinct}
		return &ast.Op{Loc: ast.At(loc), Op: mysqlName(loc, "/"), Left: sum, Right: count}
	}
	name, ok := aggregates[fn]
	if !ok {
		c.unsupported(loc, "aggregate "+a.F)
		return nil
	}
	c.refuse(a.Distinct && len(a.Args) > 1, loc, "DISTINCT of several expressions")
	c.refuse(a.Order != nil, loc, "ORDER BY in "+a.F)
	out := &ast.FuncCall{Loc: ast.At(loc), Name: mysqlName(loc, name), Distinct: a.Distinct}
	if l, ok := a.Args[0].(*literal); ok && fn == "count" && !a.Distinct && l.value != nil {
		out.Star = true // COUNT(*) is COUNT(1) to the parser
		return out
	}
	out.Args = c.exprs(a.Args)
	return out
}

func (c *converter) groupConcat(a *tidb.AggregateFuncExpr) ast.Expr {
	loc := c.at(a)
	c.refuse(a.Distinct, loc, "GROUP_CONCAT(DISTINCT)")
	n := len(a.Args) - 1 // the last is the separator
	sep, ok := a.Args[n].(*literal)
	if !ok || n < 1 {
		c.unknown(a, "GROUP_CONCAT")
		return nil
	}
	args := c.exprs(a.Args[:n])
	out := &ast.FuncCall{Loc: ast.At(loc), Name: catalogName("string_agg"), Args: []ast.Expr{concat(c, loc, args), text(loc, sep.GetString())}}
	if a.Order != nil {
		out.OrderBy = c.sortItems(a.Order.Items)
	}
	return out
}

func (c *converter) windowFunc(w *tidb.WindowFuncExpr) ast.Expr {
	loc := c.at(w)
	c.refuse(w.IgnoreNull, loc, "IGNORE NULLS")
	c.refuse(w.FromLast, loc, "FROM LAST")
	c.refuse(w.Distinct, loc, "DISTINCT in a window function")
	name := strings.ToLower(w.Name)
	switch name {
	case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value", "nth_value",
		"count", "sum", "min", "max":
	default:
		c.unsupported(loc, "window function "+w.Name)
		return nil
	}
	out := &ast.FuncCall{Loc: ast.At(loc), Name: mysqlName(loc, name), Over: c.window(&w.Spec)}
	if name == "count" && len(w.Args) == 1 {
		if l, ok := w.Args[0].(*literal); ok && l.value != nil {
			out.Star = true
			return out
		}
	}
	out.Args = c.exprs(w.Args)
	return out
}
