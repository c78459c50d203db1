package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// bindFrom is transformFromClause: it fills q.From and the namespace.
func (s *scope) bindFrom(items []ast.FromItem) error {
	for _, it := range items {
		f, _, ns, err := s.fromItem(it)
		if err != nil {
			return err
		}
		if err := s.checkConflicts(s.ns, ns); err != nil {
			return err
		}
		setLateral(ns, true, true)
		s.q.From = append(s.q.From, f)
		s.ns = append(s.ns, ns...)
	}
	setLateral(s.ns, false, true)
	return nil
}

func setLateral(ns []*nsItem, only, ok bool) {
	for _, it := range ns {
		it.latOnly, it.latOK = only, ok
	}
}

// checkConflicts raises 42712 when a table name is used twice.
func (s *scope) checkConflicts(a, c []*nsItem) error {
	for _, x := range a {
		if !x.relVis {
			continue
		}
		for _, y := range c {
			if !y.relVis || x.alias != y.alias {
				continue
			}
			if x.relOID != 0 && y.relOID != 0 && x.relOID != y.relOID {
				continue
			}
			return sqlerr.New(sqlerr.DuplicateAlias, "table name \"%s\" specified more than once", x.alias)
		}
	}
	return nil
}

func (s *scope) fromItem(it ast.FromItem) (plan.FromItem, *nsItem, []*nsItem, error) {
	if err := s.b.enter(); err != nil {
		return nil, nil, nil, err
	}
	defer s.b.leave()
	var item *nsItem
	var err error
	switch x := it.(type) {
	case *ast.TableRef:
		item, err = s.tableRef(x)
	case *ast.SubqueryRef:
		item, err = s.subqueryRef(x)
	case *ast.FuncRef:
		item, err = s.funcRef(x)
	case *ast.Join:
		return s.join(x)
	default:
		return nil, nil, nil, sqlerr.Unsupported("this FROM item")
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return plan.RangeRef{RTE: item.rte}, item, []*nsItem{item}, nil
}

// newItem makes the visible name of an RTE.
func (s *scope) newItem(rte int) *nsItem {
	r := s.q.RTable[rte]
	it := &nsItem{rte: rte, alias: r.Alias, relVis: true, colVis: true}
	if r.Kind == plan.RTERelation && !r.HasAlias {
		it.relOID = r.Rel.OID
	}
	return it
}

// tableRef resolves a name to a WITH item or a relation.
func (s *scope) tableRef(x *ast.TableRef) (*nsItem, error) {
	if x.Name.Schema == "" {
		rte, err := s.cteRef(x)
		if err != nil {
			return nil, err
		}
		if rte != nil {
			return s.newItem(s.addRTE(rte)), nil
		}
	}
	rel, err := s.openRelation(x.Name)
	if err != nil {
		return nil, err
	}
	r, err := s.relationRTE(rel, x.Alias, int(x.Off))
	if err != nil {
		return nil, err
	}
	r.Need |= plan.RightSelect
	r.InFromCl = true
	return s.newItem(s.addRTE(r)), nil
}

// openRelation is parserOpenTable.
func (s *scope) openRelation(name ast.Name) (*catalog.Relation, error) {
	rel, err := s.b.relation(name)
	if err != nil {
		return nil, err
	}
	if rel == nil {
		e := s.b.errorAt(int(name.Off), sqlerr.UndefinedTable, "relation \"%s\" does not exist", relText(name))
		if name.Schema == "" && s.futureCTE(name.Name) {
			e.WithDetail("There is a WITH item named \"%s\", but it cannot be referenced from this part of the query.", name.Name).
				WithHint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.")
		}
		return nil, e
	}
	switch rel.Kind {
	case catalog.KindIndex:
		return nil, s.b.errorAt(int(name.Off), sqlerr.WrongObjectType, "cannot open relation \"%s\"", rel.Name).WithDetail("This operation is not supported for indexes.")
	case catalog.KindComposite:
		return nil, s.b.errorAt(int(name.Off), sqlerr.WrongObjectType, "cannot open relation \"%s\"", rel.Name).WithDetail("This operation is not supported for composite types.")
	}
	return rel, nil
}

func relText(n ast.Name) string {
	if n.Schema != "" {
		return n.Schema + "." + n.Name
	}
	return n.Name
}

// relationRTE describes a relation; a view's query is bound with it.
func (s *scope) relationRTE(rel *catalog.Relation, alias *ast.Alias, loc int) (*plan.RTE, error) {
	r := &plan.RTE{Kind: plan.RTERelation, Alias: rel.Name, Rel: rel, Cols: relColumns(rel)}
	if err := s.applyAlias(r, alias); err != nil {
		return nil, err
	}
	if rel.Kind == catalog.KindView {
		sub, err := s.b.viewQuery(rel)
		if err != nil {
			return nil, err
		}
		r.Sub = sub
	}
	return r, nil
}

// applyAlias names an RTE and its columns: buildRelationAliases.
func (s *scope) applyAlias(r *plan.RTE, alias *ast.Alias) error {
	if alias == nil {
		return nil
	}
	if alias.Name != "" {
		r.Alias, r.HasAlias = alias.Name, true
	}
	if len(alias.Columns) == 0 {
		return nil
	}
	r.HasColumns = true
	i, live := 0, 0
	for k := range r.Cols {
		if r.Cols[k].Name == "" && r.Kind == plan.RTERelation {
			continue
		}
		live++
		if i < len(alias.Columns) {
			r.Cols[k].Name = alias.Columns[i]
			i++
		}
	}
	if i < len(alias.Columns) {
		return sqlerr.New(sqlerr.InvalidColumnReference, "table \"%s\" has %d columns available but %d columns specified", r.Alias, live, len(alias.Columns))
	}
	return nil
}

// subqueryRef is transformRangeSubselect.
func (s *scope) subqueryRef(x *ast.SubqueryRef) (*nsItem, error) {
	if x.Alias == nil {
		what := "subquery"
		hint := "For example, FROM (SELECT ...) [AS] foo."
		if _, ok := x.Query.Body.(*ast.Values); ok {
			what, hint = "VALUES", "For example, FROM (VALUES ...) [AS] foo."
		}
		return nil, s.b.errorAt(int(x.Off), sqlerr.SyntaxError, "%s in FROM must have an alias", what).WithHint("%s", hint)
	}
	saved, kind := s.lateral, s.kind
	s.lateral, s.kind = x.Lateral, kindFromSubselect
	child := s.newChild()
	child.resolveUnk = true
	q, err := child.bindSelect(x.Query)
	s.lateral, s.kind = saved, kind
	if err != nil {
		return nil, err
	}
	return s.subqueryRTE(q, x.Alias, x.Lateral)
}

func (s *scope) subqueryRTE(q *plan.Query, alias *ast.Alias, lateral bool) (*nsItem, error) {
	r := &plan.RTE{Kind: plan.RTESubquery, Sub: q, Lateral: lateral, Cols: outputColumns(q), InFromCl: true}
	if err := s.applyAlias(r, alias); err != nil {
		return nil, err
	}
	return s.newItem(s.addRTE(r)), nil
}

// outputColumns are the visible result columns of a query.
func outputColumns(q *plan.Query) []plan.Column {
	list := q.Targets
	if q.Command != plan.CmdSelect {
		list = q.Returning
	}
	cols := make([]plan.Column, 0, len(list))
	for _, t := range list {
		if !t.Junk {
			c := plan.Column{Name: t.Name, Typed: *t.Expr.T()}
			c.Loc = -1
			cols = append(cols, c)
		}
	}
	return cols
}

// join is transformFromClauseItem for JOIN.
func (s *scope) join(x *ast.Join) (plan.FromItem, *nsItem, []*nsItem, error) {
	b := s.b
	side := func(it ast.FromItem, nullable bool) (plan.FromItem, *nsItem, []*nsItem, error) {
		if nullable {
			s.nullable++
			defer func() { s.nullable-- }()
		}
		return s.fromItem(it)
	}
	left, litem, lns, err := side(x.Left, x.Type == ast.JoinRight || x.Type == ast.JoinFull)
	if err != nil {
		return nil, nil, nil, err
	}
	leftOK := x.Type == ast.JoinInner || x.Type == ast.JoinLeft
	setLateral(lns, true, leftOK)
	saved := len(s.ns)
	s.ns = append(s.ns, lns...)
	right, ritem, rns, err := side(x.Right, x.Type == ast.JoinLeft || x.Type == ast.JoinFull)
	if err != nil {
		return nil, nil, nil, err
	}
	s.ns = s.ns[:saved:saved]
	if err := s.checkConflicts(lns, rns); err != nil {
		return nil, nil, nil, err
	}
	both := append(append([]*nsItem(nil), lns...), rns...)
	setLateral(both, false, true)
	j := &plan.JoinExpr{Type: plan.JoinType(x.Type), Left: left, Right: right}
	using := x.Using
	if x.Natural {
		using = s.commonNames(litem, ritem)
	}
	m, err := s.mergeColumns(x, litem, ritem, using)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(using) > 0 {
		j.Using = using
		if j.On, err = s.usingQual(m, ast.Name{Loc: x.Loc, Schema: x.Schema, Name: "="}); err != nil {
			return nil, nil, nil, err
		}
	} else if x.On != nil {
		outer := s.ns
		s.ns = both
		on, err := s.expr(x.On, kindJoinOn)
		s.ns = outer
		if err != nil {
			return nil, nil, nil, err
		}
		if j.On, err = b.toBoolean(on, "JOIN/ON"); err != nil {
			return nil, nil, nil, err
		}
	}
	return s.finishJoin(x, j, m, both, len(using))
}

// mergedJoin holds the columns of a join while it is bound.
type mergedJoin struct {
	names       []string
	exprs       []plan.Expr
	left, right []plan.Expr // the pairs of USING
}

func (s *scope) commonNames(l, r *nsItem) []string {
	var out []string
	for i := range l.ncols(s.q) {
		c := l.col(s.q, i)
		if c.name == "" {
			continue
		}
		for k := range r.ncols(s.q) {
			if r.col(s.q, k).name == c.name {
				out = append(out, c.name)
				break
			}
		}
	}
	return out
}

func (s *scope) usingColumn(it *nsItem, name, side string) (int, error) {
	at := -1
	for i := range it.ncols(s.q) {
		if it.col(s.q, i).name == name {
			if at >= 0 {
				return 0, sqlerr.New(sqlerr.AmbiguousColumn, "common column name \"%s\" appears more than once in %s table", name, side)
			}
			at = i
		}
	}
	if at < 0 {
		return 0, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" specified in USING clause does not exist in %s table", name, side)
	}
	return at, nil
}

