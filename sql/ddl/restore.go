package ddl

import (
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/deparse"
	"herd/sql/types"
)

// storedKind says which text of a relation a restored is.
type storedKind uint8

const (
	storedDefault storedKind = iota
	storedGenerated
	storedCheck
	storedIndexKey
	storedIndexPred
	storedView
)

// restored is a stored text with the tree it was bound to before a change of names. After the change it is written again
// from the tree, which knows objects by identifier.
type restored struct {
	rel   types.OID
	kind  storedKind
	attno int16     // defaults and generated columns
	id    types.OID // constraints and indexes
	key   int       // index keys
	expr  plan.Expr
	query *plan.Query
	names []string // columns of a view
	// ast, when set, is bound again after the change instead of expr: types changed.
	ast ast.Expr
}

var storedUses = [...]planner.ExprUse{storedDefault: planner.UseDefault, storedGenerated: planner.UseGenerated, storedCheck: planner.UseCheck,
	storedIndexKey: planner.UseIndexExpr, storedIndexPred: planner.UseIndexPred}

// storedOf lists the texts of a table that mention a column (0: all its texts).
func (x *executor) storedOf(rel *catalog.Relation, attno int16) ([]restored, error) {
	var out []restored
	add := func(r restored, text string) error {
		if text == "" {
			return nil
		}
		over := rel
		if r.kind == storedDefault {
			over = nil
		}
		st, err := x.Bind.ParseExpr(text)
		if err != nil {
			return err
		}
		env := *x.Bind
		env.Text, env.Path = "", storedPath
		r.rel = rel.OID
		if r.expr, err = planner.BindExpr(x.reader(), &env, over, st, storedUses[r.kind], nil); err != nil {
			return err
		}
		if attno == 0 || contains(columnsOf(r.expr), attno) {
			r.ast = st
			out = append(out, r)
		}
		return nil
	}
	for i := range rel.Columns {
		c := &rel.Columns[i]
		if c.Dropped {
			continue
		}
		if err := add(restored{kind: storedDefault, attno: c.Num}, c.Default); err != nil {
			return nil, err
		}
		if err := add(restored{kind: storedGenerated, attno: c.Num}, c.Generated); err != nil {
			return nil, err
		}
	}
	for _, k := range rel.Constraints {
		if err := add(restored{kind: storedCheck, id: k.OID}, k.Expr); err != nil {
			return nil, err
		}
	}
	for _, ix := range rel.AllIndexes() {
		for i, k := range ix.Keys {
			if err := add(restored{kind: storedIndexKey, id: ix.OID, key: i}, k.Expr); err != nil {
				return nil, err
			}
		}
		if err := add(restored{kind: storedIndexPred, id: ix.OID}, ix.Pred); err != nil {
			return nil, err
		}
	}
	for i := range out {
		out[i].ast = nil
	}
	if rel.ViewDef == "" {
		return out, nil
	}
	q, err := x.bindView(rel)
	if err != nil {
		return nil, err
	}
	return append(out, restored{rel: rel.OID, kind: storedView, query: q}), nil
}

// rebind marks texts to be bound again: their columns have other types now.
func rebind(list []restored) []restored {
	for i := range list {
		list[i].expr = nil
	}
	return list
}

// bindView binds a view's stored query.
func (x *executor) bindView(rel *catalog.Relation) (*plan.Query, error) {
	st, err := x.Bind.ParseQuery(rel.ViewDef)
	if err != nil {
		return nil, err
	}
	env := *x.Bind
	env.Text, env.Path = "", storedPath
	q, _, err := planner.Bind(x.reader(), &env, st, nil)
	return q, err
}

