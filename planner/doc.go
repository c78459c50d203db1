// Package planner turns a syntax tree into a physical plan: parse analysis as PostgreSQL does it, rules, costs, access
// paths, join order, and EXPLAIN's text.
//
// # Purpose
//
// Bind decides what a statement means (names, types, functions, operators, implicit casts, errors); Plan decides how it
// is run. Both are functions of the catalog, the environment and the tree: nothing here reads a table or a clock.
//
// # Invariants
//
//	I1  A bound query (plan.Query) is never changed once Bind has returned it: views and stored expressions are shared.
//	    Rules copy what they change.
//	I2  A physical plan has no Var, SubLink or SetToDefault.
//	I3  Every recursive walk counts its depth and fails with 54001 instead of exhausting the stack.
//	I4  Errors carry PostgreSQL's text, SQLSTATE and position; candidates of pgdata decide a resolution even where no kernel exists.
//
// # Goroutines
//
// None. Cache is safe for all; everything else belongs to one statement.
//
// # Files
//
//	env.go        what a caller supplies; Bind, BindExpr
//	lookup.go     the catalog as the binder asks it; recorder.go: what it answered
//	typeinfo.go   type properties and names
//	resolvetype.go types by name, for DDL
//	coerce.go     casts; common.go: common types; poly.go: polymorphic types
//	resolve.go    functions; operator.go: operators
//	scope.go      namespaces and column references
//	cursor.go     what cursors need: row identities, plans that go backward
//	bind_*.go     statement parts, in PostgreSQL's order
//	walk.go equalquery.go  walking, mapping and comparing expressions
//	inline_sqlfunc.go  calls of SQL functions replaced by their bodies
//	opt_*.go      rules over queries and conditions; wholerow.go: rows that an outer join may lack
//	path_*.go     access paths, joins, costs; unique.go: joins that find at most one row
//	foreignkey.go  foreign keys: indexes and casts of both ends
//	rights.go     schemas and functions that a statement uses
//	build_*.go    paths to plan nodes
//	explain*.go   EXPLAIN
//	cache.go      the plan cache; choice.go: generic or custom plans
package planner
