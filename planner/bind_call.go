package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog/pgdata"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// funcCall is transformFuncCall.
func (s *scope) funcCall(x *ast.FuncCall) (plan.Expr, error) {
	srfOK := s.srfOK
	s.srfOK = false
	args := make([]plan.Expr, 0, len(x.Args))
	for _, a := range x.Args {
		n, named := a.(*ast.NamedArg)
		if named {
			a = n.Value
		}
		e, err := s.ex(a)
		if err != nil {
			return nil, err
		}
		if p, ok := e.(*plan.Param); ok && p.Type == types.VoidOID && !named {
			continue // drivers send one for each result of a function that they call: PostgreSQL drops it
		}
		args = append(args, e)
	}
	s.srfOK = srfOK
	e, err := s.callBound(x.Name, args, x)
	s.srfOK = false
	return e, err
}

// namedArgs collects the names of trailing named arguments.
func (s *scope) namedArgs(x *ast.FuncCall) ([]string, error) {
	var names []string
	for _, a := range x.Args {
		n, ok := a.(*ast.NamedArg)
		if !ok {
			if names != nil {
				return nil, s.b.errorAt(int(a.Pos()), sqlerr.SyntaxError, "positional argument cannot follow named argument")
			}
			continue
		}
		for _, o := range names {
			if o == n.Name {
				return nil, s.b.errorAt(int(n.Off), sqlerr.SyntaxError, "argument name \"%s\" used more than once", n.Name)
			}
		}
		names = append(names, n.Name)
	}
	return names, nil
}

