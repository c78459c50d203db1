package planner

import (
	"slices"

	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// SEARCH and CYCLE of a recursive WITH query are rewritten: both terms become subqueries over which the added columns are computed, and the
// recursive term's subquery passes those of the row that it continues on.

// recursionExtras is what SEARCH and CYCLE add to a WITH query.
type recursionExtras struct {
	s            *scope
	it           *withItem
	width        int       // columns of the query as written
	value, deflt plan.Expr // what CYCLE marks rows with
}

// searchCycle checks the clauses of a WITH query that is bound and rewrites it.
func (s *scope) searchCycle(it *withItem, q *plan.Query) error {
	x := it.extras
	if x.width = len(it.cte.Cols); !it.self {
		return s.b.errorAt(int(it.def.Off), sqlerr.SyntaxError, "WITH query is not recursive")
	}
	if q.SetOp == nil || len(q.SetOp.Args) != 2 || q.SetOp.Args[0].RTE < 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "with a SEARCH or CYCLE clause, the left side of the UNION must be a SELECT")
	}
	if q.SetOp.Args[1].RTE < 0 {
		return sqlerr.New(sqlerr.SyntaxError, "with a SEARCH or CYCLE clause, the right side of the UNION must be a SELECT")
	}
	if err := x.check(); err != nil {
		return err
	}
	left, right := q.RTable[q.SetOp.Args[0].RTE], q.RTable[q.SetOp.Args[1].RTE]
	self := slices.IndexFunc(right.Sub.RTable, func(r *plan.RTE) bool { return r.Kind == plan.RTECTE && r.CTE == it.cte })
	if self < 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"%s\" must be at the top level of its right-hand SELECT", it.cte.Name)
	}
	first, err := x.first()
	if err != nil {
		return err
	}
	next, err := x.next()
	if err != nil {
		return err
	}
	added := x.columns()
	x.wrap(q, q.SetOp.Args[0], left, first)
	x.wrap(q, q.SetOp.Args[1], right, next)
	if err := x.continued(right.Sub.RTable[0], self, added); err != nil {
		return err
	}
	q.SetOp.Cols = append(q.SetOp.Cols[:x.width:x.width], typedOf(added)...)
	for i, c := range added {
		q.Targets = append(q.Targets, &plan.Target{Name: c.Name, Expr: &plan.Var{Typed: c.Typed, RTE: q.SetOp.Args[0].RTE, Attno: x.width + i + 1}})
	}
	it.cte.Cols = append(it.cte.Cols[:x.width:x.width], added...)
	return nil
}

func typedOf(cols []plan.Column) []plan.Typed {
	out := make([]plan.Typed, len(cols))
	for i, c := range cols {
		out[i] = c.Typed
	}
	return out
}

// check is what analyzeCTE demands of the names, and the types of CYCLE's marks.
func (x *recursionExtras) check() error {
	b, d := x.s.b, x.it.def
	used := func(name string) bool {
		return slices.ContainsFunc(x.it.cte.Cols, func(c plan.Column) bool { return c.Name == name })
	}
	fail := func(loc int32, format string, args ...any) error {
		return b.errorAt(int(loc), sqlerr.SyntaxError, format, args...)
	}
	list := func(names []string, what string, loc int32) error {
		for i, n := range names {
			if !used(n) {
				return fail(loc, "%s column \"%s\" not in WITH query column list", what, n)
			}
			if slices.Contains(names[:i], n) {
				return b.errorAt(int(loc), sqlerr.DuplicateColumn, "%s column \"%s\" specified more than once", what, n)
			}
		}
		return nil
	}
	if c := d.Search; c != nil {
		if err := list(c.Columns, "search", c.Off); err != nil {
			return err
		}
		if used(c.Sequence) {
			return fail(c.Off, "search sequence column name \"%s\" already used in WITH query column list", c.Sequence)
		}
	}
	if c := d.Cycle; c != nil {
		if err := list(c.Columns, "cycle", c.Off); err != nil {
			return err
		}
		if used(c.Mark) {
			return fail(c.Off, "cycle mark column name \"%s\" already used in WITH query column list", c.Mark)
		}
		if used(c.Path) {
			return fail(c.Off, "cycle path column name \"%s\" already used in WITH query column list", c.Path)
		}
		if c.Mark == c.Path {
			return fail(c.Off, "cycle mark column name and cycle path column name are the same")
		}
		if d.Search != nil && d.Search.Sequence == c.Mark {
			return fail(d.Search.Off, "search sequence column name and cycle mark column name are the same")
		}
		if d.Search != nil && d.Search.Sequence == c.Path {
			return fail(d.Search.Off, "search sequence column name and cycle path column name are the same")
		}
	}
	return nil
}

