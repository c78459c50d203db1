package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Dropped is what a Drop did beyond the catalog, for the caller to finish.
type Dropped struct {
	// Notice is the text of a NOTICE about objects dropped by CASCADE, with Detail; "" none.
	Notice, Detail string
	// Relations are the dropped tables, views and sequences as they were; their trees are gone
	// already, the state of sequences is the caller's to remove.
	Relations []*Relation
	// Rekey lists tables that lost their primary key: their tree is still keyed by the old one.
	// The caller copies the rows to a new tree under row numbers and rebuilds the indexes.
	Rekey []types.OID
}

// How an object came to be dropped; bits.
const (
	dropAsked    = 1 << iota // named by the user
	dropNormal               // depends on one that is dropped
	dropAuto                 // goes along silently
	dropInternal             // part of one that is dropped
)

type dropItem struct {
	obj   Object
	flags int
	// because is the object on which it depends, for messages.
	because Object
}

// dropper collects the objects of one DROP.
type dropper struct {
	w     *Writer
	r     Reader
	names Names
	asked []Object
	items map[Object]*dropItem
	order []*dropItem // dependents before what they depend on
	depth int
}

// maxDropDepth bounds the recursion through dependencies.
const maxDropDepth = 10000

// Drop removes objects and, with cascade, what depends on them; without, dependents are an
// error (2BP01). names renders messages. Objects are relations, columns, constraints, defaults,
// types, functions and schemas.
func (w *Writer) Drop(names Names, objects []Object, cascade bool) (*Dropped, error) {
	r := w.Reader()
	names.Reader = r
	d := &dropper{w: w, r: r, names: names, asked: objects, items: map[Object]*dropItem{}}
	for _, o := range objects {
		if err := d.visit(o, dropAsked, Object{}); err != nil {
			return nil, err
		}
	}
	out := &Dropped{}
	if err := d.report(out, cascade); err != nil {
		return nil, err
	}
	return out, d.execute(out)
}

// visit adds an object and, before it, everything that depends on it.
func (d *dropper) visit(o Object, flags int, because Object) error {
	if it := d.covering(o); it != nil {
		it.flags |= flags
		return nil
	}
	if d.depth++; d.depth > maxDropDepth {
		return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
	}
	defer func() { d.depth-- }()
	owner, err := d.owner(o)
	if err != nil {
		return err
	}
	if owner.OID != 0 && d.covering(owner) == nil {
		if flags&dropAsked != 0 && !slices.Contains(d.asked, owner) {
			return d.required(o, owner)
		}
		if flags&dropAsked == 0 {
			return d.visit(owner, flags, because)
		}
	}
	it := &dropItem{o, flags, because}
	d.items[o] = it
	var deps []Dependency
	err = d.r.Dependents(o.Class, o.OID, o.Sub, func(dep Dependency) bool {
		deps = append(deps, dep)
		return true
	})
	if err != nil {
		return err
	}
	slices.SortFunc(deps, newestFirst)
	for _, dep := range deps {
		next := Object{dep.Class, dep.OID, dep.Sub}
		if next.Class == o.Class && next.OID == o.OID {
			continue
		}
		how := dropNormal
		switch dep.Type {
		case 'a':
			how = dropAuto
		case 'i':
			how = dropInternal
		}
		if err := d.visit(next, how, o); err != nil {
			return err
		}
	}
	d.order = append(d.order, it)
	return nil
}

// newestFirst is the order in which PostgreSQL visits dependents; messages list them in reverse.
func newestFirst(a, b Dependency) int {
	return cmp.Or(cmp.Compare(b.OID, a.OID), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Sub, b.Sub))
}

// covering returns the item of the object or of the whole relation whose column it is.
func (d *dropper) covering(o Object) *dropItem {
	if it := d.items[o]; it != nil {
		return it
	}
	if o.Sub != 0 {
		return d.items[Object{o.Class, o.OID, 0}]
	}
	return nil
}

// owner returns the object that an object is an internal part of.
func (d *dropper) owner(o Object) (Object, error) {
	var owner Object
	if o.Sub != 0 {
		return owner, nil
	}
	err := d.r.References(o.Class, o.OID, 0, func(dep Dependency) bool {
		if dep.Type == 'i' && dep.Sub == 0 {
			owner = Object{dep.RefClass, dep.RefOID, dep.RefSub}
		}
		return owner.OID == 0
	})
	return owner, err
}

