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
	p.put("(")
	p.fromItem(q, j.Left)
	word := map[plan.JoinType]string{plan.JoinLeft: " LEFT JOIN ", plan.JoinRight: " RIGHT JOIN ", plan.JoinFull: " FULL JOIN "}[j.Type]
	if word == "" {
		if word = " JOIN "; j.On == nil && len(j.Using) == 0 {
			word = " CROSS JOIN "
		}
	}
	p.keyword(word, -indentStd, indentStd, indentJoin)
	p.fromItem(q, j.Right)
	switch {
	case len(j.Using) > 0:
		names := make([]string, len(j.Using))
		for i, n := range j.Using {
			names[i] = quote(n)
		}
		p.put(" USING (" + strings.Join(names, ", ") + ")")
	case j.On != nil:
		p.put(" ON (")
		p.expr(j.On)
		p.put(")")
	case j.Type != plan.JoinInner:
		p.put(" ON TRUE")
	}
	p.put(")")
	if j.RTE >= 0 && j.RTE < len(q.RTable) && q.RTable[j.RTE].HasAlias {
		r := q.RTable[j.RTE]
		p.put(" " + quote(p.top().names[j.RTE]) + columnList(r.Cols, nil))
	}
}

// rangeRef prints a table, subquery, function, VALUES list or WITH item with its alias.
func (p *printer) rangeRef(q *plan.Query, i int) {
	r, name := q.RTable[i], p.top().names[i]
	if r.Lateral {
		p.put("LATERAL ")
	}
	alias, cols := true, ""
	switch r.Kind {
	case plan.RTERelation:
		p.put(p.relation(r.Rel))
		alias = r.HasAlias && name != r.Rel.Name || name != r.Rel.Name
		if renamed(r.Rel, r.Cols) {
			alias = true
			cols = columnList(r.Cols, func(i int) bool { return i < len(r.Rel.Columns) && !r.Rel.Columns[i].Dropped })
		}
	case plan.RTESubquery:
		p.put("(")
		p.query(r.Sub, nil)
		p.put(")")
		if subRenamed(r) {
			cols = columnList(r.Cols, nil)
		}
	case plan.RTEFunction:
		cols = p.functions(r)
	case plan.RTEValues:
		p.put("( ")
		p.values(r.Values)
		p.put(")")
		cols = columnList(r.Cols, nil)
	case plan.RTECTE:
		p.put(quote(r.CTE.Name))
		alias = name != r.CTE.Name
		if cteRenamed(r) {
			alias, cols = true, columnList(r.Cols, nil)
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

// functions prints a function in FROM, or ROWS FROM, and returns its column list.
func (p *printer) functions(r *plan.RTE) (cols string) {
	one := func(e plan.Expr) { p.exprShow(e, true) }
	if len(r.Funcs) == 1 {
		one(r.Funcs[0])
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
	return columnList(r.Cols, nil)
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
