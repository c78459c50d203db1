package catalog

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// Tx is what DDL needs of a transaction; sql/session makes it of an engine transaction.
type Tx interface {
	// ID is the transaction's number, never used again in the database's life.
	ID() uint64
	// Newest is the newest ordered state plus all changes of the transaction so far.
	Newest() Source
	// LockKey takes the key's exclusive lock until the transaction ends, waiting if need be.
	LockKey(t storage.TreeID, key []byte) error
	Put(t storage.TreeID, key, val []byte) error
	Delete(t storage.TreeID, key []byte) error
	NewTree() (storage.TreeID, error)
	DropTree(t storage.TreeID) error
	// NewOID returns an object identifier >= 16384 that was never used in the database.
	NewOID() (types.OID, error)
}

// Writer changes the catalog within one transaction. The caller has checked privileges and has
// locked the tables concerned; the Writer keeps names unique and records consistent.
type Writer struct {
	tx     Tx
	cache  *Cache
	shared Reader
	temp   types.OID
}

// NewWriter returns a Writer. Options.Source is not used: a Writer reads tx.Newest().
func NewWriter(tx Tx, o ReaderOptions) *Writer {
	return &Writer{tx: tx, cache: o.Cache, shared: o.Shared, temp: o.TempSchema}
}

// Reader returns a reader of the newest state with the transaction's changes so far.
func (w *Writer) Reader() Reader { return w.reader() }

func (w *Writer) reader() *reader {
	return &reader{src: w.tx.Newest(), cache: w.cache, shared: w.shared, temp: w.temp}
}

// stampCounter tells stamps of one transaction apart.
var stampCounter atomic.Uint64

// stamp returns a number that no other version of any object has.
func (w *Writer) stamp() uint64 { return w.tx.ID()<<20 | stampCounter.Add(1)&(1<<20-1) }

// put writes a row of a system tree after locking its key.
func (w *Writer) put(t storage.TreeID, key, val []byte) error {
	if err := w.tx.LockKey(t, key); err != nil {
		return err
	}
	if err := w.tx.Put(t, key, val); err != nil {
		return err
	}
	return w.tx.Put(treeMarker, markerKey, markerKey)
}

// remove deletes a row of a system tree after locking its key.
func (w *Writer) remove(t storage.TreeID, key []byte) error {
	if err := w.tx.LockKey(t, key); err != nil {
		return err
	}
	if err := w.tx.Delete(t, key); err != nil {
		return err
	}
	return w.tx.Put(treeMarker, markerKey, markerKey)
}

// removePrefix deletes all rows whose key starts with prefix.
func (w *Writer) removePrefix(t storage.TreeID, prefix []byte) error {
	var keys [][]byte
	err := w.tx.Newest().Range(t, prefix, prefixEnd(prefix), func(key, _ []byte) bool {
		keys = append(keys, append([]byte(nil), key...))
		return true
	})
	if err != nil {
		return fmt.Errorf("list catalog rows to delete: %w", err)
	}
	for _, k := range keys {
		if err := w.remove(t, k); err != nil {
			return err
		}
	}
	return nil
}

// claim takes a name, or fails with taken when another object has it.
func (w *Writer) claim(key []byte, id types.OID, taken error) error {
	if err := w.tx.LockKey(treeNames, key); err != nil {
		return err
	}
	_, ok, err := w.tx.Newest().Get(treeNames, key)
	if err != nil {
		return fmt.Errorf("look up catalog name: %w", err)
	}
	if ok {
		return taken
	}
	return w.put(treeNames, key, binary.BigEndian.AppendUint32(nil, uint32(id)))
}

// current locks an object and fails when its record is not the one the caller changed.
func (w *Writer) current(class, id types.OID, stamp uint64) error {
	key := objectKey(class, id)
	if err := w.tx.LockKey(treeObjects, key); err != nil {
		return err
	}
	val, ok, err := w.tx.Newest().Get(treeObjects, key)
	if err != nil {
		return fmt.Errorf("read catalog object %d of class %d: %w", id, class, err)
	}
	if !ok {
		return sqlerr.Internal("tuple concurrently deleted")
	}
	if _, have, err := header(val); err != nil || have != stamp {
		return sqlerr.Internal("tuple concurrently updated")
	}
	return nil
}

// ensureOID gives an object its identifier.
func (w *Writer) ensureOID(id *types.OID) error {
	if *id != 0 {
		return nil
	}
	n, err := w.tx.NewOID()
	*id = n
	return err
}

// forget deletes an object's row, comments and dependencies in both directions.
func (w *Writer) forget(class, id types.OID) error {
	if err := w.remove(treeObjects, objectKey(class, id)); err != nil {
		return err
	}
	return w.forgetParts(class, id)
}

// forgetParts deletes comments and dependencies of an object without a row of its own.
func (w *Writer) forgetParts(class, id types.OID) error {
	if err := w.removePrefix(treeComments, objectKey(class, id)); err != nil {
		return err
	}
	r := w.reader()
	var all []Dependency
	keep := func(d Dependency) bool { all = append(all, d); return true }
	if err := r.References(class, id, 0, keep); err != nil {
		return err
	}
	if err := r.Dependents(class, id, 0, keep); err != nil {
		return err
	}
	for _, d := range all {
		if err := w.removeDependency(d); err != nil {
			return err
		}
	}
	return nil
}

// SetComment sets or, with "", removes the comment on an object or a part of it.
func (w *Writer) SetComment(class, id types.OID, sub int32, text string) error {
	key := partKey(class, id, sub)
	if text == "" {
		return w.remove(treeComments, key)
	}
	return w.put(treeComments, key, []byte(text))
}

// CreateSchema stores a new schema and gives it an identifier.
func (w *Writer) CreateSchema(s *Schema) error {
	if err := w.ensureOID(&s.OID); err != nil {
		return err
	}
	taken := sqlerr.New(sqlerr.DuplicateSchema, "schema %q already exists", s.Name)
	if err := w.claim(nameKey(ClassNamespace, 0, s.Name), s.OID, taken); err != nil {
		return err
	}
	return w.putSchema(s)
}

func (w *Writer) putSchema(s *Schema) error {
	st := w.stamp()
	s.Version = seq(st)
	return w.put(treeObjects, objectKey(ClassNamespace, s.OID), encode(recSchema, st, func(c *codec) { c.schema(s) }))
}

// UpdateSchema stores a changed schema: name, owner or privileges.
func (w *Writer) UpdateSchema(old, s *Schema) error {
	if err := w.current(ClassNamespace, old.OID, uint64(old.Version)); err != nil {
		return err
	}
	if old.Name != s.Name {
		taken := sqlerr.New(sqlerr.DuplicateSchema, "schema %q already exists", s.Name)
		if err := w.claim(nameKey(ClassNamespace, 0, s.Name), s.OID, taken); err != nil {
			return err
		}
		if err := w.remove(treeNames, nameKey(ClassNamespace, 0, old.Name)); err != nil {
			return err
		}
	}
	return w.putSchema(s)
}

// dropSchema removes an empty schema.
func (w *Writer) dropSchema(s *Schema) error {
	if err := w.remove(treeNames, nameKey(ClassNamespace, 0, s.Name)); err != nil {
		return err
	}
	return w.forget(ClassNamespace, s.OID)
}