// mergeColumns lists the columns of a join: merged ones, then the rest of the left side, then of the right.
func (s *scope) mergeColumns(x *ast.Join, l, r *nsItem, using []string) (*mergedJoin, error) {
	m := &mergedJoin{}
	lused, rused := map[int]bool{}, map[int]bool{}
	for i, name := range using {
		for _, other := range using[:i] {
			if other == name {
				return nil, sqlerr.New(sqlerr.DuplicateColumn, "column name \"%s\" appears more than once in USING clause", name)
			}
		}
		li, err := s.usingColumn(l, name, "left")
		if err != nil {
			return nil, err
		}
		ri, err := s.usingColumn(r, name, "right")
		if err != nil {
			return nil, err
		}
		lused[li], rused[ri] = true, true
		lv, rv := l.col(s.q, li).toVar(0, -1), r.col(s.q, ri).toVar(0, -1)
		e, err := s.mergeVar(x.Type, lv, rv)
		if err != nil {
			return nil, err
		}
		m.names, m.exprs = append(m.names, name), append(m.exprs, e)
		m.left, m.right = append(m.left, lv), append(m.right, rv)
	}
	for side, it := range [2]*nsItem{l, r} {
		for i := range it.ncols(s.q) {
			c := it.col(s.q, i)
			if c.name == "" || side == 0 && lused[i] || side == 1 && rused[i] {
				continue
			}
			m.names, m.exprs = append(m.names, c.name), append(m.exprs, c.toVar(0, -1))
		}
	}
	return m, nil
}

