package deparse

import (
	"fmt"
	"strings"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
)

// level is one query of those being printed.
type level struct {
	q       *plan.Query
	names   []string   // of its range table entries; "" where a name is never needed
	cols    [][]string // names of their columns, by attno-1
	visible bool       // see query
}

func (p *printer) top() *level {
	if len(p.levels) == 0 {
		return nil
	}
	return p.levels[len(p.levels)-1]
}

// query prints a query; names are its output columns' when not nil. visible says that somebody sees the names of its columns,
// so that they are always shown.
func (p *printer) query(q *plan.Query, names []string, visible bool) {
	if !p.enter() {
		return
	}
	defer p.leave()
	if q.Command != plan.CmdSelect {
		p.unsupported("a data-modifying query")
		return
	}
	l := &level{q: q, visible: visible}
	l.names = p.rangeNames(q)
	for _, r := range q.RTable {
		l.cols = append(l.cols, p.columnNames(r))
	}
	p.levels = append(p.levels, l)
	indent := p.indent
	p.with(q)
	switch {
	case q.SetOp != nil:
		p.setOp(q, q.SetOp, names, visible)
	default:
		p.basic(q, names)
	}
	p.tail(q)
	p.indent = indent
	p.levels = p.levels[:len(p.levels)-1]
}

// rangeNames names the entries of a range table, apart from all names of the queries around.
func (p *printer) rangeNames(q *plan.Query) []string {
	used := map[string]bool{}
	for _, l := range p.levels {
		for _, n := range l.names {
			used[n] = true
		}
	}
	names := make([]string, len(q.RTable))
	for i, r := range q.RTable {
		name := r.Alias
		if r.Kind == plan.RTERelation && !r.HasAlias {
			name = p.current(r.Rel).Name
		}
		if r.Kind == plan.RTEJoin && !r.HasAlias || r.Kind == plan.RTEResult || name == "" {
			continue
		}
		base := name
		for k := 1; used[name]; k++ {
			name = fmt.Sprintf("%s_%d", base, k)
		}
		used[name] = true
		names[i] = name
	}
	return names
}

// columnNames names the columns of a range table entry: those of a table as they are called now, unless the query renames them.
func (p *printer) columnNames(r *plan.RTE) []string {
	names := make([]string, len(r.Cols))
	for i := range r.Cols {
		names[i] = r.Cols[i].Name
	}
	if r.Kind != plan.RTERelation {
		return names
	}
	now := p.current(r.Rel)
	for i := range names {
		if i < len(r.Rel.Columns) && i < len(now.Columns) && r.Rel.Columns[i].Name == names[i] {
			names[i] = now.Columns[i].Name
		}
	}
	return names
}

func (p *printer) with(q *plan.Query) {
	if len(q.CTEs) == 0 {
		return
	}
	p.indent += indentStd
	p.put(" WITH ")
	if q.Recursive {
		p.put("RECURSIVE ")
	}
	for i, c := range q.CTEs {
		if i > 0 {
			p.put(", ")
		}
		p.put(quote(c.Name))
		if cols := changedNames(c); cols != "" {
			p.put("(" + cols + ")")
		}
		p.put(" AS ")
		switch c.Materialized {
		case 'm':
			p.put("MATERIALIZED ")
		case 'n':
			p.put("NOT MATERIALIZED ")
		}
		p.put("(")
		p.keyword("", 0, 0, 0)
		p.query(c.Query, nil, true)
		p.keyword("", 0, 0, 0)
		p.put(")")
	}
	p.indent -= indentStd
	p.keyword("", 0, 0, 0)
}

// changedNames lists a WITH item's columns when they are not its query's.
func changedNames(c *plan.CTE) string {
	out, changed, i := make([]string, 0, len(c.Cols)), false, 0
	for _, t := range c.Query.Targets {
		if t.Junk {
			continue
		}
		if i < len(c.Cols) {
			changed = changed || c.Cols[i].Name != t.Name
			out = append(out, quote(c.Cols[i].Name))
		}
		i++
	}
	if !changed {
		return ""
	}
	return strings.Join(out, ", ")
}

// basic prints SELECT up to WINDOW, or VALUES.
func (p *printer) basic(q *plan.Query, names []string) {
	p.indent += indentStd
	p.put(" ")
	if len(q.Values) > 0 {
		p.values(q.Values)
		return
	}
	if r := bareValues(q); r != nil {
		p.values(r.Values)
		return
	}
	p.put("SELECT")
	if q.Distinct || len(q.DistinctOn) > 0 {
		p.put(" DISTINCT")
		if len(q.DistinctOn) > 0 {
			p.put(" ON (")
			for i, e := range q.DistinctOn {
				if i > 0 {
					p.put(", ")
				}
				p.sortExpr(e)
			}
			p.put(")")
		}
	}
	p.targets(q, names)
	p.from(q)
	if q.Where != nil {
		p.keyword(" WHERE ", -indentStd, indentStd, 1)
		p.expr(q.Where)
	}
	p.groupBy(q)
	if q.Having != nil {
		p.keyword(" HAVING ", -indentStd, indentStd, 0)
		p.expr(q.Having)
	}
	sep := " WINDOW "
	for _, w := range q.Windows {
		if w.Name == "" {
			continue
		}
		if sep == ", " {
			p.put(sep)
		} else {
			p.keyword(sep, -indentStd, indentStd, 1)
		}
		p.put(quote(w.Name) + " AS ")
		p.windowSpec(w)
		sep = ", "
	}
}

