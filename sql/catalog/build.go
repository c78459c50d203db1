package catalog

import (
	"encoding/binary"

	"herd/sql/types"
)

// SetBuilding notes that an index is being built in several transactions, or with on = false that it no longer is. What
// is noted when a server starts was left by a crash.
func (w *Writer) SetBuilding(index types.OID, on bool) error {
	key := buildKey(index)
	if !on {
		return w.remove(treeMarker, key)
	}
	return w.put(treeMarker, key, key)
}

// Building lists the indexes whose build was begun and has not ended.
func Building(src Source) ([]types.OID, error) {
	var out []types.OID
	err := src.Range(treeMarker, []byte{2}, []byte{3}, func(key, _ []byte) bool {
		out = append(out, types.OID(binary.BigEndian.Uint32(key[1:])))
		return true
	})
	return out, err
}

// SetIndexState changes the state of an index and returns the table as it is then; nil when the index does not exist.
// fresh gives the index a new and empty tree.
func (w *Writer) SetIndexState(index types.OID, state IndexState, fresh bool) (*Relation, *Index, error) {
	r := w.reader()
	rel, _, err := r.IndexByOID(index)
	if rel == nil || err != nil {
		return nil, nil, err
	}
	now := rel.Clone()
	for _, x := range now.Indexes {
		if x.OID == index {
			x.State = state
			if fresh {
				x.Tree = 0
			}
		}
	}
	if err := w.UpdateRelation(rel, now); err != nil {
		return nil, nil, err
	}
	return w.reader().IndexByOID(index)
}
