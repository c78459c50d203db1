package ddl

import (
	"herd/engine/lock"
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/deparse"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

func (x *executor) createView(s *ast.CreateView) error {
	if s.CheckOption != "" {
		return sqlerr.Unsupported("WITH CHECK OPTION")
	}
	if s.Persistence == ast.Unlogged {
		return sqlerr.New(sqlerr.SyntaxError, "views cannot be unlogged because they do not have storage")
	}
	env := *x.Bind
	env.NoParams = true
	q, _, err := planner.Bind(x.reader(), &env, s.Query, nil)
	if err != nil {
		return err
	}
	if usesModifyingCTE(q) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "views must not contain data-modifying statements in WITH")
	}
	temp := s.Persistence == ast.Temporary
	if !temp && usesTemp(q) {
		x.notice(sqlerr.SuccessfulCompletion, "view \"%s\" will be a temporary view", s.View.Name)
		temp = true
	}
	schema, err := x.creationSchema(s.View, temp)
	if err != nil {
		return err
	}
	rel := &catalog.Relation{Name: s.View.Name, Schema: schema, Kind: catalog.KindView, Owner: x.User.OID, Persistence: 'p'}
	if temp {
		rel.Persistence = 't'
	}
	if rel.Options, err = relOptions(s.Options); err != nil {
		return err
	}
	if rel.Columns, err = x.queryColumns(q, s.Columns, "CREATE VIEW"); err != nil {
		return err
	}
	rel.ViewDef, err = deparse.Query(&deparse.Env{Cat: x.reader(), Path: deparse.StoredPath, Store: true, Database: x.Database}, q, viewColumns(rel))
	if err != nil {
		return err
	}
	return x.storeView(rel, q, s.OrReplace, temp)
}

// storeView creates a view, or replaces one that has the same columns, and more.
func (x *executor) storeView(rel *catalog.Relation, q *plan.Query, replace, temp bool) error {
	old, err := x.reader().RelationByName(rel.Schema, rel.Name)
	if err != nil {
		return err
	}
	if old == nil {
		if err := x.Writer.CreateRelation(rel); err != nil {
			return err
		}
		if temp && x.OnTemp != nil {
			x.OnTemp(rel.OID, ast.OnCommitDefault)
		}
	} else {
		if !replace {
			return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", rel.Name)
		}
		if old.Kind != catalog.KindView {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a view", rel.Name)
		}
		if old, err = x.lockOID(old.OID, lock.AccessExclusive); err != nil {
			return err
		}
		if err := x.own(old); err != nil {
			return err
		}
		if err := x.sameViewColumns(old, rel); err != nil {
			return err
		}
		now := old.Clone()
		now.Columns, now.ViewDef, now.Options = rel.Columns, rel.ViewDef, rel.Options
		for i := range old.Columns {
			now.Columns[i].Default, now.Columns[i].DefaultOID, now.Columns[i].ACL = old.Columns[i].Default, old.Columns[i].DefaultOID, old.Columns[i].ACL
		}
		if err := x.Writer.UpdateRelation(old, now); err != nil {
			return err
		}
		rel = now
	}
	return x.Writer.ReplaceDependencies(catalog.ClassRewrite, rel.RuleOID, x.queryDependencies(q))
}

// sameViewColumns checks that a replacement keeps the view's columns.
func (x *executor) sameViewColumns(old, now *catalog.Relation) error {
	if len(now.Columns) < len(old.Columns) {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop columns from view")
	}
	for i := range old.Columns {
		o, n := &old.Columns[i], &now.Columns[i]
		if o.Name != n.Name {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change name of view column \"%s\" to \"%s\"", o.Name, n.Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
		}
		if o.Type != n.Type || o.Typmod != n.Typmod {
			a, _ := catalog.FormatType(x.reader(), o.Type, o.Typmod, true, x.Bind.Path)
			b, _ := catalog.FormatType(x.reader(), n.Type, n.Typmod, true, x.Bind.Path)
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change data type of view column \"%s\" from %s to %s", o.Name, a, b)
		}
		if o.Collation != n.Collation {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change collation of view column \"%s\" from \"%s\" to \"%s\"", o.Name, x.collationName(o.Collation), x.collationName(n.Collation))
		}
	}
	return nil
}

