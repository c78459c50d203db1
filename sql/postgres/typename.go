package postgres

import (
	"strconv"

	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

func (c *converter) constant(k *pg.A_Const) ast.Expr {
	out := &ast.Const{Loc: ast.At(k.Location)}
	if k.Isnull {
		return out
	}
	switch v := k.Val.(type) {
	case *pg.A_Const_Ival:
		out.Kind, out.Int = ast.ConstInt, int64(v.Ival.GetIval())
		c.checkNumber(k.Location)
	case *pg.A_Const_Fval:
		c.checkNumber(k.Location)
		text := v.Fval.GetFval()
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			out.Kind, out.Int = ast.ConstInt, n
		} else {
			out.Kind, out.Text = ast.ConstNumeric, text
		}
	case *pg.A_Const_Boolval:
		out.Kind, out.Bool = ast.ConstBool, v.Boolval.GetBoolval()
	case *pg.A_Const_Sval:
		out.Kind, out.Text = ast.ConstString, v.Sval.GetSval()
	case *pg.A_Const_Bsval:
		out.Kind, out.Text = ast.ConstBit, v.Bsval.GetBsval()
	default:
		c.unsupported(k.Location, "constant of unknown kind")
	}
	return out
}

// checkNumber refuses the spellings of numbers that PostgreSQL 16 brought: 0x1F, 0o17, 0b1 and 1_000.
func (c *converter) checkNumber(loc int32) {
	i := int(loc)
	if i < 0 || i >= len(c.text) {
		return
	}
	if c.text[i] == '-' || c.text[i] == '+' {
		i = skipBlank(c.text, i+1)
	}
	from := i
	for i < len(c.text) && (c.text[i] >= '0' && c.text[i] <= '9' || c.text[i] == '.') {
		i++
	}
	if i == from || i >= len(c.text) {
		return
	}
	switch b := c.text[i] | 0x20; {
	case c.text[i] == '_', c.text[from:i] == "0" && (b == 'x' || b == 'o' || b == 'b'):
		for i < len(c.text) && isIdentByte(c.text[i]) {
			i++
		}
		c.failAt(int32(from), sqlerr.SyntaxError, "trailing junk after numeric literal at or near \"%s\"", c.text[from:i])
	}
}

func isIdentByte(b byte) bool {
	return b >= 0x80 || b == '_' || b == '$' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// typeName converts a type.
func (c *converter) typeName(t *pg.TypeName) *ast.TypeName {
	if t == nil {
		return nil
	}
	out := &ast.TypeName{Loc: ast.At(t.Location), SetOf: t.Setof, PctType: t.PctType, Mods: c.exprs(t.Typmods)}
	parts := c.strs(t.Names, "type name")
	if t.PctType && len(parts) > 1 {
		out.Column = parts[len(parts)-1]
		parts = parts[:len(parts)-1]
	}
	out.Name = c.nameOf(parts, t.Location)
	c.refuse(t.TypeOid != 0 || t.Typemod != -1, t.Location, "type that is already looked up")
	c.refuse(len(parts) == 0, t.Location, "type without name")
	for _, n := range t.ArrayBounds {
		b, ok := n.GetNode().(*pg.Node_Integer)
		if !ok {
			c.unknown(n, "array bounds")
			return nil
		}
		out.ArrayDims = append(out.ArrayDims, b.Integer.GetIval())
	}
	return out
}

func (c *converter) typeNames(list []*pg.Node, where string) []*ast.TypeName {
	var out []*ast.TypeName
	for _, n := range list {
		t, ok := n.GetNode().(*pg.Node_TypeName)
		if !ok {
			c.unknown(n, where)
			return nil
		}
		out = append(out, c.typeName(t.TypeName))
	}
	return out
}
