package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// targetTable opens the relation a statement writes and adds it to the range table: setTargetTable.
func (s *scope) targetTable(t *ast.TableRef, need uint32, verb string) (*nsItem, *catalog.Relation, error) {
	b := s.b
	rel, err := s.openRelation(t.Name)
	if err != nil {
		return nil, nil, err
	}
	switch rel.Kind {
	case catalog.KindSequence:
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "cannot change sequence \"%s\"", rel.Name)
	case catalog.KindMatView:
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "cannot change materialized view \"%s\"", rel.Name)
	case catalog.KindView:
		vt, why, err := b.updatable(rel, 0)
		if err != nil {
			return nil, nil, err
		}
		if vt != nil {
			return s.viewTable(vt, t, need)
		}
		hint := map[string][2]string{
			"insert into": {"inserting into", "INSERT"}, "update": {"updating", "UPDATE"}, "delete from": {"deleting from", "DELETE"},
		}[verb]
		return nil, nil, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "cannot %s view \"%s\"", verb, rel.Name).
			WithDetail("%s", why).
			WithHint("To enable %s the view, provide an INSTEAD OF %s trigger or an unconditional ON %s DO INSTEAD rule.", hint[0], hint[1], hint[1])
	}
	if rel.Virtual != nil || rel.OID < 16384 {
		return nil, nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", rel.Name)
	}
	r := &plan.RTE{Kind: plan.RTERelation, Alias: rel.Name, Rel: rel, Cols: relColumns(rel), Need: need}
	if t.Alias != nil && t.Alias.Name != "" {
		r.Alias, r.HasAlias = t.Alias.Name, true
	}
	s.targetRel = s.addRTE(r)
	s.q.Result = s.targetRel
	return s.newItem(s.targetRel), rel, nil
}

// viewTable makes the base table of an automatically updatable view the target, seen through the view's columns. Each view and the
// table are there for their rights too: what the user needs on the view, its owner needs on what is below it.
func (s *scope) viewTable(vt *viewTarget, t *ast.TableRef, need uint32) (*nsItem, *catalog.Relation, error) {
	r := &plan.RTE{Kind: plan.RTERelation, Alias: vt.view.Name, HasAlias: true, Rel: vt.base, Cols: relColumns(vt.base), Need: need}
	if t.Alias != nil && t.Alias.Name != "" {
		r.Alias = t.Alias.Name
	}
	for v := vt; v != nil; v = v.under {
		v.rte = &plan.RTE{Kind: plan.RTERelation, Alias: v.view.Name, Rel: v.view, Cols: relColumns(v.view), Need: need, Security: r.Security}
		s.addRTE(v.rte)
		r.Security = v.view.Owner
	}
	s.targetRel = s.addRTE(r) // behind the views: the user's rights are looked at first
	s.q.Result = s.targetRel
	s.view = vt
	it, err := s.viewItem(vt, s.targetRel)
	return it, vt.base, err
}

// columnNumber finds a column to assign.
func (s *scope) columnNumber(rel *catalog.Relation, name string, loc int) (int, error) {
	if s.view != nil {
		for i := range s.view.view.Columns {
			if s.view.view.Columns[i].Name == name {
				return s.view.attnos[i] - 1, nil
			}
		}
		return 0, s.b.errorAt(loc, sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, s.view.view.Name)
	}
	for i := range rel.Columns {
		if c := &rel.Columns[i]; !c.Dropped && c.Name == name {
			return i, nil
		}
	}
	if systemColumn(name) != nil {
		return 0, s.b.errorAt(loc, sqlerr.FeatureNotSupported, "cannot assign to system column \"%s\"", name)
	}
	return 0, s.b.errorAt(loc, sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, rel.Name)
}