// dependentsOf lists the texts, of all relations, that refer to an object or with sub to a column.
func (x *executor) dependentsOf(class, id types.OID, sub int32) ([]restored, error) {
	r := x.reader()
	seen := map[types.OID]bool{}
	var rels []*catalog.Relation
	add := func(rel *catalog.Relation, err error) error {
		if err == nil && rel != nil && !seen[rel.OID] {
			seen[rel.OID] = true
			rels = append(rels, rel)
		}
		return err
	}
	var deps []catalog.Dependency
	if err := r.Dependents(class, id, sub, func(d catalog.Dependency) bool { deps = append(deps, d); return true }); err != nil {
		return nil, err
	}
	for _, d := range deps {
		var err error
		switch d.Class {
		case catalog.ClassConstraint:
			rel, _, e := r.ConstraintByOID(d.OID)
			err = add(rel, e)
		case catalog.ClassAttrDef, catalog.ClassRewrite:
			err = r.References(d.Class, d.OID, 0, func(o catalog.Dependency) bool {
				if o.RefClass == catalog.ClassRelation && (o.Type == 'a' || o.Type == 'i') {
					if e := add(r.RelationByOID(o.RefOID)); e != nil {
						return false
					}
				}
				return true
			})
		case catalog.ClassRelation:
			if table, ix, e := r.IndexByOID(d.OID); ix != nil || e != nil {
				err = add(table, e)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if class == catalog.ClassRelation {
		if err := add(r.RelationByOID(id)); err != nil {
			return nil, err
		}
	}
	var out []restored
	for _, rel := range rels {
		list, err := x.storedOf(rel, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// restore writes texts again after a change.
func (x *executor) restore(list []restored) error {
	for start := 0; start < len(list); {
		end := start
		for end < len(list) && list[end].rel == list[start].rel {
			end++
		}
		if err := x.restoreRelation(list[start].rel, list[start:end]); err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (x *executor) restoreRelation(id types.OID, list []restored) error {
	old, err := x.reader().RelationByOID(id)
	if old == nil || err != nil {
		return err
	}
	now := old.Clone()
	changed := false
	for i := range list {
		text, err := x.restoredText(now, &list[i])
		if err != nil {
			return err
		}
		place := list[i].place(now)
		if place != nil && *place != text {
			*place, changed = text, true
		}
	}
	if !changed {
		return nil
	}
	return x.Writer.UpdateRelation(old, now)
}

// restoredText is the canonical text under the names of now.
func (x *executor) restoredText(now *catalog.Relation, r *restored) (string, error) {
	env := &deparse.Env{Cat: x.reader(), Path: deparse.StoredPath, Store: true, Database: x.Database}
	if r.kind == storedView {
		return deparse.Query(env, r.query, viewColumns(now))
	}
	over := now
	if r.kind == storedDefault {
		over = nil
	}
	if r.expr != nil {
		return deparse.Expr(env, over, r.expr)
	}
	// Types changed: what the text says is bound once more.
	place := r.place(now)
	if place == nil || *place == "" {
		return "", nil
	}
	st, err := x.Bind.ParseExpr(*place)
	if err != nil {
		return "", err
	}
	bind := *x.Bind
	bind.Text, bind.Path = "", storedPath
	e, err := planner.BindExpr(x.reader(), &bind, over, st, storedUses[r.kind], nil)
	if err != nil {
		return "", err
	}
	return deparse.Expr(env, over, e)
}

func viewColumns(rel *catalog.Relation) []string {
	var out []string
	for i := range rel.Columns {
		if !rel.Columns[i].Dropped {
			out = append(out, rel.Columns[i].Name)
		}
	}
	return out
}

// place is where a text is kept in a descriptor.
func (r *restored) place(rel *catalog.Relation) *string {
	switch r.kind {
	case storedDefault:
		return &rel.Columns[r.attno-1].Default
	case storedGenerated:
		return &rel.Columns[r.attno-1].Generated
	case storedCheck:
		for _, k := range rel.Constraints {
			if k.OID == r.id {
				return &k.Expr
			}
		}
	case storedIndexKey, storedIndexPred:
		for _, ix := range rel.AllIndexes() {
			if ix.OID != r.id {
				continue
			}
			if r.kind == storedIndexPred {
				return &ix.Pred
			}
			return &ix.Keys[r.key].Expr
		}
	case storedView:
		return &rel.ViewDef
	}
	return nil
}