// callBound is ParseFuncOrColumn for a call whose arguments are bound.
func (s *scope) callBound(name ast.Name, args []plan.Expr, x *ast.FuncCall) (plan.Expr, error) {
	b, loc := s.b, int(x.Off)
	names, err := s.namedArgs(x)
	if err != nil {
		return nil, err
	}
	var filter plan.Expr
	if x.Filter != nil {
		if filter, err = s.condition(x.Filter, kindFilter, "FILTER"); err != nil {
			return nil, err
		}
	}
	var withinKeys []plan.SortKey
	if x.WithinGroup {
		for i := range x.OrderBy {
			e, err := s.expr(x.OrderBy[i].Expr, kindOrderBy)
			if err != nil {
				return nil, err
			}
			args = append(args, e)
		}
	}
	in := make([]types.OID, len(args))
	for i, a := range args {
		in[i] = a.T().Type
	}
	plain := !x.Star && !x.Distinct && x.Over == nil && x.Filter == nil && len(x.OrderBy) == 0 && !x.Variadic && names == nil
	if plain && len(args) == 1 && name.Schema == "" && b.isRowType(in[0]) {
		if cols, err := s.rowFields(args[0]); err == nil {
			for i := range cols {
				if cols[i].Name == name.Name && name.Name != "" {
					return s.fieldOrFunc(args[0], name.Name, loc)
				}
			}
		}
	}
	d, c, target, err := b.getFunc(name, args, names, in, !x.Variadic, true)
	if err != nil {
		return nil, b.place(err, loc)
	}
	switch d {
	case funcNotFound, funcMultiple:
		e := b.funcError(d, name, names, in, loc)
		if d == funcNotFound && len(x.OrderBy) > 0 && !x.WithinGroup {
			return nil, sqlerr.From(e).WithHint("No aggregate function matches the given name and argument types. Perhaps you misplaced ORDER BY; ORDER BY must appear after all regular arguments of the aggregate.")
		}
		return nil, e
	case funcCoercion:
		if err := s.notAggregate(name, x); err != nil {
			return nil, err
		}
		return b.coerce(args[0], target, -1, coerceExplicit, plan.FormExplicitCast, loc)
	}
	p := c.proc
	if p.Namespace == pgdata.MySQLSchema && p.Lang == pgdata.LangInternal && !funcs.Exists(p.OID) {
		return nil, b.errorAt(loc, sqlerr.FeatureNotSupported, "function %s of strings is not supported", p.Name)
	}
	switch p.Kind {
	case 'p':
		if s.kind != kindCallArg {
			return nil, b.errorAt(loc, sqlerr.WrongObjectType, "%s is a procedure", b.signature(name.String(), names, in)).WithHint("To call a procedure, use CALL.")
		}
	case 'f':
		if err := s.notAggregate(name, x); err != nil {
			return nil, err
		}
	}
	if p.Kind == 'a' && x.WithinGroup {
		if withinKeys, err = s.withinGroup(args, x, p); err != nil {
			return nil, err
		}
	}
	f, err := s.finishCall(name, c, args, in, x, loc)
	if err != nil {
		return nil, err
	}
	f.Variadic = f.Variadic || x.Variadic && p.Variadic != 0
	switch p.Kind {
	case 'a':
		if x.Over != nil {
			return s.windowCall(f, p, name, filter, x, loc)
		}
		return s.aggregate(f, p, c, in, filter, withinKeys, x, loc)
	case 'w':
		if x.Over == nil {
			return nil, b.errorAt(loc, sqlerr.WrongObjectType, "window function %s requires an OVER clause", name.String())
		}
		if x.WithinGroup {
			return nil, b.errorAt(loc, sqlerr.WrongObjectType, "window function %s cannot have WITHIN GROUP", name.String())
		}
		return s.windowCall(f, p, name, filter, x, loc)
	}
	if x.SQLSyntax {
		f.Form = plan.FormSQLSyntax
	}
	if p.RetSet {
		if err := s.checkSRF(s, loc); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// notAggregate rejects aggregate syntax on a plain function.
func (s *scope) notAggregate(name ast.Name, x *ast.FuncCall) error {
	what := ""
	switch {
	case x.Star:
		return s.b.errorAt(int(x.Off), sqlerr.WrongObjectType, "%s(*) specified, but %s is not an aggregate function", name.String(), name.String())
	case x.Distinct:
		what = "DISTINCT"
	case x.WithinGroup:
		what = "WITHIN GROUP"
	case len(x.OrderBy) > 0:
		what = "ORDER BY"
	case x.Filter != nil:
		what = "FILTER"
	case x.Over != nil:
		return s.b.errorAt(int(x.Off), sqlerr.WrongObjectType, "OVER specified, but %s is not a window function nor an aggregate function", name.String())
	}
	if what != "" {
		return s.b.errorAt(int(x.Off), sqlerr.WrongObjectType, "%s specified, but %s is not an aggregate function", what, name.String())
	}
	return nil
}

// finishCall casts arguments, adds defaults and packs variadic ones.
func (s *scope) finishCall(name ast.Name, c *candidate, args []plan.Expr, in []types.OID, x *ast.FuncCall, loc int) (*plan.FuncCall, error) {
	b, p := s.b, c.proc
	actual := append([]types.OID(nil), in...)
	given := len(args)
	if c.defaults > 0 {
		var err error
		if args, actual, err = b.addDefaults(c, args, actual); err != nil {
			return nil, err
		}
	}
	declared := append([]types.OID(nil), c.args...)
	ret, err := b.enforceGeneric(actual, declared, p.RetType)
	if err != nil {
		return nil, err // PostgreSQL does not say where
	}
	if err := b.castArgs(args, actual, declared); err != nil {
		return nil, err
	}
	f := &plan.FuncCall{Func: p.OID, RetSet: p.RetSet, Volatile: p.Volatile, Strict: p.Strict}
	if c.variadic != 0 && c.variadic != types.AnyOID && given >= p.NArgs {
		rest := append([]plan.Expr(nil), args[p.NArgs-1:]...)
		et := rest[0].T().Type
		at := b.arrayType(et)
		if at == 0 {
			return nil, b.errorAt(exprLoc(rest[0]), sqlerr.UndefinedObject, "could not find array type for data type %s", b.typeName(et))
		}
		arr := &plan.ArrayExpr{Typed: plan.Typed{Type: at, Typmod: -1, Collation: b.typeCollation(at), Loc: rest[0].T().Loc}, Elem: b.baseType(et), Args: rest}
		args = append(args[:p.NArgs-1:p.NArgs-1], arr)
		f.Variadic = true
	}
	if p.Variadic == types.AnyOID && x.Variadic && len(args) > 0 {
		if last := args[len(args)-1].T(); b.baseElemType(last.Type) == 0 {
			return nil, b.errorAt(last.Loc, sqlerr.DatatypeMismatch, "VARIADIC argument must be an array")
		}
	}
	if c.argNums != nil {
		ordered := make([]plan.Expr, len(args))
		for i, k := range c.argNums {
			ordered[k] = args[i]
		}
		args = ordered
	}
	if err := b.checkCollations(args); err != nil {
		return nil, err
	}
	coll := b.commonCollation(args...)
	f.Args, f.InputColl = args, coll
	f.Typed = plan.Typed{Type: ret, Typmod: -1, Collation: b.resultCollation(ret, coll), Loc: loc}
	if ret == types.RecordOID && p.ArgModes != nil {
		outs, _ := b.outColumns(f)
		for _, c := range outs {
			f.OutNames = append(f.OutNames, c.Name)
		}
	}
	return f, nil
}

// addDefaults appends the defaults of parameters without argument.
func (b *binder) addDefaults(c *candidate, args []plan.Expr, actual []types.OID) ([]plan.Expr, []types.OID, error) {
	p := c.proc
	first := p.NArgs - len(p.ArgDefaults)
	for i := len(args); i < p.NArgs; i++ {
		k := i
		if c.argNums != nil {
			k = c.argNums[i]
		}
		if k < first {
			return nil, nil, sqlerr.Internal("not enough default arguments for function %s", p.Name)
		}
		e, err := b.storedExpr(p.ArgDefaults[k-first])
		if err != nil {
			return nil, nil, err
		}
		if e.T().Type != p.ArgTypes[k] && !isPolymorphic(p.ArgTypes[k]) {
			r, err := b.coerceTo(e, p.ArgTypes[k], -1, coerceAssignment, plan.FormImplicitCast, -1)
			if err != nil {
				return nil, nil, err
			}
			if r != nil {
				e = r
			}
		}
		args = append(args, e)
		actual = append(actual, e.T().Type)
	}
	return args, actual, nil
}

// storedExpr binds server-made text that refers to no column.
func (b *binder) storedExpr(text string) (plan.Expr, error) {
	if b.env.ParseExpr == nil {
		return nil, sqlerr.Unsupported("default argument %s", text)
	}
	x, err := b.env.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	saved := b.stored
	b.stored = true
	sc := &scope{b: b, q: &plan.Query{}, targetRel: -1}
	e, err := sc.expr(x, kindNone)
	b.stored = saved
	return e, err
}

// placePhrase names a place for "... are not allowed in %s"; "" = allowed.
func placePhrase(k exprKind) string {
	switch k {
	case kindJoinOn:
		return "JOIN conditions"
	case kindFromSubselect:
		return "FROM clause of their own query level"
	case kindFromFunction:
		return "functions in FROM"
	case kindWhere:
		return "WHERE"
	case kindFilter:
		return "FILTER"
	case kindFrame:
		return "window ROWS"
	case kindInsertTarget:
		return "INSERT"
	case kindUpdateSource, kindUpdateTarget:
		return "UPDATE"
	case kindGroupBy:
		return "GROUP BY"
	case kindLimit:
		return "LIMIT"
	case kindOffset:
		return "OFFSET"
	case kindReturning:
		return "RETURNING"
	case kindValues, kindValuesSingle:
		return "VALUES"
	case kindCheck:
		return "check constraints"
	case kindDefault:
		return "DEFAULT expressions"
	case kindIndexExpr:
		return "index expressions"
	case kindIndexPred:
		return "index predicates"
	case kindGenerated:
		return "column generation expressions"
	case kindCallArg:
		return "CALL arguments"
	case kindAlterUsing:
		return "transform expressions"
	case kindUtility:
		return "EXECUTE parameters"
	case kindCopyWhere:
		return "COPY FROM WHERE conditions"
	case kindMergeWhen:
		return "MERGE WHEN conditions"
	}
	return ""
}

// checkSRF is check_srf_call_placement.
func (b *binder) checkSRF(s *scope, loc int) error {
	if s == nil {
		return nil
	}
	where := ""
	switch s.kind {
	case kindFromFunction:
		if s.srfOK {
			return nil
		}
		return b.errorAt(loc, sqlerr.FeatureNotSupported, "set-returning functions must appear at top level of FROM")
	case kindTarget, kindOrderBy, kindDistinctOn, kindGroupBy, kindInsertTarget, kindValuesSingle:
		s.q.HasSRF = true
		return nil
	case kindWindowPartition, kindWindowOrder:
		s.q.HasSRF = true
		return nil
	case kindFrame:
		where = "window definitions"
	case kindHaving:
		where = "HAVING"
	case kindNone:
		return nil
	default:
		where = placePhrase(s.kind)
	}
	if where == "" {
		return nil
	}
	return b.errorAt(loc, sqlerr.FeatureNotSupported, "set-returning functions are not allowed in %s", where)
}

func (s *scope) checkSRF(at *scope, loc int) error { return s.b.checkSRF(at, loc) }

// withinGroup casts the direct arguments of a hypothetical-set aggregate to the types of the ordered ones and returns the keys.
func (s *scope) withinGroup(args []plan.Expr, x *ast.FuncCall, p *pgdata.Proc) ([]plan.SortKey, error) {
	n := len(x.OrderBy)
	ordered := args[len(args)-n:]
	keys := make([]plan.SortKey, n)
	agg := pgdata.AggregateByOID(p.OID)
	if agg == nil || agg.Kind == 'n' {
		return nil, s.b.errorAt(int(x.Off), sqlerr.WrongObjectType, "%s is not an ordered-set aggregate, so it cannot have WITHIN GROUP", x.Name.String())
	}
	if agg.Kind == 'h' {
		direct := args[:len(args)-n]
		if len(direct) != n {
			return nil, s.b.errorAt(int(x.Off), sqlerr.UndefinedFunction, "function %s does not exist", s.b.signature(x.Name.String(), nil, exprTypes(args))).
				WithHint("To use the hypothetical-set aggregate %s, the number of hypothetical direct arguments (here %d) must match the number of ordering columns (here %d).", x.Name.String(), len(direct), n)
		}
		for i := range direct {
			pair := []plan.Expr{direct[i], ordered[i]}
			if _, err := s.b.allToCommon(pair, "WITHIN GROUP"); err != nil {
				return nil, err
			}
			direct[i], ordered[i] = pair[0], pair[1]
		}
	}
	for i := range x.OrderBy {
		e := ordered[i]
		if e.T().Type == types.UnknownOID {
			r, err := s.b.coerce(e, types.TextOID, -1, coerceImplicit, plan.FormImplicitCast, -1)
			if err != nil {
				return nil, err
			}
			ordered[i], e = r, r
		}
		k, err := s.sortKey(e, &x.OrderBy[i])
		if err != nil {
			return nil, err
		}
		keys[i] = k
	}
	return keys, nil
}

func exprTypes(list []plan.Expr) []types.OID {
	out := make([]types.OID, len(list))
	for i, e := range list {
		out[i] = e.T().Type
	}
	return out
}

// aggregate is transformAggregateCall.
func (s *scope) aggregate(f *plan.FuncCall, p *pgdata.Proc, c *candidate, in []types.OID, filter plan.Expr, within []plan.SortKey, x *ast.FuncCall, loc int) (plan.Expr, error) {
	b := s.b
	agg := pgdata.AggregateByOID(p.OID)
	if agg == nil {
		return nil, sqlerr.Unsupported("aggregate %s", p.Name)
	}
	if agg.Kind != 'n' && !x.WithinGroup {
		return nil, b.errorAt(loc, sqlerr.WrongObjectType, "WITHIN GROUP is required for ordered-set aggregate %s", x.Name.String())
	}
	if len(x.Args) == 0 && !x.Star && !x.WithinGroup {
		return nil, b.errorAt(loc, sqlerr.WrongObjectType, "%s(*) must be used to call a parameterless aggregate function", x.Name.String())
	}
	if c.argNums != nil {
		return nil, b.errorAt(loc, sqlerr.FeatureNotSupported, "aggregates cannot use named arguments")
	}
	a := &plan.Aggref{Typed: f.Typed, Agg: p.OID, Args: f.Args, Filter: filter, Star: x.Star, Variadic: f.Variadic, InputColl: f.InputColl, Kind: agg.Kind, Distinct: x.Distinct}
	if x.WithinGroup {
		n := len(f.Args) - len(within)
		if f.Variadic && agg.Kind == 'h' || n < 0 {
			n = len(f.Args) - len(within)
		}
		a.Direct, a.Args = f.Args[:n:n], f.Args[n:]
		for i := range within {
			if i < len(a.Args) {
				within[i].Expr = a.Args[i]
			}
		}
		a.OrderBy = within
	} else if len(x.OrderBy) > 0 || x.Distinct {
		if err := s.aggOrder(a, x); err != nil {
			return nil, err
		}
	}
	a.ArgTypes = exprTypes(f.Args)
	return a, s.aggLevel(a, loc)
}

// aggOrder binds ORDER BY and DISTINCT inside an aggregate.
func (s *scope) aggOrder(a *plan.Aggref, x *ast.FuncCall) error {
	for i := range x.OrderBy {
		e, err := s.expr(x.OrderBy[i].Expr, kindOrderBy)
		if err != nil {
			return err
		}
		if e.T().Type == types.UnknownOID {
			if e, err = s.b.coerce(e, types.TextOID, -1, coerceImplicit, plan.FormImplicitCast, -1); err != nil {
				return err
			}
		}
		for _, arg := range a.Args {
			if equalExpr(arg, e) {
				e = arg
			}
		}
		k, err := s.sortKey(e, &x.OrderBy[i])
		if err != nil {
			return err
		}
		a.OrderBy = append(a.OrderBy, k)
	}
	if !x.Distinct {
		return nil
	}
	if x.Name.Schema == pgdata.MySQLName {
		for _, arg := range a.Args {
			if err := s.b.checkEquality(ast.Name{Schema: pgdata.MySQLName, Name: "="}, arg, "DISTINCT"); err != nil {
				return err
			}
		}
	}
	for _, k := range a.OrderBy {
		found := false
		for _, arg := range a.Args {
			found = found || equalExpr(arg, k.Expr)
		}
		if !found {
			return s.b.errorAt(exprLoc(k.Expr), sqlerr.InvalidColumnReference, "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
		}
	}
	for _, arg := range a.Args {
		if _, _, _, err := s.b.sortOps(arg.T().Type, true, true, exprLoc(arg)); err != nil {
			return err
		}
	}
	return nil
}

// aggLevel finds the query level an aggregate belongs to and checks that it may stand there.
func (s *scope) aggLevel(a *plan.Aggref, loc int) error {
	b := s.b
	level, nested, nestedLoc := -1, -1, -1
	var window, srf plan.Expr
	visit := func(root plan.Expr) {
		deepExpr(root, 0, func(e plan.Expr, l int) bool {
			switch v := e.(type) {
			case *plan.Var:
				if up := v.LevelsUp - l; up >= 0 && (level < 0 || up < level) {
					level = up
				}
			case *plan.Aggref:
				if up := v.LevelsUp - l; up >= 0 && (nested < 0 || up < nested) {
					nested, nestedLoc = up, v.Loc
				}
			case *plan.WindowFunc:
				if l == 0 {
					window = e
				}
			case *plan.FuncCall:
				if v.RetSet && l == 0 {
					srf = e
				}
			}
			return false
		})
	}
	for _, e := range a.Args {
		visit(e)
	}
	for _, k := range a.OrderBy {
		visit(k.Expr)
	}
	if a.Filter != nil {
		visit(a.Filter)
	}
	if level < 0 {
		level = max(nested, 0)
	}
	if nested >= 0 && nested == level {
		return b.errorAt(nestedLoc, sqlerr.GroupingError, "aggregate function calls cannot be nested")
	}
	if window != nil {
		return b.errorAt(exprLoc(window), sqlerr.GroupingError, "aggregate function calls cannot contain window function calls")
	}
	if srf != nil {
		return b.errorAt(exprLoc(srf), sqlerr.FeatureNotSupported, "aggregate function calls cannot contain set-returning function calls").
			WithHint("You might be able to move the set-returning function into a LATERAL FROM item.")
	}
	a.LevelsUp = level
	if err := s.checkDirect(a); err != nil {
		return err
	}
	p := s
	for range level {
		if p.parent == nil {
			break
		}
		p = p.parent
	}
	p.q.HasAggs = true
	return p.placeCheck(loc, "aggregate functions")
}

// checkDirect checks the direct arguments of an ordered-set aggregate: columns of its own level and of outer ones, no aggregates of them.
func (s *scope) checkDirect(a *plan.Aggref) error {
	var err error
	for _, d := range a.Direct {
		deepExpr(d, 0, func(e plan.Expr, l int) bool {
			switch v := e.(type) {
			case *plan.Var:
				if up := v.LevelsUp - l; up >= 0 && up < a.LevelsUp {
					err = s.b.errorAt(v.Loc, sqlerr.GroupingError, "outer-level aggregate cannot contain a lower-level variable in its direct arguments")
				}
			case *plan.Aggref:
				if up := v.LevelsUp - l; up >= 0 && up <= a.LevelsUp {
					err = s.b.errorAt(v.Loc, sqlerr.GroupingError, "aggregate function calls cannot be nested")
				}
			}
			return err != nil
		})
	}
	return err
}

// placeCheck raises 42803 when an aggregate or GROUPING stands where it may not.
func (s *scope) placeCheck(loc int, what string) error {
	if where := placePhrase(s.kind); where != "" {
		return s.b.errorAt(loc, sqlerr.GroupingError, "%s are not allowed in %s", what, where)
	}
	return nil
}
