package planner

import (
	"slices"
	"strings"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Functions whose body is SQL have no kernel: a call is replaced by the body with the arguments in the place of its
// parameters, before the optimizer's rules see the query. A set-returning one in FROM becomes a subquery.

const maxInlineDepth = 20 // nested SQL functions; a recursive one is left as a call that has no kernel

// inliner replaces calls in one query.
type inliner struct {
	b     *binder
	depth int
	calls []types.OID // user's functions called in the bodies
	// runs: some volatile function is called as it is. Others that read tables then are, too: they see what it has changed.
	runs bool
	// within are the functions whose bodies are being replaced: a recursive one is called.
	within []types.OID
	err    error
}

// inlineFunctions returns q without calls of SQL functions; q itself when it has none.
func (ps *planState) inlineFunctions(q *plan.Query) (*plan.Query, error) {
	in := &inliner{b: ps.b, runs: changesData(q)}
	ps.out.Calls = userCalls(q)
	n, err := in.query(q)
	if err == nil && !in.runs && callsVolatile(n) {
		in = &inliner{b: ps.b, runs: true}
		n, err = in.query(q)
	}
	ps.out.Calls = append(ps.out.Calls, in.calls...)
	return n, err
}

// callsVolatile says whether a query calls a volatile user's function.
func callsVolatile(q *plan.Query) bool {
	return deepExprs(q, 0, func(e plan.Expr, _ int) bool {
		x, ok := e.(*plan.FuncCall)
		return ok && x.Func >= pgdata.FirstUserOID && x.Volatile == 'v'
	})
}

// changesData says whether a statement changes data, unless it is an INSERT of one row, which is computed before it is written.
func changesData(q *plan.Query) bool {
	for _, c := range q.CTEs {
		if c.Query != nil && c.Query.Command != plan.CmdSelect {
			return true
		}
	}
	return q.Command != plan.CmdSelect && (q.Command != plan.CmdInsert || len(q.From) > 0 || len(q.Returning) > 0 || len(q.Values) > 1)
}

// reads says whether a query reads anything but its parameters.
func reads(q *plan.Query) bool {
	return len(q.RTable) > 0 || q.SetOp != nil || len(q.CTEs) > 0 || q.HasSubLinks
}

func (in *inliner) query(q *plan.Query) (*plan.Query, error) {
	has := deepExprs(q, 0, func(e plan.Expr, _ int) bool {
		x, ok := e.(*plan.FuncCall)
		return ok && in.proc(x) != nil
	})
	if !has {
		return q, nil
	}
	n := mapQuery(q, 0, func(e plan.Expr, _ int) plan.Expr {
		if x, ok := e.(*plan.FuncCall); ok && !x.RetSet && in.err == nil {
			return in.call(x)
		}
		return e
	})
	in.tables(n, 0)
	return n, in.err
}

// proc returns the function of a call that is to be inlined, nil for all others.
func (in *inliner) proc(x *plan.FuncCall) *pgdata.Proc {
	var p *pgdata.Proc
	if x.Func < pgdata.FirstUserOID {
		if p = pgdata.FuncByOID(x.Func); p == nil || p.Lang != pgdata.LangSQL {
			return nil
		}
	} else {
		var err error
		if p, err = in.b.cat.FuncByOID(x.Func); err != nil || p == nil || p.Lang != pgdata.LangSQL {
			return nil
		}
	}
	if p.Kind != 'f' || p.SecDef {
		return nil
	}
	if x.RetSet {
		if _, ok := funcs.LookupSet(funcs.CallInfo{Func: x.Func, ArgTypes: argTypes(x), Result: x.Type}); ok {
			return nil
		}
	} else if funcs.Exists(x.Func) {
		return nil
	}
	return p
}

func argTypes(x *plan.FuncCall) []types.OID {
	out := make([]types.OID, len(x.Args))
	for i, a := range x.Args {
		out[i] = a.T().Type
	}
	return out
}

// bodyCache has the bodies of SQL functions, bound for the types of the arguments, with calls inside inlined.
var bodyCache = boundCache[boundBody]{max: 2000}

// boundBody is the query of a body, nil when it is not a single SELECT, and what it was bound with.
type boundBody struct {
	query *plan.Query
	deps  []plan.Dependency
}

// body binds a function's body; the arguments are its Params. nil: it is not a single SELECT.
func (in *inliner) body(p *pgdata.Proc, x *plan.FuncCall) *plan.Query {
	q := in.boundBody(p, x)
	if q != nil && p.Volatile == 'v' && p.OID >= pgdata.FirstUserOID && in.runs && reads(q) {
		return nil
	}
	if q != nil {
		in.calls = append(in.calls, q.Calls...)
	}
	return q
}

func (in *inliner) boundBody(p *pgdata.Proc, x *plan.FuncCall) *plan.Query {
	var sig strings.Builder
	for _, t := range argTypes(x) {
		sig.WriteString(itoa(int(t)))
		sig.WriteByte(',')
	}
	key := storedID{rel: p.OID, version: p.Version, text: sig.String()}
	cacheable := true
	if p.OID >= pgdata.FirstUserOID {
		v, own := in.b.cat.Version()
		key.database, key.catalogV, cacheable = in.b.env.Database, uint64(v), !own
		if p.SQLBody == "" {
			for _, s := range in.b.env.Path { // names in the body are looked up along it
				key.text += "/" + itoa(int(s))
			}
		}
	}
	if cacheable {
		if v, ok := bodyCache.get(key); ok {
			in.b.relyOn(v.deps)
			return v.query
		}
	}
	if in.depth >= maxInlineDepth || slices.Contains(in.within, p.OID) || in.b.env.ParseQuery == nil {
		return nil
	}
	st, err := in.b.env.ParseQuery(BodyText(p))
	if err != nil {
		return nil
	}
	env := *in.b.env
	env.Text = ""
	if p.OID < pgdata.FirstUserOID || p.SQLBody != "" {
		env.Path, env.Fold = []types.OID{11}, true
	}
	sub, rec := in.b.subBinder(&env, argTypes(x))
	sub.fn = p
	q, err := sub.bindTop(st)
	if err != nil {
		in.err = err
		return nil
	}
	if q.Command != plan.CmdSelect || !in.fits(q, x) {
		if cacheable {
			bodyCache.put(key, boundBody{deps: rec.deps})
		}
		in.b.relyOn(rec.deps)
		return nil
	}
	b := *in.b
	b.cat = rec
	inner, calls := &inliner{b: &b, depth: in.depth + 1, within: append(in.within[:len(in.within):len(in.within)], p.OID)}, userCalls(q)
	if q, err = inner.query(q); err != nil {
		in.err = err
		return nil
	}
	q.Calls = append(calls, inner.calls...)
	in.b.relyOn(rec.deps)
	if cacheable {
		bodyCache.put(key, boundBody{q, rec.deps})
	}
	return q
}

// BodyText is the body as one SELECT.
func BodyText(p *pgdata.Proc) string {
	s := strings.TrimSpace(p.SQLBody)
	switch {
	case s == "":
		return p.Src
	case strings.HasPrefix(s, "RETURN "):
		return "SELECT " + strings.TrimPrefix(s, "RETURN ")
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "BEGIN ATOMIC"), "END")
	return strings.TrimSuffix(strings.TrimSpace(s), ";")
}

