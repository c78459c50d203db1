package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Body says which call a statement of a SQL function's body is bound for.
type Body struct {
	Proc *pgdata.Proc
	Args []types.OID // types of the call's arguments
	// Last is set for the statement that gives the result, which is of type Result, in FROM with Columns (nil: as one value).
	Last bool
	// Check: the function is being made. Errors have positions in its text, and what only a call refuses is let through.
	Check   bool
	Result  types.OID
	Columns []types.OID
}

// BindBody binds a statement of a SQL function: its parameters are the function's, known by number and name. The last one's rows get the
// types of the function's result; when that is one value and the statement has the columns of a row, Query.RowResult of them is set.
func BindBody(cat catalog.Reader, env *BindEnv, stmt ast.Stmt, f *Body) (*plan.Query, *ParamInfo, error) {
	rec := record(cat)
	b := &binder{cat: rec, env: env, params: newParamState(f.Args), stored: !f.Check, fn: f.Proc}
	q, err := b.bindTop(stmt)
	if err != nil {
		return nil, nil, err
	}
	if q.Command != plan.CmdSelect && f.Proc.Volatile != 'v' && !f.Check {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed in a non-volatile function",
			map[plan.Command]string{plan.CmdInsert: "INSERT", plan.CmdUpdate: "UPDATE", plan.CmdDelete: "DELETE", plan.CmdMerge: "MERGE"}[q.Command])
	}
	if f.Last {
		if q, err = b.bodyResult(q, f); err != nil {
			return nil, nil, err
		}
	}
	return b.described(q, rec)
}

// bodyMismatch is the error about a last statement that does not give what the function is declared to return.
func (b *binder) bodyMismatch(f *Body, format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidFunctionDefinition, "return type mismatch in function declared to return %s", b.typeName(f.Result)).
		WithDetail(format, args...)
}

// BodyMissing is the error about a body whose last statement gives no rows.
func BodyMissing(cat catalog.Reader, env *BindEnv, f *Body) error {
	b := &binder{cat: cat, env: env, stored: true}
	return b.bodyMismatch(f, "Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.")
}

// bodyResult gives the columns of the last statement the types of the result: check_sql_fn_retval.
func (b *binder) bodyResult(q *plan.Query, f *Body) (*plan.Query, error) {
	if f.Result == types.VoidOID {
		return q, nil
	}
	cols := outputColumns(q)
	if len(cols) == 0 {
		return nil, b.bodyMismatch(f, "Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.")
	}
	want, err := b.resultTypes(f)
	if err != nil {
		return nil, err
	}
	if len(cols) == 1 && (want == nil && f.Result != types.RecordOID || b.isComplex(f.Result) && b.baseType(cols[0].Type) == b.baseType(f.Result)) {
		if !b.isComplex(f.Result) || len(want) == 0 {
			return b.castColumns(q, cols, []types.OID{f.Result}, f)
		}
		return b.spread(q, cols, want, f)
	}
	if want == nil && f.Result != types.RecordOID {
		return nil, b.bodyMismatch(f, "Final statement must return exactly one column.")
	}
	if want != nil {
		if len(cols) > len(want) {
			return nil, b.bodyMismatch(f, "Final statement returns too many columns.")
		}
		if len(cols) < len(want) {
			return nil, b.bodyMismatch(f, "Final statement returns too few columns.")
		}
		if q, err = b.castColumns(q, cols, want, f); err != nil {
			return nil, err
		}
	}
	if f.Columns == nil {
		q.RowResult = true
	}
	return q, nil
}

// resultTypes are the column types of a row result, nil for one value and for records without declared columns.
func (b *binder) resultTypes(f *Body) ([]types.OID, error) {
	call := &plan.FuncCall{Typed: plan.Typed{Type: f.Result, Typmod: -1, Loc: -1}, Func: f.Proc.OID}
	for _, t := range f.Args {
		call.Args = append(call.Args, &plan.Const{Typed: plan.Typed{Type: t, Typmod: -1, Loc: -1}, Value: types.NullDatum})
	}
	cols, _ := b.outColumns(call)
	if cols == nil && b.isComplex(f.Result) {
		var err error
		if cols, err = b.compositeCols(b.baseType(f.Result)); err != nil {
			return nil, err
		}
	}
	var out []types.OID
	for _, c := range cols {
		if c.Name != "" || len(f.Columns) == len(cols) {
			out = append(out, c.Type)
		}
	}
	if out == nil && f.Result == types.RecordOID {
		return f.Columns, nil
	}
	return out, nil
}

// castColumns casts the columns of a statement's rows.
func (b *binder) castColumns(q *plan.Query, cols []plan.Column, want []types.OID, f *Body) (*plan.Query, error) {
	same := true
	for i := range cols {
		same = same && cols[i].Type == want[i]
	}
	if same {
		return q, nil
	}
	cast := func(e plan.Expr, i int) (plan.Expr, error) {
		if e.T().Type == want[i] {
			return e, nil
		}
		x, err := b.coerceTo(e, want[i], -1, coerceAssignment, plan.FormImplicitCast, -1)
		if err != nil || x != nil {
			return x, err
		}
		if len(want) == 1 && !b.isComplex(f.Result) {
			return nil, b.bodyMismatch(f, "Actual return type is %s.", b.typeName(e.T().Type))
		}
		return nil, b.bodyMismatch(f, "Final statement returns %s instead of %s at column %d.", b.typeName(e.T().Type), b.typeName(want[i]), i+1)
	}
	if q.Command != plan.CmdSelect {
		for i, t := range q.Returning {
			x, err := cast(t.Expr, i)
			if err != nil {
				return nil, err
			}
			t.Expr = x
		}
		return q, nil
	}
	outer := overQuery(q, cols)
	for i := range cols {
		x, err := cast(&plan.Var{Typed: cols[i].Typed, Attno: i + 1}, i)
		if err != nil {
			return nil, err
		}
		outer.Targets = append(outer.Targets, &plan.Target{Expr: x, Name: cols[i].Name})
	}
	return outer, nil
}

// spread takes the row that a statement's only column is apart.
func (b *binder) spread(q *plan.Query, cols []plan.Column, want []types.OID, f *Body) (*plan.Query, error) {
	if f.Columns == nil {
		return q, nil // the row is the value
	}
	if q.Command != plan.CmdSelect {
		return nil, sqlerr.Unsupported("RETURNING of a whole row as the result of a function in FROM")
	}
	fields, err := b.compositeCols(b.baseType(f.Result))
	if err != nil {
		return nil, err
	}
	outer := overQuery(q, cols)
	for i := range fields {
		outer.Targets = append(outer.Targets, &plan.Target{Name: fields[i].Name, Expr: &plan.FieldSelect{Typed: fields[i].Typed,
			Arg: &plan.Var{Typed: cols[0].Typed, Attno: 1}, Field: i + 1, Name: fields[i].Name}})
	}
	return outer, nil
}

// overQuery is a query over the rows of q, without targets yet.
func overQuery(q *plan.Query, cols []plan.Column) *plan.Query {
	rte := &plan.RTE{Kind: plan.RTESubquery, Sub: q, Alias: "*SELECT*", Cols: cols, InFromCl: true}
	return &plan.Query{Command: plan.CmdSelect, Result: -1, RTable: []*plan.RTE{rte}, From: []plan.FromItem{plan.RangeRef{}}}
}
