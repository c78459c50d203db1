package catalog_test

import (
	"fmt"
	"slices"
	"testing"

	"herd/sql/catalog"
	"herd/sql/catalog/catalogtest"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

type env struct{ r catalog.Reader }

func (e env) Catalog() catalog.Reader     { return e.r }
func (e env) Server() catalog.ServerState { return e }

func (e env) SequenceState(types.OID) (int64, int64, bool, error) { return 41, 32, true, nil }

// populated is a database with one object of each kind.
func populated(t *testing.T) *catalogtest.Memory {
	m := open(t)
	parent := table(t, m, "p")
	child := table(t, m, "c")
	w := m.Writer()
	c := child.Clone()
	c.Columns[1].Default = "'x'::text"
	c.Constraints = append(c.Constraints,
		&catalog.Constraint{Name: "c_fkey", Type: 'f', Cols: []int16{1}, Ref: parent.OID, RefCols: []int16{1}, Index: parent.PrimaryKey.OID,
			OnDelete: 'c', OnUpdate: 'a', Match: 's', Validated: true, EqOps: []types.OID{96}},
		&catalog.Constraint{Name: "c_v_check", Type: 'c', Cols: []int16{2}, Expr: "(v <> ''::text)", Validated: true})
	c.Indexes = append(c.Indexes, &catalog.Index{Name: "c_v_idx", Pred: "(id > 0)", Include: []int16{1},
		Keys: []catalog.IndexKey{{Expr: "lower(v)", Type: 25, Collation: 100, OpClass: 3126, Desc: true, NullsFirst: true}}})
	c.ACL = []string{"10=arwdDxt/10", "=r*/10"}
	for _, err := range []error{
		w.UpdateRelation(child, c),
		w.CreateRelation(&catalog.Relation{Name: "s", Schema: pgdata.PublicSchema, Kind: catalog.KindSequence, Owner: 10, Persistence: 'p',
			Columns: catalog.SequenceColumns(), Sequence: &catalog.Sequence{Type: 20, Start: 1, Increment: 1, Min: 1, Max: 100, Cache: 1, OwnerRel: child.OID, OwnerCol: 1}}),
		w.CreateRelation(&catalog.Relation{Name: "v", Schema: pgdata.PublicSchema, Kind: catalog.KindView, Owner: 10, Persistence: 'p',
			Columns: []catalog.Column{{Num: 1, Name: "id", Type: 23, Typmod: -1}}, ViewDef: " SELECT p.id\n   FROM p;"}),
		w.CreateRelation(&catalog.Relation{Name: "comp", Schema: pgdata.PublicSchema, Kind: catalog.KindComposite, Owner: 10, Persistence: 'p',
			Columns: []catalog.Column{{Num: 1, Name: "id", Type: 23, Typmod: -1}}}),
		w.CreateType(catalog.NewEnum(pgdata.PublicSchema, 10, "mood", []string{"sad", "ok"})),
		w.CreateProc(&catalog.Proc{Name: "f", Namespace: pgdata.PublicSchema, Owner: 10, Lang: pgdata.LangSQL, Kind: 'f', Volatile: 'v', Parallel: 'u', NArgs: 1, RetType: 23, ArgTypes: []types.OID{23}, Src: "select $1"}),
		w.SetComment(catalog.ClassRelation, parent.OID, 1, "the key"),
		w.SetStats(parent, catalog.RelStats{Rows: 3, Pages: 1}, map[int16]*catalog.ColumnStats{2: {NDistinct: 2, MCV: []types.Datum{types.Text("a")}, MCVFreqs: []float64{.5}}}, nil),
		w.SetRoleSetting(catalog.RoleSetting{Role: 10, Config: []string{"work_mem=1MB"}}),
		w.SetDefaultACL(catalog.DefaultACL{Role: 10, ObjType: 'r', ACL: []string{"=r/10"}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d := catalog.NewDomain(pgdata.PublicSchema, 10, "dom", pgdata.TypeByOID(23), -1, 0)
	d.Checks = []pgdata.TypeCheck{{Name: "dom_check", Expr: "(VALUE > 0)", Validated: true}}
	if err := w.CreateType(d); err != nil {
		t.Fatal(err)
	}
	return m
}

func rowText(row []types.Datum) string {
	var b []byte
	for _, d := range row {
		b = fmt.Appendf(b, "%v|%x|%d;", d.Null, d.B, d.I)
	}
	return string(b)
}

func scanAll(t *testing.T, e env, v catalog.VirtualTable, n, path int, keys []types.Datum) (rows []string, data [][]types.Datum) {
	t.Helper()
	it, err := v.Scan(e, path, keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	for {
		dst := make([]types.Datum, n)
		ok, err := it.Next(dst)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		rows = append(rows, rowText(dst))
		data = append(data, dst)
	}
	slices.Sort(rows)
	return rows, data
}

// TestPathsAgreeWithFullScan reads every system table in full and by every access path.
func TestPathsAgreeWithFullScan(t *testing.T) {
	m := populated(t)
	e := env{m.Reader()}
	user := map[string]bool{}
	for _, x := range pgdata.Relations() {
		if x.Kind != 'r' {
			continue
		}
		rel := must[*catalog.Relation](t)(e.r.RelationByOID(x.OID))
		n := len(rel.Columns)
		_, data := scanAll(t, e, rel.Virtual, n, -1, nil)
		if len(data) > len(pgdataRows(x.Name)) || pgdata.CatalogRows(x.Name).Len() == 0 && len(data) > 0 {
			user[x.Name] = true
		}
		text := make([]string, len(data))
		for i, row := range data {
			text[i] = rowText(row)
		}
		for p, path := range rel.Virtual.Paths() {
			// The user rows are last; a few of the built-in ones will do.
			for i := len(data) - 1; i >= 0; i -= max(1, (len(data)-i-30)*4) {
				keys := make([]types.Datum, len(path.Cols))
				for k, c := range path.Cols {
					keys[k] = data[i][c-1]
				}
				var want []string
				for j, row := range data {
					same := true
					for k, c := range path.Cols {
						same = same && row[c-1].I == keys[k].I && string(row[c-1].B) == string(keys[k].B) && !row[c-1].Null
					}
					if same {
						want = append(want, text[j])
					}
				}
				slices.Sort(want)
				got, _ := scanAll(t, e, rel.Virtual, n, p, keys)
				if !slices.Equal(got, want) {
					t.Fatalf("%s by %v = %v: %d rows, the full scan has %d", x.Name, path.Cols, keys, len(got), len(want))
				}
			}
		}
	}
	for _, name := range []string{"pg_class", "pg_attribute", "pg_type", "pg_index", "pg_constraint", "pg_attrdef", "pg_sequence", "pg_rewrite",
		"pg_enum", "pg_proc", "pg_depend", "pg_description", "pg_statistic", "pg_database", "pg_db_role_setting", "pg_default_acl", "pg_namespace", "pg_authid"} {
		if !user[name] && !slices.Contains([]string{"pg_namespace", "pg_authid"}, name) {
			t.Errorf("%s shows no user rows", name)
		}
	}
}

func pgdataRows(name string) []struct{} { return make([]struct{}, pgdata.CatalogRows(name).Len()) }

func TestSequenceState(t *testing.T) {
	m := populated(t)
	rel := must[*catalog.Relation](t)(m.Reader().LookupRelation("", "s", path))
	_, data := scanAll(t, env{m.Reader()}, rel.Virtual, 3, -1, nil)
	if len(data) != 1 || data[0][0].I != 41 || data[0][2].I != 1 {
		t.Errorf("state %v", data)
	}
}

func TestACLShowsNames(t *testing.T) {
	m := populated(t)
	r := m.Reader()
	rel := must[*catalog.Relation](t)(r.LookupRelation("", "c", path))
	class := must[*catalog.Relation](t)(r.RelationByOID(1259))
	_, data := scanAll(t, env{r}, class.Virtual, 33, 0, []types.Datum{{I: int64(rel.OID)}})
	if len(data) != 1 {
		t.Fatalf("%d rows", len(data))
	}
	got := string(types.Output(types.NewIOContext(), nil, 1034, data[0][30]))
	if got != "{postgres=arwdDxt/postgres,=r*/postgres}" {
		t.Errorf("relacl %s", got)
	}
}
