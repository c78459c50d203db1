package planner

import (
	"slices"

	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// withItem is one query of WITH while its level is bound.
type withItem struct {
	def   *ast.CTE
	cte   *plan.CTE
	state uint8 // 0 not begun, 1 being bound, 2 bound
	self  bool  // refers to itself
	known bool  // columns are known (the non-recursive term is bound)
	refs  int   // references to itself
	bad   string
	locs  []int // of the non-recursive term's columns
	// extras are the columns that SEARCH and CYCLE add, nil for none.
	extras *recursionExtras
}

// bindWith is transformWithClause. Items of WITH RECURSIVE are bound when first referred to, the others in order.
func (s *scope) bindWith(w *ast.With) error {
	s.recursive = w.Recursive
	s.q.Recursive = w.Recursive
	for i, c := range w.CTEs {
		for _, o := range w.CTEs[:i] {
			if o.Name == c.Name {
				return s.b.errorAt(int(c.Off), sqlerr.DuplicateAlias, "WITH query name \"%s\" specified more than once", c.Name)
			}
		}
		if _, ok := c.Query.(*ast.Select); !ok && s.parent != nil {
			return s.b.errorAt(int(c.Off), sqlerr.FeatureNotSupported, "WITH clause containing a data-modifying statement must be at the top level")
		}
		cte := &plan.CTE{Name: c.Name}
		switch c.Materialize {
		case ast.MaterializeAlways:
			cte.Materialized = 'm'
		case ast.MaterializeNever:
			cte.Materialized = 'n'
		}
		s.with = append(s.with, &withItem{def: c, cte: cte})
	}
	for _, it := range s.with {
		if err := s.bindCTE(it); err != nil {
			return err
		}
	}
	return nil
}

// bindCTE binds one WITH query in the scope that has the clause.
func (s *scope) bindCTE(it *withItem) error {
	if it.state == 2 {
		return nil
	}
	if it.def.Search != nil || it.def.Cycle != nil {
		it.extras = &recursionExtras{s: s, it: it}
		if c := it.def.Cycle; c != nil {
			if err := it.extras.marks(c); err != nil {
				return err
			}
		}
	}
	it.state = 1
	child := s.newChild()
	child.resolveUnk = true
	child.cteBody = it
	if s.recursive {
		if sel, ok := it.def.Query.(*ast.Select); ok {
			child.recursiveOf = it
			if so, ok := sel.Body.(*ast.SetOp); ok && so.Terms[len(so.Terms)-1].Kind == ast.Union {
				it.bad = "recursive reference to query \"%s\" must not appear within its non-recursive term"
			}
		}
	}
	savedNS := s.ns
	s.ns = nil
	q, err := child.bindStmt(it.def.Query)
	s.ns = savedNS
	if err != nil {
		return err
	}
	if it.self {
		if err := s.plainRecursion(it.def.Query); err != nil {
			return err
		}
	}
	if q.Command != plan.CmdSelect && len(q.Returning) == 0 {
		q.Returning = nil
	}
	it.cte.Query, it.cte.Recursive = q, it.self
	if !it.known {
		if err := s.cteColumns(it, outputColumns(q)); err != nil {
			return err
		}
	} else if err := s.checkRecursiveTypes(it, q); err != nil {
		return err
	}
	if it.extras != nil {
		if err := s.searchCycle(it, q); err != nil {
			return err
		}
	}
	it.state = 2
	s.q.CTEs = append(s.q.CTEs, it.cte)
	return nil
}

// plainRecursion refuses what a recursive query cannot have as a whole.
func (s *scope) plainRecursion(st ast.Stmt) error {
	sel, ok := st.(*ast.Select)
	if !ok {
		return nil
	}
	refuse := func(at ast.Node, what string) error {
		return s.b.errorAt(int(at.Pos()), sqlerr.FeatureNotSupported, "%s in a recursive query is not implemented", what)
	}
	switch {
	case len(sel.OrderBy) > 0:
		return refuse(sel.OrderBy[0].Expr, "ORDER BY")
	case sel.Offset != nil:
		return refuse(sel.Offset, "OFFSET")
	case sel.Limit != nil:
		return refuse(sel.Limit, "LIMIT")
	case len(sel.Locking) > 0:
		return refuse(sel.Locking[0], "FOR UPDATE/SHARE")
	}
	return nil
}

// cteColumns names a WITH query's columns: analyzeCTETargetList.
func (s *scope) cteColumns(it *withItem, cols []plan.Column) error {
	if len(it.def.Columns) > len(cols) {
		return s.b.errorAt(int(it.def.Off), sqlerr.InvalidColumnReference, "WITH query \"%s\" has %d columns available but %d columns specified", it.cte.Name, len(cols), len(it.def.Columns))
	}
	for i, n := range it.def.Columns {
		cols[i].Name = n
	}
	it.cte.Cols = cols
	return nil
}

// checkRecursiveTypes requires that the whole query has the types of its non-recursive term.
func (s *scope) checkRecursiveTypes(it *withItem, q *plan.Query) error {
	n := 0
	for _, t := range q.Targets {
		if t.Junk {
			continue
		}
		c := it.cte.Cols[n]
		n++
		if ty := t.Expr.T(); ty.Type != c.Type || ty.Typmod != c.Typmod {
			hint := "Cast the output of the non-recursive term to the correct type."
			return s.b.errorAt(it.locs[n-1], sqlerr.DatatypeMismatch, "recursive query \"%s\" column %d has type %s in non-recursive term but type %s overall",
				it.cte.Name, n, s.b.typeNameMod(c.Type, c.Typmod), s.b.typeNameMod(ty.Type, ty.Typmod)).WithHint("%s", hint)
		}
	}
	return nil
}

// futureCTE says whether a name is that of a WITH item which is not visible yet.
func (s *scope) futureCTE(name string) bool {
	for p := s; p != nil; p = p.parent {
		for _, it := range p.with {
			if it.def.Name == name && it.state != 2 {
				return true
			}
		}
	}
	return false
}

// cteRef resolves a name to a WITH item; nil when there is none.
func (s *scope) cteRef(x *ast.TableRef) (*plan.RTE, error) {
	levels := 0
	for p := s; p != nil; p = p.parent {
		for _, it := range p.with {
			if it.def.Name != x.Name.Name {
				continue
			}
			if it.state != 2 && !p.recursive {
				continue
			}
			return s.useCTE(p, it, levels, x)
		}
		levels++
	}
	return nil, nil
}

func (s *scope) useCTE(p *scope, it *withItem, levels int, x *ast.TableRef) (*plan.RTE, error) {
	b := s.b
	loc := int(x.Off)
	switch it.state {
	case 0:
		saved := *p
		if err := p.bindCTE(it); err != nil {
			return nil, err
		}
		p.ns = saved.ns
	case 1:
		if s.besideCTE(p, it) {
			return nil, b.errorAt(int(it.def.Off), sqlerr.FeatureNotSupported, "mutual recursion between WITH items is not implemented")
		}
		if err := s.checkSelfRef(it, loc); err != nil {
			return nil, err
		}
		it.self = true
	}
	q := it.cte.Query
	if q != nil && q.Command != plan.CmdSelect && len(q.Returning) == 0 {
		return nil, b.errorAt(loc, sqlerr.FeatureNotSupported, "WITH query \"%s\" does not have a RETURNING clause", it.cte.Name)
	}
	it.cte.Refs++
	r := &plan.RTE{Kind: plan.RTECTE, Alias: it.cte.Name, CTE: it.cte, CTELevelsUp: levels, Cols: append([]plan.Column(nil), it.cte.Cols...), InFromCl: true}
	if it.extras != nil && it.state == 1 {
		added := it.extras.columns()
		r.Cols, r.Unstarred = append(r.Cols, added...), len(added)
	}
	return r, s.applyAlias(r, x.Alias)
}

// besideCTE says whether another item of the same WITH, in level, is being bound inside of it: they refer to each other.
func (s *scope) besideCTE(level *scope, it *withItem) bool {
	for p := s; p != nil && p.cteBody != it; p = p.parent {
		if p.cteBody != nil && slices.Contains(level.with, p.cteBody) {
			return true
		}
	}
	return false
}

// checkSelfRef enforces the well-formedness of recursion: checkWellFormedRecursion.
func (s *scope) checkSelfRef(it *withItem, loc int) error {
	b, name := s.b, it.cte.Name
	fail := func(format string) error {
		return b.errorAt(loc, sqlerr.InvalidRecursion, format, name)
	}
	for p := s; p != nil && p.cteBody != it; p = p.parent {
		if p.parent != nil && p.inSubLink || p.cteBody != nil && p.parent.recursiveOf == it {
			return fail("recursive reference to query \"%s\" must not appear within a subquery")
		}
	}
	for p := s; p != nil && it.known && (p == s || p.cteBody == nil || p.cteBody != it); p = p.parent {
		if p.nullable > 0 && p.cteBody != it {
			return fail("recursive reference to query \"%s\" must not appear within an outer join")
		}
	}
	if !it.known {
		if it.bad != "" {
			return fail(it.bad)
		}
		return b.errorAt(int(it.def.Off), sqlerr.InvalidRecursion, "recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] recursive-term", name)
	}
	if it.self && it.refs > 0 {
		return fail("recursive reference to query \"%s\" must not appear more than once")
	}
	it.refs++
	return nil
}

// selfReference finds the WITH item being bound that this level refers to.
func (s *scope) selfReference() bool {
	for _, r := range s.q.RTable {
		if r.Kind != plan.RTECTE {
			continue
		}
		for p := s; p != nil; p = p.parent {
			if p.cteBody != nil && p.cteBody.cte == r.CTE && p.cteBody.state == 1 {
				return true
			}
		}
	}
	return false
}
