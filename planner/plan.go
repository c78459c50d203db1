package planner

import (
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Options say how a bound query is to be planned.
type Options struct {
	// Params are the values of the statement's parameters for a custom plan; nil makes a generic one.
	Params []types.Datum
	// Fetch is the fraction of rows (0..1) a cursor is expected to fetch; 0 means all.
	Fetch float64
	// Readable tells whether the snapshot that will be read has an index; nil: all that are valid.
	Readable func(*catalog.Index) bool
	// NoFast leaves out the named fast paths (tests).
	NoFast bool
}

// session of planning one statement.
type planState struct {
	b      *binder
	set    *Settings
	out    *plan.Plan
	opts   Options
	depth  int
	ctes   map[*plan.CTE]*cteInfo
	tables map[types.OID]*plan.ModifyTable // children of referential actions
	nodes  int
	work   []workTable
}

// workTable is the recursive union being planned for a WITH item.
type workTable struct {
	cte  *plan.CTE
	node *plan.RecursiveUnion
	rows float64
}

// cteInfo says how a WITH item is planned: inlined, or as CTEs[index] of the plan.
type cteInfo struct {
	inline bool
	index  int
	rows   float64
	owner  *root
	needs  []need // ExecParams of the levels around owner that its plan uses
}

// Plan makes the physical plan of a bound query. info is Bind's (its types go into Plan.Params). Called by sql/session once
// for a generic plan, and with Options.Params for a custom one; errors are those of constant folding and limits.
func Plan(cat catalog.Reader, env *BindEnv, q *plan.Query, info *ParamInfo, o Options) (*plan.Plan, error) {
	rec := record(cat)
	rec.addAll(q.Deps)
	ps := &planState{b: &binder{cat: rec, env: env, params: newParamState(nil), stored: true}, set: env.Settings, opts: o}
	if ps.set == nil {
		ps.set = &Defaults
	}
	p := &plan.Plan{Command: q.Command}
	ps.out = p
	if info != nil {
		p.Params = make([]plan.Typed, len(info.Types))
		for i, t := range info.Types {
			p.Params[i] = plan.Typed{Type: ps.b.baseType(t), Typmod: -1, Loc: -1}
		}
	}
	q, err := ps.inlineFunctions(q)
	if err != nil {
		return nil, err
	}
	p.RowWise = callsVolatile(q)
	ps.survey(q, 0)
	r := ps.newRoot(nil, q)
	node, err := r.planTop()
	if err != nil {
		return nil, err
	}
	p.Root = node
	ps.describe(q)
	if p.ReadOnly = q.Command == plan.CmdSelect && !p.Modifies() && !ps.locks(q, 0); p.Volatile {
		p.ReadOnly = false
	}
	if !o.NoFast && len(userCalls(q)) == 0 { // a function may change the row that a fast path is at
		p.Fast = ps.fastPath(node)
	}
	ps.plainColumns(node, 0)
	for i := range p.InitPlans {
		ps.plainColumns(p.InitPlans[i].Plan, 0)
	}
	for _, c := range p.CTEs {
		ps.plainColumns(c.Plan, 0)
	}
	number(node, p)
	p.Deps = rec.deps
	return p, nil
}

// describe fills the result columns.
func (ps *planState) describe(q *plan.Query) {
	list := q.Targets
	if q.Command != plan.CmdSelect {
		if list = q.Returning; len(list) == 0 {
			return
		}
	}
	n := 0
	for _, t := range list {
		if !t.Junk {
			n++
		}
	}
	p := ps.out
	p.ResultCols, p.Origins = make([]plan.Column, 0, n), make([]plan.Origin, 0, n)
	for _, t := range list {
		if t.Junk {
			continue
		}
		c := plan.Column{Name: t.Name, Typed: ps.b.plainType(*t.Expr.T())}
		p.ResultCols = append(p.ResultCols, c)
		p.Origins = append(p.Origins, plan.Origin{Rel: t.OrigRel, Col: t.OrigCol})
	}
}

// survey collects rights, table locks and volatility of a query and all below it.
func (ps *planState) survey(q *plan.Query, depth int) {
	if depth > maxWalkDepth {
		return
	}
	for i, r := range q.RTable {
		if r.Rel != nil && r.Kind == plan.RTERelation {
			ps.surveyRel(q, i, r)
		}
		if r.Sub != nil {
			ps.survey(r.Sub, depth+1)
		}
	}
	for _, c := range q.CTEs {
		if c.Query != nil {
			ps.survey(c.Query, depth+1)
		}
	}
	queryExprs(q, func(root plan.Expr) {
		find(root, func(e plan.Expr) bool {
			if nodeVolatility(e) == 'v' {
				ps.out.Volatile = true
			}
			if s, ok := e.(*plan.SubLink); ok {
				ps.survey(s.Query, depth+1)
			}
			return false
		})
	})
}

func (ps *planState) surveyRel(q *plan.Query, i int, r *plan.RTE) {
	lock := plan.LockAccessShare
	if i == q.Result {
		lock = plan.LockRowExclusive
	}
	for _, l := range q.Locks {
		if l.RTE == i {
			lock = max(lock, plan.LockRowShare)
		}
	}
	need := r.Need
	if need != 0 {
		ps.out.Rights = append(ps.out.Rights, rightsOn(q, i))
	}
	if r.Rel.Unpopulated && i != q.Result {
		ps.out.Unpopulated = r.Rel.Name
	}
	if r.Rel.Kind == catalog.KindView || r.Rel.Virtual != nil || r.Rel.OID < 16384 {
		return
	}
	for k := range ps.out.Tables {
		if ps.out.Tables[k].OID == r.Rel.OID {
			ps.out.Tables[k].Lock = max(ps.out.Tables[k].Lock, lock)
			return
		}
	}
	ps.out.Tables = append(ps.out.Tables, plan.TableLock{OID: r.Rel.OID, Lock: lock})
}

// locks says whether the query or one below it locks rows.
func (ps *planState) locks(q *plan.Query, depth int) bool {
	if len(q.Locks) > 0 {
		return true
	}
	for _, r := range q.RTable {
		if r.Sub != nil && depth < maxWalkDepth && ps.locks(r.Sub, depth+1) {
			return true
		}
	}
	for _, c := range q.CTEs {
		if c.Query != nil && depth < maxWalkDepth && ps.locks(c.Query, depth+1) {
			return true
		}
	}
	return false
}

// newParam allots an ExecParam.
func (ps *planState) newParam() int {
	ps.out.ExecParams++
	return ps.out.ExecParams - 1
}

// number gives nodes dense identities for EXPLAIN ANALYZE.
func number(n plan.Node, p *plan.Plan) {
	id := 0
	var walk func(n plan.Node, depth int)
	walk = func(n plan.Node, depth int) {
		if n == nil || depth > maxWalkDepth {
			return
		}
		n.Base().ID = id
		id++
		for _, c := range n.Children() {
			walk(c, depth+1)
		}
		nodeExprs(n, func(e plan.Expr) {
			find(e, func(x plan.Expr) bool {
				if s, ok := x.(*plan.SubPlan); ok {
					walk(s.Plan, depth+1)
				}
				return false
			})
		})
	}
	walk(n, 0)
	for i := range p.InitPlans {
		walk(p.InitPlans[i].Plan, 0)
	}
	for _, c := range p.CTEs {
		walk(c.Plan, 0)
	}
}

// root is one query level while it is planned.
type root struct {
	ps     *planState
	parent *root
	q      *plan.Query // private copy; its slices are copied before they are changed
	level  int
	// refs are the expressions of this level that queries below it (or dependent joins) get as ExecParams.
	refs []paramRef
	// needs are ExecParams of enclosing levels that this level's plan uses.
	needs  []need
	attrs  [][]int16 // needed attribute numbers of each RTE
	jt     *jfrom
	groups *groupInfo
	rowIDs map[int]bool // RTEs that must yield their row identity
	// wholeRows are RTEs that must yield their row as one column, with its type.
	wholeRows map[int]plan.Typed
	limit     float64     // rows expected to be fetched, 0 all
	finals    []plan.Expr // values of aggregates answered by indexes
}

type paramRef struct {
	expr plan.Expr
	id   int
	rels relset // relations of this level that the expression uses
}

type need struct {
	at *root
	id int
}

func (ps *planState) newRoot(parent *root, q *plan.Query) *root {
	c := *q
	r := &root{ps: ps, parent: parent, q: &c}
	if parent != nil {
		r.level = parent.level + 1
	}
	return r
}

func (ps *planState) enter() error {
	ps.depth++
	if ps.depth > 500 {
		return tooDeep()
	}
	return nil
}

func (ps *planState) leave() { ps.depth-- }

// ancestor is the level n queries out.
func (r *root) ancestor(n int) *root {
	for range n {
		if r = r.parent; r == nil {
			return nil
		}
	}
	return r
}

// paramFor returns the ExecParam of an expression of this level.
func (r *root) paramFor(e plan.Expr) int {
	for i := range r.refs {
		if equalExpr(r.refs[i].expr, e) {
			return r.refs[i].id
		}
	}
	id := r.ps.newParam()
	r.refs = append(r.refs, paramRef{expr: e, id: id, rels: r.relsOf(e)})
	return id
}

func refByID(refs []paramRef, id int) *paramRef {
	for i := range refs {
		if refs[i].id == id {
			return &refs[i]
		}
	}
	return nil
}

// addNeed records that this level's plan uses an ExecParam of an enclosing level.
func (r *root) addNeed(at *root, id int) {
	for _, n := range r.needs {
		if n.id == id {
			return
		}
	}
	r.needs = append(r.needs, need{at, id})
}

// outer turns a reference to an enclosing level into its ExecParam.
func (r *root) outer(e plan.Expr, levels int) (plan.Expr, error) {
	at := r.ancestor(levels)
	if at == nil {
		return nil, sqlerr.Internal("reference %d levels out of a query of level %d", levels, r.level)
	}
	t := *e.T()
	e = rewriteLevels(e, -levels)
	id := at.paramFor(e)
	for p := r; p != at; p = p.parent {
		p.addNeed(at, id)
	}
	return &plan.ExecParam{Typed: t, ID: id}, nil
}

// rewriteLevels moves the references of e that point out of their query by delta levels.
func rewriteLevels(e plan.Expr, delta int) plan.Expr {
	return mapDeep(e, 0, func(x plan.Expr, level int) plan.Expr {
		switch v := x.(type) {
		case *plan.Var:
			if v.LevelsUp > level {
				n := *v
				n.LevelsUp += delta
				return &n
			}
		case *plan.Aggref:
			if v.LevelsUp > level {
				n := *v
				n.LevelsUp += delta
				return &n
			}
		case *plan.GroupingFunc:
			if v.LevelsUp > level {
				return shiftGrouping(v, delta)
			}
		}
		return x
	})
}
