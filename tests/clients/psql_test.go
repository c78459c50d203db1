package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"herd/tests/peer"
)

// What psql shows and two servers may differ in: sizes, the width of columns with them, numbers of rows of what has herd's own
// views in it, PostgreSQL's TOAST tables, ports.
var (
	sizes  = regexp.MustCompile(`\b\d+ (bytes|kB|MB)\b`)
	dashes = regexp.MustCompile(`-{2,}`)
	blanks = regexp.MustCompile(` +`)
	counts = regexp.MustCompile(`^\(\d+ rows?\)$`)
	ports  = regexp.MustCompile(`port "\d+"`)
)

func psqlText(s string) string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		line = sizes.ReplaceAllString(line, "SIZE")
		line = ports.ReplaceAllString(line, "PORT")
		line = strings.TrimSpace(blanks.ReplaceAllString(dashes.ReplaceAllString(line, "--"), " "))
		if strings.Contains(line, "herd_") || strings.Contains(line, "pg_toast_") || counts.MatchString(line) {
			continue
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// psql's commands show the same of a database with everything in it.
func TestPsqlCommands(t *testing.T) {
	psql, s := program(t, "psql"), both(t)
	mark := size(t, s.messages)
	var texts [2]string
	for i, server := range []*peer.Server{s.postgres, s.herd} {
		url := database(t, server, "everything")
		run(t, server, url, psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", filepath.Join("..", "system", "testdata", "everything.sql"))
		texts[i] = psqlText(run(t, server, url, psql, "-X", "-a", "-f", filepath.Join("testdata", "psql.sql")))
		run(t, server, server.URL, psql, "-X", "-q", "-d", server.URL, "-c", "DROP DATABASE everything", "-c", `DROP ROLE dumper, "Odd Role"`)
	}
	compare(t, texts[0], texts[1])
	noErrors(t, s, mark)
}

// pgbench's scripts and its own initialization run in each protocol, with partitions left out, and leave equal sums.
func TestPgbench(t *testing.T) {
	pgbench, psql, s := program(t, "pgbench", "/usr/lib/postgresql/15/bin/pgbench"), program(t, "psql"), both(t)
	mark := size(t, s.messages)
	url := database(t, s.herd, "bench")
	run(t, s.herd, url, pgbench, "-i", "-s", "1", "--foreign-keys", "-I", "dtGvpf")
	for _, mode := range []string{"simple", "extended", "prepared"} {
		for _, script := range []string{"tpcb-like", "simple-update", "select-only"} {
			out := run(t, s.herd, url, pgbench, "-n", "-M", mode, "-b", script, "-c", "4", "-t", "50")
			if !strings.Contains(out, "number of transactions actually processed: 200/200") || !strings.Contains(out, "number of failed transactions: 0 ") {
				t.Errorf("%s %s: %s", mode, script, out)
			}
		}
	}
	sums := run(t, s.herd, url, psql, "-X", "-At", "-c", `SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history),
		(SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(tbalance) FROM pgbench_tellers), (SELECT count(*) FROM pgbench_history)`)
	if sums != "t|t|1200\n" {
		t.Errorf("sums %q", sums)
	}
	noErrors(t, s, mark)
}

// sysbench's scripts run without an error.
func TestSysbench(t *testing.T) {
	sysbench, s := program(t, "sysbench"), both(t)
	mark := size(t, s.messages)
	url := database(t, s.herd, "sysbench")
	scripts := []string{"oltp_read_write", "oltp_read_only", "oltp_point_select", "oltp_insert", "oltp_update_index", "oltp_update_non_index",
		"oltp_delete", "oltp_write_only", "select_random_points", "select_random_ranges", "bulk_insert"}
	for _, script := range scripts {
		tables := "--tables=2"
		if strings.HasPrefix(script, "select_random") { // knows one only
			tables = "--tables=1"
		}
		if _, err := os.Stat(filepath.Join("/usr/share/sysbench", script+".lua")); err != nil {
			missing(t, "%v", err)
		}
		for _, step := range []string{"prepare", "run", "cleanup"} {
			out := run(t, s.herd, url, sysbench, script, "--db-driver=pgsql", "--pgsql-host=127.0.0.1", "--pgsql-port="+port(s.herd), "--pgsql-user=postgres",
				"--pgsql-db=sysbench", tables, "--table-size=1000", "--threads=4", "--events=200", "--time=20", step)
			if strings.Contains(out, "FATAL") || step == "run" && !strings.Contains(out, "ignored errors:                      0 ") && script != "oltp_read_write" && script != "oltp_write_only" {
				t.Errorf("%s %s: %s", script, step, out)
			}
		}
	}
	noErrors(t, s, mark)
}
