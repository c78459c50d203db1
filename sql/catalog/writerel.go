package catalog

import (
	"cmp"
	"maps"
	"slices"

	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// claimKey is a name that a relation uses.
type claimKey struct {
	class, schema types.OID
	name          string
}

// claims are the rows that a relation has besides its own.
type claims struct {
	names    map[claimKey]types.OID
	pointers map[objectID]pointerTo
	depends  map[Dependency]bool
}

// objectID names an object.
type objectID struct{ class, id types.OID }

type pointerTo struct {
	kind recordKind
	to   types.OID
	name string // of an array type
}

// claimsOf lists them; rel may be nil.
func claimsOf(rel *Relation, arrayName string) claims {
	c := claims{map[claimKey]types.OID{}, map[objectID]pointerTo{}, map[Dependency]bool{}}
	if rel == nil {
		return c
	}
	c.names[claimKey{ClassRelation, rel.Schema, rel.Name}] = rel.OID
	for _, x := range rel.AllIndexes() {
		c.names[claimKey{ClassRelation, rel.Schema, x.Name}] = x.OID
		c.pointers[objectID{ClassRelation, x.OID}] = pointerTo{recInTable, rel.OID, ""}
	}
	for _, k := range rel.Constraints {
		c.pointers[objectID{ClassConstraint, k.OID}] = pointerTo{recInTable, rel.OID, ""}
	}
	if rel.RowType != 0 {
		c.names[claimKey{ClassType, rel.Schema, rel.Name}] = rel.RowType
		c.pointers[objectID{ClassType, rel.RowType}] = pointerTo{recRowType, rel.OID, ""}
	}
	if rel.ArrayType != 0 {
		c.names[claimKey{ClassType, rel.Schema, arrayName}] = rel.ArrayType
		c.pointers[objectID{ClassType, rel.ArrayType}] = pointerTo{recArrayType, rel.RowType, arrayName}
	}
	for _, d := range structuralDependencies(rel) {
		c.depends[d] = true
	}
	return c
}

// hasRowType reports whether relations of a kind have a composite type.
func hasRowType(k RelKind) bool {
	return k == KindTable || k == KindView || k == KindMatView || k == KindComposite
}

// assign gives a relation and its parts identifiers and trees.
func (w *Writer) assign(rel *Relation) error {
	ids := []*types.OID{&rel.OID}
	if hasRowType(rel.Kind) {
		ids = append(ids, &rel.RowType)
		if rel.Schema != pgdata.ToastSchema {
			ids = append(ids, &rel.ArrayType)
		}
	}
	if rel.Kind == KindView || rel.Kind == KindMatView {
		ids = append(ids, &rel.RuleOID)
	}
	for i := range rel.Columns {
		if c := &rel.Columns[i]; (c.Default != "" || c.Generated != "") && !c.Dropped {
			ids = append(ids, &c.DefaultOID)
		}
	}
	for _, x := range rel.AllIndexes() {
		ids = append(ids, &x.OID)
	}
	for _, k := range rel.Constraints {
		ids = append(ids, &k.OID)
	}
	for _, id := range ids {
		if err := w.ensureOID(id); err != nil {
			return err
		}
	}
	return w.assignTrees(rel)
}

// assignTrees makes missing trees and fills in the references inside a relation.
func (w *Writer) assignTrees(rel *Relation) error {
	var err error
	if rel.Kind == KindTable || rel.Kind == KindMatView {
		if rel.TreeID == 0 {
			if rel.TreeID, err = w.tx.NewTree(); err != nil {
				return err
			}
		}
		if rel.LargeTree == 0 {
			if rel.LargeTree, err = w.tx.NewTree(); err != nil {
				return err
			}
		}
		rel.HiddenRowID = rel.PrimaryKey == nil
	}
	for _, x := range rel.AllIndexes() {
		x.Rel = rel.OID
		if x.Method == "" {
			x.Method = "btree"
		}
		if x.Primary {
			x.Tree = rel.TreeID
		} else if x.Tree == 0 {
			if x.Tree, err = w.tx.NewTree(); err != nil {
				return err
			}
		}
	}
	for _, k := range rel.Constraints {
		k.Rel = rel.OID
		if k.Type != 'p' && k.Type != 'u' {
			continue
		}
		for _, x := range rel.AllIndexes() {
			if x.Name == k.Name || x.OID == k.Index {
				k.Index, x.Constraint = x.OID, k.OID
			}
		}
	}
	return nil
}

// CreateRelation stores a new table, view, sequence or composite type. Identifiers and trees
// that are 0 are filled in, in rel itself. An index of a constraint has the constraint's name.
// Dependencies of expressions are the caller's, see AddDependencies. Errors: 42P07, 42710.
func (w *Writer) CreateRelation(rel *Relation) error { return w.store(nil, rel) }

// UpdateRelation replaces a relation's descriptor: old is what the Reader gave, rel a changed
// clone. Indexes, constraints and trees that are no longer mentioned are dropped; new ones get
// identifiers and trees. TreeID = 0 asks for a new, empty tree (TRUNCATE, rewrite).
func (w *Writer) UpdateRelation(old, rel *Relation) error { return w.store(old, rel) }

// store moves the catalog from old to rel; either may be nil.
func (w *Writer) store(old, rel *Relation) error {
	oldArray, newArray := "", ""
	if old != nil {
		if err := w.current(ClassRelation, old.OID, uint64(old.Version)); err != nil {
			return err
		}
		t, err := w.reader().TypeByOID(old.ArrayType)
		if err != nil {
			return err
		}
		if t != nil {
			oldArray = t.Name
		}
		newArray = oldArray
	}
	if rel != nil {
		if err := w.assign(rel); err != nil {
			return err
		}
		if rel.ArrayType != 0 && (old == nil || old.Name != rel.Name || old.Schema != rel.Schema || oldArray == "") {
			var err error
			if newArray, err = w.arrayTypeName(rel.Schema, rel.Name); err != nil {
				return err
			}
		}
	}
	before, after := claimsOf(old, oldArray), claimsOf(rel, newArray)
	if err := w.moveNames(before, after, rel); err != nil {
		return err
	}
	if err := w.movePointers(before, after); err != nil {
		return err
	}
	if err := w.moveReferences(old, rel); err != nil {
		return err
	}
	if err := w.moveTrees(old, rel); err != nil {
		return err
	}
	if rel == nil {
		if err := w.remove(treeStats, statsKey(old.OID)); err != nil {
			return err
		}
		return w.forget(ClassRelation, old.OID)
	}
	st := w.stamp()
	rel.Version = seq(st)
	if err := w.put(treeObjects, objectKey(ClassRelation, rel.OID), encode(recRelation, st, func(c *codec) { c.relation(rel) })); err != nil {
		return err
	}
	return w.moveDependencies(before, after)
}

// sortedNames orders names: relations before types, since that is the error PostgreSQL reports
// first, and always alike, so that two sessions lock in one order.
func sortedNames(m map[claimKey]types.OID) []claimKey {
	return slices.SortedFunc(maps.Keys(m), func(a, b claimKey) int {
		return cmp.Or(cmp.Compare(b.class, a.class), cmp.Compare(a.schema, b.schema), cmp.Compare(a.name, b.name))
	})
}

// moveNames gives up names and claims new ones.
func (w *Writer) moveNames(before, after claims, rel *Relation) error {
	for _, k := range sortedNames(before.names) {
		id := before.names[k]
		if after.names[k] != id {
			if err := w.remove(treeNames, nameKey(k.class, k.schema, k.name)); err != nil {
				return err
			}
		}
	}
	for _, k := range sortedNames(after.names) {
		id := after.names[k]
		if before.names[k] == id {
			continue
		}
		taken := sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", k.name)
		if k.class == ClassType {
			taken = sqlerr.New(sqlerr.DuplicateObject, "type %q already exists", k.name)
			if rel.Kind != KindComposite {
				taken = taken.WithHint("A relation has an associated type of the same name, so you must use a name that doesn't conflict with any existing type.")
			}
		}
		if err := w.claim(nameKey(k.class, k.schema, k.name), id, taken); err != nil {
			return err
		}
	}
	return nil
}

// movePointers writes the rows of indexes, constraints and types that point to the relation.
func (w *Writer) movePointers(before, after claims) error {
	for k := range before.pointers {
		if _, ok := after.pointers[k]; !ok {
			if err := w.forget(k.class, k.id); err != nil {
				return err
			}
		}
	}
	for k, p := range after.pointers {
		if before.pointers[k] == p {
			continue
		}
		rec := pointerRecord(p.kind, w.stamp(), p.to)
		if err := w.put(treeObjects, objectKey(k.class, k.id), append(rec, p.name...)); err != nil {
			return err
		}
	}
	return nil
}

// moveDependencies writes the structural dependencies.
func (w *Writer) moveDependencies(before, after claims) error {
	for d := range before.depends {
		if !after.depends[d] {
			if err := w.removeDependency(d); err != nil {
				return err
			}
		}
	}
	for d := range after.depends {
		if !before.depends[d] {
			if err := w.AddDependencies(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveTrees drops trees that are no longer used.
func (w *Writer) moveTrees(old, rel *Relation) error {
	if old == nil {
		return nil
	}
	keep := treesOf(rel)
	for _, t := range treesOf(old) {
		if t != 0 && !slices.Contains(keep, t) {
			if err := w.tx.DropTree(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveReferences keeps ReferencedBy of the tables that foreign keys point to.
func (w *Writer) moveReferences(old, rel *Relation) error {
	before, after := foreignKeys(old), foreignKeys(rel)
	for id, ref := range before {
		if after[id] != ref {
			if err := w.changeReferenced(ref, rel, old.OID, id, false); err != nil {
				return err
			}
		}
	}
	for id, ref := range after {
		if before[id] != ref {
			if err := w.changeReferenced(ref, rel, rel.OID, id, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// foreignKeys maps foreign key constraints to the tables they reference.
func foreignKeys(rel *Relation) map[types.OID]types.OID {
	m := map[types.OID]types.OID{}
	if rel != nil {
		for _, k := range rel.Constraints {
			if k.Type == 'f' {
				m[k.OID] = k.Ref
			}
		}
	}
	return m
}

// changeReferenced adds or removes a constraint in the referenced table's descriptor. self is
// the relation being stored, whose own record is written later.
func (w *Writer) changeReferenced(ref types.OID, self *Relation, child, constraint types.OID, add bool) error {
	parent := self
	if self == nil || self.OID != ref {
		if ref == child {
			return nil // a table that is dropped with a key to itself
		}
		old, err := w.reader().RelationByOID(ref)
		if err != nil {
			return err
		}
		if old == nil {
			if add {
				return sqlerr.Internal("foreign key references relation %d, which does not exist", ref)
			}
			return nil
		}
		parent = old.Clone()
	}
	for i := len(parent.ReferencedBy) - 1; i >= 0; i-- {
		if parent.ReferencedBy[i] == constraint {
			parent.ReferencedBy = slices.Delete(parent.ReferencedBy, i, i+1)
			parent.ReferencedByRel = slices.Delete(parent.ReferencedByRel, i, i+1)
		}
	}
	if add {
		parent.ReferencedBy = append(parent.ReferencedBy, constraint)
		parent.ReferencedByRel = append(parent.ReferencedByRel, child)
	}
	if parent == self {
		return nil
	}
	st := w.stamp()
	parent.Version = seq(st)
	return w.put(treeObjects, objectKey(ClassRelation, ref), encode(recRelation, st, func(c *codec) { c.relation(parent) }))
}

// arrayTypeName finds a free name for the array type over a type.
func (w *Writer) arrayTypeName(schema types.OID, name string) (string, error) {
	r := w.reader()
	for try := "_" + name; ; try = "_" + try {
		if len(try) > maxName {
			try = try[:maxName]
		}
		id, err := r.nameOID(ClassType, schema, try)
		if err != nil {
			return "", err
		}
		if id == 0 || len(try) == maxName && try[0] == '_' && try[maxName-1] == '_' {
			return try, nil
		}
	}
}

// maxName is the length limit of identifiers in bytes.
const maxName = 63