// assign casts a value to a column's type: transformAssignedExpr.
func (s *scope) assign(e plan.Expr, c *catalog.Column, loc int) (plan.Expr, error) {
	b := s.b
	if t := e.T(); t.Type == c.Type && t.Typmod == c.Typmod {
		return e, nil
	}
	r, err := b.coerceTo(e, c.Type, c.Typmod, coerceAssignment, plan.FormImplicitCast, -1)
	if err != nil {
		return nil, err
	}
	if r == nil {
		at := exprLoc(e)
		if at < 0 {
			at = loc
		}
		return nil, b.errorAt(at, sqlerr.DatatypeMismatch, "column \"%s\" is of type %s but expression is of type %s", c.Name, b.typeName(c.Type), b.typeName(e.T().Type)).
			WithHint("You will need to rewrite or cast the expression.")
	}
	return r, nil
}

// defaultValue is what DEFAULT means for a column: build_column_default, NULL when there is none.
func (s *scope) defaultValue(rel *catalog.Relation, c *catalog.Column) (plan.Expr, error) {
	b := s.b
	if c.Identity != 0 && c.Sequence != 0 {
		n := &plan.NextValue{Typed: plan.Typed{Type: types.Int8OID, Typmod: -1, Loc: -1}, Sequence: c.Sequence}
		return b.coerceTo(n, c.Type, c.Typmod, coerceAssignment, plan.FormImplicitCast, -1)
	}
	if c.Default != "" {
		e, err := b.relExpr(rel, c.Default, kindDefault)
		if err != nil {
			return nil, err
		}
		return s.assign(e, c, -1)
	}
	if b.isDomain(c.Type) {
		if text := b.domainDefault(c.Type); text != "" {
			e, err := b.relExpr(rel, text, kindDefault)
			if err != nil {
				return nil, err
			}
			return s.assign(e, c, -1)
		}
		base, mod := b.baseTypeMod(c.Type, c.Typmod)
		null := &plan.Const{Typed: plan.Typed{Type: base, Typmod: mod, Collation: c.Collation, Loc: -1}, Value: types.NullDatum}
		return b.coerceDomain(null, c.Type, base, mod, coerceImplicit, plan.FormImplicitCast, -1)
	}
	return &plan.Const{Typed: plan.Typed{Type: c.Type, Typmod: c.Typmod, Collation: c.Collation, Loc: -1}, Value: types.NullDatum}, nil
}

func (b *binder) domainDefault(id types.OID) string {
	for t := b.typ(id); t != nil && t.Type == 'd'; t = b.typ(t.BaseType) {
		if t.Default != "" {
			return t.Default
		}
	}
	return ""
}

// bindInsert is transformInsertStmt with the rewriter's work on defaults.
func (s *scope) bindInsert(x *ast.Insert) (*plan.Query, error) {
	s.newQuery(plan.CmdInsert)
	if x.With != nil {
		if err := s.bindWith(x.With); err != nil {
			return nil, err
		}
	}
	need := plan.RightInsert
	if x.OnConflict != nil && x.OnConflict.DoUpdate {
		need |= plan.RightUpdate
	}
	item, rel, err := s.targetTable(x.Table, need, "insert into")
	if err != nil {
		return nil, err
	}
	s.q.Overriding = [...]byte{0, 'u', 's'}[x.Overriding]
	cols, err := s.insertColumns(rel, x)
	if err != nil {
		return nil, err
	}
	values := make([]plan.Expr, len(rel.Columns)) // by attno-1; nil = default
	if x.Source != nil {
		if err := s.insertSource(x, rel, cols, values); err != nil {
			return nil, err
		}
	}
	if err := s.viewDefaults(rel, values); err != nil {
		return nil, err
	}
	if s.q.Targets, err = s.insertTargets(rel, values); err != nil {
		return nil, err
	}
	for _, t := range s.q.Targets {
		s.q.InsertCols = append(s.q.InsertCols, t.Attno)
	}
	if x.OnConflict != nil {
		if err := s.bindOnConflict(x.OnConflict, rel, item); err != nil {
			return nil, err
		}
	}
	if len(x.Returning) > 0 {
		s.ns = []*nsItem{item}
		if s.q.Returning, err = s.targets(x.Returning, kindReturning); err != nil {
			return nil, err
		}
		if err := s.returningUnknowns(); err != nil {
			return nil, err
		}
	}
	s.selectRight(x.OnConflict != nil && (len(x.OnConflict.Elems) > 0 || x.OnConflict.Constraint != ""))
	return s.q, nil
}

