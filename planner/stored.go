package planner

import (
	"sync"

	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// storedID names one content of a relation's stored expressions for ever: descriptors are never changed under a version,
// and the catalog version covers what the expressions refer to. Each database counts its objects and versions for itself.
type storedID struct {
	database uint32 // 0 for what all databases have
	rel      types.OID
	version  uint64
	catalogV uint64
	text     string
	kind     exprKind
}

// boundCache keeps bound stored expressions and view queries; it is emptied when full.
type boundCache[V any] struct {
	mu  sync.RWMutex
	m   map[storedID]V
	max int
}

var (
	viewCache = boundCache[*plan.Query]{max: 2000}
	exprCache = boundCache[boundExpr]{max: 20000}
)

// boundExpr is a bound stored expression and what it was bound with.
type boundExpr struct {
	expr plan.Expr
	deps []plan.Dependency
}

func (c *boundCache[V]) get(k storedID) (V, bool) {
	c.mu.RLock()
	v, ok := c.m[k]
	c.mu.RUnlock()
	return v, ok
}

func (c *boundCache[V]) put(k storedID, v V) {
	c.mu.Lock()
	if c.m == nil || len(c.m) >= c.max {
		c.m = make(map[storedID]V)
	}
	c.m[k] = v
	c.mu.Unlock()
}

// storedKey is the cache key of a relation's stored text; ok is false while the transaction has uncommitted DDL.
// Text without a relation is not kept.
func (b *binder) storedKey(rel *catalog.Relation) (storedID, bool) {
	if rel == nil {
		return storedID{}, false
	}
	k := storedID{rel: rel.OID, version: uint64(rel.Version)}
	if rel.OID < 16384 {
		return k, true
	}
	v, own := b.cat.Version()
	k.database, k.catalogV = b.env.Database, uint64(v)
	return k, !own
}

// relExpr binds a stored expression over a relation's columns (Vars of RTE 0) and puts the bodies of SQL functions in it, which
// depend on the search path.
func (b *binder) relExpr(rel *catalog.Relation, text string, kind exprKind) (plan.Expr, error) {
	e, err := b.boundRelExpr(rel, text, kind)
	if err != nil || kind == kindDefault {
		return e, err
	}
	return b.evaluable(e)
}

func (b *binder) boundRelExpr(rel *catalog.Relation, text string, kind exprKind) (plan.Expr, error) {
	key, cacheable := b.storedKey(rel)
	key.text, key.kind = text, kind
	if cacheable {
		if e, ok := exprCache.get(key); ok {
			b.relyOn(e.deps)
			return e.expr, nil
		}
	}
	if b.env.ParseExpr == nil {
		return nil, sqlerr.Unsupported("stored expression")
	}
	x, err := b.env.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	env := *b.env
	env.Text, env.Path, env.Fold = "", []types.OID{11}, true
	sub, rec := b.subBinder(&env, nil)
	e, err := sub.exprOver(rel, x, kind)
	if err != nil {
		return nil, err
	}
	b.relyOn(rec.deps)
	if cacheable {
		exprCache.put(key, boundExpr{e, rec.deps})
	}
	return e, nil
}

// exprOver binds an expression over one relation.
func (b *binder) exprOver(rel *catalog.Relation, x ast.Expr, kind exprKind) (plan.Expr, error) {
	sc := &scope{b: b}
	sc.newQuery(plan.CmdSelect)
	if rel != nil {
		sc.addRTE(&plan.RTE{Kind: plan.RTERelation, Alias: rel.Name, Rel: rel, Cols: relColumns(rel)})
		sc.ns = []*nsItem{sc.newItem(0)}
	}
	if kind == kindDefault {
		sc.ns = nil
	}
	return sc.expr(x, kind)
}

// ExprUse says what BindExpr's expression is for.
type ExprUse uint8

// Uses of BindExpr.
const (
	UseDefault   ExprUse = iota // DEFAULT: no columns; cast to the column's type
	UseCheck                    // CHECK: boolean
	UseIndexExpr                // index key expression: must be immutable
	UseIndexPred                // index predicate: boolean, immutable
	UseGenerated                // stored generated column: immutable; cast to the column's type
	UseTransform                // ALTER COLUMN TYPE ... USING
	UseCopyWhere                // COPY ... WHERE
	UseUtility                  // EXECUTE arguments and the like: no columns
)

// BindExpr binds an expression that DDL stores or evaluates. rel supplies the columns (nil: none); Vars are of RTE 0.
// For UseDefault, UseGenerated and UseTransform col is the column whose type the value is cast to (nil: no cast).
func BindExpr(cat catalog.Reader, env *BindEnv, rel *catalog.Relation, x ast.Expr, use ExprUse, col *catalog.Column) (plan.Expr, error) {
	b := &binder{cat: cat, env: env, params: newParamState(nil)}
	kind := [...]exprKind{kindDefault, kindCheck, kindIndexExpr, kindIndexPred, kindGenerated, kindAlterUsing, kindCopyWhere, kindUtility}[use]
	e, err := b.exprOver(rel, x, kind)
	if err != nil {
		return nil, err
	}
	switch use {
	case UseCheck:
		return b.toBoolean(e, "CHECK")
	case UseIndexPred:
		if e, err = b.toBoolean(e, "WHERE"); err != nil {
			return nil, err
		}
		if b.volatility(e) != 'i' {
			return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "functions in index predicate must be marked IMMUTABLE")
		}
	case UseCopyWhere:
		return b.toBoolean(e, "WHERE")
	case UseIndexExpr:
		if e.T().Type == types.UnknownOID {
			if e, err = b.coerce(e, types.TextOID, -1, coerceImplicit, plan.FormImplicitCast, -1); err != nil {
				return nil, err
			}
		}
		if b.volatility(e) != 'i' {
			return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "functions in index expression must be marked IMMUTABLE")
		}
	case UseGenerated:
		if b.volatility(e) != 'i' {
			return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "generation expression is not immutable")
		}
	}
	if col != nil && (use == UseDefault || use == UseGenerated || use == UseTransform) {
		return b.columnValue(e, col, use)
	}
	return e, nil
}

