package exec

import (
	"time"

	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// Operator is one node of a State. Calls come in the order Open, then Next and Rescan in any order, Close; after Close it
// may be opened again. Close is safe without Open and twice.
type Operator interface {
	// Open prepares for Next; it does not read rows.
	Open(env *Env) error
	// Next returns the next batch with 1 to want live rows, nil at the end. want >= 1.
	Next(want int) (*vec.Batch, error)
	// Rescan starts again from the first row with the exec params as they are now.
	Rescan() error
	Close() error
}

// State is the mutable side of one prepared statement's plan.
type State struct {
	plan *plan.Plan
	env  *Env
	root Operator

	exec    []types.Datum // exec params
	execSet []bool
	// setCount numbers the calls of setExecParam, setAt has that of each param's last one.
	setCount uint64
	setAt    []uint64
	initOf   []int // exec param -> init plan, -1 none
	inits    []*initPlan
	ctes     []*cteState
	subs     []*subPlanProg
	works    map[*plan.RecursiveUnion]*recursiveOp
	writers  map[*plan.ModifyTable]*tableWriter
	// rechecking is what the RecheckScans being built will read.
	rechecking *recheckState
	modify     *modifyOp // the top-level data modification, whose count is the command's
	checks     []func() error
	counted    bool
	worker     bool // of an exchange: another state's helper
	stats      []NodeStats

	first    uint32   // the command that the execution began as
	commands []uint32 // numbers of the commands that this statement's changes count as: more than one when it calls functions that change data
	affected int64
	open     bool
	ended    bool
}

// NodeStats is what EXPLAIN ANALYZE shows of a node.
type NodeStats struct {
	Rows    int64 // all loops together
	Loops   int64
	Startup time.Duration // until the first batch, all loops together
	Total   time.Duration
	Removed int64 // rows removed by the node's filter
}

// initPlan computes exec params once, when first asked for.
type initPlan struct {
	op     Operator
	kind   plan.SubLinkKind
	params []int
	elem   types.OID
	done   bool
}

// Build makes the state tree of a plan. The caller is sql/session, once per prepared statement.
func Build(p *plan.Plan) (*State, error) { return build(p, false) }

// BuildCounted is Build with counters on every operator, for EXPLAIN ANALYZE.
func BuildCounted(p *plan.Plan) (*State, error) { return build(p, true) }

func build(p *plan.Plan, counted bool) (*State, error) {
	st := &State{plan: p, counted: counted, works: map[*plan.RecursiveUnion]*recursiveOp{}}
	st.exec, st.execSet, st.initOf = make([]types.Datum, p.ExecParams), make([]bool, p.ExecParams), make([]int, p.ExecParams)
	st.setAt = make([]uint64, p.ExecParams)
	for i := range st.initOf {
		st.initOf[i] = -1
	}
	st.ctes = make([]*cteState, len(p.CTEs))
	for i := range p.CTEs {
		st.ctes[i] = &cteState{}
	}
	for i, c := range p.CTEs {
		op, err := st.build(c.Plan)
		if err != nil {
			return nil, err
		}
		st.ctes[i].init(st, op, c)
	}
	for i, ip := range p.InitPlans {
		op, err := st.build(ip.Plan)
		if err != nil {
			return nil, err
		}
		x := &initPlan{op: op, kind: ip.Kind, params: ip.Params}
		if ip.Kind == plan.SubArray {
			x.elem = ip.Plan.Base().Cols[0].Type
		}
		st.inits = append(st.inits, x)
		for _, id := range ip.Params {
			st.initOf[id] = i
		}
	}
	root, err := st.build(p.Root)
	if err != nil {
		return nil, err
	}
	st.root = root
	if m, ok := unwrap(root).(*modifyOp); ok {
		st.modify = m
	}
	return st, nil
}

// Open starts an execution. env must stay unchanged until Close.
func (s *State) Open(env *Env) error {
	s.env, s.open, s.ended, s.affected = env, true, false, 0
	s.checks = s.checks[:0]
	s.commands = s.commands[:0]
	if env.Tx != nil {
		s.first = env.Tx.Command()
	}
	clear(s.execSet)
	for _, x := range s.inits {
		x.done = false
	}
	if env.Analyze && s.stats != nil {
		clear(s.stats)
	}
	return s.root.Open(env)
}

// Next returns the next batch of at most want rows, nil at the end. The end of a statement that modifies data runs
// modifying CTEs nobody read and the constraint checks of the statement's end.
func (s *State) Next(want int) (*vec.Batch, error) {
	if s.ended {
		return nil, nil
	}
	want = min(want, s.most())
	b, err := s.root.Next(want)
	if err != nil {
		return nil, errMemory(err)
	}
	if b != nil {
		return b, nil
	}
	s.ended = true
	for _, c := range s.ctes {
		if c.modifies {
			if err := c.drain(); err != nil {
				return nil, errMemory(err)
			}
		}
	}
	for i := 0; i < len(s.checks); i++ { // a check may add others
		if err := s.checks[i](); err != nil {
			return nil, err
		}
	}
	s.checks = s.checks[:0]
	return nil, nil
}

// most is how many rows are asked for at a time.
func (s *State) most() int {
	if s.plan.RowWise {
		return 1
	}
	return vec.MaxRows
}

// RowsAffected is the number of rows that the statement's INSERT, UPDATE or DELETE changed.
func (s *State) RowsAffected() int64 {
	if s.modify != nil {
		return s.modify.count
	}
	return s.affected
}

// Stats returns the counters of BuildCounted by node id.
func (s *State) Stats() []NodeStats { return s.stats }

// Plan returns the plan that s runs.
func (s *State) Plan() *plan.Plan { return s.plan }

// Close ends an execution and gives its memory back. The State may be opened again.
func (s *State) Close() error {
	if !s.open {
		return nil
	}
	s.open = false
	err := s.root.Close()
	for _, p := range s.subs {
		if e := p.reset(); err == nil {
			err = e
		}
	}
	for _, x := range s.inits {
		if e := x.op.Close(); err == nil {
			err = e
		}
	}
	for _, c := range s.ctes {
		if e := c.close(); err == nil {
			err = e
		}
	}
	for i := range s.exec {
		s.exec[i] = types.Datum{}
	}
	s.env = nil
	return err
}

// interrupt returns the error of a pending cancel or timeout.
func (s *State) interrupt() error {
	if s.env.Interrupt != nil {
		return s.env.Interrupt()
	}
	return nil
}

// setExecParam gives an exec param its value; bytes are copied.
func (s *State) setExecParam(id int, d types.Datum) {
	x := &s.exec[id]
	buf := x.B[:0]
	*x = d
	if d.B != nil {
		x.B = append(buf, d.B...)
	}
	s.setCount++
	s.execSet[id], s.setAt[id] = true, s.setCount
}

// execParam returns the value of an exec param, running its init plan if that is still to be done.
func (s *State) execParam(id int) (types.Datum, error) {
	if s.execSet[id] {
		return s.exec[id], nil
	}
	if s.initOf[id] < 0 {
		return types.NullDatum, sqlerr.Internal("exec param %d is not set", id)
	}
	if err := s.runInit(s.inits[s.initOf[id]]); err != nil {
		return types.NullDatum, err
	}
	return s.exec[id], nil
}

func (s *State) runInit(x *initPlan) error {
	if x.done {
		return sqlerr.Internal("init plan depends on itself")
	}
	x.done = true
	err := s.initValue(x)
	if err != nil {
		x.done = false // another expression that uses it fails alike
		x.op.Close()
		return err
	}
	return x.op.Close()
}

// initValue runs an init plan and sets its params.
func (s *State) initValue(x *initPlan) error {
	if err := x.op.Open(s.env); err != nil {
		return err
	}
	switch x.kind {
	case plan.SubExists:
		b, err := x.op.Next(1)
		if err != nil {
			return err
		}
		s.setExecParam(x.params[0], types.Bool(b != nil))
	case plan.SubArray:
		d, err := collectArray(x.op, x.elem)
		if err != nil {
			return err
		}
		s.setExecParam(x.params[0], d)
	default:
		row, err := singleRow(x.op)
		if err != nil {
			return err
		}
		for k, id := range x.params {
			if row == nil {
				s.setExecParam(id, types.NullDatum)
			} else {
				s.setExecParam(id, row[k])
			}
		}
	}
	return nil
}

// removed counts, for EXPLAIN ANALYZE, the rows that a node's filter dropped.
func (s *State) removed(id, before, after int) {
	if s.counted {
		s.stats[id].Removed += int64(before - after)
	}
}

// ramp gives batch sizes: small first, then larger by four up to vec.MaxRows.
type ramp struct{ n int }

func (r *ramp) reset() { r.n = 0 }

// next returns the size of the next batch, at most want.
func (r *ramp) next(want int) int {
	if r.n == 0 {
		r.n = min(vec.FirstRows, vec.MaxRows)
	} else if r.n < vec.MaxRows {
		r.n = min(4*r.n, vec.MaxRows)
	}
	return min(r.n, want)
}

// countedOp measures an operator for EXPLAIN ANALYZE.
type countedOp struct {
	op    Operator
	st    *State
	id    int
	first bool
}

func unwrap(op Operator) Operator {
	if c, ok := op.(*countedOp); ok {
		return c.op
	}
	return op
}

func (c *countedOp) stats() *NodeStats { return &c.st.stats[c.id] }

func (c *countedOp) Open(env *Env) error {
	c.first = true
	c.stats().Loops++
	return c.op.Open(env)
}

func (c *countedOp) Next(want int) (*vec.Batch, error) {
	t := time.Now()
	b, err := c.op.Next(want)
	d := time.Since(t)
	s := c.stats()
	s.Total += d
	if c.first {
		s.Startup += d
		c.first = false
	}
	if b != nil {
		s.Rows += int64(b.Rows())
	}
	return b, err
}

func (c *countedOp) Rescan() error {
	c.first = true
	c.stats().Loops++
	t := time.Now()
	err := c.op.Rescan()
	c.stats().Total += time.Since(t)
	return err
}

func (c *countedOp) Close() error { return c.op.Close() }
