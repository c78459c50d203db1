package planner

import (
	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// folder simplifies expressions: PostgreSQL's eval_const_expressions.
type folder struct {
	ps  *planState
	err error
}

// foldQuery simplifies the expressions of a level and drops conditions that are always true.
func (r *root) foldQuery() error {
	f := &folder{ps: r.ps}
	q := r.q
	fold := f.expr
	targets := foldTargets(q.Targets, fold)
	returning := foldTargets(q.Returning, fold)
	if len(q.OrderBy) > 0 {
		q.OrderBy = append([]plan.SortKey(nil), q.OrderBy...)
		for i, t := range q.OrderByTarget {
			q.OrderBy[i].Expr = targets[t].Expr
		}
	}
	for i, on := range q.DistinctOn {
		for k, t := range q.Targets {
			if t.Expr == on && targets[k] != t {
				q.DistinctOn = append([]plan.Expr(nil), q.DistinctOn...)
				q.DistinctOn[i] = targets[k].Expr
				break
			}
		}
	}
	for i, g := range q.GroupBy {
		n := fold(g)
		if n != g {
			q.GroupBy = append([]plan.Expr(nil), q.GroupBy...)
			q.GroupBy[i] = n
		}
	}
	q.Targets, q.Returning = targets, returning
	q.Having = fold(q.Having)
	q.Limit, q.Offset = fold(q.Limit), fold(q.Offset)
	f.windows(q)
	f.tables(q)
	if c := q.OnConflict; c != nil {
		n := *c
		n.Set, n.Where = foldTargets(c.Set, fold), fold(c.Where)
		q.OnConflict = &n
	}
	f.tree(r.jt)
	return f.err
}

func foldTargets(list []*plan.Target, fold func(plan.Expr) plan.Expr) []*plan.Target {
	out := list
	for i, t := range list {
		if e := fold(t.Expr); e != t.Expr {
			if &out[0] == &list[0] {
				out = append([]*plan.Target(nil), list...)
			}
			c := *t
			c.Expr = e
			out[i] = &c
		}
	}
	return out
}

func (f *folder) windows(q *plan.Query) {
	if len(q.Windows) == 0 {
		return
	}
	ws := make([]*plan.Window, len(q.Windows))
	for i, w := range q.Windows {
		c := *w
		c.PartitionBy, _ = mapKeys(w.PartitionBy, f.expr)
		c.OrderBy, _ = mapKeys(w.OrderBy, f.expr)
		c.Frame.StartOffset, c.Frame.EndOffset = f.expr(w.Frame.StartOffset), f.expr(w.Frame.EndOffset)
		ws[i] = &c
	}
	q.Windows = ws
}

// tables simplifies functions and VALUES in the range table.
func (f *folder) tables(q *plan.Query) {
	copied := false
	for i, rte := range q.RTable {
		if len(rte.Funcs) == 0 && len(rte.Values) == 0 {
			continue
		}
		c := *rte
		c.Funcs, _ = mapList(rte.Funcs, f.expr)
		if rte.Values != nil {
			c.Values = make([][]plan.Expr, len(rte.Values))
			for k, row := range rte.Values {
				c.Values[k], _ = mapList(row, f.expr)
			}
		}
		if !copied {
			q.RTable = append([]*plan.RTE(nil), q.RTable...)
			copied = true
		}
		q.RTable[i] = &c
	}
}

func (f *folder) tree(n jnode) {
	switch x := n.(type) {
	case *jjoin:
		f.tree(x.left)
		f.tree(x.right)
		x.quals = f.quals(x.quals)
	case *jfrom:
		for _, i := range x.items {
			f.tree(i)
		}
		x.quals = f.quals(x.quals)
	}
}

// quals simplifies a conjunction; a false or NULL member makes the whole one false.
func (f *folder) quals(list []plan.Expr) []plan.Expr {
	out := list[:0:0]
	for _, q := range list {
		for _, e := range splitAnd(nil, f.expr(q)) {
			c, ok := e.(*plan.Const)
			if ok && !c.Value.Null && c.Value.I != 0 {
				continue
			}
			if ok {
				return []plan.Expr{falseConst()}
			}
			dup := false
			for _, o := range out {
				dup = dup || equalExpr(o, e)
			}
			if !dup || volatilityOf(e) == 'v' {
				out = append(out, e)
			}
		}
	}
	return out
}

func falseConst() *plan.Const {
	return &plan.Const{Typed: plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: -1}, Value: types.Bool(false)}
}

func isFalse(e plan.Expr) bool {
	c, ok := e.(*plan.Const)
	return ok && c.Type == types.BoolOID && (c.Value.Null || c.Value.I == 0)
}

