package planner

import (
	"math/bits"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
)

// jnode is a node of the join tree while rules work on it: *jrel, *jjoin or *jfrom.
type jnode interface{ rels() relset }

// jrel is a range table entry.
type jrel struct{ rte int }

// jjoin is an explicit join; Semi and Anti come from sublinks.
type jjoin struct {
	typ         plan.JoinType
	left, right jnode
	quals       []plan.Expr
}

// jfrom is an inner join of items under conditions.
type jfrom struct {
	items []jnode
	quals []plan.Expr
}

func (j *jrel) rels() relset  { return rset(j.rte) }
func (j *jjoin) rels() relset { return j.left.rels().union(j.right.rels()) }
func (j *jfrom) rels() relset {
	var s relset
	for _, i := range j.items {
		s = s.union(i.rels())
	}
	return s
}

// relset is a set of range table entries of one level.
type relset struct {
	lo   uint64
	more []uint64 // entries from 64 on
}

func rset(i int) relset {
	if i < 64 {
		return relset{lo: 1 << i}
	}
	s := relset{more: make([]uint64, i/64)}
	s.more[i/64-1] = 1 << (i % 64)
	return s
}

func (s relset) union(o relset) relset {
	n := relset{lo: s.lo | o.lo}
	if len(s.more) == 0 {
		n.more = o.more
		return n
	}
	if len(o.more) == 0 {
		n.more = s.more
		return n
	}
	n.more = make([]uint64, max(len(s.more), len(o.more)))
	copy(n.more, s.more)
	for i, w := range o.more {
		n.more[i] |= w
	}
	return n
}

func (s relset) has(i int) bool {
	if i < 64 {
		return s.lo>>i&1 != 0
	}
	k := i/64 - 1
	return k < len(s.more) && s.more[k]>>(i%64)&1 != 0
}

func (s relset) empty() bool {
	if s.lo != 0 {
		return false
	}
	for _, w := range s.more {
		if w != 0 {
			return false
		}
	}
	return true
}

// several says whether s has more than one member.
func (s relset) several() bool {
	n := bits.OnesCount64(s.lo)
	for _, w := range s.more {
		n += bits.OnesCount64(w)
	}
	return n > 1
}

// within says whether s is a subset of o.
func (s relset) within(o relset) bool {
	if s.lo&^o.lo != 0 {
		return false
	}
	for i, w := range s.more {
		var x uint64
		if i < len(o.more) {
			x = o.more[i]
		}
		if w&^x != 0 {
			return false
		}
	}
	return true
}

func (s relset) overlaps(o relset) bool {
	if s.lo&o.lo != 0 {
		return true
	}
	for i := range min(len(s.more), len(o.more)) {
		if s.more[i]&o.more[i] != 0 {
			return true
		}
	}
	return false
}

func (s relset) minus(o relset) relset {
	n := relset{lo: s.lo &^ o.lo}
	if len(s.more) > 0 {
		n.more = append([]uint64(nil), s.more...)
		for i := range min(len(s.more), len(o.more)) {
			n.more[i] &^= o.more[i]
		}
	}
	return n
}

func (s relset) each(f func(i int)) {
	for i := 0; i < 64+64*len(s.more); i++ {
		if s.has(i) {
			f(i)
		}
	}
}

// relsOf is the set of this level's relations that an expression uses, its sublinks included.
func (r *root) relsOf(e plan.Expr) relset {
	var s relset
	if e == nil {
		return s
	}
	deepExpr(e, 0, func(x plan.Expr, level int) bool {
		if v, ok := x.(*plan.Var); ok && v.LevelsUp == level {
			if rte := r.q.RTable[v.RTE]; rte.Kind == plan.RTEJoin && v.Attno > 0 {
				s = s.union(r.relsOf(rewriteLevels(rte.JoinVars[v.Attno-1], level)))
				if level == 0 {
					s = s.union(r.relsOf(rte.JoinVars[v.Attno-1]))
				}
			} else {
				s = s.union(rset(v.RTE))
			}
		}
		return false
	})
	return s
}

