package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// File is one data file: its name without suffix and its uncompressed text.
type File struct {
	Name string
	Text []byte
}

// skipRows lists catalogs whose rows belong to a cluster or a database and not to the release.
var skipRows = map[string]bool{
	"pg_database": true, "pg_statistic": true, "pg_shdepend": true, "pg_largeobject": true,
	"pg_db_role_setting": true, "pg_subscription": true, "pg_subscription_rel": true,
	"pg_replication_origin": true, "pg_shseclabel": true,
}

// constants replaces columns that differ between two fresh servers (I2).
var constants = map[string]string{
	"pg_class.relfilenode": "0", "pg_class.relpages": "0", "pg_class.reltuples": "'-1'",
	"pg_class.relallvisible": "0", "pg_class.relfrozenxid": "0", "pg_class.relminmxid": "0",
	"pg_authid.rolpassword": "NULL",
	// Releases from 15.20 on keep a log position here.
	"pg_attribute.attoptions": "NULL",
}

// texts replaces expression trees by SQL text (I3).
var texts = map[string]string{
	"pg_type.typdefaultbin":          "pg_get_expr(typdefaultbin, 0)",
	"pg_attrdef.adbin":               "pg_get_expr(adbin, adrelid)",
	"pg_constraint.conbin":           "pg_get_expr(conbin, conrelid)",
	"pg_index.indexprs":              "pg_get_expr(indexprs, indrelid)",
	"pg_index.indpred":               "pg_get_expr(indpred, indrelid)",
	"pg_proc.proargdefaults":         "pg_get_expr(proargdefaults, 0)",
	"pg_proc.prosqlbody":             "pg_get_function_sqlbody(oid)",
	"pg_rewrite.ev_action":           "pg_get_viewdef(ev_class)",
	"pg_attribute.attmissingval":     "NULL",
	"pg_class.relpartbound":          "NULL",
	"pg_policy.polqual":              "NULL",
	"pg_policy.polwithcheck":         "NULL",
	"pg_publication_rel.prqual":      "NULL",
	"pg_statistic_ext.stxexprs":      "NULL",
	"pg_trigger.tgqual":              "NULL",
	"pg_partitioned_table.partexprs": "NULL",
	"pg_rewrite.ev_qual":             "NULL",
}

// keyColumn names the object identifier that decides whether a row is initdb's, where it is
// not the first column of type oid.
var keyColumn = map[string]string{"pg_depend": "objid"}

// column is one column of a catalog on the server.
type column struct{ table, name, typ string }

// Dump reads all data files from the server, which must be PostgreSQL 15.
func Dump(server string) ([]File, error) {
	q := querier{server}
	version, err := q.rows("SHOW server_version_num")
	if err != nil {
		return nil, err
	}
	if len(version) != 1 || !strings.HasPrefix(version[0], "15") {
		return nil, fmt.Errorf("server is version %v, want 15", version)
	}
	tables, err := q.columns()
	if err != nil {
		return nil, err
	}
	var files []File
	for _, cols := range tables {
		name := cols[0].table
		if skipRows[name] {
			continue
		}
		text, err := q.copy(catalogQuery(cols))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if bytes.IndexByte(text, '\n') == len(text)-1 {
			continue // no rows
		}
		files = append(files, File{name, text})
	}
	for _, x := range extras {
		text, err := q.copy(x.query)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", x.name, err)
		}
		files = append(files, File{x.name, text})
	}
	return files, nil
}

