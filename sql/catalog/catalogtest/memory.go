package catalogtest

import (
	"sort"

	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/storage"
)

// Memory is a database's trees without engine: every write is visible at once.
type Memory struct {
	Trees map[storage.TreeID]map[string][]byte
	// Txn is the transaction number of what is written.
	Txn      uint64
	Versions storage.Seq
	own      map[string]bool
	nextOID  types.OID
	nextTree storage.TreeID
	// Rows is what Count answers for a tree.
	Rows map[storage.TreeID]int64
}

// New returns a bootstrapped database that is its own system database, owned by role postgres.
func New() (*Memory, error) {
	m := &Memory{
		Trees: map[storage.TreeID]map[string][]byte{}, Txn: 1, Versions: 1, own: map[string]bool{},
		nextOID: pgdata.FirstUserOID, nextTree: storage.ReservedTrees, Rows: map[storage.TreeID]int64{},
	}
	w := m.Writer()
	if err := catalog.Bootstrap(w); err != nil {
		return nil, err
	}
	if err := catalog.BootstrapShared(w, "postgres", ""); err != nil {
		return nil, err
	}
	m.Commit()
	return m, nil
}

var cache = catalog.NewCache()

// Writer returns a writer of the database.
func (m *Memory) Writer() *catalog.Writer {
	return catalog.NewWriter(m, catalog.ReaderOptions{Cache: cache, Source: m})
}

// Reader returns a reader of the database.
func (m *Memory) Reader() catalog.Reader {
	return catalog.NewReader(catalog.ReaderOptions{Cache: cache, Source: m})
}

// Commit ends the transaction: what it wrote is no longer its own.
func (m *Memory) Commit() {
	m.Txn++
	m.Versions++
	m.own = map[string]bool{}
}

// Get implements catalog.Source.
func (m *Memory) Get(t storage.TreeID, key []byte) ([]byte, bool, error) {
	v, ok := m.Trees[t][string(key)]
	return v, ok, nil
}

// Range implements catalog.Source.
func (m *Memory) Range(t storage.TreeID, lo, hi []byte, f func(key, val []byte) bool) error {
	var keys []string
	for k := range m.Trees[t] {
		if k >= string(lo) && (hi == nil || k < string(hi)) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	for _, k := range keys {
		if v, ok := m.Trees[t][k]; ok && !f([]byte(k), v) {
			return nil
		}
	}
	return nil
}

// Count implements catalog.Source.
func (m *Memory) Count(t storage.TreeID) int64 { return m.Rows[t] }

// CatalogVersion implements catalog.Source.
func (m *Memory) CatalogVersion() storage.Seq { return m.Versions }

// HasOwn implements catalog.Source.
func (m *Memory) HasOwn(t storage.TreeID, key []byte) bool {
	return m.own[string(rune(t))+string(key)]
}

// ID implements catalog.Tx.
func (m *Memory) ID() uint64 { return m.Txn }

// Newest implements catalog.Tx.
func (m *Memory) Newest() catalog.Source { return m }

// LockKey implements catalog.Tx.
func (m *Memory) LockKey(storage.TreeID, []byte) error { return nil }

// Put implements catalog.Tx.
func (m *Memory) Put(t storage.TreeID, key, val []byte) error {
	if m.Trees[t] == nil {
		m.Trees[t] = map[string][]byte{}
	}
	m.Trees[t][string(key)] = append([]byte(nil), val...)
	m.own[string(rune(t))+string(key)] = true
	return nil
}

// Delete implements catalog.Tx.
func (m *Memory) Delete(t storage.TreeID, key []byte) error {
	delete(m.Trees[t], string(key))
	return nil
}

// NewTree implements catalog.Tx.
func (m *Memory) NewTree() (storage.TreeID, error) {
	m.nextTree++
	m.Trees[m.nextTree] = map[string][]byte{}
	return m.nextTree, nil
}

// DropTree implements catalog.Tx.
func (m *Memory) DropTree(t storage.TreeID) error {
	delete(m.Trees, t)
	return nil
}

// NewOID implements catalog.Tx.
func (m *Memory) NewOID() (types.OID, error) {
	m.nextOID++
	return m.nextOID - 1, nil
}

// Table creates a table in schema public from column definitions: name, type name of pg_catalog.
// primaryKey names its columns, "" none.
func (m *Memory) Table(name, primaryKey string, columns ...[2]string) (*catalog.Relation, error) {
	rel := &catalog.Relation{Name: name, Schema: pgdata.PublicSchema, Kind: catalog.KindTable, Owner: catalog.BootstrapRole, Persistence: 'p'}
	for i, c := range columns {
		t := pgdata.TypeByName(pgdata.CatalogSchema, c[1])
		rel.Columns = append(rel.Columns, catalog.Column{Num: int16(i + 1), Name: c[0], Type: t.OID, Typmod: -1, Collation: t.Collation, NotNull: c[0] == primaryKey})
	}
	if primaryKey != "" {
		c := rel.ColumnByName(primaryKey)
		op := pgdata.DefaultOpclass(c.Type, pgdata.BTree, nil)
		rel.PrimaryKey = &catalog.Index{
			Name: name + "_pkey", Unique: true, Primary: true,
			Keys: []catalog.IndexKey{{Attno: c.Num, Type: c.Type, Collation: c.Collation, OpClass: op.OID}},
		}
		rel.Constraints = []*catalog.Constraint{{Name: name + "_pkey", Type: 'p', Cols: []int16{c.Num}, Validated: true}}
	}
	if err := m.Writer().CreateRelation(rel); err != nil {
		return nil, err
	}
	return m.Reader().RelationByOID(rel.OID)
}