// fits gives a scalar function's only column the type of the call; false when that is impossible.
func (in *inliner) fits(q *plan.Query, x *plan.FuncCall) bool {
	var vis []*plan.Target
	for _, t := range q.Targets {
		if !t.Junk {
			vis = append(vis, t)
		}
	}
	if x.RetSet {
		return true
	}
	if len(vis) != 1 {
		return false
	}
	t := vis[0]
	if t.Expr.T().Type == x.Type {
		return true
	}
	if q.SetOp != nil || len(q.OrderBy) > 0 || q.Distinct {
		return false
	}
	e, err := in.b.coerceTo(t.Expr, x.Type, -1, coerceAssignment, plan.FormImplicitCast, -1)
	if err != nil || e == nil {
		return false
	}
	n := *t
	n.Expr = e
	for i := range q.Targets {
		if q.Targets[i] == t {
			q.Targets[i] = &n
		}
	}
	return true
}

// plainBody says whether a body is nothing but an expression.
func plainBody(q *plan.Query) bool {
	return len(q.From) == 0 && len(q.Targets) == 1 && q.Where == nil && !q.HasAggs && !q.HasWindow && !q.HasSRF && q.Having == nil &&
		len(q.GroupBy) == 0 && q.GroupingSets == nil && q.Limit == nil && q.Offset == nil && q.SetOp == nil && len(q.CTEs) == 0 && len(q.Values) == 0
}

