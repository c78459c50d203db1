package deparse

import (
	"herd/planner/plan"
	"herd/sql/catalog"
)

// BindStored binds a stored expression of a relation (planner.BindStored does); deparse does not know the planner.
type BindStored func(rel *catalog.Relation, text string) (plan.Expr, error)

// Stored returns the text of a stored expression with env's path, for pg_get_expr and catalog.Definer.
func Stored(env *Env, bind BindStored, rel *catalog.Relation, text string) (string, error) {
	e, err := bind(rel, text)
	if err != nil {
		return "", err
	}
	return Expr(env, rel, e)
}
