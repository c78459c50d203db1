package exec

import (
	"encoding/binary"
	"errors"

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
	vals    *rowStore // key values of each group
	setOf   []uint8   // grouping set of each group
	groupV  []uint32  // group of each row of the batch
	keyBuf  []byte
	lastKey []byte
	stateM  account
	stateN  int64

	codec *tupleCodec // input rows, for partitions
	parts *partitions
	full  bool
	todo  []distinctPart
	part  distinctPart
	cur   *spillReader
	batch *tupleBatch
	rows  [][]byte

	loaded bool // groups up to ready can be given
	ended  bool // no more input
	ready  int
	pos    int
	outB   *outRows
}

// aggCall is one aggregate.
type aggCall struct {
	ref     *plan.Aggref
	make    func() funcs.Agg
	agg     funcs.Agg
	args    []program
	argv    []*vec.Vector
	filter  *filterProg
	direct  []program
	seen    *keyTable // DISTINCT by hashing
	argKey  eqKey
	ordered *aggSort // DISTINCT or ORDER BY by sorting
	sel     []uint16
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
	return o, nil
}

// aggregate compiles one aggregate call.
func (c *compiler) aggregate(a *plan.Aggref, sorted bool) (*aggCall, error) {
	ci := funcs.CallInfo{Func: a.Agg, ArgTypes: argTypes(a.Args), Result: a.Type, Typmod: a.Typmod, Collation: a.InputColl, Variadic: a.Variadic, ArgFields: argFields(a.Args)}
	mk, ok := funcs.LookupAgg(ci)
	if a.Kind == 'h' {
		mk, ok = hypothetical(ci)
	}
	if !ok {
		return nil, errNoAggregate(ci)
	}
	call := &aggCall{ref: a, make: mk, agg: mk()}
	var err error
	if call.args, err = c.compileAll(a.Args); err != nil {
		return nil, err
	}
	call.argv = make([]*vec.Vector, len(call.args))
	if call.filter, err = c.filter(a.Filter); err != nil {
		return nil, err
	}
	if call.direct, err = c.compileAll(a.Direct); err != nil {
		return nil, err
	}
	switch {
	case len(a.OrderBy) > 0 && funcs.OrderSensitive(a.Agg), a.Distinct && (sorted || funcs.OrderSensitive(a.Agg)), a.Kind == 'o', a.Kind == 'h':
		call.ordered, err = c.aggSort(a)
	case a.Distinct:
		call.seen = &keyTable{}
		for _, x := range a.Args {
			call.argKey.cols = append(call.argKey.cols, newEqCol(x.T().Type, x.T().Collation))
		}
	}
	return call, err
}

func (o *aggOp) clear() {
	o.vals.reset()
	o.setOf, o.lastKey = o.setOf[:0], o.lastKey[:0]
	for _, c := range o.calls {
		c.agg.Reset()
		if c.ordered != nil {
			c.ordered.reset()
		}
		if c.seen != nil {
			c.seen.reset()
		}
	}
	o.stateM.release()
	o.stateN = 0
	if o.parts != nil {
		o.parts.close()
		o.parts = nil
	}
	for _, t := range o.todo {
		t.f.close()
	}
	o.part.f.close()
	o.todo, o.part, o.cur = nil, distinctPart{}, nil
	o.full, o.loaded, o.ended, o.ready, o.pos = false, false, false, 0, 0
}

func (o *aggOp) Open(env *Env) error {
	o.clear()
	o.table.open(env)
	o.vals.open(env)
	o.stateM.acct = env.Acct
	for _, c := range o.calls {
		if c.seen != nil {
			c.seen.open(env)
		}
		if c.ordered != nil {
			c.ordered.open(env)
		}
	}
	return o.in.Open(env)
}

func (o *aggOp) Rescan() error {
	o.clear()
	o.table.reset()
	return o.in.Rescan()
}

