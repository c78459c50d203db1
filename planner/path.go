package planner

import (
	"math"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
)

// pathShape is the kind of a path.
type pathShape uint8

const (
	shapeScan pathShape = iota // rows in row-key order
	shapeIndex
	shapeVirtual
	shapeFunction
	shapeValues
	shapeSub
	shapeCTE
	shapeResult
	shapeNest
	shapeHash
	shapeUnique
	shapeFilter
	shapeCurrent // the row that a cursor is on
)

// path is one way to produce the rows of some relations: a proposal that build turns into nodes.
type path struct {
	shape        pathShape
	rels         relset
	rows         float64
	whole        float64 // of a join: its rows without parameters
	start, total float64
	order        []orderKey // order of the output, nil unknown
	req          relset     // relations outside whose columns it needs as parameters
	rel          *baseRel
	// tables
	index     *catalog.Index
	ranges    []plan.KeyRange
	filter    []plan.Expr // conditions not ensured by ranges
	all       []plan.Expr // all conditions, for re-evaluation
	reverse   bool
	indexOnly bool
	vpath     int
	vkeys     []plan.Expr
	scanned   float64
	// joins
	join        plan.JoinType
	left, right *path
	hash        []plan.HashKey
	quals       []plan.Expr // join condition beyond the keys
	above       []plan.Expr // conditions applied to the result of an outer join
	materialize bool
	keys        []plan.Expr // shapeUnique
}

// orderKey is one key of an order.
type orderKey struct {
	expr       plan.Expr
	desc       bool
	nullsFirst bool
}

// fetchCost is the cost of the first n rows (0 all).
func (p *path) fetchCost(n float64) float64 {
	if n <= 0 || p.rows <= n || p.rows <= 0 {
		return p.total
	}
	return p.start + (p.total-p.start)*n/p.rows
}

// basePaths finds the access paths of a relation.
func (r *root) basePaths(b *baseRel) error {
	if b.paths != nil {
		return nil
	}
	var err error
	switch {
	case b.table != nil && r.virtual(b.table) != nil:
		r.virtualPaths(b)
	case b.table != nil:
		err = r.tablePaths(b)
	case b.entry.Kind == plan.RTEFunction:
		r.functionPath(b)
	case b.entry.Kind == plan.RTEValues:
		b.tuples = float64(len(b.entry.Values))
		r.simplePath(b, shapeValues)
	case b.entry.Kind == plan.RTECTE && r.subqueryOf(b.entry) == nil:
		err = r.ctePath(b)
	case b.entry.Kind == plan.RTEResult:
		b.tuples = 1
		r.simplePath(b, shapeResult)
	default:
		err = r.subqueryPath(b)
	}
	return err
}

// virtual returns the table of a base catalog, nil for others.
func (r *root) virtual(rel *catalog.Relation) catalog.VirtualTable {
	if rel.Virtual != nil {
		return rel.Virtual
	}
	if f := r.ps.b.env.Virtual; f != nil && rel.OID < 16384 {
		return f(rel.OID)
	}
	return nil
}

func clauseExprs(list []*clause) []plan.Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]plan.Expr, len(list))
	for i, c := range list {
		out[i] = c.expr
	}
	return out
}

// simplePath is the only path of a relation that is read as a whole.
func (r *root) simplePath(b *baseRel, s pathShape) {
	b.rows = clampRows(b.tuples * r.selClauses2(b.clauses))
	p := &path{shape: s, rels: rset(b.rte), rel: b, rows: b.rows, req: b.lateral, filter: clauseExprs(b.clauses)}
	p.all = p.filter
	p.total = b.tuples * (costTuple + float64(len(b.clauses))*costOperator)
	b.paths = []*path{p}
}

func (r *root) selClauses2(list []*clause) float64 {
	if len(list) == 0 {
		return 1
	}
	return r.selClauses(list)
}

func clampRows(n float64) float64 {
	if n < 1 {
		return 1
	}
	return math.Round(n)
}

func (r *root) functionPath(b *baseRel) {
	b.tuples = 1
	for _, f := range b.entry.Funcs {
		if p := r.ps.b.calledProc(f); p != nil && p.RetSet {
			n := p.Rows
			if n < 1 {
				n = 1000
			}
			if e := seriesRows(f); e > 0 {
				n = e
			}
			b.tuples = math.Max(b.tuples, n)
		}
	}
	r.simplePath(b, shapeFunction)
}

// seriesRows estimates generate_series over constants and unnest of a constant list; 0 unknown.
func seriesRows(e plan.Expr) float64 {
	f, ok := e.(*plan.FuncCall)
	if !ok {
		return 0
	}
	switch f.Func {
	case 1066, 1067, 1068, 1069: // generate_series(int4|int8)
		var v [3]float64
		v[2] = 1
		for i, a := range f.Args {
			c, ok := a.(*plan.Const)
			if !ok || c.Value.Null {
				return 0
			}
			v[i] = float64(c.Value.I)
		}
		if v[2] == 0 {
			return 0
		}
		return math.Max(1, math.Floor((v[1]-v[0])/v[2])+1)
	case 2331: // unnest
		if a, ok := f.Args[0].(*plan.ArrayExpr); ok {
			return float64(len(a.Args))
		}
		if c, ok := f.Args[0].(*plan.Const); ok && !c.Value.Null {
			return math.Max(1, arrayLen(c.Value.B))
		}
	}
	return 0
}