// marks binds the values that say whether a row closes a cycle.
func (x *recursionExtras) marks(c *ast.Cycle) error {
	s, b := x.s, x.s.b
	var err error
	if x.value, err = s.expr(c.Value, kindTarget); err != nil {
		return err
	}
	if x.deflt, err = s.expr(c.Default, kindTarget); err != nil {
		return err
	}
	t, err := b.commonType([]plan.Expr{x.value, x.deflt}, "CYCLE")
	if err != nil {
		return err
	}
	if x.value, err = b.toCommon(x.value, t, "CYCLE/SET/TO"); err != nil {
		return err
	}
	if x.deflt, err = b.toCommon(x.deflt, t, "CYCLE/SET/DEFAULT"); err != nil {
		return err
	}
	if _, _, _, err := b.sortOps(t, false, true, -1); err != nil {
		return sqlerr.New(sqlerr.UndefinedFunction, "could not identify an equality operator for type %s", b.typeName(t))
	}
	return nil
}

// columns are those that the clauses add.
func (x *recursionExtras) columns() []plan.Column {
	var out []plan.Column
	records := plan.Typed{Type: x.s.b.arrayType(types.RecordOID), Typmod: -1, Loc: -1}
	if c := x.it.def.Search; c != nil {
		t := records
		if c.Breadth {
			t.Type = types.RecordOID
		}
		out = append(out, plan.Column{Name: c.Sequence, Typed: t})
	}
	if c := x.it.def.Cycle; c != nil {
		t := *x.value.T()
		t.Loc = -1
		if t.Typmod != x.deflt.T().Typmod {
			t.Typmod = -1
		}
		out = append(out, plan.Column{Name: c.Mark, Typed: t}, plan.Column{Name: c.Path, Typed: records})
	}
	return out
}

// column is column i of the subquery that a term has become.
func (x *recursionExtras) column(i int, t plan.Typed) plan.Expr {
	return &plan.Var{Typed: t, Attno: i + 1}
}

// row is ROW(names), in the subquery's columns.
func (x *recursionExtras) row(names []string) *plan.RowExpr {
	r := &plan.RowExpr{Typed: plan.Typed{Type: types.RecordOID, Typmod: -1, Loc: -1}}
	for _, n := range names {
		for i, c := range x.it.cte.Cols[:x.width] {
			if c.Name == n {
				r.Args = append(r.Args, x.column(i, c.Typed))
				break
			}
		}
	}
	return r
}

func (x *recursionExtras) array(e plan.Expr) plan.Expr {
	return &plan.ArrayExpr{Typed: plan.Typed{Type: x.s.b.arrayType(types.RecordOID), Typmod: -1, Loc: -1}, Elem: types.RecordOID, Args: []plan.Expr{e}}
}

// first are the added columns of the non-recursive term.
func (x *recursionExtras) first() ([]plan.Expr, error) {
	var out []plan.Expr
	if c := x.it.def.Search; c != nil {
		r := x.row(c.Columns)
		if c.Breadth {
			r.Args = append([]plan.Expr{x.s.b.intConst(0, types.Int8OID)}, r.Args...)
			out = append(out, r)
		} else {
			out = append(out, x.array(r))
		}
	}
	if c := x.it.def.Cycle; c != nil {
		out = append(out, x.deflt, x.array(x.row(c.Columns)))
	}
	return out, nil
}

