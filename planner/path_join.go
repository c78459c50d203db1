package planner

import (
	"math"
	"math/bits"

	"herd/planner/plan"
	"herd/sql/sqlerr"
)

const (
	dpMaxUnits  = 10 // beyond it join order is greedy
	maxUnits    = 1000
	pathsPerRel = 6
)

// joinRel is a set of units that have been joined.
type joinRel struct {
	units []int
	mask  uint64
	rels  relset
	rows  float64
	paths []*path
	inner bool // has a unit that is not the right side of an outer join
}

// planRegion finds the best paths of a region.
func (r *root) planRegion(g *region) ([]*path, error) {
	if g.never || len(g.units) == 0 {
		var quals []plan.Expr
		for _, q := range g.quals {
			quals = append(quals, q.expr)
		}
		p := &path{shape: shapeResult, rels: g.rels, rows: 1, total: 0.01, filter: quals}
		if g.never {
			p.filter = []plan.Expr{falseConst()}
			p.rows = 1
		}
		return []*path{p}, nil
	}
	for _, u := range g.units {
		if err := r.unitPaths(g, u); err != nil {
			return nil, err
		}
	}
	if len(g.units) == 1 {
		u := g.units[0]
		if u.typ == plan.JoinInner {
			return r.topFilters(g, u.paths), nil
		}
		return nil, sqlerr.Internal("a join without left side")
	}
	if len(g.units) > maxUnits {
		return nil, errTooManyRels
	}
	var top *joinRel
	if len(g.units) <= dpMaxUnits {
		top = r.joinDP(g)
	} else {
		top = r.joinGreedy(g)
	}
	if top == nil {
		return nil, sqlerr.Internal("no join order found")
	}
	return r.topFilters(g, top.paths), nil
}

// topFilters applies conditions that use no relation of the region above everything.
func (r *root) topFilters(g *region, paths []*path) []*path {
	var quals []plan.Expr
	for _, q := range g.quals {
		if q.rels.empty() || len(g.units) == 1 && !q.rels.empty() || q.volatile {
			quals = append(quals, q.expr)
		}
	}
	if len(quals) == 0 {
		return paths
	}
	out := make([]*path, len(paths))
	for i, p := range paths {
		out[i] = r.filterPath(p, quals)
	}
	return out
}

func (r *root) filterPath(p *path, quals []plan.Expr) *path {
	f := &path{shape: shapeFilter, rels: p.rels, left: p, filter: quals, order: p.order, req: p.req, start: p.start}
	s := 1.0
	for _, q := range quals {
		s *= r.selectivity(q)
	}
	f.rows = clampRows(p.rows * s)
	f.total = p.total + p.rows*condCost(quals)
	return f
}

// unitPaths finds the paths of one unit.
func (r *root) unitPaths(g *region, u *unit) error {
	switch {
	case u.rel != nil:
		if err := r.basePaths(u.rel); err != nil {
			return err
		}
		if len(u.rel.paths) == 0 {
			return sqlerr.Internal("no path for relation %s", u.rel.entry.Alias)
		}
		u.paths = u.rel.paths
		u.need = u.need.union(u.rel.lateral)
	case u.sub != nil:
		paths, err := r.planRegion(u.sub)
		if err != nil {
			return err
		}
		u.paths = paths
	case u.full != nil:
		p, err := r.fullJoinPath(u.full)
		if err != nil {
			return err
		}
		u.paths = []*path{p}
	}
	if len(u.quals) > 0 {
		out := make([]*path, len(u.paths))
		for i, p := range u.paths {
			out[i] = r.filterPath(p, clauseExprs(u.quals))
		}
		u.paths = out
	}
	if u.typ == plan.JoinSemi {
		r.uniquePath(u)
	}
	return nil
}

// uniquePath makes a semi join's right side unique on its keys, so that it can be joined like any relation.
func (r *root) uniquePath(u *unit) {
	var keys []plan.Expr
	for _, c := range u.on {
		if c.call == nil || !c.hashable {
			return
		}
		side := c.call.Args[0]
		set := c.leftRels
		if !set.within(u.rels) {
			side, set = c.call.Args[1], c.rightRels
		}
		if !set.within(u.rels) {
			return
		}
		keys = append(keys, side)
	}
	in := cheapest(u.paths, 0)
	if in == nil || len(keys) == 0 || !in.req.empty() {
		return
	}
	nd := 1.0
	for _, k := range keys {
		nd *= r.distinctOf(k)
	}
	p := &path{shape: shapeUnique, rels: u.rels, left: in, keys: keys, rows: clampRows(math.Min(in.rows, nd))}
	p.start = in.total + in.rows*costHashBuild
	p.total = p.start + p.rows*costTuple
	u.unique = p
}

