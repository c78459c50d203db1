package mysql

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"

	"herd/sql/ast"
)

// integers has, for MySQL's integers, our type and the bounds that our type lacks: signed, then unsigned. A type without bounds
// of its own has our type's.
var integers = map[byte][2]struct {
	name      string
	low, high int64 // both 0: none; high 0: none above
}{
	mysql.TypeTiny:     {{"int2", -128, 127}, {"int2", 0, 255}},
	mysql.TypeShort:    {{"int2", 0, 0}, {"int4", 0, 65535}},
	mysql.TypeInt24:    {{"int4", -8388608, 8388607}, {"int4", 0, 16777215}},
	mysql.TypeLong:     {{"int4", 0, 0}, {"int8", 0, 4294967295}},
	mysql.TypeLonglong: {{"int8", 0, 0}, {"int8", 0, 1<<63 - 1}},
}

// typeName converts a column's type; the check is nil when our type holds what MySQL's does. unsigned bigint ends at 2^63-1 here, so
// that keys of it are integers.
func (c *converter) typeName(column string, t *types.FieldType, loc int32) (*ast.TypeName, ast.Expr) {
	out := &ast.TypeName{Loc: ast.At(loc)}
	of := func(name string, mods ...int) (*ast.TypeName, ast.Expr) {
		out.Name = catalogName(name)
		for _, m := range mods {
			out.Mods = append(out.Mods, integer(loc, int64(m)))
		}
		return out, nil
	}
	ref := func() ast.Expr { return &ast.ColumnRef{Loc: ast.At(loc), Parts: []string{column}} }
	digits := max(t.GetDecimal(), 0)
	unsigned := mysql.HasUnsignedFlag(t.GetFlag())
	binary := t.GetCharset() == "binary" || mysql.HasBinaryFlag(t.GetFlag()) && t.GetCharset() == ""
	switch tp := t.GetType(); tp {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLonglong:
		i := integers[tp][0]
		if unsigned {
			i = integers[tp][1]
		}
		out.Name = catalogName(i.name)
		switch {
		case i.low == 0 && i.high == 0:
			return out, nil
		case i.high == 1<<63-1:
			return out, &ast.Op{Loc: ast.At(loc), Op: catalogName(">="), Left: ref(), Right: integer(loc, 0)}
		}
		return out, &ast.Between{Loc: ast.At(loc), Arg: ref(), Low: integer(loc, i.low), High: integer(loc, i.high)}
	case mysql.TypeFloat, mysql.TypeDouble:
		c.refuse(t.GetDecimal() >= 0, loc, t.CompactStr())
		name := "float8"
		if tp == mysql.TypeFloat && t.GetFlen() <= 24 {
			name = "float4"
		}
		_, _ = of(name)
		return out, nonNegative(unsigned, ref(), loc)
	case mysql.TypeNewDecimal:
		_, _ = of("numeric", t.GetFlen(), digits)
		return out, nonNegative(unsigned, ref(), loc)
	case mysql.TypeDate, mysql.TypeNewDate:
		return of("date")
	case mysql.TypeDatetime:
		return of("timestamp", digits)
	case mysql.TypeTimestamp:
		return of("timestamptz", digits)
	case mysql.TypeDuration:
		return of("time", digits)
	case mysql.TypeYear:
		out.Name = catalogName("int2")
		in := &ast.Between{Loc: ast.At(loc), Arg: ref(), Low: integer(loc, 1901), High: integer(loc, 2155)}
		zero := &ast.Op{Loc: ast.At(loc), Op: catalogName("="), Left: ref(), Right: integer(loc, 0)}
		return out, &ast.BoolExpr{Loc: ast.At(loc), Op: ast.Or, Args: []ast.Expr{in, zero}}
	case mysql.TypeBit:
		return of("bit", max(t.GetFlen(), 1))
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString:
		if binary {
			return of("bytea")
		}
		return of("varchar", max(t.GetFlen(), 1))
	case mysql.TypeBlob, mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob:
		if binary {
			return of("bytea")
		}
		return of("text")
	case mysql.TypeJSON:
		return of("json")
	case mysql.TypeEnum:
		out.Name = catalogName("text")
		in := &ast.In{Loc: ast.At(loc), Left: ref()}
		for _, e := range t.GetElems() {
			in.List = append(in.List, text(loc, e))
		}
		return out, in
	case mysql.TypeSet:
		out.Name = catalogName("text")
		return out, &ast.Op{Loc: ast.At(loc), Op: catalogName("~"), Left: ref(), Right: text(loc, setPattern(t.GetElems()))}
	}
	c.unsupported(loc, "type "+t.CompactStr())
	return out, nil
}

// nonNegative is the check of an unsigned number.
func nonNegative(unsigned bool, ref ast.Expr, loc int32) ast.Expr {
	if !unsigned {
		return nil
	}
	return &ast.Op{Loc: ast.At(loc), Op: catalogName(">="), Left: ref, Right: integer(loc, 0)}
}

// setPattern matches the values of a SET as MySQL stores them: members in the order of the type, with commas between.
func setPattern(elems []string) string {
	var b strings.Builder
	b.WriteByte('^')
	for _, e := range elems {
		b.WriteByte('(')
		for _, r := range e {
			if strings.ContainsRune(`\.+*?()|[]{}^$`, r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		b.WriteString(`(,(?!$)|$))?`)
	}
	b.WriteByte('$')
	return b.String()
}
