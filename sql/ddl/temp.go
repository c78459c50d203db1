package ddl

import (
	"herd/sql/catalog"
	"herd/sql/types"
)

// AtCommit empties a temporary table (ON COMMIT DELETE ROWS) or drops it (ON COMMIT DROP). It reports whether the table is
// still there; one that is gone is no error. Called by sql/session before it commits.
func AtCommit(w *catalog.Writer, rel types.OID, drop bool) (bool, error) {
	old, err := w.Reader().RelationByOID(rel)
	if old == nil || err != nil {
		return false, err
	}
	if drop {
		_, err := w.Drop(catalog.Names{}, []catalog.Object{{Class: catalog.ClassRelation, OID: rel}}, true)
		return false, err
	}
	now := old.Clone()
	newTrees(now)
	return true, w.UpdateRelation(old, now)
}

// DropSchemaContents drops everything in a schema, such as a session's temporary one, and leaves the schema.
func DropSchemaContents(w *catalog.Writer, schema types.OID) error {
	var list []catalog.Object
	r := w.Reader()
	err := r.RelationsInSchema(schema, func(rel *catalog.Relation) bool {
		// A sequence of a column goes with its table.
		if rel.Sequence == nil || rel.Sequence.OwnerRel == 0 {
			list = append(list, catalog.Object{Class: catalog.ClassRelation, OID: rel.OID})
		}
		return true
	})
	if err != nil {
		return err
	}
	err = r.UserTypes(func(t *catalog.Type) bool {
		if t.Namespace == schema && t.Relid == 0 && t.Category != 'A' {
			list = append(list, catalog.Object{Class: catalog.ClassType, OID: t.OID})
		}
		return true
	})
	if err != nil || len(list) == 0 {
		return err
	}
	_, err = w.Drop(catalog.Names{}, list, true)
	return err
}
