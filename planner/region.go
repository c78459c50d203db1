package planner

import (
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// clause is a condition with what join search needs to know about it.
type clause struct {
	expr plan.Expr
	rels relset
	// An equality or comparison "left op right" whose sides use disjoint relations.
	call                *plan.FuncCall
	leftRels, rightRels relset
	hashable            bool
	ec                  int // equivalence class + 1, 0 none
	class               *eqClass
	derived             bool // implied by others: never needed for correctness
	redundant           bool // implied by pinned constants
	volatile            bool
	sel                 float64 // cached selectivity, 0 = not computed
}

// unit is what join search puts together: a relation, or a side of an outer, semi or anti join, or a full join.
type unit struct {
	typ    plan.JoinType // how it is joined to the rest; JoinInner for a plain member
	rels   relset
	on     []*clause // conditions of its join, for typ other than inner
	need   relset    // relations that must be on the left before
	rel    *baseRel  // a single relation
	sub    *region   // several relations
	full   *fullJoin
	quals  []*clause // conditions on a composed member, applied above it
	paths  []*path
	unique *path // for a semi join: one row for each distinct key
}

type fullJoin struct {
	left, right *region
	on          []*clause
}

// region is a set of units joined by inner joins, with the conditions among them.
type region struct {
	r     *root
	units []*unit
	quals []*clause
	rels  relset
	never bool // a condition is false: no rows
}

// baseRel is a relation of the range table with its conditions and access paths.
type baseRel struct {
	rte     int
	entry   *plan.RTE
	table   *catalog.Relation // nil for others
	tuples  float64
	rows    float64
	width   int
	clauses []*clause // conditions on this relation alone
	joins   []*clause // conditions with other relations that a parameterized path may use
	lateral relset
	paths   []*path
	sub     *subPlan
}

// buildRegion takes a join tree apart.
func (r *root) buildRegion(n jnode) (*region, error) {
	g := &region{r: r}
	if err := g.collect(n, 0); err != nil {
		return nil, err
	}
	for _, u := range g.units {
		g.rels = g.rels.union(u.rels)
	}
	g.equivalences()
	g.distribute()
	g.restrictByOrs()
	return g, nil
}

func (g *region) collect(n jnode, depth int) error {
	if depth > maxWalkDepth {
		return tooDeep()
	}
	switch x := n.(type) {
	case *jrel:
		g.units = append(g.units, &unit{rels: rset(x.rte), rel: g.r.newRel(x.rte)})
	case *jfrom:
		for _, i := range x.items {
			if err := g.collect(i, depth+1); err != nil {
				return err
			}
		}
		for _, q := range x.quals {
			if isFalse(q) {
				g.never = true
			}
			g.quals = append(g.quals, g.r.newClause(q))
		}
	case *jjoin:
		if x.typ == plan.JoinFull {
			return g.collectFull(x)
		}
		if err := g.collect(x.left, depth+1); err != nil {
			return err
		}
		return g.collectOuter(x)
	}
	return nil
}

// collectOuter adds the right side of a left, semi or anti join.
func (g *region) collectOuter(x *jjoin) error {
	right := x.right.rels()
	u := &unit{typ: x.typ, rels: right}
	var inside []plan.Expr
	for _, q := range x.quals {
		set := g.r.relsOf(q)
		switch {
		case !set.empty() && set.within(right) && volatilityOf(q) != 'v':
			inside = append(inside, q)
		case x.typ == plan.JoinSemi && !set.overlaps(right):
			g.quals = append(g.quals, g.r.newClause(q))
		default:
			u.on = append(u.on, g.r.newClause(q))
		}
	}
	side := &jfrom{items: []jnode{x.right}, quals: inside}
	if f, ok := x.right.(*jfrom); ok {
		side = &jfrom{items: f.items, quals: append(append([]plan.Expr(nil), f.quals...), inside...)}
	}
	sub, err := g.r.buildRegion(side)
	if err != nil {
		return err
	}
	for _, c := range u.on {
		u.need = u.need.union(c.rels.minus(right))
	}
	if len(sub.units) == 1 && sub.units[0].rel != nil && !sub.never && len(sub.quals) == 0 {
		u.rel = sub.units[0].rel
		if x.typ == plan.JoinSemi && g.r.plainSelect() && u.rel.lateral.empty() && g.r.uniqueBy(u.rel.rte, u.on) {
			// No row finds two partners: it is joined like any other, in any order.
			g.units = append(g.units, &unit{rels: right, rel: u.rel})
			g.quals = append(g.quals, u.on...)
			return nil
		}
		u.rel.joins = u.on
		u.need = u.need.union(u.rel.lateral.minus(right))
	} else {
		u.sub = sub
		for _, s := range sub.units {
			if s.rel != nil {
				u.need = u.need.union(s.rel.lateral.minus(right))
			}
		}
		sub.offer(u.on, right)
	}
	g.units = append(g.units, u)
	return nil
}

// offer lets the members of an outer join's right side use the join's conditions on their keys: a row of the left side then
// finds its partners by index, through the joins inside.
func (g *region) offer(on []*clause, right relset) {
	for _, u := range g.units {
		if u.typ != plan.JoinInner || u.rel == nil {
			continue
		}
		for _, c := range on {
			outer := c.rels.minus(right)
			if c.call != nil && !outer.empty() && c.rels.overlaps(u.rels) && c.rels.minus(outer).within(u.rels) {
				u.rel.joins = append(u.rel.joins[:len(u.rel.joins):len(u.rel.joins)], c)
			}
		}
	}
}

func (g *region) collectFull(x *jjoin) error {
	l, err := g.r.buildRegion(asFrom(x.left))
	if err != nil {
		return err
	}
	rt, err := g.r.buildRegion(asFrom(x.right))
	if err != nil {
		return err
	}
	f := &fullJoin{left: l, right: rt}
	for _, q := range x.quals {
		f.on = append(f.on, g.r.newClause(q))
	}
	g.units = append(g.units, &unit{rels: x.rels(), full: f})
	return nil
}

func asFrom(n jnode) *jfrom {
	if f, ok := n.(*jfrom); ok {
		return f
	}
	return &jfrom{items: []jnode{n}}
}

// newClause analyses a condition.
func (r *root) newClause(e plan.Expr) *clause {
	c := &clause{expr: e, rels: r.relsOf(e), volatile: volatilityOf(e) == 'v'}
	f, ok := e.(*plan.FuncCall)
	if !ok || f.Op == 0 || len(f.Args) != 2 || c.volatile {
		return c
	}
	c.call = f
	c.leftRels, c.rightRels = r.relsOf(f.Args[0]), r.relsOf(f.Args[1])
	if !c.leftRels.empty() && !c.rightRels.empty() && !c.leftRels.overlaps(c.rightRels) {
		_, c.hashable = r.hashKey(f, f.Args[0], f.Args[1])
	}
	return c
}

// hashKey makes the key pair of an equality, when both sides can be hashed and compared as one type.
func (r *root) hashKey(f *plan.FuncCall, left, right plan.Expr) (plan.HashKey, bool) {
	o := pgdata.OperatorByOID(f.Op)
	if o == nil || rowStrategy(f.Op) != pgdata.BTEqual && !o.CanHash {
		return plan.HashKey{}, false
	}
	if o.Name != "=" {
		return plan.HashKey{}, false
	}
	t := types.OID(0)
	lt, rt := left.T().Type, right.T().Type
	switch {
	case lt == rt:
		t = lt
	case isInt(lt) && isInt(rt):
		t = types.Int8OID
	case isText(lt) && isText(rt):
		t = types.TextOID
	case isFloat(lt) && isFloat(rt):
		t = types.Float8OID
	default:
		return plan.HashKey{}, false
	}
	return plan.HashKey{Left: left, Right: right, Type: t, Collation: f.InputColl}, true
}

func isInt(t types.OID) bool {
	return t == types.Int2OID || t == types.Int4OID || t == types.Int8OID
}

func isFloat(t types.OID) bool { return t == types.Float4OID || t == types.Float8OID }

func isText(t types.OID) bool {
	return t == types.TextOID || t == types.VarcharOID || t == types.NameOID
}

// newRel describes a relation of FROM.
func (r *root) newRel(rte int) *baseRel {
	e := r.q.RTable[rte]
	b := &baseRel{rte: rte, entry: e, tuples: 1000}
	if e.Kind == plan.RTERelation && e.Rel.Kind != catalog.KindView {
		b.table = e.Rel
	}
	switch e.Kind {
	case plan.RTEFunction:
		for _, f := range e.Funcs {
			b.lateral = b.lateral.union(r.relsOf(f))
		}
	case plan.RTEValues:
		for _, row := range e.Values {
			for _, v := range row {
				b.lateral = b.lateral.union(r.relsOf(v))
			}
		}
	case plan.RTESubquery:
		if e.Lateral {
			deepExprs(e.Sub, 0, func(x plan.Expr, level int) bool {
				if v, ok := x.(*plan.Var); ok && v.LevelsUp == level+1 {
					b.lateral = b.lateral.union(rset(v.RTE))
				}
				return false
			})
		}
	}
	return b
}

// eqClass is a set of expressions known to be equal.
type eqClass struct {
	members []plan.Expr
	rels    []relset
	consts  []plan.Expr
	family  types.OID
	coll    types.OID
}

// equivalences derives equalities: a = b and b = 5 give a = 5; a = b and b = c give a = c.
func (g *region) equivalences() {
	var classes []*eqClass
	classOf := func(e plan.Expr, fam, coll types.OID) *eqClass {
		for _, c := range classes {
			if c == nil || c.family != fam || c.coll != coll {
				continue
			}
			for _, m := range c.members {
				if equalExpr(m, e) {
					return c
				}
			}
			for _, m := range c.consts {
				if equalExpr(m, e) {
					return c
				}
			}
		}
		return nil
	}
	n := 0
	for _, q := range g.quals {
		if q.call != nil && rowStrategy(q.call.Op) == pgdata.BTEqual {
			n++
		}
	}
	if n < 2 {
		return
	}
	for _, q := range g.quals {
		f := q.call
		if f == nil || q.volatile || rowStrategy(f.Op) != pgdata.BTEqual {
			continue
		}
		fam := btreeFamily(f.Op)
		a, b := f.Args[0], f.Args[1]
		if fam == 0 || q.leftRels.empty() && q.rightRels.empty() || q.leftRels.several() || q.rightRels.several() || find(f, hasSubLink) {
			continue
		}
		if g.nullable(q.leftRels) || g.nullable(q.rightRels) {
			continue
		}
		ca, cb := classOf(a, fam, f.InputColl), classOf(b, fam, f.InputColl)
		switch {
		case ca == nil && cb == nil:
			ca = &eqClass{family: fam, coll: f.InputColl}
			classes = append(classes, ca)
			ca.add(a, q.leftRels)
			ca.add(b, q.rightRels)
		case ca == nil:
			cb.add(a, q.leftRels)
		case cb == nil:
			ca.add(b, q.rightRels)
		case ca != cb:
			ca.members, ca.rels, ca.consts = append(ca.members, cb.members...), append(ca.rels, cb.rels...), append(ca.consts, cb.consts...)
			for i := range classes {
				if classes[i] == cb {
					classes[i] = nil
				}
			}
		}
	}
	for i, c := range classes {
		if c != nil {
			g.derive(c, i+1)
		}
	}
}

func hasSubLink(e plan.Expr) bool { _, ok := e.(*plan.SubLink); return ok }

func (c *eqClass) add(e plan.Expr, rels relset) {
	if rels.empty() {
		c.consts = append(c.consts, e)
		return
	}
	c.members, c.rels = append(c.members, e), append(c.rels, rels)
}

// nullable says whether relations belong to the nullable side of an outer join of this region.
func (g *region) nullable(set relset) bool {
	for _, u := range g.units {
		if (u.typ == plan.JoinLeft || u.full != nil) && u.rels.overlaps(set) {
			return true
		}
	}
	return false
}

func btreeFamily(op types.OID) types.OID {
	for _, a := range pgdata.AmopsOf(op) {
		if a.Method == pgdata.BTree && a.Purpose == 's' {
			return a.Family
		}
	}
	return 0
}

// derive adds the implied equalities of a class.
func (g *region) derive(c *eqClass, id int) {
	has := func(a, b plan.Expr) *clause {
		for _, q := range g.quals {
			if q.call == nil || rowStrategy(q.call.Op) != pgdata.BTEqual {
				continue
			}
			if equalExpr(q.call.Args[0], a) && equalExpr(q.call.Args[1], b) || equalExpr(q.call.Args[0], b) && equalExpr(q.call.Args[1], a) {
				return q
			}
		}
		return nil
	}
	if len(c.consts) > 0 {
		pinned := true
		for _, m := range c.members {
			if has(m, c.consts[0]) != nil {
				continue
			}
			e := g.equality(c, m, c.consts[0])
			if e == nil {
				pinned = false
				continue
			}
			g.quals = append(g.quals, g.r.newClause(e))
		}
		if pinned {
			for i, a := range c.members {
				for _, b := range c.members[i+1:] {
					if q := has(a, b); q != nil {
						q.redundant = true
					}
				}
			}
		}
		return
	}
	for i, a := range c.members {
		for k := i + 1; k < len(c.members); k++ {
			b := c.members[k]
			if q := has(a, b); q != nil {
				q.ec, q.class = id, c
				continue
			}
			if len(c.members) > 8 {
				continue
			}
			if e := g.equality(c, a, b); e != nil {
				q := g.r.newClause(e)
				q.derived, q.ec, q.class = true, id, c
				g.quals = append(g.quals, q)
			}
		}
	}
}

// equality makes a = b by the class's family; nil when it has no such operator.
func (g *region) equality(c *eqClass, a, b plan.Expr) plan.Expr {
	lt, rt := opType(a.T().Type), opType(b.T().Type)
	op := pgdata.AmopMember(c.family, lt, rt, pgdata.BTEqual)
	if op == 0 {
		return nil
	}
	o := pgdata.OperatorByOID(op)
	p := pgdata.FuncByOID(o.Code)
	if p == nil {
		return nil
	}
	return &plan.FuncCall{Typed: plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: -1}, Func: o.Code, Op: op, Args: []plan.Expr{a, b},
		Volatile: p.Volatile, Strict: p.Strict, Form: plan.FormOperator, InputColl: c.coll}
}

