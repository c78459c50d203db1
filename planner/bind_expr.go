package planner

import (
	"math"

	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// expr binds an expression in a place of the given kind: transformExpr.
func (s *scope) expr(e ast.Expr, kind exprKind) (plan.Expr, error) {
	saved := s.kind
	s.kind = kind
	x, err := s.ex(e)
	s.kind = saved
	return x, err
}

// ex binds an expression in the current place.
func (s *scope) ex(e ast.Expr) (plan.Expr, error) {
	if err := s.b.enter(); err != nil {
		return nil, err
	}
	defer s.b.leave()
	switch x := e.(type) {
	case *ast.Const:
		return s.b.constant(x)
	case *ast.ColumnRef:
		return s.columnRef(x)
	case *ast.Param:
		return s.b.params.ref(s.b, x.Number, int(x.Off))
	case *ast.Cast:
		return s.cast(x)
	case *ast.FuncCall:
		return s.funcCall(x)
	case *ast.Op:
		return s.op(x)
	case *ast.OpChain:
		return s.opChain(x)
	case *ast.BoolExpr:
		return s.boolExpr(x)
	case *ast.Not:
		a, err := s.ex(x.Arg)
		if err != nil {
			return nil, err
		}
		if a, err = s.b.toBoolean(a, "NOT"); err != nil {
			return nil, err
		}
		return &plan.BoolExpr{Typed: boolAt(x.Off), Kind: plan.Not, Args: []plan.Expr{a}}, nil
	case *ast.In:
		return s.in(x)
	case *ast.Between:
		return s.between(x)
	case *ast.IsNull:
		a, err := s.ex(x.Arg)
		if err != nil {
			return nil, err
		}
		return &plan.NullTest{Typed: boolAt(x.Off), Arg: a, Not: x.Not, ArgIsRow: s.b.isRowType(a.T().Type)}, nil
	case *ast.IsBool:
		return s.isBool(x)
	}
	return s.exRare(e)
}

func (s *scope) exRare(e ast.Expr) (plan.Expr, error) {
	b := s.b
	switch x := e.(type) {
	case *ast.OpAny:
		l, err := s.ex(x.Left)
		if err != nil {
			return nil, err
		}
		r, err := s.ex(x.Right)
		if err != nil {
			return nil, err
		}
		return b.makeScalarArrayOp(x.Op, !x.All, l, r, int(x.Off))
	case *ast.IsDistinct:
		return s.isDistinct(x)
	case *ast.Case:
		return s.caseExpr(x)
	case *ast.Coalesce:
		args, t, mod, err := s.commonArgs(x.Args, "COALESCE", true)
		if err != nil {
			return nil, err
		}
		return &plan.Coalesce{Typed: plan.Typed{Type: t, Typmod: mod, Collation: b.collOf(t, args), Loc: int(x.Off)}, Args: args}, nil
	case *ast.MinMax:
		name := "LEAST"
		if x.Greatest {
			name = "GREATEST"
		}
		args, t, mod, err := s.commonArgs(x.Args, name, false)
		if err != nil {
			return nil, err
		}
		if lt, _, _, err := b.sortOps(t, false, false, int(x.Off)); err != nil || lt == 0 {
			return nil, b.errorAt(-1, sqlerr.UndefinedFunction, "could not identify a comparison function for type %s", b.typeName(t))
		}
		coll := b.collOf(t, args)
		return &plan.MinMax{Typed: plan.Typed{Type: t, Typmod: mod, Collation: coll, Loc: int(x.Off)}, Least: !x.Greatest, Args: args, InputColl: coll}, nil
	case *ast.NullIf:
		return s.nullIf(x)
	case *ast.Array:
		return s.array(x, 0, 0, -1)
	case *ast.Row:
		return s.row(x)
	case *ast.SubLink:
		return s.subLink(x)
	case *ast.Indirection:
		return s.indirection(x)
	case *ast.SQLValue:
		return s.sqlValue(x), nil
	case *ast.Grouping:
		return s.grouping(x)
	case *ast.Collate:
		return s.collateExpr(x)
	case *ast.Default:
		return nil, b.errorAt(int(x.Off), sqlerr.SyntaxError, "DEFAULT is not allowed in this context")
	case *ast.CurrentOf:
		return nil, b.errorAt(int(x.Off), sqlerr.FeatureNotSupported, "WHERE CURRENT OF is not supported")
	case *ast.NamedArg:
		return nil, b.errorAt(int(x.Off), sqlerr.SyntaxError, "named argument is not allowed here")
	}
	return nil, sqlerr.Unsupported("this expression")
}

func boolAt(off int32) plan.Typed {
	return plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: int(off)}
}

