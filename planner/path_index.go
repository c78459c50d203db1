package planner

import (
	"math"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/sql/types/key"
)

// keyMatch is what conditions say about the columns of an index.
type keyMatch struct {
	rng    plan.KeyRange
	used   []*clause // conditions the range ensures
	lossy  []*clause // conditions the range narrows but does not ensure
	eq     int       // leading columns pinned
	req    relset
	ranges float64 // number of key ranges
	bound  bool
}

// stripText looks through casts among the text types, whose values are the same bytes.
func stripText(e plan.Expr) plan.Expr {
	for {
		l, ok := e.(*plan.Relabel)
		if !ok || !isText(l.Type) || !isText(l.Arg.T().Type) {
			return e
		}
		e = l.Arg
	}
}

// adaptValue makes a comparison value one of an index column's type; ok is false when keys of its type order differently.
func adaptValue(v plan.Expr, key types.OID) (plan.Expr, bool) {
	t := v.T().Type
	switch {
	case t == key, isInt(t) && isInt(key):
		return v, true
	case isText(t) && isText(key):
		n := *v.T()
		n.Type, n.Typmod = key, -1
		return &plan.Relabel{Typed: n, Arg: v, Form: plan.FormImplicitCast}, true
	}
	return nil, false
}

// keyExprs are the expressions of an index's columns over the relation.
func (r *root) keyExprs(b *baseRel, ix *catalog.Index) ([]plan.Expr, error) {
	out := make([]plan.Expr, len(ix.Keys))
	for i := range ix.Keys {
		k := &ix.Keys[i]
		if k.Attno != 0 {
			c := &b.table.Columns[k.Attno-1]
			out[i] = &plan.Var{Typed: plan.Typed{Type: c.Type, Typmod: c.Typmod, Collation: c.Collation, Loc: -1}, RTE: b.rte, Attno: int(k.Attno)}
			continue
		}
		e, err := r.ps.b.relExpr(b.table, k.Expr, kindIndexExpr)
		if err != nil {
			return nil, err
		}
		out[i] = onRTE(e, 0, b.rte)
	}
	return out, nil
}

// tablePaths makes the full scan and the index paths of a table.
func (r *root) tablePaths(b *baseRel) error {
	b.tuples = r.tableRows(b.table)
	b.rows = clampRows(b.tuples * r.selClauses2(b.clauses))
	all := clauseExprs(b.clauses)
	if r.q.CurrentOf != "" && b.rte == r.q.Result {
		b.rows = 1
		b.paths = append(b.paths, &path{shape: shapeCurrent, rels: rset(b.rte), rel: b, rows: 1, filter: all, all: all, scanned: 1, start: 0, total: costSeek})
		return nil
	}
	for _, c := range b.table.Columns {
		if !c.Dropped {
			b.width += typeWidth(c.Type)
		}
	}
	pk := b.table.PrimaryKey
	var pkKeys []plan.Expr
	if pk != nil && !b.table.HiddenRowID {
		var err error
		if pkKeys, err = r.keyExprs(b, pk); err != nil {
			return err
		}
	}
	full := &path{shape: shapeScan, rels: rset(b.rte), rel: b, rows: b.rows, filter: all, all: all, scanned: b.tuples}
	full.start = costSeek
	full.total = costSeek + b.tuples*(costTuple+condCost(all))
	if !r.ps.set.SeqScan {
		full.start += costDisabled
		full.total += costDisabled
	}
	if pkKeys != nil {
		full.order = indexOrder(pk, pkKeys, false)
	}
	b.paths = append(b.paths, full)
	if pkKeys != nil && r.wantsReverse(full.order) {
		rev := *full
		rev.reverse, rev.order = true, indexOrder(pk, pkKeys, true)
		b.paths = append(b.paths, &rev)
	}
	if pkKeys != nil {
		r.indexPaths(b, pk, pkKeys, true)
	}
	for _, ix := range b.table.Indexes {
		if ix.State != catalog.IndexValid || ix.Method != "" && ix.Method != "btree" {
			continue
		}
		if f := r.ps.opts.Readable; f != nil && !f(ix) {
			continue
		}
		if !b.relevant(ix) && !r.ordering() {
			continue
		}
		keys, err := r.keyExprs(b, ix)
		if err != nil {
			return err
		}
		if ix.Pred != "" {
			p, err := r.ps.b.relExpr(b.table, ix.Pred, kindIndexPred)
			if err != nil {
				return err
			}
			if !implies(all, onRTE(p, 0, b.rte), 0) {
				continue
			}
		}
		r.indexPaths(b, ix, keys, false)
	}
	return nil
}

