package postgres

import (
	"strconv"

	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// defElems returns the DefElems of a list.
func (c *converter) defElems(list []*pg.Node, where string) []*pg.DefElem {
	out := make([]*pg.DefElem, 0, len(list))
	for _, n := range list {
		d, ok := n.GetNode().(*pg.Node_DefElem)
		if !ok {
			c.unknown(n, where)
			return nil
		}
		out = append(out, d.DefElem)
	}
	return out
}

// options converts a generic option list.
func (c *converter) options(list []*pg.Node, where string) []ast.Option {
	if len(list) == 0 {
		return nil
	}
	out := make([]ast.Option, 0, len(list))
	for _, d := range c.defElems(list, where) {
		o := ast.Option{Loc: ast.At(d.Location), Namespace: d.Defnamespace, Name: d.Defname, Value: c.optionValue(d.Arg, where)}
		switch d.Defaction {
		case pg.DefElemAction_DEFELEM_UNSPEC, pg.DefElemAction_DEF_ELEM_ACTION_UNDEFINED, pg.DefElemAction_DEFELEM_SET:
		case pg.DefElemAction_DEFELEM_ADD:
			o.Add = true
		case pg.DefElemAction_DEFELEM_DROP:
			o.Drop = true
		default:
			c.unsupported(d.Location, d.Defaction.String())
		}
		out = append(out, o)
	}
	return out
}

func (c *converter) optionValue(n *pg.Node, where string) ast.OptionValue {
	v := ast.OptionValue{Loc: ast.At(nodeLocShallow(n))}
	switch x := n.GetNode().(type) {
	case nil:
	case *pg.Node_String_:
		v.Kind, v.Text = ast.ValueString, x.String_.Sval
	case *pg.Node_Integer:
		v.Kind, v.Int = ast.ValueInt, int64(x.Integer.Ival)
	case *pg.Node_Float:
		v.Kind, v.Text = ast.ValueFloat, x.Float.Fval
	case *pg.Node_Boolean:
		v.Kind, v.Bool = ast.ValueBool, x.Boolean.Boolval
	case *pg.Node_AStar:
		v.Kind = ast.ValueStar
	case *pg.Node_TypeName:
		v.Kind, v.Type = ast.ValueType, c.typeName(x.TypeName)
	case *pg.Node_RoleSpec:
		role := c.roleSpec(x.RoleSpec)
		v.Kind, v.Role = ast.ValueRole, &role
	case *pg.Node_VariableSetStmt:
		v.Kind, v.Set = ast.ValueSet, c.setVar(x.VariableSetStmt)
	case *pg.Node_List:
		v.Kind = ast.ValueList
		for _, item := range x.List.Items {
			v.List = append(v.List, c.optionValue(item, where))
		}
	default:
		c.unknown(n, where)
	}
	return v
}

// nodeLocShallow returns the offset of the option values that have one.
func nodeLocShallow(n *pg.Node) int32 {
	switch x := n.GetNode().(type) {
	case *pg.Node_TypeName:
		return x.TypeName.Location
	case *pg.Node_RoleSpec:
		return x.RoleSpec.Location
	}
	return ast.NoPos
}

// optString is PostgreSQL's defGetString.
func (c *converter) optString(d *pg.DefElem) string {
	switch x := d.Arg.GetNode().(type) {
	case *pg.Node_String_:
		return x.String_.Sval
	case *pg.Node_Integer:
		return strconv.Itoa(int(x.Integer.Ival))
	case *pg.Node_Float:
		return x.Float.Fval
	case *pg.Node_Boolean:
		return strconv.FormatBool(x.Boolean.Boolval)
	case *pg.Node_TypeName:
		return c.typeName(x.TypeName).Name.String()
	case *pg.Node_AStar:
		return "*"
	case *pg.Node_List:
		return dotted(c.strs(x.List.Items, d.Defname))
	case nil:
		c.fail(sqlerr.New(sqlerr.SyntaxError, "%s requires a parameter", d.Defname))
		return ""
	}
	c.unknown(d.Arg, d.Defname)
	return ""
}

// optBool is PostgreSQL's defGetBoolean: no value means true.
func (c *converter) optBool(d *pg.DefElem) bool {
	switch x := d.Arg.GetNode().(type) {
	case nil:
		return true
	case *pg.Node_Integer:
		if x.Integer.Ival == 0 || x.Integer.Ival == 1 {
			return x.Integer.Ival == 1
		}
	default:
		switch asciiLower(c.optString(d)) {
		case "true", "on":
			return true
		case "false", "off":
			return false
		}
	}
	c.fail(sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", d.Defname))
	return false
}

// optInt64 is PostgreSQL's defGetInt64.
func (c *converter) optInt64(d *pg.DefElem) *int64 {
	switch x := d.Arg.GetNode().(type) {
	case *pg.Node_Integer:
		n := int64(x.Integer.Ival)
		return &n
	case *pg.Node_Float:
		n, err := strconv.ParseInt(x.Float.Fval, 10, 64)
		if err == nil {
			return &n
		}
		if isDigits(x.Float.Fval) {
			c.fail(sqlerr.New(sqlerr.NumericValueOutOfRange, "value \"%s\" is out of range for type bigint", x.Float.Fval))
		} else {
			c.fail(sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type bigint: \"%s\"", x.Float.Fval))
		}
		return nil
	}
	c.fail(sqlerr.New(sqlerr.SyntaxError, "%s requires a numeric value", d.Defname))
	return nil
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if (s[i] < '0' || s[i] > '9') && !(i == 0 && (s[i] == '-' || s[i] == '+')) {
			return false
		}
	}
	return true
}

func asciiLower(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}

// sequenceOptions converts the options of a sequence or identity column. identity allows SEQUENCE NAME.
func (c *converter) sequenceOptions(list []*pg.Node) ast.SequenceOptions {
	var o ast.SequenceOptions
	seen := map[string]bool{}
	for _, d := range c.defElems(list, "sequence options") {
		if c.err != nil {
			return o
		}
		if seen[d.Defname] {
			c.failAt(d.Location, sqlerr.SyntaxError, "conflicting or redundant options")
			return o
		}
		seen[d.Defname] = true
		switch d.Defname {
		case "as":
			t, ok := d.Arg.GetNode().(*pg.Node_TypeName)
			if !ok {
				c.unknown(d.Arg, "sequence options")
				return o
			}
			o.Type = c.typeName(t.TypeName)
		case "increment":
			o.Increment = c.optInt64(d)
		case "minvalue":
			if d.Arg.GetNode() == nil {
				o.NoMinValue = true
			} else {
				o.MinValue = c.optInt64(d)
			}
		case "maxvalue":
			if d.Arg.GetNode() == nil {
				o.NoMaxValue = true
			} else {
				o.MaxValue = c.optInt64(d)
			}
		case "start":
			o.Start = c.optInt64(d)
		case "restart":
			o.Restart = true
			if d.Arg.GetNode() != nil {
				o.RestartAt = c.optInt64(d)
			}
		case "cache":
			o.Cache = c.optInt64(d)
		case "cycle":
			b := c.optBool(d)
			o.Cycle = &b
		case "owned_by":
			o.OwnedBy = c.strs(c.items(d.Arg, "OWNED BY"), "OWNED BY")
		case "sequence_name":
			o.Name = c.name(c.items(d.Arg, "SEQUENCE NAME"), d.Location, "SEQUENCE NAME")
		case "logged", "unlogged":
			b := d.Defname == "logged"
			o.Logged = &b
		default:
			c.unsupported(d.Location, "sequence option "+d.Defname)
		}
	}
	return o
}