// virtualPaths lists the access paths a base catalog declares.
func (r *root) virtualPaths(b *baseRel) {
	vt := r.virtual(b.table)
	b.tuples = r.tableRows(b.table)
	full := &path{shape: shapeVirtual, rels: rset(b.rte), rel: b, vpath: -1, filter: clauseExprs(b.clauses)}
	full.all = full.filter
	b.rows = clampRows(b.tuples * r.selClauses2(b.clauses))
	full.rows = b.rows
	full.total = b.tuples * (costVirtual + float64(len(b.clauses))*costOperator)
	b.paths = append(b.paths, full)
	for i, ap := range vt.Paths() {
		r.virtualPath(b, i, ap)
	}
}

// virtualPath makes a path with pinned columns, from constants or from other relations.
func (r *root) virtualPath(b *baseRel, i int, ap catalog.AccessPath) {
	keys := make([]plan.Expr, len(ap.Cols))
	used := map[*clause]bool{}
	var req relset
	joined := false
	for k, attno := range ap.Cols {
		found := false
		for pass, list := range [2][]*clause{b.clauses, b.joins} {
			if found {
				break
			}
			for _, c := range list {
				v, outer, ok := r.equalTo(c, b.rte, int(attno))
				if !ok {
					continue
				}
				keys[k], found = v, true
				req = req.union(outer)
				if pass == 0 {
					used[c] = true
				} else {
					joined = true
				}
				break
			}
		}
		if !found {
			return
		}
	}
	p := &path{shape: shapeVirtual, rels: rset(b.rte), rel: b, vpath: i, vkeys: keys, req: req, all: clauseExprs(b.clauses)}
	for _, c := range b.clauses {
		if !used[c] {
			p.filter = append(p.filter, c.expr)
		}
	}
	if joined {
		extra := r.joinFilters(b, req)
		p.filter = append(p.filter, extra...)
		p.all = append(append([]plan.Expr(nil), p.all...), extra...)
	}
	n := ap.Rows
	if n == 0 {
		n = math.Max(1, b.tuples/8)
	}
	p.rows = math.Max(1, math.Min(n, b.rows))
	p.total = costSeek + n*(costVirtual+float64(len(p.filter))*costOperator)
	if !joined {
		b.rows = math.Min(b.rows, p.rows)
		b.paths[0].rows = b.rows
	}
	b.paths = append(b.paths, p)
}

// joinFilters are the join conditions that can be evaluated inside a path whose parameters come from req.
func (r *root) joinFilters(b *baseRel, req relset) []plan.Expr {
	var out []plan.Expr
	all := req.union(rset(b.rte))
	for _, c := range b.joins {
		if c.rels.within(all) && !c.volatile {
			out = append(out, c.expr)
		}
	}
	return out
}

// equalTo reads a condition as "column = value" with a value that does not use the relation.
func (r *root) equalTo(c *clause, rte, attno int) (v plan.Expr, outer relset, ok bool) {
	if c.call == nil || c.volatile {
		return nil, outer, false
	}
	if rowStrategy(c.call.Op) != pgdata.BTEqual {
		v, ok = equalLike(c.call, rte, attno)
		return v, outer, ok
	}
	for side := range 2 {
		x, ok := stripText(c.call.Args[side]).(*plan.Var)
		if !ok || x.LevelsUp != 0 || x.RTE != rte || x.Attno != attno {
			continue
		}
		rels := c.rightRels
		if side == 1 {
			rels = c.leftRels
		}
		if rels.has(rte) {
			continue
		}
		val, ok := adaptValue(c.call.Args[1-side], x.Type)
		if ok {
			return val, rels, true
		}
	}
	return nil, outer, false
}

// equalLike reads "column LIKE 'pattern'" without wildcards, which drivers send for names, as equality.
func equalLike(f *plan.FuncCall, rte, attno int) (plan.Expr, bool) {
	x, ok := stripText(f.Args[0]).(*plan.Var)
	if !ok || x.LevelsUp != 0 || x.RTE != rte || x.Attno != attno || !isText(x.Type) {
		return nil, false
	}
	o := pgdata.OperatorByOID(f.Op)
	pat, ok := stripRelabel(f.Args[1]).(*plan.Const)
	if !ok || o == nil || o.Name != "~~" || pat.Value.Null || !isText(pat.Type) || likePrefix(string(pat.Value.B)) != string(pat.Value.B) {
		return nil, false
	}
	t := plan.Typed{Type: x.Type, Typmod: -1, Collation: x.Collation, Loc: -1}
	return &plan.Const{Typed: t, Value: pat.Value}, true
}

// ctePath reads a materialized WITH query or the working table of a recursion.
func (r *root) ctePath(b *baseRel) error {
	for _, w := range r.ps.work {
		if w.cte == b.entry.CTE {
			b.tuples = math.Max(1, w.rows*10)
			r.simplePath(b, shapeCTE)
			return nil
		}
	}
	info, err := r.cte(b.entry.CTE)
	if err != nil {
		return err
	}
	b.tuples = info.rows
	r.simplePath(b, shapeCTE)
	return nil
}

// subPlan is a planned subquery of FROM.
type subPlan struct {
	node plan.Node
	refs []paramRef
}

// subqueryPath plans a subquery of FROM.
func (r *root) subqueryPath(b *baseRel) error {
	if err := r.ps.enter(); err != nil {
		return err
	}
	defer r.ps.leave()
	q := r.subqueryOf(b.entry)
	saved := r.refs
	r.refs = nil
	child := r.ps.newRoot(r, q)
	node, err := child.planSelect()
	sub := &subPlan{node: node, refs: r.refs}
	r.refs = saved
	if err != nil {
		return err
	}
	for i := range sub.refs {
		b.lateral = b.lateral.union(sub.refs[i].rels)
	}
	b.sub = sub
	b.tuples = node.Base().Rows
	r.simplePath(b, shapeSub)
	b.paths[0].total += node.Base().Total
	b.paths[0].start = node.Base().Startup
	return nil
}