// call replaces a scalar call.
func (in *inliner) call(x *plan.FuncCall) plan.Expr {
	p := in.proc(x)
	if p == nil {
		return x
	}
	body := in.body(p, x)
	if body == nil {
		return x
	}
	var e plan.Expr
	switch {
	case repeats(body, x.Args):
		e = in.evaluateOnce(body, x)
	case plainBody(body):
		e = substitute(body.Targets[0].Expr, 0, x.Args)
	default:
		e = scalarQuery(bindArgs(body, 1, x.Args), x.Typed)
	}
	if t := e.T(); t.Collation != x.Collation && x.Collation != 0 {
		e = &plan.Relabel{Typed: x.Typed, Arg: e, Form: plan.FormImplicitCast}
	}
	if !p.Strict || plainBody(body) && strictInAll(body.Targets[0].Expr, len(x.Args)) {
		return e
	}
	return whenNotNull(e, x)
}

// whenNotNull is CASE WHEN an argument is NULL THEN NULL ELSE e END.
func whenNotNull(e plan.Expr, x *plan.FuncCall) plan.Expr {
	boolean := plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: -1}
	var tests []plan.Expr
	for _, a := range x.Args {
		if c, ok := a.(*plan.Const); ok && !c.Value.Null {
			continue
		}
		tests = append(tests, &plan.NullTest{Typed: boolean, Arg: a})
	}
	var cond plan.Expr
	switch len(tests) {
	case 0:
		return e
	case 1:
		cond = tests[0]
	default:
		cond = &plan.BoolExpr{Typed: boolean, Kind: plan.Or, Args: tests}
	}
	return &plan.Case{Typed: x.Typed, Whens: []plan.CaseWhen{{Cond: cond, Result: nullOf(x.Typed)}}, Default: e}
}

// strictInAll says whether e is NULL as soon as one of n parameters is.
func strictInAll(e plan.Expr, n int) bool {
	seen := make([]bool, n)
	var walk func(plan.Expr) bool
	walk = func(e plan.Expr) bool {
		switch v := e.(type) {
		case *plan.Param:
			if v.Index < n {
				seen[v.Index] = true
			}
			return true
		case *plan.Const:
			return true
		case *plan.FuncCall:
			if !v.Strict {
				return false
			}
			for _, a := range v.Args {
				if !walk(a) {
					return false
				}
			}
			return true
		case *plan.Relabel:
			return walk(v.Arg)
		case *plan.CoerceViaIO:
			return walk(v.Arg)
		}
		return false
	}
	if !walk(e) {
		return false
	}
	for _, s := range seen {
		if !s {
			return false
		}
	}
	return true
}

// repeats says whether an argument that must be computed once is used several times, or not at all, by the body.
func repeats(body *plan.Query, args []plan.Expr) bool {
	risky := false
	for _, a := range args {
		if volatilityOf(a) == 'v' {
			risky = true
		}
	}
	if !risky {
		return false
	}
	uses := make([]int, len(args))
	deepExprs(body, 0, func(e plan.Expr, _ int) bool {
		if p, ok := e.(*plan.Param); ok && p.Index < len(uses) {
			uses[p.Index]++
		}
		return false
	})
	for i, a := range args {
		if uses[i] != 1 && volatilityOf(a) == 'v' {
			return true
		}
	}
	return !plainBody(body)
}

// evaluateOnce is (SELECT body FROM (SELECT args) ...): the arguments are computed once.
func (in *inliner) evaluateOnce(body *plan.Query, x *plan.FuncCall) plan.Expr {
	inner := &plan.Query{Command: plan.CmdSelect, Result: -1, Offset: &plan.Const{Typed: plan.Typed{Type: types.Int8OID, Typmod: -1, Loc: -1}}}
	rte := &plan.RTE{Kind: plan.RTESubquery, Alias: "args", InFromCl: true, Sub: inner}
	vars := make([]plan.Expr, len(x.Args))
	for i, a := range x.Args {
		name := "a" + itoa(i+1)
		inner.Targets = append(inner.Targets, &plan.Target{Expr: shiftLevels(a, 2, 0), Name: name})
		rte.Cols = append(rte.Cols, plan.Column{Name: name, Typed: *a.T()})
		vars[i] = &plan.Var{Typed: *a.T(), Attno: i + 1}
	}
	var e plan.Expr
	if plainBody(body) {
		e = substitute(body.Targets[0].Expr, 0, vars)
	} else {
		e = scalarQuery(bindArgs(body, 1, vars), x.Typed)
	}
	outer := &plan.Query{Command: plan.CmdSelect, Result: -1, RTable: []*plan.RTE{rte}, From: []plan.FromItem{plan.RangeRef{}},
		Targets: []*plan.Target{{Expr: e, Name: "f"}}}
	return scalarQuery(outer, x.Typed)
}

