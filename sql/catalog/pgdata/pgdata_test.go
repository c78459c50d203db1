package pgdata

import (
	"testing"
	"time"

	"herd/sql/types"
)

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		name        string
		id, arr, el types.OID
		kind, cat   byte
	}{
		{"int4", 23, 1007, 0, 'b', 'N'},
		{"_int4", 1007, 0, 23, 'b', 'A'},
		{"unknown", 705, 0, 0, 'p', 'X'},
		{"int4range", 3904, 3905, 0, 'r', 'R'},
		{"name", 19, 1003, 18, 'b', 'S'},
		{"pg_class", 83, 273, 0, 'c', 'C'},
	} {
		x := TypeByName(CatalogSchema, c.name)
		if c.name == "pg_class" && x != nil {
			c.arr = x.Array
		}
		if x == nil || x != TypeByOID(c.id) || x.Array != c.arr || x.Elem != c.el || x.Type != c.kind || x.Category != c.cat {
			t.Errorf("%s: %+v", c.name, x)
		}
	}
	if TypeByName(InformationSchema, "sql_identifier") == nil {
		t.Error("no domain information_schema.sql_identifier: is InformationSchema right?")
	}
	if TypeByOID(1007).IsTrueArray() != true || TypeByOID(19).IsTrueArray() || !TypeByOID(22).IsTrueArray() {
		t.Error("IsTrueArray: want _int4 and int2vector, not name")
	}
}

func TestFunctions(t *testing.T) {
	if n := len(FuncsByName("substring")); n != 8 {
		t.Errorf("substring: %d candidates, want 8", n)
	}
	p := FuncByOID(1177)
	if p == nil || len(p.ArgDefaults) != p.NArgDefaults || p.ArgDefaults[1] != "false" {
		t.Errorf("1177: %+v", p)
	}
	for i := range Procs() {
		p := &Procs()[i]
		if len(p.ArgTypes) != p.NArgs {
			t.Errorf("%d %s: %d argument types, want %d", p.OID, p.Name, len(p.ArgTypes), p.NArgs)
		}
		if len(p.ArgDefaults) != p.NArgDefaults {
			t.Errorf("%d %s: %d defaults, want %d", p.OID, p.Name, len(p.ArgDefaults), p.NArgDefaults)
		}
		if p.OID != 5028 && p.ArgModes != nil && len(p.ArgModes) != len(p.AllArgTypes) {
			t.Errorf("%d %s: modes %q of %v", p.OID, p.Name, p.ArgModes, p.AllArgTypes)
		}
		if p.ArgNames != nil && len(p.ArgNames) != max(p.NArgs, len(p.AllArgTypes)) {
			t.Errorf("%d %s: names %q", p.OID, p.Name, p.ArgNames)
		}
		for _, a := range append([]types.OID{p.RetType}, p.ArgTypes...) {
			if TypeByOID(a) == nil {
				t.Errorf("%d %s: no type %d", p.OID, p.Name, a)
			}
		}
		if (p.Kind == 'a') != (AggregateByOID(p.OID) != nil) {
			t.Errorf("%d %s: kind %c and pg_aggregate disagree", p.OID, p.Name, p.Kind)
		}
	}
}

func TestOperators(t *testing.T) {
	o := OperatorByTypes("=", 23, 23)
	if o == nil || o.OID != 96 || FuncByOID(o.Code).Name != "int4eq" || o.Negate != 518 || !o.CanHash {
		t.Fatalf("int4 = int4: %+v", o)
	}
	if s, l, r, ok := Strategy(96, 1976); !ok || s != BTEqual || l != 23 || r != 23 {
		t.Errorf("strategy of 96 in integer_ops: %d %d %d %v", s, l, r, ok)
	}
	if got := AmopMember(1976, 20, 23, BTLess); OperatorByOID(got).Name != "<" {
		t.Errorf("int8 < int4: %d", got)
	}
	if o := OperatorByTypes("-", 0, 23); o == nil || o.Kind != 'l' {
		t.Errorf("prefix minus: %+v", o)
	}
}

func TestDefaultOpclass(t *testing.T) {
	enum := func(id types.OID) *Type {
		if id == 20000 {
			return &Type{OID: id, Type: 'e', Category: 'E'}
		}
		return nil
	}
	for _, c := range []struct {
		typ  types.OID
		want string
	}{
		{23, "int4_ops"}, {25, "text_ops"}, {1043, "text_ops"}, {1009, "array_ops"}, {3904, "range_ops"},
		{20000, "enum_ops"}, {83, "record_ops"}, {114, ""}, {3802, "jsonb_ops"}, {2205, "oid_ops"}, {19, "name_ops"},
	} {
		got := ""
		if x := DefaultOpclass(c.typ, BTree, enum); x != nil {
			got = x.Name
		}
		if got != c.want {
			t.Errorf("btree class of %d: %q, want %q", c.typ, got, c.want)
		}
	}
}

func TestRelations(t *testing.T) {
	names := map[string]bool{}
	for _, r := range Relations() {
		if names[r.Name] {
			t.Errorf("two system relations named %s", r.Name)
		}
		names[r.Name] = true
		if (r.Kind == 'v') != (r.ViewDef != "") {
			t.Errorf("%s: kind %c, definition %q", r.Name, r.Kind, r.ViewDef)
		}
		for i, c := range r.Columns {
			if int(c.Num) != i+1 {
				t.Errorf("%s: column %d has number %d", r.Name, i, c.Num)
			}
		}
		if r.Kind == 'r' {
			if rows := CatalogRows(r.Name); rows.Len() > 0 && len(rows.Columns) != len(r.Columns) {
				t.Errorf("%s: %d columns in the file, %d in pg_attribute", r.Name, len(rows.Columns), len(r.Columns))
			}
		}
	}
	if c := RelationByName("pg_class").Columns[1]; c.Name != "relname" || !c.NotNull || c.Collation != 950 || c.Type != types.NameOID {
		t.Errorf("pg_class.relname: %+v", c)
	}
	if r := RelationByName("pg_class"); r.OID != 1259 || len(r.Columns) != 33 {
		t.Errorf("pg_class: %+v", r)
	}
}

func TestNames(t *testing.T) {
	if k := KeywordByName("select"); k == nil || k.Category != 'R' {
		t.Errorf("select: %+v", k)
	}
	if s := SettingByName("TIMEZONE"); s == nil || s.Name != "TimeZone" || s.Boot != "GMT" {
		t.Errorf("TimeZone: %+v", s)
	}
	if Encodings()[EncodingUTF8] != "UTF8" {
		t.Error(Encodings())
	}
	if Description(1255, 2803, 0) == "" {
		t.Error("count() has no description")
	}
	if c := CollationByName("C"); c == nil || c.OID != 950 {
		t.Errorf("C: %+v", c)
	}
}

// TestLoadTime fails when decoding what a server needs for its first query becomes slow.
func TestLoadTime(t *testing.T) {
	start := time.Now()
	lines("pg_proc", func([]string) {})
	lines("pg_type", func([]string) {})
	lines("pg_operator", func([]string) {})
	took := time.Since(start)
	t.Logf("decompressed and split in %v", took)
	if took > 300*time.Millisecond {
		t.Errorf("decoding takes %v", took)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		lines("pg_proc", func(f []string) { oids(f[19]); texts(f[22]); str(f[25]) })
		lines("pg_type", func([]string) {})
		lines("pg_operator", func([]string) {})
		lines("pg_cast", func([]string) {})
		lines("pg_amop", func([]string) {})
		lines("pg_amproc", func([]string) {})
	}
}
