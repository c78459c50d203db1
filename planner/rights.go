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
	if err != nil {
		return err
	}
	if ok {
		if r, rec := b.cat.(*recorder); rec {
			r.uses(s)
		}
		return nil
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

// usedColumns are the columns of a range table entry that a query reads; 0 is the whole row.
func usedColumns(q *plan.Query, rte int) []int16 {
	n := *q
	n.RTable = slices.Clone(q.RTable)
	for i, r := range q.RTable {
		if r.Kind == plan.RTEJoin { // its columns are used when something refers to them
			c := *r
			c.JoinVars = nil
			n.RTable[i] = &c
		}
	}
	var out []int16
	var visit func(e plan.Expr, level int) bool
	visit = func(e plan.Expr, level int) bool {
		v, ok := e.(*plan.Var)
		if !ok || v.LevelsUp != level || v.Attno == rowIDAttno {
			return false
		}
		if r := q.RTable[v.RTE]; r.Kind == plan.RTEJoin {
			for i, x := range r.JoinVars {
				if v.Attno == 0 || v.Attno == i+1 {
					deepExpr(x, 0, visit)
				}
			}
		}
		if v.RTE == rte {
			out = appendAttr(out, int16(v.Attno))
		}
		return false
	}
	deepExprs(&n, 0, visit)
	return out
}

// rightsOn says which rights a query needs on the relation of one of its range table entries.
func rightsOn(q *plan.Query, rte int) plan.Right {
	r := q.RTable[rte]
	out := plan.Right{Rel: r.Rel.OID, Need: r.Need, Role: r.Security}
	for i := range r.Rel.Columns {
		out.ByColumn = out.ByColumn || len(r.Rel.Columns[i].ACL) > 0
	}
	if out.ByColumn {
		out.Inserted, out.Updated, out.Read = r.Written, r.Updated, r.Read
		if out.Read == nil {
			out.Read = usedColumns(q, rte)
		}
	}
	return out
}
