package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"herd/tests/peer"
)

func TestMain(m *testing.M) { os.Exit(peer.Main(m)) }

// slow are specs that only a run of the command takes: minutes of permutations of what others show as well.
var slow = map[string]bool{"multiple-row-versions": true}

// Every spec of PostgreSQL's source that uses only what herd has gives PostgreSQL's output. HERD_ISOLATION_SPECS is the folder of
// src/test/isolation; .ci/run fetches it with Debian's source package.
func TestSpecs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	dir := os.Getenv("HERD_ISOLATION_SPECS")
	if dir == "" {
		t.Skip("peer missing: HERD_ISOLATION_SPECS does not name src/test/isolation of PostgreSQL's source")
	}
	r, names := specsIn(t, dir)
	exempt, err := exemptions()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if reason := exempt[name]; strings.Contains(reason, "catalogs") || slow[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			res, err := r.run(context.Background(), name)
			if err != nil {
				t.Fatal(err)
			}
			if reason := exempt[name]; reason != "" && res.diff == "" {
				t.Errorf("passes: its line in exempt.txt (%s) has to go", reason)
			} else if reason == "" && res.diff != "" {
				t.Error(res.diff)
			}
		})
		delete(exempt, name)
	}
	for name := range exempt {
		if !strings.Contains(exempt[name], "catalogs") {
			t.Errorf("exempt.txt names %s, which is no spec", name)
		}
	}
}

// specsIn starts a herd and returns a runner for the specs in a folder, and their names.
func specsIn(t *testing.T, dir string) (*runner, []string) {
	t.Helper()
	r, err := newRunner(peer.StartHerdFor(t).URL, dir, "")
	if errors.Is(err, peer.ErrNotInstalled) {
		t.Skipf("peer missing: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	names, err := r.schedule()
	if err != nil {
		t.Fatal(err)
	}
	return r, names
}

// The anomalies that tests of isolation are usually measured by, at each level: what happens is what happens in PostgreSQL.
func TestHermitage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	r, names := specsIn(t, "hermitage")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			res, err := r.run(context.Background(), name)
			if err != nil {
				t.Fatal(err)
			}
			if res.diff != "" {
				t.Error(res.diff)
			}
		})
	}
}

// A different output is reported as such: the comparison can fail.
func TestDifferenceIsSeen(t *testing.T) {
	file := t.TempDir() + "/want.out"
	if err := os.WriteFile(file, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	diff, err := difference(file, []byte("a\nc\n"))
	if err != nil || !strings.Contains(diff, "-b") || !strings.Contains(diff, "+c") {
		t.Fatalf("%q, %v", diff, err)
	}
}
