package catalog_test

import (
	"fmt"
	"testing"

	"herd/sql/catalog"
	"herd/sql/catalog/catalogtest"
	"herd/sql/catalog/pgdata"
	"herd/storage"
)

// counting counts what a catalog operation asks of the trees.
type counting struct {
	*catalogtest.Memory
	gets, entries, writes int
}

func (c *counting) Newest() catalog.Source { return c }

func (c *counting) Get(t storage.TreeID, key []byte) ([]byte, bool, error) {
	c.gets++
	return c.Memory.Get(t, key)
}

func (c *counting) Range(t storage.TreeID, lo, hi []byte, f func(key, val []byte) bool) error {
	return c.Memory.Range(t, lo, hi, func(key, val []byte) bool {
		c.entries++
		return f(key, val)
	})
}

func (c *counting) Put(t storage.TreeID, key, val []byte) error {
	c.writes++
	return c.Memory.Put(t, key, val)
}

// TestCostDoesNotGrow creates, changes and drops a table in a small and in a large database and
// compares the tree operations.
func TestCostDoesNotGrow(t *testing.T) {
	cost := func(tables int) [3]int {
		m := open(t)
		for i := range tables {
			table(t, m, fmt.Sprint("other", i))
		}
		c := &counting{Memory: m}
		w := catalog.NewWriter(c, catalog.ReaderOptions{Cache: catalog.NewCache()})
		rel := &catalog.Relation{Name: "t", Schema: pgdata.PublicSchema, Kind: catalog.KindTable, Owner: 10, Persistence: 'p',
			Columns: []catalog.Column{{Num: 1, Name: "a", Type: 23, Typmod: -1, Default: "1"}},
			Indexes: []*catalog.Index{{Name: "i", Keys: []catalog.IndexKey{{Attno: 1, Type: 23, OpClass: 1978}}}}}
		if err := w.CreateRelation(rel); err != nil {
			t.Fatal(err)
		}
		old, err := w.Reader().LookupRelation("", "t", path)
		if err != nil {
			t.Fatal(err)
		}
		changed := old.Clone()
		changed.Name = "t2"
		if err := w.UpdateRelation(old, changed); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Drop(catalog.Names{Path: path}, []catalog.Object{{Class: catalog.ClassRelation, OID: rel.OID}}, false); err != nil {
			t.Fatal(err)
		}
		return [3]int{c.gets, c.entries, c.writes}
	}
	small, large := cost(2), cost(500)
	if small != large {
		t.Errorf("gets, entries and writes: %v with 2 tables, %v with 500", small, large)
	}
	t.Log(small)
}
