package exec

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"herd/planner/plan"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

const (
	// exchangeRows is the number of rows of a table for which one more worker is worth its start.
	exchangeRows = 50_000
	// morselsPerWorker keeps all workers busy until the end, although parts of a table take different times.
	morselsPerWorker = 16
)

// minExchangeRows is exchangeRows, a variable only so that tests can share small tables.
var minExchangeRows int64 = exchangeRows

// extraWorkers counts the goroutines that all exchanges of the process use at this moment beyond the sessions' own.
var extraWorkers atomic.Int64

// takeWorkers takes at most n extra workers from the process's limit, a processor each beyond the caller's.
func takeWorkers(n int) int {
	limit := int64(min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) - 1)
	for {
		used := extraWorkers.Load()
		got := min(int64(n), limit-used)
		if got <= 0 {
			return 0
		}
		if extraWorkers.CompareAndSwap(used, used+got) {
			return int(got)
		}
	}
}

// exchange shares the rows of a scan below an aggregation among workers. Each has a State of its own with all that lies between the two
// and reads a part of the table at a time; the groups of all are combined into those of the first, which the session's aggregation
// takes over. Hash joins on the way have the session's tables, which are built first.
// Aggregates whose result depends on the order of their input never come here: a sum of floats is the same in each run.
type exchange struct {
	scan    *plan.Scan
	node    *plan.Agg
	params  []int // exec params that the workers read, all of init plans
	workers []*shareWorker

	morsels []byteRange
	next    atomic.Int64
	stop    atomic.Bool // a worker has failed
}

// shareWorker aggregates parts of a table.
type shareWorker struct {
	st    *State
	agg   *aggOp
	scan  *scanOp
	joins []*hashJoinOp
	env   Env
	err   error
}

// errStopped ends a worker because another has failed.
var errStopped = errors.New("another worker has failed")

// newExchange returns the exchange of an aggregation; nil when its input cannot be shared.
func (s *State) newExchange(n *plan.Agg) *exchange {
	if s.worker || s.counted {
		return nil
	}
	c := shareCheck{st: s, ok: true}
	scan := c.scanOf(n)
	if scan == nil {
		return nil
	}
	return &exchange{scan: scan, node: n, params: c.params}
}

// wants returns how many workers more than one the table as it is now is worth.
func (x *exchange) wants(env *Env) int {
	if env.Workers <= 0 || !env.View.Own.Empty() || env.View.Snap == nil {
		return 0
	}
	return min(env.Workers, int(env.View.Snap.Count(x.scan.Rel.TreeID)/minExchangeRows))
}

// run aggregates everything and gives the result to o. done is false when no worker is free, or when memory did not suffice for the
// groups of all workers or a join's table: then o has to do it alone, with its means to spill.
func (x *exchange) run(o *aggOp, wanted int) (done bool, err error) {
	scan, joins := pipeline(o.in)
	for _, j := range joins {
		if !j.built {
			if err := j.build(); err != nil {
				return false, err
			}
		}
		if j.parts != nil {
			return false, nil
		}
	}
	for _, id := range x.params {
		if _, err := o.st.execParam(id); err != nil {
			return false, err
		}
	}
	extra := takeWorkers(wanted) // what was done until here may have had some of its own
	if extra == 0 {
		return false, nil
	}
	defer extraWorkers.Add(int64(-extra))
	if err := scan.plan(); err != nil {
		return false, err
	}
	if err := x.cut(o.st.env.View.Snap, scan.todo, (extra+1)*morselsPerWorker); err != nil {
		return false, err
	}
	team, err := x.open(o.st, extra+1)
	defer func() {
		for _, w := range team {
			if e := w.st.Close(); err == nil {
				err = e
			}
		}
	}()
	if err != nil {
		return false, err
	}
	for _, w := range team {
		for i, j := range joins {
			w.joins[i].borrow(j)
		}
	}
	if err := x.work(team); err != nil {
		return false, ignoreMemory(o.st.env, err)
	}
	first := team[0].agg
	for _, w := range team[1:] {
		if err := first.absorb(w.agg); err != nil {
			return false, ignoreMemory(o.st.env, err)
		}
	}
	o.takeOver(first)
	return true, nil
}