// required is the error for dropping a part of another object.
func (d *dropper) required(o, owner Object) error {
	what, err := d.names.Describe(o)
	if err != nil {
		return err
	}
	whole, err := d.names.Describe(owner)
	if err != nil {
		return err
	}
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because %s requires it", what, whole).
		WithHint("You can drop %s instead.", whole)
}

// maxReported is the number of dependents that a message lists.
const maxReported = 100

// report makes the error or the notice about dependents.
func (d *dropper) report(out *Dropped, cascade bool) error {
	var lines, cascades []string
	// Dependents are listed in the order in which they were found, nearest first.
	for i := len(d.order) - 1; i >= 0; i-- {
		it := d.order[i]
		if it.flags&(dropAsked|dropAuto|dropInternal) != 0 {
			continue
		}
		what, err := d.names.Describe(it.obj)
		if err != nil {
			return err
		}
		cause, err := d.names.Describe(it.because)
		if err != nil {
			return err
		}
		lines = append(lines, what+" depends on "+cause)
		cascades = append(cascades, "drop cascades to "+what)
	}
	if len(lines) == 0 {
		return nil
	}
	if cascade {
		out.Notice = cascades[0]
		if len(cascades) > 1 {
			out.Notice = fmt.Sprintf("drop cascades to %d other objects", len(cascades))
			out.Detail = clip(cascades)
		}
		return nil
	}
	text := "cannot drop desired object(s) because other objects depend on them"
	if len(d.asked) == 1 {
		what, err := d.names.Describe(d.asked[0])
		if err != nil {
			return err
		}
		text = fmt.Sprintf("cannot drop %s because other objects depend on it", what)
	}
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "%s", text).WithDetail("%s", clip(lines)).
		WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
}

func clip(lines []string) string {
	if len(lines) <= maxReported {
		return strings.Join(lines, "\n")
	}
	rest := len(lines) - maxReported
	return strings.Join(lines[:maxReported], "\n") + fmt.Sprintf("\nand %d other objects (see server log for list)", rest)
}

// execute removes everything: first the parts of relations that stay, then whole objects,
// schemas last.
func (d *dropper) execute(out *Dropped) error {
	changed := map[types.OID]*Relation{}
	var whole []Object
	for _, it := range d.order {
		isPart, err := d.dropPart(it.obj, changed)
		if err != nil {
			return err
		}
		if !isPart {
			whole = append(whole, it.obj)
		}
	}
	for _, it := range d.order {
		rel := changed[it.obj.OID]
		if rel == nil {
			continue
		}
		delete(changed, it.obj.OID)
		if err := d.save(rel, out); err != nil {
			return err
		}
	}
	ids := make([]types.OID, 0, len(changed))
	for id := range changed {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := d.save(changed[id], out); err != nil {
			return err
		}
	}
	for _, o := range whole {
		if err := d.dropWhole(o, out); err != nil {
			return err
		}
	}
	return nil
}

// save stores a relation that lost parts.
func (d *dropper) save(rel *Relation, out *Dropped) error {
	old, err := d.w.Reader().RelationByOID(rel.OID)
	if err != nil {
		return err
	}
	// Another relation's change may have removed references to this one meanwhile.
	rel.ReferencedBy, rel.ReferencedByRel = slices.Clone(old.ReferencedBy), slices.Clone(old.ReferencedByRel)
	if old.PrimaryKey != nil && rel.PrimaryKey == nil {
		out.Rekey = append(out.Rekey, rel.OID)
	}
	return d.w.UpdateRelation(old, rel)
}

// change returns the clone of a relation that stays, nil when it is dropped as a whole.
func (d *dropper) change(id types.OID, changed map[types.OID]*Relation) (*Relation, error) {
	if d.items[Object{ClassRelation, id, 0}] != nil {
		return nil, nil
	}
	if rel := changed[id]; rel != nil {
		return rel, nil
	}
	rel, err := d.r.RelationByOID(id)
	if rel == nil || err != nil {
		return nil, err
	}
	changed[id] = rel.Clone()
	return changed[id], nil
}