// relevant is a cheap test whether any condition could use an index.
func (b *baseRel) relevant(ix *catalog.Index) bool {
	return len(b.clauses) > 0 || len(b.joins) > 0 || ix.Pred != ""
}

// ordering says whether the query wants an order that an index could give.
func (r *root) ordering() bool {
	return len(r.q.OrderBy) > 0 || len(r.q.GroupBy) > 0 || r.q.Distinct || len(r.q.DistinctOn) > 0 || r.q.HasWindow
}

// wantsReverse says whether the query asks for the opposite of an order.
func (r *root) wantsReverse(order []orderKey) bool {
	if len(r.q.OrderBy) == 0 || len(order) == 0 {
		return false
	}
	for i := range r.q.OrderBy {
		if r.q.OrderBy[i].Desc != order[0].desc {
			return true
		}
	}
	return false
}

func indexOrder(ix *catalog.Index, keys []plan.Expr, reverse bool) []orderKey {
	out := make([]orderKey, len(keys))
	for i := range keys {
		k := &ix.Keys[i]
		out[i] = orderKey{keys[i], k.Desc != reverse, k.NullsFirst != reverse}
	}
	return out
}

// indexPaths adds paths over one index: with the relation's own conditions, and with those of joins.
func (r *root) indexPaths(b *baseRel, ix *catalog.Index, keys []plan.Expr, primary bool) {
	if !r.ps.set.IndexScan {
		return
	}
	m := r.matchKeys(b, ix, keys, b.clauses, relset{})
	if m.eq == 0 && !m.bound {
		if rs, used := r.orRanges(b, ix, keys); rs != nil {
			r.addIndexPath(b, ix, keys, primary, rs, nil, used, relset{})
		}
	}
	if m.eq > 0 || m.bound {
		r.addIndexPath(b, ix, keys, primary, []plan.KeyRange{m.rng}, m.used, m.lossy, relset{})
	} else if !primary && r.ordering() {
		r.addIndexPath(b, ix, keys, primary, nil, nil, nil, relset{})
	}
	r.paramPaths(b, ix, keys, primary, m)
}

// paramPaths adds paths whose keys come from other relations.
func (r *root) paramPaths(b *baseRel, ix *catalog.Index, keys []plan.Expr, primary bool, own keyMatch) {
	if len(b.joins) == 0 {
		return
	}
	var sets []relset
	var whole relset
	addSet := func(s relset) {
		for _, o := range sets {
			if s.within(o) && o.within(s) {
				return
			}
		}
		sets = append(sets, s)
	}
	for _, c := range b.joins {
		if c.call == nil || c.volatile {
			continue
		}
		outer := c.rels.minus(rset(b.rte))
		if outer.empty() || !r.usesKey(c, b.rte, keys) {
			continue
		}
		addSet(outer)
		whole = whole.union(outer)
	}
	if len(sets) > 1 {
		addSet(whole)
	}
	for _, s := range sets {
		list := append([]*clause(nil), b.clauses...)
		limit := s.union(rset(b.rte))
		for _, c := range b.joins {
			if c.rels.within(limit) {
				list = append(list, c)
			}
		}
		m := r.matchKeys(b, ix, keys, list, s)
		if m.req.empty() || m.eq <= own.eq && !(m.bound && !own.bound) {
			continue
		}
		r.addIndexPath(b, ix, keys, primary, []plan.KeyRange{m.rng}, m.used, m.lossy, m.req)
	}
}

