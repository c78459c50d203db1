package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

const userObjects = `
create type ct_mood as enum('sad','ok');
create domain ct_dom as int check (value > 0);
create table ct_p(id int primary key, v varchar(10));
create table ct_c(id int primary key references ct_p on delete cascade, v text default 'x' check (v <> ''), d ct_dom not null, a ct_mood[], n numeric(10,2));
create unique index ct_i on ct_c (lower(v) desc, id) include (n) where id > 0;
create view ct_v as select id from ct_p;
create type ct_comp as (id int, t text);
create sequence ct_s owned by ct_c.id;
create function ct_f(int, out text, variadic x text[] default null) language sql stable as 'select $1::text';
grant select on ct_p to public;
`

// userDB makes the objects of userObjects.
func userDB(t *testing.T) catalog.Reader {
	m := open(t)
	w := m.Writer()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	mood := catalog.NewEnum(2200, 10, "ct_mood", []string{"sad", "ok"})
	check(w.CreateType(mood))
	dom := catalog.NewDomain(2200, 10, "ct_dom", pgdata.TypeByOID(23), -1, 0)
	dom.Checks = []pgdata.TypeCheck{{Name: "ct_dom_check", Expr: "(VALUE > 0)", Validated: true}}
	check(w.CreateType(dom))
	p, err := m.Table("ct_p", "id", [2]string{"id", "int4"}, [2]string{"v", "varchar"})
	check(err)
	c := p.Clone()
	c.Columns[1].Typmod = 14
	c.ACL = []string{"10=arwdDxt/10", "=r/10"}
	check(w.UpdateRelation(p, c))
	old, err := m.Table("ct_c", "id", [2]string{"id", "int4"}, [2]string{"v", "text"})
	check(err)
	c = old.Clone()
	c.Columns[1].Default = "'x'::text"
	c.Columns = append(c.Columns,
		catalog.Column{Num: 3, Name: "d", Type: dom.OID, Typmod: -1, NotNull: true},
		catalog.Column{Num: 4, Name: "a", Type: mood.Array, Typmod: -1, Dims: 1},
		catalog.Column{Num: 5, Name: "n", Type: 1700, Typmod: 655366})
	c.Constraints = append(c.Constraints,
		&catalog.Constraint{Name: "ct_c_id_fkey", Type: 'f', Cols: []int16{1}, Ref: p.OID, RefCols: []int16{1}, Index: p.PrimaryKey.OID,
			OnDelete: 'c', OnUpdate: 'a', Match: 's', Validated: true, EqOps: []types.OID{96}},
		&catalog.Constraint{Name: "ct_c_v_check", Type: 'c', Cols: []int16{2}, Expr: "(v <> ''::text)", Validated: true})
	c.Indexes = append(c.Indexes, &catalog.Index{Name: "ct_i", Unique: true, Pred: "(id > 0)", Include: []int16{5}, Keys: []catalog.IndexKey{
		{Expr: "lower(v)", Type: 25, Collation: 100, OpClass: 3126, Desc: true, NullsFirst: true}, {Attno: 1, Type: 23, OpClass: 1978}}})
	check(w.UpdateRelation(old, c))
	check(w.CreateRelation(&catalog.Relation{Name: "ct_v", Schema: 2200, Kind: catalog.KindView, Owner: 10, Persistence: 'p',
		Columns: []catalog.Column{{Num: 1, Name: "id", Type: 23, Typmod: -1}}, ViewDef: " SELECT ct_p.id\n   FROM ct_p;"}))
	check(w.CreateRelation(&catalog.Relation{Name: "ct_comp", Schema: 2200, Kind: catalog.KindComposite, Owner: 10, Persistence: 'p',
		Columns: []catalog.Column{{Num: 1, Name: "id", Type: 23, Typmod: -1}, {Num: 2, Name: "t", Type: 25, Typmod: -1, Collation: 100}}}))
	check(w.CreateRelation(&catalog.Relation{Name: "ct_s", Schema: 2200, Kind: catalog.KindSequence, Owner: 10, Persistence: 'p',
		Columns: catalog.SequenceColumns(), Sequence: &catalog.Sequence{Type: 20, Start: 1, Increment: 1, Min: 1, Max: 1<<63 - 1, Cache: 1, OwnerRel: old.OID, OwnerCol: 1}}))
	check(w.CreateProc(&catalog.Proc{Name: "ct_f", Namespace: 2200, Owner: 10, Lang: 14, Kind: 'f', Volatile: 's', Parallel: 'u', Cost: 100, NArgs: 2, NArgDefaults: 1,
		RetType: 25, ArgTypes: []types.OID{23, 1009}, AllArgTypes: []types.OID{23, 25, 1009}, ArgModes: []byte("iov"), ArgNames: []string{"", "", "x"}, Variadic: 25,
		ArgDefaults: []string{"NULL::text[]"}, Src: "select $1::text"}))
	return m.Reader()
}