// expr simplifies one expression.
func (f *folder) expr(e plan.Expr) plan.Expr {
	if e == nil || f.err != nil {
		return e
	}
	switch x := e.(type) {
	case *plan.Const, *plan.Var, *plan.CaseTest, *plan.ExecParam, *plan.SubOut, *plan.Slot, *plan.SQLValue:
		return e
	case *plan.Param:
		if f.ps.opts.Params != nil && x.Index < len(f.ps.opts.Params) {
			return &plan.Const{Typed: x.Typed, Value: f.ps.opts.Params[x.Index]}
		}
		return e
	case *plan.Case:
		return f.caseExpr(x)
	case *plan.Coalesce:
		return f.coalesce(x)
	case *plan.BoolExpr:
		return f.boolExpr(x)
	}
	n := mapChildren(e, f.expr)
	if f.err != nil {
		return e
	}
	switch x := n.(type) {
	case *plan.FuncCall:
		return f.call(x)
	case *plan.ScalarArrayOp:
		if x.Strict && nullConst(x.Args[1]) {
			return nullOf(x.Typed)
		}
		return f.eval(n, x.Args, 'i')
	case *plan.Relabel:
		if c, ok := x.Arg.(*plan.Const); ok {
			d := *c
			d.Type, d.Typmod, d.Collation = x.Type, x.Typmod, x.Collation
			return &d
		}
		if in, ok := x.Arg.(*plan.Relabel); ok {
			d := *x
			d.Arg = in.Arg
			return &d
		}
	case *plan.CoerceToDomain:
		if !x.NotNull && len(x.Checks) == 0 { // nothing to check: another name for the value
			return f.expr(&plan.Relabel{Typed: x.Typed, Arg: x.Arg, Form: x.Form})
		}
	case *plan.CoerceViaIO:
		return f.eval(n, []plan.Expr{x.Arg}, viaIOVolatility(x))
	case *plan.ArrayCoerce:
		return f.eval(n, []plan.Expr{x.Arg}, volatilityOf(x.Elem))
	case *plan.NullTest:
		if c, ok := x.Arg.(*plan.Const); ok && !x.ArgIsRow {
			return f.ps.b.boolConst(c.Value.Null != x.Not)
		}
	case *plan.BooleanTest:
		return f.eval(n, []plan.Expr{x.Arg}, 'i')
	case *plan.DistinctExpr:
		return f.eval(n, x.Args, 'i')
	case *plan.NullIf:
		return f.eval(n, x.Args, 'i')
	case *plan.ArrayExpr:
		return f.eval(n, x.Args, 'i')
	case *plan.MinMax:
		return f.eval(n, x.Args, 'i')
	case *plan.RowCompare:
		return f.eval(n, append(append([]plan.Expr(nil), x.Left...), x.Right...), 'i')
	case *plan.FieldSelect:
		if row, ok := x.Arg.(*plan.RowExpr); ok && x.Field <= len(row.Args) {
			return row.Args[x.Field-1]
		}
	}
	return n
}

func nullConst(e plan.Expr) bool {
	c, ok := e.(*plan.Const)
	return ok && c.Value.Null
}

func nullOf(t plan.Typed) plan.Expr { return &plan.Const{Typed: t, Value: types.NullDatum} }

// call simplifies a function call: strict with a NULL argument, or immutable over constants.
func (f *folder) call(x *plan.FuncCall) plan.Expr {
	if x.RetSet {
		return x
	}
	if x.Func == pgTypeof {
		return &plan.Const{Typed: x.Typed, Value: types.Int(int64(x.Args[0].T().Type))}
	}
	if x.Strict && x.Volatile != 'v' {
		for _, a := range x.Args {
			if nullConst(a) {
				return nullOf(x.Typed)
			}
		}
	}
	if x.Func >= pgdata.FirstUserOID { // it may read tables: when it is run
		return x
	}
	if p := pgdata.FuncByOID(x.Func); p != nil && p.RetType == types.RecordOID || x.Type == types.VoidOID {
		return x
	}
	return f.eval(x, x.Args, x.Volatile)
}

// eval computes a node whose inputs are all constants.
func (f *folder) eval(n plan.Expr, args []plan.Expr, volatility byte) plan.Expr {
	if volatility != 'i' || f.ps.b.env.EvalConst == nil {
		return n
	}
	for _, a := range args {
		if _, ok := a.(*plan.Const); !ok {
			return n
		}
	}
	v, err := f.ps.b.env.EvalConst(n)
	if err != nil {
		if sqlerr.CodeOf(err) == sqlerr.FeatureNotSupported {
			return n
		}
		f.err = err
		return n
	}
	return &plan.Const{Typed: *n.T(), Value: v}
}