// usesKey says whether a join condition compares one of the index's columns.
func (r *root) usesKey(c *clause, rte int, keys []plan.Expr) bool {
	for _, k := range keys {
		for side := range 2 {
			if equalKey(c.call.Args[side], k) {
				return true
			}
		}
	}
	return false
}

// equalKey compares an operand with an index column, looking through text casts.
func equalKey(e, k plan.Expr) bool {
	if v, ok := k.(*plan.Var); ok {
		x, ok := stripText(e).(*plan.Var)
		return ok && x.LevelsUp == 0 && x.RTE == v.RTE && x.Attno == v.Attno
	}
	return equalExpr(e, k) || equalExpr(stripText(e), stripText(k))
}

// matchKeys finds the key range that conditions give on an index; outer are the relations whose columns are known.
func (r *root) matchKeys(b *baseRel, ix *catalog.Index, keys []plan.Expr, list []*clause, outer relset) keyMatch {
	m := keyMatch{rng: plan.KeyRange{In: -1}, ranges: 1}
	if len(list) == 0 {
		return m
	}
	for i, k := range keys {
		if r.matchEqual(&m, b, k, list, outer) {
			m.eq++
			continue
		}
		r.matchBounds(&m, b, ix, keys, i, list, outer)
		break
	}
	return m
}

// operand reads c as "key op value": the value and operator with the key on the left.
func (r *root) operand(c *clause, b *baseRel, k plan.Expr, outer relset) (plan.Expr, types.OID, relset, bool) {
	f := c.call
	if f == nil || c.volatile {
		return nil, 0, relset{}, false
	}
	for side := range 2 {
		if !equalKey(f.Args[side], k) {
			continue
		}
		rels := c.rightRels
		op := f.Op
		if side == 1 {
			rels = c.leftRels
			o := pgdata.OperatorByOID(op)
			if o == nil || o.Com == 0 {
				continue
			}
			op = o.Com
		}
		if rels.has(b.rte) || !rels.within(outer) {
			continue
		}
		v, ok := adaptValue(f.Args[1-side], k.T().Type)
		if ok && !find(v, hasSubLink) {
			return v, op, rels, true
		}
		if ok && len(r.subLinkRels(v)) == 0 {
			return v, op, rels, true
		}
	}
	return nil, 0, relset{}, false
}

// subLinkRels lists a marker for every sublink that depends on this level's rows: such a value cannot be a key.
func (r *root) subLinkRels(e plan.Expr) []int {
	var out []int
	deepExpr(e, 0, func(x plan.Expr, level int) bool {
		if s, ok := x.(*plan.SubLink); ok && (s.Test != nil || subLateral(s.Query)) {
			out = append(out, 1)
		}
		return false
	})
	return out
}

