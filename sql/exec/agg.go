package exec

import (
	"herd/internal/mem"
	"herd/planner/plan"
	"herd/sql/funcs"
	"herd/sql/types"
	"herd/sql/vec"
)

// aggOp is plan.Agg. Groups are numbered by a key table in order of first appearance. Hashed groups that no longer fit are
// divided into partition files; sorted input lets finished groups go at once.
type aggOp struct {
	st       *State
	in       Operator
	strategy plan.AggStrategy
	keys     keySide
	sets     [][]int // grouping sets; nil one set of all keys
	calls    []*aggCall
	grouping [][]int // refs of each GROUPING()
	nKeys    int

	table   keyTable
	single  bool // hashed by one integer, in ints instead of table
	packs   bool // hashed by columns that the cache may know
	cache   groupCache
	ints    intTable
	nullG   int       // with single: the group of NULL, -1 none
	vals    *rowStore // key values of each group
	setOf   []uint8   // grouping set of each group
	groupV  []uint32  // group of each row of the batch
	keyBuf  []byte
	tuple   []byte
	lastKey []byte
	stateM  account
	forced  int64 // taken for the value being fed although memory was refused

	codec *tupleCodec // input rows, for partitions
	parts *partitions
	full  bool
	todo  []distinctPart
	part  distinctPart
	cur   *spillReader
	batch *tupleBatch
	rows  [][]byte
	setR  []uint8 // with grouping sets: the set that a row of the partition is for

	tight   bool // memory was refused: give what is finished
	ordered bool // some calls are fed when their groups are given
	loaded  bool // groups up to ready can be given
	ended   bool // no more input
	ready   int
	pos     int
	outB    *outRows

	share *exchange // nil: the input cannot be shared among workers
}

func (s *State) buildAgg(n *plan.Agg) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	o := &aggOp{st: s, in: in, strategy: n.Strategy, sets: n.Sets, nKeys: len(n.Keys)}
	c := s.compiler()
	if o.keys, err = c.keySide(n.Keys, false); err != nil {
		return nil, err
	}
	o.single = n.Strategy == plan.AggHash && n.Sets == nil && len(n.Keys) == 1 && o.keys.key.cols[0].mode == eqInt
	o.packs = n.Strategy == plan.AggHash && n.Sets == nil && !o.single && cacheable(o.keys.key.cols)
	var kinds []types.Kind
	for _, k := range n.Keys {
		kinds = append(kinds, types.KindOf(k.Left.T().Type))
	}
	o.vals = newRowStore(kinds)
	for _, a := range n.Aggs {
		call, err := c.aggregate(a, n.Strategy == plan.AggSorted)
		if err != nil {
			return nil, err
		}
		o.calls = append(o.calls, call)
	}
	for _, g := range n.Groupings {
		o.grouping = append(o.grouping, g.Refs)
	}
	o.codec = newTupleCodec(kindsOf(n.Input))
	o.batch = newTupleBatch(o.codec)
	for _, a := range n.Aggs {
		kinds = append(kinds, types.KindOf(a.Type))
	}
	for range n.Groupings {
		kinds = append(kinds, types.KindInt)
	}
	o.outB = newOutRows(kinds)
	o.share = s.newExchange(n)
	return o, nil
}

// clear forgets all groups and partitions.
func (o *aggOp) clear() {
	o.forget()
	if o.parts != nil {
		o.parts.close()
		o.parts = nil
	}
	for _, t := range o.todo {
		t.f.close()
	}
	o.part.f.close()
	o.todo, o.part, o.cur, o.ended = nil, distinctPart{}, nil, false
}

// forget drops all groups.
func (o *aggOp) forget() {
	o.table.reset()
	o.ints.reset()
	o.cache.reset()
	o.nullG = -1
	o.vals.reset()
	o.setOf, o.lastKey = o.setOf[:0], o.lastKey[:0]
	for _, c := range o.calls {
		c.forget()
	}
	o.stateM.release()
	o.forced, o.tight = 0, false
	o.full, o.loaded, o.ready, o.pos = false, false, 0, 0
}

