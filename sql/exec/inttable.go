package exec

import (
	"math/bits"

	"herd/internal/mem"
)

// intTable numbers distinct integers 0, 1, 2 ... in the order of their first appearance: keyTable for the commonest keys, with
// the keys in the slots themselves.
type intTable struct {
	slots []intSlot
	keys  []int64 // by number
	slotM account
	keyM  account
}

// intSlot is free when n is 0; else n-1 is the number of key.
type intSlot struct {
	key int64
	n   uint32
}

func (t *intTable) open(env *Env) {
	t.reset()
	t.slotM.open(env, mem.UseHash)
	t.keyM.open(env, mem.UseHash)
}

// reset empties the table; small memory is kept.
func (t *intTable) reset() {
	t.slotM.release()
	t.keyM.release()
	if len(t.slots) <= 64 {
		clear(t.slots)
	} else {
		t.slots = nil
	}
	if cap(t.keys) > 64 {
		t.keys = nil
	}
	t.keys = t.keys[:0]
}

// close gives all memory back.
func (t *intTable) close() {
	t.slotM.release()
	t.keyM.release()
	t.slots, t.keys = nil, nil
}

func (t *intTable) len() int { return len(t.keys) }

// hashInt mixes all bits of k into the lower ones.
func hashInt(k int64) uint64 {
	h := uint64(k)
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>32
}

// find returns the number of k, -1 when absent.
func (t *intTable) find(k int64) int {
	if len(t.slots) == 0 {
		return -1
	}
	mask := uint64(len(t.slots) - 1)
	for p := hashInt(k) & mask; ; p = (p + 1) & mask {
		s := &t.slots[p]
		if s.n == 0 {
			return -1
		}
		if s.key == k {
			return int(s.n) - 1
		}
	}
}

// insert returns the number of k, adding it if absent. The error is mem.ErrLimit; nothing was added then.
func (t *intTable) insert(k int64) (n int, added bool, err error) {
	if (len(t.keys)+1)*3 > len(t.slots)*2 {
		if err := t.rehash(); err != nil {
			if n := t.find(k); n >= 0 {
				return n, false, nil
			}
			return 0, false, err
		}
	}
	mask := uint64(len(t.slots) - 1)
	p := hashInt(k) & mask
	for ; t.slots[p].n != 0; p = (p + 1) & mask {
		if t.slots[p].key == k {
			return int(t.slots[p].n) - 1, false, nil
		}
	}
	if len(t.keys) == cap(t.keys) {
		if err := t.keyM.grow(int64(8 * max(16, cap(t.keys)))); err != nil {
			return 0, false, err
		}
		t.keys = append(make([]int64, 0, max(16, 2*cap(t.keys))), t.keys...)
	}
	t.keys = append(t.keys, k)
	t.slots[p] = intSlot{key: k, n: uint32(len(t.keys))}
	return len(t.keys) - 1, true, nil
}

// rehash doubles the slots.
func (t *intTable) rehash() error {
	size := max(64, 1<<bits.Len(uint(len(t.slots))))
	if err := t.slotM.grow(int64(16 * size)); err != nil {
		return err
	}
	old := t.slots
	t.slots = make([]intSlot, size)
	mask := uint64(size - 1)
	for _, s := range old {
		if s.n == 0 {
			continue
		}
		p := hashInt(s.key) & mask
		for t.slots[p].n != 0 {
			p = (p + 1) & mask
		}
		t.slots[p] = s
	}
	return nil
}

// dropLast removes the key added last.
func (t *intTable) dropLast() {
	n := len(t.keys)
	mask := uint64(len(t.slots) - 1)
	p := hashInt(t.keys[n-1]) & mask
	for t.slots[p].n != uint32(n) {
		p = (p + 1) & mask
	}
	t.slots[p] = intSlot{} // the last key added ends every probe chain it is on
	t.keys = t.keys[:n-1]
}
