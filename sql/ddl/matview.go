package ddl

import (
	"herd/engine/lock"
	"herd/planner"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/deparse"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// createMatView is CREATE MATERIALIZED VIEW: a table of a query's rows that keeps the query.
func (x *executor) createMatView(s *ast.CreateTableAs) (Result, error) {
	none := Result{Tag: "CREATE MATERIALIZED VIEW"}
	sel, ok := s.Query.(*ast.Select)
	if !ok {
		return none, sqlerr.Unsupported("CREATE MATERIALIZED VIEW of this statement")
	}
	schema, err := x.creationSchema(s.Table, false)
	if err != nil {
		return none, err
	}
	if exists, err := x.notThere(schema, s.Table.Name, s.IfNotExists); exists || err != nil {
		return none, err
	}
	q, _, err := planner.Bind(x.reader(), x.Bind, sel, nil)
	if err != nil {
		return none, err
	}
	if usesModifyingCTE(q) {
		return none, sqlerr.New(sqlerr.FeatureNotSupported, "materialized views must not use data-modifying statements in WITH")
	}
	if usesTemp(q) {
		return none, sqlerr.New(sqlerr.FeatureNotSupported, "materialized views must not use temporary tables or views")
	}
	rel := &catalog.Relation{Name: s.Table.Name, Schema: schema, Kind: catalog.KindMatView, Owner: x.User.OID, Persistence: 'p', Unpopulated: s.WithNoData}
	if rel.Options, err = relOptions(s.Options); err != nil {
		return none, err
	}
	if rel.Columns, err = x.queryColumns(q, s.Columns, "CREATE MATERIALIZED VIEW"); err != nil {
		return none, err
	}
	rel.ViewDef, err = deparse.Query(&deparse.Env{Cat: x.reader(), Path: deparse.StoredPath, Store: true, Database: x.Database}, q, viewColumns(rel))
	if err != nil {
		return none, err
	}
	if err := x.Writer.CreateRelation(rel); err != nil {
		return none, err
	}
	if err := x.Writer.ReplaceDependencies(catalog.ClassRewrite, rel.RuleOID, x.queryDependencies(q)); err != nil {
		return none, err
	}
	if s.WithNoData {
		return none, nil
	}
	n, err := x.fill(rel.OID)
	return Result{Tag: "SELECT", Rows: n, HasRows: true}, err
}

// fill runs a materialized view's query and writes its rows.
func (x *executor) fill(id types.OID) (int64, error) {
	rel, err := x.reader().RelationByOID(id)
	if err != nil {
		return 0, err
	}
	st, err := x.Bind.ParseQuery(rel.ViewDef)
	if err != nil {
		return 0, err
	}
	w, err := x.rowWriter(rel)
	if err != nil {
		return 0, err
	}
	defer w.close()
	var n int64
	vals := make([]types.Datum, len(rel.Columns))
	err = x.Rows(st, func(row []types.Datum) error {
		n++
		copy(vals, row)
		return w.write(vals)
	})
	if err == nil {
		err = w.finish()
	}
	return n, err
}

// refresh is REFRESH MATERIALIZED VIEW. Readers of older snapshots keep the old tree, so CONCURRENTLY needs nothing of its own.
func (x *executor) refresh(s *ast.RefreshMatView) error {
	rel, err := x.locked(s.View, lock.AccessExclusive, false)
	if err != nil {
		return err
	}
	if rel.Kind != catalog.KindMatView {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table or materialized view", rel.Name)
	}
	if err := x.own(rel); err != nil {
		return err
	}
	if s.Concurrently && rel.Unpopulated {
		return sqlerr.New(sqlerr.FeatureNotSupported, "CONCURRENTLY cannot be used when the materialized view is not populated")
	}
	if s.Concurrently && s.WithNoData {
		return sqlerr.New(sqlerr.SyntaxError, "REFRESH options CONCURRENTLY and WITH NO DATA cannot be used together")
	}
	if s.Concurrently && !hasPlainUnique(rel) {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "cannot refresh materialized view \"%s\" concurrently", x.qualified(rel)).
			WithHint("Create a unique index with no WHERE clause on one or more columns of the materialized view.")
	}
	if err := x.empty(rel.OID, func(now *catalog.Relation) { now.Unpopulated = s.WithNoData }); err != nil || s.WithNoData {
		return err
	}
	_, err = x.fill(rel.OID)
	return err
}

// hasPlainUnique says whether a unique index over columns covers all rows.
func hasPlainUnique(rel *catalog.Relation) bool {
	for _, ix := range rel.Indexes {
		plain := ix.Unique && ix.Pred == "" && ix.State == catalog.IndexValid
		for _, k := range ix.Keys {
			plain = plain && k.Attno > 0
		}
		if plain {
			return true
		}
	}
	return false
}
