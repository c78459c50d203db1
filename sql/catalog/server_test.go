package catalog_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// ask runs a query on the PostgreSQL 15 server that HERD_TEST_POSTGRES names and returns its
// fields; the test is skipped without one.
func ask(t *testing.T, query string) [][]string {
	server := os.Getenv("HERD_TEST_POSTGRES")
	if server == "" {
		t.Skip("HERD_TEST_POSTGRES is not set")
	}
	out, err := exec.Command("psql", "-XAtq", "-F", "\x01", "-R", "\x02", "-c", query, server).Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\x02") {
		rows = append(rows, strings.Split(line, "\x01"))
	}
	return rows
}

func number(t *testing.T, s string) types.OID {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return types.OID(n)
}

// TestBuiltinNamesMatchServer compares the texts of all built-in functions, types and operators.
func TestBuiltinNamesMatchServer(t *testing.T) {
	m := open(t)
	n := catalog.Names{Reader: m.Reader(), Path: path}
	d := catalog.Definer{Names: n}
	for _, row := range ask(t, `SELECT oid, oid::regproc, oid::regprocedure, pg_get_function_arguments(oid),
		pg_get_function_identity_arguments(oid), coalesce(pg_get_function_result(oid), '') FROM pg_proc WHERE oid < 16384`) {
		p := pgdata.FuncByOID(number(t, row[0]))
		proc, _ := n.FuncOut(p.OID)
		procedure, _ := n.ProcedureOut(p.OID)
		args, _ := d.FunctionArguments(p, true)
		identity, _ := d.FunctionArguments(p, false)
		result, _ := d.FunctionResult(p)
		for i, got := range []string{proc, procedure, args, identity, result} {
			if got != row[i+1] {
				t.Errorf("function %d: %q, want %q", p.OID, got, row[i+1])
			}
		}
		if id, err := n.RegIn(types.RegprocedureOID, procedure); err != nil || id != p.OID {
			t.Errorf("regprocedure %q: %d, %v", procedure, id, err)
		}
	}
	for _, row := range ask(t, `SELECT oid, oid::regtype, format_type(oid, -1), format_type(oid, 10), format_type(oid, 262148) FROM pg_type WHERE oid < 16384 AND typname NOT LIKE '%interval'`) {
		id := number(t, row[0])
		a, _ := n.TypeOut(id)
		b, _ := catalog.FormatType(n.Reader, id, -1, true, path)
		c, _ := catalog.FormatType(n.Reader, id, 10, true, path)
		e, _ := catalog.FormatType(n.Reader, id, 262148, true, path)
		for i, got := range []string{a, b, c, e} {
			if got != row[i+1] {
				t.Errorf("type %d: %q, want %q", id, got, row[i+1])
			}
		}
		if back, err := n.RegIn(types.RegtypeOID, a); err != nil || back != id {
			t.Errorf("regtype %q: %d, %v", a, back, err)
		}
	}
	for _, row := range ask(t, `SELECT oid, oid::regoper, oid::regoperator FROM pg_operator WHERE oid < 16384`) {
		id := number(t, row[0])
		a, _ := n.OperatorOut(id)
		b, _ := n.OperatorSignatureOut(id)
		if a != row[1] || b != row[2] {
			t.Errorf("operator %d: %q %q, want %q", id, a, b, row[1:])
		}
		if back, err := n.RegIn(types.RegoperatorOID, b); err != nil || back != id {
			t.Errorf("regoperator %q: %d, %v", b, back, err)
		}
	}
}

// TestSystemDefinitionsMatchServer compares the definitions of catalog indexes and constraints.
func TestSystemDefinitionsMatchServer(t *testing.T) {
	d := catalog.Definer{Names: catalog.Names{Reader: open(t).Reader(), Path: path}}
	for _, row := range ask(t, `SELECT indexrelid, pg_get_indexdef(indexrelid) FROM pg_index WHERE indexrelid < 16384 AND indrelid::regclass::text NOT LIKE 'pg_toast.%'`) {
		if got, ok, err := d.IndexDefByOID(number(t, row[0]), 0, false); !ok || err != nil || got != row[1] {
			t.Errorf("index %s: %q, want %q", row[0], got, row[1])
		}
	}
	for _, row := range ask(t, `SELECT oid, pg_get_constraintdef(oid) FROM pg_constraint WHERE oid < 16384`) {
		if got, ok, err := d.ConstraintDefByOID(number(t, row[0]), false); !ok || err != nil || got != row[1] {
			t.Errorf("constraint %s: %q, want %q", row[0], got, row[1])
		}
	}
}

// TestBuiltinRowsMatchServer compares the text of all rows of the static catalogs, through
// types' output functions.
func TestBuiltinRowsMatchServer(t *testing.T) {
	m := open(t)
	n := catalog.Names{Reader: m.Reader(), Path: path}
	ctx := types.NewIOContext()
	ctx.Catalog = n
	for _, x := range pgdata.Relations() {
		if x.Kind != 'r' || x.Name == "pg_database" || x.Name == "pg_shdescription" {
			continue
		}
		rel := must[*catalog.Relation](t)(m.Reader().RelationByOID(x.OID))
		var cols []string
		for _, c := range rel.Columns {
			switch {
			case c.Type == types.PgNodeTreeOID || c.Type == 28 || c.Type == types.AnyArrayOID:
			case x.Name == "pg_class" && strings.Contains("relpages reltuples relallvisible relfilenode", c.Name):
			case c.Name == "attoptions":
			case x.Name == "pg_authid" && c.Name == "rolpassword":
			default:
				cols = append(cols, c.Name)
			}
		}
		_, data := scanAll(t, env{m.Reader()}, rel.Virtual, len(rel.Columns), -1, nil)
		mine := map[string]int{}
		for _, row := range data {
			var f []string
			for i, c := range rel.Columns {
				for _, name := range cols {
					if name != c.Name {
						continue
					}
					if row[i].Null {
						f = append(f, "")
					} else {
						typ := c.Type
						if b := pgdata.TypeByOID(typ); b.Type == 'd' {
							if typ = b.BaseType; pgdata.TypeByOID(typ).Type == 'd' {
								typ = pgdata.TypeByOID(typ).BaseType
							}
						}
						f = append(f, string(types.Output(ctx, nil, typ, row[i])))
					}
				}
			}
			mine[strings.Join(f, "\x01")]++
		}
		where := ""
		for _, c := range rel.Columns {
			if c.Name == "oid" {
				where = " WHERE oid < 16384"
			}
		}
		switch x.Name {
		case "pg_attribute", "pg_index", "pg_description", "pg_depend":
			where = " WHERE " + map[string]string{"pg_attribute": "attrelid", "pg_index": "indexrelid", "pg_description": "objoid", "pg_depend": "objid"}[x.Name] + " < 16384"
		case "pg_statistic", "pg_shdepend", "pg_largeobject", "pg_db_role_setting":
			where = " WHERE false"
		}
		schema := "pg_catalog."
		if x.Namespace == pgdata.InformationSchema {
			schema = "information_schema."
		}
		bad := 0
		for _, row := range ask(t, "SELECT "+strings.Join(cols, ", ")+" FROM "+schema+x.Name+where) {
			k := strings.Join(row, "\x01")
			if k == "" {
				continue
			}
			if mine[k]--; mine[k] < 0 && bad < 3 {
				bad++
				t.Errorf("%s lacks %q", x.Name, row)
			}
		}
		for k, left := range mine {
			if left > 0 && bad < 6 {
				bad++
				t.Errorf("%s has %q", x.Name, strings.Split(k, "\x01"))
			}
		}
	}
}
