package planner

import (
	"fmt"
	"strings"
	"testing"

	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/exec"
	"herd/sql/postgres"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// fakeCatalog is an in-memory catalog made by CREATE TABLE, INDEX and VIEW statements.
type fakeCatalog struct {
	catalog.Reader
	rels map[string]*catalog.Relation
	oid  types.OID
	rows map[string]int64
	seq  storage.Seq
	env  *BindEnv
}

const testSchema types.OID = pgdata.PublicSchema

func newFake() *fakeCatalog {
	f := &fakeCatalog{rels: map[string]*catalog.Relation{}, oid: 20000, rows: map[string]int64{}}
	f.env = &BindEnv{
		Path: []types.OID{pgdata.CatalogSchema, testSchema}, IO: types.NewIOContext(), DatabaseName: "test",
		ParseExpr: postgres.ParseExpr, ParseQuery: func(sql string) (ast.Stmt, error) {
			st, err := postgres.Parse(sql)
			if err != nil {
				return nil, err
			}
			return st[0].Stmt, nil
		},
	}
	f.env.EvalConst = func(e plan.Expr) (types.Datum, error) {
		env := &exec.Env{}
		env.Funcs.IO = f.env.IO
		return exec.Evaluate(env, e)
	}
	return f
}

func (f *fakeCatalog) next() types.OID { f.oid++; return f.oid }

func (f *fakeCatalog) Version() (storage.Seq, bool) { return f.seq, true }
func (f *fakeCatalog) LookupRelation(schema, name string, path []types.OID) (*catalog.Relation, error) {
	if schema == "pg_catalog" || schema == "" {
		if r := systemRelation(name); r != nil {
			return r, nil
		}
	}
	return f.rels[name], nil
}

// systemRelation describes a system table or view of pgdata.
func systemRelation(name string) *catalog.Relation {
	p := pgdata.RelationByName(name)
	if p == nil || p.Namespace != pgdata.CatalogSchema || p.Kind != 'r' && p.Kind != 'v' {
		return nil
	}
	r := &catalog.Relation{OID: p.OID, Name: p.Name, Schema: p.Namespace, Kind: catalog.RelKind(p.Kind), RowType: p.RowType, ViewDef: p.ViewDef}
	for _, c := range p.Columns {
		r.Columns = append(r.Columns, catalog.Column{Num: c.Num, Name: c.Name, Type: c.Type, Typmod: c.Typmod, NotNull: c.NotNull, Collation: c.Collation})
	}
	if p.Kind == 'r' {
		r.Virtual = fakeVirtual{}
	}
	return r
}

type fakeVirtual struct{}

func (fakeVirtual) Paths() []catalog.AccessPath {
	return []catalog.AccessPath{{Cols: []int16{1}, Rows: 1}}
}
func (fakeVirtual) Scan(catalog.VirtualEnv, int, []types.Datum, []bool) (catalog.RowIter, error) {
	return nil, nil
}

func (f *fakeCatalog) RelationByOID(id types.OID) (*catalog.Relation, error) {
	for _, r := range f.rels {
		if r.OID == id {
			return r, nil
		}
	}
	if p := pgdata.RelationByOID(id); p != nil {
		return systemRelation(p.Name), nil
	}
	return nil, nil
}
func (f *fakeCatalog) RowCount(r *catalog.Relation) int64 { return f.rows[r.Name] }
func (f *fakeCatalog) SchemaByName(n string) (*catalog.Schema, error) {
	switch n {
	case "public":
		return &catalog.Schema{OID: testSchema, Name: n}, nil
	case "pg_catalog":
		return &catalog.Schema{OID: pgdata.CatalogSchema, Name: n}, nil
	case "information_schema":
		return &catalog.Schema{OID: pgdata.InformationSchema, Name: n}, nil
	}
	return nil, nil
}
func (f *fakeCatalog) SchemaByOID(id types.OID) (*catalog.Schema, error) {
	return &catalog.Schema{OID: id, Name: "public"}, nil
}
func (f *fakeCatalog) TypeByOID(id types.OID) (*pgdata.Type, error) {
	for _, r := range f.rels {
		if r.RowType == id {
			return &pgdata.Type{OID: id, Name: r.Name, Namespace: testSchema, Type: 'c', Category: 'C', Relid: r.OID, Len: -1, Defined: true}, nil
		}
	}
	return nil, nil
}
func (f *fakeCatalog) TypeByName(schema types.OID, name string) (*pgdata.Type, error) {
	return pgdata.TypeByName(schema, name), nil
}
func (f *fakeCatalog) LookupType(schema, name string, path []types.OID) (*pgdata.Type, error) {
	if schema != "" && schema != "pg_catalog" {
		return nil, nil
	}
	return pgdata.TypeByName(pgdata.CatalogSchema, name), nil
}
func (f *fakeCatalog) LookupFuncs(schema, name string, path []types.OID) ([]*pgdata.Proc, error) {
	return pgdata.FuncsByName(name), nil
}
func (f *fakeCatalog) FuncByOID(id types.OID) (*pgdata.Proc, error) { return nil, nil }

// exec runs one DDL statement of a test.
func (f *fakeCatalog) exec(sql string) error {
	st, err := postgres.Parse(sql)
	if err != nil {
		return err
	}
	f.seq++
	b := &binder{cat: f, env: f.env, params: newParamState(nil)}
	switch x := st[0].Stmt.(type) {
	case *ast.CreateTable:
		return f.createTable(b, sql, x)
	case *ast.CreateIndex:
		return f.createIndex(b, sql, x)
	case *ast.CreateView:
		return f.createView(b, sql, x)
	}
	return fmt.Errorf("not a DDL statement of tests: %s", sql)
}

// text cuts an expression's source out of a DDL statement: from its position to the bracket that closes it.
func exprText(sql string, at int32) string {
	depth := 0
	for i := int(at); i < len(sql); i++ {
		switch sql[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return sql[at:i]
			}
		case ',':
			if depth == 0 {
				return sql[at:i]
			}
		}
	}
	return sql[at:]
}