// prepare turns the query's FROM into a join tree and applies the rules over queries.
func (r *root) prepare() error {
	q := r.q
	r.jt = &jfrom{quals: splitAnd(nil, q.Where)}
	for _, it := range q.From {
		r.jt.items = append(r.jt.items, r.fromNode(it))
	}
	for _, rule := range queryRules {
		if err := rule.apply(r); err != nil {
			return err
		}
	}
	return nil
}

// queryRule is a named rewriting of a query level.
type queryRule struct {
	name  string
	apply func(r *root) error
}

// queryRules are the rules over a query level in their order.
var queryRules []queryRule

func init() {
	queryRules = []queryRule{
		{"flatten join aliases", (*root).flattenJoinVars},
		{"sublink to semi join", (*root).pullUpSubLinks},
		{"subquery pull-up", (*root).pullUpSubqueries},
		{"constant folding", (*root).foldQuery},
		{"common conditions of OR", (*root).factorOrs},
		{"outer join reduction", (*root).reduceOuterJoins},
		{"whole rows of outer joins", (*root).noteWholeRows},
		{"row locks", (*root).lockedSides},
		{"pushdown into subqueries", (*root).pushDown},
	}
}

func (r *root) fromNode(it plan.FromItem) jnode {
	switch x := it.(type) {
	case plan.RangeRef:
		return &jrel{rte: x.RTE}
	case *plan.JoinExpr:
		l, rt := r.fromNode(x.Left), r.fromNode(x.Right)
		quals := splitAnd(nil, x.On)
		switch x.Type {
		case plan.JoinInner:
			return &jfrom{items: []jnode{l, rt}, quals: quals}
		case plan.JoinRight:
			return &jjoin{typ: plan.JoinLeft, left: rt, right: l, quals: quals}
		}
		return &jjoin{typ: x.Type, left: l, right: rt, quals: quals}
	}
	return nil
}

// splitAnd appends the conjuncts of e.
func splitAnd(out []plan.Expr, e plan.Expr) []plan.Expr {
	if e == nil {
		return out
	}
	if b, ok := e.(*plan.BoolExpr); ok && b.Kind == plan.And {
		for _, a := range b.Args {
			out = splitAnd(out, a)
		}
		return out
	}
	return append(out, e)
}

// mapTree replaces all conditions of the join tree.
func mapTree(n jnode, f func(plan.Expr) plan.Expr) {
	switch x := n.(type) {
	case *jjoin:
		mapTree(x.left, f)
		mapTree(x.right, f)
		x.quals = mapQuals(x.quals, f)
	case *jfrom:
		for _, i := range x.items {
			mapTree(i, f)
		}
		x.quals = mapQuals(x.quals, f)
	}
}

func mapQuals(quals []plan.Expr, f func(plan.Expr) plan.Expr) []plan.Expr {
	for i, q := range quals {
		if n := f(q); n != q {
			out := append([]plan.Expr(nil), quals...)
			out[i] = n
			for k := i + 1; k < len(out); k++ {
				out[k] = f(out[k])
			}
			return out
		}
	}
	return quals
}

// mapLevel replaces the expressions of this level everywhere: targets, clauses, conditions, lateral references of siblings.
func (r *root) mapLevel(f func(e plan.Expr, level int) plan.Expr) {
	q := *r.q
	from, ctes := q.From, q.CTEs // WITH queries cannot refer to this level
	q.From, q.Where, q.CTEs = nil, nil, nil
	n := mapQuery(&q, 0, f)
	n.From, n.CTEs = from, ctes
	r.q = n
	if r.jt != nil {
		mapTree(r.jt, func(e plan.Expr) plan.Expr { return mapDeep(e, 0, f) })
	}
}

