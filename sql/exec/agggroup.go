package exec

import (
	"herd/planner/plan"
	"herd/sql/vec"
)

const noGroup = ^uint32(0)

// assign finds the group of every row and returns the rows that have one; the others went to partitions. set is the grouping
// set to do, -1 when there are none or when the rows say it themselves.
func (o *aggOp) assign(b *vec.Batch, set int) ([]uint16, error) {
	if o.strategy == plan.AggPlain && o.sets == nil {
		clear(o.groupV[:b.N])
		return b.Sel, nil
	}
	if o.single && !o.full && !o.keys.vs[0].HasNulls && !o.keys.vs[0].Const {
		if done, err := o.assignInts(b); done || err != nil {
			return b.Sel, err
		}
	}
	packed := o.packs && o.cache.useful()
	if packed {
		o.cache.pack(o.keys.key.cols, o.keys.vs, b.N, b.Sel)
		o.cache.asked += b.Rows()
	}
	var err error
	spilled := false
	each(b.N, b.Sel, func(i int) {
		if err != nil {
			return
		}
		n := set
		if n < 0 && o.sets != nil {
			n = int(o.setR[i])
		}
		var g int
		switch {
		case o.single:
			g, err = o.intGroup(i)
		case packed:
			g, err = o.cachedGroup(i)
		default:
			g, err = o.group(o.key(i, n), i, max(n, 0))
		}
		if err == errSpillRow {
			spilled = true
			o.groupV[i] = noGroup
			err = o.divert(b, i, n)
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

// assignInts is assign for keys of one integer without NULLs. done is false when memory was refused: all rows are to be assigned
// again then, which finds the groups made so far.
func (o *aggOp) assignInts(b *vec.Batch) (done bool, err error) {
	keys, groups := o.keys.vs[0].Int, o.groupV
	if b.Sel == nil {
		for i, k := range keys[:b.N] {
			n := o.ints.find(k)
			if n < 0 {
				if n, err = o.newIntGroup(k, i); err != nil {
					break
				}
			}
			groups[i] = uint32(o.afterNull(n))
		}
	} else {
		for _, i := range b.Sel {
			n := o.ints.find(keys[i])
			if n < 0 {
				if n, err = o.newIntGroup(keys[i], int(i)); err != nil {
					break
				}
			}
			groups[i] = uint32(o.afterNull(n))
		}
	}
	if err == errSpillRow {
		return false, nil
	}
	return err == nil, err
}

// key is the grouping key of row i in a grouping set, NULL equal to NULL.
func (o *aggOp) key(i, set int) []byte {
	if set < 0 {
		k, _ := o.keys.row2(i)
		return k
	}
	k := append(o.keyBuf[:0], byte(set))
	for _, c := range o.sets[set] {
		k = o.keys.key.cols[c].append(k, o.keys.vs[c], i)
	}
	o.keyBuf = k
	return k
}

// row2 is row with NULL equal to NULL, as grouping has it.
func (k *keySide) row2(i int) ([]byte, bool) { return k.key.row(k.vs, i) }

// divert writes row i to the partition of its key.
func (o *aggOp) divert(b *vec.Batch, i, set int) error {
	cols, err := allCols(b)
	if err != nil {
		return err
	}
	var tag []byte
	if set >= 0 {
		tag = []byte{byte(set)}
	}
	h := hashKey(o.key(i, set))
	o.tuple = o.codec.encode(o.tuple[:0], cols, i)
	return o.parts.write(h, tag, true, o.tuple)
}

// group returns the number of the group with key k, whose first row is i.
func (o *aggOp) group(k []byte, i, set int) (int, error) {
	if o.strategy == plan.AggSorted && o.sets == nil {
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
		if err = o.newGroup(i, uint8(set)); err != nil {
			o.table.dropLast()
		}
	}
	if err != nil && o.st.env.canSpill(err) && o.canDivide() {
		o.divide()
		return 0, errSpillRow
	}
	return g, err
}

// intGroup is group for a key that is one integer.
func (o *aggOp) intGroup(i int) (int, error) {
	v := o.keys.vs[0]
	if v.HasNulls && v.IsNull(i) {
		return o.nullGroup(i)
	}
	k := v.Int[v.At(i)]
	if o.full {
		if g := o.ints.find(k); g >= 0 {
			return o.afterNull(g), nil
		}
		return 0, errSpillRow
	}
	n, err := o.newIntGroup(k, i)
	return o.afterNull(n), err
}

// newIntGroup returns the number of integer k in ints, making its group from row i if it has none.
func (o *aggOp) newIntGroup(k int64, i int) (int, error) {
	n, added, err := o.ints.insert(k)
	if err == nil && added {
		if err = o.newGroup(i, 0); err != nil {
			o.ints.dropLast()
		}
	}
	if err != nil && o.st.env.canSpill(err) && o.canDivide() {
		o.divide()
		return 0, errSpillRow
	}
	return n, err
}

// afterNull turns the number of a key in ints into that of its group: the group of NULL has none.
func (o *aggOp) afterNull(n int) int {
	if o.nullG >= 0 && n >= o.nullG {
		return n + 1
	}
	return n
}

// nullGroup is intGroup for a NULL.
func (o *aggOp) nullGroup(i int) (int, error) {
	if o.nullG >= 0 {
		return o.nullG, nil
	}
	if o.full {
		return 0, errSpillRow
	}
	n := len(o.setOf)
	if err := o.newGroup(i, 0); err != nil {
		if !o.st.env.canSpill(err) || !o.canDivide() {
			return 0, err
		}
		o.divide()
		return 0, errSpillRow
	}
	o.nullG = n
	return n, nil
}

// newGroup stores the key values of row i.
func (o *aggOp) newGroup(i int, set uint8) error {
	if err := o.vals.add(o.keys.vs, i); err != nil {
		return err
	}
	o.setOf = append(o.setOf, set)
	return nil
}

// canDivide says whether rows of new groups can go to partitions.
func (o *aggOp) canDivide() bool {
	return (o.sets != nil || o.strategy == plan.AggHash) && len(o.setOf) > 0 && (o.part.f == nil || o.part.level < maxSpillLevel)
}

// divide sends rows of new groups to partitions from now on.
func (o *aggOp) divide() {
	level := 0
	if o.part.f != nil {
		level = o.part.level + 1
	}
	o.full = true
	o.parts = newPartitions(o.st.env, level)
}
