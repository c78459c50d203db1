package exec

import (
	"slices"

	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// setCall runs one set-returning function for one row of arguments at a time.
type setCall struct {
	start func(*funcs.Ctx, []types.Datum) (funcs.SetFunc, error)
	args  []program
	argv  []types.Datum
	cols  int
	kinds []types.Kind
	cur   funcs.SetFunc
	out   []vec.Vector
	ptrs  []*vec.Vector
}

// setCall compiles a call of a set-returning function with the given column types.
func (c *compiler) setCall(e *plan.FuncCall, colTypes []types.OID, cols []plan.Column) (*setCall, error) {
	ci := funcs.CallInfo{Func: e.Func, ArgTypes: argTypes(e.Args), Result: e.Type, Typmod: e.Typmod, Collation: e.InputColl, Variadic: e.Variadic, Columns: colTypes, ArgFields: argFields(e.Args)}
	for i := range cols {
		ci.ColumnNames, ci.ColumnMods = append(ci.ColumnNames, cols[i].Name), append(ci.ColumnMods, cols[i].Typmod)
	}
	start, ok := funcs.LookupSet(ci)
	if !ok && e.Func >= pgdata.FirstUserOID {
		if len(colTypes) == 1 && colTypes[0] == e.Type { // in a select list: a row is one value there
			ci.Columns = nil
		}
		start, ok = funcs.SQLSet(ci, !e.RetSet), true
	}
	if !ok {
		return nil, sqlerr.Unsupported("set-returning function %s", funcs.Signature(e.Func, ci.ArgTypes))
	}
	args, err := c.compileAll(e.Args)
	if err != nil {
		return nil, err
	}
	s := &setCall{start: start, args: args, argv: make([]types.Datum, len(args)), cols: len(colTypes)}
	for _, t := range colTypes {
		s.kinds = append(s.kinds, types.KindOf(t))
	}
	s.out = make([]vec.Vector, s.cols)
	for i := range s.out {
		s.ptrs = append(s.ptrs, &s.out[i])
	}
	return s, nil
}

// begin starts the function with the arguments of row i; vs are the evaluated arguments.
func (s *setCall) begin(st *State, vs []*vec.Vector, i int) error {
	s.close()
	for k, v := range vs {
		s.argv[k] = cloneDatum(v.Datum(i))
	}
	var err error
	s.cur, err = s.start(&st.env.Funcs, s.argv)
	return err
}

// next fills out with up to want rows.
func (s *setCall) next(st *State, want int) (int, error) {
	if s.cur == nil {
		return 0, nil
	}
	for i := range s.out {
		s.out[i].Reset(s.kinds[i], want)
	}
	n, err := s.cur.Next(&st.env.Funcs, want, s.ptrs)
	if n == 0 || err != nil {
		s.close()
	}
	return n, err
}

func (s *setCall) close() {
	if s.cur != nil {
		s.cur.Close()
		s.cur = nil
	}
}

// functionScanOp is plan.FunctionScan.
type functionScanOp struct {
	st      *State
	calls   []scanCall
	ord     bool
	filter  *filterProg
	started bool
	row     int64
	outB    *outRows
	ramp    ramp
	readAhead
}

// scanCall is one function in FROM: set-returning, or a scalar expression that gives one row.
type scanCall struct {
	set    *setCall
	argV   []*vec.Vector
	scalar program
	record bool // a scalar of composite type whose fields are the columns
	cols   int
	types  []types.OID
	done   bool
	n      int // rows in the current chunk
	pos    int
	vals   []*vec.Vector
	rec    []vec.Vector
}

func (s *State) buildFunctionScan(n *plan.FunctionScan) (Operator, error) {
	o := &functionScanOp{st: s, ord: n.Ordinality}
	c := s.compiler()
	kinds := kindsOf(n)
	at := 0
	for i, e := range n.Calls {
		cols := n.CallCols[i]
		var ts []types.OID
		list := n.Cols[at : at+cols]
		for _, col := range list {
			ts = append(ts, col.Type)
		}
		at += cols
		sc := scanCall{cols: cols, types: ts}
		if f, ok := e.(*plan.FuncCall); ok && (f.RetSet || funcs.SetExists(f.Func) || f.Func >= pgdata.FirstUserOID && f.Type == types.RecordOID) {
			set, err := c.setCall(f, ts, list)
			if err != nil {
				return nil, err
			}
			sc.set, sc.argV = set, make([]*vec.Vector, len(set.args))
		} else {
			p, err := c.compile(e)
			if err != nil {
				return nil, err
			}
			sc.scalar = p
			sc.record = cols != 1 || e.T().Type != ts[0]
			sc.rec = make([]vec.Vector, cols)
		}
		o.calls = append(o.calls, sc)
	}
	var err error
	if o.filter, err = c.filter(n.Filter); err != nil {
		return nil, err
	}
	o.outB = newOutRows(kinds)
	return o, nil
}

func (o *functionScanOp) Open(*Env) error {
	o.reset()
	o.ramp.reset()
	o.started, o.row = false, 0
	return nil
}
func (o *functionScanOp) Rescan() error { o.stop(); return o.Open(nil) }
func (o *functionScanOp) Close() error  { o.stop(); o.reset(); return nil }

func (o *functionScanOp) stop() {
	for i := range o.calls {
		if s := o.calls[i].set; s != nil {
			s.close()
		}
	}
}

// start evaluates the arguments.
func (o *functionScanOp) start() error {
	o.started = true
	f := &frame{st: o.st, n: 1}
	for i := range o.calls {
		c := &o.calls[i]
		c.n, c.pos, c.done = 0, 0, false
		if c.set == nil {
			continue
		}
		for k, a := range c.set.args {
			v, err := a.eval(f, nil)
			if err != nil {
				return err
			}
			c.argV[k] = v
		}
		if err := c.set.begin(o.st, c.argV, 0); err != nil {
			return err
		}
	}
	return nil
}

// refill gets the next rows of a call; done at its end.
func (c *scanCall) refill(st *State, want int) error {
	if c.done || c.pos < c.n {
		return nil
	}
	c.pos = 0
	if c.set != nil {
		n, err := c.set.next(st, want)
		c.n, c.vals, c.done = n, c.set.ptrs, n == 0
		return err
	}
	if c.n == 1 {
		c.n, c.done = 0, true
		return nil
	}
	v, err := c.scalar.eval(&frame{st: st, n: 1}, nil)
	if err != nil {
		return err
	}
	c.n, c.vals = 1, []*vec.Vector{v}
	if c.record {
		return c.expand(v)
	}
	return nil
}

// expand takes a composite value apart into columns.
func (c *scanCall) expand(v *vec.Vector) error {
	c.vals = c.vals[:0]
	fields, err := recordFields(v.Datum(0), c.cols)
	if err != nil {
		return err
	}
	for i := range c.rec {
		c.rec[i].Reset(types.KindOf(c.types[i]), 1)
		c.rec[i].SetDatum(0, fields[i])
		c.vals = append(c.vals, &c.rec[i])
	}
	return nil
}

func (o *functionScanOp) Next(want int) (*vec.Batch, error) {
	if b := o.pending(want); b != nil {
		return b, nil
	}
	if !o.started {
		if err := o.start(); err != nil {
			return nil, err
		}
	}
	for {
		if err := o.st.interrupt(); err != nil {
			return nil, err
		}
		o.outB.start(o.ramp.next(min(want, vec.MaxRows)))
		if err := o.fill(); err != nil {
			return nil, err
		}
		b := o.outB.batch()
		if b == nil {
			return nil, nil
		}
		if b, err := o.filtered(o.st, o.filter, b, want); b != nil || err != nil {
			return b, err
		}
	}
}

// fill adds rows of all calls side by side; a call that has ended gives NULLs as long as another goes on.
func (o *functionScanOp) fill() error {
	for !o.outB.full() {
		alive := false
		for i := range o.calls {
			c := &o.calls[i]
			if err := c.refill(o.st, o.outB.room()); err != nil {
				return err
			}
			alive = alive || !c.done
		}
		if !alive {
			return nil
		}
		r := o.outB.grow()
		at := 0
		for i := range o.calls {
			c := &o.calls[i]
			for k := range c.cols {
				if c.done {
					o.outB.cols[at+k].SetNull(r)
				} else {
					o.outB.cols[at+k].Copy(r, c.vals[k], c.pos)
				}
			}
			if !c.done {
				c.pos++
			}
			at += c.cols
		}
		o.row++
		if o.ord {
			o.outB.cols[at].Int[r] = o.row
		}
	}
	return nil
}

// projectSetOp is plan.ProjectSet: for every input row its set-returning expressions run in lock step; shorter ones give NULL.
type projectSetOp struct {
	st    *State
	in    Operator
	exprs []setExpr
	b     *vec.Batch
	rows  []uint16
	buf   []uint16
	row   int
	busy  bool
	outB  *outRows
}

// setExpr is one output column: a set-returning call or a plain expression. (Calls inside of expressions: see stackSets.)
type setExpr struct {
	scalar program
	v      *vec.Vector
	set    *setCall
	argV   []*vec.Vector
	done   bool
	n, pos int // rows in the call's current chunk, next one
}

func (s *State) buildProjectSet(n *plan.ProjectSet) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	if topLevelSets(n.Exprs) {
		return s.projectSet(in, n.Exprs, s.compiler(), kindsOf(n))
	}
	return s.stackSets(in, n)
}