// collOf is the collation of a result of type t over args.
func (b *binder) collOf(t types.OID, args []plan.Expr) types.OID {
	if b.typeCollation(t) == 0 {
		return 0
	}
	return b.commonCollation(args...)
}

// constant makes a literal.
func (b *binder) constant(x *ast.Const) (plan.Expr, error) {
	c := &plan.Const{Typed: plan.Typed{Type: types.UnknownOID, Typmod: -1, Loc: int(x.Off)}}
	switch x.Kind {
	case ast.ConstNull:
		c.Value = types.NullDatum
	case ast.ConstInt:
		c.Type, c.Value = types.Int8OID, types.Int(x.Int)
		if x.Int >= math.MinInt32 && x.Int <= math.MaxInt32 {
			c.Type = types.Int4OID
		}
	case ast.ConstString:
		c.Value = types.Text(x.Text)
	case ast.ConstBool:
		c.Type, c.Value = types.BoolOID, types.Bool(x.Bool)
	case ast.ConstNumeric, ast.ConstBit:
		c.Type = types.NumericOID
		if x.Kind == ast.ConstBit {
			c.Type = types.BitOID
		}
		v, err := b.input(c.Type, -1, []byte(x.Text))
		if err != nil {
			return nil, b.place(err, int(x.Off))
		}
		c.Value = v
	}
	return c, nil
}

// cast is transformTypeCast.
func (s *scope) cast(x *ast.Cast) (plan.Expr, error) {
	b := s.b
	t, mod, err := b.typeByName(x.Type)
	if err != nil {
		return nil, err
	}
	if x.Type.SetOf {
		return nil, b.errorAt(int(x.Type.Off), sqlerr.DatatypeMismatch, "cannot cast to a set type")
	}
	var e plan.Expr
	if arr, ok := x.Arg.(*ast.Array); ok {
		base, baseMod := b.baseTypeMod(t, mod)
		if et := b.elemType(base); et != 0 {
			e, err = s.array(arr, base, et, baseMod)
		} else {
			e, err = s.ex(x.Arg)
		}
	} else {
		e, err = s.ex(x.Arg)
	}
	if err != nil {
		return nil, err
	}
	loc := int(x.Off)
	if loc < 0 {
		loc = int(x.Type.Off)
	}
	return b.explicitCast(e, t, mod, loc)
}

func (b *binder) explicitCast(e plan.Expr, t types.OID, mod types.Typmod, loc int) (plan.Expr, error) {
	r, err := b.coerceTo(e, t, mod, coerceExplicit, plan.FormExplicitCast, loc)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, b.errorAt(loc, sqlerr.CannotCoerce, "cannot cast type %s to %s", b.typeName(e.T().Type), b.typeName(t))
	}
	return r, nil
}

func (s *scope) collateExpr(x *ast.Collate) (plan.Expr, error) {
	a, err := s.ex(x.Arg)
	if err != nil {
		return nil, err
	}
	t := a.T().Type
	if s.b.typeCollation(t) == 0 && t != types.UnknownOID {
		return nil, s.b.errorAt(int(x.Off), sqlerr.DatatypeMismatch, "collations are not supported by type %s", s.b.typeName(t))
	}
	coll, err := s.b.collationByName(x.Collation)
	if err != nil {
		return nil, err
	}
	return s.b.collate(a, coll, int(x.Off)), nil
}

