package planner

import (
	"math"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// Costs in units of PostgreSQL's sequential page read, fitted to an in-memory store.
const (
	costTuple     = 0.01   // a row through an operator
	costOperator  = 0.0025 // one function call
	costIndexRow  = 0.006  // an index entry
	costFetch     = 0.3    // from an index entry to its row
	costRescan    = 0.8    // starting the right side of a nested loop again
	costSeek      = 0.05   // a descent of a tree
	costVirtual   = 0.05   // a row of a catalog, which is computed
	costHashBuild = 0.03
	costSubPlan   = 1.0 // running a subquery for a row
	costHashProbe = 0.0075
	costDisabled  = 1e10
)

// Default selectivities, PostgreSQL's.
const (
	selEq    = 0.005
	selIneq  = 1.0 / 3
	selRange = 0.005
	selLike  = 0.005
	selNull  = 0.005
	selBool  = 0.5
	selOther = 0.25
	minSel   = 1e-10
	distinct = 200.0
)

// selectivity is the fraction of rows for which a condition is true.
func (r *root) selectivity(e plan.Expr) float64 {
	s := r.selOf(e, 0)
	return math.Min(1, math.Max(minSel, s))
}

func (r *root) selOf(e plan.Expr, depth int) float64 {
	if depth > 200 {
		return selOther
	}
	switch x := e.(type) {
	case *plan.Const:
		if x.Value.Null || x.Value.I == 0 {
			return 0
		}
		return 1
	case *plan.BoolExpr:
		switch x.Kind {
		case plan.Not:
			return 1 - r.selOf(x.Args[0], depth+1)
		case plan.And:
			return r.selAnd(x.Args, depth+1)
		}
		s := 0.0
		for _, a := range x.Args {
			t := r.selOf(a, depth+1)
			s = s + t - s*t
		}
		return s
	case *plan.FuncCall:
		return r.selCall(x)
	case *plan.ScalarArrayOp:
		return r.selArray(x)
	case *plan.NullTest:
		f := selNull
		if st := r.columnStats(x.Arg); st != nil {
			f = st.NullFrac
		} else if v, ok := x.Arg.(*plan.Var); ok && r.notNull(v) {
			f = 0
		}
		if x.Not {
			return 1 - f
		}
		return f
	case *plan.BooleanTest:
		s := r.selOf(x.Arg, depth+1)
		switch x.Kind {
		case plan.IsTrue, plan.IsNotFalse, plan.IsNotUnknown:
			return s
		case plan.IsUnknown:
			return selNull
		}
		return 1 - s
	case *plan.Var:
		return selBool
	case *plan.DistinctExpr:
		if x.Not {
			return selEq
		}
		return 1 - selEq
	case *plan.Relabel:
		return r.selOf(x.Arg, depth+1)
	case *plan.SubLink:
		return selBool
	}
	return selOther
}

// selAnd multiplies, taking a pair "x > a AND x < b" for a range.
func (r *root) selAnd(list []plan.Expr, depth int) float64 {
	s := 1.0
	var ranges []rangeSel
next:
	for _, e := range list {
		t := r.selOf(e, depth)
		if f, ok := e.(*plan.FuncCall); ok && f.Op != 0 && len(f.Args) == 2 {
			v, op := f.Args[0], f.Op
			if r.relsOf(v).empty() {
				v = f.Args[1]
				if o := pgdata.OperatorByOID(op); o != nil && o.Com != 0 {
					op = o.Com
				}
			}
			st := rowStrategy(op)
			if st == pgdata.BTLess || st == pgdata.BTLessEqual || st == pgdata.BTGreater || st == pgdata.BTGreaterEqual {
				hi := st == pgdata.BTLess || st == pgdata.BTLessEqual
				for i := range ranges {
					if equalExpr(ranges[i].v, v) && ranges[i].hi != hi {
						both := ranges[i].sel + t - 1
						if ranges[i].sel == selIneq && t == selIneq {
							both = selRange
						}
						if both <= 0 {
							both = minSel * 10
						}
						s = s / ranges[i].sel * both
						continue next
					}
				}
				ranges = append(ranges, rangeSel{v, hi, math.Max(t, minSel)})
			}
		}
		s *= math.Max(t, minSel)
	}
	return s
}

type rangeSel struct {
	v   plan.Expr
	hi  bool
	sel float64
}

func stripRelabel(e plan.Expr) plan.Expr {
	for {
		l, ok := e.(*plan.Relabel)
		if !ok {
			return e
		}
		e = l.Arg
	}
}

// columnOf finds the table column a Var of this level is.
func (r *root) columnOf(e plan.Expr) (*catalog.Relation, *catalog.Column) {
	v, ok := stripRelabel(e).(*plan.Var)
	if !ok || v.LevelsUp != 0 || v.Attno <= 0 || v.RTE >= len(r.q.RTable) {
		return nil, nil
	}
	rte := r.q.RTable[v.RTE]
	if rte.Kind != plan.RTERelation || rte.Rel == nil || v.Attno > len(rte.Rel.Columns) {
		return nil, nil
	}
	return rte.Rel, &rte.Rel.Columns[v.Attno-1]
}

func (r *root) columnStats(e plan.Expr) *catalog.ColumnStats {
	_, c := r.columnOf(e)
	if c == nil {
		return nil
	}
	return c.Stats
}

func (r *root) notNull(v *plan.Var) bool {
	_, c := r.columnOf(v)
	return c != nil && c.NotNull
}

// distinctOf estimates the number of different values of an expression.
func (r *root) distinctOf(e plan.Expr) float64 {
	rel, c := r.columnOf(e)
	if rel == nil {
		return distinct
	}
	rows := r.tableRows(rel)
	if st := c.Stats; st != nil && st.NDistinct != 0 {
		if st.NDistinct < 0 {
			return math.Max(1, -st.NDistinct*rows)
		}
		return math.Max(1, st.NDistinct)
	}
	if uniqueColumn(rel, c.Num) {
		return math.Max(1, rows)
	}
	if c.Type == types.BoolOID {
		return 2
	}
	if rel.Virtual != nil && c.Type == types.QCharOID {
		return fewKinds
	}
	if n, ok := virtualColumn(rel, c.Num); ok && n == 0 {
		return fewKinds
	} else if ok {
		return math.Max(1, rows/n)
	}
	return math.Max(1, math.Min(distinct, rows))
}

// fewKinds is the number of values of a catalog's column that has few: kinds, classes, schemas.
const fewKinds = 4

// virtualColumn is how many rows of a base catalog have one value of a column, as its access paths declare (0 many); ok is
// false when none does.
func virtualColumn(rel *catalog.Relation, num int16) (rows float64, ok bool) {
	if rel.Virtual == nil {
		return 0, false
	}
	for _, p := range rel.Virtual.Paths() {
		if len(p.Cols) == 1 && p.Cols[0] == num {
			return p.Rows, true
		}
	}
	return 0, false
}

func uniqueColumn(rel *catalog.Relation, num int16) bool {
	if n, _ := virtualColumn(rel, num); n == 1 {
		return true
	}
	if pk := rel.PrimaryKey; pk != nil && len(pk.Keys) == 1 && pk.Keys[0].Attno == num {
		return true
	}
	for _, ix := range rel.Indexes {
		if ix.Unique && ix.State == catalog.IndexValid && len(ix.Keys) == 1 && ix.Keys[0].Attno == num && ix.Pred == "" {
			return true
		}
	}
	return false
}

// tableRows is the number of rows of a table.
func (r *root) tableRows(rel *catalog.Relation) float64 {
	if rel.Virtual != nil || rel.OID < pgdata.FirstUserOID { // not in Sizes: catalogs grow, their plans stay
		if n := r.ps.b.cat.RowCount(rel); n > 0 {
			return float64(n)
		}
		return 1000
	}
	least := float64(minTableRows)
	if analyzed(rel) {
		least = 1
	}
	for i := range r.ps.out.Sizes {
		if r.ps.out.Sizes[i].Rel.OID == rel.OID {
			return max(r.ps.out.Sizes[i].Rows, least)
		}
	}
	n := float64(max(r.ps.b.cat.RowCount(rel), 0))
	r.ps.out.Sizes = append(r.ps.out.Sizes, plan.TableSize{Rel: rel, Rows: n})
	return max(n, least)
}

// minTableRows is the least size a table without statistics is taken for: a table that is empty now is expected to be filled,
// and its plans kept.
const minTableRows = 100

// analyzed says whether a table has statistics: small ones then have the size they have.
func analyzed(rel *catalog.Relation) bool {
	for i := range rel.Columns {
		if rel.Columns[i].Stats != nil {
			return true
		}
	}
	return false
}

// Outgrown says whether a table of the plan has left [n/4, 4n] of the size it was planned for, so that another plan may be better.
// Small tables do not count. Called by sql/session before it runs a cached plan that has no fast path.
func Outgrown(p *plan.Plan, rows func(rel *catalog.Relation) int64) bool {
	for i := range p.Sizes {
		s := &p.Sizes[i]
		was, now := max(s.Rows, minTableRows), max(float64(rows(s.Rel)), minTableRows)
		if now > 4*was || now < was/4 {
			return true
		}
	}
	return false
}

// selCall estimates an operator.
func (r *root) selCall(f *plan.FuncCall) float64 {
	if f.Op == 0 || len(f.Args) != 2 {
		return 1.0 / 3
	}
	l, rt := f.Args[0], f.Args[1]
	op := f.Op
	if r.relsOf(l).empty() && !r.relsOf(rt).empty() {
		if o := pgdata.OperatorByOID(op); o != nil && o.Com != 0 {
			op, l, rt = o.Com, rt, l
		}
	}
	o := pgdata.OperatorByOID(op)
	if o == nil {
		return selOther
	}
	st := rowStrategy(op)
	switch {
	case st == pgdata.BTEqual:
		return r.selEqual(l, rt)
	case st == rowNotEqual:
		return math.Max(0, 1-r.selEqual(l, rt)-r.nullFrac(l))
	case st != 0:
		return r.selCompare(l, rt, st)
	}
	switch o.Name {
	case "~~":
		return r.selPattern(l, rt)
	case "!~~":
		return math.Max(0, 1-r.selPattern(l, rt)-r.nullFrac(l))
	case "~~*", "~", "~*":
		return selLike
	case "!~~*", "!~", "!~*":
		return 1 - selLike
	case "@>", "<@", "&&", "?", "@@":
		return 0.01
	}
	return 1.0 / 3
}

func (r *root) nullFrac(e plan.Expr) float64 {
	if st := r.columnStats(e); st != nil {
		return st.NullFrac
	}
	return 0
}

// selEqual estimates l = rt.
func (r *root) selEqual(l, rt plan.Expr) float64 {
	rel, col := r.columnOf(l)
	if !r.relsOf(rt).empty() {
		return 1 / math.Max(1, math.Max(r.distinctOf(l), r.distinctOf(rt)))
	}
	if rel == nil {
		return selEq
	}
	if uniqueColumn(rel, col.Num) {
		return 1 / math.Max(1, r.tableRows(rel))
	}
	st := col.Stats
	if st == nil {
		return 1 / r.distinctOf(l)
	}
	c, ok := stripRelabel(rt).(*plan.Const)
	if ok && !c.Value.Null && types.KindOf(c.Type) == types.KindOf(col.Type) {
		for i, m := range st.MCV {
			if types.Compare(col.Type, col.Collation, m, c.Value) == 0 {
				return st.MCVFreqs[i]
			}
		}
		sum := 0.0
		for _, f := range st.MCVFreqs {
			sum += f
		}
		other := r.distinctOf(l) - float64(len(st.MCV))
		s := 1 - sum - st.NullFrac
		if other > 1 {
			s /= other
		}
		return math.Max(s, minSel)
	}
	return math.Max((1-st.NullFrac)/r.distinctOf(l), minSel)
}

// selCompare estimates an inequality from MCVs and histogram.
func (r *root) selCompare(l, rt plan.Expr, strategy int) float64 {
	_, col := r.columnOf(l)
	c, ok := stripRelabel(rt).(*plan.Const)
	if col == nil || col.Stats == nil || !ok || c.Value.Null || types.KindOf(c.Type) != types.KindOf(col.Type) {
		return selIneq
	}
	st := col.Stats
	less := strategy == pgdata.BTLess || strategy == pgdata.BTLessEqual
	in := func(d types.Datum) bool {
		k := types.Compare(col.Type, col.Collation, d, c.Value)
		switch strategy {
		case pgdata.BTLess:
			return k < 0
		case pgdata.BTLessEqual:
			return k <= 0
		case pgdata.BTGreater:
			return k > 0
		}
		return k >= 0
	}
	s, mcv := 0.0, 0.0
	for i, m := range st.MCV {
		mcv += st.MCVFreqs[i]
		if in(m) {
			s += st.MCVFreqs[i]
		}
	}
	frac := 0.5
	if n := len(st.Histogram); n > 1 {
		below := 0
		for _, h := range st.Histogram {
			if types.Compare(col.Type, col.Collation, h, c.Value) < 0 {
				below++
			}
		}
		frac = histFraction(st.Histogram, below, col.Type, c.Value)
		if !less {
			frac = 1 - frac
		}
	} else if len(st.MCV) == 0 {
		return selIneq
	}
	return s + frac*math.Max(0, 1-mcv-st.NullFrac)
}

// histFraction is the part of an equi-depth histogram below a value, interpolated for numbers.
func histFraction(h []types.Datum, below int, t types.OID, v types.Datum) float64 {
	n := len(h)
	if below == 0 {
		return 0
	}
	if below >= n {
		return 1
	}
	part := 0.5
	lo, hi := h[below-1], h[below]
	switch types.KindOf(t) {
	case types.KindInt:
		if hi.I > lo.I {
			part = float64(v.I-lo.I) / float64(hi.I-lo.I)
		}
	case types.KindFloat:
		if a, b := lo.Float(), hi.Float(); b > a {
			part = (v.Float() - a) / (b - a)
		}
	}
	return (float64(below-1) + part) / float64(n-1)
}

// selArray estimates x op ANY/ALL (array).
func (r *root) selArray(x *plan.ScalarArrayOp) float64 {
	n := 10.0
	if a, ok := x.Args[1].(*plan.ArrayExpr); ok {
		n = float64(len(a.Args))
	} else if c, ok := x.Args[1].(*plan.Const); ok && !c.Value.Null {
		n = arrayLen(c.Value.B)
	}
	one := &plan.FuncCall{Typed: x.Typed, Op: x.Op, Func: x.Func, Args: []plan.Expr{x.Args[0], &plan.Param{Typed: plan.Typed{Type: x.Args[0].T().Type}}}}
	s := r.selCall(one)
	if x.UseOr {
		if rowStrategy(x.Op) == pgdata.BTEqual {
			return math.Min(1, s*n)
		}
		return 1 - math.Pow(1-s, n)
	}
	return math.Pow(s, n)
}

// arrayLen reads the number of elements from an array's header.
func arrayLen(b []byte) float64 {
	if len(b) < 6 || b[0] == 0 {
		return 0
	}
	n := 1.0
	for i := 0; i < int(b[0]) && 6+8*i+4 <= len(b); i++ {
		o := 6 + 8*i
		n *= float64(uint32(b[o]) | uint32(b[o+1])<<8 | uint32(b[o+2])<<16 | uint32(b[o+3])<<24)
	}
	return n
}

// clauseSel is the selectivity of a condition, computed once.
func (r *root) clauseSel(c *clause) float64 {
	if c.sel == 0 {
		c.sel = r.selectivity(c.expr)
	}
	return c.sel
}

// selClauses is the combined selectivity of conditions on one relation.
func (r *root) selClauses(list []*clause) float64 {
	if len(list) == 1 {
		return r.clauseSel(list[0])
	}
	exprs := make([]plan.Expr, len(list))
	for i, c := range list {
		exprs[i] = c.expr
	}
	return math.Min(1, math.Max(minSel, r.selAnd(exprs, 0)))
}

// typeWidth is the average width of a column in bytes.
func typeWidth(t types.OID) int {
	if td := pgdata.TypeByOID(t); td != nil && td.Len > 0 {
		return int(td.Len)
	}
	return 32
}

// sortCost is the cost of sorting n rows, limit rows of which are wanted (0 all).
func sortCost(n, limit float64) float64 {
	if n < 2 {
		n = 2
	}
	k := n
	if limit > 0 && limit < n {
		k = math.Max(2, limit)
	}
	return n*math.Log2(k)*2*costOperator + n*costOperator
}

// condCost is the cost of testing conditions for one row.
func condCost(list []plan.Expr) float64 {
	c := float64(len(list)) * costOperator
	for _, e := range list {
		if find(e, isRowSubquery) {
			c += costSubPlan
		}
	}
	return c
}

// isRowSubquery says whether an expression is a subquery that runs for each row.
func isRowSubquery(e plan.Expr) bool {
	s, ok := e.(*plan.SubLink)
	return ok && subLateral(s.Query)
}
