package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFilesMatchServer compares every data file with the PostgreSQL 15 server that
// HERD_TEST_POSTGRES names by a connection string.
func TestFilesMatchServer(t *testing.T) {
	server := os.Getenv("HERD_TEST_POSTGRES")
	if server == "" {
		t.Skip("HERD_TEST_POSTGRES is not set")
	}
	files, err := Dump(server)
	if err != nil {
		t.Fatal(err)
	}
	dir := "../../sql/catalog/pgdata/data"
	seen := map[string]bool{}
	for _, f := range files {
		seen[f.Name+".tsv.gz"] = true
		if err := compare(filepath.Join(dir, f.Name+".tsv.gz"), f.Text); err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !seen[e.Name()] {
			t.Errorf("%s is not made by this tool", e.Name())
		}
	}
}