// extras are data that no catalog table holds.
var extras = []struct{ name, query string }{
	{"keywords", `SELECT word, catcode, barelabel FROM pg_get_keywords() ORDER BY word COLLATE "C"`},
	{"encodings", `SELECT i AS id, pg_encoding_to_char(i) AS name FROM generate_series(0, 41) i ORDER BY 1`},
	{"settings", `SELECT name, boot_val, unit, category, short_desc, extra_desc, context, vartype,
		enumvals, min_val, max_val FROM pg_show_all_settings() s
		WHERE name NOT LIKE '%.%' ORDER BY lower(name) COLLATE "C"`},
	{"proc_defaults", `SELECT p.oid, array_agg(pg_get_function_arg_default(p.oid, i) ORDER BY i) AS defaults
		FROM pg_proc p, generate_series(p.pronargs - p.pronargdefaults + 1, p.pronargs) i
		WHERE p.oid < 16384 AND p.pronargdefaults > 0 GROUP BY p.oid ORDER BY p.oid`},
	{"setting_flags", `SELECT name, array_to_string(pg_settings_get_flags(name), ',') AS flags
		FROM pg_show_all_settings() s
		WHERE name NOT LIKE '%.%' AND pg_settings_get_flags(name) <> '{}' ORDER BY lower(name) COLLATE "C"`},
}

// catalogQuery builds the query for all initdb rows of one catalog.
func catalogQuery(cols []column) string {
	var list, order []string
	if cols[0].table == "pg_attribute" {
		order = []string{"attrelid::int8", "attnum"}
	}
	key := keyColumn[cols[0].table]
	for _, c := range cols {
		full := c.table + "." + c.name
		switch {
		case constants[full] != "":
			list = append(list, constants[full]+" AS "+c.name)
		case texts[full] != "":
			list = append(list, texts[full]+" AS "+c.name)
		case c.typ == "regproc":
			list = append(list, c.name+"::oid AS "+c.name)
		default:
			list = append(list, c.name)
		}
		if key == "" && (c.typ == "oid" || c.typ == "regproc") {
			key = c.name
		}
		if c.typ == "oid" || c.typ == "regproc" || c.typ == "int2" || c.typ == "int4" {
			order = append(order, c.name+"::int8")
		}
	}
	q := "SELECT " + strings.Join(list, ", ") + " FROM " + qualified(cols[0].table)
	if key != "" {
		q += " WHERE " + key + "::oid < 16384::oid ORDER BY " + strings.Join(order, ", ")
	} else {
		q += " ORDER BY 1, 2"
	}
	return q
}

// qualified puts the schema before a catalog's name.
func qualified(table string) string {
	if strings.HasPrefix(table, "sql_") {
		return "information_schema." + table
	}
	return "pg_catalog." + table
}

// querier runs statements through psql, which keeps the tool free of a driver.
type querier struct{ server string }

// columns lists the columns of all catalog tables, grouped by table.
func (q querier) columns() ([][]column, error) {
	lines, err := q.rows(`SELECT c.relname, a.attname, t.typname
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
		WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND c.oid < 16384
		AND c.relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
		ORDER BY c.relname, a.attnum`)
	if err != nil {
		return nil, err
	}
	var tables [][]column
	for _, line := range lines {
		f := strings.Split(line, "|")
		if len(tables) == 0 || tables[len(tables)-1][0].table != f[0] {
			tables = append(tables, nil)
		}
		last := len(tables) - 1
		tables[last] = append(tables[last], column{f[0], f[1], f[2]})
	}
	return tables, nil
}

// rows returns the unaligned output lines of a query.
func (q querier) rows(query string) ([]string, error) {
	out, err := q.psql(query)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimRight(string(out), "\n"), "\n"), nil
}

// copy returns a query's rows in COPY text format below a line of column names.
func (q querier) copy(query string) ([]byte, error) {
	return q.psql("COPY (" + query + ") TO STDOUT WITH (HEADER true)")
}

// psql runs one statement with only pg_catalog on the search path, so that names in
// expressions are qualified in the same way on every server.
func (q querier) psql(query string) ([]byte, error) {
	cmd := exec.Command("psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1",
		"-c", "SET search_path = pg_catalog; SET timezone = 'UTC'", "-c", query, q.server)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("psql: %w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("psql: %w", err)
	}
	return out, nil
}