// selectRight asks for SELECT on the table that the statement writes when it reads columns of it too; reads says that it does
// otherwise than by an expression.
func (s *scope) selectRight(reads bool) {
	q := s.q
	if s.view != nil {
		s.viewRights(reads)
		return
	}
	reads = reads || deepExprs(q, 0, func(e plan.Expr, level int) bool {
		v, ok := e.(*plan.Var)
		return ok && v.RTE == q.Result && v.LevelsUp == level
	})
	if reads {
		q.RTable[q.Result].Need |= plan.RightSelect
	}
}

func (s *scope) returningUnknowns() error {
	for _, t := range s.q.Returning {
		if t.Expr.T().Type == types.UnknownOID {
			e, err := s.b.coerce(t.Expr, types.TextOID, -1, coerceImplicit, plan.FormImplicitCast, -1)
			if err != nil {
				return err
			}
			t.Expr = e
		}
	}
	return nil
}

// insertColumn is one target column of an INSERT.
type insertColumn struct {
	at    int // index in rel.Columns
	loc   int
	steps []ast.Step // to the part of the column that is given, nil: the whole
}

// insertColumns is checkInsertTargets.
func (s *scope) insertColumns(rel *catalog.Relation, x *ast.Insert) ([]insertColumn, error) {
	var out []insertColumn
	if len(x.Columns) == 0 && s.view != nil {
		for _, a := range s.view.attnos {
			out = append(out, insertColumn{at: a - 1, loc: -1})
		}
		return out, nil
	}
	if len(x.Columns) == 0 {
		out = make([]insertColumn, 0, len(rel.Columns))
		for i := range rel.Columns {
			if !rel.Columns[i].Dropped {
				out = append(out, insertColumn{at: i, loc: -1})
			}
		}
		return out, nil
	}
	for i := range x.Columns {
		c := &x.Columns[i]
		at, err := s.columnNumber(rel, c.Name, int(c.Off))
		if err != nil {
			return nil, err
		}
		for _, o := range out {
			if o.at == at && (len(o.steps) == 0 || len(c.Steps) == 0) {
				return nil, s.b.errorAt(int(c.Off), sqlerr.DuplicateColumn, "column \"%s\" specified more than once", c.Name)
			}
		}
		out = append(out, insertColumn{at, int(c.Off), c.Steps})
	}
	return out, nil
}

// insertSource binds VALUES or the query of an INSERT.
func (s *scope) insertSource(x *ast.Insert, rel *catalog.Relation, cols []insertColumn, values []plan.Expr) error {
	src := x.Source
	v, isValues := src.Body.(*ast.Values)
	if isValues && src.With == nil && len(src.OrderBy) == 0 && src.Limit == nil && src.Offset == nil && len(src.Locking) == 0 {
		if len(v.Rows) == 1 {
			return s.insertRow(x, rel, cols, v.Rows[0], values)
		}
		return s.insertRows(x, rel, cols, v, values)
	}
	child := s.newChild()
	child.parent = s
	savedNS := s.ns
	s.ns = nil
	q, err := child.bindSelect(src)
	s.ns = savedNS
	if err != nil {
		return err
	}
	it, err := s.subqueryRTE(q, &ast.Alias{Name: "*SELECT*"}, false)
	if err != nil {
		return err
	}
	s.q.From = []plan.FromItem{plan.RangeRef{RTE: it.rte}}
	n := it.ncols(s.q)
	exprs := make([]plan.Expr, 0, n)
	k := 0
	for _, t := range q.Targets {
		if t.Junk {
			continue
		}
		switch t.Expr.(type) {
		case *plan.Const, *plan.Param:
			if t.Expr.T().Type == types.UnknownOID {
				exprs = append(exprs, t.Expr)
				k++
				continue
			}
		}
		e := it.col(s.q, k).toVar(0, t.Expr.T().Loc)
		exprs = append(exprs, e)
		k++
	}
	if err := s.insertExprs(x, rel, cols, exprs, values); err != nil {
		return err
	}
	return child.settleParams()
}