func (o *aggOp) Open(env *Env) error {
	o.clear()
	o.table.open(env)
	o.ints.open(env)
	o.vals.open(env)
	o.vals.bytes.mem.use = mem.UseHash
	o.stateM.open(env, mem.UseHash)
	for _, c := range o.calls {
		c.begin(env)
	}
	return o.in.Open(env)
}

func (o *aggOp) Rescan() error {
	o.clear()
	return o.in.Rescan()
}

func (o *aggOp) Close() error {
	o.clear()
	o.table.close()
	o.ints.close()
	o.vals.close()
	for _, c := range o.calls {
		c.end()
	}
	return o.in.Close()
}

// Next gives finished groups, reading input until some are.
func (o *aggOp) Next(want int) (*vec.Batch, error) {
	for {
		if !o.loaded {
			if err := o.load(want); err != nil {
				return nil, errMemory(err)
			}
			o.loaded, o.pos = true, 0
		}
		if o.pos < o.ready {
			return o.give(min(want, vec.MaxRows))
		}
		more, err := o.again()
		if err != nil || !more {
			return nil, errMemory(err)
		}
	}
}

// load reads input until it ends or, when it is sorted, until want groups are finished.
func (o *aggOp) load(want int) error {
	if o.part.f == nil && o.table.len() == 0 {
		if err := o.emptyGroups(); err != nil {
			return err
		}
	}
	if done, err := o.shared(); done || err != nil {
		return err
	}
	for {
		b, err := o.input()
		if err != nil {
			return err
		}
		if b == nil {
			o.ready = len(o.setOf)
			return o.finish(o.ready)
		}
		if err := o.st.interrupt(); err != nil {
			return err
		}
		if err := o.consume(b); err != nil {
			return err
		}
		if done := len(o.setOf) - 1; o.strategy == plan.AggSorted && o.sets == nil && (done >= want || done > 0 && o.tight) {
			o.ready = done
			return o.finish(o.ready)
		}
	}
}

// shared has workers read the input, when there are any and it is worth it; false: nothing has been read.
func (o *aggOp) shared() (bool, error) {
	if o.share == nil || o.part.f != nil {
		return false, nil
	}
	wanted := o.share.wants(o.st.env)
	if wanted == 0 {
		return false, nil
	}
	done, err := o.share.run(o, wanted)
	if !done || err != nil {
		return false, err
	}
	o.ended, o.ready = true, len(o.setOf)
	return true, o.finish(o.ready)
}

// emptyGroups makes the groups that exist without input: a plain aggregate's only one, and that of an empty grouping set.
func (o *aggOp) emptyGroups() error {
	if o.strategy == plan.AggPlain && o.sets == nil {
		o.setOf = append(o.setOf, 0)
		return o.growStates()
	}
	for i, s := range o.sets {
		if len(s) > 0 {
			continue
		}
		o.keyBuf = append(o.keyBuf[:0], byte(i))
		if _, _, err := o.table.insert(hashKey(o.keyBuf), o.keyBuf); err != nil {
			return err
		}
		o.setOf = append(o.setOf, uint8(i))
		row := make([]types.Datum, o.nKeys)
		for k := range row {
			row[k].Null = true
		}
		if err := o.vals.addTuple(o.vals.codec.encodeDatums(nil, row)); err != nil {
			return err
		}
	}
	return o.growStates()
}

func (o *aggOp) growStates() error {
	for _, c := range o.calls {
		if err := c.agg.Grow(len(o.setOf)); err != nil {
			return err
		}
	}
	return nil
}

// input reads the next batch: from the input operator, or from the partition in work.
func (o *aggOp) input() (*vec.Batch, error) {
	if o.part.f == nil {
		b, err := o.in.Next(vec.MaxRows)
		if b == nil {
			o.ended = true
		}
		return b, err
	}
	if len(o.rows) < vec.MaxRows {
		o.rows = make([][]byte, vec.MaxRows)
	}
	n := 0
	o.setR = o.setR[:0]
	for n < vec.MaxRows {
		rec, err := o.cur.next()
		if err != nil {
			return nil, err
		}
		if rec == nil {
			break
		}
		var set []byte
		_, set, _, o.rows[n] = splitPart(rec)
		if o.sets != nil {
			o.setR = append(o.setR, set[0])
		}
		n++
	}
	if n == 0 {
		return nil, nil
	}
	return o.batch.set(o.rows[:n]), nil
}