// matchEqual pins a column by =, IN, IS NULL or a boolean test.
func (r *root) matchEqual(m *keyMatch, b *baseRel, k plan.Expr, list []*clause, outer relset) bool {
	for _, c := range list {
		if v, op, rels, ok := r.operand(c, b, k, outer); ok && rowStrategy(op) == pgdata.BTEqual {
			m.rng.Eq = append(m.rng.Eq, v)
			m.used = append(m.used, c)
			m.req = m.req.union(rels)
			return true
		}
	}
	for _, c := range list {
		if n, ok := c.expr.(*plan.NullTest); ok && !n.Not && !n.ArgIsRow && equalKey(n.Arg, k) {
			m.rng.Eq = append(m.rng.Eq, nil)
			m.used = append(m.used, c)
			return true
		}
		if k.T().Type != types.BoolOID {
			continue
		}
		want, hit := true, equalExpr(c.expr, k)
		if n, ok := c.expr.(*plan.BoolExpr); ok && n.Kind == plan.Not && equalExpr(n.Args[0], k) {
			want, hit = false, true
		}
		if t, ok := c.expr.(*plan.BooleanTest); ok && equalExpr(t.Arg, k) && (t.Kind == plan.IsTrue || t.Kind == plan.IsFalse) {
			want, hit = t.Kind == plan.IsTrue, true
		}
		if hit {
			m.rng.Eq = append(m.rng.Eq, r.ps.b.boolConst(want))
			m.used = append(m.used, c)
			return true
		}
	}
	if m.rng.In >= 0 {
		return false
	}
	for _, c := range list {
		s, ok := c.expr.(*plan.ScalarArrayOp)
		if !ok || !s.UseOr || rowStrategy(s.Op) != pgdata.BTEqual || !equalKey(s.Args[0], k) {
			continue
		}
		rels := r.relsOf(s.Args[1])
		et := r.ps.b.elemType(s.Args[1].T().Type)
		kt := k.T().Type
		if rels.has(b.rte) || !rels.within(outer) || volatilityOf(s.Args[1]) == 'v' || len(r.subLinkRels(s.Args[1])) > 0 {
			continue
		}
		if et != kt && !(isText(et) && isText(kt)) && !(isInt(et) && isInt(kt)) {
			continue
		}
		m.rng.In = len(m.rng.Eq)
		m.rng.Eq = append(m.rng.Eq, s.Args[1])
		m.used = append(m.used, c)
		m.req = m.req.union(rels)
		m.ranges = 10
		if a, ok := s.Args[1].(*plan.ArrayExpr); ok {
			m.ranges = float64(len(a.Args))
		} else if cst, ok := s.Args[1].(*plan.Const); ok && !cst.Value.Null {
			m.ranges = math.Max(1, arrayLen(cst.Value.B))
		}
		return true
	}
	return false
}

// matchBounds bounds the first column that is not pinned.
func (r *root) matchBounds(m *keyMatch, b *baseRel, ix *catalog.Index, keys []plan.Expr, i int, list []*clause, outer relset) {
	k := keys[i]
	for _, c := range list {
		v, op, rels, ok := r.operand(c, b, k, outer)
		if !ok {
			continue
		}
		bound := &plan.Bound{Exprs: []plan.Expr{v}}
		switch rowStrategy(op) {
		case pgdata.BTLess, pgdata.BTLessEqual:
			bound.Inclusive = rowStrategy(op) == pgdata.BTLessEqual
			if m.rng.Hi != nil {
				continue
			}
			m.rng.Hi = bound
		case pgdata.BTGreater, pgdata.BTGreaterEqual:
			bound.Inclusive = rowStrategy(op) == pgdata.BTGreaterEqual
			if m.rng.Lo != nil {
				continue
			}
			m.rng.Lo = bound
		default:
			continue
		}
		m.bound = true
		m.used = append(m.used, c)
		m.req = m.req.union(rels)
	}
	if m.rng.Lo == nil && m.rng.Hi == nil {
		r.matchRow(m, b, ix, keys, i, list, outer)
	}
	if m.rng.Lo == nil && m.rng.Hi == nil {
		r.matchPrefix(m, k, list)
	}
}

// matchRow uses (a, b) > (x, y) on consecutive columns.
func (r *root) matchRow(m *keyMatch, b *baseRel, ix *catalog.Index, keys []plan.Expr, i int, list []*clause, outer relset) {
	for _, c := range list {
		rc, ok := c.expr.(*plan.RowCompare)
		if !ok || c.volatile {
			continue
		}
		n := 0
		bound := &plan.Bound{}
		var rels relset
		for n < len(rc.Left) && i+n < len(keys) && equalKey(rc.Left[n], keys[i+n]) && ix.Keys[i+n].Desc == ix.Keys[i].Desc {
			vr := r.relsOf(rc.Right[n])
			v, ok := adaptValue(rc.Right[n], keys[i+n].T().Type)
			if !ok || vr.has(b.rte) || !vr.within(outer) || len(r.subLinkRels(v)) > 0 {
				break
			}
			bound.Exprs = append(bound.Exprs, v)
			rels = rels.union(vr)
			n++
		}
		if n == 0 {
			continue
		}
		exact := n == len(rc.Left)
		bound.Inclusive = !exact || rc.Kind == plan.RowLE || rc.Kind == plan.RowGE
		if rc.Kind == plan.RowLT || rc.Kind == plan.RowLE {
			m.rng.Hi = bound
		} else {
			m.rng.Lo = bound
		}
		m.bound = true
		m.req = m.req.union(rels)
		// NULLs in a later column make the comparison NULL although the key is inside the range.
		m.lossy = append(m.lossy, c)
		return
	}
}