// scalarQuery makes a subquery's first row a value, as a call of a SQL function does.
func scalarQuery(q *plan.Query, t plan.Typed) plan.Expr {
	if q.Limit == nil && len(q.From) > 0 && !q.HasAggs {
		n := *q
		n.Limit = &plan.Const{Typed: plan.Typed{Type: types.Int8OID, Typmod: -1, Loc: -1}, Value: types.Int(1)}
		q = &n
	}
	return &plan.SubLink{Typed: t, Kind: plan.SubScalar, Query: q}
}

// substitute puts the arguments in the place of the body's parameters; level is the depth of e below the call.
func substitute(e plan.Expr, level int, args []plan.Expr) plan.Expr {
	return mapDeep(e, level, func(n plan.Expr, level int) plan.Expr { return argFor(n, level, args) })
}

// bindArgs is substitute for a whole body whose expressions are level queries below the call.
func bindArgs(q *plan.Query, level int, args []plan.Expr) *plan.Query {
	return mapQuery(q, level, func(n plan.Expr, level int) plan.Expr { return argFor(n, level, args) })
}

func argFor(n plan.Expr, level int, args []plan.Expr) plan.Expr {
	switch v := n.(type) {
	case *plan.Param:
		if v.Index < len(args) {
			return shiftLevels(args[v.Index], level, 0)
		}
	case *plan.FieldSelect:
		// A field of a table's row is the column.
		if r, ok := v.Arg.(*plan.Var); ok && r.Attno == 0 {
			return &plan.Var{Typed: v.Typed, RTE: r.RTE, Attno: v.Field, LevelsUp: r.LevelsUp}
		}
	}
	return n
}

// tables turns calls of set-returning SQL functions in FROM into subqueries; q belongs to the caller.
func (in *inliner) tables(q *plan.Query, depth int) {
	if in.err != nil || depth > maxWalkDepth {
		return
	}
	if q.HasSRF {
		in.targetSet(q)
	}
	for _, r := range q.RTable {
		if r.Kind == plan.RTEFunction && len(r.Funcs) == 1 && !r.Ordinality {
			in.table(r)
		}
		if r.Sub != nil {
			in.tables(r.Sub, depth+1)
		}
	}
	for _, c := range q.CTEs {
		if c.Query != nil {
			in.tables(c.Query, depth+1)
		}
	}
	queryExprs(q, func(root plan.Expr) {
		find(root, func(e plan.Expr) bool {
			if s, ok := e.(*plan.SubLink); ok {
				in.tables(s.Query, depth+1)
			}
			return false
		})
	})
}

// targetSet moves the only set-returning call of a target list to FROM when it is a SQL function: without grouping the rows
// are the same. Several such calls would run in lock step, which a join does not.
func (in *inliner) targetSet(q *plan.Query) {
	if q.Command != plan.CmdSelect || q.HasAggs || q.HasWindow || len(q.GroupBy) > 0 || q.GroupingSets != nil || q.SetOp != nil || q.Having != nil || len(q.DistinctOn) > 0 {
		return
	}
	at, sets := -1, 0
	for i, t := range q.Targets {
		find(t.Expr, func(e plan.Expr) bool {
			if f, ok := e.(*plan.FuncCall); ok && f.RetSet {
				sets++
			}
			return false
		})
		if f, ok := t.Expr.(*plan.FuncCall); ok && f.RetSet && in.proc(f) != nil {
			at = i
		}
	}
	if at < 0 || sets != 1 {
		return
	}
	x := q.Targets[at].Expr.(*plan.FuncCall)
	name := in.proc(x).Name
	r := &plan.RTE{Kind: plan.RTEFunction, Alias: name, Funcs: []plan.Expr{x}, FuncCols: []int{1}, InFromCl: true, Lateral: true,
		Cols: []plan.Column{{Name: name, Typed: *x.T()}}}
	if in.table(r); r.Kind != plan.RTESubquery {
		return
	}
	t := *q.Targets[at]
	t.Expr = &plan.Var{Typed: *x.T(), RTE: len(q.RTable), Attno: 1}
	q.Targets[at] = &t
	for i, k := range q.OrderByTarget {
		if k == at {
			q.OrderBy[i].Expr = t.Expr
		}
	}
	q.From = append(q.From, plan.RangeRef{RTE: len(q.RTable)})
	q.RTable = append(q.RTable, r)
	q.HasSRF = false
}

