package catalog_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"herd/sql/catalog"
	"herd/sql/catalog/catalogtest"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

var path = []types.OID{pgdata.CatalogSchema, pgdata.PublicSchema}

func open(t *testing.T) *catalogtest.Memory {
	t.Helper()
	m, err := catalogtest.New()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func table(t *testing.T, m *catalogtest.Memory, name string) *catalog.Relation {
	t.Helper()
	return must[*catalog.Relation](t)(m.Table(name, "id", [2]string{"id", "int4"}, [2]string{"v", "text"}))
}

func wantCode(t *testing.T, err error, code sqlerr.Code) {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error %v, want code %s", err, code)
	}
}

func TestCreateAndLookUp(t *testing.T) {
	m := open(t)
	rel := table(t, m, "t")
	r := m.Reader()
	if got := must[*catalog.Relation](t)(r.LookupRelation("", "t", path)); got != rel {
		t.Errorf("by name: %p, by oid: %p: the cache gave two descriptors", got, rel)
	}
	if _, own := r.Version(); !own {
		t.Error("Version does not report uncommitted DDL")
	}
	m.Commit()
	if _, own := m.Reader().Version(); own {
		t.Error("Version reports DDL after commit")
	}
	if rel.HiddenRowID || rel.TreeID == 0 || rel.PrimaryKey.Tree != rel.TreeID || rel.Layout() == nil {
		t.Errorf("storage of the table: %+v", rel)
	}
	x := must[*catalog.Relation](t)(r.LookupRelation("public", "t_pkey", nil))
	if x == nil || x.Kind != catalog.KindIndex || x.OID != rel.PrimaryKey.OID || x.Columns[0].Name != "id" {
		t.Errorf("index by name: %+v", x)
	}
	if rel.Constraints[0].Index != rel.PrimaryKey.OID || rel.PrimaryKey.Constraint != rel.Constraints[0].OID {
		t.Errorf("constraint %+v, index %+v", rel.Constraints[0], rel.PrimaryKey)
	}
	row := must[*catalog.Type](t)(r.LookupType("", "t", path))
	arr := must[*catalog.Type](t)(r.LookupType("", "_t", path))
	if row.Relid != rel.OID || row.Array != arr.OID || arr.Elem != row.OID {
		t.Errorf("row type %+v, array type %+v", row, arr)
	}
	_, err := m.Table("t", "", [2]string{"a", "int4"})
	wantCode(t, err, sqlerr.DuplicateTable)
	if got := must[*catalog.Relation](t)(r.LookupRelation("", "pg_class", path)); got.OID != 1259 || got.Virtual == nil {
		t.Errorf("pg_class: %+v", got)
	}
	if got := must[*catalog.Relation](t)(r.LookupRelation("information_schema", "tables", nil)); got.Kind != catalog.KindView || got.ViewDef == "" {
		t.Errorf("information_schema.tables: %+v", got)
	}
}

func TestRoundTrip(t *testing.T) {
	m := open(t)
	rel := table(t, m, "t")
	c := rel.Clone()
	missing := types.Text("x")
	c.Columns = append(c.Columns, catalog.Column{Num: 3, Name: "w", Type: types.TextOID, Typmod: -1, Collation: 100, Default: "'x'::text", Missing: &missing})
	c.Constraints = append(c.Constraints, &catalog.Constraint{Name: "t_v_check", Type: 'c', Cols: []int16{2}, Expr: "(v <> ''::text)", Validated: true})
	c.Indexes = append(c.Indexes, &catalog.Index{Name: "t_v", Keys: []catalog.IndexKey{{Attno: 2, Type: types.TextOID, Collation: 100, OpClass: 3126, Desc: true}}, Pred: "(id > 0)"})
	c.Options = []string{"fillfactor=70"}
	c.ACL = []string{"10=arwdDxt/10", "=r/10"}
	if err := m.Writer().UpdateRelation(rel, c); err != nil {
		t.Fatal(err)
	}
	got := must[*catalog.Relation](t)(m.Reader().RelationByOID(rel.OID))
	if got == rel || got.Version == rel.Version {
		t.Fatal("the old descriptor is still there")
	}
	again := got.Clone()
	if c.Columns[2].DefaultOID == 0 || c.Indexes[0].Tree == 0 {
		t.Errorf("nothing assigned: %+v %+v", c.Columns[2], c.Indexes[0])
	}
	for i := range again.Indexes { // set by the reader
		again.Indexes[i].Version = 0
	}
	again.PrimaryKey.Version, c.PrimaryKey.Version = 0, 0
	if !reflect.DeepEqual(again, c) {
		t.Errorf("read back\n%+v\nwrote\n%+v", again, c)
	}
	if err := m.Writer().UpdateRelation(rel, c); err == nil {
		t.Error("an update from an outdated descriptor went through")
	}
}

