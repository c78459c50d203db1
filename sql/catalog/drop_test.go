package catalog_test

import (
	"errors"
	"testing"

	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// dropScene has parent p, child c with a foreign key to it, view v over p.v and domain dom used by c.d.
func dropScene(t *testing.T) (w *catalog.Writer, names catalog.Names, find func(string) *catalog.Relation) {
	m := populated(t)
	w = m.Writer()
	find = func(name string) *catalog.Relation {
		return must[*catalog.Relation](t)(m.Reader().LookupRelation("", name, path))
	}
	v := find("v")
	err := w.ReplaceDependencies(catalog.ClassRewrite, v.RuleOID, []catalog.Dependency{{RefClass: catalog.ClassRelation, RefOID: find("p").OID, RefSub: 2}})
	if err != nil {
		t.Fatal(err)
	}
	dom := must[*catalog.Type](t)(m.Reader().LookupType("", "dom", path))
	old := find("c")
	c := old.Clone()
	c.Columns = append(c.Columns, catalog.Column{Num: 3, Name: "d", Type: dom.OID, Typmod: -1})
	if err := w.UpdateRelation(old, c); err != nil {
		t.Fatal(err)
	}
	return w, catalog.Names{Reader: m.Reader(), Path: path}, find
}

// The texts are PostgreSQL 15's for the same objects.
func TestDropRestrict(t *testing.T) {
	for _, c := range []struct {
		name               string
		object             func(find func(string) *catalog.Relation) catalog.Object
		text, detail, hint string
	}{
		{"table", func(f func(string) *catalog.Relation) catalog.Object {
			return catalog.Object{Class: catalog.ClassRelation, OID: f("p").OID}
		},
			"cannot drop table p because other objects depend on it",
			"constraint c_fkey on table c depends on table p\nview v depends on table p",
			"Use DROP ... CASCADE to drop the dependent objects too."},
		{"column", func(f func(string) *catalog.Relation) catalog.Object {
			return catalog.Object{Class: catalog.ClassRelation, OID: f("p").OID, Sub: 2}
		},
			"cannot drop column v of table p because other objects depend on it",
			"view v depends on column v of table p",
			"Use DROP ... CASCADE to drop the dependent objects too."},
		{"index of constraint", func(f func(string) *catalog.Relation) catalog.Object {
			return catalog.Object{Class: catalog.ClassRelation, OID: f("p").PrimaryKey.OID}
		},
			"cannot drop index p_pkey because constraint p_pkey on table p requires it", "",
			"You can drop constraint p_pkey on table p instead."},
		{"row type", func(f func(string) *catalog.Relation) catalog.Object {
			return catalog.Object{Class: catalog.ClassType, OID: f("p").RowType}
		},
			"cannot drop type p because table p requires it", "", "You can drop table p instead."},
	} {
		w, names, find := dropScene(t)
		_, err := w.Drop(names, []catalog.Object{c.object(find)}, false)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.DependentObjectsStillExist {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if e.Message != c.text || e.Detail != c.detail || e.Hint != c.hint {
			t.Errorf("%s:\n%s\n%s\n%s", c.name, e.Message, e.Detail, e.Hint)
		}
	}
}

func TestDropCascade(t *testing.T) {
	w, names, find := dropScene(t)
	out, err := w.Drop(names, []catalog.Object{{Class: catalog.ClassRelation, OID: find("p").OID}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if out.Notice != "drop cascades to 2 other objects" || out.Detail != "drop cascades to constraint c_fkey on table c\ndrop cascades to view v" {
		t.Errorf("notice %q %q", out.Notice, out.Detail)
	}
	if find("p") != nil || find("v") != nil || find("p_pkey") != nil {
		t.Error("something is still there")
	}
	c := find("c")
	if c.ConstraintByName("c_fkey") != nil || c.ConstraintByName("c_pkey") == nil {
		t.Errorf("constraints of c: %+v", c.Constraints)
	}
	if len(out.Relations) != 2 || len(out.Rekey) != 0 {
		t.Errorf("dropped %+v", out)
	}
}

func TestDropColumnAndItsParts(t *testing.T) {
	w, names, find := dropScene(t)
	c := find("c")
	out, err := w.Drop(names, []catalog.Object{{Class: catalog.ClassRelation, OID: c.OID, Sub: 2}}, false)
	if err != nil {
		t.Fatal(err)
	}
	got := find("c")
	if !got.Columns[1].Dropped || got.ConstraintByName("c_v_check") != nil || got.ColumnByName("v") != nil || got.Columns[1].Default != "" {
		t.Errorf("after DROP COLUMN: %+v %v", got.Columns[1], got.Constraints)
	}
	if out.Notice != "" {
		t.Errorf("notice %q", out.Notice)
	}
	id := got.ConstraintByName("c_pkey")
	out, err = w.Drop(names, []catalog.Object{{Class: catalog.ClassConstraint, OID: id.OID}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if got = find("c"); got.PrimaryKey != nil || !got.HiddenRowID || len(out.Rekey) != 1 || find("c_pkey") != nil {
		t.Errorf("after DROP CONSTRAINT: %+v %+v", got, out)
	}
}

func TestDropSequenceAndSchema(t *testing.T) {
	w, names, find := dropScene(t)
	if _, err := w.Drop(names, []catalog.Object{{Class: catalog.ClassRelation, OID: find("c").OID}}, false); err != nil {
		t.Fatal(err)
	}
	if find("s") != nil {
		t.Error("an owned sequence survived its table")
	}
	out, err := w.Drop(names, []catalog.Object{{Class: catalog.ClassNamespace, OID: pgdata.PublicSchema}}, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(out.Notice, out.Detail)
	left := 0
	for _, err := range []error{
		w.Reader().Relations(func(*catalog.Relation) bool { left++; return true }),
		w.Reader().UserTypes(func(*catalog.Type) bool { left++; return true }),
		w.Reader().UserFuncs(func(*catalog.Proc) bool { left++; return true }),
		w.Reader().AllDependencies(func(d catalog.Dependency) bool { t.Error(d); return true }),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if left != 0 {
		t.Errorf("%d objects left in the schema", left)
	}
}

func TestDropDomain(t *testing.T) {
	w, names, find := dropScene(t)
	dom := must[*catalog.Type](t)(w.Reader().LookupType("", "dom", path))
	out, err := w.Drop(names, []catalog.Object{{Class: catalog.ClassType, OID: dom.OID}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if out.Notice != "drop cascades to column d of table c" || !find("c").Columns[2].Dropped {
		t.Errorf("%q, column %+v", out.Notice, find("c").Columns[2])
	}
	if x := must[*catalog.Type](t)(w.Reader().TypeByOID(dom.Array)); x != nil {
		t.Error("the array type is still there")
	}
}

func TestFormatType(t *testing.T) {
	m := populated(t)
	r := m.Reader()
	for _, c := range []struct {
		id     types.OID
		typmod types.Typmod
		given  bool
		want   string
	}{
		{23, -1, false, "integer"}, {1043, 14, true, "character varying(10)"}, {1042, -1, true, "bpchar"}, {1042, -1, false, "character"},
		{1700, 655366, true, "numeric(10,2)"}, {1184, 3, true, "timestamp(3) with time zone"}, {1114, -1, true, "timestamp without time zone"},
		{1007, -1, true, "integer[]"}, {18, -1, true, `"char"`}, {1560, -1, true, `"bit"`}, {1560, 3, true, "bit(3)"}, {22, -1, true, "int2vector"},
		{1015, 14, true, "character varying(10)[]"}, {0, -1, true, "-"}, {99999, -1, true, "???"}, {83, -1, true, "pg_class"},
	} {
		got, err := catalog.FormatType(r, c.id, c.typmod, c.given, path)
		if err != nil || got != c.want {
			t.Errorf("%d,%d: %q, want %q", c.id, c.typmod, got, c.want)
		}
	}
	mood := must[*catalog.Type](t)(r.LookupType("", "mood", path))
	if got, _ := catalog.FormatType(r, mood.Array, -1, true, path[:1]); got != "public.mood[]" {
		t.Errorf("not visible: %q", got)
	}
}

func TestRegNames(t *testing.T) {
	m := populated(t)
	n := catalog.Names{Reader: m.Reader(), Path: path, Database: "db"}
	c := must[*catalog.Relation](t)(n.Reader.LookupRelation("", "c", path))
	for _, in := range []struct {
		kind types.OID
		text string
		want types.OID
		out  string
	}{
		{types.RegclassOID, "c", c.OID, "c"}, {types.RegclassOID, `db.public."c"`, c.OID, "c"}, {types.RegclassOID, " PG_CATALOG . Pg_Class ", 1259, "pg_class"},
		{types.RegclassOID, "information_schema.tables", must[*catalog.Relation](t)(n.Reader.LookupRelation("information_schema", "tables", nil)).OID, "information_schema.tables"},
		{types.RegtypeOID, "integer[]", 1007, "integer[]"}, {types.RegtypeOID, "timestamp(3) with time zone", 1184, "timestamp with time zone"},
		{types.RegtypeOID, "pg_catalog.varchar(10)", 1043, "character varying"}, {types.RegtypeOID, `"char"`, 18, `"char"`},
		{types.RegprocOID, "array_in", 750, "array_in"}, {types.RegprocedureOID, "lower(text)", 870, "lower(text)"},
		{types.RegnamespaceOID, "public", 2200, "public"}, {types.RegroleOID, "postgres", 10, "postgres"},
		{types.RegoperatorOID, "=(integer,integer)", 96, "=(integer,integer)"}, {types.RegcollationOID, `"C"`, 950, `"C"`},
		{3734, "english", 13206, "english"},
	} {
		id, err := n.RegIn(in.kind, in.text)
		if err != nil || in.kind != 3734 && id != in.want {
			t.Errorf("%q: %d %v, want %d", in.text, id, err, in.want)
		}
		if got, ok := n.RegOut(in.kind, id); !ok || got != in.out {
			t.Errorf("%d prints as %q, want %q", id, got, in.out)
		}
	}
	for text, code := range map[string]sqlerr.Code{"nope": sqlerr.UndefinedTable, "a..b": sqlerr.InvalidName, `"x`: sqlerr.InvalidName, "x.public.c": sqlerr.FeatureNotSupported, "nope.c": sqlerr.InvalidSchemaName, "a.b.c.d": sqlerr.SyntaxError} {
		_, err := n.RegIn(types.RegclassOID, text)
		wantCode(t, err, code)
	}
	if got, _ := n.FuncOut(870); got != "pg_catalog.lower" {
		t.Errorf("ambiguous function prints as %q", got)
	}
}