func (f *fakeCatalog) createTable(b *binder, sql string, x *ast.CreateTable) error {
	r := &catalog.Relation{OID: f.next(), Name: x.Table.Name, Schema: testSchema, Kind: catalog.KindTable, HiddenRowID: true, RowType: f.next()}
	for _, el := range x.Elements {
		d, ok := el.(*ast.ColumnDef)
		if !ok {
			continue
		}
		t, mod, err := b.typeByName(d.Type)
		if err != nil {
			return err
		}
		c := catalog.Column{Num: int16(len(r.Columns) + 1), Name: d.Name, Type: t, Typmod: mod, Collation: b.typeCollation(t)}
		r.Columns = append(r.Columns, c)
		for _, k := range d.Constraints {
			if err := f.constraint(r, sql, k, []string{d.Name}); err != nil {
				return err
			}
		}
	}
	for _, el := range x.Elements {
		if k, ok := el.(*ast.Constraint); ok {
			if err := f.constraint(r, sql, k, k.Keys); err != nil {
				return err
			}
		}
	}
	f.rels[r.Name] = r
	return nil
}

func (f *fakeCatalog) constraint(r *catalog.Relation, sql string, k *ast.Constraint, cols []string) error {
	nums := func(cols []string) (out []int16) {
		for _, n := range cols {
			for i := range r.Columns {
				if r.Columns[i].Name == n {
					out = append(out, r.Columns[i].Num)
				}
			}
		}
		return out
	}
	last := &r.Columns[len(r.Columns)-1]
	switch k.Kind {
	case ast.ConNotNull:
		last.NotNull = true
	case ast.ConDefault:
		last.Default = strings.Fields(strings.TrimSuffix(exprText(sql, k.Expr.Pos()), ")"))[0]
	case ast.ConIdentity:
		last.Identity, last.NotNull, last.Sequence = 'd', true, f.next()
		if k.Always {
			last.Identity = 'a'
		}
	case ast.ConGenerated:
		last.Generated = exprText(sql, k.Expr.Pos())
	case ast.ConCheck:
		r.Constraints = append(r.Constraints, &catalog.Constraint{OID: f.next(), Name: r.Name + "_check", Type: 'c', Rel: r.OID, Expr: exprText(sql, k.Expr.Pos())})
	case ast.ConPrimaryKey, ast.ConUnique:
		ix := &catalog.Index{OID: f.next(), Name: r.Name + "_pkey", Rel: r.OID, Unique: true, Primary: k.Kind == ast.ConPrimaryKey, Method: "btree"}
		for _, n := range nums(cols) {
			c := &r.Columns[n-1]
			ix.Keys = append(ix.Keys, catalog.IndexKey{Attno: n, Type: c.Type, Collation: c.Collation})
			if ix.Primary {
				c.NotNull = true
			}
		}
		typ := byte('u')
		if ix.Primary {
			r.PrimaryKey, r.HiddenRowID, typ = ix, false, 'p'
		} else {
			ix.Name = r.Name + "_" + strings.Join(cols, "_") + "_key"
			r.Indexes = append(r.Indexes, ix)
		}
		r.Constraints = append(r.Constraints, &catalog.Constraint{OID: f.next(), Name: ix.Name, Type: typ, Rel: r.OID, Index: ix.OID, Cols: nums(cols)})
	case ast.ConForeignKey:
		ref := f.rels[k.Ref.Table.Name]
		c := &catalog.Constraint{OID: f.next(), Name: r.Name + "_" + cols[0] + "_fkey", Type: 'f', Rel: r.OID, Cols: nums(cols), Ref: ref.OID, OnDelete: "arcnd"[k.Ref.OnDelete], OnUpdate: 'a', Match: 's'}
		for _, kk := range ref.PrimaryKey.Keys {
			c.RefCols = append(c.RefCols, kk.Attno)
		}
		c.Index = ref.PrimaryKey.OID
		r.Constraints = append(r.Constraints, c)
		ref.ReferencedBy, ref.ReferencedByRel = append(ref.ReferencedBy, c.OID), append(ref.ReferencedByRel, r.OID)
	}
	return nil
}