// settleParams gives untyped parameters among the output columns the type that the column they are assigned to has given them.
func (s *scope) settleParams() error {
	for _, t := range s.q.Targets {
		p, ok := t.Expr.(*plan.Param)
		if !ok || p.Type != types.UnknownOID {
			continue
		}
		known := s.b.params.types[p.Index]
		if known == types.UnknownOID || known == 0 {
			continue
		}
		e, _, err := s.b.params.coerce(s.b, p, known, -1, p.Loc)
		if err != nil {
			return err
		}
		s.setTarget(t, e)
	}
	return nil
}

// insertRow binds a single VALUES row.
func (s *scope) insertRow(x *ast.Insert, rel *catalog.Relation, cols []insertColumn, row []ast.Expr, values []plan.Expr) error {
	exprs := make([]plan.Expr, len(row))
	for i, a := range row {
		if _, ok := a.(*ast.Default); ok {
			exprs[i] = &plan.SetToDefault{Typed: plan.Typed{Typmod: -1, Loc: int(a.Pos())}}
			continue
		}
		e, err := s.expr(a, kindValuesSingle)
		if err != nil {
			return err
		}
		exprs[i] = e
	}
	return s.insertExprs(x, rel, cols, exprs, values)
}

// insertExprs is transformInsertRow.
func (s *scope) insertExprs(x *ast.Insert, rel *catalog.Relation, cols []insertColumn, exprs, values []plan.Expr) error {
	if err := s.insertArity(x, cols, exprs); err != nil {
		return err
	}
	for i, e := range exprs {
		s.q.RTable[s.q.Result].Written = append(s.q.RTable[s.q.Result].Written, int16(cols[i].at+1))
		v, err := s.insertValue(rel, &cols[i], e, values[cols[i].at])
		if err != nil {
			return err
		}
		values[cols[i].at] = v
	}
	return nil
}

func (s *scope) insertArity(x *ast.Insert, cols []insertColumn, exprs []plan.Expr) error {
	if len(exprs) > len(cols) {
		return s.b.errorAt(exprLoc(exprs[len(cols)]), sqlerr.SyntaxError, "INSERT has more expressions than target columns")
	}
	if len(exprs) < len(cols) && len(x.Columns) > 0 {
		e := s.b.errorAt(cols[len(exprs)].loc, sqlerr.SyntaxError, "INSERT has more target columns than expressions")
		if len(exprs) == 1 {
			if r, ok := exprs[0].(*plan.RowExpr); ok && len(r.Args) == len(cols) {
				e.WithHint("The insertion source is a row expression containing the same number of columns expected by the INSERT. Did you accidentally use extra parentheses?")
			}
		}
		return e
	}
	return nil
}

// insertValue applies the rules for generated and identity columns; nil means default. have is what other parts of the column were given.
func (s *scope) insertValue(rel *catalog.Relation, ic *insertColumn, e, have plan.Expr) (plan.Expr, error) {
	c := &rel.Columns[ic.at]
	if len(ic.steps) > 0 {
		v, _, err := s.insertPart(c, ic, e, have)
		return v, err
	}
	_, isDefault := e.(*plan.SetToDefault)
	if c.Generated != "" && !isDefault {
		return nil, sqlerr.New(sqlerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column \"%s\"", c.Name).WithDetail("Column \"%s\" is a generated column.", c.Name)
	}
	if isDefault {
		return nil, nil
	}
	if c.Identity == 'a' && s.q.Overriding == 0 {
		return nil, sqlerr.New(sqlerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column \"%s\"", c.Name).
			WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", c.Name).WithHint("Use OVERRIDING SYSTEM VALUE to override.")
	}
	v, err := s.assign(e, c, ic.loc)
	if err != nil {
		return nil, err
	}
	if c.Identity != 0 && s.q.Overriding == 'u' {
		return nil, nil
	}
	return v, nil
}