// bareValues recognises a query that is VALUES alone: one such entry, whose columns are all that is selected.
func bareValues(q *plan.Query) *plan.RTE {
	if len(q.RTable) != 1 || q.RTable[0].Kind != plan.RTEValues || q.RTable[0].Alias != "*VALUES*" || q.RTable[0].HasAlias || q.Where != nil {
		return nil
	}
	return q.RTable[0]
}

func (p *printer) values(rows [][]plan.Expr) {
	p.put("VALUES ")
	for i, row := range rows {
		if i > 0 {
			p.put(", ")
		}
		p.put("(")
		for k, e := range row {
			if k > 0 {
				p.put(",")
			}
			p.expr(e)
		}
		p.put(")")
	}
}

// targets prints the select list, an item a line.
func (p *printer) targets(q *plan.Query, names []string) {
	sep, n := " ", 0
	lastMulti := false
	for _, t := range q.Targets {
		if t.Junk {
			continue
		}
		p.put(sep)
		sep = ", "
		name := t.Name
		if n < len(names) {
			name = names[n]
		}
		n++
		text := p.part(func() { p.target(t, name) })
		multi := strings.Contains(text, "\n")
		if !strings.HasPrefix(text, "\n") && n > 1 || n > 1 && lastMulti {
			if !strings.HasPrefix(text, "\n") {
				p.keyword("", -indentStd, indentStd, indentVar)
			}
		}
		if strings.HasPrefix(text, "\n") {
			p.trimBlanks()
		}
		p.put(text)
		lastMulti = multi
	}
}

func (p *printer) trimBlanks() {
	s := strings.TrimRight(p.buf.String(), " ")
	p.buf = strings.Builder{}
	p.buf.WriteString(s)
}

// target prints one output column with AS where its name is not the one it would get anyway.
func (p *printer) target(t *plan.Target, name string) {
	own := ""
	if !p.top().visible && !p.env.Store {
		own = "?column?"
	}
	if v, ok := t.Expr.(*plan.Var); ok {
		own = p.varName(v)
		if v.Attno == 0 {
			p.expr(t.Expr)
			p.put("::" + p.typeName(v.Type, -1))
			own = ""
			if name != "" {
				p.put(" AS " + quote(name))
			}
			return
		}
		p.expr(t.Expr)
	} else {
		p.exprShow(t.Expr, true)
	}
	if name != "" && name != own {
		p.put(" AS " + quote(name))
	}
}

// varName is the name of the column a Var refers to, "?column?" when it prints as something else.
func (p *printer) varName(v *plan.Var) string {
	i := len(p.levels) - 1 - v.LevelsUp
	if i < 0 || v.RTE >= len(p.levels[i].q.RTable) {
		return ""
	}
	r := p.levels[i].q.RTable[v.RTE]
	switch {
	case r.Kind == plan.RTEJoin && !r.HasAlias && v.Attno > 0 && v.Attno <= len(r.JoinVars):
		if j, ok := r.JoinVars[v.Attno-1].(*plan.Var); ok {
			return p.varName(&plan.Var{RTE: j.RTE, Attno: j.Attno, LevelsUp: v.LevelsUp})
		}
		return "?column?"
	case v.Attno > 0 && v.Attno <= len(r.Cols):
		return p.levels[i].cols[v.RTE][v.Attno-1]
	case v.Attno < 0 && r.Rel != nil:
		return p.relColumn(r.Rel, v.Attno)
	}
	return ""
}

func (p *printer) groupBy(q *plan.Query) {
	if len(q.GroupBy) == 0 && len(q.GroupingSets) == 0 {
		return
	}
	p.keyword(" GROUP BY ", -indentStd, indentStd, 1)
	if q.GroupingSets == nil {
		for i, e := range q.GroupBy {
			if i > 0 {
				p.put(", ")
			}
			p.sortExpr(e)
		}
		return
	}
	if q.GroupDistinct {
		p.put("DISTINCT ")
	}
	for i := range q.GroupingAs {
		if i > 0 {
			p.put(", ")
		}
		p.groupingItem(q, &q.GroupingAs[i], true)
	}
}

