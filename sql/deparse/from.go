package deparse

import (
	"strings"

	"herd/planner/plan"
)

// from prints FROM.
func (p *printer) from(q *plan.Query) {
	n := 0
	for _, it := range q.From {
		if p.skipItem(q, it) {
			continue
		}
		if n++; n == 1 {
			p.keyword(" FROM ", -indentStd, indentStd, 2)
			p.fromItem(q, it)
			continue
		}
		p.put(", ")
		text := p.part(func() { p.fromItem(q, it) })
		if strings.HasPrefix(text, "\n") {
			p.trimBlanks()
		} else {
			p.keyword("", -indentStd, indentStd, indentVar)
		}
		p.put(text)
	}
}

// skipItem leaves out the entry of a query without FROM.
func (p *printer) skipItem(q *plan.Query, it plan.FromItem) bool {
	r, ok := it.(plan.RangeRef)
	return ok && q.RTable[r.RTE].Kind == plan.RTEResult
}

func (p *printer) fromItem(q *plan.Query, it plan.FromItem) {
	if !p.enter() {
		return
	}
	defer p.leave()
	switch x := it.(type) {
	case plan.RangeRef:
		p.rangeRef(q, x.RTE)
	case *plan.JoinExpr:
		p.join(q, x)
	default:
		p.unsupported("an entry of FROM")
	}
}

func (p *printer) join(q *plan.Query, j *plan.JoinExpr) {
	hasAlias := j.RTE >= 0 && j.RTE < len(q.RTable) && q.RTable[j.RTE].HasAlias
	if hasAlias || !p.env.Pretty {
		p.put("(")
	}
	p.fromItem(q, j.Left)
	word := map[plan.JoinType]string{plan.JoinLeft: " LEFT JOIN ", plan.JoinRight: " RIGHT JOIN ", plan.JoinFull: " FULL JOIN "}[j.Type]
	if word == "" {
		if word = " JOIN "; j.On == nil && len(j.Using) == 0 {
			word = " CROSS JOIN "
		}
	}
	p.keyword(word, -indentStd, indentStd, indentJoin)
	_, nested := j.Right.(*plan.JoinExpr)
	nested = nested && p.env.Pretty && !aliased(q, j.Right)
	if nested {
		p.put("(")
	}
	p.fromItem(q, j.Right)
	if nested {
		p.put(")")
	}
	switch {
	case len(j.Using) > 0 && p.usingHolds(j):
		names := make([]string, len(j.Using))
		for i, n := range j.Using {
			names[i] = quote(n)
		}
		p.put(" USING (" + strings.Join(names, ", ") + ")")
	case j.On != nil:
		p.put(" ON ")
		p.open()
		p.expr(j.On)
		p.close()
	case j.Type != plan.JoinInner:
		p.put(" ON TRUE")
	}
	if hasAlias || !p.env.Pretty {
		p.put(")")
	}
	if hasAlias {
		p.put(" " + quote(p.top().names[j.RTE]))
		if p.joinRenamed(q, j, p.top().cols[j.RTE]) {
			p.put(columnList(p.top().cols[j.RTE], nil))
		}
	}
}

// joinRenamed says whether a join's alias gives its columns other names. Merged columns come first and are called as USING says.
func (p *printer) joinRenamed(q *plan.Query, j *plan.JoinExpr, cols []string) bool {
	for i, e := range q.RTable[j.RTE].JoinVars {
		name := ""
		if v, ok := e.(*plan.Var); ok {
			name = p.varName(v)
		} else if i < len(j.Using) {
			name = j.Using[i]
		}
		if i < len(cols) && name != cols[i] {
			return true
		}
	}
	return false
}

// aliased says whether an entry of FROM is a join with an alias, which prints in brackets.
func aliased(q *plan.Query, it plan.FromItem) bool {
	j, ok := it.(*plan.JoinExpr)
	return ok && j.RTE >= 0 && j.RTE < len(q.RTable) && q.RTable[j.RTE].HasAlias
}

// usingHolds says whether the joined columns are still called what USING says.
func (p *printer) usingHolds(j *plan.JoinExpr) bool {
	names := map[string]bool{}
	for _, n := range j.Using {
		names[n] = true
	}
	return p.usingVars(j.On, names)
}

// usingVars looks at the columns that a USING condition compares.
func (p *printer) usingVars(e plan.Expr, names map[string]bool) bool {
	switch x := e.(type) {
	case *plan.Var:
		return names[p.varName(x)] || p.varName(x) == "?column?"
	case *plan.BoolExpr:
		for _, a := range x.Args {
			if !p.usingVars(a, names) {
				return false
			}
		}
	case *plan.FuncCall:
		for _, a := range x.Args {
			if !p.usingVars(a, names) {
				return false
			}
		}
	case *plan.Relabel:
		return p.usingVars(x.Arg, names)
	}
	return true
}

