package clients

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"herd/tests/peer"
)

func port(s *peer.Server) string { return strconv.Itoa(s.Port) }

// Zabbix's schema and data (Debian's package zabbix-server-pgsql, whose folder HERD_ZABBIX_DIR names) load with psql without an
// error: 173 tables, 226 foreign keys, 130,102 INSERT statements. The tables then have PostgreSQL's rows.
func TestZabbix(t *testing.T) {
	dir := os.Getenv("HERD_ZABBIX_DIR")
	if dir == "" {
		dir = "/usr/share/zabbix-server-pgsql"
	}
	if _, err := os.Stat(filepath.Join(dir, "schema.sql.gz")); err != nil {
		missing(t, "Zabbix's schema (HERD_ZABBIX_DIR): %v", err)
	}
	psql, s := program(t, "psql"), both(t)
	mark := size(t, s.messages)
	var files []string
	for _, name := range []string{"schema", "images", "data"} {
		files = append(files, "-f", unzip(t, filepath.Join(dir, name+".sql.gz")))
	}
	const rows = `SELECT format('SELECT %L, count(*), sum(hashtext(t::text)::bigint) FROM %I t', relname, relname)
		FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname \gexec` + "\n"
	count := filepath.Join(t.TempDir(), "count.sql")
	text := `SELECT count(*) FROM pg_constraint WHERE contype = 'f'; SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace;` + "\n" + rows
	if err := os.WriteFile(count, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var results [2]string
	for i, server := range []*peer.Server{s.postgres, s.herd} {
		url := database(t, server, "zabbix")
		start := time.Now()
		args := append([]string{"-X", "-q", "-v", "ON_ERROR_STOP=1"}, files...)
		if server == s.postgres {
			args = append(args, "--single-transaction") // it takes long otherwise
		}
		run(t, server, url, psql, args...)
		t.Logf("%s loaded in %.1f s", []string{"PostgreSQL", "herd"}[i], time.Since(start).Seconds())
		results[i] = run(t, server, url, psql, "-X", "-At", "-f", count)
	}
	compare(t, results[0], results[1])
	noErrors(t, s, mark)
}

// triggers are what the schema has of PL/pgSQL, which herd does not have: both servers load it without.
var triggers = regexp.MustCompile(`(?ms)^create (or replace function .*?^end \$func\$|trigger .*?);\n`)

// unzip unpacks a file into the test's folder.
func unzip(t *testing.T, file string) string {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "f.sql")
	if err := os.WriteFile(out, triggers.ReplaceAll(text, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}
