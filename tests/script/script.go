package script

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"herd/internal/golden"
	"herd/tests/peer"
)

// describe are the queries behind a line "@describe table": what psql's \d shows, without its layout.
var describe = []string{
	`select a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)
		from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
		where a.attrelid = '%s'::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
	`select pg_get_indexdef(indexrelid), indisprimary, indisunique from pg_index where indrelid = '%s'::regclass order by 1`,
	`select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = '%s'::regclass order by 1`,
	`select pg_get_viewdef(oid), pg_get_viewdef(oid, true) from pg_class where oid = '%s'::regclass and relkind = 'v'`,
}

// Output executes a script, one statement a line, and returns what a client sees. "@describe table" shows a table.
func Output(t *testing.T, url, script string) string {
	t.Helper()
	ctx := context.Background()
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		fmt.Fprintf(&out, "%s %s: %s\n%s", n.Severity, n.Code, n.Message, indent(n.Detail))
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	exec := func(sql string) {
		for _, r := range all(conn.Exec(ctx, sql), &out) {
			for _, row := range r.Rows {
				cells := make([]string, len(row))
				for i, c := range row {
					if cells[i] = string(c); c == nil {
						cells[i] = "NULL"
					}
				}
				fmt.Fprintf(&out, "  %s\n", strings.ReplaceAll(strings.Join(cells, " | "), "\n", "\n  "))
			}
			if r.Err == nil || len(r.Rows) > 0 { // whether columns are described before an error depends on when an expression is computed
				fmt.Fprintf(&out, "%s\n", r.CommandTag)
			}
		}
	}
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		fmt.Fprintf(&out, "> %s\n", line)
		if table, ok := strings.CutPrefix(line, "@describe "); ok {
			for _, q := range describe {
				exec(fmt.Sprintf(q, table))
			}
			continue
		}
		exec(line)
	}
	return out.String()
}

// all collects the results of a message and prints its error.
func all(r *pgconn.MultiResultReader, out *strings.Builder) []*pgconn.Result {
	list, err := r.ReadAll()
	var e *pgconn.PgError
	if errors.As(err, &e) {
		fmt.Fprintf(out, "%s %s: %s\n%s%s", e.Severity, e.Code, e.Message, indent(e.Detail), indent(e.Hint))
		if e.Position != 0 {
			fmt.Fprintf(out, "  at %d\n", e.Position)
		}
		out.WriteString(fields(e))
	} else if err != nil {
		fmt.Fprintf(out, "FAILED %v\n", err)
	}
	return list
}

// fields shows what an error says in the fields that clients read instead of its text. The schema of temporary tables has
// a number that differs from server to server.
func fields(e *pgconn.PgError) string {
	schema := e.SchemaName
	if strings.HasPrefix(schema, "pg_temp_") {
		schema = "pg_temp_N"
	}
	var out strings.Builder
	for _, f := range []struct{ name, value string }{{"schema", schema}, {"table", e.TableName}, {"column", e.ColumnName},
		{"data type", e.DataTypeName}, {"constraint", e.ConstraintName}} {
		if f.value != "" {
			fmt.Fprintf(&out, "  %s: %s\n", f.name, f.value)
		}
	}
	if e.InternalQuery != "" {
		fmt.Fprintf(&out, "  in %s\n", e.InternalQuery)
	}
	return out.String()
}

func indent(s string) string {
	if s == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(s, "\n", "\n  ") + "\n"
}

// Run runs the scripts that pattern names on herd; the wanted output beside them (.out) is what PostgreSQL 15 answers.
// With HERD_SCRIPT_PEER=postgres they run on a PostgreSQL, which with -rewrite makes the wanted output. Each script has a
// database of its own. HERD_SCRIPT_GOT names a folder for the whole outputs.
func Run(t *testing.T, pattern string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server")
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	postgres := os.Getenv("HERD_SCRIPT_PEER") == "postgres"
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" && !postgres {
		t.Skip("the wanted output comes from PostgreSQL: set HERD_SCRIPT_PEER=postgres")
	}
	url := ""
	if postgres {
		url = peer.Postgres(t)
	} else {
		url = startHerd(t)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".sql")
		t.Run(name, func(t *testing.T) {
			script, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got := Output(t, Database(t, url, "script_"+name), string(script))
			if dir := os.Getenv("HERD_SCRIPT_GOT"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, name+".got"), []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			golden.Check(t, strings.TrimSuffix(f, ".sql")+".out", got)
		})
	}
}

// Database makes a database and returns its URL.
func Database(t *testing.T, url, name string) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "create database "+name); err != nil {
		t.Fatal(err)
	}
	cfg := conn.Config()
	return fmt.Sprintf("postgres://postgres@%s:%d/%s?sslmode=disable", cfg.Host, cfg.Port, name)
}

func startHerd(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	bin := filepath.Join(t.TempDir(), "herd")
	if err := peer.BuildHerd(ctx, bin); err != nil {
		t.Fatal(err)
	}
	h := peer.Herd{Binary: bin, Dir: t.TempDir()}
	s, err := h.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s.URL
}