// mergeVar is buildMergedJoinVar.
func (s *scope) mergeVar(t ast.JoinType, l, r plan.Expr) (plan.Expr, error) {
	b := s.b
	common, err := b.commonType([]plan.Expr{l, r}, "JOIN/USING")
	if err != nil {
		return nil, err
	}
	mod := commonTypmod([]plan.Expr{l, r}, common)
	cast := func(e plan.Expr) (plan.Expr, error) {
		if e.T().Type != common {
			return b.coerce(e, common, mod, coerceImplicit, plan.FormImplicitCast, -1)
		}
		if e.T().Typmod != mod {
			return b.relabel(e, common, mod, plan.FormImplicitCast, -1), nil
		}
		return e, nil
	}
	if l, err = cast(l); err != nil {
		return nil, err
	}
	if r, err = cast(r); err != nil {
		return nil, err
	}
	switch t {
	case ast.JoinInner:
		if _, ok := l.(*plan.Var); !ok {
			if _, ok := r.(*plan.Var); ok {
				return r, nil
			}
		}
		return l, nil
	case ast.JoinLeft:
		return l, nil
	case ast.JoinRight:
		return r, nil
	}
	return &plan.Coalesce{Typed: plan.Typed{Type: common, Typmod: mod, Collation: b.commonCollation(l, r), Loc: -1}, Args: []plan.Expr{l, r}}, nil
}