// columnValue casts a default or generated value to its column's type.
func (b *binder) columnValue(e plan.Expr, col *catalog.Column, use ExprUse) (plan.Expr, error) {
	r, err := b.coerceTo(e, col.Type, col.Typmod, coerceAssignment, plan.FormImplicitCast, -1)
	if err != nil {
		return nil, err
	}
	if r == nil {
		what := "default expression"
		if use == UseGenerated {
			what = "generation expression"
		}
		if use == UseTransform {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "result of USING clause for column \"%s\" cannot be cast automatically to type %s", col.Name, b.typeNameMod(col.Type, col.Typmod)).
				WithHint("You might need to add an explicit cast.")
		}
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" is of type %s but %s is of type %s", col.Name, b.typeName(col.Type), what, b.typeName(e.T().Type)).
			WithHint("You will need to rewrite or cast the expression.")
	}
	return r, nil
}

// CopyWhere binds the WHERE of COPY FROM over rows of a relation: Slot i is the column of attribute number i+1.
func CopyWhere(cat catalog.Reader, env *BindEnv, rel *catalog.Relation, x ast.Expr) (plan.Expr, error) {
	e, err := BindExpr(cat, env, rel, x, UseCopyWhere, nil)
	if err != nil {
		return nil, err
	}
	for i := range rel.Columns {
		c := &rel.Columns[i]
		if !c.Dropped && c.Generated != "" && find(e, func(x plan.Expr) bool {
			v, ok := x.(*plan.Var)
			return ok && (v.Attno == i+1 || v.Attno == 0)
		}) {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference, "generated columns are not supported in COPY FROM WHERE conditions").
				WithDetail("Column \"%s\" is a generated column.", c.Name)
		}
	}
	b := &binder{cat: cat, env: env, params: newParamState(nil)}
	other := find(e, func(x plan.Expr) bool {
		v, ok := x.(*plan.Var)
		return ok && v.Attno < 0 && v.Attno != tableOIDAttno
	})
	if other {
		return nil, sqlerr.Unsupported("COPY FROM with a WHERE over system columns")
	}
	in := &inliner{b: b}
	e = rewrite(e, func(x plan.Expr) plan.Expr {
		if c, ok := x.(*plan.FuncCall); ok && in.err == nil && in.proc(c) != nil {
			return in.call(c)
		}
		return x
	})
	return b.rowSlots(e, rel), in.err
}

// BindStored binds canonical text kept in the catalog over a relation's columns (Vars of RTE 0); results are cached and shared.
func BindStored(cat catalog.Reader, env *BindEnv, rel *catalog.Relation, text string, use ExprUse) (plan.Expr, error) {
	b := &binder{cat: cat, env: env, params: newParamState(nil), stored: true}
	kind := [...]exprKind{kindDefault, kindCheck, kindIndexExpr, kindIndexPred, kindGenerated, kindAlterUsing, kindCopyWhere, kindUtility}[use]
	return b.relExpr(rel, text, kind)
}