// TestUserRowsMatchServer makes the same objects on a server and here and compares the rows of
// the catalogs; identifiers of user objects count as equal.
func TestUserRowsMatchServer(t *testing.T) {
	r := userDB(t)
	ctx := types.NewIOContext()
	ctx.Catalog = catalog.Names{Reader: r, Path: path}
	rel := func(col string) string { return col + " IN (SELECT oid FROM pg_class WHERE relname LIKE 'ct\\_%')" }
	for _, c := range []struct{ name, where, skip string }{
		{"pg_class", "relname LIKE 'ct\\_%'", "relpages reltuples relallvisible relfrozenxid relminmxid reltoastrelid"},
		{"pg_attribute", rel("attrelid"), "attcacheoff attoptions"},
		{"pg_type", "typname ~ '^_?ct_'", ""},
		{"pg_index", rel("indrelid"), ""},
		{"pg_constraint", "conname LIKE 'ct\\_%'", ""},
		{"pg_attrdef", rel("adrelid"), ""},
		{"pg_enum", "enumlabel IN ('sad', 'ok')", ""},
		{"pg_sequence", rel("seqrelid"), ""},
		{"pg_rewrite", rel("ev_class"), ""},
		{"pg_proc", "proname LIKE 'ct\\_%'", ""},
	} {
		table := must[*catalog.Relation](t)(r.LookupRelation("", c.name, path))
		var exprs []string
		keep := make([]bool, len(table.Columns))
		for i, col := range table.Columns {
			skip := slices.Contains(strings.Fields(c.skip), col.Name)
			if keep[i] = !skip && col.Type != types.PgNodeTreeOID && col.Type != types.AnyArrayOID; !keep[i] {
				continue
			}
			e := "coalesce(" + col.Name + "::text, 'NULL')"
			if col.Type == types.OIDOID {
				e = fmt.Sprintf("CASE WHEN %s >= 16384 THEN 'U' ELSE %s::text END", col.Name, col.Name)
			}
			exprs = append(exprs, e)
		}
		query := "BEGIN;" + userObjects + "SELECT " + strings.Join(exprs, ", ") + " FROM " + c.name + " WHERE " + c.where + "; ROLLBACK"
		var want []string
		for _, row := range ask(t, query) {
			want = append(want, strings.Join(row, " | "))
		}
		_, data := scanAll(t, env{r}, table.Virtual, len(table.Columns), -1, nil)
		var got []string
		for _, row := range data {
			if !isUserRow(table, row) {
				continue
			}
			var f []string
			for i, col := range table.Columns {
				switch {
				case !keep[i]:
				case row[i].Null:
					f = append(f, "NULL")
				case col.Type == types.OIDOID && row[i].I >= 16384:
					f = append(f, "U")
				case col.Type == types.BoolOID:
					f = append(f, fmt.Sprint(row[i].I != 0))
				default:
					f = append(f, string(types.Output(ctx, nil, col.Type, row[i])))
				}
			}
			got = append(got, strings.Join(f, " | "))
		}
		slices.Sort(got)
		slices.Sort(want)
		for _, x := range want {
			if !slices.Contains(got, x) {
				t.Errorf("%s lacks %s", c.name, x)
			}
		}
		for _, x := range got {
			if !slices.Contains(want, x) {
				t.Errorf("%s has   %s", c.name, x)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d rows, want %d", c.name, len(got), len(want))
		}
	}
}

// isUserRow tells rows of user objects by their first identifier column.
func isUserRow(table *catalog.Relation, row []types.Datum) bool {
	for i, c := range table.Columns {
		if c.Type == types.OIDOID {
			return row[i].I >= 16384
		}
	}
	return true
}