// ignoreMemory is err, nil when what it says is that a statement which could spill was refused memory.
func ignoreMemory(env *Env, err error) error {
	if env.canSpill(err) {
		return nil
	}
	return err
}

// cut divides key ranges into about n morsels.
func (x *exchange) cut(snap *storage.Snapshot, ranges []byteRange, n int) error {
	x.morsels = x.morsels[:0]
	for _, r := range ranges {
		borders, err := snap.Split(x.scan.Rel.TreeID, r.lo, r.hi, max(1, n/len(ranges)))
		if err != nil {
			return err
		}
		lo := r.lo
		for _, b := range borders {
			x.morsels = append(x.morsels, byteRange{lo, b})
			lo = b
		}
		x.morsels = append(x.morsels, byteRange{lo, r.hi})
	}
	x.next.Store(0)
	x.stop.Store(false)
	return nil
}

// open prepares n workers. They have no transaction: the caller has noted what is read.
func (x *exchange) open(st *State, n int) ([]*shareWorker, error) {
	for len(x.workers) < n {
		w, err := x.build(st)
		if err != nil {
			return nil, err
		}
		x.workers = append(x.workers, w)
	}
	for i, w := range x.workers[:n] {
		if err := x.begin(w, st, i == 0); err != nil { // opened or not, it is closed
			return x.workers[:i+1], err
		}
	}
	return x.workers[:n], nil
}

// begin opens a worker; first says that it is the one on the session's own goroutine.
func (x *exchange) begin(w *shareWorker, st *State, first bool) error {
	env := st.env
	w.env, w.err = *env, nil
	w.env.Tx, w.env.SpillFS, w.env.Deferred, w.env.Workers = nil, nil, nil, 0
	w.env.Funcs = env.Funcs.Fork()
	w.env.Interrupt = func() error {
		if x.stop.Load() {
			return errStopped
		}
		if first && env.Interrupt != nil {
			return env.Interrupt()
		}
		return nil
	}
	w.env.Funcs.Interrupt = w.env.Interrupt
	if err := w.st.Open(&w.env); err != nil {
		return err
	}
	for _, id := range x.params {
		w.st.exec[id], w.st.execSet[id] = st.exec[id], true
	}
	w.scan.todo, w.scan.more = []byteRange{}, x.morsel
	return w.agg.emptyGroups()
}

// morsel hands out the next part of the table; false at the end.
func (x *exchange) morsel() (byteRange, bool) {
	i := int(x.next.Add(1)) - 1
	if i >= len(x.morsels) {
		return byteRange{}, false
	}
	return x.morsels[i], true
}

func (x *exchange) build(of *State) (*shareWorker, error) {
	st := &State{plan: of.plan, worker: true, works: map[*plan.RecursiveUnion]*recursiveOp{}}
	n := len(of.exec)
	st.exec, st.execSet, st.initOf, st.setAt = make([]types.Datum, n), make([]bool, n), make([]int, n), make([]uint64, n)
	for i := range st.initOf {
		st.initOf[i] = -1
	}
	root, err := st.build(x.node)
	if err != nil {
		return nil, err
	}
	st.root = root
	w := &shareWorker{st: st, agg: root.(*aggOp)}
	w.scan, w.joins = pipeline(w.agg.in)
	return w, nil
}