func TestForeignKeyKnowsItsParent(t *testing.T) {
	m := open(t)
	parent := table(t, m, "p")
	child := table(t, m, "c")
	c := child.Clone()
	c.Constraints = append(c.Constraints, &catalog.Constraint{
		Name: "c_fkey", Type: 'f', Cols: []int16{1}, Ref: parent.OID, RefCols: []int16{1}, Index: parent.PrimaryKey.OID,
		OnDelete: 'a', OnUpdate: 'a', Match: 's', Validated: true, EqOps: []types.OID{96},
	})
	if err := m.Writer().UpdateRelation(child, c); err != nil {
		t.Fatal(err)
	}
	p := must[*catalog.Relation](t)(m.Reader().RelationByOID(parent.OID))
	if len(p.ReferencedBy) != 1 || p.ReferencedByRel[0] != child.OID {
		t.Fatalf("parent: %v %v", p.ReferencedBy, p.ReferencedByRel)
	}
	old := must[*catalog.Relation](t)(m.Reader().RelationByOID(child.OID))
	c = old.Clone()
	c.Constraints = c.Constraints[:1]
	if err := m.Writer().UpdateRelation(old, c); err != nil {
		t.Fatal(err)
	}
	if p = must[*catalog.Relation](t)(m.Reader().RelationByOID(parent.OID)); len(p.ReferencedBy) != 0 {
		t.Errorf("parent still referenced: %v", p.ReferencedBy)
	}
}

func TestTruncateMakesNewTree(t *testing.T) {
	m := open(t)
	rel := table(t, m, "t")
	c := rel.Clone()
	c.TreeID = 0
	if err := m.Writer().UpdateRelation(rel, c); err != nil {
		t.Fatal(err)
	}
	if c.TreeID == rel.TreeID || c.PrimaryKey.Tree != c.TreeID {
		t.Errorf("tree %d, index %d, was %d", c.TreeID, c.PrimaryKey.Tree, rel.TreeID)
	}
	if _, ok := m.Trees[rel.TreeID]; ok {
		t.Error("the old tree is still there")
	}
}

func TestStats(t *testing.T) {
	m := open(t)
	rel := table(t, m, "t")
	st := &catalog.ColumnStats{NullFrac: .25, AvgWidth: 4, NDistinct: -1, MCV: []types.Datum{types.Text("a")}, MCVFreqs: []float64{.5}}
	err := m.Writer().SetStats(rel, catalog.RelStats{Rows: 7, Pages: 2}, map[int16]*catalog.ColumnStats{2: st}, map[types.OID]catalog.RelStats{rel.PrimaryKey.OID: {Rows: 7}})
	if err != nil {
		t.Fatal(err)
	}
	got := must[*catalog.Relation](t)(m.Reader().RelationByOID(rel.OID))
	if got.Stats == nil || got.Stats.Rows != 7 || !reflect.DeepEqual(got.Columns[1].Stats, st) || got.PrimaryKey.Stats.Rows != 7 {
		t.Errorf("statistics: %+v %+v", got.Stats, got.Columns[1].Stats)
	}
	if got.Version != rel.Version {
		t.Error("ANALYZE changed the descriptor's version")
	}
}

func TestTypesAndFunctions(t *testing.T) {
	m := open(t)
	w := m.Writer()
	e := catalog.NewEnum(pgdata.PublicSchema, 10, "mood", []string{"sad", "ok"})
	if err := w.CreateType(e); err != nil {
		t.Fatal(err)
	}
	r := m.Reader()
	got := must[*catalog.Type](t)(r.LookupType("", "mood", path))
	if len(got.Labels) != 2 || got.Labels[1].Name != "ok" || got.Labels[1].OID == 0 {
		t.Errorf("labels %+v", got.Labels)
	}
	if arr := must[*catalog.Type](t)(r.LookupType("", "_mood", path)); arr.OID != got.Array || !arr.IsTrueArray() {
		t.Errorf("array type %+v", arr)
	}
	wantCode(t, w.CreateType(catalog.NewEnum(pgdata.PublicSchema, 10, "mood", nil)), sqlerr.DuplicateObject)
	c := *got
	c.Name = "mood2"
	if err := w.UpdateType(got, &c); err != nil {
		t.Fatal(err)
	}
	if x := must[*catalog.Type](t)(m.Reader().LookupType("", "_mood2", path)); x == nil || x.OID != got.Array {
		t.Errorf("array type after rename: %+v", x)
	}
	p := &catalog.Proc{Name: "f", Namespace: pgdata.PublicSchema, Owner: 10, Lang: pgdata.LangSQL, Kind: 'f', Volatile: 'v', Parallel: 'u', NArgs: 1, RetType: 23, ArgTypes: []types.OID{23}, Src: "select $1"}
	if err := w.CreateProc(p); err != nil {
		t.Fatal(err)
	}
	dup := *p
	dup.OID = 0
	wantCode(t, w.CreateProc(&dup), sqlerr.DuplicateFunction)
	dup.ArgTypes = []types.OID{25}
	if err := w.CreateProc(&dup); err != nil {
		t.Fatal(err)
	}
	list, err := m.Reader().LookupFuncs("", "f", path)
	if err != nil || len(list) != 2 {
		t.Errorf("functions %v %v", list, err)
	}
	if list, err := m.Reader().LookupFuncs("", "substr", path); err != nil || len(list) != 4 {
		t.Errorf("substr: %v %v", list, err)
	}
}

func TestManyTables(t *testing.T) {
	m := open(t)
	const n = 2000
	for i := range n {
		table(t, m, fmt.Sprint("t", i))
	}
	seen := 0
	err := m.Reader().RelationsInSchema(pgdata.PublicSchema, func(rel *catalog.Relation) bool { seen++; return true })
	if err != nil || seen != n {
		t.Errorf("%d relations, %v", seen, err)
	}
}