// fullJoinPath joins both sides of a FULL JOIN by hash, or by nested loop when no condition can be hashed.
func (r *root) fullJoinPath(f *fullJoin) (*path, error) {
	lp, err := r.planRegion(f.left)
	if err != nil {
		return nil, err
	}
	rp, err := r.planRegion(f.right)
	if err != nil {
		return nil, err
	}
	l, rt := cheapest(lp, 0), cheapest(rp, 0)
	if l == nil || rt == nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "LATERAL reference inside a FULL JOIN is not supported")
	}
	p := &path{shape: shapeHash, join: plan.JoinFull, rels: l.rels.union(rt.rels), left: l, right: rt}
	for _, c := range f.on {
		if k, ok := r.orient(c, f.left.rels, f.right.rels); ok {
			p.hash = append(p.hash, k)
		} else {
			p.quals = append(p.quals, c.expr)
		}
	}
	p.rows = math.Max(l.rows, rt.rows)
	p.start = rt.total + rt.rows*costHashBuild
	p.total = p.start + l.total + l.rows*costHashProbe + p.rows*costTuple
	if len(p.hash) == 0 {
		if len(p.quals) > 0 {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions")
		}
		p.shape, p.materialize = shapeNest, true
		p.total = l.total + rt.total + l.rows*rt.rows*costOperator
	}
	return p, nil
}

// orient makes the hash key pair of an equality between two sides.
func (r *root) orient(c *clause, left, right relset) (plan.HashKey, bool) {
	if c.call == nil || !c.hashable {
		return plan.HashKey{}, false
	}
	a, b := c.call.Args[0], c.call.Args[1]
	if c.leftRels.within(left) && c.rightRels.within(right) {
		return r.hashKey(c.call, a, b)
	}
	if c.leftRels.within(right) && c.rightRels.within(left) {
		return r.hashKey(c.call, b, a)
	}
	return plan.HashKey{}, false
}

// cheapest is the path with the least cost for the first n rows (0 all) among those without parameters.
func cheapest(paths []*path, n float64) *path {
	var best *path
	for _, p := range paths {
		if p.req.empty() && (best == nil || p.fetchCost(n) < best.fetchCost(n)) {
			best = p
		}
	}
	return best
}

// unitRel is the joinRel of one unit.
func (g *region) unitRel(i int) *joinRel {
	u := g.units[i]
	j := &joinRel{units: []int{i}, rels: u.rels, paths: u.paths, inner: u.typ == plan.JoinInner}
	if i < 64 {
		j.mask = 1 << i
	}
	j.rows = 1
	if len(u.paths) > 0 {
		j.rows = u.paths[0].rows
	}
	if u.rel != nil && u.rel.rows > 0 {
		j.rows = u.rel.rows
	}
	return j
}

// joinDP is dynamic programming over subsets.
func (r *root) joinDP(g *region) *joinRel {
	n := len(g.units)
	full := uint64(1)<<n - 1
	table := make([]*joinRel, full+1)
	for i := range n {
		table[1<<i] = g.unitRel(i)
	}
	for _, cross := range [2]bool{false, true} {
		for size := 2; size <= n; size++ {
			for s := uint64(1); s <= full; s++ {
				if bits.OnesCount64(s) != size || table[s] != nil {
					continue
				}
				for sub := (s - 1) & s; sub > 0; sub = (sub - 1) & s {
					a, b := table[sub], table[s&^sub]
					if a == nil || b == nil {
						continue
					}
					if j := r.joinPair(g, a, b, cross, table[s]); j != nil {
						table[s] = j
					}
				}
			}
		}
		if table[full] != nil {
			break
		}
	}
	return table[full]
}

