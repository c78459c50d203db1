package planner

import (
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/types"
)

// ResolveType finds a written type and its modifier: 42704 when it does not exist, 22023 for a bad modifier. Called by sql/ddl for
// columns, domains and functions, by sql/session for PREPARE.
func ResolveType(cat catalog.Reader, env *BindEnv, n *ast.TypeName) (types.OID, types.Typmod, error) {
	b := &binder{cat: cat, env: env, params: newParamState(nil)}
	return b.typeByName(n)
}
