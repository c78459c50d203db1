package planner

import (
	"herd/planner/plan"
	"herd/sql/types"
)

// firstDomainOID: built-in types below have no domains among them.
const firstDomainOID types.OID = 13000

// plainType is the representation an expression of a domain has in a physical plan: its base type. The executor never sees a domain.
func (b *binder) plainType(t plan.Typed) plan.Typed {
	if t.Type >= firstDomainOID {
		if base, mod := b.baseTypeMod(t.Type, t.Typmod); base != t.Type {
			t.Type, t.Typmod = base, mod
		}
	}
	return t
}

// plain gives e its base type when it is of a domain.
func (b *binder) plain(e plan.Expr) plan.Expr {
	t := *e.T()
	if t.Type < firstDomainOID {
		return e
	}
	n := b.plainType(t)
	if n.Type == t.Type {
		return e
	}
	switch x := e.(type) {
	case *plan.Const:
		c := *x
		c.Typed = n
		return &c
	case *plan.Param:
		c := *x
		c.Typed = n
		return &c
	case *plan.Slot:
		c := *x
		c.Typed = n
		return &c
	case *plan.ExecParam:
		c := *x
		c.Typed = n
		return &c
	case *plan.CoerceToDomain:
		c := *x
		c.Typed = n
		return &c
	case *plan.FuncCall:
		c := *x
		c.Typed = n
		return &c
	case *plan.Relabel:
		c := *x
		c.Typed = n
		return &c
	case *plan.CoerceViaIO:
		c := *x
		c.Typed = n
		return &c
	case *plan.Case:
		c := *x
		c.Typed = n
		return &c
	case *plan.CaseTest:
		c := *x
		c.Typed = n
		return &c
	case *plan.Coalesce:
		c := *x
		c.Typed = n
		return &c
	case *plan.MinMax:
		c := *x
		c.Typed = n
		return &c
	case *plan.NullIf:
		c := *x
		c.Typed = n
		return &c
	case *plan.Aggref:
		c := *x
		c.Typed = n
		return &c
	case *plan.WindowFunc:
		c := *x
		c.Typed = n
		return &c
	case *plan.Subscript:
		c := *x
		c.Typed = n
		return &c
	case *plan.FieldSelect:
		c := *x
		c.Typed = n
		return &c
	case *plan.SubPlan:
		c := *x
		c.Typed = n
		return &c
	}
	return e
}

// plainColumns gives the columns of all nodes their base types.
func (ps *planState) plainColumns(n plan.Node, depth int) {
	if n == nil || depth > maxWalkDepth {
		return
	}
	cols := n.Base().Cols
	for i := range cols {
		if t := ps.b.plainType(cols[i].Typed); t.Type != cols[i].Type {
			cols = append([]plan.Column(nil), cols...)
			for k := i; k < len(cols); k++ {
				cols[k].Typed = ps.b.plainType(cols[k].Typed)
			}
			n.Base().Cols = cols
			break
		}
	}
	for _, c := range n.Children() {
		ps.plainColumns(c, depth+1)
	}
	nodeExprs(n, func(e plan.Expr) {
		find(e, func(x plan.Expr) bool {
			if s, ok := x.(*plan.SubPlan); ok {
				ps.plainColumns(s.Plan, depth+1)
			}
			return false
		})
	})
}