// rangeRef prints a table, subquery, function, VALUES list or WITH item with its alias.
func (p *printer) rangeRef(q *plan.Query, i int) {
	r, name := q.RTable[i], p.top().names[i]
	if r.Lateral && r.Kind != plan.RTEFunction {
		p.put("LATERAL ")
	}
	alias, cols := true, ""
	switch r.Kind {
	case plan.RTERelation:
		now := p.current(r.Rel)
		p.put(p.relation(now))
		alias = name != now.Name
		if renamed(now, p.top().cols[i]) {
			alias = true
			cols = columnList(p.top().cols[i], func(i int) bool { return i < len(now.Columns) && !now.Columns[i].Dropped })
		}
	case plan.RTESubquery:
		p.put("(")
		p.query(r.Sub, nil, true)
		p.put(")")
		if r.HasColumns || subRenamed(r) {
			cols = columnList(p.top().cols[i], nil)
		}
	case plan.RTEFunction:
		// A function is shown as LATERAL only where it refers to what stands before it.
		p.sawVar = false
		text := p.part(func() { cols = p.functions(r, p.top().cols[i]) })
		if p.sawVar {
			p.put("LATERAL ")
		}
		p.put(text)
	case plan.RTEValues:
		p.put("( ")
		p.values(r.Values)
		p.put(")")
		cols = columnList(p.top().cols[i], nil)
	case plan.RTECTE:
		p.put(quote(r.CTE.Name))
		alias = name != r.CTE.Name
		if r.HasColumns || cteRenamed(r) {
			alias, cols = true, columnList(p.top().cols[i], nil)
		}
	default:
		p.unsupported("an entry of FROM")
	}
	if alias && name != "" {
		p.put(" " + quote(name))
	}
	p.put(cols)
}

// subRenamed says whether a subquery's columns have other names outside.
func subRenamed(r *plan.RTE) bool {
	k := 0
	list := r.Sub.Targets
	for _, t := range list {
		if t.Junk {
			continue
		}
		if k < len(r.Cols) && r.Cols[k].Name != t.Name {
			return true
		}
		k++
	}
	return false
}

func cteRenamed(r *plan.RTE) bool {
	for i, c := range r.Cols {
		if i < len(r.CTE.Cols) && r.CTE.Cols[i].Name != c.Name {
			return true
		}
	}
	return false
}

// unnested returns the arrays of several functions in FROM that are all unnest of one, which print as one, nil for others.
func unnested(list []plan.Expr) (arrays []plan.Expr) {
	const unnest = 2331
	for _, e := range list {
		f, ok := e.(*plan.FuncCall)
		if !ok || f.Func != unnest || len(f.Args) != 1 {
			return nil
		}
		arrays = append(arrays, f.Args[0])
	}
	return arrays
}

// functions prints a function in FROM, or ROWS FROM, and returns its column list.
func (p *printer) functions(r *plan.RTE, names []string) (cols string) {
	one := func(e plan.Expr) { p.exprShow(e, true) }
	if len(r.Funcs) == 1 {
		one(r.Funcs[0])
	} else if args := unnested(r.Funcs); args != nil {
		p.put("UNNEST(")
		p.list(args, true)
		p.put(")")
	} else {
		p.put("ROWS FROM(")
		for i, f := range r.Funcs {
			if i > 0 {
				p.put(", ")
			}
			one(f)
		}
		p.put(")")
	}
	if r.Ordinality {
		p.put(" WITH ORDINALITY")
	}
	if len(r.Funcs) == 1 && p.needsTypes(r) {
		return p.typedColumns(r)
	}
	return columnList(names, nil)
}

// needsTypes says whether the function returns a bare record, whose columns the query has to declare.
func (p *printer) needsTypes(r *plan.RTE) bool {
	f, ok := r.Funcs[0].(*plan.FuncCall)
	if !ok {
		return false
	}
	proc := p.proc(f.Func)
	return f.Type == 2249 && len(proc.ArgModes) == 0
}

func (p *printer) typedColumns(r *plan.RTE) string {
	var out []string
	for _, c := range r.Cols {
		s := quote(c.Name) + " " + p.typeName(c.Type, c.Typmod)
		if c.Collation != 0 && c.Collation != p.typeCollation(c.Type) {
			s += " COLLATE " + p.collation(c.Collation)
		}
		out = append(out, s)
	}
	return "(" + strings.Join(out, ", ") + ")"
}