// consume adds a batch to its groups.
func (o *aggOp) consume(b *vec.Batch) error {
	if cap(o.groupV) < b.N {
		o.groupV = make([]uint32, max(b.N, 64))
	}
	o.groupV = o.groupV[:cap(o.groupV)]
	if err := o.keys.eval(o.st, b); err != nil {
		return err
	}
	if o.sets == nil || o.part.f != nil {
		sel, err := o.assign(b, -1)
		if err != nil {
			return err
		}
		return o.update(b, sel)
	}
	for i := range o.sets {
		sel, err := o.assign(b, i)
		if err != nil {
			return err
		}
		if err := o.update(b, sel); err != nil {
			return err
		}
	}
	return nil
}

// update runs the aggregates over rows sel of b, whose groups are in groupV.
func (o *aggOp) update(b *vec.Batch, sel []uint16) error {
	if err := o.growStates(); err != nil {
		return err
	}
	if count(b.N, sel) == 0 {
		return nil
	}
	f := frame{st: o.st, b: b, n: b.N}
	for _, c := range o.calls {
		if err := c.update(&f, o.groupV, sel); err != nil {
			return err
		}
		if err := o.account(c); err != nil {
			return err
		}
	}
	return nil
}

// account takes the memory that a call's states have grown by.
func (o *aggOp) account(c *aggCall) error {
	size := c.agg.Size()
	if size <= c.size {
		return nil
	}
	if err := o.stateM.grow(size - c.size); err != nil {
		if err := o.refused(c, err); err != nil {
			return err
		}
		o.stateM.force(size - c.size)
	}
	c.size = size
	return nil
}

// refused answers the refusal of memory to a call's states: new groups go to partitions, an aggregate that collects its
// input leaves the rest to be fed group by group, sorted groups that are finished leave.
func (o *aggOp) refused(c *aggCall, err error) error {
	if !o.st.env.canSpill(err) {
		return err
	}
	if o.strategy == plan.AggSorted && o.sets == nil {
		if len(o.setOf) > 1 && !o.tight {
			o.tight = true
			return nil
		}
		return errLargeValue()
	}
	if len(o.setOf) <= 1 && o.strategy == plan.AggPlain {
		return errLargeValue()
	}
	if !o.full && o.canDivide() {
		o.divide()
	}
	if _, collects := c.agg.(funcs.Collector); collects {
		c.full = true
	}
	return nil
}

// again prepares for more groups after all ready ones were given: the open group of sorted input, or the next partition.
func (o *aggOp) again() (bool, error) {
	if o.strategy == plan.AggSorted && !o.ended {
		return true, o.carry()
	}
	o.part.f.close()
	o.part = distinctPart{}
	if o.parts != nil {
		var err error
		if o.todo, err = o.parts.stack(o.todo); err != nil {
			return false, err
		}
		o.parts = nil
	}
	if len(o.todo) == 0 {
		return false, nil
	}
	o.part = o.todo[len(o.todo)-1]
	o.todo = o.todo[:len(o.todo)-1]
	o.forget()
	r, err := o.part.f.reader()
	o.cur = r
	return true, err
}

// carry moves the unfinished last group of sorted input to number 0 and forgets the others.
func (o *aggOp) carry() error {
	last := len(o.setOf) - 1
	o.loaded, o.ready, o.pos, o.tight = false, 0, 0, false
	if last < 0 {
		return nil
	}
	m := make([]uint32, last+1)
	for i := range m {
		m[i] = noGroup
	}
	m[last] = 0
	for _, c := range o.calls {
		fresh := c.make()
		if err := fresh.Grow(1); err != nil {
			return err
		}
		if err := fresh.Combine(c.agg, m); err != nil {
			return err
		}
		c.agg, c.size = fresh, 0
		if c.rows != nil {
			c.rows.shift(last)
		}
	}
	t := append([]byte(nil), o.vals.rows[last]...)
	o.vals.reset()
	o.setOf = append(o.setOf[:0], 0)
	o.stateM.release()
	return o.vals.addTuple(t)
}