// opType is the type as which operators take a type that has none of its own.
func opType(t types.OID) types.OID {
	if t == types.VarcharOID {
		return types.TextOID
	}
	if td := pgdata.TypeByOID(t); td != nil && td.IsTrueArray() {
		return types.AnyArrayOID
	}
	return t
}

// distribute gives conditions on one member to it; the rest stay in the region.
func (g *region) distribute() {
	var rest []*clause
	for _, q := range g.quals {
		if q.redundant {
			continue
		}
		if !g.give(q) {
			rest = append(rest, q)
		}
	}
	g.quals = rest
	for _, u := range g.units {
		if u.typ != plan.JoinInner || u.rel == nil {
			continue
		}
		for _, q := range rest {
			if q.rels.overlaps(u.rels) && !q.volatile && !g.nullable(q.rels) {
				u.rel.joins = append(u.rel.joins, q)
			}
		}
	}
}

// give hands a condition to the member it is about.
func (g *region) give(q *clause) bool {
	if q.rels.empty() {
		if len(g.units) == 1 && g.units[0].rel != nil {
			g.units[0].rel.clauses = append(g.units[0].rel.clauses, q)
			return true
		}
		return false
	}
	for _, u := range g.units {
		if u.typ != plan.JoinInner || !q.rels.within(u.rels) {
			continue
		}
		if u.rel != nil {
			if q.volatile && len(g.units) > 1 {
				return false
			}
			u.rel.clauses = append(u.rel.clauses, q)
		} else {
			u.quals = append(u.quals, q)
		}
		return true
	}
	return false
}

var errTooManyRels = sqlerr.New(sqlerr.ProgramLimitExceeded, "too many relations in one join")