// matchPrefix uses LIKE 'abc%' as a range; the condition itself stays.
func (r *root) matchPrefix(m *keyMatch, k plan.Expr, list []*clause) {
	if !isText(k.T().Type) {
		return
	}
	for _, c := range list {
		f, ok := c.expr.(*plan.FuncCall)
		if !ok || f.Op == 0 || len(f.Args) != 2 || !equalKey(f.Args[0], k) {
			continue
		}
		pat, ok := stripRelabel(f.Args[1]).(*plan.Const)
		if !ok || pat.Value.Null {
			continue
		}
		o := pgdata.OperatorByOID(f.Op)
		if o == nil {
			continue
		}
		prefix := ""
		switch o.Name {
		case "~~":
			prefix = likePrefix(string(pat.Value.B))
		case "^@":
			prefix = string(pat.Value.B)
		}
		if prefix == "" {
			continue
		}
		t := plan.Typed{Type: k.T().Type, Typmod: -1, Collation: k.T().Collation, Loc: -1}
		m.rng.Lo = &plan.Bound{Exprs: []plan.Expr{&plan.Const{Typed: t, Value: types.Text(prefix)}}, Inclusive: true}
		if next := nextPrefix(prefix); next != "" {
			m.rng.Hi = &plan.Bound{Exprs: []plan.Expr{&plan.Const{Typed: t, Value: types.Text(next)}}}
		}
		m.bound = true
		m.lossy = append(m.lossy, c)
		return
	}
}

func likePrefix(pat string) string {
	var out []byte
	for i := 0; i < len(pat); i++ {
		switch pat[i] {
		case '%', '_':
			return string(out)
		case '\\':
			i++
			if i == len(pat) {
				return string(out)
			}
		}
		out = append(out, pat[i])
	}
	return string(out)
}

// nextPrefix is the least string above all that begin with p; "" when there is none.
func nextPrefix(p string) string {
	b := []byte(p)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return ""
}

// orRanges reads a condition "a OR b OR ..." whose every arm bounds the index as several ranges.
func (r *root) orRanges(b *baseRel, ix *catalog.Index, keys []plan.Expr) ([]plan.KeyRange, []*clause) {
	for _, c := range b.clauses {
		or, ok := c.expr.(*plan.BoolExpr)
		if !ok || or.Kind != plan.Or || len(or.Args) > 100 {
			continue
		}
		var out []plan.KeyRange
		for _, arm := range or.Args {
			var list []*clause
			for _, e := range splitAnd(nil, arm) {
				list = append(list, r.newClause(e))
			}
			m := r.matchKeys(b, ix, keys, list, relset{})
			if m.eq == 0 && !m.bound || !m.req.empty() {
				out = nil
				break
			}
			out = append(out, m.rng)
		}
		if out != nil {
			return out, []*clause{c}
		}
	}
	return nil, nil
}

