package session

import (
	"fmt"
	"slices"
	"strings"

	"herd/engine"
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog/pgdata"
	"herd/sql/exec"
	"herd/sql/funcs"
	"herd/sql/postgres"
	"herd/sql/scan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

const (
	maxCallDepth    = 1000 // SQL functions that call each other
	maxSQLFunctions = 1000 // whose statements a session keeps
)

// sqlFunction has the statements of a function in language SQL, bound for the types of a call.
type sqlFunction struct {
	proc  *pgdata.Proc
	stmts []*prepared
	busy  bool // a call runs them: one inside it has its own
}

// functionKey tells the calls apart that a function's statements are bound for.
type functionKey struct {
	proc    types.OID
	version uint64
	result  types.OID
	types   string
}

// callLevel is a statement that has called a function: it goes on with its view afterwards, which must be kept readable.
type callLevel struct {
	view   storage.View
	pin    engine.ViewPin
	pinned bool
}

// keep pins the view of the statement that calls.
func (s *Session) keepView(v storage.View) {
	if len(s.calls) == 0 {
		s.calls = append(s.calls, callLevel{})
	}
	l := &s.calls[len(s.calls)-1]
	if l.pinned && l.view.Snap == v.Snap || v.Snap == nil {
		return
	}
	l.pin.Release()
	l.view, l.pin, l.pinned = v, s.tx.PinView(v), true
}

// dropViews releases what keepView pinned, from a level on.
func (s *Session) dropViews(from int) {
	for i := from; i < len(s.calls); i++ {
		s.calls[i].pin.Release()
	}
	if from < len(s.calls) {
		s.calls = s.calls[:from]
	}
}

// CallSQL implements funcs.Env.
func (e *environment) CallSQL(c *funcs.Ctx, ci *funcs.CallInfo, args []types.Datum, row func([]types.Datum) error) error {
	s := e.s()
	if len(s.calls) >= maxCallDepth {
		return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").
			WithHint("Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's stack depth limit is adequate.")
	}
	f, err := s.sqlFunction(ci)
	if err != nil {
		return err
	}
	if f.proc.Strict && slices.ContainsFunc(args, func(d types.Datum) bool { return d.Null }) {
		return nil
	}
	outer, _ := c.Tables.(*exec.Env)
	if outer == nil || s.tx == nil {
		return sqlerr.Unsupported("a call of the SQL function \"%s\" here", f.proc.Name)
	}
	s.keepView(outer.View)
	depth := len(s.calls)
	s.calls = append(s.calls, callLevel{})
	f.busy = true
	defer func() {
		f.busy = false
		s.dropViews(depth)
	}()
	params := make([]types.Datum, len(args))
	for i, a := range args {
		params[i] = a
		params[i].B = slices.Clone(a.B)
	}
	for i := range f.stmts {
		var to func([]types.Datum) error
		if i == len(f.stmts)-1 {
			to = row
		}
		if err := s.callStatement(f, i, outer, params, to); err != nil {
			e := sqlerr.From(err)
			if e.Where == "" {
				e = e.WithWhere("SQL function \"%s\" statement %d", f.proc.Name, i+1)
			}
			return e
		}
	}
	if f.proc.Volatile == 'v' {
		s.tx.NextCommand()
	}
	return nil
}

// callStatement runs one statement of a function; row takes the result's rows, nil for statements that give none.
func (s *Session) callStatement(f *sqlFunction, i int, outer *exec.Env, params []types.Datum, row func([]types.Datum) error) error {
	p := f.stmts[i]
	if p.class == classUtility {
		return s.callUtility(f, p)
	}
	if p.query == nil {
		if err := s.bindStatement(p); err != nil {
			return sqlerr.From(err).WithWhere("SQL function \"%s\" during startup", f.proc.Name)
		}
	}
	po := s.newPortal()
	po.params = params
	var err error
	if f.proc.Volatile == 'v' {
		err = s.startPortal(po, p, nil)
	} else {
		err = s.startInside(po, p, outer.View)
	}
	if err != nil {
		return err
	}
	defer s.closePortal(po)
	sink := &callSink{row: row, cols: po.cols}
	max := int64(0)
	if row != nil && f.proc.RetType != types.VoidOID && !f.proc.RetSet {
		max = 1
	}
	if row == nil || f.proc.RetType == types.VoidOID {
		sink.row = func([]types.Datum) error { return nil }
	} else if p.query.RowResult {
		sink.record = true
	}
	_, err = po.run(s, max, sink)
	return err
}

// startInside is startPortal for a statement that sees what the one around it sees.
func (s *Session) startInside(po *portal, p *prepared, view storage.View) error {
	po.stmt, po.cols, po.level = p, p.cols, s.settingLevel()
	pl, err := s.planFor(p, view, po.params)
	if err != nil {
		s.recycle(po)
		return err
	}
	po.plan, po.cols, po.version = pl, p.cols, p.version
	s.fillEnv(&po.env, view, po.params)
	return nil
}

// callUtility runs a definition inside a function.
func (s *Session) callUtility(f *sqlFunction, p *prepared) error {
	if f.proc.Volatile != 'v' {
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed in a non-volatile function", "this command")
	}
	_, err := s.utility(p, nil, &callSink{row: func([]types.Datum) error { return nil }})
	return err
}

// sqlFunction returns the statements of the function that is called.
func (s *Session) sqlFunction(ci *funcs.CallInfo) (*sqlFunction, error) {
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	proc, err := cat.FuncByOID(ci.Func)
	if err != nil {
		return nil, err
	}
	if proc == nil {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function with OID %d does not exist", ci.Func)
	}
	path, _ := s.set.get("search_path")
	key := functionKey{proc: ci.Func, version: proc.Version, result: ci.Result, types: fmt.Sprint(ci.ArgTypes, ci.Columns, path)}
	if f := s.functions[key]; f != nil && !f.busy {
		return f, nil
	}
	f, err := s.makeFunction(proc, ci, false)
	if err != nil {
		return nil, sqlerr.From(err).WithWhere("SQL function \"%s\" during startup", proc.Name)
	}
	if s.functions == nil || len(s.functions) >= maxSQLFunctions {
		s.functions = map[functionKey]*sqlFunction{}
	}
	if s.functions[key] == nil {
		s.functions[key] = f
	}
	return f, nil
}

// makeFunction parses a function's body.
func (s *Session) makeFunction(proc *pgdata.Proc, ci *funcs.CallInfo, check bool) (*sqlFunction, error) {
	list, err := parseBody(proc)
	if err != nil {
		return nil, err
	}
	f := &sqlFunction{proc: proc}
	for i := range list {
		body := &planner.Body{Proc: proc, Args: ci.ArgTypes, Last: i == len(list)-1, Result: ci.Result, Columns: ci.Columns, Check: check}
		p := &prepared{text: proc.Src, stmt: list[i].Stmt, class: classify(list[i].Stmt), body: body, fromSQL: true}
		if err := bodyStatement(p.stmt); err != nil && !check {
			return nil, err
		}
		f.stmts = append(f.stmts, p)
	}
	n := len(f.stmts)
	if ci.Result != types.VoidOID && (n == 0 || f.stmts[n-1].class != classQuery) {
		cat, err := s.catalog()
		if err != nil {
			return nil, err
		}
		env, err := s.bindEnv("")
		if err != nil {
			return nil, err
		}
		return nil, planner.BodyMissing(cat, env, &planner.Body{Proc: proc, Result: ci.Result})
	}
	return f, nil
}

// parseBody returns the statements of a function.
func parseBody(proc *pgdata.Proc) ([]postgres.Statement, error) {
	text := proc.Src
	if b := strings.TrimSpace(proc.SQLBody); b != "" {
		text = planner.BodyText(proc)
	}
	if err := scan.CheckNesting(text); err != nil {
		return nil, err
	}
	return postgres.Parse(text)
}

// bodyStatement refuses what cannot be in a function.
func bodyStatement(st ast.Stmt) error {
	switch x := st.(type) {
	case *ast.Transaction:
		word := map[ast.TransactionKind]string{ast.TxBegin: "BEGIN", ast.TxStart: "START TRANSACTION", ast.TxCommit: "COMMIT", ast.TxRollback: "ROLLBACK",
			ast.TxSavepoint: "SAVEPOINT", ast.TxRelease: "RELEASE", ast.TxRollbackTo: "ROLLBACK TO"}[x.Kind]
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed in an SQL function", word)
	case *ast.Copy:
		if x.File == "" && !x.Program {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot COPY to/from client in an SQL function")
		}
	case *ast.Vacuum, *ast.CreateDatabase, *ast.DropDatabase, *ast.AlterDatabase, *ast.DeclareCursor, *ast.Fetch, *ast.CloseCursor, *ast.Discard:
		return sqlerr.Unsupported("this command in an SQL function")
	}
	return nil
}

// callSink takes the rows of a function's statement.
type callSink struct {
	row    func([]types.Datum) error
	cols   []plan.Column
	record bool // the columns are one row value
	vals   []types.Datum
}

func (c *callSink) writeBatch(b *vec.Batch) error {
	vectors := make([]*vec.Vector, len(c.cols))
	for i := range vectors {
		v, err := b.Col(i)
		if err != nil {
			return err
		}
		vectors[i] = v
	}
	row := make([]types.Datum, len(vectors))
	for k := range b.Rows() {
		at := k
		if b.Sel != nil {
			at = int(b.Sel[k])
		}
		for i, v := range vectors {
			row[i] = v.Datum(at)
		}
		if err := c.writeRow(row); err != nil {
			return err
		}
	}
	return nil
}

func (c *callSink) writeRow(row []types.Datum) error {
	if !c.record {
		if len(row) == 0 {
			row = []types.Datum{types.NullDatum}
		}
		return c.row(c.own(row))
	}
	r := types.BuildRecord(nil, len(row))
	for i, d := range row {
		r.Add(c.cols[i].Type, d)
	}
	return c.row([]types.Datum{types.Bytes(r.Buf)})
}

// own copies what the batch holds: the function's result outlives it.
func (c *callSink) own(row []types.Datum) []types.Datum {
	c.vals = c.vals[:0]
	for _, d := range row {
		d.B = slices.Clone(d.B)
		c.vals = append(c.vals, d)
	}
	return c.vals
}

// bodyChecker is what checks the bodies of new functions, nil when check_function_bodies is off.
func (s *Session) bodyChecker() func(p *pgdata.Proc, bind bool) error {
	if v, _ := s.set.get("check_function_bodies"); v == "off" {
		return nil
	}
	return func(p *pgdata.Proc, bind bool) error {
		f, err := s.makeFunction(p, &funcs.CallInfo{Func: p.OID, ArgTypes: p.ArgTypes, Result: p.RetType}, true)
		if err != nil || !bind {
			return err
		}
		for _, st := range f.stmts {
			if st.class != classQuery {
				return nil // what follows may need what a definition makes
			}
			if err := s.bindStatement(st); err != nil {
				return err
			}
		}
		return nil
	}
}
