package mysql

import (
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"herd/sql/ast"
)

// dateFunctions has the functions of dates. They convert their arguments themselves, hence the filling at start.
var dateFunctions map[string]func(c *converter, loc int32, args []tidb.ExprNode) ast.Expr

func init() {
	dateFunctions = map[string]func(c *converter, loc int32, args []tidb.ExprNode) ast.Expr{
		"now": now, "current_timestamp": now, "localtime": now, "localtimestamp": now, "sysdate": now,
		"curdate": today, "current_date": today,
		"curtime": func(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
			return castTo(now(c, loc, args), "time", integer(loc, 0))
		},
		"unix_timestamp": func(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
			c.refuse(len(args) > 0, loc, "UNIX_TIMESTAMP of a date")
			return castTo(call(loc, "floor", extract(loc, "epoch", call(loc, "statement_timestamp"))), "int8")
		},
		"year": part("year"), "month": part("month"), "day": part("day"), "dayofmonth": part("day"), "hour": part("hour"), "minute": part("minute"),
		"second": part("second"), "quarter": part("quarter"), "dayofyear": part("doy"),
		"date": func(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
			return castTo(moment(c, loc, args), "date")
		},
		"datediff": func(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
			if len(args) != 2 {
				c.unsupported(loc, "DATEDIFF")
				return nil
			}
			op := ast.Name{Loc: ast.At(loc), Name: "-"}
			return &ast.Op{Loc: ast.At(loc), Op: op, Left: castTo(moment(c, loc, args[:1]), "date"), Right: castTo(moment(c, loc, args[1:]), "date")}
		},
		"date_format": dateFormat,
		"date_add":    dateAdd("+"), "adddate": dateAdd("+"), "date_sub": dateAdd("-"), "subdate": dateAdd("-"),
	}
}

// now is the statement's start in the session's time zone, to the second.
func now(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
	digits := int64(0)
	if len(args) > 0 {
		l, ok := args[0].(*literal)
		if ok {
			digits, ok = l.value.(int64)
		}
		c.refuse(!ok, loc, "precision that is no constant")
	}
	return castTo(call(loc, "statement_timestamp"), "timestamp", integer(loc, digits))
}

func today(_ *converter, loc int32, _ []tidb.ExprNode) ast.Expr {
	return castTo(call(loc, "statement_timestamp"), "date")
}

func extract(loc int32, field string, from ast.Expr) ast.Expr {
	return &ast.FuncCall{Loc: ast.At(loc), Name: catalogName("extract"), Args: []ast.Expr{text(loc, field), from}, SQLSyntax: true}
}

// moment converts the single argument to a date with time.
func moment(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
	if len(args) != 1 {
		c.unsupported(loc, "function of dates with this number of arguments")
		return nil
	}
	return castTo(c.expr(args[0]), "timestamp")
}

// part is a field of a date; seconds are whole.
func part(field string) func(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
	return func(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
		return castTo(call(loc, "floor", extract(loc, field, moment(c, loc, args))), "int4")
	}
}

// formats are DATE_FORMAT's specifiers as to_char's patterns.
var formats = map[byte]string{
	'Y': "YYYY", 'y': "YY", 'm': "MM", 'c': "FMMM", 'd': "DD", 'e': "FMDD", 'H': "HH24", 'k': "FMHH24", 'h': "HH12", 'I': "HH12", 'l': "FMHH12",
	'i': "MI", 's': "SS", 'S': "SS", 'f': "US", 'p': "AM", 'T': "HH24:MI:SS", 'r': "HH12:MI:SS AM", 'j': "DDD", 'M': "FMMonth", 'b': "Mon",
	'W': "FMDay", 'a': "Dy",
}

// dateFormat is DATE_FORMAT with a constant format.
func dateFormat(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
	var form string
	ok := len(args) == 2
	if ok {
		var l *literal
		if l, ok = args[1].(*literal); ok {
			form, ok = l.value.(string)
		}
	}
	if !ok {
		c.unsupported(loc, "DATE_FORMAT with a format that is no constant")
		return nil
	}
	var b strings.Builder
	for i := 0; i < len(form); i++ {
		switch {
		case form[i] != '%' || i+1 == len(form):
			plain(&b, form[i])
		default:
			i++
			if p := formats[form[i]]; p != "" {
				b.WriteString(p)
			} else if b1 := form[i]; b1|0x20 >= 'a' && b1|0x20 <= 'z' {
				c.unsupported(loc, "%"+string(form[i])+" in DATE_FORMAT")
			} else {
				plain(&b, form[i])
			}
		}
	}
	return call(loc, "to_char", moment(c, loc, args[:1]), text(loc, b.String()))
}

// plain writes a byte that stands for itself, in the quotes that keep to_char from reading it.
func plain(b *strings.Builder, c byte) {
	switch {
	case c == '"' || c == '\\':
		b.WriteString("\"\\" + string(rune(c)) + "\"")
	case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80:
		b.WriteByte('"')
		b.WriteByte(c)
		b.WriteByte('"')
	default:
		b.WriteByte(c)
	}
}

// units are the intervals' units that are one number.
var units = map[tidb.TimeUnitType]string{
	tidb.TimeUnitSecond: "1 second", tidb.TimeUnitMinute: "1 minute", tidb.TimeUnitHour: "1 hour", tidb.TimeUnitDay: "1 day", tidb.TimeUnitWeek: "7 days",
	tidb.TimeUnitMonth: "1 month", tidb.TimeUnitQuarter: "3 months", tidb.TimeUnitYear: "1 year", tidb.TimeUnitMicrosecond: "1 microsecond",
}

// dateAdd is DATE_ADD and x + INTERVAL n unit. What it gives depends on the type of the date in MySQL, so that is to be seen here.
func dateAdd(op string) func(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
	return func(c *converter, loc int32, args []tidb.ExprNode) ast.Expr {
		if len(args) != 3 {
			c.unsupported(loc, "DATE_ADD without INTERVAL")
			return nil
		}
		u, ok := args[2].(*tidb.TimeUnitExpr)
		if !ok || units[u.Unit] == "" {
			c.unsupported(loc, "INTERVAL of this unit")
			return nil
		}
		c.refuse(!isMoment(args[0]), loc, "DATE_ADD of what is not seen to be a date with time (NOW() or CAST ... AS DATETIME)")
		unit := castTo(text(loc, units[u.Unit]), "interval")
		times := &ast.Op{Loc: ast.At(loc), Op: catalogName("*"), Left: castTo(c.expr(args[1]), "float8"), Right: unit}
		return &ast.Op{Loc: ast.At(loc), Op: catalogName(op), Left: c.expr(args[0]), Right: times}
	}
}

// isMoment says whether an expression is a date with time by its form.
func isMoment(n tidb.ExprNode) bool {
	switch x := bare(n).(type) {
	case *tidb.FuncCallExpr:
		switch x.FnName.L {
		case "now", "current_timestamp", "localtime", "localtimestamp", "sysdate":
			return true
		case "date_add", "date_sub", "adddate", "subdate":
			return len(x.Args) > 0 && isMoment(x.Args[0])
		}
	case *tidb.FuncCastExpr:
		return x.Tp.CompactStr() == "datetime"
	}
	return false
}