// addIndexPath adds a path over ranges of an index, and its reverse when the query asks for that order.
func (r *root) addIndexPath(b *baseRel, ix *catalog.Index, keys []plan.Expr, primary bool, ranges []plan.KeyRange, used, lossy []*clause, req relset) {
	p := &path{shape: shapeIndex, rels: rset(b.rte), rel: b, index: ix, ranges: ranges, req: req, all: clauseExprs(b.clauses)}
	if primary {
		p.shape = shapeScan
	}
	ensured := func(c *clause) bool {
		for _, u := range used {
			if u == c {
				return true
			}
		}
		return false
	}
	for _, c := range b.clauses {
		if !ensured(c) {
			p.filter = append(p.filter, c.expr)
		}
	}
	if !req.empty() {
		limit := req.union(rset(b.rte))
		for _, c := range b.joins {
			if !c.rels.within(limit) || c.volatile {
				continue
			}
			p.all = append(p.all[:len(p.all):len(p.all)], c.expr)
			if !ensured(c) {
				p.filter = append(p.filter, c.expr)
			}
		}
	}
	p.rows, p.scanned = r.indexRows(b, ix, ranges, used, lossy, req)
	nr := 0.0
	for i := range ranges {
		n := 1.0
		if in := ranges[i].In; in >= 0 {
			n = 10
			if a, ok := ranges[i].Eq[in].(*plan.ArrayExpr); ok {
				n = float64(len(a.Args))
			} else if c, ok := ranges[i].Eq[in].(*plan.Const); ok && !c.Value.Null {
				n = arrayLen(c.Value.B)
			}
		}
		nr += n
	}
	nr = math.Max(nr, 1)
	perRow := costTuple
	if !primary {
		p.indexOnly = r.indexOnly(b, ix, p)
		perRow = costIndexRow + costFetch
		if p.indexOnly {
			perRow = costIndexRow
		}
	}
	p.start = costSeek
	p.total = nr*costSeek + p.scanned*(perRow+condCost(p.filter))
	if req.empty() {
		p.order = indexOrder(ix, keys, false)
		if len(b.clauses) > 0 && p.rows < b.rows {
			b.rows = p.rows
		}
	}
	b.paths = append(b.paths, p)
	if req.empty() && r.wantsReverse(p.order) {
		rev := *p
		rev.reverse, rev.order = true, indexOrder(ix, keys, true)
		b.paths = append(b.paths, &rev)
	}
}

// indexRows estimates the rows a range yields, after and before its filter.
func (r *root) indexRows(b *baseRel, ix *catalog.Index, ranges []plan.KeyRange, used, lossy []*clause, req relset) (rows, scanned float64) {
	if len(ranges) == 0 {
		return b.rows, b.tuples
	}
	if ix.Unique && len(ranges) == 1 && len(ranges[0].Eq) == len(ix.Keys) && ranges[0].In < 0 {
		return 1, 1
	}
	s := 1.0
	if len(used)+len(lossy) > 0 {
		list := append(append([]*clause(nil), used...), lossy...)
		if s = r.selClauses(list); !req.empty() {
			s = math.Max(s, r.keyedSel(list))
		}
	}
	scanned = clampRows(b.tuples * s)
	if ix.Unique && len(ranges) == 1 && len(ranges[0].Eq) == len(ix.Keys) {
		n := 10.0
		if a, ok := ranges[0].Eq[ranges[0].In].(*plan.ArrayExpr); ok {
			n = float64(len(a.Args))
		} else if c, ok := ranges[0].Eq[ranges[0].In].(*plan.Const); ok && !c.Value.Null {
			n = arrayLen(c.Value.B)
		}
		scanned = math.Min(scanned, math.Max(n, 1))
	}
	rest := 1.0
	for _, c := range b.clauses {
		in := false
		for _, u := range used {
			in = in || u == c
		}
		for _, u := range lossy {
			in = in || u == c
		}
		if !in {
			rest *= r.clauseSel(c)
		}
	}
	rows = clampRows(scanned * rest)
	if req.empty() {
		rows = math.Min(rows, b.rows)
	}
	return rows, scanned
}

// indexOnly says whether all columns needed can be read back from the index's keys.
func (r *root) indexOnly(b *baseRel, ix *catalog.Index, p *path) bool {
	if !r.ps.set.IndexOnlyScan || r.rowIDs[b.rte] {
		return false
	}
	for _, a := range r.filterAttrs(b.rte, p.filter) {
		if !readableKey(ix, a) {
			return false
		}
	}
	return true
}

// readableKey says whether a column can be read back from an index's keys: its own key is reversible, and those in front
// of it have an end that can be found.
func readableKey(ix *catalog.Index, attno int16) bool {
	for i := range ix.Keys {
		k := &ix.Keys[i]
		if k.Attno == attno && attno > 0 {
			return key.Reversible(k.Type, k.Collation)
		}
		if !key.Skippable(k.Type) {
			return false
		}
	}
	return false
}
