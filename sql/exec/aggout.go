package exec

import (
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

const (
	// aggValueFloor is what the value of one group may always take, in bytes, when it is fed after memory was refused.
	aggValueFloor = 1 << 20
	// aggBatchBytes ends an output batch of fed groups.
	aggBatchBytes = 1 << 20
)

// finish prepares groups below n to be given: the order of what was collected.
func (o *aggOp) finish(n int) error {
	o.ordered = false
	for _, c := range o.calls {
		if !c.collecting() {
			continue
		}
		o.ordered = true
		if err := c.agg.Grow(n); err != nil {
			return err
		}
		if err := c.rows.sorter.begin(); err != nil {
			return err
		}
	}
	return nil
}

// give returns the next finished groups.
func (o *aggOp) give(want int) (*vec.Batch, error) {
	n := min(want, o.ready-o.pos)
	o.outB.start(n)
	o.giveKeys(n)
	if o.ordered {
		var err error
		if n, err = o.giveFed(n); err != nil {
			return nil, err
		}
		o.outB.n = n
	}
	for i, c := range o.calls {
		v := &o.outB.cols[o.nKeys+i]
		if c.collecting() {
			continue
		}
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

// giveKeys sets the key columns of the next n groups.
func (o *aggOp) giveKeys(n int) {
	for g := o.pos; g < o.pos+n; g++ {
		if o.nKeys == 0 {
			o.outB.grow()
			continue
		}
		r := o.outB.addTuple(o.vals.codec, o.vals.rows[g], 0)
		if o.sets != nil {
			o.maskKeys(r, o.sets[o.setOf[g]])
		}
	}
}

// giveFed feeds what was collected to the next groups, at most n of them, and sets their results; fewer when those are large.
func (o *aggOp) giveFed(n int) (int, error) {
	for i, c := range o.calls {
		if c.collecting() {
			o.outB.cols[o.nKeys+i].Reset(o.outB.kinds[o.nKeys+i], n)
		}
	}
	bytes := 0
	for k := range n {
		g := o.pos + k
		for i, c := range o.calls {
			if !c.collecting() {
				continue
			}
			if err := o.evalDirect(c, k); err != nil {
				return 0, err
			}
			if err := o.feed(c, g); err != nil {
				return 0, err
			}
			c.out.Reset(o.outB.kinds[o.nKeys+i], 1)
			if err := c.agg.Final(&o.st.env.Funcs, g, g+1, &c.out); err != nil {
				return 0, err
			}
			if d, ok := c.agg.(funcs.Collector); ok {
				d.Drop(g)
			}
			o.shrinkStates(c)
			if c.out.Kind == types.KindBytes {
				bytes += len(c.out.Bytes(0))
			}
			o.outB.cols[o.nKeys+i].Copy(k, &c.out, 0)
		}
		if bytes > aggBatchBytes {
			return k + 1, nil
		}
	}
	return n, nil
}

// evalDirect computes a call's direct arguments for the group whose keys are row k of the output.
func (o *aggOp) evalDirect(c *aggCall, k int) error {
	c.directV = c.directV[:0]
	f := &frame{st: o.st, b: &o.outB.out, n: k + 1}
	for _, p := range c.direct {
		v, err := p.eval(f, []uint16{uint16(k)})
		if err != nil {
			return err
		}
		c.directV = append(c.directV, cloneDatum(v.Datum(k)))
	}
	if d, ok := c.agg.(funcs.DirectAgg); ok {
		d.SetDirect(c.directV)
	}
	return nil
}

// feed gives group g of a call the rows that were collected for it.
func (o *aggOp) feed(c *aggCall, g int) error {
	if h, ok := c.agg.(*hypoAgg); ok {
		return h.count(c.rows, c.directV, g)
	}
	return c.rows.feed(o, c, g)
}

// growValue takes memory for the value that is being fed. A value that cannot have it cannot be made at all.
func (o *aggOp) growValue(c *aggCall) error {
	size := c.agg.Size()
	if size <= c.size {
		return nil
	}
	if err := o.stateM.grow(size - c.size); err != nil {
		if o.forced+size-c.size > aggValueFloor {
			return errLargeValue()
		}
		o.forced += size - c.size
		o.stateM.force(size - c.size)
	}
	c.size = size
	return nil
}

func errLargeValue() error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
		WithDetail("The value of an aggregate does not fit into the memory limit of the server.")
}

// shrinkStates gives back the memory of values that were given.
func (o *aggOp) shrinkStates(c *aggCall) {
	size := c.agg.Size()
	if size < c.size {
		o.stateM.shrink(c.size - size)
		o.forced = max(0, o.forced-(c.size-size))
		c.size = size
	}
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
