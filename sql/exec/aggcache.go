package exec

import (
	"herd/sql/vec"
)

// groupCacheSize is the number of entries of a groupCache, a power of two.
const groupCacheSize = 512

// groupCache finds the groups of keys of several columns that pack into 64 bits: flags, short codes, small integers, dates. What it does
// not know goes through the key table. The packing is one to one, so that equal packed keys are equal keys.
type groupCache struct {
	slots []cachedGroup // by hash of the packed key; nil: not used yet
	key   []uint64
	ok    []bool
	found int // rows whose group the cache had
	asked int
}

// cachedGroup is free when group is 0, else that is the number of the group + 1.
type cachedGroup struct {
	key   uint64
	group uint32
}

// cacheable says whether keys of these columns may pack.
func cacheable(cols []eqCol) bool {
	if len(cols) == 0 || len(cols) > 4 {
		return false
	}
	for _, c := range cols {
		if c.mode == eqFloat || c.mode == eqOrder {
			return false
		}
	}
	return true
}

func (c *groupCache) reset() {
	clear(c.slots)
	c.found, c.asked = 0, 0
}

// useful is false once most rows were looked up in vain: there are too many groups, or keys too long.
func (c *groupCache) useful() bool { return c.asked < 16*groupCacheSize || c.found*2 > c.asked }

// pack computes the packed keys of the rows sel. Row i has none when ok[i] is false.
func (c *groupCache) pack(cols []eqCol, vs []*vec.Vector, n int, sel []uint16) {
	if c.slots == nil {
		c.slots = make([]cachedGroup, groupCacheSize)
	}
	if len(c.key) < n {
		c.key, c.ok = make([]uint64, max(n, vec.FirstRows)), make([]bool, max(n, vec.FirstRows))
	}
	for i := range n {
		c.key[i], c.ok[i] = 0, true
	}
	bits := 64 / len(cols)
	for k := range cols {
		v := vs[k]
		switch {
		case v.HasNulls || v.Const:
			each(n, sel, func(i int) { c.ok[i] = false })
			return
		case cols[k].mode == eqInt:
			c.packInts(v, n, sel, bits)
		case cols[k].mode == eqBool:
			each(n, sel, func(i int) {
				c.key[i] <<= bits
				if v.Bool[i] {
					c.key[i]++
				}
			})
		default:
			c.packBytes(v, n, sel, bits, cols[k].mode == eqBPChar)
		}
	}
}

func (c *groupCache) packInts(v *vec.Vector, n int, sel []uint16, bits int) {
	if bits == 64 {
		each(n, sel, func(i int) { c.key[i] = uint64(v.Int[i]) })
		return
	}
	half := int64(1) << (bits - 1)
	each(n, sel, func(i int) {
		x := v.Int[i]
		c.ok[i] = c.ok[i] && x >= -half && x < half
		c.key[i] = c.key[i]<<bits | uint64(x+half)&(1<<bits-1)
	})
}

// packBytes packs a length of 8 bits and as many bytes as fit.
func (c *groupCache) packBytes(v *vec.Vector, n int, sel []uint16, bits int, padded bool) {
	room := bits/8 - 1
	each(n, sel, func(i int) {
		b := v.Bytes(i)
		if padded {
			for len(b) > 0 && b[len(b)-1] == ' ' {
				b = b[:len(b)-1]
			}
		}
		if len(b) > room {
			c.ok[i] = false
			return
		}
		x := uint64(len(b))
		for _, ch := range b {
			x = x<<8 | uint64(ch)
		}
		if bits < 64 {
			x |= c.key[i] << bits
		}
		c.key[i] = x
	})
}

// slot is where the group of packed key k is or goes.
func (c *groupCache) slot(k uint64) *cachedGroup {
	return &c.slots[hashInt(int64(k))&(groupCacheSize-1)]
}

// cachedGroup is group for row i, whose packed key the cache has.
func (o *aggOp) cachedGroup(i int) (int, error) {
	c := &o.cache
	if !c.ok[i] {
		return o.group(o.key(i, -1), i, 0)
	}
	s := c.slot(c.key[i])
	if s.group != 0 && s.key == c.key[i] {
		c.found++
		return int(s.group) - 1, nil
	}
	g, err := o.group(o.key(i, -1), i, 0)
	if err == nil {
		*s = cachedGroup{key: c.key[i], group: uint32(g) + 1}
	}
	return g, err
}