// flattenJoinVars replaces references to merged join columns (FULL JOIN USING) by what they stand for.
func (r *root) flattenJoinVars() error {
	any := false
	for _, rte := range r.q.RTable {
		if rte.Kind == plan.RTEJoin {
			any = true
		}
	}
	if !any {
		return nil
	}
	used := deepExprs(r.q, 0, func(e plan.Expr, level int) bool {
		v, ok := e.(*plan.Var)
		return ok && v.LevelsUp == level && v.RTE < len(r.q.RTable) && r.q.RTable[v.RTE].Kind == plan.RTEJoin && v.Attno > 0
	})
	if !used {
		return nil
	}
	var f func(e plan.Expr, level int) plan.Expr
	f = func(e plan.Expr, level int) plan.Expr {
		v, ok := e.(*plan.Var)
		if !ok || v.LevelsUp != level || v.Attno <= 0 {
			return e
		}
		rte := r.q.RTable[v.RTE]
		if rte.Kind != plan.RTEJoin {
			return e
		}
		x := mapDeep(rte.JoinVars[v.Attno-1], 0, f)
		if level > 0 {
			x = shiftLevels(x, level, 0)
		}
		return x
	}
	r.mapLevel(f)
	return nil
}

// subqueryOf returns the query an RTE stands for: a subquery, a view, or an inlined WITH item; nil for others.
func (r *root) subqueryOf(rte *plan.RTE) *plan.Query {
	switch rte.Kind {
	case plan.RTESubquery:
		return rte.Sub
	case plan.RTERelation:
		if rte.Rel.Kind == catalog.KindView {
			return rte.Sub
		}
	case plan.RTECTE:
		if info := r.ps.ctes[rte.CTE]; info != nil && info.inline {
			if rte.CTELevelsUp == 0 {
				return rte.CTE.Query
			}
			return shiftQuery(rte.CTE.Query, rte.CTELevelsUp)
		}
	}
	return nil
}

// pullUpSubqueries merges simple subqueries into this level.
func (r *root) pullUpSubqueries() error {
	any := false
	for _, rte := range r.q.RTable {
		if r.subqueryOf(rte) != nil {
			any = true
			break
		}
	}
	if !any {
		return nil
	}
	return r.pullUpIn(r.jt, false, 0)
}

// pullUpIn visits the join tree; nullable: the node is on the nullable side of an outer join.
func (r *root) pullUpIn(n jnode, nullable bool, depth int) error {
	if depth > maxWalkDepth {
		return tooDeep()
	}
	switch x := n.(type) {
	case *jfrom:
		for i := 0; i < len(x.items); i++ {
			rel, ok := x.items[i].(*jrel)
			if !ok {
				if err := r.pullUpIn(x.items[i], nullable, depth+1); err != nil {
					return err
				}
				continue
			}
			sub, err := r.pullUpOne(rel.rte, nullable, nullable)
			if err != nil {
				return err
			}
			if sub != nil {
				x.items[i] = sub
				if len(sub.items) == 0 && len(x.items) > 1 {
					x.quals = append(x.quals[:len(x.quals):len(x.quals)], sub.quals...)
					x.items = append(x.items[:i:i], x.items[i+1:]...)
					i--
				}
			}
		}
	case *jjoin:
		side := func(c jnode, null bool) (jnode, error) {
			rel, ok := c.(*jrel)
			if !ok {
				return c, r.pullUpIn(c, null, depth+1)
			}
			sub, err := r.pullUpOne(rel.rte, null, true)
			if err != nil || sub == nil || len(sub.items) == 0 {
				return c, err
			}
			return sub, nil
		}
		full := x.typ == plan.JoinFull
		l, err := side(x.left, nullable || full)
		if err != nil {
			return err
		}
		rt, err := side(x.right, nullable || full || x.typ == plan.JoinLeft)
		if err != nil {
			return err
		}
		x.left, x.right = l, rt
	}
	return nil
}

