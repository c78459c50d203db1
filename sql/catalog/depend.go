package catalog

import (
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/storage"
)

// treesOf lists a relation's trees; rel may be nil.
func treesOf(rel *Relation) []storage.TreeID {
	if rel == nil {
		return nil
	}
	list := []storage.TreeID{rel.TreeID, rel.LargeTree}
	for _, x := range rel.Indexes {
		list = append(list, x.Tree)
	}
	return list
}

// structuralDependencies are the rows of pg_depend that follow from a relation's descriptor.
// What its expressions mention is not among them.
func structuralDependencies(rel *Relation) []Dependency {
	var list []Dependency
	add := func(typ byte, class, id types.OID, sub int32, refClass, ref types.OID, refSub int32) {
		if id == 0 {
			return // a sequence has no row type
		}
		if ref >= pgdata.FirstUserOID || refClass == ClassNamespace && ref == pgdata.PublicSchema {
			list = append(list, Dependency{class, id, sub, refClass, ref, refSub, typ})
		}
	}
	if rel.Kind == KindComposite {
		// The type is the object that users see; the relation is part of it.
		add('i', ClassRelation, rel.OID, 0, ClassType, rel.RowType, 0)
		add('n', ClassType, rel.RowType, 0, ClassNamespace, rel.Schema, 0)
	} else {
		add('n', ClassRelation, rel.OID, 0, ClassNamespace, rel.Schema, 0)
		add('i', ClassType, rel.RowType, 0, ClassRelation, rel.OID, 0)
	}
	add('i', ClassType, rel.ArrayType, 0, ClassType, rel.RowType, 0)
	if rel.RuleOID != 0 {
		add('i', ClassRewrite, rel.RuleOID, 0, ClassRelation, rel.OID, 0)
	}
	for i := range rel.Columns {
		c := &rel.Columns[i]
		if c.Dropped {
			continue
		}
		add('n', ClassRelation, rel.OID, int32(c.Num), ClassType, c.Type, 0)
		if c.DefaultOID != 0 {
			typ := byte('a')
			if c.Generated != "" {
				typ = 'i' // without its expression the column is none
			}
			add(typ, ClassAttrDef, c.DefaultOID, 0, ClassRelation, rel.OID, int32(c.Num))
		}
	}
	if s := rel.Sequence; s != nil && s.OwnerRel != 0 {
		typ := byte('a')
		if s.Identity {
			typ = 'i'
		}
		add(typ, ClassRelation, rel.OID, 0, ClassRelation, s.OwnerRel, int32(s.OwnerCol))
	}
	indexDependencies(rel, add)
	constraintDependencies(rel, add)
	return dedupe(list)
}

// dedupe keeps one row for each pair of objects, the stronger type first given.
func dedupe(list []Dependency) []Dependency {
	seen := map[Dependency]bool{}
	out := list[:0]
	for _, d := range list {
		k := d
		k.Type = 0
		if !seen[k] {
			seen[k] = true
			out = append(out, d)
		}
	}
	return out
}

type addDependency func(typ byte, class, id types.OID, sub int32, refClass, ref types.OID, refSub int32)

func indexDependencies(rel *Relation, add addDependency) {
	for _, x := range rel.AllIndexes() {
		if x.Constraint != 0 {
			add('i', ClassRelation, x.OID, 0, ClassConstraint, x.Constraint, 0)
			continue
		}
		whole := true
		for _, k := range x.Keys {
			if k.Attno > 0 {
				add('a', ClassRelation, x.OID, 0, ClassRelation, rel.OID, int32(k.Attno))
				whole = false
			}
		}
		for _, n := range x.Include {
			add('a', ClassRelation, x.OID, 0, ClassRelation, rel.OID, int32(n))
		}
		if whole {
			add('a', ClassRelation, x.OID, 0, ClassRelation, rel.OID, 0)
		}
	}
}

func constraintDependencies(rel *Relation, add addDependency) {
	for _, k := range rel.Constraints {
		for _, n := range k.Cols {
			add('a', ClassConstraint, k.OID, 0, ClassRelation, rel.OID, int32(n))
		}
		if len(k.Cols) == 0 {
			add('a', ClassConstraint, k.OID, 0, ClassRelation, rel.OID, 0)
		}
		if k.Type != 'f' {
			continue
		}
		for _, n := range k.RefCols {
			add('n', ClassConstraint, k.OID, 0, ClassRelation, k.Ref, int32(n))
		}
		add('n', ClassConstraint, k.OID, 0, ClassRelation, k.Index, 0)
	}
}

// AddDependencies stores dependencies; existing ones are replaced. Dependencies on built-in
// objects are not recorded.
func (w *Writer) AddDependencies(list ...Dependency) error {
	for _, d := range list {
		if d.RefOID < pgdata.FirstUserOID && d.RefClass != ClassNamespace {
			continue
		}
		val := []byte{d.Type}
		if err := w.put(treeDepends, dependKey(d), val); err != nil {
			return err
		}
		if err := w.put(treeReference, referenceKey(d), val); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) removeDependency(d Dependency) error {
	if err := w.remove(treeDepends, dependKey(d)); err != nil {
		return err
	}
	return w.remove(treeReference, referenceKey(d))
}

// ReplaceDependencies sets what an object's expressions need: its references of type 'n' become
// list. For defaults (ClassAttrDef), views (ClassRewrite with Relation.RuleOID), checks, indexes
// with expressions and functions.
func (w *Writer) ReplaceDependencies(class, id types.OID, list []Dependency) error {
	var old []Dependency
	err := w.reader().References(class, id, 0, func(d Dependency) bool {
		if d.Type == 'n' && d.RefClass != ClassNamespace {
			old = append(old, d)
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, d := range old {
		if err := w.removeDependency(d); err != nil {
			return err
		}
	}
	for _, d := range list {
		d.Class, d.OID = class, id
		if d.Type == 0 {
			d.Type = 'n'
		}
		if err := w.AddDependencies(d); err != nil {
			return err
		}
	}
	return nil
}