func (f *fakeCatalog) createIndex(b *binder, sql string, x *ast.CreateIndex) error {
	r := f.rels[x.Table.Name.Name]
	ix := &catalog.Index{OID: f.next(), Name: x.Name, Rel: r.OID, Unique: x.Unique, Method: "btree"}
	for i := range x.Elems {
		e := &x.Elems[i]
		k := catalog.IndexKey{Desc: e.Dir == ast.SortDesc, NullsFirst: e.Dir == ast.SortDesc}
		if e.Column != "" {
			for c := range r.Columns {
				if r.Columns[c].Name == e.Column {
					k.Attno, k.Type, k.Collation = r.Columns[c].Num, r.Columns[c].Type, r.Columns[c].Collation
				}
			}
		} else {
			k.Expr = exprText(sql, e.Expr.Pos())
			t, err := BindExpr(f, f.env, r, e.Expr, UseIndexExpr, nil)
			if err != nil {
				return err
			}
			k.Type, k.Collation = t.T().Type, t.T().Collation
		}
		ix.Keys = append(ix.Keys, k)
	}
	if i := strings.Index(sql, " where "); i >= 0 {
		ix.Pred = strings.TrimSuffix(strings.TrimSpace(sql[i+7:]), ";")
	}
	r.Indexes = append(r.Indexes, ix)
	return nil
}

func (f *fakeCatalog) createView(b *binder, sql string, x *ast.CreateView) error {
	i := strings.Index(sql, " as ")
	r := &catalog.Relation{OID: f.next(), Name: x.View.Name, Schema: testSchema, Kind: catalog.KindView, ViewDef: strings.TrimSuffix(strings.TrimSpace(sql[i+4:]), ";"), RowType: f.next()}
	q, _, err := Bind(f, f.env, x.Query, nil)
	if err != nil {
		return err
	}
	for k, c := range outputColumns(q) {
		r.Columns = append(r.Columns, catalog.Column{Num: int16(k + 1), Name: c.Name, Type: c.Type, Typmod: c.Typmod, Collation: c.Collation})
	}
	f.rels[r.Name] = r
	return nil
}

// plan binds and plans a statement.
func (f *fakeCatalog) plan(sql string, params []types.OID) (*plan.Plan, error) {
	return f.planWith(sql, params, Options{})
}

func (f *fakeCatalog) planWith(sql string, params []types.OID, o Options) (*plan.Plan, error) {
	st, err := postgres.Parse(sql)
	if err != nil {
		return nil, err
	}
	env := *f.env
	env.Text = sql
	q, info, err := Bind(f, &env, st[0].Stmt, params)
	if err != nil {
		return nil, err
	}
	return Plan(f, &env, q, info, o)
}

// errorText shows an error as psql does.
func errorText(err error) string {
	e := sqlerr.From(err)
	s := fmt.Sprintf("ERROR:  %s: %s", e.Code, e.Message)
	if e.Position > 0 {
		s += fmt.Sprintf(" (at %d)", e.Position)
	}
	if e.Detail != "" {
		s += "\nDETAIL:  " + e.Detail
	}
	if e.Hint != "" {
		s += "\nHINT:  " + e.Hint
	}
	return s
}

func TestSmoke(t *testing.T) {
	f := newFake()
	for _, s := range []string{
		"create table t (a int primary key, b text, c numeric(10,2))",
		"create table u (x int, y int references t, primary key (x))",
	} {
		if err := f.exec(s); err != nil {
			t.Fatal(errorText(err))
		}
	}
	for _, s := range []string{
		"select * from t where a = 1", "select b, count(*) from t group by b order by 2 desc limit 3",
		"select t.a, u.x from t join u on u.y = t.a where t.b like 'x%'", "insert into t values (1, 'x', 2.5)",
		"insert into t (a) values (1), (2)", "update t set b = b || 'x' where a = 5", "delete from t where a = 3",
		"select * from t where exists (select 1 from u where u.y = t.a)", "select (select max(x) from u where y = t.a) from t",
	} {
		if _, err := f.plan(s, nil); err != nil {
			t.Errorf("%s\n%s", s, errorText(err))
		}
	}
}