// pullUpOne merges the subquery of an RTE when it is simple: its range table is appended, references to its output become
// its expressions. keepFrom forbids one without relations.
func (r *root) pullUpOne(rte int, nullable, keepFrom bool) (*jfrom, error) {
	entry := r.q.RTable[rte]
	sub := r.subqueryOf(entry)
	if sub == nil || !simpleSubquery(sub) || r.rowIDs[rte] || r.locked(rte) {
		return nil, nil
	}
	if len(sub.From) == 0 && (keepFrom || sub.Where != nil) {
		return nil, nil
	}
	if nullable && (subLateral(sub) || r.wholeRowUsed(rte)) {
		return nil, nil
	}
	child := r.ps.newRoot(r.parent, sub)
	if err := child.prepareForMerge(); err != nil {
		return nil, err
	}
	// Only now are the targets what they will be here: subqueries inside have been merged into them.
	for i, t := range child.q.Targets {
		if t.Junk || r.q.GroupingSets != nil && !groupsAlone(child.q.Targets, i) {
			return nil, nil
		}
		v, isVar := t.Expr.(*plan.Var)
		if nullable && (!isVar || v.LevelsUp != 0 || v.Attno <= 0) {
			return nil, nil
		}
		if volatilityOf(t.Expr) == 'v' || find(t.Expr, hasSubLink) && r.usedOften(rte) {
			return nil, nil
		}
	}
	return r.merge(rte, child)
}

// groupsAlone says whether an output of a subquery can be a grouping key in the subquery's place: where a grouping set lacks the
// key, exactly the uses of this output become NULL, so it has to be a column, and no other output the same.
func groupsAlone(targets []*plan.Target, at int) bool {
	if v, ok := targets[at].Expr.(*plan.Var); !ok || v.LevelsUp != 0 || v.Attno <= 0 {
		return false
	}
	for i := range at {
		if equalExpr(targets[i].Expr, targets[at].Expr) {
			return false
		}
	}
	return true
}

// locked says whether a subquery's rows are to be locked by this level (FOR UPDATE over a view or subquery).
func (r *root) locked(rte int) bool {
	for _, l := range r.q.Locks {
		if l.RTE == rte {
			return true
		}
	}
	return false
}

// usedOften says whether the RTE's columns are referred to more than once, so that a merged sublink would run more than once.
func (r *root) usedOften(rte int) bool {
	n := 0
	count := func(e plan.Expr, level int) bool {
		if v, ok := e.(*plan.Var); ok && v.LevelsUp == level && v.RTE == rte {
			n++
		}
		return n > 1
	}
	q := *r.q
	q.Where, q.From = nil, nil
	deepExprs(&q, 0, count)
	mapTree(r.jt, func(e plan.Expr) plan.Expr { deepExpr(e, 0, count); return e })
	return n > 1
}

// subLateral says whether a subquery refers to its siblings.
func subLateral(q *plan.Query) bool {
	return deepExprs(q, 0, func(e plan.Expr, level int) bool {
		v, ok := e.(*plan.Var)
		return ok && v.LevelsUp == level+1
	})
}

// prepareForMerge builds the join tree of a subquery about to be merged and pulls up inside it.
func (r *root) prepareForMerge() error {
	q := r.q
	r.jt = &jfrom{quals: splitAnd(nil, q.Where)}
	for _, it := range q.From {
		r.jt.items = append(r.jt.items, r.fromNode(it))
	}
	for _, rule := range queryRules[:3] {
		if err := rule.apply(r); err != nil {
			return err
		}
	}
	return nil
}

// simpleSubquery says whether a query is a plain SELECT ... FROM ... WHERE.
func simpleSubquery(q *plan.Query) bool {
	return q.Command == plan.CmdSelect && q.SetOp == nil && len(q.CTEs) == 0 && !q.HasAggs && !q.HasWindow && !q.HasSRF && len(q.GroupBy) == 0 &&
		q.GroupingSets == nil && q.Having == nil && !q.Distinct && len(q.DistinctOn) == 0 && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil && len(q.Locks) == 0
}