func (s *scope) usingQual(m *mergedJoin, op ast.Name) (plan.Expr, error) {
	var quals []plan.Expr
	for i := range m.left {
		e, err := s.b.makeOp(s, op, m.left[i], m.right[i], int(op.Off))
		if err != nil {
			return nil, err
		}
		if e, err = s.b.toBoolean(e, "JOIN/USING"); err != nil {
			return nil, err
		}
		quals = append(quals, e)
	}
	return andExprs(quals), nil
}

// andExprs joins conditions; nil for none.
func andExprs(list []plan.Expr) plan.Expr {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return &plan.BoolExpr{Typed: plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: -1}, Kind: plan.And, Args: list}
}

// finishJoin adds the join's RTE and decides what is visible above it.
func (s *scope) finishJoin(x *ast.Join, j *plan.JoinExpr, m *mergedJoin, both []*nsItem, nusing int) (plan.FromItem, *nsItem, []*nsItem, error) {
	r := &plan.RTE{Kind: plan.RTEJoin, JoinVars: m.exprs, InFromCl: true}
	r.Cols = make([]plan.Column, len(m.exprs))
	for i, e := range m.exprs {
		r.Cols[i] = plan.Column{Name: m.names[i], Typed: *e.T()}
	}
	if err := s.applyAlias(r, x.Alias); err != nil {
		return nil, nil, nil, err
	}
	j.RTE = s.addRTE(r)
	it := &nsItem{rte: j.RTE, alias: r.Alias, relVis: x.Alias != nil, colVis: true, cols: make([]nsColumn, len(m.exprs))}
	for i, e := range m.exprs {
		c := nsColumn{name: r.Cols[i].Name, rte: j.RTE, attno: i + 1, typ: *e.T()}
		// Behind an alias only the join's own columns have a name, which the text of a view needs.
		if v, ok := e.(*plan.Var); ok && x.Alias == nil {
			c.rte, c.attno = v.RTE, v.Attno
		}
		it.cols[i] = c
	}
	ns := both
	if x.Alias != nil {
		ns = nil
	} else {
		for _, o := range ns {
			o.colVis = false
		}
	}
	if x.UsingAlias != nil && x.Alias == nil { // an alias of the whole join hides that of USING
		ua := &nsItem{rte: j.RTE, alias: x.UsingAlias.Name, relVis: true, cols: it.cols[:nusing:nusing]}
		if err := s.checkConflicts(ns, []*nsItem{ua}); err != nil {
			return nil, nil, nil, err
		}
		ns = append(ns, ua)
	}
	return j, it, append(ns, it), nil
}

// viewQuery binds a view's canonical text, once for a version of the catalog.
func (b *binder) viewQuery(rel *catalog.Relation) (*plan.Query, error) {
	if b.views >= maxViewDepth {
		return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "infinite recursion detected in rules for relation \"%s\"", rel.Name)
	}
	key, cacheable := b.storedKey(rel)
	if cacheable {
		if v, ok := viewCache.get(key); ok {
			b.relyOn(v.Deps)
			return v, nil
		}
	}
	if b.env.ParseQuery == nil {
		return nil, sqlerr.Unsupported("view \"%s\"", rel.Name)
	}
	st, err := b.env.ParseQuery(rel.ViewDef)
	if err != nil {
		return nil, err
	}
	env := *b.env
	env.Text = ""
	env.Path, env.Fold = []types.OID{11}, true
	sub, rec := b.subBinder(&env, nil)
	sub.views = b.views + 1
	q, err := sub.bindTop(st)
	if err != nil {
		return nil, sqlerr.From(err).WithWhere("view \"%s\"", rel.Name)
	}
	checkAs(q, rel.Owner, 0)
	q.Deps = rec.deps
	b.relyOn(q.Deps)
	if cacheable {
		viewCache.put(key, q)
	}
	return q, nil
}

// checkAs makes the relations of a view's query be read with its owner's rights.
func checkAs(q *plan.Query, owner types.OID, depth int) {
	if depth > maxWalkDepth {
		return
	}
	for _, r := range q.RTable {
		if r.Kind == plan.RTERelation && r.Security == 0 {
			r.Security = owner
		}
		if r.Kind != plan.RTERelation && r.Sub != nil {
			checkAs(r.Sub, owner, depth+1)
		}
	}
	for _, c := range q.CTEs {
		checkAs(c.Query, owner, depth+1)
	}
	queryExprs(q, func(e plan.Expr) {
		find(e, func(x plan.Expr) bool {
			if sl, ok := x.(*plan.SubLink); ok {
				checkAs(sl.Query, owner, depth+1)
			}
			return false
		})
	})
}