// topLevelSets says whether set-returning calls occur as whole expressions only, each once.
func topLevelSets(es []plan.Expr) bool {
	for i, e := range es {
		if isSetCall(e) && slices.Contains(es[:i], e) {
			return false
		}
		top := isSetCall(e)
		children(e, func(x plan.Expr) {
			if hasSetCall(x) {
				top = false
			}
		})
		if !top && hasSetCall(e) {
			return false
		}
	}
	return true
}

func isSetCall(e plan.Expr) bool {
	f, ok := e.(*plan.FuncCall)
	return ok && f.RetSet
}

func hasSetCall(e plan.Expr) bool {
	found := false
	walk(e, func(x plan.Expr) { found = found || isSetCall(x) })
	return found
}

// stackSets runs the innermost set-returning calls of all expressions in lock step, then those that take their values as
// arguments, and so on; at last it computes the expressions around them.
func (s *State) stackSets(in Operator, n *plan.ProjectSet) (Operator, error) {
	kinds := kindsOf(n.Input)
	done := map[plan.Expr]program{}
	for {
		var ready []plan.Expr
		var find func(e plan.Expr)
		find = func(e plan.Expr) {
			if done[e] != nil || slices.Contains(ready, e) {
				return
			}
			before := len(ready)
			children(e, find)
			if isSetCall(e) && len(ready) == before && !pendingBelow(e, done) {
				ready = append(ready, e)
			}
		}
		for _, e := range n.Exprs {
			find(e)
		}
		if len(ready) == 0 {
			break
		}
		es := make([]plan.Expr, 0, len(kinds)+len(ready))
		for i, k := range kinds {
			es = append(es, &plan.Slot{Typed: plan.Typed{Type: anyOfKind(k), Typmod: -1}, Index: i})
		}
		width := len(kinds)
		for _, e := range ready {
			kinds = append(kinds, types.KindOf(e.T().Type))
			es = append(es, e)
		}
		c := s.compiler()
		c.replace = done
		op, err := s.projectSet(in, es, c, append([]types.Kind{}, kinds...))
		if err != nil {
			return nil, err
		}
		in = op
		for i, e := range ready {
			done[e] = &slotProg{col: width + i}
		}
	}
	c := s.compiler()
	c.replace = done
	o := &projectOp{st: s, in: in, out: vec.Batch{Cols: make([]*vec.Vector, len(n.Exprs))}}
	o.out.Src = o
	for _, e := range n.Exprs {
		p, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		o.exprs, o.from = append(o.exprs, p), append(o.from, -1)
	}
	return o, nil
}

