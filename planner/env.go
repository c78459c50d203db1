package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// BindEnv is what parse analysis and planning need besides the catalog. One value may serve all statements of a session
// whose settings did not change, except for Text.
type BindEnv struct {
	// Text is the statement's source, for error positions; "" for server-made text (positions are then left out).
	Text string
	// Path is the resolved search path: pg_catalog and the temporary schema are where PostgreSQL would search them.
	Path []types.OID
	// Role is the current user; rights of view owners go into plans.
	Role types.OID
	// Checked asks for the role's USAGE of the schemas that the statement names; superusers have it anyway.
	Checked bool
	// Database is the OID of the current database: what is bound once for all sessions of it is not for those of another, whose
	// objects have the same numbers.
	Database uint32
	// DatabaseName is the current database, for names of three parts.
	DatabaseName string
	IO           *types.IOContext
	// ParseQuery and ParseExpr read canonical SQL (views; defaults, checks, index expressions).
	ParseQuery func(sql string) (ast.Stmt, error)
	ParseExpr  func(sql string) (ast.Expr, error)
	// EvalConst computes an expression without Vars, Params and volatile or stable functions.
	EvalConst func(e plan.Expr) (types.Datum, error)
	// NoParams says that the statement can have no parameters: it came in a simple Query, or is stored.
	NoParams bool
	// Fold reads every literal at bind time, also where its text means something else tomorrow ('now', names of regclass):
	// what is stored keeps the value. Set for definitions and for canonical text.
	Fold bool
	// Virtual is the table of a base catalog when its descriptor does not carry it (Relation.Virtual is preferred).
	Virtual func(rel types.OID) catalog.VirtualTable
	// Settings of the optimizer; nil means Defaults.
	Settings *Settings
}

// Settings are the optimizer's switches (enable_seqscan and its like); all true by default.
type Settings struct {
	SeqScan, IndexScan, IndexOnlyScan, Sort, HashAgg, HashJoin, NestLoop, Material bool
	FromCollapseLimit, JoinCollapseLimit                                           int
	WorkMem                                                                        int64 // bytes
}

// Defaults are the settings of a new session.
var Defaults = Settings{
	SeqScan: true, IndexScan: true, IndexOnlyScan: true, Sort: true, HashAgg: true, HashJoin: true, NestLoop: true, Material: true,
	FromCollapseLimit: 8, JoinCollapseLimit: 8, WorkMem: 4 << 20,
}

// ParamInfo is what Bind found out about the statement's parameters.
type ParamInfo struct {
	// Types has an entry a parameter, all known.
	Types []types.OID
}

// binder is the state of one parse analysis.
type binder struct {
	cat     catalog.Reader
	env     *BindEnv
	params  *paramState
	depth   int
	views   int  // nesting of view expansion
	stored  bool // binding server-made text: no positions
	schemas map[types.OID]string
	fn      *pgdata.Proc // the SQL function whose body is bound: its parameters are known by name
}

const (
	maxExprDepth = 6000 // nested expressions and queries; sql/scan limits brackets to 1,000 before
	maxViewDepth = 64
)

// Bind is parse analysis: SELECT, VALUES, INSERT, UPDATE and DELETE become a bound query. paramTypes are the types the
// client declared ($1 first; 0 = to be inferred); the result has all of them and those found. Called by sql/session once
// for a text, and by sql/ddl for views.
func Bind(cat catalog.Reader, env *BindEnv, stmt ast.Stmt, paramTypes []types.OID) (*plan.Query, *ParamInfo, error) {
	rec := record(cat)
	b := &binder{cat: rec, env: env, params: newParamState(paramTypes)}
	q, err := b.bindTop(stmt)
	if err != nil {
		return nil, nil, err
	}
	return b.described(q, rec)
}

// described completes a bound statement with what its callers look at: its parameters, what it depends on, its result.
func (b *binder) described(q *plan.Query, rec *recorder) (*plan.Query, *ParamInfo, error) {
	info, err := b.params.finish(b, q)
	if err != nil {
		return nil, nil, err
	}
	q.Deps = rec.deps
	q.Out = b.clientColumns(q)
	return q, info, nil
}

// clientColumns describes a query's result for RowDescription.
func (b *binder) clientColumns(q *plan.Query) []plan.Column {
	if q.Command != plan.CmdSelect && len(q.Returning) == 0 {
		return nil
	}
	cols := outputColumns(q)
	for i := range cols {
		cols[i].Typed = b.plainType(cols[i].Typed)
	}
	return cols
}

