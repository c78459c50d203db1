package exec

import (
	"math/bits"

	"herd/internal/mem"
)

// pairSet is a set of integers for each of many groups: what DISTINCT inside an aggregate has seen.
type pairSet struct {
	slots []pairSlot
	n     int
	slotM account
}

// pairSlot is free when group is 0, else that is the number of the group + 1.
type pairSlot struct {
	key   int64
	group uint32
}

func (t *pairSet) open(env *Env) {
	t.reset()
	t.slotM.open(env, mem.UseHash)
}

// reset empties the set and gives its memory back.
func (t *pairSet) reset() {
	t.slotM.release()
	t.slots, t.n = nil, 0
}

func hashPair(group uint32, key int64) uint64 {
	return hashInt(key ^ int64(uint64(group)*0x9e3779b97f4a7c15))
}

// has says whether the group's set has the key.
func (t *pairSet) has(group uint32, key int64) bool {
	if len(t.slots) == 0 {
		return false
	}
	s := t.place(group, key)
	return s.group != 0
}

// place returns the slot of a pair, a free one when the set does not have it.
func (t *pairSet) place(group uint32, key int64) *pairSlot {
	mask := uint64(len(t.slots) - 1)
	for p := hashPair(group, key) & mask; ; p = (p + 1) & mask {
		s := &t.slots[p]
		if s.group == 0 || s.key == key && s.group == group+1 {
			return s
		}
	}
}

// insert adds a key to the group's set; added is false when it was there. The error is mem.ErrLimit; nothing was added then.
func (t *pairSet) insert(group uint32, key int64) (added bool, err error) {
	if (t.n+1)*3 > len(t.slots)*2 {
		if t.has(group, key) {
			return false, nil
		}
		if err := t.rehash(); err != nil {
			return false, err
		}
	}
	s := t.place(group, key)
	if s.group != 0 {
		return false, nil
	}
	*s = pairSlot{key: key, group: group + 1}
	t.n++
	return true, nil
}

// rehash doubles the slots.
func (t *pairSet) rehash() error {
	size := max(64, 1<<bits.Len(uint(len(t.slots))))
	if err := t.slotM.grow(int64(16 * size)); err != nil {
		return err
	}
	old := t.slots
	t.slots = make([]pairSlot, size)
	for _, s := range old {
		if s.group != 0 {
			*t.place(s.group-1, s.key) = s
		}
	}
	t.slotM.shrink(int64(16 * len(old)))
	return nil
}
