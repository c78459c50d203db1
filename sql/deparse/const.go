package deparse

import (
	"strings"

	"herd/planner/plan"
	"herd/sql/types"
)

// label says when a constant shows its type.
type label int

const (
	labelNever label = iota - 1
	labelIfNeeded
	labelAlways
)

// constant prints a literal as get_const_expr does: without type where the grammar would give it the same one.
func (p *printer) constant(c *plan.Const, show label) {
	if c.Value.Null {
		p.put("NULL")
		if show >= labelIfNeeded {
			p.put("::" + p.typeName(c.Type, c.Typmod))
			p.constCollation(c)
		}
		return
	}
	text := p.constText(c)
	needed := true
	switch c.Type {
	case types.Int4OID:
		if needed = strings.HasPrefix(text, "-"); needed {
			text = "'" + text + "'"
		}
	case types.NumericOID:
		if text[0] >= '0' && text[0] <= '9' && strings.ContainsAny(text, "eE.") {
			needed = c.Typmod >= 0
		} else {
			text = "'" + text + "'"
		}
	case types.BoolOID:
		needed = false
		if text = "false"; c.Value.Bool() {
			text = "true"
		}
	case types.BitOID, types.VarbitOID:
		text = "B'" + text + "'"
	case types.UnknownOID:
		needed = false
		text = Literal(text)
	default:
		text = Literal(text)
	}
	p.put(text)
	if show == labelNever {
		return
	}
	if needed || show == labelAlways {
		p.put("::" + p.typeName(c.Type, c.Typmod))
	}
	p.constCollation(c)
}

func (p *printer) constCollation(c *plan.Const) {
	if c.Collation != 0 && c.Collation != p.typeCollation(c.Type) {
		p.put(" COLLATE " + p.collation(c.Collation))
	}
}

// constText is the output of the value.
func (p *printer) constText(c *plan.Const) string {
	return string(types.Output(p.env.IO, nil, c.Type, c.Value))
}
