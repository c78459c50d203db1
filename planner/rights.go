package planner

import (
	"slices"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// mayUse checks the right to look into a schema that a statement names.
func (b *binder) mayUse(schema string, loc int) error {
	if !b.env.Checked || b.stored || schema == "" {
		return nil
	}
	s, err := b.cat.SchemaByName(schema)
	if s == nil || err != nil {
		return err
	}
	ok, err := catalog.MayUseSchema(b.cat, s, b.env.Role)
	if err != nil || ok {
		return err
	}
	return b.errorAt(loc, sqlerr.InsufficientPrivilege, "permission denied for schema %s", schema)
}

// userCalls are the user's functions that a query calls.
func userCalls(q *plan.Query) []types.OID {
	var out []types.OID
	deepExprs(q, 0, func(e plan.Expr, _ int) bool {
		var id types.OID
		switch x := e.(type) {
		case *plan.FuncCall:
			id = x.Func
		case *plan.Aggref:
			id = x.Agg
		case *plan.WindowFunc:
			id = x.Func
		}
		if id >= pgdata.FirstUserOID && !slices.Contains(out, id) {
			out = append(out, id)
		}
		return false
	})
	return out
}
