package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// bindOnConflict is transformOnConflictClause with the inference of arbiter indexes.
func (s *scope) bindOnConflict(x *ast.OnConflict, rel *catalog.Relation, item *nsItem) error {
	oc := &plan.OnConflict{Update: x.DoUpdate}
	s.q.OnConflict = oc
	if x.DoUpdate && len(x.Elems) == 0 && x.Constraint == "" && !x.AnyKey && !x.PrimaryKey {
		return s.b.errorAt(int(x.Off), sqlerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").
			WithHint("For example, ON CONFLICT (column_name).")
	}
	s.ns = []*nsItem{item}
	if err := s.arbiters(x, rel, oc); err != nil {
		return err
	}
	ex := &plan.RTE{Kind: plan.RTERelation, Alias: "excluded", HasAlias: true, Rel: rel, Cols: relColumns(rel)}
	oc.ExcludedRTE = s.addRTE(ex)
	if !x.DoUpdate {
		return nil
	}
	exItem := s.newItem(oc.ExcludedRTE)
	if s.view != nil {
		exItem.cols = append([]nsColumn(nil), item.cols...)
		for i := range exItem.cols {
			exItem.cols[i].rte = oc.ExcludedRTE
		}
	}
	s.ns = []*nsItem{item, exItem}
	var err error
	set := x.Set
	if x.Replace {
		set = replaceAll(rel)
	}
	if len(oc.Arbiters) == 0 { // a table without keys has no conflicts
		oc.Update = false
		return nil
	}
	if oc.Set, err = s.setClause(s.withOnUpdate(set, rel), rel); err != nil {
		return err
	}
	if x.Where != nil {
		if oc.Where, err = s.condition(x.Where, kindWhere, "WHERE"); err != nil {
			return err
		}
	}
	s.ns = nil
	return nil
}

// replaceAll assigns the new row's value to every column that can be assigned to.
func replaceAll(rel *catalog.Relation) []ast.Assignment {
	var set []ast.Assignment
	for i := range rel.Columns {
		c := &rel.Columns[i]
		if c.Dropped || c.Generated != "" || c.Identity == 'a' {
			continue
		}
		set = append(set, ast.Assignment{Loc: ast.At(ast.NoPos), Targets: []ast.ColumnTarget{{Loc: ast.At(ast.NoPos), Name: c.Name}},
			Value: &ast.ColumnRef{Loc: ast.At(ast.NoPos), Parts: []string{"excluded", c.Name}}})
	}
	return set
}

// withOnUpdate adds to SET what columns declared ON UPDATE become: their value when another column changes and they are not set.
func (s *scope) withOnUpdate(set []ast.Assignment, rel *catalog.Relation) []ast.Assignment {
	named := func(name string) bool {
		for i := range set {
			for _, t := range set[i].Targets {
				if t.Name == name {
					return true
				}
			}
		}
		return false
	}
	out := set
	for i := range rel.Columns {
		c := &rel.Columns[i]
		if c.Dropped || !c.UpdateNow || named(c.Name) {
			continue
		}
		loc := ast.At(ast.NoPos)
		changed := &ast.BoolExpr{Loc: loc, Op: ast.Or}
		for k := range set {
			a := &set[k]
			if _, isDefault := a.Value.(*ast.Default); a.Multi || isDefault || len(a.Targets[0].Steps) > 0 {
				changed.Args = append(changed.Args, &ast.Const{Loc: loc, Kind: ast.ConstBool, Bool: true})
				continue
			}
			changed.Args = append(changed.Args, &ast.IsDistinct{Loc: a.Loc, Left: &ast.ColumnRef{Loc: loc, Parts: []string{s.targetName(rel), a.Targets[0].Name}}, Right: a.Value})
		}
		if len(changed.Args) == 1 {
			changed.Args = append(changed.Args, &ast.Const{Loc: loc, Kind: ast.ConstBool})
		}
		value := &ast.Case{Loc: loc, Whens: []ast.When{{Loc: loc, Cond: changed, Result: &ast.Cast{Loc: loc,
			Arg:  &ast.FuncCall{Loc: loc, Name: ast.Name{Loc: loc, Schema: "pg_catalog", Name: "statement_timestamp"}},
			Type: &ast.TypeName{Loc: loc, Name: ast.Name{Loc: loc, Schema: "pg_catalog", Name: typeOfTime(c.Type)}, Mods: timeDigits(c)}}}},
			Else: &ast.ColumnRef{Loc: loc, Parts: []string{s.targetName(rel), c.Name}}}
		out = append(out[:len(out):len(out)], ast.Assignment{Loc: loc, Targets: []ast.ColumnTarget{{Loc: loc, Name: c.Name}}, Value: value})
	}
	return out
}

// targetName is the name by which expressions see the target of the statement.
func (s *scope) targetName(rel *catalog.Relation) string {
	if s.q.Result >= 0 && s.q.Result < len(s.q.RTable) && s.q.RTable[s.q.Result].Alias != "" {
		return s.q.RTable[s.q.Result].Alias
	}
	return rel.Name
}

func typeOfTime(t types.OID) string {
	if t == types.TimestampTZOID {
		return "timestamptz"
	}
	return "timestamp"
}

func timeDigits(c *catalog.Column) []ast.Expr {
	if c.Typmod < 0 {
		return nil
	}
	return []ast.Expr{&ast.Const{Loc: ast.At(ast.NoPos), Kind: ast.ConstInt, Int: int64(c.Typmod)}}
}

// arbiters finds the unique indexes that ON CONFLICT means.
func (s *scope) arbiters(x *ast.OnConflict, rel *catalog.Relation, oc *plan.OnConflict) error {
	b := s.b
	all := rel.Indexes
	if rel.PrimaryKey != nil {
		all = append([]*catalog.Index{rel.PrimaryKey}, all...)
	}
	if x.AnyKey || x.PrimaryKey {
		for _, ix := range all {
			if x.PrimaryKey && ix != rel.PrimaryKey {
				continue
			}
			if ix.Unique && ix.State == catalog.IndexValid && !ix.Deferrable {
				oc.Arbiters = append(oc.Arbiters, ix.OID)
			}
		}
		if len(oc.Arbiters) == 0 && x.PrimaryKey {
			return b.errorAt(int(x.Off), sqlerr.InvalidColumnReference, "table \"%s\" has no primary key", rel.Name)
		}
		return nil
	}
	if x.Constraint != "" {
		for _, c := range rel.Constraints {
			if c.Name != x.Constraint {
				continue
			}
			if c.Type != 'p' && c.Type != 'u' {
				return sqlerr.New(sqlerr.WrongObjectType, "constraint in ON CONFLICT clause has no associated index")
			}
			if c.Deferrable {
				return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters")
			}
			oc.Arbiters = append(oc.Arbiters, c.Index)
			return nil
		}
		return b.errorAt(-1, sqlerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist", x.Constraint, rel.Name)
	}
	if len(x.Elems) == 0 {
		return nil
	}
	var cols []int
	var exprs []plan.Expr
	for i := range x.Elems {
		el := &x.Elems[i]
		var e plan.Expr
		var err error
		if el.Column != "" {
			e, err = s.columnRef(&ast.ColumnRef{Loc: x.InferLoc, Parts: []string{el.Column}})
		} else {
			e, err = s.expr(el.Expr, kindIndexExpr)
		}
		if err != nil {
			return err
		}
		if v, ok := e.(*plan.Var); ok && v.Attno > 0 {
			cols = append(cols, v.Attno)
		} else {
			exprs = append(exprs, e)
		}
	}
	var pred plan.Expr
	if x.InferWhere != nil {
		var err error
		if pred, err = s.condition(x.InferWhere, kindIndexPred, "WHERE"); err != nil {
			return err
		}
	}
	for _, ix := range all {
		ok, err := b.inferable(rel, ix, cols, exprs, pred)
		if err != nil {
			return err
		}
		if ok {
			oc.Arbiters = append(oc.Arbiters, ix.OID)
		}
	}
	if len(oc.Arbiters) == 0 {
		return sqlerr.New(sqlerr.InvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	}
	return nil
}

// inferable says whether a unique index has exactly the given keys and a predicate that pred implies.
func (b *binder) inferable(rel *catalog.Relation, ix *catalog.Index, cols []int, exprs []plan.Expr, pred plan.Expr) (bool, error) {
	if !ix.Unique || ix.State != catalog.IndexValid || ix.Deferrable {
		return false, nil
	}
	seenCols, seenExprs := 0, 0
	for i := range ix.Keys {
		k := &ix.Keys[i]
		if k.Attno != 0 {
			found := false
			for _, c := range cols {
				found = found || c == int(k.Attno)
			}
			if !found {
				return false, nil
			}
			seenCols++
			continue
		}
		e, err := b.relExpr(rel, k.Expr, kindIndexExpr)
		if err != nil {
			return false, err
		}
		found := false
		for _, x := range exprs {
			found = found || equalExpr(e, x)
		}
		if !found {
			return false, nil
		}
		seenExprs++
	}
	for _, c := range cols {
		has := false
		for i := range ix.Keys {
			has = has || int(ix.Keys[i].Attno) == c
		}
		if !has {
			return false, nil
		}
	}
	if seenExprs < len(exprs) || seenCols == 0 && len(cols) > 0 {
		return false, nil
	}
	if ix.Pred == "" {
		return true, nil
	}
	p, err := b.relExpr(rel, ix.Pred, kindIndexPred)
	if err != nil {
		return false, err
	}
	return pred != nil && implies([]plan.Expr{pred}, p, 0), nil
}

// onRTE moves the Vars of a stored expression to another range table entry.
func onRTE(e plan.Expr, from, to int) plan.Expr {
	if from == to {
		return e
	}
	return rewrite(e, func(x plan.Expr) plan.Expr {
		if v, ok := x.(*plan.Var); ok && v.RTE == from && v.LevelsUp == 0 {
			n := *v
			n.RTE = to
			return &n
		}
		return x
	})
}
