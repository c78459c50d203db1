package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// lookupOp finds the operator of a name for operand types (left 0 = prefix): PostgreSQL's oper and left_oper.
func (b *binder) lookupOp(name ast.Name, left, right types.OID, loc int) (*pgdata.Operator, error) {
	if name.Schema == pgdata.MySQLName {
		o, ambiguous := b.findMySQLOp(name.Name, left, right)
		if o == nil {
			return nil, b.opError(name, left, right, loc, ambiguous)
		}
		return o, nil
	}
	if o, err := b.opAllowed(name); err != nil || !o {
		if err != nil {
			return nil, err
		}
		return nil, b.opError(name, left, right, loc, false)
	}
	key := opKey{name.Name, left, right}
	if o := opCache.get(key); o != nil {
		return o, nil
	}
	o, ambiguous := b.findOp(name.Name, left, right)
	if o == nil {
		return nil, b.opError(name, left, right, loc, ambiguous)
	}
	if left < pgdata.FirstUserOID && right < pgdata.FirstUserOID {
		opCache.put(key, o)
	}
	return o, nil
}

// opAllowed checks the schema of an operator's name: all built-in operators are in pg_catalog.
func (b *binder) opAllowed(name ast.Name) (bool, error) {
	switch name.Schema {
	case "", "pg_catalog":
		return true, nil
	}
	s, err := b.schemaByName(name.Schema)
	if err != nil {
		return false, err
	}
	if s == nil {
		return false, b.errorAt(int(name.Off), sqlerr.UndefinedSchema, "schema \"%s\" does not exist", name.Schema)
	}
	return false, nil
}

func (b *binder) findOp(name string, left, right types.OID) (op *pgdata.Operator, ambiguous bool) {
	if left != 0 {
		if o := b.exactBinary(name, left, right); o != nil {
			return o, false
		}
	} else if o := pgdata.OperatorByTypes(name, 0, right); o != nil {
		return o, false
	}
	var cands []candidate
	for _, o := range pgdata.OperatorsByName(name) {
		if left == 0 && o.Kind == 'l' {
			cands = append(cands, candidate{op: o, args: []types.OID{o.Right}})
		} else if left != 0 && o.Kind == 'b' {
			cands = append(cands, candidate{op: o, args: []types.OID{o.Left, o.Right}})
		}
	}
	in := []types.OID{left, right}
	if left == 0 {
		in = in[1:]
	}
	c, amb := b.matchBest(cands, in)
	if c == nil {
		return nil, amb
	}
	return c.op, false
}

// findMySQLOp finds an operator of schema mysql, whose own stand before PostgreSQL's for other operands.
func (b *binder) findMySQLOp(name string, left, right types.OID) (op *pgdata.Operator, ambiguous bool) {
	list := pgdata.MySQLOperators(name)
	l, r := left, right
	if l == types.UnknownOID {
		l = r
	}
	if r == types.UnknownOID {
		r = l
	}
	var cands []candidate
	for _, o := range list {
		if left == 0 || o.Kind != 'b' {
			continue
		}
		if o.Left == l && o.Right == r {
			return o, false
		}
		cands = append(cands, candidate{op: o, args: []types.OID{o.Left, o.Right}})
	}
	c, amb := b.matchBest(cands, []types.OID{left, right})
	if c == nil {
		return nil, amb
	}
	return c.op, false
}

// checkEquality refuses to compare values by an operator that grouping cannot use: that of schema mysql for strings.
func (b *binder) checkEquality(op ast.Name, e plan.Expr, what string) error {
	if op.IsZero() {
		return nil
	}
	t := e.T().Type
	if o, _ := b.findMySQLOp(op.Name, t, t); o == nil || o.Namespace != pgdata.MySQLSchema {
		return nil
	}
	return b.errorAt(e.T().Loc, sqlerr.FeatureNotSupported, "%s of strings without regard to case is not supported", what).
		WithHint("BINARY before the expression compares by bytes.")
}

// exactBinary is binary_oper_exact.
func (b *binder) exactBinary(name string, left, right types.OID) *pgdata.Operator {
	unknown := false
	if left == types.UnknownOID && right != 0 {
		left, unknown = right, true
	} else if right == types.UnknownOID && left != 0 {
		right, unknown = left, true
	}
	if o := pgdata.OperatorByTypes(name, left, right); o != nil {
		return o
	}
	if unknown {
		if base := b.baseType(left); base != left {
			return pgdata.OperatorByTypes(name, base, base)
		}
	}
	return nil
}

func (b *binder) opError(name ast.Name, left, right types.OID, loc int, ambiguous bool) error {
	sig := name.String() + " " + b.typeName(right)
	if left != 0 {
		sig = b.typeName(left) + " " + sig
	}
	if ambiguous {
		return b.errorAt(loc, sqlerr.AmbiguousFunction, "operator is not unique: %s", sig).
			WithHint("Could not choose a best candidate operator. You might need to add explicit type casts.")
	}
	hint := "No operator matches the given name and argument types. You might need to add explicit type casts."
	if left == 0 {
		hint = "No operator matches the given name and argument type. You might need to add an explicit type cast."
	}
	return b.errorAt(loc, sqlerr.UndefinedFunction, "operator does not exist: %s", sig).WithHint("%s", hint)
}