// joinGreedy joins the pair with the fewest result rows first.
func (r *root) joinGreedy(g *region) *joinRel {
	var list []*joinRel
	for i := range g.units {
		list = append(list, g.unitRel(i))
	}
	for len(list) > 1 {
		var best *joinRel
		bi, bk := -1, -1
		for _, cross := range [2]bool{false, true} {
			for i := range list {
				for k := range list {
					if i == k {
						continue
					}
					j := r.joinPair(g, list[i], list[k], cross, nil)
					if j == nil || len(j.paths) == 0 {
						continue
					}
					if best == nil || j.rows < best.rows || j.rows == best.rows && cheapestAny(j.paths) < cheapestAny(best.paths) {
						best, bi, bk = j, i, k
					}
				}
			}
			if best != nil {
				break
			}
		}
		if best == nil {
			return nil
		}
		// The other order of the same pair gives paths of its own.
		if o := r.joinPair(g, list[bk], list[bi], true, best); o != nil {
			best = o
		}
		next := []*joinRel{best}
		for i := range list {
			if i != bi && i != bk {
				next = append(next, list[i])
			}
		}
		list = next
	}
	return list[0]
}

func cheapestAny(paths []*path) float64 {
	c := math.Inf(1)
	for _, p := range paths {
		c = math.Min(c, p.total)
	}
	return c
}

// joinPair joins a (left) with b (right) and adds the paths to into (nil: a new set). Nil when the join is not allowed.
func (r *root) joinPair(g *region, a, b *joinRel, cross bool, into *joinRel) *joinRel {
	typ := plan.JoinInner
	var on []*clause
	var ub *unit
	if !b.inner {
		if len(b.units) != 1 || !a.inner && len(a.units) == 1 {
			return nil
		}
		ub = g.units[b.units[0]]
		typ = ub.typ
		if !ub.need.within(a.rels) {
			return nil
		}
		on = ub.on
	} else if !a.inner {
		return nil // the pair is visited the other way round, too
	}
	quals, connected := r.between(g, a.rels, b.rels, typ == plan.JoinLeft)
	if typ == plan.JoinInner && !connected && !cross && !lateralLink(g, a, b) {
		return nil
	}
	j := into
	if j == nil {
		j = &joinRel{units: append(append([]int(nil), a.units...), b.units...), mask: a.mask | b.mask, rels: a.rels.union(b.rels), inner: true}
		if typ == plan.JoinSemi || typ == plan.JoinAnti {
			j.rels = a.rels
		}
		j.rows = r.joinRows(typ, a.rows, b.rows, on, quals)
	}
	if typ == plan.JoinInner {
		r.joinPaths(g, j, typ, a, b, quals, nil)
		return j
	}
	r.joinPaths(g, j, typ, a, b, on, quals)
	if ub.unique != nil {
		u := &joinRel{rels: b.rels, paths: []*path{ub.unique}, rows: ub.unique.rows}
		all := append(append([]*clause(nil), on...), quals...)
		r.joinPaths(g, j, plan.JoinInner, a, u, all, nil)
		r.joinPaths(g, j, plan.JoinInner, u, a, all, nil)
	}
	return j
}

// lateralLink says whether one side's parameters come from the other.
func lateralLink(g *region, a, b *joinRel) bool {
	for _, p := range b.paths {
		if !p.req.empty() && p.req.overlaps(a.rels) {
			return true
		}
	}
	for _, p := range a.paths {
		if !p.req.empty() && p.req.overlaps(b.rels) {
			return true
		}
	}
	return false
}

// between collects the conditions that become computable by joining two sets; one for each equivalence class. With outer,
// b is the nullable side: conditions on it alone apply after the join.
func (r *root) between(g *region, a, b relset, outer bool) (out []*clause, connected bool) {
	both := a.union(b)
	var seen []int
	for _, q := range g.quals {
		if q.rels.empty() || q.volatile || !q.rels.within(both) || q.rels.within(a) || q.rels.within(b) && !outer {
			continue
		}
		if q.ec > 0 {
			dup := false
			for _, s := range seen {
				dup = dup || s == q.ec
			}
			if dup {
				continue
			}
			seen = append(seen, q.ec)
		}
		connected = true
		out = append(out, q)
	}
	return out, connected
}

// joinRows estimates the size of a join.
func (r *root) joinRows(typ plan.JoinType, l, rt float64, on, above []*clause) float64 {
	s, f := r.joinSel(on), 1.0
	for _, c := range above {
		f *= r.clauseSel(c)
	}
	n := l * rt * s
	switch typ {
	case plan.JoinInner:
		n = l * rt * r.joinSel(append(on[:len(on):len(on)], above...))
	case plan.JoinLeft:
		n = math.Max(n, l) * f
	case plan.JoinSemi:
		n = l * math.Min(1, math.Max(rt*s, 0.0001)) * f
		if len(on) > 0 && rt*s > 0.5 {
			n = l * 0.5 * f
		}
	case plan.JoinAnti:
		n = l * math.Max(0.1, 1-math.Min(1, rt*s)) * f
	}
	return clampRows(n)
}