func (b *binder) bindTop(stmt ast.Stmt) (*plan.Query, error) {
	s := &scope{b: b}
	q, err := s.bindStmt(stmt)
	if err != nil {
		return nil, err
	}
	q.CanSetTag = true
	return q, nil
}

// enter counts the depth of a recursive walk; leave undoes it.
func (b *binder) enter() error {
	b.depth++
	if b.depth > maxExprDepth {
		return tooDeep()
	}
	return nil
}

func (b *binder) leave() { b.depth-- }

func tooDeep() error {
	return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").
		WithHint("Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's stack depth limit is adequate.")
}

// errorAt makes an error at a byte offset of the statement's text.
func (b *binder) errorAt(loc int, code sqlerr.Code, format string, args ...any) *sqlerr.Error {
	return sqlerr.At(b.position(loc), code, format, args...)
}

func (b *binder) position(loc int) int {
	if loc < 0 || b.stored || b.env.Text == "" {
		return 0
	}
	return ast.CharPosition(b.env.Text, int32(loc))
}

// place adds a position to an error that has none.
func (b *binder) place(err error, loc int) error {
	if err == nil {
		return nil
	}
	e := sqlerr.From(err)
	if e.Position == 0 {
		e.Position = b.position(loc)
	}
	return e
}

// paramState infers the types of $n: PostgreSQL's variable parameter hooks.
type paramState struct {
	types []types.OID
	used  []bool
}

func newParamState(declared []types.OID) *paramState {
	return &paramState{types: append([]types.OID(nil), declared...)}
}

const maxParams = 65535

// ref makes the Param of $n.
func (p *paramState) ref(b *binder, n int, loc int) (plan.Expr, error) {
	if n < 1 || n > maxParams || b.env.NoParams {
		return nil, b.errorAt(loc, sqlerr.UndefinedParameter, "there is no parameter $%d", n)
	}
	for len(p.types) < n {
		p.types = append(p.types, 0)
	}
	t := p.types[n-1]
	if t == 0 {
		t = types.UnknownOID
	}
	return b.checkedParam(&plan.Param{Typed: plan.Typed{Type: t, Typmod: -1, Collation: b.typeCollation(t), Loc: loc}, Index: n - 1})
}

// checkedParam is a parameter with the checks of its domain, which the client's value has not passed.
func (b *binder) checkedParam(p *plan.Param) (plan.Expr, error) {
	if !b.isDomain(p.Type) {
		return p, nil
	}
	d := &plan.CoerceToDomain{Typed: p.Typed, Arg: p, Form: plan.FormImplicitCast}
	return d, b.fillDomain(d)
}

// coerce gives an untyped parameter the type of its first use.
func (p *paramState) coerce(b *binder, x *plan.Param, target types.OID, mod types.Typmod, loc int) (plan.Expr, bool, error) {
	have := p.types[x.Index]
	switch {
	case have == 0 || have == types.UnknownOID:
		p.types[x.Index] = target
	case have != target:
		return nil, true, b.errorAt(x.Loc, sqlerr.AmbiguousParameter, "inconsistent types deduced for parameter $%d", x.Index+1).
			WithDetail("%s versus %s", b.typeName(have), b.typeName(target))
	}
	e, err := b.checkedParam(&plan.Param{Typed: plan.Typed{Type: target, Typmod: -1, Collation: b.typeCollation(target), Loc: x.Loc}, Index: x.Index})
	return e, true, err
}

// finish checks that every parameter has a type and that all uses agree.
func (p *paramState) finish(b *binder, q *plan.Query) (*ParamInfo, error) {
	if len(p.types) == 0 {
		return &ParamInfo{}, nil
	}
	var bad *plan.Param
	deepExprs(q, 0, func(e plan.Expr, _ int) bool {
		if x, ok := e.(*plan.Param); ok && x.Type != p.types[x.Index] {
			bad = x
			return true
		}
		return false
	})
	if bad != nil && p.types[bad.Index] != 0 && p.types[bad.Index] != types.UnknownOID {
		return nil, b.errorAt(bad.Loc, sqlerr.AmbiguousParameter, "could not determine data type of parameter $%d", bad.Index+1)
	}
	for i, t := range p.types {
		if t == 0 || t == types.UnknownOID {
			return nil, sqlerr.New(sqlerr.IndeterminateDatatype, "could not determine data type of parameter $%d", i+1)
		}
	}
	return &ParamInfo{Types: p.types}, nil
}

// input reads a literal.
func (b *binder) input(t types.OID, mod types.Typmod, text []byte) (types.Datum, error) {
	return types.Input(b.env.IO, t, mod, text)
}