// pendingBelow says whether an argument of e contains a set-returning call whose values are not there yet.
func pendingBelow(e plan.Expr, done map[plan.Expr]program) bool {
	pending := false
	var look func(x plan.Expr)
	look = func(x plan.Expr) {
		if done[x] != nil {
			return
		}
		pending = pending || isSetCall(x)
		children(x, look)
	}
	children(e, look)
	return pending
}

// anyOfKind is a type with the physical class k.
func anyOfKind(k types.Kind) types.OID {
	switch k {
	case types.KindInt:
		return types.Int8OID
	case types.KindFloat:
		return types.Float8OID
	case types.KindBool:
		return types.BoolOID
	}
	return types.ByteaOID
}

// projectSet makes the operator for expressions that are set-returning calls or contain none.
func (s *State) projectSet(in Operator, es []plan.Expr, c *compiler, kinds []types.Kind) (Operator, error) {
	o := &projectSetOp{st: s, in: in, outB: newOutRows(kinds)}
	for _, e := range es {
		f, ok := e.(*plan.FuncCall)
		if !ok || !f.RetSet {
			p, err := c.compile(e)
			if err != nil {
				return nil, err
			}
			o.exprs = append(o.exprs, setExpr{scalar: p})
			continue
		}
		set, err := c.setCall(f, []types.OID{f.Type}, nil)
		if err != nil {
			return nil, err
		}
		o.exprs = append(o.exprs, setExpr{set: set, argV: make([]*vec.Vector, len(set.args))})
	}
	return o, nil
}