// op binds one operator.
func (s *scope) op(x *ast.Op) (plan.Expr, error) {
	if x.Left == nil {
		r, err := s.ex(x.Right)
		if err != nil {
			return nil, err
		}
		e, err := s.b.makeOp(s, x.Op, nil, r, int(x.Off))
		return e, err
	}
	if lr, ok := x.Left.(*ast.Row); ok {
		if sub, ok := x.Right.(*ast.SubLink); ok && sub.Kind == ast.SubScalar {
			return s.rowSubLink(x.Op, lr, sub, int(x.Off))
		}
	}
	l, err := s.ex(x.Left)
	if err != nil {
		return nil, err
	}
	return s.binary(x.Op, l, x.Right, int(x.Off))
}

func (s *scope) opChain(x *ast.OpChain) (plan.Expr, error) {
	l, err := s.ex(x.First)
	if err != nil {
		return nil, err
	}
	for i := range x.Terms {
		t := &x.Terms[i]
		if l, err = s.binary(t.Op, l, t.Right, int(t.Off)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (s *scope) binary(op ast.Name, l plan.Expr, right ast.Expr, loc int) (plan.Expr, error) {
	r, err := s.ex(right)
	if err != nil {
		return nil, err
	}
	if lr, ok := l.(*plan.RowExpr); ok {
		if rr, ok := r.(*plan.RowExpr); ok {
			return s.rowCompare(op, lr.Args, rr.Args, loc)
		}
	}
	return s.b.makeOp(s, op, l, r, loc)
}

func (s *scope) boolExpr(x *ast.BoolExpr) (plan.Expr, error) {
	n := &plan.BoolExpr{Typed: boolAt(x.Off), Kind: plan.And, Args: make([]plan.Expr, len(x.Args))}
	what := "AND"
	if x.Op == ast.Or {
		n.Kind, what = plan.Or, "OR"
	}
	for i, a := range x.Args {
		e, err := s.ex(a)
		if err != nil {
			return nil, err
		}
		if n.Args[i], err = s.b.toBoolean(e, what); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// in is transformAExprIn.
func (s *scope) in(x *ast.In) (plan.Expr, error) {
	b := s.b
	name, useOr := "=", true
	if x.Not {
		name, useOr = "<>", false
	}
	op := ast.Name{Loc: x.Loc, Schema: x.Schema, Name: name}
	l, err := s.ex(x.Left)
	if err != nil {
		return nil, err
	}
	var all, consts, vars []plan.Expr
	for _, a := range x.List {
		e, err := s.ex(a)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
		if varAtLevel(e, 0) != nil {
			vars = append(vars, e)
		} else {
			consts = append(consts, e)
		}
	}
	var result []plan.Expr
	rest := all
	if len(consts) > 1 {
		e, err := s.inArray(op, useOr, l, consts, int(x.Off))
		if err != nil {
			return nil, err
		}
		if e != nil {
			result = append(result, e)
			rest = vars
		}
	}
	for _, r := range rest {
		var c plan.Expr
		if l, err = s.again(l, x.Left); err != nil {
			return nil, err
		}
		lr, ok1 := l.(*plan.RowExpr)
		rr, ok2 := r.(*plan.RowExpr)
		if ok1 && ok2 {
			c, err = s.rowCompare(op, lr.Args, rr.Args, int(x.Off))
		} else {
			c, err = b.makeOp(s, op, l, r, int(x.Off))
		}
		if err != nil {
			return nil, err
		}
		if c, err = b.toBoolean(c, "IN"); err != nil {
			return nil, err
		}
		result = append(result, c)
	}
	if len(result) == 1 {
		return result[0], nil
	}
	kind := plan.Or
	if !useOr {
		kind = plan.And
	}
	return &plan.BoolExpr{Typed: boolAt(x.Off), Kind: kind, Args: result}, nil
}

// inArray makes a scalar-array comparison of the list when it has a common type; nil otherwise.
func (s *scope) inArray(op ast.Name, useOr bool, l plan.Expr, list []plan.Expr, loc int) (plan.Expr, error) {
	b := s.b
	t, err := b.commonType(append([]plan.Expr{l}, list...), "")
	if err != nil {
		return nil, err
	}
	if t == 0 || t == types.RecordOID || b.arrayType(t) == 0 {
		return nil, nil
	}
	for _, e := range append([]plan.Expr{l}, list...) {
		if e.T().Type != t && !b.canCoerce1(e.T().Type, t, coerceImplicit) {
			return nil, nil
		}
	}
	arr := &plan.ArrayExpr{Typed: plan.Typed{Type: b.arrayType(t), Typmod: -1, Collation: b.typeCollation(t), Loc: -1}, Elem: b.baseType(t)}
	for _, e := range list {
		c, err := b.toCommon(e, t, "IN")
		if err != nil {
			return nil, err
		}
		arr.Args = append(arr.Args, c)
	}
	return b.makeScalarArrayOp(op, useOr, l, arr, loc)
}

func (s *scope) between(x *ast.Between) (plan.Expr, error) {
	a, err := s.ex(x.Arg)
	if err != nil {
		return nil, err
	}
	o1, o2, kind, outer := ">=", "<=", plan.And, plan.Or
	if x.Not {
		o1, o2, kind, outer = "<", ">", plan.Or, plan.And
	}
	// An untyped parameter has the type that the comparison before gave it.
	op := func(name string, bound plan.Expr, text ast.Expr) (plan.Expr, error) {
		l, err := s.again(a, x.Arg)
		if err != nil {
			return nil, err
		}
		if bound, err = s.again(bound, text); err != nil {
			return nil, err
		}
		return s.b.makeOp(s, ast.Name{Loc: x.Loc, Schema: x.Schema, Name: name}, l, bound, int(x.Off))
	}
	// The upper bound is bound after the first comparison, which gives a parameter that stands in both its type.
	lo, err := s.ex(x.Low)
	if err != nil {
		return nil, err
	}
	l, err := op(o1, lo, x.Low)
	if err != nil {
		return nil, err
	}
	hi, err := s.ex(x.High)
	if err != nil {
		return nil, err
	}
	r, err := op(o2, hi, x.High)
	if err != nil {
		return nil, err
	}
	e := &plan.BoolExpr{Typed: boolAt(x.Off), Kind: kind, Args: []plan.Expr{l, r}}
	if !x.Symmetric {
		return e, nil
	}
	if l, err = op(o1, hi, x.High); err != nil {
		return nil, err
	}
	if r, err = op(o2, lo, x.Low); err != nil {
		return nil, err
	}
	swapped := &plan.BoolExpr{Typed: boolAt(x.Off), Kind: kind, Args: []plan.Expr{l, r}}
	return &plan.BoolExpr{Typed: boolAt(x.Off), Kind: outer, Args: []plan.Expr{e, swapped}}, nil
}

// again binds the text of a parameter once more, which may have got a type meanwhile; anything else stays as it is.
func (s *scope) again(bound plan.Expr, text ast.Expr) (plan.Expr, error) {
	if p, ok := bound.(*plan.Param); ok && p.Type == types.UnknownOID {
		return s.ex(text)
	}
	return bound, nil
}

func (s *scope) isBool(x *ast.IsBool) (plan.Expr, error) {
	a, err := s.ex(x.Arg)
	if err != nil {
		return nil, err
	}
	name := [...]string{"IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN"}[x.Test]
	if a, err = s.b.toBoolean(a, name); err != nil {
		return nil, err
	}
	return &plan.BooleanTest{Typed: boolAt(x.Off), Arg: a, Kind: plan.BoolTestKind(x.Test)}, nil
}

func isNullConst(e ast.Expr) bool {
	c, ok := e.(*ast.Const)
	return ok && c.Kind == ast.ConstNull
}

func (s *scope) isDistinct(x *ast.IsDistinct) (plan.Expr, error) {
	if isNullConst(x.Right) || isNullConst(x.Left) {
		arg := x.Left
		if isNullConst(x.Left) {
			arg = x.Right
		}
		a, err := s.ex(arg)
		if err != nil {
			return nil, err
		}
		return &plan.NullTest{Typed: boolAt(x.Off), Arg: a, Not: !x.Not}, nil
	}
	l, err := s.ex(x.Left)
	if err != nil {
		return nil, err
	}
	r, err := s.ex(x.Right)
	if err != nil {
		return nil, err
	}
	lr, ok1 := l.(*plan.RowExpr)
	rr, ok2 := r.(*plan.RowExpr)
	if !ok1 || !ok2 {
		return s.distinct(ast.Name{Loc: x.Loc, Schema: x.Schema, Name: "="}, l, r, x.Not)
	}
	if len(lr.Args) != len(rr.Args) {
		return nil, s.b.errorAt(int(x.Off), sqlerr.SyntaxError, "unequal number of entries in row expressions")
	}
	n := &plan.BoolExpr{Typed: boolAt(x.Off), Kind: plan.Or}
	if x.Not {
		n.Kind = plan.And
	}
	for i := range lr.Args {
		e, err := s.distinct(ast.Name{Loc: x.Loc, Schema: x.Schema, Name: "="}, lr.Args[i], rr.Args[i], x.Not)
		if err != nil {
			return nil, err
		}
		n.Args = append(n.Args, e)
	}
	switch len(n.Args) {
	case 0:
		return s.b.boolConst(x.Not), nil
	case 1:
		return n.Args[0], nil
	}
	return n, nil
}

func (s *scope) distinct(op ast.Name, l, r plan.Expr, not bool) (plan.Expr, error) {
	loc := int(op.Off)
	e, err := s.b.makeOp(s, op, l, r, loc)
	if err != nil {
		return nil, err
	}
	f := e.(*plan.FuncCall)
	if f.Type != types.BoolOID {
		return nil, s.b.errorAt(loc, sqlerr.DatatypeMismatch, "IS DISTINCT FROM requires = operator to yield boolean")
	}
	return &plan.DistinctExpr{Typed: plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: loc}, Func: f.Func, Op: f.Op, Args: f.Args, Not: not, InputColl: f.InputColl}, nil
}

func (s *scope) nullIf(x *ast.NullIf) (plan.Expr, error) {
	l, err := s.ex(x.Left)
	if err != nil {
		return nil, err
	}
	r, err := s.ex(x.Right)
	if err != nil {
		return nil, err
	}
	e, err := s.b.makeOp(s, ast.Name{Loc: x.Loc, Name: "="}, l, r, int(x.Off))
	if err != nil {
		return nil, err
	}
	f := e.(*plan.FuncCall)
	if f.Type != types.BoolOID {
		return nil, s.b.errorAt(int(x.Off), sqlerr.DatatypeMismatch, "NULLIF requires = operator to yield boolean")
	}
	if f.RetSet {
		return nil, s.b.errorAt(int(x.Off), sqlerr.DatatypeMismatch, "%s must not return a set", "NULLIF")
	}
	t := *f.Args[0].T()
	t.Loc = int(x.Off)
	return &plan.NullIf{Typed: t, Func: f.Func, Op: f.Op, Args: f.Args, InputColl: f.InputColl}, nil
}

// noSets rejects set-returning functions among args.
func (s *scope) noSets(args []plan.Expr, what string) error {
	for _, a := range args {
		if a == nil {
			continue
		}
		loc := -1
		if find(a, func(x plan.Expr) bool {
			f, ok := x.(*plan.FuncCall)
			if ok && f.RetSet {
				loc = f.Loc
			}
			return ok && f.RetSet
		}) {
			return s.b.errorAt(loc, sqlerr.FeatureNotSupported, "set-returning functions are not allowed in %s", what).
				WithHint("You might be able to move the set-returning function into a LATERAL FROM item.")
		}
	}
	return nil
}

// commonArgs binds arguments and gives them their common type.
func (s *scope) commonArgs(list []ast.Expr, what string, noSets bool) ([]plan.Expr, types.OID, types.Typmod, error) {
	args := make([]plan.Expr, len(list))
	for i, a := range list {
		e, err := s.ex(a)
		if err != nil {
			return nil, 0, 0, err
		}
		args[i] = e
	}
	t, err := s.b.allToCommon(args, what)
	if err != nil {
		return nil, 0, 0, err
	}
	if noSets {
		if err := s.noSets(args, what); err != nil {
			return nil, 0, 0, err
		}
	}
	return args, t, commonTypmod(args, t), nil
}

// caseExpr is transformCaseExpr.
func (s *scope) caseExpr(x *ast.Case) (plan.Expr, error) {
	b := s.b
	n := &plan.Case{Whens: make([]plan.CaseWhen, len(x.Whens))}
	var test plan.Expr
	if x.Arg != nil {
		a, err := s.ex(x.Arg)
		if err != nil {
			return nil, err
		}
		if a.T().Type == types.UnknownOID {
			if a, err = b.toCommon(a, types.TextOID, "CASE"); err != nil {
				return nil, err
			}
		}
		n.Arg = a
		t := *a.T()
		test = &plan.CaseTest{Typed: t}
	}
	results := make([]plan.Expr, 1, len(x.Whens)+1)
	for i, w := range x.Whens {
		c, err := s.ex(w.Cond)
		if err != nil {
			return nil, err
		}
		if test != nil {
			if c, err = b.makeOp(s, ast.Name{Loc: w.Loc, Name: "="}, test, c, int(w.Off)); err != nil {
				return nil, err
			}
		}
		if n.Whens[i].Cond, err = b.toBoolean(c, "CASE/WHEN"); err != nil {
			return nil, err
		}
		r, err := s.ex(w.Result)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	results[0] = &plan.Const{Typed: plan.Typed{Type: types.UnknownOID, Typmod: -1, Loc: -1}, Value: types.NullDatum}
	if x.Else != nil {
		d, err := s.ex(x.Else)
		if err != nil {
			return nil, err
		}
		results[0] = d
	}
	t, err := b.commonType(results, "CASE")
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		what := "CASE/WHEN"
		if i == 0 {
			what = "CASE/ELSE"
		}
		if results[i], err = b.toCommon(r, t, what); err != nil {
			return nil, err
		}
	}
	all := append([]plan.Expr(nil), results...)
	if n.Arg != nil {
		all = append(all, n.Arg)
	}
	for i := range n.Whens {
		n.Whens[i].Result = results[i+1]
		all = append(all, n.Whens[i].Cond)
	}
	n.Default = results[0]
	if err := s.noSets(all, "CASE"); err != nil {
		return nil, err
	}
	n.Typed = plan.Typed{Type: t, Typmod: commonTypmod(results, t), Collation: b.collOf(t, results), Loc: int(x.Off)}
	return n, nil
}

// array is transformArrayExpr; arrType and elemType are given inside an explicit cast.
func (s *scope) array(x *ast.Array, arrType, elemType types.OID, mod types.Typmod) (plan.Expr, error) {
	b := s.b
	n := &plan.ArrayExpr{Typed: plan.Typed{Typmod: -1, Loc: int(x.Off)}}
	elems := make([]plan.Expr, 0, len(x.Elems))
	for _, a := range x.Elems {
		var e plan.Expr
		var err error
		if sub, ok := a.(*ast.Array); ok {
			if err = b.enter(); err != nil {
				return nil, err
			}
			e, err = s.array(sub, arrType, elemType, mod)
			b.leave()
			n.Multi = true
		} else if e, err = s.ex(a); err == nil && !n.Multi && b.elemType(e.T().Type) != 0 && e.T().Type != types.Int2VectorOID && e.T().Type != types.OIDVectorOID {
			n.Multi = true
		}
		if err != nil {
			return nil, err
		}
		elems = append(elems, e)
	}
	coerceHard := arrType != 0
	target := elemType
	switch {
	case arrType != 0:
		if n.Multi {
			target = arrType
		}
	case len(elems) == 0:
		return nil, b.errorAt(int(x.Off), sqlerr.IndeterminateDatatype, "cannot determine type of empty array").
			WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
	default:
		t, err := b.commonType(elems, "ARRAY")
		if err != nil {
			return nil, err
		}
		target = t
		if n.Multi {
			arrType, elemType = t, b.elemType(t)
			if elemType == 0 {
				return nil, b.errorAt(int(x.Off), sqlerr.UndefinedObject, "could not find element type for data type %s", b.typeName(t))
			}
		} else {
			elemType = t
			if arrType = b.arrayType(t); arrType == 0 {
				return nil, b.errorAt(int(x.Off), sqlerr.UndefinedObject, "could not find array type for data type %s", b.typeName(t))
			}
		}
	}
	for i, e := range elems {
		var err error
		if coerceHard {
			r, e2 := b.coerceTo(e, target, mod, coerceExplicit, plan.FormExplicitCast, -1)
			if e2 != nil {
				return nil, e2
			}
			if r == nil {
				return nil, b.errorAt(exprLoc(e), sqlerr.CannotCoerce, "cannot cast type %s to %s", b.typeName(e.T().Type), b.typeName(target))
			}
			elems[i] = r
		} else if elems[i], err = b.toCommon(e, target, "ARRAY"); err != nil {
			return nil, err
		}
	}
	n.Type, n.Elem, n.Args = arrType, s.b.baseType(elemType), elems // elements are kept as the type below a domain
	n.Collation = b.collOf(arrType, elems)
	if n.Collation == 0 {
		n.Collation = b.typeCollation(arrType)
	}
	return n, nil
}

func (s *scope) row(x *ast.Row) (plan.Expr, error) {
	n := &plan.RowExpr{Typed: plan.Typed{Type: types.RecordOID, Typmod: -1, Loc: int(x.Off)}, Implicit: !x.Explicit}
	for _, a := range x.Args {
		if c, ok := a.(*ast.ColumnRef); ok && c.Star {
			ts, err := s.expandStar(nil, c)
			if err != nil {
				return nil, err
			}
			for _, t := range ts {
				n.Args = append(n.Args, t.Expr)
			}
			continue
		}
		e, err := s.ex(a)
		if err != nil {
			return nil, err
		}
		n.Args = append(n.Args, e)
	}
	if len(n.Args) > maxTargets {
		return nil, s.b.errorAt(int(x.Off), sqlerr.TooManyColumns, "ROW expressions can have at most %d entries", maxTargets)
	}
	for i := range n.Args {
		n.Names = append(n.Names, "f"+itoa(i+1))
	}
	return n, nil
}

// rowCompare is make_row_comparison_op.
func (s *scope) rowCompare(op ast.Name, l, r []plan.Expr, loc int) (plan.Expr, error) {
	b := s.b
	if len(l) != len(r) {
		return nil, b.errorAt(loc, sqlerr.SyntaxError, "unequal number of entries in row expressions")
	}
	if len(l) == 0 {
		return nil, b.errorAt(loc, sqlerr.FeatureNotSupported, "cannot compare rows of zero length")
	}
	calls := make([]plan.Expr, len(l))
	for i := range l {
		e, err := b.makeOp(s, op, l[i], r[i], loc)
		if err != nil {
			return nil, err
		}
		f := e.(*plan.FuncCall)
		if f.Type != types.BoolOID {
			return nil, b.errorAt(loc, sqlerr.DatatypeMismatch, "row comparison operator must yield type boolean, not type %s", b.typeName(f.Type))
		}
		if f.RetSet {
			return nil, b.errorAt(loc, sqlerr.DatatypeMismatch, "row comparison operator must not return a set")
		}
		calls[i] = e
	}
	if len(calls) == 1 {
		return calls[0], nil
	}
	strategy := 0
	for _, c := range calls {
		st := rowStrategy(c.(*plan.FuncCall).Op)
		if st == 0 || strategy != 0 && st != strategy {
			return nil, b.errorAt(loc, sqlerr.FeatureNotSupported, "could not determine interpretation of row comparison operator %s", op.Name).
				WithHint("Row comparison operators must be associated with btree operator families.")
		}
		strategy = st
	}
	switch strategy {
	case pgdata.BTEqual:
		return &plan.BoolExpr{Typed: boolAt(int32(loc)), Kind: plan.And, Args: calls}, nil
	case rowNotEqual:
		return &plan.BoolExpr{Typed: boolAt(int32(loc)), Kind: plan.Or, Args: calls}, nil
	}
	n := &plan.RowCompare{Typed: boolAt(int32(loc))}
	n.Kind = map[int]plan.RowCompareKind{pgdata.BTLess: plan.RowLT, pgdata.BTLessEqual: plan.RowLE, pgdata.BTGreaterEqual: plan.RowGE, pgdata.BTGreater: plan.RowGT}[strategy]
	for _, c := range calls {
		f := c.(*plan.FuncCall)
		n.Ops, n.Funcs, n.InputColl = append(n.Ops, f.Op), append(n.Funcs, f.Func), append(n.InputColl, f.InputColl)
		n.Left, n.Right = append(n.Left, f.Args[0]), append(n.Right, f.Args[1])
	}
	return n, nil
}

const rowNotEqual = 6

// rowStrategy is the btree strategy of an operator, rowNotEqual for the negator of an equality, 0 for none.
func rowStrategy(op types.OID) int {
	for _, a := range pgdata.AmopsOf(op) {
		if a.Method == pgdata.BTree && a.Purpose == 's' {
			return a.Strategy
		}
	}
	if o := pgdata.OperatorByOID(op); o != nil && o.Negate != 0 {
		for _, a := range pgdata.AmopsOf(o.Negate) {
			if a.Method == pgdata.BTree && a.Strategy == pgdata.BTEqual {
				return rowNotEqual
			}
		}
	}
	return 0
}

// sqlValue is CURRENT_DATE and its like.
func (s *scope) sqlValue(x *ast.SQLValue) plan.Expr {
	mod := types.Typmod(-1)
	if x.Precision >= 0 {
		mod = types.Typmod(min(x.Precision, 6))
	}
	n := &plan.SQLValue{Typed: plan.Typed{Typmod: -1, Loc: int(x.Off)}}
	switch x.Func {
	case ast.CurrentDate:
		n.Kind, n.Type = plan.CurrentDate, types.DateOID
	case ast.CurrentTime:
		n.Kind, n.Type, n.Typmod = plan.CurrentTime, types.TimeTZOID, mod
	case ast.CurrentTimestamp:
		n.Kind, n.Type, n.Typmod = plan.CurrentTimestamp, types.TimestampTZOID, mod
	case ast.LocalTime:
		n.Kind, n.Type, n.Typmod = plan.LocalTime, types.TimeOID, mod
	case ast.LocalTimestamp:
		n.Kind, n.Type, n.Typmod = plan.LocalTimestamp, types.TimestampOID, mod
	default:
		n.Type, n.Collation = types.NameOID, types.CCollationOID
		switch x.Func {
		case ast.CurrentRole:
			n.Kind = plan.CurrentRole
		case ast.CurrentUser:
			n.Kind = plan.CurrentUser
		case ast.User:
			n.Kind, n.User = plan.CurrentUser, true
		case ast.SessionUser:
			n.Kind = plan.SessionUser
		case ast.CurrentCatalog:
			n.Kind = plan.CurrentCatalog
		case ast.CurrentSchema:
			n.Kind = plan.CurrentSchema
		}
	}
	return n
}