// joinPaths proposes every way to join l with rt.
func (r *root) joinPaths(g *region, j *joinRel, typ plan.JoinType, l, rt *joinRel, on, above []*clause) {
	set := r.ps.set
	lefts := candidatesOf(l.paths)
	rights := candidatesOf(rt.paths)
	for _, lp := range lefts {
		if !lp.req.empty() && lp.req.overlaps(rt.rels) {
			continue
		}
		for _, rp := range rights {
			if !rp.req.empty() && rp.req.overlaps(lp.rels) {
				r.addPath(j, r.paramNest(g, j, typ, lp, rp, on, above))
				continue
			}
			if typ != plan.JoinRight {
				r.addPath(j, r.plainNest(j, typ, lp, rp, on, above, set.NestLoop))
			}
			if set.HashJoin {
				r.addPath(j, r.hashPath(j, typ, lp, rp, l.rels, rt.rels, on, above))
			}
		}
	}
}

// candidatesOf keeps the paths worth combining: the cheapest of each parameterization and order.
func candidatesOf(paths []*path) []*path {
	if len(paths) <= 2 {
		return paths
	}
	var out []*path
	best := cheapest(paths, 0)
	for _, p := range paths {
		if p == best || !p.req.empty() || p.order != nil && p.total < best.total*20+10 {
			out = append(out, p)
		}
	}
	return out
}

func (r *root) newJoin(j *joinRel, typ plan.JoinType, lp, rp *path, on, above []*clause) *path {
	p := &path{join: typ, left: lp, right: rp, rels: lp.rels.union(rp.rels), rows: j.rows, whole: j.rows}
	if typ == plan.JoinSemi || typ == plan.JoinAnti {
		p.rels = lp.rels
	}
	p.above = clauseExprs(above)
	p.req = lp.req.union(rp.req).minus(p.rels.union(rp.rels))
	if !p.req.empty() { // for one row of what the parameters come from
		all := append(on[:len(on):len(on)], above...)
		if typ == plan.JoinInner && pinned(lp, rp, all) {
			p.rows = clampRows(j.rows * math.Min(lp.share(), rp.share()))
		} else {
			p.rows = math.Min(p.rows, r.joinRows(typ, lp.rows, rp.rows, uncounted(rp, lp.rels, on), above))
		}
	}
	return p
}

// pinned says whether a join condition holds already because both sides were made equal to one parameter.
func pinned(lp, rp *path, on []*clause) bool {
	if lp.req.empty() || rp.req.empty() {
		return false
	}
	for _, c := range on {
		if c.class == nil {
			continue
		}
		for _, rels := range c.class.rels {
			if rels.within(lp.req) && rels.within(rp.req) {
				return true
			}
		}
	}
	return false
}

// share is which part of the rows of its relations a path with parameters gives, 1 when that is not known.
func (p *path) share() float64 {
	whole := p.whole
	if p.rel != nil {
		whole = p.rel.rows
	}
	if whole <= 0 || whole < p.rows {
		return 1
	}
	return p.rows / whole
}

// uncounted are the join conditions that the rows of the right path do not reckon with yet: one whose parameters come from the left
// has been estimated with those it can evaluate.
func uncounted(rp *path, left relset, on []*clause) []*clause {
	if !rp.req.overlaps(left) {
		return on
	}
	inner := rp.rels.union(rp.req)
	var out []*clause
	for _, c := range on {
		if c.volatile || !c.rels.within(inner) {
			out = append(out, c)
		}
	}
	return out
}

// paramNest runs the right path once for each left row with the left row's values as parameters.
func (r *root) paramNest(g *region, j *joinRel, typ plan.JoinType, lp, rp *path, on, above []*clause) *path {
	p := r.newJoin(j, typ, lp, rp, on, above)
	p.shape, p.order = shapeNest, lp.order
	inner := rp.rels.union(rp.req)
	enforced := rp.shape == shapeScan || rp.shape == shapeIndex || rp.shape == shapeVirtual
	for _, c := range on {
		if enforced && c.rels.within(inner) && !c.volatile && (len(rp.rel.joins) > 0) {
			continue
		}
		p.quals = append(p.quals, c.expr)
	}
	p.start = lp.start + rp.start
	per := rp.total
	if typ == plan.JoinSemi || typ == plan.JoinAnti {
		hit := math.Min(0.5, p.rows/math.Max(1, lp.rows)) // the first partner ends it, to find none takes all rows
		if typ == plan.JoinAnti {
			hit = math.Min(0.5, 1-p.rows/math.Max(1, lp.rows))
		}
		per = hit*rp.fetchCost(1) + (1-hit)*rp.total
	}
	p.total = lp.total + math.Max(1, lp.rows)*(per+costRescan) + p.rows*costTuple + lp.rows*rp.rows*float64(len(p.quals))*costOperator
	return p
}