// merge appends a prepared subquery's range table to this level and substitutes its output.
func (r *root) merge(rte int, child *root) (*jfrom, error) {
	off := len(r.q.RTable)
	move := func(e plan.Expr, level int) plan.Expr {
		v, ok := e.(*plan.Var)
		if !ok {
			if a, ok := e.(*plan.Aggref); ok && a.LevelsUp > level {
				n := *a
				n.LevelsUp--
				return &n
			}
			if g, ok := e.(*plan.GroupingFunc); ok && g.LevelsUp > level {
				return shiftGrouping(g, -1)
			}
			return e
		}
		switch {
		case v.LevelsUp == level:
			n := *v
			n.RTE += off
			return &n
		case v.LevelsUp > level:
			n := *v
			n.LevelsUp--
			return &n
		}
		return e
	}
	child.mapLevel(move)
	shiftCTERefs(child.q, 0, -1)
	moveTree(child.jt, off)
	table := append([]*plan.RTE(nil), r.q.RTable...)
	dead := *table[rte]
	dead.Kind, dead.Sub, dead.Rel, dead.Lateral = plan.RTEResult, nil, nil, false
	table[rte] = &dead
	r.q.RTable = append(table, child.q.RTable...)
	targets := child.q.Targets
	subst := func(e plan.Expr, level int) plan.Expr {
		v, ok := e.(*plan.Var)
		if !ok || v.RTE != rte || v.LevelsUp != level {
			return e
		}
		var x plan.Expr
		if v.Attno == 0 {
			row := &plan.RowExpr{Typed: v.Typed, Implicit: true}
			for _, t := range targets {
				row.Args, row.Names = append(row.Args, t.Expr), append(row.Names, t.Name)
			}
			x = row
		} else {
			x = targets[v.Attno-1].Expr
			if x.T().Type != v.Type {
				x = &plan.Relabel{Typed: v.Typed, Arg: x, Form: plan.FormImplicitCast}
			}
		}
		if level > 0 {
			x = shiftLevels(x, level, 0)
		}
		return x
	}
	r.mapLevel(subst)
	return child.jt, nil
}

// shiftCTERefs adjusts how many levels out the WITH items are that a query refers to.
func shiftCTERefs(q *plan.Query, level, delta int) {
	if level > maxWalkDepth {
		return
	}
	for _, rte := range q.RTable {
		if rte.Kind == plan.RTECTE && rte.CTELevelsUp > level {
			rte.CTELevelsUp += delta
		}
		if rte.Sub != nil && rte.Kind == plan.RTESubquery {
			shiftCTERefs(rte.Sub, level+1, delta)
		}
	}
	for _, c := range q.CTEs {
		if c.Query != nil {
			shiftCTERefs(c.Query, level+1, delta)
		}
	}
	queryExprs(q, func(e plan.Expr) {
		find(e, func(x plan.Expr) bool {
			if s, ok := x.(*plan.SubLink); ok {
				shiftCTERefs(s.Query, level+1, delta)
			}
			return false
		})
	})
}

func moveTree(n jnode, off int) {
	switch x := n.(type) {
	case *jrel:
		x.rte += off
	case *jjoin:
		moveTree(x.left, off)
		moveTree(x.right, off)
	case *jfrom:
		for _, i := range x.items {
			moveTree(i, off)
		}
	}
}

// reduceOuterJoins turns outer joins into inner ones (or anti joins) where conditions above reject their NULLs.
func (r *root) reduceOuterJoins() error {
	if !hasOuter(r.jt) {
		return nil
	}
	r.jt = r.reduceIn(r.jt, relset{}, nil).(*jfrom)
	return nil
}

// lockedSides refuses row locks where an outer join may have no row: what is left of them after reduction.
func (r *root) lockedSides() error { return r.lockedIn(r.jt, false) }

