package catalog_test

import (
	"fmt"
	"testing"

	"herd/sql/catalog"
	"herd/sql/catalog/catalogtest"
	"herd/sql/types"
)

// TestLookupAllocations holds the cost of finding a table whose descriptor is cached: three
// keys and the reader, whatever the number of tables.
func TestLookupAllocations(t *testing.T) {
	m := open(t)
	for i := range 300 {
		table(t, m, fmt.Sprint("t", i))
	}
	r := m.Reader()
	got := testing.AllocsPerRun(100, func() {
		rel, err := r.LookupRelation("", "t77", path)
		if rel == nil || err != nil {
			t.Fatal(err)
		}
	})
	if got > 4 {
		t.Errorf("a cached look-up makes %v allocations, want at most 4", got)
	}
}

func benchDB(b *testing.B, n int) *catalogtest.Memory {
	m, err := catalogtest.New()
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		if _, err := m.Table(fmt.Sprint("t", i), "id", [2]string{"id", "int4"}, [2]string{"v", "text"}, [2]string{"w", "text"}); err != nil {
			b.Fatal(err)
		}
	}
	return m
}

func countRows(b *testing.B, m *catalogtest.Memory, rel *catalog.Relation, path int, keys []types.Datum) int {
	it, err := rel.Virtual.Scan(env{m.Reader()}, path, keys, nil)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]types.Datum, len(rel.Columns))
	for n := 0; ; n++ {
		ok, err := it.Next(dst)
		if err != nil {
			b.Fatal(err)
		}
		if !ok {
			return n
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	m := benchDB(b, 1000)
	r := m.Reader()
	b.ReportAllocs()
	for b.Loop() {
		if rel, err := r.LookupRelation("", "t500", path); rel == nil || err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScanClass(b *testing.B) {
	m := benchDB(b, 1000)
	rel, err := m.Reader().RelationByOID(1259)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if n := countRows(b, m, rel, -1, nil); n != 410+2000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkScanAttribute(b *testing.B) {
	m := benchDB(b, 1000)
	rel, err := m.Reader().RelationByOID(1249)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		countRows(b, m, rel, -1, nil)
	}
}

func BenchmarkDecode(b *testing.B) {
	m := benchDB(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		r := catalog.NewReader(catalog.ReaderOptions{Source: m, Cache: catalog.NewCache()})
		n := 0
		if err := r.Relations(func(*catalog.Relation) bool { n++; return true }); err != nil || n != 1000 {
			b.Fatal(n, err)
		}
	}
}