func (in *inliner) table(r *plan.RTE) {
	x, ok := r.Funcs[0].(*plan.FuncCall)
	if !ok || !x.RetSet {
		return
	}
	p := in.proc(x)
	if p == nil {
		return
	}
	body := in.body(p, x)
	if body == nil || len(outputColumns(body)) != len(r.Cols) || repeats(body, x.Args) {
		return
	}
	body = bindArgs(body, 1, x.Args)
	// One query around the body has the types of the function's columns and, for a strict function, the NULL tests.
	outer := &plan.Query{Command: plan.CmdSelect, Result: -1, From: []plan.FromItem{plan.RangeRef{}}}
	outer.RTable = []*plan.RTE{{Kind: plan.RTESubquery, Alias: p.Name, Sub: shiftQuery(body, 1), Cols: outputColumns(body), Lateral: true, InFromCl: true}}
	for i, c := range outputColumns(body) {
		var e plan.Expr = &plan.Var{Typed: c.Typed, Attno: i + 1}
		if c.Type != r.Cols[i].Type {
			var err error
			if e, err = in.b.coerceTo(e, r.Cols[i].Type, r.Cols[i].Typmod, coerceAssignment, plan.FormImplicitCast, -1); err != nil || e == nil {
				return
			}
		}
		outer.Targets = append(outer.Targets, &plan.Target{Expr: e, Name: r.Cols[i].Name})
	}
	if p.Strict {
		var tests []plan.Expr
		for _, a := range x.Args {
			if c, ok := a.(*plan.Const); ok && !c.Value.Null {
				continue
			}
			tests = append(tests, &plan.NullTest{Typed: plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: -1}, Arg: shiftLevels(a, 1, 0), Not: true})
		}
		outer.Where = andExprs(tests)
	}
	r.Kind, r.Sub, r.Funcs, r.FuncCols, r.Lateral = plan.RTESubquery, outer, nil, nil, true
}

// called returns a SQL function that an expression calls, nil when there is none.
func (in *inliner) called(e plan.Expr) (p *pgdata.Proc) {
	find(e, func(x plan.Expr) bool {
		if f, ok := x.(*plan.FuncCall); ok {
			p = in.proc(f)
		}
		return p != nil
	})
	return p
}

// Evaluable returns an expression without calls of SQL functions, for those who evaluate it without a plan. A user's function that
// is more than an expression stays a call; another such is refused.
func Evaluable(cat catalog.Reader, env *BindEnv, e plan.Expr) (plan.Expr, error) {
	return (&binder{cat: cat, env: env, params: newParamState(nil), stored: true}).evaluable(e)
}

func (b *binder) evaluable(e plan.Expr) (plan.Expr, error) {
	in := &inliner{b: b}
	if in.called(e) == nil {
		return e, nil
	}
	var refused *pgdata.Proc
	out := mapDeep(e, 0, func(x plan.Expr, _ int) plan.Expr {
		f, ok := x.(*plan.FuncCall)
		if !ok || in.err != nil {
			return x
		}
		p := in.proc(f)
		if p == nil {
			return x
		}
		n := in.call(f)
		if n == x || find(n, hasSubLink) {
			if p.OID >= pgdata.FirstUserOID { // the session runs it
				return x
			}
			refused = p
		}
		return n
	})
	if in.err == nil && refused != nil {
		in.err = sqlerr.Unsupported("the SQL function \"%s\", which is not a single expression, in a constraint, an index, a generated column or a domain", refused.Name)
	}
	return out, in.err
}