// groupingItem is get_rule_groupingset: bare says that one column needs no brackets.
func (p *printer) groupingItem(q *plan.Query, g *plan.GroupingItem, bare bool) {
	switch g.Kind {
	case plan.GroupingEmpty:
		p.put("()")
		return
	case plan.GroupingColumns:
		bare = bare && len(g.Columns) == 1
		if !bare {
			p.put("(")
		}
		for i, n := range g.Columns {
			if i > 0 {
				p.put(", ")
			}
			p.sortExpr(q.GroupBy[n])
		}
		if !bare {
			p.put(")")
		}
		return
	}
	p.put(map[plan.GroupingKind]string{plan.GroupingRollup: "ROLLUP(", plan.GroupingCube: "CUBE(", plan.GroupingList: "GROUPING SETS ("}[g.Kind])
	for i := range g.Items {
		if i > 0 {
			p.put(", ")
		}
		p.groupingItem(q, &g.Items[i], g.Kind != plan.GroupingList)
	}
	p.put(")")
}

// tail prints what follows the body: ORDER BY to FOR UPDATE.
func (p *printer) tail(q *plan.Query) {
	for i, k := range q.OrderBy {
		if i == 0 {
			p.keyword(" ORDER BY ", -indentStd, indentStd, 1)
		} else {
			p.put(", ")
		}
		if q.SetOp != nil && i < len(q.OrderByTarget) {
			p.put(fmt.Sprint(q.OrderByTarget[i] + 1))
		} else {
			p.sortExpr(k.Expr)
		}
		p.sortOrder(k)
	}
	if q.Offset != nil {
		p.keyword(" OFFSET ", -indentStd, indentStd, 0)
		p.limit(q.Offset)
	}
	if q.Limit != nil {
		if q.WithTies {
			p.keyword(" FETCH FIRST ", -indentStd, indentStd, 0)
			p.put("(")
			p.limit(q.Limit)
			p.put(") ROWS WITH TIES")
		} else {
			p.keyword(" LIMIT ", -indentStd, indentStd, 0)
			p.limit(q.Limit)
		}
	}
	for _, lock := range q.Locks {
		words := [...]string{" FOR KEY SHARE", " FOR SHARE", " FOR NO KEY UPDATE", " FOR UPDATE"}
		p.keyword(words[max(lock.Strength, 1)-1], -indentStd, indentStd, 0)
		if lock.RTE < len(p.top().names) {
			p.put(" OF " + quote(p.top().names[lock.RTE]))
		}
		p.put([...]string{"", " NOWAIT", " SKIP LOCKED"}[lock.Policy%3])
	}
}

func (p *printer) limit(e plan.Expr) {
	if c, ok := e.(*plan.Const); ok && c.Value.Null {
		p.put("ALL")
		return
	}
	p.expr(e)
}

// setOp prints a tree of set operations.
func (p *printer) setOp(q *plan.Query, s *plan.SetOp, names []string, visible bool) {
	if !p.enter() {
		return
	}
	defer p.leave()
	if len(s.Args) == 0 {
		sub := q.RTable[s.RTE].Sub
		if sub == nil {
			p.fail(sqlerr.Internal("operand %d of a set operation is no query", s.RTE))
			return
		}
		bracket := len(sub.CTEs) > 0 || len(sub.OrderBy) > 0 || len(sub.Locks) > 0 || sub.Limit != nil || sub.Offset != nil
		if bracket {
			p.put("(")
		}
		p.query(sub, names, visible)
		if bracket {
			p.put(")")
		}
		return
	}
	word := [...]string{"UNION ", "INTERSECT ", "EXCEPT "}[s.Kind]
	if s.All {
		word += "ALL "
	}
	first := s.Args[0]
	sub := 0
	if len(first.Args) > 0 && (first.Kind != s.Kind || first.All != s.All) {
		p.put("(")
		sub = indentStd
		p.keyword("", sub, 0, 0)
	}
	p.setOp(q, first, names, visible)
	for _, right := range s.Args[1:] {
		if sub > 0 {
			p.keyword(") ", -sub, 0, 0)
			sub = 0
		} else {
			p.keyword("", 0, 0, 0)
		}
		p.put(word)
		nested := len(right.Args) > 0
		step := 0
		if nested {
			p.put("(")
			step = indentStd
		}
		p.keyword("", step, 0, 0)
		p.setOp(q, right, names, false)
		p.indent -= step
		if nested {
			p.keyword(")", 0, 0, 0)
		}
	}
}

// columnList prints names in brackets; live, when given, leaves some out.
func columnList(names []string, live func(i int) bool) string {
	var out []string
	for i, n := range names {
		if live == nil || live(i) {
			out = append(out, quote(n))
		}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// renamed says whether a table's columns have other names here.
func renamed(rel *catalog.Relation, names []string) bool {
	for i := range names {
		if i < len(rel.Columns) && !rel.Columns[i].Dropped && rel.Columns[i].Name != names[i] {
			return true
		}
	}
	return false
}