func (o *aggOp) Close() error {
	o.clear()
	o.table.close()
	o.vals.close()
	for _, c := range o.calls {
		if c.seen != nil {
			c.seen.close()
		}
		if c.ordered != nil {
			c.ordered.close()
		}
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
	for {
		b, err := o.input()
		if err != nil {
			return err
		}
		if b == nil {
			o.ready = len(o.setOf)
			return o.finishOrdered(o.ready)
		}
		if err := o.st.interrupt(); err != nil {
			return err
		}
		if err := o.consume(b); err != nil {
			return err
		}
		if o.strategy == plan.AggSorted && o.sets == nil && len(o.setOf)-1 >= want {
			o.ready = len(o.setOf) - 1
			return o.finishOrdered(o.ready)
		}
	}
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
	for n < vec.MaxRows {
		rec, err := o.cur.next()
		if err != nil {
			return nil, err
		}
		if rec == nil {
			break
		}
		_, _, _, o.rows[n] = splitPart(rec)
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
	if o.sets == nil {
		sel, err := o.assign(b)
		if err != nil {
			return err
		}
		return o.update(b, sel)
	}
	for i, set := range o.sets {
		if err := o.assignSet(b, i, set); err != nil {
			return err
		}
		if err := o.update(b, b.Sel); err != nil {
			return err
		}
	}
	return nil
}

// assign finds the group of every row and returns the rows that have one; the others went to partitions.
func (o *aggOp) assign(b *vec.Batch) ([]uint16, error) {
	if o.strategy == plan.AggPlain {
		each(b.N, b.Sel, func(i int) { o.groupV[i] = 0 })
		return b.Sel, nil
	}
	var err error
	spilled := false
	each(b.N, b.Sel, func(i int) {
		if err != nil {
			return
		}
		k, _ := o.keys.row2(i)
		var g int
		if g, err = o.group(k, i); errors.Is(err, errSpillRow) {
			spilled = true
			o.groupV[i] = noGroup
			var cols []*vec.Vector
			if cols, err = allCols(b); err == nil {
				o.keyBuf = o.codec.encode(o.keyBuf[:0], cols, i)
				err = o.parts.write(hashKey(k), nil, true, o.keyBuf)
			}
			return
		}
		o.groupV[i] = uint32(g)
	})
	if err != nil || !spilled {
		return b.Sel, err
	}
	keep := make([]uint16, 0, b.N)
	each(b.N, b.Sel, func(i int) {
		if o.groupV[i] != noGroup {
			keep = append(keep, uint16(i))
		}
	})
	return keep, nil
}

const noGroup = ^uint32(0)

// row2 is row with NULL equal to NULL, as grouping has it.
func (k *keySide) row2(i int) ([]byte, bool) { return k.key.row(k.vs, i) }

// group returns the number of the group with key k, whose first row is i.
func (o *aggOp) group(k []byte, i int) (int, error) {
	if o.strategy == plan.AggSorted {
		n := len(o.setOf)
		if n > 0 && string(o.lastKey) == string(k) {
			return n - 1, nil
		}
		o.lastKey = append(o.lastKey[:0], k...)
		return n, o.newGroup(i, 0)
	}
	h := hashKey(k)
	if o.full {
		if g := o.table.find(h, k); g >= 0 {
			return g, nil
		}
		return 0, errSpillRow
	}
	g, added, err := o.table.insert(h, k)
	if err == nil && added {
		err = o.newGroup(i, 0)
	}
	if errors.Is(err, mem.ErrLimit) && o.canSpill() {
		return 0, o.startSpill()
	}
	return g, err
}

// newGroup stores the key values of row i and extends the states.
func (o *aggOp) newGroup(i int, set uint8) error {
	if err := o.vals.add(o.keys.vs, i); err != nil {
		return err
	}
	o.setOf = append(o.setOf, set)
	return nil
}

func (o *aggOp) canSpill() bool {
	return o.st.env.SpillFS != nil && o.sets == nil && o.strategy == plan.AggHash && len(o.setOf) > 0 && (o.part.f == nil || o.part.level < 5)
}

// startSpill sends rows of new groups to partitions from now on. The key table may hold one key without a group: it is found
// but has no group number, so the table is rebuilt from the groups.
func (o *aggOp) startSpill() error {
	level := 0
	if o.part.f != nil {
		level = o.part.level + 1
	}
	o.full = true
	o.parts = newPartitions(o.st.env, level)
	if o.table.len() > len(o.setOf) {
		o.table.dropLast()
	}
	return errSpillRow
}

// assignSet finds the groups of the rows for grouping set number n.
func (o *aggOp) assignSet(b *vec.Batch, n int, set []int) error {
	var err error
	each(b.N, b.Sel, func(i int) {
		if err != nil {
			return
		}
		k := append(o.keyBuf[:0], byte(n))
		for _, c := range set {
			k = o.keys.key.cols[c].append(k, o.keys.vs[c], i)
		}
		o.keyBuf = k
		var g int
		var added bool
		if g, added, err = o.table.insert(hashKey(k), k); err == nil && added {
			err = o.newGroup(i, uint8(n))
		}
		o.groupV[i] = uint32(g)
	})
	return err
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
	var size int64
	for _, c := range o.calls {
		if err := c.update(&f, o.groupV, sel); err != nil {
			return err
		}
		size += c.agg.Size()
	}
	if size > o.stateN {
		err := o.stateM.grow(size - o.stateN)
		if errors.Is(err, mem.ErrLimit) && o.canSpill() {
			if !o.full {
				if err := o.startSpill(); !errors.Is(err, errSpillRow) {
					return err
				}
			}
			o.stateM.force(size - o.stateN)
			err = nil
		}
		o.stateN = size
		return err
	}
	return nil
}

// force takes n bytes without asking: states of groups that must be finished in memory.
func (a *account) force(n int64) {
	if a.acct != nil {
		a.acct.Force(n)
		a.used += n
	}
}

func (c *aggCall) update(f *frame, groups []uint32, sel []uint16) error {
	if c.filter != nil {
		s, err := c.filter.run(f, sel)
		if err != nil {
			return err
		}
		if sel = s; sel != nil && len(sel) == 0 {
			return nil
		}
	}
	var err error
	for i, a := range c.args {
		if c.argv[i], err = a.eval(f, sel); err != nil {
			return err
		}
	}
	if c.ordered != nil {
		return c.ordered.add(f, groups, sel, c)
	}
	if c.seen != nil {
		keep := reuse(c.sel, f.n)
		each(f.n, sel, func(i int) {
			if err != nil {
				return
			}
			b := binary.LittleEndian.AppendUint32(c.argKey.buf[:0], groups[i])
			for k := range c.argKey.cols {
				b = c.argKey.cols[k].append(b, c.argv[k], i)
			}
			c.argKey.buf = b
			var added bool
			if _, added, err = c.seen.insert(hashKey(b), b); added {
				keep = append(keep, uint16(i))
			}
		})
		if err != nil {
			return err
		}
		c.sel, sel = keep, keep
		if len(keep) == 0 {
			return nil
		}
	}
	return c.agg.Update(&f.st.env.Funcs, groups, f.n, sel, c.argv)
}

// finishOrdered feeds the sorted arguments of groups below n to their aggregates, and direct arguments.
func (o *aggOp) finishOrdered(n int) error {
	for _, c := range o.calls {
		var args []types.Datum
		f := &frame{st: o.st, n: 1}
		for _, p := range c.direct {
			x, err := evalOne(f, p)
			if err != nil {
				return err
			}
			args = append(args, cloneDatum(x))
		}
		if d, ok := c.agg.(funcs.DirectAgg); ok {
			d.SetDirect(args)
		}
		if h, ok := c.agg.(*hypoAgg); ok {
			h.feed(c.ordered, args, n)
		} else if c.ordered != nil {
			if err := c.ordered.feed(o.st, c, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// give returns the next finished groups.
func (o *aggOp) give(want int) (*vec.Batch, error) {
	n := min(want, o.ready-o.pos)
	o.outB.start(n)
	if len(o.vals.codec.kinds) > 0 {
		for g := o.pos; g < o.pos+n; g++ {
			r := o.outB.addTuple(o.vals.codec, o.vals.rows[g], 0)
			if o.sets != nil {
				o.maskKeys(r, o.sets[o.setOf[g]])
			}
		}
	} else {
		for range n {
			o.outB.grow()
		}
	}
	for i, c := range o.calls {
		v := &o.outB.cols[o.nKeys+i]
		v.Reset(o.outB.kinds[o.nKeys+i], n)
		if err := c.agg.Final(&o.st.env.Funcs, o.pos, o.pos+n, v); err != nil {
			return nil, err
		}
	}
	for i, refs := range o.grouping {
		v := &o.outB.cols[o.nKeys+len(o.calls)+i]
		v.Reset(types.KindInt, n)
		for g := range n {
			v.Int[g] = o.groupingBits(refs, int(o.setOf[o.pos+g]))
		}
	}
	o.pos += n
	return o.outB.batch(), nil
}

func (o *aggOp) maskKeys(r int, set []int) {
	for k := range o.nKeys {
		in := false
		for _, c := range set {
			in = in || c == k
		}
		if !in {
			o.outB.cols[k].SetNull(r)
		}
	}
}

func (o *aggOp) groupingBits(refs []int, set int) int64 {
	var bits int64
	for _, ref := range refs {
		bits <<= 1
		in := o.sets == nil
		if !in {
			for _, c := range o.sets[set] {
				in = in || c == ref
			}
		}
		if !in {
			bits |= 1
		}
	}
	return bits
}

// again prepares for more groups after all ready ones were given: the open group of sorted input, or the next partition.
func (o *aggOp) again() (bool, error) {
	if o.strategy == plan.AggSorted && !o.ended {
		return true, o.carry()
	}
	o.part.f.close()
	o.part = distinctPart{}
	if o.parts != nil {
		for i, f := range o.parts.files {
			if f != nil {
				o.todo = append(o.todo, distinctPart{f: f, level: o.parts.level})
				o.parts.files[i] = nil
			}
		}
		o.parts = nil
	}
	if len(o.todo) == 0 {
		return false, nil
	}
	next := o.todo[len(o.todo)-1]
	o.todo = o.todo[:len(o.todo)-1]
	o.table.reset()
	o.vals.reset()
	o.setOf = o.setOf[:0]
	o.stateM.release()
	o.stateN, o.full, o.loaded, o.ready, o.pos = 0, false, false, 0, 0
	for _, c := range o.calls {
		c.agg.Reset()
		if c.seen != nil {
			c.seen.reset()
		}
		if c.ordered != nil {
			c.ordered.reset()
		}
	}
	o.part = next
	r, err := next.f.reader()
	o.cur = r
	return true, err
}

// carry moves the unfinished last group of sorted input to number 0 and forgets the others.
func (o *aggOp) carry() error {
	last := len(o.setOf) - 1
	o.loaded, o.ready, o.pos = false, 0, 0
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
		c.agg = fresh
	}
	t := append([]byte(nil), o.vals.rows[last]...)
	o.vals.reset()
	o.setOf = append(o.setOf[:0], 0)
	o.stateM.release()
	o.stateN = 0
	return o.vals.addTuple(t)
}