// boolExpr simplifies AND, OR and NOT.
func (f *folder) boolExpr(x *plan.BoolExpr) plan.Expr {
	if x.Kind == plan.Not {
		a := f.expr(x.Args[0])
		if c, ok := a.(*plan.Const); ok {
			if c.Value.Null {
				return nullOf(x.Typed)
			}
			return f.ps.b.boolConst(c.Value.I == 0)
		}
		if n := negate(a); n != nil {
			return n
		}
		if a == x.Args[0] {
			return x
		}
		return &plan.BoolExpr{Typed: x.Typed, Kind: plan.Not, Args: []plan.Expr{a}}
	}
	stop := x.Kind == plan.Or // the value that decides
	out := make([]plan.Expr, 0, len(x.Args))
	null := false
	changed := false
	for _, a := range x.Args {
		n := f.expr(a)
		changed = changed || n != a
		if b, ok := n.(*plan.BoolExpr); ok && b.Kind == x.Kind {
			out = append(out, b.Args...)
			changed = true
			continue
		}
		c, ok := n.(*plan.Const)
		switch {
		case !ok:
			out = append(out, n)
		case c.Value.Null:
			null = true
			changed = true
		case c.Value.I != 0 == stop:
			return f.ps.b.boolConst(stop)
		default:
			changed = true
		}
	}
	if null {
		out = append(out, nullOf(x.Typed))
	}
	switch {
	case len(out) == 0:
		return f.ps.b.boolConst(!stop)
	case len(out) == 1:
		return out[0]
	case !changed:
		return x
	}
	return &plan.BoolExpr{Typed: x.Typed, Kind: x.Kind, Args: out}
}

// negate pushes NOT into an expression; nil when it cannot.
func negate(e plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.FuncCall:
		if o := pgdata.OperatorByOID(x.Op); x.Op != 0 && o != nil && o.Negate != 0 {
			if n := pgdata.OperatorByOID(o.Negate); n != nil {
				c := *x
				c.Op, c.Func = n.OID, n.Code
				return &c
			}
		}
	case *plan.ScalarArrayOp:
		if o := pgdata.OperatorByOID(x.Op); o != nil && o.Negate != 0 {
			if n := pgdata.OperatorByOID(o.Negate); n != nil {
				c := *x
				c.Op, c.Func, c.UseOr = n.OID, n.Code, !x.UseOr
				return &c
			}
		}
	case *plan.BoolExpr:
		if x.Kind == plan.Not {
			return x.Args[0]
		}
		n := &plan.BoolExpr{Typed: x.Typed, Kind: plan.Or, Args: make([]plan.Expr, len(x.Args))}
		if x.Kind == plan.Or {
			n.Kind = plan.And
		}
		for i, a := range x.Args {
			if n.Args[i] = negate(a); n.Args[i] == nil {
				n.Args[i] = &plan.BoolExpr{Typed: x.Typed, Kind: plan.Not, Args: []plan.Expr{a}}
			}
		}
		return n
	case *plan.NullTest:
		if !x.ArgIsRow {
			c := *x
			c.Not = !x.Not
			return &c
		}
	case *plan.BooleanTest:
		c := *x
		c.Kind = [...]plan.BoolTestKind{plan.IsNotTrue, plan.IsTrue, plan.IsNotFalse, plan.IsFalse, plan.IsNotUnknown, plan.IsUnknown}[x.Kind]
		return &c
	}
	return nil
}

// caseExpr simplifies CASE: constant conditions decide arms; arms behind a condition that is not constant are kept, simplified.
func (f *folder) caseExpr(x *plan.Case) plan.Expr {
	n := *x
	if x.Arg != nil {
		n.Arg = f.expr(x.Arg)
	}
	argConst, _ := n.Arg.(*plan.Const)
	n.Whens = nil
	n.Default = x.Default
	for _, w := range x.Whens {
		cond := w.Cond
		if argConst != nil {
			cond = rewrite(cond, func(e plan.Expr) plan.Expr {
				if _, ok := e.(*plan.CaseTest); ok {
					return argConst
				}
				return e
			})
		}
		cond = f.expr(cond)
		if f.err != nil {
			return x
		}
		if c, ok := cond.(*plan.Const); ok {
			if c.Value.Null || c.Value.I == 0 {
				continue
			}
			n.Default = w.Result
			break
		}
		n.Whens = append(n.Whens, plan.CaseWhen{Cond: cond, Result: f.expr(w.Result)})
	}
	n.Default = f.expr(n.Default)
	if len(n.Whens) == 0 {
		if n.Default == nil {
			return nullOf(x.Typed)
		}
		return n.Default
	}
	if argConst != nil {
		n.Arg = nil
	}
	return &n
}

// coalesce drops NULL constants and what follows a constant that is not NULL.
func (f *folder) coalesce(x *plan.Coalesce) plan.Expr {
	var out []plan.Expr
	for _, a := range x.Args {
		n := f.expr(a)
		if c, ok := n.(*plan.Const); ok {
			if c.Value.Null {
				continue
			}
			out = append(out, n)
			break
		}
		out = append(out, n)
	}
	switch len(out) {
	case 0:
		return nullOf(x.Typed)
	case 1:
		return out[0]
	}
	return &plan.Coalesce{Typed: x.Typed, Args: out}
}

// pgTypeof is pg_typeof("any"): answered from the argument's declared type, which a plan does not keep.
const pgTypeof types.OID = 1619
