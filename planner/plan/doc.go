// Package plan is the planner's read-only data: bound expressions and queries (the result of parse analysis)
// and physical plans (the input of sql/exec).
//
// Purpose. One vocabulary between planner, sql/deparse, sql/exec and sql/session.
//
// Invariants.
//
//	I1 A plan is never changed after planning; sessions share it. State lives in sql/exec.
//	I2 A physical plan contains no Var, SubLink or SetToDefault: Slots, Params and ExecParams only.
//
// Goroutines. None.
//
// Files. expr.go expressions, query.go bound queries, node.go physical plans.
package plan