// insertRows binds a VALUES list of several rows.
func (s *scope) insertRows(x *ast.Insert, rel *catalog.Relation, cols []insertColumn, v *ast.Values, values []plan.Expr) error {
	rows := make([][]plan.Expr, len(v.Rows))
	width := len(v.Rows[0])
	allDefault := make([]bool, width)
	for k := range allDefault {
		allDefault[k] = true
	}
	for i, r := range v.Rows {
		if len(r) != width {
			loc := int(v.Off)
			if len(r) > 0 {
				loc = int(r[0].Pos())
			}
			return s.b.errorAt(loc, sqlerr.SyntaxError, "VALUES lists must all be the same length")
		}
		rows[i] = make([]plan.Expr, width)
		for k, a := range r {
			if _, ok := a.(*ast.Default); ok {
				rows[i][k] = &plan.SetToDefault{Typed: plan.Typed{Typmod: -1, Loc: int(a.Pos())}}
				continue
			}
			allDefault[k] = false
			e, err := s.expr(a, kindValues)
			if err != nil {
				return err
			}
			rows[i][k] = e
		}
		if err := s.insertArity(x, cols, rows[i]); err != nil {
			return err
		}
		for k, e := range rows[i] {
			c := &rel.Columns[cols[k].at]
			if len(cols[k].steps) > 0 { // the rows have the part, the target puts it in its place
				_, part, err := s.insertPart(c, &cols[k], e, nil)
				if err != nil {
					return err
				}
				rows[i][k] = part
				continue
			}
			val, err := s.insertValue(rel, &cols[k], e, nil)
			if err != nil {
				return err
			}
			if val == nil {
				if val, err = s.viewDefault(rel, cols[k].at); err != nil {
					return err
				}
			}
			if val == nil && c.Generated == "" {
				if val, err = s.defaultValue(rel, c); err != nil {
					return err
				}
			}
			if val == nil {
				val = &plan.Const{Typed: plan.Typed{Type: c.Type, Typmod: c.Typmod, Loc: -1}, Value: types.NullDatum}
			}
			rows[i][k] = val
		}
	}
	rte := &plan.RTE{Kind: plan.RTEValues, Alias: "*VALUES*", Values: rows}
	for k := range width {
		c := &rel.Columns[cols[k].at]
		t := plan.Typed{Type: c.Type, Typmod: c.Typmod, Collation: c.Collation, Loc: -1}
		if len(cols[k].steps) > 0 {
			t = *rows[0][k].T()
		}
		rte.Cols = append(rte.Cols, plan.Column{Name: "column" + itoa(k+1), Typed: t})
	}
	at := s.addRTE(rte)
	s.q.From = []plan.FromItem{plan.RangeRef{RTE: at}}
	for k := range width {
		c := &rel.Columns[cols[k].at]
		s.q.RTable[s.q.Result].Written = append(s.q.RTable[s.q.Result].Written, int16(cols[k].at+1))
		if allDefault[k] {
			continue
		}
		v := &plan.Var{Typed: rte.Cols[k].Typed, RTE: at, Attno: k + 1}
		if len(cols[k].steps) == 0 {
			values[cols[k].at] = v
			continue
		}
		var err error
		if values[cols[k].at], _, err = s.insertPart(c, &cols[k], v, values[cols[k].at]); err != nil {
			return err
		}
	}
	return nil
}