// work runs the team to its end, its first member on the caller's goroutine.
func (x *exchange) work(team []*shareWorker) error {
	var wg sync.WaitGroup
	for _, w := range team[1:] {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if p := recover(); p != nil { // the session answers for it as for its own
					x.stop.Store(true)
					w.err = &workerPanic{fmt.Sprintf("%v\n%s", p, debug.Stack())}
				}
			}()
			w.run(x)
		}()
	}
	func() {
		defer wg.Wait() // whatever happens to the first one: the others read the caller's snapshot
		defer func() {
			if p := recover(); p != nil {
				x.stop.Store(true)
				panic(p)
			}
		}()
		team[0].run(x)
	}()
	var stopped error
	for _, w := range team {
		var p *workerPanic
		switch {
		case errors.As(w.err, &p):
			panic(p.text)
		case w.err != nil && (stopped == nil || stopped == errStopped):
			stopped = w.err
		}
	}
	return stopped
}

// workerPanic carries a panic from a worker's goroutine to the session's.
type workerPanic struct{ text string }

func (p *workerPanic) Error() string { return p.text }

// run aggregates parts of the table until none is left or a worker fails.
func (w *shareWorker) run(x *exchange) {
	if w.err = w.drain(); w.err != nil {
		x.stop.Store(true)
	}
}

func (w *shareWorker) drain() error {
	for {
		b, err := w.agg.in.Next(vec.MaxRows)
		if err != nil || b == nil {
			return err
		}
		if err := w.st.interrupt(); err != nil {
			return err
		}
		if err := w.agg.consume(b); err != nil {
			return err
		}
	}
}

// pipeline finds the scan that shareCheck has found in the plan, and the hash joins on the way.
func pipeline(op Operator) (scan *scanOp, joins []*hashJoinOp) {
	for {
		switch o := op.(type) {
		case *scanOp:
			return o, joins
		case *filterOp:
			op = o.in
		case *projectOp:
			op = o.in
		case *hashJoinOp:
			joins = append(joins, o)
			op = o.left
		default:
			return nil, nil
		}
	}
}

// absorb adds another aggregation's groups to o's.
func (o *aggOp) absorb(other *aggOp) error {
	n := len(other.setOf)
	to := make([]uint32, n)
	cols := make([]vec.Vector, o.nKeys)
	for from := 0; from < n; from += vec.MaxRows {
		rows := min(vec.MaxRows, n-from)
		for k := range cols {
			cols[k].Reset(o.vals.codec.kinds[k], rows)
			o.vals.codec.column(&cols[k], other.vals.rows[from:from+rows], k)
			o.keys.vs[k] = &cols[k]
		}
		if err := o.assignKeys(rows, to[from:from+rows]); err != nil {
			return err
		}
	}
	if err := o.growStates(); err != nil {
		return err
	}
	for i, c := range o.calls {
		if err := c.agg.Combine(other.calls[i].agg, to); err != nil {
			return err
		}
		if err := o.account(c); err != nil {
			return err
		}
	}
	return nil
}

// assignKeys finds the groups of rows whose keys are in o.keys.vs.
func (o *aggOp) assignKeys(rows int, to []uint32) error {
	if o.strategy == plan.AggPlain {
		clear(to)
		return nil
	}
	for i := range rows {
		var g int
		var err error
		if o.single {
			g, err = o.intGroup(i)
		} else {
			g, err = o.group(o.key(i, -1), i, 0)
		}
		if err != nil {
			return err
		}
		to[i] = uint32(g)
	}
	return nil
}

// takeOver makes the groups of another aggregation o's own; the other has o's, which are none.
func (o *aggOp) takeOver(other *aggOp) {
	o.table, other.table = other.table, o.table
	o.ints, other.ints = other.ints, o.ints
	o.cache.reset()
	o.nullG, other.nullG = other.nullG, o.nullG
	o.vals, other.vals = other.vals, o.vals
	o.setOf, other.setOf = other.setOf, o.setOf
	o.stateM, other.stateM = other.stateM, o.stateM
	for i, c := range o.calls {
		d := other.calls[i]
		c.agg, d.agg = d.agg, c.agg
		c.size, d.size = d.size, c.size
	}
}
