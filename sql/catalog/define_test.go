package catalog_test

import (
	"testing"

	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// The wanted texts of this file are what PostgreSQL 15 printed for the same objects.

func definer(t *testing.T) (catalog.Definer, *catalog.Relation) {
	m := open(t)
	if _, err := m.Table("p", "id", [2]string{"id", "int4"}); err != nil {
		t.Fatal(err)
	}
	old := must[*catalog.Relation](t)(m.Table("c", "", [2]string{"Id", "int4"}, [2]string{"v", "text"}, [2]string{"w", "varchar"}))
	p := must[*catalog.Relation](t)(m.Reader().LookupRelation("", "p", path))
	c := old.Clone()
	c.Columns[1].Collation = types.CCollationOID
	opclass := func(name string) types.OID { return pgdata.OpclassByName(pgdata.BTree, name).OID }
	text, c950 := opclass("text_ops"), types.CCollationOID
	c.Indexes = []*catalog.Index{
		{Name: "i1", Include: []int16{1}, Options: []string{"fillfactor=70"}, Pred: `(("Id" > 0) AND (v IS NOT NULL))`, Keys: []catalog.IndexKey{
			{Expr: "lower(v)", Type: 25, Collation: 100, OpClass: opclass("text_pattern_ops"), Desc: true, NullsFirst: true},
			{Expr: `("Id" + 1)`, Type: 23, OpClass: opclass("int4_ops")},
			{Attno: 2, Type: 25, Collation: 951, OpClass: text, NullsFirst: true}}},
		{Name: "i2", Keys: []catalog.IndexKey{
			{Attno: 3, Type: 1043, Collation: 100, OpClass: opclass("varchar_pattern_ops")},
			{Attno: 2, Type: 25, Collation: c950, OpClass: text, Desc: true},
			{Expr: "(v || 'x'::text)", Type: 25, Collation: 100, OpClass: text},
			{Expr: "COALESCE(v, (w)::text)", Type: 25, Collation: 100, OpClass: text}}},
		{Name: "x", Unique: true, Keys: []catalog.IndexKey{{Attno: 2, Type: 25, Collation: c950, OpClass: text}}},
		{Name: "y", Unique: true, NullsNotDistinct: true, Include: []int16{1}, Keys: []catalog.IndexKey{{Attno: 3, Type: 1043, Collation: 100, OpClass: text}}},
	}
	c.Constraints = []*catalog.Constraint{
		{Name: "ck", Type: 'c', Cols: []int16{2}, Expr: "(v <> 'it''s ('::text)", NoInherit: true, Validated: true},
		{Name: "x", Type: 'u', Cols: []int16{2}, Deferrable: true, InitiallyDeferred: true, Validated: true},
		{Name: "y", Type: 'u', Cols: []int16{3}, Validated: true},
		{Name: "fk", Type: 'f', Cols: []int16{1}, Ref: p.OID, RefCols: []int16{1}, Match: 'f', OnUpdate: 'c', OnDelete: 'n', OnDeleteCols: []int16{1}, Index: p.PrimaryKey.OID, Validated: true},
	}
	if err := m.Writer().UpdateRelation(old, c); err != nil {
		t.Fatal(err)
	}
	rel := must[*catalog.Relation](t)(m.Reader().RelationByOID(old.OID))
	return catalog.Definer{Names: catalog.Names{Reader: m.Reader(), Path: path}}, rel
}

func TestIndexDef(t *testing.T) {
	d, rel := definer(t)
	for _, c := range []struct {
		index, col int
		pretty     bool
		want       string
	}{
		{0, 0, false, `CREATE INDEX i1 ON public.c USING btree (lower(v) text_pattern_ops DESC, (("Id" + 1)), v COLLATE "POSIX" NULLS FIRST) INCLUDE ("Id") WITH (fillfactor='70') WHERE (("Id" > 0) AND (v IS NOT NULL))`},
		{0, 1, false, "lower(v)"}, {0, 2, false, `(("Id" + 1))`}, {0, 2, true, `("Id" + 1)`}, {0, 4, true, `"Id"`}, {0, 9, true, ""},
		{1, 0, false, "CREATE INDEX i2 ON public.c USING btree (w varchar_pattern_ops, v DESC NULLS LAST, ((v || 'x'::text)), COALESCE(v, (w)::text))"},
		{2, 0, true, "CREATE UNIQUE INDEX x ON c USING btree (v)"},
		{3, 0, false, `CREATE UNIQUE INDEX y ON public.c USING btree (w) INCLUDE ("Id") NULLS NOT DISTINCT`},
	} {
		got, err := d.IndexDef(rel, rel.Indexes[c.index], c.col, c.pretty)
		if err != nil || got != c.want {
			t.Errorf("index %d column %d: %v\n%s\n%s", c.index, c.col, err, got, c.want)
		}
	}
}

func TestConstraintDef(t *testing.T) {
	d, rel := definer(t)
	for i, want := range []string{
		"CHECK ((v <> 'it''s ('::text)) NO INHERIT", "UNIQUE (v) DEFERRABLE INITIALLY DEFERRED",
		`UNIQUE NULLS NOT DISTINCT (w) INCLUDE ("Id")`,
		`FOREIGN KEY ("Id") REFERENCES p(id) MATCH FULL ON UPDATE CASCADE ON DELETE SET NULL ("Id")`,
	} {
		got, ok, err := d.ConstraintDefByOID(rel.Constraints[i].OID, false)
		if err != nil || !ok || got != want {
			t.Errorf("%v\n%s\n%s", err, got, want)
		}
	}
	if got, _ := d.ConstraintDef(rel, rel.Constraints[0], true); got != "CHECK (v <> 'it''s ('::text) NO INHERIT" {
		t.Error(got)
	}
}

func TestFunctionDefs(t *testing.T) {
	d, _ := definer(t)
	f := &catalog.Proc{Name: "f", Namespace: 2200, Lang: 14, Kind: 'f', Volatile: 's', Parallel: 'u', Strict: true, Cost: 5, NArgs: 3, NArgDefaults: 2, RetType: 2249,
		ArgTypes: []types.OID{23, 25, 1007}, AllArgTypes: []types.OID{23, 23, 25, 1007}, ArgModes: []byte("iobv"), ArgNames: []string{"a", "b", "c", "d"},
		ArgDefaults: []string{"'x'::text", "NULL::integer[]"}, Src: "select 1, 'x'::text", Variadic: 23}
	g := &catalog.Proc{Name: "g", Namespace: 2200, Lang: 14, Kind: 'f', Volatile: 'v', Parallel: 'u', RetSet: true, Rows: 7, Cost: 100, NArgs: 2, NArgDefaults: 1, RetType: 2249,
		ArgTypes: []types.OID{23, 25}, AllArgTypes: []types.OID{23, 25, 23, 25}, ArgModes: []byte("iitt"), ArgNames: []string{"a", "B", "x", "y"},
		ArgDefaults: []string{"('q'::text || 'z'::text)"}, Src: "select 1,'a'::text"}
	h := &catalog.Proc{Name: "h", Namespace: 2200, Lang: 14, Kind: 'p', Volatile: 'v', Parallel: 'u', Cost: 100, NArgs: 1, RetType: 2278,
		ArgTypes: []types.OID{23}, ArgNames: []string{"a"}, Src: "select '$procedure$'"}
	for _, c := range []struct {
		p                           *catalog.Proc
		args, identity, result, def string
	}{
		{f, "a integer, OUT b integer, INOUT c text DEFAULT 'x'::text, VARIADIC d integer[] DEFAULT NULL::integer[]",
			"a integer, OUT b integer, INOUT c text, VARIADIC d integer[]", "record",
			"CREATE OR REPLACE FUNCTION public.f(a integer, OUT b integer, INOUT c text DEFAULT 'x'::text, VARIADIC d integer[] DEFAULT NULL::integer[])\n RETURNS record\n LANGUAGE sql\n STABLE STRICT COST 5\nAS $function$select 1, 'x'::text$function$\n"},
		{g, `a integer, "B" text DEFAULT ('q'::text || 'z'::text)`, `a integer, "B" text`, "TABLE(x integer, y text)",
			"CREATE OR REPLACE FUNCTION public.g(a integer, \"B\" text DEFAULT ('q'::text || 'z'::text))\n RETURNS TABLE(x integer, y text)\n LANGUAGE sql\n ROWS 7\nAS $function$select 1,'a'::text$function$\n"},
		{h, "IN a integer", "IN a integer", "",
			"CREATE OR REPLACE PROCEDURE public.h(IN a integer)\n LANGUAGE sql\nAS $procedurex$select '$procedure$'$procedurex$\n"},
		{pgdata.FuncByOID(3974), "double precision ORDER BY double precision", "double precision ORDER BY double precision", "double precision", ""},
		{pgdata.FuncByOID(3986), `VARIADIC "any" ORDER BY VARIADIC "any"`, `VARIADIC "any" ORDER BY VARIADIC "any"`, "bigint", ""},
	} {
		args, err1 := d.FunctionArguments(c.p, true)
		identity, err2 := d.FunctionArguments(c.p, false)
		result, err3 := d.FunctionResult(c.p)
		if args != c.args || identity != c.identity || result != c.result || err1 != nil || err2 != nil || err3 != nil {
			t.Errorf("%s: %s\n%s\n%s", c.p.Name, args, identity, result)
		}
		if def, err := d.FunctionDef(c.p); c.def != "" && (def != c.def || err != nil) {
			t.Errorf("%s", def)
		}
	}
	for arg, want := range []string{"", "", "", "'x'::text", "NULL::integer[]", ""} {
		if got, _ := d.FunctionArgDefault(f, arg); got != want {
			t.Errorf("default of argument %d: %q", arg, got)
		}
	}
}