// insertTargets makes a target for every live column, its default where there is no value.
func (s *scope) insertTargets(rel *catalog.Relation, values []plan.Expr) ([]*plan.Target, error) {
	targets := make([]plan.Target, len(rel.Columns))
	out := make([]*plan.Target, 0, len(rel.Columns))
	for i := range rel.Columns {
		c := &rel.Columns[i]
		if c.Dropped {
			continue
		}
		v := values[i]
		if v == nil {
			var err error
			if c.Generated != "" {
				v = &plan.Const{Typed: plan.Typed{Type: c.Type, Typmod: c.Typmod, Collation: c.Collation, Loc: -1}, Value: types.NullDatum}
			} else if v, err = s.defaultValue(rel, c); err != nil {
				return nil, err
			}
		}
		t := &targets[i]
		t.Expr, t.Name, t.Attno = v, c.Name, i+1
		out = append(out, t)
	}
	return out, nil
}

// bindUpdate is transformUpdateStmt.
func (s *scope) bindUpdate(x *ast.Update) (*plan.Query, error) {
	s.newQuery(plan.CmdUpdate)
	if x.With != nil {
		if err := s.bindWith(x.With); err != nil {
			return nil, err
		}
	}
	item, rel, err := s.targetTable(x.Table, plan.RightUpdate, "update")
	if err != nil {
		return nil, err
	}
	if err := s.dmlFrom(item, x.From, x.Where); err != nil {
		return nil, err
	}
	if len(x.Returning) > 0 {
		if s.q.Returning, err = s.targets(x.Returning, kindReturning); err != nil {
			return nil, err
		}
		if err := s.returningUnknowns(); err != nil {
			return nil, err
		}
	}
	if s.q.Targets, err = s.setClause(s.withOnUpdate(x.Set, rel), rel); err != nil {
		return nil, err
	}
	s.selectRight(false)
	return s.q, nil
}

// dmlFrom binds FROM or USING and WHERE of UPDATE and DELETE.
func (s *scope) dmlFrom(item *nsItem, from []ast.FromItem, where ast.Expr) error {
	s.ns = append(s.ns, item)
	item.latOnly, item.latOK = true, false
	s.q.From = append(s.q.From, plan.RangeRef{RTE: item.rte})
	if err := s.bindFrom(from); err != nil {
		return err
	}
	item.latOnly, item.latOK = false, true
	if s.view != nil {
		s.q.Where = onRTE(s.view.quals, 0, item.rte)
	}
	if where == nil {
		return nil
	}
	if c, ok := where.(*ast.CurrentOf); ok {
		if s.view != nil {
			return sqlerr.New(sqlerr.FeatureNotSupported, "WHERE CURRENT OF on a view is not implemented")
		}
		s.q.CurrentOf = c.Cursor
		return nil
	}
	w, err := s.condition(where, kindWhere, "WHERE")
	if err != nil {
		return err
	}
	s.asked = w
	s.q.Where = andExprs(append(splitAnd(nil, s.q.Where), splitAnd(nil, w)...))
	return nil
}

// bindDelete is transformDeleteStmt.
func (s *scope) bindDelete(x *ast.Delete) (*plan.Query, error) {
	s.newQuery(plan.CmdDelete)
	if x.With != nil {
		if err := s.bindWith(x.With); err != nil {
			return nil, err
		}
	}
	item, _, err := s.targetTable(x.Table, plan.RightDelete, "delete from")
	if err != nil {
		return nil, err
	}
	if err := s.dmlFrom(item, x.Using, x.Where); err != nil {
		return nil, err
	}
	if len(x.Returning) > 0 {
		if s.q.Returning, err = s.targets(x.Returning, kindReturning); err != nil {
			return nil, err
		}
		if err := s.returningUnknowns(); err != nil {
			return nil, err
		}
	}
	s.selectRight(false)
	return s.q, nil
}
