package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// BindValue binds an expression without columns as a value of type want (0: as it comes), with an assignment cast. Called by
// sql/session for the arguments of EXECUTE.
func BindValue(cat catalog.Reader, env *BindEnv, x ast.Expr, want types.OID) (plan.Expr, error) {
	b := &binder{cat: cat, env: env, params: newParamState(nil)}
	sc := &scope{b: b}
	sc.newQuery(plan.CmdSelect)
	e, err := sc.expr(x, kindUtility)
	if err != nil {
		return nil, err
	}
	if want == 0 {
		if e.T().Type == types.UnknownOID {
			return b.coerce(e, types.TextOID, -1, coerceImplicit, plan.FormImplicitCast, -1)
		}
		return e, nil
	}
	r, err := b.coerceTo(e, want, -1, coerceAssignment, plan.FormImplicitCast, -1)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, b.errorAt(exprLoc(e), sqlerr.DatatypeMismatch, "parameter of type %s cannot be coerced to the expected type %s", b.typeName(e.T().Type), b.typeName(want)).
			WithHint("You will need to rewrite or cast the expression.")
	}
	return r, nil
}
