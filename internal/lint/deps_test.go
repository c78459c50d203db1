package lint

import (
	"slices"
	"sort"
	"strings"
	"testing"
)

// layers says what each package may import of this repository (tests may import more). "x/..." stands for x and all below it.
//
// The sentences behind it: planner never sees storage; storage never sees SQL or a log; the log never sees what it carries; only engine
// joins storage to a log; only session joins SQL to an engine; only cmd/herd knows conf.
const layers = `
internal/invariant      -
internal/golden         -
internal/lint           -
internal/mem            internal/invariant
internal/scenario       -
internal/vfs            internal/invariant
conf                    -
web                     -
ycsb                    -

sql/sqlerr              -
sql/sqlerr/gen          -
sql/ast                 -
sql/scan                sql/sqlerr
sql/postgres            sql/ast sql/scan sql/sqlerr
sql/dump                -
sql/mysql               sql/ast sql/postgres sql/sqlerr
sql/types/...           sql/types/... sql/sqlerr internal/invariant
sql/vec                 sql/types/... internal/...
sql/row                 sql/types/... sql/vec sql/sqlerr internal/invariant
sql/catalog/pgdata      sql/types/...
sql/catalog/catalogtest sql/catalog/... sql/types/... sql/sqlerr storage internal/...
sql/catalog             sql/catalog/pgdata sql/row sql/sqlerr sql/types/... storage internal/...
sql/funcs/...           sql/funcs/... sql/catalog/... sql/sqlerr sql/types/... sql/vec sql/row internal/...
sql/ddl                 sql/ast sql/catalog/... sql/deparse sql/exec sql/row sql/sqlerr sql/types/... planner planner/plan storage engine/lock internal/...
sql/deparse             sql/ast sql/catalog/... sql/sqlerr sql/types/... planner/plan
planner/plan            sql/catalog/... sql/types/... sql/sqlerr
planner                 planner/plan sql/ast sql/catalog/... sql/deparse sql/funcs/... sql/postgres sql/scan sql/sqlerr sql/types/... internal/...
sql/exec                planner/plan sql/catalog/... sql/funcs/... sql/row sql/sqlerr sql/types/... sql/vec storage engine/lock internal/...

storage/block           internal/...
storage/btree           storage/block internal/...
storage                 storage/block storage/btree internal/...
txlog                   internal/...
backup                  internal/...
engine/lock             sql/sqlerr internal/...
engine                  engine/lock storage txlog sql/sqlerr internal/...
cluster                 txlog sql/sqlerr internal/...

sql/session             engine engine/lock planner planner/plan pgwire/wire sql/... storage internal/...
pgwire/wire             sql/sqlerr internal/...
pgwire                  pgwire/wire sql/session sql/sqlerr sql/types/... internal/...
cmd/herd                backup cluster conf engine pgwire sql/dump sql/mysql sql/scan sql/session storage/... txlog web ycsb internal/...

cmd/pgdatagen           sql/types/...
internal/pgdatagen      sql/types/...
bench/...               internal/... tests/... ycsb
tests/...               tests/... internal/...
`

// quarantine says which packages may import a third-party module, so that replacing it touches one place.
const quarantine = `
github.com/sqlc-dev/oliphant             sql/postgres
google.golang.org/protobuf               sql/postgres
github.com/pingcap/tidb/pkg/parser       sql/mysql
go.etcd.io/bbolt                         cluster
go.etcd.io/etcd                          bench/etcd
github.com/duckdb/duckdb-go-bindings     bench/tpch
github.com/hashicorp/raft                cluster
github.com/anishathalye/porcupine       cluster
github.com/hashicorp/go-hclog            cluster
github.com/jackc/pgx/v5                  ycsb cmd/herd tests/... bench/... cmd/pgdatagen internal/pgdatagen
github.com/jackc/pgproto3/v2             pgwire/... tests/...
github.com/go-sql-driver/mysql           ycsb tests/... bench/...
github.com/prometheus/client_golang      web
github.com/spf13/cobra                   cmd/herd
github.com/spf13/pflag                   cmd/herd tests/... bench/...
github.com/magiconair/properties         conf
github.com/HdrHistogram/hdrhistogram-go  ycsb
github.com/cockroachdb/apd/v3            sql/types/...
gonum.org/v1/plot                        ycsb
github.com/klauspost/compress            backup
github.com/cespare/xxhash/v2             storage/... sql/... ycsb internal/...
golang.org/x/sys                         internal/vfs internal/mem
golang.org/x/crypto                      pgwire/... sql/session
golang.org/x/text                        sql/... pgwire/...
golang.org/x/term                        cmd/herd
golang.org/x/tools                       internal/...
`

// internal/deps keeps modules in go.mod and imports them all.
const keepsModules = "internal/deps"

type rules struct {
	names  []string
	allows map[string][]string
}

func parseRules(t *testing.T, table string) rules {
	t.Helper()
	r := rules{allows: map[string][]string{}}
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) < 2 || r.allows[fields[0]] != nil {
			t.Fatalf("bad line in table: %q", line)
		}
		r.names = append(r.names, fields[0])
		r.allows[fields[0]] = fields[1:]
	}
	return r
}

// matches reports whether a path is one of the patterns, of which "x/..." stands for x and all below.
func matches(path string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, deep := strings.CutSuffix(p, "/...")
		return path == prefix || deep && strings.HasPrefix(path, prefix+"/")
	})
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		path, pattern string
		want          bool
	}{{"a/b", "a/b", true}, {"a/b", "a", false}, {"a/b", "a/...", true}, {"a", "a/...", true}, {"ab", "a/...", false}} {
		if got := matches(c.path, []string{c.pattern}); got != c.want {
			t.Errorf("%s in %s: %v", c.path, c.pattern, got)
		}
	}
}

func load(t *testing.T) *Tree {
	t.Helper()
	tree, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func sortedPackages(tree *Tree) []string {
	var out []string
	for dir := range tree.Packages {
		out = append(out, dir)
	}
	sort.Strings(out)
	return out
}

func TestLayers(t *testing.T) {
	r := parseRules(t, layers)
	tree := load(t)
	for _, dir := range sortedPackages(tree) {
		i := slices.IndexFunc(r.names, func(name string) bool { return matches(dir, []string{name}) })
		if i < 0 {
			t.Errorf("%s: no line in the import table of internal/lint/deps_test.go; add one", dir)
			continue
		}
		for _, file := range tree.Packages[dir] {
			if file.Test {
				continue
			}
			for _, path := range file.Imports() {
				local, ok := strings.CutPrefix(path, Module+"/")
				if ok && !matches(local, r.allows[r.names[i]]) {
					t.Errorf("%s imports %s; %s may import: %s", file.Path, local, dir, strings.Join(r.allows[r.names[i]], " "))
				}
			}
		}
	}
}

func TestQuarantine(t *testing.T) {
	r := parseRules(t, quarantine)
	tree := load(t)
	for _, dir := range sortedPackages(tree) {
		if dir == keepsModules {
			continue
		}
		for _, file := range tree.Packages[dir] {
			for _, path := range file.Imports() {
				if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
					continue
				}
				i := slices.IndexFunc(r.names, func(name string) bool { return matches(path, []string{name + "/..."}) })
				if i < 0 {
					t.Errorf("%s imports %s, which has no line in the table of third-party modules in internal/lint/deps_test.go", file.Path, path)
				} else if !file.Test && !matches(dir, r.allows[r.names[i]]) {
					t.Errorf("%s imports %s; only these may: %s", file.Path, path, strings.Join(r.allows[r.names[i]], " "))
				}
			}
		}
	}
}
