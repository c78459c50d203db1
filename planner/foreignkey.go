package planner

import (
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// foreignKey resolves the indexes of both ends.
func (ps *planState) foreignKey(c *catalog.Constraint, child, parent *catalog.Relation) (plan.ForeignKey, error) {
	fk := plan.ForeignKey{Constraint: c, Child: child, Parent: parent}
	var err error
	if fk.ToParent, fk.ToChild, err = ps.b.keyCasts(c, child, parent); err != nil {
		return fk, err
	}
	if parent.PrimaryKey == nil || c.Index != parent.PrimaryKey.OID {
		for _, ix := range parent.Indexes {
			if ix.OID == c.Index {
				fk.ParentIndex = ix
			}
		}
	}
	if fk.ToParent != nil && !ps.b.oneToOne(c, child, parent) {
		return fk, nil // several values of the child's type are equal to one of the parent's: no index finds them all
	}
	if child.PrimaryKey != nil && !child.HiddenRowID && leads(child.PrimaryKey, c.Cols) {
		fk.ChildIsPK = true
		return fk, nil
	}
	for _, ix := range child.Indexes {
		if ix.State == catalog.IndexValid && ix.Pred == "" && leads(ix, c.Cols) {
			fk.ChildIndex = ix
			break
		}
	}
	return fk, nil
}

// leads says whether the index's first columns are the given ones, in any order.
func leads(ix *catalog.Index, cols []int16) bool {
	if len(ix.Keys) < len(cols) {
		return false
	}
	for i := range cols {
		found := false
		for _, c := range cols {
			found = found || ix.Keys[i].Attno == c
		}
		if !found {
			return false
		}
	}
	return true
}

// ForeignKeyCasts are the conversions of a foreign key between types whose keys differ: for each column the child's value as one
// of the parent's type, over Slots that are positions in the constraint. Nil when both ends have the same keys. The value is NULL
// where no value of the parent's type is equal to the child's.
func ForeignKeyCasts(cat catalog.Reader, env *BindEnv, c *catalog.Constraint, child, parent *catalog.Relation) ([]plan.Expr, error) {
	b := &binder{cat: cat, env: env, params: newParamState(nil), stored: true}
	toParent, _, err := b.keyCasts(c, child, parent)
	return toParent, err
}

// keyCasts are the conversions of a foreign key's values both ways. An element of toChild is nil when there is no cast.
func (b *binder) keyCasts(c *catalog.Constraint, child, parent *catalog.Relation) (toParent, toChild []plan.Expr, err error) {
	alike := true
	for i := range c.Cols {
		alike = alike && b.keysAlike(b.baseType(parent.Columns[c.RefCols[i]-1].Type), b.baseType(child.Columns[c.Cols[i]-1].Type))
	}
	if alike {
		return nil, nil, nil
	}
	for i := range c.Cols {
		ck, pk := &child.Columns[c.Cols[i]-1], &parent.Columns[c.RefCols[i]-1]
		up, down, err := b.keyCast(c, i, keySlot(b, i, ck), keySlot(b, i, pk))
		if err != nil {
			return nil, nil, err
		}
		toParent, toChild = append(toParent, up), append(toChild, down)
	}
	return toParent, toChild, nil
}

func keySlot(b *binder, i int, c *catalog.Column) *plan.Slot {
	t, mod := b.baseTypeMod(c.Type, c.Typmod)
	return &plan.Slot{Typed: plan.Typed{Type: t, Typmod: mod, Collation: c.Collation, Loc: -1}, Index: i}
}

// keyCast converts one column both ways. Where the key's operator compares the two types themselves, the conversion may lose what
// the operator sees (the time of a timestamp, the end of a long text): then no parent is equal.
func (b *binder) keyCast(c *catalog.Constraint, i int, child, parent *plan.Slot) (up, down plan.Expr, err error) {
	if b.keysAlike(parent.Type, child.Type) {
		return child, parent, nil
	}
	if up, err = b.coerceTo(child, parent.Type, -1, coerceAssignment, plan.FormImplicitCast, -1); err != nil {
		return nil, nil, err
	}
	if up == nil {
		return nil, nil, sqlerr.Unsupported("foreign key constraint \"%s\" from a column of type %s to one of type %s", c.Name, b.typeName(child.Type), b.typeName(parent.Type))
	}
	if o := pgdata.OperatorByOID(c.EqOps[i]); o != nil && o.Left != o.Right {
		p := pgdata.FuncByOID(o.Code)
		same := &plan.FuncCall{Typed: plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: -1}, Func: o.Code, Op: o.OID, Args: []plan.Expr{up, child},
			Volatile: p.Volatile, Strict: p.Strict, Form: plan.FormOperator, InputColl: parent.Collation}
		up = &plan.Case{Typed: *up.T(), Whens: []plan.CaseWhen{{Cond: same, Result: up}}}
	}
	down, err = b.coerceTo(parent, child.Type, child.Typmod, coerceAssignment, plan.FormImplicitCast, -1)
	return b.plain(up), down, err
}

// keysAlike says whether equal values of the two types have the same index key.
func (b *binder) keysAlike(parent, child types.OID) bool {
	if parent == child || isInt(parent) && isInt(child) {
		return true
	}
	lookup := func(id types.OID) *pgdata.Type { t, _ := b.cat.TypeByOID(id); return t }
	oc := pgdata.DefaultOpclass(parent, pgdata.BTree, lookup)
	return oc != nil && oc.InType != types.BPCharOID && oc.InType != types.NameOID &&
		pgdata.IsBinaryCoercible(parent, oc.InType, lookup) && pgdata.IsBinaryCoercible(child, oc.InType, lookup)
}

// oneToOne says whether each value of the parent's types comes from at most one of the child's, which its cast back finds.
func (b *binder) oneToOne(c *catalog.Constraint, child, parent *catalog.Relation) bool {
	for i := range c.Cols {
		ct, pt := b.baseType(child.Columns[c.Cols[i]-1].Type), b.baseType(parent.Columns[c.RefCols[i]-1].Type)
		switch {
		case b.keysAlike(pt, ct):
		case isInt(ct) && pt == types.NumericOID:
		case ct == types.DateOID && (pt == types.TimestampOID || pt == types.TimestampTZOID):
		default:
			return false
		}
	}
	return true
}