func (r *root) lockedIn(n jnode, nullable bool) error {
	switch x := n.(type) {
	case *jrel:
		if !nullable {
			return nil
		}
		strength := r.q.RTable[x.rte].Locked
		for _, l := range r.q.Locks {
			if l.RTE == x.rte {
				strength = l.Strength
			}
		}
		if strength != 0 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s cannot be applied to the nullable side of an outer join", lockName(lockStrength(strength)))
		}
	case *jjoin:
		if err := r.lockedIn(x.left, nullable || x.typ == plan.JoinFull); err != nil {
			return err
		}
		return r.lockedIn(x.right, nullable || x.typ != plan.JoinInner)
	case *jfrom:
		for _, i := range x.items {
			if err := r.lockedIn(i, nullable); err != nil {
				return err
			}
		}
	}
	return nil
}

func hasOuter(n jnode) bool {
	switch x := n.(type) {
	case *jjoin:
		return x.typ == plan.JoinLeft || x.typ == plan.JoinFull || hasOuter(x.left) || hasOuter(x.right)
	case *jfrom:
		for _, i := range x.items {
			if hasOuter(i) {
				return true
			}
		}
	}
	return false
}

// reduceIn: nonNull are relations that conditions above require to be present; forced are columns required to be NULL.
func (r *root) reduceIn(n jnode, nonNull relset, forced []*plan.Var) jnode {
	switch x := n.(type) {
	case *jfrom:
		nn, fv := nonNull, forced
		for _, q := range x.quals {
			nn = nn.union(strictRels(q))
			if v := forcedNull(q); v != nil {
				fv = append(fv[:len(fv):len(fv)], v)
			}
		}
		for i := range x.items {
			x.items[i] = r.reduceIn(x.items[i], nn, fv)
		}
	case *jjoin:
		right, left := x.right.rels(), x.left.rels()
		if x.typ == plan.JoinFull {
			l, rt := nonNull.overlaps(left), nonNull.overlaps(right)
			switch {
			case l && rt:
				x.typ = plan.JoinInner
			case l:
				x.typ = plan.JoinLeft
			case rt:
				x.typ = plan.JoinLeft
				x.left, x.right = x.right, x.left
				left, right = right, left
			}
		}
		if x.typ == plan.JoinLeft && nonNull.overlaps(right) {
			x.typ = plan.JoinInner
		}
		if x.typ == plan.JoinLeft {
			var strict relset
			for _, q := range x.quals {
				strict = strict.union(strictRels(q))
			}
			for _, v := range forced {
				if right.has(v.RTE) && strict.has(v.RTE) && r.strictVar(x.quals, v) && !r.usedAbove(right) {
					x.typ = plan.JoinAnti
				}
			}
		}
		return r.reduceJoin(x, nonNull, forced)
	}
	return n
}

func (r *root) reduceJoin(x *jjoin, nonNull relset, forced []*plan.Var) jnode {
	own := relset{}
	for _, q := range x.quals {
		own = own.union(strictRels(q))
	}
	switch x.typ {
	case plan.JoinInner:
		nn := nonNull.union(own)
		return &jfrom{items: []jnode{r.reduceIn(x.left, nn, forced), r.reduceIn(x.right, nn, forced)}, quals: x.quals}
	case plan.JoinLeft:
		x.left = r.reduceIn(x.left, nonNull, forced)
		x.right = r.reduceIn(x.right, own, nil)
	case plan.JoinSemi, plan.JoinAnti:
		if x.typ == plan.JoinSemi {
			nonNull = nonNull.union(own)
		}
		x.left = r.reduceIn(x.left, nonNull, forced)
		x.right = r.reduceIn(x.right, own, nil)
	default:
		x.left = r.reduceIn(x.left, relset{}, nil)
		x.right = r.reduceIn(x.right, relset{}, nil)
	}
	return x
}