// queryColumns makes columns of a query's output; names, when given, rename the first of them.
func (x *executor) queryColumns(q *plan.Query, names []string, command string) ([]catalog.Column, error) {
	var out []catalog.Column
	seen := map[string]bool{}
	for _, t := range q.Targets {
		if t.Junk {
			continue
		}
		c := catalog.Column{Num: int16(len(out) + 1), Name: t.Name, Type: t.Expr.T().Type, Typmod: t.Expr.T().Typmod, Collation: t.Expr.T().Collation}
		if len(out) < len(names) {
			c.Name = names[len(out)]
		}
		if c.Type == types.UnknownOID {
			c.Type, c.Collation = types.TextOID, types.DefaultCollationOID
		}
		if seen[c.Name] {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", c.Name)
		}
		if systemColumns[c.Name] {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column name \"%s\" conflicts with a system column name", c.Name)
		}
		typ, err := x.typeInfo(c.Type)
		if err != nil {
			return nil, err
		}
		if typ.Type == 'p' {
			return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "column \"%s\" has pseudo-type %s", c.Name, x.typeText(c.Type))
		}
		if c.Collation == 0 {
			c.Collation = typ.Collation
		}
		seen[c.Name] = true
		out = append(out, c)
	}
	if len(names) > len(out) {
		if command != "CREATE VIEW" {
			return nil, sqlerr.New(sqlerr.SyntaxError, "too many column names were specified")
		}
		return nil, sqlerr.New(sqlerr.SyntaxError, "%s specifies more column names than columns", command)
	}
	return out, nil
}

// usesTemp says whether a query reads a temporary relation.
func usesTemp(q *plan.Query) bool {
	found := false
	eachQuery(q, func(q *plan.Query) {
		for _, r := range q.RTable {
			found = found || r.Kind == plan.RTERelation && r.Rel.Persistence == 't'
		}
	})
	return found
}

func usesModifyingCTE(q *plan.Query) bool {
	for _, c := range q.CTEs {
		if c.Query.Command != plan.CmdSelect {
			return true
		}
	}
	return false
}

// eachQuery calls f for a query and all queries in it.
func eachQuery(q *plan.Query, f func(*plan.Query)) {
	f(q)
	walkLevel(q, func(plan.Expr) {}, func(sub *plan.Query) { eachQuery(sub, f) })
}

// createTableAs is CREATE TABLE AS and SELECT INTO: a table with the query's columns, then an INSERT.
func (x *executor) createTableAs(s *ast.CreateTableAs) (Result, error) {
	none := Result{Tag: "CREATE TABLE AS"}
	if s.MatView {
		return x.createMatView(s)
	}
	sel, ok := s.Query.(*ast.Select)
	if !ok {
		e, isExec := s.Query.(*ast.Execute)
		if !isExec || x.Prepared == nil {
			return none, sqlerr.Unsupported("CREATE TABLE AS of this statement")
		}
		var err error
		if sel, err = x.Prepared(e); err != nil {
			return none, err
		}
	}
	schema, err := x.creationSchema(s.Table, s.Persistence == ast.Temporary)
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
	rel := &catalog.Relation{Name: s.Table.Name, Schema: schema, Kind: catalog.KindTable, Owner: x.User.OID, Persistence: x.persistence(s.Persistence, schema)}
	if rel.Options, err = relOptions(s.Options); err != nil {
		return none, err
	}
	if rel.Columns, err = x.queryColumns(q, s.Columns, "CREATE TABLE AS"); err != nil {
		return none, err
	}
	if err := x.Writer.CreateRelation(rel); err != nil {
		return none, err
	}
	if rel.Persistence == 't' && x.OnTemp != nil {
		x.OnTemp(rel.OID, s.OnCommit)
	}
	if s.WithNoData {
		return none, nil
	}
	insert := &ast.Insert{Loc: s.Loc, Source: sel, Table: &ast.TableRef{Loc: s.Table.Loc,
		Name: ast.Name{Loc: s.Table.Loc, Schema: x.schemaName(schema), Name: rel.Name}}}
	n, err := x.Query(insert)
	tag := "SELECT"
	return Result{Tag: tag, Rows: n, HasRows: true}, err
}