// next are the added columns of the recursive term, from those of the row before, which follow the subquery's own columns.
func (x *recursionExtras) next() ([]plan.Expr, error) {
	var out []plan.Expr
	b, added := x.s.b, x.columns()
	concat := func(list, row plan.Expr) (plan.Expr, error) {
		return b.makeOp(x.s, ast.Name{Schema: "pg_catalog", Name: "||"}, list, x.array(row), -1)
	}
	if c := x.it.def.Search; c != nil {
		prev := x.column(x.width, added[0].Typed)
		r := x.row(c.Columns)
		if c.Breadth {
			depth := &plan.FieldSelect{Typed: plan.Typed{Type: types.Int8OID, Typmod: -1, Loc: -1}, Arg: prev, Field: 1, Name: "*DEPTH*"}
			one, err := b.makeOp(x.s, ast.Name{Schema: "pg_catalog", Name: "+"}, depth, b.intConst(1, types.Int8OID), -1)
			if err != nil {
				return nil, err
			}
			r.Args = append([]plan.Expr{one}, r.Args...)
			out = append(out, r)
		} else {
			list, err := concat(prev, r)
			if err != nil {
				return nil, err
			}
			out = append(out, list)
		}
	}
	if c := x.it.def.Cycle; c != nil {
		at := x.width + len(out)
		prev := x.column(at+1, added[len(added)-1].Typed)
		seen, err := b.makeScalarArrayOp(ast.Name{Schema: "pg_catalog", Name: "="}, true, x.row(c.Columns), prev, -1)
		if err != nil {
			return nil, err
		}
		mark := &plan.Case{Typed: added[len(added)-2].Typed, Whens: []plan.CaseWhen{{Cond: seen, Result: x.value}}, Default: x.deflt}
		list, err := concat(prev, x.row(c.Columns))
		if err != nil {
			return nil, err
		}
		out = append(out, mark, list)
	}
	return out, nil
}

// wrap makes a term a query over its rows that has the added columns too.
func (x *recursionExtras) wrap(q *plan.Query, leaf *plan.SetOp, rte *plan.RTE, extra []plan.Expr) {
	sub := shiftQuery(rte.Sub, 1)
	shiftCTERefs(sub, 0, 1)
	outer := overQuery(sub, outputColumns(sub))
	exprs := leaf.Exprs
	for i, c := range x.it.cte.Cols[:x.width] {
		var e plan.Expr = &plan.Var{Typed: leaf.Cols[i], Attno: i + 1}
		if exprs != nil {
			e = onRTE(exprs[i], leaf.RTE, 0)
		}
		outer.Targets = append(outer.Targets, &plan.Target{Name: c.Name, Expr: e})
	}
	for i, c := range x.columns() {
		outer.Targets = append(outer.Targets, &plan.Target{Name: c.Name, Expr: extra[i]})
	}
	r := *rte
	r.Sub, r.Cols = outer, outputColumns(outer)
	*rte = r
	leaf.Exprs = nil
	leaf.Cols = typedOf(r.Cols)
}

// continued has the recursive term's own query pass on the added columns of the row that it continues, unless that closes a cycle.
func (x *recursionExtras) continued(term *plan.RTE, self int, added []plan.Column) error {
	sub := term.Sub
	r := sub.RTable[self]
	r.Cols = append(r.Cols[:x.width:x.width], added...)
	at := func(i int) plan.Expr {
		return &plan.Var{Typed: added[i].Typed, RTE: self, Attno: x.width + i + 1}
	}
	for i, c := range added {
		sub.Targets = append(sub.Targets, &plan.Target{Name: c.Name, Expr: at(i)})
	}
	term.Cols = outputColumns(sub)
	if x.it.def.Cycle != nil {
		open, err := x.s.b.makeOp(x.s, ast.Name{Schema: "pg_catalog", Name: "<>"}, at(len(added)-2), x.value, -1)
		if err != nil {
			return err
		}
		sub.Where = andExprs(append(splitAnd(nil, sub.Where), open))
	}
	return nil
}