// strictVar says whether one of the conditions cannot be true when v is NULL.
func (r *root) strictVar(quals []plan.Expr, v *plan.Var) bool {
	for _, q := range quals {
		if strictIn(q, v) {
			return true
		}
	}
	return false
}

// usedAbove says whether columns of the relations are used by anything but a forced-null test: then an anti join cannot replace
// the outer join, as it does not output them.
func (r *root) usedAbove(set relset) bool {
	q := *r.q
	q.From, q.Where = nil, nil
	used := deepExprs(&q, 0, func(e plan.Expr, level int) bool {
		v, ok := e.(*plan.Var)
		return ok && v.LevelsUp == level && set.has(v.RTE)
	})
	if used {
		return true
	}
	for _, w := range r.jt.quals {
		if r.relsOf(w).overlaps(set) && forcedNull(w) == nil {
			return true
		}
	}
	for i := range r.rowIDs {
		if set.has(i) {
			return true
		}
	}
	return treeUses(r, r.jt, set)
}

// treeUses looks for uses in conditions of joins outside of the relations themselves.
func treeUses(r *root, n jnode, set relset) bool {
	switch x := n.(type) {
	case *jfrom:
		for _, i := range x.items {
			if treeUses(r, i, set) {
				return true
			}
		}
		if n != jnode(r.jt) && !x.rels().within(set) {
			for _, q := range x.quals {
				if r.relsOf(q).overlaps(set) {
					return true
				}
			}
		}
	case *jjoin:
		if treeUses(r, x.left, set) || treeUses(r, x.right, set) {
			return true
		}
		if set.within(x.right.rels()) && x.right.rels().within(set) || x.rels().within(set) {
			return false
		}
		for _, q := range x.quals {
			if r.relsOf(q).overlaps(set) {
				return true
			}
		}
	}
	return false
}

// forcedNull recognises "v IS NULL".
func forcedNull(q plan.Expr) *plan.Var {
	n, ok := q.(*plan.NullTest)
	if !ok || n.Not || n.ArgIsRow {
		return nil
	}
	v, ok := n.Arg.(*plan.Var)
	if !ok || v.LevelsUp != 0 || v.Attno <= 0 {
		return nil
	}
	return v
}

// strictRels are the relations without whose row a condition cannot be true: find_nonnullable_rels.
func strictRels(e plan.Expr) relset { return strictOf(e, true) }

func strictOf(e plan.Expr, top bool) relset {
	var s relset
	switch x := e.(type) {
	case *plan.Var:
		if x.LevelsUp == 0 {
			return rset(x.RTE)
		}
	case *plan.FuncCall:
		if x.Strict {
			for _, a := range x.Args {
				s = s.union(strictOf(a, false))
			}
		}
	case *plan.ScalarArrayOp:
		if x.Strict && x.UseOr {
			return strictOf(x.Args[0], false)
		}
	case *plan.Relabel:
		return strictOf(x.Arg, top)
	case *plan.CoerceViaIO:
		return strictOf(x.Arg, false)
	case *plan.BoolExpr:
		return strictBool(x, top)
	case *plan.NullTest:
		if top && x.Not && !x.ArgIsRow {
			return strictOf(x.Arg, false)
		}
	case *plan.BooleanTest:
		if top && (x.Kind == plan.IsTrue || x.Kind == plan.IsFalse || x.Kind == plan.IsNotUnknown) {
			return strictOf(x.Arg, false)
		}
	}
	return s
}

func strictBool(x *plan.BoolExpr, top bool) relset {
	var s relset
	if x.Kind == plan.Not {
		return strictOf(x.Args[0], false)
	}
	if x.Kind == plan.And && top {
		for _, a := range x.Args {
			s = s.union(strictOf(a, true))
		}
		return s
	}
	for i, a := range x.Args {
		o := strictOf(a, top)
		if i == 0 {
			s = o
			continue
		}
		s = s.minus(s.minus(o))
	}
	return s
}