// makeOp is make_op: resolves and casts. left nil = prefix.
func (b *binder) makeOp(s *scope, name ast.Name, left, right plan.Expr, loc int) (plan.Expr, error) {
	var o *pgdata.Operator
	var err error
	var args []plan.Expr
	var actual, declared []types.OID
	if left == nil {
		if o, err = b.lookupOp(name, 0, right.T().Type, loc); err != nil {
			return nil, err
		}
		args, actual, declared = []plan.Expr{right}, []types.OID{right.T().Type}, []types.OID{o.Right}
	} else {
		if o, err = b.lookupOp(name, left.T().Type, right.T().Type, loc); err != nil {
			return nil, err
		}
		args = []plan.Expr{left, right}
		actual, declared = []types.OID{left.T().Type, right.T().Type}, []types.OID{o.Left, o.Right}
	}
	return b.finishOp(s, o, args, actual, declared, loc)
}

func (b *binder) finishOp(s *scope, o *pgdata.Operator, args []plan.Expr, actual, declared []types.OID, loc int) (plan.Expr, error) {
	ret, err := b.enforceGeneric(actual, declared, o.Result)
	if err != nil {
		return nil, err
	}
	if err := b.castArgs(args, actual, declared); err != nil {
		return nil, err
	}
	p, err := b.proc(o.Code)
	if err != nil {
		return nil, err
	}
	coll := b.commonCollation(args...)
	if err := b.checkCollations(args); err != nil {
		return nil, err
	}
	f := &plan.FuncCall{
		Typed: plan.Typed{Type: ret, Typmod: -1, Loc: loc}, Func: o.Code, Op: o.OID, Args: args, RetSet: p.RetSet, Volatile: p.Volatile,
		Strict: p.Strict, Form: plan.FormOperator, InputColl: coll,
	}
	f.Collation = b.resultCollation(ret, coll)
	if p.RetSet {
		if err := b.checkSRF(s, loc); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// resultCollation is the collation of a result of type t computed from inputs of collation coll.
func (b *binder) resultCollation(t, coll types.OID) types.OID {
	def := b.typeCollation(t)
	if def != 0 && coll != 0 {
		return coll
	}
	return def
}

// castArgs casts arguments to declared types in place: make_fn_arguments.
func (b *binder) castArgs(args []plan.Expr, actual, declared []types.OID) error {
	for i, a := range args {
		if i >= len(declared) {
			break
		}
		if actual[i] == declared[i] {
			continue
		}
		r, err := b.coerce(a, declared[i], -1, coerceImplicit, plan.FormImplicitCast, -1)
		if err != nil {
			return err
		}
		args[i] = r
	}
	return nil
}

// makeScalarArrayOp is make_scalar_array_op: left op ANY/ALL (array).
func (b *binder) makeScalarArrayOp(name ast.Name, useOr bool, left, right plan.Expr, loc int) (plan.Expr, error) {
	lt, rt := left.T().Type, right.T().Type
	elem := rt
	if rt != types.UnknownOID {
		if elem = b.baseElemType(rt); elem == 0 {
			return nil, b.errorAt(loc, sqlerr.WrongObjectType, "op ANY/ALL (array) requires array on right side")
		}
	}
	o, err := b.lookupOp(name, lt, elem, loc)
	if err != nil {
		return nil, err
	}
	actual, declared := []types.OID{lt, elem}, []types.OID{o.Left, o.Right}
	ret, err := b.enforceGeneric(actual, declared, o.Result)
	if err != nil {
		return nil, err
	}
	if ret != types.BoolOID {
		return nil, b.errorAt(loc, sqlerr.WrongObjectType, "op ANY/ALL (array) requires operator to yield boolean")
	}
	p, err := b.proc(o.Code)
	if err != nil {
		return nil, err
	}
	if p.RetSet {
		return nil, b.errorAt(loc, sqlerr.WrongObjectType, "op ANY/ALL (array) requires operator not to return a set")
	}
	arr := types.OID(0)
	if isPolymorphic(declared[1]) {
		arr = rt
	} else if arr = b.arrayType(declared[1]); arr == 0 {
		return nil, b.errorAt(loc, sqlerr.UndefinedObject, "could not find array type for data type %s", b.typeName(declared[1]))
	}
	args := []plan.Expr{left, right}
	if err := b.castArgs(args, []types.OID{lt, rt}, []types.OID{declared[0], arr}); err != nil {
		return nil, err
	}
	return &plan.ScalarArrayOp{
		Typed: plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: loc}, Func: o.Code, Op: o.OID, UseOr: useOr, Args: args,
		InputColl: b.commonCollation(args...), Strict: p.Strict,
	}, nil
}

// sortOps finds the operators that sort and compare a type: get_sort_group_operators.
func (b *binder) sortOps(t types.OID, needLess, needEq bool, loc int) (lt, eq, gt types.OID, err error) {
	base := b.baseType(t)
	lt, eq, gt = pgdata.SortOperators(base, b.lookupType)
	if et := b.elemType(base); et != 0 && lt != 0 {
		if l, _, _, e := b.sortOps(et, needLess, needEq, loc); e != nil || l == 0 {
			lt, gt = 0, 0
		}
	}
	if eq == 0 {
		if c := pgdata.DefaultOpclass(base, pgdata.Hash, b.lookupType); c != nil {
			eq = pgdata.AmopMember(c.Family, c.InType, c.InType, pgdata.HashEqual)
		}
	}
	if needLess && lt == 0 {
		return 0, 0, 0, b.errorAt(loc, sqlerr.UndefinedFunction, "could not identify an ordering operator for type %s", b.typeName(t)).
			WithHint("Use an explicit ordering operator or modify the query.")
	}
	if needEq && eq == 0 {
		return 0, 0, 0, b.errorAt(loc, sqlerr.UndefinedFunction, "could not identify an equality operator for type %s", b.typeName(t))
	}
	return lt, eq, gt, nil
}