func (o *projectSetOp) clear() {
	o.b, o.rows, o.busy = nil, nil, false
	for i := range o.exprs {
		if s := o.exprs[i].set; s != nil {
			s.close()
		}
	}
}

func (o *projectSetOp) Open(env *Env) error { o.clear(); return o.in.Open(env) }
func (o *projectSetOp) Rescan() error       { o.clear(); return o.in.Rescan() }
func (o *projectSetOp) Close() error        { o.clear(); return o.in.Close() }

func (o *projectSetOp) Next(want int) (*vec.Batch, error) {
	o.outB.start(min(want, vec.MaxRows))
	for !o.outB.full() {
		if o.busy {
			if err := o.emit(); err != nil {
				return nil, err
			}
			continue
		}
		if len(o.rows) == 0 {
			if err := o.st.interrupt(); err != nil {
				return nil, err
			}
			b, err := o.in.Next(o.outB.room())
			if err != nil {
				return nil, err
			}
			if b == nil {
				break
			}
			if err := o.load(b); err != nil {
				return nil, err
			}
		}
		o.row, o.rows = int(o.rows[0]), o.rows[1:]
		if err := o.begin(); err != nil {
			return nil, err
		}
	}
	return o.outB.batch(), nil
}

// load evaluates scalar expressions and arguments for a batch.
func (o *projectSetOp) load(b *vec.Batch) error {
	o.b = b
	o.buf = fullSel(o.buf, b.N, b.Sel)
	o.rows = o.buf
	f := frame{st: o.st, b: b, n: b.N}
	var err error
	for i := range o.exprs {
		e := &o.exprs[i]
		if e.set == nil {
			if e.v, err = e.scalar.eval(&f, b.Sel); err != nil {
				return err
			}
			continue
		}
		for k, a := range e.set.args {
			if e.argV[k], err = a.eval(&f, b.Sel); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *projectSetOp) begin() error {
	o.busy = true
	for i := range o.exprs {
		e := &o.exprs[i]
		if e.set == nil {
			continue
		}
		e.done, e.n, e.pos = false, 0, 0
		if err := e.set.begin(o.st, e.argV, o.row); err != nil {
			return err
		}
	}
	return nil
}

// emit adds one output row of the current input row, or ends it.
func (o *projectSetOp) emit() error {
	alive := false
	for i := range o.exprs {
		e := &o.exprs[i]
		if e.set == nil || e.done {
			continue
		}
		if e.pos >= e.n {
			n, err := e.set.next(o.st, o.outB.room())
			if err != nil {
				return err
			}
			e.n, e.pos, e.done = n, 0, n == 0
		}
		alive = alive || !e.done
	}
	if !alive {
		o.busy = false
		return nil
	}
	r := o.outB.grow()
	for i := range o.exprs {
		e := &o.exprs[i]
		switch {
		case e.set == nil:
			o.outB.cols[i].Copy(r, e.v, o.row)
		case e.done:
			o.outB.cols[i].SetNull(r)
		default:
			o.outB.cols[i].Copy(r, e.set.ptrs[0], e.pos)
			e.pos++
		}
	}
	return nil
}
