package planner

import (
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/types"
)

// CursorQuery returns the query of a cursor with targets added behind its own: the row identities of the tables whose rows WHERE
// CURRENT OF may mean. These are the tables that it locks, or the only table of a query that gives a row of it for each of its rows.
func CursorQuery(q *plan.Query) *plan.Query {
	var rtes []int
	switch {
	case q.Command != plan.CmdSelect || q.SetOp != nil || q.Distinct || len(q.DistinctOn) > 0 || len(q.GroupBy) > 0 || q.GroupingSets != nil ||
		q.HasAggs || q.HasWindow || q.HasSRF || q.Having != nil:
	case len(q.Locks) > 0:
		for _, l := range q.Locks {
			rtes = append(rtes, l.RTE)
		}
	case len(q.From) == 1:
		if ref, ok := q.From[0].(plan.RangeRef); ok {
			rtes = append(rtes, ref.RTE)
		}
	}
	n := *q
	for _, i := range rtes {
		if r := q.RTable[i]; r.Kind == plan.RTERelation && r.Rel.Kind == catalog.KindTable && r.Rel.Virtual == nil && r.Rel.OID >= 16384 {
			n.RowIDs = append(n.RowIDs, i)
			n.Targets = append(n.Targets[:len(n.Targets):len(n.Targets)], &plan.Target{Name: "ctid",
				Expr: &plan.Var{Typed: plan.Typed{Type: types.ByteaOID, Typmod: -1, Loc: -1}, RTE: i, Attno: rowIDAttno}})
		}
	}
	return &n
}

// ScansBackward says whether the rows of a plan can be had in reverse without keeping them, as PostgreSQL's plans of the same form do:
// cursors over others are not scrollable unless they are declared so.
func ScansBackward(n plan.Node) bool {
	switch x := n.(type) {
	case *plan.Scan, *plan.IndexScan, *plan.VirtualScan, *plan.FunctionScan, *plan.CTEScan, *plan.Values, *plan.Sort, *plan.Materialize:
		return true
	case *plan.Append:
		for _, c := range x.Children() {
			if !ScansBackward(c) {
				return false
			}
		}
		return true
	case *plan.Filter, *plan.Project, *plan.Limit:
		return ScansBackward(x.Children()[0])
	}
	return false
}