// plainNest compares all pairs of rows.
func (r *root) plainNest(j *joinRel, typ plan.JoinType, lp, rp *path, on, above []*clause, enabled bool) *path {
	p := r.newJoin(j, typ, lp, rp, on, above)
	p.shape, p.order, p.quals, p.materialize = shapeNest, lp.order, clauseExprs(on), true
	p.start = lp.start + rp.start
	pairs := lp.rows * rp.rows
	if typ == plan.JoinSemi || typ == plan.JoinAnti {
		pairs *= 0.5
	}
	p.total = lp.total + rp.total + pairs*(costOperator*float64(1+len(p.quals))) + p.rows*costTuple
	if !enabled {
		p.total += costDisabled
		p.start += costDisabled
	}
	return p
}

// hashPath builds a table from the right rows and probes it with the left ones; nil when no condition can be hashed.
func (r *root) hashPath(j *joinRel, typ plan.JoinType, lp, rp *path, lrels, rrels relset, on, above []*clause) *path {
	p := r.newJoin(j, typ, lp, rp, on, above)
	p.shape = shapeHash
	for _, c := range on {
		if k, ok := r.orient(c, lrels, rrels); ok {
			p.hash = append(p.hash, k)
		} else {
			p.quals = append(p.quals, c.expr)
		}
	}
	if len(p.hash) == 0 {
		return nil
	}
	build, probe := rp, lp
	if typ == plan.JoinLeft && rp.rows > 4*lp.rows && rp.req.empty() && lp.req.empty() {
		// Build the small preserved side and probe with the other: a right join.
		p.join, p.left, p.right = plan.JoinRight, rp, lp
		for i := range p.hash {
			p.hash[i].Left, p.hash[i].Right = p.hash[i].Right, p.hash[i].Left
		}
		build, probe = lp, rp
	}
	p.start = build.total + build.rows*costHashBuild + probe.start + 0.02
	if !p.req.empty() {
		p.start += costRescan // the table is made for each row that gives the parameters
	}
	p.total = p.start + (probe.total - probe.start) + probe.rows*costHashProbe*float64(len(p.hash)) + p.rows*(costTuple+costOperator*float64(len(p.quals)))
	return p
}

// addPath keeps a proposal unless another is at least as good in every respect.
func (r *root) addPath(j *joinRel, p *path) {
	if p == nil {
		return
	}
	useful := p.order != nil && r.usefulOrder(p.order)
	if !useful {
		p.order = nil
	}
	keep := j.paths[:0:0]
	for _, o := range j.paths {
		if o.total <= p.total && o.start <= p.start*1.01 && (o.order != nil || p.order == nil) && o.req.within(p.req) {
			return
		}
		if p.total <= o.total && p.start <= o.start*1.01 && (p.order != nil || o.order == nil) && p.req.within(o.req) {
			continue
		}
		keep = append(keep, o)
	}
	keep = append(keep, p)
	if len(keep) > pathsPerRel {
		worst, plain := -1, cheapest(keep, 0)
		for i, o := range keep {
			if o != plain && o.order == nil && (worst < 0 || o.total > keep[worst].total) {
				worst = i
			}
		}
		if worst < 0 {
			worst = len(keep) - 1
		}
		keep = append(keep[:worst], keep[worst+1:]...)
	}
	j.paths = keep
}

// usefulOrder says whether an order serves the query's ORDER BY, GROUP BY or DISTINCT.
func (r *root) usefulOrder(order []orderKey) bool {
	if len(order) == 0 {
		return false
	}
	for i := range r.q.OrderBy {
		if equalExpr(stripText(r.q.OrderBy[i].Expr), stripText(order[0].expr)) {
			return true
		}
	}
	for _, g := range r.q.GroupBy {
		if equalExpr(g, order[0].expr) {
			return true
		}
	}
	return len(r.q.DistinctOn) > 0 || r.q.Distinct || r.q.HasWindow
}