// domainChecks returns the conditions of a domain over CaseTest.
func (b *binder) domainChecks(t *catalog.Type) ([]plan.CheckExpr, error) {
	var out []plan.CheckExpr
	for _, c := range t.Checks {
		e, err := b.domainCheck(t, c.Expr)
		if err != nil {
			return nil, err
		}
		if p := (&inliner{b: b}).called(e); p != nil {
			return nil, sqlerr.Unsupported("the SQL function \"%s\" in a constraint of domain \"%s\"", p.Name, t.Name)
		}
		out = append(out, plan.CheckExpr{Name: c.Name, Expr: e})
	}
	return out, nil
}

// domainCheck binds a condition of a domain over CaseTest.
func (b *binder) domainCheck(t *catalog.Type, text string) (plan.Expr, error) {
	x, err := b.env.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	env := *b.env
	env.Text, env.Path, env.Fold = "", []types.OID{11}, true
	sub := &binder{cat: b.cat, env: &env, params: newParamState(nil), stored: true}
	sc := &scope{b: sub, domain: &plan.CaseTest{Typed: plan.Typed{Type: b.baseType(t.OID), Typmod: t.Typmod, Collation: t.Collation, Loc: -1}}}
	sc.newQuery(plan.CmdSelect)
	e, err := sc.expr(x, kindCheck)
	if err != nil {
		return nil, err
	}
	return sub.toBoolean(e, "CHECK")
}

// BindDomainCheck binds a condition of a domain as the catalog keeps it; VALUE is a CaseTest.
func BindDomainCheck(cat catalog.Reader, env *BindEnv, domain *catalog.Type, text string) (plan.Expr, error) {
	b := &binder{cat: cat, env: env, params: newParamState(nil), stored: true}
	return b.domainCheck(domain, text)
}

// DomainValue is an expression over Slot 0, a value of a domain's base type, that fails when the value breaks a constraint of the domain.
func DomainValue(cat catalog.Reader, env *BindEnv, domain types.OID) (plan.Expr, error) {
	b := &binder{cat: cat, env: env, params: newParamState(nil), stored: true}
	base, mod := b.baseTypeMod(domain, -1)
	value := plan.Typed{Type: base, Typmod: mod, Collation: b.typeCollation(base), Loc: -1}
	d := &plan.CoerceToDomain{Typed: value, Arg: &plan.Slot{Typed: value}, Form: plan.FormImplicitCast}
	d.Type = domain
	if err := b.fillDomain(d); err != nil {
		return nil, err
	}
	d.Type = base
	return b.evaluable(d)
}

// volatility is the worst volatility of any function in e, subqueries included.
func (b *binder) volatility(e plan.Expr) byte { return volatilityOf(e) }

func volatilityOf(e plan.Expr) byte {
	worst := byte('i')
	deepExpr(e, 0, func(x plan.Expr, _ int) bool {
		switch v := nodeVolatility(x); {
		case v == 'v':
			worst = 'v'
			return true
		case v == 's':
			worst = 's'
		}
		return false
	})
	return worst
}

// nodeVolatility is the volatility of one node by itself.
func nodeVolatility(x plan.Expr) byte {
	switch v := x.(type) {
	case *plan.FuncCall:
		return v.Volatile
	case *plan.NextValue:
		return 'v'
	case *plan.SQLValue:
		return 's'
	case *plan.CoerceViaIO:
		return viaIOVolatility(v)
	case *plan.ArrayCoerce:
		return volatilityOf(v.Elem)
	}
	return 'i'
}

// viaIOVolatility: text conversion is immutable where both the output function of the source and the input function of the target are.
func viaIOVolatility(v *plan.CoerceViaIO) byte {
	worst := byte('i')
	for i, t := range [2]types.OID{v.Arg.T().Type, v.Type} {
		td := pgdata.TypeByOID(t)
		if td == nil {
			return 's'
		}
		fn := td.Output
		if i == 1 {
			fn = td.Input
		}
		p := pgdata.FuncByOID(fn)
		if p == nil || p.Volatile == 'v' {
			return 'v'
		}
		if p.Volatile == 's' {
			worst = 's'
		}
	}
	return worst
}