// dropPart removes a column, default, constraint or index from the clone of its table. It
// reports false for objects of their own.
func (d *dropper) dropPart(o Object, changed map[types.OID]*Relation) (bool, error) {
	switch o.Class {
	case ClassRelation:
		if o.Sub != 0 {
			rel, err := d.change(o.OID, changed)
			if rel != nil {
				dropColumn(rel, int16(o.Sub))
			}
			return true, err
		}
		table, x, err := d.r.IndexByOID(o.OID)
		if x == nil || err != nil {
			return false, err
		}
		rel, err := d.change(table.OID, changed)
		if rel != nil {
			dropIndex(rel, o.OID)
		}
		return true, err
	case ClassConstraint:
		table, k, err := d.r.ConstraintByOID(o.OID)
		if k == nil || err != nil {
			return k != nil, err
		}
		rel, err := d.change(table.OID, changed)
		if rel != nil {
			rel.Constraints = slices.DeleteFunc(rel.Constraints, func(x *Constraint) bool { return x.OID == o.OID })
		}
		return true, err
	case ClassAttrDef:
		col, err := columnOfDefault(d.r, o.OID)
		if col.OID == 0 || err != nil {
			return true, err
		}
		rel, err := d.change(col.OID, changed)
		if rel != nil {
			c := &rel.Columns[col.Sub-1]
			c.Default, c.Generated, c.DefaultOID = "", "", 0
		}
		if err != nil {
			return true, err
		}
		return true, d.w.forgetParts(ClassAttrDef, o.OID)
	case ClassRewrite:
		return true, nil // goes with its view
	}
	return false, nil
}

// dropColumn marks a column as dropped; its number stays taken.
func dropColumn(rel *Relation, num int16) {
	c := &rel.Columns[num-1]
	*c = Column{Num: num, Name: c.Name, Type: c.Type, Typmod: c.Typmod, Collation: c.Collation, Dropped: true, Missing: c.Missing}
}

func dropIndex(rel *Relation, id types.OID) {
	if rel.PrimaryKey != nil && rel.PrimaryKey.OID == id {
		rel.PrimaryKey = nil
	}
	rel.Indexes = slices.DeleteFunc(rel.Indexes, func(x *Index) bool { return x.OID == id })
}

// dropWhole removes an object of its own.
func (d *dropper) dropWhole(o Object, out *Dropped) error {
	r := d.w.Reader()
	switch o.Class {
	case ClassRelation:
		rel, err := r.RelationByOID(o.OID)
		if rel == nil || err != nil {
			return err
		}
		out.Relations = append(out.Relations, rel)
		if err := d.unown(rel); err != nil {
			return err
		}
		return d.dropRelation(rel)
	case ClassConstraint:
		return d.dropDomainCheck(r, o.OID)
	case ClassType:
		t, err := r.TypeByOID(o.OID)
		if t == nil || err != nil {
			return err
		}
		if t.Relid != 0 || t.Category == 'A' {
			return nil // goes with its relation or its element type
		}
		return d.w.dropType(t)
	case ClassProc:
		p, err := r.FuncByOID(o.OID)
		if p == nil || err != nil {
			return err
		}
		return d.w.dropProc(p)
	case ClassNamespace:
		s, err := r.SchemaByOID(o.OID)
		if s == nil || err != nil {
			return err
		}
		return d.w.dropSchema(s)
	}
	return sqlerr.Internal("cannot drop an object of class %d", o.Class)
}

// dropRelation removes a relation with what its columns and view rule have in pg_depend.
func (d *dropper) dropRelation(rel *Relation) error {
	for i := range rel.Columns {
		if id := rel.Columns[i].DefaultOID; id != 0 {
			if err := d.w.forgetParts(ClassAttrDef, id); err != nil {
				return err
			}
		}
	}
	if rel.RuleOID != 0 {
		if err := d.w.forgetParts(ClassRewrite, rel.RuleOID); err != nil {
			return err
		}
	}
	return d.w.store(rel, nil)
}

// unown clears the reference that a column has to a sequence that is dropped before it.
func (d *dropper) unown(seq *Relation) error {
	if seq.Sequence == nil || seq.Sequence.OwnerRel == 0 || d.items[Object{ClassRelation, seq.Sequence.OwnerRel, 0}] != nil {
		return nil
	}
	old, err := d.w.Reader().RelationByOID(seq.Sequence.OwnerRel)
	if old == nil || err != nil {
		return err
	}
	rel := old.Clone()
	c := &rel.Columns[seq.Sequence.OwnerCol-1]
	if c.Sequence != seq.OID {
		return nil
	}
	c.Sequence = 0
	return d.w.UpdateRelation(old, rel)
}

func (d *dropper) dropDomainCheck(r Reader, id types.OID) error {
	t, _, err := domainOfCheck(r, id)
	if t == nil || err != nil || d.items[Object{ClassType, t.OID, 0}] != nil {
		return err
	}
	c := *t
	c.Checks = nil
	for _, k := range t.Checks {
		if k.OID != id {
			c.Checks = append(c.Checks, k)
		}
	}
	return d.w.UpdateType(t, &c)
}
