package catalog

import (
	"encoding/binary"

	"herd/sql/types"
	"herd/storage"
)

// System trees. All exist from bootstrap on.
const (
	treeObjects   storage.TreeID = 1
	treeNames     storage.TreeID = 2
	treeDepends   storage.TreeID = 3 // by referenced object
	treeReference storage.TreeID = 4 // by referencing object
	treeStats     storage.TreeID = 5
	treeComments  storage.TreeID = 6
	treeMarker    storage.TreeID = 7
)

// Trees lists the trees that Bootstrap makes.
func Trees() []storage.TreeID {
	return []storage.TreeID{treeObjects, treeNames, treeDepends, treeReference, treeStats, treeComments, treeMarker}
}

// markerKey is the key of treeMarker that every change of the catalog writes.
var markerKey = []byte{1}

// buildKey is the key of treeMarker that an index has while it is being built in several transactions.
func buildKey(index types.OID) []byte { return binary.BigEndian.AppendUint32([]byte{2}, uint32(index)) }

// objectKey is the key of an object's row; sub is for classes whose rows have two parts.
func objectKey(class, id types.OID) []byte {
	k := make([]byte, 0, 12)
	k = binary.BigEndian.AppendUint32(k, uint32(class))
	return binary.BigEndian.AppendUint32(k, uint32(id))
}

// pairKey is the key of a row that two objects identify together.
func pairKey(class, a, b types.OID) []byte {
	return binary.BigEndian.AppendUint32(objectKey(class, a), uint32(b))
}

// nameKey is the key of a name in a schema (0 for classes without schema).
func nameKey(class, schema types.OID, name string) []byte {
	k := make([]byte, 0, 12+len(name))
	k = binary.BigEndian.AppendUint32(k, uint32(class))
	k = binary.BigEndian.AppendUint32(k, uint32(schema))
	return append(k, name...)
}

// funcNameKey is the key of one function of a name: a zero byte cannot occur in a name.
func funcNameKey(schema types.OID, name string, id types.OID) []byte {
	k := append(nameKey(ClassProc, schema, name), 0)
	return binary.BigEndian.AppendUint32(k, uint32(id))
}

// prefixEnd returns the first key after all keys that start with prefix, nil when there is none.
func prefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// partKey is the key of an object or a part of it in treeComments.
func partKey(class, id types.OID, sub int32) []byte {
	return binary.BigEndian.AppendUint32(objectKey(class, id), uint32(sub))
}

// dependKey is the key of a dependency by its referenced object.
func dependKey(d Dependency) []byte {
	k := partKey(d.RefClass, d.RefOID, d.RefSub)
	return append(k, partKey(d.Class, d.OID, d.Sub)...)
}

// referenceKey is the key of a dependency by its referencing object.
func referenceKey(d Dependency) []byte {
	k := partKey(d.Class, d.OID, d.Sub)
	return append(k, partKey(d.RefClass, d.RefOID, d.RefSub)...)
}

// splitPart reads what partKey wrote.
func splitPart(k []byte) (class, id types.OID, sub int32) {
	return types.OID(binary.BigEndian.Uint32(k)), types.OID(binary.BigEndian.Uint32(k[4:])),
		int32(binary.BigEndian.Uint32(k[8:]))
}

// statsKey is the key of a relation's statistics.
func statsKey(rel types.OID) []byte { return binary.BigEndian.AppendUint32(nil, uint32(rel)) }

// Source is what the catalog reads from: a storage.View, or memory in tests.
type Source interface {
	Get(t storage.TreeID, key []byte) (val []byte, ok bool, err error)
	// Range calls f for the entries of [lo, hi) in key order until it returns false. Key and
	// value are valid during the call.
	Range(t storage.TreeID, lo, hi []byte, f func(key, val []byte) bool) error
	Count(t storage.TreeID) int64
	CatalogVersion() storage.Seq
	// HasOwn reports whether the transaction's own changes contain the key.
	HasOwn(t storage.TreeID, key []byte) bool
}

// FromView makes a Source of a view, which must stay pinned while the Source is in use.
func FromView(v storage.View) Source { return viewSource{v} }

type viewSource struct{ storage.View }

// Range implements Source.
func (s viewSource) Range(t storage.TreeID, lo, hi []byte, f func(key, val []byte) bool) error {
	var c storage.Cursor
	c.Init(s.View, t, lo, hi, false)
	defer c.Close()
	for c.Next() {
		if !f(c.Key(), c.Value()) {
			return nil
		}
	}
	return c.Err()
}

// CatalogVersion implements Source.
func (s viewSource) CatalogVersion() storage.Seq { return s.Snap.CatalogVersion() }

// HasOwn implements Source.
func (s viewSource) HasOwn(t storage.TreeID, key []byte) bool {
	_, _, found, deleted := s.GetOwn(t, key)
	return found && !deleted
}
